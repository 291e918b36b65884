"""One's own set: questions kept from answers, growing between runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.errors import InputError, UnknownTurn
from ragcore.evaluate.cases import read_cases
from ragcore.evaluate.compare import compared, in_both
from ragcore.evaluate.own import NAME
from ragcore.evaluate.runs import Configuration
from ragcore.index.own_cases import OwnCase
from ragcore.types import EVERYTHING, Answer, Scope
from ragcore.types.library import Feedback
from tests import prepared
from tests.command_line import run

DEFAULT = Configuration.parsed("default")
WORDS = Configuration.parsed("retrieve.mode=bm25,rerank.model=none")
ASKED = ("What was the highest nitrate reading?", "Who won the chess championship of 1987?")


@pytest.fixture
def engine(surveyed: Path, tmp_path: Path) -> Iterator[Engine]:
    home = tmp_path / "home"
    prepared.copied(surveyed, home)
    with Engine.open(home, overrides={"llm.model": "offline"}) as opened:
        yield opened


def asked(engine: Engine, question: str, scope: Scope = EVERYTHING) -> tuple[str, Answer]:
    """Turn of a new conversation, and its answer."""
    run = engine.chat(engine.conversations.new(scope), question)
    return run.turn_id, run.run()


def kept(engine: Engine, question: str) -> OwnCase:
    """Case of a question that was asked and kept as it is."""
    own = engine.evaluation.own
    case = own.draft(asked(engine, question)[0]).case
    own.keep(case)
    return case


def test_an_answer_is_kept_with_what_it_cites_and_changed_by_keeping_it_again(engine: Engine) -> None:
    own, (turn, answer) = engine.evaluation.own, asked(engine, ASKED[0])
    draft = own.draft(turn)
    assert not draft.kept
    assert draft.case.question == ASKED[0]
    assert "61.4" in draft.case.answer
    assert "[1]" not in draft.case.answer
    names = {info.doc_id: info.name for info in engine.documents()}
    cited = {(names[one.doc_id], one.page, one.quote) for one in answer.citations}
    assert {(one.document, one.page, one.quote) for one in draft.case.evidence} == cited
    own.keep(draft.case)
    own.keep(replace(own.draft(turn).case, answer=" 61.4 mg/l ", evidence=()))
    again = own.draft(turn)
    assert again.kept
    assert again.places == draft.places, "what was left out can be chosen again"
    (case,) = own.all()
    assert (case.answer, case.evidence) == ("61.4 mg/l", ())
    with pytest.raises(InputError, match="empty"):
        own.keep(replace(case, question=" "))
    with pytest.raises(UnknownTurn):
        own.draft("nothing")


def test_of_an_answer_that_quotes_its_first_line_is_expected(engine: Engine) -> None:
    turn, answer = asked(engine, "What is said about nitrate in wells?")
    draft = engine.evaluation.own.draft(turn)
    assert len(answer.citations) > 1, "more is quoted below it"
    assert answer.extractive
    assert "\n" not in draft.case.answer
    assert [one.quote for one in draft.case.evidence] == [answer.citations[0].quote]
    assert len(draft.places) == len(answer.citations)


def test_a_refusal_expects_none_and_a_scope_is_remembered(engine: Engine) -> None:
    table = next(info for info in engine.documents() if info.name == "table.pdf")
    turn, answer = asked(engine, ASKED[1], Scope((table.doc_id,)))
    assert answer.refused
    case = engine.evaluation.own.draft(turn).case
    assert (case.answerable, case.answer, case.evidence, case.documents) == (False, "", (), ("table.pdf",))
    engine.evaluation.own.keep(replace(case, answer="left over"))
    assert engine.evaluation.own.all()[0].answer == ""
    found = engine.evaluation.run(engine.evaluation.find(NAME).set_id, DEFAULT, within=True)
    assert found.measures[turn]["refused"] == 1.0


def test_answers_with_a_thumb_are_offered_until_they_are_kept_or_passed_over(engine: Engine) -> None:
    own, feedback = engine.evaluation.own, engine.feedback
    up, down, newest, refused = (asked(engine, question)[0] for question in (ASKED[0], *ASKED, ASKED[1]))
    for turn, given in (
        (up, Feedback(helpful=True)),
        (down, Feedback(helpful=False, reason="wrong", words="not that")),
        (newest, Feedback(helpful=False, reason="beside")),
        (refused, Feedback(helpful=False, reason="refused")),
    ):
        feedback.put(turn, given)
    assert [one.turn_id for one in feedback.candidates(9)] == [refused, newest, down, up]
    assert len(feedback.candidates(2)) == 2
    wrong = own.draft(down)
    assert (wrong.case.answer, wrong.case.evidence) == ("", ()), "what is wrong isn't expected"
    assert wrong.places
    assert own.draft(refused).case.answerable, "a person says that the answer is in the documents"
    assert not own.draft(newest).case.answerable
    assert "61.4" in own.draft(up).case.answer
    own.keep(own.draft(up).case)
    feedback.pass_over(newest)
    assert [one.turn_id for one in feedback.candidates(9)] == [refused, down]
    feedback.put(newest, Feedback(helpful=True))
    assert [one.turn_id for one in feedback.candidates(9)] == [refused, down, newest]


def test_a_grown_set_is_one_set_and_asks_only_what_is_new(engine: Engine) -> None:
    evaluation, (first, second) = engine.evaluation, (kept(engine, question) for question in ASKED)
    before = evaluation.run(evaluation.find(NAME).set_id, DEFAULT)
    third = kept(engine, "Where were the wells?")
    evaluation.own.keep(replace(first, answer="61.4"))
    after = evaluation.run(evaluation.find(NAME).set_id, DEFAULT)
    assert [case.case_id for case in after.cases] == [first.case_id, second.case_id, third.case_id]
    assert (before.info.cases, after.info.cases) == (2, 3)
    assert {before.info.group, after.info.group} == {evaluation.sets()[0].set_id}
    assert [(info.name, info.cases) for info in evaluation.sets()] == [(NAME, 3)], "listed once"
    for same in (first, second):
        assert after.outcomes[same.case_id] == before.outcomes[same.case_id], "not asked again"
    assert [case.case_id for case in in_both(before, after)] == [second.case_id], "another is expected of the first"
    assert {one.n for one in compared(before, after)} == {1}
    evaluation.own.remove(third.case_id)
    evaluation.own.keep(first)
    assert evaluation.find(NAME).set_id == before.info.set_id, "what it was, it is again"
    other = evaluation.run(before.info.set_id, WORDS)
    assert other.outcomes[first.case_id].answer != before.outcomes[first.case_id].answer, "other settings"


def test_evidence_is_where_its_words_stand(engine: Engine, tmp_path: Path) -> None:
    own, case = engine.evaluation.own, kept(engine, ASKED[0])
    (one,) = case.evidence
    quote = one.quote.replace(" ", "\n", 2)
    for page, words, expected in ((9, quote, one.page), (one.page, one.quote, one.page), (9, "never said", 9)):
        own.keep(replace(case, evidence=(replace(one, page=page, quote=words),)))
        (found,) = own.cases(quotes=False)[0].evidence
        assert (found.document, found.page, found.quote) == (one.document, expected, "")
    own.keep(replace(case, evidence=(replace(one, doc_id="another reading", page=9),)))
    assert own.cases(quotes=True)[0].evidence[0].page == one.page, "the file of that name"


def test_a_case_outlives_its_conversation_and_its_document_but_not_with_its_words(engine: Engine) -> None:
    own, case = engine.evaluation.own, kept(engine, ASKED[0])
    for info in engine.conversations.all():
        engine.conversations.delete(info.conversation_id)
    assert own.draft(case.case_id).case.evidence == case.evidence
    engine.evaluation.run(engine.evaluation.find(NAME).set_id, DEFAULT)
    engine.remove(case.evidence[0].doc_id)
    (left,) = own.all()
    assert (left.question, left.answer) == (case.question, case.answer)
    assert [(one.document, one.page, one.quote) for one in left.evidence] == [(case.evidence[0].document, 1, "")]
    outcome = engine.evaluation.run(engine.evaluation.find(NAME).set_id, DEFAULT).outcomes[case.case_id]
    assert outcome.error is not None
    assert "isn't in the library" in outcome.error["message"]


def test_a_document_that_is_added_again_brings_its_words_back(engine: Engine) -> None:
    own, case = engine.evaluation.own, kept(engine, ASKED[0])
    (one,) = case.evidence
    data = engine.file(one.doc_id).read_bytes()
    engine.remove(one.doc_id)
    assert [place.quote for place in own.draft(case.case_id).places] == [""]
    assert prepared.read(engine, data, one.document) == one.doc_id
    assert own.draft(case.case_id).case.evidence == (one,)


def test_the_command_line_runs_and_exports_ones_own_set(engine: Engine, tmp_path: Path) -> None:
    home = ["--home", str(engine.home)]
    empty = run([*home, "evaluate", "run", NAME, "--json"])
    assert (empty.returncode, json.loads(empty.stdout)["error"]["code"]) == (1, "input_error")
    for question in ASKED:
        kept(engine, question)
    before = json.loads(run([*home, "evaluate", "run", NAME, "--json"]).stdout)["runs"][0]
    kept(engine, "Where were the wells?")
    after = json.loads(run([*home, "evaluate", "run", NAME, "--json"]).stdout)["runs"][0]
    lines = run([*home, "evaluate", "list"]).stdout.splitlines()
    assert lines[0].endswith(f"{NAME}: 3 questions")
    assert {one.split()[0] for one in lines[1:]} == {before["run_id"], after["run_id"]}
    compare = run([*home, "evaluate", "compare", before["run_id"], after["run_id"]])
    assert "No difference is clear" in compare.stdout
    cases = engine.evaluation.own.cases(quotes=True)
    for form, ending in (("set", "jsonl"), ("table", "csv")):
        file = tmp_path / f"own.{ending}"
        assert run([*home, "evaluate", "export", NAME, "--as", form, "-o", str(file)]).returncode == 0
        again = read_cases(file).cases
        told = [(one.case_id, one.question, one.answer, one.answerable) for one in cases]
        assert [(one.case_id, one.question, one.answer, one.answerable) for one in again] == told
        assert [[(place.document, place.page) for place in one.evidence] for one in again] == [
            [(place.document, place.page) for place in one.evidence] for one in cases
        ]
    assert read_cases(tmp_path / "own.jsonl").cases == cases
    for case in engine.evaluation.own.all():
        engine.evaluation.own.remove(case.case_id)
    assert run([*home, "evaluate", "run", NAME]).returncode == 1, "what it was before isn't what is meant"
    (tmp_path / "own.jsonl").rename(tmp_path / f"{NAME}.jsonl")
    assert run([*home, "evaluate", "import", str(tmp_path / f"{NAME}.jsonl")]).returncode == 0
    assert run([*home, "evaluate", "run", NAME]).returncode == 0, "another's set of that name"
