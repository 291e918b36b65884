"""Every claim of an answer held against the words it cites.

What is looked at, each with a reason in plain words: numbers (with unit, scale, sign and rounding), years, codes and
names, negation and direction, and how many of the claim's content words stand in the evidence. Evidence is the quote,
what labels it (row and column headers) and, for names and scale only, the title, section and table around it.

Everything here is arithmetic on words: no model is needed. Where one is handed in, it may only lift a verdict that
rests on missing words (a paraphrase), never one that rests on a wrong number, year, code or negation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragcore.answer.claims import Statement, split_statements
from ragcore.answer.evidence import Evidence, gather
from ragcore.answer.numbers import WORDS, Number, agree, codes, numbers, years
from ragcore.answer.polarity import DOWN, UP, polarity_conflicts
from ragcore.config import VerifySettings
from ragcore.protocols import Reranker
from ragcore.types import Citation, Claim, ClaimStatus, Document, Mark
from ragcore.words import content_stems, cover, stem, tokens, word_set

_ORDER: tuple[ClaimStatus, ...] = ("supported", "weak", "unsupported")
_HEDGES = re.compile(
    r"\b(?:about|approximately|around|nearly|almost|roughly|over|more than|less than|under|some|close to)\b|~|≈", re.I
)
_LOSS = re.compile(r"\b(?:loss|losses|used|outflow|negative|deficit|declin|decreas|down|fell|lower|expense|cost|paid|"
                   r"payment|repurchase|purchase|spent|reduc|dividend|capital)", re.IGNORECASE)  # fmt: skip
_GAIN = re.compile(r"\b(?:income|profit|earnings|gain|growth|margin|increase)", re.IGNORECASE)
_DERIVED = re.compile(
    r"\b(?:difference|total|totals|sum|combined|together|increase[ds]?|decrease[ds]?|grew|rose|fell|declined?|change[ds]?|"
    r"growth|more than|less than|higher|lower|ratio|margin|percent|share|average|net|by)\b|%",
    re.IGNORECASE,
)
# Capitalised words that name nothing in particular.
_NOT_NAMES = word_set("""
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday fiscal year company item note table section page q1 q2 q3 q4 fy the a an yes no form
    source sources
""")
# Words about figures and time that a claim may use freely: what they say is checked as numbers and years.
_NOT_COUNTED = word_set("""
    thousand thousands million millions billion billions trillion percent percentage dollar dollars year years fiscal
    quarter amount amounts figure figures number numbers difference total respectively approximately nearly compared
    versus
