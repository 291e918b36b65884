"""Limits: reserved before the work, never passed, given back where the work did not come to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcore.accounts.accounts import Accounts, Device
from ragcore.accounts.libraries import Grants
from ragcore.accounts.limits import MEASURES, LibraryAllowance, Limits
from ragcore.engine import Engine
from ragcore.errors import Cancelled, InputError, LimitReached
from tests import pdfs, prepared
from tests.accounts.conftest import Clock
from tests.command_line import run
from tests.ingest.mail import message
from tests.messages_server import MessagesServer, Reply

MARA, JONAS = "mara@fernhill.example", "jonas@fernhill.example"
OFFLINE = {"llm.model": "offline", "rerank.model": "none"}
DAY = 86400.0
QUESTION = "What was the highest nitrate reading?"


@pytest.fixture
def accounts(tmp_path: Path, clock: Clock) -> Iterator[Accounts]:
    made = Accounts(tmp_path / "home", clock)
    for email in (MARA, JONAS):
        code = made.invite(email, "x", admin=email == MARA)
        made.accept(code, "", "", "four words to remember", Device())
    yield made
    made.close()


@pytest.fixture
def limits(accounts: Accounts) -> Limits:
    grants = Grants(accounts)
    grants.begin(lambda _: None)
    return Limits(grants)


@pytest.fixture
def ids(accounts: Accounts) -> dict[str, str]:
    return {user.email: user.user_id for user in accounts.users()}


@pytest.fixture
def allowance(limits: Limits, accounts: Accounts) -> LibraryAllowance:
    return LibraryAllowance(limits, accounts.home)


@pytest.fixture
def engine(allowance: LibraryAllowance, accounts: Accounts) -> Iterator[Engine]:
    with Engine.open(accounts.home, overrides=OFFLINE, allowance=allowance) as opened:
        yield opened


def used(limits: Limits, holder: str) -> float:
    return next(one.used for one in limits.all() if one.holder == holder)


def test_without_a_limit_nothing_is_counted(limits: Limits, allowance: LibraryAllowance, ids: dict[str, str]) -> None:
    for measure in MEASURES:
        allowance.of(ids[MARA]).take(measure, 1e12)
    assert limits.all() == []
    assert not allowance.limited("dollars")


def test_of_many_that_ask_at_once_no_more_get_it_than_there_is(limits: Limits, ids: dict[str, str]) -> None:
    limits.put("questions", 60, "x")
    got: list[bool] = []

    def ask() -> None:
        for _ in range(20):
            try:
                limits.take(ids[MARA], "questions", 1)
                got.append(True)
            except LimitReached:
                got.append(False)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (got.count(True), got.count(False)) == (60, 60)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(amounts=st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=12))
def test_what_is_used_is_what_was_taken_less_what_was_given_back(
    limits: Limits, ids: dict[str, str], clock: Clock, amounts: list[tuple[bool, int]]
) -> None:
    clock.now += DAY  # a day on which nothing was asked
    limits.put("questions", 100, "x", MARA)
    model = 0
    for back, amount in amounts:
        if back:
            limits.give_back(ids[MARA], "questions", amount)
            model = max(model - amount, 0)
        elif model + amount <= 100:
            limits.take(ids[MARA], "questions", amount)
            model += amount
        else:
            with pytest.raises(LimitReached):
                limits.take(ids[MARA], "questions", amount)
    assert used(limits, MARA) == model


def test_a_limit_of_ones_own_counts_and_a_new_day_begins_anew(
    limits: Limits, ids: dict[str, str], clock: Clock
) -> None:
    limits.put("questions", 1, "x")
    limits.put("questions", 2, "x", MARA)
    limits.take(ids[MARA], "questions", 2)
    limits.take(ids[JONAS], "questions", 1)
    for whose in (MARA, JONAS):
        with pytest.raises(LimitReached) as refused:
            limits.take(ids[whose], "questions", 1)
        assert "questions for today" in refused.value.message
        assert "tomorrow" in refused.value.hint
    clock.now += DAY
    limits.take(ids[MARA], "questions", 2)
    assert used(limits, MARA) == 2
    limits.put("questions", None, "x", JONAS)
    limits.take(ids[JONAS], "questions", 1000)
    limits.put("questions", None, "x")
    assert [(one.holder, one.most) for one in limits.all()] == [(JONAS, None), (MARA, 2.0)]


def test_a_library_that_was_asked_of_before_it_was_made_is_limited_as_soon_as_it_is(accounts: Accounts) -> None:
    grants = Grants(accounts)
    allowance = LibraryAllowance(Limits(grants), accounts.home)
    allowance.take("pages", 5)
    grants.begin(lambda _: None)
    Limits(grants).put("pages", 1, "x")
    with pytest.raises(LimitReached):
        allowance.take("pages", 5)


def test_who_is_limited_in_what(limits: Limits, accounts: Accounts) -> None:
    with pytest.raises(InputError, match="for a person"):
        limits.put("questions", 5, "x", "Library")
    with pytest.raises(InputError, match="for a library"):
        limits.put("dollars", 5, "x", MARA)
    with pytest.raises(InputError, match="no library"):
        limits.put("pages", 5, "x", "Nowhere")
    limits.put("pages", 500, MARA, "Library")
    assert [(one.holder, one.measure, one.most) for one in limits.all()] == [("Library", "pages", 500.0)]
    event = accounts.log()[0]
    assert (event.action, event.by, event.library) == ("pages limited to 500", MARA, "Library")


def test_questions_of_a_person_end_and_nothing_is_stored_of_the_next(
    engine: Engine, limits: Limits, ids: dict[str, str]
) -> None:
    prepared.read(engine, pdfs.one_column(), "survey.pdf")
    engine.index()
    limits.put("questions", 2, "x")
    mara = engine.of(ids[MARA])
    talk = mara.conversations.new()
    mara.chat(talk, QUESTION).run()
    mara.retrieve("nitrate")
    with pytest.raises(LimitReached):
        mara.chat(talk, "In how many wells was nitrate above the limit?")
    with pytest.raises(LimitReached):
        mara.ask(QUESTION)
    with pytest.raises(LimitReached):
        mara.with_settings({"retrieve.top_k": 3}).explore("nitrate")
    assert len(mara.conversations.get(talk).turns) == 1
    engine.of(ids[JONAS]).retrieve("nitrate")
    engine.retrieve("nitrate")  # nobody's: a job of the library


def test_a_file_without_room_is_not_stored_and_with_room_again_it_is(engine: Engine, limits: Limits) -> None:
    first, attached = pdfs.one_column(), pdfs.ruled_table()
    mail = bytes(message("Here it is.", attached=[("table.pdf", attached)]))
    limits.put("bytes", len(first) + len(mail), "x")
    doc_id = engine.add(first, "a.pdf").doc_id
    with pytest.raises(LimitReached) as refused:
        engine.add(mail, "letter.eml")
    assert "are left" in refused.value.message
    assert [info.doc_id for info in engine.documents()] == [doc_id]
    limits.put("bytes", len(mail) + len(attached), "x")
    engine.remove(doc_id)
    assert len(engine.add(mail, "letter.eml").attached) == 1


def test_several_servers_that_add_at_once_keep_the_limit_together(
    accounts: Accounts, limits: Limits, allowance: LibraryAllowance
) -> None:
    limits.put("bytes", 250, "x")
    with ExitStack() as servers, ThreadPoolExecutor(6) as people:
        engines = [servers.enter_context(Engine.open(accounts.home, allowance=allowance)) for _ in range(3)]
        files = [f"Note {n}: {'word ' * 18}".encode() for n in range(9)]

        def give(number: int) -> bool:
            try:
                engines[number % 3].add(files[number], f"{number}.txt")
            except LimitReached:
                return False
            return True

        assert sum(people.map(give, range(9))) == 2
        assert sum(info.bytes for info in engines[0].documents()) <= 250


def test_pages_are_taken_before_they_are_read_and_unread_ones_come_back(engine: Engine, limits: Limits) -> None:
    data = pdfs.report("Larkfield Water Survey", {"Findings": [pdfs.INTRO] * 40, "Advice": [pdfs.ADVICE] * 40})
    doc_id = engine.add(data, "survey.pdf").doc_id
    limits.put("pages", 1, "x")
    info = engine.ingest(doc_id)
    assert info.error is not None
    assert info.error["code"] == "limit_reached"
    assert info.pages > 1
    limits.put("pages", 100, "x", "Library")
    with pytest.raises(Cancelled):
        engine.ingest(doc_id, cancelled=lambda: True)
    assert used(limits, "Library") < info.pages
    assert engine.ingest(doc_id).status == "ready"
    assert used(limits, "Library") == info.pages


def test_what_one_asked_is_not_told_another_by_an_answer_that_costs_nothing(
    accounts: Accounts, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        with Engine.open(accounts.home, overrides={"rerank.model": "none"}) as engine:
            prepared.read(engine, pdfs.one_column(), "survey.pdf")
            engine.index()
            for email, sent in ((MARA, 1), (JONAS, 2), (MARA, 2), (JONAS, 2)):
                person = engine.of(ids[email])
                person.ask(QUESTION).run()
                assert len(server.requests) == sent
            person.with_settings({"retrieve.top_k": 30}).ask(QUESTION).run()
            assert len(server.requests) == 2, "settings that change no request"


def test_no_request_is_sent_that_could_cost_more_than_is_left(
    accounts: Accounts, allowance: LibraryAllowance, limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        with Engine.open(accounts.home, overrides={"rerank.model": "none"}, allowance=allowance) as engine:
            prepared.read(engine, pdfs.one_column(), "survey.pdf")
            engine.index()
            limits.put("dollars", 0.0001, "x")
            answer = engine.ask(QUESTION).run()
            assert answer.error is not None
            assert answer.error["code"] == "limit_reached"
            assert server.requests == []
            limits.put("dollars", 5, "x", "Library")
            answer = engine.ask(QUESTION).run()
            assert answer.error is None
            assert len(server.requests) == 1
            assert 0 < used(limits, "Library") == pytest.approx(engine.spending().usd, abs=1e-9)
            before = used(limits, "Library")
            server.reply(Reply(status=401))
            answer = engine.ask("In how many wells was nitrate above the limit?").run()
            assert answer.error is not None
            assert answer.error["code"] == "key_refused"
            assert used(limits, "Library") == pytest.approx(before), "what was refused was not billed"


def test_limits_from_the_command_line(accounts: Accounts, limits: Limits) -> None:
    home = ["--home", str(accounts.home), "admin", "limit"]
    assert run([*home, "list"]).stdout == "There are no limits.\n"
    run([*home, "set", "questions", "200"])
    done = run([*home, "set", "dollars", "50", "--for", "Library", "--json"])
    assert [(one["measure"], one["most"]) for one in json.loads(done.stdout)["limits"]] == [
        ("questions", 200.0),
        ("dollars", 50.0),
    ]
    assert run([*home, "set", "questions", "none"]).stdout == "dollars   Library: 50, 0 used\n"
    wrong = run([*home, "set", "pages", "5", "--for", MARA])
    assert wrong.returncode == 1
    assert wrong.stderr.count("\n") == 1
