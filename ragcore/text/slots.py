"""The slots of a question: the periods, names and numbers in it, with where they stand.

Two slots of one kind can take each other's place ("and in 2021?", "what about Unit 9?").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.text.names import Word, words_of
from ragcore.text.periods import period_spans
from ragcore.text.words import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of a question that another can take the place of: a period, or a ``value``, which is a name or a number.
    ``label`` is the word that a number stands behind ("Article 15"), ``behind`` the function word before a name."""

    kind: str
    text: str
    start: int
    end: int
    label: str = ""
    behind: str = ""

    @property
    def code(self) -> bool:
        return any(character.isdigit() for character in self.text)


def slots_of(text: str) -> list[Slot]:
    """The periods, names and numbers of ``text``, in order."""
    found = [Slot(kind, text[start:end], start, end) for kind, start, end in period_spans(text)]
    bare = blanked(text, found)
    words = words_of(bare)
    alone = all(word.capital and word.plain not in STOP_WORDS for word in words)  # "Quill Energy?"
    last: Word | None = None
    for n, word in enumerate(words):
        before = words[n - 1] if n else None
        letter = len(word.plain) == 1 and word.capital and word.plain != "i"
        if before and not before.skipped and (word.number or letter or (word.marked and word.plain[0].isdigit())):
            if last is before:
                found.pop()  # "Unit 6" is a unit with a number
            found.append(Slot("value", bare[word.start : word.end], word.start, word.end, before.plain))
            last = None
        elif word.names and not word.skipped and (word.marked or alone):
            end = word.end - len("'s") * word.possessive
            if last and last is before and not bare[last.end : word.start].strip(" &"):
                found[-1] = replace(found[-1], text=bare[found[-1].start : end], end=end)
            else:
                behind = next((one.plain for one in reversed(words[:n]) if one.plain not in ("the", "a", "an")), "")
                found.append(Slot("value", bare[word.start : end], word.start, end, "", behind))
            last = word
    return sorted(found, key=lambda slot: slot.start)


def blanked(text: str, slots: Sequence[Slot]) -> str:
    """``text`` with blanks in place of ``slots``."""
    for slot in slots:
        text = f"{text[: slot.start]}{' ' * (slot.end - slot.start)}{text[slot.end :]}"
    return text
