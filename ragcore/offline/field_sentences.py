"""Report fields from sentences: the figure that a sentence clearly gives for the requested quantity.

"Capital expenditure was $9.7 million" is certain; "capital expenditure should fall to about $7 million" and "deferred
revenue was $1 million" (for revenue) are rejected. A duration is identified by the description of its subject and by
its starting point. Equally good sentences that disagree give no value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

from ragcore.offline.fields import Name, Wish, alike, head_stems, refers, stems, words
from ragcore.offline.intents import answer_type, fit
from ragcore.offline.periods import QUARTER, days_in
from ragcore.offline.quotable import Quotable
from ragcore.offline.values import same_figure
from ragcore.text.names import Word, words_of
from ragcore.text.numbers import Length, lengths, numbers
from ragcore.text.periods import date_spans, years
from ragcore.text.words import content_stems, stem
from ragcore.types.question import AnswerType
from ragcore.types.report import Period

_LONGEST = 400  # characters of a sentence
_APART = 3  # function words allowed inside a name
_KINDS = 3  # words between a count and its noun
_SPEAKS = 0.6  # share of the requested words that a sentence must have, by count and weighted by rarity
_NEARLY = 0.85  # sentences within this fit of the best must give the same duration
_ANCHORED = 0.5  # bonus of a sentence that counts from the requested starting point
_NEAR = 10  # words within which the starting point of a duration follows
_FEW = 3  # words; in a shorter sentence the heading gives the subject


@dataclass(frozen=True, slots=True)
class Said:
    """``figure`` as written in the sentence ``quote``, with the period stated there, zeros if none is."""

    quote: Quotable
    figure: str
    period: Period = (0, 0, 0)


@dataclass(frozen=True)
class _Sentence:
    """Sentence as words with their stems."""

    text: str

    @cached_property
    def words(self) -> list[Word]:
        return words_of(self.text)

    @cached_property
    def stems(self) -> list[str]:
        return [stem(word.plain) for word in self.words]

    def places(self, name: frozenset[str]) -> Iterator[tuple[int, int]]:
        """First and last word of each run with all of ``name`` and no other content word."""
        for first, one in enumerate(self.stems):
            held: set[str] = set()
            for last in range(first, min(len(self.stems), first + len(name) + _APART) if one in name else first):
                if self.stems[last] in name:
                    held.add(self.stems[last])
                elif not self.words[last].skipped:
                    break
                if held == name:
                    yield first, last
                    break

    def first_at(self, start: int) -> int:
        """First word that ends after ``start``."""
        return next((n for n, word in enumerate(self.words) if word.end > start), len(self.words))

    def between(self, first: int, last: int) -> str:
        return self.text[self.words[first].end : self.words[last].start] if 0 <= first < last < len(self.words) else ""

    def opens(self, first: int) -> bool:
        """Whether a clause begins at the word ``first``, or at words before it that leave its meaning unchanged."""
        while (
            first
            and self.words[first - 1].plain in words("sentences", "leads")
            and "," not in self.between(first - 1, first)
        ):
            first -= 1
        before = self.words[first - 1].plain if first else ""
        return (
            not first
            or any(c in ",;:(" for c in self.between(first - 1, first))
            or before in words("sentences", "joins")
        )


def said(asked: Wish, found: Sequence[Quotable], latest: int) -> list[Said]:
    """Sentences of ``found`` that clearly give a figure for the requested years, else for ``latest`` (0: unknown), the
    year after it, or no year."""
    out: list[Said] = []
    for quote in found:
        # A list item: its subject is in the lead-in.
        if quote.row is not None or len(quote.text) > _LONGEST or quote.text[:1].islower():
            continue
        if asked.sort == "date":
            # A statement about another year's report is older than this document.
            out += [one for one in _dates(asked, quote) if not latest or one.period[0] >= latest]
            continue
        for figure, clause in _figures(asked, _Sentence(quote.text)):
            named = years(clause)
            if asked.years:
                fits = named <= asked.years and (bool(named) or latest in asked.years)
            else:
                fits = not named or (len(named) == 1 and max(named) >= latest)
            if fits and not words("sentences", "unsure") & {word.plain for word in words_of(clause)}:
                out.append(Said(quote, figure, (max(named, default=0), 0, 0)))
    return out


def _figures(asked: Wish, sentence: _Sentence) -> Iterator[tuple[str, str]]:
    """Each figure with its clause, without comparisons."""
    for start, end in _spans(asked, sentence.text):
        at, behind = sentence.first_at(start), sentence.first_at(end)
        for name in asked.names:
            for first, last in sentence.places(name.stems):
                if last < at and sentence.opens(first) and _is(sentence, last + 1, at, name.further):
                    yield sentence.text[start:end], _clause(sentence.text, end)
            if asked.sort == "count" and name.further <= {asked.did}:
                counted = [place for place in sentence.places(name.stems) if place[0] >= behind]
                if "employe" in name.stems:
                    people = words("sentences", "people")
                    counted = [(n, n) for n, w in enumerate(sentence.words) if n >= behind and w.plain in people]
                if any(_counts(asked, sentence, (at, behind), *place) for place in counted[:1]):
                    yield sentence.text[start:end], sentence.text[: sentence.words[counted[0][1]].end]


def _spans(asked: Wish, text: str) -> Iterator[tuple[int, int]]:
    """Spans of figures of the wanted kind."""
    if asked.sort == "duration":
        yield from ((one.start, one.end) for one in lengths(text))
        return
    for number in numbers(text):
        start = text.find(number.raw.lstrip("("), number.start)
        end = start + len(number.raw.lstrip("("))
        if number.percent != asked.share or (asked.sort == "count" and (number.currency or number.unit)):
            continue
        rest = text[end:].lstrip(" -")
        if number.unit is not None and rest.startswith(number.unit.name):
            end = len(text) - len(rest) + len(number.unit.name)
        yield start, end


def _is(sentence: _Sentence, first: int, last: int, further: frozenset[str]) -> bool:
    """Whether only "was", a period, a change "to" the figure and all of ``further`` lie between a name and its figure;
    ``first`` and ``last`` are the words after each."""
    between = range(first, last)
    plain = [sentence.words[place].plain for place in between]
    rest = [place for place in between if sentence.stems[place] not in further]
    held = further <= {sentence.stems[place] for place in between}
    changed = bool(words("sentences", "changes") & set(plain)) and "to" not in plain[-3:]
    if not held or changed or words("sentences", "breaks") & set(plain) or ";" in sentence.between(first - 1, last):
        return False
    return all(_says_nothing(sentence, sentence.words[place]) for place in rest)


def _says_nothing(sentence: _Sentence, word: Word) -> bool:
    """Whether a word leaves the meaning of the preceding words unchanged: "was", a period, a growth rate."""
    share = sentence.text[word.end : word.end + 2].strip().startswith(("%", "p"))
    year = word.number and (share or len(word.plain) in (1, 2, 4))
    return year or word.skipped or word.plain in words("sentences", "is") | words("sentences", "changes")


def _clause(text: str, end: int) -> str:
    """Clause of a figure that ends at ``end``, without its comparison."""
    rest = text[end:].partition("(")[0]
    cut = next((word.start for word in words_of(rest) if word.plain in words("sentences", "beside")), len(rest))
    return text[:end] + rest[:cut]


def _counts(asked: Wish, sentence: _Sentence, number: tuple[int, int], first: int, last: int) -> bool:
    """Whether the ``number``, a run of words, counts all of the noun in words ``first`` to ``last``: "we had 40
    employees", "our 40 part-time employees", "40 patients were randomized"; not a part of it, nor another's."""
    at, behind = number
    inside = [word for word in sentence.words[behind:first] if word.plain not in words("sentences", "scales")]
    after = [word.plain for word in sentence.words[last + 1 : last + 4]]
    part = bool(after) and after[0] in words("sentences", "parts") and "," not in sentence.between(last, last + 1)
    whole = part and (bool(words("sentences", "whole") & set(after[1:])) or after[0] == "were")
    of_these = after[:1] == ["of"] and after[1:2] in (["the"], ["these"], ["those"], ["our"])
    if any(word.capital for word in inside) or (part and not whole) or of_these:
        return False
    place = at - 1
    while place >= 0 and sentence.words[place].plain in words("sentences", "about"):
        place -= 1
    if place < 0:
        return after[:1] in (["was"], ["were"]) and after[1:2] != [] and after[1] in words("sentences", "taken")
    before = sentence.words[place].plain
    if before == "our":
        return all(word.plain in words("sentences", "kinds") for word in inside)
    has = sentence.stems[place] == asked.did if asked.did else before in words("sentences", "has")
    quarter = QUARTER.search(sentence.text[: sentence.words[last].end]) and "end" not in sentence.stems
    if not has or quarter or len(inside) > _KINDS:
        return False
    who = [word for word in sentence.words[:place] if word.plain not in ("has", "have", "had")][-1:]
    return any(w.plain in words("sentences", "who") or (w.capital and not w.plain.endswith("s")) for w in who)


