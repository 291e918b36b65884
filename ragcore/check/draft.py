"""Draft reader: a file → its text and blocks. The kind of a file is told by what is in it, then by its name."""

from __future__ import annotations

import codecs
import io
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from ragcore.check.cells import shown
from ragcore.config.settings import Settings, load
from ragcore.errors import InputError, ParseError, PasswordRequired
from ragcore.export.characters import clean
from ragcore.text.numbers import Number, numbers
from ragcore.types.check import Block, BlockKind, Draft, DraftKind

if TYPE_CHECKING:
    from ragcore.types import Document, Element

MOST_BYTES = 20_000_000
MOST_UNPACKED, MOST_XML = 300_000_000, 40_000_000  # bytes of a zip's files, and of those of a program's own text
MOST_CHARACTERS = 1_000_000
MOST_PAGES = 300
MOST_CELLS = 200_000
_TAKEN = "Groundwork checks Word (.docx), PDF, Excel (.xlsx), Markdown and text files."
_BLANK = "{0} has no text to check."
_COPY = "Copy what is to be checked to a new file."
_SAVE_AS = {
    **dict.fromkeys(("doc", "rtf", "odt", "pages", "html", "htm"), "Save it as a Word file (.docx)."),
    **dict.fromkeys(("xls", "ods", "csv", "tsv"), "Save it as an Excel workbook (.xlsx)."),
    **dict.fromkeys(("ppt", "pptx", "odp", "key"), "Save it as PDF."),
}
_OLE, _RTF = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf"
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# What a file that is not what it seems makes of the libraries that open it.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, SyntaxError, EOFError, LookupError),
    *(ValueError, TypeError, AttributeError, RuntimeError, OSError, ArithmeticError),
)
# Ranges of cells that openpyxl makes one cell after another.
_RANGE = re.compile(rb"""<[^<>\s/]*?(?:mergeCell|hyperlink)\s[^<]*?\bref\s*=\s*["']([^"']*)""")
_FRONT_MATTER = re.compile(r"\A---\n(?!\n)(?:(?:(?:[\w-]+:|-)(?:[ \t].*)?|[ \t#].*|)\n)*(?:---|\.\.\.)(?:\n|\Z)")
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\](?:: ?)?")
_BREAK_TAG = re.compile(r"<br\b", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)]|\([a-z\d]\))\s+(?=\S)")
_FIRST_BULLET = re.compile(r"\s*(?:[-*•]|1[.)]|\([a1]\))\s")  # another number may go on with a line that was wrapped
_WRAPPED = 120  # characters; a longer line is a paragraph of its own
_HEADING_WORDS = 10


def read_draft(name: str, data: bytes, settings: Settings | None = None) -> Draft:
    """Draft in the file ``name``; ``settings`` (default: those that come with Groundwork) are for reading a PDF. Raises
    `InputError` if it can't be read."""
    if not data:
        raise InputError(f"{name} is empty.", hint="Choose a draft with text.")
    if len(data) > MOST_BYTES:
        raise InputError(
            f"{name} has {len(data) / 1e6:.0f} MB; a draft has at most {MOST_BYTES / 1e6:.0f} MB.",
            hint="Save it without pictures, or split it and check its parts.",
        )
    kind = _kind(name, data)
    out = _Writer()
    try:
        if kind == "pdf":
            _pdf(name, data, settings or load()[0], out)
        elif kind == "docx":
            _docx(data, out)
        elif kind == "xlsx":
            _xlsx(data, out)
        else:
            (_markdown if kind == "md" else _plain)(_decoded(name, data), out)
    except InputError:
        raise
    except _DAMAGED as error:
        if kind not in ("docx", "xlsx"):
            raise
        opened = "Word" if kind == "docx" else "Excel"
        raise InputError(
            f"{name} is damaged, or no {opened} file: it can't be opened.",
            hint=f"Open it in {opened}, save it again, and choose that file.",
        ) from error
    if not out.blocks:
        hint = "Open it in Excel and save it, so that its formulas have values." if kind == "xlsx" else None
        raise InputError(_BLANK.format(name), hint=hint or "Choose a draft with text.")
    return Draft(name, kind, "".join(out.parts), tuple(out.blocks))


def figure(text: str) -> Number | None:
    """The one quantity that a cell is (``$1,234``, ``(12)%``, ``3.5x``); None for a label, a year or an empty cell."""
    found = numbers(text)
    if len(found) != 1:
        return None
    before, after = text[: found[0].start], text[found[0].start + len(found[0].raw) :]
    is_one = not any(map(str.isalpha, before)) and sum(map(str.isalpha, after)) <= 3
    return found[0] if is_one and any(map(str.isdigit, found[0].raw)) else None


