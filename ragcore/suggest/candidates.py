"""What stands around cited words of one document, as questions: another period of a value, the row beside it, why it
changed, what somebody must do, the section referred to, what a term means, the next section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ragcore.suggest.phrasing import YEAR, Heading, heading, of_cell, of_heading, of_term
from ragcore.suggest.telling import CAUSE, MEANS, defined, of_cause, of_duty
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import content_stems
from ragcore.types import Cell, Document, Element
from ragcore.types.table_labels import LabelledTable, elements_within

_YEAR = re.compile(rf"\b{YEAR}\b")
_CAUSE = re.compile(rf"\b(?:{CAUSE})\b", re.IGNORECASE)
_MEANS = re.compile(rf"\b(?:{MEANS})\b")
_REFERENCE = re.compile(
    r"§+\s?\d+(?:\.\d+)*[a-z]?\b|\b(?:Section|Article|Clause|Note|Rule)\s+(?:\d+(?:\.\d+)*[A-Z]?|[IVX]+)\b"
)
# Words as they are written within sentences, without parts of addresses; a capital behind a small word is a name's.
_SMALL = re.compile(r"(?<![\w@./])[a-zß-öø-ÿ]+(?:['’][a-z]+)?(?![\w@/]|\.\w)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_GOES_ON = r"(?:is|are|was|were|has|shall|will|may|must|of|and|or|to|in|for|that|which|by|at|on|under|if|as)\b"
_LONGEST_TITLE = 60  # characters of a title that a question is not too long with
_WINDOW = 5000  # characters on each side of a citation in which duties, causes and tables are looked for
_OWN_TEXT = 60  # characters that a section must have before the next heading: else it only holds others
# What a question for a cause says beside whose cause it asks for.
_CHANGES = frozenset(
    content_stems(
        "increase decrease grow rise fall decline improve drop fiscal year quarter first second third fourth three six "
        "nine months " + " ".join(map(str, range(1990, 2060)))
    )
)
_COMMON = 40  # places of a term in the document, from which it is one of its everyday words
_MOST = 4  # candidates of one kind around one citation


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question with the span of the document that it was made from, which its answer has to cite."""

    question: str
    doc_id: str
    start: int
    end: int


