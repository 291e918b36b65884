"""A long PDF of our own making, for measuring: ``python -m benchmarks long_document OUT.pdf [--pages 1000]``.

A register of sites, one a page, so that a question about a site has its answer on one page and nowhere else. A page has
a running header, a heading, prose and a picture; each third one a ruled table, each tenth a chart of some 3,000 curves.
One page in 50 is a scan (a picture of a page, to be read by OCR), and one in 100 a map of 40,000 lines. The first
twelve pages are labelled i to xii. The same number of pages gives the same document.

`put` brings it into a library within a minute or two: its pages are read without the layout model (so that its tables
are lines of text), which serves where not the reading is measured.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pymupdf

from ragcore.engine import Engine

TITLE = "Register of sites"
FRONT = 12  # pages labelled in roman numerals
FIRST = """
Amber Barley Cedar Dunmore Elder Fenwick Garnet Harrow Ivory Juniper Kestrel Larch Marlow Nettle Orchard Pember Quarry
Rowan Selby Thornby Umber Verity Walnut Yarrow Zephyr Alder Bracken Copper Damson Ember Falcon Gorse Heather Indigo
Jasper Kelham Linden Medlar Norton Osier
"""
SECOND = """
Mill Quay Works Depot Farm Lodge Yard Wharf Kiln Bridge Lock Forge House Field Pier Barn Ferry Tower Grange Pit Cross
Court Green Hollow Reach
"""
QUARTERS = ("First", "Second", "Third", "Fourth", "Whole year")
REMARKS = (
    "The inspector walked the boundary on foot and found the drains clear.",
    "Two pumps were replaced before the winter, and the older of them was kept as a spare.",
    "Visitors came mostly in the second quarter, when the footpath was open again.",
    "The roof of the store was made good after the storm of the third of March.",
    "Nothing was reported to the county, since no limit was passed in any month.",
    "A new meter counts what the workshop takes, apart from what the offices take.",
    "Deliveries by water went down, as the lock was shut for nine weeks.",
    "The lease runs on for eleven years, with a rent that is looked at every third of them.",
    "Those who work the night shift asked for better light along the east wall, and have it.",
    "What the survey says of the ground holds: clay to four metres, then gravel.",
)


def site(page: int) -> str:
    """What the page (from 1) is about."""
    first, second = FIRST.split(), SECOND.split()
    again, number = divmod(page - 1, len(first) * len(second))
    name = f"{first[number % len(first)]} {second[number // len(first)]}"
    return f"{name} {again + 1}" if again else name


def scanned(page: int) -> bool:
    return page % 50 == 0


def question(page: int) -> str:
    return f"How many megawatt hours of electricity did {site(page)} use?"


def make(pages: int) -> bytes:
    document = pymupdf.open()
    draw = random.Random(7)
    drawn = _Drawn(_picture(), _chart(draw), _map(draw))
    for number in range(1, pages + 1):
        if scanned(number):
            _scan(document, number, draw, drawn)
        else:
            _page(document, number, draw, drawn)
    front = {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1}
    body = {"startpage": FRONT, "prefix": "", "style": "D", "firstpagenum": 1}
    document.set_page_labels([front, body] if pages > FRONT else [front])
    document.set_metadata({"title": TITLE})
    data: bytes = document.tobytes(garbage=3, deflate=True)
    document.close()
    return data


def put(engine: Engine, pages: int) -> str:
    """The document in the engine's library, read and indexed. Returns its id."""
    from ragcore.ingest.read import Reader

    doc_id = engine.add(make(pages), "register.pdf").doc_id
    reader = Reader(engine.file(doc_id), None, "register.pdf")
    for number in range(1, pages + 1):
        engine.store.put_page(doc_id, number, reader.page(number, plain=True).to_bytes())
    report = engine.ingest(doc_id)
    assert report.status == "ready", report.error
    engine.index()
    return doc_id


class _Drawn(NamedTuple):
    """What pages have below their text: a JPEG, and two PDFs of one page."""

    picture: bytes
    chart: pymupdf.Document
    map: pymupdf.Document


