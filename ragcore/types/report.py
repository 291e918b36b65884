"""Filled reports: sections with their text, evidence and gaps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragcore.types import Answer, Citation, Usage

# heading: has no content of its own; empty: nothing requested was found; partial: some of it was not.
SectionStatus = Literal["heading", "filled", "partial", "empty", "failed", "stopped"]
FieldKind = Literal["prose", "list", "table", "value", "yes_no"]
ValueSort = Literal["", "figure", "date", "name"]
Period = tuple[int, int, int]  # year, month and day of its end; 0 if unknown
# A writer's mark in place of missing content; group 1 names what is missing.
INSUFFICIENT = re.compile(r"\\?\[INSUFFICIENT[ _]DATA(?::\s*([^\[\]\n]{0,400}?))?\\?\]", re.IGNORECASE)


def missing_mark(what: str) -> str:
    """Mark ``[INSUFFICIENT DATA: what]``, on one line, so that `INSUFFICIENT` matches all of it."""
    return f"[INSUFFICIENT DATA: {_plain(what)[:400]}]"


@dataclass(frozen=True, slots=True)
class Missing:
    """``what`` was not found, either in the document ``doc_id`` (called ``title``) or, with "", in any. ``words``
    phrase it as a mark does."""

    what: str
    doc_id: str = ""
    title: str = ""

    @property
    def words(self) -> str:
        return _plain(f"{self.what} ({self.title})" if self.doc_id else self.what)[:400].strip(" .")


def _plain(text: str) -> str:
    return " ".join(text.translate({ord("["): "(", ord("]"): ")"}).split())


@dataclass(frozen=True, slots=True)
class Field:
    """Required content under a heading: its ``kind``, a table's ``columns``, a value's ``unit``, and ``requirements``,
    the items that the guidance asks for. ``sort`` is that of the value, if it is known; else its wording tells."""

    kind: FieldKind = "prose"
    columns: tuple[str, ...] = ()
    unit: str = ""
    requirements: tuple[str, ...] = ()
    sort: ValueSort = ""


LEAST_CUT = 20  # characters of a question that is cut to its first words


def under(heading: str, asked: str) -> str:
    """What is ``asked`` for under a ``heading``, with it, unless that is the same: a question may head its own column,
    there cut to its first words."""
    head, said = (" ".join(one.split()).strip(" .;:") for one in (heading, asked))
    cut = head.endswith("…") and len(head) > LEAST_CUT and said.startswith(head[:-1])
    return asked if cut or said == head else f"{heading}: {asked}"


YEARS = (1900, 2100)  # first and last that a report can cover


@dataclass(frozen=True, slots=True)
class Focus:
    """Company or title, and year, of a report, as chosen by the user; "" and 0 leave them to the documents."""

    subject: str = ""
    year: int = 0

    def of(self, query: str) -> str:
        """``query`` with the chosen company and year, for searches."""
        chosen = " ".join(part for part in (self.subject, str(self.year or "")) if part)
        return f"{query} ({chosen})" if chosen else query

    def told(self, guidance: str) -> str:
        """``guidance`` for the whole report with the chosen company and year, for the writer."""
        about = f"The report is about {self.subject}." if self.subject else ""
        year = f"It covers the year {self.year}." if self.year else ""
        return "\n".join(part for part in (guidance, about, year) if part)

    def titled(self, title: str) -> str:
        """Report ``title`` with its subject added if missing."""
        return title if self.subject.casefold() in title.casefold() else f"{title}: {self.subject}"


NO_FOCUS = Focus()


@dataclass(frozen=True, slots=True)
class Span:
    """Place in a document: ``document.text[start:end]``."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """Financial statement of a whole company: a document's table, ``text[start:end]``, its name, and the last year of
    its columns (0 if unknown)."""

    doc_id: str
    start: int
    end: int
    name: str
    year: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """Reporting period of a document. ``part``: only part of a year; ``end``: its last day, as far as known; ``words``:
    the period as written in the document, "" if absent; ``years``: those of the columns of its statements, latest
    first."""

    part: bool = False
    end: Period = (0, 0, 0)
    words: str = ""
    years: tuple[int, ...] = ()


NOT_KNOWN = Coverage()


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """Known facts of documents, independent of the search: their ``statements``; which are ``interim`` (cover part of a
    year), with that period in words; their companies (`ragcore.text.names`) and titles; and the ``year`` chosen by
    the user, 0 for none."""

    statements: tuple[Statement, ...] = ()
    interim: Mapping[str, str] = field(default_factory=dict)
    companies: Mapping[str, tuple[frozenset[str], ...]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    year: int = 0

    def year_of(self, doc_id: str) -> int:
        """Last year of a document's statements; 0 if unknown or if the document is interim."""
        years = (one.year for one in self.statements if one.doc_id == doc_id)
        return 0 if doc_id in self.interim else max(years, default=0)


NOTHING_STATED = KnownFacts()


@dataclass(frozen=True, slots=True)
class StatedValue:
    """Value that a document gives for a field: the ``figure`` ("" for words), the ``words`` around it, its place, the
    ``period`` that it is of, and the words with its ``scale``, "" if the figure has it."""

    figure: str
    words: str
    citation: Citation
    period: Period = (0, 0, 0)
    scale: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Different values for ``what`` in the same period."""

    what: str
    rivals: tuple[StatedValue, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Missing item: ``what`` was requested, ``why`` it is missing, and the ``nearest`` passages; ``doc_id`` is set if
    only that document lacks it."""

    what: str
    why: str
    nearest: tuple[Citation, ...] = ()
    doc_id: str = ""


@dataclass(frozen=True, slots=True)
class FilledSection:
    """Section of a report. ``number`` is printed (``2.1``), ``level`` counts from 1. ``answer`` holds text, claims,
    citations (numbered from 1 in each section), sources and cost; None for a heading. ``rounds`` counts how often it
    was written, since each search for missing items writes it again. ``values`` are those of a value field, as data, if
    its writer gives them, and ``likely`` those that may be, best first, where none is certain."""

    number: str
    level: int
    heading: str
    guidance: str
    field: Field
    required: bool
    status: SectionStatus
    answer: Answer | None = None
    gaps: tuple[Gap, ...] = ()
    rounds: int = 0
    conflicts: tuple[Conflict, ...] = ()
    values: tuple[StatedValue, ...] = ()
    likely: tuple[StatedValue, ...] = ()

    @property
    def text(self) -> str:
        """Text as written; without any, the marks of missing items; "" for a heading."""
        if self.answer is not None:
            return self.answer.text
        return "\n\n".join(missing_mark(gap.what) for gap in self.gaps)

    @property
    def missed(self) -> bool:
        """Whether a required section is empty, failed or stopped."""
        return self.required and self.status in ("empty", "failed", "stopped")


@dataclass(frozen=True, slots=True)
class Report:
    """Template with its sections filled, in printed order; ``title`` names its subject."""

    title: str
    guidance: str
    sections: tuple[FilledSection, ...]
    model: str
    extractive: bool
    created: float
    focus: Focus = NO_FOCUS

    @property
    def usage(self) -> Usage:
        return sum((section.answer.usage for section in self.sections if section.answer is not None), Usage())

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None if a model without a price wrote part of it."""
        costs = [section.answer.cost_usd for section in self.sections if section.answer is not None]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)
