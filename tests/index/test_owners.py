"""Conversations and reports are somebody's: nobody else reads or changes them, unless they are shared."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcore.errors import NotYours, StoreError, UnknownConversation, UnknownReport, UnknownSection, UnknownTurn
from ragcore.index.chunks import ChunkStore
from ragcore.index.conversations import Conversations, FeedbackStore, Place
from ragcore.index.database import SCHEMA, Database, SqliteDatabase, open_database
from ragcore.index.reports import Reports
from ragcore.types import EVERYTHING
from ragcore.types.library import Feedback
from ragcore.types.report import Span

GOOD = Feedback(helpful=True)
MARA, JONAS = "1" * 32, "2" * 32


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return open_database(tmp_path)


def asked(database: Database, owner: str | None) -> tuple[str, str]:
    own = Conversations(database, owner)
    conversation_id = own.new()
    turn_id = own.add_turn(conversation_id, "What are the terms of the facility?")
    FeedbackStore(database, owner).put(turn_id, GOOD)
    FeedbackStore(database, owner).keep_suggestions(turn_id, ["And when does it end?"])
    return conversation_id, turn_id


READS: list[Callable[[Conversations, str, str], object]] = [
    lambda store, one, turn: store.get(one),
    lambda store, one, turn: store.shown_turn(one, turn),
    lambda store, one, turn: store.scope(one),
]
CHANGES: list[Callable[[Conversations, str, str], object]] = [
    lambda store, one, turn: store.place(one),
    lambda store, one, turn: store.require(one),
    lambda store, one, turn: store.set_scope(one, EVERYTHING),
    lambda store, one, turn: store.rename(one, "Mine"),
    lambda store, one, turn: store.share(one, True),
    lambda store, one, turn: store.add_turn(one, "What else is in it?"),
    lambda store, one, turn: store.show_turn(one, turn),
    lambda store, one, turn: store.cost(one),
]


def said(act: Callable[[Conversations, str, str], object], store: Conversations, one: str, turn: str) -> str:
    with pytest.raises(UnknownConversation) as caught:
        act(store, one, turn)
    return str(caught.value.as_dict())


def test_what_is_somebody_elses_is_as_if_it_were_not_there(database: Database) -> None:
    one, turn = asked(database, MARA)
    before = list(map(tuple, database.rows("SELECT * FROM conversations")))
    theirs, feedback = Conversations(database, JONAS), FeedbackStore(database, JONAS)
    for act in (*READS, *CHANGES):
        assert said(act, theirs, one, turn) == said(act, theirs, "0" * 12, "0" * 16)
    theirs.delete(one)
    feedback.pass_over(turn)
    assert theirs.all() == theirs.all("facility") == []
    with pytest.raises(UnknownTurn):
        theirs.turn(turn)
    for write in (lambda: feedback.put(turn, None), lambda: feedback.keep_suggestions(turn, [])):
        with pytest.raises(UnknownTurn):
            write()
    assert (feedback.of([turn]), feedback.all(), feedback.candidates(9)) == ({}, [], [])
    assert feedback.suggestions(turn) is None
    assert list(map(tuple, database.rows("SELECT * FROM conversations"))) == before
    own = FeedbackStore(database, MARA)
    assert (own.of([turn]), own.suggestions(turn)) == ({turn: GOOD}, ("And when does it end?",))


def test_a_shared_conversation_is_read_by_others_and_changed_by_nobody_else(database: Database) -> None:
    one, turn = asked(database, MARA)
    Conversations(database, MARA).share(one, True)
    theirs, feedback = Conversations(database, JONAS), FeedbackStore(database, JONAS)
    for act in READS:
        act(theirs, one, turn)
    for act in CHANGES:
        said(act, theirs, one, turn)
    assert [(info.own, info.shared, info.conversation_id) for info in theirs.all()] == [(False, True, one)]
    assert [info.conversation_id for info in theirs.all("facility")] == [one]
    hidden = Conversations(database, MARA).add_turn(one, "Is Zebulon dismissed?", Place(None, ()))
    Conversations(database, MARA).show_turn(one, turn)
    assert [info.conversation_id for info in Conversations(database, MARA).all("zebulon")] == [one], hidden
    assert theirs.all("zebulon") == [], "a branch that isn't shown"
    assert (feedback.of([turn]), feedback.suggestions(turn)) == ({}, None)
    assert not theirs.get(one).info.own
    assert Conversations(database, MARA).get(one).info.own
    Conversations(database, MARA).share(one, False)
    assert theirs.all() == []


def test_who_signs_in_nowhere_has_all_and_what_is_nobodys_can_be_adopted(database: Database) -> None:
    first, second = asked(database, ""), asked(database, MARA)
    everything = Conversations(database, None)
    assert {info.conversation_id for info in everything.all()} == {first[0], second[0]}
    assert all(info.own for info in everything.all())
    assert len(FeedbackStore(database, None).all()) == 2
    assert [info.conversation_id for info in Conversations(database, "").all()] == [first[0]]
    Conversations(database, None).adopt(JONAS)
    assert [info.conversation_id for info in Conversations(database, JONAS).all()] == [first[0]]
    assert Conversations(database, "").all() == []


def tables(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Columns of each table, in whatever order they were made."""
    with sqlite3.connect(path) as raw:
        names = [name for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: sorted(row[1:] for row in raw.execute(f"PRAGMA table_info({name})")) for name in names}


