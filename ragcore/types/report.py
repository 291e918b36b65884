"""What a report is once it is filled: a section each with its text, evidence and gaps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragcore.types import Answer, Citation, Usage

# heading: nothing is to stand under it; empty: nothing of what was asked for was found; partial: some was not.
SectionStatus = Literal["heading", "filled", "partial", "empty", "failed", "stopped"]
FieldKind = Literal["prose", "list", "table", "value", "yes_no"]
Period = tuple[int, int, int]  # year, month and day of its end; 0 where that is not known
# What a writer puts in the place of what it could not find, and what it says is missing in group 1.
INSUFFICIENT = re.compile(r"\\?\[INSUFFICIENT[ _]DATA(?::\s*([^\[\]\n]{0,400}?))?\\?\]", re.IGNORECASE)


def missing_mark(what: str) -> str:
    """``[INSUFFICIENT DATA: what]``, on one line and so that `INSUFFICIENT` finds it whole."""
    return f"[INSUFFICIENT DATA: {_plain(what)[:400]}]"


@dataclass(frozen=True, slots=True)
class Missing:
    """``what`` was not found: in the document ``doc_id``, called ``title``, only, or ("") in any. ``words`` say so as
    a mark does."""

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
    """What is to stand under a heading: ``kind`` with a table's ``columns`` and a value's ``unit``, and what its
    guidance asks for, piece by piece, in ``requirements``."""

    kind: FieldKind = "prose"
    columns: tuple[str, ...] = ()
    unit: str = ""
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Focus:
    """The company or title that a report is about and the year that it covers, as a person chose them; "" and 0 leave
    them to the documents."""

    subject: str = ""
    year: int = 0

    def of(self, query: str) -> str:
        """``query`` with what was chosen, as a search reads it."""
        chosen = " ".join(part for part in (self.subject, str(self.year or "")) if part)
        return f"{query} ({chosen})" if chosen else query

    def told(self, guidance: str) -> str:
        """``guidance`` for all of a report with what was chosen, as a writer reads it."""
        about = f"The report is about {self.subject}." if self.subject else ""
        year = f"It covers the year {self.year}." if self.year else ""
        return "\n".join(part for part in (guidance, about, year) if part)

    def titled(self, title: str) -> str:
        """A report's ``title`` with its subject, where it does not name it."""
        return title if self.subject.casefold() in title.casefold() else f"{title}: {self.subject}"


NO_FOCUS = Focus()


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a document: ``document.text[start:end]``."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A table of a document, ``text[start:end]``, that is a statement of the whole company, what it is called, and the
    last year that its columns name (0 where they name none). Where the days of its columns stand in its first rows and
    not in its header, ``dates`` has them by the place of each cell below."""

    doc_id: str
    start: int
    end: int
    name: str
    year: int = 0
    dates: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The period that a document reports on. ``part``: of a year; ``end`` is its last day, as far as it is known;
    ``words`` say it as the document does, "" where it does not. ``years`` are those that the columns of its statements
    are of, the latest first."""

    part: bool = False
    end: Period = (0, 0, 0)
    words: str = ""
    years: tuple[int, ...] = ()


NOT_KNOWN = Coverage()


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What is known of documents beside what was found in them: their ``statements``, which are ``interim``, on a part
    of a year, each with that period in words, whose they are (`ragcore.text.companies`), and what they are called; and
    the ``year`` that a person chose, 0 for none."""

    statements: tuple[Statement, ...] = ()
    interim: Mapping[str, str] = field(default_factory=dict)
    companies: Mapping[str, tuple[frozenset[str], ...]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    year: int = 0

    def year_of(self, doc_id: str) -> int:
        """The last year of the statements of a document, 0 where that is not known or the document is interim."""
        years = (one.year for one in self.statements if one.doc_id == doc_id)
        return 0 if doc_id in self.interim else max(years, default=0)


NOTHING_STATED = KnownFacts()


@dataclass(frozen=True, slots=True)
class ConflictingValue:
    """One of several values that the documents give for one field: the ``figure``, the ``words`` that give it, and
    where they stand."""

    figure: str
    words: str
    citation: Citation


@dataclass(frozen=True, slots=True)
class Conflict:
    """The documents give different values for ``what`` and the same period."""

    what: str
    rivals: tuple[ConflictingValue, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """``what`` was asked for and is not there, ``why``, and the ``nearest`` passages; ``doc_id`` is the document that
    ``what`` names, where it is missing of one only."""

    what: str
    why: str
    nearest: tuple[Citation, ...] = ()
    doc_id: str = ""


@dataclass(frozen=True, slots=True)
class FilledSection:
    """A section of a report. ``number`` is its place as printed (``2.1``), ``level`` from 1. ``answer`` holds text,
    claims, citations (numbered from 1 in each section), sources and cost; None for a heading. ``rounds``: how often it
    was written, since what was missing was looked for again."""

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

    @property
    def text(self) -> str:
        """What was written; the marks of what is missing where nothing was, "" under a heading."""
        if self.answer is not None:
            return self.answer.text
        return "\n\n".join(missing_mark(gap.what) for gap in self.gaps)

    @property
    def missed(self) -> bool:
        """Whether it was to be filled and is not."""
        return self.required and self.status in ("empty", "failed", "stopped")


@dataclass(frozen=True, slots=True)
class Report:
    """A template with its sections filled, in the order in which they are printed; ``title`` names its subject."""

    title: str
    guidance: str
    sections: tuple[FilledSection, ...]
    model: str
    extractive: bool
    created: float
    focus: Focus = NO_FOCUS

    @property
    def usage(self) -> Usage:
        total = Usage()
        for section in self.sections:
            if section.answer is not None:
                total = total + section.answer.usage
        return total

    @property
    def cost_usd(self) -> float | None:
        """US dollars; None where a model without a price wrote some of it."""
        costs = [section.answer.cost_usd for section in self.sections if section.answer is not None]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)
