"""Overviews: themes with their own sentences, within the scope, and the documents that have nothing on a topic."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.offline.question import RuleAnalyser
from ragcore.types import Overview, Scope
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply

THEMES = "What are the main themes across these documents?"
TOWNS = ("Arden", "Borne", "Calder", "Dunmore")
MATTERS = {
    "Water": [
        "The water of the northern wells was tested for nitrate in every month of the year.",
        "Nitrate in the water of the wells stayed below the limit that the rules set.",
        "Two wells were closed in spring because the water had too much nitrate.",
        "New filters took most of the nitrate out of the water before it reached the town.",
    ],
    "Loans": [
        "The bank repaid a loan of four million euros in June, two years before it was due.",
        "Interest on all of the loans from the bank rose to five percent in autumn.",
        "A second loan was taken from another bank to pay for the new building.",
        "The loans are secured by the land, and the bank may ask for them at any time.",
    ],
    "Staff": [
        "Three nurses and a cook joined the staff of the home in the first quarter.",
        "The staff of the home were trained in first aid and in the use of hoists.",
        "Nurses on the night staff asked for a second colleague on every floor.",
        "Pay of the kitchen staff and of the nurses was raised by three percent.",
    ],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    engine = Engine.open(tmp_path_factory.mktemp("overview"))
    for town in TOWNS:
        prepared.read(engine, report(town), f"{town}.pdf")
    engine.index()
    return engine


@cache
def report(town: str) -> bytes:
    """Report of a town; the last one has no loans."""
    held = {head: texts for head, texts in MATTERS.items() if head != "Loans" or town != TOWNS[-1]}
    said = {head: [f"{text[:-1]}, as the town of {town} says." for text in texts] for head, texts in held.items()}
    return pdfs.report(f"{town} Annual Report", said)


def view(engine: Engine, question: str, mode: str = "auto", **scope: list[str]) -> Overview:
    found = engine.with_settings({"retrieve.mode": mode}).retrieve(question, **scope)
    assert found.overview is not None
    assert found.mode == "overview"
    return found.overview


def test_themes_run_through_documents_and_are_quoted_from_several(library: Engine) -> None:
    overview = view(library, THEMES)
    assert sum(theme.size for theme in overview.themes) == sum(
        len(library.store.chunks(one)) for one in overview.doc_ids
    )
    assert len(overview.themes) == 3
    for theme in overview.themes:
        quoted = {doc_id for doc_id, _, _ in theme.digest}
        assert quoted <= set(theme.doc_ids)
        assert len(quoted) == min(len(theme.digest), len(theme.doc_ids))
        for doc_id, start, end in theme.digest:
            assert library.document(doc_id).text[start:end].endswith(" says.")


def test_a_question_for_themes_is_an_overview_by_itself_and_any_question_on_request(library: Engine) -> None:
    assert library.retrieve("What did the bank repay?").overview is None
    assert view(library, "Summarise these reports.").topic == ""
    assert view(library, "What did the bank repay?", "overview").topic == "What did the bank repay?"


@pytest.mark.parametrize(
    "question",
    [
        "What are the main themes?",
        "Which topics do these reports cover?",
        "Give me a summary of each report.",
        "Please provide an overview of the documents.",
        "Summarise my library.",
        "Summarise the documents in three bullet points.",
        "Can you summarise these reports?",
        "What are the recurring themes across the reports?",
    ],
)
def test_questions_that_ask_for_an_overview(question: str) -> None:
    assert RuleAnalyser().read(question).overview


@pytest.mark.parametrize(
    "question",
    [
        "How many subjects were there in the study?",
        "How many topics are covered in the document?",
        "Who were the subjects of the study?",
        "Which documents address these topics?",
        "Which year has the most topics?",
        "Where is the overview in the report?",
        "What is not covered in this overview?",
        "Summarise the risk factors of the report.",
        "What topics did the committee discuss in March?",
        "Can you summarise this? (What did the bank repay in June)",
        "What did the bank repay?",
    ],
)
def test_questions_that_ask_for_something_else(question: str) -> None:
    assert not RuleAnalyser().read(question).overview


def test_what_is_named_is_what_the_overview_is_of(library: Engine) -> None:
    [arden] = [info.doc_id for info in library.documents() if info.name == "Arden.pdf"]
    assert view(library, "Summarise the Arden report.").doc_ids == (arden,)
    assert view(library, "Summarise the Arden report.", doc_ids=[arden]).doc_ids == (arden,)
    assert library.retrieve("What are the main themes of Atlantis?").overview is None
    assert library.retrieve("Give me an overview of Brexit in the Arden report.").overview is None


def test_a_topic_is_found_and_documents_without_it_are_named(library: Engine) -> None:
    overview = view(library, "What is said about loans from the bank?", "overview")
    [without] = [info.doc_id for info in library.documents() if info.name == "Dunmore.pdf"]
    assert overview.silent == (without,)
    assert without not in overview.doc_ids
    assert (overview.searched, overview.read) == (4, 4)


def test_a_document_with_a_word_of_the_topic_is_not_said_to_have_nothing(tmp_path: Path) -> None:
    engine = Engine.open(tmp_path)
    prepared.read(engine, report("Arden"), "Arden.pdf")
    for name, section in (("Elder", "Loans"), ("Farrow", "Trees")):
        said = ["Oaks were planted along the road.", f"{section} are counted in the table of the annex."]
        prepared.read(engine, other_report(name, section, tuple(said)), f"{name}.pdf")
    engine.index()
    overview = view(engine, "What is said about loans from the bank?", "overview")
    names = {info.doc_id: info.name for info in engine.documents()}
    assert [names[one] for one in overview.silent] == ["Farrow.pdf"]
    assert "Elder.pdf" in {names[one] for one in (*overview.doubtful, *overview.doc_ids)}
    engine.close()


@cache
def other_report(name: str, section: str, said: tuple[str, ...]) -> bytes:
    return pdfs.report(f"{name} Notes", {section: said})


def test_without_a_reranker_nothing_is_known_to_be_about_a_topic(library: Engine) -> None:
    plain = library.with_settings({"retrieve.mode": "overview", "rerank.model": "none"})
    assert plain.retrieve("What is said about loans from the bank?").overview is None
    assert plain.retrieve(THEMES).overview is not None
    answer = plain.ask("Which quasars emit gamma rays?").run()
    assert answer.refused
    assert answer.trace is not None
    assert any("No themes" in note for note in answer.trace.notes)


def test_a_theme_whose_sources_have_no_room_is_left_out(library: Engine) -> None:
    answer = library.with_settings({"answer.source_tokens": 100}).ask(THEMES).run()
    assert answer.text.count("**") // 2 <= len(answer.citations)
    assert answer.citations


def test_nothing_outside_the_scope_is_in_it(library: Engine) -> None:
    some = [info.doc_id for info in library.documents()][:2]
    overview = view(library, THEMES, doc_ids=some)
    assert set(overview.doc_ids) == {one for theme in overview.themes for one, _, _ in theme.passages} == set(some)


def test_it_does_not_depend_on_what_was_there_before(library: Engine, tmp_path: Path) -> None:
    other = Engine.open(tmp_path)
    extra = prepared.read(other, pdfs.one_column(), "extra.pdf")
    for town in reversed(TOWNS):
        prepared.read(other, report(town), f"{town}.pdf")
    other.index()
    other.remove(extra)
    assert view(other, THEMES) == view(library, THEMES)
    other.close()


def test_the_offline_answer_quotes_the_digest_and_nothing_else(library: Engine) -> None:
    answer = library.ask(THEMES).run()
    overview = view(library, THEMES)
    cited = {(one.doc_id, one.start, one.end) for one in answer.citations}
    assert cited == {span for theme in overview.themes for span in theme.digest}
    assert {claim.status for claim in answer.claims} == {"supported"}
    assert not answer.refused
    assert "Claude" in library.ask("Summarise these reports.").run().text
    assert "Claude" not in answer.text
    topic = library.with_settings({"retrieve.mode": "overview"}).ask("What is said about loans from the bank?").run()
    assert "Dunmore" in topic.text
    assert all("Dunmore" not in one.title for one in topic.citations)


def test_a_topic_that_no_document_has_is_refused_as_ever(library: Engine) -> None:
    asked = library.with_settings({"retrieve.mode": "overview"})
    assert asked.retrieve("Which quasars emit gamma rays?").overview is None
    assert asked.ask("Which quasars emit gamma rays?").run().refused


def test_documents_that_are_not_in_prose_have_no_overview(library: Engine) -> None:
    found = library.retrieve(THEMES, kinds=["figure"])
    assert found.overview is None
    assert found.notes


@pytest.mark.usefixtures("key")
def test_a_model_gets_the_themes_with_their_sources(library: Engine, server: MessagesServer) -> None:
    writing = library.with_settings({"llm.model": "claude"})
    server.reply(Reply("Wells were tested <<SOURCE 1.1>>."))
    answer = writing.ask(THEMES).run()
    prompt = str(server.requests[-1]["body"]["messages"][-1]["content"])
    overview = view(library, THEMES)
    listed = prompt[prompt.index("largest first") :]
    for theme in overview.themes:
        assert "; ".join(theme.labels) in listed
        assert all(any(source.holds(*span) for source in answer.sources) for span in theme.digest)
    assert answer.citations[0].doc_id == answer.sources[0].doc_id


def test_a_search_that_ranks_ignores_the_mode(library: Engine) -> None:
    asked = library.with_settings({"retrieve.mode": "overview"})
    assert asked.search.retrieve("What did the bank repay?", Scope()).mode == "auto"
