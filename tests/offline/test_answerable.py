"""Whether quotes answer a question: what the reader says of the best ones, and names and years that are nowhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcore.offline.answerable import Signs, signs_of
from ragcore.offline.question import read
from ragcore.offline.quotes import quotables
from ragcore.offline.ranking import Ranking
from ragcore.offline.writer import OfflineWriter
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import ModelRequest, Reranker, WritingTask
from ragcore.text.terms import Wanted
from ragcore.text.words import content_stems
from ragcore.types import Document, Route, Source
from tests.answer.samples import PROSE, SETTINGS, sources
from tests.documents import Grid, Heading, make_document
from tests.offline.test_offline import WordReranker, whole


def signs(query: str, doc: Document, routes: tuple[Route, ...] = (), reader: Reranker | None = None) -> Signs:
    question, source = read(query), whole(doc)
    wanted = Wanted(question.judged)
    reranker, ranking = reader or WordReranker(), Ranking(question, wanted)
    scored = ranking.reread(ranking.scored(list(quotables(question, wanted, [source])), reranker), reranker)
    return signs_of(ranking, WritingTask(query, (source,), routes=routes), scored, reranker)


def test_what_the_best_quote_says_of_another_year_is_no_sign_of_an_answer() -> None:
    doc = make_document("A dividend of $1.20 per share was paid in 2019.", "Bonds fall due in March 2020.")
    given = [signs(f"What dividend was paid in {year}?", doc).years for year in (2019, 2031)]
    assert given == [0.0, 1.0]


def test_a_row_says_its_years_beside_a_sentence_of_another_one() -> None:
    doc = make_document(
        "Field sensors: long contracts; 71% of segment revenue in fiscal 2025.",
        Grid("Revenue by segment", [["", "2025", "2024"], ["Field Sensors", "71,340", "61,905"], ["Other", "8", "9"]]),
    )
    given = [signs(f"What was revenue of Field Sensors in {year}?", doc).years for year in (2024, 2031)]
    assert given == [0.0, 1.0]


def test_a_row_is_about_what_its_table_is_called() -> None:
    doc = make_document(
        "A letter to all shareholders.",
        Heading("Employees by site"),
        Grid("", [["At 30 September", "2025"], ["Aberfeld", "312"], ["Leuven", "196"]]),
        Heading("Results of operations"),
        Grid("Orders by region", [["", "2025"], ["North", "31"], ["South", "19"]]),
    )
    for query in ("How many employees by site?", "How many orders by region?"):
        # A row with all of the words, and a reader that goes by them.
        assert signs(query, doc).evidence > 9.0


def test_a_clause_answers_alone_whatever_else_its_long_sentence_says() -> None:
    class Dense(WordReranker):
        def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
            lengths = np.array([len(content_stems(passage)) for passage in passages])
            return super().score(query, passages) / np.maximum(lengths, 1)

    clause, rest = "Shares are delivered within seventy days", "and the committee may decide on any other matters " * 5
    short, long = make_document(f"{clause}."), make_document(f"{clause}, {rest.strip()}.")
    given = [signs("When are shares delivered?", doc, reader=Dense()).evidence for doc in (short, long)]
    assert given[0] - given[1] < 1.0


def test_a_sentence_whose_subject_stands_before_it_is_read_with_that() -> None:
    together = make_document("Nitrate was measured in all of the forty wells. The highest reading was 61.4 milligrams.")
    apart = make_document("Nitrate was measured in all of the forty wells.", "The highest reading was 61.4 milligrams.")
    given = [signs("What was the highest nitrate reading?", doc).evidence for doc in (together, apart)]
    assert given[0] > given[1]


def test_a_quote_that_looks_like_an_answer_is_more_of_one() -> None:
    said = ("Jon Aske has been our CFO since the autumn of 2018.", "Our CFO spoke to all of the shareholders in 2018.")
    given = [signs("Who is the CFO?", make_document(text)).evidence for text in said]
    assert given[0] > given[1]


def test_names_that_no_passage_has_are_a_sign_unless_the_question_names_the_document_by_them() -> None:
    doc = make_document("Revenues of Nordlund rose 10% to $62.4 billion.")
    assert signs("What were the revenues of Boeing?", doc).names == 1.0
    assert signs("What were the revenues of Nordlund?", doc).names == 0.0
    assert signs("Compare the revenues of Nordlund with those of Boeing", doc).names == 0.0
    assert signs("What were the revenues of Boeing?", doc, (Route(doc.doc_id, 1.0, "Boeing"),)).names == 0.0


def test_an_office_that_no_passage_has_is_a_sign() -> None:
    doc = make_document("“A strong year,” said Dave Ruiz, chief executive officer.")
    assert signs("Who is the CFO?", doc).names == 1.0
    assert signs("Who is the chief executive officer?", doc).names == 0.0


def test_who_is_told_to_hold_an_office_is_an_answer_however_it_ranks() -> None:
    said = make_document("“A strong year,” said Dave Ruiz, chief executive officer.", "The officer at the gate waved.")
    assert "Dave Ruiz" in answer("Who is the chief executive officer?", 1.0, whole(said)).partition("\n")[0]
    assert answer("Who is the chief executive officer of Boeing?", 1.0, whole(said)).startswith(NO_ANSWER)


def answer(query: str, floor: float, *of: Source) -> str:
    settings = SETTINGS.answer.model_copy(update={"offline_floor": floor})
    request = ModelRequest(task=WritingTask(query, of or sources(PROSE)))
    return "".join(OfflineWriter(WordReranker(), settings).stream(request))


@pytest.mark.parametrize("query", ["Why did revenues rise?", "Did Boeing cancel in fiscal 2023?"])
def test_below_its_floor_the_writer_refuses(query: str) -> None:
    assert not answer(query, 0.0).startswith(NO_ANSWER)
    assert answer(query, 1.0).startswith(NO_ANSWER)
    assert NO_ANSWER not in answer(f"Summarise: {query}", 1.0)


def test_a_topic_is_answered_where_something_is_said_on_it() -> None:
    assert answer("Tell me about revenues", 1.0).startswith("“Revenues rose")
    assert answer("What are the main revenues?", 1.0).startswith("“Revenues rose")
    assert answer("Tell me about competition", 1.0).startswith(NO_ANSWER)


def test_a_refusal_says_which_names_and_years_are_missing() -> None:
    assert "do not mention “Boeing” or 2031" in answer("Did Boeing cancel in fiscal 2031?", 1.0)
