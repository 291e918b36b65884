"""Chroma between processes: real ones, writing and querying one folder at once."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from ragcore.errors import StoreBusy, VectorStoreError
from ragcore.providers.chroma import ChromaStore
from tests.providers.models import unit_vectors

WORKER = """
import sys
from pathlib import Path
from ragcore.providers.chroma import ChromaStore
from tests.providers.models import unit_vectors

folder, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = ChromaStore(folder)
vectors = unit_vectors(rounds * 5, 16, seed=ord(name))
for turn in range(rounds):
    part = slice(turn * 5, turn * 5 + 5)
    ids = [f"{name}:{row}" for row in range(part.start, part.stop)]
    store.upsert(ids, [f"{name}{turn}"] * 5, vectors[part])
    nearest, similarity = store.query(vectors[part.start], 1)[0]
    assert nearest == ids[0] and similarity > 0.999, (nearest, similarity)
    if turn % 4 == 3:
        store.delete_document(f"{name}{turn}")
        assert not set(ids) & store.ids()
"""


ROOT = Path(__file__).resolve().parents[2]


def spawn(folder: Path, name: str, rounds: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WORKER, str(folder), name, str(rounds)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, cwd=ROOT)


def test_two_processes_write_and_query_one_folder(tmp_path: Path) -> None:
    folder, rounds = tmp_path / "chroma", 20
    here = ChromaStore(folder)
    here.upsert(["here"], ["here"], unit_vectors(1, 16, seed=1))
    workers = [spawn(folder, name, rounds) for name in "ab"]
    seen = 0
    while any(worker.poll() is None for worker in workers):
        count = len(here.ids())
        assert here.query(unit_vectors(1, 16, seed=1)[0], 1)[0][0] == "here"
        seen = max(seen, count)
        time.sleep(0.02)
    for worker in workers:
        assert worker.wait() == 0, worker.communicate()[1].decode()
    kept = [turn for turn in range(rounds) if turn % 4 != 3]
    expected = {f"{name}:{turn * 5 + row}" for name in "ab" for turn in kept for row in range(5)} | {"here"}
    assert here.ids() == ChromaStore(folder).ids() == expected
    assert seen > 1
    for name in "ab":
        vectors = unit_vectors(rounds * 5, 16, seed=ord(name))
        for row in (0, 37, 99):
            hit = here.query(vectors[row], 1)[0]
            assert (hit[0] == f"{name}:{row}") == (row // 5 % 4 != 3)


def test_a_process_killed_while_it_writes_does_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    here = ChromaStore(folder)
    here.upsert(["here"], ["here"], unit_vectors(1, 16, seed=1))
    worker = spawn(folder, "c", 100_000)
    while len(here.ids()) < 20:
        assert worker.poll() is None, worker.communicate()[1].decode()
        time.sleep(0.01)
    worker.kill()
    worker.wait()
    assert "here" in here.ids()
    here.upsert(["after"], ["after"], unit_vectors(1, 16, seed=2))
    assert here.query(unit_vectors(1, 16, seed=2)[0], 1)[0][0] == "after"
    assert ChromaStore(folder).ids() == here.ids()


def test_a_folder_held_by_another_is_busy_after_a_while(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    store = ChromaStore(folder, lock_seconds=0.1)
    store.upsert(["a"], ["d"], unit_vectors(1, 16))
    with FileLock(folder.with_suffix(".lock")), pytest.raises(StoreBusy) as caught:
        store.ids()
    assert caught.value.retryable
    assert store.ids() == {"a"}


def test_a_damaged_folder_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"not a database, " * 400)
    store = ChromaStore(folder)
    with pytest.raises(VectorStoreError) as caught:
        store.ids()
    assert "--rebuild" in caught.value.hint
    store.reset()
    store.upsert(["a"], ["d"], unit_vectors(1, 16))
    assert store.ids() == {"a"}


def test_vectors_of_another_length_are_refused(tmp_path: Path) -> None:
    store = ChromaStore(tmp_path / "chroma")
    store.upsert(["a"], ["d"], unit_vectors(1, 16))
    with pytest.raises(VectorStoreError):
        store.upsert(["b"], ["d"], unit_vectors(1, 8))
    with pytest.raises(VectorStoreError):
        store.query(unit_vectors(1, 8)[0], 1)
    assert store.ids() == {"a"}


def test_many_vectors_go_in_in_parts(tmp_path: Path) -> None:
    store = ChromaStore(tmp_path / "chroma")
    ids = [f"d:{row}" for row in range(2500)]
    store.upsert(ids, ["d"] * 2500, unit_vectors(2500, 8))
    assert store.ids() == set(ids)


def test_importing_the_registry_loads_no_chroma() -> None:
    code = "import sys, ragcore.providers; sys.exit(bool({'chromadb', 'onnxruntime', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
