"""Whether a claim says the opposite of its evidence: denied where it is affirmed, up where it is down.

Both are read word by word: a denial belongs to the first content word after it ("not *approved*"), a direction to the
content words beside it ("*margin* fell", "lower *costs*"). A conflict needs the same word on both sides, with the one
polarity only here and the other only there, so a sentence that holds both ("approved, or, if not approved, …") gives
none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ragcore.text.words import STOP_WORDS, content_stems, stem, tokens, word_set
from ragcore.verify.synonyms import TITLES

UP = word_set(
    "increase increases increased increasing rise rises rose risen rising grow grows grew grown growing growth higher "
    "gained climbed up raise raises raised raising lift lifts lifted boosted accelerated expanded expanding expansion "
    "widened upward upwards strengthen strengthens strengthened strengthening uptick upturn"
)
DOWN = word_set(
    "decrease decreases decreased decreasing decline declines declined declining fall falls fell fallen falling lower "
    "drop drops dropped reduction reduce reduces reduced reducing down lowers lowered lowering shrank shrink shrinks "
    "shrunk shrinking shrinkage cut contracted contracting contraction weaken weakens weakened weakening softened "
    "narrowed slowed downturn downward downwards"
)
# Up or down by what they are said of: a margin improves upwards, costs and losses downwards.
_BETTER, _WORSE = (
    word_set("improve improved improves improving improvement improvements"),
    word_set("worsen worsened worsens worsening deteriorated deterioration"),
)
LESS_IS_BETTER = re.compile(
    r"\b(?:cost|expense|loss|losses|error|risk|time|debt|symptom|pain|rate of|score)", re.IGNORECASE
)
_DENIALS = word_set(
    "not no never none neither nor cannot without lacks lack fails failed unable non nothing nobody don't "
    "doesn't didn't "
    "isn't aren't wasn't weren't won't can't couldn't shouldn't wouldn't hasn't haven't hadn't"
)
# Denials that are the verb itself, and what only looks like one.
_IMPLIED = word_set(
    "contraindicated forbidden prohibited prohibits forbids barred bars banned bans exempt exempts exempted excludes "
    "excluded exclude excluding refused refuses rejects rejected prevent prevents prevented absent absence unless "
    "except stop stopped discontinued"
)
_IDIOMS = re.compile(
    r"\b(?:no|not) (?:later|more|less|fewer|longer|earlier|greater|sooner) than\b|\bnot only\b|\bwhether or not\b|"
    r"\b(?:not|without) (?:be )?limit(?:ed|ation) to\b|\bno\.\s?\d|\bnot exceed(?:ing)?\b",
    re.IGNORECASE,
)
# How far a denial or a direction reaches, in words.
_REACH = 6
# What may stand between a change and the noun that it is said of, the most words of a noun phrase, and where one ends.
_LEADS = word_set("in of the a an its our their")
_PHRASE = 4
_CONTRIBUTIONS = word_set("contribution contributions")
# "Increase (decrease) in inventories"
_EITHER = re.compile(r"\b([A-Za-z]+) \(([A-Za-z]+)\)")
_PIECES = re.compile(r"[;:()]|[,.](?!\d)")


def denies(text: str) -> bool:
    """Whether ``text`` denies anything, idioms such as "no later than" aside."""
    return any(word in _DENIALS or word in _IMPLIED for word in _without_idioms(text))


def direction(text: str) -> int:
    """1 where ``text`` says that something went up, -1 where down, 0 where neither or both."""
    signs = {_sign(word, text) for word in tokens(text)} - {0}
    return signs.pop() if len(signs) == 1 else 0


def _sign(word: str, text: str) -> int:
    if word in UP:
        return 1
    if word in DOWN:
        return -1
    if word in _BETTER or word in _WORSE:
        return 0 if LESS_IS_BETTER.search(text) else 1 if word in _BETTER else -1
    return 0


def polarity_conflicts(claim: str, evidence: str, *, directed: bool = True) -> list[str]:
    """Reasons, in plain words, why ``claim`` contradicts ``evidence``; empty when nothing speaks against it. Without
    ``directed`` up and down are left aside."""
    found = _denial_conflicts(_without_idioms(claim), _without_idioms(evidence))
    return [*found, *direction_conflicts(claim, evidence)] if directed else found


def _without_idioms(text: str) -> list[str]:
    return [word for word in tokens(_IDIOMS.sub(" ", text)) if word not in TITLES]


def _denial_conflicts(claimed: list[str], given: list[str]) -> list[str]:
    claimed, given = _unprefixed(claimed, given), _unprefixed(given, claimed)
    denied_here, denied_there = _denied(claimed), _denied(given)
    # "Non-exclusive" denies a word, not what is said.
    denials_here, denials_there = (
        sum(word in _DENIALS and word not in ("non", "nor") for word in ws) for ws in (claimed, given)
    )
    implied_here, implied_there = (any(word in _IMPLIED for word in words) for words in (claimed, given))
    if denials_here and {True} in denied_here.values() and not denials_there and not implied_there:
        return ["It denies something the cited words don't deny."]
    # "May not … without consent" and "requires consent" say the same; with one denial taken away they no longer do.
    if denials_there == 2 and not implied_here and not implied_there and "without" in given:
        if denials_here % 2 and {stem(word) for word in claimed} & _reached(given):
            return ["It has one denial; the cited words have two."]
        return []
    shared = [word for word in denied_here if word in denied_there]
    denies = [word for word in shared if denied_here[word] == {True} and denied_there[word] == {False}]
    affirms = [word for word in shared if denied_here[word] == {False} and denied_there[word] == {True}]
    implied = {stem(one) for one in _IMPLIED}
    for verb, words in (("denies", denies), ("affirms", [] if denials_here else affirms)):
        outright = [word for word in words if word in implied]
        if outright:
            return [f"It {verb} “{outright[0]}”, against the cited words."]
    if (implied_here and not denials_here) or (implied_there and not denials_there):
        return []
    # As many on either side: one denial put differently ("no shares were repurchased", "did not repurchase shares").
    if len(denies) == len(affirms) or (denials_here and denials_there and not (denies and not affirms)):
        return [] if denials_here == denials_there or not affirms else [_affirms(affirms[0])]
    verb, word = ("denies", denies[0]) if len(denies) > len(affirms) else ("affirms", affirms[0])
    return [f"It {verb} “{word}”, against the cited words."]


def _affirms(word: str) -> str:
    return f"It affirms “{word}”, against the cited words."


def _reached(words: list[str]) -> set[str]:
    return {word for word, denied in _denied(words).items() if True in denied}


def _unprefixed(words: list[str], others: list[str]) -> list[str]:
    """``words`` with "unrelated" as "not related" where the others have the plain word or its other form."""
    known = {stem(word) for word in others}
    out: list[str] = []
    for word in words:
        plain = next((word[len(p) :] for p in ("un", "non", "in", "im", "dis", "ir") if word.startswith(p)), "")
        if len(plain) > 3 and stem(plain) in known and stem(word) not in known:
            out.extend(("not", plain))
        else:
            out.append(word)
    return out


def _denied(words: list[str]) -> Mapping[str, set[bool]]:
    """Each content word → whether it stands denied, affirmed, or both, anywhere in ``words``. Two denials cancel; what
    follows the word denied may be meant as well ("without Quillon's prior consent")."""
    denied_at: dict[int, bool] = {}
    unsure: set[int] = set()
    for index, word in enumerate(words):
        if word in _DENIALS:
            reached = [
                place
                for place in range(index + 1, min(index + 1 + _REACH, len(words)))
                if words[place] not in STOP_WORDS and words[place] not in _DENIALS
            ]
            for place in reached[:1]:
                denied_at[place] = not denied_at.get(place, False)
            unsure.update(reached[1:3])
    out: dict[str, set[bool]] = defaultdict(set)
    for index, word in enumerate(words):
        if word not in STOP_WORDS and word not in _DENIALS:
            out[stem(word)].add(denied_at.get(index, False))
            if index in unsure:
                out[stem(word)].add(True)
    return out


def direction_conflicts(claim: str, evidence: str) -> list[str]:
    """As `polarity_conflicts`, of up and down only."""
    here, there = _directed(claim), _directed(evidence)
    signs_here = {sign for signs in here.values() for sign in signs}
    signs_there = {sign for signs in there.values() for sign in signs}
    names = {1: "an increase", -1: "a decrease"}
    if len(signs_here) == len(signs_there) == 1 and signs_here != signs_there:
        return [f"It says {names[signs_here.pop()]}; the cited words say the opposite."]
    shared = [word for word in here if word in there]
    against = [word for word in shared if not here[word] & there[word]]
    certain = [word for word in against if len(here[word]) == len(there[word]) == 1]
    if certain or (against and len(against) == len(shared)):
        word = (certain or against)[0]
        sign = next(iter(here[word]))
        return [f"It says {names[sign]} at “{word}”; the cited words say the opposite."]
    return []


def _directed(text: str) -> Mapping[str, set[int]]:
    """What each word of direction speaks of → +1 or −1: the nearest content word before it ("costs have risen") and the
    head of the noun phrase after it ("higher freight costs", "the decline in net sales")."""
    out: dict[str, set[int]] = defaultdict(set)
    text = _EITHER.sub(
        lambda match: " " if _sign(match[1].lower(), "") * _sign(match[2].lower(), "") < 0 else match[0], text
    )
    words: list[str] = []
    breaks: list[int] = []
    for piece in _PIECES.split(text):
        words += tokens(piece)
        breaks.append(len(words))
    for index, word in enumerate(words):
        sign = _sign(word, text)
        # Of "lower contributions from volume growth" the words do not say whether volume grew.
        if not sign or _CONTRIBUTIONS & set(words[max(0, index - _REACH) : index]):
            continue
        before = content_stems(" ".join(words[max(0, index - _REACH) : index]))
        stop = next(place for place in breaks if place > index)
        for neighbour in (*before[-1:], *_head(words[index + 1 : stop])):
            out[neighbour].add(sign)
    return out


def _head(words: Sequence[str]) -> list[str]:
    """The stem of the last word of the noun phrase that ``words`` begin with, behind "in the" or "of the"; none where
    they begin with no noun."""
    place = 0
    while place < len(words) and words[place] in _LEADS:
        place += 1
    end = place
    while end < len(words) and end - place < _PHRASE and _in_phrase(words[end]):
        end += 1
    return content_stems(words[end - 1])[:1] if end > place else []


def _in_phrase(word: str) -> bool:
    return word.isalpha() and word not in STOP_WORDS and word not in UP and word not in DOWN and not word.endswith("ed")
