"""Anthropic's own citations, through the real client against a local server: the same answers as with markers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcore.answer.generate import build_request
from ragcore.config.settings import Settings
from ragcore.errors import RequestRefused, StreamBroken
from ragcore.offline.question import RuleAnalyser
from ragcore.pipelines.stream import AnswerStream, AnswerTask, Services
from ragcore.protocols import ModelRequest
from ragcore.providers.anthropic import AnthropicModel
from ragcore.types import Answer, Segment
from tests.answer.samples import DIVIDENDS, PROSE, SETTINGS, TABLE, document, retrieval, sources
from tests.messages_server import MessagesServer, Reply
from tests.native_answers import Delta, cited_blocks, location, search_results

read = RuleAnalyser().read

NATIVE: Settings = SETTINGS.model_copy(update={"llm": SETTINGS.llm.model_copy(update={"citations": "native"})})
GIVEN = (PROSE, TABLE, DIVIDENDS)
QUESTION = "How much did revenues rise in fiscal 2023?"


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running


def writer(server: MessagesServer) -> AnthropicModel:
    return AnthropicModel("claude-test", api_key="k", base_url=server.url, timeout_seconds=10.0, retries=0)


def request(*given: Segment) -> ModelRequest:
    return build_request(QUESTION, sources(*(given or GIVEN)), (), document, NATIVE)


def said(server: MessagesServer, *blocks: list[Delta]) -> str:
    server.reply(Reply(deltas=list(blocks)))
    return "".join(writer(server).stream(request()))


def text(given: str) -> Delta:
    return {"type": "text_delta", "text": given}


def answer(server: MessagesServer, reply: Reply, *, native: bool) -> Answer:
    server.reply(reply)
    stream = AnswerStream(
        AnswerTask(QUESTION, read(QUESTION), retrieval(QUESTION, GIVEN), sources(*GIVEN)),
        Services(writer(server), NATIVE if native else SETTINGS, document),
    )
    for _ in stream:
        pass
    assert stream.answer is not None
    return stream.answer


def told(given: Answer) -> tuple[Any, ...]:
    return given.text, given.marks, given.citations, given.claims, given.dropped, given.refused, given.status


def test_sources_go_as_search_results_with_one_block_for_each_unit(server: MessagesServer) -> None:
    asked = request()
    list(writer(server).stream(asked))
    body = server.requests[-1]["body"]
    assert [message["role"] for message in body["messages"]] == ["user"]
    *results, last = body["messages"][-1]["content"]
    assert results == search_results(body)
    assert [len(result["content"]) for result in results] == [len(source.units) for source in asked.task.sources]
    assert all(result["citations"] == {"enabled": True} for result in results)
    assert all(block["type"] == "text" and block["text"] for result in results for block in result["content"])
    assert results[0]["title"] == "Sample 10-K | page i | Section: Results of operations"
    assert results[0]["content"][1]["text"] == "Revenues rose 10% to $62.4 billion in fiscal 2023."
    cells = [block["text"] for block in results[0]["content"][4:]]
    assert cells[0].startswith("Table: Statements of income (In millions)\n")
    assert "Revenues · 2023: 62,418" in cells
    assert last == {"type": "text", "text": asked.messages[-1].text}
    assert "<<SOURCE" not in body["system"][0]["text"], "the model is not to write markers"
    assert "Revenues rose" not in asked.messages[-1].text


@pytest.mark.parametrize("cited_first", [False, True])
def test_the_same_answer_in_both_modes(server: MessagesServer, cited_first: bool) -> None:
    marked = (
        "Revenues rose 10% <<SOURCE 1.2>> and reached 62,418 <<SOURCE 1.8>>. Gross margin fell <<SOURCE 1.3, 2.2>>.\n\n"
        "- Dividends were $1.745 per share <<SOURCE 2.2>>\n- The net loss of 2022 was 7,052 <<SOURCE 1.13-1.15>>\n\n"
        "| Year | Revenues |\n|---|---|\n| 2023 | 62,418 <<SOURCE 1.8>> |\n\nNobody said so. Nor this <<SOURCE 9.1>>."
    )
    by_markers = answer(server, Reply(text=marked), native=False)
    by_service = answer(server, Reply(deltas=cited_blocks(marked, cited_first=cited_first)), native=True)
    assert told(by_service) == told(by_markers)
    assert by_markers.dropped == ("<<SOURCE 9.1>>",)
    assert len(by_markers.marks) >= 6


PIECES = st.lists(
    st.sampled_from([
        "Revenues rose 10%", "It fell", ". ", ", and ", ".\n\n- ", "…” ", " | ", "x < 5", "<<", " 10.", "5 million",
        " <<SOURCE 1.2>>", " <<SOURCE 1.3-1.4>>", "<<SOURCE 2.1, 1.2>>", " <<SOURCE 7.1>>", " <<SOURCE 1.99>>",
    ]),
    min_size=1, max_size=8,
).map("".join)  # fmt: skip


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PIECES, st.data(), st.booleans())
def test_no_cut_of_the_stream_changes_the_answer(
    server: MessagesServer, marked: str, data: st.DataObject, cited_first: bool
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(marked)), max_size=6))
    whole = answer(server, Reply(deltas=cited_blocks(marked)), native=True)
    cut = answer(server, Reply(deltas=cited_blocks(marked, cuts=cuts, cited_first=cited_first)), native=True)
    assert told(cut) == told(whole)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("It rose.", "It rose<<SOURCE 1.2>>."),
        ("It rose. ", "It rose<<SOURCE 1.2>>. "),
        ("It rose.\n\n", "It rose<<SOURCE 1.2>>.\n\n"),
        ("**It rose.**", "**It rose<<SOURCE 1.2>>.**"),
        ("- It rose\n", "- It rose<<SOURCE 1.2>>\n"),
        ("| 2023 | 5 |\n", "| 2023 | 5<<SOURCE 1.2>> |\n"),
        ("It fell. It rose.", "It fell. It rose<<SOURCE 1.2>>."),
        ("", "<<SOURCE 1.2>>"),
    ],
)
def test_a_citation_stands_before_what_closes_its_block(server: MessagesServer, block: str, expected: str) -> None:
    assert said(server, [text(block), location(0, 1, 2)], [text(" Next")]) == f"{expected} Next"
    assert said(server, [location(0, 1, 2), *map(text, block)], [text(" Next")]) == f"{expected} Next"


def test_several_citations_of_a_block_come_once_each(server: MessagesServer) -> None:
    deltas = [text("It rose."), location(0, 1, 2), location(1, 0, 2), location(0, 1, 2)]
    assert said(server, deltas) == "It rose<<SOURCE 1.2>><<SOURCE 2.1-2>>."


@pytest.mark.parametrize(
    ("citation", "dropped"),
    [
        (location(7, 0, 1), "<<SOURCE 8.1>>"),
        (location(0, 90, 92), "<<SOURCE 1.91-92>>"),
        (location(0, 2, 2), "<<SOURCE result 0, blocks 2 to 2>>"),
        (location(0, 3, 1), "<<SOURCE result 0, blocks 3 to 1>>"),
        (location(-1, 0, 1), "<<SOURCE result -1, blocks 0 to 1>>"),
        (location(0, -1, 1), "<<SOURCE result 0, blocks -1 to 1>>"),
        (location("a", None, 1), "<<SOURCE result a, blocks None to 1>>"),
        (location(0, 0, 1, type="char_location", document_index=0), "<<SOURCE char_location>>"),
    ],
)
def test_a_place_that_was_not_given_is_dropped_and_reported(
    server: MessagesServer, citation: Delta, dropped: str
) -> None:
    found = answer(server, Reply(deltas=[[text("Profits doubled"), citation], [text(".")]]), native=True)
    assert found.dropped == (dropped,)
    assert found.text == "Profits doubled."
    assert (found.citations, [claim.status for claim in found.claims]) == ((), ["uncited"])


def test_citations_that_come_with_the_beginning_of_a_block_count(server: MessagesServer) -> None:
    reply = Reply(deltas=[[text("It rose.")]], citations=[location(0, 1, 2)["citation"]])
    server.reply(reply)
    assert "".join(writer(server).stream(request())) == "It rose<<SOURCE 1.2>>."


def test_no_answer_is_said_as_with_markers(server: MessagesServer) -> None:
    found = answer(
        server, Reply(deltas=[[text("<<NO ANS"), text("WER>> The sources say nothing of it.")]]), native=True
    )
    assert found.refused
    assert found.claims == ()


def test_what_had_arrived_is_kept_when_the_connection_breaks(server: MessagesServer) -> None:
    deltas = [[text("It rose"), location(0, 1, 2)], [text(". Margins"), text(" fell")]]
    found = answer(server, Reply(deltas=deltas, disconnect_after=3), native=True)
    assert (found.status, found.text) == ("failed", "It rose [1]. Margins")
    assert found.error is not None
    assert found.error["code"] == StreamBroken("").code


def test_a_server_without_search_results_is_told_of_with_the_way_out(server: MessagesServer) -> None:
    server.reply(Reply(status=400, message="messages.0.content.0: unknown type search_result"))
    with pytest.raises(RequestRefused) as caught:
        list(writer(server).stream(request()))
    assert 'llm.citations = "markers"' in caught.value.hint


@pytest.mark.parametrize("odd", [5, "abc", {"type": "search_result_location"}, None])
def test_citations_of_a_block_that_are_no_list_are_none(server: MessagesServer, odd: object) -> None:
    server.reply(Reply(deltas=[[text("It rose.")]], citations=odd))
    assert "".join(writer(server).stream(request())) == "It rose."


def test_a_citation_that_is_none_is_written_so_that_it_is_dropped(server: MessagesServer) -> None:
    assert said(server, [text("It rose."), {"type": "citations_delta"}]) == "It rose<<SOURCE None>>."
