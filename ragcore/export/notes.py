"""Note text, the same in every format. A document's first note has its full title, later ones a title that no other
document has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragcore.export.model import Note, Runs, Text
from ragcore.text.quotation import quoted
from ragcore.text.short_titles import short, short_titles

SECTION = 60  # characters of the heading beside a short title


def page(note: Note) -> str:
    """Page reference ``p. 38``, with the page's number in the file if the printed one differs."""
    return f"p. {note.label}" if note.label == str(note.page) else f"p. {note.label} (page {note.page} of the file)"


def note_runs(note: Note) -> Runs:
    """Document, page, section and quote, then any caveats about the quote."""
    # A heading's own full stop or colon would precede the colon.
    parts = (part.rstrip(" .:;") for part in (" › ".join(note.section), note.cell))
    place = ", " + page(note) + "".join(f", {part}" for part in parts if part)
    return (
        Text(note.short or note.title, italic=True),
        Text(f"{place}: {quoted(note.quote)}"),
        *(Text(f" {words}", remark=True) for words in _marks(note)),
    )


def _marks(note: Note) -> list[str]:
    words = []
    if note.generated:
        words.append("Description of a figure by AI, not the document's own words.")
    if note.ocr is not None:
        # Rounded down, so that 100 means certain.
        words.append(f"Read by OCR with {int(100 * note.ocr)}% confidence.")
    if note.added:
        words.append("Citation added by Groundwork's check, not by the writer.")
    words += [f"Checked: {verdict.status}. {verdict.reason}".strip() for verdict in note.verdicts]
    return words


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
