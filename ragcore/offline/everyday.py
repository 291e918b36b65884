"""Everyday questions and how a sentence that answers them looks.

"Who audits the company?" is answered by "We engaged X LLP as our independent registered public accounting firm", which
has none of its words, while ten sentences near it speak of audits. For the questions that are put to every filing, IND
or contract the form of the answer is known: a number before people, a person beside an office, a date behind
"expires". A sentence of that form is an answer by what it says, not by the words that it shares with the question.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ragcore.offline.about import SAYS_WHAT_IT_IS, asks_about_whole
from ragcore.offline.meanings import meaning_of
from ragcore.text.words import content_stems

# With a capital, and no part of a person's name: "Vice President", "Chief Financial Officer", "Annual Report".
_NO_NAME = (
    r"(?!(?:Chief|Vice|Executive|Senior|President|Officers?|Financial|Operating|Accounting|Principal|Chair\w*|Board|"
    r"Directors?|General|Counsel|Secretary|Treasurer|Manager|Managing|Committee|Company|Corporation|Inc|Ltd|Annual|"
    r"Report|Form|Securities|Exchange|Act|Rules?|Section|Item|Exhibit|Certification|Agreement|Plan|Our|The|In|As|By|"
    r"Positions?|Title|Name|Age)\b)"
)
_PERSON = (
    rf"(?:\b(?:Dr|Prof|Mr|Ms|Mrs|Professor|Sir)\.?\s+)?(?<![\w’'-]){_NO_NAME}[A-Z][\w’'-]+(?:\s+[A-Z]\.)?\s+"
    rf"(?:(?:van|von|de|del|der|den|la|le)\s+)*{_NO_NAME}[A-Z][\w’'-]*[a-z]\b"
)
_ADDRESSED = rf"\b(?:Dr|Mr|Ms|Mrs)\.?\s+{_NO_NAME}[A-Z][\w’'-]+"
_YEAR = r"\b(?:1[6-9]|20)\d\d\b"
_LENGTH = (
    r"(?:\b\d+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|"
    r"ninety))(?:\s*\(\d+\))?[\s-]+(?:calendar\s+|business\s+)?(?:day|week|month|year)s?\b"
)
_PEOPLE = r"(?:people|persons|employees|associates|team\s+members|colleagues|staff|workers|teammates|individuals)"
_MONEY = r"(?:[$€£¥]|\b(?:USD|EUR|GBP|CHF)\b)\s?\d"


def _office(name: str) -> str:
    """A person in an office: named before or after it, near it and not only spoken of."""
    # "Chief of Staff to the Chief Executive Officer" is another's office.
    other = r"(?!\b(?:to|with|by|for|from|under|of)\s+(?:the|our|its|a|their)\b)"
    return (
        rf"(?:{_PERSON}|{_ADDRESSED})(?:{other}[^.;]){{0,80}}?\b(?i:{name})\b|\b(?i:{name})\b(?:\s+(?:is|was|and\s+[\w-]+))?"
        rf"[,:\s]+(?:is\s+|was\s+)?(?:{_PERSON}|{_ADDRESSED})"
    )


_CHIEF = r"chief\s+executive(?:\s+officer)?|CEO"
# Whoever runs one of these is no chief executive.
_OTHERS_LEAD = (
    r"(?:stud(?:y|ies)|trials?|site|research|projects?|program(?:me)?s?|committees?|board|departments?|teams?|divisions?|"
    r"segments?|units?|groups?|meetings?|labs?|laborator(?:y|ies)|experiments?|tests?|clinics?|investigations?|courses?)"
)
_LEADS = (
    r"\bwho(?:\s+is|\s+are|['’]s)?\s+(?:(?:currently|now|actually)\s+)?(?:runs?|running|leads?|leading|heads?|heading|"
    r"manages?|managing|in\s+charge\s+of|at\s+the\s+(?:top|head|helm)\s+of|the\s+(?:boss|head|leader)\s+(?:of|at))\b"
)


_ASKS_OFFICE = rf"\bwho\b.*\b(?:chief|c[efo]o|chair\w*|counsel|treasurer|president)\b|{_LEADS}(?!.*\b{_OTHERS_LEAD}\b)"
# A question in any case of letters, and the answer, in which names must have their capitals.
_FORMS = (
    (
        r"\bhow\s+(?:many|large)\b.*\b(?:employees|people|staff|workers|workforce)\b|\bheadcount\b|number\s+"
        r"of\s+employees",
        rf"\d[\d,]*\s+(?:(?!of\b|per\b)[\w-]+\s+){{0,6}}(?i:{_PEOPLE})\b|(?i:\bemploy(?:s|ed)?\b|workforce\s+"
        rf"of)\D{{0,40}}\d[\d,]*\d",
    ),
    (rf"\bwho\b.*\b(?:chief\s+executive|ceo)\b|{_LEADS}(?!.*\b{_OTHERS_LEAD}\b)", _office(_CHIEF)),
    (r"\bwho\b.*\b(?:chief\s+financial|cfo)\b", _office(r"chief\s+financial\s+officer|CFO|finance\s+director")),
    (r"\bwho\b.*\b(?:chief\s+operating|coo)\b", _office(r"chief\s+operating\s+officer|COO")),
    (r"\bwho\b.*\bchair\w*", _office(r"chair(?:man|woman|person)?(?:\s+of\s+the\s+board)?")),
    (r"\bwho\b.*\bgeneral\s+counsel\b", _office(r"general\s+counsel")),
    (r"\bwho\b.*\btreasurer\b", _office(r"treasurer")),
    (r"\bwho\b.*\b(?<!vice\s)president\b", _office(r"(?<!vice\s)(?<!vice-)president")),
    (
        r"\bwho\b.*\baudit\w*",
        r"(?=.*\b(?i:accounting\s+firm|auditors?\b|audited\s+by))(?=.*(?:\bLLP\b|\b(?:by|firm|auditors?)"
        r"[\s,:]+[A-Z]|[A-Z]\w+\s&\s[A-Z]))",
    ),
    (
        r"\bwhere\b.*\b(?:head\s+office|headquarter\w*|based|located|offices?)\b|\baddress\b",
        r"(?i:principal\s+(?:executive\s+)?(?:offices?|place\s+of\s+business)|headquarter(?:s|ed)|head\s+"
        r"office|registered\s+office|based)\b.*?\b(?i:at|in|is|are|:)\s*(?:\d|[A-Z])",
    ),
    (
        r"\bwhen\b.*\b(?:founded|established|incorporated|formed|set\s+up|started\s+business)\b",
        rf"\b(?i:founded|established|incorporated|formed|organi[sz]ed|began\s+(?:operations|business))\b.*{_YEAR}",
    ),
    (
        r"\b(?:where|state|country|jurisdiction)\b.*\b(?:incorporated|organi[sz]ed)\b",
        r"\b(?i:incorporated|organi[sz]ed|formed|corporation|incorporation)\b.*?\b(?i:in|under\s+the\s+laws\s+"
        r"of|:)\s+(?:the\s+(?:State|Province|Republic)\s+of\s+)?[A-Z]",
    ),
    (
        r"\b(?:where|exchange|market)\b.*\b(?:listed|traded?|exchange)\b|\b(?:ticker|trading\s+symbol)\b",
        r"\b(?:Stock\s+(?:Exchange|Market)|Nasdaq|NASDAQ|NYSE|AIM|Euronext|Xetra)\b|(?i:under\s+the\s+"
        r"(?:ticker\s+|trading\s+)?symbol)",
    ),
    (
        r"\b(?:largest|main|biggest|major)\s+customer",
        r"(?i:customer|sales\s+to|accounted\s+for).*\d\s?%|\d\s?%.*(?i:customer|sales\s+to)",
    ),
    (r"\bdividend", rf"(?i:dividend).*{_MONEY}|{_MONEY}.*(?i:dividend)"),
    (r"\bcas\b", r"(?<![\d-])\d{2,7}-\d\d-\d(?![\d-])"),
    (
        r"\bwho\b.*\bsponsor\w*",
        r"(?i:\bsponsor)(?:\s+(?i:is|of\s+the\s+(?:study|trial|IND)\s+is))?\s*[:(,]?\s+(?:the\s+)?[A-Z]\w+|"
        r"(?i:submitted|sponsored|filed)\s+(?i:by)\s+[A-Z]|[A-Z]\w+[^.]{0,60}\((?:the\s+)?[“\"]?[Ss]ponsor\b",
    ),
    (
        r"\b(?:what|which|how\s+much)\b.*\b(?:dos(?:e|es|age|ing))\b",
        r"(?=.*\d\s?(?:mg|µg|μg|mcg|g|mL|IU|units)\b)(?=.*\b(?i:take|takes|receives?|administered|given|once|"
        r"twice|daily|weekly|by\s+mouth|orally|injection|infusion)\b)",
    ),
    (
        r"\bwho\b.*\b(?:investigator|leads?|runs?|conducts?)\b",
        rf"(?i:\binvestigator)s?\b.*?{_PERSON}|{_PERSON}[^.]{{0,60}}(?i:investigator)",
    ),
    (
        r"\bhow\s+many\b.*\b(?:patients|subjects|participants|volunteers)\b",
        r"\d[\d,]*\s+(?:(?!of\b)[\w-]+\s+){0,3}(?i:patients|subjects|participants|volunteers|adults|children)\b",
    ),
    (
        r"\bindicat(?:ion|ed)\b|\bwhat\s+(?:is|does)\s+(?:the\s+)?(?:drug|product|medicine|it|\S+)\s+"
        r"(?:used\s+)?(?:for|treat)\b",
        r"(?i:\bindicat(?:ed|ion)\b|\bfor\s+the\s+treatment\s+of\b|\bintended\s+to\s+treat\b)",
    ),
    (
        r"\bwho\b.*\b(?:makes?|manufactur\w+|produces?)\b",
        r"\b(?i:made|manufactured|produced|manufacturer)\s+(?:(?i:by|at|is)\s+|:\s*)(?:the\s+)?[A-Z]",
    ),
    (
        r"\bwho\b.*\b(?:excluded|cannot|can\s?not|ineligible|not\s+eligible|may\s+not)\b|\bexclusion\b",
        r"\b(?i:not\s+(?:be\s+)?eligible|(?:are|is|be)\s+excluded|ineligible|may\s+not\s+(?:enter|take\s+part))\b",
    ),
    (
        r"\bwhen\b.*\b(?:ends?|expires?|terminates?|run\s+out)\b|\bexpir\w+\b|\bend\s+date\b",
        rf"\b(?i:remains?\s+in\s+(?:full\s+)?(?:force|effect)|expir\w+|until|terminat\w+|ends?|continues?)\b.*"
        rf"(?:{_YEAR}|{_LENGTH}|\b(?i:anniversary)\b)",
    ),
    (
        r"\bwhen\b.*\b(?:begins?|starts?|commences?|effective|(?:go|come|enter)(?:es|s)?\s+into\s+(?:effect|force)|takes?\s+effect|"
        r"signed|made)\b",
        rf"\b(?i:commences?|effective|begins?|starts?|dated|made|entered\s+into|signed)\b.*{_YEAR}|"
        r"\b(?i:commences?|becomes?\s+effective|begins?|starts?|(?:goes|comes|enters)\s+into\s+(?:effect|force)|takes?\s+effect)\b"
        rf"\W+(?:\(\w\)\s+)?(?i:{_LENGTH}\s+(?:after|from|following)\b|upon\b|on\s+(?:the\s+(?:date|day)|receipt|signature)\b)",
    ),
    (
        r"\b(?:which|what|whose)\b.*\blaws?\b|\bgoverning\s+law\b",
        r"\b(?i:govern\w*|constru\w*|subject\s+to|interpreted)\b.*\b(?i:laws?)\s+(?i:of|in)\s+(?:the\s+"
        r")?[A-Z]|\b(?:English|Swiss|German|French|Scots|Dutch|Irish)\s+law\b",
    ),
    (
        r"\bwho\s+(?:owns?|(?:will|would|does)\s+own|has\s+title)\b|\b(?:to\s+whom|whom|who)\b.*\bbelongs?\b|"
        r"\bwhose\s+(?:property|are|is)\b",
        r"(?i:\bbelongs?\s+(?:exclusively\s+|solely\s+)?to\b|\bowned\s+by\b|\bproperty\s+of\b|\bvests?\s+in\b|"
        r"\b(?:shall|will)\s+own\b|\bowns\b|\btitle\b.*\b(?:passes|remains|vests)\b|\bassigns?\b.*\bto\s+(?:the|our)\b)",
    ),
    (
        r"\b(?:can|may|could|allowed\s+to|right\s+to|possible\s+to|how)\b.*\b(?:end|terminate|cancel|break|get\s+out\s+of)\b"
        r"|\bbreak\s+(?:clause|option|right)|\bend\w*\b.*\bearly\b",
        r"(?i:\b(?:may|can|is\s+entitled\s+to|has\s+the\s+right\s+to)\s+(?:[\w,]+\s+){0,6}?(?:end|terminate|cancel|break|"
        r"determine)\b|\b(?:ended|terminated|cancelled)\s+by\s+(?:either|the|any)\b)",
    ),
    (
        r"\bnon-?compet\w*|\bwork\s+for\s+(?:a\s+)?(?:competitor|rival)s?\b|\brestrictive\s+covenant",
        r"(?i:\b(?:shall|will|may|must|agrees?)\s+not\b.*\bcompet\w*)",
    ),
    (r"\bwho\b.*\bpart(?:y|ies)\b|\bbetween\s+whom\b", r"\b(?i:between|among)\s+(?:\(\d\)\s*)?[A-Z].*\band\b.*[A-Z]"),
    (
        r"\bnotice\s+periods?\b|\bhow\s+(?:much|long)\b.*\bnotice\b",
        rf"{_LENGTH}['’]?\s+(?:\w+\s+){{0,4}}(?i:notice)\b|(?i:notice)\s+(?i:period\s+)?(?i:of|is)\s+(?:\w+\s+"
        rf"){{0,3}}{_LENGTH}",
    ),
    (
        r"\b(?:where|which|who|how)\b.*\b(?:disputes?|courts?|arbitrat\w+)\b",
        r"\b(?i:arbitrat\w+)\b|\b(?i:courts?)\s+(?i:of|in)\s+[A-Z]|\b(?i:jurisdiction)\b.*\b(?i:courts?)\b",
    ),
    (
        r"\b(?:cap|limit|maximum|most)\b.*\bliabilit|\bliabilit\w*\b.*\b(?:cap|capped|limit|limited|unlimited)\b",
        r"(?i:\bliabilit\w*\b.*\b(?:not\s+exceed|limited\s+to|capped|unlimited|in\s+excess\s+of)|"
        r"\b(?:neither|no)\b.*\bliabilit\w*\b.*\bexceed)",
    ),
    *(
        (
            rf"\b(?:how\s+(?:much|high)|what)\s+is\s+the\s+(?:\w+\s+)?{owed}\b",
            rf"(?i:\b{owed}s?\b).*{_MONEY}",
        )
        for owed in ("rent", "price", "fee")
    ),
    (
        r"\bwhen\b.*\b(?:paid|payable|pay|payment|invoices?)\b|\bpayment\s+terms?\b",
        rf"(?i:\b(?:payable|due|paid|pay|payment)\b).*{_LENGTH}",
    ),
    (r"\bhow\s+much\s+insurance\b", rf"(?i:\binsurance\b).*{_MONEY}"),
)


@lru_cache(maxsize=64)
def form_of(question: str) -> re.Pattern[str] | None:
    """What a sentence that answers ``question`` looks like; None where it is no everyday question."""
    if asks_about_whole(question):
        return SAYS_WHAT_IT_IS
    for asked, answered in _FORMS:
        if re.search(asked, question, re.IGNORECASE):
            return re.compile(answered)
    return meaning_of(question)


@lru_cache(maxsize=64)
def beside_form(question: str) -> frozenset[str]:
    """The stems of what ``question`` says beside the words by which it is an everyday question: of "Who leads the
    market in insulin pumps?" the market and the insulin pumps."""
    for asked, _ in () if asks_about_whole(question) else _FORMS:
        match = re.search(asked, question, re.IGNORECASE)
        if match is not None:
            return frozenset(content_stems(f"{question[: match.start()]} {question[match.end() :]}"))
    return frozenset()


def answers(question: str, sentence: str) -> bool:
    """Whether ``sentence`` has the form of an answer to the everyday question ``question``."""
    form = form_of(question)
    return form is not None and form.search(sentence) is not None


def names_holder(question: str, row: str) -> bool:
    """Whether ``row`` of a table, as it is quoted, names who holds the office that ``question`` asks for: lists of
    officers are tables."""
    return re.search(_ASKS_OFFICE, question, re.IGNORECASE) is not None and answers(question, row.replace(";", ","))


def led(question: str) -> str:
    """The verb by which ``question`` asks who leads a company; "" where it does not."""
    match = re.search(rf"{_LEADS}(?!.*\b{_OTHERS_LEAD}\b)", question, re.IGNORECASE)
    return match.group().split(maxsplit=1)[1] if match is not None else ""
