"""What was paid for: around any model (`ragcore.providers.paid`), in the
database, and from the engine and the command line down to a local server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragcore.answer.requests import conversation
from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.errors import ModelError, RateLimited, StoreError, StreamBroken
from ragcore.index.database import Database, open_database
from ragcore.index.model_records import Ledger, Responses
from ragcore.protocols import Form, Message, ModelRequest, WritingTask
from ragcore.providers.anthropic import AnthropicModel
from ragcore.providers.paid import KEPT, Billing, PaidModel
from ragcore.types import Spending, Turn, Usage
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply

QUESTION = "Which well had the highest nitrate reading?"
GOOD = "It was high <<SOURCE 1.1>>."
PRICES = {"claude-priced": (3.0, 15.0, 0.3, 3.75)}
COUNTED = {"input_tokens": 1000, "output_tokens": 100}
ASKED = Message("Sources. Why?")
REQUEST = ModelRequest("Be exact.", (ASKED,))
FORM = ModelRequest("Be exact.", (Message("Which?"),), Form("colour", "A colour.", {"properties": {}}), max_tokens=99)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def billing(database: Database) -> Billing:
    return Billing(Ledger(database), Responses(database, most=3), PRICES)


def paid(server: MessagesServer, billing: Billing, model: str = "claude-priced") -> PaidModel:
    made = AnthropicModel(model, api_key="k", base_url=server.url, timeout_seconds=10.0, retries=0)
    return PaidModel(made, billing)


def planner(server: MessagesServer, billing: Billing) -> PaidModel:
    made = AnthropicModel("claude-priced", api_key="k", base_url=server.url, timeout_seconds=10.0, retries=0)
    return PaidModel(made, billing)


def spent(billing: Billing) -> Spending:
    assert isinstance(billing.ledger, Ledger)
    return billing.ledger.spending(PRICES)


def test_the_same_request_is_paid_once(server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    server.reply(Reply(text=["It ", "was ", "61.4."], usage=COUNTED, model="claude-priced-20260101"))
    first, again = writer.stream(REQUEST), writer.stream(replace(REQUEST, task=WritingTask("made to stand alone")))
    assert "".join(first) == "".join(again) == "It was 61.4."
    assert (first.usage, again.usage) == (Usage(1000, 100), Usage())
    assert (first.notes, again.notes) == ((), (KEPT,))
    assert first.model == again.model == "claude-priced-20260101"
    assert (len(server.requests), spent(billing).calls) == (1, 1)


CHANGES = {
    "system": {"system": "Be brief."},
    "prompt": {"messages": (Message("Other sources. Why?"),)},
    "history": {"messages": (*conversation([Turn("Who?", "They.")]), ASKED)},
    "max_tokens": {"max_tokens": 99},
    "asked anew": {"fresh": True},
    "a form": {"tool": FORM.tool},
    "one of many": {"bulk": True},
}


@pytest.mark.parametrize("name", CHANGES)
def test_any_other_request_is_sent(name: str, server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    changed = replace(REQUEST, **CHANGES[name])  # type: ignore[arg-type]
    for request in (REQUEST, changed):
        list(writer.stream(request))
    assert len(server.requests) == 2


def test_another_model_or_server_is_asked(server: MessagesServer, billing: Billing) -> None:
    with MessagesServer() as elsewhere:
        for writer in (paid(server, billing), paid(server, billing, "claude-other"), paid(elsewhere, billing)):
            list(writer.stream(REQUEST))
        assert (len(server.requests), len(elsewhere.requests)) == (2, 1)


def test_an_answer_asked_anew_takes_the_place_of_the_kept_one(server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    server.reply(Reply(text="one"), Reply(text="two"))
    asked = (REQUEST, replace(REQUEST, fresh=True), REQUEST)
    assert ["".join(writer.stream(one)) for one in asked] == ["one", "two", "two"]


def test_the_newest_answers_are_kept(database: Database) -> None:
    kept = Responses(database, most=3)
    for number in range(5):
        kept.put(str(number), "m", "text")
    assert [number for number in range(5) if kept.get(str(number))] == [2, 3, 4]


INCOMPLETE = {
    "cut at max_tokens": Reply(text="Half", stop_reason="max_tokens", usage=COUNTED),
    "disconnected": Reply(text=["Half ", "it"], disconnect_after=1, usage=COUNTED),
    "failed midway": Reply(text=["Half ", "it"], error_after=1, usage=COUNTED),
    "refused": Reply(text="", stop_reason="refusal", usage=COUNTED),
}


@pytest.mark.parametrize("name", INCOMPLETE)
def test_what_was_counted_of_an_incomplete_answer_is_booked(
    name: str, server: MessagesServer, billing: Billing
) -> None:
    writer = paid(server, billing)
    server.reply(INCOMPLETE[name], Reply(text="whole", usage=COUNTED))
    with pytest.raises(ModelError):
        list(writer.stream(REQUEST))
    assert "".join(writer.stream(REQUEST)) == "whole"
    assert spent(billing).usage.input_tokens == 2000


def test_a_stopped_answer_counts_with_what_was_reported(server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    server.reply(Reply(text=["a "] * 200, delay=0.02, usage=COUNTED))
    stream = writer.stream(REQUEST)
    for number, _ in enumerate(stream):
        if number == 2:
            threading.Thread(target=stream.close).start()
    assert spent(billing).usage == Usage(1000, 1), "as its first event said"


def test_nobody_who_was_not_asked_is_booked(server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    server.reply(Reply(status=429, headers={"retry-after": "0"}))
    with pytest.raises(RateLimited):
        list(writer.stream(REQUEST))
    unread = writer.stream(REQUEST)
    unread.close()
    assert list(unread) == []
    assert spent(billing) == Spending()
    assert len(server.requests) == 1


def test_a_model_without_a_price_is_counted_and_is_not_free(server: MessagesServer, billing: Billing) -> None:
    server.reply(Reply(text="x", usage=COUNTED), Reply(text="y", usage=COUNTED))
    list(paid(server, billing, "llama-of-ones-own").stream(REQUEST))
    alone = spent(billing)
    assert (alone.usage, alone.usd, alone.unpriced) == (Usage(1000, 100), None, ("llama-of-ones-own",))
    list(paid(server, billing).stream(REQUEST))
    both = spent(billing)
    assert (both.calls, both.usd, both.unpriced) == (2, pytest.approx(0.0045), ("llama-of-ones-own",))
    assert [entry.model for entry in both.entries] == ["claude-priced", "llama-of-ones-own"], "dearest first"
    assert isinstance(billing.ledger, Ledger)
    later = billing.ledger.spending({"llama-of-ones-own": (0.0, 0.0, 0.0, 0.0)})
    assert (later.usd, later.unpriced) == (pytest.approx(0.0045), ()), "a price that is set later holds"


def test_the_price_of_the_model_that_was_asked_holds_where_the_service_calls_it_otherwise(
    server: MessagesServer, billing: Billing
) -> None:
    server.reply(Reply(text="x", usage=COUNTED, model="proxied/claude"))
    list(paid(server, billing).stream(REQUEST))
    assert spent(billing).usd == pytest.approx(0.0045)


def test_a_price_that_is_changed_does_not_change_what_was_spent(database: Database) -> None:
    ledger = Ledger(database)
    ledger.add("claude-priced", "answer", Usage(1_000_000), 3.0)
    assert ledger.spending({"claude-priced": (9.0, 9.0, 9.0, 9.0)}).usd == 3.0


def test_sums_are_by_model_and_purpose(database: Database) -> None:
    ledger = Ledger(database)
    for purpose in ("answer", "answer", "plan", "figures"):
        ledger.add("claude-priced", purpose, Usage(10, 1, 2, 3), 0.5)  # type: ignore[arg-type]
    found = ledger.spending(PRICES)
    assert [(entry.purpose, entry.calls, entry.usd) for entry in found.entries] == [
        ("answer", 2, 1.0),
        ("plan", 1, 0.5),
        ("figures", 1, 0.5),
    ]
    assert (found.since, found.calls, found.usage, found.usd) == (
        time.strftime("%Y-%m-%d"),
        4,
        Usage(40, 4, 8, 12),
        2.0,
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        prepared.read(engine, pdfs.one_column(), "survey.pdf")
        engine.index()
        assert engine.ask(QUESTION).run().cost_usd == 0.0
        assert engine.spending() == Spending(), "the offline answerer costs nothing"
    return home


def opened(home: Path, server: MessagesServer, **more: object) -> Engine:
    overrides = {"llm.model": "claude-sonnet-4-6", "llm.base_url": server.url, "agentic.decompose": "off", **more}
    return Engine.open(home=home, overrides=overrides, api_key="sk-test")


def test_from_the_engine_down(library: Path, server: MessagesServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.reply(*[Reply(text=list(GOOD), usage=COUNTED)] * 2)
    with opened(library, server) as engine:
        first = engine.ask(QUESTION).run()
        run = engine.chat(conversation := engine.conversations.new(), QUESTION)
        kept = run.run()
        anew = engine.chat(conversation, QUESTION, instead_of=run.turn_id).run()
    assert (first.usage, first.cost_usd) == (Usage(1000, 100), pytest.approx(0.0045))
    assert (kept.text, kept.citations, kept.cost_usd) == (first.text, first.citations, 0.0)
    assert KEPT in kept.notes
    assert KEPT not in anew.notes
    assert main(["--home", str(library), "--json", "spending"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["calls"] == 2
    assert found["usage"]["input_tokens"] == 2000
    assert found["unpriced"] == []
    (entry,) = found["by_model"]
    assert (entry["model"], entry["purpose"]) == ("claude-sonnet-4-6", "answer")
    assert found["usd"] == pytest.approx(entry["usd"])
    assert found["since"] == time.strftime("%Y-%m-%d")
    assert main(["--home", str(library), "spending"]) == 0
    assert "claude-sonnet-4-6" in capsys.readouterr().out


def test_nothing_of_questions_or_documents_is_in_the_ledger(library: Path, server: MessagesServer) -> None:
    with opened(library, server) as engine:
        engine.ask(QUESTION).run()
        with engine.store.database.read() as connection:
            rows = [tuple(row) for row in connection.execute("SELECT model, purpose FROM spent")]
            columns = connection.execute("SELECT * FROM spent").fetchall()[0].keys()
    assert set(rows) == {("claude-sonnet-4-6", "answer")}
    assert {*columns} - {"library_id"} == {
        *("day", "model", "purpose", "priced", "calls", "usd"),
        *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    }


class Broken:
    """Where nothing can be written."""

    def get(self, key: str) -> tuple[str, str] | None:
        raise StoreError("The disk is full.")

    def put(self, key: str, model: str, text: str) -> None:
        raise StoreError("The disk is full.")

    def add(self, model: str, purpose: str, usage: Usage, usd: float | None) -> None:
        raise StoreError("The disk is full.")


def test_what_was_paid_for_is_given_out_where_it_cannot_be_booked(server: MessagesServer) -> None:
    billing = Billing(Broken(), Broken(), PRICES)
    server.reply(Reply(text=["It ", "was."], usage=COUNTED))
    stream = paid(server, billing).stream(REQUEST)
    assert "".join(stream) == "It was."
    assert stream.usage == Usage(1000, 100)
    assert [note.split(":")[0].rsplit(" couldn't be ")[1] for note in stream.notes] == [
        "read",
        "recorded yet",
        "saved for reuse",
    ]


def test_an_error_of_the_model_is_not_hidden_by_one_of_the_ledger(server: MessagesServer) -> None:
    server.reply(Reply(text=["It ", "was."], disconnect_after=1, usage=COUNTED))
    stream = paid(server, Billing(Broken(), None, PRICES)).stream(REQUEST)
    with pytest.raises(StreamBroken):
        list(stream)
    assert len(stream.notes) == 1
