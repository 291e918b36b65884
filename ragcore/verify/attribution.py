"""Whose figure is it? A number of a claim must be said of the same thing in the evidence.

In a table: the claim must not name another row or column than that of the cell (a right figure of the wrong line). In
prose: where a sentence gives two figures of a kind ("61% on the drug, compared with 12% on placebo"), each belongs to
the words of its own part. What a number stands with in the claim is the part between it and its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.text.numbers import Number, numbers
from ragcore.text.periods import MONTHS
from ragcore.verify.evidence import CitedCell, Evidence, Figure
from ragcore.verify.segments import compared_with, parts, until_break
from ragcore.verify.terms import UNIMPORTANT, label_terms, named_by, terms, with_synonyms

_PERIOD = re.compile(rf"(?:19|20)\d\d|[qh][1-4]|{'|'.join(month[:3] for month in MONTHS)}\w*")


def misplaced(
    number: Number, places: tuple[str, str], claim: str, matches: Sequence[Figure], evidence: Evidence, *, alone: bool
) -> str:
    """Why ``number`` of ``claim`` is not said of what the figures that it agrees with are said of; "" where one of them
    fits. ``places`` are the part that it stands in between all figures, and between those of its kind. ``alone``:
    it is the only figure of the claim."""
    reasons = []
    for figure in matches:
        if figure.cell is not None:
            reason = _in_table(number, places[0], claim, figure.cell, alone=alone)
        elif figure.sentence >= 0:
            reason = _in_sentence(number, places[1], figure, evidence)
        else:
            reason = ""
        if not reason:
            return ""
        reasons.append(reason)
    return reasons[0] if reasons else ""


def _in_table(number: Number, part: str, claim: str, cell: CitedCell, *, alone: bool) -> str:
    row = _other_row(part, claim, cell)
    if row:
        return f"{number.raw} is the figure of “{cell.row}”, not of “{row}”."
    whole = claim if not compared_with(claim, number) else ""
    column = _other_column(part, whole, cell, alone=alone)
    if column:
        return f"{number.raw} is the figure of “{cell.column}”, not of “{column}”."
    return ""


def _other_row(part: str, claim: str, cell: CitedCell) -> str:
    """The row that the claim names instead of the row of ``cell``, or ""."""
    if not cell.row:
        return ""
    own_terms = label_terms(cell.row)

    def named(text: str) -> float:
        generous = with_synonyms(set(terms(text)))
        return max(named_by(cell.row, generous), named_by(cell.named.head, generous))

    wider = _wider_row(terms(part), own_terms, cell)
    if wider:
        return wider
    # A claim that names the row somewhere must name the other one in full to mean that.
    enough = 1.0 if named(claim) == 1.0 else 0.5
    for text in dict.fromkeys((part, claim)):
        said = terms(text) - label_terms(cell.column)
        own = named(text)
        plain = max(named_by(cell.row, said), named_by(cell.named.head, said))
        best, name = 0.0, ""
        for row in cell.grid.rows:
            if row == cell.named or not (label_terms(row.head) - own_terms) & said:
                continue
            share = named_by(row.head, said)
            if share > best:
                best, name = share, row.name
        # A row named word by word ("Cost of sales") outdoes another that only a synonym names (sales: "Revenues").
        if best >= enough and (best > own + 1e-9 or best == 1.0 > plain):
            return name
        if own > 0.0:
            return ""
    return ""


def _wider_row(said: frozenset[str], own: frozenset[str], cell: CitedCell) -> str:
    """A row named in full that says more than the row of ``cell`` with all of its words ("Cost of revenues" for
    "Revenues"), or ""."""
    for row in cell.grid.rows:
        named = label_terms(row.head)
        if own < named <= said and (named - own - UNIMPORTANT) - label_terms(cell.column) - label_terms(cell.row):
            return row.name
    return ""


def _other_column(part: str, claim: str, cell: CitedCell, *, alone: bool) -> str:
    """The column that the claim names instead of the column of ``cell``, or "". Where ``part`` names none, a period
    that the claim names elsewhere counts for all of its figures, another column only for one that is ``alone``."""
    columns = {column: label_terms(column) for column in cell.grid.columns}
    if not cell.row or not cell.column or cell.column not in columns or len(columns) < 2:
        return ""
    shared = frozenset.intersection(*columns.values())
    distinct = {column: found - shared for column, found in columns.items() if found - shared}
    if cell.column not in distinct:
        return ""

    def named(said: frozenset[str]) -> dict[str, float]:
        row = label_terms(cell.row)
        return {
            column: len(found & said) / len(found)
            for column, found in distinct.items()
            if found & said and (column == cell.column or found & said - distinct[cell.column] - row)
        }

    here = named(terms(part))
    if here:
        best = max(here, key=lambda column: (here[column], column == cell.column))
        return "" if here.get(cell.column, 0.0) >= here[best] or here[best] < 0.5 else best
    anywhere = named(terms(claim))
    if len(anywhere) == 1:
        (only,) = anywhere
        meant = alone or any(_PERIOD.fullmatch(one) for one in distinct[only])
        return only if meant and only != cell.column and anywhere[only] >= 0.5 else ""
    return ""


def _in_sentence(number: Number, part: str, figure: Figure, evidence: Evidence) -> str:
    sentence = evidence.sentences[figure.sentence]
    rivals = [one for one in numbers(sentence) if one.kind == figure.number.kind]
    place = next((i for i, one in enumerate(rivals) if one.start == figure.number.start), -1)
    if len(rivals) < 2 or place < 0:
        return ""
    marks = _marks(sentence, rivals)
    own = marks[place].difference(*(mark for i, mark in enumerate(marks) if i != place))
    said = with_synonyms(set(terms(part)))
    if not own or own & said:
        return ""
    for other, mark in enumerate(marks):
        theirs = mark.difference(*(one for i, one in enumerate(marks) if i != other)) & terms(part)
        if other != place and theirs and abs(rivals[other].amount) != abs(figure.number.amount):
            words = ", ".join(f"“{one}”" for one in sorted(own))
            return f"The cited words say {number.raw} of something else ({words})."
    return ""


def _marks(sentence: str, rivals: Sequence[Number]) -> list[frozenset[str]]:
    """The words that tell each of the ``rivals`` from the others: periods where every part has one, else what stands
    before the number in its part, else what stands after it."""
    own = parts(sentence, rivals)
    figures = frozenset(one for rival in rivals for one in terms(rival.raw))
    periods = [frozenset(one for one in terms(part) if _PERIOD.fullmatch(one)) for part in own]
    if all(periods) and len(set(periods)) > 1:
        return periods
    before, after = [], []
    for part, rival in zip(own, rivals):
        cut = part.find(rival.raw)
        before.append(terms(part[:cut]) - figures)
        after.append(terms(until_break(part[cut + len(rival.raw) :])) - figures)
    if all(before):
        return before
    return after if all(after) else [frozenset()] * len(rivals)
