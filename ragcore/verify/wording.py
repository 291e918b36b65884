"""The words of a claim that are neither figures nor periods: how many of them the cited words have, and which not.

Three looks: the share of content words over the whole claim; a clause of its own that the cited words know nothing of
("..., because two plants were closed"); and a single word put in the place of another ("indoor" for "outdoor trials").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import pairwise

from ragcore.config.settings import VerifySettings
from ragcore.protocols import Reranker
from ragcore.text.numbers import WORDS
from ragcore.text.words import STOP_WORDS, content_stems, cover, stem, tokens, word_set
from ragcore.types import ClaimStatus
from ragcore.verify.causes import HELPED, HURT
from ragcore.verify.claims import Statement
from ragcore.verify.comparison import LESS, MORE
from ragcore.verify.evidence import Evidence, Finding
from ragcore.verify.polarity import DOWN, UP
from ragcore.verify.synonyms import TITLES, alike, with_synonyms

# Words about figures and time that a claim may use freely: what they say is checked as numbers and years.
_NOT_COUNTED = (
    word_set("""
    thousand thousands million millions billion billions trillion percent percentage dollar dollars year years fiscal
    quarter amount amounts figure figures number numbers difference total respectively approximately nearly compared
    versus reached amounted came stood reported according hours days weeks months minutes seconds
    least most later earlier sooner point points slightly somewhat minimum maximum
    partly partially mostly mainly largely primarily principally chiefly predominantly significantly substantially
    considerably markedly materially sharply modestly strongly moderately notably particularly especially
    fully completely entirely wholly solely exclusively generally typically usually normally commonly often
    promptly immediately directly likewise similarly additionally consequently accordingly subsequently initially
    currently presently recently previously formerly eventually finally ultimately actually
""")
    | UP
    | DOWN
    | MORE
    | LESS
    | HELPED
    | HURT
    | TITLES
    | WORDS.keys()
)
# Words that a retelling adds without saying more.
_FREE = word_set("""
    colleagues company firm group business report reports reported document documents table period level
    overall respectively main
    also however while thus therefore including include includes such well new various certain several related based
    due result results increase decrease change changes said says stated states given made make part parts set place
    number numbers people persons things way ways case cases time times end ends start starts began begin begins
    total whole entire only just even still yet
    less more least most per each every any both either must may shall should have has need needs able allowed
    amount amounts amounted cost costs costing value values worth sum price came come comes reach reached reaches stood
    stand lead leads led cause causes caused earn earned earns go goes went take takes took carry carried
    slightly somewhat roughly about around approximately nearly almost
    outside inside away together apart
    used use uses using provide provided provides undergo underwent receive received
