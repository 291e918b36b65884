"""Words of a claim and of labels made comparable: stems, quarters and halves in one form, synonyms of the trade.

What is compared here is what something is called: a row, a column, the thing that a number counts.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib import resources

from ragcore.text.periods import canonical
from ragcore.text.words import STOP_WORDS, stem, tokens, word_set

# A letter that stands alone names something: Class B, Ostrova A. A capital A that begins a sentence is an article.
_LETTER = re.compile(r"(?<![\w'’.&-])(?:[B-HJ-Z]|(?<=[\w)] )A)(?![\w'’.&-]| [a-z]+ (?:is|was|of)\b)")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# Before a name, of which they are no part.
TITLES = word_set("mr mrs ms miss dr prof sir")
UNIMPORTANT = word_set("total net number amount value mean average")

# Words that say the same of business and research, each group on a line. Stems are compared.
_SAME = """
    revenue revenues sales turnover
    profit earnings income
    buy bought purchase purchased acquire acquired acquisition takeover
    sell sold sale divest divested disposal divestiture
    employ employed employee employees staff workforce headcount people personnel worker workers
    cost costs expense expenses expenditure expenditures spend spent spending charge charges
    fee fees price
    begin began begun start started commence commenced
    end ended finish finished expire expires terminate terminates close closed complete completed conclude concluded
    keep kept retain retained hold store stored storage
    lose loses lost loss losses
    get obtain obtained receive received entitled
    favorable favourable positive
    adverse unfavorable unfavourable negative
    effect impact influence
    close closing closed closure shut
    give given grant granted grants administer administered dose dosed
    show shows shown display demonstrate demonstrated indicate indicated
    find found observe observed see seen detect detected
    test tested study studied investigate investigated examine examined evaluate evaluated assess assessed
    trial study experiment
    patient patients subject subjects participant participants individual individuals
    happen happened occur occurred place
    stop stopped discontinue discontinued withdraw withdrew withdrawal withdrawals
    die died death deaths fatal mortality
    say says state states report reported note noted disclose disclosed
    say declare declared announce announced
    pay paid payment payments remit
    need needs require requires required necessary
    let allow allows allowed permit permits permitted authorize authorized
    ban prohibit prohibits prohibited forbid forbidden bar
    agreement contract licence license lease deed
    licence license licensed licensing sublicense
    firm company business enterprise corporation
    rule law regulation statute
    send sent submit submits submitted file files filed filing deliver
    appoint appointed name named designate designated nominate become becomes became
    replace replaced succeed succeeded
    make made produce produces produced manufacture manufactured
    use used utilize utilized
    big large
    main chief principal primary major
    whole entire full
    help helped assist support
    raise raised increase increased lift lifted boost boosted
    lower lowered reduce reduced cut decrease decreased
    rise rose risen grow grew grown growth increase climbed
    fall fell fallen decline declined decrease drop dropped
    shrink shrank decline decreased
    settle settled resolve resolved decide decided
    author authors we researcher researchers investigator investigators
    suppose hypothesize hypothesise assume believe think suggest
    take took taken draw drawn collect collected
    record records recorded log logged measure measured
    last lasted duration
    join enrol enroll enter
    new additional further
    yearly annual annually
    twelve-month yearly
    capital expenditures capex
    owner holder shareholder stockholder
    director board
    car vehicle automobile
    drug medicine medication treatment therapy
    side adverse
    baseline outset
    elevated raised high higher
    chair chairman chairwoman chairperson
"""


@lru_cache(maxsize=1)
def _same() -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for line in _SAME.strip().splitlines():
        stems = {stem(word) for word in line.split()}
        for one in stems:
            groups.setdefault(one, set()).update(stems)
    return {one: frozenset(group) for one, group in groups.items()}


@lru_cache(maxsize=1)
def _trade() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Pairs of terms (as stems) of which the first may be said for the second, from ``ragcore/text/synonyms.toml``."""
    with resources.files("ragcore.text").joinpath("synonyms.toml").open("rb") as file:
        groups = tomllib.load(file).get("same", {})
    pairs: list[tuple[frozenset[str], frozenset[str]]] = []
    for name, others in groups.items():
        terms = [frozenset(_stems(term)) for term in (name, *others)]
        pairs.extend((one, other) for one in terms for other in terms if one and other and one != other)
    return tuple(pairs)


def alike(one: str, other: str) -> bool:
    """Whether two stems are the same or say the same."""
    return one == other or other in _same().get(one, ())


def with_synonyms(stems: set[str]) -> set[str]:
    """``stems`` and the stems that say the same, of single words and of terms of the trade."""
    out = set(stems)
    for one in stems:
        out |= _same().get(one, frozenset())
    for term, other in _trade():
        if term <= stems:
            out |= other
    return out


def _stems(text: str) -> list[str]:
    return [stem(word) for word in tokens(text) if word not in STOP_WORDS]


@lru_cache(maxsize=8192)
def terms(text: str) -> frozenset[str]:
    """What ``text`` speaks of: stems of its content words, its numbers, ``q2`` and ``h1`` for periods, and capitals
    that stand alone."""
    words = canonical(text)
    out = {one for one in _stems(words) if len(one) > 1 or one.isdigit()}
    return frozenset(out | {match.group().lower() for match in _LETTER.finditer(words)})


@lru_cache(maxsize=8192)
def label_terms(label: str) -> frozenset[str]:
    """As `terms`, without what stands in brackets (units, ``n = 104``), unless nothing else does."""
    return terms(_BRACKETS.sub(" ", label)) or terms(label)


def named_by(label: str, said: frozenset[str] | set[str]) -> float:
    """Share of a label's words that are among ``said``, 0–1; words such as total and net count for less."""
    wanted = label_terms(label)
    if not wanted:
        return 0.0
    weights = {one: 0.3 if one in UNIMPORTANT else 1.0 for one in wanted}
    return sum(weight for one, weight in weights.items() if one in said) / sum(weights.values())
