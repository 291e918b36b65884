"""The questions that stand in one text, each made to stand by itself (English).

"What was Nike's revenue in 2021 and how many people did it employ?" asks two questions, and the second is about Nike in
2021 as well. Cut is only before what asks by itself: an interrogative with its verb, not "and development" or
"and which was founded".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.text.names import COMMON_ABBREVIATIONS
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import FUNCTION_WORDS, content_stems, word_set

PERIOD = (
    r"(?:(?:the\s+)?(?:fiscal\s+year|fiscal|year|FY)[\s'’-]*(?:\d{4}|\d{2})(?!\d)"
    r"|Q[1-4][\s'’-]*(?:of\s+)?(?:FY\s?)?(?:\d{4}|\d{2})?(?!\d)"
    r"|(?:the\s+)?(?:first|second|third|fourth)\s+quarter(?:\s+of)?(?:\s+fiscal)?(?:\s+(?:19|20)\d{2})?"
    r"|(?<![\d$€£.,-])(?:19|20)\d{2}(?:\s+Q[1-4])?(?![\d%-]|[.,]\d))"
)
_PERIOD = re.compile(rf"(?<!\w){PERIOD}(?!\w)", re.IGNORECASE)
_WH = r"(?:what|which|who|whom|whose|when|where|why|how)"
_AUX = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|must|may|might)"
_TASK = r"(?:compare|describe|explain|list|name|find|give|show|summari[sz]e|identify|state|tell\s+me)"
TASK = re.compile(rf"^{_TASK}\b", re.IGNORECASE)
_BEFORE_WH = r"(?:(?:in|on|at|by|for|from|to|of|with|under|during|after|before)\s+)?"
_OPENING = re.compile(rf"^(?:{_BEFORE_WH}{_WH}|{_AUX}|{_TASK})\b", re.IGNORECASE)
_JOIN = re.compile(r"[,;]?\s+(?:and|but|as\s+well\s+as)(?:,?\s+(?:also|then|finally))?,?\s+|;\s+", re.IGNORECASE)
_LEADING = re.compile(r"^(?:(?:and|but|also|then|finally|or)\b,?\s*)+", re.IGNORECASE)
_HOW = re.compile(rf"^how\s+(?:(?:many|much)\s+\S+\s+\S+|(?:\S+\s+){{0,5}}?{_AUX}\s+\S+)", re.IGNORECASE)
_WHEN = re.compile(rf"^(?:when|where|why)\s+(?:\w+ly\s+)?{_AUX}\s+\S+", re.IGNORECASE)
_WHAT = re.compile(rf"^{_BEFORE_WH}(?:what|whom|whose|which(?!\s+{_AUX}\b))\s+\S+\s+\S+", re.IGNORECASE)
_WHO = re.compile(r"^who\s+\S+\s+\S+", re.IGNORECASE)
_RELATIVE_WHO = re.compile(r"(?<!^)\bwho\b", re.IGNORECASE)
_ASKED_OF = re.compile(
    rf"^{_AUX}\s+(?:it|they|he|she|this|these|there|its|their|his|her)\s+\S+|^(?:do|does|did)\s+\S+\s+\S+",
    re.IGNORECASE,
)
_DOING = re.compile(
    rf"^(?:{_BEFORE_WH}{_WH}\b.*?\s)?(?P<aux>do|does|did|has|have|had|can|could|will|would|should|must|may|might)\s+"
    r"(?P<rest>.+)$",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?P<named>[A-Z][\w.’'&-]*(?:,?\s+(?:(?:and|or|of|the|&)\s+)*[A-Z\d][\w.’'&-]*)*)"
    r"|(?P<meant>(?i:it|they|he|she|we|you|this|these|those|there|anyone)\b"
    r"|(?i:the|an?|this|that|these|those|its|their|his|her|any|all|both|each|every|no|some)\s+\S+|\S+)"
)
_NO_VERB = FUNCTION_WORDS - {"be", "do", "does", "did", "have", "has", "had"}
_PART_OF_VERB = r"(?:\w{2,}ed|given|known|made|said|told|taken|paid|done|held|able|due|likely|going|there)"
_NO_NOUN = re.compile(
    rf"^{_PART_OF_VERB}\b|\b{_PART_OF_VERB}(?:\s+(?:to|by|in|on|at|for)\b.*)?$"
    rf"|(?<!which )(?<!that )(?<!who )\b(?:{_AUX}|{_WH.replace('which|who|', '')})\b|^(?:which|who|if|that)\b",
    re.IGNORECASE,
)
# A question whose end names what it is about: "what was the dose", "list the dangers", "who wrote the report".
_ABOUT = re.compile(rf"^(?:{_BEFORE_WH}what\s+(?:is|are|was|were)|{_TASK}|who\s+\w+)\s+(?P<topic>.+)$", re.IGNORECASE)
_FRAGMENT = re.compile(
    r"^(?:(?:what|how)\s+about\s+|what\s+of\s+)?(?:(?:in|for|during|of|at)\s+)?(?P<rest>.+?)\s*\?*$", re.IGNORECASE
)
_PRONOUN = re.compile(
    r"\b(?P<own>its|their|his)\b|\b(?:it|they|them|he|him|she)\b|\b(?P<the>the\s+(?:company|firm|group|drug|agency|court))\b"
    r"(?!\s+(?:takes?|true|possible|necessary|required|important|mean|means)\b)",
    re.IGNORECASE,
)
# What "it" does in these is done by a quantity and not by whom it belongs to.
_OF_A_QUANTITY = re.compile(
    r"\b(?:chang|increas|decreas|declin|grow|grew|rise|rose|fall|fell|differ|compar|calculat)", re.I
)
_NAME = re.compile(
    r"(?<![\w.])(?:[A-Z]|\d+(?=[A-Z]))[\w.’'&-]*(?:\s+(?:(?:&|of|the|de|van|von|for)\s+)*(?:[A-Z][\w.’'&-]*|\d+(?!\d{3})\b))*"
)
_NO_NAMES = word_set("""
    i january february march april may june july august september october november december fiscal q1 q2 q3 q4
    what which who whom whose when where why how is are was were do does did has have had can could will would should
    must compare describe explain list name find give show summarize summarise identify state tell and but also in on
    at by for from to of with under during after before if it its the a an between both year quarter usd
