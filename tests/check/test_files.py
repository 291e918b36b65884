"""Files of a check: in each of them every verdict and decision stands at the words that it is about."""

from __future__ import annotations

import io
import json
import re
import subprocess
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pymupdf
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from hypothesis import given
from hypothesis import strategies as st

from ragcore.check.annotations import Annotation, annotated
from ragcore.check.arithmetic import inconsistencies, with_edits
from ragcore.check.draft import read_draft
from ragcore.check.files import KINDS, CheckFile, write
from ragcore.check.sentences import checkable
from ragcore.engine import Engine
from ragcore.errors import InputError
from ragcore.export.pandoc import pandoc_binary
from ragcore.types import EVERYTHING, Citation
from ragcore.types.check import Check, CheckedSentence, CheckInfo, Correction, Decision
from tests.check.files import blocks, book, saved, tracked, word

MEMO = [
    ("Heading 1", "Wells"),
    "The survey began in April. It ran for six weeks. The wells were cheap & <old>.",
    "The highest reading was 61.4 milligrams per litre. It was measured by night.",
    [
        ["Well", "April", "May"],
        ["Orchard Lane", "58.2", "61.4"],
        ["Mill Bridge", "12.0", "11.6"],
        ["Total", "70.2", "93.0"],
    ],
]


@pytest.fixture
def engine(surveyed: Path) -> Any:
    with Engine.open(surveyed, overrides={"llm.model": "offline"}) as opened:
        yield opened


def cited(engine: Engine, quote: str, n: int = 1) -> Citation:
    info = next(each for each in engine.documents() if each.name == "survey.pdf")
    document = engine.document(info.doc_id)
    start = document.text.index(quote)
    end = start + len(quote)
    return Citation(n, info.doc_id, document.title, 1, "iv", quote, start, end, document.boxes(start, end))


def checked(engine: Engine, name: str, data: bytes) -> Check:
    draft = read_draft(name, data)
    sentences: list[CheckedSentence] = []
    decisions = []
    for one in checkable(draft):
        made = CheckedSentence(one.text, one.start, one.end, "no_claim", place=one.place)
        decided = Decision()
        if "April" in one.text and not one.is_cell:
            made = replace(made, status="confirmed", citations=(cited(engine, "The Larkfield survey began in April"),))
        elif "six" in one.text:
            at = one.text.index("six")
            made = replace(
                made,
                status="contradicted",
                reason="The document says otherwise.",
                citations=(cited(engine, "ran for nine weeks"),),
                corrections=(Correction(at, at + 3, "six", "nine", "nine"),),
            )
        elif "night" in one.text:
            made = replace(made, status="not_found", reason="No document says so.\x07", missing=((0, len(one.text)),))
            decided = Decision("left", note="=I know it.")
        elif "cheap" in one.text:
            made = replace(
                made, text="The wells were dear & <new>.", status="partly", reason="In part.", missing=((4, 9),)
            )
            decided = Decision("replaced", "The wells were dear & <new>.", "As told.")
        sentences.append(made)
        decisions.append(decided)
    counts = Counter(one.status for one in sentences if one is not None)
    info = CheckInfo("a1", name, draft.kind, EVERYTHING, 1.8e9, len(sentences), len(sentences), counts)
    spans = tuple((one.start, one.end) for one in sentences)
    return Check(info, draft, spans, tuple(sentences), tuple(decisions), inconsistencies(draft))


def by_pandoc(data: bytes, *options: str) -> str:
    command = [pandoc_binary(), "--from=docx", "--to=markdown-smart", "--wrap=none", *options]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()


MARKDOWN = """# Wells

The survey began in April. It ran for six weeks. The wells were cheap & \\<old>.

The highest reading was 61.4 milligrams per litre. It was measured by night.

| Well | April | May |
|---|---|---|
| Orchard Lane | 58.2 | 61.4 |
| Mill Bridge | 12.0 | 11.6 |
| Total | 70.2 | 93.0 |
"""


