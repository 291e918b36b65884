"""Manuscript construction from a conversation or a report: headings, answers with their verdicts and notices, their
notes, and finally the cited documents."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragcore.export.characters import clean, one_line, shortened
from ragcore.export.model import (
    Block,
    Heading,
    Items,
    Manuscript,
    Note,
    NoteRef,
    Notes,
    Paragraph,
    Role,
    Text,
    Verdict,
    references,
)
from ragcore.export.notes import with_short_titles
from ragcore.export.parse import Insert, parse
from ragcore.text.words import MONTHS
from ragcore.types import GENERATED_MARKS, OFFLINE, Answer, Citation, Claim
from ragcore.types.report import INSUFFICIENT, FilledSection, Report, missing_mark

HEADING_LENGTH = 120  # a longer question is cut in its heading and printed in full below it
DEEPEST = 6  # heading level
DOUBTS = {
    "weak": "the cited words back only part of the claim",
    "unsupported": "the cited words don't say it",
}


@dataclass(frozen=True, slots=True)
class Exchange:
    """Question and its answer, None if none was stored; ``asked`` in seconds since the epoch."""

    question: str
    answer: Answer | None
    asked: float


def of_conversation(
    title: str, exchanges: Sequence[Exchange], files: Mapping[str, str], *, quote_length: int
) -> Manuscript:
    """Manuscript of a conversation. ``files`` maps documents to the library's file names, without removed documents.
    Quotes longer than ``quote_length`` characters are shortened in the middle."""
    notes: list[Note] = []
    cited: list[Citation] = []
    blocks: list[Block] = []
    for place, exchange in enumerate(exchanges, start=1):
        blocks += _question(place, exchange.question)
        answer = exchange.answer
        if answer is None:
            blocks.append(line("No answer: it was still being written, or was cut off.", "notice"))
            continue
        blocks += _about(answer, exchange)
        blocks += _answered(answer, notes, quote_length)
        cited += answer.citations
    times = [exchange.asked for exchange in exchanges]
    return Manuscript(
        title=one_line(title) or "Conversation",
        blocks=(*_conversation_opening(exchanges, notes), *blocks, *_documents(cited, files, notes)),
        notes=with_short_titles(notes),
        written=max(times, default=0.0),
    )


def _conversation_opening(exchanges: Sequence[Exchange], notes: Sequence[Note]) -> Iterator[Block]:
    if not exchanges:
        yield line("This conversation has no questions.")
        return
    days = list(dict.fromkeys(_day(exchange.asked) for exchange in (exchanges[0], exchanges[-1])))
    count = "1 question" if len(exchanges) == 1 else f"{len(exchanges)} questions"
    yield line(f"A conversation with documents: {count}, {' to '.join(days)}", "about")
    yield from _legend(claim.status for each in exchanges if each.answer for claim in each.answer.claims)


def _question(place: int, question: str) -> Iterator[Block]:
    words = one_line(question)
    heading = shortened(words, HEADING_LENGTH)
    yield Heading(1, (Text(f"{place}. {heading}"),))
    if heading != words:
        for part in clean(question).split("\n"):
            if part.strip():
                yield Paragraph((Text(" ".join(part.split()), italic=True),))


def _about(answer: Answer, exchange: Exchange) -> Iterator[Block]:
    yield _written(answer, _moment(answer.created or exchange.asked))
    if answer.standalone and answer.standalone != answer.question:
        yield line(f"Searched for: “{one_line(answer.standalone)}”", "about")
    if answer.refused:
        yield line("No answer found in your documents.", "notice")
    elif answer.extractive:
        yield line("Quotes from your documents.", "notice")
    yield from _unfinished(answer)
    if answer.dropped:
        many = len(answer.dropped)
        words = "1 citation" if many == 1 else f"{many} citations"
        yield line(f"{words} without a valid source {'was' if many == 1 else 'were'} removed.", "about")
    for note in (*answer.notes, *(answer.trace.notes if answer.trace else ())):
        yield line(one_line(note), "about")


def _day(seconds: float) -> str:
    date = time.gmtime(seconds)
    return f"{date.tm_mday} {MONTHS[date.tm_mon - 1]} {date.tm_year}"


def _moment(seconds: float) -> str:
    date = time.gmtime(seconds)
    return f"{_day(seconds)}, {date.tm_hour:02}:{date.tm_min:02} UTC"


def of_report(report: Report, files: Mapping[str, str], *, quote_length: int) -> Manuscript:
    """Manuscript of a report. ``files`` maps documents to the library's file names. Quotes longer than ``quote_length``
    characters are shortened in the middle."""
    notes: list[Note] = []
    cited: list[Citation] = []
    blocks: list[Block] = []
    for section in report.sections:
        heading = one_line(f"{section.number} {section.heading}")
        blocks.append(Heading(min(section.level, DEEPEST), (Text(heading),)))
        if section.answer is None:
            if section.status == "empty" and not section.gaps:
                blocks.append(line("Not written yet.", "notice"))
            blocks += parse(section.text, _lacking(section.text))
            continue
        blocks += _unfinished(section.answer)
        blocks += _answered(section.answer, notes, quote_length, highest=min(section.level + 1, DEEPEST))
        cited += section.answer.citations
    return Manuscript(
        title=one_line(report.title),
        blocks=(*_report_opening(report, notes), *blocks, *_gaps(report), *_documents(cited, files, notes)),
        notes=with_short_titles(notes),
        written=report.created,
    )


def _report_opening(report: Report, notes: list[Note]) -> Iterator[Block]:
    yield _written(report, _day(report.created))
    if report.extractive:
        yield line("Quotes from your documents.", "notice")
    yield from _legend(verdict.status for note in notes for verdict in note.verdicts)


def _gaps(report: Report) -> Iterator[Block]:
    lacking = [section for section in report.sections if section.gaps]
    if not lacking:
        return
    yield Heading(1, (Text("Missing"),))
    yield Items(tuple(_lacks(section) for section in lacking))


def _lacks(section: FilledSection) -> tuple[Block, ...]:
    note = "" if section.required else " (optional)"
    about = Paragraph((Text(one_line(f"{section.number} {section.heading}"), bold=True), Text(note)))
    return about, Items(tuple((Paragraph((Text(one_line(gap.what)),)),) for gap in section.gaps))


def _written(made: Answer | Report, when: str) -> Paragraph:
    writer = "the offline answerer" if made.model == OFFLINE else one_line(made.model)
    return line(f"{'Put together' if made.extractive else 'Written'} by {writer}, {when}", "about")


def _legend(statuses: Iterable[str]) -> Iterator[Block]:
    """Meanings of the verdict words that occur."""
    found = set(statuses)
    legend = "; ".join(f"[{status}]: {words}" for status, words in DOUBTS.items() if status in found)
    if legend:
        yield line(f"Every claim was checked against the words it cites. {legend}.", "about")


def _unfinished(answer: Answer) -> Iterator[Block]:
    if answer.status == "stopped":
        yield line("Stopped before the end.", "notice")
    if answer.status == "failed":
        error = answer.error or {}
        words = one_line(f"{error.get('message', '')} {error.get('hint', '')}")
        yield line(f"Failed before the end. {words}".strip(), "notice")


# Answers


def _answered(answer: Answer, notes: list[Note], quote_length: int, *, highest: int = 2) -> list[Block]:
    """Blocks of an answer, its headings from level ``highest`` on; its notes, numbered on from ``notes`` in order of
    first reference, are appended to these and listed last."""
    known = len(notes)
    by_n = {citation.n: citation for citation in answer.citations}
    first = _body(answer, {n: n for n in by_n}, highest)
    numbers = {n: known + place for place, n in enumerate(dict.fromkeys(references(first)), start=1)}
    given = {mark.n for mark in answer.marks if not mark.added}
    doubtful = [claim for claim in answer.claims if claim.status in DOUBTS]
    own = [
        _note(
            by_n[n],
            number,
            quote_length,
            added=n not in given and any(mark.n == n for mark in answer.marks),
            verdicts=tuple(Verdict(claim.status, one_line(claim.reason)) for claim in doubtful if n in claim.citations),
        )
        for n, number in numbers.items()
    ]
    notes += own
    listed = [Notes(tuple(note.number for note in own))] if own else []
    return [*_body(answer, numbers, highest), *listed]


def _body(answer: Answer, numbers: Mapping[int, int], highest: int) -> tuple[Block, ...]:
    marks = [Insert(mark.start, mark.end, (NoteRef(numbers[mark.n]),)) for mark in answer.marks]
    doubts = [_doubt(answer.text, claim) for claim in answer.claims if claim.status in DOUBTS]
    blocks = parse(answer.text, [*marks, *doubts, *_lacking(answer.text)], highest=highest)
    unmarked = sorted({citation.n for citation in answer.citations} - {mark.n for mark in answer.marks})
    if not unmarked:
        return blocks
    return (*blocks, Paragraph((Text("Also cited:"), *(NoteRef(numbers[n]) for n in unmarked))))


def _lacking(text: str) -> list[Insert]:
    """Inserts for the parts that ``text`` reports as missing, so that they are not taken for a link or a quote."""
    return [
        Insert(
            match.start(), match.end(), (Text(missing_mark(match.group(1) or "not said what"), bold=True, lack=True),)
        )
        for match in INSUFFICIENT.finditer(text)
    ]


def _doubt(text: str, claim: Claim) -> Insert:
    """Verdict word at the end of a claim; its reason is in the claim's notes, or beside the word without notes."""
    end = claim.start + len(text[claim.start : claim.end].rstrip(" \t\n|"))
    reason = "" if claim.citations else f": {one_line(claim.reason)}"
    return Insert(end, end, (Text(f" [{claim.status}{reason}]", remark=True),))


