"""Follow-up questions rewritten by a model, from the questions and answers before them.

The model fills in one form (`Forms`), which is checked: it may contain no name, number or year absent from the
conversation, except the year before or after a mentioned one. The cost of a question is bounded: two calls, with a
history of at most `HISTORY_TOKENS`, within ``chat.timeout_seconds``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import ValidationInfo, field_validator

from ragcore.answer.generate import recent
from ragcore.cancel import Stop
from ragcore.config.settings import Settings
from ragcore.errors import KeyMissing, KeyRefused, ModelError, ModelMissing, StoreError
from ragcore.model_calls import Filled, Forms, words
from ragcore.prompts import REWRITE_PROMPT, REWRITE_SYSTEM
from ragcore.protocols import LLM, Form
from ragcore.text.names import words_of
from ragcore.text.periods import years
from ragcore.types import Turn, Usage

LONGEST = 400  # characters of a standalone question
HISTORY_TOKENS = 1500  # of the conversation shown to the model
LONGEST_ASKED = 1500  # characters of a question shown to the model
MAX_TOKENS = 300

# A rejected key or model is an error of the settings, for which the rules are no substitute.
_SETTINGS_ERRORS = (KeyMissing, KeyRefused, ModelMissing)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Standalone(Filled):
    question: Annotated[str, words(LONGEST)]

    @field_validator("question")
    @classmethod
    def _nothing_invented(cls, question: str, info: ValidationInfo) -> str:
        said: str = (info.context or {})["said"]
        invented = _invented(question, said)
        if invented:
            raise ValueError(f"{invented!r} is in neither the question nor the conversation")
        return question


_FORM = Form("stand_alone", "Search the documents for the question as it stands alone.", Standalone.model_json_schema())


@dataclass(frozen=True, slots=True)
class Model:
    """Result of the model's rewriting. If unusable, ``query`` is "" and ``note`` gives the reason."""

    query: str
    model: str
    note: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0


def by_model(
    question: str, history: Sequence[Turn], planner: LLM, settings: Settings, stop: Stop, *, fresh: bool = False
) -> Model:
    """``question`` rewritten by ``planner``, from the newest whole turns of ``history`` that fit
    `HISTORY_TOKENS`. Raises `KeyMissing`, `KeyRefused`, `ModelMissing` and `Cancelled`."""
    if len(question) > LONGEST_ASKED:
        return Model("", planner.name, _note(planner, f"the question has more than {LONGEST_ASKED} characters"))
    shown = recent(history, settings.answer.history_turns, HISTORY_TOKENS)
    about = {
        "conversation": [{"question": turn.question, "answer": turn.answer} for turn in shown],
        "question": question,
    }
    prompt = REWRITE_PROMPT.format(about=json.dumps(about, ensure_ascii=False, indent=1))
    said = "\n".join([question, *(f"{turn.question}\n{turn.standalone}\n{turn.answer}" for turn in shown)])
    forms = Forms(
        planner,
        stop,
        max_tokens=MAX_TOKENS,
        timeout_seconds=settings.chat.timeout_seconds,
        purpose="rewrite",
        fresh=fresh,
    )
    query, note = "", ""
    try:
        filled: Standalone = forms.fill(_FORM, Standalone, REWRITE_SYSTEM, prompt, context={"said": said})
        query = filled.question
    except _SETTINGS_ERRORS:
        raise
    except (ModelError, StoreError) as error:
        note = _note(planner, error.message)
    return Model(query, forms.model, note, forms.usage, forms.cost(settings.llm.prices))


def _note(planner: LLM, why: str) -> str:
    return f"{planner.name} couldn't rewrite the question, so rules did: {why.rstrip('.')}."


def _invented(question: str, said: str) -> str:
    """First name or number of ``question`` that is not in ``said``; "" if there is none."""
    numbers = {_bare(number) for number in _NUMBER.findall(said)}
    told = years(said)
    asked: list[str] = _NUMBER.findall(question)
    for number in asked:
        near = number.isdigit() and len(number) == 4 and any(abs(int(number) - year) == 1 for year in told)
        if _bare(number) not in numbers and not near:
            return number
    known = said.casefold()
    for word in words_of(question):
        name = question[word.start : word.end]
        parts = re.findall(r"[^\W\d_]{2,}", name) if word.names and word.marked else []
        if any(part.casefold() not in known for part in parts):
            return name.removesuffix("'s")
    return ""


def _bare(number: str) -> str:
    return number.replace(",", "")
