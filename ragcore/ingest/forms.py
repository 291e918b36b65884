"""Forms: labels with their values, told by a mark, by type or by space.

Lines that each open with a label and a colon or dots ("Invoice date: 5 May") become paragraphs of their own, in one or
more columns. Where no mark stands between the two, bold labels before plain values ("**Patient** Maria Holm"), values
in a column of their own and small labels over larger values become tables of two columns, a row for each label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from ragcore.ingest.blocks import Block, part_of
from ragcore.ingest.canonical import HYPHENS, Line, plain
from ragcore.ingest.layout import BOLD, Grid, GridCell, around
from ragcore.text.sentences import LONGEST_LABEL, is_unfinished, label_words

APART = 1.2  # times the size of the text: space between columns of lines with labels
OVER = 1.15  # times the size of a label above its value: the value's size
LONGEST_VALUE = 12  # words on the line of its label; more are a sentence
FEWEST = 3  # labels in a box of text
MOST_ROWS = 200  # lines of a form
MOST_COLUMNS = 6  # spaces that may part its columns
MOSTLY = 0.6  # share of a box's words in rows of labels and values, from which on it is a form
LONGEST_SHORT = 5  # letters of an abbreviation with its full stop, which may end a label ("Report no.")
MIXED = 0.25  # least share of figures, and of other values, in a table without headers
RECENT = 8  # fields that may go on
MOST_LINES = 5  # of a value
ALIGNED = 0.5  # times the size of the text: how far edges of one column differ


def is_form(block: Block) -> bool:
    """Whether most lines of ``block`` are labels with values, as in a coloured box that the layout model takes for a
    picture."""
    lines = [piece for line in block.lines for piece in _pieces(line, block.size)]
    return sum(map(_is_field, lines)) >= max(2, MOSTLY * len(lines))


def form_columns(block: Block) -> list[Block]:
    """Columns of a form's lines in one box, cut where a space runs through all lines and most lines on both sides have
    labels with their values, each label once: those of several records are rows, and a column of labels alone belongs
    to the values beside it."""
    if sum(_label(line) > 0 for line in block.lines) < 2:
        return [block]
    columns = list[Block]()
    lines = block.lines
    for left, right in _spaces(block):
        first, rest = _sides(lines, left, right)
        bare = any(one and other and _label(one) == len(one) for one, other in zip(first, rest))
        if not bare and _is_column(first) and _is_column(rest):
            columns.append(part_of(block, [line for line in first if line], "paragraph"))
            lines = [line for line in rest if line]
    return [*columns, part_of(block, lines, "paragraph")] if columns else [block]


def _is_column(lines: Sequence[Line]) -> bool:
    """Whether several ``lines`` have labels with their values, each label once."""
    fields = [plain([line[: _label(line)]]) for line in lines if _is_field(line)]
    return len(fields) > 1 and len(set(fields)) == len(fields)


def _spaces(block: Block) -> list[tuple[float, float]]:
    """Left and right edges of the spaces that run through all lines of ``block``, from left to right."""
    boxes = sorted((word.box[0], word.box[2]) for word in block.words)
    spaces, reach, apart = list[tuple[float, float]](), boxes[0][1], APART * block.size
    for left, right in boxes:
        if left - reach > apart:
            spaces.append((reach, left))
        reach = max(reach, right)
    return spaces


def _sides(lines: Sequence[Line], left: float, right: float) -> tuple[list[Line], list[Line]]:
    """Words of each of ``lines`` on both sides of a space from ``left`` to ``right``; a line may have none on one."""
    before = [tuple(word for word in line if word.box[2] <= left) for line in lines]
    return before, [tuple(word for word in line if word.box[0] >= right) for line in lines]


def split_fields(block: Block) -> list[Block]:
    """Labels with their values in one box, cut before each label. Among lines of text a label opens a line that was
    broken before its time, since its first word would have had room above, or one after such a line."""
    size = block.size
    lines = [piece for line in block.lines for piece in _pieces(line, size)]
    labels = list(map(_label, lines))
    if sum(0 < words < len(line) for words, line in zip(labels, lines)) < 2:
        return [block]
    opens = [words > 0 for words in labels]
    right = max(line[-1].box[2] for line in lines)
    mostly = 2 * sum(opens) >= len(lines)
    for place in range(1, len(lines)):
        last, first = lines[place - 1][-1], lines[place][0]
        room = right - last.box[2] > first.box[2] - first.box[0] + size / 2
        opens[place] &= (mostly or opens[place - 1] or room) and not _breaks_off(lines[place - 1])
    cuts = [place for place, label in enumerate(opens) if label and place]
    parts = [part_of(block, lines[a:b], "paragraph") for a, b in pairwise([0, *cuts, len(lines)])]
    for part in parts if cuts else ():
        part.labelled = _is_field(part.lines[0])
    return parts


def _pieces(line: Line, size: float) -> list[Line]:
    """``line`` cut at wide spaces before a further label with a value: "Phase: 2 Version: 3.0"."""
    cuts = [0]
    for place in _wide(line, size):
        if _is_field(line[cuts[-1] : place]) and _is_field(line[place:]):
            cuts.append(place)
    return [line[a:b] for a, b in pairwise([*cuts, len(line)])]


def _segments(line: Line, size: float) -> list[Line]:
    """``line`` cut at wide spaces."""
    return [line[a:b] for a, b in pairwise([0, *_wide(line, size), len(line)])]


def _wide(line: Line, size: float) -> list[int]:
    """Places of the words of ``line`` that have a wide space before them."""
    return [n for n in range(1, len(line)) if line[n].box[0] - line[n - 1].box[2] > APART * size]


def _label(line: Line) -> int:
    """Number of words of the label that ``line`` opens with (`label_words`)."""
    return label_words([word.text for word in line])


def _is_field(line: Line) -> bool:
    """Whether ``line`` is a label with a value."""
    return 0 < _label(line) < len(line)


def _breaks_off(line: Line) -> bool:
    """Whether the text of ``line`` goes on in the next one: a hyphen, an open bracket, a word that ends no sentence."""
    text = plain([line])
    lower = not line[-1].text.isupper()  # "Folio: A"
    return (lower and is_unfinished(line[-1].text)) or text.endswith(HYPHENS) or text.count("(") > text.count(")")


@dataclass
class _Field:
    """Label with the lines of its value."""

    label: Line
    value: list[Line]
    distinct: bool  # by its type

    @property
    def stacked(self) -> bool:
        """Whether the label stands over its value."""
        return self.value[0][0].box[1] >= self.label[-1].box[3] - self.label[-1].size / 2

    @property
    def lines(self) -> list[Line]:
        return [self.label, *self.value] if self.stacked else [self.label + self.value[0], *self.value[1:]]


def field_tables(block: Block) -> list[Block] | None:
    """``block`` as tables of labels and values, with the lines between them, a column after the other; None if it is no
    form."""
    if len(block.lines) > MOST_ROWS:
        return None
    for left, right in _spaces(block)[:MOST_COLUMNS]:
        tables = list[Block]()
        for side in _sides(block.lines, left, right):
            found = _tables(part_of(block, [line for line in side if line], block.kind), block)
            if found is None or sum(len(one.lines) for one in found) < 3:
                break
            tables += found
        else:
            return tables
    return _tables(block, block)


def _tables(block: Block, whole: Block) -> list[Block] | None:
    """``block``, all or a side of ``whole``, as tables of labels and values, with the lines between them, in order."""
    items = list(_items(block))
    fields, others = _parted(items)
    if not _are_form(block, whole, fields, others):
        return None
    between = _parted(items[items.index(fields[0]) : items.index(fields[-1])])[1]
    if between and not _may_part(whole, fields, between):
        return None
    runs = (_parted(list(run)) for _, run in groupby(items, lambda item: isinstance(item, _Field)))
    return [_table(block, table) if table else part_of(block, lines, "paragraph") for table, lines in runs]


def _parted(items: Sequence[_Field | Line]) -> tuple[list[_Field], list[Line]]:
    """Fields among ``items``, and the lines that are none."""
    fields = [item for item in items if isinstance(item, _Field)]
    return fields, [item for item in items if not isinstance(item, _Field)]


def _are_stacked(fields: Sequence[_Field]) -> bool:
    return 2 * sum(field.stacked for field in fields) > len(fields)


def _may_part(whole: Block, fields: Sequence[_Field], between: Sequence[Line]) -> bool:
    """Whether lines ``between`` the ``fields`` may part a table: boxes of a form, or headings where its grid has lost
    the two columns of labels and values; in a grid of two they go on with a label, or name the rows below."""
    if whole.kind != "table" or _are_stacked(fields):
        return True
    columns = whole.grid.columns if whole.grid is not None else 0
    return columns > 2 and all(word.flags & BOLD for line in between for word in line)


def _are_form(block: Block, whole: Block, fields: Sequence[_Field], others: Sequence[Line]) -> bool:
    """Whether ``fields`` make ``block`` a form. A table of data has headers, over columns of several values; where
    no type tells labels apart, the values have to."""
    words = sum(len(field.label) + sum(map(len, field.value)) for field in fields)
    labels = {"".join(filter(str.isalpha, plain([field.label]))) for field in fields}
    if not fields or words < MOSTLY * len(block.words) or len(labels) < len(fields):
        return False
    in_table = block.kind == "table"
    stacked = _are_stacked(fields)
    if len(fields) < FEWEST - in_table - stacked:
        return False
    if in_table:
        left = min(field.label[0].box[0] for field in fields) + block.size
        headed = any(line[0].box[0] > left or len(_segments(line, block.size)) > 1 for line in others)
        if headed and not stacked:
            return False
    over = [field for field in fields if field.stacked]
    heights = [len(field.value) for field in over]
    if len({round(field.label[0].box[1]) for field in over}) == 1:  # a header, if rows stand below it
        rows = max(heights) > 2 or (min(heights) > 1 and (len(over) > 1 or block is not whole))
    else:
        rows = bool(over) and max(heights) >= MOST_LINES
    if rows:
        return False
    bare = [field for field in fields if not field.distinct]
    return 2 * len(bare) <= len(fields) or _are_fields(whole, bare)


def _are_fields(block: Block, bare: Sequence[_Field]) -> bool:
    """Whether labels in the type of their values name these. In a table the values are of several kinds, unlike those
    of a column; in a box of text they are mostly figures, unlike authors and addresses, but no pages; the shares in a
    picture are a chart's. Where each line has as many pairs, they are records."""
    if bare[0].label[0].flags & BOLD or any(_is_figure(field.label) for field in bare):
        return False  # headers, addresses
    pairs = {len(_segments(line, block.size)) for line in block.lines}
    if len(pairs) == 1 and max(pairs) > 2:
        return False
    figures = [_is_figure(field.value[0]) for field in bare]
    if block.kind == "table":
        below = figures[1:]
        texts = below.count(False)
        return texts > 1 and min(below.count(True), texts) >= MIXED * len(below)
    values = [plain([field.value[0]]) for field in bare]
    pages = [int(value) for value in values if value.isdecimal()]
    chart = block.kind == "figure" and any("%" in value for value in values)
    rising = len(pages) == len(values) and pages == sorted(pages)
    return 2 * sum(figures) >= len(figures) and not chart and not rising


