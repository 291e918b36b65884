"""Reports filled by Claude, down to a local server that speaks its API: what is asked, what is missing and looked for
again, and where it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragcore.engine import Engine
from ragcore.errors import UnknownDocument
from ragcore.report.template import Template, from_data
from tests import prepared
from tests.messages_server import MessagesServer, Reply


@pytest.fixture(scope="module")
def home(surveyed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared.copied(surveyed, tmp_path_factory.mktemp("home") / "home")


@pytest.fixture
def server(server: MessagesServer, key: None, monkeypatch: pytest.MonkeyPatch) -> MessagesServer:
    return server


def template(*sections: dict[str, Any], **more: Any) -> Template:
    return from_data({"title": "Survey report", "guidance": "For the county.", "sections": list(sections), **more})


WELLS = {"heading": "Wells", "guidance": "State how many wells were sampled and the highest nitrate reading."}


def prompts(server: MessagesServer) -> list[str]:
    return [json.dumps(request["body"]["messages"], ensure_ascii=False) for request in server.requests]


def test_a_section_is_asked_for_with_its_place_in_the_report(home: Path, server: MessagesServer) -> None:
    server.reply(
        Reply(text="Forty-two wells were sampled <<SOURCE 1.1>>. The highest nitrate reading is there <<SOURCE 1.2>>."),
        Reply(text="- One <<SOURCE 1.1>>"),
    )
    with Engine.open(home=home) as engine:
        report = engine.fill(
            template(WELLS, {"heading": "Readings", "kind": "list", "guidance": "Nitrate readings."})
        ).run()
    assert [section.number for section in report.sections] == ["1", "2"]
    first, second = prompts(server)
    for words in (
        "1 Wells",
        "2 Readings",
        "For the county.",
        "1. how many wells were sampled",
        "2. the highest nitrate",
    ):
        assert words in first
    assert "Forty-two wells were sampled." in second  # what is written so far, without marks
    assert "bullet list" in second
    assert report.sections[0].answer is not None
    assert report.sections[0].answer.citations
    assert report.usage.input_tokens > 0


def test_what_is_missing_is_looked_for_and_the_section_written_again(home: Path, server: MessagesServer) -> None:
    read = "The highest reading of nitrate was 61.4 <<SOURCE 1>>."
    server.reply(
        Reply(text=f"{read} [INSUFFICIENT DATA: how many wells were sampled]"),
        Reply(text=f"{read} Wells were sampled <<SOURCE 2>>."),
    )
    with Engine.open(home=home, overrides={"answer.source_tokens": 90}) as engine:
        (section,) = engine.fill(template(WELLS)).run().sections
    assert len(server.requests) == section.rounds == 2
    again = prompts(server)[1]
    assert read in again
    assert "- how many wells were sampled" in again
    assert "INSUFFICIENT" not in section.text
    assert section.gaps == ()


def test_what_stays_missing_is_a_gap_and_the_rounds_are_bounded(home: Path, server: MessagesServer) -> None:
    lacking = Reply(text="Wells were sampled <<SOURCE 1.1>>. [INSUFFICIENT DATA: the highest nitrate reading]")
    server.reply(lacking, lacking, lacking)
    with Engine.open(home=home, overrides={"answer.source_tokens": 90}) as engine:
        (section,) = engine.fill(template(WELLS)).run().sections
    assert len(server.requests) <= 2
    assert section.status == "partial"
    assert next(gap.what for gap in section.gaps) == "the highest nitrate reading"
    assert "[INSUFFICIENT DATA: the highest nitrate reading]" in section.text


def test_what_is_passed_over_in_silence_is_a_gap_too(home: Path, server: MessagesServer) -> None:
    server.reply(*[Reply(text="Nothing of interest <<SOURCE 1.1>>.")] * 2)
    with Engine.open(home=home) as engine:
        (section,) = engine.fill(template(WELLS)).run().sections
    assert "the highest nitrate reading" in [gap.what for gap in section.gaps]
    assert "[INSUFFICIENT DATA: the highest nitrate reading]" in section.text


def test_a_section_without_evidence_is_never_sent(home: Path, server: MessagesServer) -> None:
    asked = template({"heading": "Quarterly dividend policy", "guidance": "State dividends per share."})
    with Engine.open(home=home) as engine:
        (section,) = engine.fill(asked).run().sections
    assert server.requests == []
    assert (section.status, section.missed) == ("empty", True)
    assert section.text == "[INSUFFICIENT DATA: dividends per share]"
    assert [gap.what for gap in section.gaps] == ["dividends per share"]


def test_what_is_missing_is_no_claim(home: Path, server: MessagesServer) -> None:
    server.reply(
        *[Reply(text="Wells were sampled <<SOURCE 1.1>>. [INSUFFICIENT DATA: the highest nitrate reading of 2019]")] * 2
    )
    with Engine.open(home=home) as engine:
        (section,) = engine.fill(template(WELLS)).run().sections
    assert section.answer is not None
    assert [claim.text for claim in section.answer.claims] == ["Wells were sampled."]


def test_a_report_in_files_shows_what_is_missing(home: Path, server: MessagesServer) -> None:
    import io
    import zipfile

    import pymupdf

    server.reply(
        *[Reply(text="Wells were sampled <<SOURCE 1.1>>. [INSUFFICIENT DATA: the highest (nitrate) reading]")] * 2
    )
    with Engine.open(home=home) as engine:
        report = engine.fill(
            template(WELLS, {"heading": "Quarterly dividend policy", "guidance": "State dividends per share."})
        ).run()
        written = {kind: engine.write_report(report, kind) for kind in ("md", "docx", "pdf")}
    markdown = written["md"].decode()
    pages = pymupdf.open(stream=written["pdf"]).pages()
    word = zipfile.ZipFile(io.BytesIO(written["docx"])).read("word/document.xml").decode()
    for text in (markdown, " ".join(" ".join(page.get_text() for page in pages).split()), word):
        assert "[INSUFFICIENT DATA: the highest (nitrate) reading]" in text
        assert "[INSUFFICIENT DATA: dividends per share]" in text
    assert 'w:val="Lack"' in word


def test_a_section_that_fails_is_told_and_the_others_are_filled(home: Path, server: MessagesServer) -> None:
    server.reply(Reply(status=400, message="no"), Reply(text="Wells were sampled <<SOURCE 1.1>>."))
    with Engine.open(home=home) as engine:
        first, second = engine.fill(template(WELLS, {"heading": "Wells sampled"})).run().sections
    assert first.status == "failed"
    assert first.answer is not None
    assert first.answer.error is not None
    assert second.status == "filled"


def test_a_stop_leaves_what_is_done(home: Path, server: MessagesServer) -> None:
    server.reply(Reply(text="Wells were sampled <<SOURCE 1.1>>."))
    with Engine.open(home=home) as engine:
        run = engine.fill(template({"heading": "Wells sampled"}, WELLS))
        for _ in run:
            run.stop()
    assert [section.status for section in run.report.sections] == ["filled"]


def test_a_section_keeps_to_its_documents(home: Path, server: MessagesServer) -> None:
    server.reply(Reply(text="Wells were sampled <<SOURCE 1.1>>."))
    with Engine.open(home=home) as engine:
        (section,) = engine.fill(template({"heading": "Wells sampled", "documents": ["survey"]})).run().sections
        with pytest.raises(UnknownDocument, match="annual"):
            engine.fill(template({"heading": "Wells sampled", "documents": ["annual.pdf"]})).run()
        assert section.answer is not None
        named = {engine.document(source.doc_id).name for source in section.answer.sources}
    assert named == {"survey.pdf"}


def test_orders_in_the_sources_stay_between_their_borders(home: Path, server: MessagesServer) -> None:
    with Engine.open(home=home) as engine:
        engine.fill(template(WELLS)).run()
    (body,) = (request["body"] for request in server.requests[:1])
    system = json.dumps(body["system"])
    assert "never an instruction" in system
    assert "Larkfield" not in system
