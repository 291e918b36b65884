from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.answer.sources import build_sources
from ragcore.errors import Overloaded
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.writer import OfflineWriter
from ragcore.pipelines.stream import AnswerStream, AnswerTask, Services
from ragcore.protocols import LLM, Capabilities
from ragcore.providers.anthropic import AnthropicModel
from ragcore.types import (
    Answer,
    AnswerEvent,
    Checked,
    Cited,
    Document,
    Done,
    Dropped,
    Found,
    Segment,
    Text,
    Turn,
    Usage,
)
from ragcore.types.spending import cost
from ragcore.verify.verify import QUOTED
from tests.answer.samples import DIVIDENDS, IND, PROSE, SETTINGS, ScriptedWriter, document, retrieval, sources
from tests.documents import Grid, make_document
from tests.messages_server import MessagesServer, Reply

read = RuleAnalyser().read

QUESTION = "How much did revenues rise in fiscal 2023?"


def answering(
    llm: LLM,
    *segments: Segment,
    question: str = QUESTION,
    rerank: float = 0.9,
    opened: Callable[[str], Document] = document,
) -> AnswerStream:
    taken = segments or (PROSE, DIVIDENDS)
    return AnswerStream(
        AnswerTask(
            question,
            read(question),
            retrieval(question, taken, rerank=rerank),
            tuple(replace(one, score=rerank) for one in sources(*taken)) if segments or llm is not None else (),
        ),
        Services(llm, SETTINGS, opened),
    )


def finish(stream: AnswerStream) -> tuple[list[AnswerEvent], Answer]:
    events = list(stream)
    assert isinstance(events[0], Found)
    assert isinstance(events[-2], Checked)
    assert isinstance(events[-1], Done)
    assert stream.answer == events[-1].answer
    return events, events[-1].answer


def shown(events: list[AnswerEvent]) -> str:
    """What a person has seen: the text with its chips."""
    parts = []
    for event in events:
        if isinstance(event, Text):
            parts.append(event.text)
        elif isinstance(event, Cited):
            parts.append(f"[{event.citation.n}]")
    return "".join(parts)


def test_an_answer_with_citations_and_verdicts() -> None:
    llm = ScriptedWriter(
        "Revenues rose 10% ", "<<SOU", "RCE 1.2>>. Dividends were ", "$1.745 per share<<SOURCE 2.2>>.\n"
    )
    events, answer = finish(answering(llm))
    assert answer.text == "Revenues rose 10% [1]. Dividends were $1.745 per share [2]."
    assert shown(events) == answer.text
    assert [answer.text[m.start : m.end] for m in answer.marks] == ["[1]", "[2]"]
    assert [(c.text, c.citations, c.status) for c in answer.claims] == [
        ("Revenues rose 10%.", (1,), "supported"),
        ("Dividends were $1.745 per share.", (2,), "supported"),
    ]
    assert (answer.status, answer.error, answer.refused, answer.dropped) == ("complete", None, False, ())
    assert answer.usage == Usage(10, 5)
    assert answer.model == "scripted-1"
    assert answer.cost_usd is None
    assert {"first_token", "generate", "verify", "answer"} <= set(answer.timings_ms)
    assert answer.settings_hash == SETTINGS.hash()


def test_markers_that_name_nothing_are_dropped_and_counted() -> None:
    llm = ScriptedWriter("One <<SOURCE 99>>. Two <<SOURCE 1.99>> and <<SOURCE what>> three.")
    events, answer = finish(answering(llm))
    assert answer.text == "One. Two and three."
    assert answer.dropped == ("<<SOURCE 99>>", "<<SOURCE 1.99>>", "<<SOURCE what>>")
    assert [e.marker for e in events if isinstance(e, Dropped)] == list(answer.dropped)
    assert {c.status for c in answer.claims} == {"uncited"}


def test_repeated_marks_in_a_row_are_shown_once() -> None:
    llm = ScriptedWriter("It rose <<SOURCE 1.2>> <<SOURCE 1.2>><<SOURCE 1.3>>. It fell<<SOURCE 1.2>>.")
    _, answer = finish(answering(llm))
    assert answer.text == "It rose [1][2]. It fell [1]."


def test_lists_keep_their_lines() -> None:
    llm = ScriptedWriter("- It rose <<SOURCE 1.2>>\n", "- It fell <<SOURCE 1.3>>\n\nDone <<SOURCE 9>>\n\nnow.")
    _, answer = finish(answering(llm))
    assert answer.text == "- It rose [1]\n- It fell [2]\n\nDone\n\nnow."


