"""Word, HTML and Markdown writers, by pandoc from its own document tree (`pandoc -f json`).

The binary comes in the wheel `pypandoc_binary`; it runs as a child process and loads nothing. ``reference.docx`` sets
the look of Word files: open it in Word to change a style.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path

from ragcore.config.settings import ExportSettings
from ragcore.errors import GroundworkError
from ragcore.export.characters import right_to_left
from ragcore.export.manuscripts import note_words
from ragcore.export.tree import (
    Manuscript,
    Node,
    Nodes,
    Note,
    attributes,
    heading,
    node,
    paragraph,
    plain,
    rewritten,
    rows,
    walk,
    words,
)
from ragcore.text.markdown import escape

API = [1, 23, 1]  # version of the tree's types, which pandoc checks
SECONDS = 120  # time limit of pandoc; a thousand notes take two
MARKDOWN = "commonmark+pipe_tables+strikeout+footnotes"
WIDE = 7  # columns; a wider table is set smaller
LINE, WIDE_LINE = 88, 113  # characters on a line of a Word table
PADDING = 2  # characters for a column's borders and margins
SHORTEST = 4  # minimum characters on a line of a cell
LETTER = (12240, 15840)  # twentieths of a point; the reference document is A4
# A cross-reference to a footnote: the field, and its text until Word updates it.
AGAIN = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> NOTEREF Note{0} \\f \\h '
    '</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:rPr><w:rStyle w:val='
    '"FootnoteReference"/></w:rPr><w:t>{0}</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
)


def write_word(manuscript: Manuscript, settings: ExportSettings) -> bytes:
    """A .docx with styled headings, footnotes (a repeated reference to a note is a cross-reference), header rows
    repeated on each page, page numbers, title, date and language; no author."""
    meta = {"title": node("MetaInlines", words(manuscript.title)), "lang": node("MetaString", manuscript.language)}
    with ExitStack() as stack:
        reference = stack.enter_context(as_file(files("ragcore.export") / "reference.docx"))
        if settings.paper == "letter":
            reference = _on_letter(reference, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        made = rewritten(manuscript.blocks, _Word(manuscript).change)
        return _pandoc(made, meta, manuscript.written, "--to=docx", f"--reference-doc={reference}", "--output=-")


def html(manuscript: Manuscript, beside: Callable[[Note], str] | None = None) -> str:
    """Body of a page. Headings are one level lower than in the manuscript, below its title. A note has the id
    ``note-N``, its first reference ``ref-N``; notes that no part lists are at the end. A table of more than `WIDE`
    columns has the class ``wide``. ``beside`` gives HTML to show below a note."""
    made = rewritten(_below_title(manuscript), _Html(manuscript, beside).change)
    return _pandoc(made, {}, manuscript.written, "--to=html", "--wrap=none").decode()


def write_markdown(manuscript: Manuscript, settings: ExportSettings) -> bytes:
    """CommonMark with GFM's tables, strikethrough and footnotes, in UTF-8. Notes become footnotes ``[^1]``, defined
    after the part that refers to them."""
    made = rewritten(_below_title(manuscript), _Markdown(manuscript).change)
    return _pandoc(made, {}, manuscript.written, f"--to={MARKDOWN}", "--wrap=none")


def _below_title(manuscript: Manuscript) -> Nodes:
    """Blocks with their headings below one with the title, and the notes that no part lists."""
    listed = {n for each in walk(manuscript.blocks) if each["t"] == "Notes" for n in each["c"]}
    rest = node("Notes", [note.number for note in manuscript.notes if note.number not in listed])
    return [heading(1, manuscript.title), *rewritten(manuscript.blocks, _lower), rest]


def _lower(each: Node) -> Nodes:
    return [heading(min(each["c"][0] + 1, 6), each["c"][2]) if each["t"] == "Header" else each]


_RISKY = re.compile(r"\\|&#?\w+;|!\[")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")


class _Writer(ABC):
    """Replacement of a manuscript's nodes by pandoc's own, for one format; ``change`` is given to `rewritten`."""

    def __init__(self, manuscript: Manuscript) -> None:
        self.notes = {note.number: note for note in manuscript.notes}
        self.referred: set[int] = set()

    @abstractmethod
    def reference(self, number: int, *, first: bool) -> Nodes:
        """Reference to a note."""

    @abstractmethod
    def listed(self, numbers: list[int]) -> Nodes:
        """Notes after the part that refers to them."""

    def change(self, each: Node) -> Nodes:
        match each["t"]:
            case "Ref":
                first = each["c"] not in self.referred
                self.referred.add(each["c"])
                return self.reference(each["c"], first=first)
            case "Notes":
                return self.listed(each["c"])
            case "Table":
                return self.table(each)
            case "Para" | "Plain" | "Header":
                return self.directed(each)
            case "Div" | "Span":
                return self.styled(each)
        return [each]

    def styled(self, each: Node) -> Nodes:
        return [each]

    def table(self, each: Node) -> Nodes:
        return [each]

    def directed(self, each: Node) -> Nodes:
        """``each`` in a ``Div`` that says so if its words run from right to left."""
        return [node("Div", attributes(dir="rtl"), [each])] if right_to_left(plain(each)) else [each]

    def note(self, number: int) -> Nodes:
        """Words of a note."""
        made: Nodes = rewritten(note_words(self.notes[number]), self.change)
        return made


class _Word(_Writer):
    def reference(self, number: int, *, first: bool) -> Nodes:
        if not first:
            return [node("RawInline", "openxml", AGAIN.format(number))]
        note = node("Note", [node("Para", self.note(number))])
        return [node("Span", attributes(place=f"Note{number}"), [note])]

    def listed(self, numbers: list[int]) -> Nodes:
        return []  # at the foot of its pages

    def styled(self, each: Node) -> Nodes:
        (_, classes, _), contents = each["c"]
        return [node(each["t"], attributes(**{"custom-style": " ".join(classes).title()}), contents)]

    def table(self, each: Node) -> Nodes:
        _, caption, columns, (_, head), [(_, _, _, body)], foot = each["c"]
        wide = len(columns) > WIDE
        line = WIDE_LINE if wide else LINE
        columns = [[align, node("ColWidth", wanted / line)] for (align, _), wanted in zip(columns, widths(each, line))]
        for of_rows, style in ((head, "Table Head"), (body, "Table Text")):
            look = attributes(**{"custom-style": f"{style} Wide" if wide else style})
            for _, cells in of_rows:
                for cell in cells:
                    # Word's cells have no `Plain`, which would take the style of a list item.
                    cell[4] = [node("Div", look, rewritten(cell[4], _spaced))]
        made = [attributes(), head], [[attributes(), 0, [], body]]
        return [node("Table", attributes(), caption, columns, *made, foot)]


def _spaced(each: Node) -> Nodes:
    return [{**each, "t": "Para"} if each["t"] == "Plain" else each]


class _Html(_Writer):
    def __init__(self, manuscript: Manuscript, beside: Callable[[Note], str] | None) -> None:
        super().__init__(manuscript)
        self.beside = beside

    def reference(self, number: int, *, first: bool) -> Nodes:
        place = attributes(place=f"ref-{number}" if first else "")
        return [node("Superscript", [node("Link", place, words(str(number)), [f"#note-{number}", ""])])]

    def listed(self, numbers: list[int]) -> Nodes:
        made = [each for number in numbers for each in self._listed(number)]
        return [node("Div", attributes("notes"), made)] if made else []

    def _listed(self, number: int) -> Nodes:
        back = node("Link", attributes(), words(str(number)), [f"#ref-{number}", ""])
        note = [node("Para", [back, node("Space"), *self.note(number)])]
        below = self.beside(self.notes[number]) if self.beside else ""
        made = node("Div", attributes("note", place=f"note-{number}"), note)
        return [made, node("RawBlock", "html", below)] if below else [made]

    def table(self, each: Node) -> Nodes:
        wide = len(each["c"][2]) > WIDE
        return [node("Table", attributes("wide" if wide else ""), *each["c"][1:])]


class _Markdown(_Writer):
    def change(self, each: Node) -> Nodes:
        # What pandoc 3.9 escapes wrongly: entities, backslashes, and a bracket after an exclamation mark.
        if each["t"] == "Str" and _RISKY.search(each["c"]):
            return [node("RawInline", "markdown", _PUNCTUATION.sub(r"\\\g<0>", each["c"]))]
        if each["t"] == "CodeBlock":  # indented, at the start of a list's item it would be the item's text
            fence = "`" * max(3, *(len(ticks) + 1 for ticks in re.findall("`+", each["c"][1])), 0)
            return [node("RawBlock", "markdown", f"{fence}\n{each['c'][1]}\n{fence}")]
        return super().change(each)

    def reference(self, number: int, *, first: bool) -> Nodes:
        return [node("RawInline", "markdown", f"[^{number}]")]

    def listed(self, numbers: list[int]) -> Nodes:
        definitions = ((node("RawInline", "markdown", f"[^{number}]: "), number) for number in numbers)
        return [node("Para", [definition, *self.note(number)]) for definition, number in definitions]

    def styled(self, each: Node) -> Nodes:
        (_, classes, _), contents = each["c"]
        if classes == ["notice"]:
            return [paragraph([node("Strong", block["c"])]) for block in contents]
        if classes == ["lack"]:  # in brackets, but no link, since the file has no link definitions
            bare = node("RawInline", "markdown", f"[{escape(plain(contents)[1:-1])}]")
            return [node("Strong", [bare])]
        return [node("Emph", contents)] if classes == ["remark"] else list(contents)

    def directed(self, each: Node) -> Nodes:
        return [each]


def widths(table: Node, room: int) -> list[int]:
    """Characters per column, together at most ``room`` if possible: the need of its longest cell, or the rest of
    ``room`` after the columns that need less than an equal share."""
    wanted = [max(len(plain(cell)) for cell in column) + PADDING for column in zip(*rows(table))]
    given = [0] * len(wanted)
    left, narrow_first = room, sorted(range(len(wanted)), key=wanted.__getitem__)
    for done, place in enumerate(narrow_first):
        given[place] = max(min(wanted[place], left // (len(wanted) - done)), SHORTEST + PADDING)
        left -= given[place]
    return given


def _pandoc(blocks: Nodes, meta: Node, written: float, *options: str) -> bytes:
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
        raise GroundworkError("The file took too long to write.", hint="Try again, or export less.") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise GroundworkError(f"pandoc couldn't write the file: {said}", hint="Try again, or export less.") from error
    return done.stdout


def pandoc_binary() -> str:
    """Path of the bundled pandoc. Raises `GroundworkError` if it is missing."""
    found = find_spec("pypandoc")
    folder = Path(found.origin).parent if found and found.origin else Path()
    binary = folder / "files" / ("pandoc.exe" if sys.platform == "win32" else "pandoc")
    if not binary.is_file():
        raise GroundworkError("Files need the package pypandoc_binary.", hint="Run `pip install pypandoc_binary`.")
    return str(binary)


def _on_letter(reference: Path, folder: Path) -> Path:
    import docx
    from docx.shared import Twips

    document = docx.Document(io.BytesIO(reference.read_bytes()))
    section = document.sections[0]
    section.page_width, section.page_height = (Twips(length) for length in LETTER)
    document.save(str(folder / "letter.docx"))
    return folder / "letter.docx"
