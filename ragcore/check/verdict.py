"""Verdict on a sentence of a draft: what the documents in scope say of it.

A sentence is confirmed if words that speak of the same thing support it as a whole, or each of its clauses; nothing
less than their exact figures, periods and names counts. It is contradicted if words that certainly speak of the same
thing have another figure, period or an opposite in the place of one. Otherwise the clauses that are covered are told
from those that are not. Quotations are held to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from ragcore.answer.cite import cite_span
from ragcore.check.candidates import MOST, PASSAGES, Candidate, Candidates, held_of
from ragcore.check.confirmation import doubt
from ragcore.check.corrections import corrections, in_cell, same_subject
from ragcore.check.quotations import Quotation, quotations, standing
from ragcore.check.sentences import Checkable, is_opinion, scaled
from ragcore.text import lexicon as lex
from ragcore.text.clauses import clause_spans
from ragcore.text.definitions import called, calls, defined
from ragcore.text.logistic import Logistic
from ragcore.text.names import titled
from ragcore.text.numbers import SCALE_NAMES, Number, agree, numbers
from ragcore.text.periods import years
from ragcore.text.words import content_stems, cover, stem, tokens
from ragcore.types import Citation, Scope
from ragcore.types.check import STATUSES, CheckedSentence, CheckStatus, Correction
from ragcore.verify.attribution import label_terms, named_by, terms, with_synonyms
from ragcore.verify.claims import Statement
from ragcore.verify.contrast import check_contrast
from ragcore.verify.evidence import Evidence, Finding, gather
from ragcore.verify.figures import check_numbers
from ragcore.verify.identifiers import check_periods
from ragcore.verify.support import Support, cover_of, support

if TYPE_CHECKING:
    from ragcore.library import AskedLibrary

# Log odds that words which no exact check is against say the sentence: over the cosine of both in meaning, whether it
# has figures, and how far the cross-encoder's log odds are below the nearest. Fitted on the parts of
# `benchmarks/check.jsonl` that are called dev, where the cross-encoder's own odds and the cover of words added nothing.
SAYS: Final = Logistic(-6.7, (8.9, 1.3, -0.32))
# That words speak of the same thing, whatever they say of it.
SAME: Final = Logistic(-4.0, (0.6, 4.0))
CONFIRMED = 0.4
# The same of a sentence without figures and years, which nothing exact can be held against.
WORDED = 0.65
SAID = 0.95  # share of its words that does instead
CONTRADICTED = 0.8
ALONE = 0.6  # least share of the words of a sentence in one of several that is against it
MORE = 0.1  # share of the words of a sentence that nearer words must have more
ROW = 4.0  # log odds of a row that is named
NAMED = 0.85  # least share of its name
AROUND = 0.34  # least share of the words around a quotation in its surroundings
QUOTED = 0.5  # least share of a quotation's words, in order, in the words that it misquotes
_UNSURE = "These words are the nearest, but they may not say so: read them."
_APART = "Its words are there, but not said of one another."
NEAREST = 3  # passages shown of a sentence that is not found


@dataclass(frozen=True, slots=True)
class _Read:
    """Candidate with its support for a statement; ``cover`` is the share of the statement's content words in it,
    ``held`` that of its figures, ``says`` the probability that it says the statement, of which ``least`` is enough, and
    it is ``dated`` if it names the years in a cell's labels."""

    candidate: Candidate
    support: Support
    cover: float
    held: float
    says: float
    least: float
    same: float
    doubt: str
    dated: bool

    @property
    def citation(self) -> Citation:
        return self.candidate.citation

    @property
    def confirms(self) -> bool:
        return self.may_confirm and (self.says >= self.least or self.cover >= SAID)

    @property
    def may_confirm(self) -> bool:
        """Whether it may say the statement, and nothing is known against it."""
        return self.exact and self.says >= CONFIRMED and not self.doubt

    @property
    def lacks(self) -> str:
        """What it lacks of the statement, which nothing in it is against; "" for nothing, or where something is."""
        against = [finding for finding in self.support.exact if finding.status != "supported"]
        if any(finding.status == "unsupported" for finding in against):
            return ""
        return against[0].reason if against else self.doubt

    @property
    def exact(self) -> bool:
        """Whether no exact check is against the statement."""
        return all(finding.status == "supported" for finding in self.support.exact)

    def overlaps(self, other: _Read) -> bool:
        mine, theirs = self.citation, other.citation
        return mine.doc_id == theirs.doc_id and mine.start < theirs.end and theirs.start < mine.end

    def outdoes(self, other: _Read) -> bool:
        nearer = self.candidate.relevance >= other.candidate.relevance and self.cover >= other.cover + MORE
        return nearer and any(finding.status != "supported" for finding in self.support.exact)

    @property
    def length(self) -> int:
        """Characters of its words: of two that say the same, the shorter is quoted."""
        return self.citation.end - self.citation.start

    @property
    def by_figures(self) -> bool:
        """Whether nothing but figures is against the statement."""
        return all(finding.wrong or finding.status != "unsupported" for finding in self.support.exact)

    @property
    def contradicts(self) -> bool:
        """Whether it says otherwise of the same thing; with another figure of another year it speaks of that year."""
        against = [one for one in self.support.exact if one.status == "unsupported" and not one.worded]
        in_years = {bool(years(figure)) for finding in against for figure in finding.wrong}
        return bool(against) and len(in_years) < 2 and self.same >= CONTRADICTED and self.dated


