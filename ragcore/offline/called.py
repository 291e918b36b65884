"""What a question calls by a name: companies, people, places, products, and its identifiers.

By spelling alone: a capital within the sentence ("of Apple"), capitals or a digit and a capital where a name can stand
("IBM's", "at 3M"), a capital within the word ("eBay"), and the first word where it owns something ("Apple's revenue").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcore.offline.asks import OPENING_VERBS
from ragcore.text.languages import language_of
from ragcore.text.naming import is_period, named
from ragcore.text.terms import Term
from ragcore.text.words import OTHER_FUNCTION_WORDS, STOP_WORDS, tokens, word_set
from ragcore.types.question import Name

_WORD = re.compile(r"[^\W_]+(?:[-–.&'’/][^\W_]+)*(?:['’](?!\w))?")
_IDENTIFIER = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z][A-Za-z]*-?\d[\w-]*\b")
_OWNS = re.compile(r"['’]s$|['’]$")
_TITLE = re.compile(r"^[A-Z](?=[\w&.'’-]*[a-z0-9])")
_CAPITALS = re.compile(r"^[A-Z][A-Z]+$|^[A-Z](?:&[A-Z])+$|^[A-Z]{2,}&[A-Z]+$|^[A-Z]+(?:-[A-Z]{2,})+$")
# 3M, 23andMe, 7-Eleven; not 10-K, 5G, 2D, 1H22. Before one of a single letter no amount may be said.
_DIGITS = re.compile(r"^\d{1,3}(?:[A-CEILMNOPRSTVWYZ]|-?[A-Z][a-z]{2,}|and[A-Z][a-z]+)$")
_AMOUNT_BEFORE = word_set(
    "than over about approximately around nearly least most under above below exceed exceeds only"
)
_MIXED = re.compile(r"^[a-z]{1,2}[A-Z][A-Za-z]{2,}$")
_CALENDAR = word_set(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday"
)
_NO_NAMES = (
    STOP_WORDS | _CALENDAR | word_set("inc corp corporation company co ltd plc llc group holdings fiscal mr ms dr")
)
# Abbreviations of what is measured, filed or ruled, of offices and of currencies: in capitals, and no one's name.
_NO_OWNERS = word_set("""
    ae aes aml api apr apy ar arpu asc asu auc bla ca cagr capex cas ceo cfo cgmp ci cio cmax cmc cmo cob cogs coo cpi
    cro cso cto cv d&a dcf dio dlt dna dpo dps dso ebit ebita ebitda ebt ec ecg ema eps esg esop eu eur ev fcf fda fx
    gaap gbp gcp gdp glp gm gmp gpu gross hr hq ib ich id ifrs ind ip ipo ir irb irr it itt iv kpi led lifo fifo ltm m&a
    md&a mtd na nav nci nda noael nol npv oci ok opex p&l p/e pe pd pdf pk pp&e ppe pro ptc q&a qa qc r&d roa roce roe
    roi roic rna rsu rsus ry sae saes sd sec sem sg&a sga sku sla sop spa tsr ttm tv uk un us usa usd vat vp wacc
    yoy ytd
