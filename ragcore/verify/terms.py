"""Words of a claim and of labels made comparable: stems, quarters and halves in one form, synonyms of the trade.

What is compared here is what something is called: a row, a column, the thing that a number counts.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib import resources

from ragcore.text.lexicon import synonyms
from ragcore.text.periods import canonical
from ragcore.text.words import STOP_WORDS, stem, tokens, word_set

# A letter that stands alone names something: Class B, Ostrova A. A capital A that begins a sentence is an article.
_LETTER = re.compile(r"(?<![\w'’.&-])(?:[B-HJ-Z]|(?<=[\w)] )A)(?![\w'’.&-]| [a-z]+ (?:is|was|of)\b)")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# Before a name, of which they are no part.
TITLES = word_set("mr mrs ms miss dr prof sir")
UNIMPORTANT = word_set("total net number amount value mean average")


@lru_cache(maxsize=1)
def _trade() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Pairs of terms (as stems) of which the first may be said for the second, from ``ragcore/text/synonyms.toml``."""
    with resources.files("ragcore.text").joinpath("synonyms.toml").open("rb") as file:
        groups = tomllib.load(file).get("same", {})
    pairs: list[tuple[frozenset[str], frozenset[str]]] = []
    for name, others in groups.items():
        terms = [frozenset(_stems(term)) for term in (name, *others)]
        pairs.extend((one, other) for one in terms for other in terms if one and other and one != other)
    return tuple(pairs)


def with_synonyms(stems: set[str]) -> set[str]:
    """``stems`` and the stems that say the same, of single words and of terms of the trade."""
    out = set(stems)
    for one in stems:
        out |= synonyms().get(one, frozenset())
    for term, other in _trade():
        if term <= stems:
            out |= other
    return out


def _stems(text: str) -> list[str]:
    return [stem(word) for word in tokens(text) if word not in STOP_WORDS]


@lru_cache(maxsize=8192)
def terms(text: str) -> frozenset[str]:
    """What ``text`` speaks of: stems of its content words, its numbers, ``q2`` and ``h1`` for periods, and capitals
    that stand alone."""
    words = canonical(text)
    out = {one for one in _stems(words) if len(one) > 1 or one.isdigit()}
    return frozenset(out | {match.group().lower() for match in _LETTER.finditer(words)})


@lru_cache(maxsize=8192)
def label_terms(label: str) -> frozenset[str]:
    """As `terms`, without what stands in brackets (units, ``n = 104``), unless nothing else does."""
    return terms(_BRACKETS.sub(" ", label)) or terms(label)


def named_by(label: str, said: frozenset[str] | set[str]) -> float:
    """Share of a label's words that are among ``said``, 0–1; words such as total and net count for less."""
    wanted = label_terms(label)
    if not wanted:
        return 0.0
    weights = {one: 0.3 if one in UNIMPORTANT else 1.0 for one in wanted}
    return sum(weight for one, weight in weights.items() if one in said) / sum(weights.values())
