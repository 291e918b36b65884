"""The process that draws pages. MuPDF is not thread-safe, some files make it loop for ever and some make it crash, so
it never runs in the server's own process: `ui.render` starts this module, gives it jobs and kills it when one takes
too long.

One JSON object per line: in ``{"path", "page", "width", "out"}`` (page from 1, width in pixels), out ``{"ok": true}``
or ``{"ok": false, "reason"}``. The picture is the page as displayed (rotation and crop box applied), a PNG.
"""

from __future__ import annotations

import json
import os
import sys
from collections import OrderedDict
from typing import Any

MAX_PIXELS = 40_000_000
MEMORY_BYTES = 4 << 30
OPEN_FILES = 4


def draw(files: OrderedDict[str, Any], path: str, page_number: int, width: int, out: str) -> None:
    import pymupdf

    if path not in files:
        files[path] = pymupdf.open(path)
        if len(files) > OPEN_FILES:
            files.popitem(last=False)[1].close()
    files.move_to_end(path)
    page = files[path][page_number - 1]
    zoom = width / page.rect.width
    zoom = min(zoom, (MAX_PIXELS / (page.rect.width * page.rect.height)) ** 0.5)
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
    part = f"{out}.{os.getpid()}"
    pixmap.save(part, output="png")
    os.replace(part, out)


def main() -> None:
    import pymupdf

    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    files: OrderedDict[str, Any] = OrderedDict()
    for line in sys.stdin:
        job = json.loads(line)
        try:
            draw(files, job["path"], job["page"], job["width"], job["out"])
            reply: dict[str, Any] = {"ok": True}
        except (RuntimeError, ValueError, OSError, IndexError) as error:  # pymupdf's own errors are RuntimeErrors
            files.pop(job["path"], None)
            reply = {"ok": False, "reason": str(error).splitlines()[0] if str(error) else type(error).__name__}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
