"""What is read of stored reports: lines of the list, sections with what is shown of them, versions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import sqlalchemy as sa

from ragcore.errors import UnknownReport
from ragcore.index import database as db
from ragcore.index.packing import unpack
from ragcore.index.renamed import given_titles, renamed
from ragcore.types.report import NO_FOCUS, FilledSection, Focus, Span

PlaceKind = Literal["pinned", "excluded"]
_reports, _sections, _versions = db.reports.c, db.report_sections.c, db.report_versions.c
_places, _tasks = db.report_places.c, db.report_tasks.c


@dataclass(frozen=True, slots=True)
class ReportInfo:
    """A line of the list of reports. ``doc_ids`` is None where all documents are searched; ``trouble`` is what
    `GroundworkError.as_dict` gave of the error that ended the last filling; ``sections`` are those to be written;
    ``focus`` is None until a person was asked for it. Times are seconds since the epoch."""

    report_id: str
    title: str
    guidance: str
    origin: str
    doc_ids: tuple[str, ...] | None
    trouble: Mapping[str, Any] | None
    created: float
    updated: float
    sections: int = 0
    written: int = 0
    accepted: int = 0
    waiting: int = 0
    focus: Focus | None = None

    @property
    def name(self) -> str:
        """The title with its subject."""
        return (self.focus or NO_FOCUS).titled(self.title)


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a section. ``author`` is ``hand``, ``offline`` or the model's name; ``change`` says what was done;
    ``parent`` is the version that was shown when it was made, "" for none; ``usd`` is None where it has no price."""

    version_id: str
    number: int
    parent: str
    author: str
    change: str
    usd: float | None
    created: float


@dataclass(frozen=True, slots=True)
class StoredSection:
    """A section: what is ``asked`` (JSON of a template's section, without those below it), its ``level`` from 1, and
    the version that is shown with its ``content``. ``waits`` is the instruction of its place in the queue, None where
    it has none."""

    section_id: str
    report_id: str
    level: int
    asked: Mapping[str, Any]
    accepted: bool
    trouble: Mapping[str, Any] | None
    shown: Version | None
    content: FilledSection | None
    versions: int
    pinned: tuple[Span, ...]
    excluded: tuple[Span, ...]
    waits: str | None


@dataclass(frozen=True, slots=True)
class StoredReport:
    info: ReportInfo
    sections: tuple[StoredSection, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """A section that waits to be written by ``writer``; ``instruction`` is how to rewrite what is shown, "" fills it
    anew. With ``visit`` only the process that it was queued in can have it written."""

    report_id: str
    section_id: str
    instruction: str
    writer: str
    visit: bool


def info(connection: sa.Connection, report_id: str) -> ReportInfo:
    """Raises `UnknownReport`."""
    found = infos(connection, _reports.report_id == report_id)
    if not found:
        raise UnknownReport("This report is no longer in the library.")
    return found[0]


def infos(connection: sa.Connection, where: sa.ColumnElement[bool]) -> list[ReportInfo]:
    """The reports that ``where`` holds of, the last changed first, with their sections counted."""
    here = (_sections.report_id == _reports.report_id) & (_sections.removed == 0)

    def counted(*more: sa.ColumnElement[bool]) -> sa.ScalarSelect[int]:
        return sa.select(sa.func.count()).select_from(db.report_sections).where(here, *more).scalar_subquery()

    # A heading over others, without guidance of its own, is nothing to write.
    below = sa.func.lead(_sections.level).over(
        partition_by=_sections.report_id, order_by=(_sections.position, _sections.section_id)
    )
    guided = sa.func.coalesce(sa.func.json_extract(_sections.asked, "$.guidance"), "") != ""
    outline = (
        sa.select(_sections.report_id, (guided | (sa.func.coalesce(below, 0) <= _sections.level)).label("filled"))
        .where(_sections.removed == 0)
        .subquery()
    )
    filled = (
        sa.select(sa.func.count())
        .select_from(outline)
        .where(outline.c.report_id == _reports.report_id, outline.c.filled)
        .scalar_subquery()
    )
    waiting = sa.select(sa.func.count()).where(_tasks.report_id == _reports.report_id).scalar_subquery()
    rows = connection.execute(
        sa.select(
            db.reports,
            filled.label("sections"),
            counted(_sections.shown.is_not(None)).label("written"),
            counted(_sections.accepted == 1).label("accepted"),
            waiting.label("waiting"),
        )
        .where(where)
        .order_by(_reports.updated.desc(), _reports.created.desc())
    ).all()
    return [
        ReportInfo(
            row.report_id,
            row.title,
            row.guidance,
            row.origin,
            None if row.doc_ids is None else tuple(json.loads(row.doc_ids)),
            json.loads(row.trouble) if row.trouble else None,
            row.created,
            row.updated,
            row.sections,
            row.written,
            row.accepted,
            row.waiting,
            None if row.subject is None else Focus(row.subject, row.year),
        )
        for row in rows
    ]


def stored(connection: sa.Connection, where: sa.ColumnElement[bool]) -> tuple[StoredSection, ...]:
    """The sections that ``where`` holds of, in their order, as they are shown."""
    rows = connection.execute(
        sa.select(db.report_sections).where(where).order_by(_sections.position, _sections.section_id)
    ).all()
    ids = [row.section_id for row in rows]
    shown = {
        row.section_id: row
        for row in connection.execute(
            sa.select(db.report_versions).where(_versions.version_id.in_([row.shown for row in rows if row.shown]))
        )
    }
    counted = sa.select(_versions.section_id, sa.func.count().label("written")).where(_versions.section_id.in_(ids))
    counts = {row.section_id: row.written for row in connection.execute(counted.group_by(_versions.section_id))}
    places: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for row in connection.execute(
        sa.select(db.report_places).where(_places.section_id.in_(ids)).order_by(_places.created)
    ):
        places[row.section_id, row.kind].append(Span(row.doc_id, row.start, row.end))
    waiting = sa.select(_tasks.section_id, _tasks.instruction).where(_tasks.section_id.in_(ids))
    waits = {row.section_id: row.instruction for row in connection.execute(waiting)}
    given = given_titles(connection)
    return tuple(
        StoredSection(
            section_id=row.section_id,
            report_id=row.report_id,
            level=row.level,
            asked=json.loads(row.asked),
            accepted=bool(row.accepted),
            trouble=json.loads(row.trouble) if row.trouble else None,
            shown=version(shown[row.section_id]) if row.section_id in shown else None,
            content=content(shown[row.section_id].content, given) if row.section_id in shown else None,
            versions=counts.get(row.section_id, 0),
            pinned=tuple(places[row.section_id, "pinned"]),
            excluded=tuple(places[row.section_id, "excluded"]),
            waits=waits.get(row.section_id),
        )
        for row in rows
    )


def content(packed: bytes, given: Mapping[str, str]) -> FilledSection:
    """What a version says, its documents called as they are ``given``."""
    section = unpack(packed, FilledSection)
    return section if section.answer is None else replace(section, answer=renamed(section.answer, given))


def version(row: sa.Row[tuple[object, ...]]) -> Version:
    """A row of ``report_versions``."""
    return Version(row.version_id, row.number, row.parent or "", row.author, row.change, row.usd, row.created)
