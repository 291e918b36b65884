"""ADE page layout: ADE's chunks of one page, with the words of the PDF's text layer if there is one → `PageLayout`.

ADE decides regions, classes, grids and reading order. Words and their boxes are the PDF's own, each owned by the chunk
and cell whose box contains it; words outside every box become regions of their own. Text that ADE read and the text
layer lacks (a scan, a picture of text, a JSON without its PDF) is taken from ADE, with the box of its chunk or cell.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.ade.markup import HtmlTable, Piece, cell_boxes, description, grid_of, pieces, read_table
from ragcore.ingest.ade.source import AdeChunk, AdeFile
from ragcore.ingest.layout import COARSE, Grid, PageLayout, Rect, Region, area, around, turned
from ragcore.ingest.regions import MARGIN, assign, hull, leftover_regions

PICTURES = ("figure", "logo", "scan_code", "attestation")
MARGINS = {"marginalia": "", "page_header": "page-header", "page_footer": "page-footer", "page_number": "page-footer"}
TEXTS = ("text", "table", "form", "card", "key_value", "title")
MAX_LOGO_WORDS = 12  # printed words; a picture with more, or with a number, is no logo whatever ADE says
IMAGE_TEXT = 0.2  # share of a chunk's words in the text layer below which the text is a picture there
MIN_TOKENS = 5  # words; a chunk with fewer is no evidence
MISMATCH = 0.5  # share of a page's words found at ADE's places, below which the two disagree
MIN_PAGE_TOKENS = 20  # words; a page with fewer is no evidence
BODY_SIZE = 10.0  # font size in points for words known only to ADE
HEADING_SIZES = (20.0, 17.0, 15.0, 13.0, 12.0, 11.0)  # by heading level; sizes tell levels apart
DISAGREES = "the ADE JSON does not fit this page of the PDF"


@dataclass
class _Part:
    """Region with its words of the PDF (indices) and the lines that only ADE has, each with its box."""

    region: Region
    members: list[int] = field(default_factory=list)
    written: list[tuple[str, Rect, float]] = field(default_factory=list)


@dataclass
class _Chunk:
    """Chunk in the page's frame, with its pieces and the words of the PDF inside it."""

    kind: str
    box: Rect
    pieces: list[Piece]
    tables: dict[int, HtmlTable]  # piece number → table
    boxes: dict[int, list[Rect]]  # piece number → box of each cell
    description: tuple[str, ...] = ()
    members: list[int] = field(default_factory=list)

    def area(self, number: int) -> Rect:
        """Area of a table: around its cells."""
        return around(self.boxes[number]) if self.boxes[number] else self.box

    @property
    def text(self) -> str:
        return " ".join(self.texts())

    def texts(self) -> list[str]:
        """Text of each piece."""
        return [
            " ".join(line for cell in self.tables[i].cells for line in cell.lines)
            if i in self.tables
            else " ".join(piece.lines)
            for i, piece in enumerate(self.pieces)
        ]


def page_layout(ade: AdeFile, page: PageLayout, *, reason: str = "") -> PageLayout:
    """ADE's layout of ``page`` (read without the layout model, or without words). ``reason`` explains why places are
    those of whole chunks, if they are; it is added to ``degraded`` with any other problem."""
    chunks = [_placed(ade, chunk, page) for chunk in ade.chunks.get(page.number, ())]
    problems = [page.degraded] if page.degraded else []
    unknown = sorted({c.kind for c in chunks if c.kind not in (*PICTURES, *MARGINS, *TEXTS)})
    if unknown:
        problems.append(f"ADE's chunk type {', '.join(map(repr, unknown))} is unknown, so it was read as text")
    owners = chunk_of_words(page, [c.box for c in chunks], [bag(c.text) for c in chunks])
    for number, chunk in enumerate(chunks):
        chunk.members = np.flatnonzero(owners == number).tolist()
    written = [bool(chunk.pieces) and _is_picture_of_text(page, chunk) for chunk in chunks]
    if page.texts and (problem := _disagreement(page, chunks)):
        problems.append(problem)
    elif page.texts and any(written):
        problems.append("part of its text is a picture: those words are ADE's, highlighted as whole blocks or cells")
    elif not page.texts and chunks and reason:
        problems.append(reason)
    if not chunks and ade.failed:
        problems.append("ADE has nothing for this page")
    parts = [part for chunk, from_ade in zip(chunks, written) for part in _parts(page, chunk, from_ade)]
    parts = _with_leftovers(page, parts, owners)
    return _assembled(page, parts, "; ".join(problems) or None)


