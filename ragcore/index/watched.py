"""Watched folders as stored: each folder, and what each of its files was when it was last looked at.

What is found out about a file is one transaction: which document it is now, and that this is the next version of the
one before. A process killed in between has not looked at the file yet.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ragcore.index.database import IN, Database, Row, made
from ragcore.index.versions import supersede
from ragcore.types.watch import FileState, Stamp, WatchedFile, WatchedFolder


class WatchStore:
    """Tables ``watched_folders`` and ``watched_files``."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, folder: WatchedFolder) -> None:
        """List a folder, or change how it is watched."""
        row = {"path": str(folder.path), "recursive": folder.recursive, "patterns": list(folder.patterns)}
        row |= {"every": folder.every, "created": time.time()}
        with self.database.write() as connection:
            if not connection.insert("watched_folders", row, clash="NOTHING"):
                del row["created"]
                connection.update("watched_folders", "path = ?", row.pop("path"), **row)

    def remove(self, path: Path) -> bool:
        """Forget a folder; its documents stay. Returns whether it was listed."""
        with self.database.write() as connection:
            return connection.execute("DELETE FROM watched_folders WHERE path = ?", (str(path),)).rowcount > 0

    def folders(self) -> list[WatchedFolder]:
        """Folders in the order they were added, with their files counted."""
        rows = self.database.rows(
            """
            SELECT f.*, coalesce(files, 0) AS files, coalesce(missing, 0) AS missing, coalesce(failed, 0) AS failed
            FROM watched_folders f LEFT JOIN (
                SELECT folder, count(*) FILTER (WHERE gone IS NULL) AS files, count(gone) AS missing,
                    count(error) FILTER (WHERE gone IS NULL) AS failed
                FROM watched_files GROUP BY folder
            ) w ON w.folder = f.path
            ORDER BY f.created, f.path
            """
        )
        return [made(WatchedFolder, row, path=Path(row["path"])) for row in rows]

    def files(self, folder: Path) -> dict[str, WatchedFile]:
        """Files of a folder by their path below it, with those that are gone."""
        rows = self.database.rows("SELECT * FROM watched_files WHERE folder = ? ORDER BY path", str(folder))
        return {row["path"]: _file(row) for row in rows}

    def scanned(self, folder: Path, seconds: float, error: Mapping[str, Any] | None) -> None:
        """Record that a folder was looked through, or the ``error`` for which it could not be."""
        with self.database.write() as connection:
            connection.update(
                "watched_folders", "path = ?", str(folder), scanned=time.time(), seconds=seconds, error=error
            )

    def put(self, folder: Path, file: WatchedFile, before: WatchedFile | None) -> None:
        """Store what a file is now, in place of what it was ``before``. Another document than then is the next version
        of that, unless the folders still have the earlier one elsewhere. Of a folder that was forgotten meanwhile
        nothing is stored."""
        row: dict[str, object] = {
            "folder": str(folder),
            "path": file.path,
            "doc_id": file.doc_id or None,
            "error": file.error,
        }
        row |= asdict(file.stamp) | {"gone": None}
        with self.database.write() as connection:
            if not connection.value("SELECT count(*) FROM watched_folders WHERE path = ?", str(folder)):
                return
            connection.insert("watched_files", row, key="folder, path")
            old = before.doc_id if before is not None else ""
            if not file.doc_id or file.error is not None:
                return
            # What a file has now is nobody's earlier version.
            connection.update("documents", "doc_id = ? AND successor IS NOT NULL", file.doc_id, successor=None)
            elsewhere = "SELECT count(*) FROM watched_files WHERE doc_id = ? AND gone IS NULL"
            if old not in ("", file.doc_id) and not connection.value(elsewhere, old):
                supersede(connection, old, file.doc_id)

    def move(self, folder: Path, path: str, gone: Iterable[str]) -> None:
        """Forget the paths ``gone``, from which the file at ``path`` was moved."""
        with self.database.write() as connection:
            query = f"DELETE FROM watched_files WHERE folder = ? AND path {IN} AND path != ?"
            connection.execute(query, (str(folder), list(gone), path))

    def set_gone(self, folder: Path, paths: Iterable[str]) -> None:
        """Record that files are no longer there."""
        with self.database.write() as connection:
            where = f"folder = ? AND path {IN} AND gone IS NULL"
            connection.update("watched_files", where, str(folder), list(paths), gone=time.time())

    def states(self, folder: Path | None = None) -> dict[str, FileState]:
        """State of the documents that the files of a folder (None: of all) now are, by id; none of a removed one."""
        rows = self.database.rows(
            "SELECT DISTINCT doc_id, status, held, created FROM watched_files w JOIN documents USING (doc_id)"
            " WHERE gone IS NULL AND removed IS NULL AND ?1 IN ('', w.folder) ORDER BY created, doc_id",
            "" if folder is None else str(folder),
        )
        return {row["doc_id"]: FileState(row["status"], row["held"]) for row in rows}


def _file(row: Row) -> WatchedFile:
    stamp = Stamp(row["bytes"], row["modified"], row["changed"])
    return WatchedFile(row["path"], stamp, row["doc_id"] or "", row["error"], row["gone"] is not None)
