"""Annual and quarterly reports drawn as they are filed: statements without rules on pages of their own, and so much
else around them that a search does not bring all of it."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pymupdf

WIDTH, HEIGHT = 612.0, 792.0
FONT, BOLD = "helv", "hebo"
LEFT, RIGHT, TOP, BOTTOM = 54.0, 558.0, 64.0, 730.0
_SUBJECTS = (
    "pension obligations", "leases", "goodwill", "income taxes", "share-based compensation", "derivatives",
    "commitments", "inventories", "restructuring", "fair value", "acquisitions", "receivables", "warranties",
    "related parties", "intangible assets", "earnings per share", "contract balances", "environmental matters",
)  # fmt: skip
_ROWS = (
    "Balance at beginning of year", "Additions", "Settlements", "Currency", "Net revenue of acquired business",
    "Pro forma net income", "Other", "Balance at end of year", "Interest", "Net sales to affiliates",
)  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """A table without rules: ``title`` lines over it, ``over`` above the columns' heads, rows of text or, with their
    name alone, of a group. ``new_page``: it begins one."""

    title: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    over: str = ""
    new_page: bool = False


def rows(text: str) -> tuple[tuple[str, ...], ...]:
    """A row for each line of ``text``, its cells between bars."""
    return tuple(tuple(cell.strip() for cell in line.split("|")) for line in text.strip().splitlines())


def statement(title: str, over: str, columns: str, body: str, *, new_page: bool = True) -> Statement:
    """A statement on a page of its own; bars part lines of the title, columns and cells."""
    lines, heads = (tuple(part.strip() for part in text.split("|")) for text in (title, columns))
    return Statement(lines, heads, rows(body), over, new_page)


def table(title: str, over: str, columns: str, body: str) -> Statement:
    """`statement` in the midst of a page."""
    return statement(title, over, columns, body, new_page=False)


def notes(count: int, seed: int) -> list[str | Statement]:
    """``count`` notes to statements, with tables that hold what no field asks for; the same for the same ``seed``."""
    draw = random.Random(seed)
    out: list[str | Statement] = []
    for number in range(count):
        about = _SUBJECTS[(number + seed) % len(_SUBJECTS)]
        amounts = [draw.randint(11, 989) for _ in range(8)]
        out.append(f"## {number + 1}. {about.capitalize()}")
        out.append(
            f"The company's {about} are reviewed at each reporting date. During the year {amounts[0]} contracts were "
            f"amended, and the effect on net income of the segments concerned was ${amounts[1]} thousand before taxes. "
            f"Revenue is recognized when control passes. Management estimates that a change of one percent would "
            f"alter operating revenues by ${amounts[2]} thousand and total assets of the plans by ${amounts[3]} "
            f"thousand. Capital expenditures of joint ventures, which are not consolidated, were ${amounts[4]} "
            f"thousand. Long-term debt of affiliates is not guaranteed."
        )
        picked = draw.sample(_ROWS, 5)
        body = tuple((name, *(f"{draw.randint(10, 999)}" for _ in range(2))) for name in picked)
        out.append(Statement((f"Movements in {about} (in thousands)",), ("Current", "Prior"), body))
    return out


def filed(*blocks: str | Statement) -> bytes:
    """A PDF of ``# titles``, ``## headings``, paragraphs and statements, over as many pages as they need."""
    document = pymupdf.open()
    document.set_metadata({})
    page, y = document.new_page(width=WIDTH, height=HEIGHT), TOP
    for block in blocks:
        height = _height(block)
        if y + height > BOTTOM or (isinstance(block, Statement) and block.new_page and y > TOP):
            page, y = document.new_page(width=WIDTH, height=HEIGHT), TOP
        y = _text(page, block, y) if isinstance(block, str) else _statement(page, block, y)
    for number, each in enumerate(document, start=1):
        each.insert_text((300, 762), str(number), fontsize=8.5, fontname=FONT)
    data: bytes = document.tobytes()
    document.close()
    return data