def others(path: Path) -> dict[str, str]:
    """Indexes, views and triggers."""
    with sqlite3.connect(path) as raw:
        query = "SELECT name, sql FROM sqlite_schema WHERE type != 'table' AND sql IS NOT NULL"
        return dict(raw.execute(query))


# What schema 119 replaced.
BEFORE_119 = """
    DROP TRIGGER document_changed;
    CREATE TRIGGER document_changed AFTER UPDATE ON documents BEGIN SELECT 1; END;
    DROP TABLE counters;
    DROP TABLE turn_lexemes;
    DROP TRIGGER document_embedded;
    DROP TRIGGER document_embedded_again;
    ALTER TABLE report_sections DROP COLUMN guided;
    ALTER TABLE eval_verdicts DROP COLUMN asked;
    INSERT INTO meta VALUES ('revision', '7');
    CREATE VIRTUAL TABLE turn_search USING fts5 (text, content='turn_words', content_rowid='id');
    CREATE TRIGGER turn_words_added AFTER INSERT ON turn_words BEGIN SELECT 1; END;
    CREATE TRIGGER turn_words_removed AFTER DELETE ON turn_words BEGIN SELECT 1; END;
    CREATE TRIGGER turn_words_changed AFTER UPDATE ON turn_words BEGIN SELECT 1; END;
"""


@pytest.mark.sqlite
def test_a_home_of_the_schema_before_opens_with_its_conversations(tmp_path: Path) -> None:
    old, new = tmp_path / "old.sqlite", tmp_path / "new.sqlite"
    asked(SqliteDatabase(new), "")
    asked(SqliteDatabase(old), "")
    with sqlite3.connect(old) as raw:
        raw.executescript(BEFORE_119)
        for table in ("conversations", "reports"):
            for column in ("owner", "shared"):
                raw.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for one in ("TRIGGER version_removed", "TRIGGER document_changed", "INDEX documents_by_successor"):
            raw.execute(f"DROP {one}")
        for view in ("built", "coming", "earlier"):
            raw.execute(f"DROP VIEW {view}")
        for table in ("watched_files", "watched_folders"):
            raw.execute(f"DROP TABLE {table}")
        raw.execute("ALTER TABLE documents DROP COLUMN successor")
        raw.execute("CREATE VIEW built AS SELECT 1")
        raw.execute("CREATE TRIGGER document_changed AFTER UPDATE ON documents BEGIN SELECT 1; END")
        raw.execute("PRAGMA user_version = 116")
    raw.close()
    found = Conversations(SqliteDatabase(old), "").all("facilities")
    assert ChunkStore(SqliteDatabase(old)).revision() == 7
    assert [info.title for info in found] == [info.title for info in Conversations(SqliteDatabase(new), "").all()]
    assert tables(old) == tables(new)
    assert others(old) == others(new)
    with sqlite3.connect(old) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
        raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(StoreError, match="schema 99"):
        SqliteDatabase(old)


