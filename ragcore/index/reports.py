"""Reports as they are worked on: sections in their order, every version of each, and what waits to be written.

Nothing that was written is ever taken out but with the whole report: another version stands beside the one before, and
undoing shows the earlier one again. A section that waits leaves the queue in the transaction that stores what was
written of it, so that a process killed at any moment loses no section and writes none twice.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.errors import UnknownReport, UnknownSection
from ragcore.index import database as db
from ragcore.index import report_rows as rows
from ragcore.index.packing import pack
from ragcore.index.renamed import given_titles
from ragcore.index.report_rows import PlaceKind, ReportInfo, StoredReport, StoredSection, Task, Version
from ragcore.types.report import FilledSection, Focus, Span

Json = dict[str, Any]
_reports, _sections, _versions = db.reports.c, db.report_sections.c, db.report_versions.c
_places, _tasks = db.report_places.c, db.report_tasks.c


class Reports:
    """The tables ``reports`` and ``report_*``. Raises `UnknownReport` and `UnknownSection` for what is gone."""

    def __init__(self, database: db.Database) -> None:
        self.database = database

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
        """A report with ``sections`` (level and what is asked) and nothing written; without ``focus`` a person is to be
        asked for it."""
        report_id, now = uuid.uuid4().hex[:12], time.time()
        with self.database.write() as connection:
            connection.execute(
                sa.insert(db.reports).values(
                    report_id=report_id,
                    title=title,
                    guidance=guidance,
                    origin=origin,
                    doc_ids=None if doc_ids is None else json.dumps(list(doc_ids)),
                    created=now,
                    updated=now,
                    subject=None if focus is None else focus.subject,
                    year=0 if focus is None else focus.year,
                )
            )
            for position, (level, asked) in enumerate(sections):
                _add(connection, report_id, position, level, asked)
        return report_id

    def all(self) -> list[ReportInfo]:
        """Every report, the last changed first."""
        with self.database.read() as connection:
            return rows.infos(connection, sa.true())

    def info(self, report_id: str) -> ReportInfo:
        with self.database.read() as connection:
            return rows.info(connection, report_id)

    def get(self, report_id: str) -> StoredReport:
        """A report with its sections as they are shown, those taken out left out."""
        with self.database.read() as connection:
            info = rows.info(connection, report_id)
            return StoredReport(
                info, rows.stored(connection, (_sections.report_id == report_id) & (_sections.removed == 0))
            )

    def section(self, section_id: str) -> StoredSection:
        with self.database.read() as connection:
            found = rows.stored(connection, _sections.section_id == section_id)
        if not found:
            raise UnknownSection("This section is no longer in the report.")
        return found[0]

    def update(self, report_id: str, **values: object) -> None:
        """Set columns of a report (``title``, ``guidance``)."""
        with self.database.write() as connection:
            _touch(connection, report_id, **values)

    def set_documents(self, report_id: str, doc_ids: Sequence[str] | None) -> None:
        """What it is filled from; None: all documents."""
        self.update(report_id, doc_ids=None if doc_ids is None else json.dumps(list(doc_ids)))

    def delete(self, report_id: str) -> None:
        """Delete it with everything that was written of it."""
        with self.database.write() as connection:
            connection.execute(sa.delete(db.reports).where(_reports.report_id == report_id))

    def cost(self, report_id: str) -> float | None:
        """US dollars that all versions of all its sections cost; None where a model without a price wrote one."""
        with self.database.read() as connection:
            rows.info(connection, report_id)
            each = connection.execute(
                sa.select(_versions.usd)
                .join(db.report_sections, _sections.section_id == _versions.section_id)
                .where(_sections.report_id == report_id)
            ).scalars()
            found = list(each)
        return None if any(usd is None for usd in found) else sum(usd or 0.0 for usd in found)

    # Sections

    def add_section(self, report_id: str, asked: Json, *, level: int, after: str = "") -> str:
        """A new section after the section ``after`` ("": at the end); its id."""
        with self.database.write() as connection:
            _touch(connection, report_id)
            order = list(
                connection.execute(
                    sa.select(_sections.section_id)
                    .where(_sections.report_id == report_id)
                    .order_by(_sections.position, _sections.section_id)
                ).scalars()
            )
            place = order.index(after) + 1 if after in order else len(order)
            for position, section_id in enumerate(order):
                _set(connection, section_id, position=position + (position >= place))
            return _add(connection, report_id, place, level, asked)

    def arrange(self, report_id: str, order: Sequence[tuple[str, int]]) -> None:
        """Put the sections (id and level) in this order. Those taken out keep their places after the others'."""
        with self.database.write() as connection:
            _touch(connection, report_id)
            for position, (section_id, level) in enumerate(order):
                _set(connection, section_id, position=position, level=level)

    def set_section(self, section_id: str, **values: object) -> None:
        """Set columns of a section: ``asked`` (JSON object), ``accepted``, ``removed``, ``trouble`` (JSON object)."""
        for name in ("asked", "trouble"):
            if values.get(name) is not None:
                values[name] = json.dumps(values[name], ensure_ascii=False)
        with self.database.write() as connection:
            _set(connection, section_id, **values)
            _touch(connection, _report_of(connection, section_id))

    def trouble(self, section_id: str) -> Json | None:
        """The error that the last writing of a section ended in; None where it ended well, or the section is gone."""
        with self.database.read() as connection:
            found = connection.execute(
                sa.select(_sections.trouble).where(_sections.section_id == section_id)
            ).scalar_one_or_none()
        return json.loads(found) if found else None

    def place(self, section_id: str, span: Span, kind: PlaceKind | None) -> None:
        """Pin a place for a section or exclude it from it; None: neither."""
        where = (
            (_places.section_id == section_id)
            & (_places.doc_id == span.doc_id)
            & (_places.start == span.start)
            & (_places.end == span.end)
        )
        with self.database.write() as connection:
            _touch(connection, _report_of(connection, section_id))
            connection.execute(sa.delete(db.report_places).where(where))
            if kind is not None:
                connection.execute(
                    sa.insert(db.report_places).values(
                        section_id=section_id,
                        doc_id=span.doc_id,
                        start=span.start,
                        end=span.end,
                        kind=kind,
                        created=time.time(),
                    )
                )

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
        """Store another version and (``show``) show it, unless the section was accepted meanwhile; its id. ``done``
        takes the section off the queue, and ``trouble`` stands for the error that its writing ended in."""
        packed, version_id = pack(content, FilledSection), uuid.uuid4().hex[:16]
        with self.database.write() as connection:
            row = _row(connection, section_id)
            count = sa.select(sa.func.coalesce(sa.func.max(_versions.number), 0)).where(
                _versions.section_id == section_id
            )
            connection.execute(
                sa.insert(db.report_versions).values(
                    version_id=version_id,
                    section_id=section_id,
                    number=connection.execute(count).scalar_one() + 1,
                    parent=row.shown,
                    author=author,
                    change=change,
                    content=packed,
                    usd=usd,
                    created=time.time(),
                )
            )
            shown = version_id if show and not row.accepted else row.shown
            _set(connection, section_id, shown=shown, trouble=json.dumps(trouble) if trouble else None)
            if done:
                connection.execute(sa.delete(db.report_tasks).where(_tasks.section_id == section_id))
            _touch(connection, row.report_id)
        return version_id

    def versions(self, section_id: str) -> list[Version]:
        """Every version, the newest first."""
        with self.database.read() as connection:
            found = connection.execute(
                sa.select(db.report_versions)
                .where(_versions.section_id == section_id)
                .order_by(_versions.number.desc())
            ).all()
        return [rows.version(row) for row in found]

    def content(self, section_id: str, version_id: str) -> FilledSection:
        """What a version says."""
        with self.database.read() as connection:
            found = connection.execute(
                sa.select(_versions.content).where(
                    (_versions.section_id == section_id) & (_versions.version_id == version_id)
                )
            ).scalar_one_or_none()
            given = given_titles(connection)
        if found is None:
            raise UnknownSection("This version is no longer in the report.")
        return rows.content(found, given)

    def show(self, section_id: str, version_id: str | None) -> None:
        """Show a version of a section; None: none, as before the first."""
        if version_id is not None:
            self.content(section_id, version_id)
        self.set_section(section_id, shown=version_id, trouble=None)

    # What waits to be written

    def queue(self, report_id: str, tasks: Sequence[tuple[str, str]], writer: str, *, visit: bool = False) -> None:
        """Put sections (id and instruction) at the end of the queue, to be written by ``writer``, with what only a
        ``visit`` has or not; one that waits already stays as it is."""
        with self.database.write() as connection:
            _touch(connection, report_id, trouble=None)
            for section_id, instruction in tasks:
                values = {"report_id": report_id, "section_id": section_id, "instruction": instruction}
                connection.execute(
                    insert(db.report_tasks)
                    .values(**values, writer=writer, visit=int(visit), created=time.time())
                    .on_conflict_do_nothing()
                )

    def tasks(self) -> list[Task]:
        """The whole queue."""
        with self.database.read() as connection:
            found = connection.execute(sa.select(db.report_tasks).order_by(_tasks.task_id)).all()
        return [Task(row.report_id, row.section_id, row.instruction, row.writer, bool(row.visit)) for row in found]

    def drop_tasks(self, report_id: str, section_ids: Sequence[str], trouble: Mapping[str, Any]) -> None:
        """Sections of a report wait no more because of ``trouble``, which is told of the whole of it."""
        with self.database.write() as connection:
            connection.execute(sa.delete(db.report_tasks).where(_tasks.section_id.in_(section_ids)))
            connection.execute(
                sa.update(db.reports).where(_reports.report_id == report_id).values(trouble=json.dumps(trouble))
            )

    def drop_task(self, section_id: str, trouble: Mapping[str, Any] | None = None) -> None:
        """A section waits no more: nothing was written of it, because of ``trouble`` or (None) on purpose."""
        with self.database.write() as connection:
            connection.execute(sa.delete(db.report_tasks).where(_tasks.section_id == section_id))
            if trouble:
                _set(connection, section_id, trouble=json.dumps(trouble))


