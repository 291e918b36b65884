"""Suggested questions, first and next: generated from the context of cited words, each tried before it is offered.

Candidates ask for another column or row of a table, or the next section. One is offered only if the offline answerer,
which can only quote, answers it from the place it was generated from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter

from ragcore.protocols import QuestionWording
from ragcore.text.languages import LONGEST, language_of
from ragcore.text.periods import years
from ragcore.text.words import content_stems, tokens
from ragcore.types import Answer, Citation, Document, Element, Scope, Turn
from ragcore.types.table_labels import LabelledTable, elements_within

if TYPE_CHECKING:
    from ragcore.library import Library
    from ragcore.suggest.overview import Overview

# Settings for trying a candidate: nothing is sent, and nothing is paid for.
OFFLINE = {
    "llm.model": "offline",
    "agentic.decompose": "off",
    "chat.rewrite": "rules",
    "verify.judge": "off",
    "answer.style": "full",
    "rerank.candidates": 10,
    "retrieve.top_k": 10,
}
T = TypeVar("T")
Ask = Callable[[str, Scope, Sequence[Turn]], Answer]
Place = tuple[str, int, int]  # doc_id, start, end
OFFERED = 3
_TRIED = 9  # maximum candidates, since each takes a search
_PLACES = 3  # citations whose context is read
_READ = 3  # first citations of an answer that must include the place: readers look no further down
_RECENT = 20  # turns of a conversation that are read
# Starting questions.
_FIRST = 4
_FIRST_TRIED = 20
_NEWEST = 4  # documents they are about
_ALIKE = 0.5  # share of words from which two questions repeat each other
# Candidates of one place.
_WINDOW = 5000  # characters on each side of a citation searched for tables
_OWN_TEXT = 60  # minimum characters of a section before the next heading: else it only holds others
_MOST = 5  # candidates of one kind around one citation
_LONGEST_UNIT = 4  # letters in a value, such as its unit


@dataclass(frozen=True, slots=True)
class Candidate:
    """Question with the span of the document it was generated from, which its answer has to cite."""

    question: str
    doc_id: str
    start: int
    end: int

    def overlaps(self, cited: Citation) -> bool:
        """Whether ``cited`` shares words with the span."""
        return cited.doc_id == self.doc_id and cited.start < self.end and self.start < cited.end


@dataclass(frozen=True, slots=True)
class Starter:
    """Starting question, and the place that answers it; ``table``: a cell."""

    question: str
    doc_id: str
    page_label: str
    table: bool


# Questions that follow an answer


def suggest(
    answer: Answer,
    before: Sequence[Answer],
    document: Callable[[str], Document],
    wording: QuestionWording,
    ask: Callable[[str], Answer],
    *,
    several: bool = False,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[str, ...]:
    """At most `OFFERED` questions that could follow ``answer``, whose predecessors are ``before``; none was asked or is
    answered by their citations.

    ``ask(question)`` answers offline, as the next question of the conversation, which asks one document or ``several``.
    It ends early, with the questions so far, when ``go_on()`` is false. Raises what ``ask`` raises.
    """
    said = (*before, answer)
    known = {tuple(tokens(text)) for one in said for text in (one.question, one.standalone)}
    cited = [item for one in said if not one.refused for item in one.citations]
    near = answer.citations[:_PLACES] or answer.sources[:1]
    places = [(item.doc_id, item.start, item.end) for item in near]
    fresh = (
        one
        for one in around(places, document, wording, several=several)
        if tuple(tokens(one.question)) not in known and not any(map(one.overlaps, cited))
    )
    return tuple(one.question for one, _ in islice(answered(fresh, ask, _TRIED, go_on), OFFERED))


def suggestions(
    library: Library,
    wording: QuestionWording,
    asked: Ask,
    conversation_id: str,
    turn_id: str,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[str, ...]:
    """`Engine.suggest`; ``asked`` is the offline answerer."""
    known = library.feedback.suggestions(turn_id)
    if known is not None:
        return known
    stored = library.conversations.get(conversation_id, newest=_RECENT)
    at = next((n for n, turn in enumerate(stored.turns) if turn.turn_id == turn_id), None)
    answer = None if at is None else stored.turns[at].answer
    if answer is None or answer.status != "complete":
        return ()
    path = [turn.answer for turn in stored.turns[:at] if turn.answer is not None]
    history = [Turn.of(one) for one in (*path, answer)]
    scope = library.resolved(stored.scope)
    held = {info.doc_id for info in library.documents()}
    used = {item.doc_id for item in answer.citations} | {item.doc_id for item in answer.sources[:1]}
    if not used <= held or not held.issuperset(scope.doc_ids or ()):
        return ()  # the cited document was removed
    several = len(held if scope.doc_ids is None else scope.doc_ids) > 1

    def ask(question: str) -> Answer:
        return asked(question, scope, history)

    found = suggest(answer, path, library.document, wording, ask, several=several, go_on=go_on)
    if go_on():
        library.feedback.keep_suggestions(turn_id, found)
    return found


# Starting questions


def starters(
    library: Library,
    wording: QuestionWording,
    overview: Callable[[str], Overview],
    ask: Callable[[str], Answer],
    doc_ids: Sequence[str],
    go_on: Callable[[], bool] = lambda: True,
    tell: Callable[[Starter], None] = lambda _: None,
) -> tuple[Starter, ...]:
    """`Engine.starters`; ``ask`` is the offline answerer over ``doc_ids``."""
    scope, stamp = ",".join(sorted(doc_ids)), str(library.store.revision())
    known = library.overviews.starters(scope, stamp)
    offered = [] if known is None else TypeAdapter(list[Starter]).validate_python(known)
    for one in offered:
        tell(one)
    if known is not None:
        return tuple(offered)
    of_each = []
    for doc_id in doc_ids[::-1][:_NEWEST]:
        view = overview(doc_id)
        places = [(item.doc_id, item.start, item.end) for item in [one.citation for one in view.lines] or view.chapters]
        of_each.append(around(places, library.document, wording, several=len(doc_ids) > 1))
    for candidate, cited in islice(answered(_in_turn(of_each), ask, _FIRST_TRIED, go_on), _FIRST):
        offered.append(Starter(candidate.question, cited.doc_id, cited.page_label, bool(cited.label)))
        tell(offered[-1])
    if len(offered) == _FIRST or go_on():  # else given up: tried again
        library.overviews.keep_starters(scope, stamp, [asdict(one) for one in offered])
    return tuple(offered)


# Candidates


def answered(
    found: Iterable[Candidate], ask: Callable[[str], Answer], most: int, go_on: Callable[[], bool]
) -> Iterator[tuple[Candidate, Citation]]:
    """Those of the first ``most`` candidates that ``ask`` answers from their own place, each with the citation; one
    like an earlier one, or answered by its citation, is left out."""
    said: list[set[str]] = []
    given: list[Citation] = []
    tried = 0
    for candidate in found:
        stems = set(content_stems(candidate.question))
        if any(len(stems & other) >= _ALIKE * len(stems | other) for other in said) or any(
            map(candidate.overlaps, given)
        ):
            continue
        if tried == most or not go_on():
            return
        tried += 1
        answer = ask(candidate.question)
        if answer.status == "complete" and not answer.refused:
            cited = next(filter(candidate.overlaps, answer.citations[:_READ]), None)
            if cited is not None:
                said.append(stems)
                given.append(cited)
                yield candidate, cited


def around(
    places: Iterable[Place], document: Callable[[str], Document], wording: QuestionWording, *, several: bool = False
) -> Iterator[Candidate]:
    """Candidates around ``places``, each question once: cells and sections in turn. ``several``: more than one document
    is asked."""
    kinds: list[Iterable[Candidate]] = []
    spelled: dict[str, Set[str]] = {}
    for doc_id, start, end in places:
        own = document(doc_id)
        words = spelled[doc_id] = spelled.get(doc_id) or wording.written(own.text)
        for each in (_of_cells(own, start, end, wording, words), _of_sections(own, start, wording, words, several)):
            kinds.append(islice((Candidate(q, doc_id, *span) for q, *span in each if q), _MOST))
    found = _in_turn([chain.from_iterable(kinds[::2]), chain.from_iterable(kinds[1::2])])
    return iter({tuple(tokens(one.question)): one for one in found}.values())


def _in_turn(each: Iterable[Iterable[T]]) -> Iterator[T]:
    return (one for row in zip_longest(*each) for one in row if one is not None)


def _of_cells(
    document: Document, start: int, end: int, wording: QuestionWording, words: Set[str]
) -> Iterator[tuple[str, int, int]]:
    """Questions on the cells beside the cited one, nearest first; or on the latest columns of the tables around, in
    turn."""
    near = elements_within(document, max(0, start - _WINDOW), end + _WINDOW)
    tables = [(LabelledTable(document, item.table), item) for item in near if item.table is not None]
    cited = [each for each in tables if each[1].start < end and start < each[1].end]
    tables.sort(key=lambda each: max(each[1].start - end, start - each[1].end))
    return _in_turn([_of_table(*each, start, end, wording, words) for each in cited or tables])


def _of_table(
    table: LabelledTable, element: Element, start: int, end: int, wording: QuestionWording, words: Set[str]
) -> Iterator[tuple[str, int, int]]:
    labels = table.column_labels()
    cells = [c for c in table.cells(element.start, element.end) if not c.header and _is_value(table.text(c))]
    cited = next((cell for cell in cells if cell.start < end and start < cell.end), None)
    if cited is not None:
        cells = [cell for cell in cells if (cell.row == cited.row) != (cell.col == cited.col)]
        cells.sort(key=lambda cell: abs(cell.row - cited.row) + abs(cell.col - cited.col))
    else:
        latest = max(range(len(labels)), key=lambda column: (max(years(labels[column]), default=0), -column))
        cells = [cell for cell in cells if cell.col == latest]
    for cell in cells:
        question = wording.of_cell(table.row_label(cell).head, labels[cell.col], table.table.title or "", words)
        yield question, cell.start, cell.end


def _of_sections(
    document: Document, start: int, wording: QuestionWording, words: Set[str], several: bool
) -> Iterator[tuple[str, int, int]]:
    """Questions on the next two sections, then the previous one, in the language of the document."""
    text = document.text
    heads = [item for item in document.body if item.kind == "heading"][1:]  # the first is the document's title
    at = sum(head.start <= start for head in heads) - 1
    for number in (at + 1, at + 2, at - 1):
        if not 0 <= number < len(heads):
            continue
        head, rest = heads[number], heads[number + 1 :]
        own_end = rest[0].start if rest else document.body_end
        own = text[head.end : own_end].strip()
        if len(own) >= _OWN_TEXT and language_of(own[:LONGEST]) in ("", language_of(text[:LONGEST])):
            name = " ".join(text[head.start : head.end].split())
            end = next((item.start for item in rest if item.level <= head.level), document.body_end)
            yield wording.of_heading(name, words, several=several), head.end, end


def _is_value(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    is_year = text.isdigit() and bool(years(text))
    return any(character.isdigit() for character in text) and letters <= _LONGEST_UNIT and not is_year