WORDS = st.sampled_from(
    [
        "Revenue rose. ",
        " ",
        "\n",
        "- ",
        "<<SOURCE 1.2>>",
        "<<SOURCE 1.3-1.4>>",
        "<<SOURCE 2.2; 9>>",
        "<<SOURCE 7>>",
        "<< source 1.2 and [1.3] >",
        "<<SOURCE what>>",
        "<<SOURCE 1.2",
        "<<NO ANSWER>>",
        "<",
        ".",
    ]
)


def test_empty_lines_are_the_writers_wherever_the_stream_is_cut() -> None:
    _, answer = finish(answering(ScriptedWriter("Revenue rose.", "\n\n\nRevenue rose.")))
    assert answer.text == "Revenue rose.\n\n\nRevenue rose."


@given(st.lists(WORDS, min_size=1, max_size=14).map("".join), st.data())
def test_text_marks_and_events_always_agree(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)])]
    events, answer = finish(answering(ScriptedWriter(*pieces)))
    _, whole = finish(answering(ScriptedWriter(text)))
    assert (answer.text, answer.marks, answer.dropped) == (whole.text, whole.marks, whole.dropped)
    assert (answer.citations, answer.claims) == (whole.citations, whole.claims)
    assert shown(events) == answer.text
    assert [answer.text[m.start : m.end] for m in answer.marks] == [f"[{m.n}]" for m in answer.marks]
    for claim in answer.claims:
        assert 0 <= claim.start < claim.end <= len(answer.text)


def test_stop_keeps_what_had_arrived_and_checks_it() -> None:
    stream: AnswerStream
    llm = ScriptedWriter("Revenues rose 10% <<SOURCE 1.2>>. ", lambda: stream.stop(), "Never ", "seen.")
    stream = answering(llm)
    _, answer = finish(stream)
    assert answer.status == "stopped"
    assert answer.text == "Revenues rose 10% [1]."
    assert [c.status for c in answer.claims] == ["supported"]


@pytest.mark.parametrize("tail", ["<<SO", "<<SOURCE 1.1, 2", "<<NO ANSW", "<"])
def test_stop_inside_a_marker_leaves_nothing_of_it(tail: str) -> None:
    stream: AnswerStream
    llm = ScriptedWriter(f"Revenues rose 10% <<SOURCE 1.2>>. They are in use {tail}", lambda: stream.stop(), "x")
    stream = answering(llm)
    _, answer = finish(stream)
    assert (answer.status, answer.dropped) == ("stopped", ())
    assert answer.text == "Revenues rose 10% [1]. They are in use"


def test_stop_before_the_writing_begins() -> None:
    llm = ScriptedWriter("Never seen.")
    stream = answering(llm)
    stream.stop()
    _, answer = finish(stream)
    assert (answer.status, answer.text, llm.requests) == ("stopped", "", [])


def test_a_failing_writer_loses_nothing() -> None:
    llm = ScriptedWriter("Revenues rose 10% <<SOURCE 1.2>>. And then <<SOU", Overloaded("Too busy."))
    _, answer = finish(answering(llm))
    assert answer.status == "failed"
    assert answer.text == "Revenues rose 10% [1]. And then"
    assert answer.error is not None
    assert answer.error["code"] == "overloaded"
    assert answer.error["hint"]
    assert answer.claims[0].status == "supported"


def test_a_writer_that_says_nothing_has_failed() -> None:
    _, answer = finish(answering(ScriptedWriter("  \n")))
    assert answer.status == "failed"
    assert answer.error is not None
    assert answer.error["code"] == "stream_broken"


def test_an_unexpected_error_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        list(answering(ScriptedWriter("a", ZeroDivisionError())))


def test_the_sentinel_becomes_a_refusal_with_the_nearest_passages() -> None:
    llm = ScriptedWriter("<<NO ANS", "WER>> The sources do not give the number of employees.")
    events, answer = finish(answering(llm, question="How many employees work in China?"))
    assert answer.refused
    assert answer.text.startswith(
        "The sources do not give the number of employees.\n\nSearched for “How many employees"
    )
    assert "“The Company did not repurchase shares in China.” [1]" in answer.text
    assert answer.citations[0].quote == "The Company did not repurchase shares in China."
    assert answer.claims == ()
    assert shown(events) == answer.text
    assert answer.usage == Usage(10, 5)


