"""Answers, their claims and citations, and the turns of a conversation: frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ragcore.types.document import without
from ragcore.types.geometry import Box
from ragcore.types.retrieval import Retrieval, Trace, Usage

ClaimStatus = Literal["supported", "weak", "unsupported", "uncited"]
UnitKind = Literal["sentence", "cell"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or a table cell of a source: the smallest thing a citation can name. ``label`` gives a cell's row
    and column headers (``Total revenues · Fiscal 2023``), "" for a sentence. ``generated``: a sentence of an AI-written
    description, not of the document."""

    start: int
    end: int
    kind: UnitKind
    label: str = ""
    generated: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered passage given to the writer: span of one document, cut into numbered units (from 1). ``marks`` are the
    spans of raised footnote marks in its running text, which no quotation shows."""

    number: int
    doc_id: str
    title: str
    start: int
    end: int
    text: str
    units: tuple[Unit, ...]
    section: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    page_labels: tuple[str, ...] = ()
    score: float = 0.0
    via: str = ""
    marks: tuple[tuple[int, int], ...] = ()

    def lines(self) -> list[tuple[int, int]]:
        """Numbers first..last of the units that stand on one line of the text: the sentences of a paragraph or list
        item, the cells of a table row."""
        runs: list[tuple[int, int]] = []
        for number, unit in enumerate(self.units, start=1):
            before = self.units[number - 2] if runs else None
            joins = (
                before is not None
                and before.kind == unit.kind
                and before.generated == unit.generated
                and "\n" not in self.text[before.end - self.start : unit.start - self.start]
            )
            runs.append((runs.pop()[0], number) if joins else (number, number))
        return runs

    def words(self, first: int, last: int) -> str:
        """What units ``first`` to ``last`` are in the text, with single blanks and without ``marks``."""
        return self.between(self.units[first - 1].start, self.units[last - 1].end)

    def between(self, start: int, end: int) -> str:
        """The document's ``[start, end)``, with single blanks and without ``marks``."""
        return " ".join(without(self.text[start - self.start : end - self.start], start, self.marks).split())


@dataclass(frozen=True, slots=True)
class Citation:
    """``n`` as shown, from 1 in order of first use, those that checking added last. ``quote`` is
    ``document.text[start:end]`` and ``boxes == document.boxes(start, end)``. ``head_boxes`` are the row and column
    headers of a cited cell.
    ``source`` and ``units`` are what the marker named: unit numbers first..last, or (0, 0) for the whole source.
    ``generated``: the quote is, or holds, an AI-written description of the figure that ``boxes`` show. ``ocr`` is the
    mean confidence (0–1) of a quote that was read by OCR, else None. ``shown``: the quote without raised marks of
    footnotes, "" where it has none."""

    n: int
    doc_id: str
    title: str
    page: int
    page_label: str
    quote: str
    start: int
    end: int
    boxes: tuple[Box, ...]
    head_boxes: tuple[Box, ...] = ()
    label: str = ""
    section: tuple[str, ...] = ()
    source: int = 0
    units: tuple[int, int] = (0, 0)
    generated: bool = False
    ocr: float | None = None
    shown: str = ""

    @property
    def quotation(self) -> str:
        """The quote as it is put between quotation marks."""
        return self.shown or self.quote


@dataclass(frozen=True, slots=True)
class Mark:
    """Where in `Answer.text` a citation stands: ``text[start:end]`` is ``[n]``. ``added``: the writer did not give it;
    checking found that the source says what the claim says."""

    start: int
    end: int
    n: int
    added: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the answer, ``answer.text[start:end]`` with its marks left out as ``text``; the citations that
    stand in it; and the verdict with its reason in words. ``wrong`` are the spans in ``answer.text`` of the figures
    that the verdict is about."""

    text: str
    start: int
    end: int
    citations: tuple[int, ...]
    status: ClaimStatus
    reason: str
    wrong: tuple[tuple[int, int], ...] = ()


AS_TYPED = "asked"


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished (or stopped) answer. ``text`` is Markdown with marks ``[n]`` at ``marks``; ``status`` is
    ``complete``, ``stopped`` (by the person) or ``failed`` (``error`` says why; what had arrived is kept). ``trace``
    is None where nothing was retrieved, and in answers stored before there were traces. ``replayed``: the same request
    was answered before, and ``text`` is that answer, which cost nothing anew. ``standalone`` is the question as it was
    searched for where it goes on from the ones before it, made so by ``rewritten_by``: ``rules``, a model's name, or
    `AS_TYPED` where nobody could tell what it goes on from; else both are "". ``notes`` say in words what checking was
    to do and could not. ``text`` is exactly what was streamed, and, where claims end, the marks of citations that
    checking added (`Mark.added`)."""

    answer_id: str
    question: str
    queries: tuple[str, ...] = ()
    text: str = ""
    refused: bool = False
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    marks: tuple[Mark, ...] = ()
    dropped: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    model: str = ""
    extractive: bool = False
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    settings_hash: str = ""
    status: Literal["complete", "stopped", "failed"] = "complete"
    error: Mapping[str, Any] | None = None
    created: float = 0.0
    trace: Trace | None = None
    standalone: str = ""
    rewritten_by: str = ""
    notes: tuple[str, ...] = ()
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier exchange of a conversation, as the writer sees it. ``standalone`` is its question as it was searched
    for, "" where that is the question itself or not known; ``cited`` what its answer cites (document, start, end)."""

    question: str
    answer: str
    standalone: str = ""
    cited: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def of(cls, answer: Answer) -> Turn:
        cited = tuple((one.doc_id, one.start, one.end) for one in answer.citations)
        return cls(answer.question, answer.text, answer.standalone, cited)


# What an answer stream yields, in order: one Found; Text, Cited and Dropped as they arrive; Checked; Done.


@dataclass(frozen=True, slots=True)
class Found:
    """Retrieval is done and the sources are numbered; nothing is written yet."""

    retrieval: Retrieval
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer's prose."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """A marker was resolved: a chip with ``citation.n`` stands here. The same citation may come again."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class Dropped:
    """A marker named no given source; it is not shown as a citation."""

    marker: str


@dataclass(frozen=True, slots=True)
class Checked:
    """Verdicts of all claims, which stand in `Answer.text` as it will be: with the marks that checking added."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """The finished answer."""

    answer: Answer


AnswerEvent = Found | Text | Cited | Dropped | Checked | Done
