"""Follow-up questions made to stand alone, by rules, so that retrieval finds what they are about.

Only the retrieval query is rewritten; the writer sees the question as it was asked, beside the history. A question that
names its own subject is left as it is: a needless rewrite does more harm than a missed one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.types import Turn
from ragcore.words import STOP_WORDS, content_stems, tokens, word_set

_OPENING = re.compile(
    r"^\s*(?:(?:and|but|so|ok(?:ay)?|then|also|now)\b[\s,]*)*"
    r"(?:(?:what|how)\s+about|(?:and\s+)?(?:in|for|during|of|on|by|at|from|under|with)\b|what\s+of|same\s+(?:for|in))?\s*",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(
    r"^\s*(?:and|but|so|then|also|what\s+about|how\s+about|what\s+of|same\s+(?:for|in)|why(?:\s+not)?|how\s+so|"
    r"how\s+much|how\s+many|since\s+when|when|where|who|which\s+(?:one|ones))\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|the\s+(?:same|former|latter|"
    r"other|others|above|previous|company|study|drug|number|figure|amount|change|increase|decrease))\b",
    re.IGNORECASE,
)
# "that" and "this" that join a clause or point inside the question itself refer to nothing before it.
_INNER = re.compile(
    r"\b(?:(?:says?|said|states?|stated|shows?|shown|means?|reports?|reported|so|such)\s+that"
    r"|(?:is|was)\s+it\s+(?:true|possible|required|necessary|allowed|permitted|likely)\s+(?:that|to)"
    r"|it\s+(?:is|was)\s+\w+\s+(?:that|to)"
    r"|\w+\s+that\s+(?:are|is|was|were|have|has|can|must|may|will|do|does|did|apply|applies))\b",
    re.IGNORECASE,
)
_DOCUMENTS = re.compile(
    r"\b(?:this|these|that|those)\s+(?:documents?|reports?|filings?|papers?|pdfs?|files?|texts?)\b", re.I
)
_YEARS = re.compile(r"\b(?:FY\s?|fiscal\s+(?:year\s+)?)?(?:(?:19|20)\d{2})\b|\bFY\s?\d{2}\b", re.IGNORECASE)
_PERIOD_WORDS = word_set(
    "year years quarter quarters month fiscal fy q1 q2 q3 q4 period last previous prior next first second third same"
)
_QUESTION_WORDS = word_set("what which who whom whose when where why how is are was were do does did can could")


def standalone(question: str, history: Sequence[Turn]) -> str:
    """A query that can be understood without ``history``.

    - "And in 2021?", "What about fiscal 2022?" → the previous question with its period replaced.
    - "What about Converse?", "Why?" → the previous question and the new words.
    - A pronoun with nothing in the question to refer to → the question and what the previous one was about.
    - Anything else → the question unchanged.

    The previous question is itself taken as standalone, so a chain of follow-ups keeps its subject.
    """
    question = " ".join(question.split())
    if not history:
        return question
    previous = _previous(history)
    if not previous:
        return question
    if _is_ellipsis(question):
        return _continue(question, previous)
    if _refers_back(question):
        subject = _subject(previous, question)
        return f"{question.rstrip('?. ')} ({subject})?" if subject else question
    return question


def _previous(history: Sequence[Turn]) -> str:
    """The last question of ``history``, itself made to stand alone."""
    asked = ""
    for turn in history:
        current = " ".join(turn.question.split())
        asked = standalone(current, (Turn(asked, ""),)) if asked else current
    return asked


def _is_ellipsis(question: str) -> bool:
    """Whether the question is a fragment: it begins like one and says little of its own, or has hardly a word."""
    own = _own_words(question)
    has_verb = _has_predicate(question)
    if _ELLIPSIS.match(question):
        return len(own) <= 5 and not has_verb
    return len(own) <= 1 and len(tokens(question)) <= 3


def _has_predicate(question: str) -> bool:
    """Whether a verb stands in it with something on both sides ("How much did Nike earn")."""
    words = tokens(question)
    verbs = word_set("is are was were do does did has have had can could will would must may should")
    return any(word in verbs and i > 0 and len(words) - i > 2 for i, word in enumerate(words))


def _own_words(question: str) -> list[str]:
    return [word for word in tokens(_rest(question)) if word not in STOP_WORDS and word not in _PERIOD_WORDS]


def _rest(question: str) -> str:
    """The question without the words that only join it to the one before ("And what about")."""
    opening = _OPENING.match(question)
    return question[opening.end() :] if opening else question


def _continue(question: str, previous: str) -> str:
    """The previous question with what the fragment changes."""
    rest = _rest(question).strip(" ?.!")
    new_years, old_years = _YEARS.findall(question), _YEARS.findall(previous)
    own = [word for word in _own_words(question) if not _YEARS.fullmatch(word)]
    if new_years and not own:
        if len(old_years) == 1:
            return _YEARS.sub(lambda _: rest, previous, count=1)
        if not old_years:
            return f"{previous.rstrip('?. ')} in {rest}?"
    if not own and not new_years:
        return f"{previous.rstrip('?. ')}? {question}"
    return f"{_subject(previous, question) or previous.rstrip('?. ')}: {rest or question}?"


def _refers_back(question: str) -> bool:
    """Whether a pronoun of the question has nothing before it in the question to stand for."""
    bare = _DOCUMENTS.sub(" ", _INNER.sub(" ", question))
    match = _PRONOUN.search(bare)
    if match is None:
        return False
    before = [w for w in tokens(bare[: match.start()]) if w not in STOP_WORDS and w not in _QUESTION_WORDS]
    named = re.search(r"(?<!^)\b[A-Z][\w-]+", bare[: match.start()]) is not None
    return not named and len(before) <= 2


def _subject(previous: str, question: str) -> str:
    """The words of the previous question that carry its meaning, without those that the new one repeats or replaces."""
    repeated = set(content_stems(question))
    drop_years = bool(_YEARS.search(question))
    text = _YEARS.sub(" ", previous) if drop_years else previous
    words = []
    for word in re.findall(r"[^\s?!]+", text):
        bare = word.strip(".,;:()[]“”\"'")
        stems = content_stems(bare)
        if stems and not set(stems) <= repeated and bare.lower() not in _QUESTION_WORDS:
            words.append(bare)
    return " ".join(words)
