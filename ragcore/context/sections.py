"""Which section's summary stands in front of a chunk, and what that section holds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ragcore.text.sentences import count_tokens
from ragcore.types import Chunk, Document, Element

Path = tuple[str, ...]


class Sections:
    """The long sections of a document: paths of headings with ``min_tokens`` cl100k tokens of text under them (those
    of their subsections included). ``tiles`` is the document's tiling."""

    def __init__(self, document: Document, tiles: Sequence[Chunk], *, min_tokens: int) -> None:
        self._document = document
        self._tokens: dict[Path, int] = {}
        for tile in tiles:
            if tile.tiles is None:
                for depth in range(1, len(tile.section) + 1):
                    path = tile.section[:depth]
                    self._tokens[path] = self._tokens.get(path, 0) + tile.tokens
        self._min_tokens = min_tokens

    def of(self, section: Path) -> Path | None:
        """The innermost long section that holds ``section``, or None."""
        depths = range(len(section), 0, -1)
        return next((section[:d] for d in depths if self._tokens.get(section[:d], 0) >= self._min_tokens), None)

    def wanted(self, chunks: Sequence[Chunk]) -> list[Path]:
        """The long sections of ``chunks``, each once, in order."""
        return list(dict.fromkeys(path for chunk in chunks if (path := self.of(chunk.section)) is not None))

    def elements(self, path: Path) -> list[Element]:
        """What stands under the headings ``path``, in the order of the text."""
        return [self._document.body[place] for place in self._places.get(path, ())]

    @cached_property
    def _places(self) -> dict[Path, list[int]]:
        found: dict[Path, list[int]] = {}
        for place, element in enumerate(self._document.body):
            for depth in range(1, len(element.section) + 1):
                found.setdefault(element.section[:depth], []).append(place)
        return found

    def text(self, path: Path, max_tokens: int) -> str:
        """The section's text, headings included, cut behind the element that would pass ``max_tokens``."""
        return joined(self._document, self.elements(path), max_tokens)


def joined(document: Document, elements: Sequence[Element], max_tokens: int) -> str:
    """The text of ``elements`` up to ``max_tokens`` cl100k tokens, whole elements; the first is cut where it alone is
    longer. What AI wrote of figures is left out."""
    parts: list[str] = []
    room = max_tokens
    for element in elements:
        end = element.generated[0] if element.generated is not None else element.end
        text = document.text[element.start : end].strip()
        tokens = count_tokens(text) + 1
        if tokens > room:
            if not parts:
                parts.append(shortened(text, max_tokens))
            break
        if text:
            parts.append(text)
            room -= tokens
    return "\n\n".join(parts)


def shortened(text: str, max_tokens: int) -> str:
    """The beginning of ``text`` with about ``max_tokens`` cl100k tokens, never more."""
    while (tokens := count_tokens(text)) > max_tokens:
        text = text[: min(len(text) - 1, len(text) * max_tokens // tokens)]
    return text
