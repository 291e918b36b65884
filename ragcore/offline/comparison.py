"""Comparison of documents: what a question asks of each of them alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from ragcore.offline.lists import listed
from ragcore.text import lexicon as lex
from ragcore.text.names import Word, is_period, words_of
from ragcore.text.periods import years
from ragcore.text.words import STOP_WORDS, tokens
from ragcore.types import Each

_EDGES = " ,;:.?!–—-/&"
_LOOSE = re.compile(r"\s+(?=[,;:.?!])|(?<=\s)['’]s?(?=\s|$)|\([\s,]*\)|(?<=\()[\s,]+|\s[–—-](?=\s)")
_ALTERNATIVES = re.compile(r",?\s+or\s+|,\s+")
_PAUSE = re.compile(r"[,;:.?!()]")

Span = tuple[int, int]  # first and last word


@dataclass(frozen=True, slots=True)
class _Asked:
    """Set of documents that is asked about: its words ``first``..``end``, all words to leave out, and whether the
    documents are to have the rest, ``literal``."""

    first: int
    end: int
    dropped: frozenset[int]
    literal: bool = False


def asked_of_each(question: str, documents: Sequence[str]) -> Each | None:
    """What ``question``, in which ``documents`` are names of documents, asks of each of several; None if it asks of all
    together or of one, or denies something.

    It does if it compares documents that it names, or names them one after another ("of Adobe and Corning"), or if it
    is asked of a set of documents ("which filings mention", "for each company").
    """
    words = words_of(question)
    plain = [word.plain for word in words]
    if not listed("each", "denying").isdisjoint(plain):
        return None
    named = dict(sorted((place, name) for name in documents for place in _places(question, words, name)))
    names = {n for first, end in named for n in range(first, end + 1)}
    signs = _signs(question, words)
    compares = bool(signs) or not (listed("each", "comparing") - {"than"}).isdisjoint(plain)
    asked = next(_sets(question, words, names, compares=compares), None)
    if asked is not None and (asked.literal or len(named) < 2):
        dropped, within = set(asked.dropped), not names.isdisjoint(range(asked.first, asked.end + 1))
        text = _alone(question, words, dropped if asked.literal else dropped | signs.keys())
        if not _says_something(text):
            return None
        if asked.literal:
            alternatives = list(filter(_says_something, _ALTERNATIVES.split(text)))
            bare = (" ".join(word for word in tokens(one) if word not in STOP_WORDS) for one in alternatives)
            return Each(" or ".join(alternatives), words=tuple(bare), within=within)
        return Each(text, sign=_sign(plain, signs), within=within)
    in_turn = _in_turn(plain, list(named))
    if len(named) < 2 or not (in_turn or compares or all(words[end].possessive for _, end in named)):
        return None
    dropped = names | signs.keys()
    if in_turn:
        dropped |= {n for n in range(min(names), max(names)) if not is_period(plain[n])}
    own = _own_texts(question, words, named, dropped)
    if not own:
        of = _years_of(plain, named)
        fiscal = {n - 1 for n in of if plain[n - 1] in listed("each", "fiscal")}
        text = _alone(question, words, dropped | of.keys() | fiscal)
        own = {name: f"{text} in {plain[n]}" for n, name in of.items()} or dict.fromkeys(named.values(), text)
    if not all(map(_says_something, own.values())):
        return None
    return Each(next(iter(own.values())), tuple(own.items()), named=True, sign=_sign(plain, signs))


def _says_something(text: str) -> bool:
    """Whether ``text`` has a word that asks for something."""
    empty = STOP_WORDS | lex.KINDS | listed("follow_up", "verbs") | listed("follow_up", "ordinals")
    return not set(tokens(text)) <= empty


def _places(question: str, words: Sequence[Word], name: str) -> Iterator[Span]:
    """Where the question has ``name`` first, as whole words."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question)
    inside = [n for n, word in enumerate(words) if found and found.start() <= word.start < found.end()]
    if inside:
        yield inside[0], inside[-1]


def _in_turn(plain: Sequence[str], named: Sequence[Span]) -> bool:
    """Whether names follow one after another, with nothing but conjunctions, prepositions and periods between."""
    between = [word for (_, end), (first, _) in pairwise(named) for word in plain[end + 1 : first]]
    return all(word in listed("each", "joining") or is_period(word) for word in between)


