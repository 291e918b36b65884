"""Turns that a process of the time before branches adds to a library that has them: an update leaves such a process
running, and it knows neither ``parent`` and ``depth`` nor ``shown``. Each such turn goes after the one before it, which
is how that process read them.

They are told from versions of a first question, which have no parent either, by what only this time writes with every
question: what it is found by.
"""

from __future__ import annotations

import sqlalchemy as sa

_STRAYS = """
    SELECT turns.turn_id, turns.conversation_id FROM turns
    LEFT JOIN turn_words ON turn_words.turn_id = turns.turn_id
    WHERE turns.parent IS NULL AND turn_words.turn_id IS NULL
    AND EXISTS (
        SELECT 1 FROM turns AS earlier
        WHERE earlier.conversation_id = turns.conversation_id AND earlier.position < turns.position
    )
    AND (:only IS NULL OR turns.conversation_id = :only)
    ORDER BY turns.conversation_id, turns.position
"""
_UNSHOWN = """
    SELECT conversation_id FROM conversations
    WHERE shown IS NULL AND (:only IS NULL OR conversation_id = :only)
    AND EXISTS (SELECT 1 FROM turns WHERE turns.conversation_id = conversations.conversation_id)
"""
_PUT_AFTER = """
    UPDATE turns SET parent = earlier.turn_id, depth = earlier.depth + 1
    FROM (
        SELECT before.turn_id, before.depth FROM turns AS stray JOIN turns AS before
        ON before.conversation_id = stray.conversation_id AND before.position < stray.position
        WHERE stray.turn_id = :stray ORDER BY before.position DESC LIMIT 1
    ) AS earlier
    WHERE turns.turn_id = :stray
"""
_NEWEST = "SELECT turn_id FROM turns WHERE conversation_id = :one ORDER BY position DESC LIMIT 1"
_SHOW = "UPDATE conversations SET shown = :last WHERE conversation_id = :one"


def any_stray(connection: sa.Connection, conversation_id: str | None = None) -> bool:
    """Whether there is anything for `mend` to do, in one conversation or (None) in all."""
    strays, unshown = _found(connection, conversation_id)
    return bool(strays or unshown)


def mend(connection: sa.Connection, conversation_id: str | None = None) -> None:
    """Give every such turn of one conversation or (None) of all its place, and show the newest of each conversation."""
    strays, unshown = _found(connection, conversation_id)
    for stray in strays:
        connection.execute(sa.text(_PUT_AFTER), {"stray": stray})
    for one in sorted({*strays.values(), *unshown}):
        last = connection.execute(sa.text(_NEWEST), {"one": one}).scalar_one()
        # A newer turn that is no stray was shown when it was asked.
        if last in strays or one in unshown:
            connection.execute(sa.text(_SHOW), {"last": last, "one": one})


def _found(connection: sa.Connection, conversation_id: str | None) -> tuple[dict[str, str], set[str]]:
    """The conversations of strays by turn, in order of position, and conversations that show none of their turns."""
    only = {"only": conversation_id}
    strays = {row.turn_id: row.conversation_id for row in connection.execute(sa.text(_STRAYS), only)}
    return strays, set(connection.execute(sa.text(_UNSHOWN), only).scalars())
