"""A draft is read as its program shows it: each block once, in order, in one plain text."""

from __future__ import annotations

import io
import zipfile
from datetime import date
from itertools import pairwise

import docx
import openpyxl
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import given
from hypothesis import strategies as st

from ragcore.check.draft import MOST_BYTES, read_draft
from ragcore.errors import InputError
from ragcore.text.number_formats import shown
from ragcore.types.check import Draft
from tests import pdfs
from tests.check.files import archive, blocks, book, saved, tracked, word

MEMO = """---
title: Front matter
---
# Facility *review*

The facility
matures in **June 2028**.[^1] See [the deed](http://example.com) &amp; `clause 4`.<br>It stays.

- First
  - Second <!-- not shown -->
- Third

  More of the third.

> Quoted.

| Year | Revenue |
|---|---|
| 2024 | $1,234 |

```
a = 1
  b = 2
```

[^1]: As amended.
"""

_words = st.text(st.sampled_from("abcXYZ019éß $%,.;()"), min_size=1, max_size=30).map(
    lambda text: " ".join(text.split())
)
_texts = st.lists(_words.filter(lambda text: bool(text)), min_size=1, max_size=8)
_plain = st.lists(
    st.lists(st.sampled_from(["Revenue", "rose", "to", "$12.5", "million", "é", "(see"]), min_size=1, max_size=6).map(
        lambda words: " ".join(["The", *words])
    ),
    min_size=1,
    max_size=8,
)


def assert_sound(draft: Draft) -> None:
    assert all(0 <= one.start < one.end <= len(draft.text) for one in draft.blocks)
    for one, two in pairwise(draft.blocks):
        assert set(draft.text[one.end : two.start]) == {"\n"}


def test_markdown_is_read_without_its_markup() -> None:
    draft = read_draft("memo.markdown", MEMO.encode())
    assert_sound(draft)
    assert draft.kind == "md"
    assert blocks(draft) == [
        ("heading", "Facility review"),
        ("paragraph", "The facility matures in June 2028. See the deed & clause 4. It stays."),
        ("item", "First"),
        ("item", "Second"),
        ("item", "Third"),
        ("paragraph", "More of the third."),
        ("paragraph", "Quoted."),
        *(("cell", text) for text in ("Year", "Revenue", "2024", "$1,234")),
        ("code", "a = 1\n  b = 2"),
        ("paragraph", "As amended."),
    ]
    assert [one.level for one in draft.blocks if one.kind == "item"] == [1, 2, 1]
    assert [one.header for one in draft.blocks if one.kind == "cell"] == [True, True, False, False]


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_read_in_any_usual_encoding(code: str) -> None:
    text = (
        "Café notes\r\n\r\nThe café’s revenue rose\r\nto €5 million in 2024.\r\n\r\n- One\r\n- Two, and\r\n  more\r\n"
    )
    draft = read_draft("notes.txt", text.encode(code))
    assert blocks(draft) == [
        ("heading", "Café notes"),
        ("paragraph", "The café’s revenue rose to €5 million in 2024."),
        ("item", "One"),
        ("item", "Two, and more"),
    ]


def test_each_long_line_of_pasted_text_is_a_paragraph() -> None:
    long = "Revenue rose to $5 million in the year, " * 4 + "as planned."
    assert blocks(read_draft("Pasted text", f"{long}\nCosts fell.\n{long}".encode())) == [
        ("paragraph", long),
        ("paragraph", "Costs fell."),
        ("paragraph", long),
    ]


def test_word_is_read_in_order_as_if_all_changes_were_accepted() -> None:
    data = word(
        ("Title", "Facility review"),
        ("Heading 2", "Terms"),
        "The facility matures in 2028.",
        ("List Bullet", "A covenant"),
        [["Year", "2023", "2024"], ["Revenue", "10", "12"]],
        [["Only one column."], ["It is text."]],
    )
    draft = read_draft("memo.docx", data)
    assert_sound(draft)
    assert blocks(draft) == [
        ("heading", "Facility review"),
        ("heading", "Terms"),
        ("paragraph", "The facility matures in 2028."),
        ("item", "A covenant"),
        *(("cell", text) for text in ("Year", "2023", "2024", "Revenue", "10", "12")),
        ("paragraph", "Only one column."),
        ("paragraph", "It is text."),
    ]
    assert [(one.level, one.header) for one in draft.blocks[1:5]] == [(2, False), (0, False), (1, False), (0, True)]
    assert read_draft("x.docx", tracked()).text == "Revenue rose a little in 2024. Costs fell."