def _add(connection: sa.Connection, report_id: str, position: int, level: int, asked: Json) -> str:
    section_id = uuid.uuid4().hex[:12]
    connection.execute(
        sa.insert(db.report_sections).values(
            section_id=section_id,
            report_id=report_id,
            position=position,
            level=level,
            asked=json.dumps(asked, ensure_ascii=False),
            accepted=0,
            removed=0,
        )
    )
    return section_id


def _row(connection: sa.Connection, section_id: str) -> sa.Row[tuple[object, ...]]:
    row = connection.execute(sa.select(db.report_sections).where(_sections.section_id == section_id)).one_or_none()
    if row is None:
        raise UnknownSection("This section is no longer in the report.")
    return row


def _report_of(connection: sa.Connection, section_id: str) -> str:
    report_id: str = _row(connection, section_id).report_id
    return report_id


def _set(connection: sa.Connection, section_id: str, **values: object) -> None:
    done = connection.execute(sa.update(db.report_sections).where(_sections.section_id == section_id).values(**values))
    if done.rowcount == 0:
        raise UnknownSection("This section is no longer in the report.")


def _touch(connection: sa.Connection, report_id: str, **values: object) -> None:
    done = connection.execute(
        sa.update(db.reports).where(_reports.report_id == report_id).values(updated=time.time(), **values)
    )
    if done.rowcount == 0:
        raise UnknownReport("This report is no longer in the library.")
