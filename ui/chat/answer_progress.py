"""Progress of a live answer, as text."""

from __future__ import annotations

from ragcore.text.numbers import plural
from ragcore.types import Step
from ragcore.types.json import Json
from ui.chat.runs import View
from ui.chat.scope_words import searched_in
from ui.server.warming import warming


def live_steps(view: View) -> list[Json]:
    """Steps of a live answer so far, in words; the last one is in progress."""
    done: list[str] = []
    if view.stage == "search":
        done, now = _searching(view)
    else:
        asked = [step.query for step in view.steps if step.name == "search"]
        documents = {query.doc_id for query in asked if query is not None and query.doc_id}
        if documents:
            done.append(f"Asked of {plural(len(documents), 'document')}")
        elif len(asked) > 1:
            done.append(f"Asked in {len(asked)} ways")
        done.append(plural(view.passages or 0, "passage") + " found")
        done.append(plural(view.sources or 0, "source") + " kept")
        now = "Writing" if view.stage == "write" else "Checking claims"
    steps: list[Json] = [{"text": text, "done": True} for text in done]
    return [*steps, {"text": "Stopping" if view.stopping else now, "done": False}]


def standalone(view: View, question: str) -> str:
    """Stand-alone form of the question where it differs from ``question`` as typed; "" until it is known."""
    searched = next((step.query.text for step in view.steps if step.query and step.query.origin == "question"), "")
    return "" if searched == " ".join(question.split()) else searched


def _searching(view: View) -> tuple[list[str], str]:
    """Progress of the search, in words."""
    done: list[str] = []
    now = f"Searching {searched_in(view.scope, view.searched, view.titles)}"
    for step in view.steps:
        if step.name == "search":
            done += _preferring(step, view)
        now = _doing(step, view)
    if warming.loading:
        now = "Loading the models"
    return list(dict.fromkeys(done))[-2:], now


def _preferring(step: Step, view: View) -> list[str]:
    best = [route for route in step.routes if route.prior == step.routes[0].prior]
    if not best:
        return []
    more = f" and {len(best) - 1} more" if len(best) > 1 else ""
    return [f"Preferring {view.titles.get(best[0].doc_id, best[0].doc_id)}{more} ({best[0].reason})"]


def _doing(step: Step, view: View) -> str:
    if step.name == "plan":
        return "Working out what to search for"
    if step.name == "gap":
        return "Looking for what’s missing"
    if step.name == "group":
        return f"Grouping {plural(step.passages, 'passage')} by theme"
    if step.name == "rerank":
        return "Reading the best passage" if step.passages == 1 else f"Reading the {step.passages} best passages"
    if step.query is not None and step.query.doc_id:
        return f"Searching {view.titles.get(step.query.doc_id, step.query.doc_id)}"
    if step.query is not None and step.query.origin != "question":
        return f"Searching for “{step.query.text}”"
    return f"Searching {searched_in(view.scope, view.searched, view.titles)}"
