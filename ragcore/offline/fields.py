"""Report fields as asked for: the guidance split into pieces, and the names, kind and period of each wanted value.

"Describe the drug substance and its mechanism of action. State any known toxicity." has three pieces. "Revenue" with
"Total net revenue or net sales of the latest fiscal year" is one quantity with three names. "Revenue" with "Revenue of
the Field Sensors segment" is a part, which a row named only "Revenue" does not match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ragcore.offline.intents import answer_type
from ragcore.offline.lists import data, listed, stems
from ragcore.text.periods import is_part, without_dates
from ragcore.text.periods import years as years_in
from ragcore.text.sentences import sentence_spans
from ragcore.text.terms import Term
from ragcore.text.words import content_stems, name_stems, tokens, without_brackets
from ragcore.types.question import AnswerType
from ragcore.types.report import Field, ValueSort, under

Sort = Literal["date", "duration", "count", "amount", "words"]
FIGURES: tuple[Sort, ...] = ("amount", "duration", "count")
_SORTS: dict[ValueSort, tuple[Sort, ...]] = {
    "": ("date", "duration", "count", "amount", "words"),
    "figure": FIGURES,
    "date": ("date",),
    "name": ("words",),
}
MOST = 12  # pieces of one section; the rest stays in the last one
_LONGEST_NAME = 2  # words
_LONGEST = 160  # characters of a piece; a longer one is a sentence, not a list entry
_ITEM = re.compile(r"^\s*(?:[-*+•–]|\(?(?:\d{1,2}|[a-z])[.)])\s+")
_OUTSIDE = r"(?![^()]*\))"  # of brackets
_BETWEEN = re.compile(
    rf"\s*;{_OUTSIDE}\s*(?:and\s+|or\s+)?|,{_OUTSIDE}\s+(?:and|or|as well as)\s+|,{_OUTSIDE}\s+", re.IGNORECASE
)
_AND = re.compile(rf"\s+(?:and|as well as){_OUTSIDE}\s+", re.IGNORECASE)
_OR = re.compile(r"\s*,?\s+or\s+|\s*,\s*")
_LETTER = re.compile(r"(?<=[\w)]\s)[A-Z](?![\w.'’])")


@lru_cache(maxsize=4096)
def alike(word: str) -> str:
    """Canonical stem of the synonyms of ``word``, a stem, in fields and documents."""
    groups = (content_stems(group) for group in data()["sentences"]["alike"])
    return next((group[0] for group in groups if word in group), word)


def canonical(words: Iterable[str]) -> frozenset[str]:
    """``words``, stems, each as the one of its synonyms."""
    return frozenset(map(alike, words))


def refers(text: str) -> bool:
    """Whether ``text`` is only a cross-reference."""
    plain = " ".join(tokens(text))
    return any(phrase in plain for phrase in data()["sentences"]["references"])


# Guidance


def requirements(heading: str, guidance: str) -> list[str]:
    """Pieces of ``guidance`` in order, or ``heading`` if it has none; at most twelve."""
    pieces: list[str] = []
    for line in guidance.splitlines():
        item = _ITEM.match(line)
        text = " ".join(line.split())
        spans = sentence_spans(text) if item is None else ()
        pieces += [line[item.end() :].strip(" .;")] if item is not None else []
        pieces += [piece for start, end in spans for piece in _pieces(text[start:end])]
    found = [piece for piece in dict.fromkeys(pieces) if content_stems(piece) and not _of_form(piece)]
    return [*found[: MOST - 1], "; ".join(found[MOST - 1 :])] if len(found) > MOST else found or [heading]


def _of_form(piece: str) -> bool:
    return any(f"{piece.lower()} ".startswith(f"{form} ") for form in data()["guidance"]["form"])


def _pieces(sentence: str) -> list[str]:
    """Entries of the list in an instruction; the sentence itself if it has no list."""
    bare = sentence.strip().rstrip(".;:")
    rest = _instructed(bare)
    if _of_form(bare):
        return []
    if bare.endswith("?") or rest is None:
        return [bare]
    for aside in data()["guidance"]["aside"]:
        rest = re.sub(rf",?\s*\b{aside}\b,?", " ", rest, flags=re.IGNORECASE)
    rest = " ".join(rest.split())
    entries = _split(rest)
    if len(entries) < 2 or any(len(entry) > _LONGEST for entry in entries):
        return [rest or bare]
    # "the drug and its dose": an entry with a pronoun needs its antecedent.
    points = listed("guidance", "refers")
    return [f"{entry} ({entries[0]})" if entry.split()[0].lower() in points else entry for entry in entries]


def _instructed(text: str) -> str | None:
    """Text after the words of instruction; None without them."""
    parts, verbs = text.split(), listed("guidance", "verbs")
    instructing = listed("guidance", "leads") | verbs
    leads = [part.lower().strip(":,") for part in parts]
    count = next((n for n, word in enumerate(leads) if word not in instructing), len(parts))
    return " ".join(parts[count:]) if verbs.intersection(leads[:count]) else None


def _split(text: str) -> list[str]:
    """Entries between commas, semicolons and the last "and", ignoring those in brackets."""
    entries = _BETWEEN.split(text)
    both = _AND.split(entries[-1], maxsplit=1)
    if len(entries) > 1:
        entries = entries if ", and " in text else [*entries[:-1], *both]
    elif len(both) == 2:
        # "research and development" is one thing: each of two entries has words of its own.
        first = both[1].split()[0].lower()
        several = all(len(part.split()) >= 2 for part in both) and first not in listed("guidance", "prepositions")
        entries = both if several or first in listed("guidance", "refers") else entries
    return [entry.strip() for entry in entries if entry.strip()]


# Values


@dataclass(frozen=True, slots=True)
class Name:
    """Stems of a name: ``own`` ones name the quantity, ``further`` ones its subject, which may stand above it.
    ``stated``: it is the name only in a statement of the whole ("Sales", in an income statement)."""

    own: frozenset[str]
    further: frozenset[str] = frozenset()
    stated: bool = False

    @property
    def all(self) -> frozenset[str]:
        return self.own | self.further


@dataclass(frozen=True, slots=True)
class Wish:
    """Requested value. ``names`` are alternatives. ``years``: the requested ones, none for the latest. ``annual``: for
    a year or year-end, not part of a year; no duration is ("days until the annual report"). ``share``: a percentage.
    ``heading``, ``piece`` and ``unit`` as given; ``name``: a name alone is wanted, not the words that give it;
    ``counted``: the unit alone names what is counted; ``terms``: synonyms of its words."""

    sort: Sort
    names: tuple[Name, ...]
    years: frozenset[int]
    annual: bool
    share: bool
    office: AnswerType | None
    heading: str
    piece: str
    unit: str = ""
    name: bool = False
    counted: bool = False
    terms: tuple[Term, ...] = ()

    @property
    def text(self) -> str:
        """What is asked for in all words given."""
        return under(self.heading, self.piece)

    @property
    def is_question(self) -> bool:
        """Whether a question asks for a figure, not a name with its guidance: one that heads itself, with a question
        mark or of more words than a name has."""
        words = content_stems(without_dates(self.piece))
        longer = "?" in self.piece or len(words) > _LONGEST_NAME
        return longer and self.sort in FIGURES and self.text == self.piece

    @property
    def words(self) -> frozenset[str]:
        """Stems of all names."""
        return frozenset().union(*(name.all for name in self.names))


def wishes(heading: str, form: Field, terms: Sequence[Term], year: int) -> list[Wish]:
    """Request of each of a field's requirements."""
    return [wish(heading, piece, form.unit, terms, year, form.sort) for piece in form.requirements]


