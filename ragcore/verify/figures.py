"""Number checks: the numbers of a claim compared with those of its citations.

Each must be there up to its displayed rounding, in its scale, currency, unit and sign, and describe the same thing; or
it must follow from cited figures, which are then named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from ragcore.text import lexicon as lex
from ragcore.text.clauses import clause_spans
from ragcore.text.numbers import SCALE_NAMES, Multiple, Number, agree, multiples, numbers, ranged
from ragcore.text.periods import years
from ragcore.text.units import unit_after
from ragcore.text.words import BRACKETED, STOP_WORDS, stem, tokens
from ragcore.verify.attribution import misplaced, named_by, terms, with_synonyms
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import Evidence, Figure, Finding, Meaning, Sense, parts

_QUOTED = re.compile(r"“[^”]*”")
_ENUMERATOR = re.compile(r"\(\d{1,2}\)")
_BESIDE = 3  # words from a direction to its figure
# Maximum operands tried, and maximum of a sum.
_MOST, _MOST_IN_SUM = 24, 12
_FEW = 4  # figures that a factor may be the ratio of, and cells that others may follow from, whichever they are
_NAMED = 0.5  # least share of the name of a row or column
_SUBJECT = 0.7  # least share of the words before a percentage
_CHANGES = frozenset(map(stem, lex.CHANGES))
_SIGNS = {
    True: "positive here and negative in the cited words",
    False: "negative here and positive in the cited words",
}


def check_numbers(statement: Statement, evidence: Evidence) -> list[Finding]:
    """Findings on the numbers of ``statement``."""
    text = statement.text
    listed = "(1)" in text and "(2)" in text  # "(1) a plan and (2) a budget"
    factors = multiples(text)
    apart = {place for one in factors for place in range(one.start, one.start + len(one.raw))}
    claimed = [
        number
        for number in numbers(text)
        if not (number.start in apart or (listed and _ENUMERATOR.fullmatch(number.raw)))
    ]
    matched = {number.start: _matches(number, text, evidence) for number in claimed}
    valued = [n for n in claimed if any(figure.valued for figure in matched[n.start])]
    part_of = {number.start: part for number, part in zip(valued, parts(text, valued))}
    own_part: dict[int, str] = {}
    for kind in {number.kind for number in valued}:
        same = [number for number in valued if number.kind == kind]
        own_part |= {number.start: part for number, part in zip(same, parts(text, same))}
    context = f"{text} {statement.context}"
    out: list[Finding] = []
    found = 0
    for number in claimed:
        matches = matched[number.start]
        if not matches:
            finding = _unmatched(number, statement, evidence)
            if finding is None:
                found += 1
            elif finding.reason:
                out.append(finding)
            continue
        found += 1
        out.extend(_check_sign(number, claimed, statement, matches))
        out.extend(_check_scale(number, statement, matches))
        moves = {_moved(own_part.get(number.start, ""), number.raw) * _moved(f.part, f.number.raw) for f in matches}
        if moves == {-1}:
            out.append(Finding("unsupported", f"{number.raw} went the other way in the cited words.", (number.raw,)))
        if number.start in part_of:
            places = (f"{part_of[number.start]} {statement.context}", own_part[number.start])
            reason = misplaced(number, places, context, matches, evidence)
            if reason:
                out.append(Finding("unsupported", reason, (number.raw,)))
    own = [figure for figures in matched.values() for figure in figures]
    out += [_check_multiple(one, own, text, evidence) for one in factors]
    if found:
        out.append(Finding("supported", f"{'Its number is' if found == 1 else 'Its numbers are'} in the cited words."))
    return out


def _matches(number: Number, text: str, evidence: Evidence) -> list[Figure]:
    """Figures of the evidence that ``number`` agrees with; those of cells and sentences take precedence."""
    ahead = tokens(text[: number.start])[-3:]
    hedged = not lex.ABOUT.isdisjoint(ahead) or "~" in text[max(0, number.start - 2) : number.start + 1]
    out = []
    for figure in evidence.figures:
        given = figure.number
        if number.currency and figure.currency and number.currency != figure.currency:
            continue
        scale = SCALE_NAMES.get(number.scale, "")
        bare = figure.cell is not None and not figure.cell.in_units and scale in evidence.near.lower()
        if agree(number, given, figure.scale, hedged=hedged, bare=bare) and not _is_other_of_two(
            number, figure, evidence
        ):
            out.append(figure)
    return out


def _is_other_of_two(number: Number, figure: Figure, evidence: Evidence) -> bool:
    """Whether ``figure`` is the count beside a share, or the share beside a count ("26 (35%)"), and ``number`` is of
    the other kind."""
    if number.percent == figure.number.percent or not figure.valued:
        return False
    within = evidence.within(figure)
    for count, share in pairwise(numbers(within)):
        between = within[count.start + len(count.raw) : share.start + 1].strip()
        beside = between == "(" and share.percent and not count.percent
        if beside and figure.number.start in (count.start, share.start):
            return True
    return False


def _unmatched(number: Number, statement: Statement, evidence: Evidence) -> Finding | None:
    """Finding for a number without a matching figure; None if it is in the surrounding words."""
    text = statement.text
    same = [figure for figure in evidence.figures if abs(figure.number.value) == abs(number.value)]
    # A count or reference ("three segments", "Note 12") may come from the title or section.
    around = [given for given in numbers(evidence.around) if given.kind == number.kind]
    if any(agree(number, given, None, bare=False) for given in around):
        return None
    measured = bool(number.kind) and any(figure.number.kind == number.kind for figure in evidence.figures)
    if "%" in text or not lex.DERIVED.isdisjoint(tokens(text)):
        sign = lex.direction(text)
        against = ""
        for derived in derive(number, evidence, text):
            if derived.change and number.percent and lex.CHANGES.isdisjoint(tokens(text)):
                continue  # "16% of sales" is no change
            if not (derived.change and sign) or (derived.change > 0) == (sign > 0):
                return Finding("supported", f"{number.raw} follows from the cited figures: {derived.words}.")
            against = against or derived.words
        if against:
            said = "an increase" if sign > 0 else "a decrease"
            return Finding("unsupported", f"It says {said}; {against} is the opposite.", (number.raw,))
    if number.counts and not measured and not (same and number.unit):
        return Finding("supported", "")
    shown = _as_given(same[0]) if same else number.raw
    if shown != number.raw:
        unit = unit_after(text, number.start + len(number.raw))
        mine = f"{number.raw} {unit.name}" if unit else number.raw
        reason = f"It says {mine}; the cited words say {shown}."
        # "2 g a day" may be "2 g/day", and "61.4" a figure of a column with a unit.
        alike = number.kind and number.kind == same[0].number.kind
        return Finding("unsupported", reason, (number.raw,), contrast=(mine, shown) if alike else ("", ""))
    near = () if evidence.cells else numbers(evidence.near)
    if any(given.kind == number.kind and agree(number, given, None, bare=False) for given in near):
        return Finding("weak", f"{number.raw} is near the cited words, not in them.", (number.raw,))
    return Finding("unsupported", f"{number.raw} is not in the cited words.", (number.raw,))


def _as_given(figure: Figure) -> str:
    unit = figure.number.unit.name if figure.number.unit else ""
    currency = figure.currency if figure.currency and not figure.number.currency else ""
    scale = SCALE_NAMES.get(figure.scale or 1.0, "")
    return " ".join(word for word in (currency, figure.number.bare, scale, unit) if word)


def _moved(part: str, figure: str) -> int:
    """1 if something went up by or to ``figure`` in its ``part`` of a sentence, -1 if down, 0 if neither or both."""
    return lex.direction(part.partition(figure)[0])


def _check_sign(
    number: Number, claimed: Sequence[Number], statement: Statement, matches: list[Figure]
) -> list[Finding]:
    """Findings if no figure that ``number`` agrees with has its sign."""
    text = statement.text
    if _QUOTED.search(text):
        return []
    before = max((n.start + len(n.raw) for n in claimed if n.start < number.start), default=0)
    reasons = [_against(number, f"{statement.context} {text}", text[before : number.start], one) for one in matches]
    return [] if not all(reasons) else [Finding("unsupported", f"{number.raw} is {reasons[0]}.", (number.raw,))]


def _against(number: Number, text: str, own: str, figure: Figure) -> str:
    """Reason why ``number``, after its ``own`` words of the claim ``text``, lacks the sign of ``figure``, or ""."""
    negative = figure.number.value < 0
    sense = figure.cell.sense if figure.cell is not None else Sense("", "", frozenset())
    for name in (figure.cell.named.group, figure.cell.named.head) if figure.cell is not None else ():
        if "(" in name:  # "Income (loss): 5" names the row, and says of neither
            own, text = (one.lower().replace(name.lower(), " ") for one in (own, text))
    given = sense.bracketed if negative else sense.plain
    said, out = told(text, own, sense.words)
    if number.value < 0:
        aside = number.raw.startswith("(") and (figure.cell is None or _is_aside(number.raw, own))  # "Mandado (27)"
        fits = negative or aside or given in ("loss", "deduction")
    elif not negative:
        fits = {said, given} != {"gain", "loss"}
    elif sense.words:
        fits = said == "loss" or (out and given != "gain")
    elif sense.plain == "loss":
        fits = said != "gain"
    else:
        fits = given == "deduction" or said == "loss" or out
    return "" if fits else _SIGNS[negative]


def _is_aside(raw: str, own: str) -> bool:
    """Whether a share in brackets goes with what stands before it ("25 patients (27.2%)") and is not itself given."""
    after = tokens(own)[-1:]
    return raw.endswith("%)") and bool(own) and not own.rstrip().endswith(":") and STOP_WORDS.isdisjoint(after)


def _check_scale(number: Number, statement: Statement, matches: list[Figure]) -> list[Finding]:
    """Findings on a table's scale that the claim and its context omit, or that the context contradicts."""
    text = f"{statement.context} {statement.text}"
    stated = {figure.scale or 1.0 for figure in matches if figure.cell is not None and figure.number.scale == 1.0}
    scale = stated.pop() if len(stated) == 1 and all(figure.cell is not None for figure in matches) else 1.0
    copied = number.scale == 1.0 and any(abs(figure.number.value) == abs(number.value) for figure in matches)
    named = SCALE_NAMES.get(scale, "")
    if not (copied and named) or named in text.lower() or "“" in text:
        return []
    given = f"The cited table gives {number.raw} in {named}s"
    words = tokens(statement.context)
    other = next((f"{one}s" for one in SCALE_NAMES.values() if f"{one}s" in words), "")
    if other:
        return [Finding("unsupported", f"{given}, not in {other}.", (number.raw,))]
    return [Finding("weak", f"{given}.", (number.raw,))] if number.currency else []


