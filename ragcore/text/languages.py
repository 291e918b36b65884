"""Language identification by script and function words.

A question has about ten words, half of them function words. On such short texts, lists of common function words
separate European languages as well as character n-gram models, which need longer texts, and they leave a question of
names and numbers undecided instead of guessing.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from functools import lru_cache

from ragcore.text.words import FUNCTION_WORDS, LISTS, OTHER_FUNCTION_WORDS, tokens

ENGLISH = "English"
# A word of two languages counts half for each: "on" or "an" alone does not make a question French or German.
_ENGLISH = FUNCTION_WORDS - {"a", "i"}
_SCRIPTS: dict[str, str] = LISTS["scripts"]
_FEWEST = 2  # least number of function words of the language
_AHEAD = 1.5  # least ratio to the points of the second language
_LEAST_SHARE = 0.12  # least points per word
_SCRIPT_SHARE = 0.3  # least share of letters in a script for its language
_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxz")
LONGEST = 20_000  # characters read


@lru_cache(maxsize=256)
def language_of(text: str) -> str:
    """English name of the language of ``text``; "" if undecided (names, numbers or few words)."""
    text = unicodedata.normalize("NFKC", text[:LONGEST])
    letters = [character for character in text if character.isalpha()]
    foreign = Counter(name for character in letters if ord(character) > 0x24F and (name := _script(character)))
    if foreign and sum(foreign.values()) >= _SCRIPT_SHARE * len(letters):
        if "Japanese" in foreign:
            return "Japanese"
        return foreign.most_common(1)[0][0]
    # "l'entreprise", "qu'il", "dell'anno": the part before an apostrophe is a separate word.
    # A consonant alone is a symbol: "N", "% L".
    words = [
        part
        for word in tokens(text)
        for part in word.split("'")
        if part and not part[0].isdigit() and (len(part) > 1 or "'" in word or part not in _CONSONANTS)
    ]
    points = dict.fromkeys((ENGLISH, *OTHER_FUNCTION_WORDS), 0.0)
    hits = defaultdict[str, list[str]](list)
    for word in words:
        speaks = [name for name, own in OTHER_FUNCTION_WORDS.items() if word in own]
        if word in _ENGLISH:
            speaks.append(ENGLISH)
        for name in speaks:
            points[name] += 1.0 / len(speaks)
            hits[name].append(word)
    best, second, *_ = sorted(points, key=lambda name: -points[name])
    # One word twice is enough only if nothing speaks for another language: "State: State of incorporation".
    said = set(hits[best]) if points[second] else hits[best]
    if len(said) < _FEWEST or points[best] < max(_AHEAD * points[second], _LEAST_SHARE * len(words)):
        return ""
    return best


def _script(character: str) -> str:
    name = unicodedata.name(character, "").split(" ")[0].split("-")[0]
    return _SCRIPTS.get(name, "")
