"""Pictures of pages: what is drawn first, what is not drawn at all, and that a PNG of ours has the pixels that it was
given."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from PIL import Image

from ragcore.errors import DamagedPdf, FileMissing
from tests import pdfs
from ui.viewer import png
from ui.viewer.render import Renderer

SECONDS = 30


class Held(Renderer):
    """Draws nothing before it is let go; ``order`` has the names of the pictures as they were drawn."""

    def __init__(self, folder: Path) -> None:
        self.let_go = threading.Event()
        self.begun = threading.Event()
        self.order: list[str] = []
        super().__init__(folder)

    def _draw(self, job: Any) -> None:
        self.begun.set()
        self.let_go.wait(SECONDS)
        self.order.append(job.out.stem)
        job.out.parent.mkdir(parents=True, exist_ok=True)
        if job.page > 90:
            raise DamagedPdf("There is no such page.")
        job.out.write_bytes(png.encode(np.zeros((2, 2, 3), np.uint8)))


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    renderer = Held(tmp_path / "pages")
    yield renderer
    renderer.let_go.set()
    renderer.close()


@pytest.fixture
def drawing(tmp_path: Path) -> Iterator[Callable[[bytes, int, int], bytes]]:
    """``drawing(pdf, page, width)`` → the picture, drawn by the real process."""
    renderer = Renderer(tmp_path / "pages")
    file = tmp_path / "a.pdf"

    def draw(data: bytes, page: int, width: int) -> bytes:
        file.write_bytes(data)
        return renderer.page("a", file, page, width).result(SECONDS)

    yield draw
    renderer.close()


def ask(renderer: Renderer, page: int, width: int = 640) -> Future[bytes]:
    return renderer.page("a", Path("a.pdf"), page, width)


def test_pages_come_in_the_order_asked_and_thumbnails_last(held: Held) -> None:
    first = ask(held, 1)
    assert held.begun.wait(SECONDS)
    thumbnails = [ask(held, page, 160) for page in (1, 2)]
    pages = [ask(held, page) for page in (5, 4, 6)]
    held.let_go.set()
    for drawn in (first, *thumbnails, *pages):
        drawn.result(SECONDS)
    assert held.order == ["1-640", "5-640", "4-640", "6-640", "1-160", "2-160"]


def test_what_nobody_waits_for_any_more_is_not_drawn(held: Held) -> None:
    first = ask(held, 1)
    assert held.begun.wait(SECONDS)
    left, one_of_two, other = ask(held, 2), ask(held, 3), ask(held, 3)
    assert left.cancel()
    assert one_of_two.cancel()
    held.let_go.set()
    assert other.result(SECONDS)
    assert first.done()
    assert held.order == ["1-640", "3-640"]
    assert ask(held, 2).result(SECONDS)
    assert held.order[-1] == "2-640", "asked for again, it is drawn"


def test_everybody_who_waits_is_told_what_went_wrong(held: Held) -> None:
    first, second = ask(held, 99), ask(held, 99)
    held.let_go.set()
    for drawn in (first, second):
        with pytest.raises(DamagedPdf):
            drawn.result(SECONDS)


def test_a_picture_that_is_there_is_not_drawn_again(held: Held) -> None:
    held.let_go.set()
    ask(held, 1).result(SECONDS)
    assert ask(held, 1).done()
    assert held.order == ["1-640"]


@pytest.mark.parametrize("make", [pdfs.one_column, pdfs.figure, lambda: pdfs.scanned(pdfs.one_column())])
def test_a_picture_has_the_pixels_that_mupdf_draws(
    make: Callable[[], bytes], drawing: Callable[[bytes, int, int], bytes]
) -> None:
    data = make()
    with Image.open(io.BytesIO(drawing(data, 1, 640))) as picture:
        seen = np.asarray(picture.convert("RGB"))
    with pymupdf.open(stream=data, filetype="pdf") as document:
        page = document[0]
        zoom = 640 / page.rect.width
        drawn = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
    wanted = np.frombuffer(drawn.samples, np.uint8).reshape(drawn.height, drawn.width, 3)
    assert seen.shape == wanted.shape
    assert np.array_equal(seen, wanted)


def test_of_a_file_that_is_gone_no_picture_is_kept(tmp_path: Path) -> None:
    renderer, file = Renderer(tmp_path / "pages"), tmp_path / "a.pdf"
    file.write_bytes(pdfs.one_column())
    assert renderer.page("a", file, 1, 640).result(SECONDS)
    file.unlink()
    renderer.forget("a")
    with pytest.raises(FileMissing):  # though the drawing process has it open
        renderer.page("a", file, 1, 640).result(SECONDS)
    assert not (tmp_path / "pages" / "a").exists()
    renderer.close()


def test_a_page_that_there_is_not_is_said(drawing: Callable[[bytes, int, int], bytes]) -> None:
    with pytest.raises(DamagedPdf, match="Page 2 couldn’t be drawn"):
        drawing(pdfs.one_column(), 2, 640)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 7)])
@pytest.mark.parametrize("grey", [True, False])
def test_a_png_is_the_pixels(shape: tuple[int, int], grey: bool) -> None:
    draw = np.random.default_rng(1)
    pixels = draw.integers(0, 256, (*shape, 1 if grey else 3), dtype=np.uint8).repeat(3 if grey else 1, axis=2)
    with Image.open(io.BytesIO(png.encode(pixels))) as picture:
        picture.load()
        assert picture.mode == ("L" if grey else "RGB")
        assert np.array_equal(np.asarray(picture.convert("RGB")), pixels)


def test_a_picture_that_is_damaged_is_drawn_again(held: Held) -> None:
    held.let_go.set()
    whole = ask(held, 3).result(SECONDS)
    for number in range(len(whole) * 8):
        assert not png.intact(flipped(whole, number)), number
    assert not any(png.intact(whole[:length]) for length in range(len(whole)))
    (held.folder / "a" / "3-640.png").write_bytes(flipped(whole, len(whole) * 4))
    assert ask(held, 3).result(SECONDS) == whole
    assert held.order == ["3-640", "3-640"]


def flipped(data: bytes, number: int) -> bytes:
    changed = bytearray(data)
    changed[number // 8] ^= 1 << number % 8
    return bytes(changed)
