"""Figure attribution: a claim's number must describe the same thing as in the evidence.

In a table, the claim must not name another row or column than the cell's: a right figure of the wrong line. In prose,
when a sentence gives two figures of a kind ("61% on the drug, compared with 12% on placebo"), each belongs to the words
of its own part. A number's part of the claim is the text between its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ragcore.retrieve.synonyms import shipped
from ragcore.text import lexicon as lex
from ragcore.text.names import ONE_LETTER
from ragcore.text.numbers import Number, numbers, span_of
from ragcore.text.periods import (
    MONTHS,
    canonical,
    column_years,
    date_spans,
    is_part,
    periods,
    spans_of_time,
    without_dates,
    years,
    years_in_order,
)
from ragcore.text.words import STOP_WORDS, stem, tokens
from ragcore.types import FiscalYear
from ragcore.verify.evidence import CitedCell, Evidence, Figure, parts

_PERIOD = re.compile(rf"(?:19|20)\d\d|[qh][1-4]|{'|'.join(month[:3] for month in MONTHS)}\w*")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_OF_FIGURES = lex.UNIMPORTANT.union(map(stem, lex.BESIDE_FIGURES))
# Of these, words that tell two figures of one quantity apart.
_TELLING = frozenset(map(stem, ["net", "total", "average", "mean", "minimum", "maximum", "least", "most"]))
_SCALES = frozenset(map(stem, lex.SCALES))
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


# Names


@lru_cache(maxsize=1)
def _trade() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Pairs of trade terms (as stems) of which the first may replace the second."""
    groups = [[frozenset(_stems(term)) for term in (name, *others)] for name, others in shipped().same.items()]
    return tuple((one, other) for group in groups for one in group for other in group if one and other and one != other)


def with_synonyms(stems: set[str]) -> set[str]:
    """``stems`` with the stems of synonyms, for single words and trade terms."""
    out = set(stems)
    for one in stems:
        out |= lex.synonyms().get(one, frozenset())
    for term, other in _trade():
        if term <= stems:
            out |= other
    return out


def _stems(text: str) -> list[str]:
    return [stem(word) for word in tokens(text) if word not in STOP_WORDS]


@lru_cache(maxsize=8192)
def terms(text: str) -> frozenset[str]:
    """Topic terms of ``text``: stems of its content words, its numbers, ``q2`` and ``h1`` for periods, and single
    capitals."""
    words = canonical(text)
    out = {one for one in _stems(words) if len(one) > 1 or one.isdigit()}
    return frozenset(out | {match.group().lower() for match in ONE_LETTER.finditer(words)})


@lru_cache(maxsize=8192)
def label_terms(label: str) -> frozenset[str]:
    """Like `terms`, without bracketed text (units, ``n = 104``), unless nothing else is left."""
    return terms(_BRACKETS.sub(" ", label)) or terms(label)


def named_by(label: str, said: frozenset[str] | set[str]) -> float:
    """Share of a label's words that are among ``said``, 0–1; words such as total and net count for less."""
    weights = {one: 0.3 if one in lex.UNIMPORTANT else 1.0 for one in label_terms(label)}
    return sum(weight for one, weight in weights.items() if one in said) / (sum(weights.values()) or 1.0)


# Another row, column or part of a sentence


def misplaced(
    number: Number, places: tuple[str, str], claim: str, matches: Sequence[Figure], evidence: Evidence
) -> str:
    """Reason why ``number`` of ``claim`` describes another thing than all its matching figures; "" if one of them fits.
    ``places`` are its part between all figures, and its part between those of its kind."""
    reasons = []
    for figure in matches:
        if figure.cell is not None:
            reason = _in_table(number, places[0], claim, figure.cell)
        elif figure.sentence >= 0:
            reason = of_another_period(number, (places[1], claim), figure, evidence)
            reason = reason or _in_sentence(number, places[1], figure, evidence)
        else:
            reason = ""
        if not reason:
            return ""
        reasons.append(reason)
    return reasons[0] if reasons else ""


def _in_table(number: Number, part: str, claim: str, cell: CitedCell) -> str:
    row = _other_row(part, claim, cell)
    if row:
        return f"{number.raw} is the figure of “{cell.row}”, not of “{row}”."
    column = _other_column(number, part, cell)
    return f"{number.raw} is the figure of “{cell.column}”, not of “{column}”." if column else ""


