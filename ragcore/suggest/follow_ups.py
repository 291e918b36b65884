"""What could be asked next: questions drawn from what stands around the cited words, each tried before it is offered.

`ragcore.suggest.candidates` makes candidates from each citation's surroundings. One is offered only where the offline
answerer, which can only quote, answers it in this conversation from the very place that it was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from ragcore.suggest.candidates import Candidate, Surroundings
from ragcore.text.words import tokens
from ragcore.types import Answer, Citation, Document, Scope, Source, Turn

if TYPE_CHECKING:
    from ragcore.library import Library

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
Ask = Callable[[str, Scope, Sequence[Turn]], Answer]
Place = tuple[str, int, int]  # doc_id, start, end
OFFERED = 3
TRIED = 9  # candidates at most: each takes a search
_SOURCES = 3  # citations whose surroundings are looked at
_READ = 3  # citations of an answer among which the place has to be: nobody looks for it further down
_RECENT = 20  # turns of a conversation that are looked at


def suggest(
    answer: Answer,
    before: Sequence[Answer],
    document: Callable[[str], Document],
    ask: Callable[[str], Answer],
    *,
    several: bool = False,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[str, ...]:
    """At most `OFFERED` questions that could follow ``answer``, which comes after those of ``before``; none was asked
    or is answered by what they cite.

    ``ask(question)`` answers offline, as the next question of the conversation, which asks one document or ``several``.
    It ends early, with what it has, when ``go_on()`` is false. Raises what ``ask`` raises."""
    said = (*before, answer)
    known = {tuple(tokens(text)) for one in said for text in (one.question, one.standalone)}
    cited = [item for one in said if not one.refused for item in one.citations]
    offered: list[str] = []
    tried = 0
    for candidate in candidates(answer, document, several=several):
        if len(offered) == OFFERED or tried == TRIED or not go_on():
            break
        if tuple(tokens(candidate.question)) in known or any(map(candidate.overlaps, cited)):
            continue
        tried += 1
        if answering(ask(candidate.question), candidate) is not None:
            offered.append(candidate.question)
    return tuple(offered)


def suggestions(
    library: Library, asked: Ask, conversation_id: str, turn_id: str, go_on: Callable[[], bool] = lambda: True
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
        return ()  # what is cited was removed: there is nothing to draw from
    several = len(held if scope.doc_ids is None else scope.doc_ids) > 1
    found = suggest(
        answer, path, library.document, lambda question: asked(question, scope, history), several=several, go_on=go_on
    )
    if go_on():
        library.feedback.keep_suggestions(turn_id, found)
    return found


def candidates(answer: Answer, document: Callable[[str], Document], *, several: bool = False) -> Iterator[Candidate]:
    """`around` the first citations of ``answer``, or else around its first source."""
    cited: Sequence[Citation | Source] = answer.citations[:_SOURCES] or answer.sources[:1]
    return around([(item.doc_id, item.start, item.end) for item in cited], document, several=several)


def around(
    places: Iterable[Place], document: Callable[[str], Document], *, several: bool = False
) -> Iterator[Candidate]:
    """Candidates around ``places``, each question once, one of each kind after another, so that they differ."""
    read: dict[str, Surroundings] = {}
    kinds: list[list[Candidate]] = []
    for doc_id, start, end in places:
        if doc_id not in read:
            read[doc_id] = Surroundings(document(doc_id), several=several)
        found = read[doc_id].candidates(start, end)
        kinds = [[*one, *more] for one, more in zip(kinds, found)] or found
    seen: set[tuple[str, ...]] = set()
    for candidate in (one for group in zip_longest(*kinds) for one in group if one is not None):
        words = tuple(tokens(candidate.question))
        if words not in seen:
            seen.add(words)
            yield candidate


def answering(found: Answer, candidate: Candidate) -> Citation | None:
    """The first words that answer a candidate from where it was made; None where nothing does."""
    if found.status != "complete" or found.refused:
        return None
    return next(filter(candidate.overlaps, found.citations[:_READ]), None)