def _placed(ade: AdeFile, chunk: AdeChunk, page: PageLayout) -> _Chunk:
    def frame(box: Rect) -> Rect:
        x0, y0, x1, y1 = box
        shown = (x0 * page.width, y0 * page.height, x1 * page.width, y1 * page.height)
        return turned(shown, (360 - page.turn) % 360, page.width, page.height)

    box = frame(chunk.box)
    if chunk.kind in PICTURES:
        return _Chunk(chunk.kind, box, [], {}, {}, description(chunk.markdown))
    parts = pieces(chunk.markdown)
    tables = {i: read_table(piece.html) for i, piece in enumerate(parts) if piece.kind == "table"}
    keys = {key for table in tables.values() for key in (table.key, *(cell.key for cell in table.cells))}
    known = {key: frame(ade.boxes[key][1]) for key in keys if key in ade.boxes and ade.boxes[key][0] == page.number}
    boxes = {i: cell_boxes(table, known, known.get(table.key, box)) for i, table in tables.items()}
    return _Chunk(chunk.kind, box, parts, tables, boxes)


def _is_picture_of_text(page: PageLayout, chunk: _Chunk) -> bool:
    """Whether ADE read text in the chunk that the text layer does not have."""
    tokens = bag(chunk.text)
    if not chunk.members:
        return True
    return tokens.total() >= MIN_TOKENS and found_share(tokens, bag(_printed(page, chunk.members))) < IMAGE_TEXT


def comparable(ade: AdeFile, page: PageLayout) -> bool:
    """Whether ``page`` can show that the JSON does not fit the PDF: both have enough words there."""
    chunks = [chunk for chunk in ade.chunks.get(page.number, ()) if chunk.kind not in PICTURES]
    told = sum(bag(text).total() for chunk in chunks for text in _placed(ade, chunk, page).texts())
    return _enough(told, int(((page.flags & COARSE) == 0).sum()))


def _enough(told: int, printed: int) -> bool:
    return told >= MIN_PAGE_TOKENS and 2 * printed >= told


def _disagreement(page: PageLayout, chunks: Sequence[_Chunk]) -> str:
    """Message if most of ADE's words are not at their places although the page has as many words of its own."""
    told = [bag(chunk.text) for chunk in chunks if chunk.pieces]
    total = sum(tokens.total() for tokens in told)
    if not _enough(total, len(page.texts)):
        return ""
    shares = (
        found_share(tokens, bag(_printed(page, chunk.members))) * tokens.total()
        for tokens, chunk in zip(told, (chunk for chunk in chunks if chunk.pieces))
    )
    share = sum(shares) / total
    return f"{DISAGREES}: {share:.0%} of its words stand where it says" if share < MISMATCH else ""


def _printed(page: PageLayout, members: Sequence[int]) -> str:
    return " ".join(page.texts[i] for i in members)