""")
_CAPITALISED = re.compile(r"(?<![\w'’])[A-Z][\w&.-]*[\w]")
GENERATED = "It rests on an AI description of a figure: see whether the figure shows it."
# Relevance above which the cross-encoder's word counts for a paraphrase.
_RELEVANT = 0.5


@dataclass(frozen=True, slots=True)
class Finding:
    status: ClaimStatus
    reason: str


def verify(
    text: str,
    marks: Sequence[Mark],
    citations: Sequence[Citation],
    document: Callable[[str], Document],
    settings: VerifySettings,
    *,
    reranker: Reranker | None = None,
) -> tuple[Claim, ...]:
    """A verdict for every claim of ``text`` (Markdown with ``[n]`` at ``marks``), in order.

    The worst finding decides. ``uncited`` stands for a statement with no citation; it is not checked further.
    """
    by_number = {citation.n: citation for citation in citations}
    gathered: dict[tuple[int, ...], Evidence] = {}
    claims = []
    for statement in split_statements(text, marks):
        cited = tuple(n for n in statement.citations if n in by_number)
        if not cited:
            finding = Finding("uncited", "No source is cited for this.")
        else:
            if cited not in gathered:
                gathered[cited] = gather([by_number[n] for n in cited], document)
            finding = judge(statement, gathered[cited], settings, reranker)
            if any(by_number[n].generated for n in cited):
                finding = Finding(finding.status, f"{finding.reason} {GENERATED}".strip())
        claims.append(
            Claim(statement.text, statement.start, statement.end, statement.citations, finding.status, finding.reason)
        )
    return tuple(claims)


def judge(
    statement: Statement, evidence: Evidence, settings: VerifySettings, reranker: Reranker | None = None
) -> Finding:
    """The verdict on one cited statement."""
    findings = [
        *_check_numbers(statement, evidence),
        *_check_years(statement, evidence),
        *_check_codes(statement, evidence),
        *_check_names(statement, evidence),
        *(Finding("unsupported", reason) for reason in polarity_conflicts(statement.text, evidence.words)),
    ]
    words = _check_words(statement, evidence, settings)
    if words.status != "supported" and reranker is not None:
        relevance = float(reranker.score(statement.text, [evidence.words[:2000]])[0])
        if relevance >= _RELEVANT:
            words = Finding("supported", "It says what the cited words say in other words.")
    bad = sorted((f for f in [*findings, words] if f.status != "supported"), key=lambda f: -_ORDER.index(f.status))
    if bad:
        reasons = dict.fromkeys(finding.reason for finding in bad if finding.status == bad[0].status)
        return Finding(bad[0].status, " ".join(reasons))
    return Finding("supported", " ".join(dict.fromkeys(f.reason for f in [*findings, words] if f.reason)))


def _check_numbers(statement: Statement, evidence: Evidence) -> list[Finding]:
    claimed = numbers(statement.text)
    out: list[Finding] = []
    found = 0
    for number in claimed:
        hedged = _HEDGES.search(statement.text[max(0, number.start - 25) : number.start + 2]) is not None
        matches = [given for given in evidence.numbers if agree(number, given, evidence.scale, hedged=hedged)]
        if not matches:
            # A count or reference ("three segments", "Note 12") may be given by title or section.
            if _stands_in(number.raw, f"{evidence.words}\n{evidence.around}"):
                found += 1
                continue
            if number.raw.lower() in WORDS and not _counted_otherwise(number, statement.text, evidence):
                continue
            derived = _derive(number, evidence) if _DERIVED.search(statement.text) else ""
            if derived:
                out.append(Finding("supported", f"{number.raw} follows from the cited figures: {derived}."))
            else:
                out.append(Finding("unsupported", f"{number.raw} is not in the cited words."))
            continue
        found += 1
        signs = {given.value < 0 for given in matches}
        if number.value < 0 and signs == {False} and not _LOSS.search(evidence.words):
            out.append(Finding("unsupported", f"{number.raw} is negative here and positive in the cited words."))
        if number.value > 0 and signs == {True} and _GAIN.search(statement.text) and not _LOSS.search(statement.text):
            out.append(Finding("unsupported", f"{number.raw} is positive here and negative in the cited words."))
        bare = all(given.scale == 1.0 for given in matches) and evidence.scale is None
        if number.scale >= 1e3 and bare and not any(abs(g.amount) == abs(number.amount) for g in matches):
            out.append(Finding("weak", f"The cited words give {matches[0].raw} without a scale."))
    if found:
        out.append(Finding("supported", f"{'Its number is' if found == 1 else 'Its numbers are'} in the cited words."))
    return out


def _stands_in(raw: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(raw)}(?![\w]|[.,]\d)", text, re.IGNORECASE) is not None


def _counted_otherwise(number: Number, text: str, evidence: Evidence) -> bool:
    """Whether the evidence counts the same things ("three segments") as a number in words does, and differently."""
    counted = tokens(text[number.start + len(number.raw) :])[:1]
    for given in evidence.numbers:
        after = tokens(evidence.words[given.start + len(given.raw) :])[:1]
        if counted and after and stem(counted[0]) == stem(after[0]):
            return True
    return False


def _derive(number: Number, evidence: Evidence) -> str:
    """How ``number`` follows from two cited figures as their difference, sum, change in per cent or share, or ""."""
    given = list({abs(n.amount): n for n in evidence.numbers}.values())[:24]
    factor = evidence.scale or 1.0
    slack = 0.5 * 10.0**-number.decimals * number.scale * 1.0001
    target = abs(number.amount)
    if target == 0.0:
        return ""

    def near(value: float) -> bool:
        return abs(abs(value) - target) <= slack

    for i, a in enumerate(given):
        for b in given[i + 1 :]:
            if a.percent != b.percent:
                continue
            x, y = a.amount, b.amount
            if number.percent and not a.percent:
                for first, second in ((a, b), (b, a)):
                    base, other = second.amount, first.amount
                    if base and near((other - base) / abs(base) * 100):
                        return f"({first.raw} − {second.raw}) / {second.raw}"
                    if base and abs(other) < abs(base) and near(other / base * 100):
                        return f"{first.raw} / {second.raw}"
                continue
            for scale in {1.0, factor if a.scale == 1.0 and not a.percent else 1.0}:
                if near((x - y) * scale):
                    return f"{a.raw} − {b.raw}" if x >= y else f"{b.raw} − {a.raw}"
                if near((x + y) * scale):
                    return f"{a.raw} + {b.raw}"
    return ""


def _check_years(statement: Statement, evidence: Evidence) -> list[Finding]:
    claimed = years(f"{statement.text} {statement.context}")
    if not claimed:
        return []
    given = years(evidence.words)
    out = []
    for year in sorted(claimed - given):
        if year in years(evidence.around) and not given:
            continue
        if given:
            listed = ", ".join(str(other) for other in sorted(given))
            out.append(Finding("unsupported", f"It says {year}; the cited words say {listed}."))
        elif year not in years(evidence.near):
            out.append(Finding("weak", f"The year {year} is not in the cited words."))
    if not out and len(claimed) == 1 and evidence.cells:
        out.extend(_check_columns(statement, evidence, next(iter(claimed))))
    return out


def _check_columns(statement: Statement, evidence: Evidence, year: int) -> list[Finding]:
    """A figure of a cited row must stand in the column of the year that the claim names."""
    for number in numbers(statement.text):
        labels = [
            label
            for text, label in evidence.cells
            if any(agree(number, given, evidence.scale) for given in numbers(text)) and years(label)
        ]
        if labels and not any(year in years(label) for label in labels):
            wrong = ", ".join(str(other) for other in sorted(years(labels[0])))
            return [Finding("unsupported", f"{number.raw} is the figure of {wrong}, not of {year}.")]
    return []


def _check_codes(statement: Statement, evidence: Evidence) -> list[Finding]:
    given = f"{evidence.words}\n{evidence.around}".lower()
    missing = [code for code in codes(statement.text) if code.lower() not in given]
    nearby = [code for code in missing if code.lower() in evidence.near.lower()]
    return [
        Finding("weak", f"{code} is near the cited words, not in them.")
        if code in nearby
        else Finding("unsupported", f"{code} is not in the cited words.")
        for code in missing
    ]


def _check_names(statement: Statement, evidence: Evidence) -> list[Finding]:
    given = set(tokens(f"{evidence.words}\n{evidence.around}\n{evidence.near}"))
    given |= {stem(word) for word in given}
    initials = "".join(word[0] for word in tokens(f"{evidence.words}\n{evidence.around}"))
    missing = []
    for name in _names(statement.text):
        parts = [part for part in tokens(name) if part not in _NOT_NAMES]
        absent = [part for part in parts if part not in given and stem(part) not in given]
        letters = re.sub(r"[^a-z]", "", name.lower())
        if absent and not (name.isupper() and letters and letters in initials):
            missing.append(name)
    return [Finding("weak", f"The name {name} is not in or near the cited words.") for name in missing]


def _names(text: str) -> list[str]:
    """Capitalised words that do not merely begin a sentence or quotation."""
    names = []
    for match in _CAPITALISED.finditer(text):
        before = text[: match.start()].rstrip()
        begins = not before or before[-1] in '.!?:“"(•–—-|;' or before.endswith("’")
        word = match.group()
        follows_capital = re.match(r"\s+[A-Z]", text[match.end() :]) is not None
        if begins and not (follows_capital or word[1:] != word[1:].lower()):
            continue
        if word.lower() not in _NOT_NAMES and not any(c.isdigit() for c in word):
            names.append(word)
    return names


@lru_cache(maxsize=1)
def _checked_otherwise() -> frozenset[str]:
    return _NOT_COUNTED | UP | DOWN | WORDS.keys()


def _check_words(statement: Statement, evidence: Evidence, settings: VerifySettings) -> Finding:
    plain = " ".join(word for word in tokens(statement.text) if word not in _checked_otherwise())
    wanted = [one for one in content_stems(plain) if not any(c.isdigit() for c in one)]
    share = cover(wanted, evidence.stems)
    if share < settings.unsupported_below:
        return Finding("unsupported", f"Only {share:.0%} of its words are in the cited words.")
    if share < settings.weak_below:
        return Finding("weak", f"Only {share:.0%} of its words are in the cited words.")
    return Finding("supported", f"{share:.0%} of its words are in the cited words." if wanted else "")
