"""Questions in a document's own words, by rules (English): of a table's cell, of a section, of a term.

Each function gives the question or "": what does not plainly make a question that a person would ask makes none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from dataclasses import dataclass

from ragcore.text.words import FUNCTION_WORDS, MONTH, word_set

YEAR = r"(?:19|20)\d\d"
_DAY = rf"(?:{MONTH}\.?\s+\d{{1,2}},?\s+|\d{{1,2}}\s+{MONTH}\s+)"
# What a column's header says of a period, and how a question says it.
_PERIODS = (
    (rf"(?:fiscal|calendar|financial)(?:\s+year)?\s+{YEAR}|FY\s?{YEAR}|(?:Q[1-4]|H[12])\s{YEAR}|{YEAR}", "in {}"),
    (rf"(?:(?:as\s+)?(?:of|at)\s+)?({_DAY}{YEAR})", "at {}"),
    (
        rf"((?:fiscal\s+)?(?:years?|(?:three|six|nine|twelve)\s+months?|quarter)\s+end(?:ed|ing)\s+{_DAY}{YEAR})",
        "in the {}",
    ),
)
# Where the noun of a row's name ends that says whether it is one or many.
_NOUN_ENDS = re.compile(
    r"\s(?:of|for|in|by|to|from|on|at|with|per|paid|provided|used|due|before|after|excluding|including|attributable|"
    r"under|available|held|relating|related)\b(?!-)|,\s(?:net|gross|basic|diluted)\b|\(",
    re.IGNORECASE,
)
WITH_ARTICLE = re.compile(
    r"^(?:cost|number|provision|effect|amount|rate|balance|value|percentage|price|ratio|share|change|increase|decrease|"
    r"average|effective\s+tax\s+rate)\b",
    re.IGNORECASE,
)
# What can be had in a period or at a day; other rows are parts of what their table is about.
_MEASURE = re.compile(
    r"\b(?:revenues?|sales|turnover|incomes?|costs?|expen[sd]\w*|profits?|margins?|loss(?:es)?|assets?|liabilit\w*|equity|"
    r"debts?|cash|inventor\w*|receivables?|payables?|tax(?:es)?|earnings|dividends?|ebitda?|depreciation|amorti[sz]ation|"
    r"impairments?|shares?|rates?|prices?|volumes?|numbers?|yields?|concentrations?|weights?|temperatures?|goodwill|"
    r"borrowings?|loans?|deposits?|capital|provisions?|payments?|proceeds|purchases|repurchases|interest|benefits?|"
    r"contributions?|returns?|employees|headcount|customers|patients|subjects|investments?|securities|property|equipment|"
    r"compensation|salaries|wages|fees|orders|backlog|production|emissions|consumption|ratio|dose|score|mean|median)\b",
    re.IGNORECASE,
)
_BY = re.compile(r"(?P<measure>[A-Z][a-z]+(?:\s[a-z]+){0,3})\s+by\s+[a-z]")
_TELLS_OF = word_set("following summarizes summarises presents shows provides sets table schedule")
_COUNTED = re.compile(r"\b(?:employees|people|stores|shops|customers|patients|subjects|members|subscribers|sites)$")
_ASIDE = re.compile(r",\s(?:net|gross|basic|diluted)\b", re.IGNORECASE)
PART = re.compile(
    r"^(?:percent\w*|as|of|in|for|and|or|less|plus|per|by|to|from|on|at|with|other|all|see|note)\b", re.IGNORECASE
)
_TOTAL = re.compile(r"^(?:sub)?totals?\b[^a-z]*$|^(?:sum|other|net|gross|\W*)$", re.IGNORECASE)
_COMPARES = re.compile(r"^(?:change|difference|variance|%?\s*change|increase|decrease)$", re.IGNORECASE)
_PROPERTY = re.compile(
    r"(?:\w+\s){0,2}(?:age|price|rate|dose|dosage|point|weight|mass|formula|yield|purity|temperature|pressure|density|"
    r"length|size|number|half-life|concentration|diameter|volume|speed|accuracy|resolution|address|date|deadline|fee|"
    r"rent|limit|capacity|IC50|EC50|pH|duration|thickness|frequency|wavelength|area|height|depth|distance|solubility)",
)
_LONGEST_NAME = 70
_LONGEST_SHORT = 5  # letters that something may be short for: "FDA"

FINITE = word_set(
    "is are was were be been has have had do does did will would shall should must may might can could cannot"
)
NO_SUBJECT = word_set("it this that these those they he she we you i there here such which who what if no nothing")
DANGLING = FUNCTION_WORDS | word_set("including each any every")
_COMMANDS = word_set(
    "see provide use enter select complete note attach check describe list submit include identify state explain click"
)
_GENERIC = re.compile(
    r"(?:(?:table of )?contents|introduction|(?:executive )?summary|overview|references|bibliography|index|general|"
    r"scope|other|notes?|conclusions?|abstract|background|appendix|annex|acknowledge?ments?|disclaimer|signatures?|"
    r"purpose|"
    r"definitions?(?: and interpretations?)?|applicability|miscellaneous|general provisions|(?:draft )?guidance|"
    r"exhibits?|documents? incorporated by reference|where you can find more information|available information|"
    r"reserved)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?P<said>§+\s?[\d.]*\d[a-z]?|(?:Section|Article|Clause|Note|Rule)\s+(?:\d+(?:\.\d+)*[A-Z]?|[IVX]+))[.:)]?[\s—–-]+"
    r"|(?:(?:Part|Item|Chapter|Annex|Appendix|Subpart)\s+)?(?:\d+[A-Za-z]?(?:\.\d+)*[.):]?|[A-Z][.):]|[IVXLC]+[.):])\s+"
    r"|(?:Part|Item|Chapter|Annex|Appendix|Subpart)\s+\w+\s*[—–:.-]\s*",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\s*(?:\[[^\]]*\]|\([^)]*\))")
_MANY = re.compile(
    r"^(?:(?!of\b)\w+\s+){0,2}(?:requirements|responsibilities|principles|phases|conditions|criteria|obligations|duties|rights|"
    r"risks|reasons|objectives|methods|limits|grounds|steps|goals|terms)\s+(?:of|for|to|on|in|under)\s",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's ``label`` by which texts refer to it ("§ 312.42", "Note 7"; "" for none) and its ``name``."""

    label: str
    name: str