def _check_multiple(multiple: Multiple, own: Sequence[Figure], text: str, evidence: Evidence) -> Finding:
    """Finding on "more than twice" in the claim ``text``: it must be in the evidence, or be the ratio of one of the
    claim's ``own`` figures, or of a few without one, to another that belongs to it."""
    if any(one.least <= multiple.most and multiple.least <= one.most for one in multiples(evidence.words)):
        return Finding("supported", "")
    valued = [figure for figure in evidence.figures if figure.valued]
    few = valued if len(valued) <= _FEW else []  # of many, some two have any ratio
    beside = _beside(text, evidence)
    pairs = (
        (abs(a.number.amount / b.number.amount), a, b)
        for a in [figure for figure in own if figure.valued] or few
        for b in valued
        if a.scale == b.scale and a.number.amount * b.number.amount and beside(a, b)
    )
    for ratio, a, b in pairs:
        if multiple.least <= max(ratio, 1 / ratio) <= multiple.most:
            shown = f"{a.number.raw} / {b.number.raw}" if ratio > 1 else f"{b.number.raw} / {a.number.raw}"
            return Finding("supported", f"{multiple.raw} follows from the cited figures: {shown}.")
    return Finding("weak", f"The cited words don’t say “{multiple.raw}”, nor do their figures.", (multiple.raw,))


