"""Processes that wait for their next file: which do, for how long, and that they read it as a new one would."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from ragcore.config.settings import IngestSettings, Settings
from ragcore.errors import DamagedPdf, ParseCrashed, ParseTimeout
from ragcore.ingest.parse import inspect, parse_pages
from ragcore.ingest.process import Child, waiting
from tests import pdfs
from ui.viewer.render import Renderer


@pytest.fixture(autouse=True)
def none_waits() -> Iterator[None]:
    waiting.close()
    yield
    waiting.close()


def pids() -> set[int]:
    """Ids of the idle processes."""
    return {process._popen.pid for process in waiting._processes}


def opened(path: Path, settings: IngestSettings, *, layout: bool = False) -> Child:
    child = Child(path, settings, layout=layout, name=path.name)
    child.open()
    return child


@pytest.mark.slow
def test_a_file_is_read_by_a_process_that_read_another_as_by_a_new_one(tmp_path: Path, settings: Settings) -> None:
    other, path = pdfs.write(tmp_path, "other.pdf", pdfs.rotated(90)), pdfs.write(tmp_path, "a.pdf", pdfs.ruled_table())
    alone = settings.ingest.model_copy(update={"idle_seconds": 0.0})
    info = inspect(path, settings=alone)
    [page] = parse_pages(path, [1], settings=alone)
    assert not pids()

    list(parse_pages(other, [1], settings=settings.ingest))
    [pid] = pids()
    assert inspect(path, settings=settings.ingest) == info
    assert [read.to_bytes() for read in parse_pages(path, [1], settings=settings.ingest)] == [page.to_bytes()]
    assert pids() == {pid}


def test_one_that_was_ended_or_has_read_enough_serves_no_other_file(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "a.pdf", pdfs.one_column())
    child = opened(path, settings.ingest)
    assert child._process is not None
    child._process.kill()
    child.close()
    assert not pids()

    endless = pdfs.write(tmp_path, "endless.pdf", pdfs.endless_page())
    child = opened(endless, settings.ingest.model_copy(update={"plain_seconds": 0.5}))
    with pytest.raises(ParseTimeout):
        child.page(1, plain=True)
    child.close()
    assert not pids()

    few = settings.ingest.model_copy(update={"process_pages": 1})
    child = opened(path, few)
    child.close()
    [pid] = pids()
    child = opened(path, few)
    child.close()
    assert not pids()
    assert pid


def test_a_file_that_cannot_be_opened_costs_no_process(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "a.pdf", pdfs.truncated())
    for _ in range(2):
        with pytest.raises(DamagedPdf):
            opened(path, settings.ingest)
        assert len(pids()) == 1


def test_one_that_died_while_it_waited_is_replaced(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "a.pdf", pdfs.one_column())
    opened(path, settings.ingest).close()
    process = waiting.take(layout=False)
    assert process is not None
    waiting.put(process, 10.0)
    process._popen.kill()  # as the system does when memory is short
    child = opened(path, settings.ingest)
    assert child.info().pages == 1
    child.close()


def test_what_an_earlier_file_gave_rise_to_is_not_said_of_a_later_one(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "a.pdf", pdfs.one_column())
    opened(path, settings.ingest).close()
    process = waiting.take(layout=False)
    assert process is not None
    process._stderr.write(b"a complaint about another file\n")
    process._stderr.flush()
    waiting.put(process, 10.0)
    child = opened(path, settings.ingest)
    with pytest.raises(ParseCrashed, match=r"a\.pdf: unknown request"):
        child.call({"op": "nonsense"}, 10.0)
    child.close()


def test_it_waits_no_longer_than_it_should(tmp_path: Path, settings: Settings) -> None:
    with pymupdf.open() as document:
        document.new_page()
        path = pdfs.write(tmp_path, "a.pdf", document.tobytes())
    opened(path, settings.ingest.model_copy(update={"idle_seconds": 0.3})).close()
    assert len(pids()) == 1
    end = time.monotonic() + 20
    while pids():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="a process's environment can be read on Linux only")
def test_a_child_is_handed_no_key(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AWS_SECRET_ACCESS_KEY", "GROUNDWORK_ANYTHING", "MY_TOKEN")
    for name in secrets:
        monkeypatch.setenv(name, "sk-not-for-children")
    path = pdfs.write(tmp_path, "a.pdf", pdfs.one_column())
    list(parse_pages(path, [1], settings=settings.ingest))
    [pid] = pids()
    assert b"sk-not-for-children" not in Path(f"/proc/{pid}/environ").read_bytes()
    renderer = Renderer(tmp_path / "pages")
    renderer.warm()
    assert renderer._child is not None
    assert b"sk-not-for-children" not in Path(f"/proc/{renderer._child.pid}/environ").read_bytes()
    renderer.close()
