"""What helped and what hurt, and what a change was owed to.

"Had an adverse impact of $422 million" is not "improved by $422 million", and what partly offset a rise did not drive
it. Both are read from lists of words: an effect for the better or the worse, and the phrase before what is named.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragcore.text.numbers import agree, numbers
from ragcore.text.words import content_stems, tokens, word_set
from ragcore.verify.evidence import Evidence, Finding
from ragcore.verify.polarity import DOWN, LESS_IS_BETTER, UP, denies

HELPED = word_set("""
    benefit benefits benefited benefitted benefiting help helps helped helping aid aided aids favorable favourable
    favorably favourably positive positively improve improves improved improving improvement improvements enhance
    enhanced enhances boost boosts boosted tailwind tailwinds beneficial
""")
HURT = word_set("""
    adverse adversely unfavorable unfavourable unfavorably unfavourably negative negatively hurt hurts hurting harm
    harms harmed suffer suffers suffered worsen worsens worsened worsening deteriorate deteriorated detrimental
    headwind headwinds eroded erodes depressed impaired penalized
""")
_MORE = UP | word_set("add adds added contributed contributes")
_LESS = DOWN | word_set("subtracted")
# What follows the one brought a change about; what follows the other worked against it.
_CAUSE = (
    r"driven by|due (?:\w+ly )?to|because of|owing to|thanks to|(?:helped|aided|boosted|fuelled|fueled|led|supported|"
    r"caused|propelled) by|reflecting|reflects?|as a result of|attribut(?:ed|able) (?:\w+ly )?to|result(?:ed|ing) from|"
    r"(?:came|comes|stems?|stemmed|stemming|arising|arose) from"
)
_OFFSET = (
    r"(?:offset|compensated|mitigated|tempered|muted|countered|moderated|counterbalanced) (?:\w+ly )?by|despite|"
    r"in spite of|notwithstanding|net of"
)
_LINK = re.compile(rf"\b(?:(?P<cause>{_CAUSE})|(?P<offset>{_OFFSET}))\b", re.IGNORECASE)
_AGAINST = re.compile(rf"\b(?:{_OFFSET})\b[^.;:]*", re.IGNORECASE)
_ENDS = re.compile(r"[;:.](?:\s|\Z)|,\s(?!and\b)|\b(?:while|whereas|but|although|which)\b", re.IGNORECASE)
_SAID = {"cause": "as what brought it about", "offset": "as what worked against it"}


def check_effects(claim: str, evidence: Evidence, prose: Iterable[str]) -> list[Finding]:
    """A figure said to have helped where the cited words say that it hurt, or the other way round."""
    here = _effect(claim)
    if here is None or denies(claim):
        return []
    for text in _beside_its_figures(claim, evidence) or prose:
        there = _effect(text)
        if there is None or denies(text):
            continue
        if not _comparable(here, there, f"{claim} {text}"):
            continue
        if here.sign != there.sign:
            told = ("for the better", "for the worse") if here.sign > 0 else ("for the worse", "for the better")
            return [Finding("unsupported", f"It says a change {told[0]}; the cited words say one {told[1]}.")]
    return []


def _comparable(one: _Effect, other: _Effect, text: str) -> bool:
    """Whether both are effects, or one is and the other a change of what is better when it is more; what rises
    or falls beside an effect may be its cause."""
    if one.word and other.word:
        return True
    if not (one.word or other.word) or LESS_IS_BETTER.search(text):
        return False
    return not (one.move if one.word else other.move)


def _beside_its_figures(claim: str, evidence: Evidence) -> list[str]:
    """The parts of cited sentences that the figures of ``claim`` stand in."""
    claimed = numbers(claim)
    return [
        figure.part if _effect(figure.part) else evidence.sentences[figure.sentence]
        for figure in evidence.figures
        if figure.sentence >= 0 and any(agree(number, figure.number, None) for number in claimed)
    ]


@dataclass(frozen=True, slots=True)
class _Effect:
    """``sign`` is 1 for the better and -1 for the worse, by a ``word`` of effect, else ("") by ``move``: 1 for more,
    -1 for less, 0 where it says neither or both."""

    sign: int
    word: str
    move: int


def _effect(text: str) -> _Effect | None:
    """What ``text`` says of an effect, but for what it says worked against it; None where it says none or both."""
    words = tokens(_AGAINST.sub(" ", text))
    named = [word for word in words if word in HELPED or word in HURT]
    moves = {1 if word in _MORE else -1 for word in words if word in _MORE or word in _LESS}
    signs = {1 if word in HELPED else -1 for word in named}
    move = moves.pop() if len(moves) == 1 else 0
    if len(signs) > 1 or not (signs or move):
        return None
    return _Effect(signs.pop() if signs else move, named[0] if named else "", move)


def check_causes(claim: str, prose: Iterable[str]) -> list[Finding]:
    """A cause of the claim that the cited words name as what worked against the change, or the other way round."""
    said, given = _links(claim), _links("\n".join(prose))
    for role, other in (("cause", "offset"), ("offset", "cause")):
        shared = [word for word, roles in said.items() if roles == {role} and word in given]
        if shared and all(given[word] == {other} for word in shared):
            return [Finding("unsupported", f"It names “{shared[0]}” {_SAID[role]}, the cited words {_SAID[other]}.")]
    return []


def _links(text: str) -> Mapping[str, set[str]]:
    """Each word behind a phrase of cause or offset → which of the two."""
    out: dict[str, set[str]] = defaultdict(set)
    found = list(_LINK.finditer(text))
    for match, following in zip(found, [*found[1:], None]):
        end = following.start() if following else len(text)
        stop = _ENDS.search(text, match.end(), end)
        words = text[match.end() : stop.start() if stop else end]
        plain = [word for word in tokens(words) if word not in _MORE and word not in _LESS and word.isalpha()]
        for one in content_stems(" ".join(plain)):
            out[one].add("cause" if match.group("cause") else "offset")
    return out
