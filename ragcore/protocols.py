"""Protocols between the engine and its replaceable parts. One test class per protocol runs over every implementation
(tests/contracts)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from re import Pattern
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ragcore.text.terms import Term
from ragcore.types import (
    EVERYTHING,
    Chunk,
    Document,
    NamePath,
    Overview,
    Purpose,
    Route,
    Scope,
    Seeds,
    Segment,
    Source,
    Usage,
)
from ragcore.types.library import FileKind
from ragcore.types.question import Comparison, FollowUp, Question
from ragcore.types.report import NOTHING_STATED, Coverage, Field, KnownFacts, Missing, Period, ValueSort

Vector = NDArray[np.float32]


class QuestionReader(Protocol):
    """`QuestionAnalyser.read` by itself."""

    def __call__(self, text: str, documents: Sequence[str] = ()) -> Question: ...


@runtime_checkable
class Embedder(Protocol):
    """Embedding model: text → unit vectors. A text's vector does not depend on the other texts of the call."""

    @property
    def name(self) -> str:
        """``provider:model``; stored in the index, which rejects queries of another model."""

    @property
    def dimensions(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """float32 ``(len(texts), dimensions)``, each row of length 1. Raises `ModelError`."""

    def embed_query(self, text: str) -> Vector:
        """float32 ``(dimensions,)`` of length 1; includes the model's query prefix, if it has one."""


class QuestionAnalyser(Protocol):
    """Parser of questions. Equal texts give equal results. Thread-safe."""

    def read(self, text: str, documents: Sequence[str] = ()) -> Question:
        """Parsed stand-alone question ``text``, in which ``documents`` are words for documents."""

    def follow_up(self, text: str, earlier: Sequence[str]) -> FollowUp:
        """Meaning of ``text`` after the stand-alone questions ``earlier``, oldest first."""


@dataclass(frozen=True, slots=True)
class FieldValue:
    """Value of a field in a document: its ``figure`` ("" for words), the ``words`` around it, its citation ``marker``,
    the ``period`` that it is of, and the words with its ``scale`` ("in millions"), "" if the figure has it. What isn't
    ``certain`` is shown, but not given."""

    figure: str
    words: str
    marker: str
    period: Period = (0, 0, 0)
    scale: str = ""
    certain: bool = True


class FieldReader(Protocol):
    """Parser of the guidance of report fields, and finder of the matching places in documents. Thread-safe."""

    MOST_ITEMS: int
    """Items that a list can have."""

    def requirements(self, heading: str, guidance: str) -> tuple[str, ...]:
        """Items that ``guidance`` asks for; ``heading`` if it asks for none."""

    def of_a_year(self, heading: str, guidance: str, unit: str) -> bool:
        """Whether a value field asks for an amount over a year, or at its end."""

    def sort(self, heading: str, guidance: str, unit: str) -> ValueSort:
        """Sort of the value that a field asks for."""

    def coverage(self, document: Document) -> Coverage:
        """Reporting period of ``document``."""

    def headed(self, document: Document, heading: str, scope: Scope = EVERYTHING) -> list[tuple[int, int]]:
        """At most two spans of ``document`` under headings named ``heading``, best first, not nested, in the sections
        of ``scope``."""

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
        """``known`` plus the statements of ``documents`` and their periods, and the segments with the value of a field,
        whether or not a search finds them: whole tables (``whole``) or their rows."""

    def rivals(
        self, heading: str, form: Field, terms: Sequence[Term], sources: Sequence[Source], known: KnownFacts
    ) -> list[tuple[str, list[FieldValue]]]:
        """Items of a value field with the conflicting values that ``sources`` give for each."""

    def items(
        self,
        asked: str,
        terms: Sequence[Term],
        sources: Sequence[Source],
        own: Sequence[tuple[int, int, int]],
        reranker: Reranker | None,
    ) -> list[str]:
        """Citation markers of all that ``sources`` say of what is ``asked``, in their order, each thing once. ``own``
        are their spans (source, first unit, last unit) under a heading of that name."""


class QuestionWording(Protocol):
    """Wording of questions about a document in one language. Methods that make a question return "" if the words do not
    clearly form one."""

    REFERENCE: Pattern[str]
    """References and list numbers, which do not count as figures."""

    def of_cell(self, row: str, column: str, title: str, words: Set[str]) -> str: ...
    def of_heading(self, text: str, words: Set[str], *, several: bool) -> str: ...

    def written(self, text: str) -> Set[str]:
        """Words of ``text`` as written within sentences: the ``words`` of the methods above."""

    def stands_alone(self, sentence: str, paragraph: str) -> bool:
        """Whether it is a whole sentence of prose, whose beginning does not depend on another one: no notice, and not
        in a ``paragraph`` that is an entry of a list of works."""

    def unnumbered(self, heading: str) -> str:
        """Heading without its number ("§ 312.42", "Item 7.")."""


@runtime_checkable
class Reranker(Protocol):
    """Query–passage relevance model, with probabilities as scores."""

    @property
    def name(self) -> str: ...

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """float64 ``(len(passages),)`` in 0–1; each score is independent of the other passages."""


class RememberedReranker:
    """`Reranker` that reads each passage only once for a query, kept in ``known``."""

    def __init__(self, reranker: Reranker) -> None:
        self.name = reranker.name
        self.known: dict[tuple[str, str], float] = {}
        self._reranker = reranker

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        missing = [text for text in dict.fromkeys(passages) if (query, text) not in self.known]
        scores = self._reranker.score(query, missing).tolist()
        self.known.update(((query, text), score) for text, score in zip(missing, scores, strict=True))
        return np.array([self.known[query, text] for text in passages], dtype=np.float64)


@runtime_checkable
class Entailment(Protocol):
    """Natural-language inference model: the probability that a text entails a claim."""

    @property
    def name(self) -> str: ...

    def score(self, claim: str, premises: Sequence[str]) -> NDArray[np.float64]:
        """float64 ``(len(premises),)``: probability that each premise entails ``claim``, independent of the others."""


@runtime_checkable
class Nearest(Protocol):
    """Nearest-neighbour search over chunk vectors. Ids are chunk ids."""

    def query(self, vector: Vector, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """At most ``k`` ``(chunk id, cosine similarity)`` in ``scope``, best first, ties by id; fewer only if the scope
        has fewer. Raises `IndexMismatch` for a vector of another length than those of the index."""

    def scores(self, vector: Vector, ids: Sequence[str]) -> dict[str, float]:
        """Cosine similarity of those of ``ids`` that have a vector."""


@runtime_checkable
class SparseIndex(Protocol):
    """BM25 index over every chunk."""

    def query(self, text: str, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """At most ``k`` ``(chunk id, score > 0)`` in ``scope``, best first."""

    def scores(self, text: str, ids: Sequence[str]) -> NDArray[np.float64]:
        """Score of each of ``ids`` (0.0 without a matching term), float64 ``(len(ids),)``."""

    def most(self, text: str) -> float:
        """Least upper bound of the scores for ``text``, of any passage that could be."""

    def mentions(self, text: str) -> dict[str, int]:
        """Number of chunks of each document that contain every term of ``text``; documents without any are left out."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of chunks and documents, by id, and the ``scope`` in which they are read."""

    chunks: Callable[[Sequence[str]], Sequence[Chunk]]
    document: Callable[[str], Document]
    scope: Scope = EVERYTHING


@runtime_checkable
class NameIndex(Protocol):
    """Passages joined by the names that they share."""

    def query(self, seeds: Seeds, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """At most ``k`` ``(chunk id, score > 0)`` in ``scope``, best first: passages reached from ``seeds``. Empty if
        no such name joins anything."""

    def names(self, seeds: Seeds, scope: Scope = EVERYTHING) -> tuple[str, ...]:
        """Names of the text of ``seeds``, as printed there, from which a `query` starts."""

    def paths(self, seeds: Seeds, ids: Sequence[str], texts: Texts) -> list[NamePath]:
        """How a `query` with the same ``seeds``, in the scope of ``texts``, has reached the chunks ``ids``, in their
        order; those with no path are left out."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Question put to a `Structure`: its ``text``, its vector float32 ``(d,)``, and the documents that it names, as in
    `Seeds`."""

    text: str
    vector: Vector
    named: tuple[tuple[str, str], ...] = ()


@runtime_checkable
class Structure(Protocol):
    """Tree or graph over the passages of a library. It is made of facts of its documents alone, so that it is equal for
    equal documents, whatever was added and removed before. Only passages come out of it: text that a model wrote never
    does. Thread-safe."""

    def leaves(self, asked: Asked, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        """At most ``k`` ``(chunk id, score > 0)`` in ``scope``, best first, on a scale of its own. Empty if nothing of
        the question leads into it."""

    def paths(self, asked: Asked, ids: Sequence[str], texts: Texts) -> list[NamePath]:
        """How `leaves` for the same ``asked``, in the scope of ``texts``, has reached the chunks ``ids``, in their
        order; those with no path are left out."""


@dataclass(frozen=True, slots=True)
class Picture:
    """PNG of ``width`` × ``height`` pixels."""

    png: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. ``kept``: later requests share the prefix up to its end, so a service with a
    prompt cache is asked to cache it."""

    text: str
    role: Literal["user", "assistant"] = "user"
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """Tool that a model fills in instead of writing prose; its input has the JSON ``schema`` of an object."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WritingTask:
    """Task of a writer that reads no prompts (the offline one): the ``question`` or heading, its parsed form ``read``
    (None: not parsed yet), the ``sources``, ``terms`` (its synonyms), ``routes`` (documents that it names) and, for a
    section, its ``form``. ``own`` are the spans of the sources in a section with the requested heading, or ``pinned``
    ones. ``stated`` has the known facts of the documents searched for a value. ``titles`` are those of the documents of
    an ``overview`` or a ``comparison``, by id."""

    question: str = ""
    sources: tuple[Source, ...] = ()
    terms: tuple[Term, ...] = ()
    routes: tuple[Route, ...] = ()
    form: Field | None = None
    own: tuple[tuple[int, int, int], ...] = ()
    pinned: tuple[tuple[int, int, int], ...] = ()
    stated: KnownFacts = NOTHING_STATED
    read: Question | None = None
    overview: Overview | None = None
    comparison: Comparison | None = None
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Request to a model. ``images`` precede the last message. With a ``tool`` the response text is the tool's input as
    JSON, which may violate the schema, or "" if the model did not fill it in.

    ``purpose`` is its booking category. ``fresh`` skips a kept answer to the same request. ``bulk``: one of many
    requests under a spend limit, whose caller stores the text: a possibly billed request is never repeated, and a text
    that reaches ``max_tokens`` simply ends there.
    """

    system: str = ""
    messages: tuple[Message, ...] = ()
    tool: Form | None = None
    images: tuple[Picture, ...] = ()
    max_tokens: int = 2048
    purpose: Purpose = "answer"
    fresh: bool = False
    bulk: bool = False
    task: WritingTask = WritingTask()


class TextStream(Protocol):
    """Streaming response: iterate it for text as it arrives. ``usage``, ``model``, ``notes`` (remarks for the user),
    ``missing`` (what one document of several lacks) and ``values`` (those that a value field was filled with, as data)
    are final at its end. ``close`` may be called from another thread
    and ends the iteration soon after."""

    usage: Usage
    model: str
    notes: tuple[str, ...]
    missing: tuple[Missing, ...]
    values: tuple[FieldValue, ...]

    def __iter__(self) -> Iterator[str]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of a model. ``extractive``: its text is only quotes, and labelled so. ``vision``: it accepts
    pictures. ``tools``: it fills in forms reliably enough to be asked by default. ``prompt_cache``: it reads repeated
    prefixes at a fraction of the price. All are False for a model on the user's own server."""

    extractive: bool = False
    vision: bool = False
    tools: bool = False
    prompt_cache: bool = False


@runtime_checkable
class LLM(Protocol):
    """Language model that writes answers. It cites with ``<<SOURCE N.M>>`` markers (see `ragcore.prompts`)."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def stream(self, request: ModelRequest) -> TextStream:
        """Stream of the response. The request is sent, and errors are raised, on iteration."""


Measure = Literal["bytes", "pages", "questions", "dollars"]


class Allowance(Protocol):
    """What a library, and who asks in it, may still store (bytes), read (pages), ask and spend (dollars)."""

    def of(self, user_id: str) -> Allowance:
        """The same for a person."""

    def limited(self, measure: Measure) -> bool: ...

    def take(self, measure: Measure, amount: float, held: float | None = None) -> None:
        """Reserve an amount before it is used, beside what was taken, or is ``held`` if that is known otherwise. Raises
        `LimitReached`, having reserved nothing."""

    def give_back(self, measure: Measure, amount: float) -> None:
        """Release what was reserved and not used."""


class Unlimited:
    """`Allowance` of who has no limits."""

    def of(self, user_id: str) -> Unlimited:
        return self

    def limited(self, measure: Measure) -> bool:
        return False

    def take(self, measure: Measure, amount: float, held: float | None = None) -> None: ...

    def give_back(self, measure: Measure, amount: float) -> None: ...


UNLIMITED = Unlimited()


class ContextCache(Protocol):
    """Cache of model-written texts on documents and passages, keyed by a hash of their subject, with costs."""

    def get(self, key: str, model: str, prompt: str) -> str | None:
        """Text by ``model``; "" if it had nothing worth saying, None if it was not asked."""

    def latest(self, key: str) -> str | None:
        """Newest text by any model."""

    def put(self, key: str, model: str, prompt: str, text: str) -> None: ...

    def spent(self, doc_id: str) -> float:
        """US dollars, including reservations for pending requests."""

    def spend(self, doc_id: str, usd: float) -> None:
        """Add ``usd`` to the document's cost; a negative amount releases an excess reservation."""


@dataclass(frozen=True, slots=True)
class Converted:
    """Pages made of a file: an open PDF, ``notes`` on what was left out, its ``title`` ("" for none), whether the
    first page is a ``cover`` that names the document, the ``places`` of all pages in the file (() if they are not those
    of its parts), and the lines of its headers and footers, its ``furniture`` (None if they aren't known)."""

    pages: Any
    notes: tuple[str, ...] = ()
    title: str = ""
    cover: bool = True
    places: tuple[str, ...] = ()
    furniture: tuple[str, ...] | None = None


# Maker of PDF pages of a file: from its bytes, its name, its kind and the most pages that it may have. Equal files give
# equal pages. It reads nothing but the file, runs in the parsing child process, within its limits, and raises
# `InputError`, which names the file.
Converter = Callable[[bytes, str, FileKind, int], Converted]


@dataclass
class StaticStream:
    """`TextStream` over existing text."""

    parts: Iterable[str]
    model: str
    usage: Usage = field(default_factory=Usage)
    closed: bool = False
    notes: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    values: tuple[FieldValue, ...] = ()

    def __iter__(self) -> Iterator[str]:
        for part in self.parts:
            if self.closed:
                return
            yield part

    def close(self) -> None:
        self.closed = True