@pytest.mark.parametrize(("name", "data"), [("memo.docx", word(*MEMO)), ("memo.md", MARKDOWN.encode())])
def test_a_word_file_has_comments_footnotes_and_changes_at_their_words(engine: Engine, name: str, data: bytes) -> None:
    check = checked(engine, name, data)
    made = write(check, "docx", data, engine)
    text = by_pandoc(made, "--track-changes=all")
    [six] = re.findall(r"\[([^\[\]]*)\]\{\.comment-start[^}]*\}six\[\]\{\.comment-end", text)
    assert "The draft says “six”; the document says “nine”. Write nine." in " ".join(six.split())
    assert "ran for nine weeks" in six
    assert "says otherwise" not in six, "the correction tells it"
    title = check.sentences[1].citations[0].title if check.sentences[1] else ""
    assert six.count(title) == 1
    assert re.search(r"The survey began in April\.\[\^1\]", text)
    note = text[text.rindex("[^1]:") :]
    assert "The Larkfield survey began in April" in note
    assert "p. iv" in note
    assert re.search(r"\[cheap.*?\]\{\.deletion.*?\[dear.*?\]\{\.insertion", text.replace("\\", ""), re.DOTALL)
    assert "As told." in text
    assert "=I know it." in text
    assert "add up to" in text
    assert "Left as it is." in text
    document = docx.Document(io.BytesIO(made))
    assert {each.author for each in document.comments} == {"Groundwork"}
    assert len(list(document.comments)) == 4
    accepted = by_pandoc(made, "--track-changes=accept").replace("\\", "")
    assert "The wells were dear & <new>." in accepted
    refused = by_pandoc(made, "--track-changes=reject").replace("\\", "")
    assert "The wells were cheap & <old>." in refused


def test_all_else_in_the_file_stays(engine: Engine) -> None:
    made = docx.Document(io.BytesIO(word(*MEMO)))
    made.sections[0].header.paragraphs[0].text = "Confidential"
    made.styles["Normal"].font.name = "Garamond"
    made.paragraphs[1].runs[0].bold = True
    made.paragraphs[1].add_run(" Seen.").italic = True
    made.add_comment(made.paragraphs[0].runs, "Mine", "Ann")
    out = io.BytesIO()
    made.save(out)
    check = checked(engine, "memo.docx", out.getvalue())
    done = docx.Document(io.BytesIO(write(check, "docx", out.getvalue(), engine)))
    assert done.sections[0].header.paragraphs[0].text == "Confidential"
    assert done.styles["Normal"].font.name == "Garamond"
    assert {each.author for each in done.comments} == {"Ann", "Groundwork"}
    own = {run.text: run for run in done.paragraphs[1].runs if run.text.strip()}
    assert own[" Seen."].italic
    assert own["six"].bold
    assert all(run.bold for text, run in own.items() if text != " Seen.")
    again = read_draft("x.docx", write(check, "docx", out.getvalue(), engine))
    assert "The wells were dear & <new>. Seen." in again.text


def test_a_footnote_joins_those_of_the_file_and_a_change_those_tracked(engine: Engine) -> None:
    data = tracked()
    draft = read_draft("x.docx", data)
    at = draft.text.index("Costs")
    first = annotated(data, draft, [Annotation((0, at - 1), (0, 7), "On revenue", "First note")])
    assert first is not None
    again = read_draft("x.docx", first)
    assert blocks(again)[-1] == ("paragraph", "First note")
    end = again.blocks[0].end
    marks = [
        Annotation((at, end), (at, end), "On costs", "Second note", "Costs rose."),
        Annotation(
            (again.blocks[1].start, again.blocks[1].end), (again.blocks[1].start, again.blocks[1].end), "On a note"
        ),
    ]
    second = annotated(first, again, marks)
    assert second is not None
    text = by_pandoc(second, "--track-changes=accept")
    assert re.search(r"in 2024\.\[\^1\] Costs rose\.\[\^2\]", text.replace("*", ""))
    assert re.search(r"\[\^1\]: First note\n\n\[\^2\]: Second note", text)
    assert len(list(docx.Document(io.BytesIO(second)).comments)) == 3
    assert annotated(data, replace(draft, text=draft.text.upper()), marks) is None


def test_a_comment_on_words_of_a_footnote_stands_at_its_mark() -> None:
    """LibreOffice opens no file with a comment inside of a footnote."""
    data = tracked()
    draft = read_draft("x.docx", data)
    noted = annotated(data, draft, [Annotation((0, 7), (0, 7), note="It ran for six weeks.")])
    assert noted is not None
    draft = read_draft("x.docx", noted)
    span = (draft.text.index("It ran"), len(draft.text))
    at = (draft.text.index("six"), draft.text.index("six") + 3)
    done = annotated(noted, draft, [Annotation(span, at, "Not so.", "", "It ran for nine weeks.")])
    assert done is not None
    document = docx.Document(io.BytesIO(done))
    [comment] = document.comments
    assert comment.text == "In the footnote, at “six”:\nNot so."
    between = list(
        document.element.body.iter(*map(qn, ("w:commentRangeStart", "w:footnoteReference", "w:commentRangeEnd")))
    )
    assert [element.tag.rpartition("}")[2] for element in between] == [
        "commentRangeStart",
        "footnoteReference",
        "commentRangeEnd",
    ]
    notes = zipfile.ZipFile(io.BytesIO(done)).read("word/footnotes.xml").decode()
    assert "comment" not in notes
    assert re.search("<w:del .*six.*<w:ins .*nine", notes)


