"""Drawing process. MuPDF is not thread-safe, and some files make it hang or crash, so it never runs in the server's own
process: `ui.viewer.render` starts this module, sends it jobs, and kills it when one takes too long.

One JSON object per line: in ``{"path", "page", "width", "clip", "out"}`` (page from 1, width in pixels; clip null, or
x0, y0, x1, y1 in pixels of the page at that width), out ``{"ok": true}`` or ``{"ok": false, "reason"}``. The picture is
the page as displayed (rotation and crop box applied), a PNG.
"""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

from ragcore.files import replacing
from ragcore.ingest import worker
from ui.viewer import png

MAX_PIXELS = 40_000_000
MEMORY_BYTES = 4 << 30
OPEN_FILES = 4


class Artist:
    """Page painter that keeps the last few files open, and the contents of the last page for its other tiles."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, Any] = OrderedDict()
        self._last: tuple[str, int] | None = None
        self._contents: Any = None
        self._sheet: Any = None

    def draw(self, path: str, page: int, width: int, clip: list[int] | None, out: str) -> None:
        import pymupdf

        self._read(path, page)
        zoom = width / self._sheet.width
        area = None
        if clip is None:
            zoom = min(zoom, (MAX_PIXELS / (self._sheet.width * self._sheet.height)) ** 0.5)
        else:
            # A quarter pixel less, which MuPDF rounds outwards again: a tile never has a row of its neighbour.
            inner = (clip[0] + 0.25, clip[1] + 0.25, clip[2] - 0.25, clip[3] - 0.25)
            area = pymupdf.Rect(*(pixels / zoom for pixels in inner)) & self._sheet
        pixmap = self._contents.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False, clip=area)
        with replacing(Path(out)) as file:
            file.write(png.of(pixmap))

    def forget(self, path: str) -> None:
        self._last = self._contents = None
        self._files.pop(path, None)

    def _read(self, path: str, page: int) -> None:
        import pymupdf

        if self._last == (path, page):
            return
        self._last = self._contents = None
        if path not in self._files:
            self._files[path] = pymupdf.open(path)
            if len(self._files) > OPEN_FILES:
                self._files.popitem(last=False)[1].close()
        self._files.move_to_end(path)
        read = self._files[path][page - 1]
        self._sheet = pymupdf.Rect(0, 0, read.rect.width, read.rect.height)
        self._contents = read.get_displaylist()
        self._last = (path, page)


def main() -> None:
    worker.load_pymupdf(layout=False)
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    artist = Artist()
    for line in sys.stdin:
        job = json.loads(line)
        try:
            artist.draw(job["path"], job["page"], job["width"], job["clip"], job["out"])
            reply: dict[str, Any] = {"ok": True}
        except (RuntimeError, ValueError, OSError, IndexError) as error:  # pymupdf's own errors are RuntimeErrors
            artist.forget(job["path"])
            reply = {"ok": False, "reason": str(error).splitlines()[0] if str(error) else type(error).__name__}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
