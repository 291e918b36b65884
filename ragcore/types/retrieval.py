"""Retrieval requests and results: scope, queries, hits and passages, and the reasons for each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from operator import add
from typing import Literal

from ragcore.types.document import Chunk, ChunkKind, Element


@dataclass(frozen=True, slots=True)
class Section:
    """Section of a document as part of a scope: its span ``[start, end)`` with all subsections, and the ``path`` of
    headings down to its own, by which it is found when the document is read again (`ragcore.types.sections`); ``nth``
    of those with this path, from 0."""

    doc_id: str
    start: int
    end: int
    path: tuple[str, ...]
    nth: int = 0

    @property
    def label(self) -> str:
        """Its own heading."""
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class Scope:
    """Search scope: documents (None: all except ``without``, including later ones), ``pages`` as inclusive ranges
    (none: all; a chunk counts if it touches one), kinds of chunks (none: all) and ``sections`` (none: all; a chunk
    counts if it overlaps one, and its passages are cut to it). While it has sections, their documents alone are in
    scope."""

    doc_ids: tuple[str, ...] | None = None
    pages: tuple[tuple[int, int], ...] = ()
    kinds: tuple[ChunkKind, ...] = ()
    without: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    def holds(self, doc_id: str) -> bool:
        """Whether a document is in scope."""
        if self.sections:
            return any(section.doc_id == doc_id for section in self.sections)
        return doc_id not in self.without if self.doc_ids is None else doc_id in self.doc_ids

    def on(self, page: int) -> bool:
        """Whether a page is in scope."""
        return not self.pages or any(first <= page <= last for first, last in self.pages)

    def inside(self, doc_id: str, start: int, end: int) -> bool:
        """Whether a span of a document lies in one of its sections, if there are any."""
        return not self.sections or any(low <= start and end <= high for low, high in self.spans(doc_id))

    def among(self, doc_id: str, elements: Iterable[Element]) -> list[Element]:
        """Those of a document's ``elements`` that lie in one of its sections, all if there are none."""
        if not self.sections:
            return list(elements)
        spans = self.spans(doc_id)
        starts = [start for start, _ in spans]
        placed = ((one, bisect_right(starts, one.start) - 1) for one in elements)
        return [one for one, n in placed if n >= 0 and one.end <= spans[n][1]]

    @property
    def narrowed(self) -> bool:
        """Whether it leaves out parts of documents."""
        return bool(self.pages or self.kinds or self.sections)

    def spans(self, doc_id: str) -> list[tuple[int, int]]:
        """Spans of a document's sections, ascending; those that overlap or meet are joined."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted((one.start, one.end) for one in self.sections if one.doc_id == doc_id):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(joined[-1][1], end))
            else:
                joined.append((start, end))
        return joined

    def parts(self, of: Chunk | Segment) -> list[tuple[int, int]]:
        """Spans of a chunk or passage in the sections, ascending; its own if there are none."""
        if not self.sections:
            return [(of.start, of.end)]
        spans = self.spans(of.doc_id)
        return [(max(of.start, start), min(of.end, end)) for start, end in spans if of.start < end and of.end > start]

    def cut(self, chunk: Chunk) -> Chunk:
        """``chunk`` with the text of its `parts` alone, and nothing indexed in front of it if it begins before them;
        unchanged if it is outside all sections."""
        parts = self.parts(chunk)
        if not parts or parts == [(chunk.start, chunk.end)]:
            return chunk
        (start, _), (_, end) = parts[0], parts[-1]
        text = "\n".join(chunk.text[low - chunk.start : high - chunk.start] for low, high in parts)
        kept = replace(chunk, start=start, end=end, text=text, grid="")
        return kept if start == chunk.start else replace(kept, header="", context="", lead_in="")


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Entry:
    """Chunk as listed in the indexes: its document, its kind, the first and last page of its own words (0, 0 if it has
    none), and its span."""

    chunk_id: str
    doc_id: str
    kind: ChunkKind = "text"
    first_page: int = 0
    last_page: int = 0
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as counted by the provider."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class SubQuery:
    """Search query: the user's own (``question``), a part of it by ``rules`` or by a ``model``, one that fills a
    ``gap`` in the results or in a report's section, or an item of a section's ``guidance``. ``reason`` explains it in
    words, "" for the user's own; ``also`` are synonyms of its terms, searched for with a lower weight; ``names`` are
    those of it that were followed from passage to passage; ``timings_ms`` are the times of its search steps. Where it
    is asked of each of several documents, ``doc_id`` is the one that it is searched for in."""

    text: str
    origin: Literal["question", "rules", "model", "guidance", "gap"] = "question"
    reason: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict, compare=False)
    also: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    doc_id: str = ""


@dataclass(frozen=True, slots=True)
class Each:
    """Question asked of each of several documents alone: its ``text`` has no names of them and no words that compare.
    ``named``: the question names them, and ``own`` has the text of each name; else it is asked of a set of documents
    ("which filings"), which a name may narrow (``within``). ``words``: it asks which of them have one of these, to the
    letter. ``sign``: 1 if it asks where a value is higher, -1 if lower, else 0."""

    text: str
    own: tuple[tuple[str, str], ...] = ()
    named: bool = False
    within: bool = False
    words: tuple[str, ...] = ()
    sign: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """Retrieved chunk. ``score`` is the ranking score; ``scores`` has every step's (``vector`` cosine, ``bm25`` raw,
    ``graph`` probability of a walk over names, ``prior`` of its document 0–1, ``fused`` 0–1 with that prior,
    ``rerank`` 0–1 without it; absent if the step did not see the chunk, ``prior`` if the question names no document);
    ``ranks`` has the rank at each step, from 1.

    ``via`` lists the steps that found it, e.g. ``vector+bm25``, then ``table`` for a composite: found rows are folded
    into it, and from ``fused`` on its scores are those of the best of them; then ``named`` if the question names its
    document. ``queries`` are the numbers, from 1, of the sub-queries of the `Retrieval` that found it; with several,
    scores and ranks are those of its best query, and ``question`` in ``scores`` is the reranker's probability for the
    whole question.
    """

    rank: int
    chunk: Chunk
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    via: str = ""
    queries: tuple[int, ...] = (1,)


@dataclass(frozen=True, slots=True)
class Segment:
    """Run of neighbouring chunks of one document chosen by relevant segment extraction (RSE), or a single neighbour.

    Tiles ``first_chunk``..``last_chunk`` are inclusive indices; ``value`` is the sum of their RSE values, else the
    score of the hit; ``via`` is ``rse``, ``table`` (the tiles of a composite), ``hit`` or ``neighbour``.
    """

    doc_id: str
    start: int
    end: int
    first_chunk: int
    last_chunk: int
    value: float
    via: str = "rse"


Fit = Literal["", "same", "near", "other", "latest", "earlier"]
_FITS: Mapping[Fit, str] = {
    "": "",
    "same": "year: ",
    "near": "near year: ",
    "other": "other year: ",
    "latest": "latest: ",
    "earlier": "earlier: ",
}


@dataclass(frozen=True, slots=True)
class Route:
    """Document named by the question: ``prior`` 0–1, ``name`` the question's words for it; ``period`` in words ("2018",
    "Q2 2023"), and how it ``fits`` the requested one, or its series if none is requested ("" if either is missing)."""

    doc_id: str
    prior: float
    name: str = ""
    period: str = ""
    fits: Fit = ""

    @property
    def reason(self) -> str:
        """Explanation for users: ``named: Adobe; near year: 2016``."""
        named = f"named: {self.name}" if self.name else ""
        year = f"{_FITS[self.fits]}{self.period}"
        return "; ".join(part for part in (named, year) if part)


@dataclass(frozen=True, slots=True)
class Seeds:
    """Start of a walk over names: those of ``text`` and of the passage ``near`` (a chunk id, or ""). ``named`` are
    documents by id with the words of ``text`` for them: such a name is one only if its document is short, else it says
    where to look, not what is connected."""

    text: str
    near: str = ""
    named: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PathStep:
    """Step of a `NamePath`: a ``name`` as printed, or "" for a passage, with the sentence ``quote`` at ``[start, end)``
    of a document that holds it and the name of the step before. A first step has the sentence of the passage nearest to
    the question, or none (``doc_id`` "") if it is a name of the question itself."""

    name: str
    doc_id: str = ""
    start: int = 0
    end: int = 0
    quote: str = ""


@dataclass(frozen=True, slots=True)
class NamePath:
    """Way to the passage ``chunk_id``, at ``[start, end)`` of its document, which is the last of ``steps``: of a walk
    over ``names``, from one of the question or of the passage nearest to it; or down a ``tree``, where each step has
    the heading or a sentence that stands for a node, or none (``doc_id`` "") if its heading is out of scope."""

    chunk_id: str
    doc_id: str
    start: int
    end: int
    steps: tuple[PathStep, ...]
    over: Literal["names", "tree"] = "names"


@dataclass(frozen=True, slots=True)
class Theme:
    """Group of passages on one matter: headings or phrases that mark it (``labels``), the ``size`` of the group, the
    documents ``doc_ids`` that have one, the spans (document, start, end) of some ``passages``, and a ``digest``, those
    of sentences that stand for it."""

    labels: tuple[str, ...]
    size: int
    doc_ids: tuple[str, ...]
    passages: tuple[tuple[str, int, int], ...]
    digest: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Overview of documents with running text, ``searched`` in number: their ``themes``, the largest first. ``topic``
    is what it is about, "" for all that they say; of ``read`` documents the best passages were read for it. In
    ``silent`` ones nothing was found about it, in ``doubtful`` ones there may be something, the likeliest first."""

    themes: tuple[Theme, ...]
    searched: int
    topic: str = ""
    read: int = 0
    silent: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """Documents with a passage in a theme."""
        return tuple(dict.fromkeys(doc_id for theme in self.themes for doc_id in theme.doc_ids))


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Complete result of one retrieval. ``hits`` and ``segments`` are best first; ``routes`` are the preferred
    documents (the first 50), best first, empty if the question names none; ``queries`` are the queries in order.
    ``paths`` lead to the best hits of the segments that a walk over names has reached, in the order of the segments.
    ``candidates`` counts the scored passages, ``reranked`` those that the reranker read. ``notes`` report incomplete
    steps and empty results; ``usage`` and ``cost_usd`` are those of a planning model, the cost None without a price. An
    ``overview`` has the themes whose passages the hits are. ``each`` is what documents were asked one by one, of
    ``among`` that it asks about; ``left`` were not asked.
    """

    query: str
    mode: str
    hits: tuple[Hit, ...]
    segments: tuple[Segment, ...]
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    routes: tuple[Route, ...] = ()
    queries: tuple[SubQuery, ...] = ()
    scope: Scope = EVERYTHING
    candidates: int = 0
    reranked: int = 0
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    paths: tuple[NamePath, ...] = ()
    overview: Overview | None = None
    each: Each | None = None
    among: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """Next step of a retrieval: ``plan`` the sub-queries, ``search`` for ``query`` (preferring the documents
    ``routes``), ``rerank`` a number of ``passages``, look for a ``gap`` in the results, or ``group`` a number of
    ``passages`` by theme."""

    name: Literal["plan", "search", "rerank", "gap", "group"]
    query: SubQuery | None = None
    routes: tuple[Route, ...] = ()
    passages: int = 0


OnStep = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Trace:
    """Explanation of an answer's sources: its `Retrieval` without the passages, of which it has the number ``found``.
    ``titles`` are those of the documents of its hits, routes and paths, by id; ``searched`` counts the documents in
    scope."""

    scope: Scope
    searched: int
    queries: tuple[SubQuery, ...]
    routes: tuple[Route, ...]
    titles: Mapping[str, str]
    candidates: int
    reranked: int
    timings_ms: Mapping[str, float]
    notes: tuple[str, ...] = ()
    found: int = 0
    paths: tuple[NamePath, ...] = ()

    @classmethod
    def of(cls, retrieval: Retrieval, titles: Mapping[str, str]) -> Trace:
        """Trace of ``retrieval``; ``titles`` are those of all documents of the library."""
        named = [route.doc_id for route in retrieval.routes] + [hit.chunk.doc_id for hit in retrieval.hits]
        named += [step.doc_id for path in retrieval.paths for step in path.steps if step.doc_id]
        named += [query.doc_id for query in retrieval.queries if query.doc_id]
        named += [section.doc_id for section in retrieval.scope.sections]
        within = retrieval.scope.doc_ids
        return cls(
            scope=retrieval.scope,
            searched=len(titles) if within is None else len(within),
            queries=retrieval.queries,
            routes=retrieval.routes,
            titles={doc_id: titles.get(doc_id, doc_id) for doc_id in dict.fromkeys(named)},
            candidates=retrieval.candidates,
            reranked=retrieval.reranked,
            timings_ms={step: round(ms, 2) for step, ms in retrieval.timings_ms.items()},
            notes=retrieval.notes,
            found=len(retrieval.hits),
            paths=retrieval.paths,
        )