Act = Callable[[Reports, str, str], object]
SPAN = Span("0" * 64, 0, 4)
OF_REPORTS: list[Act] = [
    lambda store, one, section: store.info(one),
    lambda store, one, section: store.get(one),
    lambda store, one, section: store.cost(one),
    lambda store, one, section: store.update(one, title="Mine"),
    lambda store, one, section: store.add_section(one, {}, level=1),
    lambda store, one, section: store.arrange(one, [(section, 1)]),
    lambda store, one, section: store.queue(one, [(section, "")], "offline"),
    lambda store, one, section: store.section(section),
    lambda store, one, section: store.set_section(section, accepted=True),
    lambda store, one, section: store.place(section, SPAN, "pinned"),
    lambda store, one, section: store.versions(section),
    lambda store, one, section: store.show(section, None),
]
OF_THEIR_OWNER: list[Act] = [
    lambda store, one, section: store.share(one, True),
    lambda store, one, section: store.delete(one),
]


def report(database: Database, owner: str | None) -> tuple[str, str]:
    own = Reports(database, owner)
    report_id = own.new("Terms", "", "", [(1, {"heading": "Fees", "guidance": "Name them."})], None)
    return report_id, own.get(report_id)[1][0].section_id


def stored(database: Database) -> list[list[tuple[object, ...]]]:
    return [list(map(tuple, database.rows(f"SELECT * FROM {name}"))) for name in ("reports", "report_sections")]


def refused(act: Act, store: Reports, one: str, section: str) -> str:
    with pytest.raises((UnknownReport, UnknownSection)) as caught:
        act(store, one, section)
    return str(caught.value.as_dict())


def test_somebody_elses_report_is_as_if_it_were_not_there(database: Database) -> None:
    one, section = report(database, MARA)
    kept = stored(database)
    theirs = Reports(database, JONAS)
    for act in (*OF_REPORTS, *OF_THEIR_OWNER):
        assert refused(act, theirs, one, section) == refused(act, theirs, "0" * 12, "0" * 12)
    assert theirs.all() == []
    assert stored(database) == kept
    assert [info.report_id for info in Reports(database, MARA).all()] == [one]


def test_a_shared_report_is_changed_by_all_and_deleted_by_its_owner_alone(database: Database) -> None:
    one, section = report(database, MARA)
    Reports(database, MARA).share(one, True)
    theirs = Reports(database, JONAS)
    for act in OF_REPORTS:
        act(theirs, one, section)
    for act in OF_THEIR_OWNER:
        with pytest.raises(NotYours):
            act(theirs, one, section)
    assert [(info.own, info.shared) for info in theirs.all()] == [(False, True)]
    Reports(database, MARA).share(one, False)
    assert theirs.all() == []
    refused(OF_REPORTS[0], theirs, one, section)
    Reports(database, MARA).delete(one)
    assert Reports(database, MARA).all() == []


def test_a_report_of_nobody_is_everybodys_until_it_is_adopted(database: Database) -> None:
    one, section = report(database, None)
    other, _ = report(database, MARA)
    assert {info.report_id for info in Reports(database).all()} == {one, other}
    for act in OF_REPORTS:
        act(Reports(database, JONAS), one, section)
    assert [info.own for info in Reports(database, JONAS).all()] == [True]
    Reports(database).adopt(MARA)
    assert {info.report_id for info in Reports(database, MARA).all()} == {one, other}
    assert Reports(database, JONAS).all() == []
