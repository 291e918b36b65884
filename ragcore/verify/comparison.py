"""Which is more? "A was higher than B", "A exceeded B", "rose from 2022 to 2023": held against the cited figures, and
against comparisons in the cited words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragcore.text.numbers import WORDS, Number, numbers
from ragcore.text.periods import years
from ragcore.text.words import word_set
from ragcore.verify.evidence import Evidence, Figure, Finding
from ragcore.verify.polarity import direction
from ragcore.verify.synonyms import label_terms, terms, with_synonyms

MORE = word_set(
    "higher larger greater more bigger faster longer warmer hotter older better stronger heavier later dearer "
    "costlier wider "
    "deeper taller richer above exceeds exceed exceeded exceeding surpassed surpasses outperformed outsold "
    "outnumbered topped "
    "superior over outweighs precedence quicker harder"
)
LESS = word_set(
    "lower smaller less fewer slower shorter cooler colder younger worse weaker lighter earlier cheaper narrower "
    "shallower "
    "poorer below trailed trails trail lagged lags underperformed inferior under softer"
)
_WORDS = "|".join(sorted(MORE | LESS, key=len, reverse=True))
_THAN = re.compile(rf"\b(?P<word>{_WORDS})\b(?P<between>[^.;]*?)\b(?:than|to|over)\b(?P<right>[^.;]*)", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?P<word>exceed(?:s|ed|ing)?|surpass(?:es|ed)|outperform(?:s|ed)|outsold|outnumber(?:s|ed)|outweigh(?:s|"
    r"ed)|topped|"
    r"trail(?:s|ed)|lag(?:s|ged)|underperform(?:s|ed))\b(?P<right>[^.;]*)",
    re.IGNORECASE,
)
# "Less than 1 year" compares no two things.
_BOUND = re.compile(
    rf"\b(?:{_WORDS})\s+than\s+(?:(?:about|approximately|only)\s)?(?:(?:[$€£¥]|[A-Z]{{3}}\s)?\s?\d[\d.,]*|"
    rf"(?:one|{'|'.join(WORDS)})\b)",
    re.IGNORECASE,
)
_FROM_TO = re.compile(r"\bfrom\b.{1,60}?\bto\b", re.IGNORECASE)
_OUTFLOW = re.compile(r"\b(?:loss|used|expense|cost|purchase|payment|outflow|repurchase|deficit)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left`` is more (``sign`` 1) or less (-1) than ``right``; both are the words on their sides."""

    left: frozenset[str]
    right: frozenset[str]
    sign: int
    word: str


def comparison(text: str) -> Comparison | None:
    """The first comparison of two things that ``text`` makes, or None."""
    text = _BOUND.sub(" ", text)
    match = _THAN.search(text)
    if match is not None and re.search(r"\bthan\b|precedence|superior|inferior", match.group(), re.I):
        left = f"{text[: match.start()]} {match.group('between')}"
    else:
        match = _VERB.search(text)
        if match is None:
            return None
        left = text[: match.start()]
    word = match.group("word").lower()
    sign = 1 if word in MORE or word.startswith(("exceed", "surpass", "out", "top")) else -1
    # Of three things compared the nearest is meant; what follows a comma is another matter.
    return Comparison(terms(left), terms(re.split(r",|\bby\b", match.group("right"))[0]), sign, word)


def check_comparison(text: str, evidence: Evidence) -> tuple[list[Finding], bool]:
    """Findings on what ``text`` compares, and whether they settle the words for more and less in it: "B was lower than
    A" says what "A was higher than B" does."""
    made = comparison(text)
    if made is not None:
        for sentence in evidence.sentences:
            there = comparison(sentence)
            if there is None:
                continue
            verdict = _between(made, there)
            if verdict is not None:
                return (
                    [] if verdict else [Finding("unsupported", "The cited words compare the two the other way round.")]
                ), verdict
        found = _by_figures(made, evidence)
        if found is not None:
            return [found], found.status == "supported"
    return _by_change(text, evidence), False


def _between(claimed: Comparison, given: Comparison) -> bool | None:
    """Whether two comparisons say the same; None where they are not of the same two things."""
    aligned = (claimed.left & given.left - given.right, claimed.right & given.right - given.left)
    crossed = (claimed.left & given.right - given.left, claimed.right & given.left - given.right)
    if all(crossed) and not all(aligned):
        return claimed.sign != given.sign
    if all(aligned) and not all(crossed):
        return claimed.sign == given.sign
    return None


