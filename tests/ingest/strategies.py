"""Generated pages for property tests: regions of any kind with words of any script, in any number."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ragcore.ingest.layout import GLUED, Grid, GridCell, PageLayout, Region

KINDS = (
    "text",
    "title",
    "section-header",
    "list-item",
    "picture",
    "caption",
    "footnote",
    "formula",
    "page-header",
    "page-footer",
)
LINE_HEIGHT = 14.0
WORD_WIDTH = 40.0

words = st.one_of(
    st.sampled_from(
        ["the", "of", "and", "Revenue", "inter-", "national", "1,204.5", "2023", "(5)", "$", "BMS-986158", "Total"]
    ),
    st.text(st.characters(categories=("L", "N", "P", "S"), exclude_characters="\ufeff"), min_size=1, max_size=12),
    st.sampled_from(["数", "据", "שלום", "مرحبا", "straße", "naïve"]),
)
descriptions = st.one_of(st.just(""), st.lists(words, max_size=80).map(" ".join))
paragraphs = st.lists(words, min_size=1, max_size=60)


@st.composite
def tables(draw: st.DrawFn) -> list[list[list[str]]]:
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    cell = st.lists(words, max_size=3)
    return [[draw(cell) for _ in range(columns)] for _ in range(rows)]


@st.composite
def pages(draw: st.DrawFn, number: int) -> PageLayout:
    regions: list[Region] = []
    texts: list[str] = []
    boxes: list[tuple[float, float, float, float]] = []
    owners: list[int] = []
    lines: list[int] = []
    y, line = 40.0, 0

    def put(text: str, x: float, owner: int) -> None:
        texts.append(text)
        boxes.append((x, y, x + WORD_WIDTH - 5, y + LINE_HEIGHT - 3))
        owners.append(owner)
        lines.append(line)

    for _ in range(draw(st.integers(0, 6))):
        top = y
        if draw(st.integers(0, 4)) == 0:
            cells: list[GridCell] = []
            table = draw(tables())
            for r, row in enumerate(table):
                for c, cell in enumerate(row):
                    left = 40 + c * 3 * WORD_WIDTH
                    header = r == 0 and len(table) > 1
                    cells.append(GridCell(r, c, 1, 1, (left, y, left + 3 * WORD_WIDTH - 5, y + LINE_HEIGHT), header))
                    for k, text in enumerate(cell):
                        put(text, left + k * WORD_WIDTH, len(regions))
                    line += 1
                y += LINE_HEIGHT
            if len(texts) and owners[-1] == len(regions):
                grid = Grid(len(table), len(table[0]), tuple(cells))
                regions.append(Region("table", (40, top, 700, y), grid))
        else:
            for place, text in enumerate(draw(paragraphs)):
                if place and place % 10 == 0:
                    y += LINE_HEIGHT
                    line += 1
                put(text, 40 + (place % 10) * WORD_WIDTH, len(regions))
            y += LINE_HEIGHT
            line += 1
            kind = draw(st.sampled_from(KINDS))
            said = draw(descriptions) if kind == "picture" else ""
            regions.append(Region(kind, (40, top, 450, y), description=said))
        y += LINE_HEIGHT
    flags = [draw(st.sampled_from((0, 1, 3, GLUED))) for _ in texts]
    return PageLayout(
        number=number,
        label=str(number),
        width=800.0,
        height=max(800.0, y + 40),
        rotation=0,
        turn=0,
        texts=tuple(texts),
        boxes=np.asarray(boxes, np.float32).reshape(-1, 4),
        sizes=np.full(len(texts), draw(st.sampled_from((8.0, 11.0, 18.0))), np.float32),
        lines=np.asarray(lines, np.int32),
        flags=np.asarray(flags, np.uint8),
        owners=np.asarray(owners, np.int32),
        regions=tuple(regions),
    )


@st.composite
def documents(draw: st.DrawFn) -> list[PageLayout]:
    count = draw(st.integers(1, 4))
    made = [draw(pages(number)) for number in range(1, count + 1)]
    if not any(page.texts for page in made):
        made[0] = draw(pages(1).filter(lambda page: bool(page.texts)))
    return made
