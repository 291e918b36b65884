"""The seams: what a stage may be handed by the engine. One test class per protocol runs over every implementation
(tests/contracts)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from re import Pattern
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ragcore.config.settings import AnswerSettings
from ragcore.text.terms import Term
from ragcore.types import EVERYTHING, Document, Entry, Purpose, Retrieval, Route, Scope, Segment, Source, Usage
from ragcore.types.question import FollowUp, Question
from ragcore.types.report import NOTHING_STATED, Coverage, Field, KnownFacts, Missing

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


@dataclass(frozen=True, slots=True)
class Rival:
    """One of several different values: the ``figure``, the ``words`` that give it, what cites them, and its year."""

    figure: str
    words: str
    marker: str
    year: int


@runtime_checkable
class FieldReader(Protocol):
    """What reads the guidance of report fields, and where documents say what it asks for. Safe for threads."""

    def requirements(self, heading: str, guidance: str) -> tuple[str, ...]:
        """What ``guidance`` asks for, piece by piece; ``heading`` where it asks for nothing."""
        ...

    def of_a_year(self, heading: str, guidance: str, unit: str, terms: Sequence[Term] = ()) -> bool:
        """Whether a value field asks for an amount of a year, or of its end."""
        ...

    def coverage(self, document: Document) -> Coverage:
        """The period that ``document`` reports on."""
        ...

    def headed(self, document: Document, heading: str) -> list[tuple[int, int]]:
        """At most two spans of ``document`` under headings that are called ``heading``, best first, none inside
        another."""
        ...

    def stated(
        self,
        heading: str,
        form: Field,
        terms: Sequence[Term],
        documents: Sequence[Document],
        known: KnownFacts,
        *,
        whole: bool,
    ) -> tuple[KnownFacts, tuple[Segment, ...]]:
        """``known`` with the statements of ``documents`` and their periods, and where they hold what a value field asks
        for, whether a search finds it or not: the tables as a ``whole``, or their rows."""
        ...

    def rivals(
        self, heading: str, form: Field, terms: Sequence[Term], sources: Sequence[Source], known: KnownFacts
    ) -> list[tuple[str, list[Rival]]]:
        """What a value field asks for, with the different values that ``sources`` give for it."""
        ...

    def nearest(
        self,
        heading: str,
        what: str,
        terms: Sequence[Term],
        sources: Sequence[Source],
        settings: AnswerSettings,
        most: int,
    ) -> list[str]:
        """The markers of at most ``most`` sentences and rows that come nearest to ``what``, best first."""


class QuestionWording(Protocol):
    """A language's way of asking about a document in its own words. What makes a question returns "" where the words
    don't plainly make one."""

    CAUSE: Pattern[str]
    """What leads from what changed to why."""
    REFERENCE: Pattern[str]
    """References and list numbers, which are no figures."""

    def of_cell(self, row: str, column: str, title: str, words: Set[str]) -> str: ...
    def of_heading(self, text: str, low: str, words: Set[str], *, several: bool) -> str: ...
    def of_topic(self, name: str, low: str, *, several: bool) -> str: ...
    def of_caption(self, label: str) -> str: ...
    def of_cause(self, sentence: str, words: Set[str]) -> str: ...

    def label_of(self, text: str) -> str:
        """By which a text refers to the section of a heading."""
        ...

    def written(self, text: str) -> Set[str]:
        """The words of ``text`` as it writes them within sentences, which those above take as ``words``."""
        ...

    def is_many(self, name: str) -> bool:
        """Whether the noun of a name is in the plural."""
        ...

    def leaning(self) -> Set[str]:
        """Words at a beginning that need the sentence before."""
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
class Entailment(Protocol):
    """How likely texts say a claim, by a model of natural-language inference."""

    @property
    def name(self) -> str: ...

    def score(self, claim: str, premises: Sequence[str]) -> NDArray[np.float64]:
        """float64 ``(len(premises),)``: the probability that each says ``claim``; independent of the others."""
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
class Picture:
    """A PNG of ``width`` × ``height`` pixels."""

    png: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Message:
    """What one side of a conversation says. ``kept``: later requests begin with the same words up to its end, so a
    service with a prompt cache is asked to keep them."""

    text: str
    role: Literal["user", "assistant"] = "user"
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """What a model fills in instead of writing prose: a tool, whose input has the JSON ``schema`` of an object."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WritingTask:
    """What is asked of a writer that reads no prompts (the offline one): the ``question`` or heading, as it was
    ``read`` (None: not yet), the ``sources``, ``terms`` (what in it is called otherwise too), ``routes`` (the
    documents that it names) and, for a section, its ``form``. ``own`` is what of the sources stands in a section
    called as the one asked for, or was ``pinned``. ``stated`` is what is known of the documents that a value is
    looked for in."""

    question: str = ""
    sources: tuple[Source, ...] = ()
    terms: tuple[Term, ...] = ()
    routes: tuple[Route, ...] = ()
    form: Field | None = None
    own: tuple[tuple[int, int, int], ...] = ()
    pinned: tuple[tuple[int, int, int], ...] = ()
    stated: KnownFacts = NOTHING_STATED
    read: Question | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked. ``images`` and ``passages`` (for a service that cites by itself) stand before the last
    message. With a ``tool`` the text that comes back is the tool's input as JSON, which need not keep to the schema and
    is "" where the model did not fill it in.

    ``purpose`` is what it is booked under. ``fresh``: an answer that was kept of the same request will not do;
    ``usable`` says whether a text may be kept. ``bulk``: one of many under a spend limit, whose text the asker keeps:
    nothing that may have been billed is sent again, and a text that reaches ``max_tokens`` just ends there."""

    system: str = ""
    messages: tuple[Message, ...] = ()
    tool: Form | None = None
    images: tuple[Picture, ...] = ()
    passages: tuple[Passage, ...] = ()
    max_tokens: int = 2048
    temperature: float = 0.0
    purpose: Purpose = "answer"
    fresh: bool = False
    bulk: bool = False
    usable: Callable[[str], bool] | None = None
    task: WritingTask = WritingTask()


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


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do. ``extractive``: its text is only quotes, and labelled as such. ``vision``: it sees pictures.
    ``tools``: it fills in forms well enough to be asked without being told to. ``prompt_cache``: it reads words that
    come again at a fraction of the price. Nothing is known of a model on a server of one's own."""

    extractive: bool = False
    vision: bool = False
    tools: bool = False
    prompt_cache: bool = False


@runtime_checkable
class LLM(Protocol):
    """A model that writes. It cites with ``<<SOURCE N.M>>`` markers (prompts.py defines the language)."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def stream(self, request: ModelRequest) -> TextStream:
        """Nothing is sent until the stream is iterated; errors are raised from there."""
        ...


class ContextCache(Protocol):
    """What models wrote on documents and passages, by a hash of what they were asked about, and its cost."""

    def get(self, key: str, model: str, prompt: str) -> str | None:
        """What ``model`` said; "" where there was nothing worth saying, None where it was not asked."""
        ...

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


class DescriptionCache(ContextCache, Protocol):
    """Descriptions by picture (the hash of its pixels), and what the figures of a document have cost."""

    def images(self, doc_id: str) -> dict[str, str]:
        """The picture of each place where one was drawn before."""
        ...

    def put_image(self, doc_id: str, place: str, image: str) -> None: ...


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
