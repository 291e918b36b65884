"""Pictures through the whole pipeline: a page for each, read by OCR as scans are, within limits."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from ragcore.engine import Engine
from ragcore.errors import InputError
from ragcore.ingest.convert.kinds import kind_of
from ragcore.ingest.convert.picture_pages import draw_pictures
from ragcore.types.library import FileKind
from tests.ingest.hostile import error_of
from tests.ingest.mail import picture, pictures
from tests.matrix import standing_for

LINES = ("Nitrate was 61.4 mg/l", "at Orchard Lane in May")
ORIENTATION = 0x0112


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(home=tmp_path / "home", overrides={"llm.model": "offline"})


@pytest.mark.parametrize("kind", standing_for(["jpeg"], ["png", "jpeg", "webp", "tiff"]))
def test_a_picture_is_read_by_ocr_with_its_words_in_their_places(engine: Engine, kind: str) -> None:
    data = picture(*LINES, kind=kind.upper(), mode="RGB")
    info = engine.ingest(engine.add(data, f"photo.{kind}").doc_id)
    assert (info.status, info.kind, info.pages, info.ocr_pages) == ("ready", kind, 1, 1), info.error
    document = engine.document(info.doc_id)
    start = document.text.index("Orchard Lane")
    (box,) = document.boxes(start, start + len("Orchard Lane"))
    page = document.pages[0]
    # It was drawn 150 pixels below the top of 500, and 80 or more from the left of 1240.
    assert 0.28 < box.y0 / page.height < box.y1 / page.height < 0.42
    assert 0.06 < box.x0 / page.width < box.x1 / page.width < 0.5
    assert engine.original(info.doc_id).read_bytes() == data


@pytest.mark.slow
def test_every_picture_of_a_fax_is_a_page(engine: Engine) -> None:
    fax = pictures(LINES, ("The limit is 50 mg/l",), mode="1", compression="group4", dpi=(204, 204))
    info = engine.ingest(engine.add(fax, "fax.tif").doc_id)
    assert (info.status, info.pages, info.ocr_pages) == ("ready", 2, 2)
    text = engine.document(info.doc_id).text
    assert "61.4" in text.split("limit")[0]


def test_without_ocr_the_error_says_so(tmp_path: Path) -> None:
    engine = Engine.open(home=tmp_path / "home", overrides={"llm.model": "offline", "ocr.mode": "off"})
    info = engine.ingest(engine.add(picture(*LINES), "photo.png").doc_id)
    assert info.error is not None
    assert info.error["code"] == "no_text"
    assert "ocr.mode" in info.error["hint"]


def made(data: bytes, kind: FileKind, most_pages: int = 9) -> pymupdf.Document:
    return draw_pictures(data, "photo", kind, most_pages).pages


@pytest.mark.parametrize(
    ("size", "options", "page"),
    [
        ((1654, 2339), {"dpi": (200, 200)}, (595.4, 842.0)),
        ((4000, 3000), {}, (842.0, 631.5)),
        ((3000, 4000), {"dpi": (72, 72)}, (631.5, 842.0)),
        ((400, 300), {}, (300.0, 225.0)),
        ((1000, 8000), {}, (595.0, 4760.0)),
        ((204, 98), {"dpi": (204, 98)}, (153.0, 73.5)),
    ],
)
def test_a_page_has_the_size_of_the_paper_or_less(
    size: tuple[int, int], options: dict[str, object], page: tuple[float, float]
) -> None:
    rect = made(picture(size=size, kind="JPEG", **options), "jpeg")[0].rect
    assert (rect.width, rect.height) == pytest.approx(page, abs=0.5)


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("PNG", "RGBA"),
        ("PNG", "P"),
        ("PNG", "1"),
        ("PNG", "LA"),
        ("PNG", "I;16"),
        ("JPEG", "CMYK"),
        ("TIFF", "F"),
        ("TIFF", "CMYK"),
        ("WEBP", "RGBA"),
    ],
)
def test_colours_of_every_kind_are_shown(kind: str, mode: str) -> None:
    if mode == "I;16":
        grey = Image.frombytes("I;16", (2, 1), struct.pack("<HH", 0, 65535)).resize(
            (600, 300), Image.Resampling.NEAREST
        )
        out = io.BytesIO()
        grey.save(out, kind)
        data = out.getvalue()
    else:
        data = picture("████████", kind=kind, mode=mode, size=(600, 300))
    pixels = made(data, kind_of(data, "x"))[0].get_pixmap(colorspace=pymupdf.csGRAY)
    assert min(pixels.samples) < 60
    assert max(pixels.samples) > 240


def test_a_photograph_stands_upright(engine: Engine) -> None:
    turn = Image.Exif()
    turn[ORIENTATION] = 6
    page = made(picture("It is upright.", kind="JPEG", exif=turn), "jpeg")[0]
    assert page.rect.height > page.rect.width


def huge() -> bytes:
    """A PNG of a few bytes with 60,000 × 60,000 pixels."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(bytes(1000))) + part(b"IEND", b"")


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "huge.png": (huge, "120,000,000 pixels"),
    "cut.png": (lambda: picture(*LINES)[:-2000], "damaged"),
    "cut.jpg": (lambda: picture(*LINES, kind="JPEG")[:6000], "damaged"),
    "cut.tiff": (lambda: pictures(LINES, compression="tiff_lzw")[:900], "damaged"),
    "cut.webp": (lambda: picture(*LINES, kind="WEBP")[:200], "damaged"),
    "text.png": (lambda: b"It is plain text.", "no picture file"),
    "moving.gif": (lambda: picture(*LINES, kind="GIF"), "no file that Groundwork reads"),
    "white.png": (picture, "text"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_picture_is_one_clear_error(engine: Engine, name: str) -> None:
    make, said = HOSTILE[name]
    error = error_of(engine, make(), name)
    assert error is not None
    assert said in error["message"]


def test_pictures_are_limited_as_pages_are() -> None:
    with pytest.raises(InputError, match="more than 2 pages"):
        made(pictures(*[LINES] * 3), "tiff", most_pages=2)


def test_a_picture_is_told_by_what_is_in_it() -> None:
    assert [kind_of(picture(kind=kind), "x.pdf") for kind in ("PNG", "JPEG", "TIFF", "WEBP")] == [
        *("png", "jpeg", "tiff", "webp")
    ]
