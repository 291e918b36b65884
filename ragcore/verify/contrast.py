"""Contradiction checks: a word of one class in the claim and of its opposite in the evidence, on the same argument.

The classes are data (`ragcore.text.lexicon`): denial, up and down, more and less, must and may, at least and at most,
and plain opposites. If the claim follows a cited sentence, the two are aligned word by word and the differences
examined in place. Otherwise each class is compared across both texts, each word with its neighbours.
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
from ragcore.text.words import STOP_WORDS, stem, tokens
from ragcore.verify.derive import check_comparison
from ragcore.verify.evidence import Evidence, Finding

# Share of a claim's words, in order, that makes it follow a sentence.
_KEPT = 0.7
# Reach of a denial, in words.
_REACH = 6
_COMPARING = lex.MORE | lex.LESS
_NAMES = {1: "an increase", -1: "a decrease"}
_SIDES = {1: "at least", -1: "at most"}


def check_contrast(claim: str, evidence: Evidence) -> list[Finding]:
    """Findings that ``claim`` says the opposite of ``evidence``."""
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
    """Words that ``word`` denies by a prefix ("unable": able)."""
    return tuple(word[len(p) :] for p in lex.PREFIXES if word.startswith(p) and len(word) > len(p) + 3)


def _denials(words: Sequence[str]) -> int:
    return sum(word in lex.DENIALS for word in lex.without(words, lex.find(words, lex.IDIOMS)))


def _denied_at(words: Sequence[str]) -> set[int]:
    """Positions of denials, except in "no later than"; "not only" counts as a denial if the rest is equal."""
    idioms = {at for low, high in lex.find(words, lex.IDIOMS) if high - low > 2 for at in range(low, high)}
    return {at for at, word in enumerate(words) if word in lex.DENIALS - {"non", "nor"} and at not in idioms}


# Claims that follow a sentence


def _aligned(said: Sequence[str], given: Sequence[str]) -> list[Finding]:
    """Denials and opposites among the differing words of two otherwise equal texts."""
    mine, theirs = [stem(word) for word in said], [stem(word) for word in given]
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks or sum(block.size for block in blocks) < _KEPT * len(said):
        return []
    first, last = blocks[0].b, blocks[-1].b + blocks[-1].size
    denials = _denied_at(said), _denied_at(given)
    denied = [0, 0]
    against: list[str] = []
    replaced: list[tuple[set[str], set[str]]] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        k, m = (k, m) if first <= k and m <= last else (k, k)
        one, other = said[i:j], given[k:m]
        denied[0] += len(denials[0] & {*range(i, j)})
        denied[1] += len(denials[1] & {*range(k, m)})
        replaced.append(({*mine[i:j]} - STOP_WORDS, {*theirs[k:m]} - STOP_WORDS))
        turned = [(a, b) for a in one for b in other if _opposed(a, b)]
        if turned and not {*one, *other} & lex.DENIALS:
            against.append(f"It says “{turned[0][0]}”; the cited words say “{turned[0][1]}”.")
        modes = _mode(one), _mode(other)
        if all(modes) and not modes[0] & modes[1]:
            against.append(f"It {min(modes[0])} what the cited words {min(modes[1]).removesuffix('s')}.")
    if swapped := _exchanged(replaced):
        against.append(f"It puts “{swapped}” where the cited words have another.")
    if (denied[0] - denied[1]) % 2:
        against.append("It denies what the cited words say." if denied[0] > denied[1] else "It affirms what they deny.")
    return [Finding("unsupported", reason) for reason in against[:1]]


def _exchanged(replaced: Sequence[tuple[set[str], set[str]]]) -> str:
    """Thing in the claim that has swapped places with another, "" if none. ``replaced`` pairs the claim's differing
    content words with those of the sentence in their place."""
    return next((min(one) for one, other in replaced if one and other and (other, one) in replaced), "")


# Denial


def _plain(words: Sequence[str]) -> list[str]:
    return [word for word in lex.without(words, lex.find(words, lex.IDIOMS)) if word not in lex.TITLES]


def _denial(claimed: list[str], given: list[str]) -> list[str]:
    """Words denied in one text and affirmed in the other. A text with both for a word is no conflict."""
    claimed, given = _unprefixed(claimed, given), _unprefixed(given, claimed)
    here, there = _denied(claimed), _denied(given)
    # "Non-exclusive" denies a word, not the statement.
    many, others = (sum(word in lex.DENIALS and word not in ("non", "nor") for word in ws) for ws in (claimed, given))
    implied, implied_there = (any(word in lex.IMPLIED for word in words) for words in (claimed, given))
    if many and {True} in here.values() and not others and not implied_there:
        reached = {word for word, kinds in here.items() if True in kinds}
        turned = {other for word in given for other in _against(word)}
        told = {stem(word) for word in lex.TELLING}  # "is not described in the passage" is irrelevant
        if {stem(word) for word in turned} & reached or {word for word in reached if here[word] == {True}} <= told:
            return []  # "did not fall" for "rose", "not unable" for "able"
        return ["It denies something the cited words don't deny."]
    # "May not … without consent" and "requires consent" agree; with one denial removed they would not.
    if others == 2 and not implied and not implied_there and "without" in given:
        both = {word for word, kinds in there.items() if True in kinds}
        return ["It has one denial; the cited words have two."] if many % 2 and both & set(here) else []
    shared = [word for word in here if word in there]
    denies = [word for word in shared if here[word] == {True} and there[word] == {False}]
    affirms = [word for word in shared if here[word] == {False} and there[word] == {True}]
    if (implied and not many) or (implied_there and not others):
        return []
    # As many on either side: one denial reworded ("no shares were repurchased", "did not repurchase shares").
    if len(denies) == len(affirms) or (many and others and not (denies and not affirms)):
        denies = []
        affirms = affirms if many != others else []
    if not (denies or affirms):
        return []
    verb, word = ("denies", denies[0]) if len(denies) > len(affirms) else ("affirms", affirms[0])
    return [f"It {verb} “{word}”, against the cited words."]


def _unprefixed(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """``words`` with "unrelated" as "not related" if the others have the plain word or another form of it."""
    known = {stem(word) for word in others}
    out: list[str] = []
    for word in words:
        plain = next((one for one in _prefixed(word) if stem(one) in known), "")
        out += ("not", plain) if plain and stem(word) not in known else (word,)
    return out


def _denied(words: Sequence[str]) -> Mapping[str, set[bool]]:
    """Each content word → whether it is denied, affirmed, or both, anywhere in ``words``. Two denials cancel; a word
    after the denied one may be denied too ("without Quillon's prior consent")."""
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
    up, other = _directed(said), _directed(given)
    if len(up) == len(other) == 1 and up != other:
        return [f"It says {_NAMES[up.pop()]}; the cited words say the opposite."]
    return []


def _directed(words: Sequence[str]) -> set[int]:
    """1 where ``words`` say up and -1 where down; "increase (decrease)" and "did not fall" say neither."""
    moves = lex.signs(words)
    return {
        sign
        for index, sign in enumerate(moves)
        if sign and -sign not in moves[max(0, index - 1) : index + 2]
        if not lex.DENIALS & set(words[max(0, index - 2) : index])
    }


def _signed(claim: str, evidence: Evidence) -> list[str]:
    """Rises in the claim where the cited cell is negative, and falls where it is positive."""
    sign, claimed = lex.direction(claim), numbers(claim)
    given = [f for f in evidence.figures if f.cell is not None and any(agree(n, f.number, f.scale) for n in claimed)]
    signs = {1 if f.cell.text.strip().startswith("+") else 0 for f in given if f.cell is not None}
    return [f"It says {_NAMES[sign]}; the cited figure is a plus."] if sign < 0 and signs == {1} else []


# Opposites and duties


def _opposites(said: Sequence[str], given: Sequence[str], *, compared: bool) -> list[Finding]:
    """Claim words absent from the cited words while their opposite is there. ``compared``: words for more and less are
    already checked."""
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
    """Modes of ``words`` about an act: ``forbids``, ``exempts``, ``requires``, ``permits``."""
    found = set()
    for mode, phrases in lex.MODES.items():
        places = lex.find(words, phrases)
        if places:
            found.add(mode)
            words = lex.without(words, places)  # "does not have to" is no "has to"
    return found


# At least and at most


def _bounds(claim: str, evidence: Evidence) -> list[Finding]:
    """Findings where the claim says at least and the evidence at most, or the claim has a bound and the evidence
    none."""
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
        for text, scale in ((cell.text, cell.scale), (cell.row, None), (cell.column, None)):
            yield from ((number, _bound(text, number)[1], scale) for number in numbers(text))


def _bound(text: str, number: Number) -> tuple[tuple[str, ...], int]:
    """Words that bound ``number``, with 1 for a lower bound and -1 for an upper one; ((), 0) without a bound."""
    ahead = tokens(text[: number.start])
    said = max((phrase for phrase in lex.BOUNDS if tuple(ahead[-len(phrase) :]) == phrase), key=len, default=())
    if said:
        return said, lex.BOUNDS[said]
    return (), 0
