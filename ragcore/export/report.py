"""A report → a manuscript: its sections under their headings, what is missing of each, the list of gaps, and the
documents that were cited."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from ragcore.export.answers import DOUBTS, answer_blocks, documents, lacking, line
from ragcore.export.characters import one_line
from ragcore.export.model import Block, Heading, Items, Manuscript, Note, Notes, Paragraph, Text
from ragcore.export.parse import parse
from ragcore.export.titles import with_short_titles
from ragcore.text.words import MONTHS
from ragcore.types import OFFLINE, Citation
from ragcore.types.report import FilledSection, Report

DEEPEST = 6


def manuscript(report: Report, files: Mapping[str, str], *, quote_length: int) -> Manuscript:
    """``files`` are the names of the library's files by document. Quotes longer than ``quote_length`` characters are
    shortened in their middle."""
    notes: list[Note] = []
    cited: list[Citation] = []
    blocks: list[Block] = []
    for section in report.sections:
        heading = one_line(f"{section.number} {section.heading}")
        blocks.append(Heading(min(section.level, DEEPEST), (Text(heading),)))
        if section.answer is None:
            if section.status == "empty" and not section.gaps:
                blocks.append(line("Not written yet.", "notice"))
            blocks += parse(section.text, lacking(section.text))
            continue
        if section.answer.status == "failed":
            error = section.answer.error or {}
            words = one_line(f"{error.get('message', '')} {error.get('hint', '')}")
            blocks.append(line(f"Failed before the end. {words}".strip(), "notice"))
        elif section.answer.status == "stopped":
            blocks.append(line("Stopped before the end.", "notice"))
        body, own = answer_blocks(section.answer, len(notes), quote_length, highest=min(section.level + 1, DEEPEST))
        blocks += [*body, *([Notes(tuple(note.number for note in own))] if own else [])]
        notes += own
        cited += section.answer.citations
    return Manuscript(
        title=one_line(report.title),
        blocks=(*_opening(report, notes), *blocks, *_gaps(report), *documents(cited, files, notes)),
        notes=with_short_titles(notes),
        written=report.created,
    )


def _opening(report: Report, notes: list[Note]) -> Iterator[Block]:
    writer = "the offline answerer" if report.model == OFFLINE else one_line(report.model)
    verb = "Put together" if report.extractive else "Written"
    date = time.gmtime(report.created)
    yield line(f"{verb} by {writer}, {date.tm_mday} {MONTHS[date.tm_mon - 1]} {date.tm_year}", "about")
    if report.extractive:
        yield line("Quotes from your documents.", "notice")
    found = {verdict.status for note in notes for verdict in note.verdicts}
    if found:
        legend = "; ".join(f"[{status}]: {words}" for status, words in DOUBTS.items() if status in found)
        yield line(f"Every claim was checked against the words it cites. {legend}.", "about")


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
