"""What sentences tell, as the questions that they answer, by rules (English): a cause, a duty, a defined term.

As in `ragcore.suggest.phrasing`, "" where no question that a person would ask comes of it.
"""

from __future__ import annotations

import re
from collections.abc import Set

from ragcore.suggest.phrasing import DANGLING, FINITE, NO_SUBJECT, PART, WITH_ARTICLE, YEAR, inside, is_many
from ragcore.text.words import FUNCTION_WORDS, word_set

# Words that lead from what happened to why, and from a term to what it is.
CAUSE = r"due\s+to|because|driven\s+by|as\s+a\s+result\s+of|owing\s+to|reflect\w*|attributable\s+to"
MEANS = r"means|shall\s+mean|is\s+defined\s+as|refers\s+to"
_ENUMERATORS = r"^(?:(?:\(\w{1,4}\)|\d{1,2}\.|[a-z][.)]|[•–—-])\s+)*"
_BASE = {
    "increased": "increase", "decreased": "decrease", "grew": "grow", "rose": "rise", "fell": "fall",
    "declined": "decline", "improved": "improve", "dropped": "drop",
}  # fmt: skip
_CAUSE = re.compile(
    rf"{_ENUMERATORS}(?:(?P<when>(?:In|During|For)\s+[^,]{{2,40}}),\s+)?(?P<subject>[^\W\d_][^.;:$%]{{2,60}}?)\s+"
    rf"(?P<verb>{'|'.join(_BASE)})\b.*?\b(?:{CAUSE}|resulted\s+from|primarily\s+from|mainly\s+from)\b"
)
_WHEN = re.compile(
    r"\b(?:in|during|for)\s+(?P<said>(?:(?:the\s+)?(?:(?:first|second|third|fourth)\s+quarter|first\s+(?:three|six|nine)"
    rf"\s+months)\s+of\s+)?(?:(?:fiscal|the\s+year)\s+(?:year\s+)?)?{YEAR})\b",
    re.IGNORECASE,
)

_PERIOD_BEGINS = re.compile(rf"\s(?:in|during|for)\s(?=the\s|fiscal\s|{YEAR})", re.IGNORECASE)
_AGAINST = re.compile(r"\b(?:compar\w+|versus|against|relative\s+to|than)\b", re.IGNORECASE)

_ACTOR = (
    r"(?:(?P<det>The|A|An|Each|Every|Any|All)\s+(?P<named>[A-Za-z][\w-]*(?:\s+[a-z][\w-]*){0,2}?)"
    r"|(?P<bare>[A-Z]{2,6}|[A-Z][a-z-]+s))"
)
_DUTY = re.compile(
    rf"{_ENUMERATORS}{_ACTOR}\s+(?P<modal>shall|must|may|is\s+required\s+to|are\s+required\s+to)\s+"
    r"(?:promptly\s+|also\s+|immediately\s+)?(?P<verb>[a-z]+)\b\s*(?P<rest>.*)",
    re.DOTALL,
)
_LENGTH = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|ten|twelve|fifteen|thirty|sixty|ninety)[\s-]+(?:calendar\s+|business\s+|"
    r"working\s+)?(?:hour|day|week|month|year)s?\b",
    re.IGNORECASE,
)
_BY_THEN = re.compile(r"\b(?:within|(?:no|not)\s+(?:later|more)\s+than|at\s+least)\b", re.IGNORECASE)
_ON_CONDITION = re.compile(r"\b(?:if|unless|only|when|until|after|before|provided)\b|:\s*$", re.IGNORECASE)
_ADVERBS = word_set("not only also then thereafter")
_KEEPS = word_set("keep retain maintain preserve store")
_ANSWERS = word_set("respond reply act decide")
_TELLS = word_set("notify inform")
_TAKES_OBJECT = word_set(
    "submit report provide include contain record describe identify pay deliver file disclose establish specify "
    "list prepare return supply monitor keep retain maintain"
)
_OBJECT_ENDS = re.compile(
    r"[,;:.()—–]|\b(?:that|which|who|whose|if|unless|until|when|within|under|for|in|as|to|no|not|including|describing|"
    r"containing|required|by|at|before|after|from|with|on|upon|during|pursuant|only|about|solely|"
    r"intended|used|made|listed|received|designed|named|identified|described|provided|specified|prepared|submitted)\b"
)
_LONGEST_OBJECT = 8  # words
# Verbs whose object goes on to do something: "require sponsors to monitor".
_MAKES_DO = word_set(
    "place put take set make subject require ask request permit allow authorize authorise direct cause expect enable"
)
# Who may have a duty though no article says "a": the other party of a text, not one of its papers.
_PERSON = re.compile(
    r"\w+(?:or|er|ee|ant|ist|ian)$|^(?:agency|company|party|board|committee|physician|patient|client)$"
)
_NO_PERSON = word_set("letter order paper number matter offer answer factor former latter other cover register folder")

