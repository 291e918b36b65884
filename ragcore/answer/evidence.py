"""What a claim's citations say: the words it must agree with, and what stands around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from ragcore.answer.numbers import Number, numbers, scale_note
from ragcore.answer.tables import LabelledTable, elements_within
from ragcore.types import Citation, Document
from ragcore.words import content_stems


@dataclass(frozen=True)
class Evidence:
    """What one claim's citations say. ``words`` may carry anything; ``around`` (titles, sections, the passage near by)
    only names; ``cells`` are (own text, label) of every cited table cell; ``scale`` is what the table states."""

    words: str
    around: str
    near: str
    cells: tuple[tuple[str, str], ...]
    scale: float | None

    @cached_property
    def numbers(self) -> list[Number]:
        return numbers(self.words)

    @cached_property
    def stems(self) -> set[str]:
        return set(content_stems(f"{self.words} {self.around}"))


def gather(citations: Iterable[Citation], document: Callable[[str], Document]) -> Evidence:
    """The evidence that ``citations`` give together."""
    words: list[str] = []
    around: list[str] = []
    near: list[str] = []
    cells: list[tuple[str, str]] = []
    scales: set[float] = set()
    for citation in citations:
        doc = document(citation.doc_id)
        words.extend((citation.label, citation.quote))
        around.extend((citation.title, doc.name, *citation.section))
        near.append(doc.text[max(0, citation.start - 1500) : min(doc.body_end, citation.end + 500)])
        for element in elements_within(doc, citation.start, citation.end):
            stated = scale_note(doc.text[max(0, element.start - 400) : element.start])
            if element.table is not None:
                labelled = LabelledTable(doc, element.table)
                own = [
                    (labelled.text(cell), labelled.label(cell)) for cell in labelled.cells(citation.start, citation.end)
                ]
                cells.extend(own)
                words.extend(label for _, label in own)
                heads = " ".join(labelled.text(cell) for cell in element.table.cells if cell.header)
                corner = next((labelled.text(c) for c in element.table.cells if c.row == 0 and c.col == 0), "")
                around.extend((element.table.title, heads, corner))
                stated = scale_note(f"{element.table.title} {heads} {corner}") or stated
            if stated is not None:
                scales.add(stated)
    return Evidence(
        words="\n".join(word for word in words if word),
        around="\n".join(around),
        near="\n".join(near),
        cells=tuple(cells),
        scale=scales.pop() if len(scales) == 1 else None,
    )
