"""Contexts through the whole engine: asked for, paid for, searched by, embedded only where they change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragcore.answer.sources import build_sources
from ragcore.cli.main import main
from ragcore.engine import Engine
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply

PRICED = {"input_tokens": 1000, "output_tokens": 100}  # $0.0045 with the default model
SMALL = {"chunk.max_tokens": 20, "chunk.target_tokens": 20}
SITUATE = {"context.situate": "claude"}


@pytest.fixture
def server(server: MessagesServer, key: None) -> MessagesServer:
    return server


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def opened(home: Path, overrides: dict[str, Any] | None = None) -> Engine:
    return Engine.open(home=home, overrides=overrides)


@pytest.mark.usefixtures("offline")
def test_a_change_of_headers_embeds_only_what_it_changes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with opened(home, SMALL) as engine:
        doc_id = prepared.read(engine, pdfs.one_column(), "survey.pdf")
        first = engine.index()
        assert first.embedded == first.chunks > 0
        texts = {chunk.chunk_id: chunk.index_text for chunk in engine.chunks(doc_id)}
        # Built anew as it was: nothing is embedded again.
        assert engine.index(rebuild=True).embedded == 0
    with opened(home, SMALL | {"chunk.lead_in_tokens": 0}) as engine:
        assert engine.stale() == [doc_id]
        report = engine.index()
        changed = {c.chunk_id for c in engine.chunks(doc_id) if texts.get(c.chunk_id) != c.index_text}
        assert 0 < report.embedded == len(changed)
        assert engine.stale() == []
        for chunk in engine.chunks(doc_id):
            assert chunk.text == engine.document(doc_id).text[chunk.start : chunk.end]
    with opened(home, SMALL) as engine:
        # All chunks are as they were at first: only those that had changed are embedded.
        assert engine.index().embedded == len(changed)
        assert {chunk.chunk_id: chunk.index_text for chunk in engine.chunks(doc_id)} == texts


def test_passages_are_situated_when_the_index_is_built_and_what_they_cost_is_told(
    server: MessagesServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with opened(home) as engine:
        doc_id = prepared.read(engine, pdfs.one_column(), "survey.pdf")
        assert engine.index().usd == 0.0
    with opened(home, SITUATE) as engine:
        passages = len(engine.chunks(doc_id))
        assert passages > 0
        # An engine that is only brought up to date, as the app does at its start, spends nothing and says what is left.
        report = engine.ingest(doc_id)
        assert (report.context.situated, report.context.left) == (0, passages)
        assert report.context.unfinished
        assert server.requests == []
        server.reply(*(Reply(text="Zanzibar is the place.", usage=PRICED) for _ in range(passages)))
        built = engine.index()
        assert built.usd == pytest.approx(0.0045 * passages)
        (info,) = engine.documents()
        assert (info.context.situated, info.context.left) == (passages, 0)
        assert info.context.usd == pytest.approx(built.usd)
        (paid,) = engine.spending().entries
        assert (paid.purpose, paid.usd) == ("contexts", pytest.approx(built.usd))
        assert engine.index().usd == 0.0
        assert len(server.requests) == passages
        # It is searched by, and no word of the document.
        found = engine.with_settings({"retrieve.mode": "bm25"}).retrieve("Zanzibar")
        hit = found.hits[0]
        assert hit.chunk.context == "Zanzibar is the place."
        assert "Zanzibar" not in hit.chunk.text
        sources = build_sources(found, engine.document, engine.settings.answer)
        assert sources
        assert not any("Zanzibar" in source.text for source in sources)


def test_the_command_line_tells_what_contexts_cost(
    server: MessagesServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[context]\nsituate = "claude"\n')
    file = pdfs.write(tmp_path, "guide.pdf", pdfs.with_bookmarks())
    server.reply(Reply(text="It opens the survey.", usage=PRICED), Reply(status=401, message="no"))
    common = ["--home", str(tmp_path / "home"), "--config", str(config)]
    assert main(["ingest", str(file), "--json", *common]) == 0
    out = capsys.readouterr()
    (document,) = json.loads(out.out)["documents"]
    assert (document["context"]["situated"], document["context"]["error"]["code"]) == (1, "key_refused")
    assert "refused the key" in out.err
    assert len(server.requests) == 2
    server.reply(Reply(text="It tells of the methods.", usage=PRICED))
    assert main(["index", *common]) == 0
    assert "cost $0.0045" in capsys.readouterr().out
    assert len(server.requests) == 3


@pytest.mark.usefixtures("offline")
def test_without_a_key_it_is_told_that_one_is_missing(tmp_path: Path) -> None:
    with opened(tmp_path / "home", SITUATE) as engine:
        doc_id = engine.add(pdfs.one_column(), "survey.pdf").doc_id
        report = engine.ingest(doc_id)
        assert report.status == "ready"
        assert report.context.error is not None
        assert report.context.error["code"] == "key_missing"
        assert report.context.left > 0
        assert engine.index().embedded > 0