class Checker:
    """Checker of sentences against the documents in ``scope``. Quotations that these lack are looked for ``elsewhere``
    in the library. ``same``: least probability that words which confirm a sentence speak of the same thing; ``worded``:
    that they say it, of one without figures."""

    def __init__(
        self,
        library: AskedLibrary,
        scope: Scope,
        *,
        elsewhere: bool = False,
        same: float = 0.0,
        worded: float = WORDED,
    ) -> None:
        fast = library.with_settings({"rerank.model": "none", "retrieve.top_k": PASSAGES, "retrieve.mode": "hybrid"})
        self._library, self._search, self._scope = library, fast.search, scope
        self._settings = library.settings.verify
        self._looks_elsewhere, self._same, self._worded = elsewhere, same, worded
        models = library.models.once()
        self._reranker, self._entailment = models.reranker, models.entailment
        self._candidates = Candidates(library.document, scope, library.settings.answer, models.embedder, self._reranker)

    def verdict(self, sentence: Checkable) -> CheckedSentence:
        """Raises what retrieval raises."""
        if not sentence.is_cell:
            verdict = self._verdict(sentence)
            return verdict if verdict.status in ("confirmed", "no_claim") else self._by_terms(sentence, verdict)
        found: list[CheckedSentence] = []
        for text in scaled(sentence):
            found.append(self._verdict(replace(sentence, text=text)))
            if found[-1].status == "confirmed":
                break
        best = min(found, key=lambda one: STATUSES.index(one.status))
        given = in_cell(sentence.text, best.corrections)
        reason = _told(given, best.citations[0].title) if given else best.reason
        return replace(best, text=sentence.text, corrections=given, reason=reason)

    def _by_terms(self, sentence: Checkable, verdict: CheckedSentence) -> CheckedSentence:
        """``verdict``, or a better one by words that call whom ``sentence`` names by the term of their document."""
        documents = dict.fromkeys(place.doc_id for place in verdict.citations)
        for term in defined(sentence.text, {doc_id: self._library.document(doc_id).text for doc_id in documents}):
            own = self._verdict(replace(sentence, text=called(sentence.text, term)))
            better = own.status == "confirmed" or (verdict.status, own.status) == ("not_found", "partly")
            if (
                better
                and not own.missing
                and all(calls(one.quote, one.doc_id, one.start, term) for one in own.citations)
            ):
                return replace(own, text=sentence.text)
        return verdict

    def _verdict(self, sentence: Checkable) -> CheckedSentence:
        near = self.near(sentence)
        if (quoted := self.quoted(sentence, near)) is not None:
            return quoted
        whole = (0, len(sentence.text))
        reads = self.reads(sentence, whole, near)
        best = self._best(reads)
        contradicting = (read for read in reads if read.contradicts and not _outweighs(best, read, sentence.text))
        for against in sorted(contradicting, key=lambda read: (-round(read.same, 1), read.length)):
            found = corrections(sentence.text, against.support, against.candidate.evidence, sentence.context)
            title = against.candidate.source.title
            if found and (too := self._said_too(sentence, against, found, reads)):
                theirs = " and ".join(one.found for one in found)
                reason = f"{title} has {theirs} for it too: the draft doesn’t say of which time."
                return self._shown(sentence, "partly", reason, [*too, against.citation])
            if found or not against.by_figures:
                return self._shown(sentence, "contradicted", _told(found, title), [against.citation], found)
        if best is not None:
            return self._shown(sentence, "confirmed", "", [best.citation])
        spans = clause_spans(sentence.text)
        chosen: dict[tuple[int, int], _Read] = {}
        for span in spans if len(spans) > 1 else []:
            text = sentence.text[slice(*span)]
            read = self._best(self.reads(sentence, span, near), of_clause=True)
            if not lex.CAUSES.isdisjoint(tokens(text)[:1]):
                # Two facts that are true do not make one the cause of the other.
                read = read if any(read.overlaps(one) for one in chosen.values() if read is not None) else None
            elif read is None:
                alone = replace(sentence, text=text, before=sentence.text[: span[0]])
                read = self._best(self.reads(alone, (0, len(text)), self.near(alone)), of_clause=True)
            if read is not None:
                chosen[span] = read
        if chosen:
            cited = [read.citation for read in chosen.values()]
            missing = [span for span in spans if span not in chosen]
            if not missing:
                sure = all(read.confirms for read in chosen.values())
                return self._shown(sentence, "confirmed" if sure else "partly", "" if sure else _UNSURE, cited)
            there = set(content_stems("\n".join(read.candidate.text for read in chosen.values())))
            missing = [span for span in missing if not there.issuperset(content_stems(sentence.text[slice(*span)]))]
            reason = "The rest is not in the documents." if missing else next(filter(None, map(_lack, reads)), _APART)
            return self._shown(sentence, "partly", reason, cited, missing=missing)
        doubted = next((read for read in reads if read.says >= CONFIRMED and read.lacks), None)
        if doubted is not None:
            return self._shown(sentence, "partly", doubted.lacks, [doubted.citation])
        if (
            unsure := max((read for read in reads if read.may_confirm), key=lambda read: read.says, default=None)
        ) is not None:
            return self._shown(sentence, "partly", _UNSURE, [unsure.citation])
        if is_opinion(sentence.text):
            return self._shown(sentence, "no_claim", "", [])
        nearest = [read.citation for read in reads[:NEAREST]]
        why = next((_lack(read) for read in reads if read.contradicts), "")
        return self._shown(sentence, "not_found", f"Not found in these documents. {why}".strip(), nearest)

    def quoted(self, sentence: Checkable, near: Sequence[Candidate]) -> CheckedSentence | None:
        """Verdict on a sentence whose quotations decide it; None if it has none."""
        found = quotations(sentence.text, self._doc_ids(near), self._library.document, self._scope)
        if not found:
            return None
        rest = _without(sentence.text, found)
        away = {one: self._away(sentence.text[one.start : one.end]) for one in found if one.fate != "found"}
        if lost := [one for one, place in away.items() if place is None and one.fate == "not_found"]:
            return self._misquoted(sentence, lost[0], near)
        if away and all(away.values()):
            return self._elsewhere(sentence, away.values(), "which the draft isn’t checked against")
        places = [self._cited(*place) for one in found for place in one.places]
        if any(one.fate == "stitched" for one in found):
            reason = "The quotation joins words that stand apart."
            return self._shown(sentence, "partly", reason, places)
        behind = sentence.text[found[-1].end :].lstrip('”"» ')
        source = sentence.text[: found[0].start] + behind.partition(")")[0] * behind.startswith("(")
        if len(meant := titled(source, self._titles)) == 1:
            [title] = [self._library.document(doc_id).title for doc_id in meant]
            quotes = [sentence.text[one.start : one.end] for one in found]
            held = [standing(quote, meant, self._library.document, self._scope) for quote in quotes]
            if not any(held):
                return self._elsewhere(sentence, [one.places[0] for one in found], f"not in {title}")
            places = [self._cited(*(place or one.places[0])) for one, place in zip(found, held)]
        if len(_content(rest)) > sum(len(_content(sentence.text[one.start : one.end])) for one in found):
            return None  # it speaks in its own words
        if self._bears(rest, places):
            return self._shown(sentence, "confirmed", "", places)
        reason = "The quotation is right; what is said around it is not there."
        return self._shown(sentence, "partly", reason, places)

    @cached_property
    def _titles(self) -> dict[str, str]:
        """Titles and names of the documents in scope."""
        held = (info for info in self._library.documents() if info.askable and self._scope.holds(info.doc_id))
        return {info.doc_id: f"{info.title} {PurePath(info.name).stem.replace('_', ' ')}" for info in held}

    @cached_property
    def _rest(self) -> tuple[str, ...]:
        """Other documents of the library, if quotations are looked for there."""
        infos = self._library.documents() if self._looks_elsewhere else ()
        return tuple(info.doc_id for info in infos if info.askable and info.doc_id not in self._titles)

    def _doc_ids(self, near: Sequence[Candidate]) -> Iterator[str]:
        """Documents in scope, the nearest first."""
        yield from dict.fromkeys((*(one.source.doc_id for one in near), *self._titles))

    def _away(self, quote: str) -> tuple[str, int, int] | None:
        """Place of ``quote`` in the rest of the library: in the documents of the passages nearest to it."""
        hits = self._search.retrieve(quote, Scope(self._rest)).hits if self._rest else ()
        return standing(quote, dict.fromkeys(hit.chunk.doc_id for hit in hits), self._library.document)

    def _elsewhere(
        self, sentence: Checkable, found: Iterable[tuple[str, int, int] | None], aside: str
    ) -> CheckedSentence:
        cited = [self._cited(*place) for place in found if place is not None]
        where = " and ".join(dict.fromkeys(one.title for one in cited))
        return self._shown(sentence, "elsewhere", f"The quoted words are in {where}, {aside}.", cited)

    def _bears(self, rest: str, places: Sequence[Citation]) -> bool:
        """Whether the words around quotations only introduce them, or stand near them with their figures and years."""
        evidence = gather(places, self._library.document, self._scope)
        near = f"{evidence.near}\n{evidence.around}"
        said = _content(rest)
        if not (lex.DENIALS | lex.IMPLIED).isdisjoint(tokens(rest)) or years(rest) - years(near):
            return False
        there = numbers(near)
        figures = (number for number in numbers(rest) if not number.counts)
        if not all(any(agree(number, other, None, hedged=True) for other in there) for number in figures):
            return False
        return len(said) <= 1 or cover(said, content_stems(near)) >= AROUND

    def _misquoted(self, sentence: Checkable, lost: Quotation, near: Sequence[Candidate]) -> CheckedSentence:
        quote = sentence.text[lost.start : lost.end]
        said = tokens(quote)

        def alike(one: Candidate) -> float:
            matcher = SequenceMatcher(None, said, tokens(one.citation.quotation), autojunk=False)
            return sum(block.size for block in matcher.get_matching_blocks()) / len(said)

        best = max(near, key=alike, default=None)
        if best is None or alike(best) < QUOTED:
            return self._shown(sentence, "not_found", "The quoted words are not in the documents.", [])
        reason = f"The draft quotes it otherwise than {best.source.title} has it."
        words = Correction(lost.start, lost.end, quote, _passage(quote, best.citation.quotation))
        return self._shown(sentence, "contradicted", reason, [best.citation], [words])

    def _cited(self, doc_id: str, start: int, end: int) -> Citation:
        return cite_span(self._library.document(doc_id), start, end, 1)

    def _said_too(
        self, sentence: Checkable, against: _Read, found: Sequence[Correction], reads: Sequence[_Read]
    ) -> list[Citation]:
        """Words that give the figures which ``against`` corrects for the same thing, in the same document: others that
        were read, or a cell in a row of that name; none if one figure is nowhere."""
        document, statement = self._library.document(against.citation.doc_id), _statement(sentence)
        said = with_synonyms(set(terms(f"{sentence.context} {sentence.text}")))
        cells = [cell for element in document.body if element.table is not None for cell in element.table.cells]
        read = (one.citation for one in reads if one is not against)
        cited = [one for one in read if one.doc_id == document.doc_id]
        out: list[Citation] = []
        for number in numbers(sentence.text):
            if not any(one.start < number.start + len(number.raw) and number.start < one.end for one in found):
                continue
            with_it = (one for one in cells if _may_give(document.text[one.start : one.end], number))
            places = chain(cited, (cite_span(document, one.start, one.end, 1) for one in with_it))
            gives = (one for one in places if self._gives(one, number, statement, said))
            if (place := next(gives, None)) is None:
                return []
            out.append(place)
        return out

    def _gives(self, place: Citation, number: Number, statement: Statement, said: set[str]) -> bool:
        """Whether words give ``number`` of ``statement``, whose terms are ``said``, for what it says, and of no other
        time than it names."""
        evidence = gather([place], self._library.document, self._scope)
        own = (one for one in evidence.figures if one.valued and one.number.percent == number.percent)
        if not any(agree(number, one.number, one.scale, bare=False) and same_subject(one, said) for one in own):
            return False
        against = [one for one in check_numbers(statement, evidence) if number.raw in one.wrong]
        return not against and not any(one.status == "unsupported" for one in check_periods(statement, evidence))

    def _best(self, reads: Sequence[_Read], *, of_clause: bool = False) -> _Read | None:
        """Read that confirms, or may confirm a clause, if none that is nearer and has more of the words has other
        figures or names."""
        found = [read for read in reads if (read.may_confirm if of_clause else read.confirms)]
        found = [read for read in found if not any(one.outdoes(read) for one in reads)]
        return min(found, key=lambda read: (-round(read.says, 1), -read.held, read.length), default=None)

    def near(self, sentence: Checkable, most: int = MOST) -> list[Candidate]:
        """At ``most`` so many candidates for ``sentence``, best first."""
        query = f"{sentence.context} {sentence.text}".strip()
        if sentence.before and lex.WHOM.intersection(tokens(sentence.text)[:1]):
            query = f"{sentence.before} {query}"  # "It is tested once a year."
        return self._candidates.near(sentence, query, self._search.retrieve(query, self._scope), most)

    def reads(self, sentence: Checkable, span: tuple[int, int], near: Sequence[Candidate]) -> list[_Read]:
        """Support of each candidate for the words of ``sentence`` at ``span``, best first."""
        top = max((one.relevance for one in near), default=0.0)
        return [self._read(sentence, sentence.text[slice(*span)], one, top) for one in near]

    def agrees(self, sentence: Checkable, cited: Sequence[Citation]) -> bool:
        """Whether no exact check is against ``sentence`` in the ``cited`` words."""
        statement = _statement(sentence)
        evidence = gather(cited, self._library.document, self._scope)
        return support(statement, evidence, self._settings).agrees and not any(_by_sentence(statement, evidence))

    def _read(self, sentence: Checkable, text: str, one: Candidate, top: float) -> _Read:
        statement = _statement(sentence, text)
        found = support(statement, one.evidence, self._settings, self._reranker, self._entailment)
        found = replace(found, exact=(*found.exact, *_by_sentence(statement, one.evidence)))
        cover, _ = cover_of(f"{text} {sentence.context}", one.evidence)
        figured = float(any(not number.counts for number in numbers(text)))
        nearness = max(one.relevance, ROW) if _names_row(statement, one.evidence) else one.relevance
        [likeness] = self._candidates.likeness(f"{sentence.context} {text}".strip(), [one.text])
        says = SAYS(likeness, figured, top - nearness)
        if self._entailment is not None and not one.evidence.cells:  # which it isn't asked about
            says = min(says, found.probability)
        same = SAME(nearness if sentence.is_cell else one.relevance, cover)
        says = says if same >= self._same else 0.0
        dated = years(sentence.context) <= years(f"{one.evidence.words}\n{one.evidence.around}")
        least = CONFIRMED if figured or years(text) or sentence.is_cell else self._worded
        read = _Read(one, found, cover, held_of(numbers(text), one.text), says, least, same, "", dated)
        return replace(read, doubt=doubt(statement, one.evidence)) if read.exact else read

    def _shown(
        self,
        sentence: Checkable,
        status: CheckStatus,
        reason: str,
        cited: Sequence[Citation],
        found: Sequence[Correction] = (),
        missing: Sequence[tuple[int, int]] = (),
    ) -> CheckedSentence:
        by_place = {(one.doc_id, one.start, one.end): one for one in cited}
        citations = tuple(replace(one, n=n) for n, one in enumerate(by_place.values(), start=1))
        place = sentence.start, sentence.end
        return CheckedSentence(
            sentence.text, *place, status, reason, citations, tuple(found), tuple(missing), sentence.place
        )