def _own_texts(question: str, words: Sequence[Word], named: Mapping[Span, str], dropped: Set[int]) -> dict[str, str]:
    """What is asked of each name, if what follows each says it ("Adobe's media revenue with Corning's glass revenue"),
    after what stands before the first; none if they are asked the same."""
    ends = [*(first for first, _ in list(named)[1:]), len(words)]
    parts = {name: range(end + 1, next_) for ((_, end), name), next_ in zip(named.items(), ends, strict=True)}
    texts = {
        name: _alone(question, words, set(range(len(words))) - (set(part) - dropped)) for name, part in parts.items()
    }
    if sum(_says_something(re.sub(r"\d+", "", text)) for text in texts.values()) < 2:
        return {}
    before = _alone(question, words, set(range(min(first for first, _ in named), len(words))) | dropped)
    return {name: f"{before} {text}".strip() for name, text in texts.items()}


def _years_of(plain: Sequence[str], named: Mapping[Span, str]) -> dict[int, str]:
    """Names by the places of their years, if each name has one beside it ("AMD in 2015 and Verizon in 2022")."""
    found = dict[int, str]()
    for n, word in enumerate(plain):
        for (first, end), name in named.items() if years(word) else ():
            between = plain[end + 1 : n] if end < n else plain[n + 1 : first]
            if all(one in listed("each", "of") | listed("each", "fiscal") or is_period(one) for one in between):
                found.setdefault(n, name)
    whole = sorted(found.values()) == sorted(named.values()) and len(found) == sum(bool(years(word)) for word in plain)
    return found if whole else {}


def _sets(question: str, words: Sequence[Word], names: Set[int], *, compares: bool) -> Iterator[_Asked]:
    """Sets of documents that are asked about. ``names`` are the places of words that name documents ("which of the
    Verizon filings")."""
    plain = [word.plain for word in words]
    passed = {n for n, word in enumerate(plain) if word in listed("each", "within")} | names
    for first, word in enumerate(plain):
        end = next((n for n in range(first + 1, len(plain)) if n not in passed), first)
        document = plain[end] in listed("each", "documents") | listed("each", "agreements")
        filer = plain[end] in listed("each", "filers")
        if end == first or not (document or filer):
            continue
        here, asks = frozenset(range(first, end + 1)), word in listed("each", "asking")
        literal = _with_words(plain, first, end, asks=asks) if document else None
        at = end + 1 + (plain[end + 1 : end + 2] == ["that"])
        telling = plain[at : at + 1] and plain[at] in listed("each", "telling")
        counted = word == "both" or (compares and plain[first + 1] in listed("each", "numbers"))
        every = word in listed("each", "every") and (filer or _is_all(question, words, first, end))
        if literal is not None:
            yield _Asked(first, end, literal, literal=True)
        elif document and telling and (asks or counted):
            yield _Asked(first, end, here | frozenset(range(end + 1, at + 1)))
        elif word == "which" and (compares or plain[first + 1] == "of"):
            yield _Asked(first, end, here | _scope(plain, end))
        elif every or (counted and document):
            yield _Asked(first, end, here)


def _with_words(plain: Sequence[str], first: int, end: int, *, asks: bool) -> frozenset[int] | None:
    """Words to leave out where it is asked which documents, ``first``..``end``, have some words: "which documents
    mention", "every file that mentions", "in which documents does … appear"; None if that is not asked."""
    at = end + 1 + (plain[end + 1 : end + 2] in (["do"], ["does"], ["that"]))
    that = plain[end + 1 : end + 2] == ["that"]
    if plain[at : at + 1] and plain[at] in listed("each", "having") and (asks or that):
        thing = plain[at + 1 : at + 2] and plain[at + 1] in listed("each", "thing")
        return frozenset(range(at + 1 + (2 if thing else 0)))
    inside, before = plain[end + 1 : end + 3] == ["in", "which"], plain[first - 1 : first] == ["in"]
    if listed("each", "appearing").isdisjoint(plain[-2:]) or not (inside or (asks and before)):
        return None
    rest = {n for n in range(len(plain) - 2, len(plain)) if plain[n] in listed("each", "appearing")}
    return frozenset({*range(0 if inside else first - 1, end + 1 + 2 * inside), *rest})


