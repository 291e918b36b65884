"""What of the sources speaks of one thing that a section's guidance asks for: quotes, best first, or none.

What stands in a section of the document that is called as the section asked for comes first; elsewhere a quote has to
hold the words of what is asked, the rarer ones counting more, or be plainly relevant.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from math import log

from ragcore.config.settings import AnswerSettings
from ragcore.offline.fields import refers, stems
from ragcore.offline.question import requirement
from ragcore.offline.quotable import Quotable, with_paragraph, without_repeats
from ragcore.offline.quote_ranking import LONGEST_PASSAGE, Ranking, spread
from ragcore.protocols import Reranker, WritingTask
from ragcore.text.companies import passed_over
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems, word_set

_SPEAKS = 0.5  # so much of the words of a requirement a quote must hold, rare ones counting more
_PLAIN = 0.3  # a worth from which a quote is taken by itself
_OF_EACH = 2  # quotes of each document of another company
_READ = 3  # sentences that are judged with their paragraph
_SHARE = 0.6  # and it must be worth so much of the best
_BRACKETS = re.compile(r"\([^()]*\)")
_PAIR = re.compile(r"\b(?:and|or)\b")
_SAYS_LITTLE = stems("names", "beside") | stems("sentences", "says_little")
_NO_SUBJECT = word_set("result overview summary introduction background general conclusion")


class Evidence:
    """The quotes of one request, ranked for each thing that it asks for."""

    def __init__(
        self, request: WritingTask, found: Sequence[Quotable], reranker: Reranker | None, settings: AnswerSettings
    ) -> None:
        self._request = request
        self._found = list(found)
        self._reranker = reranker
        self._settings = settings
        # What stands in sections of the documents that are called as the one asked for.
        self.own = [quote for quote in found if _within(quote, request.own)]
        self._counts = Counter(word for quote in found for word in quote.words)

    def on(self, piece: str, most: int, *, alone: bool) -> list[Quotable]:
        """At most ``most`` quotes that speak of ``piece``, best first; ``alone``: nothing else is asked for."""
        ranking = self._ranking(piece)
        own = ranking.best(self.own, self._reranker)
        held = [quote for quote, worth in own if alone or worth >= _PLAIN or self._speaks(piece, quote)]
        held = _without_references([quote for quote in held if alone or not self._of_another(piece, quote)])
        # What a person pinned comes first, and does not stand for all the rest.
        pinned = [quote for quote in held if _within(quote, self._request.pinned)]
        chosen = _by_turns([quote for quote in held if quote not in pinned])
        if not chosen:
            ranked = self._in_paragraphs(piece, ranking.best(self._found, self._reranker))
            # Words alone are no answer: a law on litigation is no legal proceeding.
            good = [each for each in ranked if each[1] >= _PLAIN and self._answers(piece, each[0])]
            good = [each for each in good if each[0] not in pinned and (alone or not self._of_another(piece, each[0]))]
            floor = _SHARE * good[0][1] if good else 0.0
            chosen = _without_references([quote for quote, worth in good if worth >= floor])
        others = self._of_others(piece, ranking, [*pinned, *chosen])
        if others:
            # No company is passed over because there is more to quote of another.
            chosen = _by_turns([*chosen, *others])
            most = max(most, len({quote.source.doc_id for quote in chosen}))
        return without_repeats([*pinned, *chosen], most)

    def _of_others(self, piece: str, ranking: Ranking, chosen: Sequence[Quotable]) -> list[Quotable]:
        """What speaks of ``piece`` in documents of companies of which nothing is ``chosen``."""
        found: list[Quotable] = []
        for doc_id in passed_over(_documents(self._found), _documents(chosen), self._request.stated.companies):
            own = ranking.best([quote for quote in self._found if quote.source.doc_id == doc_id], self._reranker)
            good = [each for each in own if each[1] >= _PLAIN and self._share(self._asked(piece), each[0]) >= _SPEAKS]
            found += [quote for quote, worth in good[:_OF_EACH] if worth >= _SHARE * good[0][1]]
        return found

    def _asked(self, piece: str) -> str:
        """``piece``, with the heading where it is one word ("the revenue of each")."""
        return piece if len(self._wanted(piece)[1]) > 1 else f"{self._request.question} {piece}"

    def _answers(self, piece: str, quote: Quotable) -> bool:
        """Whether a row holds the words of what is asked: of sentences the cross-encoder tells, to rows it is blind."""
        return quote.row is None or self._share(self._asked(piece), quote) >= _SPEAKS

    def _in_paragraphs(self, piece: str, ranked: Sequence[tuple[Quotable, float]]) -> list[tuple[Quotable, float]]:
        """``ranked`` with the sentences that are not plainly relevant by themselves, but have half the words of
        ``piece``, judged together with what stands before them in their paragraph: it may name their subject."""
        if self._reranker is None or any(worth >= _PLAIN for _, worth in ranked):
            return list(ranked)
        asked = f"{self._request.question}: {piece}"
        near = [n for n, (q, _) in enumerate(ranked) if q.row is None and self._share(piece, q) >= _SPEAKS][:_READ]
        read = [with_paragraph(ranked[n][0])[-LONGEST_PASSAGE:] for n in near]
        worth = dict(zip(near, spread(self._reranker.score(asked, read)), strict=True))
        judged = [(quote, max(alone, float(worth.get(n, 0.0)))) for n, (quote, alone) in enumerate(ranked)]
        return sorted(judged, key=lambda each: -each[1])

    def nearest(self, pieces: Sequence[str], most: int) -> list[Quotable]:
        """What comes nearest to ``pieces``, be it ever so far."""
        lists = [[quote for quote, _ in self._ranking(piece).best(self._found, self._reranker)] for piece in pieces[:3]]
        turns = [ranked[place] for place in range(most) for ranked in lists if place < len(ranked)]
        return without_repeats(turns, most)

    def _ranking(self, piece: str) -> Ranking:
        request = self._request
        asked = piece if piece == request.question else f"{request.question}: {piece}"
        return Ranking(requirement(asked), Wanted(asked, request.terms), terms=request.terms, routes=request.routes)

    def _of_another(self, piece: str, quote: Quotable) -> bool:
        """Whether ``quote`` speaks of another thing that the section asks for rather than of ``piece``."""
        if _within(quote, self._request.pinned):
            return False
        share = self._share(piece, quote)
        form = self._request.form
        rest = [other for other in form.requirements if other != piece] if form is not None else []
        return share < _SPEAKS and any(self._share(other, quote) > max(share, _SPEAKS) for other in rest)

    def _share(self, piece: str, quote: Quotable) -> float:
        """How many of the words of ``piece`` the quote itself holds, rare ones counting more, 0–1."""
        wanted, words = self._wanted(piece)
        said = frozenset(content_stems(f"{quote.text} {quote.about}"))
        return self._weight(word for word in words if wanted.has(word, said)) / (self._weight(words) or 1.0)

    def _weight(self, words: Iterable[str]) -> float:
        return sum(log(1 + len(self._found) / (1 + self._counts[word])) for word in words)

    def _wanted(self, piece: str) -> tuple[Wanted, list[str]]:
        """What ``piece`` asks for, and the words of it that say something."""
        wanted = Wanted(_BRACKETS.sub(" ", piece), self._request.terms)
        return wanted, [word for word in wanted.words if word not in _SAYS_LITTLE]

    def _speaks(self, piece: str, quote: Quotable) -> bool:
        wanted, words = self._wanted(piece)
        held = [word for word in words if wanted.has(word, quote.words)]
        heading = set(content_stems(self._request.question)) - _SAYS_LITTLE - _NO_SUBJECT
        if set(held) & heading & set(content_stems(quote.text)):
            return True
        if len(words) == 2 and held and _PAIR.search(_BRACKETS.sub(" ", piece)):
            return True  # "its customers and markets": of either
        total = self._weight(words)
        return total > 0 and self._weight(held) / total >= _SPEAKS


def _within(quote: Quotable, own: Sequence[tuple[int, int, int]]) -> bool:
    return any(
        quote.source.number == number and first <= quote.first and quote.last <= last for number, first, last in own
    )


def _without_references(quotes: Sequence[Quotable]) -> list[Quotable]:
    """``quotes`` without those that only say where it stands, where their document says more."""
    says = {quote.source.doc_id for quote in quotes if not refers(quote.text)}
    return [quote for quote in quotes if quote.source.doc_id not in says or not refers(quote.text)]


def _documents(quotes: Sequence[Quotable]) -> list[str]:
    return list(dict.fromkeys(quote.source.doc_id for quote in quotes))


def _by_turns(quotes: Sequence[Quotable]) -> list[Quotable]:
    """The best of each document, then the next best of each: none is passed over because another says more."""
    own: dict[str, list[Quotable]] = {}
    for quote in quotes:
        own.setdefault(quote.source.doc_id, []).append(quote)
    return [quote for turn in zip_longest(*own.values()) for quote in turn if quote is not None]