def test_a_hyphen_that_is_not_shown_is_no_text_and_stays_in_the_file() -> None:
    data = word("Costs fell in Sep\xadtember.", "So they did.")
    draft = read_draft("x.docx", data)
    assert draft.text == "Costs fell in September.\n\nSo they did."
    span = (draft.text.index("So"), len(draft.text))
    made = annotated(data, draft, [Annotation(span, span, "Here")])
    assert made is not None
    assert "Sep\xadtember" in docx.Document(io.BytesIO(made)).paragraphs[0].text


@given(st.data())
def test_marks_land_at_exactly_their_words(data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.text("ab é", min_size=1, max_size=12), min_size=1, max_size=4))
    made = docx.Document()
    paragraph = made.add_paragraph()
    for text in texts:
        paragraph.add_run(text).bold = data.draw(st.booleans())
    out = io.BytesIO()
    made.save(out)
    try:
        draft = read_draft("x.docx", out.getvalue())
    except InputError:
        return
    start = data.draw(st.integers(0, len(draft.text) - 1))
    end = data.draw(st.integers(start + 1, len(draft.text)))
    revised = data.draw(st.sampled_from(["", "c d", "a c"]))
    done = annotated(out.getvalue(), draft, [Annotation((start, end), (start, end), "Here", "There", revised)])
    assert done is not None
    body = docx.Document(io.BytesIO(done)).element.body
    words, inside = "", False
    for element in body.iter():
        inside = (inside or element.tag == qn("w:commentRangeStart")) and element.tag != qn("w:commentRangeEnd")
        if inside and element.tag in (qn("w:t"), qn("w:delText")):
            words += element.text or ""
    told = draft.text[start:end]
    assert words == told if not revised else words.strip()
    assert (
        read_draft("x.docx", done).blocks[0].end == len(draft.text) + (len(revised) - len(told) if revised else 0)
        or revised
    )


