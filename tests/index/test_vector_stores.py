"""Vector stores between processes: real ones, writing and querying one folder at once."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from ragcore.errors import StoreBusy, StoreError, VectorStoreError
from ragcore.index.chroma import ChromaStore
from ragcore.index.vectors import FlatStore, vector_store
from ragcore.protocols import VectorStore
from ragcore.types import Entry
from tests.providers.models import unit_vectors

WORKER = """
import sys
from pathlib import Path
from ragcore.index.vectors import vector_store
from ragcore.types import Entry
from tests.providers.models import unit_vectors

folder, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = vector_store(folder.name, folder)
vectors = unit_vectors(rounds * 5, 16, seed=ord(name))
for turn in range(rounds):
    part = slice(turn * 5, turn * 5 + 5)
    ids = [f"{name}:{row}" for row in range(part.start, part.stop)]
    store.upsert([Entry(chunk_id, f"{name}{turn}") for chunk_id in ids], vectors[part])
    nearest, similarity = store.query(vectors[part.start], 1)[0]
    assert nearest == ids[0] and similarity > 0.999, (nearest, similarity)
    if turn % 4 == 3:
        store.delete_documents([f"{name}{turn}"])
        assert not set(ids) & store.ids()
"""


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["chroma", "flat"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where a store of the kind by which the folder is called is to be."""
    return tmp_path / str(request.param)


def opened(folder: Path) -> VectorStore:
    return vector_store(folder.name, folder)


def spawn(folder: Path, name: str, rounds: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WORKER, str(folder), name, str(rounds)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, cwd=ROOT)


def test_two_processes_write_and_query_one_folder(folder: Path) -> None:
    rounds = 20
    here = opened(folder)
    here.upsert([Entry("here", "here")], unit_vectors(1, 16, seed=1))
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
    assert here.ids() == opened(folder).ids() == expected
    assert seen > 1
    for name in "ab":
        vectors = unit_vectors(rounds * 5, 16, seed=ord(name))
        for row in (0, 37, 99):
            hit = here.query(vectors[row], 1)[0]
            assert (hit[0] == f"{name}:{row}") == (row // 5 % 4 != 3)


def test_a_process_killed_while_it_writes_does_no_harm(folder: Path) -> None:
    here = opened(folder)
    here.upsert([Entry("here", "here")], unit_vectors(1, 16, seed=1))
    worker = spawn(folder, "c", 100_000)
    while len(here.ids()) < 20:
        assert worker.poll() is None, worker.communicate()[1].decode()
        time.sleep(0.01)
    worker.kill()
    worker.wait()
    assert "here" in here.ids()
    here.upsert([Entry("after", "after")], unit_vectors(1, 16, seed=2))
    assert here.query(unit_vectors(1, 16, seed=2)[0], 1)[0][0] == "after"
    assert opened(folder).ids() == here.ids()


def test_a_folder_held_by_another_is_busy_after_a_while(folder: Path) -> None:
    store = (ChromaStore if folder.name == "chroma" else FlatStore)(folder, lock_seconds=0.1)
    store.upsert([Entry("a", "d")], unit_vectors(1, 16))
    with FileLock(folder.with_suffix(".lock")), pytest.raises(StoreBusy) as caught:
        store.upsert([Entry("b", "d")], unit_vectors(1, 16))
    assert caught.value.retryable
    assert store.ids() == {"a"}


def test_a_damaged_chroma_folder_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"not a database, " * 400)
    check_damaged(ChromaStore(folder))


