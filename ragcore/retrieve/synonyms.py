"""Terms of the trade: what a question also means in other words ("capex" → purchases of property, plant and equipment).

Written down, not learned: ``ragcore/synonyms.toml``, and a file of the same form in the home folder, which a person may
edit. Query expansion with a thesaurus is old (Voorhees, SIGIR 1994); what makes it safe here is that the lists are
short, of multi-word terms for the most part, and that the expansion counts for less than the question's own words.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from ragcore.errors import ConfigError
from ragcore.words import stem, tokens

FILE = "synonyms.toml"
Term = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=100)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    same: dict[Term, tuple[Term, ...]] = Field(default_factory=dict)
    made_of: dict[Term, tuple[Term, ...]] = Field(default_factory=dict)


class Synonyms:
    """``same``: the name of a group → other words for it; ``made_of``: a measure → what it is worked out from."""

    def __init__(self, same: Mapping[str, Sequence[str]], made_of: Mapping[str, Sequence[str]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
        for name, others in same.items():
            group = (name, *others) if others else ()
            for term in group:
                self._add(term, tuple(other for other in group if other != term))
        for name, parts in made_of.items():
            self._add(name, tuple(parts))

    def _add(self, term: str, others: tuple[str, ...]) -> None:
        key = _key(term)
        if key and others:
            self._by_first.setdefault(key[0], []).append((key, others))

    @classmethod
    def load(cls, home: Path | None = None) -> Synonyms:
        """The shipped terms and those of ``home``. Raises `ConfigError` that names the file and what is wrong there."""
        shipped = _read(resources.files("ragcore").joinpath(FILE).read_bytes(), f"ragcore/{FILE}")
        own = _File()
        if home is not None and (home / FILE).is_file():
            own = _read((home / FILE).read_bytes(), str(home / FILE))
        return cls({**shipped.same, **own.same}, {**shipped.made_of, **own.made_of})

    def of(self, question: str) -> tuple[str, ...]:
        """Terms that ``question`` also means and does not say itself, in the order in which it gives rise to them."""
        words = _key(question)
        found: dict[str, None] = {}
        for place, word in enumerate(words):
            for key, others in self._by_first.get(word, ()):
                if words[place : place + len(key)] == key:
                    found.update(dict.fromkeys(others))
        said = f" {' '.join(words)} "
        return tuple(term for term in found if f" {' '.join(_key(term))} " not in said)


def _key(term: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in tokens(term))


def _read(data: bytes, name: str) -> _File:
    try:
        return _File.model_validate(tomllib.loads(data.decode("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name} is not valid TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(
            f"{name}: {place}: {first['msg']}.",
            hint='Write [same] and [made_of] with lines such as "headcount" = ["workforce", "employees"].',
        ) from error
