"""Grids: documents, or sections of them, by typed questions, each cell with its value, its places and what a person
decided. A row's id is that of its document, and of a section goes on with what its path makes (`row_of`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final, Literal, get_args

from ragcore.types.answer import Citation
from ragcore.types.report import under
from ragcore.types.retrieval import Scope, Section

ColumnType = Literal["value", "date", "name", "yes_no", "list", "quote", "text"]
COLUMN_TYPES: Final[tuple[ColumnType, ...]] = get_args(ColumnType)
CellStatus = Literal["stated", "rival", "not_stated", "failed"]
MAX_SECTIONS: Final = 500  # rows of a grid
STATED: Final = frozenset[CellStatus]({"stated", "rival"})


def row_of(section: Section) -> str:
    """Id of a section's row, the same wherever the section is found when its document is read again."""
    path = json.dumps([section.path, section.nth])
    return f"{section.doc_id}-{sha256(path.encode()).hexdigest()[:12]}"


def doc_of(row_id: str) -> str:
    """Document of a row."""
    return row_id.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Column:
    """Question that is put to every row: its ``name`` heads the column, and ``question`` says in more words what
    is asked for ("": the name says it). A value is given in ``unit``, "" for the document's own."""

    column_id: str
    name: str
    question: str
    type: ColumnType
    unit: str = ""

    @property
    def asked(self) -> str:
        """Question as it is searched for."""
        return under(self.name, self.question) if self.question else self.name


@dataclass(frozen=True, slots=True)
class CellValue:
    """Value as it is read: ``text`` as shown; ``number`` in ``unit``, None if it is none; the ``period`` or day that it
    is of, as ISO 8601 ("2023", "2023-06-30"), "" if not told."""

    text: str
    number: float | None = None
    unit: str = ""
    period: str = ""
    citations: tuple[Citation, ...] = ()


NO_VALUE: Final = CellValue("")


@dataclass(frozen=True, slots=True)
class Cell:
    """Answer of one row to one question. ``stated``: its ``value``, the item texts of a list apart by line breaks;
    ``rival``: the document gives others too, the ``rivals``; ``not_stated``: nothing certain was found, the ``rivals``
    are what may be meant, the likeliest first, and ``nearest`` the nearest passages; ``failed``: ``error`` is
    `GroundworkError.as_dict`. ``reason`` says in words why there is no value. ``supported`` is the check of the value
    against its citations, None if there is nothing to check. ``read`` of ``passages`` were read for it; ``model``
    filled it."""

    status: CellStatus
    value: CellValue = NO_VALUE
    rivals: tuple[CellValue, ...] = ()
    nearest: tuple[Citation, ...] = ()
    reason: str = ""
    supported: bool | None = None
    read: int = 0
    passages: int = 0
    model: str = ""
    cost_usd: float | None = 0.0
    error: Mapping[str, Any] | None = None


CellDecisionKind = Literal["", "accepted", "corrected", "not_stated"]


@dataclass(frozen=True, slots=True)
class CellDecision:
    """What a person made of a cell: ``accepted`` as it is, ``corrected`` to ``value``, or held for ``not_stated``; ""
    is undecided. A decided cell is never filled again. ``supported``: the nearest words of the document hold the
    corrected value; its citations are those words, whether they hold it or not."""

    kind: CellDecisionKind = ""
    value: CellValue = NO_VALUE
    supported: bool | None = None


UNDECIDED: Final = CellDecision()


@dataclass(frozen=True, slots=True)
class GridCell:
    """Cell as it is stored: ``found`` is None until it is filled; to be filled ``again`` it keeps it until then."""

    row_id: str
    column_id: str
    found: Cell | None = None
    decision: CellDecision = UNDECIDED
    again: bool = False

    @property
    def doc_id(self) -> str:
        return doc_of(self.row_id)

    @property
    def status(self) -> CellStatus | None:
        """Status as shown: that of the person's decision, if there is one."""
        if self.decision.kind == "not_stated":
            return "not_stated"
        if self.decision.kind == "corrected":
            return "stated"
        return None if self.found is None else self.found.status

    @property
    def likely(self) -> tuple[CellValue, ...]:
        """What may be meant where nothing is stated for certain, the likeliest first; none once somebody decided."""
        left = self.found is not None and self.found.status == "not_stated" and self.decision == UNDECIDED
        return self.found.rivals if self.found is not None and left else ()

    @property
    def filled_by(self) -> str:
        """Model that filled it, "rules" for none; "" for nobody, or a person."""
        return "" if self.found is None or self.decision.kind == "corrected" else self.found.model

    @property
    def supported(self) -> bool | None:
        """Whether the value as shown is what its citations say, None if there is nothing to check."""
        if self.status not in STATED:
            return None
        if self.decision.kind == "corrected":
            return self.decision.supported
        return None if self.found is None else self.found.supported

    @property
    def value(self) -> CellValue:
        """Value as shown. A person's, which its document doesn't hold, has no citations."""
        if self.decision.kind == "corrected":
            given = self.decision.value
            return replace(given, citations=()) if self.decision.supported is False else given
        return self.found.value if self.found is not None and self.status in STATED else NO_VALUE


@dataclass(frozen=True, slots=True)
class GridInfo:
    """Grid as it is listed: ``scope`` holds its documents (all of the library, if it names none), or the sections that
    are its rows; ``done`` of ``total`` cells are filled, which took ``seconds``; ``error`` ended the last filling
    early. ``version`` is raised when its rows, columns or many cells change at once; ``rows`` counts those of each
    document."""

    grid_id: str
    name: str
    scope: Scope
    created: float
    columns: int
    total: int
    done: int
    seconds: float = 0.0
    error: Mapping[str, Any] | None = None
    version: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        return self.done >= self.total


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a grid: a document, or the section of it with the headings ``section``, which begins on page ``begins``,
    printed as ``page_label``; 0 if it is not found in its document anymore. ``ready``: its pages are all read, so that
    its cells can be filled; ``earlier``: of an earlier version, whose cells stay as they are."""

    row_id: str
    title: str
    name: str
    pages: int
    ready: bool
    tags: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    begins: int = 1
    page_label: str = ""
    earlier: bool = False

    @property
    def doc_id(self) -> str:
        return doc_of(self.row_id)

    @property
    def label(self) -> str:
        """Heading of a section; of a document, its title."""
        return self.section[-1] if self.section else self.title


@dataclass(frozen=True, slots=True)
class Grid:
    """Grid with its ``rows`` in the order of the library and of each document, its ``columns`` in theirs, and a cell
    for each pair, by row and column id."""

    info: GridInfo
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    cells: Mapping[tuple[str, str], GridCell] = field(default_factory=dict)

    @property
    def current(self) -> tuple[Row, ...]:
        """Rows of the newest versions: those that count."""
        return tuple(row for row in self.rows if not row.earlier)

    @property
    def by_section(self) -> bool:
        """Whether its rows are sections."""
        return bool(self.info.scope.sections)

    def cell(self, row_id: str, column_id: str) -> GridCell:
        return self.cells.get((row_id, column_id)) or GridCell(row_id, column_id)


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of a column: ``stated`` of ``filled`` cells; ``words`` sum up what is stated ("2.1–9.4 %, median 4", "8
    yes, 3 no", "7 different"), "" for nothing to sum up."""

    stated: int
    filled: int
    words: str
