"""Verbs that programs have, the same at both doors: each is one engine call, pydantic models in and out.

Every `Place` that a verb gives is a span of its document's text, with the boxes of these words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

import numpy as np

from ragcore import types
from ragcore.accounts.tokens import TokenScope
from ragcore.check.quotations import places
from ragcore.engine import Engine
from ragcore.errors import Cancelled, GroundworkError, InputError, ParseError
from ragcore.progress import Added, Progress
from ragcore.serve import models
from ragcore.serve.models import (
    Asked,
    Listing,
    OfDocument,
    OfPage,
    Picture,
    Place,
    Question,
    Search,
    Told,
    ToLocate,
    ToVerify,
)
from ragcore.serve.work import Task
from ragcore.text.numbers import plural
from ragcore.types import Checked, Cited, Document, Element, Found, Scope, Step, Text
from ragcore.types.check import CheckedSentence, CheckStatus
from ragcore.types.sections import section_tree, walk

A = TypeVar("A", bound=Asked)
R = TypeVar("R")
Run = Callable[[Engine, A, Task], R]

MOST_OPENED = 40  # documents that one request to locate looks through
_MARKS = "“”„«»\"'‘’ "
_STEPS = {
    "plan": "Planning the search",
    "search": "Searching",
    "rerank": "Reading {0} passages closely",
    "gap": "Looking for what is missing",
    "group": "Grouping {0} passages",
}
_STAGES = {
    "read": "Reading pages",
    "describe": "Describing figures",
    "build": "Building the document",
    "chunk": "Cutting it into passages",
    "context": "Writing contexts",
    "embed": "Indexing passages",
    "done": "Read",
}


@dataclass(frozen=True)
class Verb(Generic[A, R]):
    """``name`` is its tool's; ``path`` its HTTP method and path, in which a field of the request stands in braces. A
    program's token needs the ``scope``. ``told`` is None for a picture. ``says`` describes it."""

    name: str
    path: str
    scope: TokenScope
    asked: type[A]
    told: type[Told] | None
    run: Run[A, R]
    says: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """PNG of a page, and what it shows, in words."""

    png: bytes
    shows: str


VERBS: list[Verb[Any, Any]] = []


def verb(path: str, scope: TokenScope, says: str) -> Callable[[Run[A, R]], Run[A, R]]:
    """Make a function one of `VERBS`, with its name; its annotations are what is asked and told."""

    def add(run: Run[A, R]) -> Run[A, R]:
        hints = get_type_hints(run)
        told = None if hints["return"] is Drawn else hints["return"]
        VERBS.append(Verb(run.__name__, path, scope, hints["asked"], told, run, says))
        return run

    return add


@verb("GET /documents", "read", "List the documents of the library: ids, names, titles, pages, and which can be asked.")
def list_documents(engine: Engine, asked: Listing, task: Task) -> models.DocumentList:
    found = engine.documents(earlier=True)
    if asked.after:
        ids = [info.doc_id for info in found]
        found = found[ids.index(engine.find(asked.after, whole=True)) + 1 :]
    found = [info for info in found if not info.successor]
    shown = [models.Document.model_validate(info) for info in found[: asked.limit]]
    return models.DocumentList(documents=shown, more=len(found) > len(shown))


@verb(
    "GET /documents/{document}", "read", "Tell of one document: its pages, how far it is read, what is wrong with it."
)
def read_document(engine: Engine, asked: OfDocument, task: Task) -> models.Document:
    return models.Document.model_validate(engine.info(engine.find(asked.document)))


@verb("GET /documents/{document}/outline", "read", "Give the sections of a document with their pages.")
def read_outline(engine: Engine, asked: OfDocument, task: Task) -> models.Outline:
    read = engine.document(engine.find(asked.document))
    sections = [
        models.Heading(
            label=node.label,
            depth=len(node.path) - 1,
            first_page=node.first_page,
            last_page=node.last_page,
            start=node.start,
            end=node.end,
        )
        for node in walk(section_tree(read))
    ]
    return models.Outline(doc_id=read.doc_id, title=read.title, pages=len(read.pages), sections=sections)


@verb(
    "GET /documents/{document}/pages/{page}",
    "read",
    "Read one page: its paragraphs, headings and tables, each as a place.",
)
def read_page(engine: Engine, asked: OfPage, task: Task) -> models.PageText:
    read = engine.document(engine.find(asked.document))
    page = _page(read, asked.page)
    parts = [
        models.Part.at(read, *span, kind=element.kind, noise=element.noise or "")
        for element in read.elements
        if (span := _on_page(read, element, page.number)) is not None
    ]
    return models.PageText(
        doc_id=read.doc_id,
        title=read.title,
        page=page.number,
        page_label=page.label,
        pages=len(read.pages),
        width=page.width,
        height=page.height,
        unread=(page.degraded or "") if page.unread else "",
        parts=parts,
    )