def _is_figure(value: Line) -> bool:
    return plain([value]).lstrip("-–−+($€£")[:1].isdigit()


def _table(block: Block, fields: Sequence[_Field]) -> Block:
    table = part_of(block, [line for field in fields for line in field.lines], "table")
    boxes = [
        (around(word.box for word in field.label), around(word.box for line in field.value for word in line))
        for field in fields
    ]
    cells = tuple(GridCell(row, col, 1, 1, box) for row, pair in enumerate(boxes) for col, box in enumerate(pair))
    table.grid = Grid(len(fields), 2, cells, headers=0)
    return table


def _items(block: Block) -> Iterator[_Field | Line]:
    """Fields of ``block`` and its other lines, in order; what is aligned below a value goes on with it."""
    size, lines = block.size, block.lines
    recent = list[_Field]()
    place = 0
    while place < len(lines):
        line = lines[place]
        fields = _over(line, lines[place + 1], size) if place + 1 < len(lines) else []
        place += 2 if fields else 1
        goes_on = list[tuple[_Field, Line]]()
        if not fields:
            fields, goes_on = _beside(line, recent, size)
        for field, part in goes_on:
            field.value.append(part)
        yield from fields
        recent = [*recent[-RECENT:], *fields]
        if not fields and not goes_on:
            recent = []
            yield line