@dataclass
class _Writer:
    """Text and blocks so far. A list's items and a table's cells are a line apart, other blocks two."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    tables: int = 0

    def add(self, text: str, kind: BlockKind, **fields: Any) -> None:
        """Add a block unless it is blank, without characters that a Word file can't hold or may hide."""
        text = clean(text).replace("\xad", "").strip()
        if not text:
            return
        last = self.blocks[-1] if self.blocks else None
        start = last.end if last else 0
        if last is not None:
            beside = kind == last.kind in ("item", "cell") and fields.get("table", -1) == last.table
            self.parts.append("\n" if beside else "\n\n")
            start += len(self.parts[-1])
        self.parts.append(text)
        self.blocks.append(Block(kind, start, start + len(text), **fields))
        _check_length(start + len(text))

    def row(self, cells: Iterable[tuple[int, str, str]], number: int, *, header: bool) -> None:
        """Add a row of the table begun last: column, text and place of each cell."""
        for column, text, place in cells:
            self.add(text, "cell", table=self.tables - 1, row=number, col=column, header=header, place=place)


def _check_length(characters: int) -> None:
    if characters > MOST_CHARACTERS:
        hint = "Split it, and check its parts."
        raise InputError(f"The draft has more than {MOST_CHARACTERS:,} characters.", hint=hint)


# Kind


def _kind(name: str, data: bytes) -> DraftKind:
    ending = PurePath(name).suffix.lower().lstrip(".")
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(b"PK\x03\x04"):
        return _zipped(name, data, ending)
    if data.startswith(_OLE) and ending not in ("doc", "xls", "ppt"):
        raise InputError(f"{name} has a password, or is in an old format.", hint="Save it without, as .docx or .xlsx.")
    if ending in _SAVE_AS or data.startswith(_RTF):
        said = f".{ending}" if ending in _SAVE_AS else "RTF"
        raise InputError(f"{name} can't be checked as {said}. {_TAKEN}", hint=_SAVE_AS.get(ending, _SAVE_AS["rtf"]))
    if ending in ("docx", "xlsx", "pdf"):
        raise InputError(f"{name} is damaged, or no .{ending} file.", hint="Save it again, and choose that file.")
    if ending in ("md", "markdown"):
        return "md"
    if ending not in ("txt", "text", "") and " " not in ending:
        raise InputError(f"{name} can't be checked as .{ending}. {_TAKEN}", hint="Save it as one of these.")
    return "txt"


def _zipped(name: str, data: bytes, ending: str) -> DraftKind:
    """Kind of a zip, by the files in it. Raises `InputError` if they are too large to unpack."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = {each.filename: each.file_size for each in archive.infolist()}
    except _DAMAGED as error:
        hint = "Save it again, and choose that file."
        raise InputError(f"{name} is damaged: it can't be unpacked.", hint=hint) from error
    xml = sum(size for each, size in sizes.items() if each.lower().endswith((".xml", ".rels", ".vml")))
    if sum(sizes.values()) > MOST_UNPACKED or xml > MOST_XML:
        raise InputError(f"{name} is too large unpacked.", hint="Split it, and check its parts.")
    if "word/document.xml" in sizes:
        return "docx"
    if "xl/workbook.xml" in sizes:
        return "xlsx"
    raise InputError(
        f"{name} is no Word or Excel file. {_TAKEN}", hint=_SAVE_AS.get(ending, "Save it as one of these.")
    )


def _decoded(name: str, data: bytes) -> str:
    """Text of a file: UTF-8, UTF-16 with a byte order mark, or Windows' Western encoding."""
    boms = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    tried = next(([code] for bom, code in boms.items() if data.startswith(bom)), ["utf-8-sig", "cp1252"])
    for code in tried:
        try:
            text = data.decode(code)
        except UnicodeDecodeError:
            continue
        if not _CONTROLS.search(text):
            _check_length(len(text))
            return "\n".join(text.splitlines())
    raise InputError(f"{name} is no text file. {_TAKEN}", hint="Save it as one of these.")


# Text and Markdown


