"""ADE page layout: ADE's chunks of one page, with the words of the PDF's text layer if there is one → `PageLayout`.

ADE decides regions, classes, grids and reading order. Words and their boxes are the PDF's own, each owned by the chunk
and cell whose box contains it; words outside every box become regions of their own. Text that ADE read and the text
layer lacks (a scan, a picture of text, a JSON without its PDF) is taken from ADE, with the box of its chunk or cell.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.ade.markup import HtmlTable, Piece, pieces
from ragcore.ingest.ade.source import AdeChunk, AdeFile
from ragcore.ingest.layout import COARSE, Grid, GridCell, PageLayout, Rect, Region, area, around, turned
from ragcore.ingest.regions import MARGIN, hull, left_over
from ragcore.ingest.words import WordColumns

PICTURES = ("figure", "logo", "scan_code", "attestation")
TEXTS = ("text", "table", "card", "marginalia")
MAX_LOGO_WORDS = 12  # printed words; a picture with more, or with a number, is no logo whatever ADE says
IMAGE_TEXT = 0.2  # share of a chunk's words in the text layer below which the text is a picture there
MIN_TOKENS = 5  # words; a chunk with fewer is no evidence
MISMATCH = 0.5  # share of a page's words found at ADE's places, below which the two disagree
MIN_PAGE_TOKENS = 20  # words; a page with fewer is no evidence
BODY_SIZE = 10.0  # font size in points for words known only to ADE
HEADING_SIZES = (20.0, 17.0, 15.0, 13.0, 12.0, 11.0)  # by heading level; sizes tell levels apart
DISAGREES = "the ADE JSON does not fit this page of the PDF"
# Scripts without blanks between words are compared by character, like the PDF's words.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


def bag(text: str) -> Counter[str]:
    """Multiset of runs of letters and digits, caseless and with ligatures decomposed."""
    return Counter(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def found_share(told: Counter[str], printed: Counter[str]) -> float:
    """Share of ``told`` that ``printed`` contains, counting multiplicity; 1.0 for empty ``told``."""
    return (told & printed).total() / told.total() if told else 1.0


@dataclass
class _Part:
    """Region of the page: its words of the PDF (indices), and the lines that only ADE has, each with box and size."""

    region: Region
    members: list[int] = field(default_factory=list)
    written: list[tuple[str, Rect, float]] = field(default_factory=list)


@dataclass
class _Piece:
    """Piece of a chunk in the page's frame. ``lines`` have the box of their cell in a table, else of the piece;
    ``members`` are the words of the PDF that belong to it."""

    kind: str
    level: int
    box: Rect
    lines: list[tuple[str, Rect]]
    grid: Grid | None = None
    members: list[int] = field(default_factory=list)

    @property
    def is_picture(self) -> bool:
        return self.kind in ("picture", "logo")

    @cached_property
    def words(self) -> Counter[str]:
        return bag(" ".join(line for line, _box in self.lines))

    def written(self) -> _Part:
        """The piece in ADE's own words."""
        if self.is_picture:
            return _Part(Region(self.kind, self.box, description="\n".join(line for line, _box in self.lines)))
        size = HEADING_SIZES[min(self.level, len(HEADING_SIZES)) - 1] if self.level else BODY_SIZE
        return _Part(Region(self.kind, self.box, self.grid), written=[(*line, size) for line in self.lines])

    def printed(self, page: PageLayout) -> _Part:
        """The piece in the PDF's words. A picture keeps, as its description, the lines that say more than those."""
        box = hull(page.boxes, np.asarray(self.members, dtype=np.intp))
        if not self.is_picture:
            return _Part(Region(self.kind, around((box, self.box)) if self.grid else box, self.grid), self.members)
        words = _printed(page, self.members)
        kind = "picture" if len(self.members) > MAX_LOGO_WORDS or any(w.isdigit() for w in words) else self.kind
        said = "\n".join(line for line, _box in self.lines if bag(line) - words)
        return _Part(Region(kind, self.box, description=said), self.members)


@dataclass(frozen=True)
class _Chunk:
    """Chunk in the page's frame. A picture is one piece."""

    kind: str
    box: Rect
    pieces: list[_Piece]

    @cached_property
    def words(self) -> Counter[str]:
        """ADE's words, without those that describe a picture."""
        return sum((piece.words for piece in self.pieces if self.kind not in PICTURES), Counter[str]())

    @property
    def members(self) -> list[int]:
        return [word for piece in self.pieces for word in piece.members]


