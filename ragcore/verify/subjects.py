"""What a figure is said of: the noun phrase around the words that name its row, and the narrowing words in it.

"Core net sales" is not the row "Net sales", nor are "net sales of the Pet segment": what a claim adds to the name of a
row must stand in the cited words, or in the titles and headers around them. What narrows the row itself ("deferred
revenue", "net income per share") must stand in the claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragcore.text.lexicon import DOWN, UP
from ragcore.text.numbers import WORDS
from ragcore.text.periods import MONTHS
from ragcore.text.words import STOP_WORDS, stem, tokens, word_set
from ragcore.verify.evidence import CitedCell, Evidence, Figure, Finding
from ragcore.verify.terms import label_terms, named_by, terms, with_synonyms

# Words that make of a figure a part of it, or another figure.
NARROWING = word_set("""
    core other adjusted organic comparable underlying normalized normalised pro-forma pro forma non-gaap deferred
    unearned accrued restricted unrestricted secured unsecured subordinated convertible comprehensive recurring
    nonrecurring non-recurring one-time discontinued continuing unallocated unaudited incremental undiluted
    diluted projected forecast estimated budgeted expected hypothetical taxable pretax pre-tax after-tax
""")
# Words beside the name of a figure that leave it what it is.
_PLAIN = word_set("""
    total totals overall aggregate combined consolidated reported annual yearly quarterly monthly fiscal full whole
    entire company companys group firm business corporation year years quarter quarters half month months period
    amount amounts value values figure figures number level sum balance end close ended ending respective corresponding
    same recorded stated about approximately roughly nearly almost respectively also however meanwhile overall
    prior previous current following preceding latest recent approximately only just over under time mr mrs ms dr
    filing report document table statement statements account accounts thousand million billion dollars
""") | frozenset(MONTHS)
_VERBS = word_set("""
    generate generates report reports record records post posts earn earns achieve achieves show shows book books
    recognize recognizes recognise recognises see sees saw deliver delivers produce produces realize realizes
    realise realises make makes made list lists give gives gave put puts puts had has have incur incurs spend spent
    pay pays paid hold holds held carry carries disclose discloses include includes draw drew bring brought took
""")
# Words that, right behind the name of a figure, say of which part of it.
_OF_PART = word_set("of per from in at excluding including before after without outside within across")
_FINITE = word_set("is are was were has had have be been amounted came rose fell grew stood reached")
# What a figure is without; a row that says so is another figure than one that does not.
_LESS = word_set("before after excluding without")
_WORD = re.compile(r"[^\W_]+(?:[-–.&'’/][^\W_]+)*|[^\w\s]")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_REACH = 4


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Words of a claim that name a row (``weight`` of them, the whole at 1.0), with what narrows them."""

    weight: float
    narrowed: str


def _changed_subject(claim: str, cell: CitedCell, evidence: Evidence) -> Finding | None:
    """Why the figure of ``cell`` is not what ``claim`` speaks of, or None."""
    if not cell.row or not label_terms(cell.row):
        return None
    dropped = _dropped(claim, cell, evidence)
    if dropped:
        return Finding("weak", f"The cited row is “{cell.row}”; the claim does not say “{dropped}”.")
    phrases = _phrases(claim, cell, evidence)
    if not phrases:
        return None
    most = max(phrase.weight for phrase in phrases)
    best = [phrase.narrowed for phrase in phrases if phrase.weight == most]
    if not all(best):
        return None
    narrowing = any(word in NARROWING for word in tokens(best[0])) or "per" in best[0].lower().split()
    return Finding(
        "unsupported" if narrowing else "weak",
        f"It adds “{best[0]}”; the cited row is “{cell.row}”.",
    )


def check_subjects(claim: str, context: str, matches: Sequence[Figure], evidence: Evidence) -> list[Finding]:
    """What is to be said of the subject of one number of ``claim`` that agrees with ``matches``; nothing where one of
    them fits. ``context`` are the words that an answer's table puts beside the claim."""
    out = []
    for figure in matches:
        if figure.cell is not None:
            found = _changed_subject(f"{context} {claim}".strip(), figure.cell, evidence)
        elif figure.sentence >= 0:
            found = _narrowed_in(claim, evidence.sentences[figure.sentence], figure.part, evidence)
        else:
            return []
        if found is None:
            return []
        out.append(found)
    return out[:1]