def _plain(text: str, out: _Writer) -> None:
    """Paragraphs between blank lines, or on long lines; a bullet begins an item. A short line that stands alone, with
    no stop and before a paragraph, is a heading."""
    parts = [part for lines in _groups(text.split("\n")) for part in _paragraphs(lines)]
    for part, after in zip(parts, [*parts[1:], ""]):
        bullet = _BULLET.match(part)
        words = part.split()
        alone = len(words) <= _HEADING_WORDS and part[-1].isalnum() and (words[0][0].isupper() or words[0][0].isdigit())
        follows = after.endswith((".", "!", "?")) and len(after.split()) > len(words)
        if alone and follows and any(map(str.isalpha, part)) and not _BULLET.match(after):
            out.add(part, "heading", level=1)
        elif bullet:
            out.add(part[bullet.end() :], "item", level=1)
        else:
            out.add(part, "paragraph")


def _groups(lines: Sequence[str]) -> Iterator[list[str]]:
    for blank, group in groupby(lines, key=lambda line: not line.strip()):
        if not blank:
            yield list(group)


def _paragraphs(lines: Sequence[str]) -> list[str]:
    own_lines = any(len(line) > _WRAPPED for line in lines)
    out: list[list[str]] = []
    item, stopped = False, True
    for line in lines:
        bullet = _BULLET.match(line) and (item or stopped or _FIRST_BULLET.match(line))
        if not out or own_lines or bullet:
            out.append([])
            item = bool(bullet)
        out[-1] += line.split()
        stopped = line.rstrip().endswith((".", ":", ";", "?", "!"))
    return [" ".join(words) for words in out]


def _markdown(text: str, out: _Writer) -> None:
    _md_blocks(_md_tree(_FRONT_MATTER.sub("", text)), out, 0)


def _md_tree(text: str, *, html: bool = True) -> SyntaxTreeNode:
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    parser.disable(["code"] if html else ["code", "html_block"])  # prose that is indented, or between tags
    return SyntaxTreeNode(parser.parse(text))


def _md_blocks(parent: SyntaxTreeNode, out: _Writer, depth: int, *, item: bool = False) -> None:
    """Add the blocks of a node; ``depth`` counts the lists around it, ``item``: its first paragraph is a list item."""
    for n, each in enumerate(parent.children):
        match each.type:
            case "heading":
                out.add(_md_words(each), "heading", level=int(each.tag[1:]))
            case "paragraph":
                listed = item and n == 0
                out.add(_md_words(each), "item" if listed else "paragraph", level=depth if listed else 0)
            case "fence":
                out.add(each.content.strip("\n"), "code")
            case "html_block" if not each.content.lstrip().lower().startswith(("<!--", "<script", "<style")):
                _md_blocks(_md_tree(each.content, html=False), out, depth)
            case "table":
                out.tables += 1
                rows = [(part.type == "thead", row) for part in each.children for row in part.children]
                for number, (header, row) in enumerate(rows):
                    cells = ((column, _md_words(cell), "") for column, cell in enumerate(row.children))
                    out.row(cells, number, header=header)
            case "bullet_list" | "ordered_list":
                _md_blocks(each, out, depth + 1)
            case "list_item":
                _md_blocks(each, out, depth, item=True)
            case "blockquote":
                _md_blocks(each, out, depth)


def _md_words(node: SyntaxTreeNode) -> str:
    """Words of a block without markup and marks of notes, on one line."""

    def inline(each: SyntaxTreeNode) -> str:
        match each.type:
            case "text" | "text_special" | "code_inline":
                return each.content
            case "softbreak" | "hardbreak":
                return " "
            case "html_inline":
                return " " if _BREAK_TAG.match(each.content) else ""
        return "".join(map(inline, each.children))

    return " ".join(_NOTE_MARK.sub("", inline(node)).split())


# Word, Excel, PDF


def _docx(data: bytes, out: _Writer) -> None:
    from ragcore.check.word import WordFile

    passages = WordFile(data).passages
    headed = {each.table for each in passages if each.header}
    first_rows = [each for each in passages if each.table >= 0 and each.row == 0 and each.table not in headed]
    for table, row in groupby(first_rows, key=lambda each: each.table):
        if _names([(each.col, each.text) for each in row]):
            headed.add(table)
    for each in passages:
        header = each.header or (each.kind == "cell" and each.row == 0 and each.table in headed)
        place = {"table": each.table, "row": each.row, "col": each.col, "header": header}
        out.add(each.text, each.kind, level=each.level, **place)


def _names(row: Sequence[tuple[int, str]]) -> bool:
    """Whether a first row, given by columns and texts, names columns: one beside the first, and none by a figure."""
    return any(column > 0 for column, _ in row) and not any(figure(text) for _, text in row)


