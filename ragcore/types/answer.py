"""Answers, claims, citations and turns of a conversation: frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ragcore.types.document import FiscalYear, without
from ragcore.types.geometry import Box
from ragcore.types.retrieval import Retrieval, Trace, Usage

ClaimStatus = Literal["supported", "weak", "unsupported", "uncited"]
UnitKind = Literal["sentence", "cell"]


@dataclass(frozen=True, slots=True)
class Unit:
    """Sentence or table cell of a source: the smallest citable unit. ``label`` gives a cell's row and column headers
    (``Total revenues · Fiscal 2023``), "" for a sentence. ``generated``: a sentence of an AI-written description, not
    of the document; ``heading``: a heading of the document; ``item``: the beginning of a list item."""

    start: int
    end: int
    kind: UnitKind
    label: str = ""
    generated: bool = False
    heading: bool = False
    item: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Numbered passage given to the writer: a span of one document, cut into units numbered from 1. ``marks`` are the
    spans of raised footnote marks in its running text, which quotations leave out. ``fiscal`` is its document's
    `fiscal_year`, if columns need it. ``after`` are the beginnings of the list items that follow on its end.
    ``central`` are the spans of its tables, and how central each is in its document (`ragcore.text.centrality`)."""

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
    fiscal: FiscalYear | None = None
    after: tuple[str, ...] = ()
    central: tuple[tuple[int, int, float], ...] = ()

    def lines(self) -> list[tuple[int, int]]:
        """Unit numbers first..last for each line of the text: the sentences of a paragraph or list item, the cells of a
        table row."""
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

    def line_start(self, number: int) -> int:
        """Offset in the document of the line that unit ``number`` is in; a row's begins with its table's title."""
        return self.start + self.text.rfind("\n", 0, self.units[number - 1].start - self.start) + 1

    def headings_over(self, number: int) -> tuple[str, ...]:
        """Nearest heading before unit ``number``, else those of its section."""
        own = (n for n in range(number, 0, -1) if self.units[n - 1].heading)
        return next(((self.words(n, n),) for n in own), self.section)

    def centrality(self, number: int) -> float:
        """Centrality, 0–1, of the table that unit ``number`` is in; 0 outside tables."""
        start = self.units[number - 1].start
        return max((one for low, high, one in self.central if low <= start < high), default=0.0)

    def holds(self, doc_id: str, start: int, end: int) -> bool:
        """Whether it has text of a span of a document."""
        return self.doc_id == doc_id and self.start < end and start < self.end

    def words(self, first: int, last: int) -> str:
        """Text of units ``first`` to ``last`` with single blanks and without ``marks``."""
        return self.between(self.units[first - 1].start, self.units[last - 1].end)

    def between(self, start: int, end: int) -> str:
        """Document text ``[start, end)`` with single blanks and without ``marks``."""
        return " ".join(without(self.text[start - self.start : end - self.start], start, self.marks).split())


@dataclass(frozen=True, slots=True)
class Citation:
    """Quotation of a document, numbered ``n`` from 1 in order of first use; citations added by verification come last.
    ``quote`` is ``document.text[start:end]`` and ``boxes == document.boxes(start, end)``. ``head_boxes`` are the row
    and column headers of a cited cell. ``source`` and ``units`` are what the marker named: unit numbers first..last, or
    (0, 0) for the whole source. ``generated``: the quote is, or contains, an AI-written description of the figure in
    ``boxes``. ``ocr`` is the mean confidence (0–1) of a quote read by OCR, else None. ``shown`` is the quote without
    raised footnote marks, "" if it has none. ``place`` is where it is in the file that the pages were made of
    (``Sheet1!B12``), "" in a PDF. ``since`` says what became of the words in the newest version of the document, "" if
    they still stand; it is told on the way out (`ragcore.pipelines.versions`) and never stored."""

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
    place: str = ""
    since: str = ""

    @property
    def where(self) -> str:
        """Page, and place in the original: ``p. 3``, ``p. 3, Sheet1!B12``."""
        return ", ".join(filter(None, (f"p. {self.page_label}", self.place)))

    @property
    def quotation(self) -> str:
        """Quote as printed between quotation marks."""
        return self.shown or self.quote


@dataclass(frozen=True, slots=True)
class Mark:
    """Position of a citation in `Answer.text`: ``text[start:end]`` is ``[n]``. ``added``: not by the writer;
    verification found that the source supports the claim."""

    start: int
    end: int
    n: int
    added: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """Sentence of the answer: ``text`` is ``answer.text[start:end]`` without citation marks, ``citations`` are those in
    it, ``status`` and ``reason`` the verdict. ``wrong`` are the spans in ``answer.text`` of the figures that the
    verdict is about."""

    text: str
    start: int
    end: int
    citations: tuple[int, ...]
    status: ClaimStatus
    reason: str
    wrong: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Partly:
    """Document of which only the first ``pages`` of ``of`` were read when a question was asked. If the two are equal,
    it was read, and not all of it was embedded: some of it was searched by its words alone."""

    doc_id: str
    title: str
    pages: int
    of: int


AS_TYPED = "asked"


@dataclass(frozen=True, slots=True)
class Answer:
    """Finished, stopped or failed answer. ``text`` is Markdown with marks ``[n]`` at ``marks``: exactly the streamed
    text, plus, at the ends of claims, the marks of citations that verification added (`Mark.added`). ``status`` is
    ``complete``, ``stopped`` (by the user) or ``failed`` (``error`` gives the reason; the text so far is kept).
    ``trace`` is None if nothing was retrieved, and in answers stored before traces existed. ``standalone`` is the
    stand-alone form of a follow-up question, made by ``rewritten_by``: ``rules``, a model's name, or `AS_TYPED` if its
    reference could not be resolved; both are "" for other questions. ``notes`` tell what the answer does not show: that
    it is one kept from before, checks that could not be done, and costs or texts that could not be recorded; ``partly``
    are the documents in scope that were not read in full."""

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
    partly: tuple[Partly, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """Earlier exchange of a conversation, as shown to the writer. ``standalone`` is the stand-alone form of its
    question, "" if equal or unknown; ``cited`` are the spans that its answer cites (document, start, end, quote); in a
    document built anew since, the quote may stand elsewhere."""

    question: str
    answer: str
    standalone: str = ""
    cited: tuple[tuple[str, int, int, str], ...] = ()

    @classmethod
    def of(cls, answer: Answer) -> Turn:
        cited = tuple((one.doc_id, one.start, one.end, one.quote) for one in answer.citations)
        return cls(answer.question, answer.text, answer.standalone, cited)


# Events of an answer stream, in order: one Found; Text, Cited and Dropped as they arrive; Checked; Done.


@dataclass(frozen=True, slots=True)
class Found:
    """Event: retrieval is done and the sources are numbered; nothing is written yet."""

    retrieval: Retrieval
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Event: a piece of the answer's prose."""

    text: str


@dataclass(frozen=True, slots=True)
class Cited:
    """Event: a marker was resolved to a citation, shown here as a chip ``citation.n``. A citation may repeat."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class Dropped:
    """Event: a marker named no given source; it is not shown."""

    marker: str


@dataclass(frozen=True, slots=True)
class Checked:
    """Event: verdicts of all claims, positioned in the final `Answer.text`, which includes the marks added by
    verification."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """Event: the finished answer."""

    answer: Answer


AnswerEvent = Found | Text | Cited | Dropped | Checked | Done