def test_a_workbook_has_a_row_for_each_sentence(engine: Engine) -> None:
    check = checked(engine, "memo.md", MARKDOWN.encode())
    made = openpyxl.load_workbook(io.BytesIO(write(check, "xlsx", b"", engine)))
    sheet = made["Sentences"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert len(rows) == len(check.spans) + 1
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == sheet.dimensions
    by_text = {row[2]: dict(zip(rows[0], row)) for row in rows[1:]}
    six = by_text["It ran for six weeks."]
    assert (six["Verdict"], six["Page"], six["Quotation"]) == ("Contradicted", "iv", "ran for nine weeks")
    assert "nine" in six["Correction"]
    night = by_text["It was measured by night."]
    assert (night["Decision"], night["Reason"], night["Note"]) == (
        "Left as it is",
        "No document says so.",
        "=I know it.",
    )
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n"}, "nothing is computed"
    told = by_text["The wells were dear & <new>."]
    assert (told["Decision"], told["Was"]) == ("Replaced", "The wells were cheap & <old>.")
    assert not any(row["Was"] for row in by_text.values() if row["Decision"] != "Replaced")
    head, fault = ([cell.value for cell in row] for row in made["The draft in itself"].iter_rows())
    told = dict(zip(head, fault))
    assert (told["Place"], told["Figure"], told["Write"]) == ("Total · May", "93.0", "73.0")
    assert rows[told["No."]][2] == "93.0"


def test_a_row_of_a_workbook_is_as_tall_as_its_longest_text(engine: Engine) -> None:
    check = checked(engine, "memo.md", f"{'Wells ' * 100}dried.\n\nThey did.".encode())
    sheet = openpyxl.load_workbook(io.BytesIO(write(check, "xlsx", b"", engine)))["Sentences"]
    assert sheet.row_dimensions[2].height >= 15 * 600 / 60
    assert sheet.row_dimensions[3].height is None


@pytest.mark.parametrize(
    "decision",
    [Decision("replaced", "83.0"), Decision("left"), Decision("noted", note="Asked."), Decision("left", note="Asked.")],
)
def test_what_was_decided_on_a_figure_of_its_own_is_said_in_every_file(engine: Engine, decision: Decision) -> None:
    """Also where the documents have nothing against the sentence, or it isn't checked yet."""
    for unchecked in (False, True):
        whole = checked(engine, "memo.docx", word(*MEMO))
        n = next(n for n in range(len(whole.spans)) if whole.faults(n))
        decisions, sentences = list(whole.decisions), list(whole.sentences)
        decisions[n] = decision
        if unchecked:
            sentences[n] = None
        edits = [(*whole.spans[n], decision.revised)] if decision.kind == "replaced" else []
        faults = with_edits(whole.draft, edits)
        check = replace(whole, decisions=tuple(decisions), sentences=tuple(sentences), inconsistencies=faults)
        assert n in whole.open_problems
        assert (n in check.open_problems) == (decision.kind == "replaced")
        said = {"replaced": "Replaced", "left": "Left as it is", "noted": "Noted"}[decision.kind]
        made = write(check, "docx", word(*MEMO), engine)
        text = by_pandoc(made, "--track-changes=all").replace("\\", "")
        [comment] = [each.text for each in docx.Document(io.BytesIO(made)).comments if "add up" in each.text]
        assert said in comment
        assert decision.note in comment
        assert f"add up to 73.0, not to {decision.revised or '93.0'}. Write 73.0." in comment
        if decision.kind == "replaced":
            assert re.search(r"\[93\.0.*?\{\.deletion.*?\[83\.0.*?\{\.insertion", text, re.DOTALL)
        else:
            assert re.search(r"\.comment-start[^}]*\}93\.0\[\]\{\.comment-end", text)
        sheet = openpyxl.load_workbook(io.BytesIO(write(check, "xlsx", b"", engine)))["The draft in itself"]
        head, row = sheet.iter_rows(values_only=True)
        told = dict(zip(head, row))
        assert (told["Decision"], told["Note"] or "") == (said, decision.note)
        shown = ("83.0", "93.0") if decision.kind == "replaced" else ("93.0", None)
        assert (told["Figure"], told["Was"]) == shown
        with pymupdf.open("pdf", write(check, "pdf", b"", engine)) as pdf:
            shown = " ".join(" ".join(page.get_text() for page in pdf).split())
        assert re.search(rf"“93.0” \(Total · May\)[^“]*{'“83.0”' * (decision.kind == 'replaced')}[^“]*add up", shown)
        assert said in shown
        [fault] = json.loads(write(check, "json", b"", engine))["inconsistencies"]
        assert (fault["sentence"], fault["decision"]["kind"]) == (n, decision.kind)


def test_a_fault_that_was_edited_away_is_in_no_file(engine: Engine) -> None:
    whole = checked(engine, "memo.docx", word(*MEMO))
    n = next(n for n in range(len(whole.spans)) if whole.faults(n))
    decisions = (*whole.decisions[:n], Decision("replaced", "73.0"), *whole.decisions[n + 1 :])
    faults = with_edits(whole.draft, [(*whole.spans[n], "73.0")])
    check = replace(whole, decisions=decisions, inconsistencies=faults)
    assert n not in check.open_problems
    made = docx.Document(io.BytesIO(write(check, "docx", word(*MEMO), engine)))
    [comment] = [each.text for each in made.comments if "73.0" in each.text]
    assert "add up" not in comment
    assert openpyxl.load_workbook(io.BytesIO(write(check, "xlsx", b"", engine))).sheetnames == ["Sentences"]
    with pymupdf.open("pdf", write(check, "pdf", b"", engine)) as pdf:
        assert not any(" own " in " ".join(page.get_text().split()) for page in pdf)
    assert json.loads(write(check, "json", b"", engine))["inconsistencies"] == []


def test_a_workbook_names_the_cells_of_a_workbook(engine: Engine) -> None:
    check = checked(engine, "book.xlsx", book(Sales=[["Year", "2024"], ["Wells", 40]]))
    made = openpyxl.load_workbook(io.BytesIO(write(check, "xlsx", b"", engine)))
    assert [row[1].value for row in made["Sentences"].iter_rows()] == ["Place", "Sales!B2, Wells · 2024"]


def test_a_pdf_lets_every_decision_be_followed(engine: Engine) -> None:
    check = checked(engine, "memo.md", MARKDOWN.encode())
    with pymupdf.open("pdf", write(check, "pdf", b"", engine)) as made:
        text = " ".join(" ".join(page.get_text() for page in made).replace("\u200b", "").split())
        pictures = [info for page in made for info in page.get_image_info()]
    for said in (
        "1 contradicted",
        "It ran for six weeks. [1: contradicted]",
        "“It ran for six weeks.”",
        "The draft says “six”; the document says “nine”. Write nine.",
        "“ran for nine weeks”",
        "Replaced by: “The wells were dear & <new>.”",
        "Left as it is.",
        "Note: =I know it.",
        "93.0 [4: no claim, own",
        "“93.0” (Total · May) Its parts add up to 73.0, not to 93.0. Write 73.0.",
        "Without a decision: 2 problems.",
    ):
        assert said in text
    assert len(pictures) == 1, "the place that contradicts"


def test_json_is_what_scripts_are_promised(engine: Engine) -> None:
    check = checked(engine, "memo.md", MARKDOWN.encode())
    told = json.loads(write(check, "json", b"", engine))
    assert {"draft", "counts", "sentences", "inconsistencies", "check_id"} <= set(told)
    assert (told["draft"], told["counts"]["contradicted"]) == ("memo.md", 1)
    for sentence in told["sentences"]:
        assert {"text", "start", "end", "status", "reason", "citations", "corrections", "missing", "decision"} <= set(
            sentence
        )
    [six] = [each for each in told["sentences"] if each["status"] == "contradicted"]
    assert told["text"][six["start"] : six["end"]] == six["text"] == "It ran for six weeks."
    assert six["corrections"] == [{"start": 11, "end": 14, "said": "six", "found": "nine", "write": "nine"}]
    assert {"doc_id", "title", "page", "quote", "boxes"} <= set(six["citations"][0])
    [fault] = told["inconsistencies"]
    assert (fault["kind"], fault["write"]) == ("total", "73.0")


@pytest.mark.parametrize("kind", KINDS)
def test_a_check_that_is_not_done_is_written_as_far_as_it_is(engine: Engine, kind: CheckFile) -> None:
    data = word(*MEMO)
    whole = checked(engine, "memo.docx", data)
    check = replace(
        whole,
        info=replace(whole.info, done=1),
        sentences=(whole.sentences[0], *[None] * (len(whole.spans) - 1)),
        decisions=tuple(Decision() for _ in whole.spans),
    )
    made = write(check, kind, data, engine)
    assert said_in(made, kind).count(f"1 of {len(whole.spans)} sentences checked; the others are not.") == 1
    assert "the others are not" not in said_in(write(whole, kind, data, engine), kind)


def said_in(made: bytes, kind: CheckFile) -> str:
    """Words of a file, with those of its comments."""
    if kind == "docx":
        return " ".join(comment.text for comment in docx.Document(io.BytesIO(made)).comments)
    if kind == "xlsx":
        sheets = openpyxl.load_workbook(io.BytesIO(made)).worksheets
        return " ".join(str(cell.value) for sheet in sheets for row in sheet.iter_rows() for cell in row)
    if kind == "pdf":
        with pymupdf.open(stream=made) as pdf:
            return " ".join(" ".join(page.get_text() for page in pdf).split())
    return made.decode()


def test_a_file_of_another_text_is_written_anew(engine: Engine) -> None:
    check = checked(engine, "memo.docx", word(*MEMO))
    made = write(check, "docx", word("Another text."), engine)
    assert "It ran for" in by_pandoc(made)


@pytest.mark.parametrize("kind", KINDS)
def test_any_draft_can_be_written(engine: Engine, kind: CheckFile) -> None:
    code = "```\n" + "    a = 1\n\n" * 200 + "```"
    wide = f"| {' | '.join('abc')} |\n|{'---|' * 3}\n| 1 | {'long words ' * 300}| {'x' * 400} |"
    hebrew = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd."
    text = f"# {hebrew}\n\n{hebrew} \U0001f600 It ran for six\u00a0we\xade\x1bks\ufffe.\n\n{code}\n\n{wide}\n"
    check = checked(engine, "memo.md", f"{text}\n- One.\n  - Two.\n    - Three.\n- Four.\n".encode())
    assert len(write(check, kind, b"", engine)) > 500


def test_a_text_box_has_comments_alone() -> None:
    made = docx.Document()
    inner = "<w:p><w:r><w:t>It ran for six weeks.</w:t></w:r></w:p>"
    box = f"<w:r {nsdecls('w')}><w:pict><w:txbxContent>{inner}</w:txbxContent></w:pict></w:r>"
    made.add_paragraph("Anchored.")._p.append(parse_xml(box))
    data = saved(made)
    draft = read_draft("x.docx", data)
    span = (draft.text.index("It"), len(draft.text))
    mark = Annotation(span, span, "Replaced by: “It ran for nine.”", "A note", "It ran for nine.")
    done = annotated(data, draft, [mark])
    assert done is not None
    assert read_draft("x.docx", done).text == draft.text
    document = docx.Document(io.BytesIO(done))
    assert [comment.text for comment in document.comments] == ["Replaced by: “It ran for nine.”\nA note"]
    assert not list(document.element.body.iter(*map(qn, ("w:footnoteReference", "w:ins", "w:del"))))