""")


def periods(text: str) -> list[str]:
    """The periods that ``text`` names, as they are written, each once."""
    return list(dict.fromkeys(match.group() for match in _PERIOD.finditer(text)))


def entities(text: str) -> list[str]:
    """What ``text`` calls by a name (a run of words with capitals), without possessive endings, each once. Periods,
    months and abbreviations of the trade name nothing."""
    found: list[str] = []
    for match in _NAME.finditer(_PERIOD.sub(" ", text)):
        for run in re.split(r"['’]s?(?=\s|$)", match.group()):
            words = run.strip(" .'’").split()
            while words and (words[0].casefold() in _NO_NAMES or _measured(words)):
                words = words[1:]
            name = " ".join(words)
            if len(name) > 1 and re.sub(r"\W", "", name.casefold()) not in COMMON_ABBREVIATIONS | _NO_NAMES:
                found.append(name)
    return list(dict.fromkeys(found))


def _measured(words: Sequence[str]) -> bool:
    """Whether a name begins with a measure: "EBITDA of Acme"."""
    return words[0].casefold() in COMMON_ABBREVIATIONS and words[1:2] == ["of"]


def owner(thing: str) -> str:
    """``thing`` as the one to whom something belongs."""
    return thing if re.search(r"['’]s?$", thing) else f"{thing}'s"


def clauses(text: str) -> list[str]:
    """The questions in ``text``, each complete; ``[text]`` where it is one, or where the cut is doubtful."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    cut: list[tuple[str, bool]] = []  # part, and whether it goes on a sentence
    for sentence in sentences:
        parts = _joined(sentence)
        cut += [(part, place > 0) for place, part in enumerate(parts)]
    if len(cut) < 2:
        return [text]
    out: list[str] = []
    for part, goes_on in cut:
        whole = _completed(part, out, goes_on)
        if whole is None:
            return [text]
        out.append(whole)
    if not periods(out[0]) and cut[1][1] and len(periods(out[1])) == 1:
        out[0] = with_context(out[0], periods(out[1]))  # "… and how many did Y have in 2021?"
    return out


def opening(text: str) -> str:
    """The first question in ``text``, which the others go on: "How did sales change in 2020, and what drove it?"."""
    spans = sentence_spans(text)
    return _joined(text[spans[0][0] : spans[0][1]])[0] if spans else text


def with_context(question: str, words: Sequence[str]) -> str:
    """``question`` with ``words`` put behind it, where it has not got them."""
    missing = [word for word in words if word.casefold() not in question.casefold()]
    bare = question.rstrip(" ?.!")
    return f"{bare} ({', '.join(missing)})?" if missing else question


