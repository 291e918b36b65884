"""Sources for services with native citations: one block of text per sentence and per cell.

`ragcore.answer.render` gives headers in lines around the units; here they must be in a block: a cell begins with its
headers, and the first unit of a table with the table's title.
"""

from __future__ import annotations

from ragcore.answer.render import heading_lines, neutralise
from ragcore.protocols import Passage
from ragcore.types import Document, Source
from ragcore.types.table_labels import elements_within


def render_passage(source: Source, document: Document) -> Passage:
    """Passage with one block per unit of ``source``, in order; none is empty."""
    blocks: list[str] = []
    for element in elements_within(document, source.start, source.end):
        title = element.table.title if element.table is not None else ""
        while len(blocks) < len(source.units) and source.units[len(blocks)].start < element.end:
            unit = source.units[len(blocks)]
            text = neutralise(document.text[unit.start : unit.end])
            if unit.kind == "cell" and unit.label:
                text = f"{neutralise(unit.label)}: {text}"
            if unit.generated:
                text = f"<AI_GENERATED>{text}</AI_GENERATED>"
            if title:
                text, title = f"{neutralise(f'Table: {title}')}\n{text}", ""
            blocks.append(text)
    return Passage(source.number, " | ".join(heading_lines(source)), tuple(blocks))
