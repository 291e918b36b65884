"""A question of several parts cut into its parts by rules (English).

Compound questions, comparisons of two things or of two periods, and measures made of two others give two or three
sub-queries, each a question that can be understood by itself: name, period and subject are carried over. A wrong cut
does more harm than a missed one, since the whole question is always searched too: "research and development" or
"Johnson & Johnson" is never cut, and where it is not plain what belongs together, nothing is.
"""

from __future__ import annotations

import re

from ragcore.offline.asks import asks
from ragcore.offline.changes import CHANGES, MORE, over_periods
from ragcore.offline.clauses import PERIOD, TASK, clauses, entities, opening, owner, periods, with_context
from ragcore.offline.intents import intent_of
from ragcore.text.sentences import sentence_spans
from ragcore.text.words import content_stems
from ragcore.types import SubQuery

MOST = 3  # sub-queries of one question
LONGEST = 1500  # characters of a question that is read

_ASKS = r"(?:what|which|who|how|when|where|why|is|are|was|were|did|does|do|has|have|in)"
# What may stand where one of two compared things does: some words without a conjunction among them.
_SINGLE = r"(?:(?!\b(?:and|or|with|to|versus|vs|than|between|from)\b)[^,;:?]){2,70}?"
_NO_OF = _SINGLE.replace("and|", "and|of|in|for|during|", 1)
_MEASURE = r"[^,;:?]{2,90}?"
_TAIL = r"(?P<tail>(?:\s+(?:in|for|during|at|as\s+of|under|among|after|by|on|within)\b[^?;]*?)?)"
_END = r"[?.!\s]*$"
_VERB = r"(?P<verb>(?:had|has|have|is|was|are|were|did|spent|paid|grew|sold|made|gave|led|took|cost|\w{3,}(?:ed|s))\b)"
_ABOUT = (
    r"(?:\s+(?:in\s+terms\s+of|with\s+(?:regard|respect)\s+to|regarding|on)\s+(?:their\s+|the\s+)?(?P<what>[^?;]+?))?"
)

