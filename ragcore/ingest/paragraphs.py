"""Paragraphs: regions split into one kind of content each, and paragraphs joined over columns and pages.

The layout model draws one box around closely set text. Type (size, bold, italic) and markers at the heads of lines
separate its parts: several headings in one box, headings run into the first line of a paragraph, several list items in
one box, the lines of a form (`ragcore.ingest.forms`).

A paragraph that breaks at the end of a column or page is joined with its continuation. Wording decides if it can (a
hyphen, a lower-case letter, an unfinished sentence). If a sentence happens to end with its column, typesetting decides:
the last line is full and the next block is not indented although this document indents its paragraphs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ragcore.ingest.blocks import Block, part_of
from ragcore.ingest.canonical import HYPHENS, Line, Ref, plain
from ragcore.ingest.forms import field_tables, form_columns, is_form, split_fields
from ragcore.ingest.layout import BOLD, COARSE, ITALIC, LINE_NUMBERS, SIDEWAYS, SUPERSCRIPT, around
from ragcore.ingest.levels import WEAK_BULLETS, Marker, item_marker, key, marker
from ragcore.text.sentences import is_unfinished
from ragcore.text.words import STOP_WORDS

LARGER = 1.12  # times the size of the text: a heading's size
INDENT = 0.8  # of the font size: least indent of a paragraph's first line
MAX_INDENT = 6.0  # and the greatest
BLANK_LINE = 1.45  # times the usual line spacing: space between paragraphs
MAX_RUN_IN = 20  # words of a run-in heading
MIN_RUN_IN_TEXT = 25  # words that follow a run-in heading, unless it is numbered
MOSTLY = 0.6  # share of a document's bold run-in headings with that many words
MIN_CLAUSES = 4  # items of a list with a caption each
MAX_CAPTION = 10  # words of one
MIN_RUN_INS = 2  # unnumbered run-in headings in a document; fewer are emphasis
_STOPS = (".", ":")
_PARTS = frozenset({"section", "article", "clause"})
_NUMBERED = re.compile(r"^(?:\d{1,2}\.)+\d{1,2}\.?$|^[A-Z]\.\d{1,2}\.?$")


@dataclass(frozen=True, slots=True)
class _Style:
    size: float
    bold: bool
    italic: bool


def split_blocks(pages: Sequence[Sequence[Block]]) -> list[list[Block]]:
    """Blocks of ``pages`` in the same order, each holding one kind of content. Every word stays in exactly one."""
    out = [[part for block in blocks for part in _parts(block)] for blocks in pages]
    return _run_in_headings(out)


def _parts(block: Block) -> list[Block]:
    if block.noise is not None or block.verbatim or block.role == LINE_NUMBERS or len(block.lines) < 2:
        return [block]
    if any(word.flags & (SIDEWAYS | COARSE) for word in block.words):
        return [block]
    given = bool(block.description) or (block.grid is not None and (block.grid.given or block.grid.headers is not None))
    if not given and block.kind in ("paragraph", "figure", "list_item", "table") and (tables := field_tables(block)):
        return tables
    if not given and block.kind == "figure" and is_form(block):
        return [part for one in form_columns(block) for part in split_fields(one)]
    if block.kind == "heading":
        return _headings(block)
    if block.kind == "paragraph":
        items = [item for one in form_columns(block) for text in _paragraphs(one) for item in _items(text)]
        return [part for item in items for part in (split_fields(item) if item.kind == "paragraph" else [item])]
    return _items(block) if block.kind == "list_item" else [block]


def _style(words: Sequence[Ref]) -> _Style:
    """Style of most characters, ignoring raised marks."""
    shown = [word for word in words if not word.flags & SUPERSCRIPT] or list(words)
    letters = sum(len(word.text) for word in shown)
    sizes = Counter[float]()
    for word in shown:
        sizes[round(word.size * 2) / 2] += len(word.text)
    return _Style(
        sizes.most_common(1)[0][0],
        sum(len(w.text) for w in shown if w.flags & BOLD) > 0.85 * letters,
        sum(len(w.text) for w in shown if w.flags & ITALIC) > 0.85 * letters,
    )


def _headings(block: Block) -> list[Block]:
    """Headings in one box, split by style or by their own numbers."""
    styles = [_style(line) for line in block.lines]
    numbered = _NUMBERED.match(block.lines[0][0].text) is not None
    groups: list[list[Line]] = [[block.lines[0]]]
    for place in range(1, len(block.lines)):
        line, style, before = block.lines[place], styles[place], styles[place - 1]
        size_differs = max(style.size, before.size) > LARGER * min(style.size, before.size)
        face_differs = style.bold != before.bold or style.italic != before.italic
        own_number = numbered and _NUMBERED.match(line[0].text) is not None
        if own_number or size_differs or (face_differs and len(line) > 1):
            groups.append([])
        groups[-1].append(line)
    if len(groups) == 1:
        return [block]
    return [part_of(block, group, "heading") for group in groups]


def _paragraphs(block: Block) -> list[Block]:
    """Paragraphs in one box: a new one begins after a finished sentence, at an indented line or a wider gap."""
    lines = block.lines
    if len(lines) < 3:
        return [block]
    lefts = [_left(line) for line in lines]
    # The lower edge of its largest word, since small ones may be raised or lowered.
    ends = [max(line, key=lambda word: word.size).box[3] for line in lines]
    steps = [b - a for a, b in pairwise(ends)]
    usual = median(steps)
    size = block.size
    cuts: list[int] = []
    for place in range(1, len(lines)):
        if not plain([lines[place - 1]]).rstrip("”’\"')]0123456789,").endswith((".", "!", "?", ":", "。")):
            continue
        before, after = lefts[place - 1], lefts[place + 1] if place + 1 < len(lines) else lefts[place - 1]
        inset = [lefts[place] - before, lefts[place] - after]
        indented = all(INDENT * size <= by <= MAX_INDENT * size for by in inset) and len(lines) > place + 1
        if indented or (usual > 0 and steps[place - 1] > BLANK_LINE * usual and lefts[place] - before < size):
            cuts.append(place)
    if not cuts:
        return [block]
    return [part_of(block, lines[a:b], "paragraph") for a, b in pairwise([0, *cuts, len(lines)])]


def _items(block: Block) -> list[Block]:
    """List items in one box, cut before each line that opens with a marker of the list."""
    opens = Counter(line[0].text for line in block.lines)
    letters = {text for text, count in opens.items() if block.kind == "list_item" and count > 1}

    def mark_of(line: Line) -> Marker | None:
        return item_marker(line[0].text) if line[0].text in letters else marker(line[0].text)

    first = mark_of(block.lines[0])
    marks = [mark_of(line) if len(line) > 1 else None for line in block.lines]
    strong = [m for m in marks if m is not None and m.style not in WEAK_BULLETS]
    if first is None and (block.kind != "list_item" or not strong):
        return [block]
    groups: list[list[Line]] = []
    open_marks: list[Marker] = []
    for line, mark in zip(block.lines, marks):
        fits = mark is not None and (
            not mark.numbers or not open_marks or any(mark.follows(other) for other in open_marks) or 1 in mark.numbers
        )
        if fits and mark is not None and mark.style in WEAK_BULLETS and first is not None and mark.style != first.style:
            fits = False
        if fits and mark is not None:
            open_marks = [*open_marks[-4:], mark]
        if fits or not groups:
            groups.append([])
        groups[-1].append(line)
    count = sum(mark is not None for mark in marks)
    if block.kind == "paragraph" and (count < 2 or len(groups) < 2):
        return [block]
    if len(groups) == 1:
        return [block]
    return [part_of(block, group, "list_item" if mark_of(group[0]) else block.kind) for group in groups]


def _run_in_headings(pages: list[list[Block]]) -> list[list[Block]]:
    """Blocks with run-in headings taken out of the paragraphs that they open: numbered ones in a style of their own,
    bold ones if the document has several, and the captions of a contract's clauses. Those of an abstract stay, since
    its parts are read together, and so do the labels of values."""
    text = [block for blocks in pages for block in blocks if block.noise is None and not block.verbatim]
    lengths: dict[Block, int] = {}
    numbered: set[Block] = set()
    heading = ""
    for block in text:
        if block.kind == "heading":
            heading = key(block.text)
        if block.kind not in ("paragraph", "heading"):
            continue
        length = _run_in(block)
        if not length or (block.labelled and len(block.words) - length < MIN_RUN_IN_TEXT):
            continue
        if _NUMBERED.match(block.words[0].text):
            numbered.add(block)
            lengths[block] = length
        elif not heading.startswith(("abstract", "summary")) and block.words[0].flags & BOLD:
            lengths[block] = length
    bold = {block: len(block.words) - n >= MIN_RUN_IN_TEXT for block, n in lengths.items() if block not in numbered}
    # If most have little text after them, they are terms with their definitions.
    sections = sum(bold.values()) >= max(MIN_RUN_INS, MOSTLY * len(bold))
    chosen = {block: n for block, n in lengths.items() if block in numbered or (sections and bold[block])}
    chosen |= _clauses(text)
    return [[part for block in blocks for part in _opened(block, chosen.get(block, 0))] for blocks in pages]


def _run_in(block: Block) -> int:
    """Number of words at the head of ``block`` that form a heading; 0 if none."""
    words = block.words
    numbered = _NUMBERED.match(words[0].text) is not None
    first = 1 if numbered else 0
    if len(words) <= first + 1:
        return 0
    face = words[first].flags & (BOLD | ITALIC if numbered else BOLD)
    if not face:
        return 0
    length = first
    while length < len(words) and words[length].flags & face == face:
        length += 1
    if first < length < len(words) and not words[length - 1].text.endswith(_STOPS):
        # A full stop in the text's own style excludes its word from the run: "**Exchange Control Information**."
        length += words[length].text.endswith(_STOPS)
    rest = words[length:]
    if not (first < length <= MAX_RUN_IN) or len(rest) < 4:
        return 0
    text = plain([words[first:length]])
    if sum(bool(word.flags & face == face) for word in rest) > 0.3 * len(rest):
        return 0
    ends = text.endswith(_STOPS)
    opens = text[0].isupper() and sum(c.isalpha() for c in text) > 2
    return length if ends and opens and not rest[0].text[0].islower() else 0


def _clauses(blocks: Sequence[Block]) -> dict[Block, int]:
    """Items of the lists most of whose items have a caption, and many of these much text after it ("8. Governing Law.
    This Agreement ..."), each with the number of words up to its end. Those numbered "2.1" are one list."""
    lists: list[list[tuple[Marker, Block, int]]] = []
    for block in blocks:
        if not block.words or block.kind not in ("paragraph", "list_item"):
            continue
        place = int(len(block.words) > 1 and block.words[0].text.lower() in _PARTS)
        word = block.words[place].text
        depth = word.rstrip(".").count(".") if _NUMBERED.match(word) else 0
        mark = Marker("1." * (depth + 1)) if depth else marker(word)
        if mark is None or not mark.style.startswith("1."):
            continue
        own = next((one for one in reversed(lists) if mark.follows(one[-1][0])), None)
        if own is None:
            own = []
            lists.append(own)
        own.append((mark, block, _caption(block, place + 1)))
    out: dict[Block, int] = {}
    for items in lists:
        captions = {block: length for _, block, length in items if length}
        long = sum(len(block.words) - length >= MIN_RUN_IN_TEXT for block, length in captions.items())
        if len(captions) >= max(MIN_CLAUSES, MOSTLY * len(items)) and 2 * long >= len(captions):
            out |= captions
    return out


def _caption(block: Block, start: int) -> int:
    """Number of words up to the end of the caption from word ``start`` on: a few capitalised ones with a full stop,
    none of them an initial; 0 without one."""
    words = [word.text for word in block.words]
    end = next((n for n in range(start + 1, len(words) + 1) if words[n - 1].endswith(".")), 0)
    names = [word.strip('(),;.“”"') for word in words[start:end]]
    names = [name for name in names if name.lower() not in STOP_WORDS]
    titled = all(not name[:1].isalpha() or (name[0].isupper() and len(name) > 2) for name in names)
    goes_on = end < len(words) and words[end][0].islower()
    return end if names and len(names) <= MAX_CAPTION and titled and not goes_on else 0


def _opened(block: Block, length: int) -> list[Block]:
    if not length:
        return [block]
    head: list[Line] = []
    body: list[Line] = []
    for line in block.lines:
        taken, length = line[:length], max(0, length - len(line))
        head += [taken] if taken else []
        body += [line[len(taken) :]] if len(taken) < len(line) else []
    opening = part_of(block, head, "heading")
    opening.run_in = True
    if not body:
        return [opening]
    return [opening, part_of(block, body, "list_item" if marker(body[0][0].text) else "paragraph")]


SAME_SIZE = 0.04  # largest difference between the font sizes of the two parts, as a share
MAX_PAGES = 8  # between the two parts: full-page tables and figures may come between
INDENTED = 0.6  # of the font size: a first line indented by more counts as indented
INDENTING = 0.35  # share of indented paragraphs from which a document counts as indenting
MIN_WORDS = 8  # shorter pieces are no broken paragraphs unless their wording says so
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "．", "؟", "۔", "।")
_CLOSING = "”’\"')]»）」』"
_FLOATS = ("figure", "table", "caption", "footnote")


