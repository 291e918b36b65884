"""Contradiction checks: a word of one class in the claim and of its opposite in the evidence, on the same argument.

The classes are data (`ragcore.text.lexicon`): denial, up and down, more and less, at least and at most, and opposites
such as must and may. If the claim follows a cited sentence, the two are aligned word by word and the differences
examined in place; in a copy, any other word or figure in the place of one counts. Otherwise each class is compared
across both, if they share enough words to be about the same. "A exceeded B" is compared with the cited cells.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from ragcore.text import lexicon as lex
from ragcore.text.numbers import WORDS, Number, agree, numbers
from ragcore.text.periods import years
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import STOP_WORDS, stem, tokens
from ragcore.verify.attribution import label_terms, terms, with_synonyms
from ragcore.verify.evidence import Evidence, Finding

# Share of a claim's words, in order, that makes it follow a sentence.
_KEPT = 0.7
# Share of equal words in a claim and the part of a sentence that it follows, that makes it a copy.
_COPIED = 0.85
_PLACE = 3  # words in which a copy may differ in one place
# Share of a claim's content words that makes a sentence be about the same.
_RELATED = 0.5
_NO_TOPIC = STOP_WORDS | lex.DENIALS | lex.OPPOSITES.keys() | lex.UP | lex.DOWN
_IMPLIED = lex.IMPLIED | {"without"}  # "requires consent" for "may not without consent"
# Reach of a denial, in words.
_REACH = 6
_REACH_OF_THAN = 12  # words from a degree word
_NAMES = {1: "an increase", -1: "a decrease"}
_SIDES = {1: "at least", -1: "at most"}


def check_contrast(claim: str, evidence: Evidence) -> list[Finding]:
    """Findings that ``claim`` says the opposite of ``evidence``, or puts another word in the place of one of its."""
    labels = " . ".join(f"{cell.row} . {cell.column} {cell.meaning}" for cell in evidence.cells)
    prose = evidence.sentences or ((evidence.words,) if not evidence.cells else ())
    compared, settled = _comparison(claim, evidence)
    found: list[Finding] = []
    for start, end in sentence_spans(claim, 0):
        said = tokens(claim[start:end])
        if prose:
            against = _followed(claim[start:end], prose)
            against = against or _related(said, _nearest(said, list(map(tokens, prose))), settled=settled)
        else:
            against = _related(said, tokens(labels), settled=settled)
            if against is None and numbers(claim) and len(_denied_at(said)) > len(_denied_at(tokens(labels))):
                against = Finding("unsupported", "It denies what the cited table gives.")
        found += [against] if against else []
    return [*compared, *found, *_bounds(claim, evidence)]


def _against(word: str) -> frozenset[str]:
    moved = lex.DOWN if word in lex.UP else lex.UP if word in lex.DOWN else frozenset()
    return lex.OPPOSITES.get(word, ((), frozenset()))[1] | moved


def _denied_at(words: Sequence[str]) -> set[int]:
    """Positions of denials, except in "no later than"; "not only" counts as a denial if the rest is equal."""
    idioms = {
        at
        for low, high in lex.idioms(words)
        if words[low] != "not" or high - low != 2 or words[low + 1] == "exceed"
        for at in range(low, high)
    }
    return {at for at, word in enumerate(words) if word in lex.DENIALS - {"non", "nor"} and at not in idioms}


# Claims that follow a sentence


def _followed(claim: str, prose: Sequence[str]) -> Finding | None:
    """Finding on what ``claim`` says otherwise than the sentence that it follows: a denial or an opposite, or, if it is
    else a copy, another figure or word in the place of one."""
    said = tokens(claim)
    closest, copied = _COPIED, ""
    replaced: list[tuple[list[str], list[str]]] = []
    for sentence in prose:
        given = tokens(sentence)
        changes, kept, length = _changes(said, given)
        if not kept or kept < _KEPT * len(said):
            continue
        if turned := _turned(said, given, changes):
            return turned
        share = 2 * kept / (len(said) + length)
        if share >= closest:
            closest, copied = share, sentence
            replaced = [(said[mine], given[theirs]) for mine, theirs in changes]
    return _another(claim, copied, replaced) if copied else None


def replaced(claim: str, sentence: str, alike: float) -> tuple[str, str] | None:
    """First word of ``claim`` in the place of others of ``sentence``, and those; None if they are less than ``alike``
    (share of equal words), or no word is replaced."""
    said, given = tokens(claim), tokens(sentence)
    changes, kept, length = _changes(said, given)
    if 2 * kept < alike * (len(said) + length):
        return None
    known = with_synonyms({stem(word) for word in given})
    for mine, theirs in changes:
        old = [word for word in given[theirs] if word not in STOP_WORDS]
        new = [word for word in said[mine] if word not in STOP_WORDS | lex.BESIDE_FIGURES and stem(word) not in known]
        if old and new and max(len(old), len(new)) <= _PLACE and not any(word.isdigit() for word in (*old, *new)):
            return " ".join(new), " ".join(old)
    return None


def _changes(said: Sequence[str], given: Sequence[str]) -> tuple[list[tuple[slice, slice]], int, int]:
    """Where ``said`` differs from the part of ``given`` that it follows, by stems; how many words are equal; and the
    length of that part."""
    matcher = SequenceMatcher(None, [stem(word) for word in said], [stem(word) for word in given], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks:
        return [], 0, 0
    first, last = blocks[0].b, blocks[-1].b + blocks[-1].size
    changes = [
        (slice(i, j), slice(k, m if first <= k and m <= last else k))
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag != "equal"
    ]
    return changes, sum(block.size for block in blocks), last - first


def _opposed(said: str, given: str) -> Finding:
    return Finding("unsupported", f"It says “{said}”; the cited words say “{given}”.", contrast=(said, given))


def _turned(said: Sequence[str], given: Sequence[str], changes: Sequence[tuple[slice, slice]]) -> Finding | None:
    """Finding on a denial or an opposite among the ``changes``, or on two things that have changed places."""
    denials = _denied_at(said), _denied_at(given)
    more = 0
    put: dict[frozenset[str], frozenset[str]] = {}  # in the place of what
    for mine, theirs in changes:
        one, other = said[mine], given[theirs]
        more += sum(mine.start <= at < mine.stop for at in denials[0])
        more -= sum(theirs.start <= at < theirs.stop for at in denials[1])
        turned = [(a, b) for a in one for b in other if b in _against(a)]
        if turned and not {*one, *other} & lex.DENIALS:
            return _opposed(*turned[0])
        new, old = (frozenset(map(stem, words)) - STOP_WORDS for words in (one, other))
        if old and new and put.get(old) == new:
            return Finding("unsupported", f"It puts “{min(new)}” where the cited words have another.")
        put[new] = old
    if more % 2:
        return Finding(
            "unsupported", "It denies what the cited words say." if more > 0 else "It affirms what they deny."
        )
    return None


def _another(claim: str, sentence: str, replaced: Sequence[tuple[list[str], list[str]]]) -> Finding | None:
    """Finding on the first figure, else word, of ``claim`` in the place of another of ``sentence``, its original;
    ``replaced`` are the words in which they differ."""
    figures = numbers(claim), numbers(sentence)
    if len(figures[0]) == len(figures[1]):
        for mine, theirs in zip(*figures):
            if not agree(mine, theirs, None, hedged=True):
                return Finding("unsupported", f"It says {mine.raw}; the cited words say {theirs.raw}.", (mine.raw,))
    for said, given in replaced:
        if new := _replacing(said, given):
            instead = " ".join(given)
            reason = f"It says “{new}” where the cited words say “{instead}”."
            return Finding("weak", reason, worded=True, contrast=(new, instead))
    return None


def _replacing(said: Sequence[str], given: Sequence[str]) -> str:
    """Word of ``said`` that means something else than ``given``, in whose place it stands, or ""."""
    if not given or max(len(said), len(given)) > _PLACE:
        return ""
    turning = [word for word in said if word in lex.TURNING and word not in given]
    meant = {word for word in given if word not in STOP_WORDS}
    if len(said) != len(given) or lex.WHOM.issuperset(meant):
        said = turning
    same = {one for word in given for one in lex.OPPOSITES.get(word, (frozenset(), frozenset()))[0]}
    known = with_synonyms({stem(word) for word in same | {*given}})
    new = (word for word in said if word in turning or not (word in STOP_WORDS or word.isdigit() or word in lex.TITLES))
    return next((word for word in new if stem(word) not in known), "")


# Claims that say it in other words


def _shared(said: Sequence[str], given: Sequence[str]) -> float:
    """Share of the content words of ``said`` in ``given``, 0–1; 1 without any."""
    mine, theirs = ({stem(word) for word in words if word not in _NO_TOPIC} for words in (said, given))
    return len(mine & theirs) / len(mine) if mine else 1.0


def _nearest(said: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[str]:
    """Words of the ``sentences`` that share most with ``said``; of all if none is about the same by itself."""
    most = max(_shared(said, one) for one in sentences)
    return [word for one in sentences if most < _RELATED or _shared(said, one) == most for word in one]


def _related(said: Sequence[str], given: Sequence[str], *, settled: bool) -> Finding | None:
    """Finding on opposites, opposite directions or denials in two texts, the second with many words of the first.
    ``settled``: words for more and less are already checked."""
    if _shared(said, given) < _RELATED:
        return None
    direction = None if settled else _direction(said, given)
    return direction or _opposite(said, given, settled=settled) or _denial(_plain(said), _plain(given))


def _opposite(said: Sequence[str], given: Sequence[str], *, settled: bool) -> Finding | None:
    there, stems = set(given), {stem(word) for word in given}
    for word in said:
        same, opposed = lex.OPPOSITES.get(word, (frozenset(), frozenset()))
        against = sorted(opposed & there)
        checked = settled and word in lex.MORE | lex.LESS
        if against and not checked and stem(word) not in stems and not same & there and not opposed & set(said):
            return _opposed(word, against[0])
    return None


def _plain(words: Sequence[str]) -> list[str]:
    return [word for word in lex.without_idioms(words) if word not in lex.TITLES]


def _denial(said: list[str], given: list[str]) -> Finding | None:
    """Finding on a word denied in one text and affirmed in the other."""
    here, there = denied_stems(said), denied_stems(given)
    told = {stem(word) for word in lex.TELLING}  # "is not described in the passage" is irrelevant
    turned = {stem(other) for word in given for other in _against(word)}  # "did not fall" for "rose"
    if not {*said, *given}.isdisjoint(_IMPLIED) or bool(here) == bool(there):
        return None
    if here:
        denies = Finding("unsupported", "It denies something the cited words don't deny.")
        return None if here & turned or here <= told else denies
    stems = [stem(word) for word in given]
    denied = {one for one in there & {stem(word) for word in said} if stems.count(one) == 1}  # and nowhere affirmed
    return Finding("unsupported", f"It affirms “{min(denied)}”, against the cited words.") if denied else None


def denied_stems(words: Sequence[str]) -> set[str]:
    """Stems of the content words next after a denial; one denied twice is none. Who is "no longer eligible to receive"
    does not receive, and "no later than" denies nothing."""
    found: set[str] = set()
    words = lex.without_idioms(words)
    for index, word in enumerate(words):
        if word in lex.DENIALS - {"non", "nor"}:
            near = [one for one in words[index + 1 : index + 1 + _REACH] if one not in STOP_WORDS | lex.DENIALS]
            able = next((place for place, one in enumerate(near, start=1) if one in lex.ABLE), 0)
            found ^= {stem(next(iter(near[able:]), word))}
    return found


# Up and down


def _direction(said: Sequence[str], given: Sequence[str]) -> Finding | None:
    up, other = _directed(said), _directed(given)
    if len(up) == len(other) == 1 and up.keys() != other.keys():
        (sign, word), (against,) = up.popitem(), other.values()
        reason = f"It says {_NAMES[sign]}; the cited words say the opposite."
        return Finding("unsupported", reason, contrast=(word, against))
    return None


def _directed(words: Sequence[str]) -> dict[int, str]:
    """1 where ``words`` say up and -1 where down, with the word; "increase (decrease)" and "did not fall" say
    neither."""
    moves = lex.signs(words)
    return {
        sign: words[index]
        for index, sign in enumerate(moves)
        if sign and -sign not in moves[max(0, index - 1) : index + 2]
        if not lex.DENIALS & set(words[max(0, index - 2) : index])
    }


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
    for cell in evidence.cells:
        for text, scale in ((cell.text, cell.scale), (cell.row, None), (cell.column, None)):
            yield from ((number, _bound(text, number)[1], scale) for number in numbers(text))


def _bound(text: str, number: Number) -> tuple[tuple[str, ...], int]:
    """Words that bound ``number``, with 1 for a lower bound and -1 for an upper one; ((), 0) without a bound."""
    ahead = tokens(text[: number.start])
    if ahead[-1:] == ["of"] and lex.TOTAL.intersection(ahead[-2:]):  # "up to a total of 25"
        ahead = ahead[:-3] if ahead[-3:-2] and ahead[-3] in STOP_WORDS else ahead[:-2]
    said = max((phrase for phrase in lex.BOUNDS if tuple(ahead[-len(phrase) :]) == phrase), key=len, default=())
    limited = bool(ahead) and lex.limit(ahead, len(ahead) - 1) is not None
    return said, -1 if limited else lex.BOUNDS.get(said, 0)


# More and less than another


def _comparison(text: str, evidence: Evidence) -> tuple[list[Finding], bool]:
    """Findings on a comparison in ``text`` ("A was higher than B") by the cited figures of its two things, and whether
    they settle its words for more and less. "Less than 1 year" compares no two things."""
    sides = _sides(text)
    named = [(f, label_terms(f.cell.row) | label_terms(f.cell.column)) for f in evidence.figures if f.cell is not None]
    unique = [(f, own.difference(*(other for g, other in named if g is not f and other != own))) for f, own in named]
    if sides is None or len(unique) < 2:
        return [], False

    def meant(said: frozenset[str]) -> Number | None:
        scores = [(len(own & with_synonyms(set(said))), figure.number) for figure, own in unique]
        most = max(score for score, _ in scores)
        found = [number for score, number in scores if score == most]
        return found[0] if most and len(found) == 1 else None

    a, b = meant(sides[0] - sides[1]), meant(sides[1] - sides[0])
    # Which of two outflows is more isn't told by their signs.
    if a is None or b is None or a.percent != b.percent or a.amount == b.amount or max(a.amount, b.amount) < 0:
        return [], False
    shown = f"{a.raw} {'>' if a.amount > b.amount else '<'} {b.raw}"
    if (a.amount > b.amount) == sides[2]:
        return [Finding("supported", f"The cited figures say so: {shown}.")], True
    return [Finding("unsupported", f"The cited figures say the opposite: {shown}.")], False


def _sides(text: str) -> tuple[frozenset[str], frozenset[str], bool] | None:
    """Terms on either side of a comparison, and whether the first is said to be more."""
    for clause in re.split(r"[.;,](?!\s?\d)", text):
        words = tokens(clause)
        for place, word in enumerate(words):
            near = [at for at in range(max(0, place - _REACH_OF_THAN), place) if words[at] in lex.MORE | lex.LESS]
            if word == "than" and near:
                said, left = words[near[-1]], [*words[: near[-1]], *words[near[-1] + 1 : place]]
            elif word in lex.COMPARING_VERBS:
                said, left = word, words[:place]
            else:
                continue
            right = words[place + 1 :]
            first = next((one for one in right if one not in lex.ABOUT), "")
            if first and (years(first) or not (first[0].isdigit() or first == "one" or first in WORDS)):
                return terms(" ".join(left)), terms(" ".join(right)), said in lex.MORE
    return None
