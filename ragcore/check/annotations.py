"""Annotations of a Word file: comments at exact words, footnotes after them, and replacements as tracked changes; all
else in the file stays as it is."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.oxml import serialize_part_xml
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.text.run import Run

from ragcore.check.word import FOOTNOTE, SPACE, TEXT, Passage, WordFile
from ragcore.export.characters import clean
from ragcore.types.check import Draft

AUTHOR, INITIALS = "Groundwork", "GW"
_BREAK = re.compile(r"\s")  # a line of code ends in a break, which a passage has as a blank
_SEPARATORS = "".join(
    f'<w:footnote w:type="{kind}" w:id="{n}"><w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>'
    for n, kind in ((-1, "separator"), (0, "continuationSeparator"))
)


@dataclass(frozen=True, slots=True)
class Annotation:
    """Annotation of a draft: a ``comment`` at its words ``at``, a footnote with ``note`` behind ``span``, and a text
    ``revised`` in the place of ``span``; each "" for none. A text box has comments alone; those on a footnote
    stand at its mark."""

    span: tuple[int, int]
    at: tuple[int, int]
    comment: str = ""
    note: str = ""
    revised: str = ""


def annotated(data: bytes, draft: Draft, annotations: Sequence[Annotation]) -> bytes | None:
    """The Word file ``data`` of ``draft`` with ``annotations``; None if its text is not that of the draft."""
    file = WordFile(data)
    texts = [_BREAK.sub(" ", draft.text[block.start : block.end]) for block in draft.blocks]
    if [_BREAK.sub(" ", passage.text.strip()) for passage in file.passages] != texts:
        return None
    writer = _Writer(file)
    placed = list(zip(draft.blocks, file.passages))
    place = 0
    for each in sorted(annotations, key=lambda each: each.span):
        while placed[place][0].end <= each.span[0]:
            place += 1
        block, passage = placed[place]
        shift = len(passage.text) - len(passage.text.lstrip()) - block.start
        writer.annotate(passage, each, shift)
    return writer.saved()


class _Writer:
    def __init__(self, file: WordFile) -> None:
        self.file = file
        ids = [int(each.get(qn("w:id"))) for each in self._notes.iter(FOOTNOTE)] if file.footnotes is not None else []
        self.next_note = max([0, *ids]) + 1
        changes = (element.get(qn("w:id")) for element in file.document.element.iter(qn("w:ins"), qn("w:del")))
        self.next_change = max([0, *(int(each) for each in changes if each)]) + 1

    @property
    def _notes(self) -> Any:
        """Root of the footnotes, which are added to a file without any."""
        if self.file.footnotes is None:
            part = self.file.document.part
            assert part.package is not None
            self.file.footnotes = parse_xml(f"<w:footnotes {nsdecls('w')}>{_SEPARATORS}</w:footnotes>")
            name = PackURI("/word/footnotes.xml")
            self.file.footnotes_part = Part(name, CONTENT_TYPE.WML_FOOTNOTES, b"", part.package)
            part.relate_to(self.file.footnotes_part, RELATIONSHIP_TYPE.FOOTNOTES)
        return self.file.footnotes

    def annotate(self, passage: Passage, each: Annotation, shift: int) -> None:
        start, end = (place + shift for place in each.span)
        comment = each.comment
        if each.note and (passage.foot is not None or passage.box):  # neither may have a footnote
            comment = "\n".join(filter(None, (comment, each.note)))
        elif each.note:
            self._note(passage.runs(start, end)[-1], each.note)
        replaced = each.revised and not passage.box  # of which the file may hold a second copy
        if replaced:
            low, high, text = _changed(passage.text[start:end], clean(each.revised))
            runs = passage.runs(start + low, start + high)
        else:
            runs, text = passage.runs(each.at[0] + shift, each.at[1] + shift), ""
        if comment:
            marked = runs
            if passage.foot is not None:  # LibreOffice opens no file with a comment in a footnote
                said = "".join(element.text or "" for run in runs for element in run.iter(TEXT))
                marked, comment = [passage.foot.getparent()], f"In the footnote, at “{said}”:\n{comment}"
            ends = [Run(run, cast(Any, None)) for run in (marked[0], marked[-1])]
            self.file.document.add_comment(ends, clean(comment), AUTHOR, INITIALS)
        if replaced:
            self._replace(runs, text)

    def _note(self, run: Any, text: str) -> None:
        """Add a footnote and refer to it behind ``run``."""
        notes = self._notes
        style = self.file.style_id("footnote text")
        look = self._raised()
        words = OxmlElement("w:t")
        words.text = f" {clean(text)}"
        words.set(SPACE, "preserve")
        own = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        inner = f"<w:p>{own}<w:r>{look}<w:footnoteRef/></w:r><w:r/></w:p>"
        note = parse_xml(f'<w:footnote {nsdecls("w")} w:id="{self.next_note}">{inner}</w:footnote>')
        note[0][-1].append(words)
        notes.append(note)
        reference = f'<w:r {nsdecls("w")}>{look}<w:footnoteReference w:id="{self.next_note}"/></w:r>'
        run.addnext(parse_xml(reference))
        self.next_note += 1

    def _raised(self) -> str:
        style = self.file.style_id("footnote reference")
        own = f'<w:rStyle w:val="{style}"/>' if style else ""
        return f'<w:rPr>{own}<w:vertAlign w:val="superscript"/></w:rPr>'

    def _replace(self, runs: Sequence[Any], text: str) -> None:
        """Delete ``runs`` and insert ``text`` in the look of the first, as tracked changes."""
        last = runs[-1]
        for run in runs:
            change = self._change("w:del")
            run.addprevious(change)
            change.append(run)
            for words in run.iter(TEXT):
                words.tag = qn("w:delText")
            last = change
        if text:
            inserted, run, words = self._change("w:ins"), OxmlElement("w:r"), OxmlElement("w:t")
            look = runs[0].find(qn("w:rPr"))
            if look is not None:
                run.append(deepcopy(look))
            words.text = text
            words.set(SPACE, "preserve")
            run.append(words)
            inserted.append(run)
            last.addnext(inserted)

    def _change(self, tag: str) -> Any:
        change = OxmlElement(tag)
        change.set(qn("w:id"), str(self.next_change))
        change.set(qn("w:author"), AUTHOR)
        self.next_change += 1
        return change

    def saved(self) -> bytes:
        if self.file.footnotes is not None and self.file.footnotes_part is not None:
            self.file.footnotes_part._blob = serialize_part_xml(self.file.footnotes)
        out = io.BytesIO()
        self.file.document.save(out)
        return out.getvalue()


def _changed(old: str, new: str) -> tuple[int, int, str]:
    """Span of ``old`` to delete and text to insert there to make it ``new``: whole words, at least one."""
    head = old.rfind(" ", 0, _alike(old, new)) + 1
    tail = _alike(old[head:][::-1], new[head:][::-1])
    common = old[len(old) - tail :]
    tail = len(common) - common.find(" ") if " " in common else 0
    if head + tail >= len(old):  # words are only added
        head = old.rfind(" ", 0, max(head - 1, 0)) + 1
    return head, len(old) - tail, new[head : len(new) - tail]


def _alike(one: str, other: str) -> int:
    """Number of first characters that two texts share."""
    return next((n for n, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