def wish(heading: str, piece: str, unit: str, terms: Sequence[Term], year: int = 0, wanted: ValueSort = "") -> Wish:
    """Request in ``piece`` of the guidance under ``heading``, for a value of the sort ``wanted``, if it is known;
    ``year`` applies to an annual value that names none."""
    both = f"{heading} {piece}"
    types = map(answer_type, (piece, f"who {heading}"))
    office = next((one for one in types if one.says and {"NAME", "PERSON"} & {*one.wants}), None)
    sort, sorts = _sort(both, piece, unit), _SORTS[wanted]
    sort = sort if sort in sorts else sorts[0]
    said = set(tokens(f"{both} {unit}".replace("per year", " ")))
    yearly = bool({"year", "years", "yearly", "annual", "annually"} & said)
    years = frozenset(years_in(both)) or (frozenset({year} - {0}) if yearly else frozenset())
    names = _of_date(heading) if sort == "date" else _of_quantity(heading, piece, terms)
    counted = sort == "count" and stems_of(heading) <= stems_of(unit)
    if counted:
        names = iter((*names, Name(stems_of(unit))))
    share = "%" in both + unit or bool({"percent", "percentage"} & said)
    distinct = tuple(dict.fromkeys(name for name in names if name.own))
    annual = sort != "duration" and (yearly or (bool(years) and not is_part(piece)))
    by_name = wanted == "name"
    return Wish(sort, distinct, years, annual, share, office, heading, piece, unit, by_name, counted, tuple(terms))