def _parts(page: PageLayout, chunk: _Chunk, from_ade: bool) -> list[_Part]:
    if chunk.kind in PICTURES:
        return [_picture(page, chunk)]
    if from_ade:
        # The text layer's words inside the box are none of ADE's text, so they become a part of their own.
        written = _written(page, chunk, range(len(chunk.pieces)))
        return [_plain(page, chunk.members), *written] if chunk.members else written
    if not chunk.pieces:
        return [_Part(Region(_kind(page, chunk, "text"), chunk.box), chunk.members)] if chunk.members else []
    fixed = {i: chunk.area(i) for i in chunk.tables}
    texts = chunk.texts()
    split = split_lines(page, chunk.members, [bag(text) for text in texts], fixed)
    parts: list[_Part] = []
    for number, piece in enumerate(chunk.pieces):
        members = split.members[number]
        if members and number in chunk.tables:
            parts.append(_table(page, chunk, number, members))
        elif members and piece.kind == "picture":
            parts.append(_figure(page, members, piece.lines, _hull(page, members)))
        elif members:
            parts.append(_plain(page, members, _kind(page, chunk, piece.kind)))
        elif number in split.missing or piece.kind == "picture":
            parts += _written(page, chunk, (number,))
    if split.strays:
        stray = _plain(page, split.strays)
        later = [place for place, part in enumerate(parts) if part.region.box[1] > stray.region.box[1]]
        parts.insert(later[0] if later else len(parts), stray)
    return parts


def _plain(page: PageLayout, members: list[int], kind: str = "text") -> _Part:
    return _Part(Region(kind, _hull(page, members)), members)


def _kind(page: PageLayout, chunk: _Chunk, piece: str) -> str:
    """Region kind of a piece of text in a chunk."""
    if chunk.kind in MARGINS:
        upper = (chunk.box[1] + chunk.box[3]) / 2 < page.frame[1] / 2
        return MARGINS[chunk.kind] or ("page-header" if upper else "page-footer")
    return "title" if chunk.kind == "title" and piece in ("text", "section-header") else piece


def _picture(page: PageLayout, chunk: _Chunk) -> _Part:
    words = [page.texts[i] for i in chunk.members]
    logo = chunk.kind == "logo" and len(words) <= MAX_LOGO_WORDS and not any(c.isdigit() for w in words for c in w)
    part = _figure(page, chunk.members, chunk.description, chunk.box)
    return replace(part, region=replace(part.region, kind="logo")) if logo else part


def _figure(page: PageLayout, members: list[int], lines: Sequence[str], box: Rect) -> _Part:
    """Picture with its printed words and, as its description, the lines that say more than those."""
    printed = bag(_printed(page, members))
    said = [line for line in lines if not members or bag(line) - printed]
    return _Part(Region("picture", box, description="\n".join(said)), members)


def _table(page: PageLayout, chunk: _Chunk, number: int, members: list[int]) -> _Part:
    """Table with words of the PDF. A cell's rectangle becomes the one around its words, by which the table builder
    finds them again if ADE's rectangles overlap."""
    table, boxes = chunk.tables[number], chunk.boxes[number]
    if not boxes:
        return _plain(page, members)
    cells = cell_of_words(page, members, boxes, [bag(" ".join(cell.lines)) for cell in table.cells])
    shown = list(boxes)
    for place in sorted(set(cells)):
        shown[place] = _hull(page, [word for word, cell in zip(members, cells) if cell == place])
    area = around([_hull(page, members), chunk.area(number)])
    return _Part(Region("table", area, grid_of(table, shown)), members)


def _written(page: PageLayout, chunk: _Chunk, numbers: Sequence[int]) -> list[_Part]:
    """Pieces in ADE's own words. The words have the box of the chunk (of its area without the tables); the regions are
    cut from it by length, used only by rules about vertical position."""
    parts: list[_Part] = []
    for number, room, strip in _strips(chunk):
        if number not in numbers:
            continue
        piece = chunk.pieces[number]
        if number in chunk.tables:
            boxes = chunk.boxes[number]
            grid: Grid | None = grid_of(chunk.tables[number], boxes) if boxes else None
            lines = [
                (line, box, BODY_SIZE) for cell, box in zip(chunk.tables[number].cells, boxes) for line in cell.lines
            ]
            if lines:
                parts.append(_Part(Region("table", room, grid), [], lines))
        elif piece.kind == "picture":
            parts.append(_figure(page, [], piece.lines, strip))
        else:
            size = HEADING_SIZES[min(piece.level, len(HEADING_SIZES)) - 1] if piece.level else BODY_SIZE
            region = Region(_kind(page, chunk, piece.kind), strip)
            parts.append(_Part(region, [], [(line, room, size) for line in piece.lines]))
    return parts


