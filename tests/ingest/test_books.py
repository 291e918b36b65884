"""Electronic books through the whole pipeline: chapters as places, exact words, and nothing that leads out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from ragcore.engine import Engine
from ragcore.ingest.convert.kinds import kind_of
from ragcore.types.places import place_of
from tests.check.files import archive, parts
from tests.ingest.hostile import error_of
from tests.ingest.mail import book, picture
from tests.ingest.test_convert import listening

TABLE = "<table><tr><th>Well</th><th>May</th></tr><tr><td>Mill Bridge</td><td>11.6</td></tr></table>"
CHAPTERS = (
    ("Chapter 1: Rain", f"<p>{'Rain fell on the valley in April. ' * 150}</p>"),
    ("Chapter 2: Wells", f"<p>Nitrate was 61.4 mg/l at Orchard Lane.</p><h2>Readings</h2>{TABLE}"),
)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(home=tmp_path / "home", overrides={"llm.model": "offline"})


def test_a_book_has_its_words_once_and_a_citation_names_the_chapter(engine: Engine) -> None:
    data = book(*CHAPTERS)
    info = engine.ingest(engine.add(data, "water.epub").doc_id)
    assert (info.status, info.kind, info.title, info.notes) == ("ready", "epub", "Water of the valley", ())
    document = engine.document(info.doc_id)
    headings = [document.text[e.start : e.end] for e in document.body if e.kind == "heading"]
    assert headings == ["Chapter 1: Rain", "Chapter 2: Wells", "Readings"]
    quote = "Nitrate was 61.4 mg/l at Orchard Lane."
    assert document.text.count(quote) == 1
    start = document.text.index(quote)
    assert place_of(document, start, start + len(quote)) == "Chapter 2: Wells"
    assert place_of(document, 0, start) == "Chapter 1: Rain, Chapter 2: Wells"
    (box,) = document.boxes(start, start + len(quote))
    with pymupdf.open(engine.file(info.doc_id)) as pdf:
        assert pdf[box.page - 1].get_text(clip=(box.x0, box.y0, box.x1, box.y1)).split() == quote.split()
    (table,) = (e.table for e in document.body if e.table)
    assert [document.text[c.start : c.end] for c in table.cells] == ["Well", "May", "Mill Bridge", "11.6"]
    assert engine.original(info.doc_id).read_bytes() == data


def test_a_book_shows_its_own_pictures_and_fetches_none(engine: Engine) -> None:
    with listening() as (address, asked):
        text = (
            f'<p>It is clean.</p><img src="{address}/a.png"/><img src="file:///etc/passwd"/><img src="p.png"/>'
            f'<link rel="stylesheet" href="{address}/s.css"/><script src="{address}/x.js"></script>'
            f'<p style="display:none">Unseen.</p><iframe src="{address}/f"></iframe>'
        )
        data = book(("Rain", text), **{"OPS/p.png": picture("Orchard Lane 61.4", mode="RGB", size=(700, 300))})
        info = engine.ingest(engine.add(data, "water.epub").doc_id)
    assert (info.status, asked) == ("ready", [])
    assert "Unseen" not in engine.document(info.doc_id).text
    with pymupdf.open(engine.file(info.doc_id)) as pdf:
        assert len(pdf[0].get_images()) == 1


def with_part(name: str, change: Callable[[bytes], bytes]) -> bytes:
    files = parts(book(*CHAPTERS))
    return archive(files | {name: change(files.get(name, b""))})


def locked(method: str) -> bytes:
    said = f'<encryption><EncryptedData><EncryptionMethod Algorithm="{method}"/></EncryptedData></encryption>'
    return with_part("META-INF/encryption.xml", lambda _: said.encode())


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "bomb.epub": (lambda: book(("Rain", " " * 60_000_000)), "times its size"),
    "cut.epub": (lambda: book(*CHAPTERS)[:-300], "damaged"),
    "path.epub": (lambda: book(*CHAPTERS, **{"../../evil": b""}), "leads out"),
    "no contents.epub": (lambda: with_part("META-INF/container.xml", lambda _: b"<a/>"), "damaged"),
    "no package.epub": (lambda: with_part("OPS/book.opf", lambda xml: xml[:300]), "damaged"),
    "no chapter.epub": (
        lambda: with_part("OPS/book.opf", lambda xml: xml.replace(b"c1.xhtml", b"no.xhtml")),
        "damaged",
    ),
    "locked.epub": (lambda: locked("http://www.w3.org/2001/04/xmlenc#aes128-cbc"), "protected"),
    "blank.epub": (lambda: book(("", "")), "no text"),
    "text.epub": (lambda: b"It is plain text.", "no EPUB file"),
    "entities.epub": (
        lambda: with_part(
            "OPS/c1.xhtml",
            lambda xml: (
                b"<!DOCTYPE x ["
                + b"".join(b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10 if n else b"lol") for n in range(10))
                + b"]>"
                + xml.replace(b"61.4", b"&e9;")
            ),
        ),
        "",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_book_is_one_clear_error_or_a_document(engine: Engine, name: str) -> None:
    make, said = HOSTILE[name]
    error = error_of(engine, make(), name)
    if error is None:
        [info] = engine.documents()
        assert (info.status, said) == ("ready", "")
        assert len(engine.document(info.doc_id).text) < 100_000
    else:
        assert said in error["message"]


def test_fonts_that_are_veiled_are_no_protection(engine: Engine) -> None:
    info = engine.ingest(engine.add(locked("http://www.idpf.org/2008/embedding"), "fonts.epub").doc_id)
    assert info.status == "ready", info.error


def test_a_book_is_told_by_what_is_in_it() -> None:
    assert kind_of(book(*CHAPTERS), "book.zip") == "epub"
