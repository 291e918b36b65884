"""Office holders: the person whom most mentions of an office name.

One sentence on an office may name who left it, or holds it elsewhere; signatures, certificates and lists of officers
name its holder again and again. Each quote votes for the person next to the office in it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragcore.offline.lists import listed
from ragcore.offline.quotes import Quotable
from ragcore.text import lexicon as lex
from ragcore.text.names import LEGAL_FORMS, Word, words_of
from ragcore.text.sentences import mostly_lowercase
from ragcore.text.words import stem, tokens
from ragcore.types.question import AnswerType

_LEAD = 2  # times the votes of anybody else that a holder has
_FARTHEST = 8  # words from a name to the office
_LEFT = 2  # words before an office that say that somebody left it
_LESSER = frozenset({"vice"})  # of another office than the one it stands before
_HYPHENS = frozenset("-‐‑")
_SUFFIXES = frozenset({"ii", "iii", "iv", "jr", "sr", "md", "phd", "esq"})


@dataclass(frozen=True, slots=True)
class Named:
    """Person next to the office in a quote, as printed; ``surname`` tells one from another."""

    name: str
    surname: str
    quote: Quotable

    @property
    def rank(self) -> tuple[bool, bool, bool, int]:
        """Lowest for the quote that tells best: no list, the whole name, not in capitals, the first of the document."""
        first = self.name.partition(" ")[0].rstrip(".").lower()
        short = first in lex.TITLES or " " not in self.name
        return "\n" in self.quote.text, short, self.name.isupper(), self.quote.start


def holders(office: AnswerType, found: Sequence[Quotable]) -> list[Named]:
    """Best mention of each person that ``found`` names beside ``office``, who has most votes first; only the first, if
    nobody else has more than half as many."""
    votes: dict[str, list[Named]] = defaultdict(list)
    for quote in found:
        for one in {named.surname: named for named in _beside(office, quote)}.values():
            votes[one.surname].append(one)
    counts = Counter({surname: len(given) for surname, given in votes.items()}).most_common()
    kept = [surname for surname, count in counts if count * _LEAD > counts[0][1]]
    return [min(votes[surname], key=lambda one: one.rank) for surname in kept]


def _beside(office: AnswerType, quote: Quotable) -> Iterator[Named]:
    """Persons beside ``office``: before it, with a few words that name nobody between, or directly after it."""
    said = {stem(word) for word in tokens(quote.text)}
    if not any(said.issuperset(phrase) for phrase in office.says):
        return
    words = words_of(quote.text)
    stems = [stem(word.plain) for word in words]
    runs = list(_persons(quote.text, words, frozenset(tokens(quote.source.title))))
    for phrase in office.says:
        for at in range(len(words) - len(phrase) + 1):
            if tuple(stems[at : at + len(phrase)]) != phrase or (at and words[at - 1].plain in _LESSER):
                continue
            end = at + len(phrase)
            while end < len(words) and words[end].plain in listed("person", "never"):
                end += 1
            before = max((run for run in runs if run[1] <= at), default=(0, -_FARTHEST))
            after = next((run for run in runs if run[0] == end), None)
            run = before if at - before[1] < _FARTHEST else after
            around = words[run[1] if run is before else max(0, at - _LEFT) : at] if run is not None else ()
            if run is not None and listed("sentences", "former").isdisjoint(word.plain for word in around):
                yield _named(quote, words[slice(*run)])


def _persons(text: str, words: Sequence[Word], firm: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Runs of words spelt like a person's name: at least two, not all of them common words ("Lead Independent
    Director"), the first not of the document's title, which is a ``firm``'s name."""
    start = 0
    while start < len(words):
        end = start
        while end < len(words) and _is_name(words[end]) and (end == start or _joined(text, words[end - 1], words[end])):
            end += 1
        run = words[start:end]
        own = [word.plain for word in run if len(word.plain) > 1 and word.plain not in _SUFFIXES]
        after = words[end] if end < len(words) and words[end].capital and not words[end].skipped else None
        is_firm = after is not None and after.plain in LEGAL_FORMS - listed("person", "never")
        if len(run) > 1 and own and not is_firm and own[0] not in firm and not all(map(mostly_lowercase, own)):
            yield start, end
        start = max(end, start + 1)


def _is_name(word: Word) -> bool:
    other = word.plain in listed("person", "never") or word.plain in listed("sentences", "former")
    return word.capital and not word.number and not other and (len(word.plain) == 1 or not word.skipped)  # an initial


def _joined(text: str, one: Word, other: Word) -> bool:
    between = text[one.end : other.start]
    return between in _HYPHENS or not between.strip(" .") or (between.strip() == "," and other.plain in _SUFFIXES)


def _named(quote: Quotable, run: Sequence[Word]) -> Named:
    """Person named by ``run``, once, though signed and printed."""
    surname = next(word.plain for word in reversed(run) if len(word.plain) > 1 and word.plain not in _SUFFIXES)
    printed = [word.plain for word in run[len(run) // 2 :]]
    if surname in printed and printed == [word.plain for word in run[: len(run) // 2]]:
        run = run[len(run) // 2 :]
    return Named(" ".join(quote.text[run[0].start : run[-1].end].split()), surname, quote)
