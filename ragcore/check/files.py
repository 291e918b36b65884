"""Files of a check: the draft itself with comments and footnotes in Word, a workbook of its sentences, a PDF in which
every decision can be followed, and JSON."""

from __future__ import annotations

import io
import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, get_args

from ragcore.check.sentences import table_labels
from ragcore.errors import GroundworkError
from ragcore.export.characters import clean, one_line
from ragcore.export.manuscripts import cleaned, day, note_words, page_of, remarks
from ragcore.export.sheets import fit_rows, put
from ragcore.export.tree import (
    Manuscript,
    Node,
    Nodes,
    Note,
    attributes,
    bullets,
    heading,
    node,
    paragraph,
    plain,
    table,
    words,
)
from ragcore.text.markdown import quoted
from ragcore.text.numbers import plural
from ragcore.types.check import (
    PROBLEMS,
    STATUSES,
    Block,
    Check,
    CheckedSentence,
    CheckStatus,
    Decision,
    Draft,
)
from ragcore.types.json import check as as_json

if TYPE_CHECKING:
    from ragcore.check.annotations import Annotation
    from ragcore.config.settings import ExportSettings
    from ragcore.library import AskedLibrary

CheckFile = Literal["docx", "xlsx", "pdf", "json"]
KINDS: tuple[CheckFile, ...] = get_args(CheckFile)
VERDICTS: dict[CheckStatus, str] = {
    "confirmed": "Confirmed",
    "contradicted": "Contradicted",
    "partly": "Partly covered",
    "elsewhere": "Found elsewhere",
    "not_found": "Not found",
    "no_claim": "No claim",
}
DPI, WIDTH = 110.0, 465.0  # of the pictures of cited places; points
MOST_NOTES = 3  # citations of a sentence that a file gives
_COLUMNS = {
    "No.": 6,
    "Place": 14,
    "Sentence": 60,
    "Was": 40,
    "Verdict": 15,
    "Reason": 40,
    "Second opinion": 40,
    "Document": 30,
    "Page": 8,
    "Quotation": 60,
    "Since": 40,
    "Also": 30,
    "Correction": 30,
}
_FAULTS = {"No.": 6, "Place": 14, "Figure": 16, "Was": 16, "Reason": 60, "Follows from": 40, "Write": 16}
_DECIDED = {"Decision": 12, "Note": 30}


def write(check: Check, kind: CheckFile, original: bytes, library: AskedLibrary) -> bytes:
    """``check`` as a file; ``original`` is the draft's own. Raises `GroundworkError` if it can't be written."""
    settings = library.settings.export
    if kind == "json":
        said = left_out(check)
        told_of = ({"notice": said} if said else {}) | as_json(check)
        return (json.dumps(told_of, ensure_ascii=False, indent=2) + "\n").encode()
    if kind == "xlsx":
        return _workbook(check)
    if kind == "pdf":
        from ragcore.export import pdf
        from ragcore.export.evidence import lit_picture

        made, pictured = _Report(check, settings.quote_length).manuscript()
        with library.sheets(DPI) as sheets:
            return pdf.write(made, settings, lambda n: lit_picture(n, sheets, WIDTH) if n.number in pictured else "")
    return _word(check, original, settings)


def _word(check: Check, original: bytes, settings: ExportSettings) -> bytes:
    """The draft's own Word file with annotations, or one made of its text."""
    from ragcore.check.annotations import annotated
    from ragcore.export.pandoc import write_word

    notes = (_annotation(check, n, settings.quote_length) for n in range(len(check.spans)))
    marks = [mark for mark in notes if mark is not None]
    if said := left_out(check):
        marks = _with_first(marks, said, check.spans[0])
    done = annotated(original, check.draft, marks) if check.draft.kind == "docx" else None
    if done is None:  # of another kind, or read otherwise by an earlier version
        blocks = _blocks(check.draft, lambda block: words(check.draft.text[block.start : block.end]))
        done = annotated(write_word(Manuscript("", blocks), settings), check.draft, marks)
    if done is None:
        raise GroundworkError("The Word file couldn't be written.", hint="Export it as PDF or Excel instead.")
    return done


# What is told of a sentence, the same in every format


def decided(decision: Decision) -> str:
    """Decision in words, "" without one."""
    return {"": "", "replaced": "Replaced", "left": "Left as it is", "noted": "Noted"}[decision.kind]


def left_out(check: Check) -> str:
    """Notice of a check that isn't finished, "" if it is."""
    info = check.info
    if info.finished:
        return ""
    return f"{info.done:,} of {plural(info.total, 'sentence')} checked; the others are not."


