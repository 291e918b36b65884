"""Word and HTML writers, by pandoc from its own document tree (`pandoc -f json`).

The binary comes in the wheel `pypandoc_binary`; it runs as a child process and loads nothing. ``reference.docx`` sets
the look of Word files: open it in Word to change a style.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from importlib.resources import as_file, files
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from typing import Any

from ragcore.config.settings import ExportSettings
from ragcore.errors import GroundworkError
from ragcore.export.characters import right_to_left
from ragcore.export.columns import WIDE, widths
from ragcore.export.model import (
    Block,
    Break,
    Code,
    Heading,
    Inline,
    Items,
    Manuscript,
    Note,
    NoteRef,
    Notes,
    Paragraph,
    Quote,
    Rule,
    Runs,
    Table,
    Text,
    plain,
)
from ragcore.export.notes import note_runs

API = [1, 23, 1]  # version of the tree's types, which pandoc checks
SECONDS = 120  # time limit of pandoc; a thousand notes take two
LINE, WIDE_LINE = 88, 113  # characters on a line of a Word table
LETTER = (12240, 15840)  # twentieths of a point; the reference document is A4
ALIGNS = {"": "AlignDefault", "left": "AlignLeft", "center": "AlignCenter", "right": "AlignRight"}
STYLES = {"body": "", "about": "About", "notice": "Notice"}
# A cross-reference to a footnote: the field, and its text until Word updates it.
AGAIN = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> NOTEREF Note{0} \\f \\h '
    '</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:rPr><w:rStyle w:val='
    '"FootnoteReference"/></w:rPr><w:t>{0}</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
Node = dict[str, Any]


def write_word(manuscript: Manuscript, settings: ExportSettings) -> bytes:
    """A .docx with styled headings, footnotes (a repeated reference to a note is a cross-reference), header rows
    repeated on each page, page numbers, title, date and language; no author."""
    meta = {"title": _node("MetaInlines", _words(manuscript.title)), "lang": _node("MetaString", manuscript.language)}
    with ExitStack() as stack:
        reference = stack.enter_context(as_file(files("ragcore.export") / "reference.docx"))
        if settings.paper == "letter":
            reference = _on_letter(reference, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        made = _Tree(manuscript, word=True).blocks(manuscript.blocks)
        return _pandoc(made, meta, manuscript.written, "--to=docx", f"--reference-doc={reference}", "--output=-")


def html(manuscript: Manuscript, beside: Callable[[Note], str] | None = None) -> str:
    """Body of a page. Headings are one level lower than in the manuscript, below its title. A note has the id
    ``note-N``, its first reference ``ref-N``; notes that no part lists are at the end. A table of more than
    `ragcore.export.columns.WIDE` columns has the class ``wide``. ``beside`` gives HTML to show below a note."""
    listed = {n for block in manuscript.blocks if isinstance(block, Notes) for n in block.numbers}
    rest = Notes(tuple(note.number for note in manuscript.notes if note.number not in listed))
    tree = _Tree(manuscript, word=False, beside=beside)
    blocks = tree.blocks((Heading(0, (Text(manuscript.title),)), *manuscript.blocks, rest))
    return _pandoc(blocks, {}, manuscript.written, "--to=html", "--wrap=none").decode()


def _pandoc(blocks: list[Node], meta: Node, written: float, *options: str) -> bytes:
    """Pandoc's output for a tree; ``written`` is the date in the file, so that the same manuscript gives the same
    bytes."""
    tree = json.dumps({"pandoc-api-version": API, "meta": meta, "blocks": blocks})
    command = [pandoc_binary(), "--from=json", *options]
    try:
        done = subprocess.run(
            command,
            input=tree.encode(),
            capture_output=True,
            check=True,
            timeout=SECONDS,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(int(written))},
        )
    except subprocess.TimeoutExpired as error:
        raise GroundworkError("The file took too long to write.", hint="Export to Markdown instead.") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise GroundworkError(f"pandoc couldn't write the file: {said}", hint="Export to Markdown instead.") from error
    return done.stdout


def pandoc_binary() -> str:
    """Path of the bundled pandoc. Raises `GroundworkError` if it is missing."""
    found = find_spec("pypandoc")
    folder = Path(found.origin).parent if found and found.origin else Path()
    binary = folder / "files" / ("pandoc.exe" if sys.platform == "win32" else "pandoc")
    if not binary.is_file():
        raise GroundworkError(
            "Word, PDF and HTML files need the package pypandoc_binary.", hint="Run `pip install pypandoc_binary`."
        )
    return str(binary)


def _on_letter(reference: Path, folder: Path) -> Path:
    import docx
    from docx.shared import Twips

    document = docx.Document(io.BytesIO(reference.read_bytes()))
    section = document.sections[0]
    section.page_width, section.page_height = (Twips(length) for length in LETTER)
    document.save(str(folder / "letter.docx"))
    return folder / "letter.docx"


class _Tree:
    """Blocks and runs as nodes of pandoc's tree. Word gets footnotes, column widths and named styles; HTML gets links
    to notes and back, and classes."""

    def __init__(self, manuscript: Manuscript, *, word: bool, beside: Callable[[Note], str] | None = None) -> None:
        self.notes = {note.number: note for note in manuscript.notes}
        self.word, self.beside = word, beside
        self.referred: set[int] = set()

    def blocks(self, blocks: Iterable[Block]) -> list[Node]:
        return [node for block in blocks for node in self.block(block)]

    def block(self, block: Block) -> list[Node]:
        match block:
            case Heading():
                level = min(block.level + (not self.word), 6)
                made, direction = _node("Header", level, _attributes(), self.runs(block.runs)), _direction(block.runs)
                return [_node("Div", self._look("", direction), [made]) if direction else made]
            case Paragraph():
                return [self.paragraph(block.runs, STYLES[block.role])]
            case Items():
                items = [self._item(item) for item in block.items]
                numbers = [block.start, _node("Decimal"), _node("Period")]
                return [_node("BulletList", items) if block.start is None else _node("OrderedList", numbers, items)]
            case Table():
                return [self._table(block)]
            case Quote():
                return [_node("BlockQuote", self.blocks(block.blocks))]
            case Code():
                return [_node("CodeBlock", _attributes(), block.text)]
            case Rule():
                return [_node("HorizontalRule")]
            case Notes():  # Word has them at the foot of its pages
                listed = [] if self.word else [node for n in block.numbers for node in self._listed(n)]
                return [_node("Div", _attributes("notes"), listed)] if listed else []

    def paragraph(self, runs: Runs, style: str = "", kind: str = "Para") -> Node:
        """Paragraph; the ``kind`` ``Plain`` has no space after it."""
        made = _node(kind, self.runs(runs))
        direction = _direction(runs)
        return _node("Div", self._look(style, direction), [made]) if style or direction else made

    def _look(self, style: str, direction: str = "") -> list[Any]:
        return _attributes("" if self.word else style.lower(), style=style if self.word else "", direction=direction)

    def _item(self, item: tuple[Block, ...]) -> list[Node]:
        first = item[0] if item else None
        if isinstance(first, Paragraph):
            return [self.paragraph(first.runs, STYLES[first.role], "Plain"), *self.blocks(item[1:])]
        return self.blocks(item)

    def _table(self, table: Table) -> Node:
        wide = len(table.aligns) > WIDE
        line = WIDE_LINE if wide else LINE
        across = [_node("ColWidth", count / line) for count in widths(table, line)] if self.word else repeat(_ANY_WIDTH)
        columns = [[_node(ALIGNS[align]), width] for align, width in zip(table.aligns, across)]
        rows = [
            [_attributes(), [self._cell(cell, wide=wide, head=place < table.heads) for cell in row]]
            for place, row in enumerate(table.rows)
        ]
        head, body = [_attributes(), rows[: table.heads]], [[_attributes(), 0, [], rows[table.heads :]]]
        about = _attributes("wide" if wide else "")
        return _node("Table", about, [None, []], columns, head, body, [_attributes(), []])

    def _cell(self, runs: Runs, *, wide: bool, head: bool) -> list[Any]:
        style = f"Table {'Head' if head else 'Text'}{' Wide' if wide else ''}" if self.word else ""
        # Word's cells have no `Plain`, which would take the style of a list item.
        return [_attributes(), _node("AlignDefault"), 1, 1, [self.paragraph(runs, style, "Para" if style else "Plain")]]

    def runs(self, runs: Runs) -> list[Node]:
        return [node for run in runs for node in self._run(run)]

    def _run(self, run: Inline) -> list[Node]:
        match run:
            case NoteRef():
                return self._reference(run.number)
            case Break():
                return [_node("LineBreak")]
        nodes = [_node("Code", _attributes(), run.text)] if run.code else _words(run.text)
        for kind, given in (("Strikeout", run.strike), ("Emph", run.italic), ("Strong", run.bold)):
            nodes = [_node(kind, nodes)] if given else nodes
        for style, given in (("Remark", run.remark), ("Lack", run.lack)):
            nodes = [_node("Span", self._look(style), nodes)] if given else nodes
        return [_node("Link", _attributes(), nodes, [run.href, ""])] if run.href else nodes

    def _reference(self, number: int) -> list[Node]:
        first = number not in self.referred
        self.referred.add(number)
        if not self.word:
            place = _attributes(place=f"ref-{number}" if first else "")
            return [_node("Superscript", [_node("Link", place, _words(str(number)), [f"#note-{number}", ""])])]
        if first:
            note = _node("Note", [_node("Para", self.runs(note_runs(self.notes[number])))])
            return [_node("Span", _attributes(place=f"Note{number}"), [note])]
        return [_node("RawInline", "openxml", AGAIN.format(number))]

    def _listed(self, number: int) -> list[Node]:
        back = _node("Link", _attributes(), _words(str(number)), [f"#ref-{number}", ""])
        words = _node("Para", [back, _node("Space"), *self.runs(note_runs(self.notes[number]))])
        below = self.beside(self.notes[number]) if self.beside else ""
        note = _node("Div", _attributes("note", place=f"note-{number}"), [words])
        return [note, _node("RawBlock", "html", below)] if below else [note]


def _node(kind: str, *contents: Any) -> Node:
    """Node ``{"t": kind, "c": …}`` of pandoc's types."""
    return {"t": kind} | ({"c": contents[0] if len(contents) == 1 else contents} if contents else {})


_ANY_WIDTH = _node("ColWidthDefault")


def _attributes(kind: str = "", *, place: str = "", style: str = "", direction: str = "") -> list[Any]:
    """Id, classes and other attributes; ``style`` is the Word style."""
    rest = [[key, value] for key, value in (("custom-style", style), ("dir", direction)) if value]
    return [place, [kind] if kind else [], rest]


def _words(text: str) -> list[Node]:
    return [_node("Str", text)] if text else []


def _direction(runs: Runs) -> str:
    return "rtl" if right_to_left(plain(runs)) else ""
