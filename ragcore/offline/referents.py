"""What a question is about, by rules (English): the names in it, its periods, and the thing that it asks for.

A follow-up keeps some of these and replaces others (`ragcore.offline.followups`). Names are told by their capitals and
digits alone, so they need no list; words of accounting that are written in capitals are no names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.text import words
from ragcore.text.words import FUNCTION_WORDS, word_set

MONTHS = "|".join(words.MONTHS)
_YEAR = (
    r"(?:(?:the\s+)?(?:fiscal|calendar)\s+(?:year\s+)?|FY\s?|(?:the\s+)?year\s+)?(?:19|20)\d{2}(?!\d)"
    r"|\bFY\s?\d{2}(?!\d)"
)
_PART = (
    r"(?:the\s+)?(?:first|second|third|fourth|last)\s+(?:quarter|half|(?:three|six|nine)\s+months)|[QH][1-4]|[1-4][QH]"
    rf"|(?:{MONTHS})(?:\s+\d{{1,2}})?(?=,?\s+(?:19|20)\d\d|\W*$)"
)
YEAR = re.compile(rf"\b(?:{_YEAR})\b", re.IGNORECASE)
PART = re.compile(rf"\b(?:{_PART})\b", re.IGNORECASE)
RANGE = re.compile(
    rf"\b(?:between|from)\s+(?:{_YEAR})\s+(?:and|to|through|until|[-–])\s+(?:{_YEAR})"
    rf"|\b(?:since|after|before|until|through|prior\s+to|by)\s+(?:{_YEAR})"
    rf"|\b(?:for\s+)?the\s+(?:(?:three|six|nine|twelve)\s+months|(?:fiscal\s+)?year|quarter)\s+(?:ended|ending)\s+"
    rf"(?:(?:{MONTHS})\s+\d{{1,2}},?\s+)?(?:{_YEAR})",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:(?:a|one|the)\s+year\s+(?P<after>later|after)|(?:a|one|the)\s+year\s+(?:earlier|before|ago)"
    r"|(?:the\s+)?(?:previous|prior|preceding)\s+(?:fiscal\s+)?year"
    r"|(?:the\s+)?(?P<next>next|following)\s+(?:fiscal\s+)?year)\b",
    re.IGNORECASE,
)
# What one of several is called by: "Article 15", "cohort B".
LABELLED = re.compile(
    r"\b(?P<label>sections?|articles?|clauses?|paragraphs?|items?|notes?|parts?|schedules?|exhibits?|annex(?:es)?|appendix"
    r"|appendices|chapters?|compounds?|examples?|entr(?:y|ies)|samples?|batch(?:es)?|tables?|figures?|phases?|"
    r"cohorts?|arms?|groups?|grades?|stages?|steps?|types?|levels?)\s+"
    r"(?P<which>(?-i:[A-Z]|[IVX]+)(?![\w-])|\d+(?:\.\d+)*[a-z]?(?![\w-]))",
    re.IGNORECASE,
)
# Joined capitals and codes: "Calder Retail", "ZX-410", "Johnson & Johnson", "U.S. Bancorp".
_NAME_WORD = r"(?:[A-Z][\w&.-]*[\w&]|[A-Z]|(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]+)"
_NAME = re.compile(rf"(?<![\w-]){_NAME_WORD}(?:\s+(?:(?:of|&|de|von|van)\s+(?={_NAME_WORD}))?{_NAME_WORD})*")
MEASURES = re.compile(
    r"\b(?:revenues?|sales|turnover|income|profits?|loss(?:es)?|earnings|ebit(?:d?a)?|eps|margins?|expenses?|expenditures?|"
    r"costs?|cogs|capex|assets?|liabilit(?:y|ies)|debts?|borrowings?|equity|cash|inventor(?:y|ies)|receivables?|payables?|"
    r"goodwill|depreciation|amorti[sz]ation|dividends?|tax(?:es)?|interest|provisions?|d&a|r&d|sg&a|pp&?n?e|roa|roe|"
    r"headcount|ratio|rate|share|growth|guidance|backlog|ic50|ec50|ki|auc|cmax|tmax|clearance|half-life|dose|dosage|"
    r"efficacy|toxicity|prevalence|incidence|mortality|survival|endpoints?|accuracy|precision|recall|f1)\b",
    re.IGNORECASE,
)
_NOT_NAMES = word_set("""
    i ebitda ebit eps capex opex cogs sg&a r&d gaap ifrs roa roe roi ic50 ec50 ki kd auc cmax tmax usd eur gbp fy q1 q2
    q3 q4 h1 h2 1q 2q 3q 4q january february march april may june july august september october november december
    english monday tuesday wednesday thursday friday saturday sunday hr ci os pfs orr f1 pdf