def _other_row(part: str, claim: str, cell: CitedCell) -> str:
    """Row that the claim names instead of the row of ``cell``, or ""."""
    if not cell.row:
        return ""
    own_terms = label_terms(cell.row)

    def named(said: frozenset[str] | set[str]) -> float:
        return max(named_by(cell.row, said), named_by(cell.named.head, said))

    said_so = _in_a_run(cell.named.head, part)
    for row in cell.grid.rows:  # "Cost of revenues", named in full, for "Revenues"
        if said_so and not _in_a_run(row.head, part):
            continue
        wider = label_terms(row.head)
        more = wider - own_terms - lex.UNIMPORTANT - label_terms(cell.column)
        if own_terms < wider <= terms(part) and more:
            return row.name
    # A claim that names the row somewhere must name the other one in full to mean it.
    enough = 1.0 if named(with_synonyms(set(terms(claim)))) == 1.0 else 0.5
    for text in dict.fromkeys((part, claim)):
        said = terms(text) - label_terms(cell.column) - _SCALES
        own = named(with_synonyms(set(terms(text))))
        rivals = [row for row in cell.grid.rows if row != cell.named and (label_terms(row.head) - own_terms) & said]
        best = max(rivals, key=lambda row: named_by(row.head, said), default=None)
        share = named_by(best.head, said) if best else 0.0
        # A row named exactly ("Cost of sales") outranks one named only by a synonym (sales: "Revenues").
        if best and share >= enough and (share > own + 1e-9 or share == 1.0 > named(said)):
            return best.name
        if own > 0.0:
            return ""
    return ""


def _in_a_run(name: str, text: str) -> bool:
    """Whether ``text`` has the content words of ``name`` one after the other."""
    own, words = ([word for word in tokens(one) if word not in STOP_WORDS] for one in (name, text))
    return f" {' '.join(own)} " in f" {' '.join(words)} "


def _other_column(number: Number, part: str, cell: CitedCell) -> str:
    """Column that ``part`` names instead of that of ``cell``, of percentages for a percentage in one; "" for none."""
    if years(part) and not is_part(part) and is_part(cell.column):
        whole = (one for one in cell.grid.columns if years(one) == years(cell.column) and not is_part(one))
        if (year := next(whole, "")) and "end" not in tokens(part):
            return year
    spans, own_spans = spans_of_time(part), spans_of_time(cell.column)
    if spans and own_spans and spans.isdisjoint(own_spans):
        of_span = (one for one in cell.grid.columns if spans & spans_of_time(one) and years(one) == years(cell.column))
        if other := next(of_span, ""):
            return other
    shares = number.percent and "%" in cell.column
    rivals = [one for one in cell.grid.columns if "%" in one or not shares]
    fiscal = None if date_spans(part) else cell.grid.fiscal  # words that name a day name no year by it
    columns = {one: _column_terms(lex.without_comparisons(one), fiscal) for one in rivals}
    if not cell.row or cell.column not in columns:
        return ""
    said = terms(part)
    if len(set(columns.values())) < len(columns):  # "Votes for" and "Votes against"
        columns = {one: found | (set(tokens(one)) & STOP_WORDS) for one, found in columns.items()}
        said |= set(tokens(part)) & STOP_WORDS
    shared = frozenset.intersection(*columns.values())
    distinct = {column: found - shared for column, found in columns.items() if found - shared}
    own, row = distinct.get(cell.column, frozenset()), label_terms(cell.row)
    here = {
        column: len(found & said) / len(found)
        for column, found in distinct.items()
        if found & said and (column == cell.column or found & said - own - row)
    }
    best = max(here, key=lambda column: (here[column], column == cell.column), default="")
    return "" if not best or here.get(cell.column, 0.0) >= here[best] or here[best] < 0.5 else best


def _column_terms(column: str, fiscal: FiscalYear | None) -> frozenset[str]:
    """Terms of a column and the years it is called by; without its day, where ``fiscal`` gives its year."""
    called = column_years(column, fiscal)
    plain = column if called == column_years(column) else without_dates(column)
    return label_terms(plain) | set(map(str, called))


def _rivals(figure: Figure, sentence: str) -> tuple[list[Number], int]:
    """Figures of the kind of ``figure`` in its ``sentence``, and its place among them, -1 for none."""
    found = [
        one
        for one in numbers(sentence)
        if one.kind == figure.number.kind and not one.counts and not _ORDINAL.match(sentence, one.start + len(one.raw))
    ]
    return found, next((i for i, one in enumerate(found) if one.start == figure.number.start), -1)