def _dropped(claim: str, cell: CitedCell, evidence: Evidence) -> str:
    """A narrowing word of the row's own name that the claim lacks, or what its figures are per."""
    name = _BRACKETS.sub(" ", cell.named.head)
    said = with_synonyms({*terms(claim), *(stem(word) for word in tokens(claim))})
    words = tokens(name)
    if any(word not in NARROWING and word not in STOP_WORDS for word in words):
        for word in words:
            # What is named with others ("interest and other income") is not narrowed.
            if word in NARROWING - {"other"} | {words[0]} & NARROWING and stem(word) not in said:
                return word
    less = next((word for word in words if word in _LESS and word not in tokens(claim)), "")
    if less and not re.search(r"\bpre-?tax|\bafter-?tax|\bnet of\b|\bex-|\bexclusive\b|\bEBIT", claim, re.IGNORECASE):
        return less
    per = re.search(r"\bper\s+(.+)", name, re.IGNORECASE)
    counted = label_terms(per.group(1)) if per is not None else frozenset()
    if per is not None and "cent" not in counted and not with_synonyms(set(counted)) & said:
        return per.group()
    return ""


def _phrases(claim: str, cell: CitedCell, evidence: Evidence) -> list[_Phrase]:
    """Every run of words of ``claim`` that names the row of ``cell`` in whole or part."""
    wanted = label_terms(cell.row)
    naming = with_synonyms(set(wanted))
    words = _WORD.findall(claim)
    own = set(tokens(cell.row))
    named = [_names(word, naming, own) for word in words]
    known = _known(cell, evidence)
    out = []
    place = 0
    while place < len(words):
        if not named[place]:
            place += 1
            continue
        end = place + 1
        while end < len(words) and (named[end] or (_joins(words[end], own) and named[end + 1 : end + 2] == [True])):
            end += 1
        run = with_synonyms({one for word in words[place:end] for one in _stems(word)})
        narrowed = _before(words, place, known) or _behind(words, end, known, own)
        # "Deferred tax" is not "Deferred revenue": the noun is another one.
        if not narrowed and _noun(cell.named.head) not in run and _is_noun(words[end : end + 1], known):
            narrowed = f"{words[end - 1]} {words[end]}"
        out.append(_Phrase(named_by(cell.row, run), narrowed))
        # What the figure is without names nothing.
        if narrowed and words[end : end + 1] and words[end].lower() in _LESS:
            end += 1
            while end < len(words) and named[end]:
                end += 1
        place = end
    return out


def _noun(head: str) -> str:
    """The stem of the noun that a row's name ends in, before "of" and the like."""
    stems = _stems(re.split(r"\b(?:of|per|from|for|in|by|to|on)\b|,", _BRACKETS.sub(" ", head))[0])
    return stems[-1] if stems else ""


def _is_noun(words: Sequence[str], known: frozenset[str]) -> bool:
    low = _plain(words[0]) if words else ""
    if not low.isalpha() or low in STOP_WORDS or low in UP or low in DOWN or low in _VERBS or low in known:
        return False
    return not low.endswith(("ed", "ing", "ly")) and not set(_stems(low)) & known and low not in _FINITE


def _names(word: str, naming: set[str], own: set[str]) -> bool:
    low = _plain(word)
    if low in STOP_WORDS:
        return low in NARROWING and low in own
    return any(one in naming for one in _stems(word))


def _joins(word: str, own: set[str]) -> bool:
    low = word.lower()
    return (low in STOP_WORDS and (low not in _LESS or low in own)) or word in (",", "&", "/", "-", "'", "’")


