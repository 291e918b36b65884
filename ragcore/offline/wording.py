"""Question generation from a document's own words, in English: from a table cell or a heading.

Each function returns "" if the words do not clearly make a natural question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from ragcore.offline.lists import data, listed
from ragcore.text.languages import language_of
from ragcore.text.periods import periods, years
from ragcore.text.sentences import is_statement
from ragcore.text.words import FUNCTION_WORDS, MONTHS, word_set

_MONTHS = word_set(" ".join((*MONTHS, *(month[:3] for month in MONTHS))).lower())
# References and list numbers, which are not figures: § 312.32(c), (1), Item 7, Note 12, page 3.
REFERENCE = re.compile(
    r"§+\s?[\d.]+(?:\(\w+\))*|\b\d+\s+CFR\b|\b\d+(?:\.\d+)*(?:\(\w+\))+|^\(?[\divx]{1,4}[.)]\s|\(\d{1,2}\)|\b(?:item|note|part|section|page|form|figure|table|"
    r"paragraph|exhibit|chapter|article|clause|field|cfr)s?\.?\s+[\d.]+[\w-]*(?:\([\w]+\))*",
    re.IGNORECASE,
)
# Legal and editorial notices.
_BOILERPLATE = re.compile(
    r"all rights reserved|copyright|©|creative commons|licen[sc]ed? |open.access|correspond(?:ence|ing author)|"
    r"check ?mark|forward.looking|incorporated (?:herein )?by reference|pursuant to|exchange act|hereby|"
    r"https?://|www\.|[\w.]@[\w.]|table of contents|this (?:page|report|document) (?:is|contains|includes|should)|"
    r"form 10-|\bregistrant|(?:annual|quarterly) report|unless the context|references? (?:in this|to)|"
    r"the terms? [\"“']|shares? outstanding|"
    r"(?:see|refer to) (?:also )?(?:note|item|part|page|section|table|figure|appendix)\b",
    re.IGNORECASE,
)
# Reference label of a heading ("§ 312.42", "Note 7"), or just the number before it.
_LABEL = re.compile(
    r"(?P<said>§+\s?[\d.]*\d[a-z]?|(?:section|article|clause|note|rule)\s+(?:\d+(?:\.\d+)*[a-z]?|[ivx]+))[.:)]?[\s—–-]+"
    r"|(?:(?:part|item|chapter|annex|appendix|subpart)\s+)?(?:\d+[a-z]?(?:\.\d+)*[.):]?|[a-z][.):]|[ivxlc]+[.):])\s+"
    r"|(?:part|item|chapter|annex|appendix|subpart)\s+\w+\s*[—–:.-]\s*",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\s*(?:\[[^\]]*\]|\([^)]*\))")
_PERIOD_TOKEN = re.compile(r"\d+(?:[/–-]\d+)?|FY\s?\d+|[QH]\d|[1-4]Q\d*", re.IGNORECASE)
_MARKS = ".,;:()[]“”\"'’!?&"
_LONGEST = 70  # characters of a name
_SHORTEST, _LONGEST_SENTENCE = 45, 260  # characters of a sentence
_CAPITALS, _INITIALS = 0.4, 3  # share of capitalised words, or initials, that mark an entry of a list of works or names
_LONGEST_COLUMN = 40


def stands_alone(sentence: str, paragraph: str) -> bool:
    """Whether it is a whole sentence of prose, whose beginning does not depend on another one: no notice, and of no
    entry of a list of works."""
    if not _SHORTEST <= len(sentence) <= _LONGEST_SENTENCE or not is_statement(sentence) or sentence.endswith("?"):
        return False
    words = sentence.split()
    initials = sum(len(word) <= 3 and word[-1] in ",." and word[:-1].isupper() for word in paragraph.split())  # authors
    return (
        not _BOILERPLATE.search(sentence)
        and words[0].strip("“\"'(,").lower() not in listed("wording", "pronouns") - {"we", "our", "if", "no"}
        and not words[0].endswith((")", ".", "]"))  # "(4)", "12.", "a)", "[7]"
        and (sum(word[0].isupper() for word in words[1:]) < _CAPITALS * len(words) or language_of(sentence) == "German")
        and initials < _INITIALS
    )


def unnumbered(heading: str) -> str:
    """Heading without its number ("§ 312.42", "Item 7.")."""
    label = _LABEL.match(heading)
    return (heading[label.end() :] if label else heading).strip(" .,;:–—-")


def written(text: str) -> frozenset[str]:
    """Words of ``text`` as spelled inside sentences: a capital after a small word marks a name."""
    found, before = set(), False
    for word in text.split():
        bare = word.strip(_MARKS)
        small = bare.islower() and bare[0].isalpha()
        if small or (before and bare[:1].isupper() and bare[1:].islower()):
            found.add(bare)
        before = small and word[-1] in (bare[-1], ",")
    return frozenset(found)


def within(name: str, words: Set[str]) -> str:
    """``name`` as spelled inside a sentence: small, but for abbreviations, if the document writes all of its words so
    and none with a capital; ``words`` are those used inside sentences."""
    cores = [core for part in name.split() if (core := part.strip(_MARKS))] or [""]
    first, *rest = cores
    told = cores if not name.isupper() else cores[:1]  # in a line of capitals the others are words
    short = {core for core in told if core.isupper() and core.lower() not in words}
    capital = [core for core in rest if core[:1].isupper() and core not in short]
    named = first in words or any(core in words or core.lower() not in words for core in capital)
    if not first[:1].isupper() or named or not (rest or first.lower() in words):
        return name
    return " ".join(part if part.strip(_MARKS) in short else part.lower() for part in name.split())


def of_cell(row: str, column: str, title: str, words: Set[str]) -> str:
    """Question on a table cell: ``What was net income in 2022?``; ``What was the revenue of Field Sensors in 2022?`` in
    a table of revenue by segment (``title``); for other tables ``What does Table 2 give for age under placebo?``."""
    name = _BRACKETS.sub("", row).strip(" :.·,*†‡")
    column = " ".join(_BRACKETS.sub("", column).replace("·", " ").split()).strip(" :,*†‡")
    low = name.lower().split()
    if not _is_name(name) or _is_part(low) or not column or column.endswith(".") or len(column) > _LONGEST_COLUMN:
        return ""
    said, when = within(name, words), _period(column)
    if when and listed("wording", "measures").intersection(low):
        was = "were" if _is_many(said) else "was"
        article = "the " if low[0] in listed("wording", "with_article") and was == "was" else ""
        return f"What {was} {article}{said}{',' if ',' in said else ''} {when}?"
    measure = (title.partition(" by ")[0].split() or [""])[-1].lower() if when and " by " in title else ""
    if measure in listed("wording", "measures"):
        measure = f"number of {measure}" if measure in listed("wording", "counted") else measure
        return "" if "," in name else f"What {'were' if _is_many(measure) else 'was'} the {measure} of {name} {when}?"
    where = " ".join(title.split()[:2]).rstrip(".:")
    place = where if where[-1:].isdigit() and where[:1].isupper() else "the table"
    return f"What does {place} give for {said} {when or 'under ' + within(column, words)}?"


def _is_name(name: str) -> bool:
    low = set(name.lower().split())
    return (
        3 <= len(name) <= _LONGEST
        and name[0].isalpha()
        and sum(c.isalpha() or c == " " for c in name) >= 0.8 * len(name)
        and not low & (listed("wording", "finite") | listed("wording", "pronouns"))
        and name.lower().split()[-1] not in FUNCTION_WORDS
    )


def _is_part(words: Sequence[str]) -> bool:
    return words[0] in listed("wording", "parts") or (len(words) == 1 and words[0] in listed("wording", "alone"))


def _is_many(name: str) -> bool:
    """Whether the noun of a name is plural: "net sales of goods", not "cost of goods"."""
    own = re.split(r"[,(]", name)[0].lower().split()
    ends = (place for place, word in enumerate(own) if place and word in listed("wording", "noun_ends"))
    noun = own[next(ends, len(own)) - 1]
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def _period(column: str) -> str:
    """Period phrase: ``in 2022``, ``at December 31, 2022``, ``in the three months ended July 2, 2022``; "" for other
    text."""
    own = column.replace(",", "").split()
    known = listed("wording", "period") | _MONTHS
    if not years(column) or not all(w.lower().strip(".") in known or _PERIOD_TOKEN.fullmatch(w) for w in own):
        return ""
    said = " ".join(word.lower() if word.lower() in listed("wording", "period") else word for word in column.split())
    said = said.removeprefix("as ").removeprefix("of ").removeprefix("at ").removeprefix("the ")
    if "ended" in said or "ending" in said:
        return f"in the {said.replace('years', 'year')}"
    return f"{'at' if periods(said).dates else 'in'} {said}"


def of_heading(text: str, words: Set[str], *, several: bool) -> str:
    """Question on a heading: ``What does § 312.33 say about annual reports?``; a heading that is a question stays as it
    is. ``several``: more than one document is asked."""
    match = _LABEL.match(text)
    label, rest = (match["said"] or "", text[match.end() :]) if match else ("", text)
    name = _BRACKETS.sub("", rest).strip(" :.–—-†*").removeprefix("About ")
    if name.endswith("?"):
        return name[:1].upper() + name[1:] if 3 <= len(name.split()) <= 14 else ""
    own = name.lower().split()
    if not (1 if label else 2) <= len(own) <= 9 or not _is_name(name) or name.lower() in data()["wording"]["general"]:
        return ""
    if own[0] in listed("wording", "commands") or any(sign in name for sign in (" - ", " – ", " — ", ": ", "; ", ". ")):
        return ""
    place = label if label.startswith("§") or not several else ""
    asks = f"does {place}" if place else "do the documents" if several else "does the document"
    return f"What {asks} say about {within(name, words)}?"
