"""The seams: what a stage may be handed by the engine. One test class per protocol runs over every implementation
(tests/contracts)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ragcore.text.terms import Term
from ragcore.types import EVERYTHING, Entry, Purpose, Retrieval, Route, Scope, Source, Turn, Usage
from ragcore.types.question import FollowUp, Question
from ragcore.types.report import NOTHING_STATED, Field, KnownFacts, Missing

Vector = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Text → unit vectors. The same text always gives the same vector, whatever else is in the call."""

    @property
    def name(self) -> str:
        """``provider:model``; recorded in the index, which refuses a query by another."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """float32 ``(len(texts), dimensions)``, each row of length 1. Raises `ModelError`."""
        ...

    def embed_query(self, text: str) -> Vector:
        """float32 ``(dimensions,)`` of length 1; adds the model's query prefix where it has one."""
        ...


@runtime_checkable
class QuestionAnalyser(Protocol):
    """What reads questions. Equal texts give equal questions. Safe for threads."""

    def read(self, text: str) -> Question:
        """The question ``text``, which stands alone."""
        ...

    def follow_up(self, text: str, earlier: Sequence[str]) -> FollowUp:
        """What ``text`` means behind the questions ``earlier``, oldest first, each as it was made to stand alone."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Query–passage relevance as probabilities."""

    @property
    def name(self) -> str: ...

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """float64 ``(len(passages),)`` in 0–1; a passage's score does not depend on the others."""
        ...


@runtime_checkable
class Nearest(Protocol):
    """Chunk vectors that can be searched. Ids are chunk ids."""

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """At most ``k`` ``(chunk id, cosine similarity)`` in ``scope``, best first; fewer than ``k`` only where the
        scope holds fewer."""
        ...


@runtime_checkable
class VectorStore(Nearest, Protocol):
    """A rebuildable cache of chunk vectors, nearest by cosine."""

    def upsert(self, entries: Sequence[Entry], vectors: Vector) -> None:
        """Add chunks, or replace those with the same ids. ``vectors`` float32 ``(len(entries), d)``."""
        ...

    def delete_documents(self, doc_ids: Sequence[str]) -> None: ...

    def count(self) -> int:
        """Chunks in the store."""
        ...

    def ids(self) -> set[str]: ...

    def reset(self) -> None:
        """Forget everything."""
        ...


