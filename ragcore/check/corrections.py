"""Corrections: the words of a sentence that evidence contradicts, and those that it has in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragcore.text import lexicon as lex
from ragcore.text.numbers import SCALE_NAMES, Number, agree, numbers, ranged, span_of
from ragcore.text.periods import date_spans, dates_in, in_form_of, is_part, years
from ragcore.text.words import stem, tokens
from ragcore.types.check import Correction
from ragcore.verify.attribution import misplaced, named_by, of_another_period, terms, with_synonyms
from ragcore.verify.evidence import Evidence, Figure, changes, parts
from ragcore.verify.identifiers import OTHER_SPAN
from ragcore.verify.support import Support

_SUBJECT = 0.7  # least share of the words before a figure
_CHANGES = frozenset(map(stem, lex.CHANGES))
_ORDER = 5.0  # most that a figure differs from the one in its place


def corrections(text: str, against: Support, evidence: Evidence, context: str = "") -> tuple[Correction, ...]:
    """Corrections of ``text`` by the ``evidence`` whose exact checks are ``against`` it, in order; a figure, day or
    year only if one alone can stand in its place. Nothing is to be written for words that are but opposite.
    ``context`` holds the labels of a cell."""
    findings = [finding for finding in against.exact if finding.status == "unsupported"]
    if any(finding.reason == OTHER_SPAN for finding in against.exact):
        return ()
    if is_part(f"{text} {context}") and not is_part(f"{evidence.words} {evidence.around}"):
        return ()  # of which part of the year, the evidence does not say
    wrong = {raw for finding in findings for raw in finding.wrong}
    found = [*_figures(text, context, wrong, evidence)]
    given = "\n".join((*evidence.sentences, *(f"{cell.label} {cell.text}" for cell in evidence.cells)))
    own = lex.without_comparisons(given)
    own = own if years(own) else f"{own}\n{next(filter(years, evidence.own_headings), '')}"
    if not found and wrong <= set(map(str, years(text))):  # with the same figures, a wrong year is one
        found = [*_periods(text, own, wrong)]
    for finding in findings:
        said, given = finding.contrast
        match = re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text, re.IGNORECASE) if said else None
        if match:  # an opposite is of another part of speech, or of something else: only a person can put it in
            found.append(Correction(*match.span(), match.group(), given, given if finding.wrong else ""))
    out: list[Correction] = []
    for one in sorted(found, key=lambda one: one.start):
        if one.said not in (one.found, one.write) and (not out or one.start >= out[-1].end):
            out.append(one)
    return tuple(out)


def in_cell(text: str, found: Sequence[Correction]) -> tuple[Correction, ...]:
    """Corrections of a figure that was told in a scale, as those of the cell ``text``, which is written without it; of
    a cell with several figures only what stands in it as it is."""
    given = numbers(text)
    out = []
    for one in found:
        said = numbers(one.write)
        if text[one.start : one.end] == one.said:
            out.append(one)
        elif len(given) == 1 and said:
            own = given[0]
            end = own.start + len(own.raw)
            out.append(replace(one, start=own.start, end=end, said=own.raw, write=own.written(said[0].value)))
    return tuple(out)


def _compares(text: str) -> bool:
    """Whether a figure that begins ``text`` is a difference: "20 minutes longer than"."""
    words = tokens(text)
    return "than" in words and not (lex.MORE | lex.LESS).isdisjoint(words)


def _figures(text: str, context: str, wrong: set[str], evidence: Evidence) -> Iterator[Correction]:
    claimed = numbers(text)
    own = dict(zip((number.start for number in claimed), parts(text, claimed)))
    for number in claimed:
        if number.raw in wrong and not _compares(text[number.start :]):
            others = [one for one in claimed if one is not number]
            figure = _instead(number, f"{own[number.start]} {context}", others, evidence, in_range=ranged(number, text))
            if figure is not None:
                yield _correction(text, number, figure, evidence)


def _correction(text: str, number: Number, figure: Figure, evidence: Evidence) -> Correction:
    """Correction of ``number`` of ``text`` by ``figure``: with its unit, if they have different ones."""
    units = number.unit, figure.number.unit
    if units[0] is None or units[1] is None or replace(units[0], name="") == replace(units[1], name=""):
        said, start = number.bare, number.start + number.raw.index(number.bare)
        write = _write(replace(number, raw=said), figure)
        return Correction(start, start + len(said), said, _shown(number, figure), write)
    start, end = span_of(text, number)
    found = f"{_shown(number, figure)} {units[1].name}"
    if figure.cell is None:
        given = evidence.sentences[figure.sentence]
        found = given[slice(*span_of(given, figure.number))]
    return Correction(start, end, text[start:end], found, found)


def _instead(
    number: Number, part: str, others: Sequence[Number], evidence: Evidence, *, in_range: bool
) -> Figure | None:
    """The one figure of the kind of ``number`` that belongs to the words around it and agrees neither with it nor with
    the ``others``; an end of a range for one (``in_range``) only."""
    given = [
        figure
        for figure in evidence.figures
        if figure.valued
        and not (figure.number.percent and figure.number.in_letters)  # "a fifth" is no slip for 24.0%
        and (figure.number.kind == number.kind or {figure.number.kind, number.kind} == {"", figure.currency})
        and not any(agree(other, figure.number, figure.scale, hedged=True, bare=True) for other in others)
        and not agree(number, figure.number, figure.scale, bare=False)
        and in_range == ranged(figure.number, evidence.within(figure))
        and (figure.cell is not None or changes(part, number.raw) == changes(figure.part, figure.number.raw))
    ]
    said = with_synonyms(set(terms(part)))
    given = [one for one in given if _comparable(number, one) and same_subject(one, said)]
    given = [one for one in given if not _is_another(number, part, one, evidence)]
    amount = number.amount
    if not given or any(one.number.amount != amount and agree(one.number, number, None) for one in given):
        return None  # none, or the claim has it in more digits
    about = [len(said & terms(figure.cell.label if figure.cell else figure.part)) for figure in given]
    best = [figure for figure, share in zip(given, about) if share == max(about)]
    return best[0] if len({figure.number.amount for figure in best}) == 1 else None


def _is_another(number: Number, part: str, figure: Figure, evidence: Evidence) -> bool:
    """Whether ``part`` of a claim names another column or row than that of ``figure``, or another period."""
    if figure.cell is not None:
        return bool(misplaced(number, (part, part), part, [figure], evidence))
    return bool(of_another_period(number, (part, part), figure, evidence))


def _comparable(number: Number, figure: Figure) -> bool:
    """Whether one may be a slip for the other: of the same order, or off by thousands."""
    mine = abs(number.amount)
    scales = {1.0, figure.scale or 1.0} if figure.cell is not None and figure.number.scale == 1.0 else {1.0}
    ratios = [abs(figure.number.amount) * scale / mine for scale in scales if mine]
    return any(1 / _ORDER <= ratio * step <= _ORDER for ratio in ratios for step in (1.0, 1e3, 1e-3, 1e6, 1e-6))


def same_subject(figure: Figure, said: set[str]) -> bool:
    """Whether the words before a figure in its part of a sentence, else those after it, or the name of its row, are
    mostly ``said`` of the claimed one too."""
    if figure.cell is not None:
        return named_by(figure.cell.named.head or figure.cell.row, said) >= _SUBJECT
    before, _, after = figure.part.partition(figure.number.raw)
    beside = frozenset(one for one in terms(before) or terms(after) if one.isalpha()) - _CHANGES
    return bool(beside) and len(beside & said) >= _SUBJECT * len(beside)


def _write(number: Number, figure: Figure) -> str:
    """``figure`` as the document has it, unless that is of another form than ``number``, of the same order and no more
    exact, which it can then be written in."""
    given = figure.number
    scale = (figure.scale if figure.cell is not None and given.scale == 1.0 else None) or 1.0
    amount = abs(given.amount) * scale
    alike = amount and 1 / _ORDER <= abs(number.amount) / amount <= _ORDER
    same = figure.cell is None and _form(number) == _form(given)
    finer = number.scale * 10.0**-number.decimals < 0.99 * given.scale * scale * 10.0**-given.decimals
    if alike and not (same or finer or number.in_letters or given.in_letters):
        return number.written(amount if number.value >= 0 else -amount)
    return _shown(number, figure)


def _form(number: Number) -> tuple[float, str, bool, bool]:
    """What two figures share that differ in their digits alone."""
    return number.scale, number.currency, number.value < 0, number.bare[:1].isdigit()


def _shown(instead: Number, figure: Figure) -> str:
    """Figure as people write it in a sentence, ``instead`` of a number: with its table's currency only for money."""
    number = figure.number
    scale = SCALE_NAMES.get(figure.scale or 1.0, "") if figure.cell is not None and number.scale == 1.0 else ""
    if number.percent:
        return number.bare if "%" in number.bare or not figure.cell else f"{number.bare}%"
    currency = figure.currency if instead.currency and not number.currency else ""
    return " ".join(part for part in (f"{currency}{number.bare}", scale) if part)


def _periods(text: str, given: str, wrong: set[str]) -> Iterator[Correction]:
    """Days, else ``wrong`` years, of ``text`` that ``given`` lacks, if it has one in their place."""
    mine = {day: span for span in date_spans(text) for day in dates_in(text[slice(*span)])}
    theirs = {day: given[slice(*span)] for span in date_spans(given) for day in dates_in(given[slice(*span)])}
    missing = [day for day in mine if day not in theirs]
    if len(missing) == 1 and len(others := [day for day in theirs if day not in mine]) == 1:
        start, end = mine[missing[0]]
        instead = theirs[others[0]]
        yield Correction(start, end, text[start:end], instead, in_form_of(text[start:end], instead))
        return
    said, there = years(text), years(given)
    lacking, more = said - there, there - said
    if len(lacking) == 1 and len(more) == 1 and wrong.issuperset(map(str, lacking)):
        year = str(lacking.pop())
        at = text.find(year)
        if at >= 0 and not lex.BEFORE_YEAR.isdisjoint(tokens(text[:at])[-3:]):
            return
        if at >= 0:
            yield Correction(at, at + len(year), year, str(other := more.pop()), str(other))
