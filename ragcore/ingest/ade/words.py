"""Which chunk, piece and cell of ADE each word of the PDF's text layer belongs to: by place, and by ADE's own text
where places overlap."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ragcore.ingest.layout import PageLayout, Rect, Region, area
from ragcore.ingest.regions import MARGIN, assign, hull

STEP_BACK = 6  # letters that a line must share with an earlier piece, beyond those it shares with the next, to go there
MAX_CHOICES = 1_000_000  # lines × pieces of one chunk up to which they are matched; beyond, all is the first piece
MIN_ONCE = 4  # words that ADE's text has once, without which a block does not tell where it is read
# Scripts without blanks between words are compared character by character, as the PDF's words are.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


def bag(text: str) -> Counter[str]:
    """Runs of letters and digits, caseless and with ligatures taken apart, with their counts."""
    return Counter(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def found_share(told: Counter[str], printed: Counter[str]) -> float:
    """The share of ``told`` that is in ``printed``, each as often; 1.0 for nothing told."""
    return (told & printed).total() / told.total() if told else 1.0


def _weight(tokens: Counter[str], own: Counter[str]) -> int:
    """How much speaks for ``tokens`` being part of ``own``: the letters of the words that they share."""
    return sum(len(token) * min(count, own[token]) for token, count in tokens.items() if token in own)


def chunk_of_words(page: PageLayout, chunks: Sequence[Rect], texts: Sequence[Counter[str]]) -> NDArray[np.int32]:
    """The chunk of each word of ``page``; -1 where none holds it. int32 ``(n,)``.

    By the word's centre; where chunks overlap the printed line goes to the one whose text has it, else to the
    smallest. ``chunks`` are boxes in the page's frame, ``texts`` what ADE read in them.
    """
    owners = assign(page.boxes, page.lines, [Region("text", box) for box in chunks])
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


def untold_words(page: PageLayout, members: Sequence[int], text: Counter[str]) -> list[int]:
    """The words of the printed lines of a chunk of which ADE's text has not one, where they are more than half of the
    chunk: ADE broke off there. [] where they are fewer, which are misread words."""
    if not text:
        return []
    out: list[int] = []
    for _number, group in groupby(members, key=lambda word: int(page.lines[word])):
        line = list(group)
        tokens = bag(" ".join(page.texts[i] for i in line))
        if tokens and not tokens & text:
            out += line
    return out if 2 * len(out) > len(members) and len(out) < len(members) else []


def cell_of_words(
    page: PageLayout, members: Sequence[int], cells: Sequence[Rect], texts: Sequence[Counter[str]]
) -> list[int]:
    """The cell of each word of ``members``: the one that holds its centre (where several do: the one whose text has
    it, else the smallest), else the nearest."""
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
    """``members[i]`` are the words of piece i; ``missing`` the pieces without any whose text is not among the words of
    the other pieces either; ``strays`` the words beside the tables that none of the texts has."""

    members: list[list[int]]
    missing: frozenset[int]
    strays: list[int]


def split_lines(
    page: PageLayout, members: Sequence[int], texts: Sequence[Counter[str]], areas: Mapping[int, Rect]
) -> Split:
    """The printed lines of a chunk among its pieces. What lies in one of ``areas`` (tables, by piece number) belongs to
    that piece; the other lines follow one another as the pieces do, so that the words which a line shares with its
    piece weigh most in all (dynamic programming over lines × pieces)."""
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
    """The piece of each line. A step back to an earlier piece (a name in the margin that goes on beside its text) costs
    `STEP_BACK`."""
    if not lines or len(lines) * len(texts) > MAX_CHOICES:
        return [0] * len(lines)
    tokens = [bag(" ".join(page.texts[i] for i in line)) for line in lines]
    # A line with less than half of its letters in a piece tells nothing about it.
    least = [sum(len(token) * count for token, count in line.items()) / 2 for line in tokens]
    shared = [[_weight(line, own) for own in texts] for line in tokens]
    weights = np.asarray([[w if w >= half else 0 for w in row] for row, half in zip(shared, least)], dtype=np.int64)
    # best[i, j]: the most that lines 0..i can weigh when line i belongs to piece j; came[i, j]: the piece of the line
    # before it then.
    best = np.zeros_like(weights)
    came = np.zeros_like(weights)
    best[0] = weights[0]
    for number in range(1, len(lines)):
        before = best[number - 1]
        heaviest = leader = int(np.argmax(before))
        for piece in range(len(texts)):
            if piece == 0 or before[piece] > before[leader]:
                leader = piece
            # On a tie a line stays with the piece of the line before it.
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


def columns(page: PageLayout, members: list[int], text: str) -> list[list[int]]:
    """The words of one piece by columns, in the order in which ADE's ``text`` reads them; all in one where it reads
    across (names beside values).

    MuPDF's text blocks are columns when two that stand side by side come one after the other in ``text``, which the
    words that it has once tell.
    """
    blocks: dict[int, list[int]] = {}
    for word in members:
        blocks.setdefault(int(page.owners[word]), []).append(word)
    told = _TOKEN.findall(text.casefold())
    once = {token: place for place, token in enumerate(told)}
    for token, count in Counter(told).items():
        if count > 1:
            del once[token]
    places = {
        block: sorted(once[token] for token in bag(" ".join(page.texts[i] for i in words)) if token in once)
        for block, words in blocks.items()
    }
    if len(blocks) < 2 or any(len(own) < MIN_ONCE for own in places.values()):
        return [members]
    order = sorted(blocks, key=lambda block: places[block][len(places[block]) // 2])
    boxes = {block: hull(page.boxes, np.asarray(words, dtype=np.intp)) for block, words in blocks.items()}
    for number, first in enumerate(order):
        for second in order[number + 1 :]:
            if _beside(boxes[first], boxes[second]):
                last, head = places[first][-1 - len(places[first]) // 10], places[second][len(places[second]) // 10]
                return [blocks[block] for block in order] if last < head else [members]
    return [members]


def _beside(a: Rect, b: Rect) -> bool:
    """Whether two boxes stand side by side, over more than half of the lower one's height."""
    shared = min(a[3], b[3]) - max(a[1], b[1])
    return shared > 0.5 * min(a[3] - a[1], b[3] - b[1]) and (a[2] <= b[0] or b[2] <= a[0])
