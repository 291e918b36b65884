"""Citations for claims that the writer left uncited and that a given source says.

A claim is held only against single units and short runs of them that share most of its words, and gets a citation only
where the evidence is strong: verification finds the claim supported, every number, year and name of it stands in the
evidence as it is (none is derived), and nearly all of its content words do. Where passages of several documents say it
equally well it cannot be told which is meant, and it stays uncited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nsmallest

from ragcore.answer.cite import Citer, Part
from ragcore.config.settings import VerifySettings
from ragcore.text.lexicon import DOWN, UP
from ragcore.text.numbers import agree, numbers, years
from ragcore.text.words import STOP_WORDS, content_stems, cover, stem, tokens, word_set
from ragcore.types import Citation, Claim, Document, Mark, Source
from ragcore.verify.claims import Statement, split_statements
from ragcore.verify.evidence import Evidence, gather
from ragcore.verify.support import support
from ragcore.verify.verify import CheckBudget

# Share of a claim's content words that must stand in the cited words, their title or section; and in them alone.
_ALL_WORDS, _OWN_WORDS = 0.85, 0.6
# Fewer content words say too little to be sure what they are about; with a figure two are enough.
_FEWEST_WORDS, _FEWEST_WITH_FIGURE = 3, 2
# Words that belong to a figure: what it amounts to is compared with them.
_SCALES = word_set("hundred thousand thousands million millions billion billions trillion percent dollar dollars")
# What a claim about a figure may say beside its headers.
_REPORTING = word_set(
    "amounted amounts came company figure fiscal had posted reached recorded reported stood totaled year"
)
# Units that are looked at for one claim, best first by their words, and how long a run of them may be.
_CANDIDATES = 8
_LONGEST_CELLS, _LONGEST_SENTENCES = 4, 2
# Words of the claim that each end of a run of sentences must have and the other not; a figure counts for two.
_LEAST_OF_AN_END = 2

_DENIALS = word_set("not no never none neither nor cannot without")
_CAPITALISED = re.compile(r"(?<![\w'’])[A-Z][\w&.'’-]*")
# What a mark stands before at the end of a claim. After a closing quotation mark or bracket it follows.
_FULL_STOP = re.compile(r"[.!?…。！？]+(?:\*\*|__|\*|_)?\Z")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What of a claim is looked for: the stems of its content words, and its figures as written, which are compared
    by what they amount to and only put units in order."""

    words: frozenset[str]
    figures: frozenset[str]

    @classmethod
    def of(cls, statement: Statement) -> _Wanted:
        said = tokens(f"{statement.text} {statement.context}")
        stems = frozenset(content_stems(" ".join(word for word in said if word not in _SCALES)))
        figures = frozenset(one for one in stems if any(character.isdigit() for character in one))
        return cls(stems - figures, figures)


@dataclass(frozen=True, slots=True)
class _Run:
    """Units ``first``..``last`` (from 1) of ``source``; ``share`` of a claim's words stand in them, and so many of its
    ``figures``."""

    source: Source
    first: int
    last: int
    share: float
    figures: int

    @property
    def order(self) -> tuple[float, int, int]:
        """Best first."""
        return -self.share, -self.figures, self.last - self.first


def add_citations(
    text: str,
    marks: Sequence[Mark],
    sources: Sequence[Source],
    citer: Citer,
    document: Callable[[str], Document],
    settings: VerifySettings,
    *,
    unfinished: bool = False,
    budget: CheckBudget | None = None,
) -> tuple[str, tuple[Mark, ...]]:
    """``text`` and its ``marks`` with a mark (``added``) at the end of every uncited statement that a source says.

    Without those marks, and the blank before each, ``text`` is unchanged. ``unfinished``: the writing broke off, so
    that what the last statement says is not known. What ``budget`` has no room for stays uncited.
    """
    statements = split_statements(text, marks)
    if unfinished:
        statements = statements[:-1]
    budget = budget if budget is not None else CheckBudget()
    uncited = [statement for statement in statements if not statement.citations]
    if not uncited:
        return text, tuple(marks)
    search = _Search(sources, citer, document, settings)
    pieces: list[str] = []
    inserted: list[Mark] = []
    shifts: list[tuple[int, int]] = []
    position, length = 0, 0
    for statement in uncited:
        part = None if budget.spend(statement.text) else search.part(statement)
        if part is None:
            continue
        citation = citer.cite(part)
        assert citation is not None  # the part names units that were given
        place = _place(text, statement)
        mark = f" [{citation.n}]"
        pieces += (text[position:place], mark)
        length += place - position + len(mark)
        inserted.append(Mark(length - len(mark) + 1, length, citation.n, added=True))
        shifts.append((place, len(mark)))
        position = place
    moved = [replace(mark, start=mark.start + by, end=mark.end + by) for mark in marks for by in [_shift(mark, shifts)]]
    return "".join([*pieces, text[position:]]), tuple(sorted([*moved, *inserted], key=lambda mark: mark.start))