@verb("GET /documents/{document}/picture", "read", "Draw a page as PNG, with the words from start to end highlighted.")
def page_picture(engine: Engine, asked: Picture, task: Task) -> Drawn:
    from ragcore.export.evidence import LIT, lit

    read = engine.document(engine.find(asked.document))
    start, end = asked.start, asked.end
    boxes: tuple[types.Box, ...] = ()
    if start is not None or end is not None:
        if start is None or end is None or not start < end <= len(read.text):
            raise InputError(
                f"There is no text from {start} to {end} in {read.name}.", hint="Take start and end of one place."
            )
        boxes = read.boxes(start, end)
    page = _page(read, asked.page or (boxes[0].page if boxes else 1))
    here = [box for box in boxes if box.page == page.number]
    if boxes and not here:
        pages = ", ".join(str(number) for number in dict.fromkeys(box.page for box in boxes))
        raise InputError(f"These words are not on page {page.number}.", hint=f"They are on page {pages}.")
    with engine.sheets(asked.width * 72 / page.width) as draw:
        sheet = draw(read.doc_id, page.number, ())
    if isinstance(sheet, str):
        raise ParseError(sheet, hint="Read its text instead.")
    words = " with the words highlighted" if here else ""
    return Drawn(lit(sheet, {LIT: here}), f"{read.title}, page {page.number} of {len(read.pages)}{words}.")


@verb(
    "POST /search",
    "read",
    "Find the passages of the documents nearest to a question, best first. No answer is written.",
)
def search(engine: Engine, asked: Search, task: Task) -> models.Passages:
    doc_ids = _named(engine, asked.documents)
    found = engine.with_settings({"retrieve.top_k": asked.limit}).retrieve(asked.question, doc_ids=doc_ids)
    passages = [
        models.Passage.at(
            engine.document(hit.chunk.doc_id),
            hit.chunk.start,
            hit.chunk.end,
            rank=hit.rank,
            score=round(hit.score, 4),
            kind=hit.chunk.kind,
        )
        for hit in found.hits[: asked.limit]
    ]
    notes = [*found.notes, *_unsearched(engine, doc_ids)]
    return models.Passages(question=asked.question, passages=passages, notes=notes)


@verb(
    "POST /ask",
    "ask",
    "Answer a question from the documents. Each sentence has numbered citations, with page, quote and boxes, and "
    "is checked against them. If the documents don't have the answer, it says so.",
)
def ask(engine: Engine, asked: Question, task: Task) -> models.Answer:
    doc_ids = _named(engine, asked.documents)

    def tell(step: Step) -> None:
        task.tell(models.Doing(doing=_STEPS[step.name].format(step.passages)))

    run = engine.ask(asked.question, doc_ids=doc_ids, on_step=tell)
    with task.stop.closing(run.stop):
        for event in run:
            match event:
                case Found(_, sources):
                    found = [Place.at(engine.document(one.doc_id), one.start, one.end) for one in sources]
                    task.tell(models.Found(passages=found))
                    task.tell(models.Doing(doing=f"Writing from {plural(len(sources), 'passage')}"))
                case Text(text):
                    task.tell(models.Wrote(text=text))
                case Cited(citation):
                    task.tell(models.Cited.of(citation))
                case Checked(claims):
                    task.tell(models.Checked(claims=[models.Claim.model_validate(claim) for claim in claims]))
    answer = run.answer
    assert answer is not None  # a run ends with its answer
    if answer.error is not None:
        raise GroundworkError.of(answer.error)
    return models.Answer(
        question=answer.question,
        answer=answer.text,
        refused=answer.refused,
        status=answer.status,
        claims=[models.Claim.model_validate(claim) for claim in answer.claims],
        citations=[models.Cited.of(citation) for citation in answer.citations],
        notes=[*answer.notes, *_unsearched(engine, doc_ids)],
        model=answer.model,
        extractive=answer.extractive,
        cost_usd=answer.cost_usd,
    )


@verb(
    "POST /verify",
    "ask",
    "Check a claim against the documents: confirmed, contradicted, partly covered or not found, with the words "
    "that say so.",
)
def verify_claim(engine: Engine, asked: ToVerify, task: Task) -> models.Verdicts:
    doc_ids = _named(engine, asked.documents)
    out: list[models.Verdict] = []
    for verdict in engine.checks.verdicts(asked.claim, Scope(doc_ids)):
        out.append(_verdict(verdict))
        task.tell(models.Doing(doing="Checking sentences", done=len(out)))
        if task.stop.is_set():
            raise Cancelled("The check was stopped.", hint="Ask again.")
    return models.Verdicts(claim=asked.claim, status=_whole([one.status for one in out]), sentences=out)