def test_a_merged_cell_is_read_once_and_a_table_in_a_cell_after_it() -> None:
    made = docx.Document()
    table = made.add_table(3, 3)
    for row, line in enumerate(("abc", "def", "ghi")):
        for column, letter in enumerate(line):
            table.cell(row, column).text = letter
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "high"
    inner = table.cell(2, 2).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "in", "side"
    draft = read_draft("x.docx", saved(made))
    cells = [(draft.text[one.start : one.end], one.table, one.row, one.col) for one in draft.blocks]
    assert cells[:4] == [("wide", 0, 0, 0), ("c", 0, 0, 2), ("high", 0, 1, 0), ("e", 0, 1, 1)]
    assert cells[-3:] == [("i", 0, 2, 2), ("in", 1, 0, 0), ("side", 1, 0, 1)]


def test_the_text_of_a_box_comes_after_its_paragraph() -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("Anchored.")
    inner = "<w:p><w:r><w:t>Boxed.</w:t></w:r></w:p>"
    box = f"<w:r {nsdecls('w')}><w:pict><w:txbxContent>{inner}</w:txbxContent></w:pict></w:r>"
    paragraph._p.append(parse_xml(box))
    made.add_paragraph("After.")
    assert blocks(read_draft("x.docx", saved(made))) == [("paragraph", t) for t in ("Anchored.", "Boxed.", "After.")]


