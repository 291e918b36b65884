"""Answer types: the kind of thing a question asks for, and whether a sentence or row holds one.

The cues are data (`intents.toml`). A fit raises a quote among relevant ones; it decides nothing alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from ragcore.offline.lists import data, listed
from ragcore.text import lexicon as lex
from ragcore.text.names import LEGAL_FORMS, Word, words_of
from ragcore.text.numbers import numbers
from ragcore.text.periods import periods
from ragcore.text.words import FUNCTION_WORDS, content_stems, stem, tokens
from ragcore.types.question import AnswerType

_LONGEST_TERM = 4  # words
PERSON = AnswerType(("PERSON",))
_HYPHENS = frozenset("-‐‑")
SUFFIXES = frozenset({"ii", "iii", "iv", "jr", "sr", "md", "phd", "esq"})
KIND_ONLY = 0.4  # fit of a text with the wanted kind of thing but not its usual words


def holds_kind(answer: AnswerType, text: str) -> bool:
    """Whether ``text`` holds one of the requested kinds of thing."""
    return not answer.wants or any(_KINDS[kind](text) for kind in answer.wants)


def fit(answer: AnswerType, text: str) -> float:
    """Resemblance of ``text`` to an answer: 1.0 with the requested kind and its usual words, `KIND_ONLY` with the kind
    alone, else 0.0."""
    if not holds_kind(answer, text):
        return 0.0
    words = [stem(word) for word in tokens(text)]
    said = any(lex.places(phrase, words) for phrase in answer.says)
    if said or any(form in text.lower() for form in answer.written):
        return 1.0
    return KIND_ONLY if answer.wants else 0.0


def answer_type(question: str) -> AnswerType:
    """Type of the first intent with a cue in ``question``; an empty one without a match."""
    words = tokens(question)
    stems = [stem(word) for word in words]
    for entry in data()["intent"]:
        for cue in entry["asks"]:
            asked = cue.split()
            terms = _captured(cue, words) if "*" in asked else []
            if not terms and ("*" in asked or not _in_order([stem(word) for word in asked], stems)):
                continue
            forms = entry.get("says", ())
            says = [tuple(map(stem, tokens(said))) for form in forms for said in _filled(form, terms)]
            written = [said.lower() for form in entry.get("written", ()) for said in _filled(form, terms)]
            beside = frozenset(content_stems(question)) - frozenset(content_stems(cue))
            term = terms[0] if entry.get("term") and terms else ""
            wants, prose = tuple(entry["wants"]), bool(entry.get("prose"))
            return AnswerType(wants, tuple(says), tuple(written), frozenset() if terms else beside, term, prose)
    return AnswerType()


@lru_cache(maxsize=1)
def about_whole() -> AnswerType:
    """Type of an answer about a document's nature, purpose or findings."""
    return AnswerType(says=tuple(tuple(map(stem, tokens(said))) for said in data()["whole"]["answers"]), prose=True)


def _captured(cue: str, words: Sequence[str]) -> list[str]:
    """Captures of each ``*`` in ``cue``, if it matches all of ``words``: one to four words, none a function word or
    number."""
    match = re.fullmatch(re.escape(cue).replace(r"\*", rf"(\S+(?: \S+){{0,{_LONGEST_TERM - 1}}})"), " ".join(words))
    terms = list(match.groups()) if match is not None else []
    return [] if any(word in FUNCTION_WORDS or word[0].isdigit() for term in terms for word in term.split()) else terms


def _filled(form: str, terms: Sequence[str]) -> list[str]:
    return [form.replace("*", term) for term in terms] if "*" in form else [form]


def _in_order(cue: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(words)
    return all(word in rest for word in cue)


def persons(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Runs of the ``words`` of ``text`` that are spelt like a person's name: at least two, none of an office, and no
    form of a firm behind them."""
    start = 0
    while start < len(words):
        end = start
        while end < len(words) and _is_name(words[end]) and (end == start or _joined(text, words[end - 1], words[end])):
            end += 1
        after = words[end] if end < len(words) and words[end].capital and not words[end].skipped else None
        is_firm = after is not None and after.plain in LEGAL_FORMS - listed("person", "never")
        if end > start + 1 and not is_firm:
            yield start, end
        start = max(end, start + 1)


def _is_name(word: Word) -> bool:
    other = word.plain in listed("person", "never") or word.plain in listed("sentences", "former")
    return word.capital and not word.number and not other and (len(word.plain) == 1 or not word.skipped)  # an initial


def _joined(text: str, one: Word, other: Word) -> bool:
    between = text[one.end : other.start]
    return between in _HYPHENS or not between.strip(" .") or (between.strip() == "," and other.plain in SUFFIXES)


def _quantity(kind: str) -> Callable[[str], bool]:
    return lambda text: any(number.kind.split("/")[0] == kind for number in numbers(text))


_KINDS: Mapping[str, Callable[[str], bool]] = {
    "PERSON": lambda text: any(persons(text, words_of(text))),
    "NAME": lambda text: any(word.marked and not word.number for word in words_of(text)),
    "NUMBER": lambda text: any(character.isdigit() for character in text),
    "COUNT": _quantity(""),
    "MONEY": lambda text: any(number.currency for number in numbers(text)),
    "SHARE": _quantity("%"),
    "DURATION": _quantity("time"),
    "DATE": lambda text: bool((found := periods(text)).years or found.dates or found.months),
}