@pytest.mark.parametrize("cut", ["manifest.json", "*.vectors"])
@pytest.mark.parametrize("left", [0, 20, 0.5, None])
def test_a_damaged_flat_folder_is_an_error_that_says_what_to_do(tmp_path: Path, cut: str, left: float | None) -> None:
    folder = tmp_path / "flat"
    store = FlatStore(folder)
    store.upsert([Entry("a", "d"), Entry("b", "d"), Entry("c", "d"), Entry("d", "e")], unit_vectors(4, 16))
    store.delete_documents(["e"])
    (path,) = folder.glob(cut)
    data = path.read_bytes()
    path.unlink()
    if left is None and cut == "manifest.json":
        assert FlatStore(folder).count() == 0  # which is not what the library holds
        return
    if left is not None:
        path.write_bytes(data[: int(left * len(data)) if left == 0.5 else int(left)])
    check_damaged(FlatStore(folder))


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x80" * 40, b"[1]", b"null", b'{"format": 1}', b'{"format": 1, "files": [1]}']
)
def test_a_manifest_that_is_none_is_an_error_that_says_what_to_do(tmp_path: Path, data: bytes) -> None:
    store = FlatStore(tmp_path / "flat")
    store.upsert([Entry("a", "d")], unit_vectors(1, 16))
    (tmp_path / "flat" / "manifest.json").write_bytes(data)
    check_damaged(store)


@pytest.mark.parametrize("header", [b"\xff" * 8, b"\0" * 8, b"\x04" + b"\0" * 7, b"\x93NUMPY\x02\x00"])
def test_vectors_with_a_damaged_header_are_an_error_that_says_what_to_do(tmp_path: Path, header: bytes) -> None:
    store = FlatStore(tmp_path / "flat")
    store.upsert([Entry("a", "d")], unit_vectors(1, 16))
    (path,) = (tmp_path / "flat").glob("*.vectors")
    with path.open("r+b") as stream:
        stream.write(header)
    check_damaged(store)


def test_a_flat_store_whose_manifest_goes_does_not_answer_with_nothing(tmp_path: Path) -> None:
    store = FlatStore(tmp_path / "flat")
    store.upsert([Entry("a", "d")], unit_vectors(1, 16))
    (tmp_path / "flat" / "manifest.json").unlink()
    with pytest.raises(VectorStoreError):
        store.query(unit_vectors(1, 16)[0], 1)


@pytest.mark.parametrize("folder", ["flat"], indirect=True)
def test_a_plain_file_where_the_store_is_to_be_is_an_error(folder: Path) -> None:
    folder.write_bytes(b"")
    store = opened(folder)
    for call in (store.count, store.reset, lambda: store.upsert([Entry("a", "d")], unit_vectors(1, 16))):
        with pytest.raises((StoreError, VectorStoreError)) as caught:
            call()
        assert str(folder) in str(caught.value)
        assert "permissions" in caught.value.hint


def check_damaged(store: VectorStore) -> None:
    with pytest.raises(VectorStoreError) as caught:
        store.ids()
    assert caught.value.hint == "Run `groundwork index`."
    for jargon in ("codec", "byte 0x", "Expecting", "char ", "JSON"):
        assert jargon not in str(caught.value)
    store.reset()
    store.upsert([Entry("a", "d")], unit_vectors(1, 16))
    assert store.ids() == {"a"}


def test_vectors_of_another_length_are_refused(folder: Path) -> None:
    store = opened(folder)
    store.upsert([Entry("a", "d")], unit_vectors(1, 16))
    with pytest.raises(VectorStoreError):
        store.upsert([Entry("b", "d")], unit_vectors(1, 8))
    with pytest.raises(VectorStoreError):
        store.query(unit_vectors(1, 8)[0], 1)
    assert store.ids() == {"a"}


def test_many_vectors_go_in_in_parts(folder: Path) -> None:
    store = opened(folder)
    ids = [f"d:{row}" for row in range(2500)]
    store.upsert([Entry(chunk_id, "d") for chunk_id in ids], unit_vectors(2500, 8))
    assert store.ids() == set(ids)


def test_importing_the_registries_loads_no_chroma() -> None:
    loaded = "sys.exit(bool({'chromadb', 'onnxruntime', 'torch'} & set(sys.modules)))"
    code = f"import sys, ragcore.index.vectors, ragcore.providers; {loaded}"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