def join_over_breaks(pages: Sequence[Sequence[Block]]) -> None:
    """Append each continuation's words to the block that it continues, and mark the continuation ``joined``. Floats and
    footnotes in between stay in place; a heading or a formula closes the open paragraph."""
    indents = _indents(pages)
    open_blocks: list[Block] = []
    floated = False
    for blocks in pages:
        for block in blocks:
            if block.noise is not None:
                continue
            if block.kind in _FLOATS or not block.words:
                floated = True
                continue
            if block.kind not in ("paragraph", "list_item"):
                # A heading smaller than the text is in a box beside it.
                boxed = block.kind == "heading"
                open_blocks = [b for b in open_blocks if boxed and block.size < (1 - SAME_SIZE) * b.words[-1].size]
                continue
            before = next((b for b in reversed(open_blocks) if _same_type(b, block)), None)
            if before is not None and _continues(before, block, indents, floated):
                before.lines = [*before.lines, *block.lines]
                before.words = (*before.words, *block.words)
                block.joined = True
            else:
                open_blocks = [*[b for b in open_blocks if not _same_type(b, block)][-3:], block]
            floated = False


def _same_type(first: Block, second: Block) -> bool:
    a, b = first.words[-1].size, second.words[0].size
    return abs(a - b) <= SAME_SIZE * max(a, b)


