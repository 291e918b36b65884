"""Document routing: a prior for each document named by the question, before any chunk is scored.

A document is named by a word or words of its title or file name (``Adobe``, ``Foot Locker``), by their abbreviation
(``AMD``, ``JPM``, ``J&J``), and then by year, quarter and form. A name shared by half of the library or more has less
weight, and one shared by all has none. In a library of dated documents a year alone is a weak name; without one the
latest of a series ("Adobe Form 10-K") is meant, not those before it. Nothing is filtered: the prior only shifts scores
(`discounted`), and a question that names no document changes none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ragcore.text.names import (
    COMMON_ABBREVIATIONS,
    SHORT_NAME,
    Piece,
    Word,
    abbreviates,
    pieces_of,
    pieces_of_file,
    runs_of,
    together,
    words_of,
)
from ragcore.text.periods import Period, period_fit, period_name, period_of, period_of_title
from ragcore.types import Fit, Route

LONGEST_RUN = 8  # longest name in a question, in words
PLAIN_WORD = 0.5  # strength of a one-word name not spelt as a name ("target")
ABBREVIATED = 0.8  # strength of an abbreviation
MOST_MEANINGS = 3  # an abbreviation that fits more names is ignored
OWN = 0.5  # least share of a name's passages in documents of that name; below, it is a topic
LEAST = 0.3  # least strength of a name
YEAR_ALONE = 0.5  # strength of a period if no document is named
OLDER = 0.5  # share of its prior that a document keeps beside a later one of its series
MOSTLY = 0.5  # share of dated documents needed for that; also the share above which a name distinguishes less

Named = tuple[str, Mapping[int, float]]  # the question's words, and the strength by document position
Mentions = Callable[[str], Mapping[str, int]]
Called = tuple[tuple[str, ...], tuple[str, ...]]  # forms, and the words of a whole name


@dataclass(frozen=True, slots=True)
class Match:
    """Best name of a document in the question: ``strength`` of the name match, ``weight`` by the rarity of the name
    among documents."""

    strength: float
    weight: float
    name: str

    @property
    def value(self) -> float:
        return self.strength * self.weight


class DocumentNames:
    """Name index of a library's documents, built once for each state of the library.

    ``documents`` gives ``(doc_id, title, file name)`` of each. Thread-safe: immutable after construction.
    """

    def __init__(self, documents: Sequence[tuple[str, str, str]]) -> None:
        self._doc_ids = [doc_id for doc_id, *_ in documents]
        self._titles = {doc_id: title for doc_id, title, _ in documents}
        self._places = {doc_id: place for place, doc_id in enumerate(self._doc_ids)}
        self._period: list[int] = []  # position in `_periods` by document
        known: dict[Period, int] = {}
        # Joined run of words → documents with that name, each with the run's share of the name.
        self._runs: dict[str, dict[int, float]] = defaultdict(dict)
        self._longer: dict[str, set[str]] = defaultdict(set)  # names that the run begins
        self._whole: dict[str, set[int]] = defaultdict(set)  # documents whose title is the run
        self._heads: dict[str, dict[tuple[str, ...], tuple[tuple[Word, ...], set[int]]]] = defaultdict(dict)
        called: dict[Called, set[int]] = defaultdict(set)
        for place, (_, title, name) in enumerate(documents):
            in_file = period_of_title(name)
            in_title = period_of_title(title)
            # A file name may give the fiscal year where the title gives its last day.
            period = Period(
                in_file.years or in_title.years,
                in_file.quarters or in_title.quarters,
                in_file.forms | in_title.forms,
            )
            self._period.append(known.setdefault(period, len(known)))
            in_titles, in_names = pieces_of(title), pieces_of_file(name)
            for piece in in_titles:
                self._add(place, piece, longer=True)
            for piece in in_names:
                self._add(place, piece, longer=not in_titles)
            for piece in (*in_titles, *in_names) if period.years else ():
                if piece.whole:
                    called[tuple(sorted(period.forms)), tuple(word.plain for word in piece.words)].add(place)
        self._periods = list(known)
        # Last year and quarter of each document of a series.
        self._series = [{place: _end(self._periods[self._period[place]]) for place in one} for one in _series(called)]

    def _add(self, place: int, piece: Piece, *, longer: bool) -> None:
        words = piece.words
        if len(words) > SHORT_NAME:
            return
        for first, end in runs_of(words, SHORT_NAME):
            # A name may be shortened to its beginning, or to two or more of its consecutive words.
            if first == 0 or end - first > 1:
                run = together(words[first:end])
                if longer and first == 0 and end < len(words):
                    self._longer[run].add(together(words))
                if piece.whole and end - first == len(words):
                    self._whole[run].add(place)
                known = self._runs[run]
                known[place] = max(known.get(place, 0.0), piece.share * (end - first) / len(words))
        if piece.share == 1.0:
            key = tuple(word.plain for word in words)
            self._heads[words[0].plain[:1]].setdefault(key, (words, set()))[1].add(place)

    @property
    def doc_ids(self) -> Sequence[str]:
        return self._doc_ids

    @property
    def titles(self) -> Mapping[str, str]:
        return self._titles

    def routes(
        self,
        question: str,
        doc_ids: Collection[str] | None = None,
        *,
        mentions: Mentions | None = None,
        latest: bool = False,
    ) -> list[Route]:
        """Documents of ``doc_ids`` (None: of the library) named by ``question``, best first, ties in library order;
        none if it names none, or all equally. ``mentions`` gives the number of passages of each document that contain
        some words (`SparseIndex.mentions`). ``latest``: without a period it asks for the latest of each series of
        documents (same name and form, other period), and names it better than those before."""
        known = None if doc_ids is None else {self._places[one] for one in doc_ids if one in self._places}
        scope = range(len(self._doc_ids)) if known is None else sorted(known)
        if len(scope) < 2:
            return []
        asked = period_of(question)
        fits = [period_fit(asked, period) for period in self._periods]
        inside, dated = set(scope), bool(asked.years or asked.quarters)
        serial = self._serial(inside) if latest and not dated else {}
        named = self._weighed(self._named(question), inside, mentions)
        priors: dict[int, tuple[float, Match | None]] = {}
        if named:
            # Each name refers to its best-fitting document, even if that is of another year.
            fitting: dict[str, float] = {}
            for place, match in named.items():
                fitting[match.name] = max(fitting.get(match.name, 0.0), fits[self._period[place]])
            for place, match in named.items():
                most = fitting[match.name]
                share = fits[self._period[place]] / most if most else 1.0
                # If nearly all documents share the name, the year distinguishes them.
                weight = max(match.weight * (0.5 + 0.5 * share), YEAR_ALONE * share if dated else 0.0)
                priors[place] = (match.strength * weight, match)
        elif dated:
            years = [place for place in scope if self._periods[self._period[place]].years]
            if len(years) < MOSTLY * len(scope):
                return []
            priors = {place: (YEAR_ALONE * fits[self._period[place]], None) for place in years}
        priors = {place: prior for place, prior in priors.items() if prior[0] > 0.0}
        if serial:
            priors = {
                place: (prior * (OLDER if serial.get(place) == "earlier" else 1.0), match)
                for place, (prior, match) in (priors or dict.fromkeys(scope, (YEAR_ALONE, None))).items()
            }
        if not priors or (len(priors) == len(scope) and len({prior for prior, _ in priors.values()}) == 1):
            return []
        ranked = sorted(priors.items(), key=lambda item: (-item[1][0], item[0]))
        shared = [_shared(asked, period) for period in self._periods]

        def told(place: int) -> tuple[str, Fit]:
            at = self._period[place]
            own = self._periods[at]
            return (period_name(Period(own.years, own.quarters)), serial[place]) if place in serial else shared[at]

        return [
            Route(self._doc_ids[place], prior, match.name if match else "", *told(place))
            for place, (prior, match) in ranked
        ]

    def _serial(self, inside: Collection[int]) -> dict[int, Fit]:
        """Whether each document of ``inside`` that has others of its series there is the ``latest`` or an ``earlier``
        one."""
        out: dict[int, Fit] = {}
        for series in self._series:
            ends = {place: end for place, end in series.items() if place in inside}
            last = max(ends.values(), default=(0, 0))
            if len(set(ends.values())) > 1:
                out |= {place: "latest" for place, end in ends.items() if end == last and place not in out}
                out |= {place: "earlier" for place, end in ends.items() if end < last}
        return out

    def _weighed(self, named: Sequence[Named], inside: set[int], mentions: Mentions | None) -> dict[int, Match]:
        """Best name of each document of ``inside``, weighted by how well it distinguishes documents."""
        best: dict[int, Match] = {}
        for words, strengths in named:
            here = {place: strength for place, strength in strengths.items() if place in inside}
            said = mentions(words) if mentions is not None and here else {}
            counts = {place: said.get(self._doc_ids[place], 0) for place in inside}
            # Another document that says a name as often as the one that it names is named as well as that.
            most, strength = max(((counts[at] * own, own) for at, own in here.items()), default=(0.0, 0.0))
            rest = inside.difference(here) if most else ()
            like = {place: strength * min(1.0, strength * counts[place] / most) for place in rest}
            share = (len(here) + sum(like.values())) / len(inside)
            here |= like
            weight = 1.0 if share <= MOSTLY else (1.0 - share) / (1.0 - MOSTLY)
            own = self._own(said, strengths)
            for place, strength in here.items():
                match = Match(strength * own, weight, words)
                known = best.get(place)
                if match.strength >= LEAST and (known is None or match.value > known.value):
                    best[place] = match
        return best

    def _own(self, mentions: Mapping[str, int], places: Collection[int]) -> float:
        """Degree to which words name these documents rather than a common topic: 1.0 if at least `OWN` of the passages
        that contain them belong to these documents (or no passage does), proportionally less below."""
        total = sum(mentions.values())
        if not total:
            return 1.0
        return min(1.0, sum(mentions.get(self._doc_ids[place], 0) for place in places) / total / OWN)

    def _named(self, question: str) -> list[Named]:
        """Documents for each name in the question. A word is used once, by the longest name."""
        words = [word for word in words_of(question) if not word.skipped]
        used: set[int] = set()
        named: list[Named] = []
        for first, end in runs_of(words, LONGEST_RUN):
            if used.isdisjoint(range(first, end)):
                called = self._called(words[first:end])
                if called:
                    text = re.sub(r"['’]s$", "", question[words[first].start : words[end - 1].end])
                    named.append((text, called))
                    used.update(range(first, end))
        free = [word for place, word in enumerate(words) if place not in used]
        named += [(question[word.start : word.end], self._abbreviated(word)) for word in free]
        return named

    def _called(self, run: Sequence[Word]) -> Mapping[int, float]:
        """Documents that have ``run`` as a name or the beginning of one."""
        known = self._runs.get(together(run), {})
        if any(word.marked for word in run):
            longer = self._longer.get(together(run), ())
            # "American" alone is neither of two names with that beginning.
            if len(longer) > 1:
                return {place: share for place, share in known.items() if share == 1.0}
            # A unique beginning of a name is nearly as good as the whole name.
            least = ABBREVIATED if longer and len(run[0].plain) > 2 else 0.0
            return {place: max(share, least) for place, share in known.items()}
        strength = 1.0 if len(run) > 1 else PLAIN_WORD if len(run[0].plain) > 2 else 0.0
        return dict.fromkeys(self._whole.get(together(run), ()), strength)

    def _abbreviated(self, word: Word) -> Mapping[int, float]:
        if not word.capitals or word.plain in COMMON_ABBREVIATIONS or not 2 <= len(word.plain) <= SHORT_NAME:
            return {}
        # Two letters are too ambiguous, except with a mark, as in "J&J".
        if len(word.plain) == word.end - word.start == 2:
            return {}
        heads = [
            places for name, places in self._heads.get(word.plain[:1], {}).values() if abbreviates(word.plain, name)
        ]
        if len(heads) > MOST_MEANINGS:
            return {}
        return {place: ABBREVIATED for places in heads for place in places}


def _series(called: Mapping[Called, set[int]]) -> list[set[int]]:
    """Documents of one form whose name is the same or begins alike ("Adobe", "Adobe Systems"), of each that has
    several."""
    out: list[tuple[Called, set[int]]] = []
    for forms, name in sorted(called):
        if not (out and out[-1][0] == (forms, name[: len(out[-1][0][1])])):
            out.append(((forms, name), set()))
        out[-1][1].update(called[forms, name])
    return [places for _, places in out if len(places) > 1]


def _end(period: Period) -> tuple[int, int]:
    return max(period.years), max(period.quarters, default=0)


def _shared(asked: Period, document: Period) -> tuple[str, Fit]:
    """Requested part of the document's period in words, and its fit."""
    if not (asked.years and document.years):
        return "", ""
    shared = Period(asked.years & document.years, asked.quarters & document.quarters, asked.forms & document.forms)
    if shared.years:
        return period_name(shared), "same"
    near = period_fit(Period(asked.years), Period(document.years)) > 0.0
    return period_name(Period(document.years)), "near" if near else "other"


