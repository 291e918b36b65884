"""JSON payload of a path over names or down a tree: its steps in words, each with the place of its sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragcore.errors import UnknownDocument
from ragcore.index.paths import Sentence
from ragcore.text.short_titles import short
from ragcore.types import Document, NamePath, PathStep
from ragcore.types.json import Json
from ui.chat import payload


def path(found: NamePath, titles: Mapping[str, str], document: Callable[[str], Document]) -> Json:
    """``id`` of the path, what it leads ``over``, and its ``steps``: what is reached (``name``), ``how``, and the
    ``place`` of the sentence, as a citation numbered along the path, or None for the question's own words and where the
    sentence is no longer in the library. ``titles`` are those of documents by id, where they differ from a document's
    own."""
    steps: list[Json] = []
    for number, step in enumerate(found.steps):
        before = found.steps[number - 1] if number else None
        place = citation(step, titles, document)
        if place is not None:
            place["n"] = 1 + sum(one["place"] is not None for one in steps)
        last = number == len(found.steps) - 1
        steps.append(
            {"name": step.name or ("this passage" if last else "a passage"), "place": place}
            | _how(step, before, found.over)
        )
        steps[-1]["where"] = "" if place is None else f"p. {place['label']} of {place['title']}"
    return {"id": f"path-{found.chunk_id}", "over": found.over, "steps": steps}


def _how(step: PathStep, before: PathStep | None, over: str) -> Json:
    if over == "tree":
        return {"how": "at the top" if before is None else "in it"}
    if before is None:
        return {"how": "in the nearest passage" if step.doc_id else "your words"}
    if not step.name:
        return {"how": "names it"}
    return {"how": "same sentence" if before.name else "named there"}


def citation(step: PathStep | Sentence, titles: Mapping[str, str], document: Callable[[str], Document]) -> Json | None:
    """Place of a sentence; None for the question's own words, and where it is no longer in the library."""
    if not step.doc_id:
        return None
    try:
        read = document(step.doc_id)
    except UnknownDocument:
        return None
    if read.text[step.start : step.end] != step.quote:
        return None  # it was read anew since
    title = short(titles.get(step.doc_id) or read.title or read.name)
    return payload.place(read, step.start, step.end) | {"title": title}
