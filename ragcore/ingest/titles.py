"""What a document is called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from ragcore.ingest.blocks import Block
from ragcore.ingest.canonical import plain
from ragcore.ingest.layout import FileInfo
from ragcore.ingest.sections import key

COVER_PAGES = 6  # pages among which a filing's cover is looked for: some open with a letter or pictures
SHORT_TITLE = 4  # words, at most, of a title that may not say what the document is about
SUBJECT_SIZE = 0.5  # of such a title's font size: what follows in as much says it
LONGEST, LONGEST_SUBJECT = 160, 240  # characters of a title put together
NEARLY = 0.85  # of the largest heading's size
MAX_NAME = 90  # characters of a registrant's name
_BAD_TITLE = re.compile(
    r"^(microsoft (word|powerpoint|excel)\b|untitled|document\d*$|slide ?\d|presentation\d*$|book\d*$|print|layout \d|"
    r"powerpoint presentation|none|null|title|doc\d*$|\(?anonymous|adobe (photoshop|illustrator|indesign|acrobat)\b|"
    r"scan(ned)?\b|image\s?\d*$|pdf\b|new (microsoft )?(word )?document|template|report\s?\d*$|final\b|draft\b|"
    r"no title|full page|print\b|untitled)|\.(docx?|pdf|indd|qxd|pptx?|xlsx?|tex|dvi|ps|rtf)$"
    r"|^[\w\-.]{0,3}$|^[^a-zA-Z\u00c0-\uffff]*$|^[a-z0-9_\-.]+$",
    re.IGNORECASE,
)
# Headings that name a part of a document, not the document.
_SECTION = re.compile(
    r"^(\d{1,2}(\.\d{1,2})*\.?\s|[ivx]+\.\s|(item|part)\s+[\divx]+\b|(table of )?contents\b|abstract|summary|"
    r"introduction|background|thank you\b|contains nonbinding)",
    re.IGNORECASE,
)
# Headings above the title of an article that say what kind of article it is.
_GENRE = re.compile(
    r"^((original|invited|brief|short|rapid|mini|systematic|clinical|full|regular|primary|open access)[\s-]+)*"
    r"(research|review|article|paper|communication|report|letter|editorial|commentary|case|study|note|perspective|"
    r"viewpoint|opinion|open access)s?([\s-]+(article|paper|report|study|communication|note))?$",
    re.IGNORECASE,
)
# Headings that stand on the cover of every filing and name none.
_BOILERPLATE = re.compile(
    r"securities and exchange commission|^united states|^form [\w-]+$|^washington,? d", re.IGNORECASE
)
_FORM = re.compile(r"\bform\s+(10-?[KQ](?:/A)?|8-?K(?:/A)?|20-?F(?:/A)?|6-?K|S-1|DEF 14A)\b", re.IGNORECASE)
_REGISTRANT = re.compile(r"^(.*?)\(\s*exact name of (?:the )?(?:registrant|company|issuer)", re.IGNORECASE)
_DATE = r"(?:\S+\s+){0,4}?([A-Z][a-z]+\s+\d{1,2}\s*,?\s*(20\d\d|19\d\d))"
_YEAR_END = re.compile(r"year\s+ended:?\s+" + _DATE, re.IGNORECASE)
_QUARTER_END = re.compile(r"quarter(?:ly period)?\s+ended:?\s+" + _DATE, re.IGNORECASE)
_REPORTED = re.compile(r"date of report[^:]{0,60}:?\s+" + _DATE, re.IGNORECASE)


def document_title(info: FileInfo, blocks: Sequence[Block], name: str) -> str:
    """A filing's registrant, form and period from its cover; else the metadata's title where it reads like one; else
    the most prominent heading of the first two pages; else the file's name."""
    stem = PurePath(name).stem
    filing = filing_title(blocks)
    if filing:
        return filing
    given = " ".join("".join(c if c.isprintable() else " " for c in info.title).split())
    named = given and not _BAD_TITLE.search(given) and not _BOILERPLATE.search(given) and key(given) != key(stem)
    if named and not _is_cut_off(given, blocks):
        return given
    first = [b for b in blocks if b.page.number <= 2 and b.noise is None and b.words]
    heads = [b for b in first if b.kind == "heading" and 1 < len(b.text) <= 200 and any(c.isalpha() for c in b.text)]
    heads = [b for b in heads if not _SECTION.match(b.text)]
    heads = [b for b in heads if not _GENRE.match(b.text)] or heads
    heads = [b for b in heads if " " in b.text] or heads
    if heads and not any(_BOILERPLATE.search(b.text) for b in heads):
        best = max(heads, key=lambda b: (b.role == "title", round(b.size), -b.page.number))
        # What stands first is the title unless it is clearly smaller: headings of sections are often set bolder.
        best = next(b for b in heads if b.page is best.page and b.size >= NEARLY * best.size)
        return _with_following(best, first)
    if named:
        return given
    return " ".join(re.sub(r"[_\-]+", " ", stem).split()) or name