_WHICH_OF = re.compile(
    rf"^(?:(?:in|for|during|as\s+of)\s+(?P<when>{PERIOD}),?\s+)?(?:which|who)(?:\s+of(?:\s+the\s+two(?:\s+\w+)?)?|\s+\w+)?,?\s+"
    rf"(?P<a>{_SINGLE}),?\s+(?:and|or)\s+(?P<b>{_SINGLE}),?\s+{_VERB}\s+"
    rf"(?P<rest>[^?]+?){_END}",
    re.IGNORECASE,
)
_WHICH_OR = re.compile(
    rf"^(?:which|who)(?:\s+(?!{MORE})\w+)??\s+{_VERB}\s+(?P<rest>[^?,;]*?{MORE}[^?,;]*?)(?:,|:|\s+[-–—])\s*"
    rf"(?P<a>{_SINGLE}),?\s+or\s+(?P<b>{_SINGLE}){_END}",
    re.IGNORECASE,
)
_DID_OR = re.compile(
    rf"^(?:did|does|do|has|have)\s+(?P<a>{_SINGLE})\s+or\s+(?P<b>{_SINGLE})\s+(?P<verb>have|report|show|achieve|record)\s+"
    rf"(?P<rest>[^?]*?{MORE}[^?]*?){_END}",
    re.IGNORECASE,
)
_DETERMINED = re.compile(
    r"(?:the|an?|this|these|its|their|his|her|our|that|those|no)\b|[^?]*?['’]s?(?:\s|$)", re.IGNORECASE
)
# Some words of which one has something, none of them a conjunction: "Procter and Gamble's revenue" may be one thing or
# the end of two. Nor is it what is made of two: "the difference between A's and B's".
_MINE = (
    r"(?!(?:the\s+)?(?:\w+\s+)?(?:sum|total|average|mean|ratio|difference|gap|relation\w*|combination)\b)"
    r"(?:(?!\b(?:and|or|between)\b)[^,;?])+?['’]s?\s+(?!(?:in|for|during|at|of|and)\b)(?:(?!\b(?:and|or)\b)[^,;?])+?"
)
_OWNED = re.compile(
    rf"^(?P<ask>what\s+(?:is|are|was|were))\s+(?P<a>{_MINE}),?\s+and\s+(?P<b>{_MINE}){_TAIL}{_END}", re.IGNORECASE
)
_HAS_MORE = re.compile(rf"^(?:an?\s+|the\s+)?{MORE}\s+(?P<what>.+)$", re.IGNORECASE)
_HAVING = re.compile(
    r"^(?:had|has|have|report(?:s|ed)?|show(?:s|ed)?|achieved?|record(?:s|ed)?|posted)$", re.IGNORECASE
)
_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:what\s+(?:is|are|was|were)|explain|describe|summari[sz]e)\s+(?:the\s+)?(?:(?:main|key|exact)\s+)?"
        rf"(?:differences?|gap|contrast|comparison)\s+(?:(?:in|of)\s+(?:the\s+)?(?P<what>{_MEASURE})\s+)?between\s+"
        rf"(?P<a>{_SINGLE})\s+and\s+(?P<b>{_SINGLE}){_TAIL}{_END}",
        rf"^how\s+(?:do|does|did)\s+(?P<a>{_SINGLE})\s+and\s+(?P<b>{_SINGLE})\s+(?:differ|compare)"
        rf"(?:\s+(?:in|on|regarding|in\s+terms\s+of|with\s+regard\s+to)\s+(?:their\s+)?(?P<what>(?!{PERIOD}){_MEASURE}))?{_TAIL}{_END}",
        rf"^how\s+(?:do|does|did)\s+(?P<a>{_SINGLE})\s+(?:differ\s+from|compare\s+(?:with|to))\s+(?P<b>{_SINGLE})"
        rf"(?:\s+(?:in\s+terms\s+of|with\s+regard\s+to|regarding|on)\s+(?P<what>{_MEASURE}))?{_TAIL}{_END}",
        rf"^(?:please\s+)?(?:compare(?:\s+and\s+contrast)?|contrast)\s+(?:the\s+)?(?P<what>{_MEASURE})\s+(?:of|for|between|at)\s+(?:both\s+)?"
        rf"(?P<a>{_NO_OF})\s+(?:and|with|to|against|versus|vs\.?)\s+(?P<b>{_NO_OF}){_TAIL}{_END}",
        rf"^(?:please\s+)?(?:compare(?:\s+and\s+contrast)?|contrast)\s+(?P<a>{_MEASURE})\s+(?:with|to|against|versus|vs\.?)\s+(?P<b>{_MEASURE})"
        rf"{_ABOUT}{_TAIL}{_END}",
        rf"^(?:please\s+)?(?:compare(?:\s+and\s+contrast)?|contrast)\s+(?P<a>{_SINGLE})\s+and\s+(?P<b>{_SINGLE}){_ABOUT}{_TAIL}{_END}",
        rf"^(?:is|was|are|were)\s+(?P<a>(?=[^?]*?(?:['’]|\bof\b)){_SINGLE})\s+(?:{MORE})(?:\s+\w+)?\s+than\s+"
        rf"(?P<b>(?=that\b|those\b|the\b|[A-Z])(?-i:(?=that|those|the|[A-Z])){_SINGLE}){_TAIL}{_END}",
        rf"^(?:did|does|do|has|have|had)\s+(?P<a>{_SINGLE})\s+(?:have|had|show|report|achieve)\s+(?:an?\s+)?{MORE}\s+"
        rf"(?P<what>{_MEASURE})\s+than\s+(?P<b>(?-i:(?=the|[A-Z])){_SINGLE}){_TAIL}{_END}",
    )
)
_QUOTIENT = re.compile(
    r"^(?:what\s+(?:is|are|was|were)|calculate|compute)\s+(?:the\s+)?(?P<a>[^?]+?)\s+(?P<how>divided\s+by|minus|plus|[+/÷]|"
    r"as\s+an?\s+(?:share|percentage|percent|proportion|fraction|multiple|%)\s+of|as\s+%\s+of)\s+(?P<b>[^?]+?)[?.!\s]*$",
    re.IGNORECASE,
)
_RATIO_OF = re.compile(
    r"^(?:what\s+(?:is|are|was|were)|calculate|compute)\s+(?:the\s+)?(?P<how>ratio)\s+of\s+(?P<a>[^?]+?)\s+to\s+"
    r"(?P<b>[^?]+?)[?.!\s]*$",
    re.IGNORECASE,
)
# Words between which "plus" and "/" calculate; between others they stand for a mixture, or for what is given together.
_CALCULATES = re.compile(r"^(?:calculate|compute)\b|\b(?:defined|calculated|computed)\s+(?:as|by)\b", re.IGNORECASE)
_RELATES = re.compile(r"\b(?:ratio|sum|total|percentage|percent|margin|difference)\b", re.IGNORECASE)
_SIGNS = re.compile(r"(?:minus|plus|[+/])$", re.IGNORECASE)
_MEASURE_OF_ACCOUNTS = re.compile(
    r"\b(?:revenues?|sales|turnover|income|profits?|loss(?:es)?|earnings|ebit(?:d?a)?|margins?|expenses?|expenditures?|costs?|cogs|"
    r"capex|assets?|liabilit(?:y|ies)|debts?|borrowings?|equity|cash|inventor(?:y|ies)|receivables?|payables?|goodwill|"
    r"depreciation|amorti[sz]ation|dividends?|tax(?:es)?|interest|provisions?|d&a|r&d|sg&a|pp&?n?e)\b",
    re.IGNORECASE,
)
_BARE_PAIR = re.compile(
    rf"^(?:please\s+)?(?:compare(?:\s+and\s+contrast)?|contrast)\s+(?-i:[A-Z])[\w.&’'-]*\s+and\s+(?-i:[A-Z])[\w.&’'-]*"
    rf"(?:\s+(?:in|for|during)\s+{PERIOD})?{_END}",
    re.IGNORECASE,
)
_AFTERTHOUGHT = re.compile(
    r",?\s+(?:and|or),?\s+(?:if\s+(?:so|not|yes),?\s+)?(?:why(?:\s+not)?|how(?:\s+(?:so|much))?|(?:by|to|for|in)\s+"
    r"(?:how\s+much|(?:what|which)\s+\w+)|not)(?P<end>[?.!\s]*)$",
    re.IGNORECASE,
)
_OPERAND_END = re.compile(r"\s+(?:for|in|at|during|as\s+of|from|reported|according)\b", re.IGNORECASE)
_PREFACE = re.compile(
    rf"^(?:taking|based|basing|according|using|by\s+\w+ing|considering|given)\b[^,?]*,\s+(?={_ASKS}\b)", re.IGNORECASE
)
# A conjunction, a comparison, a quantity made of others, or a clause or genitive that must be looked up first.
_SEVERAL = re.compile(
    r"\b(?:and|or|versus|vs|both|between|compare\w*|differ\w*|ratio|divided|percentage|percent|share|than|per|respectively)\b"
    r"|[;%/+]|(?<!^)(?<!^in\s)\b(?:which|that|who|whose|whom|where|when)\b|\bof\b.*\bof\b|['’]s\b.*['’]s\b",
    re.IGNORECASE,
)

