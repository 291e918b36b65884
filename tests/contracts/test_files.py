"""What the files of every library do, wherever they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcore.index.objects import Files, StoredFiles
from tests.object_storage import s3

ONE, OTHER = f"{'ab' * 32}.pdf", f"{'ab' * 32}.made.pdf"


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with s3() as running, pytest.MonkeyPatch.context() as patched:
        for name, value in running.environment.items():
            patched.setenv(name, value)
        yield running.bucket()


@pytest.fixture(params=["folder", "file", "s3"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param == "folder":
        return Files(tmp_path / "files")
    (tmp_path / "storage").mkdir()
    url = (tmp_path / "storage").as_uri() if request.param == "file" else request.getfixturevalue("bucket")
    return StoredFiles(tmp_path / "files", url, request.node.callspec.id + tmp_path.name)


class TestFiles:
    def test_a_file_is_found_as_it_was_stored(self, files: Files) -> None:
        assert files.find(ONE) is None
        files.put(ONE, b"%PDF-1.7 of one")
        found = files.find(ONE)
        assert found == files.path(ONE)
        assert found.read_bytes() == b"%PDF-1.7 of one"
        assert files.find(OTHER) is None

    def test_a_file_is_stored_once(self, files: Files) -> None:
        for _ in range(2):
            files.put(ONE, b"one")
        assert files.sizes() == {ONE: 3}

    def test_an_empty_library_has_no_files(self, files: Files) -> None:
        assert files.sizes() == {}
        files.delete([ONE])

    def test_what_another_wrote_at_its_path_is_kept(self, files: Files) -> None:
        for data in (b"pages", b"other pages"):
            files.path(OTHER).parent.mkdir(parents=True, exist_ok=True)
            files.path(OTHER).write_bytes(data)
            files.keep(OTHER)
            assert files.sizes() == {OTHER: len(data)}

    def test_what_is_deleted_is_gone_and_nothing_else(self, files: Files) -> None:
        files.put(ONE, b"one")
        files.put(OTHER, b"other")
        files.delete([ONE, "cd.pdf"])
        assert files.find(ONE) is None
        assert files.find(OTHER) is not None
        assert files.sizes() == {OTHER: 5}
