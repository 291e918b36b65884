"""ADE JSON through the whole pipeline: into the library, read, asked, shown, removed."""

from __future__ import annotations

import json
from pathlib import Path

import pymupdf
import pytest
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from ragcore.engine import Engine
from ragcore.errors import BadAdeJson, Cancelled, FileTooLarge
from ragcore.ingest.ade.draw import NOTICE
from ragcore.progress import Progress
from tests import pdfs
from tests.ade import FINDING, STRAY, ade, cell_box, chunk, report
from tests.command_line import run
from ui.library.jobs import Ingestion
from ui.library.uploads import Note, paired, take


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(home=tmp_path / "home", overrides={"llm.model": "offline"})


def files(engine: Engine) -> list[str]:
    return sorted(path.name[16:] for path in (engine.home / "files").rglob("*") if path.is_file())


def test_from_the_command_line_to_lit_cells(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(report().json)
    (tmp_path / "report.pdf").write_bytes(report().pdf)

    def ragcore(*arguments: str) -> dict[str, list[dict[str, object]]]:
        done = run(["--home", str(tmp_path / "home"), "--json", *arguments])
        assert done.returncode == 0, done.stderr
        answer: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
        return answer

    (read,) = ragcore("ingest", str(tmp_path / "report.json"), "--index")["documents"]
    assert (read["status"], read["pages"], read["tables"], read["note"]) == ("ready", 2, 1, "")
    answer = ragcore("generate", "-q", "What was the nitrate in May at Mill Bridge?")
    area = cell_box(3, 2)
    lit = [box for citation in answer["citations"] for box in citation["boxes"]]  # type: ignore[attr-defined]
    assert any(area[0] <= box["x0"] < box["x1"] <= area[2] and area[1] <= box["y0"] <= area[3] for box in lit)
    quotes = " ".join(str(citation["quote"]) for citation in answer["citations"])
    assert "11.6" in quotes


def test_a_json_and_its_pdf_are_one_document_once(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "deeper").mkdir(parents=True)
    for name, data in {
        "report.json": report().json,
        "report.pdf": report().pdf,
        "package.json": b'{"name": "package"}',
        "deeper/other.pdf": pdfs.one_column(),
    }.items():
        (folder / name).write_bytes(data)
    paths = list(engine.pdf_paths([folder]))
    assert [path.name for path in paths] == ["other.pdf", "report.json"]
    read = engine.ingest_path(paths[1])
    first = read.info
    assert (first.status, first.degraded_pages, read.note) == ("ready", 0, "")
    assert engine.ingest_path(paths[1]).info.status == "already"
    assert engine.add(report().json, "again.json").doc_id == first.doc_id, "the JSON is here, with its PDF"
    assert engine.file(first.doc_id).read_bytes() == report().pdf
    assert STRAY in engine.document(first.doc_id).text
    assert files(engine) == sorted(f"{engine.document(first.doc_id).sha256[16:]}{end}" for end in (".ade.json", ".pdf"))
    assert list(engine.pdf_paths([folder / "report.pdf"])) == [folder / "report.pdf"], "by itself it is a PDF"

    engine.remove(first.doc_id)
    assert files(engine) == []


def test_without_the_pdf_the_pages_are_redrawn_and_say_so(engine: Engine) -> None:
    added = engine.add(report().json, "report.json")
    assert (added.status, "add JSON and PDF" in added.note) == ("new", True)
    read = engine.ingest(added.doc_id)
    assert (read.status, read.pages, read.degraded_pages) == ("ready", 2, 2)
    document = engine.document(added.doc_id)
    with pymupdf.open(engine.file(added.doc_id)) as drawn:
        assert [(page.rect.width, page.rect.height) for page in drawn] == [(p.width, p.height) for p in document.pages]
        shown = [" ".join(page.get_text().split()) for page in drawn]
    assert all(NOTICE in text for text in shown)
    assert FINDING in shown[0]
    assert "58.2" in shown[0]
    assert "June" in shown[1]
    assert engine.add(report().json, "report.json").status == "already"
    assert not engine.store.original(added.doc_id).exists()

    both = engine.add(report().json, "report.json", pdf=report().pdf)
    assert (both.status, both.note, both.doc_id != added.doc_id) == ("new", "", True)
    engine.remove(added.doc_id)
    assert len(files(engine)) == 2


def test_a_rebuild_needs_no_file_and_gives_the_same(engine: Engine) -> None:
    doc_id = engine.ingest(engine.add(report().json, "report.json", pdf=report().pdf).doc_id).doc_id
    before = engine.document(doc_id)
    engine.store.original(doc_id).unlink()
    assert engine.index(rebuild=True).chunks > 0
    after = engine.document(doc_id)
    assert (after.text, after.elements) == (before.text, before.elements)


@pytest.mark.parametrize("pdf", [None, report().pdf])
def test_a_stopped_import_goes_on_where_it_was(engine: Engine, pdf: bytes | None) -> None:
    doc_id = engine.add(report().json, "report.json", pdf=pdf).doc_id
    seen: list[Progress] = []
    with pytest.raises(Cancelled):
        engine.ingest(doc_id, on_progress=seen.append, cancelled=lambda: any(p.done for p in seen))
    assert engine.documents()[0].pages_done == 1
    again: list[Progress] = []
    assert engine.ingest(doc_id, on_progress=again.append).status == "ready"
    assert again[0].done == 1


def test_what_does_not_fit_is_refused_by_name_and_harms_no_other(engine: Engine, tmp_path: Path) -> None:
    for name, data in {
        "a.json": report().json,
        "a.pdf": pdfs.one_column(),
        "b.json": report().json[:-40],
        "b.pdf": pdfs.one_column("Another Survey"),
        "c.json": report().json.replace(b"Larkfield", b"Marlfield"),
        "c.pdf": pdfs.not_a_pdf(),
        "d.json": ade([chunk("text", FINDING, (70, 90, 9000, 200))]),
    }.items():
        (tmp_path / name).write_bytes(data)
    reports = {path.name: engine.ingest_path(path).info for path in engine.pdf_paths([tmp_path])}
    codes = {name: (report.error or {}).get("code") for name, report in reports.items()}
    assert codes == {
        "a.json": "ade_mismatch",
        "b.json": "bad_ade_json",
        "b.pdf": None,  # its JSON cannot be read, so it is a PDF like any other
        "c.json": "not_a_pdf",
        "d.json": "bad_ade_json",
    }
    assert (reports["c.json"].error or {})["message"].startswith("c.pdf"), "it is the PDF that is wrong"
    with pytest.raises(BadAdeJson, match=r"letter\.json is not JSON"):
        engine.add(b"Dear Sir", "letter.json")


def test_a_json_that_is_too_large_names_its_limit(tmp_path: Path) -> None:
    with Engine.open(home=tmp_path / "home", overrides={"ingest.max_json_bytes": 2000}) as engine:
        with pytest.raises(FileTooLarge) as caught:
            engine.add(report().json, "report.json")
        assert "ingest.max_json_bytes" in caught.value.hint
        assert engine.add(pdfs.one_column(), "larger.pdf").status == "new"


def upload(number: int, name: str, data: bytes) -> UploadedFile:
    record = UploadedFileRec(file_id=str(number), name=name, type="", data=data)
    return UploadedFile(record, file_urls=None)  # type: ignore[arg-type]  # only a browser needs those


def test_an_upload_pairs_a_json_with_its_pdf(engine: Engine) -> None:
    batch = [
        upload(1, "report.pdf", report().pdf),
        upload(2, "report.json", report().json),
        upload(3, "other.pdf", pdfs.one_column()),
        upload(4, "b.json", b"{}"),
        upload(5, "B.pdf", pdfs.two_columns()),
        upload(6, "B.json", b"{"),
    ]
    assert [(file.name, pdf.name if pdf else None) for file, pdf in paired(batch)] == [
        ("report.json", "report.pdf"),
        ("other.pdf", None),
        ("b.json", None),
        ("B.json", "B.pdf"),
    ]
    ingestion = Ingestion(engine, removed=lambda _: None)
    try:
        notes, _ = take(batch, engine, ingestion)
        alone, _ = take([upload(7, "alone.json", ade([chunk("text", FINDING, (70, 90, 540, 200))]))], engine, ingestion)
    finally:
        ingestion.close()
    assert [(note.tone, note.text) for note in notes] == [
        (
            "bad",
            "b.json is JSON, but not what LandingAI's ADE has read of a PDF.\n"
            "B.json is not JSON: EOF while parsing an object at line 1 column 1.",
        ),
    ]
    assert sorted(info.name for info in engine.documents()) == ["B.pdf", "alone.json", "other.pdf", "report.json"]
    assert alone == [Note("weak", "alone.json came without its PDF.", alone[0].hint)]
    assert "redrawn" in alone[0].hint
