"""Domain terms of a question with their synonyms: one list for every comparison with text.

Retrieval also searches for the synonyms of a question's terms (`ragcore.retrieve.synonyms`); the stages that judge or
quote passages need them too, or they would not find "capex" in a line on capital expenditure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from ragcore.text.languages import language_of
from ragcore.text.words import LISTS, OTHER_FUNCTION_WORDS, content_stems, stem, tokens, word_set

_COUNTS = frozenset({"number"})
_LEAST = 1e-5  # relevance
_OF_SIZE: Final = word_set(LISTS["of_size"])


@dataclass(frozen=True, slots=True)
class Term:
    """Domain term as ``said`` by a question, with ``same``, its synonyms, and ``parts``, from which it is
    calculated. ``defining``: document in which it is called so, "" for a term of the domain, and the part of its text
    ``within`` which it is."""

    said: str
    same: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    defining: str = ""
    within: tuple[int, int] = (0, 0)

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.same, *self.parts)))


class Wanted:
    """Content words of ``text`` (``words``: distinct stems in order), without an adjective of size that "how" asks by.
    A word of one of ``terms`` also counts as present if all words of a synonym are."""

    def __init__(self, text: str, terms: Iterable[Term] = ()) -> None:
        self._text = text
        self._terms = tuple(terms)
        said_only = {stem(word) for word in OTHER_FUNCTION_WORDS.get(language_of(text), ())}
        asked_by = {stem(size) for how, size in pairwise(tokens(text)) if how == "how" and size in _OF_SIZE}
        words = tuple(word for word in dict.fromkeys(content_stems(text)) if word not in asked_by)
        # "Wie", "war" and "die" are content words in English, but not in a German question.
        self.words: tuple[str, ...] = tuple(word for word in words if word not in said_only) or words
        others: dict[str, list[frozenset[str]]] = {}
        for term in self._terms:
            said = set(content_stems(term.said)) & set(self.words)
            names = [name for other in term.others if (name := name_of(other))]
            for word in said:
                others.setdefault(word, []).extend(names)
        self._others: Mapping[str, tuple[frozenset[str], ...]] = {word: tuple(names) for word, names in others.items()}

    def without(self, words: Set[str]) -> Wanted:
        """The same ``text`` without these of its ``words``."""
        out = copy(self)
        out.words = tuple(word for word in self.words if word not in words)
        return out

    def has(self, word: str, given: Set[str]) -> bool:
        """Whether the stems ``given`` contain ``word`` (one of ``words``), directly or by a synonym."""
        return word in given or any(name <= given for name in self._others.get(word, ()))

    def held(self, given: Set[str]) -> frozenset[str]:
        """Members of ``words`` that the stems ``given`` contain."""
        return frozenset(word for word in self.words if self.has(word, given))

    def cover(self, given: Set[str]) -> float:
        """Share of ``words`` that the stems ``given`` contain, 0–1; 1.0 without ``words``."""
        return len(self.held(given)) / len(self.words) if self.words else 1.0

    def asked_of(self, given: Set[str], doc_id: str, at: int) -> tuple[str, ...]:
        """``text`` as the passage at ``at`` of a document, with the stems ``given``, is asked: with the synonym that it
        has for a term that it has not; and for a name that it has, or is called by another term there, also with that
        term, and without the name."""
        text = self._text
        for term in self._terms:
            if not term.defining and not name_of(term.said) <= given:
                text = text.replace(term.said, next((one for one in term.same if name_of(one) <= given), term.said))
        own = [term for term in self._terms if term.defining == doc_id]
        own = [one for one in own if one.within[0] <= at < one.within[1] or name_of(one.said) & given]
        bare = [re.sub(rf"\s*\b{re.escape(term.said)}(?:['’]s)?", "", text) for term in own]
        return tuple(dict.fromkeys((text, *(text.replace(term.said, term.same[0]) for term in own), *bare)))

    def relevance(
        self,
        passages: Sequence[str],
        words: Sequence[Set[str]],
        places: Sequence[tuple[str, int]],
        score: Callable[[str, Sequence[str]], NDArray[np.float64]],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Relevance of ``passages``, whose stems are ``words``, at these ``places`` (document, offset in its text), to
        ``text``: the mean in log odds of all that each is asked (`asked_of`), and the best of it.

        To a cross-encoder what names a party is relevant to anything that is asked of it by name, and a clause that
        calls it otherwise to nothing; the mean tells what is said of it."""
        asked = [self.asked_of(given, *place) for given, place in zip(words, places, strict=True)]
        mean, best = np.zeros(len(passages)), np.full(len(passages), -np.inf)
        for text in dict.fromkeys(one for texts in asked for one in texts):
            rows = [row for row, texts in enumerate(asked) if text in texts]
            odds = logit(np.clip(score(text, [passages[row] for row in rows]), _LEAST, 1.0 - _LEAST))
            mean[rows] += odds / [len(asked[row]) for row in rows]
            best[rows] = np.maximum(best[rows], odds)
        return expit(mean), expit(best)

    @property
    def everything(self) -> frozenset[str]:
        """``words`` and the words of all synonyms."""
        return frozenset(self.words).union(*(name for names in self._others.values() for name in names))


def name_of(text: str) -> frozenset[str]:
    """Stems of a name; a number of employees is also named by ``employees``."""
    stems = frozenset(content_stems(text))
    return stems - _COUNTS or stems