Found = list[tuple[str, str]]  # sub-query and reason


def by_rules(question: str) -> list[SubQuery]:
    """Two or three sub-queries (``origin="rules"``, ``reason`` in words), or none where the question is one; of one
    that asks what a term means, the words that define it."""
    text = " ".join(question.split())
    if len(text) > LONGEST:
        return []
    main = _PREFACE.sub("", asks(text)[0])
    parts = clauses(main)
    if len(parts) > MOST:
        parts = [*parts[: MOST - 1], " ".join(parts[MOST - 1 :])]
    if len(parts) > 1:
        return _checked(text, [(part, f"one of the {len(parts)} questions asked") for part in parts])
    term = intent_of(main).term
    if term:
        return [SubQuery(f"{term} means", "rules", "what defines the term")]
    main = _AFTERTHOUGHT.sub(r"\g<end>", opening(main))  # "…, and why?"
    found = _of_owners(main) or _of_operands(main) or _of_things(main) or over_periods(main) or _of_definition(text)
    return _checked(text, found)


def several(question: str) -> bool:
    """Whether ``question`` may have several parts: what is only worth asking a model about."""
    bare = re.sub(r"\s+", " ", question)
    return bool(
        _SEVERAL.search(bare) or CHANGES.search(bare) or len(periods(bare)) > 1 or len(sentence_spans(bare)) > 1
    )


