"""Report field requests: the guidance split into pieces, and the names, kind and period of each requested value.

"Describe the drug substance and its mechanism of action. State any known toxicity." has three pieces. "Revenue" with
"Total net revenue or net sales of the latest fiscal year" is one quantity with three names. "Revenue" with "Revenue of
the Field Sensors segment" is a part, which a row named only "Revenue" does not match.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

from ragcore.offline.periods import YEAR
from ragcore.offline.quote_ranking import name_of
from ragcore.offline.statements import named_alike
from ragcore.text.sentences import sentence_spans
from ragcore.text.terms import Term
from ragcore.text.words import content_stems, stem, tokens, word_set

Sort = Literal["date", "duration", "count", "amount", "words"]
MOST = 12  # pieces of one section; the rest stays in the last one
_LONGEST = 160  # characters of a piece; a longer one is a sentence, not a list entry
_ITEM = re.compile(r"^\s*(?:[-*+•–]|\(?(?:\d{1,2}|[a-z])[.)])\s+")
_BETWEEN = re.compile(r"\s*;\s*(?:and\s+|or\s+)?|,\s+(?:and|or|as well as)\s+|,\s+", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|as well as)\s+", re.IGNORECASE)
_OR = re.compile(r"\s*,?\s+or\s+|\s*,\s*")
_BRACKETS = re.compile(r"\([^()]*\)")
_LETTER = re.compile(r"(?<=[\w)]\s)[A-Z](?![\w.'’])")


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("ragcore.offline").joinpath("fields.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def words(section: str, name: str) -> frozenset[str]:
    """Words of a list in ``fields.toml``."""
    return word_set(_data()[section][name])


@lru_cache(maxsize=64)
def stems(section: str, name: str) -> frozenset[str]:
    """Stems of a list in ``fields.toml``."""
    return frozenset(stem(word) for word in words(section, name))


@lru_cache(maxsize=16)
def alike(word: str) -> str:
    """Canonical stem of the synonyms of ``word``, a stem, in fields and documents."""
    return next((group[0] for group in _alike() if word in group), word)


@lru_cache(maxsize=1)
def _alike() -> tuple[list[str], ...]:
    return tuple(content_stems(group) for group in _data()["sentences"]["alike"])


def refers(text: str) -> bool:
    """Whether ``text`` is only a cross-reference."""
    plain = " ".join(tokens(text))
    return any(phrase in plain for phrase in _data()["sentences"]["references"])


# Guidance


def requirements(heading: str, guidance: str) -> list[str]:
    """Pieces of ``guidance`` in order, or ``heading`` if it has none; at most twelve."""
    pieces: list[str] = []
    for line in guidance.splitlines():
        item = _ITEM.match(line)
        if item is not None:
            pieces.append(line[item.end() :].strip(" .;"))
            continue
        text = " ".join(line.split())
        for start, end in sentence_spans(text):
            pieces.extend(_pieces(text[start:end]))
    found = [piece for piece in dict.fromkeys(pieces) if content_stems(piece) and not _of_form(piece)]
    if len(found) > MOST:
        found = [*found[: MOST - 1], "; ".join(found[MOST - 1 :])]
    return found or [heading]


def _of_form(piece: str) -> bool:
    low = piece.lower()
    return any(low == form or low.startswith(f"{form} ") for form in _data()["guidance"]["form"])


def _pieces(sentence: str) -> list[str]:
    """Entries of the list in an instruction; the sentence itself if it has no list."""
    bare = sentence.strip().rstrip(".;:")
    rest = _instructed(bare)
    if _of_form(bare):
        return []
    if bare.endswith("?") or rest is None:
        return [bare]
    for aside in _data()["guidance"]["aside"]:
        rest = re.sub(rf",?\s*\b{aside}\b,?", " ", rest, flags=re.IGNORECASE)
    rest = " ".join(rest.split())
    entries = [entry for entry in _split(rest) if entry]
    if len(entries) < 2 or any(len(entry) > _LONGEST for entry in entries):
        return [rest or bare]
    # "the drug and its dose": an entry with a pronoun needs its antecedent.
    points = words("guidance", "refers")
    return [f"{entry} ({entries[0]})" if entry.split()[0].lower() in points else entry for entry in entries]


def _instructed(text: str) -> str | None:
    """Text after the words of instruction; None without them."""
    parts = text.split()
    while parts and parts[0].lower() in words("guidance", "polite"):
        del parts[0]
    two = " ".join(parts[:2]).lower()
    if two in _data()["guidance"]["asks"]:
        del parts[:2]
    elif parts and parts[0].lower().strip(":,") in words("guidance", "verbs"):
        del parts[0]
    else:
        return None
    while parts and parts[0].lower() in words("guidance", "fill"):
        del parts[0]
    return " ".join(parts)


def _split(text: str) -> list[str]:
    """Entries between commas, semicolons and the last "and", ignoring those in brackets."""
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match.group())
        return f"\0{len(hidden) - 1}\0"

    plain = re.sub(r"\([^()]*\)|\d,\d", hide, text)
    entries = _BETWEEN.split(plain)
    if len(entries) > 1:
        entries = [*entries[:-1], *_AND.split(entries[-1], maxsplit=1)] if ", and " not in plain else entries
    elif len(both := _AND.split(plain)) == 2:
        # "research and development" is one thing: each of two entries has words of its own.
        first = both[1].split()[0].lower()
        several = all(len(part.split()) >= 2 for part in both) and first not in words("guidance", "prepositions")
        entries = both if several or first in words("guidance", "refers") else [plain]
    return [re.sub("\0(\\d+)\0", lambda match: hidden[int(match.group(1))], entry).strip() for entry in entries]


# Values


@dataclass(frozen=True, slots=True)
class Name:
    """Name ``text`` as written, with its ``stems``; ``further`` are stems required nearby. ``stated``: it names the
    quantity only in a statement of the whole ("Sales", in an income statement)."""

    text: str
    stems: frozenset[str]
    further: frozenset[str] = frozenset()
    stated: bool = False

    @property
    def all(self) -> frozenset[str]:
        return self.stems | self.further


@dataclass(frozen=True, slots=True)
class Wish:
    """Requested value. ``names``: alternative names. ``years``: the requested ones, none for the latest. ``annual``:
    for a year or year-end, not part of a year. ``share``: a percentage. ``heading``, ``piece`` and ``unit`` as given.
    ``did``: the stem of the verb in a request to count ("employees hired")."""

    sort: Sort
    names: tuple[Name, ...]
    years: frozenset[int]
    annual: bool
    share: bool
    heading: str
    piece: str
    unit: str = ""
    did: str = ""

    @property
    def words(self) -> frozenset[str]:
        """Stems of every name and of the words required nearby."""
        return frozenset().union(*(name.all for name in self.names))


def wish(heading: str, piece: str, unit: str, terms: Sequence[Term], year: int = 0) -> Wish:
    """Request in ``piece`` of the guidance under ``heading``; ``year`` applies to an annual value that names none."""
    both = f"{heading} {piece}"
    sort = _sort(both, piece, unit)
    yearly = bool({"year", "years", "yearly", "annual", "annually"} & set(tokens(both)))
    years = frozenset(int(named) for named in YEAR.findall(both))
    if year and not years and yearly:
        years = frozenset((year,))
    names = _of_date(heading) if sort == "date" else _of_quantity(heading, piece, terms)
    did = ""
    if sort == "count":
        did = next((word for word in reversed(content_stems(piece)) if word in stems("names", "actions")), "")
        names = [_counted(name, did) for name in names]
    if sort == "amount":
        known = {name.stems for name in names}
        other = dict.fromkeys(other for name in names if not name.further for other in named_alike(name.text))
        names += [Name(text, of, stated=True) for text in other if (of := stems_of(text)) not in known]
    share = "%" in f"{both} {unit}" or bool({"percent", "percentage"} & set(tokens(f"{both} {unit}")))
    distinct = tuple(dict.fromkeys(name for name in names if name.stems))
    return Wish(sort, distinct, years, bool(years) or yearly, share, heading, piece, unit, did)


def _sort(both: str, piece: str, unit: str) -> Sort:
    asked, own = f" {' '.join(tokens(both))} ", f" {' '.join(tokens(piece))} "
    for entry in _data()["kind"]:
        sort: Sort = entry["name"]
        text = own if sort == "amount" else asked
        if (sort != "date" or not unit) and any(f" {cue} " in text for cue in entry["cues"]):
            return sort
    return "amount" if unit or YEAR.search(piece) else "words"


def _of_date(heading: str) -> list[Name]:
    bare = " ".join(
        word for word in heading.split() if word.lower() not in ("date", "day", "end", "ended", "of", "the")
    )
    made = [bare or heading, *named_alike(bare)]
    return [Name(text, frozenset(content_stems(text)), stated=text != made[0]) for text in made]


def _counted(name: Name, did: str) -> Name:
    """``name`` without verbs of having and ``did``; ``did`` must be nearby instead."""
    bare = frozenset(word for word in name.stems if word not in stems("names", "counts") and word != did)
    further = frozenset(word for word in name.further if word not in stems("names", "counts"))
    return replace(name, stems=bare or name.stems, further=further | ({did} if did else frozenset()) - name.stems)


def _of_quantity(heading: str, piece: str, terms: Sequence[Term]) -> list[Name]:
    """Names from heading and guidance: synonyms, or the part of the heading that the guidance specifies."""
    bare = _BRACKETS.sub(" ", piece)
    for sign in _data()["names"]["tells"]:
        bare = bare.partition(sign)[0] if stems_of(bare.partition(sign)[0]) else bare
    names: list[Name] = []
    for part in _OR.split(bare) if " or " in bare else [bare]:
        own, said = _called(heading, terms), stems_of(part)
        if said <= frozenset().union(*(stems_of(name) for name in (*own, *named_alike(heading)))):
            names += [Name(name, stems_of(name)) for name in (*own, *_called(part, terms))]
            continue
        names += [Name(name, stems_of(name)) for name in _called(part, terms)]
        names += [Name(name, of, said - of) for name in own if (of := stems_of(name)) and of < said]
    return names


def _called(name: str, terms: Sequence[Term]) -> list[str]:
    """``name`` and its synonyms; "research and development expense" also without the last word."""
    of = stems_of(name)
    plain = " ".join(word for word in name.split() if word.lower().strip(".") not in words("names", "expense"))
    shorter = [plain] if plain != name and len(stems_of(plain)) > 1 else []
    return list(dict.fromkeys((name, *shorter, *(other for t in terms if stems_of(t.said) == of for other in t.same))))


def head_stems(head: str) -> frozenset[str]:
    """Stems of a row header, keeping words that narrow a name in a template, and the letter of "Class C"."""
    letters = frozenset(f"{match.group().lower()}." for match in _LETTER.finditer(_BRACKETS.sub(" ", head)))
    return (name_of(head) | letters) - stems("names", "neutral")


def stems_of(name: str) -> frozenset[str]:
    """Stems that distinguish a quantity from others."""
    return head_stems(YEAR.sub(" ", name)) - stems("names", "beside")
