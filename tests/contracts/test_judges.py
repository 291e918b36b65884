"""What every judge of claims does: its claims and its verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import pytest

from ragcore.config.settings import load
from ragcore.evaluate.claude import ClaudeJudge
from ragcore.evaluate.judges import Claim, Label, Labels, SupportJudge, heading, kind_of
from ragcore.evaluate.ragchecker import JUDGES
from ragcore.index.model_records import Ledger
from ragcore.index.store import Store
from ragcore.protocols import LLM
from ragcore.providers.paid import Billing
from ragcore.providers.registry import Models
from tests.messages_server import MessagesServer

QUESTION = "What did the Pump Company sell?"
TEXT = "The Pump Company sold 40 pumps in 2021. It opened a shop in Northtown. The Pump Company sold 40 pumps in 2021."
OTHER = "A whale is a mammal of the sea."


@dataclass
class Answered:
    """Claude as a judge whose requests are sent at once."""

    model: LLM

    def __post_init__(self) -> None:
        self.replies: dict[str, str] = {}
        self.name = ClaudeJudge(self.model.name, {}).name

    def claims(self, question: str, text: str) -> tuple[Claim, ...]:
        return self._answered(lambda judge: judge.claims(question, text))

    def verdicts(self, question: str, claims: Sequence[Claim], text: str) -> Labels:
        return self._answered(lambda judge: judge.verdicts(question, claims, text))

    def _answered(self, ask: Any) -> Any:
        while True:
            judge = ClaudeJudge(self.model.name, self.replies)
            if (found := ask(judge)) is not None:
                return found
            assert judge.due, judge.fault
            self.replies |= {key: "".join(self.model.stream(request)) for key, request in judge.due.items()}


@pytest.fixture(params=JUDGES)
def judge(request: pytest.FixtureRequest, tmp_path: Any, key: None, server: MessagesServer) -> Iterator[Any]:
    settings, _ = load(environ={})
    if request.param == "support":
        yield SupportJudge(settings.verify)
        return
    store = Store(tmp_path)
    planner = Models(settings, Billing(Ledger(store.database), None, settings.llm.prices)).planner
    assert planner is not None
    yield Answered(planner)


def test_a_judge_has_a_name_with_a_version(judge: Any, request: pytest.FixtureRequest) -> None:
    name, _, version = judge.name.partition(" ")
    assert name
    assert version
    assert kind_of(judge.name) == request.node.callspec.params["judge"]
    assert version not in heading(judge.name)


def test_claims_are_listed_once_and_a_text_without_any_has_none(judge: Any) -> None:
    found = judge.claims(QUESTION, TEXT)
    assert len(found) == len(set(found)) == 2
    assert "40 pumps" in " ".join(found[0])
    assert judge.claims(QUESTION, TEXT) == found
    assert judge.claims(QUESTION, "") == judge.claims(QUESTION, " \n") == ()


def test_each_claim_has_one_verdict(judge: Any) -> None:
    claims = judge.claims(QUESTION, " ".join(f"Plant {n} made {n} pumps in {1990 + n}." for n in range(2, 13)))
    assert len(claims) == 11
    for text in (TEXT, OTHER, ""):
        labels = judge.verdicts(QUESTION, claims, text)
        assert len(labels) == 11
        assert set(labels) <= set(get_args(Label))
    assert judge.verdicts(QUESTION, (), TEXT) == ()


def test_a_text_entails_what_it_says_and_not_what_it_does_not_tell(judge: Any) -> None:
    claims = judge.claims(QUESTION, TEXT)
    assert judge.verdicts(QUESTION, claims, TEXT) == ("Entailment", "Entailment")
    assert "Entailment" not in judge.verdicts(QUESTION, claims, OTHER)
    assert "Entailment" not in judge.verdicts(QUESTION, claims, "")


def test_a_verdict_is_of_one_text_and_one_claim(judge: Any) -> None:
    first, second = judge.claims(QUESTION, TEXT)
    both = judge.verdicts(QUESTION, (first, second), TEXT.split(". ")[1])
    alone = [judge.verdicts(QUESTION, (one,), TEXT.split(". ")[1])[0] for one in (first, second)]
    assert list(both) == alone
