"""Stored answers under the titles that their documents were given since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import sqlalchemy as sa

from ragcore.index import database as db
from ragcore.types import Answer


def given_titles(connection: sa.Connection) -> dict[str, str]:
    """What a person called documents, by id."""
    table = db.documents.c
    rows = connection.execute(sa.select(table.doc_id, table.given).where(table.given.is_not(None)))
    return {row.doc_id: row.given for row in rows}


def renamed(answer: Answer, given: Mapping[str, str]) -> Answer:
    """``answer`` with the ``given`` titles in place of those that it was stored with; its text stays."""
    used = {item.doc_id for item in answer.citations} | {item.doc_id for item in answer.sources}
    if not used & given.keys():
        return answer
    trace = answer.trace
    return replace(
        answer,
        citations=tuple(replace(item, title=given.get(item.doc_id, item.title)) for item in answer.citations),
        sources=tuple(replace(item, title=given.get(item.doc_id, item.title)) for item in answer.sources),
        trace=trace and replace(trace, titles={key: given.get(key, title) for key, title in trace.titles.items()}),
    )
