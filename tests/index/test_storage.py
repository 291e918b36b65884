"""What a library takes on the disk."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from ragcore.engine import Engine
from ragcore.index.store import ADDING, Store
from tests import pdfs, prepared


def test_every_byte_is_counted_once(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        data = pdfs.one_column()
        doc_id = prepared.read(engine, data, "survey.pdf")
        engine.index()
        picture = tmp_path / "cache" / "pages" / doc_id / "1-640.png"
        picture.parent.mkdir(parents=True)
        picture.write_bytes(b"x" * 1000)
        found = engine.storage()
    assert (found.files, found.pictures) == (len(data), 1000)
    assert found.database > 0
    assert found.total == found.files + found.database + found.pictures


def test_files_of_an_addition_that_broke_off_are_deleted_and_no_others(tmp_path: Path) -> None:
    store = Store(tmp_path)
    doc_id, _ = store.add_file(b"%PDF listed", "listed.pdf")
    assert store.database.column("SELECT key FROM meta") == [], "nothing tells of what is done"
    store.files.put(f"{'1' * 64}.pdf", b"of a library whose database was lost")
    broken = sha256(b"%PDF broken off").hexdigest()
    for digest in (broken, store.sha256(doc_id)):
        store.files.put(f"{digest}.pdf", b"%PDF broken off")
        with store.database.write() as connection:
            connection.insert("meta", {"key": f"{ADDING}{digest}", "value": {"since": time.time()}})
    store.end_additions()
    assert store.files.sizes().keys() == {f"{'1' * 64}.pdf", f"{store.sha256(doc_id)}.pdf"}
    assert store.add_file(b"%PDF broken off", "again.pdf") == (broken[:16], True)
    store.end_additions()
    assert f"{broken}.pdf" in store.files.sizes()


def test_a_file_that_is_added_while_additions_are_ended_is_whole(tmp_path: Path) -> None:
    one, other, going = Store(tmp_path), Store(tmp_path), threading.Event()

    def end() -> None:
        while not going.is_set():
            other.end_additions()

    with ThreadPoolExecutor() as pool:
        ending = pool.submit(end)
        for number in range(10):
            doc_id, new = one.add_file(f"%PDF {number}".encode(), f"{number}.pdf")
            assert new
            assert one.original(doc_id).is_file()
        going.set()
        ending.result()