def _before(words: Sequence[str], place: int, known: frozenset[str]) -> str:
    """The unknown word that narrows the phrase that begins at ``place`` from the left, or ""."""
    unknown = ""
    for index in range(place - 1, max(-1, place - 1 - _REACH), -1):
        word = words[index]
        low = _plain(word)
        if low in NARROWING and low not in known:
            return word
        if not word[0].isalpha() or low in STOP_WORDS or low in UP or low in DOWN or low in _VERBS:
            break
        if low.endswith("ly"):
            continue
        if low not in NARROWING and low.endswith(("ed", "ing")) and index and _subject(words[index - 1]):
            break
        if word.endswith(("'s", "’s", "s'", "s’")) and low in known:
            break
        if low not in known and not (set(_stems(word)) & known):
            unknown = unknown or word
    return unknown


def _subject(word: str) -> bool:
    """Whether the word before a form in -ed shows that this is the verb ("Brannock posted", "it posted")."""
    low = _plain(word)
    articles = word_set("a an the its their our his her of in and or with by from for to on at as")
    return word[0].isalpha() and low not in articles and not word.endswith(("'s", "’s")) and low not in ("total", "net")


def _behind(words: Sequence[str], end: int, known: frozenset[str], own: set[str]) -> str:
    """The unknown words that narrow the phrase that ends at ``end`` from the right ("of the Pet segment"), or ""."""
    if end >= len(words) or words[end].lower() not in _OF_PART:
        return ""
    narrowing = words[end].lower()
    # "Income before taxes" is not the row "Income taxes", whatever its words.
    behind = words[end + 1 : end + 2]
    if narrowing in _LESS and narrowing not in own and behind and set(_stems(behind[0])) & {stem(one) for one in own}:
        return f"{narrowing} {behind[0]}"
    found = []
    for word in words[end + 1 : end + 1 + _REACH]:
        low = _plain(word)
        if low in ("the", "a", "an", "its", "our", "their", "each", "all"):
            continue
        if not word[0].isalpha() or low in STOP_WORDS or low in _VERBS or low in WORDS:
            break
        if low not in known and not set(_stems(word)) & known:
            found.append(word)
        elif found:
            break
    return f"{narrowing} {' '.join(found)}" if found else ""


def _known(cell: CitedCell, evidence: Evidence) -> frozenset[str]:
    """Words, as written and in the singular, that may stand beside the name of the row: those of what is cited, of its
    headers and titles; and the stems of the row and column."""
    written = {
        form
        for text in (evidence.words, evidence.around)
        for word in tokens(text)
        for form in (word, word.removesuffix("s"))
    }
    if re.search(r"\bbefore\b.*\btax", cell.row, re.IGNORECASE):
        written |= {"pretax", "pre-tax"}
    return frozenset(written | label_terms(cell.row) | label_terms(cell.column) | _PLAIN)


def _plain(word: str) -> str:
    return word.lower().replace("’", "'").removesuffix("'s").removesuffix("'")


def _stems(word: str) -> list[str]:
    return [stem(part) for part in tokens(word)]


def _narrowed_in(claim: str, sentence: str, part: str, evidence: Evidence) -> Finding | None:
    """A narrowing word that only one of ``claim`` and the cited ``sentence`` has before the same word."""
    given, said = _pairs(sentence), _pairs(claim)
    there = {stem(word) for word in tokens(f"{evidence.words} {evidence.around}")}
    for word, noun in said:
        if word in NARROWING and stem(word) not in there and any(noun == other for _, other in given):
            return Finding("unsupported", f"It says “{word} {noun}”; the cited words do not say “{word}”.")
    mine = {stem(word) for word in tokens(claim)}
    for word, noun in _pairs(part):
        if word not in NARROWING or stem(word) in mine or noun not in {other for _, other in said}:
            continue
        if all(before in NARROWING for before, other in given if other == noun):
            return Finding("weak", f"The cited words say it of “{word} {noun}”.")
    return None


def _pairs(text: str) -> list[tuple[str, str]]:
    """(word before, word) of every content word; a word such as net or total is looked through."""
    words = ["", *tokens(text)]
    out = []
    for index in range(1, len(words)):
        before = index - 1
        while before > 0 and words[before] in ("net", "total", "gross"):
            before -= 1
        if words[index] not in STOP_WORDS and words[index] not in ("net", "total", "gross"):
            out.append((words[before], words[index]))
    return out
