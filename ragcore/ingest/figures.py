"""Which figures are described, what is asked about each, and what is kept of the answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from ragcore.prompts import FIGURE_PROMPT, FIGURE_SYSTEM, NO_CONTENT
from ragcore.text.sentences import sentence_spans
from ragcore.types import Box, Document, Element

PROMPT = hashlib.sha256(f"{FIGURE_SYSTEM}\0{FIGURE_PROMPT}".encode()).hexdigest()[:12]
_LONGEST_CAPTION = 1500  # characters
_SENTENCE_END = (".", "!", "?", "。", "！", "？", "”", '"', ")", "…")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure large enough to be described: its place and what the document says about it."""

    element: int
    region: Box
    caption: str
    section: tuple[str, ...]


def worth_describing(document: Document, min_share: float) -> list[Figure]:
    """The figures of the body without a description that fill at least ``min_share`` of their page, in reading
    order."""
    found = []
    for element in document.body:
        if element.kind != "figure" or not element.region or element.generated is not None:
            continue
        region = element.region[0]
        page = document.pages[region.page - 1]
        if (region.x1 - region.x0) * (region.y1 - region.y0) >= min_share * page.width * page.height:
            found.append(Figure(element.id, region, _caption(document, element), element.section))
    return found


def _caption(document: Document, figure: Element) -> str:
    if figure.caption is None:
        return ""
    caption = document.elements[figure.caption]
    return " ".join(document.text[caption.start : caption.end].split())[:_LONGEST_CAPTION]


def figure_prompt(title: str, figure: Figure) -> str:
    """What is asked about a figure. Words of the document stand in one JSON object, whose strings they cannot leave."""
    about: Mapping[str, object] = {"title": title, "section": list(figure.section), "caption": figure.caption}
    return FIGURE_PROMPT.format(about=json.dumps(about, ensure_ascii=False).replace("<", "\\u003c"))


def clean(text: str) -> str:
    """A description as one paragraph for the canonical text, without a sentence that was cut off; "" where the model
    saw nothing worth describing."""
    words = " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text).split())
    if words.strip(" .*`\"'").upper() == NO_CONTENT:
        return ""
    spans = sentence_spans(words)
    if len(spans) > 1 and not words.endswith(_SENTENCE_END):
        words = words[: spans[-2][1]]
    return words
