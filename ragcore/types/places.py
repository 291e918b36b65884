"""Places in the file that a document's pages were made of."""

from __future__ import annotations

from bisect import bisect_right

from ragcore.types.document import Document
from ragcore.types.table_labels import elements_within


def place_of(document: Document, start: int, end: int) -> str:
    """Place of ``text[start:end]`` in the original: its cells (``Sheet1!B12``, ``Sheet1!B12:D12``), its slide; "" in a
    PDF."""
    places: list[str] = []
    for element in elements_within(document, start, end):
        if element.table is None:
            places.append(element.place)
            continue
        cells = sorted((cell for cell in element.table.cells if cell.place), key=lambda cell: cell.start)
        first = bisect_right(cells, start, key=lambda cell: cell.end)
        last = bisect_right(cells, end - 1, key=lambda cell: cell.start)
        places += [cell.place for cell in cells[first:last]] or [element.place]
    places = [place for place in places if place]
    return joined(places[0], places[-1]) if places else ""


def joined(first: str, last: str) -> str:
    """Place from ``first`` to ``last``: ``Sheet1!B12:D14``; without the sheet's name again if it is the same."""
    sheet, _, cell = last.rpartition("!")
    start = first.rpartition(":")[0] if _is_range(first) else first
    if first == last:
        return first
    end = cell.rpartition(":")[2]
    return f"{start}:{end}" if start.rpartition("!")[0] == sheet and " " not in end else f"{start}, {last}"


def _is_range(place: str) -> bool:
    cells = place.rpartition("!")[2]
    return ":" in cells and " " not in cells