def discounted(
    scores: Mapping[str, float], owners: Mapping[str, str], priors: Mapping[str, float], weight: float
) -> dict[str, float]:
    """``scores`` (0–1, by chunk id) with document priors: a chunk of the best-named document keeps its score, any other
    loses the share ``weight × (best prior − its document's)``. ``owners`` gives the document of each chunk.

    The scale is that of a question to the named document alone, so that segments are cut as they would be there.
    """
    best = max(priors.values(), default=0.0)
    return {i: score * (1.0 - weight * (best - priors.get(owners[i], 0.0))) for i, score in scores.items()}


def best_named(routes: Sequence[Route]) -> dict[str, str]:
    """Names in the question by the documents that they name best: of several years those of the best fit; none with
    less than half the best prior."""
    best: dict[str, float] = {}
    for route in routes:
        best[route.name] = max(route.prior, best.get(route.name, 0.0))
    least = 0.5 * max(best.values(), default=0.0)
    kept = [route for route in routes if route.name and route.prior == best[route.name] >= least]
    return {route.doc_id: route.name for route in kept}


def chosen(routes: Sequence[Route], most: int) -> list[str]:
    """Documents to search separately: at most ``most``, with at least half the best prior; none if more than that are
    named equally well."""
    if len(routes) > most and routes[most].prior == routes[0].prior:
        return []
    return [route.doc_id for route in routes[:most] if route.prior >= 0.5 * routes[0].prior]
