"""Versions of documents: what a file in a watched folder was before it changed, and what it is now.

A changed file is another document; the one before names it as its ``successor`` and is an earlier version from the
moment that the new one is read. Earlier versions stay for what cites them. They are not searched, and a scope that has
one means the newest of its line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragcore.index.database import IN, Connection
from ragcore.types import Scope

# The documents ``{ids}`` and all that became them.
_LINE = """
    WITH RECURSIVE line (doc_id) AS (
        SELECT doc_id FROM documents WHERE doc_id {ids}
        UNION SELECT d.doc_id FROM documents d JOIN line ON d.successor = line.doc_id
    ) SELECT doc_id FROM line
"""


def newest_versions(connection: Connection) -> dict[str, str]:
    """Newest version of each earlier one."""
    following = dict(map(tuple, connection.rows("SELECT doc_id, successor FROM earlier")))

    def last(doc_id: str) -> str:
        while doc_id in following:
            doc_id = following[doc_id]
        return doc_id

    return {doc_id: last(doc_id) for doc_id in following}


def line(connection: Connection, doc_ids: Sequence[str]) -> list[str]:
    """Documents with all their earlier versions."""
    return connection.column(_LINE.format(ids=IN), list(doc_ids))


def followed(scope: Scope, newest: Mapping[str, str]) -> Scope:
    """``scope`` with the ``newest`` version of each document."""
    if not newest:
        return scope

    def now(doc_ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(newest.get(doc_id, doc_id) for doc_id in doc_ids))

    return replace(
        scope,
        doc_ids=None if scope.doc_ids is None else now(scope.doc_ids),
        without=now(scope.without),
        sections=tuple(replace(one, doc_id=newest.get(one.doc_id, one.doc_id)) for one in scope.sections),
    )


def supersede(connection: Connection, old: str, new: str) -> None:
    """Make ``new`` the next version of ``old``, with its folder, tags and given title. An ``old`` one that never was
    read is left out of the line."""
    connection.update("documents", "doc_id = ?", new, successor=None)
    connection.execute(
        "UPDATE documents SET successor = ?1 WHERE doc_id = ?2 OR (successor = ?2 AND doc_id != ?1 AND"
        " (SELECT status FROM documents WHERE doc_id = ?2) != 'ready')",
        (new, old),
    )
    connection.execute(
        "UPDATE documents SET (folder, given) = (SELECT folder, given FROM documents WHERE doc_id = ?2)"
        " WHERE doc_id = ?1 AND EXISTS (SELECT 1 FROM documents WHERE doc_id = ?2)",
        (new, old),
    )
    both = "INSERT INTO tags (doc_id, tag) SELECT CAST(?1 AS TEXT), tag FROM tags WHERE doc_id = ?2"
    connection.execute(f"{both} ON CONFLICT DO NOTHING", (new, old))