def of_another_period(number: Number, said: tuple[str, str], figure: Figure, evidence: Evidence) -> str:
    """Reason why ``number`` is of another year or part of a year than ``figure``, one of several in a sentence, or "".
    ``said`` are its part of the claim, and the claim.

    A part without a period has that of what stands before the first figure, else of the headings; so may one that is
    joined by "and", but none that is compared with.
    """
    sentence = evidence.sentences[figure.sentence]
    rivals, place = _rivals(figure, sentence)
    if len(rivals) < 2 or place < 0:
        return ""
    own, compared = _of_itself(parts(sentence, rivals)[place], rivals[place])
    part, against = _of_itself(said[0], number)
    told = (part,) if against else (part, lex.without_comparisons(said[1]))
    frames = (sentence[: rivals[0].start], *evidence.own_headings)
    for kind in ("years", "quarters", "halves", "months"):
        mine, theirs, frame = (_first(kind, texts) for texts in (told, (own,), frames))
        here = getattr(periods(f"{evidence.words}\n{evidence.around}"), kind)
        if not ((compared and place) or (theirs and not place)):
            theirs |= frame
        if mine & here and theirs and mine.isdisjoint(theirs):  # a period that is nowhere is `check_periods`' to say
            return f"The cited words say {number.raw} of another time."
    return ""


def _of_itself(part: str, number: Number) -> tuple[str, bool]:
    """``part`` without what ``number`` is compared with, and whether it is itself what another is compared with."""
    ahead, raw, behind = part.partition(number.raw)
    return f"{ahead}{raw}{lex.without_comparisons(behind)}", lex.PARTS[0].search(ahead) is not None


def _first(kind: str, texts: Sequence[str]) -> frozenset[int]:
    """Periods of a ``kind`` in the first of ``texts`` that names one."""
    return next(filter(None, (getattr(periods(text), kind) for text in texts)), frozenset())


def _in_sentence(number: Number, part: str, figure: Figure, evidence: Evidence) -> str:
    sentence = evidence.sentences[figure.sentence]
    rivals, place = _rivals(figure, sentence)
    if len(rivals) < 2 or place < 0:
        return ""
    marks = _marks(sentence, rivals, evidence.own_headings)
    own = marks[place].difference(_OF_FIGURES - _TELLING, *(mark for i, mark in enumerate(marks) if i != place))
    direct = terms(part)
    if not own or own & direct:
        return ""
    told = {one for mark in marks[place + 1 :] for one in mark & direct - _OF_FIGURES if one.isalpha()}
    if own & with_synonyms(set(direct)) and not told:  # parts before may hold the subject of all
        return ""
    for other, mark in enumerate(marks):
        theirs = mark.difference(*(one for i, one in enumerate(marks) if i != other)) & direct
        if other != place and theirs and abs(rivals[other].amount) != abs(figure.number.amount):
            words = ", ".join(f"“{one}”" for one in sorted(own))
            return f"The cited words say {number.raw} of something else ({words})."
    return ""


def _periods(text: str) -> frozenset[str]:
    return frozenset(one for one in terms(text) if _PERIOD.fullmatch(one))


def _marks(sentence: str, rivals: Sequence[Number], headings: Sequence[str]) -> list[frozenset[str]]:
    """Words that distinguish each of the ``rivals``: periods if every part has one, that of the ``headings`` being the
    first's if it has none, else the words before the number in its part, else those after it. A part of a whole ("$9
    million, of which $5 million went into the hall") is distinguished by the words after it."""
    own = parts(sentence, rivals)
    if in_order := years_in_order(sentence, [span_of(sentence, rival) for rival in rivals]):
        return [frozenset((str(year),)) for year in in_order]
    figures = frozenset(one for number in numbers(sentence) for one in terms(number.raw))
    spans = [_periods(part) for part in own]
    if any(spans) and not spans[0]:
        spans[0] = next(filter(None, map(_periods, headings)), frozenset())
    if all(spans) and len(set(spans)) > 1:
        return spans
    before, after = [], []
    end = 0
    for part, rival in zip(own, rivals):
        ahead, _, behind = part.partition(rival.raw)
        after.append(terms(lex.PARTS[0].split(behind, maxsplit=1)[0]) - figures)
        part_of = end and lex.PARTITIVE.search(sentence, end, rival.start)
        before.append(after[-1] if part_of else terms(lex.PARTITIVE.sub(" ", ahead)) - figures)
        end = rival.start + len(rival.raw)
    if all(before):
        return before
    return after if all(after) else [frozenset()] * len(rivals)
