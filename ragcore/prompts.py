"""Prompts, and the marker language for citations.

A writer cites a unit as ``<<SOURCE 3.2>>``, consecutive units as ``<<SOURCE 3.2-3.4>>``, a whole source as ``<<SOURCE
3>>``, and several at once as ``<<SOURCE 1.2, 3.4>>``; it begins with `NO_ANSWER` if the sources do not contain the
answer. `ragcore.answer.cite` parses this language. The texts stand in ``ragcore/prompts.toml``.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any, Final

NO_ANSWER: Final = "<<NO ANSWER>>"
NO_CONTENT: Final = "NO CONTENT"

with resources.files("ragcore").joinpath("prompts.toml").open("rb") as _file:
    _TEXTS: dict[str, Any] = tomllib.load(_file)


def _prompt(name: str) -> str:
    text: str = _TEXTS[name].replace("{{MATERIAL}}", _TEXTS["MATERIAL"])
    return text.replace("{{NO_ANSWER}}", NO_ANSWER).replace("{{NO_CONTENT}}", NO_CONTENT)


ANSWER_SYSTEM: Final = _prompt("ANSWER_SYSTEM")
ANSWER_PROMPT: Final = _prompt("ANSWER_PROMPT")
OVERVIEW_PROMPT: Final = _prompt("OVERVIEW_PROMPT")
SHORT_ANSWER: Final = _prompt("SHORT_ANSWER")
SECTION_SYSTEM: Final = _prompt("SECTION_SYSTEM")
SECTION_PROMPT: Final = _prompt("SECTION_PROMPT")
SECTION_REVISION: Final = _prompt("SECTION_REVISION")
FIGURE_SYSTEM: Final = _prompt("FIGURE_SYSTEM")
FIGURE_PROMPT: Final = _prompt("FIGURE_PROMPT")
SUMMARY_SYSTEM: Final = _prompt("SUMMARY_SYSTEM")
SUMMARY_PROMPT: Final = _prompt("SUMMARY_PROMPT")
SITUATE_SYSTEM: Final = _prompt("SITUATE_SYSTEM")
SITUATE_MATERIAL: Final = _prompt("SITUATE_MATERIAL")
SITUATE_PROMPT: Final = _prompt("SITUATE_PROMPT")
DECOMPOSE_SYSTEM: Final = _prompt("DECOMPOSE_SYSTEM")
DECOMPOSE_PROMPT: Final = _prompt("DECOMPOSE_PROMPT")
GAP_SYSTEM: Final = _prompt("GAP_SYSTEM")
GAP_PROMPT: Final = _prompt("GAP_PROMPT")
REWRITE_SYSTEM: Final = _prompt("REWRITE_SYSTEM")
REWRITE_PROMPT: Final = _prompt("REWRITE_PROMPT")
EXTRACT_SYSTEM: Final = _prompt("EXTRACT_SYSTEM")
EXTRACT_PROMPT: Final = _prompt("EXTRACT_PROMPT")
EXTRACT_MORE: Final = _prompt("EXTRACT_MORE")
FORM_AGAIN: Final = _prompt("FORM_AGAIN")
CLAIMS_SYSTEM: Final = _prompt("CLAIMS_SYSTEM")
CLAIMS_PROMPT: Final = _prompt("CLAIMS_PROMPT")
ENTAIL_SYSTEM: Final = _prompt("ENTAIL_SYSTEM")
ENTAIL_PROMPT: Final = _prompt("ENTAIL_PROMPT")
JUDGE_SYSTEM: Final = _prompt("JUDGE_SYSTEM")
JUDGE_PROMPT: Final = _prompt("JUDGE_PROMPT")
CHECK_SYSTEM: Final = _prompt("CHECK_SYSTEM")
CHECK_PROMPT: Final = _prompt("CHECK_PROMPT")
SECTION_FORMS: Final[dict[str, str]] = _TEXTS["SECTION_FORMS"]
