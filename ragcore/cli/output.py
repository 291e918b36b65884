"""Text output of the command line on stdout; `ragcore.types.json` is its ``--json`` counterpart."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragcore.text.markdown import plain
from ragcore.types import AS_TYPED, GENERATED_MARKS

if TYPE_CHECKING:
    from pathlib import Path

    from ragcore.export.sheets import Sheet
    from ragcore.index.conversations import ConversationInfo
    from ragcore.index.indexer import IndexReport
    from ragcore.progress import IngestReport
    from ragcore.types import Answer, Chunk, Document, Element, Page, Retrieval, Spending, Usage
    from ragcore.types.library import DocumentInfo, Estimate, FeedbackRecord
    from ragcore.types.report import Report


def ingested(reports: Sequence[IngestReport]) -> None:
    """Print a line per file; the cause of a failure was printed when it occurred."""
    for report in reports:
        parts = (
            f"{report.pages} pages, {report.chunks} chunks, {report.tables} tables",
            f"{report.ocr_pages} pages read by OCR" if report.ocr_pages else "",
            _not_read(report.unread_pages),
            report.figures.words,
            report.context.words,
        )
        detail = "" if report.error else f"  ({'; '.join(part for part in parts if part)})"
        print(f"{report.status:8} {report.doc_id or '-':16}  {report.title}{detail}")


def indexed(report: IndexReport) -> None:
    print(f"{report.chunks} chunks indexed, {report.embedded} of them embedded now by {report.embedder}.")
    if report.usd:
        print(f"Claude's context sentences cost ${report.usd:.4f}.")


def estimated(estimates: Sequence[Estimate], model: str) -> None:
    """Print a line per document and a total; ``model`` is named if there is no document."""
    for each in estimates:
        price = "no price in llm.prices" if each.usd is None else f"${each.usd:.2f}"
        capped = each.usd is not None and each.usd > each.limit
        most = f", limited to ${each.limit:.2f} (context.max_usd)" if capped else ""
        usage = each.usage
        print(
            f"{each.title}: {each.chunks} chunks; {each.summaries} summaries and {each.passages} context sentences "
            f"to write; {usage.input_tokens:,} tokens in, {usage.cache_write_tokens:,} cached, "
            f"{usage.cache_read_tokens:,} read from the cache, {usage.output_tokens:,} out; {price}{most}"
        )
    known = [min(each.usd, each.limit) for each in estimates if each.usd is not None]
    print(f"Total: about ${sum(known):.2f} with {estimates[0].model if estimates else model}. Nothing was sent.")


def documents(infos: Sequence[DocumentInfo]) -> None:
    for info in infos:
        marks = "".join(f"  #{tag}" for tag in info.tags)
        name = f"{info.folder}/{info.name}" if info.folder else info.name
        unread = info.error["message"] if info.error else _not_read(info.unread_pages)
        gaps = f"  ({unread})" if unread else ""
        print(f"{info.doc_id}  {info.status:8} {info.pages:5} pages  {info.title}  [{name}]{marks}{gaps}")


def shelved(infos: Sequence[DocumentInfo]) -> None:
    for info in infos:
        print(f"{info.doc_id}  {info.title}  {info.folder or 'no folder'}  {', '.join(info.tags) or 'no tags'}")


def tables(found: Sequence[Sheet], output: Path | None) -> None:
    """Print a line per table, or the file that they were written to."""
    if output is not None:
        print(f"{len(found)} table{'' if len(found) == 1 else 's'} written to {output}.")
    for each in () if output is not None else found:
        print(f"{each.number:4}  {each.place:12} {each.rows:3} × {each.columns:<3} {each.title[:80]}")


def _not_read(pages: Sequence[int]) -> str:
    """Unread pages in words: ``pages 3, 7 not read``; "" for none."""
    return f"{'page' if len(pages) == 1 else 'pages'} {', '.join(map(str, pages))} not read" if pages else ""


def elements(document: Document, chosen: Sequence[Element], gaps: Sequence[Page]) -> None:
    """Print pages and elements; ``gaps`` are the unreadable pages."""
    for page in gaps:
        print(f"p. {page.number:4}  {'not read':12} {page.degraded}")
    for element in chosen:
        mark = f"  [{element.noise}]" if element.noise else ""
        text = " ".join(document.text[element.start : element.end].split())
        print(f"p. {element.page:4}  {element.kind:12} {text[:90]}{mark}")


def chunks(given: Sequence[Chunk]) -> None:
    for item in given:
        rows = f"[tiles {item.tiles[0]}-{item.tiles[1]}]  " if item.tiles else ""
        print(f"{item.index:5}  {item.tokens:4} tokens  {rows}{(item.grid or item.text)[:90]!r}")


def retrieval(found: Retrieval, document: Callable[[str], Document]) -> None:
    """Print how the search was done, then a line per hit."""
    for route in found.routes[:3]:
        print(f"Searched first: {document(route.doc_id).title} ({route.reason})")
    for number, asked in enumerate(found.queries[1:], start=2):
        print(f"Query {number} ({asked.origin}): {asked.text} ({asked.reason})")
    for hit in found.hits:
        source = document(hit.chunk.doc_id)
        pages = ", ".join(str(page) for page in source.pages_of(hit.chunk.start, hit.chunk.end))
        text = " ".join(hit.chunk.text.split())
        print(f"{hit.rank:3}  {hit.score:.3f}  {source.title}, p. {pages}  {text[:100]}")


def conversations(found: Sequence[ConversationInfo]) -> None:
    """Print a line per conversation, followed by its search match."""
    for info in found:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
        questions = "question " if info.turns == 1 else "questions"
        print(f"{info.conversation_id}  {used}  {info.turns:3} {questions}  {info.title}")
        if info.found:
            print(f"{'':14}{info.found}")


def answer(given: Answer, *, passages: bool) -> None:
    """Print the answer with its doubtful claims and its citations; ``passages`` adds the cited text."""
    if given.rewritten_by == AS_TYPED:
        print("Searched as you typed it.\n")
    elif given.standalone:
        print(f"Understood as: {given.standalone}\n")
    if given.extractive and not given.refused:
        print("Quotes from your documents:\n")
    print(plain(given.text))
    for claim in given.claims:
        if claim.status in ("weak", "unsupported"):
            print(f"  ! {claim.status}: {claim.text} ({claim.reason})")
    print()
    for citation in given.citations:
        label = f" ({citation.label})" if citation.label else " (AI description)" if citation.generated else ""
        print(f"[{citation.n}] {citation.title}, p. {citation.page_label}{label}")
        if passages:
            quote = " ".join(citation.quotation.split())
            bare = citation.generated and GENERATED_MARKS[0] not in quote
            print(f"    {GENERATED_MARKS[0]}{quote}{GENERATED_MARKS[1]}" if bare else f"    “{quote}”")


def spending(found: Spending) -> None:
    """Print a line per model and purpose, and a total."""
    for entry in found.entries:
        print(f"{entry.model}  {entry.purpose:8}  {_took(entry.calls, entry.usage, entry.usd)}")
    if not found.entries:
        print("Nothing spent so far.")
        return
    print(f"Since {found.days[0].day}  {_took(found.calls, found.usage, found.usd)}")
    if found.unpriced:
        print(f"Not in the dollar total (no price in llm.prices): {', '.join(found.unpriced)}.")


def feedback(told: Sequence[FeedbackRecord]) -> None:
    """Print two lines per verdict: the verdict with the question, then the reason."""
    for each in told:
        print(f"{'+' if each.feedback.helpful else '-'} {each.question}  ({each.model or 'no answer'})")
        why = ": ".join(part for part in (each.feedback.reason, each.feedback.words) if part)
        if why:
            print(f"  {why}")
    if not told:
        print("No feedback yet.")


def _took(calls: int, usage: Usage, usd: float | None) -> str:
    cached = f", {usage.cache_write_tokens:,} cached, {usage.cache_read_tokens:,} read from the cache"
    return (
        f"{calls:,} {'call' if calls == 1 else 'calls'}; {usage.input_tokens:,} tokens in, "
        f"{usage.output_tokens:,} out{cached if usage.cache_write_tokens or usage.cache_read_tokens else ''}; "
        f"{'no price' if usd is None else f'${usd:.4f}'}"
    )


def settings(given: Mapping[str, Any], origins: Mapping[str, str]) -> None:
    """Print every setting with its origin."""
    for key, origin in origins.items():
        value: Any = given
        for part in key.split("."):
            value = value[part]
        print(f"{key} = {json.dumps(value, ensure_ascii=False)}  # {origin}")


def report_gaps(report: Report) -> None:
    """Print a report's gaps on stderr, since its text goes to stdout."""
    gaps = [(section, gap) for section in report.sections for gap in section.gaps]
    if gaps:
        print("Missing:", file=sys.stderr)
    for section, gap in gaps:
        note = "" if section.required else " (optional)"
        print(f"  {section.number} {section.heading}{note}: {gap.what}", file=sys.stderr)
    for section in report.sections:
        if section.answer is not None and section.answer.error:
            print(f"  {section.number} {section.heading}: {section.answer.error['message']}", file=sys.stderr)
