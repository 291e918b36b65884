"""Pictures of cited places: what draws them, and where on them the cited words lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragcore.types import Box

_AROUND = 26.0  # points above and below the cited words
_HIGHEST = 300.0  # points of a crop


@dataclass(frozen=True, slots=True)
class Sheet:
    """A PNG, ``width`` × ``height`` pixels, of what stands in ``box`` (displayed-page points)."""

    png: bytes
    width: int
    height: int
    box: Box

    def within(self, place: Box) -> tuple[float, float, float, float] | None:
        """Where ``place`` lies on the picture, as shares (left, top, right, bottom) of its size; None: not on it."""
        if place.page != self.box.page:
            return None
        wide, high = self.box.x1 - self.box.x0, self.box.y1 - self.box.y0
        left, right = (min(max((x - self.box.x0) / wide, 0.0), 1.0) for x in (place.x0, place.x1))
        top, bottom = (min(max((y - self.box.y0) / high, 0.0), 1.0) for y in (place.y0, place.y1))
        return (left, top, right, bottom) if right > left and bottom > top else None


# ``draw(document, page, part)``: the part of the page that ``part(width, height)`` names, in points; in words why not,
# where it cannot be drawn.
Sheets = Callable[[str, int, Callable[[float, float], Box]], "Sheet | str"]


def whole(page: int) -> Callable[[float, float], Box]:
    """All of a page."""
    return lambda width, height: Box(page, 0.0, 0.0, width, height)


def around(places: Sequence[Box]) -> Callable[[float, float], Box]:
    """A band over the width of the page with ``places``, all on one page, and some lines around them."""

    def part(width: float, height: float) -> Box:
        top = max(0.0, min(place.y0 for place in places) - _AROUND)
        bottom = min(height, max(place.y1 for place in places) + _AROUND)
        return Box(places[0].page, 0.0, top, width, min(bottom, top + _HIGHEST))

    return part
