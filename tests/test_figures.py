"""Figures through the whole engine: read, described, searched, cited, described later, kept when the document goes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.progress import Progress
from ragcore.types import json as wire
from tests import pdfs
from tests.messages_server import MessagesServer, Reply

SAID = "A bar chart of chloride by season. Chloride peaks in winter at about 212 grams."
PRICED = {"input_tokens": 1000, "output_tokens": 100}


@pytest.fixture
def server(server: MessagesServer, key: None) -> MessagesServer:
    return server


def test_a_figure_is_described_found_and_cited_as_a_description(server: MessagesServer, tmp_path: Path) -> None:
    server.reply(Reply(text=SAID, usage=PRICED))
    seen: list[Progress] = []
    data = pdfs.figure()
    with Engine.open(home=tmp_path / "home", overrides={"llm.cache": False}) as engine:
        doc_id = engine.add(data, "figure.pdf").doc_id
        report = engine.ingest(doc_id, on_progress=seen.append)
        assert engine.models.describes_figures
        assert (report.status, report.error) == ("ready", None)
        assert (report.figures.described, report.figures.left) == (1, 0)
        assert [p.stage for p in seen if p.stage == "describe"]
        document = engine.document(doc_id)
        (figure,) = (element for element in document.elements if element.kind == "figure")
        assert figure.caption is not None
        assert document.text[figure.start : figure.end] == f"<::{SAID}::>"
        assert [chunk.kind for chunk in engine.chunks(doc_id)].count("figure") == 1

        engine.index()
        found = engine.retrieve("When does chloride peak?")
        assert found.hits[0].chunk.kind == "figure"
        assert wire.retrieval(found, engine.document)["hits"][0]["pages"] == [1]

        sources = engine.ask("When does chloride peak?").run().sources
        place = next(
            f"{source.number}.{number}"
            for source in sources
            for number, unit in enumerate(source.units, 1)
            if "212" in document.text[unit.start : unit.end]
        )
        server.reply(Reply(text=f"Chloride peaks in winter at about 212 grams <<SOURCE {place}>>."))
        answer = engine.ask("When does chloride peak?").run()
        sent = server.requests[-1]["body"]["messages"][-1]["content"]
        assert "<AI_GENERATED>\n[1." in sent
        (citation,) = wire.answer(answer)["citations"]
        region = figure.region[0].as_dict()
        assert (citation["generated"], citation["boxes"]) == (True, [region])
        assert answer.claims[0].status == "supported"
        assert "AI description" in answer.claims[0].reason

        paid = {entry.purpose: entry.usd for entry in engine.spending().entries}
        assert paid["figures"] == pytest.approx(report.figures.usd)
        assert set(paid) == {"figures", "answer"}

        # The description outlives the document: nothing is asked, or spent, a second time.
        engine.remove(doc_id)
        asked = len(server.requests)
        engine.add(data, "again.pdf")
        again = engine.ingest(doc_id)
        assert (again.figures.described, again.figures.usd) == (1, report.figures.usd)
        copy = engine.ingest(engine.add(pdfs.figure(), "copy.pdf").doc_id)
        assert (copy.figures.described, copy.figures.usd) == (1, 0.0)
        assert len(server.requests) == asked


@pytest.mark.parametrize("again", ["rebuild", "ingest"])
def test_what_the_service_refused_is_described_later(server: MessagesServer, tmp_path: Path, again: str) -> None:
    server.reply(Reply(status=401, message="invalid x-api-key"))
    with Engine.open(home=tmp_path / "home") as engine, Engine.open(home=tmp_path / "home") as other:
        doc_id = engine.add(pdfs.figure(), "figure.pdf").doc_id
        report = engine.ingest(doc_id)
        assert report.status == "ready"
        assert (report.figures.described, report.figures.left) == (0, 1)
        assert "refused the key" in report.figures.words
        (info,) = engine.documents()
        assert asdict(info)["figures"]["error"]["code"] == "key_refused"
        assert "<::" not in other.document(doc_id).text
        server.reply(Reply(text=SAID, usage=PRICED))
        if again == "rebuild":
            engine.index(rebuild=True)
        else:
            assert engine.ingest(doc_id).status == "already"
        (info,) = engine.documents()
        assert (info.figures.described, info.figures.left, info.figures.error) == (1, 0, None)
        # Another process, or engine, that had read the document before sees the new text.
        assert f"<::{SAID}::>" in other.document(doc_id).text
        assert all(chunk.text == other.document(doc_id).text[chunk.start : chunk.end] for chunk in other.chunks(doc_id))


def test_without_a_key_nothing_is_asked_and_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        with Engine.open(home=tmp_path / "home") as engine:
            doc_id = engine.add(pdfs.figure(), "figure.pdf").doc_id
            report = engine.ingest(doc_id)
            assert (report.status, report.figures.words) == ("ready", "")
            assert not engine.models.describes_figures
            engine.index(rebuild=True)
        assert server.requests == []


def test_a_named_model_without_a_key_is_told_and_the_document_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with Engine.open(home=tmp_path / "home", overrides={"llm.model": "claude"}) as engine:
        report = engine.ingest(engine.add(pdfs.figure(), "figure.pdf").doc_id)
        assert report.status == "ready"
        assert report.figures.error is not None
        assert report.figures.error["code"] == "key_missing"
