"""Which conversations hold the words of a search, and where: the table ``turn_words``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.index import database as db
from ragcore.index.turn_words import AROUND, Wanted, searchable, snippet, turn_text, wanted

BATCH = 200  # turns whose texts are read at once


def remember(connection: sa.Connection, conversation_id: str, turn_id: str, question: str, answer: str) -> None:
    """Keep what a turn is found by, in place of what was kept of it before."""
    text = turn_text(question, answer)
    row = insert(db.turn_words).values(
        turn_id=turn_id, conversation_id=conversation_id, words=searchable(text), text=text
    )
    # Not OR REPLACE, which would move the row to the end: rows stand in order of creation.
    kept = row.on_conflict_do_update(
        index_elements=[db.turn_words.c.turn_id], set_={"words": row.excluded.words, "text": row.excluded.text}
    )
    connection.execute(kept)


def find(database: db.Database, search: str, titles: Mapping[str, str]) -> dict[str, str]:
    """Of the conversations in ``titles`` those that have every word of ``search`` in their title and their turns
    together, with a snippet of the turn that has most of them (the earliest of several; "" where only the title has
    any). A search without a letter or digit finds nothing."""
    asked = wanted(search)
    if not asked:
        return {}
    every = (1 << len(asked)) - 1
    with database.read() as connection:
        turns = _turns(connection, asked)
        best: dict[str, str] = {}
        for conversation_id, title in titles.items():
            words = _title_words(title)
            in_title = sum(1 << bit for bit, want in enumerate(asked) if want.among(words))
            found = turns.get(conversation_id, {})
            together = in_title
            for flags in found.values():
                together |= flags
            if together == every:
                best[conversation_id] = max(found, key=lambda turn_id: found[turn_id].bit_count(), default="")
        texts = _texts(connection, [turn_id for turn_id in best.values() if turn_id])
    return {
        conversation_id: (snippet(texts[turn_id], asked) or " ".join(texts[turn_id][:AROUND].split()))
        if turn_id
        else ""
        for conversation_id, turn_id in best.items()
    }


@lru_cache(maxsize=8192)
def _title_words(title: str) -> str:
    return searchable(title)


def _turns(connection: sa.Connection, asked: tuple[Wanted, ...]) -> dict[str, dict[str, int]]:
    """By conversation, its turns that have any of the words, in order of creation, with a bit for each word."""
    needles = [(1 << bit, want.needles) for bit, want in enumerate(asked)]
    found: dict[str, dict[str, int]] = defaultdict(dict)
    # Looked through here: SQLite's own instr takes several times as long.
    for conversation_id, turn_id, words in connection.exec_driver_sql(
        "SELECT conversation_id, turn_id, words FROM turn_words ORDER BY rowid"
    ):
        flags = 0
        for bit, own in needles:
            if any(needle in words for needle in own):
                flags |= bit
        if flags:
            found[conversation_id][turn_id] = flags
    return found


def _texts(connection: sa.Connection, turn_ids: list[str]) -> dict[str, str]:
    table = db.turn_words
    return {
        row.turn_id: row.text
        for first in range(0, len(turn_ids), BATCH)
        for row in connection.execute(
            sa.select(table.c.turn_id, table.c.text).where(table.c.turn_id.in_(turn_ids[first : first + BATCH]))
        )
    }