def _is_cut_off(title: str, blocks: Sequence[Block]) -> bool:
    """Whether the metadata's title breaks off within its last word, as some programs store it: the first pages have
    that word only in full."""
    shown = {key(word.text) for b in blocks if b.page.number <= 3 for word in b.words}
    last = key(title.split()[-1])
    return len(last) > 2 and last not in shown and any(word.startswith(last) for word in shown)


def _with_following(block: Block, blocks: Sequence[Block]) -> str:
    """The heading together with directly following ones of its size (a title set in several boxes); what a short one
    ("Guidance for Industry") is about may be set somewhat smaller."""
    parts = [block.text]
    place = blocks.index(block)
    for following in blocks[place + 1 : place + 4]:
        near = following.kind == "heading" and following.page is block.page and not _SECTION.match(following.text)
        same = abs(following.size - block.size) < 0.5
        subject = len(parts) == 1 and len(block.words) <= SHORT_TITLE and following.size >= SUBJECT_SIZE * block.size
        longest = LONGEST_SUBJECT if subject else LONGEST
        if not near or not (same or subject) or sum(map(len, parts)) + len(following.text) > longest:
            break
        parts.append(following.text)
    return " ".join(parts)


def filing_title(blocks: Sequence[Block]) -> str:
    """``NIKE, Inc. Form 10-K 2023`` from the cover of a filing with the SEC, "" where there is none.

    Such covers are prescribed: the form's name, the period, and the registrant's name above "(Exact name of registrant
    as specified in its charter)". Their metadata is most often an accession number.
    """
    lines = [plain([line]) for b in blocks if b.page.number <= COVER_PAGES and b.noise is None for line in b.lines]
    text = " ".join(lines)
    form = _FORM.search(text)
    registrant = _registrant(lines)
    if form is None or not registrant:
        return ""
    number = form.group(1).upper()
    period = ""
    if number.startswith(("10-K", "10K", "20")):
        ended = _YEAR_END.search(text)
        period = ended.group(2) if ended else ""
    else:
        ended = _QUARTER_END.search(text) if number.startswith("10") else _REPORTED.search(text)
        period = " ".join(ended.group(1).split()) if ended else ""
    return f"{registrant} Form {number} {period}".rstrip()


def _registrant(lines: Sequence[str]) -> str:
    for place, line in enumerate(lines):
        match = _REGISTRANT.match(line)
        if match is None:
            continue
        for candidate in (match.group(1), *reversed(lines[max(0, place - 2) : place])):
            name = candidate.strip(" _-–—*.,") + ("." if candidate.rstrip().endswith(".") else "")
            if (
                sum(c.isalpha() for c in name) >= 3
                and len(name) <= MAX_NAME
                and not re.search(r"number|period", name, re.I)
            ):
                return name
        return ""
    return ""