def tell_added(claims: Sequence[Claim], marks: Sequence[Mark], citations: Sequence[Citation]) -> tuple[Claim, ...]:
    """``claims`` with the reasons of those that have an added citation saying so."""
    by_number = {citation.n: citation for citation in citations}
    added = {mark.start: by_number[mark.n] for mark in marks if mark.added}
    out = []
    for claim in claims:
        found = next((citation for start, citation in added.items() if claim.start <= start < claim.end), None)
        if found is not None:
            where = f"{found.title}, page {found.page_label}"
            claim = replace(claim, reason=f"Groundwork found this in {where}; the answer cited nothing. {claim.reason}")
        out.append(claim)
    return tuple(out)


def _place(text: str, statement: Statement) -> int:
    stop = _FULL_STOP.search(text, statement.start, statement.end)
    return stop.start() if stop else statement.end


def _shift(mark: Mark, shifts: Sequence[tuple[int, int]]) -> int:
    return sum(by for place, by in shifts if place <= mark.start)


class _Search:
    """The units of ``sources`` by their words, read once for all claims of an answer."""

    def __init__(
        self, sources: Sequence[Source], citer: Citer, document: Callable[[str], Document], settings: VerifySettings
    ) -> None:
        self._sources = sources
        self._citer = citer
        self._document = document
        self._settings = settings
        self._evidence: dict[tuple[int, int, int], Evidence | None] = {}

    @cached_property
    def _units(self) -> list[tuple[Source, int, frozenset[str]]]:
        """Every unit of the documents' own words with its number and stems; a cell with those of its headers."""
        labels: dict[str, frozenset[str]] = {}
        out = []
        for source in self._sources:
            for number, unit in enumerate(source.units, start=1):
                if unit.generated:
                    continue
                if unit.label not in labels:
                    labels[unit.label] = frozenset(content_stems(unit.label))
                words = source.text[unit.start - source.start : unit.end - source.start]
                out.append((source, number, labels[unit.label].union(content_stems(words))))
        return out

    def part(self, statement: Statement) -> Part | None:
        """What says ``statement``, or None."""
        wanted = _Wanted.of(statement)
        if len(wanted.words) < (_FEWEST_WITH_FIGURE if wanted.figures else _FEWEST_WORDS):
            return None
        near = [_run(source, n, n, stems, wanted) for source, n, stems in self._units if wanted.words & stems]
        near = nsmallest(_CANDIDATES, near, key=lambda run: run.order)
        for runs in ([run for run in near if run.share >= _OWN_WORDS], self._runs(near, wanted)):
            saying = [(share, run) for run in runs if (share := self._share(statement, run, wanted)) > 0.0]
            if saying:
                best = max(share for share, _ in saying)
                equal = [run for share, run in saying if share == best]
                if len({run.source.doc_id for run in equal}) > 1:
                    return None
                run = min(equal, key=lambda run: run.order)
                return Part(run.source.number, run.first, run.last, "")
        return None

    def _runs(self, near: Sequence[_Run], wanted: _Wanted) -> list[_Run]:
        """The best runs of neighbours that say more together than each alone: cells of a row, two sentences of a
        paragraph."""
        found = (run for run in self._all_runs(near, wanted) if run.share >= _OWN_WORDS)
        return nsmallest(_CANDIDATES, found, key=lambda run: run.order)

    def _all_runs(self, near: Sequence[_Run], wanted: _Wanted) -> Iterator[_Run]:
        said = wanted.words | wanted.figures
        stems = {(source.number, number): own & said for source, number, own in self._units}
        seen: set[tuple[int, int, int]] = set()
        for run in near:
            source = run.source
            low, high = next(line for line in source.lines() if line[0] <= run.first <= line[1])
            cell = source.units[run.first - 1].kind == "cell"
            longest = _LONGEST_CELLS if cell else _LONGEST_SENTENCES
            for first in range(max(low, run.first - longest + 1), run.first + 1):
                for last in range(max(first + 1, run.first), min(high, first + longest - 1) + 1):
                    key = (source.number, first, last)
                    one, other = (stems.get((source.number, number), frozenset()) for number in (first, last))
                    least = 1 if cell else _LEAST_OF_AN_END
                    if key in seen or min(_worth(one - other), _worth(other - one)) < least:
                        continue
                    seen.add(key)
                    together = frozenset[str]().union(
                        *(stems.get((source.number, number), frozenset()) for number in range(first, last + 1))
                    )
                    yield _run(source, first, last, together, wanted)

    def _share(self, statement: Statement, run: _Run, wanted: _Wanted) -> float:
        """The share of the claim's words in ``run`` where it says the claim beyond doubt, else 0.0."""
        evidence = self._gathered(run)
        if evidence is None:
            return 0.0
        own = cover(wanted.words, content_stems(evidence.words))
        if own < _OWN_WORDS or cover(wanted.words, evidence.stems) < _ALL_WORDS:
            return 0.0
        if evidence.cells and not (self._names_cell(run, evidence, wanted) and _needs_ends(statement, evidence)):
            return 0.0
        if not all(has(statement, evidence) for has in (_has_numbers, _has_years, _has_names, _has_directions)):
            return 0.0
        return own if support(statement, evidence, self._settings).finding.status == "supported" else 0.0

    def _names_cell(self, run: _Run, evidence: Evidence, wanted: _Wanted) -> bool:
        """Whether the headers of a cell have every word of the claim, but for the name of the document and words of
        reporting: the other cells of a table differ from it by a single word."""
        name = f"{run.source.title} {self._document(run.source.doc_id).name}"
        return wanted.words <= {*content_stems(f"{evidence.words} {name}"), *map(stem, _REPORTING)}

    def _gathered(self, run: _Run) -> Evidence | None:
        key = (run.source.number, run.first, run.last)
        if key not in self._evidence:
            citation = self._citer.look(Part(run.source.number, run.first, run.last, ""))
            self._evidence[key] = None if citation is None else gather([citation], self._document)
        return self._evidence[key]