def _xlsx(data: bytes, out: _Writer) -> None:
    from openpyxl import load_workbook

    _check_ranges(data)
    book = load_workbook(io.BytesIO(data), data_only=True)
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        if sheet.max_row * sheet.max_column > MOST_CELLS:
            raise InputError(f"Sheet {sheet.title} has too many cells.", hint=_COPY)
        rows = [
            [
                (cell.column, text, f"{sheet.title}!{cell.coordinate}")
                for cell in row
                if (text := shown(cell.value, cell.number_format))
            ]
            for row in sheet.iter_rows()
        ]
        if any(rows):
            out.add(sheet.title, "heading", level=1)
        _sheet(rows, out)


def _check_ranges(data: bytes) -> None:
    """Raise `InputError` if merged cells and links reach over too many cells."""
    from openpyxl.utils import range_boundaries

    cells = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for part in archive.namelist():
            text = archive.read(part).replace(b"\0", b"")  # of UTF-16
            for found in _RANGE.finditer(text if text.lstrip(b"\xef\xbb\xbf\xfe\xff \t\r\n")[:1] == b"<" else b""):
                left, top, right, bottom = (place or 1 for place in range_boundaries(found[1].decode("ascii")))
                cells += (right - left + 1) * (bottom - top + 1)
    if cells > MOST_CELLS:
        raise InputError("The workbook's merged cells and links reach over too many cells.", hint=_COPY)


def _sheet(rows: Sequence[list[tuple[int, str, str]]], out: _Writer) -> None:
    """Tables of a sheet, with blank rows between them, and lines of text. Rows without one that names columns go on
    with the table above them."""
    number, above = 0, 0
    for blank, found in groupby(rows, key=lambda row: not row):
        group = [] if blank else list(found)
        first = min((row[0][0] for row in group), default=0)
        table = [[(column - first, text, place) for column, text, place in row] for row in group]
        lines = next((n for n, row in enumerate(table) if row[-1][0] > 0), len(table))
        named = lines < len(table) and _names([cell[:2] for cell in table[lines]])
        if named or not number:
            for text, place in (cell[1:] for row in table[:lines] for cell in row):
                out.add(text, "paragraph", place=place)
            table = table[lines:]
            if table:
                out.tables += 1
                number, above = 0, first
        for row in table:
            cells = ((max(column + first - above, 0), text, place) for column, text, place in row)
            out.row(cells, number, header=named and number == 0)
            number += 1


def _pdf(name: str, data: bytes, settings: Settings, out: _Writer) -> None:
    """Blocks of a PDF, as the library reads it."""
    from ragcore.ingest import parse
    from ragcore.ingest.document import build_document

    ingest = settings.ingest
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draft.pdf"
        path.write_bytes(data)
        try:
            info = parse.inspect(path, settings=ingest, name=name)
            if info.pages > MOST_PAGES:
                raise InputError(
                    f"{name} has {info.pages} pages; a draft has at most {MOST_PAGES}.",
                    hint="Split it, and check its parts.",
                )
            numbered = range(1, info.pages + 1)
            pages = list(parse.parse_pages(path, numbered, settings=ingest, ocr=settings.ocr, name=name))
            document = build_document("", "", name, info, pages, settings)
        except PasswordRequired as error:
            raise InputError(error.message, hint="Save a copy without a password, and check that.") from error
        except ParseError as error:
            hint = "Open it in a PDF viewer, save a copy, and check that."
            raise InputError(error.message, hint=hint) from error
    for element in document.body:
        _element(document, element, out)


def _element(document: Document, element: Element, out: _Writer) -> None:
    def place(start: int, end: int) -> str:
        return f"p. {document.pages[document.page_at(start, end) - 1].label}"

    if element.table is not None:
        out.tables += 1
        for cell in element.table.cells:
            text = " ".join(document.text[cell.start : cell.value_end].split())
            where = place(cell.start, cell.end)
            out.row([(cell.col, text, where)], cell.row, header=cell.header)
    elif element.kind != "figure":
        text = " ".join(document.shown(element.start, element.end).split())
        kinds: dict[str, BlockKind] = {"heading": "heading", "list_item": "item"}
        kind = kinds.get(element.kind, "paragraph")
        level = max(element.level, 1) if kind != "paragraph" else 0
        out.add(text, kind, level=level, place=place(element.start, element.end))