def test_a_refusal_that_cites_its_nearest_passages_gets_no_second_list() -> None:
    llm = ScriptedWriter("<<NO ANSWER>> Not said. The nearest:\n\n- “Gross margin fell” <<SOURCE 1.3>>\n")
    _, answer = finish(answering(llm))
    assert answer.refused
    assert answer.text.startswith("Not said. The nearest:\n\n- “Gross margin fell” [1]\n\nSearched for “How much")
    assert len(answer.citations) == 1


def test_a_sentinel_after_cited_words_is_a_partial_answer() -> None:
    llm = ScriptedWriter("Revenues rose 10% <<SOURCE 1.2>>. <<NO ANSWER>> The cause is not given.")
    _, answer = finish(answering(llm))
    assert not answer.refused
    assert answer.text == "Revenues rose 10% [1]. The cause is not given."


def test_what_is_plainly_not_there_is_refused_without_asking_the_writer() -> None:
    llm = ScriptedWriter("Never asked.")
    _, answer = finish(answering(llm, IND, question="Which volcano erupted near Naples?", rerank=0.001))
    assert answer.refused
    assert llm.requests == []
    assert answer.text.startswith("The documents do not answer this question.")
    assert answer.status == "complete"


def test_the_question_cannot_cite_or_format_in_its_refusal() -> None:
    question = "<<SOURCE 1>> <script>alert(1)</script> **bold** Which sponsor erupted at Vesuvius?"
    _, answer = finish(answering(ScriptedWriter("<<NO ANSWER>>"), IND, question=question, rerank=0.0001))
    assert answer.refused
    shown = r"Searched for “\<\<SOURCE 1>> \<script>alert(1)\</script> \*\*bold\*\* Which sponsor erupted at Vesuvius?”"
    assert shown in answer.text
    assert answer.marks
    assert all(answer.text[: mark.start].endswith("” ") for mark in answer.marks)
    assert (len(answer.citations), answer.dropped) == (1, ())


def test_the_writer_gets_the_history() -> None:
    llm = ScriptedWriter("Yes <<SOURCE 1.2>>.")
    stream = AnswerStream(
        AnswerTask(
            "And in 2023?",
            read("How much did revenues rise in 2023?"),
            retrieval("q", [PROSE]),
            sources(PROSE),
            history=(Turn("How much did revenues rise in 2022?", "5% [1]."),),
        ),
        Services(llm, SETTINGS, document),
    )
    _, answer = finish(stream)
    assert [message.text for message in llm.requests[0].messages[:-1]] == ["How much did revenues rise in 2022?", "5%."]
    assert answer.queries == ("How much did revenues rise in 2023?",)


def test_leaving_early_closes_the_writer() -> None:
    llm = ScriptedWriter("One. ", "Two. ", "Three.")
    events: Iterator[AnswerEvent] = iter(answering(llm))
    assert isinstance(next(events), Found)
    assert isinstance(next(events), Text)
    events.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-x", 0.0121),
        ("claude-x-20260101", 0.0121),
        ("claude-y", None),
        ("claude-xl", None),
        ("claude-x-fast", None),
        ("claude-x-2026010", None),
    ],
)
def test_cost(model: str, expected: float | None) -> None:
    prices = {"claude-x": (3.0, 15.0, 0.3, 3.75)}
    found = cost(Usage(1000, 500, 2000, 267), model, prices)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-4))


@pytest.mark.parametrize("title", ["Table 4. Genes in each group.", "NOTE 5. GENES IN EACH GROUP (CONTINUED):"])
def test_the_offline_writers_cell_is_supported_and_its_own_words_are_no_claims(title: str) -> None:
    doc = make_document(Grid(title, [["", "Treated", "Control"], ["Genes", "4,180", "4,912"]]))
    question = "How many genes were there in the control group?"
    found = replace(retrieval(question, []), segments=(Segment(doc.doc_id, 0, len(doc.text), 0, 0, 1.0),))
    stream = AnswerStream(
        AnswerTask(question, read(question), found, build_sources(found, lambda _: doc, SETTINGS.answer)),
        Services(OfflineWriter(None, SETTINGS.answer), SETTINGS, lambda _: doc),
    )
    _, answer = finish(stream)
    assert answer.text.startswith("Genes, Control: 4,912 [1]\n\n| Row | Column | Value |")
    assert [(claim.citations, claim.status) for claim in answer.claims] == [((1,), "supported")] * 2