def _beside(line: Line, recent: Sequence[_Field], size: float) -> tuple[list[_Field], list[tuple[_Field, Line]]]:
    """Fields in one line, and its parts that go on with a value of the ``recent`` fields: a label is bold, stands below
    another label or, where nothing is above, in every other part; both empty if a part is neither."""
    fields, goes_on = list[_Field](), list[tuple[_Field, Line]]()
    label: Line | None = None
    parts = _segments(line, size)
    for part in parts:
        pair = _turned(part)
        if pair is not None and label is None:
            fields.append(_Field(pair[0], [pair[1]], True))
        elif label is not None:
            fields.append(_Field(label, [part], _differs(label, part)))
            label = None
        elif (above := _above(part, recent, size)) is not None and _goes_on(above, part, size):
            goes_on.append((above, part))
        else:
            label = part
    named = all(_names(field.label) and len(field.value[0]) <= LONGEST_VALUE for field in fields)
    return (fields, goes_on) if named and label is None else ([], [])


def _above(part: Line, recent: Sequence[_Field], size: float) -> _Field | None:
    """Last of the ``recent`` fields whose value is aligned with ``part``."""
    near = (field for field in reversed(recent) if abs(field.value[0][0].box[0] - part[0].box[0]) <= ALIGNED * size)
    return next(near, None)


