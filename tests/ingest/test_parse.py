"""The border to the child processes: what opens, what is refused, limits, passwords, cancelling."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pymupdf
import pytest

from ragcore.config.settings import IngestSettings, Settings
from ragcore.errors import (
    Cancelled,
    DamagedPdf,
    EmptyFile,
    FileMissing,
    FileTooLarge,
    GroundworkError,
    NoPages,
    NotAPdf,
    NothingRead,
    PasswordRequired,
    TooManyPages,
    WrongPassword,
)
from ragcore.ingest.document import build_document
from ragcore.ingest.layout import FileInfo, PageLayout
from ragcore.ingest.parse import inspect, parse_pages
from ragcore.ingest.process import Child, waiting
from tests import pdfs


def adjusted(settings: Settings, **changes: object) -> IngestSettings:
    return settings.ingest.model_copy(update=changes)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (pdfs.empty_file(), EmptyFile, r"given\.pdf is empty\."),
        (pdfs.not_a_pdf(), NotAPdf, r"given\.pdf is not a PDF\."),
        (pdfs.truncated(), DamagedPdf, r"given\.pdf is too damaged to open"),
        (pdfs.no_pages(), NoPages, r"given\.pdf has no pages\."),
        (pdfs.encrypted(), PasswordRequired, r"given\.pdf needs a password\."),
    ],
)
def test_refusals(data: bytes, error: type[GroundworkError], message: str, tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(error, match=message) as caught:
        inspect(pdfs.write(tmp_path, "given.pdf", data), settings=settings.ingest)
    assert caught.value.hint
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("percent", [3, 20, 30, 50, 60, 80, 90, 95, 99])
@pytest.mark.parametrize("packed", [False, True])
def test_a_pdf_that_is_cut_off_says_so_in_plain_words(
    percent: int, packed: bool, tmp_path: Path, settings: Settings
) -> None:
    whole = pdfs.packed(pdfs.running_headers(3)) if packed else pdfs.running_headers(3)
    path = pdfs.write(tmp_path, "given.pdf", pdfs.cut_off(whole, percent))
    refused, pages = None, list[PageLayout]()
    try:
        info = inspect(path, settings=settings.ingest)
        pages += parse_pages(path, range(1, info.pages + 1), settings=settings.ingest)
    except DamagedPdf as error:
        refused = error
    if refused is not None:
        assert refused.message == "given.pdf is too damaged to open (its end is missing)."
        assert refused.hint
        return
    assert any(page.texts for page in pages)
    for page in pages:
        assert page.texts or page.unread, "a page whose content is lost is not a blank page"
        assert "code=" not in (page.degraded or "")
        assert bool(page.texts) or "damaged or missing" in (page.degraded or "")


def test_a_count_of_pages_that_cannot_be_is_told_in_plain_words(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.no_pages(-3))
    with pytest.raises(DamagedPdf, match=r"^given\.pdf is too damaged to open \([a-z ]+\)\.$"):
        inspect(path, settings=settings.ingest)


def test_limits_of_size_and_pages(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.blank(4))
    with pytest.raises(FileTooLarge, match=r"given\.pdf"):
        inspect(path, settings=adjusted(settings, max_bytes=100))
    with pytest.raises(TooManyPages, match=r"given\.pdf has 4 pages; the limit is 3\."):
        inspect(path, settings=adjusted(settings, max_pages=3))
    with pytest.raises(FileMissing):
        inspect(tmp_path / "nowhere.pdf", settings=settings.ingest)


def test_what_a_file_says_about_itself(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.with_bookmarks())
    assert inspect(path, settings=settings.ingest) == FileInfo(
        pages=3,
        title="Handbook of Well Sampling",
        labels=("i", "ii", "1"),
        outline=((1, "Preface", 1), (1, "Methods", 2), (2, "Sampling", 3)),
    )


def test_labels_written_in_hex_are_read(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdfs.labels_in_hex())
    assert inspect(path, settings=settings.ingest).labels == ("e110", "e111")


def test_a_password_opens_and_unlocks(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.encrypted())
    with pytest.raises(WrongPassword, match=r"given\.pdf"):
        inspect(path, settings=settings.ingest, password="wrong")
    assert inspect(path, settings=settings.ingest, password=pdfs.PASSWORD).unlocked
    (page,) = parse_pages(path, [1], settings=settings.ingest, password=pdfs.PASSWORD)
    assert page.texts[:3] == ("Larkfield", "Water", "Survey")
    target = tmp_path / "open.pdf"
    with closing(Child(path, settings.ingest, password=pdfs.PASSWORD, name=path.name)) as child:
        child.unlock(target)
    with pymupdf.open(target) as document:
        assert not document.needs_pass
    assert not list(tmp_path.glob("*.part"))


def test_only_the_pages_asked_for_are_read(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.running_headers())
    pages = {page.number: page for page in parse_pages(path, [2, 5], settings=settings.ingest)}
    assert sorted(pages) == [2, 5]
    assert "5" in pages[5].texts
    assert not list(parse_pages(path, [], settings=settings.ingest))


@pytest.mark.slow
def test_a_file_of_which_nothing_can_be_read_fails(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.endless_page())
    limits = adjusted(settings, page_seconds=2.0, plain_seconds=1.0)
    (page,) = parse_pages(path, [1], settings=limits)
    assert page.unread
    with pytest.raises(NothingRead, match=r"given\.pdf.*Page 1: .*longer than 1 s"):
        build_document("0" * 16, "0" * 64, "given.pdf", FileInfo(pages=1), [page], settings)


@pytest.mark.slow
def test_a_page_that_never_ends_is_given_up_and_a_named_gap(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.with_endless_page())
    started = time.monotonic()
    limits = adjusted(settings, page_seconds=12.0, plain_seconds=2.0, workers=1)
    read = {
        page.number: PageLayout.from_bytes(page.to_bytes()) for page in parse_pages(path, [1, 2, 3], settings=limits)
    }
    assert time.monotonic() - started < 120
    assert read[2].texts == ()
    assert "couldn't be read" in (read[2].degraded or "")
    assert (read[2].width, read[2].height) == (595.0, 842.0)
    pages = [read[number] for number in (1, 2, 3)]
    document = build_document("0" * 16, "0" * 64, "given.pdf", FileInfo(pages=3), pages, settings)
    assert [page.unread for page in document.pages] == [False, True, False]
    assert "longer than 2 s" in (document.pages[1].degraded or "")
    assert "Nitrate stood above the limit" in document.text
    assert "The second page is an ordinary one." in document.text


@pytest.mark.slow
def test_the_text_of_a_page_that_is_slow_to_draw_is_read(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.many_paths(100_000))
    limits = adjusted(settings, page_seconds=1.0, plain_seconds=8.0)
    (page,) = parse_pages(path, [1], settings=limits)
    assert not page.unread
    assert "without the layout model" in (page.degraded or "")
    assert " ".join(page.texts) == f"{pdfs.INTRO} {pdfs.FINDING}"


def test_a_page_the_layout_model_cannot_do_in_time_is_read_plainly(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.one_column())
    limits = adjusted(settings, page_seconds=0.01)
    (page,) = parse_pages(path, [1], settings=limits)
    assert page.degraded is not None
    assert "without the layout model" in page.degraded
    assert page.texts[:3] == ("Larkfield", "Water", "Survey")
    assert {region.kind for region in page.regions} == {"text"}


def test_the_memory_limit_holds() -> None:
    if not Path("/proc/self/statm").exists():
        pytest.skip("address space can be limited on Linux only")
    code = (
        "from ragcore.ingest.worker import limit_memory\n"
        "limit_memory(512)\n"
        "small = bytearray(200 * 2**20)\n"
        "try:\n    bytearray(600 * 2**20)\nexcept MemoryError:\n    print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "refused"


def test_a_page_that_needs_too_much_memory_is_survived(tmp_path: Path, settings: Settings) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 90), "A page with a picture of many gigabytes.", fontsize=11)
    xref = document.get_new_xref()
    document.update_object(
        xref,
        "<< /Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceRGB /BitsPerComponent 8 >>",
    )
    document.update_stream(xref, bytes(1000))
    pdfs.paint(document, page, xref, b" q 500 0 0 500 50 50 cm /X Do Q ")
    path = pdfs.write(tmp_path, "given.pdf", document.tobytes())
    (read,) = parse_pages(path, [1], settings=adjusted(settings, memory_mb=512, page_seconds=20.0))
    assert read.texts[-1] == "gigabytes."


def test_cancelling_stops_soon(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.running_headers(30))
    read: list[PageLayout] = []
    pages = parse_pages(path, range(1, 31), settings=settings.ingest, cancelled=lambda: len(read) >= 2)
    with pytest.raises(Cancelled, match=r"given\.pdf"):
        read.extend(pages)
    assert 2 <= len(read) < 30


@pytest.mark.slow
def test_cancelling_does_not_wait_for_a_process_that_is_starting(tmp_path: Path, settings: Settings) -> None:
    """A pipe that nobody writes to: opening it never ends."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    path = tmp_path / "given.pdf"
    os.mkfifo(path)
    started = time.monotonic()

    def soon() -> bool:
        return time.monotonic() > started + 2

    with pytest.raises(Cancelled, match=r"given\.pdf"):
        list(parse_pages(path, [1, 2], settings=settings.ingest, cancelled=soon))
    assert time.monotonic() - started < 30
    _none_left()


