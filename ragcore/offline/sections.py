"""Report sections without a language model: the requirements of their guidance, the matching document sections, certain
values and tables, and quoted evidence for the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest

from ragcore.offline.certain import Given
from ragcore.offline.fields import Wish, head_stems, refers, requirements, stems_of, wish, wishes
from ragcore.offline.intents import fit
from ragcore.offline.lists import stems
from ragcore.offline.question import requirement
from ragcore.offline.quotes import Quotable, marker, quotables, with_paragraph, without_repeats
from ragcore.offline.ranking import LONGEST_PASSAGE, Ranking, Scored, agreement, odds_of, spread
from ragcore.offline.rows import Row
from ragcore.offline.statements import coverage, opening, rows_of, statements
from ragcore.offline.values import field_values, office_of, rivals
from ragcore.offline.writer import OfflineWriter, listing
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import FieldValue, ModelRequest, Reranker, StaticStream, WritingTask
from ragcore.text.markdown import escape
from ragcore.text.names import passed_over
from ragcore.text.periods import date_spans, month_spans
from ragcore.text.short_titles import short_titles
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import Rarity, content_stems, cover, stem, tokens, without_brackets, word_set
from ragcore.types import EVERYTHING, Document, Element, Scope, Segment, Source
from ragcore.types.question import AnswerType
from ragcore.types.report import Coverage, Field, KnownFacts, Missing, ValueSort, missing_mark

_ALIKE = 0.6  # Dice's coefficient of two headings' words from which their names match
_MOST_HEADED = 2
_SHORT = 8  # words of a heading
_SUBJECTS = re.compile(r"[,;&]|\b(?:and|or)\b")
_NUMBER = re.compile(r"(?:\d+[A-Za-z]?(?:\.\d+)*|[A-Z]|[IVX]+)[.):]?")
_PARTS = word_set("item part note section chapter article annex appendix")
_MOST_LACKING = 8  # documents without a value that are named individually
_OF_ONE = 3  # quotes for one of several requirements; a single one gets as many as an answer
_SPEAKS = 0.5  # share of a requirement's words that a quote must have, weighted by rarity
_PLAIN = 0.3  # worth from which a quote is taken on its own
_OF_EACH = 2  # quotes of each document of another company
_READ = 3  # sentences judged with their paragraph
_FAINT, _NEAR = 0.005, 3.0  # least relevance in a section of that name, and how many times that of the best may be
_SHARE = 0.6  # and this share of the best worth
_LABEL = re.compile(r"\W{0,3}([A-Z][^:.;\n]{1,60}):\s+(?=\S)")
_BEFORE_DAY = re.compile(r"[;:.(/|\n]")
_SAYS_LITTLE = stems("names", "beside") | stems("sentences", "says_little")
MOST_ROWS = 40
MOST_MENTIONS = 40
_ITEM = 0.5  # least probability that a quote is about what is asked
_ABOUT = 0.5  # share of the requested words that must be over a table for it to match
_ABOUT_NAMED = 0.25  # the same if its columns themselves name its subject
_ANY_TABLE = frozenset(content_stems("change percent % name description note item type other count share"))
_HAS_NAME = 0.6  # share of a column's or row's words that its header must have


class RuleFields:
    """`FieldReader` by rules."""

    MOST_ITEMS = 200

    def requirements(self, heading: str, guidance: str) -> tuple[str, ...]:
        return tuple(requirements(heading, guidance))

    def coverage(self, document: Document) -> Coverage:
        return coverage(document, list(statements(document)))

    def of_a_year(self, heading: str, guidance: str, unit: str) -> bool:
        asked = wish(heading, guidance, unit, ())
        return asked.sort == "amount" and asked.annual

    def sort(self, heading: str, guidance: str, unit: str) -> ValueSort:
        asked = wish(heading, guidance, unit, ()).sort
        return "date" if asked == "date" else "name" if asked == "words" else "figure"

    def headed(self, document: Document, heading: str, scope: Scope = EVERYTHING) -> list[tuple[int, int]]:
        wanted = frozenset(content_stems(heading))
        elements = scope.among(document.doc_id, (one for one in document.elements if one.noise is None))
        found: list[tuple[float, int, int]] = []
        for place, element in enumerate(elements):
            alike = _alike(wanted, _heading(document, element)) if element.kind == "heading" else 0.0
            if alike < _ALIKE:
                continue
            after = elements[place + 1 :]
            ends = (one for one in after if one.kind == "heading" and _ends(document, element, one))
            stop = next((one.start for one in ends), len(document.text))
            end = max((one.end for one in after if one.start < stop), default=element.end)
            found += [(alike, element.end, end)] if end > element.end else []
        if not found:
            found = [(1.0, *span) for span in _run_in(document, elements, wanted)]
        best = max((alike for alike, _, _ in found), default=0.0)
        chosen: list[tuple[int, int]] = []
        for _, start, end in sorted((one for one in found if one[0] == best), key=lambda one: one[1] - one[2]):
            if len(chosen) < _MOST_HEADED and not any(a <= start and end <= b for a, b in chosen):
                chosen.append((start, end))
        return chosen

    def stated(
        self,
        heading: str,
        form: Field,
        terms: Sequence[Term],
        documents: Sequence[Document],
        known: KnownFacts,
        *,
        whole: bool,
    ) -> tuple[KnownFacts, tuple[Segment, ...]]:
        asked = wishes(heading, form, terms, known.year)
        names = {name.own for one in asked if one.sort == "amount" for name in one.names}
        spans: list[tuple[str, int, int]] = []
        own = {document.doc_id: list(statements(document)) for document in documents}
        for document in documents:
            for one in own[document.doc_id]:
                rows = [(a, b) for label, a, b in rows_of(document, one) if _is_row(label.head, label.group, names)]
                spans += [(document.doc_id, a, b) for a, b in ([(one.start, one.end)] if rows and whole else rows)]
        days = [one for one in asked if one.sort == "date"]
        spans += [(document.doc_id, *span) for document in documents for span in _labelled_days(document, days)]
        offices = [office for one in asked if (office := office_of(one)) is not None]
        spans += [(document.doc_id, *span) for document in documents for span in _mentions(document, offices)]
        if any(one.annual for one in days):
            spans += [(document.doc_id, *opening(document)) for document in documents]
        covered = {document.doc_id: coverage(document, own[document.doc_id]) for document in documents}
        interim = {doc_id: one.words for doc_id, one in covered.items() if one.part}
        listed = tuple(one for each in own.values() for one in each)
        segments = tuple(Segment(*span, 0, 0, 0.0, "statement") for span in spans)
        return replace(known, statements=listed, interim=interim), segments

    def rivals(
        self, heading: str, form: Field, terms: Sequence[Term], sources: Sequence[Source], known: KnownFacts
    ) -> list[tuple[str, list[FieldValue]]]:
        every = wishes(heading, form, terms, known.year)
        return [(one.piece, each) for one in every for each in rivals(one, terms, sources, known)]

    def items(
        self,
        asked: str,
        terms: Sequence[Term],
        sources: Sequence[Source],
        own: Sequence[tuple[int, int, int]],
        reranker: Reranker | None,
    ) -> list[str]:
        wanted = Wanted(asked, terms)
        ranking = Ranking(requirement(asked), wanted)
        found: list[Quotable] = []
        for source in sources:
            quotes = list(quotables(requirement(asked), wanted, [source]))
            # Under such a heading each paragraph, item or row is one, told by its first sentence.
            under = [quote for quote in quotes if _within(quote, own)]
            opening = {first: quote for first, _ in source.lines() for quote in under[::-1] if quote.first >= first}
            held = {id(quote) for quote in opening.values()}
            if not held:
                held = {id(each.quote) for each in ranking.scored(quotes, reranker) if _is_item(each)}
            found += [quote for quote in quotes if id(quote) in held]
        return [quote.marker for quote in without_repeats(found, self.MOST_ITEMS)]


def _is_item(each: Scored) -> bool:
    """Whether a quote is about what is asked, by the cross-encoder, or without one by its words."""
    return each.relevance >= _ITEM if each.relevance is not None else each.worth >= _SPEAKS


def _heading(document: Document, element: Element) -> str:
    return document.text[element.start : element.end]


def _run_in(document: Document, elements: Iterable[Element], wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Paragraphs among ``elements`` with a run-in heading of the ``wanted`` words ("Keywords: ..."), without it."""
    for element in elements:
        label = _LABEL.match(document.text, element.start, element.end)
        if label is not None and frozenset(content_stems(label[1])) == wanted:
            yield label.end(), element.end