@runtime_checkable
class SparseIndex(Protocol):
    """BM25 over every chunk of the index."""

    def query(self, text: str, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """At most ``k`` ``(chunk id, score > 0)`` in ``scope``, best first."""
        ...

    def scores(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """The score of each of ``ids`` (0.0 where no term matches), float64 ``(len(ids),)``."""
        ...

    def mentions(self, text: str) -> dict[str, int]:
        """How many chunks of each document hold every term of ``text``; documents with none are left out."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """A question → hits and segments."""

    def retrieve(self, query: str, *, top_k: int, scope: Scope = EVERYTHING) -> Retrieval:
        """The best ``top_k`` chunks in ``scope`` and the segments around them."""
        ...


@dataclass(frozen=True, slots=True)
class Passage:
    """A source as it goes to a service that cites by itself: ``blocks[i]`` is what stands for unit ``i + 1``."""

    source: int
    title: str
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What a writer is asked. ``system`` and ``prompt`` are the words for a language model; a writer that does not
    read prompts (the offline one) uses ``question``, ``terms`` (what in it is called otherwise too), ``routes`` (the
    documents that it names) and ``sources``. ``passages`` go before the prompt of a writer whose service cites by
    itself; else the prompt holds the sources. ``fresh``: an answer that was kept of the same request will not do.
    ``continues``: ``history`` is the conversation from its beginning, so the request of the next question begins with
    the same words. ``own`` is what of the sources stands in a section called as the one asked for, or was ``pinned``.
    ``stated`` is what is known of the documents that a value is looked for in."""

    question: str
    sources: tuple[Source, ...]
    system: str
    prompt: str
    history: tuple[Turn, ...] = ()
    max_tokens: int = 2048
    temperature: float = 0.0
    fresh: bool = False
    continues: bool = False
    terms: tuple[Term, ...] = ()
    routes: tuple[Route, ...] = ()
    passages: tuple[Passage, ...] = ()
    form: Field | None = None
    own: tuple[tuple[int, int, int], ...] = ()
    pinned: tuple[tuple[int, int, int], ...] = ()
    stated: KnownFacts = NOTHING_STATED


class TextStream(Protocol):
    """The response is the stream: iterate it for text as it arrives; ``usage``, ``model`` and ``notes`` (what a person
    should know beside the text) are final at its end, and so is what is ``missing`` of one document of several.
    ``replayed``: it is what the same request was answered before, and nothing is sent. ``close`` may be called from
    another thread and ends the iteration soon after."""

    usage: Usage
    model: str
    replayed: bool
    notes: tuple[str, ...]
    missing: tuple[Missing, ...]

    @property
    def fingerprint(self) -> str:
        """Names everything that is sent, and where to; "" where nothing is."""
        ...

    def __iter__(self) -> Iterator[str]: ...

    def close(self) -> None: ...


@runtime_checkable
class LLM(Protocol):
    """Writes the answer's text with ``<<SOURCE N.M>>`` markers (prompts.py defines the language)."""

    @property
    def name(self) -> str: ...

    @property
    def extractive(self) -> bool:
        """True where the text is only quotes, so that it is labelled as such."""
        ...

    def stream(self, request: Request) -> TextStream: ...


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """A picture and what is asked about it. ``png`` is ``width`` × ``height`` pixels."""

    png: bytes
    width: int
    height: int
    system: str
    prompt: str
    max_tokens: int
    temperature: float = 0.0


@runtime_checkable
class Describer(Protocol):
    """Says in words what a picture shows."""

    @property
    def name(self) -> str: ...

    def most(self, request: PictureRequest) -> Usage:
        """The most tokens that the request can take: what it may cost is known before it is sent."""
        ...

    def stream(self, request: PictureRequest) -> TextStream:
        """Nothing is sent until the stream is iterated; a text that reaches ``max_tokens`` just ends there."""
        ...


@dataclass(frozen=True, slots=True)
class Form:
    """What a model fills in instead of writing prose: a tool, whose input has the JSON ``schema`` of an object."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A form, and the words that ask for it. ``purpose`` is what it is booked under; ``usable`` says whether a form as
    filled in may be kept, for the same request to get it again."""

    form: Form
    system: str
    prompt: str
    max_tokens: int
    temperature: float = 0.0
    purpose: Purpose = "plan"
    fresh: bool = False
    usable: Callable[[str], bool] | None = None


@runtime_checkable
class Planner(Protocol):
    """Plans a search by filling in forms."""

    @property
    def name(self) -> str: ...

    def call(self, request: PlanRequest) -> TextStream:
        """Nothing is sent until the stream is iterated; its text is the filled-in form as JSON, which need not keep to
        the schema, and "" where the model did not fill it in."""
        ...


class DescriptionCache(Protocol):
    """Descriptions by picture (the hash of its pixels), and what the figures of a document have cost."""

    def get(self, image: str, model: str, prompt: str) -> str | None:
        """What ``model`` said; "" where it saw nothing worth describing, None where it was not asked."""
        ...

    def latest(self, image: str) -> str | None:
        """The newest description by any model."""
        ...

    def put(self, image: str, model: str, prompt: str, text: str) -> None: ...

    def spent(self, doc_id: str) -> float:
        """US dollars, with what is reserved for requests under way."""
        ...

    def spend(self, doc_id: str, usd: float) -> None:
        """Add ``usd`` to what the document has cost; less than 0 gives back what was reserved too much."""
        ...

    def images(self, doc_id: str) -> dict[str, str]:
        """The picture of each place where one was drawn before."""
        ...

    def put_image(self, doc_id: str, place: str, image: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What is asked of a part of a document. ``material`` stands in front of ``prompt`` and is the same for requests
    that follow one another, so that the service need not read it each time; "" where there is none."""

    system: str
    prompt: str
    max_tokens: int
    material: str = ""
    temperature: float = 0.0


@runtime_checkable
class ContextWriter(Protocol):
    """Sums up documents and places passages in them."""

    @property
    def name(self) -> str: ...

    def most(self, request: ContextRequest) -> Usage:
        """The most tokens that the request can take: what it may cost is known before it is sent."""
        ...

    def stream(self, request: ContextRequest) -> TextStream:
        """Nothing is sent until the stream is iterated; a text that reaches ``max_tokens`` just ends there."""
        ...


class ContextCache(Protocol):
    """What models wrote on documents and passages, by a hash of what they were asked about, and its cost."""

    def get(self, key: str, model: str, prompt: str) -> str | None: ...

    def latest(self, key: str) -> str | None:
        """The newest text by any model."""
        ...

    def put(self, key: str, model: str, prompt: str, text: str) -> None: ...

    def spent(self, doc_id: str) -> float:
        """US dollars, with what is reserved for requests under way."""
        ...

    def spend(self, doc_id: str, usd: float) -> None:
        """Add ``usd`` to what the document has cost; less than 0 gives back what was reserved too much."""
        ...


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer of ``model`` as it came, piece by piece."""

    model: str
    pieces: tuple[str, ...]


class ResponseCache(Protocol):
    """Answers by the fingerprint of their requests."""

    def get(self, fingerprint: str) -> Response | None: ...

    def put(self, fingerprint: str, response: Response) -> None:
        """Keep it in place of an earlier one."""
        ...


class SpendLedger(Protocol):
    """What was paid for."""

    def add(self, model: str, purpose: Purpose, usage: Usage, usd: float | None) -> None:
        """One call; ``usd`` is None where ``model`` has no price."""
        ...


def prompted(asked: PictureRequest | PlanRequest | ContextRequest) -> Request:
    """The words of ``asked``, which is not about an answer, as the request that a stream sends."""
    return Request(
        question="",
        sources=(),
        system=asked.system,
        prompt=asked.prompt,
        max_tokens=asked.max_tokens,
        temperature=asked.temperature,
    )


@dataclass
class StaticStream:
    """A `TextStream` over text that is already there."""

    parts: Iterable[str]
    model: str
    usage: Usage = field(default_factory=Usage)
    closed: bool = False
    replayed: bool = False
    notes: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    fingerprint: str = ""

    def __iter__(self) -> Iterator[str]:
        for part in self.parts:
            if self.closed:
                return
            yield part

    def close(self) -> None:
        self.closed = True