def _strips(chunk: _Chunk) -> list[tuple[int, Rect, Rect]]:
    """For each piece: its number, the area known to hold it, and the strip of that area assigned to it."""
    x0, top, x1, bottom = chunk.box
    out: list[tuple[int, Rect, Rect]] = []
    run: list[int] = []
    lengths = [max(1, len(text)) for text in chunk.texts()]

    def close(low: float, high: float) -> None:
        if high - low < BODY_SIZE / 2:  # ADE's boxes leave no room here, so its place in the chunk is unknown
            low, high = top, bottom
        whole = sum(lengths[i] for i in run)
        y = low
        for i in run:
            step = (high - low) * lengths[i] / whole
            out.append((i, (x0, low, x1, high), (x0, y, x1, y + step)))
            y += step
        run.clear()

    edge = top
    for number in range(len(chunk.pieces)):
        if number not in chunk.tables:
            run.append(number)
            continue
        area = chunk.area(number)
        close(edge, area[1])
        out.append((number, area, area))
        edge = area[3]
    close(edge, bottom)
    return out


def _with_leftovers(page: PageLayout, parts: list[_Part], owners: NDArray[np.int32]) -> list[_Part]:
    """``parts`` with the words of the PDF that lie in no chunk, inserted at their places."""
    regions = [part.region for part in parts]
    made, members = leftover_regions(page.boxes, page.lines, page.owners, owners, regions)
    out = list(parts)
    for region, words in zip(made, members):
        left = _Part(region, words.tolist())
        middle = (region.box[1] + region.box[3]) / 2
        above = [
            place
            for place, part in enumerate(out)
            if part.region.box[0] < region.box[2]
            and region.box[0] < part.region.box[2]
            and (part.region.box[1] + part.region.box[3]) / 2 <= middle
        ]
        below = [place for place, part in enumerate(out) if (part.region.box[1] + part.region.box[3]) / 2 > middle]
        out.insert(above[-1] + 1 if above else below[0] if below else len(out), left)
    return out


def _assembled(page: PageLayout, parts: Sequence[_Part], degraded: str | None) -> PageLayout:
    texts = list(page.texts)
    owners = np.full(len(texts), -1, dtype=np.int32)
    boxes: list[Rect] = []
    sizes: list[float] = []
    lines: list[int] = []
    added: list[int] = []
    line = int(page.lines.max()) + 1 if len(page.lines) else 0
    for number, part in enumerate(parts):
        owners[np.asarray(part.members, dtype=np.intp)] = number
        for text, box, size in part.written:
            for word in text.split():
                texts.append(word)
                boxes.append(box)
                sizes.append(size)
                lines.append(line)
                added.append(number)
            line += 1
    count = len(boxes)
    return replace(
        page,
        texts=tuple(texts),
        boxes=np.concatenate([page.boxes, np.asarray(boxes, dtype=np.float32).reshape(-1, 4)]),
        sizes=np.concatenate([page.sizes, np.asarray(sizes, dtype=np.float32)]),
        lines=np.concatenate([page.lines, np.asarray(lines, dtype=np.int32)]),
        flags=np.concatenate([page.flags, np.full(count, COARSE, dtype=np.uint8)]),
        owners=np.concatenate([owners, np.asarray(added, dtype=np.int32)]),
        regions=tuple(part.region for part in parts),
        degraded=degraded,
    )


