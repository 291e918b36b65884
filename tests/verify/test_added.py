"""Citations that checking adds to what the writer left uncited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.answer.sources import build_sources
from ragcore.config.settings import Settings
from ragcore.errors import Overloaded
from ragcore.offline.question import RuleAnalyser
from ragcore.offline.writer import OfflineWriter
from ragcore.pipelines.stream import AnswerStream, AnswerTask, Services
from ragcore.types import Answer, Claim, Segment, Text
from ragcore.types import json as wire
from ragcore.verify.claims import split_statements
from tests.answer.samples import (
    DIVIDENDS,
    IND,
    OTHER,
    PROSE,
    REPORT,
    SETTINGS,
    TABLE,
    ScriptedWriter,
    document,
    retrieval,
    sources,
)
from tests.documents import Heading, make_document

read = RuleAnalyser().read

QUESTION = "What happened in fiscal 2023?"
GIVEN = (PROSE, TABLE, DIVIDENDS, IND)


def answer(*pieces: str | Exception, given: Sequence[Segment] = GIVEN, chosen: Settings = SETTINGS) -> Answer:
    stream = AnswerStream(
        AnswerTask(QUESTION, read(QUESTION), retrieval(QUESTION, given), sources(*given)),
        Services(ScriptedWriter(*pieces), chosen, document),
    )
    streamed = ""
    for event in stream:
        streamed += event.text if isinstance(event, Text) else ""
    assert stream.answer is not None
    without = stream.answer.text
    for mark in reversed(stream.answer.marks):
        assert without[mark.start : mark.end] == f"[{mark.n}]"
        assert not mark.added or without[mark.start - 1] == " "
        without = without[: mark.start - mark.added] + without[mark.end :]
    assert without == streamed, "without the marks, and the blanks before added ones, it is what was streamed"
    return stream.answer


def only(found: Answer) -> Claim:
    (claim,) = found.claims
    return claim


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("Revenues rose 10% to $62.4 billion in fiscal 2023.", "Revenues rose 10% to $62.4 billion in fiscal 2023."),
        ("In fiscal 2023 revenues rose 10%.", "Revenues rose 10% to $62.4 billion in fiscal 2023."),
        ("The Company did not repurchase any shares in China.", "The Company did not repurchase shares in China."),
        ("Cost of sales was 36,515 million in 2023.", "36,515"),
        ("Cost of sales was $31.9 billion in 2022.", "31,886"),
        ("The Board declared dividends of $1.745 per share on June 14, 2023.", "The Board of Directors declared"),
        ("Tallis is a wholly owned subsidiary.", "Tallis is a wholly owned subsidiary."),
        ("An IND goes into effect 30 days after FDA receives it.", "An IND goes into effect 30 days"),
    ],
)
def test_a_claim_that_a_source_says_gets_its_citation(said: str, quote: str) -> None:
    found = answer(said)
    (citation,) = found.citations
    assert citation.quote.startswith(quote)
    assert found.text == f"{said[:-1]} [1]."
    assert [(mark.n, mark.added) for mark in found.marks] == [(1, True)]
    claim = only(found)
    assert (claim.citations, claim.status) == ((1,), "supported")
    assert claim.reason.startswith(
        f"Groundwork found this in {citation.title}, page {citation.page_label}; the answer cited nothing."
    )


@pytest.mark.parametrize(
    "said",
    [
        "Revenues rose 12% to $62.4 billion in fiscal 2023.",  # another figure
        "Revenues rose 10% to $62.4 million in fiscal 2023.",  # another scale
        "Revenues rose 10% to $62.4 billion in fiscal 2022.",  # another year
        "Revenues fell 10% to $62.4 billion in fiscal 2023.",  # the other direction
        "The Company did repurchase shares in China.",  # denied there
        "The Company did not repurchase shares in Japan.",  # another name
        "Apple did not repurchase shares in China in 2023.",  # and one that begins it
        "Cost of sales was 36,515 million in 2022.",  # the figure of another column
        "Study KLM-204818 is not part of this report.",  # another code
        "Costs and revenues together were $80.1 billion in 2023.",  # follows from figures, stands nowhere
        "The outlook for the shares of the Company is bright.",  # mostly its own words
        "Revenues rose.",  # says too little to be sure
        "Shares of Tallis are held by the Board of Directors.",  # words from all over
    ],
)
def test_what_no_source_says_for_certain_stays_uncited(said: str) -> None:
    found = answer(said)
    assert found.text == said
    assert (found.marks, found.citations) == ((), ())
    assert (only(found).status, only(found).citations) == ("uncited", ())
    assert only(found).reason == "This has no citation."


def test_marks_of_the_writer_keep_their_numbers_and_move_along() -> None:
    found = answer(
        "Gross margin fell 250 basis points to 41.5% <<SOURCE 1.3>>. Revenues rose 10% in fiscal 2023. "
        "Tallis is a wholly owned subsidiary. So it went. Gross margin fell <<SOURCE 1.3>> to 41.5%.\n\n"
        "- Gross margin fell 250 basis points to 41.5%\n- **The Company did not repurchase shares in China.**\n"
    )
    assert found.text == (
        "Gross margin fell 250 basis points to 41.5% [1]. Revenues rose 10% in fiscal 2023 [2]. "
        "Tallis is a wholly owned subsidiary [3]. So it went. Gross margin fell [1] to 41.5%.\n\n"
        "- Gross margin fell 250 basis points to 41.5% [1]\n- **The Company did not repurchase shares in China [4].**"
    )
    assert [(mark.n, mark.added) for mark in found.marks] == [
        (1, False),
        (2, True),
        (3, True),
        (1, False),
        (1, True),
        (4, True),
    ]
    assert [claim.citations for claim in found.claims] == [(1,), (2,), (3,), (), (1,), (1,), (4,)]
    assert [citation.n for citation in found.citations] == [1, 2, 3, 4]


def test_cells_of_a_table_are_claims() -> None:
    found = answer("| | 2023 | 2022 |\n|---|---|---|\n| Cost of sales | 36,515 | 31,886 |\n| Revenues | 62,419 | |\n")
    assert "| Cost of sales | 36,515 [1] | 31,886 [2] |" in found.text
    assert [citation.quote for citation in found.citations] == ["36,515", "31,886"]
    assert "62,419 |" in found.text


@pytest.mark.parametrize(
    "said",
    [
        "## Revenues rose 10% to $62.4 billion in fiscal 2023",
        "**Revenues rose 10% in fiscal 2023**",
        "Did revenues rise 10% to $62.4 billion in fiscal 2023?",
        "Revenues rose 10% to $62.4 billion in fiscal 2023:",
        "```\nRevenues rose 10% to $62.4 billion in fiscal 2023.\n```",
        "The sources do not say whether revenues rose 10% to $62.4 billion in fiscal 2023.",
    ],
)
def test_what_is_no_statement_gets_none(said: str) -> None:
    assert answer(said).marks == ()


def test_a_refusal_gets_none() -> None:
    found = answer("<<NO ANSWER>> Revenues rose 10% to $62.4 billion in fiscal 2023.")
    assert found.refused
    assert not any(mark.added for mark in found.marks)


def test_what_broke_off_is_not_taken_for_what_it_would_have_said() -> None:
    found = answer("Tallis is a wholly owned subsidiary. Revenues rose 10% to $62.4 billion", Overloaded("busy"))
    assert found.status == "failed"
    assert found.text == "Tallis is a wholly owned subsidiary [1]. Revenues rose 10% to $62.4 billion"
    found = answer("In fiscal 2023 revenues rose 10%.", Overloaded("busy"))
    assert found.marks == (), "the full stop may be a decimal point"


def test_after_a_closing_quotation_mark_it_follows() -> None:
    found = answer("“Tallis is a wholly owned subsidiary.” It is quoted.")
    assert found.text == "“Tallis is a wholly owned subsidiary.” [1] It is quoted."


def test_it_can_be_switched_off() -> None:
    off = SETTINGS.model_copy(update={"verify": SETTINGS.verify.model_copy(update={"add_citations": False})})
    assert answer("Tallis is a wholly owned subsidiary.", chosen=off).marks == ()


def test_quotes_of_the_offline_writer_get_none() -> None:
    stream = AnswerStream(
        AnswerTask(QUESTION, read(QUESTION), retrieval(QUESTION, GIVEN), sources(*GIVEN)),
        Services(OfflineWriter(None, SETTINGS.answer), SETTINGS, document),
    )
    for _ in stream:
        pass
    assert stream.answer is not None
    assert not any(mark.added for mark in stream.answer.marks)


def test_where_several_documents_say_it_none_can_be_meant() -> None:
    same = make_document(Heading("Notes"), "Tallis is a wholly owned subsidiary.", doc_id="1" * 16, title="Another")
    known = {same.doc_id: same, REPORT.doc_id: REPORT, OTHER.doc_id: OTHER}
    segments = (DIVIDENDS, Segment(same.doc_id, 0, len(same.text), 0, 0, 1.0))
    found = replace(retrieval(QUESTION, [DIVIDENDS]), segments=segments)
    stream = AnswerStream(
        AnswerTask(QUESTION, read(QUESTION), found, build_sources(found, known.__getitem__, SETTINGS.answer)),
        Services(ScriptedWriter("Tallis is a wholly owned subsidiary."), SETTINGS, known.__getitem__),
    )
    for _ in stream:
        pass
    assert stream.answer is not None
    assert stream.answer.marks == ()


def test_json_tells_which_were_added() -> None:
    shown = wire.answer(answer("Tallis is a wholly owned subsidiary. It is so <<SOURCE 1.1>>."))
    assert [claim["added"] for claim in shown["claims"]] == [[2], []]
    assert [(mark["n"], mark["added"]) for mark in shown["marks"]] == [(2, True), (1, False)]


SENTENCES = st.sampled_from([
    "Tallis is a wholly owned subsidiary.", "In fiscal 2023 revenues rose 10%!", "Nothing else.", "**Bold**",
    "- The Company did not repurchase shares in China", "Gross margin fell to 41.5% <<SOURCE 1.3>>.", "\n\n",
    "“Quote.”",
    "| a | b |\n|---|---|\n| Cost of sales 2023 | 36,515 |\n", "It fell <<SOURCE 9>> and rose <<SOURCE 1.2>>",
])  # fmt: skip


@given(st.lists(SENTENCES, min_size=1, max_size=6), st.sampled_from([" ", "\n", "\n\n"]))
def test_added_marks_never_change_what_is_claimed(said: list[str], between: str) -> None:
    off = SETTINGS.model_copy(update={"verify": SETTINGS.verify.model_copy(update={"add_citations": False})})
    before, after = answer(between.join(said), chosen=off), answer(between.join(said))
    assert [claim.text for claim in after.claims] == [claim.text for claim in before.claims]
    for old, new in zip(before.claims, after.claims, strict=True):
        assert new.citations == old.citations or (old.status, new.status) == ("uncited", "supported")
    assert [s.text for s in split_statements(after.text, after.marks)] == [claim.text for claim in after.claims]
