"""Page renderer: a disk cache in front of one drawing process (`ui.viewer.render_child`)."""

from __future__ import annotations

import itertools
import json
import queue
import selectors
import shutil
import subprocess
import sys
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from ragcore import files
from ragcore.errors import DamagedPdf, FileMissing, GroundworkError, ParseCrashed, ParseTimeout, StoreError
from ragcore.ingest.process import environment
from ui.viewer import png

PAGE_SECONDS = 20.0
WIDTHS = (160, 640, 960, 1280, 1600, 1920, 2560, 3200)  # pixels; a few sizes, so that a zoom finds its picture cached
TILE_WIDTHS = (2560, 3840, 5120, 7680, 10240, 15360, 20480)  # pixels of a whole page that is drawn in tiles
TILE = 1024  # pixels of a tile's side
CACHE_BYTES = 1_000_000_000
ROOT = Path(__file__).resolve().parents[2]


@dataclass(order=True)
class _Job:
    priority: int
    number: int
    path: Path = field(compare=False)
    page: int = field(compare=False)
    width: int = field(compare=False)
    clip: tuple[int, int, int, int] | None = field(compare=False)  # pixels of the whole page, None for all of it
    out: Path = field(compare=False)
    waiting: list[Future[bytes]] = field(compare=False, default_factory=list)


def bucket(width: int) -> int:
    """Smallest of `WIDTHS` that is at least ``width``."""
    return next((w for w in WIDTHS if w >= width), WIDTHS[-1])


class Renderer:
    """Queue of page drawings, one at a time in order of request, thumbnails last. Two requests for the same page share
    one drawing. Cancelling every future of a drawing removes it from the queue, so that fast scrolling does not wait
    for pages already passed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._asked: dict[Path, _Job] = {}
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._drawn = 0
        self._closed = False
        threading.Thread(target=self._work, name="render", daemon=True).start()

    def page(self, doc_id: str, file: Path, page: int, width: int) -> Future[bytes]:
        """PNG of a page (from 1) at least ``width`` pixels wide, drawn if it is not cached.

        The future raises `ParseTimeout`, `ParseCrashed`, `DamagedPdf`, `FileMissing` or `StoreError`.
        """
        width = bucket(width)
        return self._picture(doc_id, f"{page}-{width}", file, page, width, None)

    def tile(self, doc_id: str, file: Path, page: int, width: int, column: int, row: int) -> Future[bytes]:
        """PNG of one tile of a page (from 1) that is ``width`` pixels wide, one of `TILE_WIDTHS`: `TILE` pixels square,
        less at the right and bottom edge. ``column`` and ``row`` count from 0. Raises as `page` does."""
        clip = (column * TILE, row * TILE, (column + 1) * TILE, (row + 1) * TILE)
        return self._picture(doc_id, f"{page}-{width}-{column}-{row}", file, page, width, clip)

    def _picture(
        self, doc_id: str, name: str, file: Path, page: int, width: int, clip: tuple[int, int, int, int] | None
    ) -> Future[bytes]:
        out = self.folder / doc_id / f"{name}.png"
        drawn: Future[bytes] = Future()
        kept = _kept(out)
        if kept is not None:
            drawn.set_result(kept)
            return drawn
        with self._lock:
            job = self._asked.get(out)
            if job is None:
                job = _Job(int(width <= WIDTHS[0]), next(self._numbers), file, page, width, clip, out)
                self._asked[out] = job
                self._jobs.put(job)
            job.waiting.append(drawn)
        return drawn

    def warm(self) -> None:
        """Start the drawing process now, so that the first page does not wait for it."""
        with self._lock:
            if self._child is None:
                self._child = _start()

    def forget(self, doc_id: str) -> None:
        """Delete the pictures of a removed document."""
        shutil.rmtree(self.folder / doc_id, ignore_errors=True)

    def clear(self) -> None:
        """Delete all pictures; they are redrawn when viewed."""
        for picture in self.folder.glob("*/*.png"):
            picture.unlink(missing_ok=True)

    def close(self) -> None:
        self._closed = True
        self._jobs.put(_Job(0, next(self._numbers), self.folder, 0, 0, None, self.folder))  # wakes what waits for one
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if self._closed:
                return
            if not self._wanted(job):
                continue
            picture = b""
            failure: GroundworkError | None = None
            try:
                with files.reported(self.folder):
                    self._draw(job)
                    picture = job.out.read_bytes()
            except (DamagedPdf, FileMissing, ParseCrashed, ParseTimeout, StoreError) as error:
                failure = error
            with self._lock:
                del self._asked[job.out]
            for drawn in job.waiting:
                if not drawn.set_running_or_notify_cancel():
                    continue
                if failure is None:
                    drawn.set_result(picture)
                else:
                    drawn.set_exception(failure)
            self._drawn += 1
            if self._drawn % 200 == 0:
                self._trim()

    def _wanted(self, job: _Job) -> bool:
        """Whether anybody still waits for a drawing; if not, it is dropped."""
        with self._lock:
            if not all(drawn.cancelled() for drawn in job.waiting):
                return True
            del self._asked[job.out]
            return False

    def _draw(self, job: _Job) -> None:
        if _kept(job.out) is not None:
            return
        self.warm()
        child = self._child
        assert child is not None
        assert child.stdin is not None
        assert child.stdout is not None
        order = {"path": str(job.path), "page": job.page, "width": job.width, "clip": job.clip, "out": str(job.out)}
        try:
            child.stdin.write(json.dumps(order) + "\n")
            child.stdin.flush()
        except BrokenPipeError:
            self._drop(child)
            raise ParseCrashed("The page viewer stopped.", hint="Reopen the page.") from None
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            if not selector.select(PAGE_SECONDS):
                self._drop(child)
                raise ParseTimeout(
                    f"Page {job.page} took longer than {PAGE_SECONDS:.0f} s to draw.",
                    hint="Open the file in another viewer to see it. Its text can still be cited.",
                )
        line = child.stdout.readline()
        if not line:
            self._drop(child)
            raise ParseCrashed(f"Page {job.page} couldn’t be drawn: the drawing process ended.")
        reply = json.loads(line)
        if not job.path.is_file():  # its document was removed meanwhile, and nothing of it stays
            shutil.rmtree(job.out.parent, ignore_errors=True)
            raise FileMissing("The file of this document is gone.", hint="Add it again.")
        if not reply["ok"]:
            raise DamagedPdf(f"Page {job.page} couldn’t be drawn: {reply['reason']}.")

    def _drop(self, child: subprocess.Popen[str]) -> None:
        child.kill()
        child.wait()
        self._child = None

    def _trim(self) -> None:
        """Delete the oldest pictures while the cache exceeds its limit."""
        files = sorted((p.stat().st_mtime, p.stat().st_size, p) for p in self.folder.glob("*/*.png"))
        over = sum(size for _, size, _ in files) - CACHE_BYTES
        for _, size, path in files:
            if over <= 0:
                break
            path.unlink(missing_ok=True)
            over -= size


def _kept(picture: Path) -> bytes | None:
    """Cached picture, if it is intact."""
    try:
        data = picture.read_bytes()
    except FileNotFoundError:
        return None
    return data if png.intact(data) else None


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ui.viewer.render_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
        cwd=ROOT,
        env=environment(),
    )
