"""What could be asked next: questions drawn from what stands around the cited words, each tried before it is offered.

Candidates come by rules from three neighbourhoods of each citation: the same row of its table in other columns
(periods), other rows of that table in the same column, and the sections beside its own. One is offered only where the
offline answerer, which can only quote, answers it from the very place that it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from ragcore.answer.tables import LabelledTable, elements_within
from ragcore.types import Answer, Document, Element

if TYPE_CHECKING:
    from ragcore.engine import Engine

# Under which a candidate is tried: nothing is sent, and nothing is paid for.
OFFLINE = {
    "llm.model": "offline",
    "agentic.decompose": "off",
    "agentic.gaps": False,
    "chat.rewrite": "rules",
    "verify.judge": "off",
    "answer.style": "full",
    "rerank.candidates": 10,
    "retrieve.top_k": 10,
}
OFFERED = 3
TRIED = 9  # candidates at most: each takes a search
_SOURCES = 3  # citations whose surroundings are looked at
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NUMBERING = re.compile(
    r"^(?:(?i:part|item|section|chapter|note|annex|appendix)\s+)?"
    r"(?:\d+[A-Za-z]?(?:\.\d+)*[.):]?|[A-Z][.):]|[IVXLC]+[.):])\s+"
)
_GENERIC = re.compile(
    r"^(?:(?:table of )?contents|introduction|(?:executive )?summary|overview|references|bibliography|index|general|"
    r"other|notes?|conclusions?|abstract|background|appendix|annex|acknowledge?ments?|disclaimer|signatures?)$",
    re.I,
)
# Where the noun of a row's name ends that says whether it is one or many.
_NOUN_ENDS = re.compile(r"\s(?:of|for|in|by|to|from|on|at|with|per|paid|provided|used|due)\b", re.I)
_PART = re.compile(r"^(?:as|of|in|for|and|or|less|plus|per|by|to|from|on|at|with)\b", re.I)
_DAY = re.compile(r"\b[A-Z][a-z]{2,8}\.? \d{1,2}\b|\b\d{1,2} [A-Z][a-z]{2,8}\b")
_TOTAL = re.compile(r"^(?:total|subtotal|sum|other|net|gross|\W*)$", re.I)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question with the span of the document that it was made from, which its answer has to cite."""

    question: str
    doc_id: str
    start: int
    end: int