def told(check: Check, n: int) -> list[str]:
    """Lines about sentence ``n``: verdict and reason, corrections, what is missing, the draft's own faults in it, and
    decision and note."""
    one, decision = check.sentences[n], check.decisions[n]
    replaced = decision.kind == "replaced"
    lines = [f"Replaced by: “{decision.revised}”"] if replaced else []
    if one is not None and (one.status in PROBLEMS or decision.kind or decision.note):
        reason = "" if one.corrections else one.reason  # which they tell in full
        verdict = "" if reason.startswith(VERDICTS[one.status]) else f"{VERDICTS[one.status]}."
        lines.append("The new text: " * replaced + " ".join(filter(None, (verdict, reason))))
        for correction in one.corrections:
            write = f" Write {correction.write}." if correction.write else ""
            lines.append(f"The draft says “{correction.said}”; the document says “{correction.found}”.{write}")
        if one.missing:
            lines.append(f"Not covered: {'; '.join(f'“{one.text[start:end].strip()}”' for start, end in one.missing)}")
    if one is not None and (said := opinion(one)) and (lines or not one.opinion or one.opinion.before != one.status):
        lines.append(said)
    for fault in check.faults(n):
        lines.append(f"{fault.reason} Write {fault.write.rstrip('.')}." if fault.write else fault.reason)
    if decision.kind and not replaced:
        lines.append(f"{decided(decision)}.")
    if decision.note:
        lines.append(f"Note: {decision.note}")
    return [one_line(line) for line in lines]


def opinion(one: CheckedSentence) -> str:
    """What a model takes a sentence for, in words, with what the rules did; "" if none has read it."""
    given = one.second
    if given is None:
        return ""
    reason = "" if given.reason == one.reason and not one.corrections else f": {given.reason.rstrip('.')}"
    taken = f" takes it for {VERDICTS[given.status].lower()}" if given.status != one.status else ""
    rules = f" By rules: {VERDICTS[given.before].lower()}." if given.before != one.status else ""
    return f"{given.model}{taken or ' has read it'}{reason}.{rules}"


def quoted_as(one: CheckedSentence | None) -> str:
    """What stands above the documents' words about a sentence."""
    status = one.status if one is not None else None
    return {"not_found": "Nearest:", "elsewhere": "They stand here:"}.get(status or "", "The documents say:")


def _verdict(check: Check, n: int) -> str:
    """What was found of sentence ``n``, in the documents and in the draft itself."""
    one = check.sentences[n]
    found = ["Not checked" if one is None else VERDICTS[one.status], *("own figures" for _ in check.faults(n)[:1])]
    return ", ".join(found)


def _notes(one: CheckedSentence | None, quote_length: int) -> list[Note]:
    cited = one.citations[:MOST_NOTES] if one is not None else ()
    return [Note(each.n, cleaned(each, quote_length)) for each in cited]


def _said(notes: Sequence[Note]) -> Iterator[str]:
    """The documents' words, each with where they stand, a title once."""
    titles = [note.citation.title for note in notes]
    for title, before, note in zip(titles, ["", *titles], notes):
        quote, label = note.citation.quote, note.citation.label.rstrip(" .:;")
        at = filter(None, (title * (title != before), page_of(note), label * (not quote.startswith(label))))
        yield " ".join([f"{quoted(quote)} ({', '.join(at)})", *remarks(note)])


def _with_first(marks: Sequence[Annotation], said: str, span: tuple[int, int]) -> list[Annotation]:
    """Annotations with what is ``said`` of the whole draft, on its first sentence, at ``span``."""
    from ragcore.check.annotations import Annotation

    first = next((mark for mark in marks if mark.span == span), Annotation(span, span, "", "", ""))
    comment = "\n".join(filter(None, (said, first.comment)))
    return [replace(first, comment=comment), *(mark for mark in marks if mark.span != span)]


def _annotation(check: Check, n: int, quote_length: int) -> Annotation | None:
    from ragcore.check.annotations import Annotation

    (start, end), one, decision = check.spans[n], check.sentences[n], check.decisions[n]
    lines, notes = told(check, n), _notes(one, quote_length)
    confirmed = one is not None and one.status == "confirmed"
    revised = one_line(decision.revised) if decision.kind == "replaced" else ""
    if not lines and not confirmed:
        return None
    at = (start, end)
    if not revised:
        spans = [(fault.start, fault.end) for fault in check.faults(n)]
        if one is not None and one.text == check.draft.text[start:end]:
            within = [(each.start, each.end) for each in one.corrections] or one.missing
            spans += [(start + low, start + high) for low, high in within]
        at = min([low for low, _ in spans], default=start), max([high for _, high in spans], default=end)
    evidence = [] if confirmed else [*_said(notes)]
    evidence[:1] = [f"{quoted_as(one)} {first}" for first in evidence[:1]]
    comment = "\n".join([*lines, *evidence]) if lines else ""
    footnote = " ".join(plain(note_words(note)) for note in notes) if confirmed else ""
    return Annotation((start, end), at, comment, footnote, revised)