""")
# What is no part of a name where it comes first, whatever its capital.
_LEADING = (
    FUNCTION_WORDS
    | _NOT_NAMES
    | word_set("excluding including without only just except besides compare describe explain list summarize")
    | word_set("summarise show tell give find name please define calculate")
)
_PLACES = word_set("""
    europe asia africa america americas oceania australia emea apac latam china japan india korea germany france italy
    spain uk us usa u.s u.k canada mexico brazil russia international domestic eu
""")
# Ordinary words that make up the names of segments: "Display Technologies" narrows a question on a company.
_BUSINESS = word_set("""
    display optical life specialty consumer digital cloud health care healthcare environmental automotive industrial
    commercial retail wholesale enterprise media sciences science materials products technologies communications
    services solutions systems segment division business group safety electronics transportation energy wireless
    wireline mobility home beauty fabric personal oral food beverages beverage snacks devices pharmaceuticals
    pharmaceutical vaccines oncology medical diagnostics software hardware licensing advertising gaming computing
    intelligent productivity processes banking insurance investment asset management wealth corporate private
    and &
""")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it stands at ``start`` of a text."""

    text: str
    start: int

    @property
    def code(self) -> bool:
        """Whether it is one of a series: ``ZX-410``."""
        return any(character.isdigit() for character in self.text)

    @property
    def place(self) -> bool:
        """Whether it is where something is, which narrows a question and is not what it is about."""
        return self.text.lower().split()[-1].rstrip(".") in _PLACES

    @property
    def business(self) -> bool:
        """Whether it is a part of a company, called by what it does: ``Display Technologies``."""
        words = self.text.lower().split()
        return len(words) > 1 and all(word in _BUSINESS for word in words)


def names(text: str) -> list[Name]:
    """The names of ``text``, each once, in order. Its first word counts where it can be no common word with a capital:
    it has a digit or further capitals, or belongs to a name."""
    bare = RANGE.sub(_blank, text)
    for pattern in (YEAR, PART, LABELLED):
        bare = pattern.sub(_blank, bare)
    found: dict[str, Name] = {}
    for match in _NAME.finditer(bare):
        start, words = match.start(), match.group().split(" ")
        first = not bare[:start].strip(" \t\"'“‘([¿¡")
        while words and (words[0].lower() in _LEADING or words[0] in _JOINTS):
            start += len(words[0]) + 1
            words = words[1:]
        if (
            first
            and start == match.start()
            and len(words) == 1
            and words[0][1:].islower()
            and not _owns(bare, match.end())
        ):
            continue
        name = " ".join(words).removesuffix("'s").rstrip(".")
        if len(name) > 1 and not all(word.lower() in _NOT_NAMES for word in words):
            found.setdefault(name.casefold(), Name(name, start))
    return list(found.values())


_JOINTS = word_set("of & de von van")


