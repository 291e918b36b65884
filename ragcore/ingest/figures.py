"""Figure descriptions by a vision model: which figures are described, the prompt for each, and the part of the answer
that is kept.

`ragcore.model_calls` enforces the spend limit. Answers are stored per picture, so each picture is sent once, whatever
happens to the document.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from ragcore.config.settings import Settings
from ragcore.errors import GroundworkError, ModelError
from ragcore.index.model_records import FigureTexts
from ragcore.ingest.captions import is_labelled
from ragcore.ingest.process import Child
from ragcore.model_calls import ModelCalls, as_material, digest, why_refused
from ragcore.prompts import FIGURE_PROMPT, FIGURE_SYSTEM, NO_CONTENT
from ragcore.protocols import LLM, Message, ModelRequest, Picture
from ragcore.text.sentences import whole_sentences
from ragcore.types import Box, Document, ModelReport

DPI, MOST_PIXELS = 150, 800_000  # of the picture of a figure
MAX_TOKENS = 400  # of a description
AGAIN = "Run `groundwork ingest` or `groundwork index --rebuild` to describe the rest."


def describe_figures(
    document: Document,
    path: Path,
    *,
    describer: Callable[[], LLM | None] | None,
    cache: FigureTexts,
    settings: Settings,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] | None = None,
) -> tuple[dict[Box, str], ModelReport]:
    """Descriptions by region, and the outcome for each figure. ``path`` is the readable PDF; ``describer`` gives the
    model, or None if none is configured; without ``describer`` only known descriptions are used.

    Errors of the service are in the report. Raises `Cancelled`; descriptions made before that are kept.
    """
    chosen = settings.figures
    figures = worth_describing(document)
    if not figures or chosen.describe == "off":
        return {}, ModelReport(len(figures), left=len(figures), usd=cache.spent(document.doc_id))
    # Captioned figures first: if not all can be described, these are the most informative.
    ordered = sorted(figures, key=lambda figure: (not is_labelled(figure.caption), not figure.caption, figure.element))
    work = _Work(document, cache, settings, ordered[: chosen.max_figures])
    model: LLM | None = None
    try:
        model = describer() if describer is not None else None
    except ModelError as error:
        work.errors.append(error)
    if model is None:
        work.recall()
    else:
        with closing(Child(path, settings.ingest, name=document.name)) as child:
            work.run(model, child, on_progress, cancelled)
    return work.texts(), work.report(len(figures))


@dataclass
class _Work:
    document: Document
    cache: FigureTexts
    settings: Settings
    figures: list[Figure]
    images: dict[Box, str] = field(default_factory=dict)  # place → picture
    said: dict[str, str] = field(default_factory=dict)  # picture → its description, "" if there is nothing to say
    errors: list[GroundworkError] = field(default_factory=list)
    refused: str = ""  # `ModelCalls.refused`
    model: str = ""

    def __post_init__(self) -> None:
        known = self.cache.images(self.document.doc_id)
        self.images = {f.region: known[place] for f in self.figures if (place := self._place(f)) in known}

    def _place(self, figure: Figure) -> str:
        box = figure.region
        corners = ",".join(f"{value:.2f}" for value in (box.x0, box.y0, box.x1, box.y1))
        return f"{box.page}:{corners}@{DPI}/{MOST_PIXELS}"

    def recall(self) -> None:
        """Load stored descriptions, by any model, of pictures that have none yet."""
        for image in set(self.images.values()) - set(self.said):
            if (text := self.cache.latest(image)) is not None:
                self.said[image] = text

    def run(
        self,
        model: LLM,
        child: Child,
        on_progress: Callable[[int, int], None],
        cancelled: Callable[[], bool] | None,
    ) -> None:
        chosen = self.settings.figures
        self.model = model.name
        on_progress(0, len(self.figures))
        with ModelCalls(
            model,
            prices=self.settings.llm.prices,
            ledger=self.cache,
            doc_id=self.document.doc_id,
            max_usd=chosen.max_usd,
            take=self._take,
            stopped=f"Describing the figures of {self.document.name} was stopped.",
            cancelled=cancelled,
        ) as asking:
            for done, figure in enumerate(self.figures, start=1):
                self._next(figure, child, asking)
                on_progress(done - len(asking.running), len(self.figures))
            while asking.running:
                asking.wait(len(asking.running) - 1)
                on_progress(len(self.figures) - len(asking.running), len(self.figures))
            self.errors += asking.errors
            self.refused = asking.refused
        self.recall()

    def _next(self, figure: Figure, child: Child, asking: ModelCalls) -> None:
        image = self.images.get(figure.region)
        if image is not None and self._known(image, asking):
            return
        try:
            crop = child.crop(figure.region, dpi=DPI, max_pixels=MOST_PIXELS)
        except GroundworkError as error:
            self.errors.append(error)
            return
        self.images[figure.region] = crop.sha256
        self.cache.put_image(self.document.doc_id, self._place(figure), crop.sha256)
        if self._known(crop.sha256, asking):
            return
        request = ModelRequest(
            FIGURE_SYSTEM,
            (Message(figure_prompt(self.document.title, figure)),),
            images=(Picture(crop.png, crop.width, crop.height),),
            max_tokens=MAX_TOKENS,
            purpose="figures",
            bulk=True,
        )
        asking.ask(crop.sha256, request)

    def _known(self, image: str, asking: ModelCalls) -> bool:
        if image in self.said or image in asking.keys:
            return True
        if (text := self.cache.get(image, self.model, PROMPT)) is not None:
            self.said[image] = text
        return text is not None

    def _take(self, image: str, text: str) -> None:
        self.said[image] = clean(text)
        self.cache.put(image, self.model, PROMPT, self.said[image])

    def texts(self) -> dict[Box, str]:
        """Descriptions by place; a picture that occurs several times is described at its first place."""
        places: dict[str, Figure] = {}
        for figure in sorted(self.figures, key=lambda figure: figure.element):
            image = self.images.get(figure.region)
            if image is not None and self.said.get(image):
                places.setdefault(image, figure)
        return {figure.region: self.said[image] for image, figure in places.items()}

    def report(self, figures: int) -> ModelReport:
        seen = [self.images[f.region] for f in self.figures if self.images.get(f.region) in self.said]
        described = len({image for image in seen if self.said[image]})
        empty = sum(not self.said[image] for image in seen)
        return ModelReport(
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
        parts = [one.message.rstrip(".") for one in self.errors[:1]]
        parts.append(why_refused(self.refused, self.model, chosen.max_usd, "figures.max_usd"))
        if figures > chosen.max_figures:
            parts.append(f"at most {chosen.max_figures} figures per document are described (figures.max_figures)")
        return "; ".join(filter(None, parts))


PROMPT = digest(FIGURE_SYSTEM, FIGURE_PROMPT)[:12]
MIN_SHARE = 0.01  # of its page: smaller pictures are not described
_LONGEST_CAPTION = 1500  # characters


@dataclass(frozen=True, slots=True)
class Figure:
    """Figure large enough to describe: its place and the document's text about it."""

    element: int
    region: Box
    caption: str
    section: tuple[str, ...]


def worth_describing(document: Document) -> list[Figure]:
    """Figures of the body without a description that cover at least `MIN_SHARE` of their page, in reading order."""
    found = []
    for element in document.body:
        if element.kind != "figure" or not element.region or element.generated is not None:
            continue
        region = element.region[0]
        page = document.pages[region.page - 1]
        if (region.x1 - region.x0) * (region.y1 - region.y0) >= MIN_SHARE * page.width * page.height:
            caption = None if element.caption is None else document.elements[element.caption]
            text = "" if caption is None else document.text[caption.start : caption.end]
            found.append(Figure(element.id, region, " ".join(text.split())[:_LONGEST_CAPTION], element.section))
    return found


def figure_prompt(title: str, figure: Figure) -> str:
    """Prompt for a figure."""
    about = {"title": title, "section": list(figure.section), "caption": figure.caption}
    return FIGURE_PROMPT.format(about=as_material(about))


def clean(text: str) -> str:
    """Description as one paragraph without an incomplete last sentence; "" if the model found nothing to describe."""
    words = whole_sentences(text)
    return "" if words.strip(" .*`\"'").upper() == NO_CONTENT else words
