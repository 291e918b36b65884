"""What a server sent, as far as it can go on: odd values are valid JSON, and neither UTF-8, SQLite nor a sum takes
them."""

from __future__ import annotations

from typing import Any

LONGEST_SAID = 500  # characters of a server's own words that are told on
SHORTEST_KEY = 8  # what is shorter may be a word
_HIGH = ("\ud800", "\udbff")


def words(value: Any) -> str:
    """``value`` where it is text, "" else; halves of characters as `Halves` puts them together."""
    return _whole(value) if isinstance(value, str) else ""


def count(value: Any, before: int, most: int) -> int:
    """``value`` where it is a count of tokens, of at most ``most``, else ``before``."""
    return value if type(value) is int and 0 <= value <= most else before


def said(value: Any, key: str) -> str:
    """What a server said of an error, cut, and without the ``key`` that it was sent."""
    told = words(value)
    return (told.replace(key, "[key]") if len(key) >= SHORTEST_KEY else told)[:LONGEST_SAID]


class Halves:
    """Text in pieces → the same without halves of UTF-16 surrogate pairs, which a server may send in two events: those
    that belong together are one character, and one that stands alone is U+FFFD."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        text = self._held + piece
        self._held = text[-1] if text and _HIGH[0] <= text[-1] <= _HIGH[1] else ""
        return _whole(text[:-1] if self._held else text)

    def end(self) -> str:
        """What is left of a half that nothing followed."""
        held, self._held = self._held, ""
        return _whole(held)


def _whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
