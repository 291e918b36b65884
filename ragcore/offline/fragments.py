"""Fragments ("And in 2021?", "What about Converse?", "And the operating margin?") put into the question before them.

Each kind of fragment replaces what is of its own kind in the previous question: a period a period, a name the name, a
group the group, a measure the measure. Where nothing there is of its kind, the fragment is added to it.
"""

from __future__ import annotations

import re

from ragcore.offline.referents import LABELLED, MEASURES, Name, moved, names, periods, timeless
from ragcore.offline.things import after, first_question
from ragcore.text.words import STOP_WORDS, stem, tokens, word_set

INTERROGATIVE = re.compile(
    r"^(?:\W|and\b|but\b|so\b|then\b)*(?:why|how(?!\s+about)|when|where|who|whom|whose|which|since\s+when|until\s+when|"
    r"(?:by|to|in|for|from|with|on|at)\s+(?:what|which|how|whom|when))\b",
    re.IGNORECASE,
)
_PREPOSITION = r"(?:in|for|during|of|on|by|at|from|under|with|within|among|between|per|to|according)"
_BOUNDARY = word_set(
    "the a an of in for on by at from under with within among between per to and or is are was were do does did has"
    " have had report reported say says give gives what which who how much many"
)
_DETERMINER = re.compile(r"^(?:the|an?|its|their|his|her|this|that|these|those)\s+", re.IGNORECASE)
_ASKED = re.compile(
    rf"^(?P<ask>(?:what|which)\s+(?:is|are|was|were)\s+)(?P<owner>(?:the\s+)?[^?]{{1,60}}?['’]s?\s+)?(?P<the>(?:the|an?)\s+)?"
    rf"(?P<what>(?:(?!\b{_PREPOSITION}\b)[^?,])+?)(?P<tail>\s+{_PREPOSITION}\b[^?]*)?[?.!\s]*$",
    re.IGNORECASE,
)
# Words that narrow what was asked for.
_LIMITS = re.compile(
    r"(?:before|after|excluding|including|without|only|just|net(?=\s+of)|since|versus|vs|than|not|compared)\b", re.I
)
# What is only the change, size or share of something: that thing goes with it.
_OF_ANOTHER = re.compile(
    r"\b(?:change|increase|decrease|growth|amount|number|value|share|percentage|percent|proportion|total|level|difference|"
    r"effect|impact|role|sum|average|mean|median|volume|rate|date|end|name|type|kind|list|use|purpose)$",
    re.IGNORECASE,
)
# Parties and groups of which a question about one is often followed by one about the other.
_PEERS = tuple(
    word_set(line)
    for line in (
        "adults children adolescents infants elderly",
        "men women boys girls males females",
        "landlord tenant lessor lessee subtenant",
        "buyer seller purchaser vendor supplier customer",
        "licensor licensee franchisor franchisee",
        "employer employee employees contractor contractors",
        "borrower lender guarantor",
        "assets liabilities equity",
        "treatment placebo control",
        "plaintiff defendant",
    )
)


_OF_SOMEONE = ("", "of", "for", "at")
# What stands behind these says how a figure is given; "in the lease" and "for the drug" may be another subject.
_NARROWING = ("by", "per", "as", "within")


def continued(question: str, rest: str, preposition: str, previous: str) -> str:
    """``previous`` with what the fragment ``question`` changes; ``rest`` is the fragment without the words that join it
    to what was before, of which ``preposition`` is the last ("" where there is none)."""
    own = [word for word in tokens(timeless(rest)) if word not in STOP_WORDS]
    if INTERROGATIVE.match(question):
        if len(own) > 1:
            return question  # "And who signed the lease?" says what it is about
        return previous if previous.endswith(question) else after(previous, question)
    then = moved(question, previous)
    if not own:
        return then or previous
    base, bare = then or previous, timeless(rest).strip(" ,;:")
    bare = re.sub(r"\s+(?:in|for|during|at|on|of)$", "", bare, flags=re.IGNORECASE)
    if bare.casefold() in (name.text.casefold() for name in names(base)):
        return base
    return (
        _relabelled(bare, base)
        or (_renamed(bare, base) if preposition in _OF_SOMEONE else "")
        or _of_same_head(bare, base)
        or _of_peer(bare, base)
        or (_after_same_preposition(bare, preposition, base) if preposition else _measured(bare, base))
        or _added(bare, preposition, base)
        or (then if then and len(own) <= 1 else question)
    )


def _relabelled(rest: str, previous: str) -> str:
    """ "Article 15" in place of "Article 12"."""
    new = LABELLED.search(rest)
    if new is None:
        return _recoded(rest, previous)
    same = [old for old in LABELLED.finditer(previous) if stem(old["label"].lower()) == stem(new["label"].lower())]
    return _put(previous, same[0].span(), new.group()) if len(same) == 1 else ""


def _recoded(rest: str, previous: str) -> str:
    """ "7c" in place of the "7b" of "compound 7b"."""
    if not re.fullmatch(r"\d{1,3}[a-z]", rest):
        return ""
    same = [old for old in LABELLED.finditer(previous) if re.fullmatch(r"\d{1,3}[a-z]?", old["which"])]
    return _put(previous, same[0].span("which"), rest) if len(same) == 1 else ""


