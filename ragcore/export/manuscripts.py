"""Manuscript construction from a conversation or a report: headings, answers with their verdicts and notices, their
notes, and finally the cited documents."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragcore.export.characters import clean, one_line, shortened
from ragcore.export.markdown import Insert, parse
from ragcore.export.tree import (
    Manuscript,
    Node,
    Nodes,
    Note,
    bullets,
    heading,
    node,
    paragraph,
    references,
    rewritten,
    words,
)
from ragcore.text.markdown import quoted
from ragcore.text.numbers import plural
from ragcore.text.words import MONTHS
from ragcore.types import GENERATED_MARKS, OFFLINE, Answer, Citation, Claim
from ragcore.types.report import INSUFFICIENT, FilledSection, Report, missing_mark

if TYPE_CHECKING:
    from ragcore.index.conversations import StoredTurn

HEADING_LENGTH = 120  # a longer question is cut in its heading and printed in full below it
DEEPEST = 6  # heading level
DOUBTS = {
    "weak": "the cited words back only part of the claim",
    "unsupported": "the cited words don't say it",
}


def of_conversation(
    title: str, turns: Sequence[StoredTurn], files: Mapping[str, str], *, quote_length: int
) -> Manuscript:
    """Manuscript of a conversation. ``files`` maps documents to the library's file names, without removed documents.
    Quotes longer than ``quote_length`` characters are shortened in the middle."""
    notes: list[Note] = []
    blocks: Nodes = []
    for place, turn in enumerate(turns, start=1):
        blocks += _question(place, turn.question)
        answer = turn.answer
        if answer is None:
            blocks.append(paragraph("No answer: it was still being written, or was cut off.", "notice"))
            continue
        blocks += _about(answer, turn.created)
        blocks += _answered(answer, notes, quote_length)
    return Manuscript(
        title=one_line(title) or "Conversation",
        blocks=[*_conversation_opening(turns), *blocks, *_documents(notes, files)],
        notes=tuple(notes),
        written=max((turn.created for turn in turns), default=0.0),
    )


def _conversation_opening(turns: Sequence[StoredTurn]) -> Iterator[Node]:
    if not turns:
        yield paragraph("This conversation has no questions.")
        return
    days = list(dict.fromkeys(day(turn.created) for turn in (turns[0], turns[-1])))
    yield paragraph(f"A conversation with documents: {plural(len(turns), 'question')}, {' to '.join(days)}", "about")
    yield from _legend(claim.status for turn in turns if turn.answer for claim in turn.answer.claims)


def _question(place: int, question: str) -> Iterator[Node]:
    whole = one_line(question)
    brief = shortened(whole, HEADING_LENGTH)
    yield heading(1, f"{place}. {brief}")
    if brief != whole:
        for part in filter(str.strip, clean(question).split("\n")):
            yield paragraph(words(one_line(part), "Emph"))


def _about(answer: Answer, asked: float) -> Iterator[Node]:
    yield _written(answer, _moment(answer.created or asked))
    if answer.standalone and answer.standalone != answer.question:
        yield paragraph(f"Searched for: “{one_line(answer.standalone)}”", "about")
    if answer.refused:
        yield paragraph("No answer found in your documents.", "notice")
    elif answer.extractive:
        yield paragraph("Quotes from your documents.", "notice")
    yield from _unfinished(answer)
    if answer.dropped:
        were = "was" if len(answer.dropped) == 1 else "were"
        yield paragraph(f"{plural(len(answer.dropped), 'citation')} without a valid source {were} removed.", "about")
    for note in (*answer.notes, *(answer.trace.notes if answer.trace else ())):
        yield paragraph(one_line(note), "about")


def day(seconds: float) -> str:
    date = time.gmtime(seconds)
    return f"{date.tm_mday} {MONTHS[date.tm_mon - 1]} {date.tm_year}"


def _moment(seconds: float) -> str:
    date = time.gmtime(seconds)
    return f"{day(seconds)}, {date.tm_hour:02}:{date.tm_min:02} UTC"


def of_report(report: Report, files: Mapping[str, str], *, quote_length: int) -> Manuscript:
    """Manuscript of a report. ``files`` maps documents to the library's file names. Quotes longer than ``quote_length``
    characters are shortened in the middle."""
    notes: list[Note] = []
    blocks: Nodes = []
    for section in report.sections:
        blocks.append(heading(min(section.level, DEEPEST), one_line(f"{section.number} {section.heading}")))
        if section.answer is None:
            if section.status == "empty" and not section.gaps:
                blocks.append(paragraph("Not written yet.", "notice"))
            blocks += parse(section.text, _lacking(section.text))
            continue
        blocks += _unfinished(section.answer)
        blocks += _answered(section.answer, notes, quote_length, highest=min(section.level + 1, DEEPEST))
    return Manuscript(
        title=one_line(report.title),
        blocks=[*_report_opening(report, notes), *blocks, *_gaps(report), *_documents(notes, files)],
        notes=tuple(notes),
        written=report.created,
    )


def _report_opening(report: Report, notes: list[Note]) -> Iterator[Node]:
    yield _written(report, day(report.created))
    if report.extractive:
        yield paragraph("Quotes from your documents.", "notice")
    yield from _legend(claim.status for note in notes for claim in note.doubts)


def _gaps(report: Report) -> Iterator[Node]:
    lacking = [section for section in report.sections if section.gaps]
    if lacking:
        yield heading(1, "Missing")
        yield bullets(*map(_lacks, lacking))


def _lacks(section: FilledSection) -> Nodes:
    about = words(one_line(f"{section.number} {section.heading}"), "Strong")
    note = [] if section.required else words(" (optional)")
    gaps = ([node("Plain", words(one_line(gap.what)))] for gap in section.gaps)
    return [node("Plain", about + note), bullets(*gaps)]


def _written(made: Answer | Report, when: str) -> Node:
    writer = "the offline answerer" if made.model == OFFLINE else one_line(made.model)
    return paragraph(f"{'Put together' if made.extractive else 'Written'} by {writer}, {when}", "about")


def _legend(statuses: Iterable[str]) -> Iterator[Node]:
    """Meanings of the verdict words that occur."""
    found = set(statuses)
    legend = "; ".join(f"[{status}]: {meaning}" for status, meaning in DOUBTS.items() if status in found)
    if legend:
        yield paragraph(f"Every claim was checked against the words it cites. {legend}.", "about")


def _unfinished(answer: Answer) -> Iterator[Node]:
    if answer.status == "stopped":
        yield paragraph("Stopped before the end.", "notice")
    if answer.status == "failed":
        error = answer.error or {}
        told = one_line(f"{error.get('message', '')} {error.get('hint', '')}")
        yield paragraph(f"Failed before the end. {told}".strip(), "notice")


# Answers


def _answered(answer: Answer, notes: list[Note], quote_length: int, *, highest: int = 2) -> Nodes:
    """Blocks of an answer, its headings from level ``highest`` on; its notes, numbered on from ``notes`` in order of
    first reference, are appended to these and listed last."""
    marks = [Insert(mark.start, mark.end, [node("Ref", mark.n)]) for mark in answer.marks]
    doubtful = [claim for claim in answer.claims if claim.status in DOUBTS]
    doubts = [_doubt(answer.text, claim) for claim in doubtful]
    blocks = parse(answer.text, [*marks, *doubts, *_lacking(answer.text)], highest=highest)
    unmarked = sorted({citation.n for citation in answer.citations} - {mark.n for mark in answer.marks})
    if unmarked:
        blocks.append(node("Para", [*words("Also cited:"), *(node("Ref", n) for n in unmarked)]))
    numbers = {n: place for place, n in enumerate(dict.fromkeys(references(blocks)), start=len(notes) + 1)}
    by_n = {citation.n: citation for citation in answer.citations}
    given = {mark.n for mark in answer.marks if not mark.added}
    own = [
        Note(
            number,
            cleaned(by_n[n], quote_length),
            added=n not in given and n not in unmarked,
            doubts=tuple(claim for claim in doubtful if n in claim.citations),
        )
        for n, number in numbers.items()
    ]
    notes += own
    listed = [node("Notes", [note.number for note in own])] if own else []
    # The notes' numbers in place of the citations' own.
    numbered = rewritten(blocks, lambda each: [node("Ref", numbers[each["c"]]) if each["t"] == "Ref" else each])
    return [*numbered, *listed]


def _lacking(text: str) -> list[Insert]:
    """Inserts for the parts that ``text`` reports as missing, so that they are not taken for a link or a quote."""
    return [
        Insert(match.start(), match.end(), words(missing_mark(match.group(1) or "not said what"), "Strong", "lack"))
        for match in INSUFFICIENT.finditer(text)
    ]


def _doubt(text: str, claim: Claim) -> Insert:
    """Verdict word at the end of a claim; its reason is in the claim's notes, or beside the word without notes."""
    end = claim.start + len(text[claim.start : claim.end].rstrip(" \t\n|"))
    reason = "" if claim.citations else f": {one_line(claim.reason)}"
    return Insert(end, end, [node("Space"), *words(f"[{claim.status}{reason}]", "remark")])


