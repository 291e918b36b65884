"""Follow-up questions rewritten to stand alone, for retrieval.

Only the retrieval query is rewritten; the writer sees the question as asked, beside the history. Rules do it
(`ragcore.protocols.QuestionAnalyser`) or, with ``chat.rewrite``, the model in force (`ragcore.answer.rewriting`), whose
form is checked; if it is unusable, the rules' question is searched for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ragcore.answer.rewriting import by_model
from ragcore.cancel import Stop
from ragcore.config.settings import Settings
from ragcore.errors import Cancelled, EmptyQuestion, QuestionTooLong, QuestionTooShort, QuestionUnclear
from ragcore.protocols import LLM, QuestionAnalyser
from ragcore.types import AS_TYPED, Retrieval, Turn, Usage

LONGEST = 8000  # characters of a question
SHORTEST = 3  # letters and digits of one that stands alone


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Search form of a question; ``by`` is ``rules`` or a model's name, "" if unchanged, and `AS_TYPED` if it refers to
    another question and the reference could not be resolved. ``notes``, ``usage`` and ``cost_usd`` are those of a
    requested model."""

    query: str
    by: str = ""
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    ms: float = 0.0


def check(question: str, history: Sequence[Turn]) -> None:
    """Validate ``question``: it has words, at most `LONGEST` characters and, unless it follows another question, at
    least `SHORTEST` letters and digits (a Chinese, Japanese or Korean character counts as two). Raises `EmptyQuestion`,
    `QuestionTooLong`, `QuestionTooShort`."""
    if not question.strip():
        raise EmptyQuestion("The question is empty.")
    if len(question) > LONGEST:
        raise QuestionTooLong(f"The question has {len(question):,} characters; the limit is {LONGEST:,}.")
    if not history and _length(question) < SHORTEST:
        raise QuestionTooShort(f"“{' '.join(question.split())}” is too short to search for.")


def rewrite(
    question: str,
    history: Sequence[Turn],
    analyser: QuestionAnalyser,
    settings: Settings,
    planner: LLM | None = None,
    stop: Stop | None = None,
    *,
    fresh: bool = False,
    held: Callable[[str], bool] = lambda words: False,
) -> Rewritten:
    """Stand-alone form of ``question``, by ``planner`` if there is one and ``analyser`` is unsure. ``held`` says
    whether a passage of the documents cited by the previous answer, if several are in scope, has all of some words.
    Raises what `check` raises, and `KeyMissing`, `KeyRefused` and `ModelMissing` of ``planner``. ``stop`` ends its
    calls."""
    started = time.perf_counter()
    check(question, history)
    asked = " ".join(question.split())
    earlier = _earlier(history, analyser)
    before = earlier[-1] if earlier else ""
    read = analyser.follow_up(question, earlier)
    query = read.stays if read.stays and held(read.words) else read.text
    if query == asked and before and _length(asked) < SHORTEST:
        query = before
    stays = bool(before) and query == asked and read.goes_on
    ruled = Rewritten(query, "rules" if query != asked else AS_TYPED if stays else "")
    if planner is None or not before or (query == asked and read.named):
        return ruled
    try:
        model = by_model(asked, history, planner, settings, stop or Stop(), fresh=fresh)
    except Cancelled:
        return ruled  # the answer stream then ends as stopped
    ms = round((time.perf_counter() - started) * 1000, 2)
    cost = model.cost_usd
    if not model.query:
        return Rewritten(ruled.query, ruled.by, (model.note,), model.usage, cost, ms)
    return Rewritten(model.query, model.model if model.query != asked else "", (), model.usage, cost, ms)


def settle(question: str, history: Sequence[Turn], analyser: QuestionAnalyser) -> None:
    """Check that ``analyser`` can tell which of the last two subjects ``question`` refers to, or that the last two
    answers cite a common document. Raises `QuestionUnclear`."""
    cited = [{doc_id for doc_id, *_ in turn.cited} for turn in history[-2:]]
    if len(cited) > 1 and not cited[0].isdisjoint(cited[1]):
        return
    if analyser.follow_up(question, _earlier(history, analyser)).unclear:
        raise QuestionUnclear(f"About which document? “{' '.join(question.split())}” could mean more than one thing.")


def booked(retrieval: Retrieval, rewritten: Rewritten) -> Retrieval:
    """``retrieval`` with the usage, cost and notes of the model that rewrote its question."""
    if rewritten.usage == Usage() and not rewritten.notes and not rewritten.ms:
        return retrieval
    costs = (retrieval.cost_usd, rewritten.cost_usd)
    return replace(
        retrieval,
        usage=retrieval.usage + rewritten.usage,
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        notes=(*rewritten.notes, *retrieval.notes),
        timings_ms={"rewrite": rewritten.ms, **retrieval.timings_ms},
    )


def _earlier(history: Sequence[Turn], analyser: QuestionAnalyser) -> list[str]:
    """Stand-alone forms of the questions of ``history``, so that a chain of follow-ups keeps its subject."""
    asked: list[str] = []
    for turn in history:
        asked.append(turn.standalone or analyser.follow_up(turn.question, asked).text)
    return asked


def _length(question: str) -> int:
    return sum(2 if 0x3000 <= ord(character) < 0xD7B0 else 1 for character in question if character.isalnum())
