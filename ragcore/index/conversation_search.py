"""Conversations by the words of their titles, questions and answers: SQLite's FTS5 over the table ``turn_words``.

A word is found where one of the text begins with it, accents and case aside, or has its Porter stem: ``expense`` finds
``expenses``, ``2018`` finds ``2018Q4``. Scripts that put no blanks between words are searched character by character.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.index import database as db
from ragcore.text.markdown import plain
from ragcore.text.words import stem

SNIPPET = 24  # words around what was found
_BREAK = "\u200b"  # a blank of no width: FTS5 ends a word there
# Chinese, Japanese and Thai characters stand for themselves; a number keeps its separators.
_SINGLE = re.compile(r"(?=[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_MARK = re.compile(r" ?\[\d{1,3}\]")


def remember(connection: sa.Connection, conversation_id: str, turn_id: str, question: str, answer: str = "") -> None:
    """Keep what a turn is found by, in place of what was kept of it before; under the conversation's own id its
    title."""
    text = _SINGLE.sub(_BREAK, f"{question}\n{plain(_MARK.sub('', answer))}".strip())
    row = insert(db.turn_words).values(
        turn_id=turn_id, conversation_id=conversation_id, text=text, forms=" ".join(sorted(_forms(text)))
    )
    kept = {"text": row.excluded.text, "forms": row.excluded.forms}
    connection.execute(row.on_conflict_do_update(index_elements=[db.turn_words.c.turn_id], set_=kept))


def find(database: db.Database, search: str) -> dict[str, str]:
    """The conversations that have every word of ``search`` in their title and their turns together, with a snippet of
    the turn that has most of them ("" where only the title has any). A search without a letter or digit finds
    nothing."""
    asked = list(dict.fromkeys(_query(word) for word in search.split() if any(map(str.isalnum, word))))
    if not asked:
        return {}
    held: dict[str, set[str]] = defaultdict(set)
    turns: dict[str, Counter[int]] = defaultdict(Counter)
    with database.read() as connection:
        for query in asked:
            for row in connection.execute(_HITS, {"query": query}):
                held[row.conversation_id].add(query)
                turns[row.conversation_id][row.id] += row.turn_id != row.conversation_id
        best = {one: turns[one].most_common(1)[0] for one, words in held.items() if len(words) == len(asked)}
        shown = {"query": " OR ".join(asked), "ids": json.dumps([turn for turn, words in best.values() if words])}
        texts = {row.id: " ".join(row.text.replace(_BREAK, "").split()) for row in connection.execute(_SNIPPETS, shown)}
    return {one: texts.get(turn, "") for one, (turn, _) in best.items()}


_HITS = sa.text(
    "SELECT id, turn_id, conversation_id FROM turn_search JOIN turn_words ON id = turn_search.rowid "
    "WHERE turn_search MATCH :query ORDER BY id"
)
# The plus has SQLite go through what matches once, not once for each id.
_SNIPPETS = sa.text(
    f"SELECT rowid AS id, snippet(turn_search, 0, '', '', ' … ', {SNIPPET}) AS text FROM turn_search "
    "WHERE turn_search MATCH :query AND +rowid IN (SELECT value FROM json_each(:ids))"
)


def _query(word: str) -> str:
    """What FTS5 is asked for a word: its beginning in the text, or its one form."""
    quoted = _SINGLE.sub(_BREAK, word).replace("\0", "").replace('"', '""')
    forms = _forms(word) if len(_WORD.findall(word)) == 1 else ()
    return " OR ".join([f'text : "{quoted}" *', *(f'forms : "{form}"' for form in forms)])


def _forms(text: str) -> set[str]:
    """The stem of each word without case and accents, and each number without separators of thousands."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    words = _WORD.findall("".join(char for char in folded if not unicodedata.combining(char)))
    return {
        stem(word) if len(word) > 2 and word.isascii() and word.isalpha() else word.replace(",", "") for word in words
    }
