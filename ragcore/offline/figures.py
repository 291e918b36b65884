"""Figures in sentences: amounts, counts, dates and durations of the wanted kind, with the words of their clauses.

A figure means what its clause says: its own period, what it counts, what it is a part or a share of, and whether it is
expected, past or compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragcore.offline.fields import Wish, alike, canonical
from ragcore.offline.lists import listed
from ragcore.offline.quotes import ITEM, Quotable
from ragcore.text.lexicon import DENIALS, PARTITIVE
from ragcore.text.names import words_of
from ragcore.text.numbers import Number, lengths, numbers, span_of
from ragcore.text.periods import (
    blanked,
    date_spans,
    is_part,
    moments_in,
    month_spans,
    months_of_part,
    year_spans,
    years,
    years_in_order,
)
from ragcore.text.units import currencies, unit
from ragcore.text.words import STOP_WORDS, content_stems, stem, tokens
from ragcore.types.report import Period

_RANGE = re.compile(
    r"\b(?:rang\w+\s+(?:from|between)|between)\s+[$€£]?\d[\d.,]*%?\s+(?:to|and)\s+[$€£]?\d", re.IGNORECASE
)
_IDENTIFIER = 7  # digits
_OPENING = 3  # words with which the year of a sentence does not open it anymore
_NEAR = 10  # words within which the starting point of a duration follows
_COUNTED = 5  # words within which follows what a number counts
_ENDS = re.compile(r"[,;:.()](?!\d)")
# "Date of report (date of the event): 20 May (18 May)": each name has the value at its place.
_IN_PAIRS = re.compile(r"(?P<name>[^():]+)\((?P<other>[^():]+)\): *(?P<value>[^()]+)\((?P<second>[^()]+)\)\.?")
_OF_THE_LAST = re.compile(r"\A\s*\([^()]*\)")  # what stands in brackets behind a figure is said of it, not of the next


@dataclass(frozen=True, slots=True)
class Figure:
    """Figure in a sentence, the words of its clause ``before`` and ``after`` it, and its ``period``."""

    text: str
    before: str
    after: str
    period: Period


def figures(asked: Wish, quote: Quotable, latest: int) -> Iterator[Figure]:
    """Figures of the wanted kind in a sentence or a form's line: those for the requested years, else for ``latest`` (0:
    unknown), the year after it, or no year; of figures and years in the same order those of the latest year."""
    # No figure of a sentence with a range is certain.
    spans = list(_spans(asked, quote.text)) if _RANGE.search(quote.text) is None else []
    ends, starts = [0, *(end for _, end in spans)], [*(start for start, _ in spans[1:]), len(quote.text)]
    in_order = years_in_order(quote.text, spans) if asked.sort != "date" else []
    if in_order:
        before, after = _clause(quote.text[: spans[0][0]], quote.text[spans[-1][1] :])
        for (start, end), year in zip(spans, in_order):
            right = year in asked.years if asked.years else year == max(in_order) >= latest
            if right and (is_part(asked.piece) or not is_part(before + after)):
                yield Figure(quote.text[start:end], before, after, (year, 0, 0))
        return
    pairs = _IN_PAIRS.fullmatch(quote.text)
    for (start, end), opens, closes in zip(spans, ends, starts):
        between = quote.text[opens:start]
        before, after = _clause(_OF_THE_LAST.sub("", between) if opens else between, quote.text[end:closes])
        figure = quote.text[start:end]
        if pairs is not None:
            before, after = pairs["name" if start < pairs.start("second") else "other"], ""
        if asked.sort == "date":
            day = (moments_in(figure) or [(0, 0, 0)])[0]
            right = day[0] >= (latest or 1) and (not asked.years or day[0] in asked.years)
            if right and DENIALS.isdisjoint(tokens(before)):
                yield Figure(figure, before, "", day)
            continue
        named = years(before + after)
        wanted, said = months_of_part(asked.piece), months_of_part(before + after)
        part = bool(wanted and said and not wanted & said) or (
            opens > 0 and PARTITIVE.search(quote.text, opens, start) is not None
        )
        # "In 2004, costs were …: the cost of each was …" is all of that year.
        opening = quote.text[:start].partition(",")[0]
        own = named or (years(opening) if len(tokens(opening)) < _OPENING else set())
        right = (own or {latest}) <= asked.years if asked.years else not named or max(named) >= latest
        if right and not part and (is_part(asked.piece) or not is_part(before + after)):
            yield Figure(figure, before, after, (max(own if asked.years else named, default=0), 0, 0))


def _spans(asked: Wish, text: str) -> Iterator[tuple[int, int]]:
    """Spans of figures of the wanted kind."""
    if asked.sort == "date":
        # Also "MAY 27, 2024"; without a day, a month, or a year.
        yield from date_spans(text.title()) or month_spans(text) or year_spans(text)
    elif asked.sort == "duration":
        past = listed("sentences", "past")  # "over the last 5 years"
        yield from ((one.start, one.end) for one in lengths(text) if past.isdisjoint(tokens(text[: one.start])[-1:]))
    elif asked.sort in ("amount", "count"):
        label = ITEM.match(text)
        for number in numbers(text):
            if label is not None and number.start < label.end():
                continue
            if number.percent == asked.share and _has_unit(asked, number) and not is_identifier(number):
                yield span_of(text, number)


def is_identifier(number: Number) -> bool:
    """Whether a number has so many digits in one piece that it is no quantity."""
    return number.raw.isdigit() and len(number.raw) >= _IDENTIFIER


def _has_unit(asked: Wish, number: Number) -> bool:
    """Whether a number is in the requested unit, or one of the same measure; a count has none."""
    if asked.sort == "count":
        return not (number.currency or number.unit)
    wanted, money = unit(asked.unit), currencies(asked.unit)
    if money:
        return number.currency in money
    return asked.share or wanted is None or (number.unit is not None and number.unit.measures == wanted.measures)


def _clause(before: str, after: str) -> tuple[str, str]:
    """Words of a clause before and after its figure, without a comparison that follows; a label ends in a colon."""
    before = before.rstrip(" :")
    after = _ENDS.split(after, maxsplit=1)[0]
    cut = next((word.start for word in words_of(after) if word.plain in listed("sentences", "beside")), len(after))
    return re.split(r"[;:(]", before)[-1], after[:cut]


def called(asked: Wish, quote: Quotable, figure: Figure) -> frozenset[str] | None:
    """Words of a clause that name its figure; None if it is uncertain or a comparison."""
    said = tokens(blanked(figure.before, date_spans(figure.before)))
    clause = [*said, *tokens(figure.after)]
    neutral = listed("sentences", "neutral") | listed("names", "beside") | listed("names", "columns")
    neutral |= listed("sentences", "changes") if said[-1:] in (["to"], ["at"]) else frozenset()
    unsure = listed("sentences", "unsure") | listed("sentences", "modal")
    if not listed("sentences", "breaks").isdisjoint(said) or not unsure.isdisjoint(clause):
        return None
    others = frozenset(content_stems(quote.source.title))
    named = ((word, stem(word)) for word in clause if word not in STOP_WORDS and not word[0].isdigit())
    return frozenset(of for word, of in named if of in asked.words or (of not in others and word not in neutral))


def counts(asked: Wish, figure: Figure, text: str) -> bool:
    """Whether a ``figure`` of ``text`` counts what is asked for, if that says what it counts."""
    of = canonical(content_stems(" ".join(text.partition(figure.text)[2].split()[:_COUNTED])))
    return DENIALS.isdisjoint(tokens(figure.before)) and (not of or bool(of & canonical(asked.words)))


def without_bases(text: str) -> str:
    """``text`` without what its percentages are of: "8.0% of revenue" gives no revenue."""
    for number in reversed([one for one in numbers(text) if one.percent]):
        end = number.start + len(number.raw)
        if text[end:].split()[:1] == ["of"]:
            base = _ENDS.search(text, end)
            text = text[:end] + (text[base.start() :] if base is not None else "")
    return text


def is_sure(asked: Wish, text: str) -> bool:
    """Whether a sentence denies nothing and expects nothing that is not asked for; an agreement may well say what will
    be, but not of a year."""
    modal = listed("sentences", "modal") if asked.annual or asked.years else frozenset[str]()
    unsure = (listed("sentences", "unsure") | modal).difference(tokens(asked.piece))
    return (unsure | DENIALS).isdisjoint(tokens(text))


def counts_from(text: str) -> list[str]:
    """Words for what a duration counts from ("after submission"), its own first."""
    said = [word.strip(".,;:()").lower() for word in text.split()]
    place = next((n for n, word in enumerate(said) if word in listed("sentences", "counted")), None)
    return [] if place is None else list(map(alike, content_stems(" ".join(said[place + 1 : place + _NEAR]))))