# Workbook


def _workbook(check: Check) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    where = places(check.draft, [start for start, _ in check.spans])
    rows = [[*_row(check, n, place), *_decided(check, n)] for n, place in enumerate(where)]
    _table(book.active, "Sentences", _COLUMNS | _DECIDED, rows)
    if check.inconsistencies:
        text = check.draft.text
        rows = [
            [
                *(n + 1, place, *_as_it_is(check, n, text[fault.start : fault.end]), fault.reason),
                *("; ".join(text[start:end] for start, end in fault.others), fault.write, *_decided(check, n)),
            ]
            for n, place in enumerate(where)
            for fault in check.faults(n)
        ]
        _table(book.create_sheet(), "The draft in itself", _FAULTS | _DECIDED, rows)
    if said := left_out(check):
        notice = book.create_sheet("Not all checked", 0)
        notice["A1"] = said
        book.active = 0
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _row(check: Check, n: int, place: str) -> list[Any]:
    (start, end), one = check.spans[n], check.sentences[n]
    now = _as_it_is(check, n, check.draft.text[start:end])
    if one is None:
        return [n + 1, place, *now, "Not checked", *[""] * 8]
    first, *others = one.citations or (None,)
    return [
        *(n + 1, place, *now, VERDICTS[one.status], one.reason),
        opinion(one),
        *((first.title, first.where.removeprefix("p. "), first.quotation, first.since) if first else [""] * 4),
        "; ".join(f"{each.title}, {each.where}" for each in others if each),
        "; ".join(f"“{each.said}” → “{each.write or each.found}”" for each in one.corrections),
    ]


def _as_it_is(check: Check, n: int, was: str) -> list[str]:
    """Text of sentence ``n`` that replaced what ``was``, and that; else what it is, and nothing."""
    decision = check.decisions[n]
    return [decision.revised, was] if decision.kind == "replaced" else [was, ""]


def _decided(check: Check, n: int) -> list[str]:
    return [decided(check.decisions[n]), check.decisions[n].note]


def _table(sheet: Any, name: str, columns: dict[str, int], rows: Sequence[Sequence[Any]]) -> None:
    """Fill a sheet: a frozen row of heads with filters, and text that is never computed."""
    from openpyxl.styles import Alignment, Font

    sheet.title = name
    for number, (head, width) in enumerate(columns.items(), start=1):
        cell = sheet.cell(1, number, head)
        cell.font = Font(bold=True)
        sheet.column_dimensions[cell.column_letter].width = width
        for line, row in enumerate(rows, start=2):
            value = row[number - 1]
            at = sheet.cell(line, number)
            if isinstance(value, int):
                at.value = value
            elif value:
                put(at, clean(value))
            at.alignment = Alignment(vertical="top", wrap_text=True)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    fit_rows(sheet)


def places(draft: Draft, starts: Sequence[int]) -> list[str]:
    """Where the blocks at ``starts`` are: their place in the original, and of a cell its row and column by name."""
    begins = [block.start for block in draft.blocks]
    tables, out = table_labels(draft), []
    for block in (draft.blocks[bisect_right(begins, start) - 1] for start in starts):
        named = tables[block.table].nearest(block) if block.kind == "cell" else ()
        labels = " · ".join(filter(None, map(one_line, named)))
        out.append(", ".join(filter(None, (block.place, labels))))
    return out


# The draft as a manuscript


def _blocks(draft: Draft, inlines: Any, *, below: int = 0) -> Nodes:
    """Blocks of a draft, its headings ``below`` those of another; ``inlines`` gives the words of each block."""
    out: Nodes = []
    groups = groupby(
        draft.blocks, key=lambda block: (block.kind, block.table) if block.kind in ("item", "cell") else block
    )
    for _, found in groups:
        group = list(found)
        first = group[0]
        match first.kind:
            case "cell":
                out.append(_grid(group, inlines))
            case "item":
                out.append(_list(group, inlines))
            case "heading":
                out.append(heading(min(first.level + below, 6), inlines(first)))
            case "code":
                out.append(node("CodeBlock", attributes(), draft.text[first.start : first.end]))
            case _:
                out.append(paragraph(inlines(first)))
    return out


def _list(items: Sequence[Block], inlines: Any) -> Node:
    """List with those of deeper items within."""
    made: list[Nodes] = []
    top = min(item.level for item in items[:1])
    rest = list(items)
    while rest:
        made.append([node("Plain", inlines(rest.pop(0)))])
        deeper = list[Block]()
        while rest and rest[0].level > top:
            deeper.append(rest.pop(0))
        if deeper:
            made[-1].append(_list(deeper, inlines))
    return bullets(*made)


