"""Who did what to whom: the words on either side of a verb, in the claim and in the cited sentence.

No parser is needed for the question asked here. Around a word that both share, the words before it and after it are
compared; in the passive ("was sold by") the sides change places. Where both sides have changed places, the claim turns
the sentence round; where one side is the same and the other names something else of the sentence, a part was exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ragcore.text.words import STOP_WORDS, content_stems, cover, stem, tokens, word_set
from ragcore.verify.evidence import Finding
from ragcore.verify.synonyms import TITLES, alike, with_synonyms

_BE = word_set("is are was were be been being am gets got")
_BETWEEN = word_set("not also only never now then already hereby so therefore mainly largely partly")
_NO_VERB = word_set("million billion thousand trillion percent and or of in on at to from for with by than the a an")
_CLAUSE = re.compile(
    r"[;:()]|,\s(?!\d{4}\b)|\b(?:if|while|whereas|but|because|although|when|which|who|that|unless|where)\b",
    re.IGNORECASE,
)
_PRONOUNS = word_set("it they he she we this these those its their which who that")
_MODALS = word_set("shall may must can will should would could might to not did does do cannot")
_PAST = word_set(
    "bought sold paid spent gave took held led sent brought made kept met won lost chose wrote drove lent built "
    "let lets"
)
# Said of the thing where others are said of the person: it costs, we spend.
_TURNING = {stem(word) for word in ("cost", "charge", "expense", "price", "fee")}
# A sentence that has less of the claim's words is not the one that it retells.
_ALIKE = 0.6
# As many words on either side of a verb can be its subject and object.
_REACH = 9


@dataclass(frozen=True, slots=True)
class _Clause:
    """The content words before and after ``verb``, as they would stand in the active voice."""

    verb: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    pronoun: bool
    passive: bool
    finite: bool
    infinitive: bool


def check_roles(claim: str, sentences: Iterable[str]) -> list[Finding]:
    """Where ``claim`` exchanges the parts of a cited sentence that shares its verb."""
    mine = list(_clauses(claim))
    said = content_stems(claim)
    for sentence in sentences:
        if cover(said, with_synonyms(set(content_stems(sentence)))) < _ALIKE:
            continue
        theirs = list(_clauses(sentence))
        for clause in mine:
            same = [other for other in theirs if _same_verb(clause, other)]
            if not same or any(_agrees(clause, other) for other in same):
                continue
            for other in same:
                turned = _turned(clause, other)
                if turned:
                    return [Finding("weak", turned)]
            moved = _moved(clause, same, sentence)
            if moved:
                return [Finding("weak", moved)]
    return []


def _same_verb(one: _Clause, other: _Clause) -> bool:
    if one.verb != other.verb and (not alike(one.verb, other.verb) or {one.verb, other.verb} & _TURNING):
        return False
    return one.finite and other.finite


def _moved(one: _Clause, same: list[_Clause], sentence: str) -> str:
    """One side is that of the cited sentence; on the other stands what that sentence names elsewhere."""
    known = {stem(word) for word in tokens(sentence)}
    for side, rest in (("before", "after"), ("after", "before")):
        mine, kept = getattr(one, side), getattr(one, rest)
        # Who is to do what "to deliver" says may stand far before it.
        if side == "before" and one.infinitive:
            continue
        if not mine or len(mine) > 4 or not one.finite or not all(word in known for word in mine):
            continue
        if any(_is_means(word, sentence) for word in mine):
            continue
        theirs = [getattr(other, side) for other in same if other.finite and not other.pronoun]
        keeps = [
            _shared(kept, getattr(other, rest)) or not (kept or getattr(other, rest))
            for other in same
            if other.finite and not other.pronoun
        ]
        if theirs and all(theirs) and any(keeps) and not any(_shared(mine, words) for words in theirs):
            return f"It says “{one.verb}” of “{mine[-1]}”; the cited words say it of “{theirs[0][-1]}”."
    return ""


def _is_means(word: str, sentence: str) -> bool:
    """Whether ``sentence`` has it as a means ("with five predictors"), which a retelling may make the subject."""
    words = tokens(sentence)
    return any(
        stem(one) == word and set(words[max(0, place - 3) : place]) & {"with", "using", "through", "via", "by"}
        for place, one in enumerate(words)
    )


def _agrees(one: _Clause, other: _Clause) -> bool:
    left = _shared(one.before, other.before)
    right = _shared(one.after, other.after)
    return bool(left and right)


def _turned(one: _Clause, other: _Clause) -> str:
    to_left = [w for w in _shared(one.after, other.before) if not _among(w, other.after)]
    to_right = [w for w in _shared(one.before, other.after) if not _among(w, other.before)]
    if to_left and to_right:
        return f"It swaps who or what “{one.verb}” refers to."
    return ""


def _shared(one: Iterable[str], other: Iterable[str]) -> list[str]:
    others = list(other)
    return [word for word in one if _among(word, others)]


def _among(word: str, others: Iterable[str]) -> bool:
    return any(alike(word, other) for other in others)


def _clauses(text: str) -> Iterable[_Clause]:
    """A clause for each word that may be a verb, with the words up to where it stands again."""
    for piece in _CLAUSE.split(text):
        words = [word for word in tokens(piece) if word not in TITLES]
        stems = [stem(word) for word in words]
        capitals = {word.lower() for word in re.findall(r"(?<=\s)[A-Z][a-z]+", piece)}
        for place, word in enumerate(words):
            if word in STOP_WORDS or word in _NO_VERB or word in capitals or not word.isalpha():
                continue
            again = [i for i, one in enumerate(stems) if one == stems[place] and i != place]
            low = max([i + 1 for i in again if i < place], default=0)
            high = min([i for i in again if i > place], default=len(words))
            before = _content(words[max(low, place - _REACH) : place])
            behind = words[place + 1 : min(high, place + 1 + _REACH)]
            pronoun = bool(_PRONOUNS & set(words[low:place]))
            finite = _is_finite(words, place)
            passive = _is_passive(words, place)
            infinitive = words[place - 1 : place] == ["to"]
            if passive is None or passive:
                agent = behind.index("by") if "by" in behind else len(behind)
                undergone = (*before, *_content(behind[:agent]))
                yield _Clause(stems[place], _content(behind[agent + 1 :]), undergone, pronoun, True, finite, infinitive)
            if not passive:
                yield _Clause(stems[place], before, _content(behind), pronoun, False, finite, infinitive)


def _is_finite(words: list[str], place: int) -> bool:
    """Whether a word stands as a verb: behind a modal, as a past form, or in -s where no noun can stand."""
    if set(words[max(0, place - 2) : place]) & (_MODALS | _BE) or words[place].endswith("ed") or words[place] in _PAST:
        return True
    before = words[place - 1] if place else ""
    noun = not before or before in STOP_WORDS or before.endswith("ed") or not before.isalpha()
    return words[place].endswith("s") and not noun


def _content(words: list[str]) -> tuple[str, ...]:
    return tuple(stem(word) for word in words if word not in STOP_WORDS and word not in _BE)


def _is_passive(words: list[str], place: int) -> bool | None:
    """``was sold``, ``were not affected``, ``sold by``: a participle behind a form of to be, or before "by". None where
    it may be either ("were filtered and frozen")."""
    word = words[place]
    if not word.endswith(("ed", "en", "t", "d", "n", "ne")):
        return False
    index = place - 1
    while index >= 0 and words[index] in _BETWEEN:
        index -= 1
    if index >= 0 and words[index] in _BE:
        return True
    if not word.endswith(("ed", "en")):
        return False
    if "by" in words[place + 1 : place + 5]:
        return True
    return None if _BE & set(words[:place]) else False