def _continues(first: Block, second: Block, indents: bool, floated: bool) -> bool:
    if first.verbatim or second.verbatim or marker(second.words[0].text) is not None:
        return False
    if second.kind == "list_item" and (second.page is not first.page or not second.words[0].text[0].islower()):
        return False
    goes_on = _goes_on(first, second)
    if not _elsewhere(first, second):
        # Within a column only a float can come between, and only the wording can show it.
        return goes_on and floated and second.page is first.words[-1].page
    if goes_on or first.kind == "list_item" or second.kind == "list_item":
        return goes_on
    if len(first.words) < MIN_WORDS or not _is_full(first) or _indented(second):
        return False
    return not _ended(first) or indents


def _goes_on(first: Block, second: Block) -> bool:
    """Whether the wording alone shows that ``second`` continues ``first``."""
    ending, beginning = first.words[-1].text, second.words[0].text
    if ending.endswith(HYPHENS) and beginning[0].islower():
        return True
    return (beginning[0].islower() or is_unfinished(ending)) and not _ended(first)


def _ended(block: Block) -> bool:
    """Whether a sentence ends with the block, ignoring reference marks after its full stop."""
    words = list(block.words[-6:])
    size = max(word.size for word in words)
    while len(words) > 1 and (words[-1].flags & SUPERSCRIPT or words[-1].size < 0.8 * size):
        words.pop()
    text = words[-1].text.rstrip(_CLOSING) or words[-1].text
    return text.endswith(_ENDS) and not re.fullmatch(r"[A-Z]\.", text)