# The sign that the claim gives a figure


def told(text: str, own: str, named: frozenset[str]) -> tuple[Meaning, bool]:
    """Meaning of a figure in the claim ``text`` by the last noun of its ``own`` words, else by the first of the text,
    which is its subject; and whether it went down or out ("decreased by", "paid"). ``named`` are more nouns of a
    loss."""
    words = tokens(own)
    out = not lex.GIVEN_OUT.isdisjoint(words) or not lex.DOWN.isdisjoint(words[-_BESIDE:])
    nouns = _nouns(words, named)[-1:] or _nouns(tokens(text), named)
    return (nouns[0] if nouns else ""), out


def _nouns(words: Sequence[str], named: frozenset[str]) -> list[Meaning]:
    """Meanings of the nouns among ``words`` that do not narrow another noun ("income taxes", "before income")."""
    narrow = ("tax", "taxes", "statement", "statements")
    around = zip(["", *words], words, [*words[1:], ""])
    free = [word for before, word, after in around if after not in narrow and before != "before"]
    return ["gain" if word in lex.GAIN - named else "loss" for word in free if word in lex.GAIN | lex.LOSS | named]


# Figures that follow from cited ones


@dataclass(frozen=True, slots=True)
class Derivation:
    """Derived figure; ``words`` show the operands. ``change`` is positive for a rise, negative for a fall, and 0.0 if
    it is neither (a sum, a share) or unknown."""

    words: str
    change: float = 0.0