def _joined(sentence: str) -> list[str]:
    """A sentence cut before each joined question."""
    parts: list[str] = []
    start = 0
    for match in _JOIN.finditer(sentence):
        left, right = sentence[start : match.start()], sentence[match.end() :]
        opened = _LEADING.sub("", left)
        if _OPENING.match(opened) and len(left.split()) > 2 and _asks(right, left) and _has_verb(opened, right):
            parts.append(left)
            start = match.end()
    return [*parts, sentence[start:]]


def _has_verb(question: str, right: str) -> bool:
    """Whether ``question``, which ``right`` goes on, says what is done, and not only who does it ("what did Barnes and
    Noble"): false where that is doubtful."""
    match = _DOING.match(question)
    if match is None:
        return True
    subject = _SUBJECT.match(match["rest"])
    doing = re.match("d", match["aux"], re.IGNORECASE)
    # "Who can appeal", "which firms have the means": who does it is asked.
    if subject is None or (not doing and not subject["named"]):
        return True
    said = re.findall(r"[^\W\d_]+", match["rest"][subject.end() :])
    # "What did the federal court and what did the high court hold?" is like "what did the court hold and what did …".
    alike = question.casefold().split()[:2] == right.casefold().split()[:2]
    if alike and not subject["named"] and len(said) == 1 and len(right.split()) > len(question.split()):
        return False
    return any(word.islower() and word not in _NO_VERB for word in said)


def _asks(right: str, left: str) -> bool:
    """Whether ``right``, which follows ``left`` and a conjunction, is a question of its own."""
    right = _LEADING.sub("", right)
    if _HOW.match(right) or _WHEN.match(right) or _WHAT.match(right):
        return True
    if _WHO.match(right):
        return _RELATIVE_WHO.search(left) is None
    # Not what goes on with the same subject: "Which company was founded in 1999 and is the largest?"
    if _ASKED_OF.match(right):
        return True
    return TASK.match(right) is not None and len(content_stems(right)) >= 2


def _completed(part: str, before: Sequence[str], goes_on: bool) -> str | None:
    """``part`` with what it leaves out taken from the questions before it; None where that is doubtful."""
    part = _LEADING.sub("", part).strip(" ,;")
    if not before:
        unclear = _PRONOUN.search(part)
        clear = unclear is None or unclear["the"] or entities(part[: unclear.start()])
        return part if _OPENING.match(part) and clear else None
    previous = before[-1]
    names, years = entities(previous), periods(previous)
    about = _FRAGMENT.match(part)
    if not _OPENING.match(part) or re.match(r"(?:what|how)\s+(?:about|of)\b", part, re.IGNORECASE):
        return _continued(about["rest"].rstrip(" ?.!") if about else "", previous, names, years)
    own = entities(part)
    pronoun = _PRONOUN.search(part)
    if pronoun is not None and not entities(part[: pronoun.start()]):
        if len(names) != 1 or _OF_A_QUANTITY.search(part):
            topic = _topic(previous)
            if topic or pronoun["the"]:
                return with_context(part, [topic] if topic else [])
            return None
        name = names[0]
        part = _PRONOUN.sub(lambda found: f"{name}'s" if found["own"] else name, part)
    elif not own and len(names) == 1:
        part = with_context(part, names)
    elif not own and not names and not periods(part):
        topic = _topic(previous)
        part = with_context(part, [topic]) if topic and len(content_stems(part)) < 2 else part
    if len(years) == 1 and not periods(part) and (goes_on or not own):
        part = re.sub(r"\)\?$", f", {years[0]})?", part) if part.endswith(")?") else with_context(part, years)
    return part


def _continued(rest: str, previous: str, names: Sequence[str], years: Sequence[str]) -> str | None:
    """ "And in 2021?", "What about Adidas?": the question before with its period or its one name replaced."""
    if _PERIOD.fullmatch(rest):
        if len(years) == 1:
            return previous.replace(years[0], rest)
        return None if years else f"{previous.rstrip(' ?.!')} in {rest}?"
    if len(names) == 1 and [rest] == entities(rest):
        return previous.replace(names[0], rest)
    return None


def _topic(question: str) -> str:
    """What ``question`` is about, as far as its words for it are a noun with what belongs to it; "" where not."""
    match = _ABOUT.match(question)
    topic = match["topic"].strip(" ?.!,") if match else ""
    return "" if _NO_NOUN.search(topic) else topic
