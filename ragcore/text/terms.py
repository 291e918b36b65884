"""The words of a question with what they are also called: one list of terms, used wherever a text is held against it.

Retrieval also searches for the other names of a question's terms (`ragcore.retrieve.synonyms`); what then judges or
quotes the passages has to know them too, or it finds nothing of "capex" in a line on capital expenditure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from ragcore.text.languages import language_of
from ragcore.text.words import OTHER_FUNCTION_WORDS, content_stems, stem

_COUNTS = frozenset({"number"})


@dataclass(frozen=True, slots=True)
class Term:
    """A term as a question ``said`` it, ``same``: other names for it, ``parts``: what it is worked out from."""

    said: str
    same: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.same, *self.parts)))


class Wanted:
    """The content words of ``text`` (``words``: distinct stems in order). A word of one of ``terms`` is there too where
    another name of the term stands with all its words."""

    def __init__(self, text: str, terms: Iterable[Term] = ()) -> None:
        said_only = {stem(word) for word in OTHER_FUNCTION_WORDS.get(language_of(text), ())}
        words = tuple(dict.fromkeys(content_stems(text)))
        # "Wie", "war" and "die" carry meaning in English, and none in a German question.
        self.words: tuple[str, ...] = tuple(word for word in words if word not in said_only) or words
        others: dict[str, list[frozenset[str]]] = {}
        for term in terms:
            said = set(content_stems(term.said)) & set(self.words)
            names = [name for other in term.others if (name := _name(other))]
            for word in said:
                others.setdefault(word, []).extend(names)
        self._others: Mapping[str, tuple[frozenset[str], ...]] = {word: tuple(names) for word, names in others.items()}

    def has(self, word: str, given: Set[str]) -> bool:
        """Whether ``word`` (one of ``words``) stands in the stems ``given``, by itself or by another name."""
        return word in given or any(name <= given for name in self._others.get(word, ()))

    def held(self, given: Set[str]) -> frozenset[str]:
        """Those of ``words`` that the stems ``given`` hold."""
        return frozenset(word for word in self.words if self.has(word, given))

    def cover(self, given: Set[str]) -> float:
        """Share of ``words`` that the stems ``given`` hold, 0–1; 1.0 when nothing is wanted."""
        return len(self.held(given)) / len(self.words) if self.words else 1.0

    @property
    def everything(self) -> frozenset[str]:
        """``words`` and the words of every other name."""
        return frozenset(self.words).union(*(name for names in self._others.values() for name in names))


def _name(text: str) -> frozenset[str]:
    """The stems of a name; a number of employees is also named by ``employees``."""
    stems = frozenset(content_stems(text))
    return stems - _COUNTS or stems
