"""Words that cannot both be true of one thing, and what must, may and may not be done.

A claim that has a word whose opposite, and not itself, stands in the evidence says something else ("before" for
"after"). Both texts must be about the same: only what is cited is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragcore.text.words import stem, tokens, word_set
from ragcore.types import ClaimStatus
from ragcore.verify.evidence import Finding

# The two sides of each line, parted by "|", are opposites; the words of a side say the same.
_PAIRS = """
    before prior preceding previous earlier until | after following later subsequent next
    minimum | maximum
    include includes included including | exclude excludes excluded excluding
    permit permits permitted allow allows allowed | prohibit prohibits prohibited forbid forbids forbidden ban banned
    accept accepts accepted approve approves approved grant | reject rejects rejected refuse refused deny denied
    superior | inferior
    profit | loss
    import imports imported | export exports exported
    lend lends lent | borrow borrows borrowed
    lessor landlord | lessee tenant
    buyer purchaser | seller vendor
    licensor | licensee
    assets | liabilities
    debit | credit
    domestic | foreign international overseas
    positive positively favorable favourable | negative negatively unfavorable unfavourable adverse
    internal | external
    male men | female women
    boys | girls
    north northern | south southern
    east eastern | west western
    early earliest | late latest
    first | last
    more | less fewer
    extend extends extended lengthen prolong | shorten shortens shortened curtail
    open opens opened opening reopened | close closes closed closing closure shut
    add adds added | remove removes removed
    indoor | outdoor
    adult adults | child children pediatric paediatric
    faster quicker accelerates | slower slows
    warmer hotter | cooler colder
    larger bigger greater | smaller
    longer | shorter
    stronger firmer | weaker softer
    better | worse
    wider | narrower
    older | younger
    deeper | shallower
    heavier | lighter
    dearer costlier | cheaper
    slow slows slowed slowing | speed speeds sped fast quick accelerate
    high | low
    gain gains gained | lose loses lost loss
    advance | arrears
    primary | secondary
    upper | lower
    inside within | outside
    above over exceeding exceed exceeds exceeded | below under beneath
    exclusive | nonexclusive
    short-term current | long-term noncurrent
    voluntary | mandatory compulsory
    public | private
    acute | chronic
    oral | intravenous
    temporary | permanent
    start starts began begins | end ends ended
    appoint appointed hired joined | dismissed removed resigned
    win won | lost
    pass passed | fail failed
    increase increased | decrease decreased
    agree agreed | disagree disagreed
    hot | cold
    wet | dry
    day daytime | night nighttime
    morning | evening afternoon
    light | dark
    big large | small little
    majority most | minority
    all every always | none never
    both | neither
    either | neither
    full fully entire entirely wholly | partial partially partly
    expected | unexpected
    sparse | dense
    left | right
    new | old
    winter | summer
    spring | autumn
    single | multiple
    parent | subsidiary
    upstream | downstream
    gross | net
    basic | diluted
    exceed exceeded outperformed | trail trailed lag lagged underperformed
"""
_MODES = {
    "forbids": re.compile(
        r"\b(?:may|must|shall|can|should) (?:not|never)\b|\bcannot\b|\bcan['’]t\b|\b(?:forbidden|prohibited|"
        r"prohibits?|forbids?|"
        r"contraindicated|banned|(?:not|never) (?:be )?(?:allowed|permitted))\b|\bn(?:o|"
        r"either)\b[^.;]{1,40}\b(?:may|shall|can)\b", re.I,
    ),
    "exempts": re.compile(
        r"\bneed(?:s)? not\b|\b(?:do|does|did) not (?:have|need|require)\b|\bnot (?:be )?(?:required|obliged|"
        r"needed|necessary)\b|"
        r"\bno need\b|\bexempt|\bwaive", re.I,
    ),
    "requires": re.compile(
        r"\b(?:must|shall|should|ha(?:s|ve) to|(?:is|are) (?:required|obliged) to|requires?|needs? to|(?:is|are) to be|"
        r"mandatory)\b"
        r"(?!\s+(?:not|never)\b)", re.I,
    ),
    "permits": re.compile(
        r"(?<![\w])(?:may|can|could)\b(?!\s+(?:not|never)\b)|\b(?:is|are) (?:allowed|permitted|free)\b|\ballowed "
        r"to\b|\boptional\b"
    ),
}  # fmt: skip
_DENIED = re.compile(r"\b(?:not|no|never|neither|without|cannot)\b|n['’]t\b", re.IGNORECASE)


def _read(lines: str) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Word → (all words of its side, all words of the other side)."""
    out: dict[str, tuple[set[str], set[str]]] = {}
    for line in lines.strip().splitlines():
        one, other = (side.split() for side in line.split("|"))
        for own, opposed in ((one, other), (other, one)):
            for word in own:
                mine, theirs = out.setdefault(word, (set(), set()))
                mine.update(own)
                theirs.update(opposed)
    return {word: (frozenset(mine), frozenset(theirs)) for word, (mine, theirs) in out.items()}


_OPPOSITES = _read(_PAIRS)
_COMPARING = word_set("""
    more less fewer faster slower warmer cooler larger smaller longer shorter stronger weaker better worse wider
    narrower older younger deeper heavier lighter dearer cheaper exceed exceeded trail trailed above below high
    low superior inferior
""")


def check_opposites(claim: str, sentences: Iterable[str], labels: str, *, compared: bool) -> list[Finding]:
    """Where ``claim`` has the opposite of a word of the cited ``sentences`` or ``labels``. ``compared``: words for more
    and less are already accounted for."""
    given_text = f"{' '.join(sentences)} {labels}"
    claimed, given = tokens(claim), set(tokens(given_text))
    if not given:
        return []
    stems = {stem(word) for word in given}
    out = []
    for word in dict.fromkeys(claimed):
        if word not in _OPPOSITES or word in given or stem(word) in stems:
            continue
        if compared and word in _COMPARING:
            continue
        same, opposed = _OPPOSITES[word]
        against = sorted(opposed & given)
        if against and not same & given and not opposed & set(claimed):
            denied = _DENIED.search(claim) is not None or _DENIED.search(given_text) is not None
            status: ClaimStatus = "weak" if denied else "unsupported"
            out.append(Finding(status, f"It says “{word}”; the cited words say “{against[0]}”."))
    return out


def modes(text: str) -> set[str]:
    """What ``text`` does about some act: ``requires``, ``permits``, ``forbids`` or ``exempts`` it, or several."""
    found = set()
    for mode, pattern in _MODES.items():
        if pattern.search(text):
            found.add(mode)
            # "Does not have to" is no "has to".
            text = pattern.sub(" ", text)
    return found


def check_modes(claim: str, sentences: Iterable[str]) -> list[Finding]:
    """May where the evidence says must, and the like. A claim in plain words ("the fee is due") is none of these."""
    said = " ".join(sentences)
    claimed, given = modes(claim), modes(said)
    # What may not be done without consent requires consent.
    if "forbids" in given and re.search(r"\b(?:without|unless|except|until)\b", said):
        given |= {"requires"}
    if len(claimed) != 1 or not given or claimed & given:
        return []
    (mode,) = claimed
    if mode == "exempts" and given == {"permits"}:
        return []
    opposed = {mode, *given} >= {"permits", "forbids"} or {mode, *given} >= {"requires", "forbids"}
    status: ClaimStatus = "unsupported" if opposed or "exempts" in {mode, *given} else "weak"
    return [Finding(status, f"It {mode} what the cited words {_plural(sorted(given))}.")]


def _plural(given: list[str]) -> str:
    return " or ".join(mode.removesuffix("s") for mode in given)
