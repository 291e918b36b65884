"""What a question asks for that quoting cannot give: a summary, a comparison, an explanation, advice, a text.

Told by its words alone: the verb with which a request opens, or what it asks to be given.
"""

from __future__ import annotations

from ragcore.offline.asks import OPENING_VERBS
from ragcore.text.words import tokens, word_set

# What would have to be done, and the words that ask for it: first those that open a request, then what one is given.
_TASKS = {
    "summarise": (word_set("summarise summarize recap condense"), word_set("summary overview recap synopsis")),
    "compare": (word_set("compare contrast"), word_set("comparison")),
    "explain": (
        word_set("explain analyse analyze assess evaluate discuss elaborate interpret"),
        word_set("explanation analysis assessment evaluation"),
    ),
    "advise": (word_set("advise recommend suggest"), word_set("advice recommendation recommendations opinion")),
    "write": (
        word_set("write draft rewrite translate compose rephrase"),
        word_set("email letter memo essay translation draft"),
    ),
}
_POLITE = word_set("please can could would will you kindly i we want need like to me us help let's let just")
_ASKS_TO_GIVE = OPENING_VERBS | word_set("make prepare create produce do")
_WHOEVER = word_set("i we one you they")


def task_of(question: str) -> str:
    """The verb of what ``question`` wants done (summarise, compare, explain, advise, write), "" where it only asks."""
    words = tokens(question)
    rest = list(words)
    while rest and rest[0] in _POLITE:
        rest.pop(0)
    if not rest:
        return ""
    for task, (verbs, things) in _TASKS.items():
        given = rest[0] in _ASKS_TO_GIVE and any(word in things for word in rest[1:])
        if rest[0] in verbs or given:
            return task
    if words[0] in ("should", "shall") and words[1:2] and words[1] in _WHOEVER:
        return "advise"
    return "compare" if words[0] == "how" and words[-1] == "compare" else ""
