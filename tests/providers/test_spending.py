"""What was paid for, and what need not be paid for twice: around any model (`ragcore.providers.paid`), in the
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
from ragcore.index.database import Database
from ragcore.index.model_records import Ledger, Response, Responses
from ragcore.protocols import Form, Message, ModelRequest, WritingTask
from ragcore.providers.anthropic import AnthropicModel
from ragcore.providers.paid import Billing, PaidModel
from ragcore.types import Answer, Spending, Spent, Text, Turn, Usage
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
    opened = Database(tmp_path / "library.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def billing(database: Database) -> Billing:
    return Billing(Ledger(database), Responses(database, 2**20), PRICES)


def paid(server: MessagesServer, billing: Billing, model: str = "claude-priced") -> PaidModel:
    made = AnthropicModel(model, api_key="k", base_url=server.url, timeout_seconds=10.0, retries=0)
    return PaidModel(made, billing)


def planner(server: MessagesServer, billing: Billing) -> PaidModel:
    made = AnthropicModel("claude-priced", api_key="k", base_url=server.url, timeout_seconds=10.0, retries=0)
    return PaidModel(made, billing)


def spent(billing: Billing) -> Spending:
    assert isinstance(billing.ledger, Ledger)
    return billing.ledger.spending(PRICES)


def test_the_same_request_is_paid_once_and_streams_as_it_did(server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    server.reply(Reply(text=["It ", "was ", "61.4."], usage=COUNTED, model="claude-priced-20260101"))
    first = writer.stream(REQUEST)
    pieces = list(first)
    again = writer.stream(REQUEST)
    assert list(again) == pieces == ["It ", "was ", "61.4."]
    assert (first.replayed, again.replayed) == (False, True)
    assert (first.usage, again.usage) == (Usage(1000, 100), Usage())
    assert first.model == again.model == "claude-priced-20260101"
    assert len(server.requests) == 1
    (entry,) = spent(billing).entries
    assert entry == Spent("claude-priced-20260101", "answer", 1, Usage(1000, 100), pytest.approx(0.0045))


CHANGES = {
    "system": {"system": "Be brief."},
    "prompt": {"messages": (Message("Other sources. Why?"),)},
    "history": {"messages": (*conversation([Turn("Who?", "They.")]), ASKED)},
    "max_tokens": {"max_tokens": 99},
    "a cache mark": {"messages": (*conversation([Turn("Who?", "They.")], again=True), ASKED)},
}


@pytest.mark.parametrize("name", CHANGES)
def test_any_change_of_what_is_sent_is_another_request(name: str, server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    changed = replace(REQUEST, **CHANGES[name])  # type: ignore[arg-type]
    assert len({writer.stream(one).fingerprint for one in (REQUEST, changed)}) == 2
    list(writer.stream(REQUEST))
    other = writer.stream(changed)
    list(other)
    assert not other.replayed
    assert len(server.requests) == 2


def test_another_model_or_server_is_another_request(server: MessagesServer, billing: Billing) -> None:
    with MessagesServer() as elsewhere:
        writers = [paid(server, billing), paid(server, billing, "claude-other"), paid(elsewhere, billing)]
        assert len({writer.stream(REQUEST).fingerprint for writer in writers}) == 3


def test_what_does_not_change_the_words_sent_is_the_same_request(server: MessagesServer, billing: Billing) -> None:
    """Nor does it matter whether the model is known by now to refuse a parameter."""
    writer = paid(server, billing, "claude-refuses-temperature-here")
    refusal = Reply(status=400, message="temperature: not for this model")
    server.reply(refusal, Reply(text="one"))
    assert "".join(writer.stream(REQUEST)) == "one"
    other = replace(REQUEST, task=WritingTask("the same question made to stand alone"))
    assert "".join(writer.stream(other)) == "one"
    assert len(server.requests) == 2


def test_a_fresh_request_passes_over_what_is_kept_and_takes_its_place(server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    server.reply(Reply(text="one"), Reply(text="two"))
    assert "".join(writer.stream(REQUEST)) == "one"
    assert "".join(writer.stream(replace(REQUEST, fresh=True))) == "two"
    assert "".join(writer.stream(REQUEST)) == "two"
    assert len(server.requests) == 2


INCOMPLETE = {
    "cut at max_tokens": Reply(text="Half", stop_reason="max_tokens", usage=COUNTED),
    "disconnected": Reply(text=["Half ", "it"], disconnect_after=1, usage=COUNTED),
    "failed midway": Reply(text=["Half ", "it"], error_after=1, usage=COUNTED),
    "refused": Reply(text="", stop_reason="refusal", usage=COUNTED),
}


@pytest.mark.parametrize("name", INCOMPLETE)
def test_only_a_complete_answer_is_kept_and_what_was_counted_is_booked(
    name: str, server: MessagesServer, billing: Billing
) -> None:
    writer = paid(server, billing)
    server.reply(INCOMPLETE[name], Reply(text="whole", usage=COUNTED))
    with pytest.raises(ModelError):
        list(writer.stream(REQUEST))
    assert "".join(writer.stream(REQUEST)) == "whole"
    assert spent(billing).usage.input_tokens == 2000


def test_an_empty_answer_is_not_kept(server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    server.reply(Reply(text=" ", usage=COUNTED), Reply(text="whole", usage=COUNTED))
    assert "".join(writer.stream(REQUEST)) == " "
    assert "".join(writer.stream(REQUEST)) == "whole"
    assert spent(billing).calls == 2


def test_a_stopped_answer_is_not_kept_and_counts_with_what_was_reported(
    server: MessagesServer, billing: Billing
) -> None:
    writer = paid(server, billing)
    server.reply(Reply(text=["a "] * 200, delay=0.02, usage=COUNTED), Reply(text="whole", usage=COUNTED))
    stream = writer.stream(REQUEST)
    for number, _ in enumerate(stream):
        if number == 2:
            threading.Thread(target=stream.close).start()
    assert spent(billing).usage == Usage(1000, 1), "as its first event said"
    assert "".join(writer.stream(REQUEST)) == "whole"


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


def test_a_replay_can_be_stopped(server: MessagesServer, billing: Billing) -> None:
    writer = paid(server, billing)
    server.reply(Reply(text=["a", "b", "c"]))
    list(writer.stream(REQUEST))
    stream = writer.stream(REQUEST)
    got = []
    for piece in stream:
        got.append(piece)
        stream.close()
    assert got == ["a"]


def test_forms_are_kept_where_they_are_usable(server: MessagesServer, billing: Billing) -> None:
    model = planner(server, billing)
    bad, good = Reply(tool=("colour", {"c": 1})), Reply(tool=("colour", {"c": "red"}))
    server.plan(bad, good)
    asked = replace(FORM, usable=lambda text: isinstance(json.loads(text)["c"], str), purpose="judge")
    assert json.loads("".join(model.stream(asked))) == {"c": 1}
    for _ in range(2):
        assert json.loads("".join(model.stream(asked))) == {"c": "red"}
    assert len(server.requests) == 2
    (entry,) = spent(billing).entries
    assert (entry.purpose, entry.calls) == ("judge", 2)
    other = replace(asked, tool=Form("colour", "Another colour.", {"properties": {}}))
    assert model.stream(other).fingerprint != model.stream(asked).fingerprint


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


def test_the_oldest_answers_make_room(database: Database) -> None:
    one = Response("m", tuple(f"{number:06d}" for number in range(2000)))
    small = Responses(database, 30_000)
    for number in range(20):
        small.put(str(number), one)
    kept = [number for number in range(20) if small.get(str(number)) is not None]
    assert kept == list(range(20 - len(kept), 20))
    assert 2 <= len(kept) <= 10
    Responses(database, 100).put("too long", one)
    assert all(small.get(name) is None for name in ("too long", "19"))


def test_a_damaged_answer_is_asked_for_again(server: MessagesServer, billing: Billing, database: Database) -> None:
    writer = paid(server, billing)
    server.reply(Reply(text="one"), Reply(text="two"))
    list(writer.stream(REQUEST))
    with database.write() as connection:
        connection.execute("UPDATE responses SET pieces = x'00'")
    assert ["".join(writer.stream(REQUEST)) for _ in range(2)] == ["two", "two"]


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


def ask(engine: Engine, question: str, *, fresh: bool = False) -> tuple[Answer, list[str]]:
    run = engine.ask(question, fresh=fresh)
    texts = [event.text for event in run if isinstance(event, Text)]
    assert run.answer is not None
    return run.answer, texts


def test_from_the_engine_down(library: Path, server: MessagesServer, capsys: pytest.CaptureFixture[str]) -> None:
    said = Reply(text=list(GOOD), usage=COUNTED)
    server.reply(said, replace(said, text="It was low <<SOURCE 1.1>>."))
    with opened(library, server) as engine:
        first, streamed = ask(engine, QUESTION)
        again, streamed_again = ask(engine, QUESTION)
    assert streamed_again == streamed
    assert len(server.requests) == 1
    assert (first.replayed, again.replayed) == (False, True)
    assert (first.usage, first.cost_usd) == (Usage(1000, 100), pytest.approx(0.0045))
    assert (again.usage, again.cost_usd) == (Usage(), 0.0)
    for name in ("text", "claims", "citations", "marks", "model", "status"):
        assert getattr(again, name) == getattr(first, name)
    with opened(library, server) as engine:
        conversation_id = engine.conversations.new()
        kept = engine.chat(conversation_id, QUESTION).run()
        assert kept.replayed
        fresh = engine.chat(conversation_id, QUESTION, instead_of=None, after="", fresh=True).run()
        assert (fresh.replayed, fresh.text) == (False, "It was low [1].")
        stored = [turn.answer for turn in engine.conversations.get(conversation_id).turns]
        assert stored[-1] == fresh
    with opened(library, server, **{"llm.cache": False}) as engine:
        before = len(server.requests)
        assert not ask(engine, QUESTION)[0].replayed
        assert len(server.requests) == before + 1

    assert main(["--home", str(library), "--json", "spending"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["calls"] == 3
    assert found["usage"]["input_tokens"] >= 2000
    assert found["unpriced"] == []
    (entry,) = found["by_model"]
    assert (entry["model"], entry["purpose"]) == ("claude-sonnet-4-6", "answer")
    assert found["usd"] == pytest.approx(entry["usd"])
    assert found["since"] == time.strftime("%Y-%m-%d")
    assert main(["--home", str(library), "spending"]) == 0
    assert "claude-sonnet-4-6" in capsys.readouterr().out


def test_nothing_of_questions_or_documents_is_in_the_ledger(library: Path, server: MessagesServer) -> None:
    with opened(library, server) as engine:
        ask(engine, QUESTION)
        with engine.store.database.read() as connection:
            rows = [tuple(row) for row in connection.execute("SELECT * FROM spent")]
            keys = [row[0] for row in connection.execute("SELECT fingerprint FROM responses")]
    assert all(len(row) == 10 and row[1:3] == ("claude-sonnet-4-6", "answer") for row in rows)
    assert all(len(key) == 64 and set(key) <= set("0123456789abcdef") for key in keys)


class Broken:
    """Where nothing can be read or written."""

    def get(self, fingerprint: str) -> Response | None:
        raise StoreError("The disk is full.")

    def put(self, fingerprint: str, response: Response) -> None:
        raise StoreError("The disk is full.")

    def add(self, model: str, purpose: str, usage: Usage, usd: float | None) -> None:
        raise StoreError("The disk is full.")


def test_what_was_paid_for_is_given_out_where_it_can_be_neither_kept_nor_booked(server: MessagesServer) -> None:
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
