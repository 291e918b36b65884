"""One's own set: questions kept from answers, with the answer to expect and the cited words as evidence. It grows, and
a run names what it was then.

Evidence is a place and its words. Its page is where the words stand now; as kept if they stand nowhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragcore.errors import InputError, UnknownTurn
from ragcore.evaluate.cases import Case, Evidence
from ragcore.evaluate.measures import unmarked
from ragcore.export.markdown import parse
from ragcore.export.tree import plain, rows
from ragcore.index.own_cases import OwnCase, OwnCases, OwnEvidence
from ragcore.library import AskedLibrary
from ragcore.types import Answer, Document
from ragcore.types.library import Feedback

NAME = "My questions"


@dataclass(frozen=True, slots=True)
class Draft:
    """Case of an answer, as it was ``kept`` or would be, and all ``places`` that may be its evidence."""

    case: OwnCase
    places: tuple[OwnEvidence, ...]
    kept: bool


class OwnSet:
    """One's own set of one library. Thread-safe."""

    def __init__(self, library: AskedLibrary) -> None:
        self._library = library
        self._cases = OwnCases(library.store.database)

    def draft(self, turn_id: str) -> Draft:
        """Case of the answer of a turn; a kept one is there without its conversation too. Of an answer that was found
        unhelpful nothing is expected. Raises `UnknownTurn`, and `InputError` while the answer is being written."""
        kept = self._cases.get(turn_id)
        try:
            turn = self._library.conversations.turn(turn_id)
        except UnknownTurn:
            if kept is None:
                raise
            return Draft(kept, kept.evidence, kept=True)
        answer = turn.answer
        if answer is None:
            raise InputError("This answer isn't finished.", hint="Wait for its end.")
        infos = self._library.documents()
        names, count = {info.doc_id: info.name for info in infos}, Counter(info.name for info in infos)
        cited = {
            one.n: OwnEvidence(names[one.doc_id], one.doc_id, one.page, one.quote)
            for one in answer.citations
            if one.doc_id in names
        }
        if kept is not None:
            known = {(one.doc_id, one.page): one for one in cited.values()}
            back = (one if one.quote else known.get((one.doc_id, one.page), one) for one in kept.evidence)
            kept = replace(kept, evidence=tuple(back))  # with the words of a document that was added again
        places = tuple(dict.fromkeys([*cited.values(), *(kept.evidence if kept else ())]))
        if kept is not None:
            return Draft(kept, places, kept=True)
        given = self._library.feedback.of([turn_id]).get(turn_id, Feedback(helpful=True))
        answered = not answer.refused or given.reason == "refused"
        scope = answer.trace.scope.doc_ids if answer.trace else None
        asked = tuple(
            doc_id if count[names[doc_id]] > 1 else names[doc_id] for doc_id in scope or () if doc_id in names
        )
        expected = ""
        evidence: tuple[OwnEvidence, ...] = ()
        if answered and given.helpful:
            expected = _expected(answer)
            evidence = tuple(dict.fromkeys(cited[n] for n in _leading(answer) if n in cited)) or places
        case = OwnCase(turn_id, answer.standalone or turn.question, expected, answered, asked, evidence)
        return Draft(case, places, kept=False)

    def keep(self, case: OwnCase) -> None:
        """Store a case, or change it. Of one that is not answerable neither answer nor evidence is kept. Raises
        `InputError` without a question."""
        question = case.question.strip()
        if not question:
            raise InputError("The question is empty.", hint="Write one.")
        answer, evidence = (case.answer.strip(), case.evidence) if case.answerable else ("", ())
        self._cases.put(replace(case, question=question, answer=answer, evidence=evidence))

    def remove(self, case_id: str) -> None:
        """Remove a case; runs that asked it keep it."""
        self._cases.remove(case_id)

    def all(self) -> list[OwnCase]:
        """Cases, in the order in which they were kept."""
        return self._cases.all()

    def cases(self, *, quotes: bool) -> tuple[Case, ...]:
        """Cases with the pages where their evidence stands now; with or without its words. Of several documents of one
        name, that of the evidence is given by its id."""
        infos = [info for info in self._library.documents() if info.askable]
        ids = {info.name: info.doc_id for info in reversed(infos)} | {info.doc_id: info.doc_id for info in infos}
        count = Counter(info.name for info in infos)

        def place(one: OwnEvidence) -> Evidence:
            document = one.doc_id if count[one.document] > 1 and one.doc_id in ids else one.document
            return Evidence(document, self._page(one, ids), one.quote if quotes else "")

        return tuple(
            Case(
                case.case_id,
                case.question,
                case.answer,
                tuple(map(place, case.evidence)),
                case.answerable,
                case.documents,
            )
            for case in self.all()
        )

    def _page(self, one: OwnEvidence, ids: dict[str, str]) -> int:
        """Page nearest to the kept one on which the words stand."""
        doc_id = ids.get(one.doc_id) or ids.get(one.document)
        if doc_id is None or not one.quote:
            return one.page
        pages = _pages(self._library.document(doc_id), one.quote)
        return min(pages, key=lambda page: abs(page - one.page), default=one.page)


def _pages(document: Document, quote: str) -> Iterator[int]:
    """Pages on which words begin, whatever the blanks between them."""
    for found in re.finditer(r"\s+".join(map(re.escape, quote.split())), document.text):
        yield document.page_at(*found.span())


def _leading(answer: Answer) -> list[int]:
    """Citations of what is expected: all, or those of the line that a quoting answer begins with."""
    end = answer.text.find("\n\n") if answer.extractive else -1
    return [mark.n for mark in answer.marks if end < 0 or mark.start < end]


def _expected(answer: Answer) -> str:
    """Text of an answer without numbers of citations and without markup, a paragraph or row a line; of one that quotes,
    the line that it begins with."""
    lines: list[str] = []
    for block in parse(unmarked(answer))[: 1 if answer.extractive else None]:
        texts: Sequence[str] = [plain(block)]
        if block["t"] == "Table":
            texts = [", ".join(filter(None, (plain(cell).strip() for cell in row))) for row in rows(block)]
        lines += [text.strip() for text in texts if text.strip()]
    return "\n".join(lines)