def _elsewhere(first: Block, second: Block) -> bool:
    """Whether ``second`` is on a later page, or in a column beside and above the end of ``first``."""
    end = first.words[-1]
    if end.page is not second.page:
        return 1 <= second.page.number - end.page.number <= MAX_PAGES
    x0, _y0, x1, _y1 = around(word.box for line in _last_lines(first) for word in line)
    beside = second.box[0] >= x1 - end.size or second.box[2] <= x0 + end.size
    return beside and second.box[1] < end.box[1]


def _last_lines(block: Block) -> list[Line]:
    """Lines of the block's last column."""
    lines = [block.lines[-1]]
    for line in reversed(block.lines[:-1]):
        if line[0].page is not lines[-1][0].page or line[0].box[1] > lines[-1][0].box[1]:
            break
        lines.append(line)
    return lines[::-1]


def _is_full(block: Block) -> bool:
    """Whether the block's last line reaches the right edge of its column."""
    lines = _last_lines(block)
    left, right = (edge(word.box[side] for line in lines for word in line) for edge, side in ((min, 0), (max, 2)))
    if len(lines) == 1:
        middle, page = (left + right) / 2, lines[0][0].page
        texts = [region.box for region in page.regions if region.kind in ("text", "list-item")]
        right = max([right, *(box[2] for box in texts if box[0] <= middle <= box[2])])
    last = lines[-1]
    return len(block.lines) > 1 and max(word.box[2] for word in last) >= right - 1.5 * last[-1].size


def _indented(block: Block) -> bool:
    if len(block.lines) < 2:
        return False
    first, second = _left(block.lines[0]), _left(block.lines[1])
    return first - second > INDENTED * block.words[0].size


def _left(line: Sequence[Ref]) -> float:
    return min(word.box[0] for word in line)


def _indents(pages: Sequence[Sequence[Block]]) -> bool:
    """Whether this document indents paragraphs. Those after a heading do not count: they are often not indented."""
    body = [b for blocks in pages for b in blocks if b.noise is None and b.words]
    shown = [b for a, b in pairwise(body) if b.kind == "paragraph" and a.kind == "paragraph" and len(b.lines) > 2]
    if len(shown) < 4:
        return False
    size = median(b.size for b in shown)
    shown = [b for b in shown if abs(b.size - size) <= SAME_SIZE * size]
    return sum(_indented(b) for b in shown) > INDENTING * len(shown)
