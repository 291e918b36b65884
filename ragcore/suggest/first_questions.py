"""What could be asked first: questions on a person's own documents, each answered before it is offered.

They are made of what stands around the lines of overviews (`ragcore.suggest.overview`) and tried as
`ragcore.suggest.follow_ups` tries those that follow an answer: in all the documents that would be asked, by the
offline answerer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from ragcore.suggest.candidates import Candidate
from ragcore.suggest.follow_ups import answering, around
from ragcore.text.words import content_stems

if TYPE_CHECKING:
    from ragcore.library import Library
    from ragcore.suggest.overview import Overview
    from ragcore.types import Answer, Citation

OFFERED = 4
TRIED = 20  # candidates at most: each takes a search
OF_A_KIND = 2  # questions of one kind, unless there are no others
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
    second: list[Starter] = []  # answered, but not in the first place, or one more of a kind
    said: list[set[str]] = []
    answered: list[Citation] = []
    kinds: Counter[int] = Counter()
    for candidate in islice(_candidates(library, overview, doc_ids), TRIED):
        if len(offered) == OFFERED:
            break
        if not go_on():
            return tuple(offered)  # given up: looked for again
        stems = set(content_stems(candidate.question))
        if any(len(stems & other) >= ALIKE * len(stems | other) for other in said) or any(
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
            if found is answer.citations[0] and kinds[candidate.kind] <= OF_A_KIND:
                offered.append(made)
                tell(made)
            else:
                second.append(made)
    for made in second[: OFFERED - len(offered)]:
        offered.append(made)
        tell(made)
    library.overviews.keep_starters(scope, stamp, [asdict(one) for one in offered])
    return tuple(offered)


def _candidates(library: Library, overview: Callable[[str], Overview], doc_ids: Sequence[str]) -> Iterator[Candidate]:
    """Of the newest documents one after another."""
    of_each = []
    for doc_id in doc_ids[::-1][:NEWEST]:
        view = overview(doc_id)
        cited = [line.citation for line in view.lines] or view.chapters
        places = [(item.doc_id, item.start, item.end) for item in cited]
        of_each.append(around(places, library.document, several=len(doc_ids) > 1))
    return (one for row in zip_longest(*of_each) for one in row if one is not None)
