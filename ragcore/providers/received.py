"""What a server sent, as far as it can go on: odd values are valid JSON, and neither UTF-8, SQLite nor a sum takes
them."""

from __future__ import annotations

from typing import Any

_HIGH = ("\ud800", "\udbff")


def words(value: Any) -> str:
    """``value`` where it is text, "" else; halves of characters as `Halves` puts them together."""
    return _whole(value) if isinstance(value, str) else ""


def count(value: Any, before: int, most: int) -> int:
    """``value`` where it is a count of tokens, of at most ``most``, else ``before``."""
    return value if type(value) is int and 0 <= value <= most else before


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