def _goes_on(field: _Field, part: Line, size: float) -> bool:
    """Whether ``part`` stands right below the value of ``field``, in the same type."""
    last = field.value[-1]
    same = part[0].flags & BOLD == last[0].flags & BOLD and abs(part[0].size - last[0].size) <= 1
    if len(part) > 2 and part[-1].text.endswith("."):
        return False  # a sentence
    return same and len(field.value) < MOST_LINES and part[0].box[1] - last[0].box[3] < size


def _turned(line: Line) -> tuple[Line, Line] | None:
    """Bold words and the plain ones after them."""
    count = next((n for n, word in enumerate(line) if not word.flags & BOLD), len(line))
    if not 0 < count < len(line) or any(word.flags & BOLD for word in line[count:]) or line[count].text[0].islower():
        return None  # "Safety comes before all else"
    return line[:count], line[count:]


def _over(line: Line, below: Line, size: float) -> list[_Field]:
    """Fields whose labels, in small type, stand over their values."""
    labels, values = _segments(line, size), _segments(below, size)
    if len(labels) != len(values):
        return []
    pairs = list(zip(labels, values))
    for label, value in pairs:
        larger = min(word.size for word in value) >= OVER * max(word.size for word in label)
        if not larger or not _names(label, 2 * LONGEST_LABEL) or len(value) > LONGEST_VALUE:
            return []
        if abs(label[0].box[0] - value[0].box[0]) > value[0].size:
            return []
    return [_Field(label, [value], True) for label, value in pairs]


def _names(label: Line, longest: int = LONGEST_LABEL) -> bool:
    """Whether ``label`` can name a value: a few words, the first with a capital or a number, that end no sentence."""
    text = plain([label])
    opens = text.lstrip("(")[:1]
    ends = text.endswith((",", ";", "!", "?")) or (text.endswith(".") and len(label[-1].text) > LONGEST_SHORT)
    if ends or len(label) > longest or sum(map(str.isalpha, text)) < 2:
        return False
    return (opens.isupper() or opens.isdigit()) and not label_words(text.split())


def _differs(label: Line, value: Line) -> bool:
    """Whether a label has a type of its own: bold, or another size."""
    bold = all(word.flags & BOLD for word in label) and not any(word.flags & BOLD for word in value)
    sizes = label[0].size, value[0].size
    return bold or max(sizes) >= OVER * min(sizes)