def derive(number: Number, evidence: Evidence, text: str) -> Iterator[Derivation]:
    """Derivations of ``number`` of the claim ``text`` from cited figures that belong together, the most informative
    first. A percentage follows from none if the evidence has another one for its measure."""
    target, said = abs(number.amount), frozenset(tokens(text))
    if target == 0.0:
        return
    slack = 0.5 * 10.0**-number.decimals * number.scale * 1.0001
    given = _operands(evidence, number)
    beside = _beside(text, evidence)
    changed = not lex.CHANGES.isdisjoint(said)

    def near(value: float) -> bool:
        return abs(abs(value) - target) <= slack

    if lex.SUM & said and not number.percent:
        yield from _sum(given, number, near)
    if number.percent and _is_measured(number, evidence, text, changed=changed):
        return
    for a, b in combinations(given, 2):
        if a.number.percent and not number.percent:
            continue
        if number.percent and not a.number.percent:
            yield from (
                one for one in _relative(a, b, near) if beside(a, b) and (one.change or _is_part(a, b, evidence))
            )
            continue
        x, y = a.number.amount, b.number.amount
        for scale in _scales(a, b, number) if changed else ():
            if near((x - y) * scale) and beside(a, b):
                first, second = (a, b) if x >= y else (b, a)
                yield Derivation(f"{first.number.raw} − {second.number.raw}", _change(a, b))


def _operands(evidence: Evidence, number: Number) -> list[Figure]:
    """Figures of cells and sentences, each amount of a row and column once; labels only if there are no others."""
    valued = [figure for figure in evidence.figures if figure.valued]
    out: dict[tuple[float, str], Figure] = {}
    for figure in valued or evidence.figures:
        if not (number.currency and figure.number.percent):
            out.setdefault((figure.number.amount, figure.cell.label if figure.cell else ""), figure)
    return list(out.values())[:_MOST]


def _alike(a: Figure, b: Figure) -> bool:
    """Whether two figures are of one kind and unit; of two cells, one may lack the currency."""
    money = {a.currency, b.currency} - ({""} if a.cell and b.cell else set())
    return len(money) < 2 and (a.number.percent, a.number.unit) == (b.number.percent, b.number.unit)


def _beside(text: str, evidence: Evidence) -> Callable[[Figure, Figure], bool]:
    """Whether two figures that are alike belong together: cells of one row or column, of which the claim ``text`` names
    one; figures that it has; or neighbours of their kind in a sentence that speaks of the same. Ends of ranges do
    not."""
    claimed, said = numbers(text), with_synonyms(set(terms(text)))
    few = len({id(figure.cell) for figure in evidence.figures if figure.cell}) <= _FEW

    def named(figure: Figure) -> bool:
        cell = figure.cell
        return cell is not None and (few or max(named_by(cell.named.head, said), named_by(cell.column, said)) >= _NAMED)

    def together(a: Figure, b: Figure) -> bool:
        in_range = any(one.valued and ranged(one.number, evidence.within(one)) for one in (a, b))
        if a is b or in_range or not _alike(a, b):
            return False
        if a.cell is not None and b.cell is not None:
            line = a.cell.named == b.cell.named or a.cell.column == b.cell.column != ""
            return line and a.cell.grid == b.cell.grid and (named(a) or named(b))
        if all(any(agree(one, figure.number, figure.scale) for one in claimed) for figure in (a, b)):
            return True
        if not a.sentence == b.sentence >= 0:
            return False
        kin = [one.number.start for one in evidence.figures if one.sentence == a.sentence and _alike(one, a)]
        near = abs(kin.index(a.number.start) - kin.index(b.number.start)) == 1
        return near and any(said & terms(_clause(figure, evidence)) for figure in (a, b))

    return together


