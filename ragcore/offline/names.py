"""Names in a question, detected by spelling alone."""

from __future__ import annotations

from collections.abc import Sequence

from ragcore.offline.lists import listed
from ragcore.text.languages import language_of
from ragcore.text.names import Word, words_of
from ragcore.text.naming import is_period
from ragcore.text.words import OTHER_FUNCTION_WORDS, STOP_WORDS
from ragcore.types.question import Name

_CURRENCY = ("$", "€", "£", "¥")


def names_in(question: str) -> list[Name]:
    """Names in ``question``, in order: consecutive words spelled like one ("University of Oslo")."""
    words = words_of(question)
    language = language_of(question)
    like = [_is_like(question, words, place, plain=language != "German") for place in range(len(words))]
    found: dict[str, Name] = {}
    place = 0
    while place < len(words):
        if not like[place]:
            place += 1
            continue
        end = place + 1
        while end < len(words) and not words[end - 1].possessive:
            of = int(words[end].plain == "of")
            if end + of >= len(words) or not like[end + of]:
                break
            if question[words[end - 1].end : words[end + of].start].replace("of", "", of).strip(" &"):
                break
            end += of + 1
        name = _name(question, words, place, end)
        # All capitals are often an abbreviation of the requested quantity: "cash conversion cycle (CCC)".
        capitals = end - place == 1 and words[place].capitals and name.text.isalpha()
        if not capitals or (name.owner and f"({name.text})" not in question):
            found.setdefault(name.text, name)
        place = end
    return list(found.values())


def _is_like(question: str, words: Sequence[Word], place: int, *, plain: bool) -> bool:
    """Whether a word is spelled like a name: capitalised inside a sentence, or with an inner capital or digit anywhere;
    the first word only with a possessive or as the start of a longer name."""
    word = words[place]
    spelled = question[word.start : word.end]
    if not word.names or word.plain in STOP_WORDS | listed("proper", "never") or is_period(word.plain):
        return False
    if any(character.isdigit() for character in spelled):
        amount = question[: word.start].rstrip().endswith(_CURRENCY)
        return word.marked and any(map(str.isupper, spelled)) and not amount
    if word.marked or place == 0:
        known = any(word.plain in own for own in OTHER_FUNCTION_WORDS.values()) or word.plain in listed(
            "task", "opening"
        )
        following = words[place + 1] if place + 1 < len(words) else None
        goes_on = following is not None and following.names and following.capital and not following.skipped
        opens = place == 0 and not word.possessive and not word.capitals
        inner = any(map(str.isupper, spelled[1:]))
        return (plain or inner) and not (place == 0 and known) and (not opens or goes_on or inner)
    return False


def _name(question: str, words: Sequence[Word], first: int, end: int) -> Name:
    last = words[end - 1]
    text = question[words[first].start : last.end - 2 * last.possessive]
    before = words[first - 1].plain if first else ""
    owner = last.possessive or before in listed("proper", "before") or first == 0
    single = end - first == 1 and text.isalpha() and text[1:].islower()
    # A first word is capitalised anyway, and "of Goodwill" is no one's name.
    common = single and first > 0 and (last.possessive or before == "at")
    return Name(text, owner=bool(owner), common=bool(common))