def _dates(asked: Wish, quote: Quotable) -> Iterator[Said]:
    """Dates after a name ("the effective date is …") or, in brackets, before it."""
    sentence = _Sentence(quote.text)
    for start, end in date_spans(quote.text.title()):  # also "MAY 27, 2024"
        days = days_in(quote.text[start:end])
        at, behind = sentence.first_at(start), sentence.first_at(end)
        for name in asked.names if days else ():
            for first, last in sentence.places(name.stems):
                bracket = behind <= first < behind + 3 and quote.text[end:].lstrip().startswith("(")
                while last + 1 < at and sentence.words[last + 1].plain in ("date", "day"):
                    last += 1
                if bracket or (
                    last < at and _is(sentence, last + 1, at, frozenset()) and "to" not in sentence.stems[last + 1 : at]
                ):
                    yield Said(quote, quote.text[start:end], days[0])


# Values identified by description


def described(asked: Wish, found: Sequence[Quotable]) -> Said | None:
    """Requested duration, if ``found`` give one; of a date, with its starting point."""
    wanted = _said(asked.piece) - stems("sentences", "lengths")
    if len(wanted) < _FEW and asked.sort == "duration":
        wanted |= _said(asked.heading) - stems("sentences", "lengths")
    asked_from = _counted_from([word for word in asked.piece.split() if word.lower() != "of"], len(asked.piece))
    anchor = frozenset(sorted(_said(" ".join((asked_from or [])[:2])))[:1]) if asked_from else frozenset()
    counts = Counter(word for quote in found for word in _said(_around(quote)))
    weights = {word: log(1 + len(found) / (1 + counts[word])) if counts[word] else log(2) for word in wanted}
    fits: list[tuple[float, Said, bool]] = []
    for quote in found if wanted else ():
        own = [one for one in lengths(quote.text) if quote.row is None and not _past(quote.text, one)]
        of = {one: _counted_from(_until(quote.text[one.end :]).split(), 4) for one in own}
        own = [one for one in own if not anchor or of[one] is None or anchor & _said(" ".join(of[one] or ()))]
        anchored = [one for one in own if anchor and of[one] is not None]
        if not own:
            continue
        first, *others = anchored or own
        held = wanted & _said(_around(quote))
        share = sum(weights[word] for word in held) / sum(weights.values())
        subject = _said(quote.text[: first.start].rpartition(". ")[2]) - stems("sentences", "lengths")
        narrower = asked.sort == "date" and any(len(word) > 1 and word.isalpha() for word in subject - wanted)
        if min(share, len(held) / len(wanted)) >= _SPEAKS and not narrower:
            end = first.end if asked.sort == "duration" else first.end + len(_until(quote.text[first.end :]))
            alone = all((one.count, one.unit) == (first.count, first.unit) for one in others)
            fits.append((share + _ANCHORED * bool(anchored), Said(quote, quote.text[first.start : end]), alone))
    best = max(fits, key=lambda fit: fit[0], default=None)
    near = [fit for fit in fits if best is not None and fit[0] >= _NEARLY * best[0]]
    agree = best is not None and all(alone and same_figure(one.figure, best[1].figure) for _, one, alone in near)
    return best[1] if best is not None and agree else None


