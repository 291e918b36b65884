"""Conditions of a confirmation: what evidence must have, beyond supporting a sentence, before it is called confirmed.

Support is lenient where an answer quotes what stands beside it. A draft is written by somebody else, from memory or
other sources, so here every count must be found, each figure must belong to the same words, and a possibility, a part
or a minority must not be told as a fact, the whole or the most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ragcore.text import lexicon as lex
from ragcore.text.clauses import clause_spans
from ragcore.text.mentions import key_of, mentions, without_owners
from ragcore.text.numbers import Number, agree, numbers, span_of
from ragcore.text.periods import blanked, period_spans, years_in_order
from ragcore.text.sentences import always_capital
from ragcore.text.units import unit_after
from ragcore.text.words import STOP_WORDS, content_stems, stem, tokens
from ragcore.verify.attribution import terms, with_synonyms
from ragcore.verify.claims import Statement
from ragcore.verify.contrast import denied_stems, replaced
from ragcore.verify.evidence import Evidence, Figure, parts
from ragcore.verify.figures import derive
from ragcore.verify.identifiers import naming

HALF = 50.0  # per cent
_AFTER = 60  # characters in which a figure's thing is named
_FAMILY = 5  # letters of a stem
_REACH = 2  # content words beside one
_NOT_A_THING = lex.SPAN_STEMS | lex.NO_NAMES | {stem(word) for word in lex.SCALES}  # beside a figure
ALIKE = 0.7  # share of equal words in two sentences


def doubt(statement: Statement, evidence: Evidence) -> str:
    """First reason why ``evidence``, which supports ``statement``, is too weak to confirm it; "" if it confirms it."""
    return next((reason for check in CHECKS for reason in check(statement, evidence)), "")


def _counts(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """Counts in letters that the evidence neither has nor gives by calculation, where it has others."""
    claimed = numbers(statement.text)
    given = [one for one in evidence.figures if one.valued]
    left = [one for one in given if not any(agree(number, one.number, one.scale) for number in claimed)]
    for number in claimed:
        held = any(agree(number, one.number, one.scale) for one in given if one.number.kind == number.kind)
        rivals = [one for one in left if one.number.kind == number.kind]
        if (
            number.counts
            and (rivals or number.unit)
            and not held
            and not any(True for _ in derive(number, evidence, statement.text))
        ):
            yield f"{number.raw} is not in these words."


def _units(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """Units that follow a figure's unit, where the evidence has it without them."""
    for number in numbers(statement.text):
        second = _second_unit(statement.text, number)
        same = (one for one in evidence.figures if one.sentence >= 0 and agree(number, one.number, one.scale))
        given = (_second_unit(evidence.sentences[one.sentence], one.number) for one in same)
        if second and second not in given:
            yield f"The draft gives {number.bare} two units."


def _second_unit(text: str, number: Number) -> str:
    """Name of the unit right after that of ``number``, "" if there is none."""
    found = unit_after(text, span_of(text, number)[1]) if number.unit is not None else None
    return found.name if found is not None else ""


