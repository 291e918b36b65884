"""Suggested questions, first and next: generated from the context of cited words, each tried before it is offered.

Candidates ask for the cause of a change, another column or row of a table, the next section, a frequent topic of the
document, a table or figure. One is offered only if the offline answerer, which can only quote, answers it from the
place it was generated from.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from ragcore.protocols import QuestionWording
from ragcore.text.periods import years
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import MONTHS, STOP_WORDS, content_stems, tokens
from ragcore.types import Answer, Cell, Citation, Document, Element, Scope, Source, Turn
from ragcore.types.table_labels import LabelledTable, elements_within

if TYPE_CHECKING:
    from ragcore.library import Library
    from ragcore.suggest.overview import Overview

# Settings for trying a candidate: nothing is sent, and nothing is paid for.
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
Ask = Callable[[str, Scope, Sequence[Turn]], Answer]
Place = tuple[str, int, int]  # doc_id, start, end
OFFERED = 3
_TRIED = 9  # maximum candidates, since each takes a search
_SOURCES = 3  # citations whose context is read
_READ = 3  # first citations of an answer that must include the place: readers look no further down
_RECENT = 20  # turns of a conversation that are read
# Starting questions.
_FIRST = 4
_FIRST_TRIED = 20
_OF_A_KIND = 2  # questions of one kind, unless there are no others
_NEWEST = 4  # documents they are about
_ALIKE = 0.5  # share of words from which two repeat each other
# Candidates of one place.
_WINDOW = 5000  # characters on each side of a citation searched for causes, captions and tables
_OWN_TEXT = 60  # minimum characters of a section before the next heading: else it only holds others
_MOST = 4  # candidates of one kind around one citation
_LONGEST_UNIT = 4  # letters in a value, such as its unit

Made = tuple[str, int, int]  # a question, "" for none, and the span it was generated from
_PROSE = ("paragraph", "list_item")
_MARKS = ".,;:!?()[]“”\"‘’'"
_OFTEN = 3  # occurrences that make a phrase a topic of the document


@dataclass(frozen=True, slots=True)
class Candidate:
    """Question with the span of the document it was generated from, which its answer has to cite; ``kind`` is the index
    of its kind in the order of `Surroundings.candidates`."""

    question: str
    doc_id: str
    start: int
    end: int
    kind: int

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
    offered: list[str] = []
    tried = 0
    for candidate in candidates(answer, document, wording, several=several):
        if len(offered) == OFFERED or tried == _TRIED or not go_on():
            break
        if tuple(tokens(candidate.question)) in known or any(map(candidate.overlaps, cited)):
            continue
        tried += 1
        if answering(ask(candidate.question), candidate) is not None:
            offered.append(candidate.question)
    return tuple(offered)


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
    at = next((n for n, turn in enumerate(stored.turns) if turn.turn_id == turn_id and turn.answer is not None), None)
    answer = None if at is None else stored.turns[at].answer
    if at is None or answer is None or answer.status != "complete":
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
    if known is not None:
        kept = tuple(TypeAdapter(list[Starter]).validate_python(known))
        for one in kept:
            tell(one)
        return kept
    offered: list[Starter] = []
    second: list[Starter] = []  # answered, but not in the first place, or another of the same kind
    said: list[set[str]] = []
    answered: list[Citation] = []
    kinds: Counter[int] = Counter()
    for candidate in islice(_first(library, wording, overview, doc_ids), _FIRST_TRIED):
        if len(offered) == _FIRST:
            break
        if not go_on():
            return tuple(offered)  # given up: tried again
        stems = set(content_stems(candidate.question))
        if any(len(stems & other) >= _ALIKE * len(stems | other) for other in said) or any(
            candidate.overlaps(item) for item in answered
        ):
            continue
        answer = ask(candidate.question)
        found = answering(answer, candidate)
        if found is not None:
            said.append(stems)
            answered.append(found)
            kinds[candidate.kind] += 1
            made = Starter(candidate.question, found.doc_id, found.page_label, bool(found.label))
            if found is answer.citations[0] and kinds[candidate.kind] <= _OF_A_KIND:
                offered.append(made)
                tell(made)
            else:
                second.append(made)
    for made in second[: _FIRST - len(offered)]:
        offered.append(made)
        tell(made)
    library.overviews.keep_starters(scope, stamp, [asdict(one) for one in offered])
    return tuple(offered)


def _first(
    library: Library, wording: QuestionWording, overview: Callable[[str], Overview], doc_ids: Sequence[str]
) -> Iterator[Candidate]:
    """Candidates from the newest documents, one after another."""
    of_each = []
    for doc_id in doc_ids[::-1][:_NEWEST]:
        view = overview(doc_id)
        cited = [line.citation for line in view.lines] or view.chapters
        places = [(item.doc_id, item.start, item.end) for item in cited]
        of_each.append(around(places, library.document, wording, several=len(doc_ids) > 1))
    return (one for row in zip_longest(*of_each) for one in row if one is not None)


# Candidates


def candidates(
    answer: Answer, document: Callable[[str], Document], wording: QuestionWording, *, several: bool = False
) -> Iterator[Candidate]:
    """Candidates `around` the first citations of ``answer``, or else around its first source."""
    cited: Sequence[Citation | Source] = answer.citations[:_SOURCES] or answer.sources[:1]
    return around([(item.doc_id, item.start, item.end) for item in cited], document, wording, several=several)


def around(
    places: Iterable[Place], document: Callable[[str], Document], wording: QuestionWording, *, several: bool = False
) -> Iterator[Candidate]:
    """Candidates around ``places``, each question once, in rotation of kinds for variety."""
    read: dict[str, Surroundings] = {}
    kinds: list[list[Candidate]] = []
    for doc_id, start, end in places:
        if doc_id not in read:
            read[doc_id] = Surroundings(document(doc_id), wording, several=several)
        found = read[doc_id].candidates(start, end)
        kinds = [[*one, *more] for one, more in zip(kinds, found)] or found
    seen: set[tuple[str, ...]] = set()
    for candidate in (one for group in zip_longest(*kinds) for one in group if one is not None):
        words = tuple(tokens(candidate.question))
        if words not in seen:
            seen.add(words)
            yield candidate


def answering(found: Answer, candidate: Candidate) -> Citation | None:
    """First citation that answers a candidate from its own place; None without one."""
    if found.status != "complete" or found.refused:
        return None
    return next(filter(candidate.overlaps, found.citations[:_READ]), None)


class Surroundings:
    """Context of places in ``document``; ``several``: more than one document is asked."""

    def __init__(self, document: Document, wording: QuestionWording, *, several: bool = False) -> None:
        self._document, self._wording = document, wording
        self._several = several
        self._low = " ".join(document.text.lower().split())
        self._words = wording.written(document.text)
        self._called = f"{document.title} {document.name}".lower()

    def candidates(self, start: int, end: int) -> list[list[Candidate]]:
        """Candidates of each kind for ``[start, end)``, nearest first, kinds in the order of offering."""
        near = list(elements_within(self._document, max(0, start - _WINDOW), end + _WINDOW))
        near.sort(key=lambda item: max(item.start - end, start - item.end, 0))
        row, cells = self._cells(near, start, end)
        sections, topics, captions = self._sections(start, end), self._topics(start, end), self._captions(near)
        kinds: list[Iterable[Made]] = [self._causes(row, start), cells, sections, topics, captions]
        doc_id = self._document.doc_id
        made = ((Candidate(q, doc_id, s, e, kind) for q, s, e in each if q) for kind, each in enumerate(kinds))
        return [list(islice(each, _MOST)) for each in made]

    def _text(self, start: int, end: int) -> str:
        return " ".join(self._document.text[start:end].split())

    # Tables

    def _cells(self, near: Sequence[Element], start: int, end: int) -> tuple[str, Iterator[Made]]:
        """Name of the cited table row, with questions on the cells beside the cited one; or on the latest column of a
        table near a cited sentence."""
        element = next((item for item in near if item.table is not None and item.noise is None), None)
        if element is None or element.table is None:
            return "", iter(())
        table = LabelledTable(self._document, element.table)
        cells = [c for c in table.cells(element.start, element.end) if not c.header and _is_value(table.text(c))]
        spans = zip(table.table.row_numbers, table.table.row_spans)
        rows = {row for row, (first, last) in spans if first < end and start < last}
        cited = [cell for cell in cells if cell.row in rows]
        here = next((cell for cell in cited if cell.start < end and start < cell.end), next(iter(cited), None))
        if here is None:
            latest = [max(years(label), default=0) for label in table.column_labels()]
            column = max((cell.col for cell in cells), key=lambda col: (latest[col], -col), default=0)
            return "", self._asked(table, [cell for cell in cells if cell.col == column])
        beside = [cell for cell in cells if (cell.row == here.row) != (cell.col == here.col)]
        beside.sort(key=lambda cell: abs(cell.row - here.row) + abs(cell.col - here.col))
        return table.row_label(here).head, self._asked(table, beside)

    def _asked(self, table: LabelledTable, cells: Sequence[Cell]) -> Iterator[Made]:
        columns, title = table.column_labels(), table.table.title or ""
        for cell in cells:
            yield (
                self._wording.of_cell(table.row_label(cell).head, columns[cell.col], title, self._words),
                cell.start,
                cell.end,
            )

    # Sentences

    def _causes(self, row: str, start: int) -> Iterator[Made]:
        """Questions on the cause of a change: of the cited row, anywhere in the document, or near the cited
        sentence."""
        about = set(content_stems(row)) - {"total"}
        low, high = (0, None) if about else (max(0, start - _WINDOW), start + _WINDOW)
        places = [match.start() + low for match in self._wording.CAUSE.finditer(self._document.text[low:high])]
        for place in sorted(places, key=lambda place: abs(place - start)):
            element = next(elements_within(self._document, place, place + 1), None)
            if element is None or element.kind not in _PROSE or element.noise is not None:
                continue
            for span in sentence_spans(self._document.text[element.start : element.end], element.start):
                if span[0] <= place < span[1]:
                    question = self._wording.of_cause(self._text(*span), self._words)
                    if about <= set(content_stems(question)):
                        yield question, *span

    def _captions(self, near: Sequence[Element]) -> Iterator[Made]:
        """Questions on tables and figures, by the word and number at the start of their captions."""
        for item in near:
            own = self._text(item.start, item.end).split()[:2] if item.kind == "caption" else []
            if len(own) == 2 and own[0].isalpha() and own[0].istitle() and own[1].strip(".:").isdigit():
                yield self._wording.of_caption(" ".join(own).strip(".:")), item.start, item.end

    @cached_property
    def _phrases(self) -> Counter[str]:
        return Counter(phrase.lower() for phrase in phrases(self._document.text[: self._document.body_end]))

    def _topics(self, start: int, end: int) -> Iterator[Made]:
        """Questions on the document's frequent topics in the cited words, with the section that names each most."""
        cited = {phrase.lower(): phrase for phrase in phrases(self._text(start, end))}
        for key in sorted(cited, key=lambda key: -self._phrases[key]):
            if self._phrases[key] < _OFTEN or key in self._called:
                continue
            named: defaultdict[tuple[str, ...], list[Element]] = defaultdict(list)
            for item in self._document.body:
                if item.kind in _PROSE and item.noise is None and key in self._text(item.start, item.end).lower():
                    named[item.section].append(item)
            if named:
                most = max(named.values(), key=len)
                yield self._wording.of_topic(cited[key], self._low, several=self._several), most[0].start, most[-1].end

    # Sections

    @cached_property
    def _heads(self) -> list[tuple[Element, str]]:
        # The first heading is the document's title.
        heads = [item for item in self._document.body if item.kind == "heading" and item.noise is None][1:]
        return [(item, self._text(item.start, item.end)) for item in heads]

    def _sections(self, start: int, end: int) -> Iterator[Made]:
        """Questions on the sections that the cited words refer to, then the next two, then the previous one."""
        cited, at = self._text(start, end), -1
        for number, (element, text) in enumerate(self._heads):
            at = number if element.start <= start else at
            if self._wording.label_of(text) and self._wording.label_of(text) in cited:
                yield from self._section(number)
        for number in (at + 1, at + 2, at - 1, at + 3):
            if 0 <= number < len(self._heads):
                yield from self._section(number)

    def _section(self, number: int) -> Iterator[Made]:
        element, text = self._heads[number]
        rest, last = self._heads[number + 1 :], self._document.body_end
        own_end = rest[0][0].start if rest else last
        # The document's title says nothing about a part of it.
        if len(self._document.text[element.end : own_end].strip()) >= _OWN_TEXT and text.lower() not in self._called:
            end = next((item.start for item, _ in rest if item.level <= element.level), last)
            yield self._wording.of_heading(text, self._low, self._words, several=self._several), element.end, end


def phrases(text: str) -> Iterator[str]:
    """Phrases of two or three words between function words, numbers and marks: keyword candidates as in RAKE (Rose,
    Engel, Cramer, Cowley: Automatic keyword extraction from individual documents, 2010)."""
    runs: list[list[str]] = [[]]
    for word in text.split():
        bare = word.strip(_MARKS)
        content = len(bare) > 1 and bare.replace("-", "").isalpha() and bare.lower() not in STOP_WORDS
        content = content and bare not in MONTHS
        if not content or word[0] in _MARKS:
            runs.append([])
        if content:
            runs[-1].append(bare)
        if word[-1] in _MARKS:
            runs.append([])
    return (" ".join(run) for run in runs if 2 <= len(run) <= 3)


def _is_value(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    is_year = text.isdigit() and bool(years(text))
    return any(character.isdigit() for character in text) and letters <= _LONGEST_UNIT and not is_year
