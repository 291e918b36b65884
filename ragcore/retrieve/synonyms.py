"""Domain synonyms: other words for the terms of a question ("capex" → purchases of property, plant and equipment).

The lists are hand-written, not learned: ``ragcore/text/synonyms.toml``, and a user-editable file of the same form in
the home folder. Query expansion with a thesaurus is old (Voorhees, SIGIR 1994); it is safe here because the lists are
short, most terms have several words, and the expansion has a lower weight than the question's own words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from ragcore.errors import ConfigError
from ragcore.text.names import singular
from ragcore.text.terms import Term, name_of
from ragcore.text.words import stem, tokens, word_set

FILE = "synonyms.toml"
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=100)]
Words = tuple[str, ...]
# Prefix words that make another term: deferred revenue, non-operating income.
_OTHER = word_set("non deferred unearned")
_CAPITALS = re.compile(r"[A-Z0-9]*[A-Z]{2,}[A-Z0-9]*s?")
_HINT = 'Correct or remove it there: [same] and [made_of] have lines such as "headcount" = ["workforce", "employees"].'
_SPLIT = re.compile(r"[^\W_]+(?:&[^\W_]+)*")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    same: dict[Name, tuple[Name, ...]] = Field(default_factory=dict)
    made_of: dict[Name, tuple[Name, ...]] = Field(default_factory=dict)


class Synonyms:
    """Thesaurus of domain terms. ``same``: the name of a group → its synonyms; ``made_of``: a measure → the items that
    it is calculated from. A name with none is no term."""

    def __init__(self, same: Mapping[str, Sequence[str]], made_of: Mapping[str, Sequence[str]]) -> None:
        self._known: dict[Words, Term] = {}
        lists = [(name, *others) for name, others in (*same.items(), *made_of.items()) if others]
        self._names = {name_of(term) for names in lists for term in names}
        for name, others in same.items():
            group = (name, *others) if others else ()
            for term in group:
                self._add(term, same=tuple(other for other in group if other != term))
        for name, parts in made_of.items():
            self._add(name, parts=tuple(parts))
        for name, others in (*same.items(), *made_of.items()):
            if not others:
                self._known.pop(_key(name), None)
        self._longest = max(map(len, self._known), default=0)

    def _add(self, term: str, *, same: tuple[str, ...] = (), parts: tuple[str, ...] = ()) -> None:
        key = _key(term)
        if key and (same or parts):
            known = self._known.get(key, Term(term))
            self._known[key] = Term(
                known.said, tuple(dict.fromkeys((*known.same, *same))), tuple(dict.fromkeys((*known.parts, *parts)))
            )

    @classmethod
    def load(cls, home: Path | None = None) -> Synonyms:
        """Built-in terms, and those of ``home``, which replace the built-in ones of the same name. Raises `ConfigError`
        that names the file and the error."""
        own = _File()
        if home is not None and (home / FILE).is_file():
            own = _read((home / FILE).read_bytes(), str(home / FILE))
        return cls({**shipped().same, **own.same}, {**shipped().made_of, **own.made_of})

    def of(self, question: str) -> tuple[str, ...]:
        """Synonyms and parts of the terms in ``question`` that it does not contain itself, in the order of the
        terms."""
        said = f" {' '.join(_stems(_SPLIT.findall(question)))} "
        found = dict.fromkeys(other for term in self.terms(question) for other in term.others)
        return tuple(other for other in found if f" {' '.join(_stems(_SPLIT.findall(other)))} " not in said)

    def terms(self, question: str) -> tuple[Term, ...]:
        """Known terms in ``question``, as written and in order."""
        words = _SPLIT.findall(question)
        found: dict[Term, None] = {}
        place = 0
        while place < len(words):
            # The longest term that begins here consumes its words.
            for length in range(min(self._longest, len(words) - place), 0, -1):
                run = words[place : place + length]
                known = self._known.get(self._match(run))
                if known is not None:
                    if place == 0 or words[place - 1].lower() not in _OTHER:
                        found[Term(" ".join(run), known.same, known.parts)] = None
                    place += length - 1
                    break
            place += 1
        return tuple(found)

    def names(self, phrase: str, beside: str) -> bool:
        """Whether ``phrase`` has a known term, or is the thing that one counts ("employees"), that ``beside`` has
        not."""
        names = [name_of(term.said) for term in self.terms(phrase)] + [name_of(phrase)]
        return any(name in self._names and not name <= name_of(beside) for name in names)

    def _match(self, words: Sequence[str]) -> Words:
        if len(words) == 1:
            return (words[0],) if (words[0],) in self._known else (_singular(words[0]),)
        return _stems(words)


def _key(term: str) -> Words:
    """Matching key of a term: as written if in capitals, the singular of one word, the stems of several."""
    words = _SPLIT.findall(term)
    if len(words) == 1:
        return (term,) if _CAPITALS.fullmatch(term) and len(term) < 5 else (_singular(words[0]),)
    return _stems(words)


def _stems(words: Sequence[str]) -> Words:
    return tuple(stem(part) for word in words for part in tokens(word))


def _singular(word: str) -> str:
    word = word.lower()
    return f"{word[:-3]}y" if word.endswith("ies") and len(word) > 4 else singular(word)


@lru_cache(maxsize=1)
def shipped() -> _File:
    """Built-in terms."""
    return _read(resources.files("ragcore.text").joinpath(FILE).read_bytes(), f"ragcore/text/{FILE}")


def _read(data: bytes, name: str) -> _File:
    try:
        return _File.model_validate(tomllib.loads(data.decode("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name} is not valid TOML: {error}.", hint=_HINT) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{name}: {place}: {first['msg']}.", hint=_HINT) from error