""")
_ADDITION = re.compile(
    r",?\s+\b(?:because|due to|owing to|thanks to|driven by|as a result of|as|since|unless|provided that|if|where|"
    r"which|who|"
    r"whose|while|although|helped by|under the|with a|with an|by|until|of whom|most of whom|a third of|within|at|"
    r"through|in "
    r"order to|so that|reflecting|following|despite|mainly|primarily)\b|[;,]\s",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"\b[A-Z][a-z]\w+")
# Relevance above which the cross-encoder's word counts for a paraphrase.
_RELEVANT = 0.5
# A clause with so many content words, and so few of them in the cited words, was added.
_CLAUSE_WORDS, _CLAUSE_SHARE = 3, 0.34


def _content(text: str) -> list[str]:
    """Content words of ``text`` that are not figures, in order."""
    return [word for word in tokens(text) if word not in STOP_WORDS and word not in _NOT_COUNTED and _is_word(word)]


def _is_word(word: str) -> bool:
    return len(word) > 1 and not any(character.isdigit() for character in word)


def check_words(
    statement: Statement, evidence: Evidence, settings: VerifySettings, reranker: Reranker | None
) -> list[Finding]:
    """The share of the claim's content words that stand in the cited words, their title or section. Where it is low,
    ``reranker`` may say that the claim is a paraphrase of cited prose."""
    wanted = {stem(word) for word in _content(statement.text)}
    given = with_synonyms(set(evidence.stems))
    share = cover(wanted, given)
    if share >= settings.weak_below:
        reason = f"{share:.0%} of its words are in the cited words." if wanted else ""
        return [Finding("supported", reason), *_check_clauses(statement.text, given)]
    if reranker is not None and not evidence.cited_cells and _relevant(reranker, statement, evidence):
        found = Finding("supported", "It says the same as the cited words in other words.")
        return [found, *_check_clauses(statement.text, given)]
    status: ClaimStatus = "unsupported" if share < settings.unsupported_below else "weak"
    return [Finding(status, f"Only {share:.0%} of its words are in the cited words.")]


def _relevant(reranker: Reranker, statement: Statement, evidence: Evidence) -> bool:
    return float(reranker.score(statement.text, [evidence.words[:2000]])[0]) >= _RELEVANT


def _check_clauses(text: str, given: set[str]) -> list[Finding]:
    """Clauses that the cited words know nothing of."""
    borders = [match.start() for match in _ADDITION.finditer(text)]
    for start, end in zip(borders, [*borders[1:], len(text)]):
        for stop in dict.fromkeys((end, len(text))):
            words = [word for word in _content(text[start:stop]) if word not in _FREE]
            share = cover({stem(word) for word in words}, given)
            if len(set(words)) >= _CLAUSE_WORDS and share < _CLAUSE_SHARE:
                clause = text[start:stop].strip(" ,;.")
                return [Finding("weak", f"“{clause}” is not in the cited words.")]
    return []


def check_replaced(statement: Statement, evidence: Evidence) -> list[Finding]:
    """A word of a claim that else keeps to a cited sentence, put where that sentence has another."""
    claimed = _content(statement.text)
    if not 2 <= len(claimed) <= 40:
        return []
    labels = " ".join(label for _, label in evidence.cells)
    # A heading gives names ("North America Retail"), not words in general.
    named = " ".join(word for word in _CAPITALISED.findall(evidence.around) if word in statement.text)
    given = with_synonyms(set(content_stems(f"{' '.join(evidence.sentences)} {evidence.titles} {labels} {named}")))
    for sentence in evidence.sentences:
        words = _content(sentence)
        mine, theirs = [stem(word) for word in claimed], [stem(word) for word in words]
        if cover(set(mine), with_synonyms(set(theirs))) < 0.5:
            continue
        matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
        if sum(block.size for block in matcher.get_matching_blocks()) < (1 if len(mine) > 2 else 2):
            continue
        for tag, i, j, k, m in matcher.get_opcodes():
            if tag != "replace" or j - i > 2 or m - k > 3:
                continue
            new = [claimed[n] for n in range(i, j) if mine[n] not in given and claimed[n] not in _FREE]
            old = [
                words[n] for n in range(k, m) if len(words[n]) > 2 and not any(alike(theirs[n], one) for one in mine)
            ]
            if new and old and not any(_verb(word) for word in new):
                return [_replaced(new[0], old[0])]
    return _replaced_beside(statement.text, evidence.sentences, given)


def _replaced_beside(text: str, sentences: Iterable[str], given: set[str]) -> list[Finding]:
    """As above, wherever it stands: a word right before one of the evidence, where that has another before it."""
    claimed = tokens(text)
    mine = {stem(word) for word in claimed}
    for word, after in pairwise(claimed):
        if word in STOP_WORDS | _FREE | _NOT_COUNTED or not _is_word(word) or stem(word) in given:
            continue
        if word.endswith("ed"):
            continue
        for sentence in sentences:
            for other, following in pairwise(tokens(sentence)):
                if stem(following) != stem(after) or after in STOP_WORDS or not _is_word(after):
                    continue
                if (
                    other in STOP_WORDS | _NOT_COUNTED
                    or not _is_word(other)
                    or any(alike(stem(other), one) for one in mine)
                ):
                    continue
                return [_replaced(word, other)]
    return []


def _replaced(new: str, old: str) -> Finding:
    return Finding("weak", f"It says “{new}” where the cited words say “{old}”.")


def _verb(word: str) -> bool:
    """Whether ``word`` looks like a form of a verb, which a retelling changes more often than what it is about."""
    return word.endswith(("ed", "ing"))
