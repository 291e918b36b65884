"""Names, codes and numbered things (Phase 2, Clause 11, week 16) of a claim, looked for in what it cites."""

from __future__ import annotations

import re

from ragcore.text.numbers import WORDS, codes
from ragcore.text.periods import MONTHS
from ragcore.text.words import STOP_WORDS, stem, tokens, word_set
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import Evidence, Finding
from ragcore.verify.terms import TITLES

# Capitalised words that name nothing in particular.
_NOT_NAMES = (
    frozenset(MONTHS)
    | TITLES
    | word_set("""
    monday tuesday wednesday thursday friday saturday sunday fiscal year company item note table section page q1 q2 q3
    q4 fy the a an yes no form source sources group figure appendix part chapter usd eur gbp chf jpy cny inr cad aud
""")
)
_CAPITALISED = re.compile(r"(?<![\w'’])[A-Z][\w&.-]*[\w]")
_KINDS = (
    "phase|type|grade|stage|section|article|clause|paragraph|part|item|note|table|figure|exhibit|schedule|"
    "appendix|annex|"
    "chapter|class|category|tier|step|cohort|arm|rule|regulation|day|week|month|year|cycle|visit|level|bay|unit|"
    "zone|lot|"
    "batch|version|amendment|series|priority|pasi|acr|group|lane|room|floor|gate|block|line|form"
)
_NUMBERED = re.compile(
    rf"\b(?P<kind>{_KINDS})s?\s(?P<id>\d+(?:\.\d+)*[A-Za-z]?|[IVX]{{1,4}}|[A-HJ-Z])(?![\w-])(?!\s*%)", re.IGNORECASE
)
_PEOPLE = {
    "woman": re.compile(r"\b(?:ms|mrs|miss|she|her|hers)\b", re.IGNORECASE),
    "man": re.compile(r"\b(?:mr|he|him|his)\b", re.IGNORECASE),
}
_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sir)\.?\Z")
_GENERIC = re.compile(
    r"\b(?:the company|we|our|us|it|its|the group|the study|the trial|this|these|they|the registrant)\b", re.I
)


def check_codes(statement: Statement, evidence: Evidence) -> list[Finding]:
    """Codes such as 10-K and BMS-986158 must stand in the cited words, their title or their row."""
    given = f"{evidence.words}\n{evidence.around}".lower()
    missing = [code for code in codes(statement.text) if not _holds(given, code.lower())]
    nearby = [code for code in missing if _holds(evidence.near.lower(), code.lower())]
    return [
        Finding("weak", f"{code} is near the cited words, not in them.")
        if code in nearby
        else Finding("unsupported", f"{code} is not in the cited words.")
        for code in missing
    ]


def _holds(text: str, code: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(code)}(?!\w)", text) is not None


def check_numbered(statement: Statement, evidence: Evidence) -> list[Finding]:
    """Numbered things: Class B is not Class A, week 16 not week 12."""
    given = _numbered(f"{evidence.words}\n{evidence.around}")
    out = []
    for kind, number in sorted(_numbered(statement.text)):
        same = {other for other_kind, other in given if other_kind == kind}
        if number in same:
            continue
        if same and _numbered_in(evidence.sentences, evidence.words, kind):
            listed = ", ".join(sorted(same))
            out.append(
                Finding("unsupported", f"It says {kind} {number.upper()}; the cited words say {listed.upper()}.")
            )
    return out


def _numbered_in(sentences: tuple[str, ...], words: str, kind: str) -> bool:
    return any(kind == other for other, _ in _numbered("\n".join(sentences) or words))


def _numbered(text: str) -> set[tuple[str, str]]:
    """(kind, number or letter) of everything numbered. A capital is needed where the number is a letter."""
    out = set()
    for match in _NUMBERED.finditer(text):
        kind, number = match.group("kind").lower(), match.group("id")
        if number.isalpha() and not number.isupper():
            continue
        if number.isalpha() and len(number) == 1 and not match.group("kind")[0].isupper():
            continue
        out.add((kind, number.lower()))
    return out


def check_names(statement: Statement, evidence: Evidence) -> list[Finding]:
    """Names must stand in the cited words, their title, section or row; near them only where those name nothing else
    ("The Company paid ...")."""
    close = f"{evidence.words}\n{evidence.around}"
    given = _forms(close)
    nearby = _forms(evidence.near)
    initials = "".join(word[0] for word in tokens(close))
    general = _GENERIC.search(" ".join(evidence.sentences)) is not None or not names(" ".join(evidence.sentences))
    missing = []
    for name in names(statement.text):
        parts = [part for part in tokens(name) if part not in _NOT_NAMES and part not in WORDS]
        absent = [part for part in parts if part not in given and stem(part) not in given]
        letters = re.sub(r"[^a-z]", "", name.lower())
        if not absent or (name.isupper() and letters and letters in initials):
            continue
        if (
            general
            and not _other_person(statement.text, evidence)
            and all(part in nearby or stem(part) in nearby for part in absent)
        ):
            continue
        missing.append(name)
    missing = list(dict.fromkeys(missing)) or _other_party(statement.text, evidence)
    return [Finding("weak", f"The name {name} is not in the cited words.") for name in missing]


def _other_party(text: str, evidence: Evidence) -> list[str]:
    """Names of ``text`` that only a document's title has, where the cited words name another of that title instead:
    what one party to a contract does is not what the other does."""
    titled, cited, said = _forms(evidence.titles), _forms(evidence.words), _forms(text)
    mine = [name for name in names(text) if name.lower() in titled - cited]
    others = [name for name in names(evidence.words) if name.lower() in titled - said]
    return mine if others else []


def _other_person(text: str, evidence: Evidence) -> bool:
    """Whether ``text`` speaks of a woman and the cited sentences only of a man, or the other way round."""
    said, given = _people(text), _people(" ".join(evidence.sentences))
    return len(said) == len(given) == 1 and said != given


def _people(text: str) -> set[str]:
    return {kind for kind, pattern in _PEOPLE.items() if pattern.search(text)}


def _forms(text: str) -> set[str]:
    words = set(tokens(text))
    return words | {stem(word) for word in words}


def names(text: str) -> list[str]:
    """Capitalised words that do not merely begin a sentence or quotation."""
    found = []
    for match in _CAPITALISED.finditer(text):
        before = text[: match.start()].rstrip()
        titled = _TITLE.search(before) is not None
        begins = not titled and (not before or before[-1] in '.!?:“"(•–—-|;' or before.endswith("’"))
        word = match.group()
        follows_capital = re.match(r"\s+[A-Z]", text[match.end() :]) is not None
        if begins and not (follows_capital or word[1:] != word[1:].lower()):
            continue
        if begins and word.lower() in STOP_WORDS:
            continue
        if word.lower() not in _NOT_NAMES and not any(c.isdigit() for c in word):
            found.append(word)
    return found
