"""What a question asks, without how it is to be answered.

"Round your answer to two decimal places." says nothing about where the answer stands, yet its words count in the search
like any others. The writer still gets the question in full.
"""

from __future__ import annotations

import re

_SENTENCES = re.compile(r"(?<=[.?!])\s+(?=[^\W\d_])")
_ROLE = re.compile(
    r"(?:you are|act as|imagine (?:that )?you|pretend|as an? (?:expert|analyst|lawyer|scientist)\b)", re.I
)
_REQUEST = re.compile(
    r"(?:please\s+|kindly\s+)?(?:also\s+)?"
    r"(?:round|answer|respond|reply|state|express|explain|give|provide|write|format|use|keep|return|show|present|be)\b",
    re.I,
)
_OF_THE_ANSWER = re.compile(
    r"\b(?:your (?:answer|response|reply|solution|reasoning|work)|the answer|an? (?:answer|response|solution)|"
    r"decimals?|decimal places|nearest|in units of|bullets?|bullet points|step by step|"
    r"in (?:one|two|three|a few) (?:sentences?|words?|paragraphs?)|as an? (?:list|table|percentage|number)|"
    r"in (?:english|plain language)|concise(?:ly)?|brief(?:ly)?)\b",
    re.I,
)
_UNLESS = re.compile(r"if\b.*\b(?:state (?:that|so)|say so|explain why|answer with|reply with|respond with)\b", re.I)
_LEAD = re.compile(r"(?:here(?:'|’)?s|here is|this is) (?:the|my) question:?\s*|question:\s*", re.I)


def focused(question: str) -> str:
    """``question`` without the sentences that ask for a form of answer, say who is to answer, or what to say where it
    does not apply. The whole where nothing else would be left, and where there is but one sentence."""
    sentences = [_LEAD.sub("", sentence).strip() for sentence in _SENTENCES.split(question.strip())]
    kept = [sentence for sentence in sentences if sentence and not _is_form(sentence)]
    return " ".join(kept) if kept else question.strip()


def _is_form(sentence: str) -> bool:
    if sentence.endswith("?"):
        return False
    if _REQUEST.match(sentence):
        return _OF_THE_ANSWER.search(sentence) is not None
    # What a role may use ("your only resource is the balance sheet") says where to look.
    return _UNLESS.match(sentence) is not None or (_ROLE.match(sentence) is not None and ":" not in sentence)
