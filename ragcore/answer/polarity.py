"""Whether a claim says the opposite of its evidence: denied where it is affirmed, up where it is down.

Both are read word by word: a denial belongs to the first content word after it ("not *approved*"), a direction to the
content words beside it ("*margin* fell", "lower *costs*"). A conflict needs the same word on both sides, with the one
polarity only here and the other only there, so a sentence that holds both ("approved, or, if not approved, …") gives
none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ragcore.words import STOP_WORDS, content_stems, stem, tokens, word_set

UP = word_set(
    "increase increases increased increasing rise rises rose risen grow grows grew grown growth higher gained climbed "
    "up"
)
DOWN = word_set(
    "decrease decreases decreased decreasing decline declines declined declining fall falls fell fallen lower drop "
    "dropped reduction reduced down"
)
_DENIALS = word_set(
    "not no never none neither nor cannot without lacks lack fails failed unable don't doesn't didn't isn't aren't "
    "wasn't weren't won't can't couldn't shouldn't wouldn't hasn't haven't hadn't"
)
# How far a denial or a direction reaches, in words.
_REACH = 6


def polarity_conflicts(claim: str, evidence: str) -> list[str]:
    """Reasons, in plain words, why ``claim`` contradicts ``evidence``; empty when nothing speaks against it."""
    claimed, given = tokens(claim), tokens(evidence)
    return [*_denial_conflicts(claimed, given), *_direction_conflicts(claimed, given)]


def _denial_conflicts(claimed: list[str], given: list[str]) -> list[str]:
    denied_here, denied_there = _denied(claimed), _denied(given)
    if True in {d for kinds in denied_here.values() for d in kinds} and not any(w in _DENIALS for w in given):
        return ["It denies what the cited words do not deny."]
    shared = [word for word in denied_here if word in denied_there]
    denies = [word for word in shared if denied_here[word] == {True} and denied_there[word] == {False}]
    affirms = [word for word in shared if denied_here[word] == {False} and denied_there[word] == {True}]
    # As many on either side: one denial put differently ("no shares were repurchased", "did not repurchase shares").
    if len(denies) == len(affirms):
        return []
    verb, word = ("denies", denies[0]) if len(denies) > len(affirms) else ("affirms", affirms[0])
    return [f"It {verb} “{word}”, against the cited words."]


def _denied(words: list[str]) -> Mapping[str, set[bool]]:
    """Each content word → whether it stands denied, affirmed, or both, anywhere in ``words``. Two denials cancel."""
    denied_at: dict[int, bool] = {}
    for index, word in enumerate(words):
        if word in _DENIALS:
            for place in range(index + 1, min(index + 1 + _REACH, len(words))):
                if words[place] not in STOP_WORDS and words[place] not in _DENIALS:
                    denied_at[place] = not denied_at.get(place, False)
                    break
    out: dict[str, set[bool]] = defaultdict(set)
    for index, word in enumerate(words):
        if word not in STOP_WORDS and word not in _DENIALS:
            out[stem(word)].add(denied_at.get(index, False))
    return out


def _direction_conflicts(claimed: list[str], given: list[str]) -> list[str]:
    here, there = _directed(claimed), _directed(given)
    signs_here = {sign for signs in here.values() for sign in signs}
    signs_there = {sign for signs in there.values() for sign in signs}
    names = {1: "an increase", -1: "a decrease"}
    if len(signs_here) == len(signs_there) == 1 and signs_here != signs_there:
        return [f"It says {names[signs_here.pop()]}; the cited words say the opposite."]
    shared = [word for word in here if word in there]
    against = [word for word in shared if not here[word] & there[word]]
    if against and len(against) == len(shared):
        sign = next(iter(here[against[0]]))
        return [f"It says {names[sign]} at “{against[0]}”; the cited words say the opposite."]
    return []


def _directed(words: list[str]) -> Mapping[str, set[int]]:
    """What each word of direction speaks of → +1 or −1: the nearest content word before it ("costs have risen") and the
    word right after it ("higher costs")."""
    out: dict[str, set[int]] = defaultdict(set)
    for index, word in enumerate(words):
        sign = 1 if word in UP else -1 if word in DOWN else 0
        if not sign:
            continue
        before = content_stems(" ".join(words[max(0, index - _REACH) : index]))
        after = content_stems(" ".join(words[index + 1 : index + 2]))
        for neighbour in (*before[-1:], *after[:1]):
            out[neighbour].add(sign)
    return out