class Nearby:
    """Candidates around places of ``read``, each kind nearest first. Reads the document once. With ``named`` its
    sections are asked for by its title, where several documents are asked."""

    def __init__(self, read: Document, *, named: bool = False) -> None:
        self._read = read
        self._called = f"“{read.title}”" if named and len(read.title) <= _LONGEST_TITLE else "the document"
        self._of_element: dict[int, list[tuple[int, int]]] = {}

    def around(self, start: int, end: int) -> list[list[Candidate]]:
        """For ``[start, end)`` the candidates of each kind, in the order in which kinds are offered."""
        cell = self._cell(start, end)
        values, rows, about = self._values(*cell) if cell else ([], self._table_near(start, end), "")
        kinds: list[Iterable[Candidate]] = [
            self._causes(start, about),
            values,
            rows,
            self._duties(start, end),
            self._references(start, end),
            self._terms(start, end),
            self._sections(start),
        ]
        return [[one for one, _ in zip(kind, range(_MOST))] for kind in kinds]

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_SMALL.findall(self._read.text)) | frozenset(_NAME.findall(self._read.text))

    @cached_property
    def _low(self) -> str:
        return " ".join(self._read.text.lower().split())

    @cached_property
    def _heads(self) -> list[tuple[Element, Heading]]:
        # The first heading is what the document is called.
        heads = [item for item in self._read.body if item.kind == "heading" and item.noise is None][1:]
        return [(item, heading(self._read.text[item.start : item.end])) for item in heads]

    @cached_property
    def _definitions(self) -> list[tuple[str, int, int]]:
        found = ((defined(self._text(*span)), *span) for span in self._sentences_of(_MEANS, 0, len(self._read.text)))
        return [one for one in found if one[0]]

    def _text(self, start: int, end: int) -> str:
        return " ".join(self._read.text[start:end].split())

    def _made(self, question: str, start: int, end: int) -> Iterator[Candidate]:
        if question:
            yield Candidate(question, self._read.doc_id, start, end)

    # Tables

    def _cell(self, start: int, end: int) -> tuple[Element, LabelledTable, Cell] | None:
        """The value that is cited: of a row the first."""
        element = next((item for item in elements_within(self._read, start, end) if item.table is not None), None)
        if element is None or element.table is None:
            return None
        labelled = LabelledTable(self._read, element.table)
        inside_it = [cell for cell in labelled.cells(element.start, element.end) if not cell.header]
        cited = [cell for cell in inside_it if cell.start < end and start < cell.end]
        rows = {cell.row for cell in cited}
        value = next((cell for cell in cited if _is_value(labelled.text(cell))), None)
        value = value or next((c for c in inside_it if c.row in rows and _is_value(labelled.text(c))), None)
        return None if value is None else (element, labelled, value)

    def _values(
        self, element: Element, labelled: LabelledTable, here: Cell
    ) -> tuple[list[Candidate], list[Candidate], str]:
        """Other columns of the cited cell's row, other rows of its column, and what the row is called."""
        cells = [cell for cell in labelled.cells(element.start, element.end) if _is_value(labelled.text(cell))]
        across = [cell for cell in cells if cell.row == here.row and cell.col != here.col]
        down = [cell for cell in cells if cell.col == here.col and cell.row != here.row]
        across.sort(key=lambda cell: abs(cell.col - here.col))
        down.sort(key=lambda cell: abs(cell.row - here.row))
        return self._asked(labelled, across), self._asked(labelled, down), labelled.row_label(here).head

    def _table_near(self, start: int, end: int) -> list[Candidate]:
        """The values of the latest year in the table of the cited sentence's section that is nearest to it."""
        section = next((item.section for item in elements_within(self._read, start, end)), ())
        near = [
            item
            for item in elements_within(self._read, max(0, start - _WINDOW), end + _WINDOW)
            if item.table is not None and item.noise is None and item.section == section
        ]
        for element in sorted(near, key=lambda item: min(abs(item.start - end), abs(start - item.end))):
            assert element.table is not None
            labelled = LabelledTable(self._read, element.table)
            years = [max(_YEAR.findall(label), default="") for label in labelled.column_labels()]
            if any(years):
                latest = years.index(max(years))
                cells = [c for c in labelled.cells(element.start, element.end) if c.col == latest]
                return self._asked(labelled, [cell for cell in cells if _is_value(labelled.text(cell))])
        return []

    def _asked(self, labelled: LabelledTable, cells: Sequence[Cell]) -> list[Candidate]:
        columns = labelled.column_labels()
        title = labelled.table.title
        made = (
            (of_cell(labelled.row_label(cell).head, columns[cell.col], self._words, title), cell.start, cell.end)
            for cell in cells
        )
        return [one for each in made for one in self._made(*each)]

    # Sentences

    def _sentences_of(self, cue: re.Pattern[str], start: int, end: int) -> Iterator[tuple[int, int]]:
        """The sentences in ``[start, end)`` that have ``cue``, in order, each once."""
        last = -1
        for match in cue.finditer(self._read.text, max(0, start), end):
            for span in self._sentences_at(match.start()):
                if span[0] <= match.start() < span[1] and span[0] > last:
                    last = span[0]
                    yield span

    def _sentences_at(self, place: int) -> list[tuple[int, int]]:
        """The sentences of the paragraph or list item at ``place``."""
        element = next(elements_within(self._read, place, place + 1), None)
        return [] if element is None else self._sentences(element)

    def _sentences(self, element: Element) -> list[tuple[int, int]]:
        if element.kind not in ("paragraph", "list_item") or element.noise is not None:
            return []
        if element.start not in self._of_element:
            text = self._read.text[element.start : element.end]
            self._of_element[element.start] = sentence_spans(text, element.start)
        return self._of_element[element.start]

    def _causes(self, start: int, about: str) -> Iterator[Candidate]:
        """Why something changed: the row cited, wherever that is told, or else what stands near the cited sentence."""
        name = frozenset(content_stems(about)) - {"total"}
        spans = list(
            self._sentences_of(_CAUSE, 0, len(self._read.text)) if name else self._sentences_near(start, _CAUSE)
        )
        for span in sorted(spans, key=lambda span: abs(span[0] - start)):
            question = of_cause(self._text(*span), self._words)
            # "Cost of revenue" is not revenue, "overall revenue" is.
            said = frozenset(content_stems(question)) - _CHANGES
            if question and (not name or (name <= said and len(said - name) < 2)):
                yield from self._made(question, *span)

    def _sentences_near(self, start: int, cue: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        return self._sentences_of(cue, start - _WINDOW, start + _WINDOW)

    def _terms(self, start: int, end: int) -> Iterator[Candidate]:
        """Terms among the cited words that the document defines, the longest first; none that it uses all the time,
        which who reads it knows by then."""
        cited = self._text(start, end).lower()
        for term, *span in sorted(self._definitions, key=lambda one: -len(one[0])):
            name = re.compile(rf"(?<!\w){re.escape(term.lower())}s?(?!\w)")
            if name.search(cited) and sum(1 for _ in name.finditer(self._low)) <= _COMMON:
                yield from self._made(of_term(term, self._words), *span)

    def _references(self, start: int, end: int) -> Iterator[Candidate]:
        """The sections that the cited words refer to."""
        heads = {
            head.label.lower().replace(" ", ""): number for number, (_, head) in enumerate(self._heads) if head.label
        }
        for said in dict.fromkeys(_REFERENCE.findall(self._read.text[start:end])):
            number = heads.get("".join(said.lower().split()))
            if number is not None:
                yield from self._section(number)

    def _duties(self, start: int, end: int) -> Iterator[Candidate]:
        """What somebody must or may do by the sentences near the citation, those behind it first."""
        near = elements_within(self._read, max(0, start - _WINDOW // 2), end + _WINDOW)
        spans = [span for element in near for span in self._sentences(element)]
        for span in sorted(spans, key=lambda span: span[0] - start if span[0] >= start else 2 * (start - span[0])):
            yield from self._made(of_duty(self._text(*span), self._words), *span)

    # Sections

    def _sections(self, start: int) -> Iterator[Candidate]:
        """The sections beside the one that holds ``start``: the next two, then the one before."""
        at = max((number for number, (item, _) in enumerate(self._heads) if item.start <= start), default=-1)
        for number in (at + 1, at + 2, at - 1, at + 3):
            if 0 <= number < len(self._heads):
                yield from self._section(number)

    def _is_definite(self, name: str) -> bool:
        """Whether the document speaks of *the* so-and-so."""
        return (
            " " in name and re.search(rf" the {re.escape(name.lower())}(?=[.,;:)]| {_GOES_ON})", self._low) is not None
        )

    def _section(self, number: int) -> Iterator[Candidate]:
        element, head = self._heads[number]
        body_end = self._read.body_end
        following = self._heads[number + 1][0].start if number + 1 < len(self._heads) else body_end
        if len(self._read.text[element.end : following].strip()) < _OWN_TEXT:
            return
        end = next((item.start for item, _ in self._heads[number + 1 :] if item.level <= element.level), body_end)
        # What the document is called says nothing of a part of it.
        called = f"{self._read.title} {self._read.name}".lower()
        if head.name.lower() not in called:
            yield from self._made(
                of_heading(head, self._words, self._called, definite=self._is_definite), element.end, end
            )


def _is_value(text: str) -> bool:
    return (
        bool(re.search(r"\d", text)) and len(re.findall(r"[A-Za-z]", text)) <= 4 and not _YEAR.fullmatch(text.strip())
    )
