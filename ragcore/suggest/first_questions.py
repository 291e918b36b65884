"""What could be asked first: questions on a person's own documents, each answered before it is offered.

They are made of what stands around the lines of overviews (`ragcore.suggest.overview`) and tried as
`ragcore.suggest.follow_ups` tries those that follow an answer: in all the documents that would be asked, by the
offline answerer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from ragcore.suggest.candidates import Candidate
from ragcore.suggest.follow_ups import answering, around
from ragcore.text.words import content_stems

if TYPE_CHECKING:
    from ragcore.library import Library
    from ragcore.suggest.overview import Overview
    from ragcore.types import Answer

OFFERED = 4
TRIED = 20  # candidates at most: each takes a search
NEWEST = 4  # documents that they are about
ALIKE = 0.5  # share of their words from which on two ask the same


@dataclass(frozen=True, slots=True)
class Starter:
    """A question to begin with, and the place that answers it; ``table``: a cell."""

    question: str
    doc_id: str
    page_label: str
    table: bool


def starters(
    library: Library,
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
    second: list[Starter] = []  # answered, but not in the first place
    answered: list[tuple[str, int, int]] = []
    said: list[set[str]] = []
    for tried, candidate in enumerate(_candidates(library, overview, doc_ids)):
        if len(offered) == OFFERED or tried == TRIED:
            break
        if not go_on():
            return tuple(offered)  # given up: looked for again
        stems = set(content_stems(candidate.question))
        if any(len(stems & other) >= ALIKE * len(stems | other) for other in said) or any(
            candidate.doc_id == doc_id and start < candidate.end and candidate.start < end
            for doc_id, start, end in answered
        ):
            continue
        answer = ask(candidate.question)
        found = answering(answer, candidate)
        if found is not None:
            answered.append((found.doc_id, found.start, found.end))
            said.append(stems)
            made = Starter(candidate.question, found.doc_id, found.page_label, bool(found.label))
            (offered if found is answer.citations[0] else second).append(made)
            if offered[-1:] == [made]:
                tell(made)
    for made in second[: OFFERED - len(offered)]:
        offered.append(made)
        tell(made)
    library.overviews.keep_starters(scope, stamp, [asdict(one) for one in offered])
    return tuple(offered)


def _candidates(library: Library, overview: Callable[[str], Overview], doc_ids: Sequence[str]) -> Iterator[Candidate]:
    """Of the newest documents one after another, each question once."""
    of_each = []
    for doc_id in doc_ids[::-1][:NEWEST]:
        view = overview(doc_id)
        cited = [line.citation for line in view.lines] or view.chapters
        places = [(item.doc_id, item.start, item.end) for item in cited]
        of_each.append(around(places, library.document, several=len(doc_ids) > 1))
    seen: set[str] = set()
    for row in zip_longest(*of_each):
        for candidate in row:
            if candidate is not None and candidate.question not in seen:
                seen.add(candidate.question)
                yield candidate
