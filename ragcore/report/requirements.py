"""What a section's guidance asks for, piece by piece, so that each can be looked for, and be missed, by itself.

"Describe the drug substance, its mechanism of action and the proposed dose. State any known toxicity." asks for four
things: the drug substance; its mechanism of action; the proposed dose; any known toxicity.
"""

from __future__ import annotations

import re

from ragcore.text.sentences import sentence_spans
from ragcore.text.words import content_stems

MOST = 12  # pieces of one section; what is beyond them stays in one piece
_ITEM = re.compile(r"^\s*(?:[-*+•–]|\(?(?:\d{1,2}|[a-z])[.)])\s+")
_INSTRUCTS = re.compile(
    r"^(?:please\s+|briefly\s+|concisely\s+|also\s+|then\s+|finally\s+|clearly\s+)*"
    r"(?:describe|state|give|list|name|summari[sz]e|provide|include|identify|explain|report|specify|discuss|outline|"
    r"present|mention|note|indicate|detail|cover|quote|set out|say|tell|show|compare|document|record|extract|find|"
    r"characteri[sz]e|review|address|define|what\s+(?:is|are|was|were))\b"
    r"(?:\s+(?:briefly|concisely|clearly|in\s+detail|all|any|each|here))*[:,]?\s*",
    re.IGNORECASE,
)
# What says how to write, and asks for nothing of the documents.
_FORM = re.compile(
    r"^(?:please\s+)?(?:write|use|keep|limit|avoid|do\s+not|don't|be\s+(?:brief|concise)|cite|format|answer\s+in|"
    r"at\s+most|no\s+more\s+than|in\s+(?:one|two|three|\d+)\s+(?:sentences?|paragraphs?|words?))\b",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*;\s*(?:and\s+|or\s+)?|,\s+(?:and|or|as well as)\s+|,\s+", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|as well as)\s+", re.IGNORECASE)
_ASIDE = re.compile(
    r",?\s*\b(?:if|where|when|to\s+the\s+extent|as\s+far\s+as)\s+(?:known|available|applicable|any)\b,?", re.I
)
_PREPOSITION = re.compile(r"^(?:in|for|of|to|by|with|on|at|from|during|after|before|under)\b", re.IGNORECASE)
_REFERS = re.compile(r"^(?:its|their|his|her|the\s+same)\b", re.IGNORECASE)
_LONGEST = 160  # characters of a piece; a longer one is a sentence and not an entry of a list


def requirements(heading: str, guidance: str) -> list[str]:
    """The pieces of ``guidance`` in its order, ``heading`` where it has none; at most twelve."""
    pieces: list[str] = []
    for line in guidance.splitlines():
        item = _ITEM.match(line)
        if item is not None:
            pieces.append(line[item.end() :].strip(" .;"))
            continue
        text = " ".join(line.split())
        for start, end in sentence_spans(text):
            pieces.extend(_pieces(text[start:end]))
    found = [piece for piece in dict.fromkeys(pieces) if content_stems(piece) and not _FORM.match(piece)]
    if len(found) > MOST:
        found = [*found[: MOST - 1], "; ".join(found[MOST - 1 :])]
    return found or [heading]


def _pieces(sentence: str) -> list[str]:
    """The entries of the list that an instruction gives; the sentence itself where it is no such list."""
    bare = sentence.strip().rstrip(".;:")
    if _FORM.match(bare):
        return []
    if bare.endswith("?"):
        return [bare]
    opening = _INSTRUCTS.match(bare)
    if opening is None:
        return [bare]
    rest = " ".join(_ASIDE.sub(" ", bare[opening.end() :]).split())
    entries = [entry for entry in _split(rest) if entry]
    if len(entries) < 2 or any(len(entry) > _LONGEST for entry in entries):
        return [rest or bare]
    # "the drug and its dose": an entry that points back needs what it points to.
    return [entry if not _REFERS.match(entry) else f"{entry} ({entries[0]})" for entry in entries]


def _split(text: str) -> list[str]:
    """Entries between commas, semicolons and the last "and"; brackets are not looked into."""
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        hidden.append(match.group())
        return f"\0{len(hidden) - 1}\0"

    plain = re.sub(r"\([^()]*\)|\d,\d", hide, text)
    entries = _BETWEEN.split(plain)
    if len(entries) > 1:
        entries = [*entries[:-1], *_AND.split(entries[-1], maxsplit=1)] if ", and " not in plain else entries
    elif len(_AND.split(plain)) == 2:
        both = _AND.split(plain)
        # "research and development" is one thing: two entries each have some words of their own.
        entries = both if all(len(part.split()) >= 2 for part in both) and not _PREPOSITION.match(both[1]) else [plain]
    return [re.sub("\0(\\d+)\0", lambda match: hidden[int(match.group(1))], entry).strip() for entry in entries]
