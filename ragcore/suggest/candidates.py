"""Candidates around cited words of a document: why it changed, another column or row of its table, the next section,
what the document often names, a table or figure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from ragcore.offline import question_generation as ask
from ragcore.text.periods import years
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import MONTHS, STOP_WORDS, content_stems
from ragcore.types import Cell, Citation, Document, Element
from ragcore.types.table_labels import LabelledTable, elements_within

_WINDOW = 5000  # characters on each side of a citation in which causes, captions and tables are looked for
_OWN_TEXT = 60  # characters that a section must have before the next heading: else it only holds others
_MOST = 4  # candidates of one kind around one citation
_LONGEST_UNIT = 4  # letters in a value, such as its unit

Made = tuple[str, int, int]  # a question, "" for none, and the span that it was made from
_PROSE = ("paragraph", "list_item")
_MARKS = ".,;:!?()[]“”\"‘’'"
_OFTEN = 3  # times that a phrase stands in the document, from which on it is one of its topics


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question with the span of the document that it was made from, which its answer has to cite; ``kind`` is the
    place of what it was made of in the order of `Surroundings.candidates`."""

    question: str
    doc_id: str
    start: int
    end: int
    kind: int

    def overlaps(self, cited: Citation) -> bool:
        """Whether ``cited`` shares words with the span."""
        return cited.doc_id == self.doc_id and cited.start < self.end and self.start < cited.end


class Surroundings:
    """What stands around places of ``document``; ``several``: more than one document is asked."""

    def __init__(self, document: Document, *, several: bool = False) -> None:
        self._document = document
        self._several = several
        self._low = " ".join(document.text.lower().split())
        self._words = ask.written(document.text)
        self._called = f"{document.title} {document.name}".lower()

    def candidates(self, start: int, end: int) -> list[list[Candidate]]:
        """For ``[start, end)`` the candidates of each kind, nearest first, in the order in which kinds are offered."""
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
        """The name of the cited row of a table, and the cells beside the cited one; the latest column of a table that
        stands near a cited sentence."""
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
            yield ask.of_cell(table.row_label(cell).head, columns[cell.col], title, self._words), cell.start, cell.end

    # Sentences

    def _causes(self, row: str, start: int) -> Iterator[Made]:
        """Why something changed: the cited row, wherever that is told, or what stands near the cited sentence."""
        about = set(content_stems(row)) - {"total"}
        low, high = (0, None) if about else (max(0, start - _WINDOW), start + _WINDOW)
        places = [match.start() + low for match in ask.CAUSE.finditer(self._document.text[low:high])]
        for place in sorted(places, key=lambda place: abs(place - start)):
            element = next(elements_within(self._document, place, place + 1), None)
            if element is None or element.kind not in _PROSE or element.noise is not None:
                continue
            for span in sentence_spans(self._document.text[element.start : element.end], element.start):
                if span[0] <= place < span[1]:
                    question = ask.of_cause(self._text(*span), self._words)
                    if about <= set(content_stems(question)):
                        yield question, *span

    def _captions(self, near: Sequence[Element]) -> Iterator[Made]:
        """Tables and figures by the word and number that their captions begin with."""
        for item in near:
            own = self._text(item.start, item.end).split()[:2] if item.kind == "caption" else []
            if len(own) == 2 and own[0].isalpha() and own[0].istitle() and own[1].strip(".:").isdigit():
                yield ask.of_caption(" ".join(own).strip(".:")), item.start, item.end

    @cached_property
    def _phrases(self) -> Counter[str]:
        return Counter(phrase.lower() for phrase in phrases(self._document.text[: self._document.body_end]))

    def _topics(self, start: int, end: int) -> Iterator[Made]:
        """What the cited words name that the document often names, with the section that names it most."""
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
                yield ask.of_topic(cited[key], self._low, several=self._several), most[0].start, most[-1].end

    # Sections

    @cached_property
    def _heads(self) -> list[tuple[Element, str]]:
        # The first heading is what the document is called.
        heads = [item for item in self._document.body if item.kind == "heading" and item.noise is None][1:]
        return [(item, self._text(item.start, item.end)) for item in heads]

    def _sections(self, start: int, end: int) -> Iterator[Made]:
        """The sections that the cited words refer to, then the next two, then the one before."""
        cited, at = self._text(start, end), -1
        for number, (element, text) in enumerate(self._heads):
            at = number if element.start <= start else at
            if ask.label_of(text) and ask.label_of(text) in cited:
                yield from self._section(number)
        for number in (at + 1, at + 2, at - 1, at + 3):
            if 0 <= number < len(self._heads):
                yield from self._section(number)

    def _section(self, number: int) -> Iterator[Made]:
        element, text = self._heads[number]
        rest, last = self._heads[number + 1 :], self._document.body_end
        own_end = rest[0][0].start if rest else last
        # What the document is called says nothing of a part of it.
        if len(self._document.text[element.end : own_end].strip()) >= _OWN_TEXT and text.lower() not in self._called:
            end = next((item.start for item, _ in rest if item.level <= element.level), last)
            yield ask.of_heading(text, self._low, self._words, several=self._several), element.end, end


def phrases(text: str) -> Iterator[str]:
    """Runs of two or three words between function words, numbers and marks: keyword candidates as in RAKE (Rose, Engel,
    Cramer, Cowley: Automatic keyword extraction from individual documents, 2010)."""
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