""")
# Where a company or a person stands: the revenue of X, did X, at X, X against Y.
_BEFORE_OWNER = word_set(
    "of at by for from with did does do has had is was were about to than versus vs between compare and or"
)
_COMPARES = re.compile(r"\b(?:compar\w*|versus|vs|between|both|differ\w*|than)\b", re.IGNORECASE)
_DETERMINERS = word_set("the a an this that these those its our their each every any which what")


def compares(question: str) -> bool:
    """Whether ``question`` holds two or more against each other."""
    return _COMPARES.search(question) is not None


def called(question: str, terms: Sequence[Term] = ()) -> list[Name]:
    """The names in ``question``, in its order, identifiers last."""
    found: list[Name] = []
    for name in (*_runs(question), *(Name(identifier) for identifier in _IDENTIFIER.findall(question))):
        words = [word for word in tokens(name.text) if word not in _NO_NAMES and not is_period(word)]
        if words and all(name.text != other.text for other in found):
            found.append(name)
    return named(found, terms)


def _runs(question: str) -> list[Name]:
    """Words in a row that are written like names."""
    words = list(_WORD.finditer(question))
    language = language_of(question)
    shouted = sum(match.group().isupper() for match in words) > len(words) / 2
    # German writes every noun with a capital.
    plain = language != "German"
    shapes = [_shape(question, words, place, plain=plain, shouted=shouted) for place in range(len(words))]
    found: list[Name] = []
    place = 0
    while place < len(words):
        if not shapes[place]:
            place += 1
            continue
        end = place + 1
        while end < len(words) and not _OWNS.search(words[end - 1].group()):
            of = 1 if words[end].group() == "of" and shapes[place] == "title" else 0
            if end + of >= len(words) or not shapes[end + of]:
                break
            gap = question[words[end - 1].end() : words[end + of].start()]
            if gap.replace("of", "").strip(" &") or (of and shapes[end + of] != "title"):
                break
            end += of + 1
        name = _name(question, words, place, end, shapes[place])
        # Capitals alone are as often short for what is asked of someone: "cash conversion cycle (CCC)".
        if shapes[place] != "capitals" or (name.owner and f"({name.text})" not in question):
            found.append(name)
        place = end
    return found


def _shape(question: str, words: Sequence[re.Match[str]], place: int, *, plain: bool, shouted: bool) -> str:
    """How the word is written like a name: title, capitals, digits, mixed; "" where it is not."""
    word = words[place].group()
    bare = _OWNS.sub("", word)
    low = bare.lower()
    if low in _NO_NAMES or is_period(bare):
        return ""
    starts = place == 0 or question[: words[place].start()].rstrip().endswith((".", "?", "!", ":", "“", '"', "•"))
    if _MIXED.match(bare):
        return "mixed"
    if _DIGITS.match(bare):
        before = question[: words[place].start()].rstrip()
        amount = before.endswith(("$", "€", "£", "¥")) or (place > 0 and words[place - 1].group() in _AMOUNT_BEFORE)
        return "" if amount else "digits"
    if _CAPITALS.match(bare):
        return "" if shouted or low in _NO_OWNERS or low.rstrip("s") in _NO_OWNERS else "capitals"
    if not plain or not _TITLE.match(bare) or _IDENTIFIER.fullmatch(bare):
        return ""
    if starts and (place == 0 or not question[: words[place].start()].rstrip().endswith(("“", '"'))):
        return "title" if _opens_with_name(words, place) else ""
    return "title"


def _opens_with_name(words: Sequence[re.Match[str]], place: int) -> bool:
    """Whether a first word is a name: it owns something, or another name goes on from it."""
    word = words[place].group()
    low = _OWNS.sub("", word).lower()
    if any(low in own for own in OTHER_FUNCTION_WORDS.values()) or low in OPENING_VERBS or word.lower() == "let's":
        return False
    if _OWNS.search(word):
        return True
    following = words[place + 1].group() if place + 1 < len(words) else ""
    return bool(_TITLE.match(following)) and following.lower() not in _NO_NAMES and not is_period(following)


def _name(question: str, words: Sequence[re.Match[str]], first: int, end: int, shape: str) -> Name:
    text = _OWNS.sub("", question[words[first].start() : words[end - 1].end()])
    before = words[first - 1].group().lower() if first else ""
    owns = bool(_OWNS.search(words[end - 1].group()))
    owner = owns or before in _BEFORE_OWNER or (first == 0 and shape != "title")
    single = shape == "title" and end - first == 1
    if single and before in _DETERMINERS:
        owner = False
    # A first word has its capital anyway, and "of Goodwill" is no one's name.
    common = owner and single and first > 0 and (owns or before == "at") and text.isalpha() and text[1:].islower()
    return Name(text, owner=owner, common=common)
