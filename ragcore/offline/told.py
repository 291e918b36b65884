"""How a document says what a company is and does: "Founded in 1982, Belford is one of the largest makers of pumps."

Such a sentence shares no word with "what the company makes or does", and twenty others of a chapter on its business
speak of businesses, products and customers. It is known by its form, and it stands at the beginning. So do the parties
of a contract: "by and between Belford Ltd and Orvane AG".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.offline.periods import QUARTER
from ragcore.text.companies import Company

_BRACKETS = re.compile(r"\([^()]*\)")
_WHO = (
    r"(?:(?:Founded|Established|Headquartered|Formed|Based|Incorporated|Organi[sz]ed|Today|Through|With|Since)\b[^,.;]{0,80},\s+)?"
    r"(?:We|Our\s+(?:company|group|business(?:es)?|subsidiar(?:y|ies)|segments?)|The\s+(?:Company|Group|Corporation|Firm)"
    r"|(?!The\s+[a-z])(?!(?:Our|Its|Their|Each|This|These|Those|Such|It|There|No|All|Any|Some|If|As|Other|Many|Most|Competitors|Customers)\b)"
    r"[A-Z][\w’'.&-]*(?:,?\s+(?:[A-Z][\w’'.&-]*|and|of|&)){0,6}?)"
    r"(?:,?\s+\([^()]*\)|,\s+(?:together\s+with|through|with|and)\s[^,]{1,120},)*,?\s+"
    r"(?:(?:primarily|also|currently|principally|mainly|globally|directly)\s+)?"
)
_MAKES = (
    r"(?:design|develop|manufactur|mak|produc|sell|market|provid|offer|operat|distribut|suppl|deliver|build|serv|own|discover"
    r"|creat|engag)(?:e|es|s|y|ies)?\b"
)
_IS = r"(?:is|are)\s+(?:primarily\s+|also\s+|today\s+)?(?:a|an|the|one\s+of|among|engaged|organi[sz]ed\s+(?:into|in))\b"
_IS_NOT = re.compile(
    r"^.{0,120}?\b(?:is|are)\s+(?:the\s+result|a\s+(?:party|defendant|source|key|participant)|the\s+(?:only|key|basis|responsib|most)"
    r"|a\s+\w+\s+corporation)\b",
    re.IGNORECASE,
)
# "Our Business and Strategy––Belford Inc. is a maker of pumps": a heading that runs on into its text.
_RUN_IN = re.compile(r"^[A-Z][^.;:–—]{0,80}(?:––|—|\s–\s)\s*(?=[A-Z])")
# What may happen, and what is only an example or believed, tells of no business.
_IN_DOUBT = re.compile(
    r"\b(?:could|might|would|may)\b.{0,120}\b(?:harm|declin|advers|fail|reduc|impair|suffer|lose|loss)\w*",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?:We believe|For example|For instance|In addition to|If|Any)\b|.{0,160}\bwill\s+depend\b")
_OF_RISKS = re.compile(
    r"\b(?:following|these|those|such|other|described|discussed|all\s+of\s+the)\s+(?:\w+\s+){0,4}?(?:risks?|factors?|discussion)\b|"
    r"\b(?:risks?|factors?)\s+(?:described|discussed|listed|below|and\s+uncertaint)|\bforward-looking\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(_WHO)
_WHEN = r"(?:In|During|For)\s[^,;]{4,40},\s+"
_OWN = re.compile(r"(?:[^,;]{0,80},\s+)?(?:We|Our|The\s+(?:Company|Group|Corporation|Firm))\b")
# What is asked, and what a sentence that says it is like.
_FORMS = (
    (
        r"\b(?:company|group|business|firm|it)\s+(?:\w+\s+or\s+)?(?:makes?|does|sells?|offers?|is)\b",
        rf"^{_WHO}(?:{_IS}|{_MAKES})",
    ),
    (
        r"\b(?:products?|services|offerings|brands)\b",
        rf"^{_WHO}{_MAKES}.*|^(?:Our|The\s+Company’s|Its)\s+(?:\w+\s+){{0,3}}(?:products|services|brands|offerings|portfolio)\s+"
        r"(?:\w+\s+)?(?:include|consist|range|are(?!\s+(?:made|manufactured|subject|sold|not|regulated|shipped|often|also)))\w*\b",
    ),
    (
        r"\b(?:customers?|markets|clients)\b",
        r"\b(?:our|its|principal|primary|largest)\s+(?:\w+\s+){0,3}(?:customers|clients|end\s+markets|markets)\s+(?:include|are|"
        r"consist|range|comprise)\w*\b|\b(?:sold|marketed|distributed|delivered)\s+(?:(?!by\b)\w+,?\s+){0,3}?(?:to|through)\b"
        r"|\b(?:[Ww]e|[Cc]ompany|[Gg]roup|[A-Z]\w+)\s+(?:also\s+)?(?:sell|market|distribut|licens|suppl)(?:s|e|es|y|ies)?\s+"
        r"(?:(?!and\b|by\b)[\w’-]+,?\s+(?:and\s+)?){1,8}?(?:to|through)\b"
        r"|\b(?:products|services|solutions|offerings|software)\s+(?:are\s+)?used\s+by\b"
        r"|\b(?:serves?|serving)\s+(?:\w+,?\s+){0,6}?(?:customers|people|clients|communities|markets)\b",
    ),
)
# What was done with profits and shares, and what changed against the year before: wherever it stands.
_OF_YEARS = (
    (
        r"\b(?:shares?|stock)\s+(?:re-?purchase[ds]?|bought\s+back)|\bre-?purchases?\s+of\s+(?:shares|stock)|\bbuy-?backs?\b",
        r"(?i:\b(?:re-?purchased|bought\s+back)\b(?!\s+agreement).{0,80}\d.{0,60}\bshares\b|\bshares\b.{0,60}\b(?:were|was)\s+"
        r"(?:re-?purchased|bought\s+back)|\b(?:did|have|has)\s+not\s+re-?purchased?\b.{0,20}\bshares\b)",
    ),
    (
        r"\bdividends?\b",
        r"(?i:\b(?:declared|paid|pays?|paying)\b.{0,80}\bdividends?\b|\bdividends?\b.{0,60}\b(?:declared|paid)\b)",
    ),
    (
        r"\b(?:what\s+changed|changes?)\b.*\b(?:revenues?|sales|margins?)\b",
        rf"^(?:{_WHEN})?(?:(?:Our|The|Total|Consolidated|Overall|Operational)\s+){{0,3}}(?:(?i:net\s+sales|(?:net\s+|total\s+)?revenues?|"
        r"gross\s+(?:profit|margin)|operating\s+(?:income|margin|profit))\b)(?=.*\d).{0,90}(?i:\b(?:increas|decreas|grew|growth|rose|fell|"
        r"declin|improv)\w*)",
    ),
)
# The same of contracts; what is left out, and how it is prevented, is only looked for in the section on it.
_PARTIES = (
    r"^(?:the\s+)?parties\b|\bcalled\s+in\s+the\s+(?:agreement|contract)\b",
    r"(?i:\b(?:between|among|parties\s+(?:are|to)|made\s+by)\b).*\b(?:and|&)\b.*[“\"(]|^(?i:between)\b",
)
# A risk is what may harm, be it told by the heading over it.
_RISK = (
    r"\brisk\s+factors?\b",
    r"^(?=[A-Z“]).{0,200}\b(?:could|may|might|would|can|depends?)\b.{0,200}(?i:\b(?:advers|harm|disrupt|impair|los[st]|losses|declin|reduc|fail|suffer|"
    r"negativ|damag|delay|impact|affect|liabilit|interrupt)\w*)",
)
_WITHIN = (
    (r"\bexclu(?:ded|sions?)\b", r"(?i:\bnot\s+(?:apply|limit|exclude)\b|\bexcept\b|\bexcluding\b|\bother\s+than\b)"),
    (
        r"\brenewal\s+is\s+prevented\b|\bnon-?renewal\b",
        r"(?i:\bnon-?renewal\b|\bunless\b.*\bnotice\b|\bnot\s+to\s+renew\b)",
    ),
)


@dataclass(frozen=True, slots=True)
class Form:
    """How a sentence ``says`` what is ``asked``. ``anywhere``: wherever it stands and whoever is named in it; ``risk``:
    what may harm, which no other form may tell."""

    asked: re.Pattern[str]
    says: re.Pattern[str]
    anywhere: bool = False
    risk: bool = False

    def says_it(self, text: str, of: Sequence[Company] = ()) -> bool:
        """Whether ``text`` is a sentence of this form, and does not name another than the companies ``of`` its document
        (any where they are not known) as who does it."""
        text = _RUN_IN.sub("", text)
        if self.risk:
            return self.says.search(text) is not None and not _OF_RISKS.search(text)
        if text[:1].islower():
            return False  # an item of a list: of whom it is said stands in what leads it in
        if self.says.search(text) is None or _IS_NOT.match(text) or _IN_DOUBT.search(text) or _ASIDE.match(text):
            return False
        who = _SUBJECT.match(text)
        return who is None or not of or self.anywhere or bool(_OWN.match(who.group())) or _names(who.group(), of)

    def says_it_anywhere(self, text: str, of: Sequence[Company]) -> bool:
        """`says_it`, of a sentence on which no heading sheds light: it names the company itself, or what is said so is
        the company's wherever it stands."""
        who = _SUBJECT.match(_RUN_IN.sub("", text))
        return (self.anywhere or (who is not None and _names(who.group(), of))) and self.says_it(text, of)

    def of_quarter(self, text: str) -> bool:
        """Whether ``text`` is said of a quarter, where the same is said of the year too."""
        return self.anywhere and QUARTER.search(text) is not None


def _forms(pairs: Sequence[tuple[str, str]], *, anywhere: bool = False, risk: bool = False) -> tuple[Form, ...]:
    return tuple(Form(re.compile(asked, re.IGNORECASE), re.compile(says), anywhere, risk) for asked, says in pairs)


_EVERYWHERE = (*_forms(_OF_YEARS, anywhere=True), *_forms(_FORMS), *_forms((_PARTIES,)))
_IN_SECTION = (*_EVERYWHERE, *_forms((_RISK,), risk=True), *_forms(_WITHIN))


def form_asked(piece: str, within: bool) -> Form | None:
    """The form of what ``piece`` asks for, where that is known: what a company is, makes, or sells to whom, the parties
    of a contract; ``within`` a section on it, also what is left out of it."""
    bare = _BRACKETS.sub(" ", piece)
    return next((form for form in (_IN_SECTION if within else _EVERYWHERE) if form.asked.search(bare)), None)


def _names(subject: str, of: Sequence[Company]) -> bool:
    named = set(re.findall(r"[^\W_]+", subject.lower()))
    return any(one & named for one in of)
