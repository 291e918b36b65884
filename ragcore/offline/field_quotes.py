"""Quote selection for one requirement of a section's guidance: quotes from the sources, best first, or none.

Quotes from a document section named like the requested one come first. Elsewhere a quote must be relevant by the
cross-encoder and the words of the requirement.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from math import log

from ragcore.offline.fields import refers, stems
from ragcore.offline.question import requirement
from ragcore.offline.quotable import Quotable, without_repeats
from ragcore.offline.quote_ranking import Ranking
from ragcore.protocols import Reranker, WritingTask
from ragcore.text.companies import passed_over
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems

_SPEAKS = 0.5  # share of a requirement's words that a quote must have, weighted by rarity
_PLAIN = 0.3  # worth from which a quote is taken on its own
_OF_EACH = 2  # quotes of each document of another company
_SHARE = 0.6  # and this share of the best worth
_BRACKETS = re.compile(r"\([^()]*\)")
_SAYS_LITTLE = stems("names", "beside") | stems("sentences", "says_little")


class Evidence:
    """Quotes of one request, ranked for each of its requirements."""

    def __init__(self, request: WritingTask, found: Sequence[Quotable], reranker: Reranker | None) -> None:
        self._request = request
        self._found = list(found)
        self._reranker = reranker
        # Quotes in document sections named like the requested one.
        self.own = [quote for quote in found if _within(quote, request.own)]
        self._counts = Counter(word for quote in found for word in quote.words)

    def on(self, piece: str, most: int, *, alone: bool) -> list[Quotable]:
        """At most ``most`` quotes about ``piece``, best first; ``alone``: it is the only requirement."""
        ranking = self._ranking(piece)
        pinned = [quote for quote in self.own if _within(quote, self._request.pinned)]
        own = [(quote, worth) for quote, worth in ranking.best(self.own, self._reranker) if quote not in pinned]
        chosen = [quote for quote, worth in own if alone or worth >= _PLAIN or self._share(piece, quote) >= _SPEAKS]
        chosen = _by_turns(
            _without_references([quote for quote in chosen if alone or not self._of_another(piece, quote)])
        )
        if not chosen:
            good = self._good(piece, ranking, [quote for quote in self._found if quote not in pinned], alone=alone)
            chosen = _without_references(good)
        documents = {quote.source.doc_id for quote in self._found}
        given = {quote.source.doc_id for quote in (*pinned, *chosen)}
        others = []
        for doc_id in passed_over(sorted(documents), given, self._request.stated.companies):
            own_of = [quote for quote in self._found if quote.source.doc_id == doc_id]
            speak = [quote for quote in own_of if self._share(self._asked(piece), quote) >= _SPEAKS]
            others += self._good(piece, ranking, speak, alone=True)[:_OF_EACH]
        if others:
            # A company with more to quote must not crowd out another.
            chosen = _by_turns([*chosen, *others])
            most = max(most, len({quote.source.doc_id for quote in chosen}))
        return without_repeats([*pinned, *chosen], most)

    def nearest(self, pieces: Sequence[str], most: int) -> list[Quotable]:
        """Quotes nearest to ``pieces``, however distant."""
        lists = [[quote for quote, _ in self._ranking(piece).best(self._found, self._reranker)] for piece in pieces[:3]]
        turns = [ranked[place] for place in range(most) for ranked in lists if place < len(ranked)]
        return without_repeats(turns, most)

    def _good(self, piece: str, ranking: Ranking, found: list[Quotable], *, alone: bool) -> list[Quotable]:
        """Relevant quotes of ``found``; a row must have the words of the requirement, since the cross-encoder judges
        sentences but not rows."""
        ranked = ranking.best(found, self._reranker)
        good = [
            (quote, worth)
            for quote, worth in ranked
            if worth >= _PLAIN
            and (quote.row is None or self._share(self._asked(piece), quote) >= _SPEAKS)
            and (alone or not self._of_another(piece, quote))
        ]
        return [quote for quote, worth in good if worth >= _SHARE * good[0][1]]

    def _asked(self, piece: str) -> str:
        """``piece``, with the heading if it is one word ("the revenue of each")."""
        return piece if len(self._wanted(piece)[1]) > 1 else f"{self._request.question} {piece}"

    def _ranking(self, piece: str) -> Ranking:
        request = self._request
        asked = piece if piece == request.question else f"{request.question}: {piece}"
        return Ranking(requirement(asked), Wanted(asked, request.terms), routes=request.routes)

    def _of_another(self, piece: str, quote: Quotable) -> bool:
        """Whether ``quote`` is about another requirement of the section rather than ``piece``."""
        share = self._share(piece, quote)
        form = self._request.form
        rest = [other for other in form.requirements if other != piece] if form is not None else []
        return share < _SPEAKS and any(self._share(other, quote) > max(share, _SPEAKS) for other in rest)

    def _share(self, piece: str, quote: Quotable) -> float:
        """Share of the words of ``piece`` in the quote itself, weighted by rarity, 0–1."""
        wanted, words = self._wanted(piece)
        said = frozenset(content_stems(f"{quote.text} {quote.about}"))
        return self._weight(word for word in words if wanted.has(word, said)) / (self._weight(words) or 1.0)

    def _weight(self, words: Iterable[str]) -> float:
        return sum(log(1 + len(self._found) / (1 + self._counts[word])) for word in words)

    def _wanted(self, piece: str) -> tuple[Wanted, list[str]]:
        """What ``piece`` asks for, and its content words."""
        wanted = Wanted(_BRACKETS.sub(" ", piece), self._request.terms)
        return wanted, [word for word in wanted.words if word not in _SAYS_LITTLE]


def _within(quote: Quotable, own: Sequence[tuple[int, int, int]]) -> bool:
    return any(
        quote.source.number == number and first <= quote.first and quote.last <= last for number, first, last in own
    )


def _without_references(quotes: Sequence[Quotable]) -> list[Quotable]:
    """``quotes`` without bare cross-references, if their document has other quotes."""
    says = {quote.source.doc_id for quote in quotes if not refers(quote.text)}
    return [quote for quote in quotes if quote.source.doc_id not in says or not refers(quote.text)]


def _by_turns(quotes: Sequence[Quotable]) -> list[Quotable]:
    """Quotes in round-robin order of documents: the best of each, then the next best, so that none crowds out
    another."""
    own: dict[str, list[Quotable]] = {}
    for quote in quotes:
        own.setdefault(quote.source.doc_id, []).append(quote)
    return [quote for turn in zip_longest(*own.values()) for quote in turn if quote is not None]
