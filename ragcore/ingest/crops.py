"""Parts of pages as pictures, drawn in a child process like everything that MuPDF does."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from ragcore.config.settings import IngestSettings
from ragcore.errors import ParseCrashed
from ragcore.ingest.child import Child, Crop
from ragcore.types import Box

_STRIKES = 3  # children lost to a file's figures after which no more is drawn of it


class Crops:
    """``with Crops(path, settings, name) as crops: crops.draw(box)``. The child starts with the first picture."""

    def __init__(self, path: Path, settings: IngestSettings, name: str) -> None:
        self._path, self._settings, self._name = path, settings, name
        self._child: Child | None = None
        self._lost = 0

    def draw(self, box: Box, *, dpi: float, max_pixels: int) -> Crop:
        """What stands in ``box`` (displayed-page points). Raises `ParseTimeout` or `ParseCrashed`."""
        if self._lost >= _STRIKES:
            raise ParseCrashed(f"{self._name}: the pictures of {_STRIKES} figures couldn't be drawn.")
        if self._child is None:
            self._child = Child(self._path, settings=self._settings, password=None, layout=False, name=self._name)
        try:
            return self._child.crop(box, dpi=dpi, max_pixels=max_pixels)
        finally:
            if not self._child.usable:
                self._lost += 1
                self._close()

    def __enter__(self) -> Crops:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None
