"""Draft reader: a file → its text and blocks. The kind of a file is told by what is in it, then by its name."""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from markdown_it.tree import SyntaxTreeNode

from ragcore.config.settings import Settings, load
from ragcore.errors import InputError, ParseError, PasswordRequired
from ragcore.export.characters import clean
from ragcore.ingest.convert.kinds import DAMAGED, decoded
from ragcore.ingest.convert.markup import FRONT_MATTER
from ragcore.ingest.convert.workbook import names_columns, read_xlsx, sheet_parts
from ragcore.text.markdown import blocks, item_of, words
from ragcore.text.number_formats import shown
from ragcore.types.check import Block, BlockKind, Draft, DraftKind

if TYPE_CHECKING:
    from ragcore.types import Document, Element

MOST_BYTES = 20_000_000
MOST_UNPACKED, MOST_XML = 300_000_000, 40_000_000  # bytes of a zip's files, and of those of a program's own text
MOST_CHARACTERS = 1_000_000
MOST_PAGES = 300
_TAKEN = "Groundwork checks Word (.docx), PDF, Excel (.xlsx), Markdown and text files."
_BLANK = "{0} has no text to check."
_SAVE_AS = {
    **dict.fromkeys(("doc", "rtf", "odt", "pages", "html", "htm"), "Save it as a Word file (.docx)."),
    **dict.fromkeys(("xls", "ods", "csv", "tsv"), "Save it as an Excel workbook (.xlsx)."),
    **dict.fromkeys(("ppt", "pptx", "odp", "key"), "Save it as PDF."),
}
_OLE, _RTF = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf"
_NOTE_MARK = re.compile(r"\[\^[^\]\s]+\](?:: ?)?")
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
            _xlsx(name, data, out)
        elif kind == "md":
            _markdown(FRONT_MATTER.sub("", _decoded(name, data)), out)
        else:
            _plain(_decoded(name, data), out)
    except InputError:
        raise
    except DAMAGED as error:
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
    except DAMAGED as error:
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
    found = decoded(data)
    if found is None:
        raise InputError(f"{name} is no text file. {_TAKEN}", hint="Save it as one of these.")
    _check_length(len(found[0]))
    return "\n".join(found[0].splitlines())


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


def _markdown(text: str, out: _Writer, *off: str) -> None:
    for node, lists in blocks(text, *off):
        match node.type:
            case "html_block" if not node.content.lstrip().lower().startswith(("<!--", "<script", "<style")):
                _markdown(node.content, out, "html_block")  # prose between tags
            case "table":
                out.tables += 1
                rows = [(part.type == "thead", row) for part in node.children for row in part.children]
                for number, (header, row) in enumerate(rows):
                    cells = ((column, _md_words(cell), "") for column, cell in enumerate(row.children))
                    out.row(cells, number, header=header)
            case "heading":
                out.add(_md_words(node), "heading", level=int(node.tag[1:]))
            case "fence":
                out.add(node.content.strip("\n"), "code")
            case "paragraph":
                item = item_of(node) is not None
                out.add(_md_words(node), "item" if item else "paragraph", level=lists * item)


def _md_words(node: SyntaxTreeNode) -> str:
    """Words of a block without markup and marks of notes, on one line."""
    return " ".join(_NOTE_MARK.sub("", words(node)).split())


# Word, Excel, PDF


def _docx(data: bytes, out: _Writer) -> None:
    from ragcore.check.word import WordFile

    passages = WordFile(data).passages
    headed = {each.table for each in passages if each.header}
    first_rows = [each for each in passages if each.table >= 0 and each.row == 0 and each.table not in headed]
    for table, row in groupby(first_rows, key=lambda each: each.table):
        if names_columns([(each.col, each.text) for each in row]):
            headed.add(table)
    for each in passages:
        header = each.header or (each.kind == "cell" and each.row == 0 and each.table in headed)
        place = {"table": each.table, "row": each.row, "col": each.col, "header": header}
        out.add(each.text, each.kind, level=each.level, **place)


def _xlsx(name: str, data: bytes, out: _Writer) -> None:
    """Tables and lines of a workbook's sheets; a date has its month in words, and hidden rows are part of its sums."""
    for sheet in read_xlsx(name, data, shown, hidden_rows=True, no_value="").sheets:
        out.add(sheet.name, "heading", level=1)
        for part in sheet_parts(sheet):
            if isinstance(part, tuple):
                for cell in part:
                    out.add(cell.text, "paragraph", place=cell.place)
                continue
            out.tables += 1
            for number, row in enumerate(part.rows):
                cells = ((max(cell.column - part.first, 0), cell.text, cell.place) for cell in row)
                out.row(cells, number, header=number < part.headers)


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