def cleaned(citation: Citation, quote_length: int) -> Citation:
    """``citation`` with texts that any format can hold, and a quote of at most ``quote_length`` characters."""
    quote = citation.quotation
    for mark in GENERATED_MARKS if citation.generated else ():
        quote = quote.replace(mark, " ")
    return replace(
        citation,
        title=one_line(citation.title) or citation.doc_id,
        page_label=one_line(citation.page_label) or str(citation.page),
        quote=shortened(one_line(quote), quote_length),
        section=tuple(map(one_line, citation.section)),
        label=one_line(citation.label),
        place=one_line(citation.place),
        since=one_line(citation.since),
    )


def _documents(notes: Sequence[Note], files: Mapping[str, str]) -> Iterator[Node]:
    """Documents in order of first citation, each with its file and its cited pages."""
    cited: dict[str, list[Citation]] = {}
    for note in notes:
        cited.setdefault(note.citation.doc_id, []).append(note.citation)
    if cited:
        yield heading(1, "Documents cited")
        yield bullets(*([_document(own, files.get(doc_id))] for doc_id, own in cited.items()))


def _document(cited: Sequence[Citation], file: str | None) -> Node:
    labels = {each.page: each.page_label for each in sorted(cited, key=lambda each: each.page)}.values()
    where = f", {'p.' if len(labels) == 1 else 'pp.'} {', '.join(labels)}"
    kept = f" ({one_line(file)})" if file else " (no longer in the library)"
    return node("Plain", [*words(cited[0].title, "Emph"), *words(kept), *words(where)])


