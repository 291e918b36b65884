"""Added citations: marks for uncited claims that a given source supports.

A claim is compared only with single units that share most of its words, and is cited only on strong evidence: `support`
finds it supported, every number and name of it is in the evidence verbatim (none derived), and so are nearly all of its
content words. If passages of several documents say it equally well, the intended one is unknown and the claim stays
uncited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import nsmallest

from ragcore.answer.cite import Citer, Part
from ragcore.config.settings import VerifySettings
from ragcore.text.numbers import agree, numbers
from ragcore.text.words import STOP_WORDS, content_stems, cover, stem, tokens, word_set
from ragcore.types import Citation, Claim, Document, Mark, Source
from ragcore.verify.claims import Statement, split_statements
from ragcore.verify.evidence import Evidence, gather
from ragcore.verify.support import support
from ragcore.verify.verify import CheckBudget

# Minimum share of a claim's content words in the cited words, their title or section; and in the cited words alone.
_ALL_WORDS, _OWN_WORDS = 0.85, 0.6
# A claim with fewer content words has no certain subject; with a figure two are enough.
_FEWEST_WORDS, _FEWEST_WITH_FIGURE = 3, 2
# Words that belong to a figure and are compared by amount.
_SCALES = word_set("hundred thousand thousands million millions billion billions trillion percent dollar dollars")
# Words that a claim about a figure may have besides its headers.
_REPORTING = word_set(
    "amounted amounts came company figure fiscal had posted reached recorded reported stood totaled year"
)
_CANDIDATES = 8  # units examined per claim, best word match first
# Punctuation that a mark precedes at a claim's end. A mark follows a closing quotation mark or bracket.
_FULL_STOP = re.compile(r"[.!?…。！？]+(?:\*\*|__|\*|_)?\Z")


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
    """Return ``text`` and its ``marks`` with a mark (``added``) at the end of each uncited statement that a source
    supports.

    Without those marks, and the blank before each, ``text`` is unchanged. ``unfinished``: the text broke off, so its
    last statement is not cited. Statements beyond ``budget`` stay uncited.
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
        assert citation is not None  # the part names given units
        place = _place(text, statement)
        mark = f" [{citation.n}]"
        pieces += (text[position:place], mark)
        length += place - position + len(mark)
        inserted.append(Mark(length - len(mark) + 1, length, citation.n, added=True))
        shifts.append((place, len(mark)))
        position = place
    moved = []
    for old in marks:
        by = sum(size for place, size in shifts if place <= old.start)
        moved.append(replace(old, start=old.start + by, end=old.end + by))
    return "".join([*pieces, text[position:]]), tuple(sorted([*moved, *inserted], key=lambda mark: mark.start))


def tell_added(claims: Sequence[Claim], marks: Sequence[Mark], citations: Sequence[Citation]) -> tuple[Claim, ...]:
    """``claims`` with a note in the reason of each that has an added citation."""
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


class _Search:
    """Units of ``sources`` indexed by words, read once for all claims of an answer."""

    def __init__(
        self, sources: Sequence[Source], citer: Citer, document: Callable[[str], Document], settings: VerifySettings
    ) -> None:
        self._sources = sources
        self._citer = citer
        self._document = document
        self._settings = settings
        self._evidence: dict[tuple[int, int], Evidence] = {}

    @cached_property
    def _units(self) -> list[tuple[Source, int, frozenset[str]]]:
        """Every unit of the documents' own words with its number and stems; a cell includes those of its headers."""
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
        """Unit that supports ``statement``, or None."""
        said = tokens(f"{statement.text} {statement.context}")
        stems = frozenset(content_stems(" ".join(word for word in said if word not in _SCALES)))
        # Figures are compared by amount, and only order the units.
        wanted = frozenset(one for one in stems if not any(character.isdigit() for character in one))
        if len(wanted) < (_FEWEST_WORDS if wanted == stems else _FEWEST_WITH_FIGURE):
            return None
        near = nsmallest(
            _CANDIDATES,
            (unit for unit in self._units if cover(wanted, unit[2]) >= _OWN_WORDS),
            key=lambda unit: (-len(wanted & unit[2]), -len(stems & unit[2])),
        )
        shares = [(self._share(statement, source, number, wanted), source, number) for source, number, _ in near]
        best = max((share for share, *_ in shares), default=0.0)
        equal = [(source, number) for share, source, number in shares if share == best]
        if best == 0.0 or len({source.doc_id for source, _ in equal}) > 1:
            return None
        source, number = equal[0]
        return Part(source.number, number, number, "")

    def _share(self, statement: Statement, source: Source, number: int, wanted: frozenset[str]) -> float:
        """Share of the ``wanted`` words in the unit if it certainly supports the claim, else 0.0."""
        if (source.number, number) not in self._evidence:
            citation = self._citer.look(Part(source.number, number, number, ""))
            assert citation is not None  # the part names a given unit
            self._evidence[source.number, number] = gather([citation], self._document)
        evidence = self._evidence[source.number, number]
        words = content_stems(evidence.words)
        own = cover(wanted, words)
        if own < _OWN_WORDS or cover(wanted, evidence.stems) < _ALL_WORDS or not _as_written(statement, evidence):
            return 0.0
        # The headers have every word except the document's name: the other cells differ from it in a single one.
        name = f"{source.title} {self._document(source.doc_id).name}"
        if evidence.cells and not wanted <= {*words, *content_stems(name), *map(stem, _REPORTING)}:
            return 0.0
        return own if support(statement, evidence, self._settings).finding.status == "supported" else 0.0


def _as_written(statement: Statement, evidence: Evidence) -> bool:
    """Whether each number of the claim is in the evidence (derived ones are not enough), and every capitalised word,
    including a sentence's first, in or around it."""
    figures = [(figure.number, figure.scale) for figure in evidence.figures]
    if not all(any(agree(number, *figure) for figure in figures) for number in numbers(statement.text)):
        return False
    given = {stem(word) for word in tokens(f"{evidence.words}\n{evidence.around}")}
    capitals = (word for word in re.findall(r"[\w&.'’-]+", statement.text) if word[0].isupper())
    return all(word in STOP_WORDS or stem(word) in given for name in capitals for word in tokens(name))
