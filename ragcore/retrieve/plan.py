"""What a model adds to a search: the parts of a question, and what is still missing in what was found.

The model fills in forms (`ragcore.forms`). What one retrieval can cost is bounded: two calls for the parts and two for
each look for gaps, each with a prompt and a form of limited length, and each pair within ``agentic.timeout_seconds``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator

from ragcore.errors import KeyMissing, KeyRefused, ModelError, ModelMissing
from ragcore.forms import Filled, Forms, words
from ragcore.prompts import DECOMPOSE_PROMPT, DECOMPOSE_SYSTEM, GAP_PROMPT, GAP_SYSTEM
from ragcore.protocols import LLM, Form
from ragcore.text.sentences import count_tokens
from ragcore.types import Hit, SubQuery, Usage
from ragcore.types.prices import Prices

if TYPE_CHECKING:
    from ragcore.cancel import Stop
    from ragcore.config.settings import AgenticSettings

MOST_PARTS = 3
MOST_GAPS = 2
LONGEST_QUERY = 400  # characters
LONGEST_REASON = 300
LONGEST_QUESTION = 1000  # tokens: a longer one is not shown to the model

# A key or a model that the service does not accept is a matter of the settings, which no other search puts right.
_SETTINGS_ERRORS = (KeyMissing, KeyRefused, ModelMissing)


def _at_most(least: int, most: int) -> AfterValidator:
    def check(items: list[Asked]) -> list[Asked]:
        if not least <= len(items) <= most:
            raise ValueError(f"must have {least} to {most} items")
        return items

    return AfterValidator(check)


class Asked(Filled):
    query: Annotated[str, words(LONGEST_QUERY)]
    reason: Annotated[str, words(LONGEST_REASON)]


class Parts(Filled):
    sub_queries: Annotated[list[Asked], _at_most(1, MOST_PARTS)]


class Gaps(Filled):
    missing: Annotated[list[Asked], _at_most(0, MOST_GAPS)]


_PARTS = Form("search_for", "Search the documents for the parts of the question.", Parts.model_json_schema())
_GAPS = Form("search_further", "Search the documents for what is completely missing.", Gaps.model_json_schema())


class Plans:
    """One retrieval's calls to ``planner``. ``usage`` and ``model`` say what they took, ``notes`` in words what could
    not be used. Every call ends soon after ``stop``.

    Raises `KeyMissing`, `KeyRefused` and `ModelMissing`, which are for the person to put right, and `Cancelled`.
    """

    def __init__(self, planner: LLM, settings: AgenticSettings, stop: Stop) -> None:
        self.notes: list[str] = []
        self.capabilities = planner.capabilities
        self._name = planner.name
        self._settings = settings
        self._forms = Forms(
            planner, stop, max_tokens=settings.max_tokens, timeout_seconds=settings.timeout_seconds, purpose="plan"
        )

    def parts(self, question: str) -> list[SubQuery] | None:
        """The sub-queries that the model makes of ``question``, none where it is one question; None where it could
        not be asked or its form could not be used."""
        if count_tokens(question) > LONGEST_QUESTION:
            self._note("decomposition", f"the question has more than {LONGEST_QUESTION} tokens")
            return None
        prompt = DECOMPOSE_PROMPT.format(question=json.dumps(question, ensure_ascii=False))
        try:
            filled = self._forms.fill(_PARTS, Parts, DECOMPOSE_SYSTEM, prompt)
        except _SETTINGS_ERRORS:
            raise
        except ModelError as error:
            self._note("decomposition", error.message)
            return None
        return [SubQuery(item.query, "model", item.reason) for item in filled.sub_queries]

    def gaps(self, question: str, asked: Sequence[SubQuery], hits: Sequence[Hit]) -> list[SubQuery] | None:
        """Queries for what the best of ``hits`` lack; None where the model's form could not be used."""
        about = {
            "question": question if count_tokens(question) <= LONGEST_QUESTION else question[: 2 * LONGEST_QUESTION],
            "searched_for": [query.text for query in asked],
            "passages": excerpts(hits, self._settings.context_tokens),
        }
        prompt = GAP_PROMPT.format(about=json.dumps(about, ensure_ascii=False, indent=1))
        try:
            filled = self._forms.fill(_GAPS, Gaps, GAP_SYSTEM, prompt)
        except _SETTINGS_ERRORS:
            raise
        except ModelError as error:
            self._note("search for gaps", error.message)
            return None
        return [SubQuery(item.query, "gap", item.reason) for item in filled.missing]

    @property
    def usage(self) -> Usage:
        return self._forms.usage

    def cost(self, prices: Prices) -> float | None:
        """US dollars so far; None where the model has no price."""
        return self._forms.cost(prices)

    def _note(self, what: str, why: str) -> None:
        self.notes.append(f"{self._name}'s {what} could not be used: {why.rstrip('.')}.")


def excerpts(hits: Sequence[Hit], most: int) -> list[str]:
    """The passages of the best of ``hits`` that fit into ``most`` tokens as JSON; the last is cut where it is long."""
    out: list[str] = []
    left = most
    for hit in hits:
        text = hit.chunk.passage
        cost = _cost(text)
        if cost > left and out and left < most // 8:
            break
        while cost > left:
            text = text[: int(len(text) * 0.95 * left / cost)]
            cost = _cost(text)
        if not text.strip():
            break
        out.append(text)
        left -= cost
    return out


def _cost(text: Any) -> int:
    return count_tokens(json.dumps(text, ensure_ascii=False)) + 2