# Notes, the same in every format


def page_of(note: Note) -> str:
    """Page reference of a note, and the place in the original."""
    said = page_called(note.citation.page_label, note.citation.page)
    return ", ".join(filter(None, (said, note.citation.place)))


def page_called(label: str, number: int) -> str:
    """Page reference ``p. 38``, with the page's number in the file if the printed one differs."""
    return f"p. {label}" if label == str(number) else f"p. {label} (page {number} of the file)"


def note_words(note: Note) -> Nodes:
    """Document, page, section (without the title again, where that heads it) and quote, then any caveats about it."""
    cited = note.citation
    section = cited.section[cited.section[:1] == (cited.title,) :]
    # A heading's own full stop or colon would precede the colon.
    parts = (part.rstrip(" .:;") for part in (" › ".join(section), cited.label))
    place = ", ".join(["", page_of(note), *filter(None, parts)])
    said = [each for mark in remarks(note) for each in (node("Space"), *words(mark, "remark"))]
    return [*words(cited.title, "Emph"), *words(f"{place}: {quoted(cited.quote)}"), *said]


def remarks(note: Note) -> list[str]:
    """Caveats about a quote."""
    cited = note.citation
    marks = []
    if cited.generated:
        marks.append("Description of a figure by AI, not the document's own words.")
    if cited.ocr is not None:  # rounded down, so that 100 means certain
        marks.append(f"Read by OCR with {int(100 * cited.ocr)}% confidence.")
    if note.added:
        marks.append("Citation added by Groundwork's check, not by the writer.")
    if cited.since:
        marks.append(cited.since)
    return marks + [one_line(f"Checked: {claim.status}. {claim.reason}") for claim in note.doubts]