@verb("POST /locate", "read", "Find where a quotation stands to the letter: documents, pages and boxes.")
def locate_quotation(engine: Engine, asked: ToLocate, task: Task) -> models.Located:
    doc_ids = _named(engine, asked.documents)
    scope, quotation = Scope(doc_ids), asked.quotation.strip(_MARKS)
    if not any(letter.isalnum() for letter in quotation):
        raise InputError("The quotation has no words.", hint="Give the words as they are printed.")
    inside = dict.fromkeys(info.doc_id for info in engine.documents() if info.askable and scope.holds(info.doc_id))
    whole, near = engine.search.holders(quotation, scope)
    likely = [doc_id for doc_id in (*whole, *near, *inside) if doc_id in inside]
    found: list[Place] = []
    searched = 0
    for doc_id in dict.fromkeys(likely):
        if len(found) >= asked.limit or searched == MOST_OPENED or (found and doc_id not in whole):
            break
        if task.stop.is_set():
            raise Cancelled("The search was stopped.", hint="Ask again.")
        read = engine.document(doc_id)
        spans = islice(places(quotation, read.text), asked.limit - len(found))
        found += [Place.at(read, *span) for span in spans if read.boxes(*span)]
        searched += 1
        task.tell(models.Doing(doing="Looking through documents", done=searched, total=len(inside)))
    note = ""
    if not found and searched < len(inside):
        note = f"The {searched} likeliest of {len(inside)} documents were looked through. Name others to look in them."
    return models.Located(quotation=asked.quotation, places=found, searched=searched, documents=len(inside), note=note)


def add_file(engine: Engine, path: Path, allowed: Sequence[Path], task: Task) -> models.Added:
    """Add and read a file in one of the ``allowed`` folders, also where links lead, and what is attached to it. Raises
    `InputError` for any other, and what reading the file itself raises."""
    folders = [folder.resolve() for folder in allowed]
    meant = [(folder / path).resolve() for folder in folders]
    real = next((one for one in meant if one.is_file()), meant[0])
    if not any(real.is_relative_to(folder) for folder in folders):
        where = ", ".join(map(str, folders))
        raise InputError(f"{path} is not in an allowed folder.", hint=f"Choose a file in {where}.")
    added = engine.add(real)

    def tell(progress: Progress) -> None:
        task.tell(models.Doing(doing=_STAGES[progress.stage], done=progress.done, total=progress.total))

    for doc_id in (added.doc_id, *added.attached):
        info = engine.ingest_and_index(doc_id, on_progress=tell, cancelled=task.stop.is_set)
        if info.error is not None and doc_id == added.doc_id:
            raise GroundworkError.of(info.error)
    return told_of(engine, added)


def told_of(engine: Engine, added: Added) -> models.Added:
    document = models.Document.model_validate(engine.info(added.doc_id))
    return models.Added(document=document, already=added.status == "already", note=added.note)


def _named(engine: Engine, given: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(dict.fromkeys(engine.find(name) for name in given))


def _page(read: Document, number: int) -> types.Page:
    if not 1 <= number <= len(read.pages):
        pages = plural(len(read.pages), "page")
        raise InputError(f"{read.name} has {pages}, no page {number}.", hint="Choose one of its pages.")
    return read.pages[number - 1]


def _on_page(read: Document, element: Element, page: int) -> tuple[int, int] | None:
    """Span of the words of ``element`` on ``page``; None if it has none there."""
    part = read.words.within(element.start, element.end)
    here = np.flatnonzero(read.words.pages[part] == page)
    if not len(here):
        return None
    own = here[~read.words.repeated[part][here]]
    first, last = (part.start + int(at) for at in ((own if len(own) else here)[[0, -1]]))
    return max(element.start, int(read.words.starts[first])), min(element.end, int(read.words.ends[last]))


def _verdict(given: CheckedSentence) -> models.Verdict:
    return models.Verdict(
        text=given.text,
        status=given.status,
        reason=given.reason,
        places=[Place.of(citation) for citation in given.citations],
        corrections=[models.Correction.model_validate(one) for one in given.corrections],
        missing=[given.text[start:end] for start, end in given.missing],
    )


def _whole(statuses: Sequence[CheckStatus]) -> CheckStatus:
    claimed = set(statuses) - {"no_claim"}
    if "contradicted" in claimed:
        return "contradicted"
    return "partly" if len(claimed) > 1 else next(iter(claimed), "no_claim")


def _unsearched(engine: Engine, doc_ids: Sequence[str] | None) -> list[str]:
    """What of the documents in question is not read yet, in words."""
    names = [
        info.name
        for info in engine.documents()
        if not info.askable and info.status != "failed" and (doc_ids is None or info.doc_id in doc_ids)
    ]
    return [f"Not searched, because not read yet: {', '.join(names)}."] if names else []
