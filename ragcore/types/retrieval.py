"""What is asked of retrieval, and what it found: a scope, the queries, hits and passages, and why each is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragcore.types.document import Chunk, ChunkKind
from ragcore.types.geometry import Box


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be searched: documents (None: all but those ``without``, later ones included), ``pages`` as first and
    last numbers, both included (none: all; a chunk that touches one counts) and kinds of chunks (none: all)."""

    doc_ids: tuple[str, ...] | None = None
    pages: tuple[tuple[int, int], ...] = ()
    kinds: tuple[ChunkKind, ...] = ()
    without: tuple[str, ...] = ()

    def holds(self, doc_id: str) -> bool:
        """Whether a document may be searched."""
        return doc_id not in self.without if self.doc_ids is None else doc_id in self.doc_ids


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk as the indexes file it: its document, its kind, and the first and the last page that its own words touch
    (0, 0 where there is none)."""

    chunk_id: str
    doc_id: str
    kind: ChunkKind = "text"
    first_page: int = 0
    last_page: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A question as it is searched for: the person's own (``question``), a part of it by ``rules`` or by a ``model``,
    something that a report's ``guidance`` asks for, or one that fills a ``gap`` in what was found. ``reason`` says in
    words why it is asked, "" for the own; ``also`` are other words for its terms, searched for at a lower weight;
    ``timings_ms`` what each step of its search took."""

    text: str
    origin: Literal["question", "rules", "model", "guidance", "gap"] = "question"
    reason: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict, compare=False)
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that retrieval found. ``score`` is the one the ranking used; ``scores`` has every step's
    (``vector`` cosine, ``bm25`` raw, ``prior`` of its document 0–1, ``fused`` 0–1 with that prior, ``rerank`` 0–1
    without it; absent where the step did not see the chunk, ``prior`` where the question names no document); ``ranks``
    the rank at each step, from 1; ``via`` says which steps put it here, e.g. ``vector+bm25``, then ``table`` for a
    composite: rows that were found are folded into it, and from ``fused`` on its scores are those of the best of them;
    then ``named`` where the question names its document; ``queries`` are the numbers, from 1, of the sub-queries of the
    `Retrieval` that found it. Where several were asked, scores and ranks are those of the query for which it is best,
    and ``question`` in ``scores`` is the reranker's probability for the whole question. ``cache`` ends ``via`` where
    an earlier question found it (`Reuse`); where it stands alone, ``cache`` in ``scores`` and ``ranks`` is what the hit
    had there, nothing else is known of it, and ``queries`` is empty."""

    rank: int
    chunk: Chunk
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    via: str = ""
    queries: tuple[int, ...] = (1,)


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of neighbouring chunks of one document chosen by relevant segment extraction, or a single neighbour.

    Tiles ``first_chunk``..``last_chunk`` (both included, by index); ``value`` is the sum of their RSE values, else the
    score of the hit; ``via`` is ``rse``, ``table`` (the tiles of a composite), ``hit`` or ``neighbour``."""

    doc_id: str
    start: int
    end: int
    first_chunk: int
    last_chunk: int
    value: float
    via: str = "rse"


@dataclass(frozen=True, slots=True)
class Route:
    """A document that the question names: ``prior`` 0–1, ``name`` the words of the question that name it, or
    ``by_title`` where it repeats its long title; ``period`` in words ("2018", "Q2 2023"), and how it ``fits`` the one
    asked about ("" where either has none)."""

    doc_id: str
    prior: float
    name: str = ""
    by_title: bool = False
    period: str = ""
    fits: Literal["", "same", "near", "other"] = ""

    @property
    def reason(self) -> str:
        """For people: ``named: Adobe; near year: 2016``."""
        named = f"named: {self.name}" if self.name else "its title" if self.by_title else ""
        year = {"": "", "same": "year: ", "near": "near year: ", "other": "other year: "}[self.fits] + self.period
        return "; ".join(part for part in (named, year) if part)


@dataclass(frozen=True, slots=True)
class Reuse:
    """What the cache of retrievals did for a question: ``hit``, what was found for the same question before is used;
    ``miss``, it was searched for; ``off``, the cache was not asked."""

    status: Literal["hit", "miss", "off"] = "off"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Everything one retrieval found. ``hits`` best first; ``segments`` best first; ``routes`` are the documents that
    were preferred (the first 50), best first, empty where the question names none; ``queries`` is what was searched
    for, in order. ``candidates`` counts the passages that its steps weighed, ``reranked`` those of them that the
    reranker read. ``notes``
    say in words what was to be done and could not be (such a retrieval is not kept), and that nothing was found;
    ``usage`` and ``cost_usd`` are those of a model that planned it, None where it has no price; ``cache`` says whether
    it was made for an earlier question."""

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
    cache: Reuse = Reuse()


@dataclass(frozen=True, slots=True)
class Step:
    """What a retrieval is about to do: ``plan`` the sub-queries, ``search`` for ``query`` (``routes`` are the
    documents preferred for it), ``rerank`` so many ``passages`` of those found, or look for a ``gap`` in them."""

    name: Literal["plan", "search", "rerank", "gap"]
    query: SubQuery | None = None
    routes: tuple[Route, ...] = ()
    passages: int = 0


OnStep = Callable[[Step], None]


def ignore_step(_: Step) -> None:
    """The `OnStep` of who does not want to know."""


@dataclass(frozen=True, slots=True)
class TracedHit:
    """A `Hit` as an answer keeps it: where it stands in place of its chunk, in the document as it was then.
    ``excerpt`` is its beginning; ``source`` the number of the source that it went into, 0 where it went into none."""

    rank: int
    chunk_id: str
    doc_id: str
    kind: ChunkKind
    start: int
    end: int
    section: tuple[str, ...]
    pages: tuple[int, ...]
    page_labels: tuple[str, ...]
    boxes: tuple[Box, ...]
    excerpt: str
    score: float
    scores: Mapping[str, float]
    ranks: Mapping[str, int]
    via: str
    queries: tuple[int, ...]
    source: int


@dataclass(frozen=True, slots=True)
class Trace:
    """Why an answer has its sources: its `Retrieval`, kept without the texts. ``titles`` are those of the documents
    of its hits and routes, by id; ``searched`` counts the documents in its scope."""

    mode: str
    scope: Scope
    searched: int
    queries: tuple[SubQuery, ...]
    routes: tuple[Route, ...]
    hits: tuple[TracedHit, ...]
    titles: Mapping[str, str]
    candidates: int
    reranked: int
    timings_ms: Mapping[str, float]
    notes: tuple[str, ...] = ()
    cache: Reuse = Reuse()
