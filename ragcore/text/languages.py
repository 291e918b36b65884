"""Which language a text is in, by its script and its function words.

A question has ten words, of which half are function words: lists of the commonest ones tell the languages of Europe
apart as well there as models of character sequences do, which want longer texts, and they leave a question of names
and numbers undecided instead of guessing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from ragcore.text.words import FUNCTION_WORDS, OTHER_FUNCTION_WORDS, tokens

ENGLISH = "English"
# Words of two languages count half for each: "on" and "an" alone make no question French or German.
_ENGLISH = FUNCTION_WORDS - {"a", "i"}
# By the words that each alone tells of a script; Chinese characters without kana are taken for Chinese.
_SCRIPTS = {
    "CYRILLIC": "a language in Cyrillic script", "GREEK": "Greek", "ARABIC": "a language in Arabic script",
    "HEBREW": "Hebrew", "DEVANAGARI": "a language in Devanagari script", "THAI": "Thai", "HANGUL": "Korean",
    "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "CJK": "Chinese",
}  # fmt: skip
_FEWEST = 2  # function words of a language that a text must have
_AHEAD = 1.5  # and how many times as many as of any other
_LEAST_SHARE = 0.12  # of its words
_SCRIPT_SHARE = 0.3  # of the letters, from which a text is in their script
_LONGEST = 20_000  # characters that are read


@lru_cache(maxsize=256)
def language_of(text: str) -> str:
    """The name of the language of ``text`` in English, "" where it cannot be told: of names, numbers or few words."""
    text = unicodedata.normalize("NFKC", text[:_LONGEST])
    letters = [character for character in text if character.isalpha()]
    foreign = Counter(name for character in letters if ord(character) > 0x24F and (name := _script(character)))
    if foreign and sum(foreign.values()) >= _SCRIPT_SHARE * len(letters):
        if "Japanese" in foreign:
            return "Japanese"
        return foreign.most_common(1)[0][0]
    # "l'entreprise", "qu'il", "dell'anno": what stands before an apostrophe is a word of its own.
    words = [part for word in tokens(text) for part in re.split("'", word) if part and not part[0].isdigit()]
    points = dict.fromkeys((ENGLISH, *OTHER_FUNCTION_WORDS), 0.0)
    hits = Counter[str]()
    for word in words:
        speaks = [name for name, own in OTHER_FUNCTION_WORDS.items() if word in own]
        if word in _ENGLISH:
            speaks.append(ENGLISH)
        for name in speaks:
            points[name] += 1.0 / len(speaks)
            hits[name] += 1
    best, second, *_ = sorted(points, key=lambda name: -points[name])
    if hits[best] < _FEWEST or points[best] < max(_AHEAD * points[second], _LEAST_SHARE * len(words)):
        return ""
    return best


def _script(character: str) -> str:
    name = unicodedata.name(character, "").split(" ")[0].split("-")[0]
    return _SCRIPTS.get(name, "")