def inside(name: str, words: Set[str]) -> str:
    """``name`` as it stands within a sentence: without the capitals that only a heading or a label gives it.

    ``words`` are those of the document as it writes them within sentences: what it never writes small is a name and
    keeps its capitals.
    """
    parts = name.split()
    cores = [re.sub(r"^\W+|\W+$", "", part) for part in parts]
    if len(parts) > 1 and sum(core.isupper() and len(core) > 1 for core in cores) > len(cores) / 2:
        return " ".join(_unshouted(part, core, words) for part, core in zip(parts, cores))
    capital = [
        bool(core) and core[0].isupper() and core[1:].replace("-", "").isalpha() and not core.isupper()
        for core in cores
    ]
    rest = [_is_small(core, words) for core, is_capital in zip(cores[1:], capital[1:]) if is_capital]
    if not all(rest):
        opens = len(parts) > 1 and capital[0] and not capital[1] and cores[0].lower() in words
        return name[0].lower() + name[1:] if opens else name
    return " ".join(
        part.replace(core, core.lower(), 1)
        if is_capital and (place or core not in words or core.lower() in words)
        else part
        for place, (part, core, is_capital) in enumerate(zip(parts, cores, capital))
    )


def _unshouted(part: str, core: str, words: Set[str]) -> str:
    if core.lower() in words:
        return part.lower()
    if core.capitalize() in words:
        return part.replace(core, core.capitalize())
    return part.lower() if len(core) > _LONGEST_SHORT else part


def _is_small(word: str, words: Set[str]) -> bool:
    return all(part.lower() in words for part in word.split("-"))


def of_cell(row: str, column: str, words: Set[str] = frozenset(), title: str = "") -> str:
    """``What were total revenues in fiscal 2022?``; ``How did gross margin change?`` of a column of changes; ``What was
    the revenue of Field Sensors in 2022?`` in a table of revenue by segment (``title``)."""
    name = _BRACKETS.sub("", row).strip(" :.·,")
    if column.endswith("."):
        return ""  # a sentence
    column = " ".join(column.replace("·", " ").split()).strip(" :,")
    if (
        not 3 <= len(name) <= _LONGEST_NAME
        or _TOTAL.match(name)
        or PART.match(name)
        or not re.match(r"[^\W\d_]", name)
        or not re.search("[A-Za-z]{3}", name)
        or set(name.lower().split()) & FINITE
        or _LABEL.match(name)
        or "/(" in row
    ):
        return ""
    said = inside(name, words)
    period = _period(column)
    measured = _MEASURE.search(name)
    if not measured and (period or _COMPARES.match(column)):
        return _of_part(name, period, title, words)
    if _COMPARES.match(column):
        return f"How did {said} change?"
    if period:
        many = is_many(said)
        article = "the " if not many and WITH_ARTICLE.match(said) else ""
        aside = "," if _ASIDE.search(said) else ""
        return f"What {'were' if many else 'was'} {article}{said}{aside} {period}?"
    kind = inside(column, words)
    return f"What is the {kind} of {said}?" if _PROPERTY.fullmatch(kind) else ""


