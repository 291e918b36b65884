"""Word, PowerPoint, OpenDocument and old Excel files through the whole pipeline: exact, closed, and ended with us."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import docx
import pptx
import pymupdf
import pytest

from ragcore.config.settings import Settings
from ragcore.engine import Engine
from ragcore.errors import Cancelled, ParseTimeout
from ragcore.ingest.convert.converters import convert_office
from ragcore.ingest.convert.kinds import kind_of
from ragcore.ingest.process import Child, waiting
from ragcore.types import Document
from ragcore.types.library import DocumentInfo
from ragcore.types.places import place_of
from tests import pdfs
from tests.check.files import archive, parts, saved, word
from tests.export.office import converted
from tests.ingest.hostile import error_of
from tests.ingest.mail import picture
from tests.ingest.office import CELLS, END_NOTE, NOTES, letter, needs_office, noted, office_file
from tests.ingest.test_convert import listening
from tests.matrix import standing_for

pytestmark = needs_office
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(home=tmp_path / "home", overrides={"llm.model": "offline"})


def read(engine: Engine, data: bytes, name: str) -> tuple[DocumentInfo, Document]:
    info = engine.ingest(engine.add(data, name).doc_id)
    assert info.status == "ready", info.error
    return info, engine.document(info.doc_id)


def words_in(engine: Engine, document: Document, quote: str) -> str:
    """What PyMuPDF finds on the page within the boxes of a quote, which the text has once."""
    assert document.text.count(quote) == 1, document.text
    start = document.text.index(quote)
    boxes = document.boxes(start, start + len(quote))
    with pymupdf.open(engine.file(document.doc_id)) as pdf:
        found = [pdf[box.page - 1].get_text(clip=(box.x0, box.y0, box.x1, box.y1)).split() for box in boxes]
    return " ".join(word for words in found for word in words)


@pytest.mark.parametrize("kind", standing_for(["docx"], ["docx", "doc", "rtf", "odt"]))
def test_a_text_document_has_its_headings_cells_and_words_once(engine: Engine, kind: str) -> None:
    info, document = read(engine, office_file(kind), f"letter.{kind}")
    assert info.kind == kind
    assert info.notes == ("1 comment left out.", "1 deletion left out.", "1 hidden passage left out.")
    headings = [document.text[e.start : e.end] for e in document.body if e.kind == "heading"]
    assert headings == ["Wells of the valley", "Method", "Results", "Nitrate"]
    (table,) = (e for e in document.body if e.table)
    assert table.table is not None
    assert [document.text[c.start : c.end] for c in table.table.cells] == CELLS
    assert table.section[-2:] == ("Results", "Nitrate")
    for quote in ("with care by two crews.", "Nitrate was highest at Orchard Lane,", "far above the limit", "58.2"):
        assert words_in(engine, document, quote) == quote
    for unseen in ("haste", "Nobody", "Which crews"):
        assert unseen not in document.text
    footer = next(e for e in document.elements if document.text[e.start : e.end] == "Valley board")
    assert footer.noise
    if kind == "docx":
        assert "taken on 3 March 2020 with care" in document.text, "a stored date stays that of the file"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["docx", "doc", "rtf", "odt"])
def test_notes_are_part_of_the_text_and_the_header_is_not(engine: Engine, kind: str, tmp_path: Path) -> None:
    data = noted() if kind == "docx" else converted(noted(), tmp_path, "docx", kind)
    document = read(engine, data, f"noted.{kind}")[1]
    for quote in (*NOTES, END_NOTE, "The board met twice.", "It is calm.", "These are its last words.", "7.2"):
        assert words_in(engine, document, quote) == quote
        assert document.text.index(quote) < document.body_end
    assert [document.text[e.start : e.end] for e in document.elements if e.noise] == ["Valley board, page 1"]


@pytest.mark.slow
def test_a_page_that_is_a_picture_of_text_is_read_by_ocr(engine: Engine) -> None:
    made = docx.Document()
    shown = picture("Nitrate was 61.4 mg/l", "at Orchard Lane in May", mode="RGB", size=(1240, 1500))
    made.add_picture(io.BytesIO(shown), docx.shared.Inches(6))
    info, document = read(engine, saved(made), "scan.docx")
    assert info.ocr_pages == 1
    assert "Orchard Lane" in document.text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pptx", "ppt", "odp"])
def test_a_citation_of_a_talk_names_the_slide_or_its_notes(engine: Engine, kind: str) -> None:
    info, document = read(engine, office_file(kind), f"talk.{kind}")
    assert (info.kind, info.pages, info.notes) == (kind, 4, ("1 hidden slide left out.",))
    places = {}
    for quote in (
        "measured twice a year.",
        "Orchard Lane had 61.4 mg/l in May.",
        "The limit is 50 mg/l.",
        "Two wells are deepened.",
    ):
        assert words_in(engine, document, quote) == quote
        start = document.text.index(quote)
        places[quote.split()[0]] = place_of(document, start, start + len(quote))
    assert places == {"measured": "slide 1", "Orchard": "slide 3", "The": "slide 3, notes", "Two": "slide 4"}
    assert place_of(document, 0, document.body_end) == "slide 1, slide 4"
    assert "Not yet decided" not in document.text


def titled(*paragraphs: tuple[str, str], core: str = "") -> bytes:
    """A Word file of (style, text), and a title among its properties."""
    made = docx.Document()
    made.core_properties.title = core
    for style, text in paragraphs:
        made.add_paragraph(text, style)
    return saved(made)


BODY = ("Normal", "The lease runs for five years from March, and either side may end it by letter. " * 4)


TITLED = {
    "title": (
        titled(("Title", "Harbour Street Lease: Memorandum"), ("Heading 1", "Term and notice"), BODY),
        "Harbour Street Lease: Memorandum",
    ),
    "two paragraphs": (
        titled(("Title", "Harbour Street"), ("Title", "Lease"), ("Subtitle", "Notes"), BODY, core="A template"),
        "Harbour Street Lease",
    ),
    "headings": (titled(("Heading 1", "Harbour Street"), ("Heading 2", "Term and notice"), BODY), "Harbour Street"),
    "property": (titled(BODY, core="Lease of Harbour Street"), "Lease of Harbour Street"),
    "title of an annex": (titled(("Heading 1", "Term and notice"), BODY, ("Title", "Annex"), BODY), "Term and notice"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", TITLED)
def test_a_word_file_is_called_by_its_title_alone(engine: Engine, case: str) -> None:
    data, title = TITLED[case]
    assert read(engine, data, "lease_7.docx")[0].title == title


@pytest.mark.slow
def test_a_talk_is_called_by_the_title_of_its_first_slide(engine: Engine) -> None:
    made = pptx.Presentation()
    for layout, words, line in ((0, "Harbour Street Lease", "For the board"), (1, "Term", "Five years")):
        slide = made.slides.add_slide(made.slide_layouts[layout])
        slide.shapes.title.text, slide.placeholders[1].text = words, line
    assert read(engine, saved(made), "talk_7.pptx")[0].title == "Harbour Street Lease"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["xls", "ods"])
def test_a_sheet_has_each_cell_as_shown_with_its_place(engine: Engine, kind: str) -> None:
    info, document = read(engine, office_file(kind), f"wells.{kind}")
    assert (info.kind, info.notes) == (kind, ("1 hidden sheet left out.",))
    start = document.text.index("1,111.25")
    assert place_of(document, start, start + 8) == "Readings!B2"


def field(instruction: str, stored: str) -> str:
    """A field of Word with its stored result."""
    sign = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    return (
        f"<w:p>{sign.format('begin')}<w:r><w:instrText>{instruction}</w:instrText></w:r>{sign.format('separate')}"
        f"<w:r><w:t>{stored}</w:t></w:r>{sign.format('end')}</w:p>"
    )


def linked_word(address: str) -> bytes:
    """A Word file with a linked picture, a template, an embedded document and fields that fetch."""
    files = parts(word("It is the body."))
    relations = "".join(
        f'<Relationship Id="out{kind}" Type="{RELATION}/{kind}" Target="{address}/{kind}" TargetMode="External"/>'
        for kind in ("image", "aFChunk", "attachedTemplate", "subDocument")
    )
    drawing = (
        '<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
        '<wp:extent cx="990000" cy="990000"/><wp:docPr id="1" name="x"/>'
        '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">'
        '<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture">'
        '<pic:nvPicPr><pic:cNvPr id="0" name="x"/><pic:cNvPicPr/></pic:nvPicPr>'
        f'<pic:blipFill><a:blip xmlns:r="{RELATION}" r:link="outimage"/><a:stretch><a:fillRect/></a:stretch>'
        "</pic:blipFill>"
        '<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="990000" cy="990000"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic>'
        "</wp:inline></w:drawing></w:r></w:p>"
    )
    body = drawing + "".join(
        field(f'{name} "{address}/{name}"', f"stored {name}") for name in ("INCLUDEPICTURE", "INCLUDETEXT", "DDEAUTO")
    )
    body += f'<w:altChunk xmlns:r="{RELATION}" r:id="outaFChunk"/>'
    end = "</Relationships>"
    changes = {
        "word/document.xml": ("<w:sectPr", f"{body}<w:sectPr"),
        "word/_rels/document.xml.rels": (end, relations + end),
        "word/settings.xml": (
            "</w:settings>",
            f'<w:attachedTemplate xmlns:r="{RELATION}" r:id="outattachedTemplate"/></w:settings>',
        ),
    }
    for part, (before, after) in changes.items():
        files[part] = files[part].replace(before.encode(), after.encode(), 1)
    space = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    files["word/_rels/settings.xml.rels"] = f"<Relationships {space}>{relations}{end}".encode()
    return archive(files)


def linked_odt(address: str, folder: Path) -> bytes:
    """An ODT with a linked section, picture, object and frame."""
    files = parts(converted(word("It is the body."), folder, "docx", "odt"))
    size = 'svg:width="3cm" svg:height="3cm"'
    frame = f'<draw:frame text:anchor-type="as-char" {size}><draw:{{}} xlink:href="{{}}"/></draw:frame>'
    frames = "".join(frame.format(kind, f"{address}/{kind}") for kind in ("image", "object", "floating-frame"))
    section = f'<text:section text:name="S"><text:section-source xlink:href="{address}/s.odt"/><text:p>Stored.</text:p>'
    added = f"{section}</text:section><text:p>{frames}</text:p></office:text>"
    files["content.xml"] = files["content.xml"].replace(b"</office:text>", added.encode())
    return archive(files)


def linked_rtf(address: str, _folder: Path) -> bytes:
    fields = "".join(
        f'{{\\field{{\\*\\fldinst {{ {name} "{address}/{name}" }}}}{{\\fldrslt {{stored}}}}}}\\par '
        for name in ("INCLUDEPICTURE", "INCLUDETEXT")
    )
    return f"{{\\rtf1\\ansi{{\\*\\template {address}/t.dot}}\\pard It is the body.\\par {fields}}}".encode()


LINKED: dict[str, Callable[[str, Path], bytes]] = {
    "docx": lambda address, _folder: linked_word(address),
    "odt": linked_odt,
    "rtf": linked_rtf,
}
# A converter in a process that may make no network of its own, as in a container.
WITHOUT_NETWORKS = (
    "import sys; from pathlib import Path; from ragcore.ingest.convert.converters import convert_office;"
    "made = convert_office(Path(sys.argv[1]).read_bytes(), 'a', sys.argv[2], 9);"
    "print(made.pages[0].get_text())"
)


@pytest.mark.parametrize("kind", standing_for(["docx"], LINKED))
def test_no_address_in_a_file_is_asked_for(kind: str, tmp_path: Path) -> None:
    limited = ["unshare", "-r", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "sh"]
    if subprocess.run([*limited, "true"], capture_output=True, check=False).returncode:
        limited = []  # it may make none here, whatever is asked
    with listening() as (address, asked):
        source = tmp_path / f"linked.{kind}"
        source.write_bytes(LINKED[kind](address, tmp_path))
        command = [*limited, sys.executable, "-c", WITHOUT_NETWORKS, str(source), kind]
        done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert "It is the body." in done.stdout, done.stderr
    assert asked == []


def test_an_rtf_shows_no_file_of_the_machine(tmp_path: Path) -> None:
    """LibreOffice embeds what INCLUDEPICTURE names as it opens the file: a picture, or a page of a PDF."""
    (tmp_path / "private.pdf").write_bytes(pdfs.one_column())
    pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 40), False).save(tmp_path / "private.png")
    asked = "".join(
        f"{{\\field{instruction.format(f'INCLUDEPICTURE {chr(34)}{before}{tmp_path / name}{chr(34)}')}"
        f"{{\\fldrslt stored}}}}\\par "
        for instruction in ("{{\\*\\fldinst {}}}", "{{\\fldinst {{{}}}}}")
        for before in ("", "file://")
        for name in ("private.pdf", "private.png")
    )
    made = convert_office(f"{{\\rtf1\\ansi It is the body.\\par {asked}}}".encode(), "a.rtf", "rtf", 9)
    text = "".join(page.get_text() for page in made.pages)
    assert "It is the body." in text
    assert text.count("stored") == 8
    assert "Larkfield" not in text
    assert [page.get_images() for page in made.pages] == [[]]
    assert not any(len(page.get_drawings()) for page in made.pages)


def offices(folder: str) -> list[str]:
    """Processes of LibreOffice that work in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"soffice" in command and folder.encode() in command:
            found.append(path.parent.name)
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.parametrize("how", ["stopped", "too long"])
def test_libreoffice_ends_with_the_reading(
    how: str, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = tmp_path / "long.docx"
    source.write_bytes(word(*(f"Paragraph {n} of a long file. " * 40 for n in range(6_000))))
    started, stop = threading.Event(), threading.Event()

    def watch() -> None:
        while not stop.is_set() and not offices(str(tmp_path)):
            time.sleep(0.05)
        started.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    child = Child(None, settings.ingest, name="long.docx", cancelled=started.is_set if how == "stopped" else None)
    request = {"source": str(source), "target": str(tmp_path / "made.pdf"), "kind": "docx", "name": "long.docx"}
    try:
        if how == "stopped":
            with pytest.raises(Cancelled):
                child.convert(source, tmp_path / "made.pdf", "docx")
        else:
            with pytest.raises(ParseTimeout):
                child.call({"op": "convert", **request, "most_pages": 99, "folder": str(tmp_path)}, 4.0)
    finally:
        stop.set()
        watcher.join()
        child.close()
    assert started.is_set()
    end = time.monotonic() + 20
    while offices(str(tmp_path)):
        assert time.monotonic() < end
        time.sleep(0.05)
    if how == "stopped":
        assert [path.name for path in tmp_path.iterdir()] == ["long.docx"]


WRITING = """#!/bin/sh
n=0
(while [ $n -lt 3000 ]; do n=$((n + 1)); : > "$TMPDIR/$n" || exit; done) 2>/dev/null &
sleep 60
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for LibreOffice")
def test_what_a_program_writes_while_it_is_ended_goes_too(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, kept = tmp_path / "bin" / "soffice", tmp_path / "kept"
    program.parent.mkdir()
    kept.mkdir()
    program.write_text(WRITING)
    program.chmod(0o755)
    waiting.close()  # a waiting process has the path of its start
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("tempfile.tempdir", str(kept))
    source = tmp_path / "short.docx"
    source.write_bytes(word("A short file."))
    child = Child(None, settings.ingest, name="short.docx", cancelled=lambda: any(kept.glob("*/*/1")))
    with pytest.raises(Cancelled):
        child.convert(source, tmp_path / "made.pdf", "docx")
    child.close()
    assert list(kept.iterdir()) == []


@pytest.mark.slow
def test_without_libreoffice_the_error_says_what_to_install(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting.close()  # a waiting process has the path of its start
    monkeypatch.setenv("PATH", str(tmp_path))
    info = engine.ingest(engine.add(letter(), "letter.docx").doc_id)
    assert info.error is not None
    assert (info.status, info.error["code"]) == ("failed", "converter_missing")
    assert "letter.docx" in info.error["message"]
    assert "Install LibreOffice" in info.error["hint"]
    monkeypatch.undo()
    waiting.close()
    assert engine.ingest(info.doc_id).status == "ready"


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def deep() -> bytes:
    files = parts(word("It is deep."))
    nested = b"<w:tbl><w:tr><w:tc>" * 500 + b"<w:p/>" + b"</w:tc></w:tr></w:tbl>" * 500
    return archive(
        files | {"word/document.xml": files["word/document.xml"].replace(b"<w:sectPr", nested + b"<w:sectPr")}
    )


def entities() -> bytes:
    kinds = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    files = parts(word("It expands."))
    document = files["word/document.xml"].replace(b"<w:document", f"<!DOCTYPE x [{kinds}]><w:document".encode(), 1)
    return archive(files | {"word/document.xml": document.replace(b"It expands.", b"It &e9; expands.")})


HOSTILE: dict[str, Callable[[], bytes]] = {
    "bomb.docx": lambda: archive({"[Content_Types].xml": b"", "word/document.xml": b" " * 60_000_000}),
    "path.pptx": lambda: archive({"[Content_Types].xml": b"", "ppt/presentation.xml": b"", "../../evil": b""}),
    "empty parts.docx": lambda: archive({"[Content_Types].xml": b"", "word/document.xml": b""}),
    "deep.docx": deep,
    "entities.docx": entities,
    "cut.docx": lambda: cut(letter()),
    "cut.doc": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "WordDocument".encode("utf-16-le"),
    "cut.xls": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "Workbook".encode("utf-16-le"),
    "broken.odt": lambda: archive({"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": b"<a"}),
    "locked.odt": lambda: archive(
        {
            "mimetype": b"application/vnd.oasis.opendocument.text",
            "META-INF/manifest.xml": b"<manifest><file-entry><encryption-data/></file-entry></manifest>",
        }
    ),
    "blank.docx": word,
    "text.doc": lambda: b"It is plain text.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_clear_error(engine: Engine, name: str) -> None:
    assert error_of(engine, HOSTILE[name](), name) is not None


@pytest.mark.parametrize(("kind", "named"), [("docx", "x.doc"), ("docx", "x"), ("pptx", "x.odp"), ("docx", "x.zip")])
def test_the_kind_is_told_by_what_is_in_the_file(kind: str, named: str) -> None:
    assert kind_of(office_file(kind), named) == kind


def test_a_web_page_that_is_named_like_an_office_file_is_a_web_page() -> None:
    assert kind_of(b"<html><table><tr><td>x", "export.xls") == "html"