def _grid(cells: Sequence[Block], inlines: Any) -> Node:
    columns = max(cell.col for cell in cells) + 1
    rows = []
    for _, row in groupby(cells, key=lambda cell: cell.row):
        own = {cell.col: cell for cell in row}
        named = all(cell.header for cell in own.values())
        rows.append((named, [[node("Plain", inlines(own[n]) if n in own else [])] for n in range(columns)]))
    heads = next((n for n, (named, _) in enumerate(rows) if not named), len(rows))
    head, body = [row for _, row in rows[:heads]], [row for _, row in rows[heads:]]
    return table(head, body, ["AlignDefault"] * columns)


class _Report:
    """Builder of the PDF: counts, the draft with marks, and what was found and decided with the documents' words.
    ``notes`` are numbered in order of first reference."""

    def __init__(self, check: Check, quote_length: int) -> None:
        self.check, self.quote_length = check, quote_length
        self.notes: list[Note] = []
        self.pictured = set[int]()
        listed = (n for n in range(len(check.spans)) if told(check, n))
        self.numbers = {n: number for number, n in enumerate(listed, start=1)}
        self.places = places(check.draft, [start for start, _ in check.spans])
        begins = [block.start for block in check.draft.blocks]
        self.within: dict[int, list[int]] = {}  # sentences by the start of their block
        for n, (start, _) in enumerate(check.spans):
            self.within.setdefault(begins[bisect_right(begins, start) - 1], []).append(n)

    def manuscript(self) -> tuple[Manuscript, set[int]]:
        """The PDF as a manuscript, and the numbers of the notes that are shown as pictures."""
        check = self.check
        draft = _blocks(check.draft, self._marked, below=1)
        found = [block for n, number in self.numbers.items() for block in self._about(number, n)]
        blocks = [*self._opening(), heading(1, "The draft"), *draft]
        if found:
            blocks += [heading(1, "Found and decided"), *found]
        title = f"{one_line(check.draft.name)}: check"
        return Manuscript(title, blocks, tuple(self.notes), check.info.created), self.pictured

    def _opening(self) -> Iterator[Node]:
        info = self.check.info
        counts = "; ".join(f"{info.counts.get(status, 0)} {VERDICTS[status].lower()}" for status in STATUSES)
        yield paragraph(f"Checked on {day(info.created)}. {plural(info.total, 'sentence')}: {counts}.", "about")
        if said := left_out(self.check):
            yield paragraph(said, "notice")
        if self.check.open_problems:
            yield paragraph(f"Without a decision: {plural(len(self.check.open_problems), 'problem')}.", "notice")

    def _note(self, one: CheckedSentence) -> list[int]:
        added = range(len(self.notes) + 1, len(self.notes) + 1 + len(one.citations[:MOST_NOTES]))
        self.notes += [Note(n, cleaned(each, self.quote_length)) for n, each in zip(added, one.citations)]
        return list(added)

    def _marked(self, block: Block) -> Nodes:
        """Words of a block with its verdicts: confirmed sentences have notes, others a number below."""
        text, at, out = self.check.draft.text, block.start, Nodes()
        for n in self.within.get(block.start, ()):
            (start, end), one, decision = self.check.spans[n], self.check.sentences[n], self.check.decisions[n]
            revised = decision.revised if decision.kind == "replaced" else text[start:end]
            out += words(one_line(text[at:start]) + " " * text[at:start].endswith(" ")) + words(one_line(revised))
            at = end
            if n in self.numbers:
                said = "replaced, " * (decision.kind == "replaced") + _verdict(self.check, n).lower()
                out += [node("Space"), *words(f"[{self.numbers[n]}: {said}]", "remark")]
            elif one is not None and one.status == "confirmed":
                out += [node("Ref", number) for number in self._note(one)]
        rest = text[at : block.end]
        return [*out, *words(" " * (rest[:1] == " " and bool(out)) + one_line(rest))]

    def _about(self, number: int, n: int) -> Iterator[Node]:
        """Section on a sentence: its words in the draft, what was found and decided, and the documents' words."""
        check, one = self.check, self.check.sentences[n]
        start, end = check.spans[n]
        place = self.places[n]
        yield heading(2, f"{number}. {_verdict(check, n)}")
        yield paragraph(f"“{one_line(check.draft.text[start:end])}”{f' ({place})' if place else ''}")
        notes = self._note(one) if one is not None else []
        for line in told(check, n):
            yield paragraph(line, "notice" if line.startswith(("Replaced", "Left", "Note")) else "")
        if notes:
            self.pictured.update(notes[:1] if one is not None and one.status == "not_found" else notes)
            said = words(quoted_as(one))
            yield node("Para", [*said, *(each for note in notes for each in (node("Ref", note), node("Space")))])
            yield node("Notes", notes)