_MEANS = re.compile(
    rf"{_ENUMERATORS}(?:(?:The\s+)?term\s+)?[“\"‘]?(?P<term>[A-Z][\w-]*(?:\s+[\w-]+){{0,3}}?)[”\"’]?\s+"
    rf"(?:{MEANS})\b"
)


def of_cause(sentence: str, words: Set[str] = frozenset()) -> str:
    """``Why did inventories rise in 2025?`` of a sentence that says why."""
    match = _CAUSE.match(sentence)
    if match is None:
        return ""
    said = _PERIOD_BEGINS.split(re.sub(r"^.*[–—]+", "", match["subject"]))[0].strip(" ,")
    own = said.lower().split()
    if not own or len(own) > 6 or set(own) & (FINITE | NO_SUBJECT) or own[-1] in DANGLING:
        return ""
    if PART.match(said) or "," in said:
        return ""
    subject = inside(said, words)
    bare = re.sub(r"^(?:the|our)\s+", "", subject, flags=re.IGNORECASE)
    article = "the " if (bare != subject and not is_many(bare)) or WITH_ARTICLE.match(bare) else ""
    when = _WHEN.search(_AGAINST.split(sentence, maxsplit=1)[0])
    period = f" in {inside(when['said'], words)}" if when else ""
    return f"Why did {article}{bare} {_BASE[match['verb']]}{period}?"


def of_duty(sentence: str, words: Set[str] = frozenset()) -> str:
    """``How long must an investigator retain records?``, ``What must a sponsor submit?``, ``When may FDA end a study?``
    of a sentence that says what somebody must or may do."""
    match = _DUTY.match(sentence)
    if match is None or match["verb"] in FINITE | _ADVERBS or match["verb"].endswith("ly"):
        return ""
    who = _actor(match)
    if not who:
        return ""
    verb, rest = match["verb"], match["rest"]
    what = _object(rest)
    act = f"{verb} {what}".strip()
    if match["modal"] == "may":
        fit = what and verb not in _MAKES_DO and _ON_CONDITION.search(rest)
        return f"When may {who} {act}?" if fit else ""
    if _LENGTH.search(rest):
        if verb in _KEEPS and what and not _BY_THEN.search(rest):
            return f"How long must {who} {act}?"
        if _BY_THEN.search(rest) and (what or verb in _ANSWERS):
            return f"How soon must {who} {act}?"
    if verb in _TELLS:
        return f"Whom must {who} {verb}?"
    return f"What must {who} {verb}?" if verb in _TAKES_OBJECT else ""


def _actor(match: re.Match[str]) -> str:
    bare = match["bare"]
    if bare:
        if bare.lower() in NO_SUBJECT or bare.lower() in DANGLING:
            return ""
        return bare if bare.isupper() else bare.lower()
    own = match["named"].split()
    if len(own) > 1 and own[-1].endswith("ly"):
        own.pop()
    low = [word.lower() for word in own]
    if set(low) & (FINITE | NO_SUBJECT | DANGLING | {"following", "same", "first", "second", "above"}):
        return ""
    det, named = match["det"].lower(), " ".join(own)
    if det == "all":
        return named
    if det == "the":
        person = len(own) > 1 or (_PERSON.match(low[-1]) and low[-1] not in _NO_PERSON)
        return f"the {named}" if person else ""
    return f"{'an' if named[0].lower() in 'aeiou' else 'a'} {named}"


def _object(rest: str) -> str:
    """What stands behind the verb up to where something else begins; "" where that is no short thing."""
    end = _OBJECT_ENDS.search(rest)
    own = (rest[: end.start()] if end else rest).split()
    content = [word for word in own if word.lower() not in DANGLING]
    if not content or len(own) > _LONGEST_OBJECT or own[-1].lower() in DANGLING or not own[-1][-1].isalpha():
        return ""
    return " ".join(own)


def defined(sentence: str) -> str:
    """The term that a sentence defines ("Clinical investigation means …"), "" where it defines none."""
    match = _MEANS.match(sentence)
    if match is None:
        return ""
    own = match["term"].lower().split()
    return "" if set(own) & (FINITE | NO_SUBJECT | FUNCTION_WORDS) else match["term"]