def _page(document: pymupdf.Document, number: int, draw: random.Random, drawn: _Drawn) -> pymupdf.Page:
    page = document.new_page(width=612, height=792)
    page.insert_text((72, 46), TITLE, fontsize=8, fontname="helv")
    page.insert_text((72, 96), site(number), fontsize=17, fontname="hebo")
    used, water, staff = draw.randint(1_000, 99_000), draw.randint(2_000, 80_000), draw.randint(4, 900)
    facts = (
        f"{site(number)} used {used:,} megawatt hours of electricity in the year under review and drew {water:,} cubic "
        f"metres of water. It employed {staff} people at the end of the year."
    )
    page.insert_textbox((72, 110, 540, 160), facts, fontsize=11, fontname="helv")
    for part in range(3):
        remarks = " ".join(draw.sample(REMARKS, 5))
        page.insert_textbox((72, 164 + 84 * part, 540, 244 + 84 * part), remarks, fontsize=11, fontname="helv")
    if number % 3 == 0:
        _table(page, number, draw)
    if number % 100 == 1:
        page.show_pdf_page(pymupdf.Rect(72, 580, 540, 740), drawn.map)
    elif number % 10 == 0:
        page.show_pdf_page(pymupdf.Rect(72, 580, 540, 740), drawn.chart)
    else:
        page.insert_image((72, 580, 252, 700), stream=drawn.picture)
    page.insert_text((300, 760), f"Page {number}", fontsize=8, fontname="helv")
    return page


def _table(page: pymupdf.Page, number: int, draw: random.Random) -> None:
    page.insert_text((72, 440), f"Table {number}. {site(number)} by quarter", fontsize=10, fontname="hebo")
    rows = [("Quarter", "Electricity", "Water", "Visitors")]
    rows += [(name, *(f"{draw.randint(100, 9_999):,}" for _ in range(3))) for name in QUARTERS]
    for r, row in enumerate(rows):
        for c, value in enumerate(row):
            x, y = 72 + 117 * c, 448 + 18 * r
            page.draw_rect((x, y, x + 117, y + 18), color=(0, 0, 0), width=0.6)
            page.insert_text((x + 5, y + 13), value, fontsize=10, fontname="helv" if r else "hebo")


def _chart(draw: random.Random) -> pymupdf.Document:
    document = pymupdf.open()
    shape = document.new_page(width=468, height=160).new_shape()
    for _ in range(3_000):
        x, y = draw.uniform(0, 450), draw.uniform(8, 152)
        shape.draw_bezier((x, y), (x + 9, y - 8), (x + 14, y + 8), (x + draw.uniform(2, 20), y))
    shape.finish(color=(0.1, 0.3, 0.5), width=0.3)
    shape.commit()
    return document


def _map(draw: random.Random) -> pymupdf.Document:
    document = pymupdf.open()
    shape = document.new_page(width=468, height=160).new_shape()
    for line in range(400):
        x, y = draw.uniform(0, 468), draw.uniform(0, 160)
        points = []
        for _ in range(100):
            x, y = min(max(0, x + draw.gauss(0, 3)), 468), min(max(0, y + draw.gauss(0, 3)), 160)
            points.append((x, y))
        shape.draw_polyline(points)
        shape.finish(color=(0.2, (line % 10) / 12, 0.3), width=0.2, closePath=False)
    shape.commit()
    return document


def _picture() -> bytes:
    """A JPEG such as a photograph takes: 540 × 360 pixels, soft shapes and a little noise."""
    y, x = np.mgrid[0:360, 0:540]
    noise = np.random.default_rng(7).normal(0, 6, (360, 540, 3))
    waves = np.stack([128 + 90 * np.sin(x / 61 + k) * np.cos(y / 47 - k) for k in range(3)], axis=2)
    pixels = np.clip(waves + noise, 0, 255).astype(np.uint8)
    return bytes(pymupdf.Pixmap(pymupdf.csRGB, 540, 360, pixels.tobytes(), False).tobytes("jpg", jpg_quality=85))


def _scan(document: pymupdf.Document, number: int, draw: random.Random, drawn: _Drawn) -> None:
    """The page as a scanner would have it: a grey picture at 200 dots an inch with noise."""
    with pymupdf.open() as printed:
        pixmap = _page(printed, number, draw, drawn).get_pixmap(dpi=200, colorspace=pymupdf.csGRAY)
    grey = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width)
    noise = np.random.default_rng(number).normal(-6, 5, grey.shape)
    pixels = np.clip(grey + noise, 0, 255).astype(np.uint8)
    scan = pymupdf.Pixmap(pymupdf.csGRAY, pixmap.width, pixmap.height, pixels.tobytes(), False)
    page = document.new_page(width=612, height=792)
    page.insert_image(page.rect, stream=scan.tobytes("jpg", jpg_quality=75))


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks long_document", description="Write a long PDF for measuring")
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", type=int, default=1000)
    given = parser.parse_args()
    given.out.write_bytes(make(given.pages))


if __name__ == "__main__":
    main()