def _checked(question: str, found: Found) -> list[SubQuery]:
    """The sub-queries, or none at all where one of them says too little or no less than the question."""
    known = {question.casefold()}
    out: list[SubQuery] = []
    for text, reason in found:
        text = re.sub(r"\s+([,.?])", r"\1", " ".join(text.split())).strip(" ,;")
        text = f"{text[:1].upper()}{text[1:].rstrip(' ?.!')}{'.' if TASK.match(text) else '?'}"
        if len(set(content_stems(text))) < 2 or text.casefold() in known:
            return []
        known.add(text.casefold())
        out.append(SubQuery(text, "rules", reason))
    return out if 1 < len(out) <= MOST else []


def _of_owners(text: str) -> Found:
    """ "Nike's revenue and Adidas's net income": what belongs to two who are named."""
    match = _OWNED.match(text)
    if match is None or not all(entities(match[key]) for key in "ab"):
        return []
    parts = [f"{match['ask']} {match[key]}{match['tail']}?" for key in "ab"]
    return [(part, "one of the two that are asked for") for part in parts]


def _of_things(text: str) -> Found:
    """Two things that are compared, by name."""
    if _BARE_PAIR.match(text):
        return []  # "Compare Simon and Garfunkel" may be one name
    for pattern in (_WHICH_OF, _WHICH_OR, _DID_OR):
        match = pattern.match(text)
        if match is None:
            continue
        a, b = match["a"].strip(), match["b"].strip()
        if not _two_things(a, b):
            return []
        more = _HAS_MORE.match(match["rest"])
        if more is None and not (_WHICH_OF is pattern and re.search(MORE, match["rest"], re.IGNORECASE)):
            return []
        when = match.groupdict().get("when")
        out = []
        for thing in (a, b):
            if more is not None and _HAVING.match(match["verb"]):
                asked = f"What was {owner(thing)} {more['what']}?"
            else:
                asked = f"Is it {thing} that {match['verb']} {match['rest']}?"
            out.append((with_context(asked, [when]) if when else asked, _compared(thing)))
        return out
    for pattern in _COMPARISONS:
        match = pattern.match(text)
        if match is None:
            continue
        a, b = match["a"].strip(), match["b"].strip()
        what = (match.groupdict().get("what") or "").strip()
        tail = match["tail"]
        same = re.match(r"\s+(\w+)\s", tail)
        if same and not what and re.search(rf"\s{same[1]}\s", a) and _two_things(a, b + tail):
            b, tail = b + tail, ""  # "the penalty in Article 12 with the penalty in Article 15"
        if _two_things(a, b):
            return [(_said_of(thing, what, tail), _compared(thing)) for thing in _alike(a, b)]
    return []


def _said_of(thing: str, what: str, tail: str) -> str:
    if what:
        return f"What is {owner(thing)} {what}{tail}?"
    measured = re.search(r"['’]s?\s|\bof\b", thing)
    return f"What is {thing}{tail}?" if measured else f"What is known about {thing}{tail}?"


def _compared(thing: str) -> str:
    return f"{thing}: one of the two that are compared"