def _labelled_days(document: Document, wishes: Sequence[Wish]) -> Iterator[tuple[int, int]]:
    """Elements with a day or month whose label has one of the names of ``wishes`` ("Received: 2 June 2020")."""
    names = [name.own for one in wishes for name in one.names]
    for element in document.elements if names else ():
        text = document.text[element.start : element.end]
        for start, _ in (*date_spans(text), *month_spans(text)) if element.noise is None else ():
            label = frozenset(content_stems(_BEFORE_DAY.split(text[:start].rstrip(" :"))[-1]))
            if any(name <= label for name in names):
                yield element.start, element.end
                break


def _mentions(document: Document, offices: Sequence[AnswerType]) -> list[tuple[int, int]]:
    """Lines with one of ``offices`` and something spelt like a person, at most `MOST_MENTIONS`, spread over the
    document."""
    first = {phrase[0] for office in offices for phrase in office.says}
    found: list[tuple[int, int]] = []
    for element in document.elements if offices else ():
        start = element.start
        for line in document.text[element.start : element.end].split("\n") if element.noise is None else ():
            if not first.isdisjoint(map(stem, tokens(line))) and any(fit(office, line) == 1.0 for office in offices):
                found.append((start, start + len(line)))
            start += len(line) + 1
    return found[:: max(1, -(-len(found) // MOST_MENTIONS))]


def _ends(document: Document, element: Element, after: Element) -> bool:
    """Whether the section under the heading ``element`` ends before ``after``. An item of a filing extends to the next
    item, however large its inner headings are printed."""
    item, next_item = (_heading(document, one).lower().split()[:1] in (["item"], ["part"]) for one in (element, after))
    return next_item if item else after.level <= element.level


def _alike(wanted: frozenset[str], heading: str) -> float:
    """Agreement of a heading, 0–1; of a short one that names several subjects at least `_ALIKE`, if one of them is
    ``wanted`` ("Confidential Information and Non-Competition")."""
    subjects = map(_called_by, _SUBJECTS.split(heading)) if len(heading.split()) <= _SHORT else ()
    one_of_it = any(wanted <= said and agreement(wanted, said) >= _ALIKE for said in subjects)
    return max(agreement(wanted, _called_by(heading)), _ALIKE * one_of_it)


def _called_by(heading: str) -> frozenset[str]:
    """Stems of a heading without its number."""
    parts = heading.split()
    if parts and parts[0].lower() in _PARTS:
        parts = parts[2:] or parts
    elif len(parts) > 1 and _NUMBER.fullmatch(parts[0]):
        del parts[0]
    return frozenset(content_stems(" ".join(parts)))


def _is_row(head: str, group: str, names: Iterable[frozenset[str]]) -> bool:
    """Whether a row of a statement may have one of ``names``, with its group or by the first words of its header."""
    said = head_stems(f"{group} {head}")
    return any(name <= said for name in names)


class OfflineSections(OfflineWriter):
    """`LLM` for requests with a ``form``. ``reranker`` of None ranks by words alone."""

    def stream(self, request: ModelRequest) -> StaticStream:
        """Section text, one requirement at a time. The prompt is not read."""
        stream = StaticStream((), model=self.name)
        stream.parts = self._section(request.task, stream)
        return stream

    def _section(self, request: WritingTask, stream: StaticStream) -> Iterator[str]:
        form = request.form
        assert form is not None  # a question without guidance goes to the answerer
        pieces = form.requirements or (request.question,)
        everything = " ".join((request.question, *pieces))
        wanted, dated = Wanted(everything, request.terms), form.sort == "date"
        found = list(quotables(requirement(everything), wanted, request.sources, dated=dated))
        evidence = Evidence(request, found, self._reranker)
        known = request.stated
        titles = short_titles({source.doc_id: source.title for source in request.sources}) | dict(known.titles)
        lacks: Sequence[Sequence[Missing]] = ((),) * len(pieces)
        if form.kind == "table":
            texts = [table_field(request.question, form, request.sources)]
            pieces = (request.question,)
        elif form.kind == "value":
            form = replace(form, requirements=pieces)
            every = wishes(request.question, form, request.terms, known.year)
            values = [field_values(one, found, evidence.own, known, self._reranker) for one in every]
            stream.values = tuple(one.value for each in values for one in each)
            values = [[one for one in each if one.certain] for each in values]
            several = len({quote.source.doc_id for quote in found}) > 1
            texts = [_values(each, several, titles) for each in values]
            given = [[one.quote for one in each] for each in values]
            lacks = [_lacking(piece, each, titles, known) for piece, each in zip(pieces, given)]
        else:
            quotes = self._quoted(pieces, evidence)
            mark = "**" if len(pieces) == 1 else "*"  # requirements are printed bold if there are several
            texts = ["".join(listing(each, mark, titles)).strip() for each in quotes]
            lacks = _lacking_of_each(request, pieces, quotes, titles)
        if any(texts):
            stream.missing = tuple(one for each in lacks for one in each)
            yield from _laid_out(pieces, texts, lacks)
            return
        yield NO_ANSWER

    def _quoted(self, pieces: Sequence[str], evidence: Evidence) -> list[list[Quotable]]:
        alone = len(pieces) == 1
        most = self._settings.offline_sentences if alone else _OF_ONE
        quotes = [evidence.on(piece, most, alone=alone) for piece in pieces]
        if not any(quotes) and evidence.own:
            # The document has such a section; its text still applies though it names none of this.
            quotes[0] = evidence.on(pieces[0], most, alone=True)
        return quotes


def _values(found: Sequence[Given], several: bool, titles: Mapping[str, str]) -> str:
    if not several:
        return "\n".join(one.text for one in found)
    return "\n".join(f"- {escape(titles[one.quote.source.doc_id])}: {one.text}" for one in found)


def _lacking_of_each(
    request: WritingTask, pieces: Sequence[str], quotes: Sequence[Sequence[Quotable]], titles: Mapping[str, str]
) -> list[list[Missing]]:
    """`_lacking` of each piece; for a document without any quote, the whole section, once."""
    if len(pieces) == 1:
        return [_lacking(pieces[0], quotes[0], titles, request.stated)]
    nothing = _lacking(request.question, [quote for each in quotes for quote in each], titles, request.stated)
    without = {one.doc_id for one in nothing}
    rest = {doc_id: title for doc_id, title in titles.items() if doc_id not in without}
    lacks = [_lacking(_called(piece, pieces), each, rest, request.stated) for piece, each in zip(pieces, quotes)]
    lacks[-1] += nothing
    return lacks


def _lacking(what: str, given: Sequence[Quotable], titles: Mapping[str, str], known: KnownFacts) -> list[Missing]:
    """``what`` as missing in each document of a company without a ``given`` quote while another company has one: the
    first by their ``titles``, the rest by their number."""
    others = passed_over(titles, (quote.source.doc_id for quote in given), known.companies)
    named = [Missing(what, doc_id, titles[doc_id]) for doc_id in others[:_MOST_LACKING]]
    more = len(others) - len(named)
    return [*named, *([Missing(f"{what} ({more} more documents)")] if more > 0 else [])]


def _laid_out(pieces: Sequence[str], texts: Sequence[str], lacks: Sequence[Sequence[Missing]]) -> Iterator[str]:
    """Each piece with its text and missing marks; pieces with identical text are grouped."""
    together: dict[frozenset[str], list[int]] = {}
    for place, (piece, text) in enumerate(zip(pieces, texts)):
        together.setdefault(frozenset(text.splitlines() or [piece]), []).append(place)
    for places in together.values():
        if len(pieces) > 1:
            name = "; ".join(_called(pieces[place], pieces) for place in places)
            yield f"**{escape(name[:1].upper() + name[1:])}**\n\n"
        yield f"{texts[places[0]] or missing_mark(pieces[places[0]])}\n\n"
        yield from (f"{missing_mark(one.words)}\n\n" for place in places for one in lacks[place])


def _called(piece: str, pieces: Sequence[str]) -> str:
    """``piece`` without the antecedent in brackets: "its products (what the company makes)", since that is above it."""
    return piece.removesuffix(f" ({pieces[0]})")


# Quotes


class Evidence:
    """Quotes of one request, ranked for each of its requirements."""

    def __init__(self, request: WritingTask, found: Sequence[Quotable], reranker: Reranker | None) -> None:
        self._request = request
        self._found = list(found)
        self._reranker = reranker
        # Quotes in document sections named like the requested one.
        self.own = [quote for quote in found if _within(quote, request.own)]
        self._rarity = Rarity([quote.words for quote in found])

    def on(self, piece: str, most: int, *, alone: bool) -> list[Quotable]:
        """At most ``most`` quotes about ``piece``, best first; ``alone``: it is the only requirement."""
        whole = piece == self._request.question
        ranking = self._ranking(piece if whole else f"{self._request.question}: {piece}")
        # Of a section of that name the heading says the rest.
        near = ranking if whole else self._ranking(without_brackets(piece).strip() or piece)
        own = near.scored(self.own, self._reranker)
        held = [one.quote for one in own if alone or one.worth >= _PLAIN or self._share(piece, one.quote) >= _SPEAKS]
        held = _without_references(held or [one.quote for one in _nearest(own)])
        # Pinned quotes come first but do not replace the rest.
        pinned = [quote for quote in held if _within(quote, self._request.pinned)]
        chosen = _by_turns([quote for quote in held if quote not in pinned])
        if not chosen:
            ranked = self._in_paragraphs(piece, ranking.scored(self._found, self._reranker))
            # Matching words alone are no answer: a law on litigation is not a legal proceeding.
            good = [each for each in ranked if each.worth >= _PLAIN and each.quote not in pinned]
            # The cross-encoder judges sentences but not rows.
            good = [each for each in good if each.quote.row is None or self._share(piece, each.quote) >= _SPEAKS]
            floor = _SHARE * good[0].worth if good else 0.0
            chosen = _without_references([each.quote for each in good if each.worth >= floor])
        others = self._of_others(piece, ranking, [*pinned, *chosen])
        if others:
            # A company with more to quote must not crowd out another.
            chosen = _by_turns([*chosen, *others])
            most = max(most, len({quote.source.doc_id for quote in chosen}))
        return without_repeats([*pinned, *chosen], most)

    def _of_others(self, piece: str, ranking: Ranking, chosen: Sequence[Quotable]) -> list[Quotable]:
        """Quotes about ``piece`` from documents of companies without a ``chosen`` quote."""
        found: list[Quotable] = []
        for doc_id in passed_over(_documents(self._found), _documents(chosen), self._request.stated.companies):
            own = ranking.scored([quote for quote in self._found if quote.source.doc_id == doc_id], self._reranker)
            good = [each for each in own if each.worth >= _PLAIN and self._share(piece, each.quote) >= _SPEAKS]
            found += [each.quote for each in good[:_OF_EACH] if each.worth >= _SHARE * good[0].worth]
        return found

    def _in_paragraphs(self, piece: str, ranked: list[Scored]) -> list[Scored]:
        """``ranked`` with further sentences judged together with the preceding text of their paragraph, which may name
        their subject: those not clearly relevant alone but with half the words of ``piece``."""
        if self._reranker is None or any(each.worth >= _PLAIN for each in ranked):
            return ranked
        asked = f"{self._request.question}: {piece}"
        prose = ((n, each.quote) for n, each in enumerate(ranked) if each.quote.row is None)
        near = [n for n, quote in prose if self._share(piece, quote) >= _SPEAKS][:_READ]
        read = [with_paragraph(ranked[n].quote)[-LONGEST_PASSAGE:] for n in near]
        worth = dict(zip(near, spread(odds_of(self._reranker.score(asked, read))), strict=True))
        judged = [replace(each, worth=max(each.worth, float(worth.get(n, 0.0)))) for n, each in enumerate(ranked)]
        return sorted(judged, key=lambda each: -each.worth)

    def _ranking(self, asked: str) -> Ranking:
        request = self._request
        return Ranking(requirement(asked), Wanted(asked, request.terms), routes=request.routes)

    def _share(self, piece: str, quote: Quotable) -> float:
        """Share of the words of ``piece`` in the quote itself, weighted by rarity, 0–1."""
        wanted, words = self._wanted(piece)
        said = frozenset(content_stems(f"{quote.text} {quote.about}"))
        held = (word for word in words if wanted.has(word, said))
        return self._rarity.total(held) / (self._rarity.total(words) or 1.0)

    def _wanted(self, piece: str) -> tuple[Wanted, list[str]]:
        """What ``piece`` asks for, and its content words; with the heading's if it has one ("the revenue of each")."""
        for text in (piece, f"{self._request.question} {piece}"):
            wanted = Wanted(without_brackets(text), self._request.terms)
            words = [word for word in wanted.words if word not in _SAYS_LITTLE]
            if len(words) > 1:
                break
        return wanted, words


def _nearest(own: Sequence[Scored]) -> list[Scored]:
    """Those of ``own`` that are nearly as relevant as the best, which is faintly so: a fragment of an instruction is no
    question, so that the cross-encoder ranks what answers it first without finding it likely."""
    best = max((one.relevance or 0.0 for one in own), default=0.0)
    return [one for one in own if one.relevance is not None and one.relevance >= max(_FAINT, best / _NEAR)]


def _within(quote: Quotable, own: Sequence[tuple[int, int, int]]) -> bool:
    return any(
        quote.source.number == number and first <= quote.first and quote.last <= last for number, first, last in own
    )


def _without_references(quotes: Sequence[Quotable]) -> list[Quotable]:
    """``quotes`` without bare cross-references, if their document has other quotes."""
    says = {quote.source.doc_id for quote in quotes if not refers(quote.text)}
    return [quote for quote in quotes if quote.source.doc_id not in says or not refers(quote.text)]


def _documents(quotes: Sequence[Quotable]) -> list[str]:
    return list(dict.fromkeys(quote.source.doc_id for quote in quotes))


def _by_turns(quotes: Sequence[Quotable]) -> list[Quotable]:
    """Quotes in round-robin order of documents: the best of each, then the next best, so that none crowds out
    another."""
    own: dict[str, list[Quotable]] = {}
    for quote in quotes:
        own.setdefault(quote.source.doc_id, []).append(quote)
    return [quote for turn in zip_longest(*own.values()) for quote in turn if quote is not None]


# Tables


def table_field(heading: str, form: Field, sources: Sequence[Source]) -> str:
    """``form`` as a Markdown table, each cell with its marker, or "" if no table of ``sources`` has its columns.

    The first column takes the row headers unless a table column has its name. If the requirements name several rows,
    only those are given, and absent ones are reported as missing.
    """
    wanted = form.requirements if len(form.requirements) > 1 else ()
    quotes = [quote for quote in quotables(requirement(""), Wanted(""), sources) if quote.row is not None]
    tables = [list(rows) for _, rows in groupby(quotes, key=lambda quote: (quote.source.number, quote.about))]
    chosen = max(tables, key=lambda rows: _worth(heading, form, wanted, rows), default=[])
    columns = _columns(form.columns, chosen)
    if not chosen or any(column is None for column in columns[1:]):
        return ""
    # "2023" and "Total" are columns of any table; "Cmax" and "AUC" name their subject themselves.
    named = any(stems_of(column or "") - _ANY_TABLE - stems("names", "beside") for column in columns[1:])
    if _about(heading, form, chosen) < (_ABOUT_NAMED if named else _ABOUT):
        return ""
    rows, missing = chosen[:MOST_ROWS], list[str]()
    if wanted:
        nearest = {piece: max(chosen, key=lambda row: _named(piece, row)) for piece in wanted}
        missing = [piece for piece, row in nearest.items() if _named(piece, row) < _HAS_NAME]
        rows = [row for piece, row in nearest.items() if piece not in missing]
    if not rows:
        return ""
    lines = [form.columns, tuple("---" for _ in form.columns), *(_line(row, columns) for row in rows)]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return "\n\n".join([table, *(missing_mark(piece) for piece in missing)]) + "\n"


def _row(quote: Quotable) -> Row:
    assert quote.row is not None
    return quote.row


def _columns(wanted: Sequence[str], rows: Sequence[Quotable]) -> list[str | None]:
    """Label of the column in ``rows`` that each wanted column names, or None; each label is used once."""
    labels = list(dict.fromkeys(cell.column for quote in rows for cell in _row(quote).cells))
    out: list[str | None] = []
    for column in wanted:
        asked = content_stems(column)
        free = [label for label in labels if label not in out]
        best = max(free, key=lambda label: cover(asked, content_stems(label)), default=None)
        named = best is not None and bool(asked) and cover(asked, content_stems(best)) >= _HAS_NAME
        out.append(best if named else None)
    return out


def _worth(heading: str, form: Field, wanted: Sequence[str], rows: Sequence[Quotable]) -> tuple[float, ...]:
    columns = _columns(form.columns, rows)[1:]
    found = sum(column is not None for column in columns) / max(1, len(columns))
    named = sum(max(_named(piece, row) for row in rows) >= _HAS_NAME for piece in wanted)
    return found, named, _about(heading, form, rows), rows[0].source.score


def _about(heading: str, form: Field, rows: Sequence[Quotable]) -> float:
    """Match of heading and requirements with the names of the table and its columns, 0–1."""
    said = rows[-1].place.union(*(content_stems(cell.column) for cell in _row(rows[-1]).cells))
    asked = set(content_stems(f"{heading} {' '.join(form.requirements)}")) - stems("names", "beside")
    return cover(asked or content_stems(heading), said)


def _named(piece: str, quote: Quotable) -> float:
    """Match between ``piece`` and the header of a row, 0–1."""
    return agreement(frozenset(content_stems(piece)), frozenset(content_stems(_row(quote).head)))


def _line(quote: Quotable, columns: Sequence[str | None]) -> tuple[str, ...]:
    row = _row(quote)
    cells = {cell.column: cell.number for cell in row.cells}

    def shown(unit: int) -> str:
        text = escape(quote.source.words(unit, unit)).replace("|", "\\|") if unit else ""
        return f"{text} {marker(quote.source, unit, unit)}" if text else ""

    first = cells.get(columns[0], 0) if columns[0] is not None else row.first
    return (shown(first), *(shown(cells.get(column or "", 0)) for column in columns[1:]))
