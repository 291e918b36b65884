"""Document titles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from pathlib import PurePath

from ragcore.ingest.blocks import Block, body_size
from ragcore.ingest.canonical import Ref, plain
from ragcore.ingest.layout import SUPERSCRIPT, FileInfo
from ragcore.ingest.levels import key
from ragcore.ingest.roles import TITLE_SIZE
from ragcore.text.names import company_alone
from ragcore.text.periods import FILED_FORM, days_in, month_name
from ragcore.text.short_titles import GENRES, is_unnamed, names_part, plain_title
from ragcore.text.words import tokens

COVER_PAGES = 6  # pages searched for a filing's cover: some filings open with a letter or pictures
SHORT_TITLE = 4  # words, at most, of a title that may lack a subject
SUBJECT_SIZE = 0.5  # of such a title's font size: least size of a subject line after it
LONGEST, LONGEST_SUBJECT = 160, 240  # characters of a composed title
NEARLY = 0.85  # of the largest heading's size
LARGER = 1.15  # times the size of the running text: larger type
RUNNING = 15  # words from which a block counts as running text
MAX_NAME = 90  # characters of a registrant's name
MIN_HEADED = 4  # lines that are a company's name and nothing else
# What stands before its period's end on the cover of a filing, by the beginning of the form's number.
_BEFORE_END = {"10K": "YEAR ENDED", "20": "YEAR ENDED", "10": "ENDED", "": "DATE OF REPORT"}


def document_title(info: FileInfo, blocks: Sequence[Block], name: str) -> str:
    """Title of the document: a filing's registrant, form and period from its cover; else the largest type of the cover,
    in the metadata's wording if that says the same; else the metadata's title if it reads like one; else the file name.
    The authors follow in brackets if the cover names them."""
    stem = PurePath(name).stem
    filing = filing_title(blocks) if info.cover else ""
    if filing:
        return plain_title(filing)
    given = plain_title(info.title)
    named = bool(given) and not is_unnamed(given) and key(given) != key(stem)
    named = named and "_" not in given and not _is_cut_off(given, blocks)
    cover = _cover(blocks)
    # What heads a section of a file whose headings are known is no part of its title.
    heads = {key(title) for _, title, _ in info.outline} if info.converter else set[str]()
    parts = _cover_title(cover, body_size(blocks), heads) if info.cover else []
    title = " ".join(part.text for part in parts)
    size = max((part.size for part in parts), default=0.0)
    # Also where the page's layout is misread and the title is taken for something beside the text.
    printed = any(b.page.number == 1 and b.size >= size and key(b.text) == key(given) for b in blocks)
    if named and (not title or printed or _says(given, title, cover)):
        title = given  # in a line's spelling, since the cover may be in capitals
    if not title:
        return plain_title(" ".join(re.sub(r"[_\-]+", " ", stem).split()) or name)
    authors = _surnames(title, parts, cover)
    return plain_title(f"{title} ({authors})" if authors else title)


def _cover(blocks: Sequence[Block]) -> list[Block]:
    """Blocks of the first page that has words, running header included, since it may repeat the title."""
    printed = [b for b in blocks if b.words and b.noise in (None, "page_header", "repeated")]
    first = next((b.page.number for b in printed if b.noise is None), 0)
    return [b for b in printed if b.page.number == first]


def _cover_title(cover: Sequence[Block], common: float, sections: Set[str]) -> list[Block]:
    """Heading in the largest type, with its continuation, which none of the ``sections`` is; [] if the page opens with
    running text, as excerpts do."""
    heads = [
        b
        for b in cover
        if (b.kind == "heading" if b.noise is None else b.size >= TITLE_SIZE * common)
        and 1 < len(b.text) <= 200
        and any(c.isalpha() for c in b.text)
        and b.role not in ("picture", "table")  # it heads what is in its box
        and not names_part(b.text)
        and not _is_under_text(b, cover, common)
    ]
    heads = [b for b in heads if not GENRES.issuperset(tokens(b.text))] or heads
    heads = [b for b in heads if " " in b.text and not _is_label(b.text)] or [b for b in heads if " " not in b.text]
    if not heads:
        return []
    largest = max(heads, key=lambda b: (round(b.size), b.role == "title"))
    # The first heading is the title unless it is clearly smaller: section headings are often bolder.
    best = next(b for b in heads if b.size >= NEARLY * largest.size)
    return _with_following(best, cover, sections)


def _is_label(text: str) -> bool:
    """Whether the text only numbers a paper ("Exhibit 99.1", "Annex IV"); a year is a name ("Budget 2025")."""
    words = text.split()
    number = words[-1].strip("().:")
    counts = number[:1].isdigit() or (number.isupper() and set(number) <= set("IVXLC"))
    return len(words) == 2 and counts and re.fullmatch(r"(19|20)\d\d", number) is None


def _is_under_text(head: Block, cover: Sequence[Block], common: float) -> bool:
    """Whether running text or a table is above the heading, in its column or, if its type is no larger, in any: it then
    heads only a part of the page."""
    return any(
        other.noise is None
        and other.kind in ("paragraph", "list_item", "table")
        and len(other.words) >= RUNNING
        and (other.kind == "table" or other.size >= 0.9 * common)
        and (
            other.box[1] < head.box[1]
            if head.size < LARGER * common
            else other.box[3] <= head.box[1] + head.size / 2
            and min(other.box[2], head.box[2]) > max(other.box[0], head.box[0])
        )
        for other in cover
    )


def _says(given: str, title: str, cover: Sequence[Block]) -> bool:
    """Whether the metadata's title shares most words with the cover's (or with the shorter of them), and every word of
    it is printed there."""
    one, other = ({key(word) for word in text.split()} - {""} for text in (given, title))
    printed = key(" ".join(b.text for b in cover))
    return len(one & other) >= 0.6 * min(len(one), len(other)) > 0 and all(word in printed for word in one)


def _surnames(title: str, parts: Sequence[Block], cover: Sequence[Block]) -> str:
    """Authors printed below the title; "" if there are none, or the title has one's name."""
    place = cover.index(parts[-1]) + 1 if parts else len(cover)
    names = next((found for b in cover[place : place + 2] if b.noise is None and (found := _authors(b))), [])
    surnames = [name.split()[-1] for name in names]
    if {key(name) for name in surnames} & {key(word) for word in title.split()}:
        return ""
    return f"{surnames[0]} et al." if len(surnames) > 2 else " and ".join(surnames)