def _statement(sentence: Checkable, part: str = "") -> Statement:
    """Sentence, or a ``part`` of it, as a claim that cites one place."""
    text = part or sentence.text
    return Statement(text, 0, len(text), (1,), sentence.context)


def _lack(read: _Read) -> str:
    """Why words do not confirm a statement, "" if no check tells."""
    finding = next((finding for finding in read.support.exact if finding.status != "supported"), None)
    if finding is not None and finding.worded:
        return "It says “{}” where the document says “{}”.".format(*finding.contrast)
    return finding.reason if finding is not None else read.doubt


def _may_give(cell: str, number: Number) -> bool:
    """Whether a ``cell`` has ``number``, in whatever scale its table has."""
    return any(agree(number, given, scale) for given in numbers(cell) for scale in (None, *SCALE_NAMES))


def _outweighs(best: _Read | None, against: _Read, text: str) -> bool:
    """Whether words that confirm are nearer than those ``against``, or have all of several figures that these lack."""
    if best is None:
        return False
    several = len({number.amount for number in numbers(text) if not number.counts}) > 1
    return best.same >= against.same or (several and against.by_figures)


def _names_row(statement: Statement, evidence: Evidence) -> bool:
    """Whether the statement names the row that its figures are in, by two words and more: the cross-encoder does not
    read tables well."""
    said = with_synonyms(set(terms(f"{statement.text} {statement.context}")))
    heads = {cell.named.head for cell in evidence.cells if cell.label}
    return bool(heads) and all(len(label_terms(head)) > 1 and named_by(head, said) >= NAMED for head in heads)