def _owns(text: str, end: int) -> bool:
    return re.match(r"['’]s?\b", text[end:]) is not None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def periods(text: str) -> list[str]:
    """The periods that ``text`` names, with the word before them ("in fiscal 2021"), in order."""
    with_prepositions = re.compile(
        rf"\b(?:(?:in|for|during|at\s+(?:the\s+)?(?:end\s+of|year[- ]end)|as\s+of|on|of)\s+)?(?:{RANGE.pattern}|"
        rf"(?:{_PART})(?:(?:,?\s+|\s+of\s+)(?:{_YEAR}))?|(?:{_YEAR}))",
        re.IGNORECASE,
    )
    return [match.group() for match in with_prepositions.finditer(text)]


def timeless(text: str) -> str:
    """``text`` without its periods."""
    for pattern in (RANGE, YEAR, PART, _RELATIVE):
        text = pattern.sub(" ", text)
    return " ".join(text.split())


def moved(question: str, previous: str) -> str | None:
    """``previous`` with its period replaced by that of ``question``; None where it names none.

    What the new period leaves open is kept: of "Q2 2022" "in Q3" leaves the year and "in 2021" the quarter. A year that
    is told by another ("a year earlier") is counted. Where several periods could be meant, the new one is added.
    """
    relative = _RELATIVE.search(question)
    if relative is not None:
        years = YEAR.findall(previous)
        if len(years) != 1:
            return None
        step = 1 if relative["after"] or relative["next"] else -1
        return YEAR.sub(lambda match: _stepped(match.group(), step), previous)
    span = RANGE.search(question)
    if span is not None:
        return _with_range(previous, span.group())
    years, parts = YEAR.findall(question), PART.findall(question)
    if not years and not parts:
        return None
    end = previous.rstrip(" ?.!")
    if parts:
        old = PART.findall(previous)
        if len(old) == 1:
            previous = PART.sub(lambda _: parts[0], previous)
        elif not old and len(years) == 1 and len(YEAR.findall(previous)) == 1 and not RANGE.search(previous):
            whole = next((one for one in periods(question) if parts[0] in one and years[0] in one), "")
            asked = _PREPOSITION_OF_PERIOD.sub("", whole) or f"{parts[0]} {years[0]}"
            return YEAR.sub(lambda _: asked, previous)
        elif not old and len(YEAR.findall(previous)) == 1 and not years:
            return YEAR.sub(lambda match: f"{parts[0]} of {match.group()}", previous)
        elif not years:
            return f"{end} in {parts[0]}?"
    if not years:
        return previous
    asked = years[0] if len(years) == 1 else _rest_of(question, years)
    if RANGE.search(previous):
        return RANGE.sub(lambda _: f"in {asked}", previous, count=1)
    if len(YEAR.findall(previous)) == 1:
        return YEAR.sub(lambda _: asked, previous)
    when = f"{parts[0]} {asked}" if parts and not PART.search(previous) else asked
    return f"{previous.rstrip(' ?.!')} in {when}?"


_PREPOSITION_OF_PERIOD = re.compile(r"^(?:in|for|during|as\s+of|on|at|of)\s+", re.IGNORECASE)


def _with_range(previous: str, span: str) -> str:
    if RANGE.search(previous):
        return RANGE.sub(lambda _: span, previous, count=1)
    single = re.compile(rf"\b(?:in|for|during)\s+(?:{_YEAR})\b", re.IGNORECASE)
    if len(YEAR.findall(previous)) == 1 and single.search(previous):
        return single.sub(lambda _: span, previous)
    return f"{previous.rstrip(' ?.!')} {span}?"


def _rest_of(question: str, years: Sequence[str]) -> str:
    first, last = question.index(years[0]), question.rindex(years[-1])
    return question[first : last + len(years[-1])]


def _stepped(year: str, step: int) -> str:
    return re.sub(r"\d+$", lambda digits: str(int(digits.group()) + step).zfill(len(digits.group())), year)


QUESTION_WORDS = word_set("what which who whom whose when where why how is are was were do does did can could")