def _authors(block: Block) -> list[str]:
    """Names that make up a block, at least two; [] for any other block."""
    pieces: list[list[str]] = [[]]
    for line in block.lines:
        before: Ref | None = None
        for word in line:
            wide = before is not None and word.box[0] - before.box[2] > word.size
            before = word
            bare = word.text.strip("*†‡§¶,;·").rstrip("0123456789,*†‡§¶")
            if wide or word.text in ("and", "&", "·"):
                pieces.append([])
            if any(map(str.isalnum, bare)) and word.text not in ("and", "&", "·") and not word.flags & SUPERSCRIPT:
                pieces[-1].append(bare)
            if word.text.endswith((",", ";")):
                pieces.append([])
    names = [piece for piece in pieces if piece and not all(len(part) < 2 for part in piece)]
    good = [" ".join(piece) for piece in names if _is_name(piece)]
    return good if len(good) > 1 and len(good) >= 0.7 * len(names) and _is_name(names[0]) else []


def _is_name(words: Sequence[str]) -> bool:
    """Whether the words are a name: two to five capitalised words, with short ones between them ("de", "van der")."""
    inner = all(word[0].isupper() or len(word) <= 3 for word in words)
    ends = words[0][0].isupper() and words[-1][0].isupper()
    letters = all(c.isalpha() or c in "-.’'‐" for word in words for c in word)
    return 2 <= len(words) <= 5 and inner and ends and letters and not all(word.isupper() for word in words)