def _whose(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """Figures that stand beside other words: in a sentence with several, or before one that tells of a part."""
    claimed = [number for number in numbers(statement.text) if not number.counts]
    own = dict(zip((number.start for number in claimed), parts(statement.text, claimed)))
    for number in claimed:
        said = with_synonyms(set(terms(own[number.start]))) - terms(number.raw) - _NOT_A_THING
        places = [
            one for one in evidence.figures if one.sentence >= 0 and agree(number, one.number, one.scale, hedged=True)
        ]
        if any(_same_in_a_row(statement.text, number, evidence.sentences[one.sentence], one.number) for one in places):
            continue
        if places and all(_elsewhere(one, said, claimed, evidence.sentences) for one in places):
            yield f"The document has {number.bare}, but says it of something else."


def _same_in_a_row(text: str, number: Number, other: str, given: Number) -> bool:
    """Whether two numbers of no kind follow the same word, which is a thing that is numbered ("day 1")."""
    before, there = tokens(text[: number.start])[-1:], tokens(other[: given.start])[-1:]
    return not (number.kind or given.kind) and before == there and content_stems(" ".join(before)) != []


def _elsewhere(figure: Figure, said: set[str], claimed: Sequence[Number], sentences: Sequence[str]) -> bool:
    """Whether what is ``said`` of ``figure`` are the words of another figure, or of a part of the whole that it is."""
    sentence, at = sentences[figure.sentence], figure.number.start
    kind = bool(figure.number.currency), figure.number.percent
    rivals = [one for one in numbers(sentence) if not one.counts and (bool(one.currency), one.percent) == kind]
    if years_in_order(sentence, [span_of(sentence, one) for one in rivals]):
        return False  # only their years tell them apart, which `ragcore.verify.attribution` compares
    segments = {
        rival.start: terms(lex.PARTITIVE.sub(" ", part)) for rival, part in zip(rivals, parts(sentence, rivals))
    }
    mine = segments.get(at, frozenset())
    others = {start: segment - mine for start, segment in segments.items() if start != at}
    own = mine.difference(*(segments[start] for start in others))
    if others and not said & own and any(said & other for other in others.values()):
        return True
    for rival in rivals:
        told = any(agree(number, rival, None, hedged=True) for number in claimed)
        part_of = rival.start > at and lex.PARTITIVE.search(sentence, at, rival.start)
        if part_of and not told and said & others.get(rival.start, frozenset()):
            return True
    return _of_the_next(figure, said, sentences)


def _of_the_next(figure: Figure, said: set[str], sentences: Sequence[str]) -> bool:
    """Whether most of what is ``said`` is in the next sentence alone, which gives the figure of a part."""
    if figure.sentence + 1 == len(sentences):
        return False
    here, following = terms(sentences[figure.sentence]), sentences[figure.sentence + 1]
    if not (numbers(following) and lex.PARTITIVE.search(following)):
        return False
    return len(said & terms(following) - here) >= len(said & here - terms(following))


def _named(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """Names of several words that don't stand together, not even with two between or as initials, nor in two parts of
    which the document's title or a heading has one; and names that only seem to begin the sentence."""
    given, over = (f" {key_of(without_owners(text))} " for text in (naming(evidence), evidence.around))
    text = blanked(statement.text, [(start, end) for _, start, end in period_spans(statement.text)])
    for one in mentions(text):
        name = text[one.start : one.end]
        words = [word for word in one.key.split() if word not in STOP_WORDS]
        parts = ((words[:n], words[n:]) for n in range(1, len(words)))
        known = (
            _in_order(words, given)
            or "".join(word[0] for word in words) in given.split()
            or any(
                (_in_order(first, over) and _in_order(rest, given))
                or (_in_order(first, given) and _in_order(rest, over))
                for first, rest in parts
            )
        )
        if not known and (len(words) > 1 or always_capital(name)):
            yield f"The name {name} is not in these words."


def _in_order(words: Sequence[str], given: str) -> bool:
    """Whether ``words`` stand in a text, with at most two others between two of them ("of the")."""
    return re.search(" " + r" (?:\w+ ){0,2}".join(map(re.escape, words)) + " ", given) is not None


def _replaced(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """Words in the place of others, in a sentence that is else much alike."""
    for sentence in evidence.sentences:
        found = replaced(statement.text, sentence, ALIKE)
        if found is not None and not _calls_by_name(*found, evidence):
            yield f"It says “{found[0]}” where the document says “{found[1]}”."


def _calls_by_name(said: str, given: str, evidence: Evidence) -> bool:
    """Whether a draft has the name of its document's title where the document has "the company"."""
    return lex.WHOM.issuperset(tokens(given)) and set(content_stems(said)) <= set(content_stems(evidence.around))


def _counted(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """Counts of one thing told of another: "79 events in 42 patients" counts no 79 patients."""
    for number in numbers(statement.text):
        thing = _things(statement.text, number)[:1]
        for figure in evidence.figures if thing and not number.kind else ():
            if figure.sentence < 0 or figure.number.kind or not agree(number, figure.number, None):
                continue
            sentence = evidence.sentences[figure.sentence]
            if _same_in_a_row(statement.text, number, sentence, figure.number):
                continue
            others = [one for one in numbers(sentence) if one.start != figure.number.start]
            there = any(thing[0] in _things(sentence, one)[:2] for one in others)
            if there and thing[0] not in with_synonyms(set(_things(sentence, figure.number))):
                yield f"The document has {figure.number.bare}, but counts something else by it."


def _things(text: str, number: Number) -> list[str]:
    """Stems of the words after ``number`` that may name what it counts."""
    return content_stems(text[number.start + len(number.raw) :][:_AFTER])[:4]


def _polarity(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """A word denied here and affirmed in the nearest sentence, or the other way round."""
    sentence = _nearest(statement, evidence)
    said, given = tokens(statement.text), tokens(sentence)
    here, there = denied_stems(said), denied_stems(given)
    affirmed = {stem(word) for word in given} - there, {stem(word) for word in said} - here
    if any(_alike(one, other) for mine, theirs in zip((here, there), affirmed) for one in mine for other in theirs):
        yield "These words deny it, or the draft denies what they say."
    elif not lex.DENIALS.union(lex.IMPLIED) & set(said) and denied_stems(tokens(_clause(statement, sentence))):
        yield "These words deny it."


def _clause(statement: Statement, sentence: str) -> str:
    """Clause of a sentence with most of the words of a statement."""
    said = with_synonyms(set(terms(statement.text)))
    spans = clause_spans(sentence) or [(0, len(sentence))]
    return max((sentence[slice(*span)] for span in spans), key=lambda one: len(said & terms(one)))


def _alike(one: str, other: str) -> bool:
    """Whether two stems are of one word family ("applic" and "appli")."""
    short = min(len(one), len(other))
    return one == other or (short >= _FAMILY and one[:short] == other[:short])


def _nearest(statement: Statement, evidence: Evidence) -> str:
    said = with_synonyms(set(terms(statement.text)))
    return max(evidence.sentences, key=lambda one: len(said & terms(one)), default="")


def _opposed(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """A word that the evidence lacks, where it has the opposite beside the same word: sold 40%, bought 40%."""
    said, given = _beside(statement.text), _beside(evidence.words)
    denied = denied_stems(tokens(statement.text))  # "no material effect" is an immaterial one
    for word in sorted(one for one in said.keys() - given.keys() if stem(one) not in denied):
        opposites, near = lex.antonyms().get(stem(word), frozenset()), said[word]
        against = sorted(one for one in given.keys() - said.keys() if stem(one) in opposites and given[one] & near)
        if against:
            yield f"It says “{word}” where the document says “{against[0]}”."


def _beside(text: str) -> dict[str, set[str]]:
    """Each content word of ``text`` with those up to `_REACH` words before and behind it, as stems."""
    words = [word for word in tokens(text) if word not in STOP_WORDS]
    out: dict[str, set[str]] = {}
    for place, word in enumerate(words):
        near = words[max(0, place - _REACH) : place] + words[place + 1 : place + 1 + _REACH]
        out.setdefault(word, set()).update(map(stem, near))
    return out


def _certainty(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """A fact where the clause that is nearest to it, or one before it in its sentence, has a possibility."""
    sentence = _nearest(statement, evidence)
    clause = _clause(statement, sentence)
    said, given = tokens(statement.text), set(tokens(sentence[: sentence.find(clause) + len(clause)]))
    doubtful = not given.isdisjoint(lex.DOUBTFUL) and (lex.HEDGES - lex.ABLE).isdisjoint(said)
    if doubtful or (not given.isdisjoint(lex.POSSIBLE) and lex.HEDGES.isdisjoint(said)):
        yield "These words say it as a possibility."


def _extent(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """All, only, most, and the first of several, without words for it."""
    said, given = set(tokens(statement.text)), set(tokens(evidence.words))
    if said & lex.ALL and given & lex.SOME and not given & lex.ALL:
        yield "These words say it of a part only."
    if said & lex.ONLY and not given & (lex.ONLY | lex.DENIALS):
        yield "These words don't say that there is nothing else."
    shares = [one.number.value for one in evidence.figures if one.number.percent]
    if said & lex.MOST and not given & lex.MOST and not any(share > HALF for share in shares):
        yield "These words don't say that it is most of them."
    signs = {lex.SUPERLATIVES[word] for word in given & lex.SUPERLATIVES.keys()}
    bounds = {word for phrase in lex.BOUNDS for word in phrase}
    for word in sorted(said & lex.SUPERLATIVES.keys() - lex.MOST - bounds):
        if lex.SUPERLATIVES[word] not in signs:
            yield f"These words don't say that it is the {word}."


CHECKS: Final = (_counts, _units, _whose, _counted, _named, _replaced, _polarity, _opposed, _certainty, _extent)