def _renamed(rest: str, previous: str) -> str:
    """A name, and nothing else, in place of the one that is of its sort."""
    new = names(f"x {rest}")
    if len(new) != 1 or re.sub(r"['’]s?$", "", _DETERMINER.sub("", rest)) != new[0].text:
        return ""
    old = names(previous)
    of_sort = [name for name in old if _sort(name) == _sort(new[0])]
    of_sort = [name for name in of_sort if name.code == new[0].code] or of_sort
    if len(of_sort) > 1:
        owners = [name for name in of_sort if _after(previous, name).startswith(("'", "’"))]
        of_sort = owners if len(owners) == 1 else of_sort
    if not of_sort:
        return f"{previous.rstrip('?. ')} {'in' if new[0].place else 'for'} {new[0].text}?"
    if len(of_sort) != 1 or new[0].text.casefold() == of_sort[0].text.casefold():
        return ""
    name = of_sort[0]
    return re.sub(
        rf"(?<![\w-]){re.escape(name.text)}(?P<own>['’]s?)?(?![\w-])",
        lambda match: _owning(new[0].text, match["own"] or ""),
        previous,
    )


def _owning(name: str, form: str) -> str:
    """``name`` with the ending that the one in its place had, as it is written after this one."""
    return f"{name}'s" if form and not (name.endswith("s") and form in "'’") else f"{name}{form}"


def _sort(name: Name) -> str:
    return "place" if name.place else "business" if name.business else "name"


def _after(text: str, name: Name) -> str:
    return text[name.start + len(name.text) :]


def _of_same_head(rest: str, previous: str) -> str:
    """ "the placebo group" in place of "the treatment group": another of what the last word says."""
    body = _DETERMINER.sub("", rest)
    words = body.split()
    if len(words) < 2 or not words[-1].isalpha() or any(word.lower() in _BOUNDARY for word in words):
        return ""
    head = stem(words[-1].lower())
    found = [match for match in re.finditer(r"[\w&-]+", previous) if stem(match.group().lower()) == head]
    if len(found) != 1:
        return ""
    start = found[0].start()
    while True:
        before = re.search(r"(?:^|[\s(])([\w&.-]+)\s$", previous[:start])
        if before is None or before[1].lower() in _BOUNDARY:
            break
        start = before.start(1)
    return _put(previous, (start, found[0].end()), body) if start < found[0].start() else ""


def _of_peer(rest: str, previous: str) -> str:
    """ "the tenant" in place of "the landlord"."""
    new = _DETERMINER.sub("", rest).lower()
    for peers in _PEERS:
        if new in peers:
            others = "|".join(peers - {new})
            found = list(re.finditer(rf"\b(?:{others})\b", previous, re.IGNORECASE))
            if len(found) == 1:
                return _put(previous, found[0].span(), new)
    return ""


def _after_same_preposition(rest: str, preposition: str, previous: str) -> str:
    """ "on research" in place of "on marketing"."""
    found = [
        match
        for match in re.finditer(
            rf"\b{preposition}\s+(?P<what>[^,;?]+?)(?=\s+{_PREPOSITION}\b|\s+(?:is|are|was|were)\b|\s*[,;?.!]|\s*$)",
            previous,
            re.IGNORECASE,
        )
        if timeless(match["what"]) == " ".join(match["what"].split())
    ]
    return _put(previous, found[-1].span("what"), rest) if found else ""


def _measured(rest: str, previous: str) -> str:
    """ "the operating margin" in place of what "What was …?" asked for, with its owner, place and period kept; of a
    question of another form, for whom and when it asked."""
    determined = _DETERMINER.match(rest)
    if _LIMITS.match(rest) or not (MEASURES.search(rest) and MEASURES.search(previous)):
        return ""
    body = (
        rest[determined.end() :]
        if determined and determined.group().lower().strip() not in ("the", "a", "an")
        else rest
    )
    own = names(f"x {body}")
    asked = _ASKED.match(previous)
    if asked is not None and not own:
        tail = asked["tail"] or ""
        if _OF_ANOTHER.search(asked["what"]):
            tail = re.sub(rf"^\s+(?:of|in)\s+(?:(?!\b{_PREPOSITION}\b)[^?])+", _kept, tail, flags=re.IGNORECASE)
        owner = asked["owner"] or ""
        if owner or tail:
            body = re.sub(r"^the\s+", "", body, flags=re.IGNORECASE) if owner else _the(body)
            return f"{_agreeing(asked['ask'], body)}{owner}{body}{tail}?"
    named = [name.text for name in names(previous)]
    if not named:
        return ""
    when = "" if periods(body) else " ".join(periods(previous)[:1])
    of = "" if own else f" of {' and '.join(named)}"
    when = when if not when or re.match(r"(?i)(?:in|for|during|at|as|on|between|from)\b", when) else f"in {when}"
    return f"What is {_the(body)}{of}{' ' + when if when else ''}?"


def _agreeing(ask: str, body: str) -> str:
    """ "What were " for one thing is "What was "."""
    many = re.search(r"(?:[^s]s|\bdata|\band\b.*)$", body, re.IGNORECASE) is not None
    forms = (("is", "are"), ("was", "were"))
    return next(
        (ask.replace(f" {form[not many]} ", f" {form[many]} ") for form in forms if f" {form[not many]} " in ask), ask
    )


def _kept(match: re.Match[str]) -> str:
    """Of "change in revenue" the revenue goes, of "number of patients of ORION-3" the name stays."""
    return match.group() if names(f"x {match.group()}") or periods(match.group()) else ""


def _the(body: str) -> str:
    return body if re.match(r"(?:the|an?)\s", body, re.IGNORECASE) or names(f"x {body}") else f"the {body}"


def _added(rest: str, preposition: str, previous: str) -> str:
    """What only narrows the question: "in Europe", "for children", "excluding Converse"."""
    start = first_question(previous).rstrip("?. ")
    if preposition in _NARROWING or (preposition and not _DETERMINER.match(rest)):
        return f"{start} {preposition} {rest}?"
    return f"{start} {rest}?" if _LIMITS.match(rest) else ""


def _put(text: str, span: tuple[int, int], new: str) -> str:
    return f"{text[: span[0]]}{new}{text[span[1] :]}"