def is_many(name: str) -> bool:
    """Whether the noun of a name is in the plural: "net sales of goods", not "cost of goods"."""
    noun = _NOUN_ENDS.split(name, maxsplit=1)[0]
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def _of_part(part: str, period: str, title: str, words: Set[str]) -> str:
    """What a part of the whole has of the measure that its table gives by parts."""
    of = _BY.search(title)
    if of is None or not period or re.search(r"[\d,]", part):
        return ""
    measure = inside(of["measure"], words).removeprefix("the ")
    if set(measure.split()) & (FUNCTION_WORDS | FINITE | _TELLS_OF) or not (
        _MEASURE.search(measure) or _COUNTED.search(measure)
    ):
        return ""
    if _COUNTED.search(measure):
        return f"How many {measure} did {part} have {period}?"
    return f"What {'were' if is_many(measure) else 'was'} the {measure} of {part} {period}?"


def _period(column: str) -> str:
    for pattern, form in _PERIODS:
        match = re.fullmatch(pattern, column, re.IGNORECASE)
        if match:
            said = match.group(match.lastindex or 0)
            small = re.sub(
                r"\b(?:Fiscal|Years?|Three|Six|Nine|Twelve|Months?|Quarter|End(?:ed|ing))\b", _small, said, flags=re.I
            )
            return form.format(re.sub(r"^years\b", "year", small))
    return ""


def _small(match: re.Match[str]) -> str:
    return match.group().lower()


def of_term(term: str, words: Set[str] = frozenset()) -> str:
    """``What does “clinical investigation” mean?``"""
    return f"What does “{inside(term, words)}” mean?"


def heading(text: str) -> Heading:
    """A heading's label and name: ``§ 312.42 Clinical holds.`` → ``§ 312.42``, ``Clinical holds``."""
    text = " ".join(text.split())
    match = _LABEL.match(text)
    label = (match["said"] or "") if match else ""
    name = _BRACKETS.sub("", text[match.end() if match else 0 :].replace("(s)", "s"))
    return Heading(label, name.strip(" :.–—-†*"))


def of_heading(
    head: Heading,
    words: Set[str] = frozenset(),
    where: str = "the document",
    *,
    definite: Callable[[str], bool] = lambda _: False,
) -> str:
    """``What does § 312.33 say about annual reports?``, ``What are the phases of an investigation?``; a heading that is
    a question as it is; "" where it is no name of a thing. ``where`` is what the document is called, and ``definite``
    tells what it calls *the* so-and-so."""
    name = head.name.removeprefix("About ")
    if name.endswith("?"):
        return name[:1].upper() + name[1:] if 3 <= len(name.split()) <= 14 else ""
    if not _is_topic(name, alone=bool(head.label)):
        return ""
    said = inside(name, words)
    if _MANY.match(said):
        return f"What are the {said}?"
    # A note of that number is in each of several documents, a section of a law in one.
    own = head.label and (head.label.startswith("§") or where == "the document")
    place = head.label if own else " of ".join(part for part in (head.label, where) if part)
    return f"What does {place} say about {'the ' if definite(said) else ''}{said}?"


def _is_topic(name: str, *, alone: bool) -> bool:
    """Whether a heading names a thing: no sentence, no order, no fragment; ``alone``: one word is enough."""
    own = re.findall(r"[^\W_][\w’'/-]*", name.lower())
    if not (1 if alone else 2) <= len(own) <= 9 or not 5 <= len(name) <= _LONGEST_NAME:
        return False
    if _GENERIC.fullmatch(name) or re.search(r"[$%@“”\"|:;…]|https?|\.\s|\d{3}", name):
        return False
    if (
        set(own) & (FINITE | NO_SUBJECT | {"its", "their", "your", "our"})
        or re.search(r"\s[-–—]\s", name)
        or own[0] in _COMMANDS
        or own[-1] in DANGLING
        or PART.match(name)
    ):
        return False
    return sum(len(word) for word in own if word.isalpha()) >= 0.6 * len(name)