def test_cancelling_stops_a_file_that_hangs_while_it_is_opened(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.one_column())
    with pytest.raises(Cancelled, match=r"given\.pdf"):
        inspect(path, settings=settings.ingest, cancelled=lambda: True)


@pytest.mark.slow
def test_processes_are_replaced_after_some_pages(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.running_headers(3))
    seen: set[str] = set()
    for page in parse_pages(path, range(1, 4), settings=adjusted(settings, process_pages=1, workers=1)):
        assert page.degraded is None
        time.sleep(0.4)  # the next process has been started by then
        seen.update(_workers())
    if Path("/proc").exists():
        assert len(seen) >= 2


def test_leaving_early_leaves_no_process_behind(tmp_path: Path, settings: Settings) -> None:
    path = pdfs.write(tmp_path, "given.pdf", pdfs.running_headers(12))
    pages = parse_pages(path, range(1, 13), settings=settings.ingest)
    next(pages)
    pages.close()
    _none_left()


def _none_left() -> None:
    """No process is left but those that wait, or have waited and are just being ended."""
    end = time.monotonic() + 10
    while _workers():
        assert time.monotonic() < end
        time.sleep(0.05)


def _workers() -> list[str]:
    """Process ids of this process's parsing children that have a file, where the system tells."""
    if not Path("/proc").exists():
        return []
    mine = str(os.getpid())
    children = [p for p in Path("/proc").iterdir() if p.name.isdigit() and _parent(p) == mine]
    free = {str(process._popen.pid) for process in waiting._processes}
    return [p.name for p in children if p.name not in free and "ragcore.ingest.worker" in _command(p)]


def _parent(process: Path) -> str:
    try:
        return process.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1]
    except FileNotFoundError:  # ended while we looked
        return ""


def _command(process: Path) -> str:
    try:
        return process.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode()
    except FileNotFoundError:
        return ""


def test_children_do_not_import_the_program_again(tmp_path: Path) -> None:
    """A plain script without a main guard may parse, as Streamlit's scripts do."""
    path = pdfs.write(tmp_path, "given.pdf", pdfs.one_column())
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "print('started')\n"
        "from ragcore.config.settings import load\n"
        "from ragcore.ingest.parse import inspect\n"
        f"print(inspect(Path({str(path)!r}), settings=load()[0].ingest).pages)\n",
        "utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["started", "1"]


def test_the_parent_never_loads_mupdf() -> None:
    code = (
        "import sys, ragcore.ingest.parse, ragcore.ingest.document, ragcore.ingest.chunk\n"
        "print([m for m in ('pymupdf', 'onnxruntime', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
