"""Short titles: a document's first note names it in full, others by a title that no other document has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragcore.export.model import Note

LONGEST = 48  # characters of a short title
SECTION = 60  # and of the heading that is named beside it
_PARTS = re.compile(r"\s*(?:[:;,(|]|\s[–—-])\s*")
_LOOSE = re.compile(r"(?:\s+(?:a|an|and|as|at|by|for|from|in|of|on|or|the|to|with))+$", re.IGNORECASE)


def short_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """The short title of each document; the whole one where it is short, or is needed to tell it from another."""
    made = {doc_id: short(title) for doc_id, title in titles.items()}
    given = [name.lower() for name in made.values()]
    return {doc_id: name if given.count(name.lower()) == 1 else titles[doc_id] for doc_id, name in made.items()}


def short(title: str, longest: int = LONGEST) -> str:
    """``title`` up to the last sign in it that parts a title from what is under it, else up to a whole word."""
    if len(title) <= longest:
        return title
    ends = [match.start() for match in _PARTS.finditer(title) if longest // 3 <= match.start() <= longest]
    if ends:
        return title[: ends[-1]].rstrip()
    head = title[: longest - 1].rpartition(" ")[0] or title[: longest - 1]
    return f"{_LOOSE.sub('', head).rstrip(' .,;:–—-')}…"


def with_short_titles(notes: Sequence[Note]) -> tuple[Note, ...]:
    """``notes`` with the short title in each that is not the first of its document."""
    titles: dict[str, str] = {}
    for note in notes:
        titles.setdefault(note.doc_id or note.title, note.title)
    shorter = short_titles(titles)
    seen: set[str] = set()
    out = []
    for note in notes:
        key = note.doc_id or note.title
        if key in seen:
            note = replace(note, short=shorter[key], section=tuple(short(part, SECTION) for part in note.section[-1:]))
        seen.add(key)
        out.append(note)
    return tuple(out)
