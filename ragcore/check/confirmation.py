"""Conditions of a confirmation: what evidence must have, beyond supporting a sentence, before it is called confirmed.

Support is lenient where an answer quotes what stands beside it. A draft is written by somebody else, from memory or
other sources, so here every count must be found, each figure must belong to the same words, and a possibility, a part
or a minority must not be told as a fact, the whole or the most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ragcore.text import lexicon as lex
from ragcore.text.numbers import Number, agree, numbers
from ragcore.text.words import content_stems, stem, tokens
from ragcore.verify.attribution import terms, with_synonyms
from ragcore.verify.claims import Statement
from ragcore.verify.contrast import denied_stems, replaced
from ragcore.verify.evidence import Evidence, Figure, parts
from ragcore.verify.figures import derive

HALF = 50.0  # per cent
_AFTER = 60  # characters in which a figure's thing is named
_FAMILY = 5  # letters of a stem
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


def _whose(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """Figures that stand beside other words: in a sentence with several, or before one that tells of a part."""
    claimed = [number for number in numbers(statement.text) if not number.counts]
    own = dict(zip((number.start for number in claimed), parts(statement.text, claimed)))
    for number in claimed:
        said = with_synonyms(set(terms(own[number.start]))) - terms(number.raw)
        places = [
            one for one in evidence.figures if one.sentence >= 0 and agree(number, one.number, one.scale, hedged=True)
        ]
        if places and all(_elsewhere(one, said, claimed, evidence.sentences) for one in places):
            yield f"These words give {number.raw} of something else."


def _elsewhere(figure: Figure, said: set[str], claimed: Sequence[Number], sentences: Sequence[str]) -> bool:
    """Whether what is ``said`` of ``figure`` are the words of another figure, or of a part of the whole that it is."""
    sentence, at = sentences[figure.sentence], figure.number.start
    kind = bool(figure.number.currency), figure.number.percent
    rivals = [one for one in numbers(sentence) if not one.counts and (bool(one.currency), one.percent) == kind]
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


def _replaced(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """Words in the place of others, in a sentence that is else much alike."""
    for sentence in evidence.sentences:
        found = replaced(statement.text, sentence, ALIKE)
        if found is not None:
            yield f"It says “{found[0]}” where the document says “{found[1]}”."


def _counted(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """Counts of one thing told of another: "79 events in 42 patients" counts no 79 patients."""
    for number in numbers(statement.text):
        thing = _things(statement.text, number)[:1]
        for figure in evidence.figures if thing and not number.kind else ():
            if figure.sentence < 0 or figure.number.kind or not agree(number, figure.number, None):
                continue
            sentence = evidence.sentences[figure.sentence]
            others = [one for one in numbers(sentence) if one.start != figure.number.start]
            there = any(thing[0] in _things(sentence, one)[:2] for one in others)
            if there and thing[0] not in with_synonyms(set(_things(sentence, figure.number))):
                yield f"These words count something else: {figure.number.raw}."


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


def _alike(one: str, other: str) -> bool:
    """Whether two stems are of one word family ("applic" and "appli")."""
    short = min(len(one), len(other))
    return one == other or (short >= _FAMILY and one[:short] == other[:short])


def _nearest(statement: Statement, evidence: Evidence) -> str:
    said = with_synonyms(set(terms(statement.text)))
    return max(evidence.sentences, key=lambda one: len(said & terms(one)), default="")


def _certainty(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """A fact where the sentence that is nearest to it has a possibility."""
    said, given = tokens(statement.text), set(tokens(_nearest(statement, evidence)))
    doubtful = not given.isdisjoint(lex.DOUBTFUL) and (lex.HEDGES - lex.ABLE).isdisjoint(said)
    if doubtful or (not given.isdisjoint(lex.POSSIBLE) and lex.HEDGES.isdisjoint(said)):
        yield "These words say it as a possibility."


def _extent(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """All, only, and most, without words for it."""
    said, given = set(tokens(statement.text)), set(tokens(evidence.words))
    if said & lex.ALL and given & lex.SOME and not given & lex.ALL:
        yield "These words say it of a part only."
    if said & lex.ONLY and not given & (lex.ONLY | lex.DENIALS):
        yield "These words don't say that there is nothing else."
    shares = [one.number.value for one in evidence.figures if one.number.percent]
    if said & lex.MOST and not given & lex.MOST and not any(share > HALF for share in shares):
        yield "These words don't say that it is most of them."


CHECKS: Final = (_counts, _whose, _counted, _replaced, _polarity, _certainty, _extent)
