"""The words of a claim that are neither figures nor periods: how many of them the cited words have, and which not.

Three looks: the share of content words over the whole claim; a clause of its own that the cited words know nothing of
("..., because two plants were closed"); and a single word put in the place of another ("indoor" for "outdoor trials").
"""

from __future__ import annotations

import re

from ragcore.config.settings import VerifySettings
from ragcore.protocols import Reranker
from ragcore.text.lexicon import DOWN, LESS, MORE, UP
from ragcore.text.numbers import WORDS
from ragcore.text.words import STOP_WORDS, cover, stem, tokens, word_set
from ragcore.types import ClaimStatus
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import Evidence, Finding
from ragcore.verify.terms import TITLES, with_synonyms

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