def page_layout(ade: AdeFile, page: PageLayout, *, reason: str = "") -> PageLayout:
    """ADE's layout of ``page`` (read without the layout model, or without words). ``reason`` explains why places are
    those of whole chunks, if they are; it is added to ``degraded`` with any other problem."""
    chunks = [_placed(ade, chunk, page) for chunk in ade.chunks.get(page.number, ())]
    problems = [page.degraded] if page.degraded else []
    unknown = sorted({c.kind for c in chunks if c.kind not in (*PICTURES, *TEXTS)})
    if unknown:
        problems.append(f"ADE's chunk type {', '.join(map(repr, unknown))} is unknown, so it was read as text")
    _share_out(page, chunks)
    pictures = [chunk for chunk in chunks if _is_picture_of_text(page, chunk)]
    if page.texts and (problem := _disagreement(page, chunks)):
        problems.append(problem)
    elif page.texts and pictures:
        problems.append("part of its text is a picture: those words are ADE's, highlighted as whole blocks or cells")
    elif not page.texts and chunks and reason:
        problems.append(reason)
    if not chunks and ade.failed:
        problems.append("ADE has nothing for this page")
    for piece in (piece for chunk in pictures for piece in chunk.pieces):
        piece.members = []
    parts = [part for chunk in chunks for part in _parts(page, chunk)]
    return _assembled(page, _with_leftovers(page, parts), "; ".join(problems) or None)


def _placed(ade: AdeFile, chunk: AdeChunk, page: PageLayout) -> _Chunk:
    """Chunk with its pieces at their places: a table around its cells, any other piece in the height that tables leave
    beside it."""

    def frame(box: Rect) -> Rect:
        x0, y0, x1, y1 = box
        shown = (x0 * page.width, y0 * page.height, x1 * page.width, y1 * page.height)
        return turned(shown, (360 - page.turn) % 360, page.width, page.height)

    def known(key: str) -> Rect | None:
        number, box = ade.boxes.get(key, (0, (0.0, 0.0, 0.0, 0.0)))
        return frame(box) if number == page.number else None

    box = frame(chunk.box)
    given = pieces(chunk.markdown) or [Piece("text")]
    if chunk.kind in PICTURES:
        kind = "logo" if chunk.kind == "logo" else "picture"
        return _Chunk(chunk.kind, box, [_Piece(kind, 0, box, [(line, box) for piece in given for line in piece.lines])])
    upper = (box[1] + box[3]) / 2 < page.frame[1] / 2
    margin = ("page-header" if upper else "page-footer") if chunk.kind == "marginalia" else ""
    placed: list[_Piece | None] = [None] * len(given)
    for number, piece in enumerate(given):
        if piece.kind == "table":
            placed[number] = _table(HtmlTable(piece.html), box, known)
    tables = {number: table.box for number, table in enumerate(placed) if table is not None}
    for number, piece in enumerate(given):
        if piece.kind != "table":
            top = max((table[3] for place, table in tables.items() if place < number), default=box[1])
            bottom = min((table[1] for place, table in tables.items() if place > number), default=box[3])
            if bottom - top < BODY_SIZE / 2:  # ADE's boxes leave no room here, so its place in the chunk is unknown
                top, bottom = box[1], box[3]
            room = (box[0], top, box[2], bottom)
            kind = piece.kind if piece.kind == "picture" else margin or piece.kind
            placed[number] = _Piece(kind, piece.level, room, [(line, room) for line in piece.lines])
    return _Chunk(chunk.kind, box, [piece for piece in placed if piece is not None])


def _table(table: HtmlTable, whole: Rect, known: Callable[[str], Rect | None]) -> _Piece | None:
    """Table in ``whole``, unless its own is known; a cell whose box isn't known is at its slot of an even grid."""
    x0, y0, x1, y1 = known(table.key) or whole
    wide, high = (x1 - x0) / max(1, table.columns), (y1 - y0) / max(1, table.rows)
    cells: list[GridCell] = []
    lines: list[tuple[str, Rect]] = []
    for cell in table.cells:
        slot = (x0 + cell.col * wide, y0 + cell.row * high)
        box = known(cell.key) or (*slot, slot[0] + cell.col_span * wide, slot[1] + cell.row_span * high)
        cells.append(GridCell(cell.row, cell.col, cell.row_span, cell.col_span, box, cell.header))
        lines += [(line, box) for line in cell.lines]
    if not lines:
        return None
    grid = Grid(table.rows, table.columns, tuple(cells), given=True)
    return _Piece("table", 0, around(cell.box for cell in cells), lines, grid)


def _printed(page: PageLayout, members: Iterable[int]) -> Counter[str]:
    return bag(" ".join(page.texts[i] for i in members))


def _is_picture_of_text(page: PageLayout, chunk: _Chunk) -> bool:
    """Whether ADE read text in the chunk that the text layer does not have."""
    words = chunk.words
    if not chunk.members:
        return bool(words)
    return words.total() >= MIN_TOKENS and found_share(words, _printed(page, chunk.members)) < IMAGE_TEXT


