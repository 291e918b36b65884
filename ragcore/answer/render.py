"""Prompt form of a source: a delimited block in which every sentence and every cell has its number."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import groupby

from ragcore.types import Document, Element, Source, Unit
from ragcore.types.table_labels import GROUP_SEPARATOR, LabelledTable, elements_within

# Imitations of the prompt's delimiters and unit numbers in a document, also with full-width brackets.
_LOOKS_LIKE_DELIMITER = re.compile(
    r"[<＜]\W{0,3}?[<＜](?=[\W_]{0,3}(?:end[\W_]{0,3})?(?:sources?|no[\W_]{0,3}answer)\b)", re.I
)
_LOOKS_LIKE_TAG = re.compile(r"[<＜](?=[\W_]{0,3}AI[\W_]?GENERATED\b)", re.IGNORECASE)
_LOOKS_LIKE_UNIT = re.compile(r"[\[［]\s*(\d+\.\d+)\s*[\]］]")
# Joiners have meaning between letters of other scripts; between ASCII characters they only hide words from a search.
_JOINERS = "\u200c\u200d"
_HIDDEN = re.compile(r"(?<=[\x00-\x7f])[\u200c\u200d]+(?=[\x00-\x7f])")


def neutralise(text: str) -> str:
    """Document ``text`` with imitations of the prompt's own marks defused (``‹‹SOURCE``, ``‹AI_GENERATED``, ``(3.1)``),
    on one line and without invisible characters.

    For the prompt only: spans and quotes always come from the document's own text.
    """
    text = " ".join(text.split())
    if not text.isprintable():
        text = "".join(char for char in text if char in _JOINERS or unicodedata.category(char) not in ("Cc", "Cf"))
        text = _HIDDEN.sub("", text)
    return _LOOKS_LIKE_UNIT.sub(r"(\1)", _LOOKS_LIKE_TAG.sub("‹", _LOOKS_LIKE_DELIMITER.sub("‹‹", text)))


def render_source(source: Source, document: Document) -> str:
    """Block ``<<SOURCE n>>`` … ``<<END SOURCE n>>``: title, page labels, section, then the numbered units.

    Sentences of one element share a line, those of an AI-written description between tags; a table row is one line of
    numbered cells below the column headers.
    """
    pages = ", ".join(source.page_labels)
    about = [source.title, f"page {pages}" if len(source.page_labels) == 1 else f"pages {pages}" if pages else ""]
    lines = [f"<<SOURCE {source.number}>>", neutralise(" | ".join(part for part in about if part))]
    if source.section:
        lines.append(neutralise("Section: " + " > ".join(source.section)))
    numbered = list(enumerate(source.units, start=1))
    position = 0
    for element in elements_within(document, source.start, source.end):
        own = []
        while position < len(numbered) and numbered[position][1].start < element.end:
            own.append(numbered[position])
            position += 1
        if own:
            lines.extend(_element_lines(source.number, element, own, document))
    lines.append(f"<<END SOURCE {source.number}>>")
    return "\n".join(lines)


def _element_lines(number: int, element: Element, units: list[tuple[int, Unit]], document: Document) -> list[str]:
    def show(item: tuple[int, Unit]) -> str:
        index, unit = item
        return f"[{number}.{index}] {neutralise(' '.join(document.text[unit.start : unit.end].split()))}"

    if element.table is None or all(unit.kind == "sentence" for _, unit in units):
        prefix = {"heading": "## ", "list_item": "- "}.get(element.kind, "")
        lines = []
        for generated, run in groupby(units, key=lambda item: item[1].generated):
            words = prefix + " ".join(show(item) for item in run)
            lines += ["<AI_GENERATED>", words, "</AI_GENERATED>"] if generated else [words]
        return lines

    return _grid_lines(LabelledTable(document, element.table), units, show)


def _grid_lines(
    labelled: LabelledTable, units: list[tuple[int, Unit]], show: Callable[[tuple[int, Unit]], str]
) -> list[str]:
    """Rows of the units, with one slot per column, so that cells align with their headers. Cells that span rows and
    headers that span columns are repeated in each; text outside of the source (headers, the group of the first row, a
    cell that spans from above) has no number."""
    table = labelled.table
    cells = {(cell.start, cell.end): cell for cell in table.cells}
    numbered = {cells[item[1].start, item[1].end]: item for item in units}
    lines = [neutralise(f"Table: {table.title}" if table.title else "Table:")]
    columns = labelled.column_labels()
    if not any(cell.header for cell in numbered) and any(columns):
        lines.append(neutralise("Columns: " + " | ".join(column or "–" for column in columns)))
    group = ""
    for row in dict.fromkeys(cell.row for cell in numbered):
        slots = labelled.slots(row)
        named = labelled.group_name(row)
        if named and group not in (named, named.rpartition(GROUP_SEPARATOR)[2]):
            lines.append(neutralise(f"Under: {named}"))
            group = named
        shown: list[str] = []
        for place, cell in enumerate(slots):
            repeats = cell is not None and place > 0 and cell is slots[place - 1] and not cell.header
            if cell is None or repeats:
                shown.append("")
            elif cell in numbered:
                shown.append(show(numbered[cell]))
            else:
                shown.append(neutralise(labelled.text(cell)) if cell.row < row else "")
        while shown and not shown[-1]:
            shown.pop()
        filled = {cell for cell in slots if cell is not None}
        if len(filled) == 1:
            group = labelled.text(filled.pop())
        lines.append("| " + " | ".join(shown) + " |")
    return lines