def _said(text: str) -> frozenset[str]:
    return frozenset(alike(word) for word in content_stems(text))


def _around(quote: Quotable) -> str:
    """Sentence with the headings above it, except the document's title, which matches every sentence alike."""
    return " ".join((*quote.source.section[-2:], quote.text))


def _until(text: str) -> str:
    return text[: next((n for n, c in enumerate(text) if c in ",;:."), len(text))]


def _counted_from(said: Sequence[str], within: int) -> list[str] | None:
    """Words for the starting point of a duration; None if the first ``within`` words give none."""
    counted = words("sentences", "counted")
    place = next((n for n, word in enumerate(said[:within]) if word.lower() in counted), None)
    return None if place is None else list(said[place + 1 : place + 1 + _NEAR])


def _past(text: str, length: Length) -> bool:
    """Whether a duration is an age or lies in the past."""
    before, after = text[: length.start].split()[-1:], text[length.end :].replace("-", " ").split()[:2]
    return any(word.lower() in words("sentences", "past") for word in before) or "old" in after or "age" in after


def named(asked: Wish, found: Sequence[Quotable]) -> Said | None:
    """Firm or person requested by role, if all sentences that name one agree."""
    intent = office_asked(asked)
    given = [
        Said(quote, name)
        for quote in found
        if intent is not None
        and quote.row is None
        and not refers(quote.text)
        and fit(intent, quote.text) == 1.0
        and (name := _name(quote.text, intent))
    ]
    if len({one.figure.split()[0].casefold() for one in given}) != 1:
        return None
    return min(given, key=lambda one: len(one.quote.text))


