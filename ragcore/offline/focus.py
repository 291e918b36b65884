"""What a question asks, without how it is to be answered.

"Round your answer to two decimal places." says nothing about where the answer stands, yet its words count in the search
like any others. A sentence is left out only where nothing in it could stand in a document: all its words are about the
form of the answer, or it is a greeting, a role without a name, or what to say where a measure does not apply. The
writer still gets the question in full.
"""

from __future__ import annotations

import re

from ragcore.text.words import FUNCTION_WORDS, STOP_WORDS, tokens, word_set

_SENTENCES = re.compile(r"(?<=[.?!])\s+(?=[^\W\d_])")
_FORM = word_set("""
    answer answers reply respond response solution question questions following give provide state express write
    return present show round rounded rounding nearest whole integer decimal decimals place places digit digits percent
    percents percentage number figure figures value result unit units thousand thousands million millions billion
    billions usd dollar dollars euro euros cent cents one two three four five single few short brief briefly concise
    concisely sentence sentences word words paragraph paragraphs bullet bullets point points list table format form
    english plain language simple terms step steps reasoning work final exactly precise make sure include keep use
    hello hi dear good morning afternoon evening day thank thanks help need want like would kindly regards
""")
_ASKED = re.compile(r"(?:please\s+)?answer the (?:following |question|questions)[^\dA-Z]*[.:]$", re.I)
_ROLE = re.compile(
    r"(?:you are|act as|imagine (?:that )?you are|pretend (?:that )?you are) an? (?P<who>[^\d:]+)[.!]$", re.I
)
_UNLESS = re.compile(
    r"if\b[^?]*\bnot (?:an? |the )?(?:very |particularly )?"
    r"(?:useful|meaningful|relevant|applicable|appropriate|important|sensible)\b[^?]*\b(?:state|say|explain|mention|note|answer|tell)\b",
    re.I,
)
_LEAD = re.compile(r"(?:here(?:'|’)?s|here is|this is) (?:the|my) question:?\s*|question:\s*", re.I)
LEAST = 2  # content words that must be left


def focused(question: str) -> str:
    """``question`` without the sentences that say nothing of what is asked. The whole where too little else would be
    left, and where there is but one sentence."""
    sentences = [_LEAD.sub("", sentence).strip() for sentence in _SENTENCES.split(question.strip())]
    kept = " ".join(sentence for sentence in sentences if sentence and not _says_nothing(sentence))
    return kept if len([word for word in tokens(kept) if word not in STOP_WORDS]) >= LEAST else question.strip()


def _says_nothing(sentence: str) -> bool:
    if sentence.endswith("?"):
        return False
    role = _ROLE.match(sentence)
    if role is not None:
        # A name, or a place ("under the lease"), says where to look.
        return role["who"] == role["who"].lower() and len(role["who"].split()) <= 8 and " the " not in role["who"]
    if _UNLESS.match(sentence) or (_ASKED.match(sentence) and sentence[1:] == sentence[1:].lower()):
        return True
    words = tokens(sentence)
    small = (word for word in words if not (word.isdigit() and len(word) < 3))
    return bool(words) and all(word in _FORM or word in FUNCTION_WORDS for word in small)
