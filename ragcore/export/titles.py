"""A document's first note names it in full, others by a title that no other document has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragcore.export.model import Note
from ragcore.text.short_titles import short, short_titles

SECTION = 60  # characters of the heading that is named beside a short title


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