def _named(evidence: Evidence) -> list[tuple[Figure, frozenset[str]]]:
    """Figures with the words that name them."""
    out = [(f, label_terms(f.cell.row) | label_terms(f.cell.column)) for f in evidence.figures if f.cell is not None]
    for place in range(len(evidence.sentences)):
        kinds: dict[str, list[Figure]] = {}
        for figure in evidence.figures:
            if figure.sentence == place:
                kinds.setdefault(figure.number.kind, []).append(figure)
        for figures in kinds.values():
            if len(figures) == 2:
                out.extend((figure, terms(figure.part) - terms(figure.number.raw)) for figure in figures)
    return out


def _by_figures(claimed: Comparison, evidence: Evidence) -> Finding | None:
    named = _named(evidence)
    if len(named) < 2:
        return None
    unique = [
        (f, words.difference(*(other for g, other in named if g is not f and other != words))) for f, words in named
    ]

    def pick(said: frozenset[str]) -> list[Figure]:
        scores = [(len(words & with_synonyms(set(said))), figure) for figure, words in unique]
        most = max(score for score, _ in scores)
        return [figure for score, figure in scores if score == most] if most else []

    left, right = pick(claimed.left - claimed.right), pick(claimed.right - claimed.left)
    if len(named) == 2:
        if len(left) == 1 and not right:
            right = [figure for figure, _ in named if figure is not left[0]]
        elif len(right) == 1 and not left:
            left = [figure for figure, _ in named if figure is not right[0]]
    if len(left) != 1 or len(right) != 1 or left[0] is right[0]:
        return None
    a, b = left[0].number, right[0].number
    x, y = _values(left[0], right[0])
    if a.percent != b.percent or x == y:
        return None
    shown = f"{a.raw} {'>' if x > y else '<'} {b.raw}"
    if (x > y) == (claimed.sign > 0):
        return Finding("supported", f"The cited figures say so: {shown}.")
    return Finding("unsupported", f"The cited figures say the opposite: {shown}.")


def _values(a: Figure, b: Figure) -> tuple[float, float]:
    """Their amounts; without the signs where both are outflows, which tables show in brackets."""
    x, y = a.number.amount, b.number.amount
    rows = " ".join(figure.cell.row for figure in (a, b) if figure.cell)
    return (abs(x), abs(y)) if x < 0 and y < 0 and _OUTFLOW.search(rows) else (x, y)


def _by_change(text: str, evidence: Evidence) -> list[Finding]:
    """Whether what "rose" or "fell" did so, by two figures in the claim ("from 5 to 4") or in the cited row."""
    sign = direction(text)
    if not sign:
        return []
    move = _FROM_TO.search(text)
    if move is not None:
        first, second = _first(text, move.start()), _first(text, move.end())
        if first and second and first.kind == second.kind and first.scale == second.scale:
            x, y = abs(first.amount), abs(second.amount)
            if x != y and (y > x) != (sign > 0):
                return [Finding("unsupported", f"From {first.raw} to {second.raw} is not what it says.")]
    # A claim may agree with itself and still have the two figures the wrong way round.
    return _by_years(text, sign, evidence)


def _first(text: str, position: int) -> Number | None:
    """The number that stands right behind ``position``, but for two words."""
    found = numbers(text[position:])
    return found[0] if found and len(text[position : position + found[0].start].split()) <= 2 else None


def _by_years(text: str, sign: int, evidence: Evidence) -> list[Finding]:
    by_row: dict[str, dict[int, Figure]] = {}
    for figure in evidence.figures:
        if figure.cell is None or not figure.cell.row:
            continue
        found = years(figure.cell.column)
        if len(found) == 1 and figure.cell.row:
            by_row.setdefault(figure.cell.row, {}).setdefault(found.pop(), figure)
    named = {row: columns for row, columns in by_row.items() if len(columns) > 1}
    if len(named) != 1:
        return []
    (columns,) = named.values()
    said = sorted(years(text))
    last = said[-1] if said else max(columns)
    before = [year for year in columns if year < last]
    first = said[0] if len(said) == 2 else max(before, default=0)
    if last not in columns or first not in columns or len(said) > 2:
        return []
    y, x = _values(columns[last], columns[first])
    if x == y or (y > x) == (sign > 0):
        return []
    shown = f"{columns[first].number.raw} in {first}, {columns[last].number.raw} in {last}"
    return [Finding("unsupported", f"The cited figures moved the other way: {shown}.")]