def _hull(page: PageLayout, members: Sequence[int]) -> Rect:
    return hull(page.boxes, np.asarray(members, dtype=np.intp))


STEP_BACK = 6  # letters that a line must share with an earlier piece, beyond those it shares with the next, to go there
MAX_CHOICES = 1_000_000  # lines × pieces of a chunk up to which they are matched; beyond, all go to the first piece
# Scripts without blanks between words are compared by character, like the PDF's words.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


def bag(text: str) -> Counter[str]:
    """Multiset of runs of letters and digits, caseless and with ligatures decomposed."""
    return Counter(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def found_share(told: Counter[str], printed: Counter[str]) -> float:
    """Share of ``told`` that ``printed`` contains, counting multiplicity; 1.0 for empty ``told``."""
    return (told & printed).total() / told.total() if told else 1.0


def _weight(tokens: Counter[str], own: Counter[str]) -> int:
    """Weight of the evidence that ``tokens`` are part of ``own``: the number of letters in shared words."""
    return sum(len(token) * min(count, own[token]) for token, count in tokens.items() if token in own)


def chunk_of_words(page: PageLayout, chunks: Sequence[Rect], texts: Sequence[Counter[str]]) -> NDArray[np.int32]:
    """Chunk of each word of ``page``; -1 if none holds it. int32 ``(n,)``.

    Decided by the word's centre; if chunks overlap, the printed line goes to the one whose text has it, else to the
    smallest. ``chunks`` are boxes in the page's frame, ``texts`` ADE's text of them.
    """
    owners = assign(page.boxes, [Region("text", box) for box in chunks])
    inside = _inside(page, chunks)
    lines: dict[tuple[int, bytes], list[int]] = {}
    for word in np.flatnonzero(inside.sum(axis=1) > 1).tolist():
        lines.setdefault((int(page.lines[word]), inside[word].tobytes()), []).append(word)
    for words in lines.values():
        tokens = bag(" ".join(page.texts[word] for word in words))
        weights = {place: _weight(tokens, texts[place]) for place in np.flatnonzero(inside[words[0]]).tolist()}
        best = max(weights.values())
        smallest = min((place for place in weights if weights[place] == best), key=lambda p: area(chunks[p]))
        for word in words:
            if weights[int(owners[word])] < best:
                owners[word] = smallest
    return owners


def cell_of_words(
    page: PageLayout, members: Sequence[int], cells: Sequence[Rect], texts: Sequence[Counter[str]]
) -> list[int]:
    """Cell of each word of ``members``: the one that holds its centre (of several: the one whose text has it, else the
    smallest), else the nearest."""
    boxes = page.boxes[np.asarray(members, dtype=np.intp)]
    x = (boxes[:, 0] + boxes[:, 2])[:, None] / 2
    y = (boxes[:, 1] + boxes[:, 3])[:, None] / 2
    frames = np.asarray(cells, dtype=np.float32)
    away = np.hypot(
        np.maximum(np.maximum(frames[:, 0] - x, x - frames[:, 2]), 0),
        np.maximum(np.maximum(frames[:, 1] - y, y - frames[:, 3]), 0),
    )
    out: list[int] = []
    for place, word in enumerate(members):
        near = np.flatnonzero(away[place] <= away[place].min() + 1e-3).tolist()
        tokens = bag(page.texts[word])
        out.append(max(near, key=lambda cell: (_weight(tokens, texts[cell]), -area(cells[cell]))))
    return out


@dataclass(frozen=True)
class Split:
    """Split of a chunk's words. ``members[i]`` are the words of piece i; ``missing`` the pieces without words whose
    text is not among the words of the other pieces either; ``strays`` the words outside the tables that none of the
    texts has."""

    members: list[list[int]]
    missing: frozenset[int]
    strays: list[int]


def split_lines(
    page: PageLayout, members: Sequence[int], texts: Sequence[Counter[str]], areas: Mapping[int, Rect]
) -> Split:
    """Assignment of a chunk's printed lines to its pieces. Lines in one of ``areas`` (tables, by piece number) belong
    to that piece; the others follow the order of the pieces, maximising the total weight of the words that lines share
    with their pieces (dynamic programming over lines × pieces)."""
    out: list[list[int]] = [[] for _ in texts]
    rest: list[int] = []
    numbers = list(areas)
    inside = _inside(page, [areas[i] for i in numbers], MARGIN) if numbers else None
    for word in members:
        holders = [] if inside is None else np.flatnonzero(inside[word]).tolist()
        if holders:
            out[numbers[min(holders, key=lambda place: area(areas[numbers[place]]))]].append(word)
        else:
            rest.append(word)
    lines = [list(line) for _number, line in groupby(rest, key=lambda word: int(page.lines[word]))]
    strays: list[int] = []
    for line, piece in zip(lines, _pieces_of_lines(page, lines, texts)):
        known = piece not in areas or _weight(bag(" ".join(page.texts[i] for i in line)), texts[piece])
        (out[piece] if known else strays).extend(line)
    printed = bag(" ".join(page.texts[i] for i in members))
    missing = frozenset(
        i for i, tokens in enumerate(texts) if not out[i] and tokens and found_share(tokens, printed) < 0.5
    )
    return Split([sorted(words) for words in out], missing, strays)


def _pieces_of_lines(page: PageLayout, lines: Sequence[Sequence[int]], texts: Sequence[Counter[str]]) -> list[int]:
    """Piece of each line. A step back (a name in the margin that continues beside its text) costs `STEP_BACK`."""
    if not lines or len(lines) * len(texts) > MAX_CHOICES:
        return [0] * len(lines)
    tokens = [bag(" ".join(page.texts[i] for i in line)) for line in lines]
    # A line with less than half of its letters in a piece is no evidence for it.
    least = [sum(len(token) * count for token, count in line.items()) / 2 for line in tokens]
    shared = [[_weight(line, own) for own in texts] for line in tokens]
    weights = np.asarray([[w if w >= half else 0 for w in row] for row, half in zip(shared, least)], dtype=np.int64)
    # best[i, j]: the greatest weight of lines 0..i if line i belongs to piece j; came[i, j]: the previous line's piece
    # then.
    best = np.zeros_like(weights)
    came = np.zeros_like(weights)
    best[0] = weights[0]
    for number in range(1, len(lines)):
        before = best[number - 1]
        heaviest = leader = int(np.argmax(before))
        for piece in range(len(texts)):
            if piece == 0 or before[piece] > before[leader]:
                leader = piece
            # On a tie a line stays with the previous line's piece.
            choices = [(before[piece], piece), (before[leader], leader), (before[heaviest] - STEP_BACK, heaviest)]
            value, came[number, piece] = max(choices, key=lambda choice: int(choice[0]))
            best[number, piece] = value + weights[number, piece]
    piece = int(np.argmax(best[-1]))
    out = [piece]
    for number in range(len(lines) - 1, 0, -1):
        piece = int(came[number, piece])
        out.append(piece)
    return out[::-1]


def _inside(page: PageLayout, boxes: Sequence[Rect], margin: float = 0.0) -> NDArray[np.bool_]:
    """Whether each word's centre lies in each box. bool ``(words, boxes)``."""
    frames = np.asarray(boxes, dtype=np.float32).reshape(-1, 4)
    x = (page.boxes[:, 0] + page.boxes[:, 2])[:, None] / 2
    y = (page.boxes[:, 1] + page.boxes[:, 3])[:, None] / 2
    across = (x >= frames[:, 0] - margin) & (x <= frames[:, 2] + margin)
    down = (y >= frames[:, 1] - margin) & (y <= frames[:, 3] + margin)
    inside: NDArray[np.bool_] = across & down
    return inside