def office_asked(asked: Wish) -> AnswerType | None:
    """Role by which a firm or person is requested; None without one."""
    intents = (answer_type(asked.piece), answer_type(f"who {asked.heading}"))
    return next((one for one in intents if {"NAME", "PERSON"} & set(one.wants) and one.says), None)


def _name(text: str, intent: AnswerType) -> str:
    """Run of words spelled like a name that is nearest to the role."""
    sentence = _Sentence(text)
    says = {word for phrase in intent.says for word in phrase}
    offices = [place for place, word in enumerate(sentence.stems) if word in says]
    runs: list[list[int]] = []
    for place, word in enumerate(sentence.words):
        joined = runs and runs[-1][-1] == place - 1 and sentence.between(place - 1, place).strip(" &") == ""
        if word.capital and not word.skipped and sentence.stems[place] not in says:
            runs[-1].append(place) if joined else runs.append([place])
    several = [run for run in runs if len(run) > 1]  # one word is a place or a term
    if not several or not offices:
        return ""
    best = min(several, key=lambda run: min(abs(office - at) for office in offices for at in run))
    return text[sentence.words[best[0]].start : sentence.words[best[-1]].end]


def whole_of(asked: Wish, own: Sequence[Quotable]) -> list[Quotable]:
    """Full text of a short section with the requested name, ``own``: the clause on governing law."""
    plain = [quote for quote in own if not refers(quote.text)]
    names = [name.all for name in asked.names]
    heading = head_stems(" ".join(plain[0].source.section[-1:])) if plain else frozenset()
    if not any(not {word for word in heading if word.isalpha()} - of for of in names):
        said = {id(quote): set(content_stems(quote.text)) for quote in plain}
        plain = [quote for quote in plain if any(2 * len(of & said[id(quote)]) > len(of) for of in names)]
    figures = any(name.further & stems("names", "amounts") for name in asked.names)
    short = len(plain) <= 2 and all(quote.row is None for quote in plain)
    return list({quote.text: quote for quote in plain}.values()) if short and not figures else []


def in_words(asked: Wish, found: Sequence[Quotable]) -> list[Quotable]:
    """The one sentence with the words of a name close together and all words required nearby."""
    sentences = [quote for quote in found if quote.row is None and not refers(quote.text)]
    fits = [quote for quote in sentences if any(_close(name, quote) for name in asked.names)]
    distinct = {" ".join(content_stems(quote.text)) for quote in fits}
    return fits[:1] if len(distinct) == 1 else []


def _close(name: Name, quote: Quotable) -> bool:
    """Whether a sentence has all of ``name`` within eight content words; one common word is too little."""
    said = content_stems(quote.text)
    known = len(name.all) > 1 or any(character.isupper() for character in name.text[1:])
    near = any(name.stems <= set(said[at : at + 8]) for at in range(max(1, len(said) - 7)))
    return known and len(quote.text) <= _LONGEST + 100 and name.further <= set(said) and near
