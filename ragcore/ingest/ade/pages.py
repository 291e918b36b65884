"""ADE page reader, parent side: ADE JSON → pages, with its PDF or without. MuPDF's work runs in a child process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ragcore.config.settings import IngestSettings
from ragcore.errors import AdeMismatch, Cancelled, ParseCrashed, ParseTimeout
from ragcore.ingest.ade.layout import DISAGREES, page_layout
from ragcore.ingest.ade.source import read_ade
from ragcore.ingest.layout import COARSE, FileInfo, PageLayout, empty_page
from ragcore.ingest.legible import agree, garbled
from ragcore.ingest.parse import LETTER, unread_page
from ragcore.ingest.process import Child

NO_PDF = (
    "only ADE JSON was added, so the page is redrawn and whole blocks or cells are highlighted; "
    "for exact places, add JSON and PDF together"
)
NO_TEXT = "the page has no text layer, so its words are ADE's and whole blocks or cells are highlighted"


class AdeSource:
    """ADE JSON at ``path`` as a source of pages; messages call it ``name``. Raises as `read_ade` does."""

    def __init__(self, path: Path, name: str, settings: IngestSettings) -> None:
        self.ade = read_ade(path.read_bytes(), name, settings.max_pages)
        self.path, self.name, self.settings = path, name, settings

    def draw(self, target: Path) -> FileInfo:
        """Draw the pages of a JSON without a PDF to ``target`` unless it exists. Raises ParseTimeout or
        ParseCrashed."""
        if not target.is_file():
            width, height, _rotation = LETTER
            with closing(Child(None, self.settings, name=self.name)) as child:
                child.draw(self.path, target, (width, height), self.ade.pages)
        return FileInfo(pages=self.ade.pages)

    def pages(
        self, pdf: Path | None, info: FileInfo, pages: Sequence[int], *, cancelled: Callable[[], bool] | None = None
    ) -> Iterator[PageLayout]:
        """Read ``pages`` (numbers from 1) with the words of ``pdf`` (readable without a password; ``info`` is its
        metadata), or with ADE's if there is none or MuPDF cannot read them.

        Raises `AdeMismatch` if the PDF has another number of pages, whatever opening it raises, and `Cancelled`.
        """
        if info.pages != self.ade.pages:
            raise AdeMismatch(f"{self.name} describes {self.ade.pages} pages; its PDF has {info.pages}.")
        if pdf is None:
            for number in pages:
                yield page_layout(self.ade, empty_page(number, str(number), *LETTER, None), reason=NO_PDF)
            return
        with closing(Child(pdf, self.settings, name=self.name)) as child:
            for number in pages:
                if cancelled is not None and cancelled():
                    raise Cancelled(f"Reading {self.name} was stopped.")
                child.open()
                page = self._legible(_words(child, number))
                yield page_layout(self.ade, page, reason="" if page.degraded else NO_TEXT)

    def _legible(self, page: PageLayout) -> PageLayout:
        """``page``, without its words if their encoding is broken: ADE reads the picture and has others."""
        text = " ".join(page.texts)
        why = garbled(text)
        told = "\n".join(chunk.markdown for chunk in self.ade.chunks.get(page.number, ()))
        if why is None or not told or agree(text, told):
            return page
        reason = (
            f"its text layer is unreadable ({why}), so its words are ADE's and whole blocks or cells are highlighted"
        )
        return empty_page(page.number, page.label, page.width, page.height, page.rotation, reason)

    def check(self, pages: Sequence[bytes]) -> None:
        """Raise `AdeMismatch` if the JSON does not fit most of the text on pages (`PageLayout` bytes) that both have
        words for."""
        told = {number: sum(len(chunk.markdown) for chunk in chunks) for number, chunks in self.ade.chunks.items()}
        read = [page for page in map(PageLayout.from_bytes, pages) if page.number in told]
        compared = [page for page in read if not (page.flags & COARSE).all()]
        wrong = [page for page in compared if DISAGREES in (page.degraded or "")]
        if 2 * sum(told[page.number] for page in wrong) > sum(told[page.number] for page in compared):
            raise AdeMismatch(
                f"{self.name} doesn't match its PDF: on {len(wrong)} of {len(compared)} pages the words are "
                "not where it says."
            )


def _words(child: Child, number: int) -> PageLayout:
    """Page with its words and MuPDF's text blocks, or an empty page that says why there are none."""
    try:
        return child.page(number, plain=True)
    except (ParseTimeout, ParseCrashed) as error:
        reason = f"this page's words couldn't be read, so they are ADE's: {error.message}"
        return replace(unread_page(child, number, reason), unread=False)
