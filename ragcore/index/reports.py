"""Report store: reports with their sections in order, every version of each, and the queue of sections to write.

Versions are deleted only with the whole report: a new version is added beside the previous one, and undoing shows the
earlier one again. A queued section leaves the queue in the transaction that stores its text, so that a process killed
at any moment loses no section and writes none twice.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ragcore.errors import NotYours, UnknownReport, UnknownSection
from ragcore.index.conversations import given_titles, renamed
from ragcore.index.database import IN, Connection, Database, Row, made
from ragcore.index.packing import pack, unpack
from ragcore.index.versions import followed, newest_versions
from ragcore.types import Scope
from ragcore.types.report import NO_FOCUS, FilledSection, Focus, SectionStatus, Span

Json = dict[str, Any]
PlaceKind = Literal["pinned", "excluded"]


@dataclass(frozen=True, slots=True)
class ReportInfo:
    """Line of the list of reports. ``doc_ids`` is None if all documents are searched; ``trouble`` is
    `GroundworkError.as_dict` of the error that ended the last filling; ``sections`` counts those to be written, and
    of those written, in a list, ``filled`` those that state something and ``not_stated`` those that only name what is
    missing; ``focus`` is None until a person was asked for it; ``own`` is False for one that somebody else shared.
    Times are seconds since the epoch."""

    report_id: str
    title: str
    guidance: str
    origin: str
    doc_ids: tuple[str, ...] | None
    trouble: Mapping[str, Any] | None
    created: float
    updated: float
    sections: int = 0
    filled: int = 0
    not_stated: int = 0
    accepted: int = 0
    waiting: int = 0
    focus: Focus | None = None
    own: bool = True
    shared: bool = False

    @property
    def name(self) -> str:
        """Title with its subject."""
        return (self.focus or NO_FOCUS).titled(self.title)


@dataclass(frozen=True, slots=True)
class Version:
    """State of a section. ``author`` is ``hand``, ``offline`` or the model's name; ``change`` names the change;
    ``parent`` is the version shown when it was made, "" for none; ``usd`` is None if it has no price."""

    version_id: str
    number: int
    parent: str
    author: str
    change: str
    usd: float | None
    created: float


@dataclass(frozen=True, slots=True)
class StoredSection:
    """Section of a report: ``asked`` (JSON of a template's section, without its subsections), its ``level`` from 1, and
    the shown version with its ``content``. ``waits`` is the instruction of its queue entry, None if it has none."""

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
class Task:
    """Queued section, to be written by ``writer``; ``instruction`` says how to rewrite the shown version, "" fills it
    anew. With ``visit`` it needs a visit's own key, so only the process that queued it can have it written."""

    report_id: str
    section_id: str
    instruction: str
    writer: str
    visit: bool


@dataclass(frozen=True, slots=True)
class _Brief:
    """What a list needs of a `FilledSection`, unpacked in a third of its time."""

    status: SectionStatus


# Reports of one's own, and of nobody, who are everybody's; the question mark is the owner, None for all.
OWN = "owner IN ('', coalesce(?, owner))"
OPEN = f"({OWN} OR shared)"


class Reports:
    """Tables ``reports`` and ``report_*``, as ``owner`` has them: their own, and those that others share, which they
    may change but not delete; None has all. Raises `UnknownReport` and `UnknownSection` for an id that no longer exists
    or is somebody else's. The queue is everybody's."""

    def __init__(self, database: Database, owner: str | None = None) -> None:
        self.database = database
        self.owner = owner

    # Reports

    def new(
        self,
        title: str,
        guidance: str,
        origin: str,
        sections: Iterable[tuple[int, Json]],
        doc_ids: Sequence[str] | None,
        focus: Focus | None = None,
    ) -> str:
        """Create a report of empty ``sections`` (level and request); without ``focus`` a person is to be asked for
        it."""
        report_id, now = uuid.uuid4().hex[:12], time.time()
        row = {
            "report_id": report_id,
            "title": title,
            "guidance": guidance,
            "origin": origin,
            "owner": self.owner or "",
            "doc_ids": None if doc_ids is None else list(doc_ids),
            "created": now,
            "updated": now,
            "subject": None if focus is None else focus.subject,
            "year": 0 if focus is None else focus.year,
        }
        with self.database.write() as connection:
            connection.insert("reports", row)
            for position, (level, asked) in enumerate(sections):
                _add(connection, report_id, position, level, asked)
        return report_id

    def all(self) -> list[ReportInfo]:
        """All reports, most recently changed first."""
        query = "SELECT report_id, content FROM report_sections JOIN report_versions ON version_id = shown"
        with self.database.read() as connection:
            infos = _infos(connection, self.owner)
            ids = [info.report_id for info in infos]
            rows = connection.rows(f"{query} WHERE NOT removed AND report_id {IN}", ids)
        n = Counter((row["report_id"], unpack(row["content"], _Brief).status) for row in rows)
        return [
            replace(info, filled=n[key, "filled"] + n[key, "partial"], not_stated=n[key, "empty"])
            for key, info in zip(ids, infos, strict=True)
        ]

    def info(self, report_id: str) -> ReportInfo:
        with self.database.read() as connection:
            return self._info(connection, report_id)

    def get(self, report_id: str) -> tuple[ReportInfo, tuple[StoredSection, ...]]:
        """Report, and its sections as shown, without removed ones."""
        with self.database.read() as connection:
            info = self._info(connection, report_id)
            return info, _stored(connection, "report_id = ? AND NOT removed", report_id)

    def section(self, section_id: str) -> StoredSection:
        with self.database.read() as connection:
            self._row(connection, section_id)
            return _stored(connection, "section_id = ?", section_id)[0]

    def update(self, report_id: str, **values: object) -> None:
        """Set columns of a report (``title``, ``guidance``, ``doc_ids``: a list, or None for all documents)."""
        with self.database.write() as connection:
            self._touch(connection, report_id, **values)

    def share(self, report_id: str, shared: bool) -> None:
        """Let all who may read the library read and change it, or nobody else any more."""
        with self.database.write() as connection:
            self._own(connection, report_id)
            self._touch(connection, report_id, shared=shared)

    def owner_of(self, report_id: str) -> str:
        """Whose a report is; "" for nobody's, and for one that is gone."""
        return str(self.database.value("SELECT owner FROM reports WHERE report_id = ?", report_id) or "")

    def adopt(self, owner: str) -> None:
        """Give the reports that are nobody's to ``owner``."""
        with self.database.write() as connection:
            connection.update("reports", "owner = ''", owner=owner)

    def delete(self, report_id: str) -> None:
        """Delete it with everything written in it."""
        with self.database.write() as connection:
            self._own(connection, report_id)
            connection.execute("DELETE FROM reports WHERE report_id = ?", (report_id,))

    def cost(self, report_id: str) -> float | None:
        """Cost in US dollars of all versions of all its sections; None if a model without a price wrote one."""
        with self.database.read() as connection:
            self._info(connection, report_id)
            query = "SELECT usd FROM report_versions JOIN report_sections USING (section_id) WHERE report_id = ?"
            found = connection.column(query, report_id)
        return None if None in found else sum(found)

    # Sections

    def add_section(self, report_id: str, asked: Json, *, level: int, after: str = "") -> str:
        """Add a section after section ``after`` ("": at the end); returns its id."""
        with self.database.write() as connection:
            self._touch(connection, report_id)
            query = "SELECT section_id FROM report_sections WHERE report_id = ? ORDER BY position, section_id"
            order = connection.column(query, report_id)
            place = order.index(after) + 1 if after in order else len(order)
            for position, section_id in enumerate(order):
                _set(connection, section_id, position=position + (position >= place))
            return _add(connection, report_id, place, level, asked)

    def arrange(self, report_id: str, order: Sequence[tuple[str, int]]) -> None:
        """Put the sections (id and level) in this order. Removed sections keep their places after the others."""
        with self.database.write() as connection:
            self._touch(connection, report_id)
            for position, (section_id, level) in enumerate(order):
                _set(connection, section_id, position=position, level=level)

    def set_section(self, section_id: str, **values: object) -> None:
        """Set columns of a section: ``asked`` (JSON object), ``accepted``, ``removed``, ``trouble`` (JSON object)."""
        with self.database.write() as connection:
            _set(connection, section_id, **values)
            self._touch(connection, self._row(connection, section_id)["report_id"])

    def trouble(self, section_id: str) -> Json | None:
        """Error of a section's last writing; None if it succeeded, or the section no longer exists."""
        found: Json | None = self.database.value("SELECT trouble FROM report_sections WHERE section_id = ?", section_id)
        return found

    def place(self, section_id: str, span: Span, kind: PlaceKind | None) -> None:
        """Pin a place to a section or exclude it from the section; None: neither."""
        place = {"section_id": section_id, "doc_id": span.doc_id, "start": span.start, "end": span.end}
        with self.database.write() as connection:
            self._touch(connection, self._row(connection, section_id)["report_id"])
            query = 'DELETE FROM report_places WHERE section_id = ? AND doc_id = ? AND start = ? AND "end" = ?'
            connection.execute(query, tuple(place.values()))
            if kind is not None:
                connection.insert("report_places", place | {"kind": kind, "created": time.time()})

    # Versions

    def keep(
        self,
        section_id: str,
        content: FilledSection,
        *,
        author: str,
        change: str,
        usd: float | None,
        show: bool = True,
        done: bool = False,
        trouble: Mapping[str, Any] | None = None,
    ) -> str:
        """Store another version and (``show``) show it, unless the section was accepted in the meantime; returns its
        id. ``done`` removes the section from the queue, and ``trouble`` is the error of its writing."""
        packed, version_id = pack(content, FilledSection), uuid.uuid4().hex[:16]
        with self.database.write() as connection:
            row = self._row(connection, section_id)
            last = connection.value("SELECT max(number) FROM report_versions WHERE section_id = ?", section_id)
            version = {
                "version_id": version_id,
                "section_id": section_id,
                "number": (last or 0) + 1,
                "parent": row["shown"],
                "author": author,
                "change": change,
                "content": packed,
                "usd": usd,
                "created": time.time(),
            }
            connection.insert("report_versions", version)
            shown = version_id if show and not row["accepted"] else row["shown"]
            _set(connection, section_id, shown=shown, trouble=trouble or None)
            if done:
                connection.execute("DELETE FROM report_tasks WHERE section_id = ?", (section_id,))
            self._touch(connection, row["report_id"])
        return version_id

    def versions(self, section_id: str) -> list[Version]:
        """All versions, newest first."""
        query = "SELECT * FROM report_versions WHERE section_id = ? ORDER BY number DESC"
        with self.database.read() as connection:
            self._row(connection, section_id)
            return [_version(row) for row in connection.rows(query, section_id)]

    def content(self, section_id: str, version_id: str) -> FilledSection:
        """Content of a version."""
        with self.database.read() as connection:
            self._row(connection, section_id)
            query = "SELECT content FROM report_versions WHERE section_id = ? AND version_id = ?"
            found = connection.value(query, section_id, version_id)
            given = given_titles(connection)
        if found is None:
            raise UnknownSection("This version is no longer in the report.")
        return _content(found, given)

    def show(self, section_id: str, version_id: str | None) -> None:
        """Show a version of a section; None: none, as before the first."""
        if version_id is not None:
            self.content(section_id, version_id)
        self.set_section(section_id, shown=version_id, trouble=None)

    # Queue of sections to write

    def queue(self, report_id: str, tasks: Sequence[tuple[str, str]], writer: str, *, visit: bool = False) -> None:
        """Append sections (id and instruction) to the queue, to be written by ``writer``; ``visit``: with a visit's
        own key. A queued section keeps its entry."""
        same = {"report_id": report_id, "writer": writer, "visit": visit, "created": time.time()}
        rows = [{**same, "section_id": section_id, "instruction": instruction} for section_id, instruction in tasks]
        with self.database.write() as connection:
            self._touch(connection, report_id, trouble=None)
            connection.insert("report_tasks", *rows, clash="NOTHING")

    def tasks(self) -> list[Task]:
        """Entire queue."""
        query = "SELECT report_id, section_id, instruction, writer, visit FROM report_tasks ORDER BY task_id"
        return [made(Task, row) for row in self.database.rows(query)]

    def drop_tasks(self, report_id: str, section_ids: Sequence[str], trouble: Mapping[str, Any]) -> None:
        """Remove sections of a report from the queue because of ``trouble``, which is recorded for the whole report."""
        with self.database.write() as connection:
            connection.execute(f"DELETE FROM report_tasks WHERE section_id {IN}", (list(section_ids),))
            connection.update("reports", "report_id = ?", report_id, trouble=trouble)

    def drop_task(self, section_id: str, trouble: Mapping[str, Any] | None = None) -> None:
        """Remove a section from the queue: nothing was written, because of ``trouble`` or (None) on purpose."""
        with self.database.write() as connection:
            connection.execute("DELETE FROM report_tasks WHERE section_id = ?", (section_id,))
            if trouble:
                _set(connection, section_id, trouble=trouble)

    def _info(self, connection: Connection, report_id: str) -> ReportInfo:
        found = _infos(connection, self.owner, "report_id = ?", report_id)
        if not found:
            raise UnknownReport("This report is no longer in the library.")
        return found[0]

    def _row(self, connection: Connection, section_id: str) -> Row:
        query = f"SELECT s.* FROM report_sections s JOIN reports USING (report_id) WHERE section_id = ? AND {OPEN}"
        row = connection.row(query, section_id, self.owner)
        if row is None:
            raise UnknownSection("This section is no longer in the report.")
        return row

    def _touch(self, connection: Connection, report_id: str, **values: object) -> None:
        where = f"report_id = ? AND {OPEN}"
        if not connection.update("reports", where, report_id, self.owner, updated=time.time(), **values):
            raise UnknownReport("This report is no longer in the library.")

    def _own(self, connection: Connection, report_id: str) -> None:
        if not self._info(connection, report_id).own:
            raise NotYours("Only who began this report may share or delete it.")


def _add(connection: Connection, report_id: str, position: int, level: int, asked: Json) -> str:
    section_id = uuid.uuid4().hex[:12]
    row = {"section_id": section_id, "report_id": report_id, "position": position, "level": level}
    connection.insert("report_sections", row | {"asked": asked, "guided": bool(asked.get("guidance"))})
    return section_id


def _set(connection: Connection, section_id: str, **values: object) -> None:
    if isinstance(asked := values.get("asked"), Mapping):
        values["guided"] = bool(asked.get("guidance"))
    if not connection.update("report_sections", "section_id = ?", section_id, **values):
        raise UnknownSection("This section is no longer in the report.")


def _infos(connection: Connection, owner: str | None, where: str = "true", *values: object) -> list[ReportInfo]:
    """Reports that ``owner`` may read and that match ``where``, most recently changed first, with their sections
    counted. A heading over other sections, without guidance of its own, does not count."""
    rows = connection.rows(
        f"""
        WITH outline AS (
            SELECT report_id, accepted, guided OR coalesce(lead(level) OVER printed, 0) <= level AS filled
            FROM report_sections WHERE NOT removed
            WINDOW printed AS (PARTITION BY report_id ORDER BY position, section_id)
        )
        SELECT *, {OWN} AS own,
            (SELECT count(*) FROM outline o WHERE o.report_id = r.report_id AND filled) AS sections,
            (SELECT count(*) FROM outline o WHERE o.report_id = r.report_id AND accepted) AS accepted,
            (SELECT count(*) FROM report_tasks t WHERE t.report_id = r.report_id) AS waiting
        FROM reports r WHERE {OPEN} AND {where} ORDER BY updated DESC, created DESC
        """,
        owner,
        owner,
        *values,
    )
    versions, found = newest_versions(connection), []
    for row in rows:
        focus = None if row["subject"] is None else Focus(row["subject"], row["year"])
        doc_ids = followed(Scope(row["doc_ids"]), versions).doc_ids
        found.append(made(ReportInfo, row, focus=focus, doc_ids=doc_ids, own=bool(row["own"])))
    return found


def _stored(connection: Connection, where: str, *values: object) -> tuple[StoredSection, ...]:
    """Sections that match ``where``, in order, as shown."""
    rows = connection.rows(f"SELECT * FROM report_sections WHERE {where} ORDER BY position, section_id", *values)
    ids = [row["section_id"] for row in rows]
    query = f"SELECT * FROM report_versions WHERE version_id {IN}"
    shown = {row["version_id"]: row for row in connection.rows(query, [row["shown"] for row in rows])}
    query = f"SELECT section_id, count(*) FROM report_versions WHERE section_id {IN} GROUP BY section_id"
    counts: dict[str, int] = dict(map(tuple, connection.rows(query, ids)))
    query = f"SELECT section_id, instruction FROM report_tasks WHERE section_id {IN}"
    waits: dict[str, str] = dict(map(tuple, connection.rows(query, ids)))
    places: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for place in connection.rows(f"SELECT * FROM report_places WHERE section_id {IN} ORDER BY created", ids):
        places[place["section_id"], place["kind"]].append(made(Span, place))
    given = given_titles(connection)
    sections = []
    for row in rows:
        section_id, version = row["section_id"], shown.get(row["shown"])
        sections.append(
            made(
                StoredSection,
                row,
                shown=None if version is None else _version(version),
                content=None if version is None else _content(version["content"], given),
                versions=counts.get(section_id, 0),
                pinned=tuple(places[section_id, "pinned"]),
                excluded=tuple(places[section_id, "excluded"]),
                waits=waits.get(section_id),
            )
        )
    return tuple(sections)


def _content(packed: bytes, given: Mapping[str, str]) -> FilledSection:
    """Content of a version, with the ``given`` titles of its documents."""
    section = unpack(packed, FilledSection)
    return section if section.answer is None else replace(section, answer=renamed(section.answer, given))


def _version(row: Row) -> Version:
    return made(Version, row, parent=row["parent"] or "")
