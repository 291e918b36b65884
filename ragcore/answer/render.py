"""A source as the writer sees it: a delimited block in which every sentence and every cell carries its number."""

from __future__ import annotations

import re
from itertools import groupby

from ragcore.answer.tables import LabelledTable, elements_within
from ragcore.types import Document, Element, Source, Unit

# What would look like our own delimiters and unit numbers if it stood in a document.
_LOOKS_LIKE_DELIMITER = re.compile(r"<<(?=\s*(?:end\s+)?(?:sources?|no[ _-]?answer)\b)", re.IGNORECASE)
_LOOKS_LIKE_UNIT = re.compile(r"\[(\d+\.\d+)\]")


def neutralise(text: str) -> str:
    """``text`` of a document with look-alikes of the prompt's own marks made harmless (``‹‹SOURCE``, ``(3.1)``).

    For the prompt only: spans and quotes always come from the document's own text.
    """
    return _LOOKS_LIKE_UNIT.sub(r"(\1)", _LOOKS_LIKE_DELIMITER.sub("‹‹", text))


def render_source(source: Source, document: Document) -> str:
    """The block ``<<SOURCE n>>`` … ``<<END SOURCE n>>``: title, page labels, section, then the numbered units.

    Sentences of one element stand on one line; a table row is one line of numbered cells under the column headers.
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
        return [prefix + " ".join(show(item) for item in units)]

    labelled = LabelledTable(document, element.table)
    cells = {(cell.start, cell.end): cell for cell in element.table.cells}
    lines = [neutralise(f"Table: {element.table.title}" if element.table.title else "Table:")]
    shows_headers = any(cells[unit.start, unit.end].header for _, unit in units)
    columns = labelled.column_labels()
    if not shows_headers and any(columns):
        lines.append(neutralise("Columns: " + " | ".join(column or "–" for column in columns)))
    for _, row in groupby(units, key=lambda item: cells[item[1].start, item[1].end].row):
        lines.append("| " + " | ".join(show(item) for item in row) + " |")
    return lines
