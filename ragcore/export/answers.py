"""An answer → blocks and notes, and the documents that notes are of: what every manuscript is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragcore.export.characters import one_line, shortened
from ragcore.export.model import Block, Heading, Items, Note, NoteRef, Paragraph, Role, Text, Verdict, references
from ragcore.export.parse import Insert, parse
from ragcore.export.titles import with_short_titles
from ragcore.types import GENERATED_MARKS, Answer, Citation, Claim
from ragcore.types.report import INSUFFICIENT, missing_mark

DOUBTS = {
    "weak": "the cited words back only part of the claim",
    "unsupported": "the cited words don't say it",
}


def answer_blocks(
    answer: Answer, known: int, quote_length: int, *, highest: int = 2
) -> tuple[tuple[Block, ...], list[Note]]:
    """The blocks of an answer, its headings from level ``highest`` on, and its notes, numbered on from ``known`` in
    order of first reference."""
    by_n = {citation.n: citation for citation in answer.citations}
    first = _body(answer, {n: n for n in by_n}, highest)
    numbers = {n: known + place for place, n in enumerate(dict.fromkeys(references(first)), start=1)}
    given = {mark.n for mark in answer.marks if not mark.added}
    doubtful = [claim for claim in answer.claims if claim.status in DOUBTS]
    notes = [
        _note(
            by_n[n],
            number,
            quote_length,
            added=n not in given and any(mark.n == n for mark in answer.marks),
            verdicts=tuple(Verdict(claim.status, one_line(claim.reason)) for claim in doubtful if n in claim.citations),
        )
        for n, number in numbers.items()
    ]
    return _body(answer, numbers, highest), notes


def _body(answer: Answer, numbers: Mapping[int, int], highest: int) -> tuple[Block, ...]:
    marks = [Insert(mark.start, mark.end, (NoteRef(numbers[mark.n]),)) for mark in answer.marks]
    doubts = [_doubt(answer.text, claim) for claim in answer.claims if claim.status in DOUBTS]
    blocks = parse(answer.text, [*marks, *doubts, *lacking(answer.text)], highest=highest)
    unmarked = sorted({citation.n for citation in answer.citations} - {mark.n for mark in answer.marks})
    if not unmarked:
        return blocks
    return (*blocks, Paragraph((Text("Also cited:"), *(NoteRef(numbers[n]) for n in unmarked))))


def lacking(text: str) -> list[Insert]:
    """What ``text`` says is missing, so that it is seen as such and not taken for a link or a quote."""
    return [
        Insert(
            match.start(), match.end(), (Text(missing_mark(match.group(1) or "not said what"), bold=True, lack=True),)
        )
        for match in INSUFFICIENT.finditer(text)
    ]


def _doubt(text: str, claim: Claim) -> Insert:
    """The word on a claim, where it ends; the reason stands in its notes, or with the word where it has none."""
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


def documents(cited: Sequence[Citation], files: Mapping[str, str], notes: Sequence[Note]) -> Iterator[Block]:
    """The documents in order of first citation, each with its file, the pages cited of it, and what ``notes`` after its
    first one call it, where that is not its title."""
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