def _by_sentence(statement: Statement, evidence: Evidence) -> Iterator[Finding]:
    """What one sentence of several has against the statement, though another seems to agree with it."""
    said = terms(statement.text)
    if len(evidence.sentences) > 1:
        for one in evidence.sentences:
            if len(said & terms(one)) < ALONE * len(said):
                continue
            alone = replace(evidence, words=one, sentences=(one,), quotes=(one,), cells=())
            yield from (finding for finding in check_contrast(statement.text, alone) if not finding.worded)
            yield from (finding for finding in check_numbers(statement, alone) if any(finding.contrast))


def _without(text: str, quotes: Sequence[Quotation]) -> str:
    for one in reversed(quotes):
        text = f"{text[: one.start]}{text[one.end :]}"
    return text


def _content(text: str) -> list[str]:
    """Stems of what ``text`` says, without words of telling."""
    telling = {stem(word) for word in lex.TELLING | lex.SOURCES}
    return [one for one in content_stems(text) if one not in telling]


def _passage(quote: str, text: str) -> str:
    """Part of ``text`` that runs as ``quote`` does, with as many words before and after their common ones."""
    words = list(re.finditer(r"\S+", text))
    matcher = SequenceMatcher(None, quote.lower().split(), [word.group().lower() for word in words], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks:
        return text
    first, last = blocks[0], blocks[-1]
    start = max(0, first.b - first.a)
    end = min(len(words), last.b + last.size + len(quote.split()) - last.a - last.size)
    return text[words[start].start() : words[end - 1].end()]


def _told(found: Sequence[Correction], title: str) -> str:
    if found:
        return " ".join(f"The draft says {one.said}; {title} says {one.found}." for one in found)
    return f"{title} says otherwise."