def test_a_workbook_is_read_as_it_is_shown() -> None:
    made = openpyxl.load_workbook(
        io.BytesIO(
            book(
                Sheet1=[
                    ["Larkfield, in thousands"],
                    [],
                    [None, "Year", 2023, 2024],
                    [None, "Revenue", 1234.5, 0.125],
                    [],
                    [None, "Closed", date(2025, 9, 30), None],
                ],
                Hidden=[["secret"]],
            )
        )
    )
    made["Sheet1"]["C4"].number_format, made["Sheet1"]["D4"].number_format = "$#,##0.00", "0.0%"
    made["Hidden"].sheet_state = "hidden"
    draft = read_draft("book.xlsx", saved(made))
    assert_sound(draft)
    assert [(draft.text[one.start : one.end], one.place) for one in draft.blocks] == [
        ("Sheet1", ""),
        ("Larkfield, in thousands", "Sheet1!A1"),
        ("Year", "Sheet1!B3"),
        ("2023", "Sheet1!C3"),
        ("2024", "Sheet1!D3"),
        ("Revenue", "Sheet1!B4"),
        ("$1,234.50", "Sheet1!C4"),
        ("12.5%", "Sheet1!D4"),
        ("Closed", "Sheet1!B6"),
        ("30 September 2025", "Sheet1!C6"),
    ]
    cells = [one for one in draft.blocks if one.kind == "cell"]
    assert [(one.row, one.col, one.header) for one in cells[:4]] == [
        (0, 0, True),
        (0, 1, True),
        (0, 2, True),
        (1, 0, False),
    ]


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        (1234, "General", "1234"),
        (0.1 + 0.2, "General", "0.3"),
        (-1234.5, "#,##0.00", "-1,234.50"),
        (-1234, "#,##0_);(#,##0)", "(1,234)"),
        (0, '_-* #,##0_-;-* #,##0_-;_-* "-"??_-;_-@_-', "-"),
        (0.256, "0.0%", "25.6%"),
        (12_345_678, "#,##0.0,,", "12.3"),
        (1_234_567, "#,##0,", "1,235"),
        (1_234_567_890, "#,##0,,", "1,235"),
        (1_234_567, "0,", "1235"),
        (1_234_567, '$#,##0,"k"', "$1,235k"),
        (1_234_567, "0,.0", "1234.6"),
        (2.5, "0", "3"),
        (1.005, "0.00", "1.01"),
        (0.125, "0%", "13%"),
        (1e300, "0.0E+0", "1e+300"),
        (1e40, "#,##0.0,", f"10{',000' * 12}.0"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (99, '0" bps"', "99 bps"),
        (2.5, "0.0x", "2.5x"),
        (2.5, "# ?/?", "2.5"),
        (-0.001, "0.00", "0.00"),
        (5000, '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "5.0K"),
        (2_500_000, '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "2.5M"),
        (-5000, '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "-5000"),
        (-4, '[<0]"neg "0;0', "neg 4"),
        (-0.031, '[<0]"down "0.0%;0.0%', "down 3.1%"),
        (-1250, '[<=-1000]0.0,"K";0', "-1.3K"),
        (-5, "[Green][>0]+0;[Red][<0]-0;0", "-5"),
        (-5, "[>=0]0;(0)", "(5)"),
        (-5, "[>100]0.0;-0;0", "-5"),
        (2, '[=1]0" day";0" days"', "2 days"),
        (-4, "[>=ten]0;(0)", "-4"),
        (12.5, 'General" kg"', "12.5 kg"),
        (-12.5, 'General" kg"', "-12.5 kg"),
        (5, "General-General", "5"),
        (90, '0" km/h"', "90 km/h"),
        (2134, "00000", "02134"),
        (12, "0,000", "0,012"),
        (5_551_234_567, "(000) 000-0000", "(555) 123-4567"),
        (5_551_234, "(###) ###-####", "() 555-1234"),
        (-12_345, "# ##0", "-12 345"),
        (0.5, ".00", ".50"),
        (12_345, "0.0 0", "12345"),
        (4_006_381_333_931, "General", "4006381333931"),
        (-4_006_381_333_931.0, "General", "-4006381333931"),
        (1e16, "General", "1e+16"),
        (True, "General", "TRUE"),
        ("  two\nlines ", "General", "two lines"),
        (None, "0.00", ""),
    ],
)
def test_a_number_is_shown_in_its_format(value: object, style: str, text: str) -> None:
    assert shown(value, style) == text


def test_a_pdf_is_read_as_in_the_library() -> None:
    draft = read_draft("survey.pdf", pdfs.ruled_table())
    assert_sound(draft)
    assert draft.kind == "pdf"
    assert {one.place for one in draft.blocks} == {"p. 1"}
    cells = {(one.row, one.col): draft.text[one.start : one.end] for one in draft.blocks if one.kind == "cell"}
    assert (cells[0, 0], cells[1, 0], cells[1, 2]) == ("Well", "Orchard Lane", "61.4")


@given(_plain)
def test_markdown_gives_back_what_was_put_in(texts: list[str]) -> None:
    draft = read_draft("x.md", "\n\n".join(f"- {text}" if n % 2 else text for n, text in enumerate(texts)).encode())
    assert_sound(draft)
    assert [text for _, text in blocks(draft)] == texts


@given(_texts)
def test_word_gives_back_what_was_put_in(texts: list[str]) -> None:
    draft = read_draft("x.docx", word(*texts, [texts, texts[::-1]]))
    assert_sound(draft)
    assert [text for _, text in blocks(draft)] == [*texts, *texts, *texts[::-1]]


@given(_texts, st.integers(1, 3))
def test_a_workbook_gives_back_what_was_put_in(texts: list[str], columns: int) -> None:
    texts = [f"'{text}" for text in texts]  # no formula
    rows = [texts[n : n + columns] for n in range(0, len(texts), columns)]
    draft = read_draft("x.xlsx", book(One=rows))
    assert_sound(draft)
    assert [text for _, text in blocks(draft)] == ["One", *texts]


def _bomb() -> bytes:
    return archive({"word/document.xml": b" " * 60_000_000})


def _entities() -> bytes:
    """A Word file that would be very large once its entities are put in."""
    kinds = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    with zipfile.ZipFile(io.BytesIO(word("Hello there."))) as given:
        files = {name: given.read(name) for name in given.namelist()}
    text = files["word/document.xml"].decode().replace("Hello there.", "&e9;")
    files["word/document.xml"] = text.replace("<w:document", f"<!DOCTYPE x [{kinds}]><w:document", 1).encode()
    return archive(files)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.txt", b""),
        ("blank.md", b" \n\n"),
        ("blank.docx", word("")),
        ("blank.xlsx", book(One=[])),
        ("large.txt", b"a" * (MOST_BYTES + 1)),
        ("long.txt", b"word " * 500_000),
        ("binary.txt", bytes(range(256))),
        ("picture", b"\x89PNG\r\n\x1a\n\x00\x00"),
        ("memo.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
        ("locked.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
        ("memo.rtf", b"{\\rtf1 hello}"),
        ("memo.odt", archive({"content.xml": b"<a/>"})),
        ("slides.pptx", archive({"ppt/presentation.xml": b"<a/>"})),
        ("page.html", b"<html>"),
        ("table.csv", b"a,b"),
        ("code.py", b"print()"),
        ("text.pdf", b"not a PDF"),
        ("text.docx", b"plain text"),
        ("cut.docx", word("Hello there.")[:-200]),
        ("damaged.docx", archive({"word/document.xml": b"<w:document"})),
        ("damaged.xlsx", archive({"xl/workbook.xml": b"<workbook/>"})),
        ("bomb.docx", _bomb()),
        ("entities.docx", _entities()),
        ("damaged.pdf", b"%PDF-1.7\nnothing"),
        ("locked.pdf", pdfs.encrypted()),
        ("empty.pdf", pdfs.blank()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_says_so_and_what_to_do(name: str, data: bytes) -> None:
    with pytest.raises(InputError) as raised:
        read_draft(name, data)
    assert name in raised.value.message or name == "long.txt"
    assert raised.value.hint


def test_the_kind_is_told_by_what_is_in_the_file() -> None:
    assert read_draft("memo.pdf", word("It is Word.")).kind == "docx"
    assert read_draft("book.docx", book(One=[["It is Excel."]])).kind == "xlsx"
    assert read_draft("Pasted text, 3.5 lines", b"It is text.").kind == "txt"


@pytest.mark.parametrize("reference", ["A1:XFD1048576", "A1:Z10000"])
@pytest.mark.parametrize("code", ["utf-8", "utf-16"])
def test_ranges_over_too_many_cells_are_refused_before_they_are_made(reference: str, code: str) -> None:
    with zipfile.ZipFile(io.BytesIO(book(One=[["Revenue", 5]]))) as given:
        files = {name: given.read(name) for name in given.namelist()}
    sheet = files["xl/worksheets/sheet1.xml"].decode()
    merged = f"</sheetData><mergeCells count='1'><mergeCell ref='{reference}'/></mergeCells>"
    files["xl/worksheets/sheet1.xml"] = sheet.replace("</sheetData>", merged).encode(code)
    with pytest.raises(InputError, match="too many cells"):
        read_draft("x.xlsx", archive(files))


def test_a_cell_of_a_word_table_is_at_most_as_wide_as_a_table() -> None:
    made = docx.Document(io.BytesIO(word([["a", "b"], ["c", "d"]])))
    made.tables[0].cell(0, 0)._tc.grid_span = 10**9
    draft = read_draft("x.docx", saved(made))
    assert max(one.col for one in draft.blocks) == 63


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("---\ntitle: A\ntags:\n  - b\n- c\n# d\n\nempty:\n---\nIt is text.", ["It is text."]),
        ("---\n\nRevenue was 5.\n\n---\n\nCosts fell.", ["Revenue was 5.", "Costs fell."]),
        ("---\nRevenue was 5.\n\n---\n\nCosts fell.", ["Revenue was 5.", "Costs fell."]),
    ],
)
def test_only_fields_between_rules_are_front_matter(text: str, read: list[str]) -> None:
    assert [text for _, text in blocks(read_draft("x.md", text.encode()))] == read


def test_prose_in_markdown_is_read_however_it_is_set() -> None:
    text = "# Costs\n\n    They fell.\n\n<p>They rose.</p>\n\n<div>\n\nThey <b>stayed</b>.\n\n</div>\n\n<!-- a\n\nb -->"
    assert blocks(read_draft("x.md", text.encode())) == [
        ("heading", "Costs"),
        *(("paragraph", text) for text in ("They fell.", "They rose.", "They stayed.")),
    ]


def test_a_wrapped_line_that_begins_with_a_number_goes_on() -> None:
    text = "Revenue rose from 12 to\n15. Costs fell.\n2) Two\n(b) b\n\nIn short\n1. One\n2. Two\n\nAlso\n- Three"
    assert blocks(read_draft("x.txt", text.encode())) == [
        ("paragraph", "Revenue rose from 12 to 15. Costs fell."),
        *(("item", "Two"), ("item", "b"), ("paragraph", "In short"), ("item", "One"), ("item", "Two")),
        *(("paragraph", "Also"), ("item", "Three")),
    ]


def test_a_cell_beyond_all_numbers_is_damage() -> None:
    with zipfile.ZipFile(io.BytesIO(book(One=[["Revenue", 5]]))) as given:
        files = {name: given.read(name) for name in given.namelist()}
    sheet = files["xl/worksheets/sheet1.xml"]
    files["xl/worksheets/sheet1.xml"] = sheet.replace(b"<v>5</v>", b"<v>1E999</v>")
    assert files["xl/worksheets/sheet1.xml"] != sheet
    with pytest.raises(InputError, match="damaged"):
        read_draft("x.xlsx", archive(files))
