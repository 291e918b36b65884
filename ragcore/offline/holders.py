"""Office holders: the person whom most mentions of an office name.

One sentence on an office may name who left it, or holds it elsewhere; signatures, certificates and lists of officers
name its holder again and again. Each quote votes for the person next to the office in it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from ragcore.offline.intents import SUFFIXES, persons
from ragcore.offline.lists import listed
from ragcore.offline.quotes import Quotable
from ragcore.text import lexicon as lex
from ragcore.text.names import Word, words_of
from ragcore.text.sentences import mostly_lowercase
from ragcore.text.words import stem, tokens
from ragcore.types.question import AnswerType

_LEAD = 2  # times the votes of anybody else that a holder has
_FARTHEST = 8  # words from a name to the office
_LEFT = 2  # words before an office that say that somebody left it
_LESSER = frozenset({"vice"})  # of another office than the one it stands before


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
    titled = set(tokens(quote.source.title))
    runs = [run for run in persons(quote.text, words) if _is_own(words[slice(*run)], titled)]
    for phrase in office.says:
        for at in lex.places(phrase, stems):
            if at and words[at - 1].plain in _LESSER:
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


def _is_own(run: Sequence[Word], titled: Set[str]) -> bool:
    """Whether a name begins with no word that is ``titled``, as of a firm, and not all of it are common words ("Lead
    Independent Director")."""
    own = _own(run)
    return bool(own) and own[0] not in titled and not all(map(mostly_lowercase, own))


def _own(run: Sequence[Word]) -> list[str]:
    """Words of a name without initials and suffixes."""
    return [word.plain for word in run if len(word.plain) > 1 and word.plain not in SUFFIXES]


def _named(quote: Quotable, run: Sequence[Word]) -> Named:
    """Person named by ``run``, once, though signed and printed."""
    surname = _own(run)[-1]
    printed = [word.plain for word in run[len(run) // 2 :]]
    if surname in printed and printed == [word.plain for word in run[: len(run) // 2]]:
        run = run[len(run) // 2 :]
    return Named(" ".join(quote.text[run[0].start : run[-1].end].split()), surname, quote)