def suggest(
    answer: Answer,
    asked: Sequence[str],
    document: Callable[[str], Document],
    ask: Callable[[str, str], Answer],
    *,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[str, ...]:
    """At most `OFFERED` questions that could follow ``answer``; none repeats one of ``asked``.

    ``ask(question, doc_id)`` answers offline within a document. It ends early, with what it has, when ``go_on()`` is
    false. Raises what ``ask`` raises."""
    known = {_folded(question) for question in (*asked, answer.question)}
    offered: list[str] = []
    for number, candidate in enumerate(candidates(answer, document)):
        if len(offered) == OFFERED or number == TRIED or not go_on():
            break
        if _folded(candidate.question) in known:
            continue
        known.add(_folded(candidate.question))
        if _answers(ask(candidate.question, candidate.doc_id), candidate):
            offered.append(candidate.question)
    return tuple(offered)


def suggestions(
    engine: Engine, conversation_id: str, turn_id: str, go_on: Callable[[], bool] = lambda: True
) -> tuple[str, ...]:
    """`Engine.suggest`."""
    known = engine.feedback.suggestions(turn_id)
    if known is not None:
        return known
    stored = engine.conversation(conversation_id)
    answer = next((turn.answer for turn in stored.turns if turn.turn_id == turn_id), None)
    if answer is None or answer.status != "complete":
        return ()
    quoting = engine.with_settings(OFFLINE)

    def ask(question: str, doc_id: str) -> Answer:
        return quoting.ask(question, doc_ids=[doc_id]).run()

    held = {info.doc_id for info in engine.documents()}
    used = {item.doc_id for item in answer.citations} | {item.doc_id for item in answer.sources[:1]}
    if not used <= held:
        return ()  # what is cited was removed: there is nothing to draw from
    found = suggest(answer, [turn.question for turn in stored.turns], engine.document, ask, go_on=go_on)
    if go_on():
        engine.feedback.keep_suggestions(turn_id, found)
    return found


def candidates(answer: Answer, document: Callable[[str], Document]) -> Iterator[Candidate]:
    """One of each neighbourhood after another, so that the questions differ in kind."""
    kinds: list[list[Candidate]] = [[], [], []]
    places = [(item.doc_id, item.start, item.end) for item in answer.citations[:_SOURCES]]
    nearest = [(item.doc_id, item.start, item.end) for item in answer.sources[:1]]
    for doc_id, start, end in places or nearest:
        read = document(doc_id)
        columns, rows = _around_cell(read, start, end)
        kinds[0] += columns
        kinds[1] += rows
        kinds[2] += _sections(read, start)
    seen: set[str] = set()
    for group in zip_longest(*kinds):
        for candidate in group:
            if candidate is not None and _folded(candidate.question) not in seen:
                seen.add(_folded(candidate.question))
                yield candidate


def _answers(found: Answer, candidate: Candidate) -> bool:
    return (
        found.status == "complete"
        and not found.refused
        and any(
            item.doc_id == candidate.doc_id and item.start < candidate.end and candidate.start < item.end
            for item in found.citations
        )
    )


def _around_cell(read: Document, start: int, end: int) -> tuple[list[Candidate], list[Candidate]]:
    """Other columns of the cited cell's row, and other rows of its column, the nearest first."""
    element = next((item for item in elements_within(read, start, end) if item.table is not None), None)
    if element is None or element.table is None:
        return [], []
    labelled = LabelledTable(read, element.table)
    cited = next(
        (cell for cell in labelled.cells(element.start, element.end) if cell.start < end and start < cell.end), None
    )
    numbers = [cell for cell in labelled.cells(element.start, element.end) if _is_value(labelled.text(cell))]
    if cited is None or cited.header or not numbers:
        return [], []
    here = cited if cited in numbers else next((cell for cell in numbers if cell.row == cited.row), None)
    if here is None:
        return [], []
    columns = labelled.column_labels()
    across, down = [], []
    for cell in numbers:
        if cell.row == here.row and cell.col != here.col:
            across.append(cell)
        elif cell.col == here.col and cell.row != here.row:
            down.append(cell)
    across.sort(key=lambda cell: abs(cell.col - here.col))
    down.sort(key=lambda cell: abs(cell.row - here.row))
    made = [
        [
            Candidate(question, read.doc_id, cell.start, cell.end)
            for cell in cells
            if (question := _of_cell(labelled.row_name(cell), columns[cell.col]))
        ]
        for cells in (across[:3], down[:4])
    ]
    return made[0], made[1]


def _of_cell(row: str, column: str) -> str:
    """``What were total revenues in Fiscal 2022?``; "" where the headers do not make a question."""
    name = row.rsplit(" / ", 1)[-1].strip(" :.·")
    if (
        not 3 <= len(name) <= 70
        or _TOTAL.match(name)
        or _PART.match(name)
        or not re.search("[A-Za-z]{3}", name)
        or len(column) > 50
    ):
        return ""
    if _YEAR.search(column):
        noun = _NOUN_ENDS.split(name, maxsplit=1)[0]
        many = noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
        verb, place = "were" if many else "was", "at" if _DAY.search(column) else "in"
        return f"What {verb} {_inside(name)} {place} {column.strip(' :.·')}?"
    return (
        f"What is the {_inside(column.strip(' :.·'))} of {_inside(name)}?" if re.search("[A-Za-z]{3}", column) else ""
    )


def _sections(read: Document, start: int) -> list[Candidate]:
    """The sections beside the one that holds ``start``: the next two, then the one before."""
    heads = [item for item in read.body if item.kind == "heading" and item.noise is None]
    at = max((number for number, item in enumerate(heads) if item.start <= start), default=-1)
    # The first heading is what the document is called.
    near = [number for number in (at + 1, at + 2, at - 1, at + 3) if 0 < number < len(heads)]
    found = []
    for number in near:
        end = next((item.start for item in heads[number + 1 :] if item.level <= heads[number].level), read.body_end)
        name = _heading(read, heads[number])
        if name:
            found.append(Candidate(f"What does “{name}” say?", read.doc_id, heads[number].end, end))
    return found


def _heading(read: Document, element: Element) -> str:
    name = _NUMBERING.sub("", " ".join(read.text[element.start : element.end].split())).strip(" :.–—-")
    words = len(name.split())
    own = _folded(name) in _folded(f"{read.title} {read.name}")  # what the document is called says nothing of a part
    good = 4 <= len(name) <= 70 and words <= 9 and not own and not _GENERIC.match(name)
    return name if good and re.search("[A-Za-z]{4}", name) else ""


def _inside(name: str) -> str:
    """``name`` within a sentence: its first word in small letters where it is an ordinary one that only begins it."""
    if name.isupper() and " " in name:
        return name.lower()
    first, _, rest = name.partition(" ")
    ordinary = first[1:].islower() and (not rest or rest.islower())
    return f"{first.lower()} {rest}".strip() if ordinary else name


def _is_value(text: str) -> bool:
    return (
        bool(re.search(r"\d", text)) and len(re.findall(r"[A-Za-z]", text)) <= 4 and not _YEAR.fullmatch(text.strip())
    )


def _folded(question: str) -> str:
    return " ".join(re.findall(r"\w+", question.lower()))