def _two_things(a: str, b: str) -> bool:
    """Whether both may be things of the same sort: not the same, of few words, neither a period nor a number, and
    without a head word that they share ("invasive and non-invasive ventilation")."""
    short = all(len(thing.split()) <= 9 and len(thing) > 1 for thing in (a, b))
    named = all(re.search("[A-Za-z]", thing) and not re.fullmatch(PERIOD, thing, re.IGNORECASE) for thing in (a, b))
    joined = any(re.search(r"\b(?:and|or)\b", thing) and not entities(thing) for thing in (a, b))
    bare = [re.sub(r"^the\s+", "", thing, flags=re.IGNORECASE) for thing in (a, b)]
    both_names = all(entities(thing) == [thing] for thing in bare)
    alike = bool(_DETERMINED.match(a)) == bool(_DETERMINED.match(b)) and (
        len(a.split()) >= len(b.split()) or bool(_DETERMINED.match(b))
    )
    return (
        short
        and named
        and not joined
        and a.casefold() != b.casefold()
        and bool(entities(a)) == bool(entities(b))
        and (both_names or alike)
    )


def _alike(a: str, b: str) -> tuple[str, str]:
    """Both with what only the first says: ``Nike's revenue``, ``that of Adidas`` → … ``Adidas's revenue``."""
    owned, of = re.match(r"(?P<who>.+?['’]s?)\s+(?P<what>.+)$", a), re.match(r"(?P<what>.+?)\s+of\s+(?P<who>.+)$", a)
    measure = (owned or of or {"what": ""})["what"]
    shortened = re.match(r"(?:that|those)\s+of\s+(?P<who>.+)$", b, re.IGNORECASE)
    if measure and shortened:
        return a, f"{measure} of {shortened['who']}" if of and not owned else f"{owner(shortened['who'])} {measure}"
    if measure and (re.search(r"['’]s?$", b) or (owned and entities(b) == [b])):
        return a, f"{owner(b)} {measure.removeprefix('the ')}"
    return a, b


def _of_operands(text: str) -> Found:
    """A measure made of two others, each of which may stand somewhere else."""
    match = _QUOTIENT.match(text) or _RATIO_OF.match(text)
    if match is None:
        return []
    a, b = match["a"].strip(), match["b"].strip()
    end = _OPERAND_END.search(b)
    b, tail = (b[: end.start()], b[end.start() :]) if end else (b, "")
    measures = sum(bool(_MEASURE_OF_ACCOUNTS.search(operand)) for operand in (a, b))
    needed = 1 if _RELATES.search(text) and match["how"] == "/" else 2
    if _SIGNS.match(match["how"]) and not _CALCULATES.search(text) and measures < needed:
        return []
    owner = re.match(r"(?P<who>[^?]*?['’]s?)\s+(?P<what>.+)$", a)
    if owner is not None and not entities(b):
        b = f"{owner['who']} {b}"
    elif not entities(a) and not entities(tail) and len(entities(b)) == 1:
        a = f"{a} of {entities(b)[0]}"
    when = [] if periods(a + tail) == [] or periods(b + tail) else periods(a)
    if max(len(a.split()), len(b.split())) > 14 or min(len(content_stems(a)), len(content_stems(b))) < 1:
        return []
    how = f"one of the two quantities of “{match['how']}”"
    return [(f"What is {a}{tail}?", how), (with_context(f"What is {b}{tail}?", when), how)]


def _of_definition(text: str) -> Found:
    """The quantities that a definition in the question is made of."""
    main, *quantities = asks(text)
    names = entities(main)
    if len(quantities) < 2 or len(names) != 1:
        return []
    asked = [
        re.sub(rf"\s({PERIOD})$", r" in \1", quantity, flags=re.IGNORECASE) if len(periods(quantity)) == 1 else quantity
        for quantity in quantities[:MOST]
    ]
    return [(f"What is {owner(names[0])} {quantity}?", "a part of the definition given") for quantity in asked]