def _height(block: str | Statement) -> float:
    if isinstance(block, Statement):
        return 13.0 * (len(block.title) + len(block.rows) + 6)
    size = _size(block)
    lines = -(-pymupdf.get_text_length(block, fontname=FONT, fontsize=size) // (RIGHT - LEFT - 24))
    return float((lines + 1) * size * 1.4)


def _size(text: str) -> float:
    return 17.0 if text.startswith("# ") else 12.0 if text.startswith("## ") else 9.5


def _text(page: pymupdf.Page, text: str, y: float) -> float:
    size, height = _size(text), _height(text)
    box = pymupdf.Rect(LEFT, y, RIGHT, y + height)
    rest = page.insert_textbox(box, text.lstrip("# "), fontsize=size, fontname=BOLD if text.startswith("#") else FONT)
    assert rest >= 0
    return float(y + height - rest + 8)


def _statement(page: pymupdf.Page, made: Statement, y: float) -> float:
    longest = max(pymupdf.get_text_length(part, BOLD, 8.5) for head in made.columns for part in head.split("/"))
    width = 84.0 if len(made.columns) < 4 else max(62.0, longest + 8)
    dollars = not any("£" in head for head in made.columns)
    edges = [RIGHT - width * (len(made.columns) - 1 - place) for place in range(len(made.columns))]
    for line in made.title:
        _put(page, line, (LEFT + RIGHT) / 2, y + 10, 10.0, BOLD, 0.5)
        y += 13
    y += 6
    if made.over:
        _put(page, made.over, (edges[0] - width + RIGHT) / 2 + 10, y + 10, 8.5, BOLD, 0.5)
        page.draw_line((edges[0] - width + 14, y + 13), (RIGHT, y + 13), width=0.5)
        y += 14
    for lines in range(max(head.count("/") for head in made.columns) + 1):
        for head, edge in zip(made.columns, edges):
            parts = head.split("/")
            if lines < len(parts):
                _put(page, parts[lines], edge, y + 10, 8.5, BOLD, 1.0)
        y += 12
    for edge in edges:
        page.draw_line((edge - width + 14, y + 2), (edge, y + 2), width=0.5)
    y += 4
    grouped = False
    for place, (name, *cells) in enumerate(made.rows):
        indent = LEFT + (10 if grouped and cells else 0)
        first, rest = _wrapped(name, (edges[0] - width if cells else RIGHT) - indent)
        page.insert_text((indent, y + 10), first, fontsize=9, fontname=FONT)
        if rest:
            y += 11
            page.insert_text((indent + 8, y + 10), rest, fontsize=9, fontname=FONT)
        grouped = not cells or (grouped and not name.startswith("Total"))
        for cell, edge in zip(cells, edges):
            if (
                dollars
                and place in (0, len(made.rows) - 1)
                and len(cell) > 2
                and cell[:1].isdigit()
                and "%" not in cell
            ):
                page.insert_text((edge - width + 16, y + 10), "$", fontsize=9, fontname=FONT)
            _put(page, cell, edge, y + 10, 9, FONT, 1.0)
        if name.startswith(("Total", "Net ")) and cells:
            for edge in edges:
                page.draw_line((edge - width + 14, y + 1), (edge, y + 1), width=0.4)
        y += 13
    return y + 16


def _wrapped(text: str, room: float) -> tuple[str, str]:
    """``text`` in the one or two lines that it takes."""
    words = text.split()
    count = len(words)
    while pymupdf.get_text_length(" ".join(words[:count]), FONT, 9) > room:
        count -= 1
    return " ".join(words[:count]), " ".join(words[count:])


def _put(page: pymupdf.Page, text: str, x: float, y: float, size: float, font: str, share: float) -> None:
    """``text`` with ``share`` of its width to the left of ``x``."""
    length = pymupdf.get_text_length(text, fontname=font, fontsize=size)
    page.insert_text((x - share * length, y), text, fontsize=size, fontname=font)