def _is_cut_off(title: str, blocks: Sequence[Block]) -> bool:
    """Whether the metadata's title is truncated within its last word, as some programs store it: the first pages have
    that word only in full."""
    shown = {key(word.text) for b in blocks if b.page.number <= 3 for word in b.words}
    last = key(title.split()[-1])
    return len(last) > 2 and last not in shown and any(word.startswith(last) for word in shown)


def _with_following(block: Block, blocks: Sequence[Block], sections: Set[str]) -> list[Block]:
    """Heading with the directly following ones of its size (a title set in several boxes); the subject of a short one
    ("Guidance for Industry") may be somewhat smaller."""
    parts = [block]
    place = blocks.index(block)
    for following in blocks[place + 1 : place + 4]:
        near = following.kind == "heading" and following.page is block.page and not names_part(following.text)
        near = near and key(following.text) not in sections
        same = abs(following.size - block.size) < 0.5
        subject = len(parts) == 1 and len(block.words) <= SHORT_TITLE and following.size >= SUBJECT_SIZE * block.size
        opened = "(" in (said := " ".join(b.text for b in parts)).rpartition(")")[2]
        longest = LONGEST_SUBJECT if subject else LONGEST
        if not near or not (same or subject or opened) or len(said) + len(following.text) > longest:
            break
        parts.append(following)
    return parts


def filing_title(blocks: Sequence[Block]) -> str:
    """Title of an SEC filing from its cover, such as ``NIKE, Inc. Form 10-K 2023``; "" if there is none.

    The form of such covers is prescribed: the form's name, the period, and the registrant's name above "(Exact name of
    registrant as specified in its charter)". Without that, it is a line of the cover that is a company's name, or,
    where that is a picture, the one that heads most lines. Their metadata is usually an accession number.
    """
    lines = [plain([line]) for b in blocks if b.page.number <= COVER_PAGES and b.noise is None for line in b.lines]
    text = " ".join(lines)
    form = FILED_FORM.search(text)
    registrant = (_registrant(lines) or _uncaptioned(blocks)) if form is not None else ""
    if form is None or not registrant:
        return ""
    number = form.group(1).upper()
    before = next(cue for kind, cue in _BEFORE_END.items() if number.replace("-", "").startswith(kind))
    near = (" ".join(part.split()[:12]).replace(" ,", ",") for part in text.upper().split(before)[1:])
    ended = next(filter(None, map(days_in, near)), None)
    if ended is None:
        return f"{registrant} Form {number}"
    year, month, day = ended[0]
    return f"{registrant} Form {number} {year if 'YEAR' in before else f'{month_name(month)} {day}, {year}'}"


def _uncaptioned(blocks: Sequence[Block]) -> str:
    """Name of the registrant without its caption, on a first page with the form's name as a line; "" if it has none."""
    cover = [plain([line]) for b in blocks if b.page.number == 1 and b.noise is None for line in b.lines]
    if not any(map(FILED_FORM.fullmatch, cover)):
        return ""
    printed = (plain([line]) for b in blocks if b.noise in (None, "page_header", "repeated") for line in b.lines)
    return next(filter(None, map(company_alone, cover)), "") or _most_headed(printed)


def _most_headed(lines: Iterable[str]) -> str:
    """Company's name of which most lines consist, as the headings of its statements do; "" if few do."""
    found = Counter(name for line in lines if (name := company_alone(line)))
    name, count = max(found.items(), key=lambda item: item[1], default=("", 0))
    return name if count >= MIN_HEADED else ""


def _registrant(lines: Sequence[str]) -> str:
    """Name of the registrant above its caption; "" if it has none."""
    for place, line in enumerate(lines):
        before, caption, _ = line.lower().partition("(exact name of")
        if not caption:
            continue
        for candidate in (line[: len(before)], *reversed(lines[max(0, place - 2) : place])):
            name = candidate.strip(" _-–—*.,") + ("." if candidate.rstrip().endswith(".") else "")
            of_another = any(word in name.lower() for word in ("number", "period", "year ended"))
            if sum(c.isalpha() for c in name) >= 3 and len(name) <= MAX_NAME and not of_another:
                return name
        return ""
    return ""