def _note(citation: Citation, number: int, quote_length: int, *, added: bool, verdicts: tuple[Verdict, ...]) -> Note:
    quote = one_line(citation.quotation)
    for mark in GENERATED_MARKS if citation.generated else ():
        quote = quote.replace(mark, " ")
    return Note(
        number=number,
        title=one_line(citation.title) or citation.doc_id,
        page=citation.page,
        label=one_line(citation.page_label) or str(citation.page),
        quote=shortened(" ".join(quote.split()), quote_length),
        section=tuple(one_line(part) for part in citation.section),
        cell=one_line(citation.label),
        generated=citation.generated,
        ocr=citation.ocr,
        added=added,
        verdicts=verdicts,
        doc_id=citation.doc_id,
        boxes=citation.boxes,
        heads=citation.head_boxes,
    )


def _documents(cited: Sequence[Citation], files: Mapping[str, str], notes: Sequence[Note]) -> Iterator[Block]:
    """Documents in order of first citation, each with its file, its cited pages, and the short name used in ``notes``
    after the first, if it differs from the title."""
    if not cited:
        return
    pages: dict[str, dict[int, str]] = {}
    for citation in cited:
        pages.setdefault(citation.doc_id, {})[citation.page] = one_line(citation.page_label) or str(citation.page)
    titles = {citation.doc_id: one_line(citation.title) or citation.doc_id for citation in cited}
    called = {note.doc_id: note.short for note in with_short_titles(notes) if note.short}
    yield Heading(1, (Text("Documents cited"),))
    yield Items(
        tuple((_document(titles[one], files.get(one), pages[one], called.get(one, titles[one])),) for one in titles)
    )


def _document(title: str, file: str | None, pages: Mapping[int, str], called: str) -> Paragraph:
    labels = [label for _, label in sorted(pages.items())]
    where = f"{'p.' if len(labels) == 1 else 'pp.'} {', '.join(labels)}"
    kept = f" ({one_line(file)})" if file else " (no longer in the library)"
    named = (Text(", cited as "), Text(called, italic=True)) if called != title else ()
    return Paragraph((Text(title, italic=True), Text(kept), *named, Text(f", {where}")))


def line(words: str, role: Role = "body") -> Paragraph:
    return Paragraph((Text(words),), role)