def _sort(both: str, piece: str, unit: str) -> Sort:
    asked, own = f" {' '.join(tokens(both))} ", f" {' '.join(tokens(piece))} "
    for entry in data()["kind"]:
        sort: Sort = entry["name"]
        text = own if sort == "amount" else asked
        if (sort != "date" or not unit) and any(f" {cue} " in text for cue in entry["cues"]):
            return sort
    return "amount" if unit or years_in(piece) else "words"


def _of_date(heading: str) -> Iterator[Name]:
    bare = " ".join(word for word in heading.split() if word.lower() not in listed("names", "dates")) or heading
    yield Name(frozenset(content_stems(bare)))
    for other in _synonyms(bare):
        yield Name(frozenset(content_stems(other)), stated=True)


def _of_quantity(heading: str, piece: str, terms: Sequence[Term]) -> Iterator[Name]:
    """Names from heading and guidance: synonyms, or the part of the heading that the guidance specifies."""
    bare = without_brackets(piece)
    for sign in data()["names"]["tells"]:
        bare = bare.partition(sign)[0] if stems_of(bare.partition(sign)[0]) else bare
    own = [of for name in _called(heading, terms) if (of := stems_of(name))]
    known = frozenset().union(*own, *map(stems_of, _synonyms(heading)))
    stated = dict.fromkeys(_synonyms(heading))
    for part in _OR.split(bare) if " or " in bare else [bare]:
        said = stems_of(part)
        yield from (Name(stems_of(name)) for name in _called(part, terms))
        if said <= known:
            yield from map(Name, own)
        else:
            yield from (Name(of, said - of) for of in own if of < said)
            stated = dict.fromkeys(())
        stated |= dict.fromkeys(_synonyms(part))
    yield from (Name(stems_of(name), stated=True) for name in stated)


def _called(name: str, terms: Sequence[Term]) -> list[str]:
    """``name`` and its synonyms; "research and development expense" also without the last word."""
    of = stems_of(name)
    plain = " ".join(word for word in name.split() if word.lower().strip(".") not in listed("names", "expense"))
    shorter = [plain] if plain != name and len(stems_of(plain)) > 1 else []
    return list(dict.fromkeys((name, *shorter, *(other for t in terms if stems_of(t.said) == of for other in t.same))))


def _synonyms(name: str) -> list[str]:
    """Names in statements for what is asked for as ``name``; empty if they have none."""
    asked = stems_of(name)
    return next((names for names in data()["rows"]["names"] if asked in map(stems_of, names)), [])


def head_stems(head: str) -> frozenset[str]:
    """Stems of a row header, keeping words that narrow a name in a template, and the letter of "Class C"."""
    letters = frozenset(f"{match.group().lower()}." for match in _LETTER.finditer(without_brackets(head)))
    return (name_stems(head) | letters) - stems("names", "neutral")


def stems_of(name: str) -> frozenset[str]:
    """Stems that distinguish a quantity from others."""
    return head_stems(name) - stems("names", "beside")
