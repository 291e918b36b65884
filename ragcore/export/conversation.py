"""A conversation → a manuscript: each question a heading, its answer with what must be known of it, its notes; last the
documents that were cited."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragcore.export.answers import DOUBTS, answer_blocks, documents, line
from ragcore.export.characters import clean, one_line, shortened
from ragcore.export.model import Block, Heading, Manuscript, Note, Notes, Paragraph, Text
from ragcore.export.titles import with_short_titles
from ragcore.text.words import MONTHS
from ragcore.types import OFFLINE, Answer, Citation

HEADING_LENGTH = 120  # a longer question is cut in its heading and stands whole below it


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, None where none was kept; ``asked`` in seconds since the epoch."""

    question: str
    answer: Answer | None
    asked: float


def manuscript(title: str, exchanges: Sequence[Exchange], files: Mapping[str, str], *, quote_length: int) -> Manuscript:
    """``files`` are the names of the library's files by document; a document that was removed has none.
    Quotes longer than ``quote_length`` characters are shortened in their middle."""
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
        body, own = answer_blocks(answer, len(notes), quote_length)
        blocks += [*body, *([Notes(tuple(note.number for note in own))] if own else [])]
        notes += own
        cited += answer.citations
    times = [exchange.asked for exchange in exchanges]
    return Manuscript(
        title=one_line(title) or "Conversation",
        blocks=(*_opening(exchanges, notes), *blocks, *documents(cited, files, notes)),
        notes=with_short_titles(notes),
        written=max(times, default=0.0),
    )


def _opening(exchanges: Sequence[Exchange], notes: Sequence[Note]) -> Iterator[Block]:
    if not exchanges:
        yield line("This conversation has no questions.")
        return
    days = list(dict.fromkeys(_day(exchange.asked) for exchange in (exchanges[0], exchanges[-1])))
    count = "1 question" if len(exchanges) == 1 else f"{len(exchanges)} questions"
    yield line(f"A conversation with documents: {count}, {' to '.join(days)}", "about")
    claims = [claim for exchange in exchanges if exchange.answer for claim in exchange.answer.claims]
    found = [status for status in DOUBTS if any(claim.status == status for claim in claims)]
    if found:
        legend = "; ".join(f"[{status}]: {DOUBTS[status]}" for status in found)
        yield line(f"Every claim was checked against the words it cites. {legend}.", "about")


def _question(place: int, question: str) -> Iterator[Block]:
    words = one_line(question)
    heading = shortened(words, HEADING_LENGTH)
    yield Heading(1, (Text(f"{place}. {heading}"),))
    if heading != words:
        for part in clean(question).split("\n"):
            if part.strip():
                yield Paragraph((Text(" ".join(part.split()), italic=True),))


def _about(answer: Answer, exchange: Exchange) -> Iterator[Block]:
    writer = "the offline answerer" if answer.model == OFFLINE else one_line(answer.model)
    verb = "Put together" if answer.extractive else "Written"
    yield line(f"{verb} by {writer}, {_moment(answer.created or exchange.asked)}", "about")
    if answer.standalone and answer.standalone != answer.question:
        yield line(f"Searched for: “{one_line(answer.standalone)}”", "about")
    if answer.refused:
        yield line("No answer found in your documents.", "notice")
    elif answer.extractive:
        yield line("Quotes from your documents.", "notice")
    if answer.status == "stopped":
        yield line("Stopped before the end.", "notice")
    if answer.status == "failed":
        error = answer.error or {}
        words = one_line(f"{error.get('message', '')} {error.get('hint', '')}")
        yield line(f"Failed before the end. {words}".strip(), "notice")
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