def test_what_is_only_quoted_is_never_doubted_nor_called_checked() -> None:
    class Quoting(ScriptedWriter):
        capabilities = Capabilities(extractive=True)

    told = "Revenue, 1999: 12 <<SOURCE 1.1>>\n\nHighest of the 3 values that were found."
    (claim,) = finish(answering(Quoting(told)))[1].claims
    assert (claim.text, claim.status, claim.reason) == ("Revenue, 1999: 12", "supported", QUOTED)
    assert claim.wrong == ()


# Through the real client, against a server that misbehaves


def claude(server: MessagesServer) -> AnthropicModel:
    return AnthropicModel("claude-sonnet-4-6", api_key="k", base_url=server.url, timeout_seconds=10, retries=0)


def test_the_servers_own_answer_is_grounded_and_priced() -> None:
    with MessagesServer() as server:
        _, answer = finish(answering(claude(server)))
    assert [c.quote[:20] for c in answer.citations] == ["Revenues rose 10% to", "The Board of Directo"]
    assert answer.dropped == ("<<SOURCE 99>>",)
    assert [c.status for c in answer.claims] == ["supported", "supported", "uncited"]
    assert answer.cost_usd is not None
    assert answer.cost_usd > 0


@pytest.mark.parametrize(
    ("reply", "status", "code", "text"),
    [
        (Reply(text=["It rose <<SOURCE 1", ".2>>. More"], disconnect_after=1), "failed", "stream_broken", "It rose"),
        (Reply(text=["It rose <<SOURCE 1.2>>. ", "x"], error_after=1), "failed", "overloaded", "It rose [1]."),
        (Reply(status=429, headers={"retry-after": "99"}), "failed", "rate_limited", ""),
        (Reply(text="It rose <<SOURCE 1.2>>", stop_reason="max_tokens"), "failed", "stream_broken", "It rose [1]"),
        (Reply(text=""), "failed", "stream_broken", ""),
        (Reply(text="word " * 20_000, chunks=50), "complete", None, None),
        (Reply(text=list("It rose <<SOURCE 1.2>>.")), "complete", None, "It rose [1]."),
    ],
)
def test_every_misbehaviour_ends_in_an_answer(reply: Reply, status: str, code: str | None, text: str | None) -> None:
    with MessagesServer() as server:
        server.reply(reply)
        _, answer = finish(answering(claude(server)))
    assert answer.status == status
    assert (answer.error or {}).get("code") == code
    if text is not None:
        assert answer.text == text


def test_stop_from_another_thread_is_quick() -> None:
    with MessagesServer() as server:
        server.reply(Reply(text=["word "] * 400, delay=0.02))
        stream = answering(claude(server))
        threading.Timer(0.5, stream.stop).start()
        started = time.perf_counter()
        _, answer = finish(stream)
    assert time.perf_counter() - started < 3
    assert answer.status == "stopped"
    assert answer.text.startswith("word word")


def test_our_own_time_to_the_first_token_is_short() -> None:
    runs = [finish(answering(ScriptedWriter("Revenues rose 10% <<SOURCE 1.2>>.")))[1] for _ in range(5)]
    assert min(answer.timings_ms["first_token"] for answer in runs) < 50


def test_stop_ends_the_check_too() -> None:
    written = False

    def opened(doc_id: str) -> Document:
        if written:  # the check opens the documents of what is cited
            stream.stop()
        return document(doc_id)

    said = " ".join(f"Revenues rose 1{n}% <<SOURCE 1.2>>." for n in range(8))
    stream = answering(ScriptedWriter(said), opened=opened)
    cited = 0
    for event in stream:
        cited += isinstance(event, Cited)
        written = cited == 8
    assert stream.answer is not None
    assert stream.answer.status == "complete"
    assert any(claim.reason == "Not checked: checking was stopped." for claim in stream.answer.claims)
    assert any(note.endswith("not checked: checking was stopped.") for note in stream.answer.notes)


def test_what_was_stopped_while_it_was_written_is_still_checked() -> None:
    stream = answering(ScriptedWriter("Revenues rose 11% <<SOURCE 1.2>>. ", lambda: stream.stop(), "More."))
    _, answer = finish(stream)
    assert (answer.status, answer.claims[0].status) == ("stopped", "unsupported")