def _clause(figure: Figure, evidence: Evidence) -> str:
    """Words before a figure of prose in its clause, else all of the clause."""
    sentence, at = evidence.sentences[figure.sentence], figure.number.start
    start, end = next((span for span in clause_spans(sentence) if span[0] <= at < span[1]), (0, len(sentence)))
    ahead = sentence[start:at]
    return ahead if any(one.isalpha() for one in terms(ahead)) else sentence[start:end]


def _is_part(a: Figure, b: Figure, evidence: Evidence) -> bool:
    """Whether one figure is told as a part of the other ("29 of 45", "29/45"); cells are."""
    if a.cell is not None or b.cell is not None or a.sentence != b.sentence or a.sentence < 0:
        return True
    first, second = sorted((a.number, b.number), key=lambda number: number.start)
    between = evidence.sentences[a.sentence][first.start + len(first.raw) : second.start]
    words = tokens(BRACKETED.sub(" ", between))
    return between.strip() == "/" or (len(words) <= _BESIDE and "of" in words)


def _is_measured(number: Number, evidence: Evidence, text: str, *, changed: bool) -> bool:
    """Whether the evidence has another percentage for what ``number`` of the claim ``text`` measures: a change, or what
    something is."""
    said, named = with_synonyms(set(terms(text))), years(text)
    for figure in evidence.figures:
        if not (figure.valued and figure.number.percent):
            continue
        label = figure.cell.label if figure.cell else _clause(figure, evidence)
        given = years(label)
        if lex.CHANGES.isdisjoint(tokens(label)) == changed or (named and given and named.isdisjoint(given)):
            continue
        head, column = (figure.cell.named.head, figure.cell.column) if figure.cell else (label, "")
        subject, over = (frozenset(filter(str.isalpha, terms(one))) - _CHANGES for one in (head, column))
        own = len(subject & said) >= _SUBJECT * len(subject) > 0 and (not over or said & over)
        if own and not agree(figure.number, number, None):
            return True
    return False


def _scales(a: Figure, b: Figure, number: Number) -> set[float]:
    if number.currency and (number.currency != a.currency != "" or number.currency != b.currency != ""):
        return set()
    stated = a.scale if a.number.scale == 1.0 and not a.number.percent and a.scale == b.scale else None
    if stated is None:
        return {1.0}
    return {stated} if number.scale != 1.0 else {1.0, stated}


def _sum(given: Sequence[Figure], number: Number, near: Callable[[float], bool]) -> Iterator[Derivation]:
    # "14 (13.3)": a number and its share.
    summands = [f for f in given if not ("(" in f.number.raw and f.number.value > 0)][:_MOST_IN_SUM]
    columns: dict[str, list[Figure]] = {}
    for figure in summands:
        columns.setdefault(figure.cell.column if figure.cell else "", []).append(figure)
    for figures in (summands, *columns.values()):
        if len(figures) < 2 or not all(_alike(figures[0], figure) for figure in figures):
            continue
        for scale in set.intersection(*(_scales(figures[0], figure, number) for figure in figures)):
            if near(sum(figure.number.amount for figure in figures) * scale):
                yield Derivation(" + ".join(figure.number.raw for figure in figures))


def _relative(a: Figure, b: Figure, near: Callable[[float], bool]) -> Iterator[Derivation]:
    """A change in per cent, relative to the earlier figure if known, or a share."""
    for first, second in ((a, b), (b, a)):
        base, other = second.number.amount, first.number.amount
        shown = f"{first.number.raw} / {second.number.raw}"
        if base and near((other - base) / abs(base) * 100):
            change = _change(first, second)
            if not change or (change > 0) == (abs(other) > abs(base)):
                shown = f"({first.number.raw} − {second.number.raw}) / {second.number.raw}"
                yield Derivation(shown, change or other - base)
        if base and abs(other) < abs(base) and near(other / base * 100):
            yield Derivation(shown)


def _change(a: Figure, b: Figure) -> float:
    """Change from the earlier to the later of two figures, without their signs; 0.0 if the order is unknown."""
    first, second = _year_of(a), _year_of(b)
    if not first or not second or first == second:
        return 0.0
    later, earlier = (a, b) if first > second else (b, a)
    return abs(later.number.amount) - abs(earlier.number.amount)


def _year_of(figure: Figure) -> int:
    """The one year in a cell's headers, or in the figure's part of a sentence; 0 without one."""
    found = years(figure.cell.column) if figure.cell else years(figure.part)
    return found.pop() if len(found) == 1 else 0