def _is_all(question: str, words: Sequence[Word], first: int, end: int) -> bool:
    """Whether "each filing" is a set that is gone through: after a preposition or at the beginning, and no part of a
    longer name ("each study arm")."""
    plain = [word.plain for word in words]
    opens = first == 0 or plain[first - 1] in listed("each", "of") | listed("task", "opening")
    last = end + 1 == len(words) or bool(_PAUSE.search(question, words[end].end, words[end + 1].start))
    return opens and plain[end] in listed("each", "documents") and (last or plain[end + 1] in STOP_WORDS)


def _scope(plain: Sequence[str], end: int) -> frozenset[int]:
    """Words behind a set that say where it is: "which company in my documents"."""
    at = end + 1
    while at < len(plain) and plain[at] in listed("each", "of") | listed("each", "within"):
        at += 1
    inside = at > end + 1 and at < len(plain) and plain[at] in listed("each", "documents")
    return frozenset(range(end + 1, at + 1)) if inside else frozenset()


def _signs(question: str, words: Sequence[Word]) -> dict[int, int]:
    """1 for each word that asks for more or most, -1 for less or least, by its place; not in a compound, a rank
    ("second largest") or a limit ("more than 1,000")."""
    more, less = listed("each", "more"), listed("each", "less")
    found = dict[int, int]()
    for n, word in enumerate(words):
        joined = question[max(word.start - 1, 0)] == "-" or question[word.end : word.end + 1] == "-"
        ranked = n > 0 and words[n - 1].plain in listed("follow_up", "ordinals")
        then = [one.plain for one in words[n + 1 : n + 3]]
        limit = then[:1] == ["than"] and any(map(str.isdigit, "".join(then[1:])))
        sign = (word.plain in more) - (word.plain in less)
        if sign and not (joined or ranked or limit):
            found[n] = sign
    return found


def _sign(plain: Sequence[str], signs: Mapping[int, int]) -> int:
    """What the ``signs`` ask for together; 0 if they differ, or it is of a change ("grow more")."""
    changes = listed("question", "changes") - listed("question", "compares") - listed("each", "comparing")
    return next(iter(signs.values())) if len(set(signs.values())) == 1 and changes.isdisjoint(plain) else 0


def _alone(question: str, words: Sequence[Word], left_out: Set[int]) -> str:
    """``question`` without the words ``left_out``, words that compare, and those that stand loose without them:
    prepositions before and after, and, if they were the subject of the verb, its opening ("how does", "which had")."""
    plain = [word.plain for word in words]
    of, verbs, comparing = listed("each", "of"), listed("follow_up", "verbs"), listed("each", "comparing")
    telling = listed("each", "telling") | listed("each", "having")
    led = comparing | telling | listed("each", "more") | listed("each", "less")
    dropped = {*left_out, *(n for n, word in enumerate(plain) if word in comparing)}
    told = not (comparing | telling).isdisjoint({plain[n] for n in dropped})
    for n in range(len(plain) - 2, -1, -1):
        if n + 1 in dropped and plain[n] in of | listed("each", "distributive"):
            dropped.add(n)
    for n in range(1, len(plain)):
        if n - 1 in dropped and (plain[n] == "each" or (plain[n] in of and plain[n - 1] in led)):
            dropped.add(n)
    kept = [n for n in range(len(plain)) if n not in dropped]
    asks, verb = (plain[n] for n in kept[:2]) if len(kept) > 1 else ("", "")
    opens = asks in ("how", "what") and verb in verbs - {"is", "are", "was", "were"}
    if asks in ("which", "whose") or (told and opens):
        dropped.add(kept.pop(0))
    while kept and (plain[kept[0]] in verbs | of or (kept[0] == 0 and plain[0] in listed("task", "opening"))):
        dropped.add(kept.pop(0))
    text, at = "", 0
    for n, word in enumerate(words):
        if n in dropped:
            text, at = f"{text}{question[at : word.start]} ", word.end
    text = " ".join(_LOOSE.sub(" ", f"{text}{question[at:]}").split())
    return _LOOSE.sub("", text).strip(_EDGES)
