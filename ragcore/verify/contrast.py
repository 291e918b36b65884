"""A word of one class here and of its opposite there, on the same argument: what a claim says against its evidence.

The classes are data (`ragcore.text.lexicon`): denial, up and down, more and less, must and may, at least and at most,
and plain opposites. Where the claim keeps to a cited sentence the two are aligned word by word, and what differs is
looked at in place. Elsewhere a class is compared over both texts, each word with the words beside it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import product

from ragcore.text import lexicon as lex
from ragcore.text.numbers import Number, agree, numbers
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import STOP_WORDS, content_stems, stem, tokens
from ragcore.verify.derive import check_comparison
from ragcore.verify.evidence import Evidence, Finding

# A claim keeps to a sentence where so many of its words stand in it in order; longer gaps are other matter.
_KEPT, _GAP = 0.7, 6
# How far a denial or a direction reaches, in words.
_REACH = 6
_COMPARING = lex.MORE | lex.LESS
_NAMES = {1: "an increase", -1: "a decrease"}
_SIDES = {1: "at least", -1: "at most"}
# What may stand between a change and the noun that it is said of.
_LEADS = frozenset({"in", "of", "the", "a", "an", "its", "our", "their"})


def check_contrast(claim: str, evidence: Evidence) -> list[Finding]:
    """Where ``claim`` says the opposite of ``evidence``."""
    labels = " . ".join(f"{cell.row} . {cell.column} {cell.meaning}" for cell in evidence.cited_cells)
    prose = evidence.sentences or ((evidence.words,) if not evidence.cited_cells else ())
    said = tokens(claim)
    compared, settled = check_comparison(claim, evidence)
    reasons: list[str] = []
    found: list[Finding] = []
    spans = sentence_spans(claim, 0)
    for (start, end), sentence in product(spans, prose):
        found += _aligned(tokens(claim[start:end]), tokens(sentence))
    given = "\n".join(prose)
    if prose:
        reasons += _denial(_plain(said), _plain(tokens(given)))
    elif evidence.cells and numbers(claim) and _denials(said) > _denials(tokens(labels)):
        reasons.append("It denies what the cited table gives.")
    if not settled:
        reasons += _direction(said, tokens(given or labels))
        reasons += _signed(claim, evidence)
    found += [Finding("unsupported", reason) for reason in reasons]
    found += _opposites(said, tokens(f"{given} {labels}"), compared=settled)
    return [*compared, *found, *_bounds(claim, evidence)]


def _opposed(one: str, other: str) -> bool:
    return other in lex.OPPOSITES.get(one, ((), ()))[1] or other in _prefixed(one) or one in _prefixed(other)


def _against(word: str) -> frozenset[str]:
    moved = lex.DOWN if word in lex.UP else lex.UP if word in lex.DOWN else frozenset()
    return lex.OPPOSITES.get(word, ((), frozenset()))[1] | moved


def _prefixed(word: str) -> tuple[str, ...]:
    """What a word with a prefix of denial denies ("unable": able)."""
    return tuple(word[len(p) :] for p in lex.PREFIXES if word.startswith(p) and len(word) > len(p) + 3)


def _denials(words: Sequence[str]) -> int:
    return sum(word in lex.DENIALS for word in lex.without(words, lex.find(words, lex.IDIOMS)))


def _denied_at(words: Sequence[str]) -> set[int]:
    """The places of denials; one in "no later than" is none, but "not only" denies where the rest is the same."""
    idioms = {at for low, high in lex.find(words, lex.IDIOMS) if high - low > 2 for at in range(low, high)}
    return {at for at, word in enumerate(words) if word in lex.DENIALS - {"non", "nor"} and at not in idioms}


# Where the claim keeps to a sentence


def _aligned(said: Sequence[str], given: Sequence[str]) -> list[Finding]:
    """Denials and opposites among the words in which two texts differ that are else the same."""
    mine, theirs = [stem(word) for word in said], [stem(word) for word in given]
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks or sum(block.size for block in blocks) < _KEPT * len(said):
        return []
    first, last = blocks[0].b, blocks[-1].b + blocks[-1].size
    denials = _denied_at(said), _denied_at(given)
    denied = [0, 0]
    differ: list[tuple[str, str]] = []
    against: list[str] = []
    replaced: list[tuple[set[str], set[str]]] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal" or (tag == "delete" and j - i > _GAP):
            continue
        k, m = (k, m) if first <= k and m <= last and m - k <= _GAP else (k, k)
        one, other = said[i:j], given[k:m]
        denied[0] += len(denials[0] & {*range(i, j)})
        denied[1] += len(denials[1] & {*range(k, m)})
        differ += product(one or [""], other or [""])
        replaced.append(({*mine[i:j]} - STOP_WORDS, {*theirs[k:m]} - STOP_WORDS))
        turned = [(a, b) for a in one for b in other if _opposed(a, b)]
        if turned and not {*one, *other} & lex.DENIALS:
            against.append(f"It says “{turned[0][0]}”; the cited words say “{turned[0][1]}”.")
        modes = _mode(one), _mode(other)
        if all(modes) and not modes[0] & modes[1]:
            against.append(f"It {min(modes[0])} what the cited words {min(modes[1]).removesuffix('s')}.")
    if swapped := _exchanged(replaced):
        against.append(f"It puts “{swapped}” where the cited words have another.")
    put_otherwise = any({a, b} & lex.IMPLIED or _opposed(a, b) for a, b in differ)
    # "Neither she nor he will be paid": what is denied stands behind what is left out.
    ahead = denied[0] > denied[1] and any(place < first for place in denials[1])
    if (denied[0] - denied[1]) % 2 and not put_otherwise and not ahead:
        against.append("It denies what the cited words say." if denied[0] > denied[1] else "It affirms what they deny.")
    return [Finding("unsupported", reason) for reason in against[:1]]


def _exchanged(replaced: Sequence[tuple[set[str], set[str]]]) -> str:
    """A thing of the claim that has changed places with another, "" for none. ``replaced`` has the content words of the
    claim that differ, each with those of the sentence in their place."""
    return next((min(one) for one, other in replaced if one and other and (other, one) in replaced), "")


# Denial


def _plain(words: Sequence[str]) -> list[str]:
    return [word for word in lex.without(words, lex.find(words, lex.IDIOMS)) if word not in lex.TITLES]


def _denial(claimed: list[str], given: list[str]) -> list[str]:
    """A word denied here and affirmed there, or the other way round. A text that has both for a word is no conflict."""
    claimed, given = _unprefixed(claimed, given), _unprefixed(given, claimed)
    here, there = _denied(claimed), _denied(given)
    # "Non-exclusive" denies a word, not what is said.
    many, others = (sum(word in lex.DENIALS and word not in ("non", "nor") for word in ws) for ws in (claimed, given))
    implied, implied_there = (any(word in lex.IMPLIED for word in words) for words in (claimed, given))
    if many and {True} in here.values() and not others and not implied_there:
        reached = {word for word, kinds in here.items() if True in kinds}
        turned = {other for word in given for other in _against(word)}
        told = {stem(word) for word in lex.TELLING}  # "is not described in the passage" is of no matter
        if {stem(word) for word in turned} & reached or {word for word in reached if here[word] == {True}} <= told:
            return []  # "did not fall" for "rose", "not unable" for "able"
        return ["It denies something the cited words don't deny."]
    # "May not … without consent" and "requires consent" say the same; with one denial taken away they no longer do.
    if others == 2 and not implied and not implied_there and "without" in given:
        both = {word for word, kinds in there.items() if True in kinds}
        return ["It has one denial; the cited words have two."] if many % 2 and both & set(here) else []
    shared = [word for word in here if word in there]
    denies = [word for word in shared if here[word] == {True} and there[word] == {False}]
    affirms = [word for word in shared if here[word] == {False} and there[word] == {True}]
    if (implied and not many) or (implied_there and not others):
        return []
    # As many on either side: one denial put differently ("no shares were repurchased", "did not repurchase shares").
    if len(denies) == len(affirms) or (many and others and not (denies and not affirms)):
        denies = []
        affirms = affirms if many != others else []
    if not (denies or affirms):
        return []
    verb, word = ("denies", denies[0]) if len(denies) > len(affirms) else ("affirms", affirms[0])
    return [f"It {verb} “{word}”, against the cited words."]


def _unprefixed(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """``words`` with "unrelated" as "not related" where the others have the plain word or its other form."""
    known = {stem(word) for word in others}
    out: list[str] = []
    for word in words:
        plain = next((one for one in _prefixed(word) if stem(one) in known), "")
        out += ("not", plain) if plain and stem(word) not in known else (word,)
    return out


def _denied(words: Sequence[str]) -> Mapping[str, set[bool]]:
    """Each content word → whether it stands denied, affirmed, or both, anywhere in ``words``. Two denials cancel; what
    follows the word denied may be meant as well ("without Quillon's prior consent")."""
    denied_at: dict[int, bool] = {}
    unsure: set[int] = set()
    for index, word in enumerate(words):
        if word in lex.DENIALS:
            near = range(index + 1, min(index + 1 + _REACH, len(words)))
            reached = [place for place in near if words[place] not in STOP_WORDS | lex.DENIALS]
            for place in reached[:1]:
                denied_at[place] = not denied_at.get(place, False)
            unsure.update(reached[1:3])
    out: dict[str, set[bool]] = defaultdict(set)
    for index, word in enumerate(words):
        if word not in STOP_WORDS and word not in lex.DENIALS:
            out[stem(word)].add(denied_at.get(index, False))
            if index in unsure:
                out[stem(word)].add(True)
    return out


# Up and down


def _direction(said: Sequence[str], given: Sequence[str]) -> list[str]:
    here, there = _directed(said), _directed(given)
    up, other = ({sign for signs in found.values() for sign in signs} for found in (here, there))
    if len(up) == len(other) == 1 and up != other:
        return [f"It says {_NAMES[up.pop()]}; the cited words say the opposite."]
    shared = [word for word in here if word in there]
    against = [word for word in shared if not here[word] & there[word]]
    certain = [word for word in against if len(here[word]) == len(there[word]) == 1]
    if certain or (against and len(against) == len(shared)):
        word = (certain or against)[0]
        return [f"It says {_NAMES[next(iter(here[word]))]} at “{word}”; the cited words say the opposite."]
    return []


def _directed(words: Sequence[str]) -> Mapping[str, set[int]]:
    """What each word of direction speaks of → +1 or −1: the nearest content word before it ("costs have risen") and the
    head of the noun phrase behind it ("higher freight costs", "the decline in net sales")."""
    out: dict[str, set[int]] = defaultdict(set)
    moves = lex.signs(words)
    for index, sign in enumerate(moves):
        # "Increase (decrease) in inventories" says neither.
        if not sign or -sign in moves[max(0, index - 1) : index + 2]:
            continue
        if lex.DENIALS & set(words[max(0, index - 2) : index]):
            continue  # "did not fall" says neither up nor down
        before = content_stems(" ".join(words[max(0, index - _REACH) : index]))
        for word in (*before[-1:], *_head(words[index + 1 :])):
            out[word].add(sign)
    return out


def _head(words: Sequence[str]) -> list[str]:
    """The stem of the last word of the noun phrase that ``words`` begin with, behind "in the" or "of the"."""
    place = next((index for index, word in enumerate(words) if word not in _LEADS), len(words))
    end = place
    while end < min(len(words), place + 4) and words[end].isalpha() and not _ends_phrase(words[end]):
        end += 1
    return content_stems(words[end - 1])[:1] if end > place else []


def _ends_phrase(word: str) -> bool:
    return word in STOP_WORDS or word in lex.UP or word in lex.DOWN or word.endswith("ed")


def _signed(claim: str, evidence: Evidence) -> list[str]:
    """A rise where the cited cell has a minus, a fall where it has a plus."""
    sign, claimed = lex.direction(claim), numbers(claim)
    given = [f for f in evidence.figures if f.cell is not None and any(agree(n, f.number, f.scale) for n in claimed)]
    signs = {1 if f.cell.text.strip().startswith("+") else 0 for f in given if f.cell is not None}
    return [f"It says {_NAMES[sign]}; the cited figure is a plus."] if sign < 0 and signs == {1} else []


# Opposites and duties


def _opposites(said: Sequence[str], given: Sequence[str], *, compared: bool) -> list[Finding]:
    """A word of the claim whose opposite, and not itself, stands in the cited words. ``compared``: words for more and
    less are accounted for."""
    there, stems = set(given), {stem(word) for word in given}
    for word in dict.fromkeys(said):
        if word not in lex.OPPOSITES or stem(word) in stems or (compared and word in _COMPARING):
            continue
        same, opposed = lex.OPPOSITES[word]
        against = sorted(opposed & there)
        if against and not same & there and not opposed & set(said):
            denied = lex.DENIALS & {*said, *there}
            return [
                Finding("weak" if denied else "unsupported", f"It says “{word}”; the cited words say “{against[0]}”.")
            ]
    return []


def _mode(words: Sequence[str]) -> set[str]:
    """What ``words`` do about some act: ``forbids``, ``exempts``, ``requires`` or ``permits`` it, or several."""
    found = set()
    for mode, phrases in lex.MODES.items():
        places = lex.find(words, phrases)
        if places:
            found.add(mode)
            words = lex.without(words, places)  # "does not have to" is no "has to"
    return found


# At least and at most


def _bounds(claim: str, evidence: Evidence) -> list[Finding]:
    """At least where the evidence says at most, or a bound where it sets none."""
    given = list(_bounded(evidence))
    for number in numbers(claim):
        said, sign = _bound(claim, number)
        same = [(other, its) for other, its, scale in given if sign and agree(number, other, scale)]
        if not same or sign in {its for _, its in same}:
            continue
        against = next((other for other, its in same if its == -sign), None)
        if against is not None:
            reason = f"It says “{' '.join(said)} {number.raw}”; the cited words say {_SIDES[-sign]} {against.raw}."
            return [Finding("unsupported", reason)]
        if said in lex.EXPLICIT and any(math.isclose(abs(o.amount), abs(number.amount)) for o, _ in same):
            return [Finding("weak", f"It says “{' '.join(said)} {number.raw}”; the cited words set no such bound.")]
    return []


def _bounded(evidence: Evidence) -> Iterator[tuple[Number, int, float | None]]:
    """Every number of the cited sentences, cells and headers, its bound (1, -1 or 0) and its table's scale."""
    for sentence in evidence.sentences:
        yield from ((number, _bound(sentence, number)[1], None) for number in numbers(sentence))
    for cell in evidence.cited_cells:
        named = {lex.BOUNDS.get((word,), 0) for word in tokens(cell.label) if (word,) in lex.EXPLICIT}
        headed = named.pop() if len(named) == 1 else 0
        for text, scale in ((cell.text, cell.scale), (cell.row, None), (cell.column, None)):
            for number in numbers(text):
                yield number, _bound(text, number)[1] or (headed if text == cell.text else 0), scale


def _bound(text: str, number: Number) -> tuple[tuple[str, ...], int]:
    """The words that bound ``number`` and 1 for from it upwards, -1 for up to it; ((), 0) where it is not bounded."""
    ahead = tokens(text[: number.start])
    behind = tokens(text[number.start :].lstrip()[len(number.raw) :])[:6]
    for place, word in enumerate(behind[:4]):
        for sign, more in lex.BEHIND.items():
            if word in ("or", "and") and behind[place + 1 : place + 2] and behind[place + 1] in more:
                return (_SIDES[sign],), sign
    for words in (ahead, _trimmed(ahead)):
        said = max((phrase for phrase in lex.BOUNDS if tuple(words[-len(phrase) :]) == phrase), key=len, default=())
        if said:
            # "No later than 45 days before" is at least 45 days before.
            turned = said in lex.TURNING and bool(lex.AHEAD & set(behind[:4]))
            return said, lex.BOUNDS[said] * (-1 if turned else 1)
    return (), 0


def _trimmed(words: Sequence[str]) -> list[str]:
    out = list(words)
    while out and out[-1] in lex.BETWEEN:
        out.pop()
    return out
