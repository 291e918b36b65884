"""Uploads: what becomes of their files, and what is said beside the drop zone about what leaves the machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from tests import ade, pdfs
from ui.library import uploads
from ui.library.jobs import Ingestion

SUMMARIES = {"context.document_summary": True, "context.max_usd": 1.5}
QUIET = {"figures.describe": "off", "context.situate": "off"}


@pytest.mark.parametrize(
    ("overrides", "key", "said"),
    [
        (QUIET, "test", ""),
        (QUIET | SUMMARIES, None, ""),
        (QUIET | SUMMARIES, "test", "Document text goes to Claude for summaries: at most $1.50 per document."),
        (
            QUIET | SUMMARIES | {"context.situate": "claude"},
            "test",
            "Document text goes to Claude for summaries and a context sentence for each passage: "
            "at most $1.50 per document.",
        ),
        (
            QUIET | SUMMARIES | {"figures.describe": "auto", "figures.max_usd": 0.25},
            "test",
            "Document text goes to Claude for summaries: at most $1.50 per document. "
            "Figures go to Claude to be described: at most $0.25 per document.",
        ),
    ],
)
def test_what_goes_to_claude_is_said(
    overrides: dict[str, Any], key: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with Engine.open(tmp_path, overrides=overrides, api_key=key) as engine:
        assert uploads.sent_to_claude(engine) == said


@dataclass(frozen=True)
class Uploaded:
    """What Streamlit gives for a file: one of a folder has its path in it as its name."""

    name: str
    data: bytes

    @property
    def file_id(self) -> str:
        return self.name

    def getvalue(self) -> bytes:
        return self.data


def test_the_files_of_a_folder_lie_in_it_and_what_is_there_already_is_said_once(tmp_path: Path) -> None:
    made = ade.report()
    files = [
        Uploaded("Trial/a.pdf", pdfs.one_column()),
        Uploaded("Trial/deep/b.pdf", pdfs.ruled_table()),
        Uploaded("Trial/deep/report.json", made.json),
        Uploaded("Trial/report.pdf", pdfs.note()),  # of another folder, so not the PDF of the JSON
        Uploaded("Trial/deep/report.pdf", made.pdf),
        Uploaded("loose.pdf", pdfs.hyphenated()),
    ]
    with Engine.open(tmp_path) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        assert uploads.take(files, engine, ingestion)[0] == []
        newest = sorted(engine.documents(), key=lambda info: -info.created)
        assert set(ingestion.jobs()) == {info.doc_id for info in newest}
        assert [(info.folder, info.name) for info in newest] == [
            ("Trial", "a.pdf"),
            ("Trial/deep", "b.pdf"),
            ("Trial/deep", "report.json"),
            ("Trial", "report.pdf"),
            ("", "loose.pdf"),
        ]
        [note], _ = uploads.take([*files[:2], *files[3:4], files[5]], engine, ingestion)
        assert note.text == "a.pdf, b.pdf, report.pdf and 1 other are already in the library."
        ingestion.close()


def test_a_document_that_is_read_is_not_queued_again(tmp_path: Path) -> None:
    data = pdfs.one_column()
    with Engine.open(tmp_path) as engine:
        added = engine.add(data, "a.pdf")
        engine.ingest(added.doc_id)
        engine.index()
        ingestion = Ingestion(engine, removed=lambda _: None)
        [note], documents = uploads.take([Uploaded("a.pdf", data)], engine, ingestion)
        assert note.text == "a.pdf is already in the library."
        assert (documents, ingestion.jobs()) == ([added.doc_id], {})
        ingestion.close()


def test_of_files_that_are_alike_the_first_is_taken(tmp_path: Path) -> None:
    files = [Uploaded(name, pdfs.one_column("A") if name != "b.pdf" else pdfs.note()) for name in ("a.pdf", "b.pdf")]
    again = [Uploaded("a (1).pdf", files[0].data), Uploaded("none.pdf", b""), Uploaded("also none.pdf", b"")]
    with Engine.open(tmp_path) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        notes, _ = uploads.take([*files, *again], engine, ingestion)
        assert [note.text for note in notes] == [
            "none.pdf is empty.\nalso none.pdf is empty.",
            "a (1).pdf is already in the library.",
        ]
        assert [info.name for info in sorted(engine.documents(), key=lambda info: -info.created)] == ["a.pdf", "b.pdf"]
        ingestion.close()


def test_what_is_no_pdf_is_refused_by_its_own_name_and_not_kept(tmp_path: Path) -> None:
    made, letter = ade.report(), pdfs.not_a_pdf()
    files = [Uploaded("notes.pdf", letter), Uploaded("notes (1).pdf", letter), Uploaded("a.pdf", pdfs.one_column())]
    with Engine.open(tmp_path) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        for _ in range(2):
            notes, _ = uploads.take(files[:2], engine, ingestion)
            assert [note.text for note in notes] == ["notes.pdf is not a PDF.\nnotes (1).pdf is not a PDF."]
        [note], _ = uploads.take([Uploaded("b.json", made.json), Uploaded("b.pdf", letter)], engine, ingestion)
        assert note.text == "b.pdf is not a PDF."
        assert uploads.take(files[2:], engine, ingestion)[0] == []
        assert [info.name for info in engine.documents()] == ["a.pdf"]
        ingestion.close()


def test_what_is_too_large_is_said_in_words_for_the_app(tmp_path: Path) -> None:
    with Engine.open(tmp_path, overrides={"ingest.max_bytes": 1000}) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        [note], _ = uploads.take([Uploaded("large.pdf", pdfs.one_column())], engine, ingestion)
        assert note.hint == "Split it into smaller files and upload those."
        ingestion.close()


def test_many_files_with_one_advice_are_one_card_that_counts_the_rest() -> None:
    refused = [uploads.Note("bad", f"{n}.xyz can’t be read.", "Save it as PDF.") for n in range(12)]
    other = uploads.Note("weak", "b.json came without its PDF.", "Add it.")
    many, alone = uploads.together([*refused[:3], other, *refused[3:]])
    assert many.text.splitlines()[0] == "0.xyz can’t be read."
    assert len(many.text.splitlines()) == uploads.LINES
    assert many.text.endswith("And 5 more.")
    assert alone == other
    assert len(uploads.together(refused[: uploads.LINES])[0].text.splitlines()) == uploads.LINES


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a.pdf"], "a.pdf is already in the library."),
        (["a.pdf", "b.pdf"], "a.pdf and b.pdf are already in the library."),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 others are already in the library."),
    ],
)
def test_files_that_are_there_already_in_words(names: list[str], said: str) -> None:
    assert uploads.already(names) == said