def _disagreement(page: PageLayout, chunks: Sequence[_Chunk]) -> str:
    """Message if most of ADE's words are not at their places although the page has as many words of its own."""
    told = sum(chunk.words.total() for chunk in chunks)
    if told < MIN_PAGE_TOKENS or 2 * len(page.texts) < told:
        return ""
    share = sum((chunk.words & _printed(page, chunk.members)).total() for chunk in chunks) / told
    return f"{DISAGREES}: {share:.0%} of its words stand where it says" if share < MISMATCH else ""


def _parts(page: PageLayout, chunk: _Chunk) -> Iterator[_Part]:
    """Pieces of a chunk in the PDF's words; in ADE's if hardly a word is printed there."""
    words = _printed(page, chunk.members)
    for piece in chunk.pieces:
        if piece.members:
            yield piece.printed(page)
        elif piece.is_picture or found_share(piece.words, words) < 0.5:
            yield piece.written()


def _share_out(page: PageLayout, chunks: Sequence[_Chunk]) -> None:
    """Give each printed line, or its part inside a piece, to that piece; of several to the one that has most of its
    letters, else to the piece of the line after it (markers may be lines), else to the smallest. A line of a chunk that
    lies in none of its pieces needs most of its letters in one."""
    pieces = [(piece, chunk.box) for chunk in chunks for piece in chunk.pieces]
    left = [piece.words for piece, _box in pieces]
    inside = _inside(page, [piece.box for piece, _box in pieces])
    outside = np.asarray(~inside.any(axis=1))
    inside[outside] = _inside(page, [box for _piece, box in pieces])[outside]
    groups = groupby(range(len(page.texts)), key=lambda word: (int(page.lines[word]), inside[word].tobytes()))
    current = -1
    for line in reversed([list(words) for _place, words in groups]):
        choices = np.flatnonzero(inside[line[0]]).tolist()
        told = _printed(page, line)
        shared = {place: _letters(told & left[place]) for place in choices}
        if not told or 2 * max(shared.values(), default=0) < _letters(told):
            if outside[line[0]]:
                continue
            shared = dict.fromkeys(choices, 0)
        current = max(
            reversed(choices), key=lambda place: (shared[place], place == current, -area(pieces[place][0].box))
        )
        left[current] = left[current] - told
        pieces[current][0].members += line
    for piece, _box in pieces:
        piece.members.sort()


def _inside(page: PageLayout, boxes: Sequence[Rect]) -> NDArray[np.bool_]:
    """Whether each word's centre lies in each box. bool ``(words, boxes)``."""
    frames = np.asarray(boxes, dtype=np.float32).reshape(-1, 4)
    x = (page.boxes[:, 0] + page.boxes[:, 2])[:, None] / 2
    y = (page.boxes[:, 1] + page.boxes[:, 3])[:, None] / 2
    across = (x >= frames[:, 0] - MARGIN) & (x <= frames[:, 2] + MARGIN)
    return np.asarray(across & (y >= frames[:, 1] - MARGIN) & (y <= frames[:, 3] + MARGIN))


def _letters(words: Counter[str]) -> int:
    return sum(len(word) * count for word, count in words.items())


def _owners(page: PageLayout, parts: Sequence[_Part]) -> NDArray[np.int32]:
    owners = np.full(len(page.texts), -1, dtype=np.int32)
    for number, part in enumerate(parts):
        owners[np.asarray(part.members, dtype=np.intp)] = number
    return owners


def _with_leftovers(page: PageLayout, parts: list[_Part]) -> list[_Part]:
    """``parts`` with the words of the PDF that none of them has, each region after the last part above it."""
    out = list(parts)
    for words in left_over(_owners(page, parts), page.owners):
        x0, y0, x1, y1 = box = hull(page.boxes, words)
        boxes = [part.region.box for part in out]
        above = [i for i, b in enumerate(boxes) if b[0] < x1 and x0 < b[2] and b[1] + b[3] <= y0 + y1]
        out.insert(above[-1] + 1 if above else 0, _Part(Region("text", box), words.tolist()))
    return out


def _assembled(page: PageLayout, parts: Sequence[_Part], degraded: str | None) -> PageLayout:
    """``page`` with ``parts`` as its regions, and their words known only to ADE after its own."""
    added = WordColumns()
    line = int(page.lines.max(initial=-1))
    for number, part in enumerate(parts):
        for text, box, size in part.written:
            line += 1
            for word in text.split():
                added.add(word, box, size, line, COARSE, number)
    return replace(
        page,
        texts=(*page.texts, *added.texts),
        boxes=np.concatenate([page.boxes, added.box_array()]),
        sizes=np.concatenate([page.sizes, np.asarray(added.sizes, dtype=np.float32)]),
        lines=np.concatenate([page.lines, np.asarray(added.lines, dtype=np.int32)]),
        flags=np.concatenate([page.flags, np.asarray(added.flags, dtype=np.uint8)]),
        owners=np.concatenate([_owners(page, parts), np.asarray(added.blocks, dtype=np.int32)]),
        regions=tuple(part.region for part in parts),
        degraded=degraded,
    )
