"""Word files: every reference has its footnote, styles and lists are those of the file, LibreOffice opens it clean."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from docx.oxml.ns import qn
from lxml import etree

from ragcore.config.settings import load
from ragcore.export.markdown import Insert, parse
from ragcore.export.pandoc import write_word as write
from ragcore.export.tree import Manuscript, heading, node
from tests.export import samples
from tests.export.office import converted
from tests.export.reading import W, parts, squeezed

SETTINGS = load(environ={})[0].export


@pytest.fixture(scope="module")
def opened() -> tuple[Any, Any]:
    """The rich sample as python-docx opens it, and its footnotes."""
    return parts(write(samples.rich(), SETTINGS))


def test_every_reference_has_its_footnote_and_every_footnote_its_reference(opened: tuple[Any, Any]) -> None:
    document, footnotes = opened
    notes = footnotes.xpath("w:footnote[not(@w:type)]", namespaces=W)
    references = [found.get(qn("w:id")) for found in document.element.body.iter(qn("w:footnoteReference"))]
    assert references == [note.get(qn("w:id")) for note in notes]
    assert len(set(references)) == 10
    for note in notes:
        assert len(note.xpath(".//w:footnoteRef", namespaces=W)) == 1
        assert note.xpath("w:p/w:pPr/w:pStyle/@w:val", namespaces=W) == ["FootnoteText"]
    separators = footnotes.xpath("w:footnote[@w:type]", namespaces=W)
    assert {(each.get(qn("w:id")), each.get(qn("w:type"))) for each in separators} == {
        ("-1", "separator"),
        ("0", "continuationSeparator"),
    }


def test_a_citation_given_again_points_to_its_footnote(opened: tuple[Any, Any]) -> None:
    body = opened[0].element.body
    fields = [found.text.split()[1] for found in body.iter(qn("w:instrText"))]
    assert fields == ["Note1", "Note2", "Note5", "Note1"]
    bookmarks = body.xpath(".//w:bookmarkStart/@w:name")
    assert len(set(bookmarks)) == len(bookmarks)
    assert set(fields) <= set(bookmarks)
    starts, ends = body.xpath(".//w:bookmarkStart/@w:id"), body.xpath(".//w:bookmarkEnd/@w:id")
    assert starts == ends


def test_every_style_and_list_that_is_used_is_there(opened: tuple[Any, Any]) -> None:
    document, footnotes = opened
    styles = {style.style_id for style in document.styles}
    for root in (document.element.body, footnotes):
        used = etree.XPath(".//w:pStyle/@w:val | .//w:rStyle/@w:val | .//w:tblStyle/@w:val", namespaces=W)(root)
        assert used
        assert set(used) <= styles
    numbering = document.part.numbering_part.element
    assert set(document.element.body.xpath(".//w:numId/@w:val")) <= set(numbering.xpath("w:num/@w:numId"))
    known = set(numbering.xpath("w:abstractNum/@w:abstractNumId"))
    assert set(numbering.xpath("w:num/w:abstractNumId/@w:val")) <= known
    kinds = [child.tag for child in numbering]
    assert kinds == sorted(kinds), "abstract numberings come first"


def test_headings_tables_and_links_are_those_of_word(opened: tuple[Any, Any]) -> None:
    document, _ = opened
    headings = [(p.style.name, p.text) for p in document.paragraphs if p.style.name.startswith(("Heading", "Title"))]
    assert headings[:3] == [
        ("Title", "Capital spending of 3M"),
        ("Heading 1", "1. What did it spend in 2018?"),
        ("Heading 2", "By segment"),
    ]
    [table] = document.tables
    assert [[cell.text for cell in row.cells] for row in table.rows][1] == ["Industrial", "12,267", "11,866"]
    assert len(table._tbl.xpath("w:tr/w:trPr/w:tblHeader")) == 1
    assert [{p.style.name for cell in row.cells for p in cell.paragraphs} for row in table.rows[:2]] == [
        {"Table Head"},
        {"Table Text"},
    ]
    assert [p.hyperlinks[0].address for p in document.paragraphs if p.hyperlinks] == [
        "https://www.sec.gov/edgar?a=1&b=2"
    ]


def test_it_tells_what_it_is_and_not_who_made_it(opened: tuple[Any, Any]) -> None:
    document, _ = opened
    about = document.core_properties
    assert (about.title, about.author, about.last_modified_by, about.comments) == ("Capital spending of 3M", "", "", "")
    assert (about.language, str(about.created)[:10]) == ("en-US", "2026-09-22")
    assert [name for name in document.part.package.iter_parts() if "thumbnail" in name.partname] == []
    assert " PAGE " in document.sections[0].footer._element.xpath(".//w:instrText/text()")


def test_right_to_left_paragraphs_say_so(opened: tuple[Any, Any]) -> None:
    body = opened[0].element.body
    said = ["".join(p.itertext()) for p in body.iter(qn("w:p")) if p.xpath("w:pPr/w:bidi")]
    assert [text[:9] for text in said] == ["6. כמה על", "המכירות ע", "דוח שנתי "]


def test_lists_begin_anew_and_keep_their_first_number() -> None:
    document, _ = parts(write(Manuscript("T", parse("1. a\n\n1) a\n\n7. b")), SETTINGS))
    used = document.element.body.xpath(".//w:numId/@w:val")
    assert len(set(used)) == 3
    numbering = document.part.numbering_part.element
    first = "w:lvlOverride[@w:ilvl='0']/w:startOverride/@w:val"
    assert [numbering.xpath(f"w:num[@w:numId='{n}']/{first}") for n in used] == [["1"], ["1"], ["7"]]


@pytest.mark.parametrize(("paper", "width"), [("a4", 11906), ("letter", 12240)])
def test_the_paper_is_that_of_the_settings(paper: str, width: int) -> None:
    document, _ = parts(write(samples.made(), SETTINGS.model_copy(update={"paper": paper})))
    assert document.element.body.xpath("w:sectPr/w:pgSz/@w:w") == [str(width)]


def test_the_zip_is_whole_and_its_parts_are_xml() -> None:
    with zipfile.ZipFile(io.BytesIO(write(samples.rich(), SETTINGS))) as file:
        assert file.testzip() is None
        names = file.namelist()
        assert names[0] == "[Content_Types].xml"
        assert 'Target="footnotes.xml"' in file.read("word/_rels/document.xml.rels").decode()
        for name in names:
            if name.endswith((".xml", ".rels")):
                etree.fromstring(file.read(name))
        assert "footnotes+xml" in file.read("[Content_Types].xml").decode()


def test_libreoffice_opens_it_with_every_footnote_at_the_foot_of_a_page(tmp_path: Path) -> None:
    made = samples.rich()
    table = "| Head | B |\n|---|---|\n" + "\n".join(f"| row {i} | cell |" for i in range(90))
    long = parse(table, [Insert(7, 7, [node("Ref", 11)])])
    note = samples.note(11, "Quoted in a header row", title="Last document")
    data = write(Manuscript(made.title, [*made.blocks, heading(1, "Long"), *long], (*made.notes, note)), SETTINGS)
    with pymupdf.open("pdf", converted(data, tmp_path)) as document:
        flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_PRESERVE_LIGATURES
        pages = [page.get_text(flags=flags) for page in document]
        words = squeezed("".join(pages))
        for each in (*made.notes, note):
            if each.citation.title.isascii():
                told = f"{each.number} {each.citation.title}, p. {each.citation.page_label}"
                assert squeezed(told) in words, each.number
        assert sum("Head" in text for text in pages) >= 2, "the header row is repeated"
        assert [level for level, *_ in document.get_toc()][:3] == [1, 2, 1]
        assert document.metadata["title"] == made.title
        # A repeated reference shows its note's number, not words or an error.
        assert "Error" not in words
        assert "in20191" in words