def _run(source: Source, first: int, last: int, stems: frozenset[str], wanted: _Wanted) -> _Run:
    share = len(wanted.words & stems) / len(wanted.words)
    return _Run(source, first, last, share, len(wanted.figures & stems))


def _worth(stems: frozenset[str]) -> int:
    """How much an end of a run adds. Words of direction add nothing: they may be of what the other does not say."""
    directions = {stem(word) for word in UP | DOWN}
    return sum(2 if any(character.isdigit() for character in one) else one not in directions for one in stems)


def _needs_ends(statement: Statement, evidence: Evidence) -> bool:
    """Whether the claim gives a figure of the first cell and one of the last."""
    claimed = numbers(statement.text)
    ends = (evidence.cells[0][0], evidence.cells[-1][0])
    return all(any(agree(one, given, evidence.scale) for one in claimed for given in numbers(end)) for end in ends)


def _has_numbers(statement: Statement, evidence: Evidence) -> bool:
    """Whether each number of the claim stands in the evidence; one that follows from others does not."""
    return all(
        any(agree(number, given, evidence.scale) for given in evidence.numbers) for number in numbers(statement.text)
    )


def _has_years(statement: Statement, evidence: Evidence) -> bool:
    return years(f"{statement.text} {statement.context}") <= years(evidence.words)


def _has_directions(statement: Statement, evidence: Evidence) -> bool:
    """Whether the evidence has as many words for up, for down and for no as the claim: where a sentence has several,
    one that is turned round is easily overlooked."""
    claimed, given = tokens(statement.text), tokens(evidence.words)
    return all(
        sum(word in words for word in claimed) <= sum(word in words for word in given) for words in (UP, DOWN, _DENIALS)
    )


def _has_names(statement: Statement, evidence: Evidence) -> bool:
    """Whether every capitalised word, also one that begins the sentence, stands in the evidence or around it."""
    given = {stem(word) for word in tokens(f"{evidence.words}\n{evidence.around}")}
    named = (word for name in _CAPITALISED.findall(statement.text) for word in tokens(name))
    return all(word in STOP_WORDS or stem(word) in given for word in named)
