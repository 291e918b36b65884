"""Figures described in words by a model that sees, within the spend limit.

Nothing is sent that may pass the limit: before each request the most that it can cost is reserved, and given back in
part when the answer's own count is known. A request that was cut off keeps its reserve, since it may have been billed.
What a model said of a picture is kept by the picture, so it is asked once, whatever becomes of the document.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from ragcore.config import Settings
from ragcore.errors import (
    Cancelled,
    GroundworkError,
    KeyMissing,
    KeyRefused,
    ModelError,
    ModelMissing,
    ModelUnreachable,
    StreamBroken,
)
from ragcore.ingest.captions import is_labelled
from ragcore.ingest.crops import Crops
from ragcore.ingest.figures import PROMPT, Figure, clean, figure_prompt, worth_describing
from ragcore.prices import cost
from ragcore.prompts import FIGURE_SYSTEM
from ragcore.protocols import Describer, DescriptionCache, PictureRequest, TextStream
from ragcore.types import Box, Document, FigureReport

STRIKES = 3  # failures after which no further figure is asked for
AGAIN = "`ragcore ingest` or `ragcore index --rebuild` describes what is missing."
_POLL_SECONDS = 0.2
# The same for every figure: asking on is no use.
_FINAL = (KeyMissing, KeyRefused, ModelMissing)
# It cannot be told whether these were billed.
_MAYBE_BILLED = (ModelUnreachable, StreamBroken)


def describe_figures(
    document: Document,
    path: Path,
    *,
    describer: Callable[[], Describer | None] | None,
    cache: DescriptionCache,
    settings: Settings,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] | None = None,
) -> tuple[dict[Box, str], FigureReport]:
    """Descriptions by region, and what became of each figure. ``path`` is the readable PDF; ``describer`` gives the
    model, or None where none is in force; without a ``describer`` only what is known already is used.

    What the service does wrong is in the report. Raises `Cancelled`; what was described by then is kept.
    """
    chosen = settings.figures
    figures = worth_describing(document, chosen.min_share)
    if not figures:
        return {}, FigureReport(usd=cache.spent(document.doc_id))
    if chosen.describe == "off":
        return {}, FigureReport(len(figures), left=len(figures), usd=cache.spent(document.doc_id))
    # Those with a caption first: where not all can be described, these say the most.
    ordered = sorted(figures, key=lambda figure: (not is_labelled(figure.caption), not figure.caption, figure.element))
    work = _Work(document, cache, settings, ordered[: chosen.max_figures])
    model: Describer | None = None
    try:
        model = describer() if describer is not None else None
    except ModelError as error:
        work.fail(error)
    if model is None:
        work.recall()
    else:
        with Crops(path, settings.ingest, document.name) as crops:
            work.run(model, crops, on_progress, cancelled)
    return work.texts(), work.report(len(figures))


@dataclass
class _Work:
    document: Document
    cache: DescriptionCache
    settings: Settings
    figures: list[Figure]
    images: dict[Box, str] = field(default_factory=dict)  # place → picture
    said: dict[str, str] = field(default_factory=dict)  # picture → its description, "" where there is nothing to say
    errors: list[GroundworkError] = field(default_factory=list)
    stop_asking: bool = False
    limited: bool = False
    unpriced: str = ""

    def __post_init__(self) -> None:
        known = self.cache.images(self.document.doc_id)
        self.images = {f.region: known[place] for f in self.figures if (place := self._place(f)) in known}

    def _place(self, figure: Figure) -> str:
        chosen, box = self.settings.figures, figure.region
        corners = ",".join(f"{value:.2f}" for value in (box.x0, box.y0, box.x1, box.y1))
        return f"{box.page}:{corners}@{chosen.dpi:g}/{chosen.max_pixels}"

    def recall(self) -> None:
        """What any model said before, of pictures of which nothing is known yet."""
        for image in set(self.images.values()) - set(self.said):
            text = self.cache.latest(image)
            if text is not None:
                self.said[image] = text

    def run(
        self,
        model: Describer,
        crops: Crops,
        on_progress: Callable[[int, int], None],
        cancelled: Callable[[], bool] | None,
    ) -> None:
        asking = _Asking(model, self)
        on_progress(0, len(self.figures))
        try:
            for done, figure in enumerate(self.figures):
                asking.harvest(self.settings.figures.in_flight - 1, cancelled)
                self._next(figure, model, crops, asking)
                on_progress(done + 1 - len(asking.running), len(self.figures))
            while asking.running:
                asking.harvest(len(asking.running) - 1, cancelled)
                on_progress(len(self.figures) - len(asking.running), len(self.figures))
        finally:
            asking.close()
        self.recall()

    def _next(self, figure: Figure, model: Describer, crops: Crops, asking: _Asking) -> None:
        image = self.images.get(figure.region)
        if image is not None and self._known(image, model, asking):
            return
        try:
            chosen = self.settings.figures
            crop = crops.draw(figure.region, dpi=chosen.dpi, max_pixels=chosen.max_pixels)
        except GroundworkError as error:
            self.errors.append(error)
            return
        self.images[figure.region] = crop.sha256
        self.cache.put_image(self.document.doc_id, self._place(figure), crop.sha256)
        if self._known(crop.sha256, model, asking) or self.stop_asking:
            return
        request = PictureRequest(
            crop.png,
            crop.width,
            crop.height,
            FIGURE_SYSTEM,
            figure_prompt(self.document.title, figure),
            chosen.max_tokens,
            self.settings.llm.temperature,
        )
        most = cost(model.most(request), model.name, self.settings.llm.prices)
        if most is None:
            self.unpriced = model.name
            self.stop_asking = True
        elif self.cache.spent(self.document.doc_id) + most > chosen.max_usd:
            self.limited = True
        else:
            self.cache.spend(self.document.doc_id, most)
            asking.start(crop.sha256, request, most)

    def _known(self, image: str, model: Describer, asking: _Asking) -> bool:
        if image in self.said or image in asking.images:
            return True
        text = self.cache.get(image, model.name, PROMPT)
        if text is not None:
            self.said[image] = text
        return text is not None

    def fail(self, error: ModelError) -> None:
        self.errors.append(error)
        self.stop_asking = isinstance(error, _FINAL) or len(self.errors) >= STRIKES

    def texts(self) -> dict[Box, str]:
        """Descriptions by place: of a picture that occurs again, at its first place."""
        places: dict[str, Figure] = {}
        for figure in sorted(self.figures, key=lambda figure: figure.element):
            image = self.images.get(figure.region)
            if image is not None and self.said.get(image):
                places.setdefault(image, figure)
        return {figure.region: self.said[image] for image, figure in places.items()}

    def report(self, figures: int) -> FigureReport:
        seen = [self.images[f.region] for f in self.figures if self.images.get(f.region) in self.said]
        described = len({image for image in seen if self.said[image]})
        empty = sum(not self.said[image] for image in seen)
        return FigureReport(
            figures=figures,
            described=described,
            empty=empty,
            repeated=len(seen) - described - empty,
            left=figures - len(seen),
            usd=round(self.cache.spent(self.document.doc_id), 6),
            reason=self._reason(figures),
            error=self.errors[0].as_dict() | {"hint": f"{self.errors[0].hint} {AGAIN}"} if self.errors else None,
        )

    def _reason(self, figures: int) -> str:
        chosen = self.settings.figures
        parts = []
        if self.errors:
            parts.append(self.errors[0].message.rstrip("."))
        if self.limited:
            parts.append(f"the limit of ${chosen.max_usd:g} a document is reached (figures.max_usd)")
        if self.unpriced:
            parts.append(f"llm.prices has no price for {self.unpriced}, so no limit could be kept")
        if figures > chosen.max_figures:
            parts.append(f"at most {chosen.max_figures} are described in one document (figures.max_figures)")
        return "; ".join(parts)


class _Asking:
    """Requests under way, each in a thread of its own; all that is decided and stored is so in the caller's thread."""

    def __init__(self, model: Describer, work: _Work) -> None:
        self._model = model
        self._work = work
        self._pool = ThreadPoolExecutor(work.settings.figures.in_flight, thread_name_prefix="figures")
        self._stopped = threading.Event()
        self._streams: set[TextStream] = set()
        self.running: dict[Future[_Said], tuple[str, float]] = {}

    @property
    def images(self) -> Iterator[str]:
        return (image for image, _most in self.running.values())

    def start(self, image: str, request: PictureRequest, most: float) -> None:
        stream = self._model.stream(request)
        self._streams.add(stream)
        self.running[self._pool.submit(_listen, stream, self._stopped)] = (image, most)

    def harvest(self, most: int, cancelled: Callable[[], bool] | None) -> None:
        """Take what is done, and wait until at most ``most`` requests are under way. Raises `Cancelled`."""
        while True:
            done, waiting = wait(self.running, timeout=0)
            if len(waiting) > most and not done:
                done, waiting = wait(self.running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._take(future)
            if cancelled is not None and cancelled():
                raise Cancelled(f"Describing the figures of {self._work.document.name} was stopped.")
            if len(self.running) <= most:
                return

    def close(self) -> None:
        """Cut what is under way; what it may have cost stays counted."""
        self._stopped.set()
        for stream in tuple(self._streams):
            stream.close()
        self._pool.shutdown(wait=True)
        for future in tuple(self.running):
            self._take(future)

    def _take(self, future: Future[_Said]) -> None:
        image, most = self.running.pop(future)
        said = future.result()
        self._streams.discard(said.stream)
        work = self._work
        if said.error is not None or not said.text.strip():
            error = said.error or StreamBroken(f"{self._model.name} ended without a word about a figure.")
            if not said.stopped:
                work.fail(error)
        else:
            text = clean(said.text)
            work.said[image] = text
            work.cache.put(image, self._model.name, PROMPT, text)
        work.cache.spend(work.document.doc_id, self._billed(said, most) - most)

    def _billed(self, said: _Said, most: float) -> float:
        """What the request cost by the service's own count; all that was reserved where that cannot be known."""
        usage = said.stream.usage
        if said.error is not None and not said.stopped and not usage.input_tokens:
            return most if isinstance(said.error, _MAYBE_BILLED) else 0.0
        if said.stopped or said.error is not None or not usage.input_tokens:
            return most
        prices = self._work.settings.llm.prices
        counted = cost(usage, said.stream.model, prices)
        counted = counted if counted is not None else cost(usage, self._model.name, prices)
        return most if counted is None else counted


@dataclass(frozen=True, slots=True)
class _Said:
    stream: TextStream
    text: str
    stopped: bool
    error: ModelError | None = None


def _listen(stream: TextStream, stopped: threading.Event) -> _Said:
    pieces: list[str] = []
    error: ModelError | None = None
    try:
        pieces.extend(stream)
    except ModelError as raised:
        error = raised
    finally:
        stream.close()
    if stopped.is_set():
        return _Said(stream, "", True, error)
    return _Said(stream, "".join(pieces), False, error)
