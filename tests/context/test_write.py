"""Summaries and situating sentences through the real client, against a local server that speaks the Messages API."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragcore.config.settings import Settings, load
from ragcore.context.write import add_context
from ragcore.errors import Cancelled, KeyMissing
from ragcore.index.database import open_database
from ragcore.index.model_records import ModelTexts
from ragcore.ingest.chunk import chunk_document
from ragcore.protocols import LLM
from ragcore.providers.anthropic import AnthropicModel
from ragcore.text.sentences import whole_sentences
from ragcore.types import Chunk, Document, ModelReport
from tests.documents import Grid, Heading, make_document
from tests.messages_server import MessagesServer, Reply

MODEL = "claude-haiku-4-5"
PRICED = {"input_tokens": 1000, "output_tokens": 100}  # $0.0015 with MODEL
LEAD = "Larkfield Water sells drinking water to farms and households in the valley of the Tern."
WELLS = "Each of the nine wells was sampled twice in the dry months and gave water of good quality."
SUMMARIES = {"document_summary": True}


def report() -> Document:
    return make_document(
        Heading("Business"),
        LEAD,
        Heading("Wells"),
        WELLS,
        Heading("Sales"),
        Grid(
            "Sales of water", [["Item", "2023", "2022"], ["Farms", "1", "2"], ["Homes", "3", "4"], ["Rest", "5", "6"]]
        ),
        title="Larkfield Water 2023",
    )


def settings(**changes: Any) -> Settings:
    return load(environ={}, overrides={f"context.{key}": value for key, value in changes.items()})[0]


@dataclass
class Bench:
    folder: Path
    server: MessagesServer

    def __post_init__(self) -> None:
        self.cache = ModelTexts(open_database(self.folder), "context")
        self.progress: list[tuple[int, int]] = []

    def writer(self, model: str = MODEL) -> LLM:
        return AnthropicModel(model, api_key="k", base_url=self.server.url, timeout_seconds=10, retries=0)

    def run(
        self,
        document: Document | None = None,
        *,
        writer: Callable[[], LLM] | None = None,
        ask: bool = True,
        cancelled: Callable[[], bool] | None = None,
        **changes: Any,
    ) -> tuple[tuple[Chunk, ...], ModelReport]:
        given = settings(**changes)
        document = document or report()
        return add_context(
            document,
            chunk_document(document, given.chunk),
            writer=(writer or self.writer) if ask else None,
            cache=self.cache,
            settings=given,
            on_progress=lambda done, total: self.progress.append((done, total)),
            cancelled=cancelled,
        )


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr("ragcore.model_calls.IN_FLIGHT", 1)
    with MessagesServer() as server:
        yield Bench(tmp_path, server)


def replies(count: int, **changes: Any) -> list[Reply]:
    return [Reply(text=f"It is number {n}.", usage=PRICED, **changes) for n in range(1, count + 1)]


def test_by_default_nothing_is_asked_and_nothing_added(bench: Bench) -> None:
    chunks, told = bench.run()
    assert {chunk.context for chunk in chunks} == {""}
    assert (told, told.words, told.unfinished) == (ModelReport(), "", False)
    assert bench.server.requests == []


def test_claude_sums_up_the_document_once(bench: Bench) -> None:
    bench.server.reply(*replies(1))
    chunks, told = bench.run(**SUMMARIES)
    assert {chunk.context for chunk in chunks} == {"It is number 1."}
    assert (told.written, told.left) == (1, 0)
    assert told.words == "1 summary written, $0.0015"
    (prompt,) = (request["body"]["messages"][0]["content"] for request in bench.server.requests)
    assert "what this document is about" in prompt
    assert LEAD in prompt
    assert bench.progress[-1] == (1, 1)
    again, told_again = bench.run(**SUMMARIES)
    assert again == chunks
    assert told_again == told
    assert len(bench.server.requests) == 1
    # What is known is used where nobody is to be asked, too.
    assert bench.run(ask=False, **SUMMARIES)[0] == chunks
    # It is for searching only.
    wells = next(chunk for chunk in chunks if chunk.section[-1] == "Wells")
    assert wells.index_text.startswith("Larkfield Water 2023 › Wells\nIt is number 1.\n")
    assert wells.text.strip().endswith(WELLS)
    assert "number" not in wells.text + wells.passage


def test_each_passage_is_placed_with_the_document_in_a_cached_prompt(bench: Bench) -> None:
    bench.server.reply(*replies(3))
    chunks, told = bench.run(situate="claude")
    assert (told.situated, told.written, told.left) == (3, 0, 0)
    assert told.words == "3 passages situated, $0.0045"
    contents = [request["body"]["messages"][0]["content"] for request in bench.server.requests]
    materials = {json.dumps(content[0]) for content in contents}
    assert len(materials) == 1
    assert contents[0][0]["cache_control"] == {"type": "ephemeral"}
    assert all(word in contents[0][0]["text"] for word in (LEAD, WELLS, "Farms"))
    assert WELLS in contents[1][1]["text"]
    # A table and each of its rows share one sentence.
    table = [chunk for chunk in chunks if chunk.kind == "table"]
    assert len(table) == 4
    assert {chunk.context for chunk in table} == {"It is number 3."}


def test_the_first_request_of_a_material_ends_before_the_others_begin(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragcore.model_calls.IN_FLIGHT", 3)
    bench.server.reply(Reply(text="It is first.", usage=PRICED, first_delay=0.3), *replies(2, first_delay=0.3))
    seen: list[int] = []
    bench.run(situate="claude", cancelled=lambda: bool(seen.append(len(bench.server.requests))))
    assert 1 in seen
    assert 2 not in seen[: seen.index(1) + 1]
    assert len(bench.server.requests) == 3
    assert set(seen[seen.index(1) :]) <= {1, 2, 3}
    assert seen.count(1) >= 2  # it was waited for


def test_a_long_document_is_placed_part_by_part_with_its_summary(bench: Bench) -> None:
    more = " ".join(
        f"Well number {n} was sampled twice and gave water of good quality in all months." for n in range(40)
    )
    document = make_document(Heading("Business"), LEAD, Heading("Wells"), more, title="Larkfield Water 2023")
    bench.server.reply(*replies(10))
    _chunks, told = bench.run(document, situate="claude", prompt_tokens=500)
    assert (told.written, told.left) == (1, 0)
    materials = [request["body"]["messages"][0]["content"] for request in bench.server.requests[1:]]
    assert len({content[0]["text"] for content in materials}) > 1
    assert all('"summary": "It is number 1."' in content[0]["text"] for content in materials)


def test_a_failure_is_told_and_made_good_later(bench: Bench) -> None:
    first, last = replies(2)
    bench.server.reply(first, Reply(status=400, message="no"), last)
    chunks, told = bench.run(situate="claude")
    assert (told.situated, told.left, told.unfinished) == (2, 1, True)
    assert "no" in told.reason
    assert told.error is not None
    assert told.error["code"] == "request_refused"
    assert "`groundwork index`" in told.error["hint"]
    assert [chunk.context for chunk in chunks if chunk.section[-1] == "Wells"] == [""]
    bench.server.reply(Reply(text="It is the wells.", usage=PRICED))
    chunks, told = bench.run(situate="claude")
    assert (told.situated, told.left, told.error) == (3, 0, None)
    assert [chunk.context for chunk in chunks if chunk.section[-1] == "Wells"] == ["It is the wells."]
    assert len(bench.server.requests) == 4


def test_a_refused_key_ends_the_asking(bench: Bench) -> None:
    bench.server.reply(Reply(status=401, message="invalid x-api-key"))
    chunks, told = bench.run(situate="claude", **SUMMARIES)
    assert len(bench.server.requests) == 1
    assert (told.written, told.situated, told.left) == (0, 0, 4)
    assert told.words.startswith("4 of its contexts not written: ")
    assert {chunk.context for chunk in chunks} == {""}


def test_three_failures_in_a_row_end_the_asking(bench: Bench) -> None:
    document = make_document(*(block for n in range(6) for block in (Heading(f"Part {n}"), f"{WELLS} {n}.")))
    bench.server.reply(*(Reply(status=400, message="no") for _ in range(6)))
    _chunks, told = bench.run(document, situate="claude")
    assert len(bench.server.requests) == 3
    assert (told.situated, told.left) == (0, 6)


def test_nothing_is_sent_that_may_pass_the_limit(bench: Bench) -> None:
    bench.server.reply(*replies(3))
    _chunks, told = bench.run(situate="claude", max_usd=0.003)
    asked = len(bench.server.requests)
    assert 0 < asked < 3
    assert told.usd <= 0.003
    assert told.left == 3 - asked
    assert "context.max_usd" in told.reason
    assert told.unfinished
    _chunks, told = bench.run(situate="claude", max_usd=0.1)
    assert (len(bench.server.requests), told.left) == (3, 0)


def test_a_model_without_a_price_is_not_asked(bench: Bench) -> None:
    _chunks, told = bench.run(situate="claude", writer=lambda: bench.writer("claude-new"))
    assert bench.server.requests == []
    assert "no price for claude-new" in told.reason


def test_a_missing_key_is_told(bench: Bench) -> None:
    def missing() -> LLM:
        raise KeyMissing("context.situate needs Claude.")

    _chunks, told = bench.run(situate="claude", writer=missing)
    assert (told.left, told.error is not None) == (3, True)
    assert "needs Claude" in told.reason
    _chunks, told = bench.run(situate="claude", ask=False)
    assert (told.left, told.reason) == (3, "they haven't been requested yet")


def test_stopped_midway_it_goes_on_where_it_was(bench: Bench) -> None:
    stop = threading.Event()
    bench.server.reply(replies(1)[0], Reply(text="It hangs.", first_delay=1.0, usage=PRICED))

    def cancelled() -> bool:
        if len(bench.server.requests) == 2:
            stop.set()
        return stop.is_set()

    with pytest.raises(Cancelled):
        bench.run(situate="claude", cancelled=cancelled)
    # One is known; of the other nobody knows whether it was billed, so its reserve stays counted.
    spent = bench.cache.spent(report().doc_id)
    assert spent > 0.0015
    bench.server.reply(*replies(2))
    chunks, told = bench.run(situate="claude")
    assert (told.situated, told.left) == (3, 0)
    assert len(bench.server.requests) == 4
    assert chunks[0].context == "It is number 1."
    assert told.usd == pytest.approx(spent + 0.003, abs=1e-6)


def test_what_a_model_wrote_is_one_line_of_whole_sentences() -> None:
    assert whole_sentences(" It is\nthe first\x00 part. It tells of wells and ") == "It is the first part."
    assert whole_sentences("It tells of wells and") == "It tells of wells and"
