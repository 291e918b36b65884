"""Quote selection for one requirement of a section's guidance: quotes from the sources, best first, or none.

Quotes from a document section named like the requested one come first. Elsewhere a quote must have the words of the
requirement, weighted by rarity, or be clearly relevant.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from math import log

from ragcore.offline.fields import refers
from ragcore.offline.lists import stems
from ragcore.offline.question import requirement
from ragcore.offline.quotable import Quotable, with_paragraph, without_repeats
from ragcore.offline.quote_ranking import LONGEST_PASSAGE, Ranking, spread
from ragcore.protocols import Reranker, WritingTask
from ragcore.text.companies import passed_over
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems, word_set

_SPEAKS = 0.5  # share of a requirement's words that a quote must have, weighted by rarity
_PLAIN = 0.3  # worth from which a quote is taken on its own
_OF_EACH = 2  # quotes of each document of another company
_READ = 3  # sentences judged with their paragraph
_SHARE = 0.6  # and this share of the best worth
_BRACKETS = re.compile(r"\([^()]*\)")
_PAIR = re.compile(r"\b(?:and|or)\b")
_SAYS_LITTLE = stems("names", "beside") | stems("sentences", "says_little")
_NO_SUBJECT = word_set("result overview summary introduction background general conclusion")


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
        own = ranking.best(self.own, self._reranker)
        held = [quote for quote, worth in own if alone or worth >= _PLAIN or self._speaks(piece, quote)]
        held = _without_references([quote for quote in held if alone or not self._of_another(piece, quote)])
        # Pinned quotes come first but do not replace the rest.
        pinned = [quote for quote in held if _within(quote, self._request.pinned)]
        chosen = _by_turns([quote for quote in held if quote not in pinned])
        if not chosen:
            ranked = self._in_paragraphs(piece, ranking.best(self._found, self._reranker))
            # Matching words alone are no answer: a law on litigation is not a legal proceeding.
            good = [each for each in ranked if each[1] >= _PLAIN and self._answers(piece, each[0])]
            good = [each for each in good if each[0] not in pinned and (alone or not self._of_another(piece, each[0]))]
            floor = _SHARE * good[0][1] if good else 0.0
            chosen = _without_references([quote for quote, worth in good if worth >= floor])
        others = self._of_others(piece, ranking, [*pinned, *chosen])
        if others:
            # A company with more to quote must not crowd out another.
            chosen = _by_turns([*chosen, *others])
            most = max(most, len({quote.source.doc_id for quote in chosen}))
        return without_repeats([*pinned, *chosen], most)

    def _of_others(self, piece: str, ranking: Ranking, chosen: Sequence[Quotable]) -> list[Quotable]:
        """Quotes about ``piece`` from documents of companies without a ``chosen`` quote."""
        found: list[Quotable] = []
        for doc_id in passed_over(_documents(self._found), _documents(chosen), self._request.stated.companies):
            own = ranking.best([quote for quote in self._found if quote.source.doc_id == doc_id], self._reranker)
            good = [each for each in own if each[1] >= _PLAIN and self._share(self._asked(piece), each[0]) >= _SPEAKS]
            found += [quote for quote, worth in good[:_OF_EACH] if worth >= _SHARE * good[0][1]]
        return found

    def _asked(self, piece: str) -> str:
        """``piece``, with the heading if it is one word ("the revenue of each")."""
        return piece if len(self._wanted(piece)[1]) > 1 else f"{self._request.question} {piece}"

    def _answers(self, piece: str, quote: Quotable) -> bool:
        """Whether a row has the words of the requirement: the cross-encoder judges sentences but not rows."""
        return quote.row is None or self._share(self._asked(piece), quote) >= _SPEAKS

    def _in_paragraphs(self, piece: str, ranked: Sequence[tuple[Quotable, float]]) -> list[tuple[Quotable, float]]:
        """``ranked`` with further sentences judged together with the preceding text of their paragraph, which may name
        their subject: those not clearly relevant alone but with half the words of ``piece``."""
        if self._reranker is None or any(worth >= _PLAIN for _, worth in ranked):
            return list(ranked)
        asked = f"{self._request.question}: {piece}"
        near = [n for n, (q, _) in enumerate(ranked) if q.row is None and self._share(piece, q) >= _SPEAKS][:_READ]
        read = [with_paragraph(ranked[n][0])[-LONGEST_PASSAGE:] for n in near]
        worth = dict(zip(near, spread(self._reranker.score(asked, read)), strict=True))
        judged = [(quote, max(alone, float(worth.get(n, 0.0)))) for n, (quote, alone) in enumerate(ranked)]
        return sorted(judged, key=lambda each: -each[1])

    def nearest(self, pieces: Sequence[str], most: int) -> list[Quotable]:
        """Quotes nearest to ``pieces``, however distant."""
        lists = [[quote for quote, _ in self._ranking(piece).best(self._found, self._reranker)] for piece in pieces[:3]]
        turns = [ranked[place] for place in range(most) for ranked in lists if place < len(ranked)]
        return without_repeats(turns, most)

    def _ranking(self, piece: str) -> Ranking:
        request = self._request
        asked = piece if piece == request.question else f"{request.question}: {piece}"
        return Ranking(requirement(asked), Wanted(asked, request.terms), routes=request.routes)

    def _of_another(self, piece: str, quote: Quotable) -> bool:
        """Whether ``quote`` is about another requirement of the section rather than ``piece``."""
        if _within(quote, self._request.pinned):
            return False
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

    def _speaks(self, piece: str, quote: Quotable) -> bool:
        wanted, words = self._wanted(piece)
        held = [word for word in words if wanted.has(word, quote.words)]
        heading = set(content_stems(self._request.question)) - _SAYS_LITTLE - _NO_SUBJECT
        if set(held) & heading & set(content_stems(quote.text)):
            return True
        if len(words) == 2 and held and _PAIR.search(_BRACKETS.sub(" ", piece)):
            return True  # "its customers and markets": about either
        total = self._weight(words)
        return total > 0 and self._weight(held) / total >= _SPEAKS


def _within(quote: Quotable, own: Sequence[tuple[int, int, int]]) -> bool:
    return any(
        quote.source.number == number and first <= quote.first and quote.last <= last for number, first, last in own
    )


def _without_references(quotes: Sequence[Quotable]) -> list[Quotable]:
    """``quotes`` without bare cross-references, if their document has other quotes."""
    says = {quote.source.doc_id for quote in quotes if not refers(quote.text)}
    return [quote for quote in quotes if quote.source.doc_id not in says or not refers(quote.text)]


def _documents(quotes: Sequence[Quotable]) -> list[str]:
    return list(dict.fromkeys(quote.source.doc_id for quote in quotes))


def _by_turns(quotes: Sequence[Quotable]) -> list[Quotable]:
    """Quotes in round-robin order of documents: the best of each, then the next best, so that none crowds out
    another."""
    own: dict[str, list[Quotable]] = {}
    for quote in quotes:
        own.setdefault(quote.source.doc_id, []).append(quote)
    return [quote for turn in zip_longest(*own.values()) for quote in turn if quote is not None]
