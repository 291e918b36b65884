"""Claude as a judge: claims as triples, and the verdict of one text on up to five of them in a request.

Each reply is stored with the run as it comes, so that none is paid for twice; what is missing is asked for, within a
limit. A text is judged by itself, as material in one JSON string: it can't speak for another, and labels come only from
the form. A claim without a label is neutral.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from ragcore.answer.render import neutralise
from ragcore.config.settings import Settings
from ragcore.errors import InputError, ModelError
from ragcore.evaluate.cases import Case
from ragcore.evaluate.judges import Claim, Label, Labels, judged
from ragcore.index.evaluations import EvaluationStore
from ragcore.index.model_records import ModelTexts
from ragcore.index.packing import pack
from ragcore.model_calls import IN_FLIGHT, Filled, ModelCalls, as_material, digest, told, unpriced
from ragcore.prompts import CLAIMS_PROMPT, CLAIMS_SYSTEM, ENTAIL_PROMPT, ENTAIL_SYSTEM, FORM_AGAIN
from ragcore.protocols import LLM, Form, Message, ModelRequest
from ragcore.text.numbers import plural
from ragcore.text.sentences import count_tokens
from ragcore.types import Answer, Usage
from ragcore.types.spending import Prices, cost

JOINT = 5  # claims of a request
MOST_CLAIMS, LONGEST_PART = 60, 300  # of a text; characters of a subject, relation or object
CLAIMS_TOKENS, VERDICTS_TOKENS = 3000, 400  # of a form at most
SECONDS = 4.0  # that a reply probably takes
# Probable tokens: of the service for one of cl100k; of a list of claims for one of their text; of a form of verdicts;
# words of a claim.
_FINER, _LISTED, _VERDICTS, _WORDS = 1.2, 3.0, 110, 6
_IN_FLIGHT = 20  # cents that requests in flight may hold back

Todo = Sequence[tuple[Case, Answer]]
F = TypeVar("F", bound=Filled)


class Triple(Filled):
    subject: str
    relation: str
    object: str


class Listed(Filled):
    claims: list[Triple]


class Verdict(Filled):
    claim: int
    verdict: Label


class Verdicts(Filled):
    verdicts: list[Verdict]


_LIST = Form("list_claims", "List the claims of the text.", Listed.model_json_schema())
_JUDGE = Form("judge_claims", "Say of each claim whether the text entails it.", Verdicts.model_json_schema())


_SCHEMAS = json.dumps(_LIST.schema) + json.dumps(_JUDGE.schema)
PROMPT = digest(CLAIMS_SYSTEM, CLAIMS_PROMPT, ENTAIL_SYSTEM, ENTAIL_PROMPT, FORM_AGAIN, _SCHEMAS)[:8]


def name_of(model: str) -> str:
    """Name of the judge that ``model`` is."""
    return f"{model} {PROMPT}"


class ClaudeJudge:
    """Claims and verdicts as far as the ``replies`` to its requests are known, by key; ``due`` collects the requests
    that are missing, ``fault`` says why one can't be answered. `AnswerJudge`.

    With ``guess``, runs of a few words stand for claims that aren't known.
    """

    def __init__(self, model: str, replies: Mapping[str, str], *, guess: bool = False) -> None:
        self.name = name_of(model)
        self.due: dict[str, ModelRequest] = {}
        self.fault = ""
        self._replies, self._guess = replies, guess

    def claims(self, question: str, text: str) -> tuple[Claim, ...] | None:
        if not text.strip():
            return ()
        about = as_material({"question": neutralise(question), "text": _lines(text)})
        found, fault = self._filled(Listed, _LIST, CLAIMS_SYSTEM, CLAIMS_PROMPT.format(about=about), CLAIMS_TOKENS)
        if found is None:
            self.fault = fault or self.fault
            return _guessed(text) if self._guess else None
        each = ((_part(one.subject), _part(one.relation), _part(one.object)) for one in found.claims)
        return tuple(dict.fromkeys(one for one in each if any(map(str.isalnum, "".join(one)))))[:MOST_CLAIMS]

    def verdicts(self, question: str, claims: Sequence[Claim], text: str) -> Labels | None:
        if not text.strip():
            return tuple("Neutral" for _ in claims)
        each = [self._few(question, claims[at : at + JOINT], text) for at in range(0, len(claims), JOINT)]
        known = [labels for labels in each if labels is not None]
        return None if len(known) < len(each) else tuple(label for labels in known for label in labels)

    def _few(self, question: str, claims: Sequence[Claim], text: str) -> Labels | None:
        listed = [
            {"claim": n, **dict(zip(("subject", "relation", "object"), map(neutralise, claim)))}
            for n, claim in enumerate(claims, start=1)
        ]
        about = as_material({"question": neutralise(question), "text": _lines(text), "claims": listed})
        prompt = ENTAIL_PROMPT.format(about=about, count=len(claims))
        found, fault = self._filled(Verdicts, _JUDGE, ENTAIL_SYSTEM, prompt, VERDICTS_TOKENS)
        if found is None and not fault:
            return None
        given: dict[int, set[Label]] = {n: set() for n in range(1, len(claims) + 1)}
        for one in [] if found is None else found.verdicts:
            given.get(one.claim, set()).add(one.verdict)
        # None, or several that differ, say nothing.
        return tuple(next(iter(said)) if len(said) == 1 else "Neutral" for said in given.values())

    def _filled(self, kind: type[F], form: Form, system: str, prompt: str, most: int) -> tuple[F | None, str]:
        """Form as filled in, else the fault of the second attempt; neither while a reply is missing."""
        fault, step = "", digest(prompt)
        for key, further in ((step, ""), (f"{step} again", FORM_AGAIN)):
            reply = self._replies.get(key)
            if reply is None:
                asked = Message(prompt + further.format(problem=fault))
                self.due[key] = ModelRequest(
                    system, (asked,), tool=form, max_tokens=most, purpose="evaluate", bulk=True
                )
                return None, ""
            try:
                return kind.model_validate_json(reply), ""
            except ValidationError as error:
                fault = neutralise(told(error, reply))[:LONGEST_PART]
        return None, fault


def _lines(text: str) -> str:
    return "\n".join(neutralise(line) for line in text.splitlines())


def _part(text: str) -> str:
    return neutralise(text[: LONGEST_PART * 2])[:LONGEST_PART]


def _guessed(text: str) -> tuple[Claim, ...]:
    words = text.split()
    return tuple((" ".join(words[at : at + _WORDS]),) for at in range(0, len(words), _WORDS))[:MOST_CLAIMS]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What judging ``questions`` by ``model`` will probably take: requests, tokens, US dollars (None: it has no price)
    and minutes."""

    model: str
    questions: int
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    minutes: float

    @property
    def limit(self) -> float | None:
        """US dollars that leave room: twice as much, and for the requests in flight."""
        cents = 0 if self.usd is None or not self.calls else math.ceil(200.0 * self.usd) + _IN_FLIGHT
        return None if self.usd is None else cents / 100.0


def estimate(todo: Todo, model: str, store: EvaluationStore, prices: Prices) -> Estimate:
    """What the verdicts that are missing will probably take; nothing is sent."""
    forms = ((_LIST, CLAIMS_SYSTEM), (_JUDGE, ENTAIL_SYSTEM))
    fixed = {form.name: count_tokens(system + json.dumps(form.schema)) for form, system in forms}
    by, usage = ClaudeJudge(model, store.replies(name_of(model)), guess=True), Usage()
    for case, answer in todo:
        judged(case, answer, by)
    for request in by.due.values():
        assert request.tool is not None
        asked = count_tokens(request.messages[-1].text)
        written = min(asked * _LISTED, CLAIMS_TOKENS) if request.tool == _LIST else _VERDICTS
        usage += Usage(round((fixed[request.tool.name] + asked) * _FINER), round(written))
    usd, minutes = cost(usage, model, prices), len(by.due) * SECONDS / IN_FLIGHT / 60
    return Estimate(model, len(todo), len(by.due), usage.input_tokens, usage.output_tokens, usd, minutes)


def judge_by(
    model: LLM,
    todo: Todo,
    run_id: str,
    store: EvaluationStore,
    settings: Settings,
    max_usd: float,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] | None = None,
) -> None:
    """Have ``model`` judge what is missing, for at most ``max_usd``; each reply and each judged case is stored at once.
    Raises `ConfigError` (no price), `InputError` (it will probably cost more, or did), `Cancelled`, and `ModelError`
    with the number of questions that are judged."""
    probable = estimate(todo, model.name, store, settings.llm.prices)
    if probable.usd is None:
        raise unpriced(model.name)
    if probable.usd > max_usd:
        said = f"Judging {probable.questions:,} questions by {model.name} would cost about ${probable.usd:.2f}"
        hint = f"Allow ${probable.limit:.2f} (--max-usd {probable.limit:.2f})."
        raise InputError(f"{said}, more than the limit of ${max_usd:g}; nothing was sent.", hint=hint)
    name, ledger, done, faults = name_of(model.name), ModelTexts(store.database, "verdicts"), 0, list[str]()
    replies, at = store.replies(name), ""

    def take(key: str, text: str) -> None:
        replies[key] = text
        store.put_reply(run_id, at, name, key, text)

    with ModelCalls(
        model,
        prices=settings.llm.prices,
        ledger=ledger,
        doc_id=run_id,
        max_usd=ledger.spent(run_id) + max_usd,
        take=take,
        stopped="Judging was stopped. Judge again to go on.",
        cancelled=cancelled,
    ) as asking:
        for number, (case, answer) in enumerate(todo):
            on_progress(number, len(todo))
            at, tried = case.case_id, set[str]()
            while not asking.refused:
                by = ClaudeJudge(model.name, replies)
                found = judged(case, answer, by)
                if found is not None:
                    store.put_judged(run_id, at, name, pack(found, type(found)))
                    done += 1
                new = {key: request for key, request in by.due.items() if key not in tried}
                if found is not None or not new:
                    faults += [by.fault] if by.fault else []
                    break
                for key, request in new.items():
                    if not asking.ask(key, request):
                        break
                    tried.add(key)
                asking.wait(0)
    said = f"{done} of {len(todo)} questions are judged"
    if asking.refused == "limit":
        raise InputError(
            f"The limit of ${max_usd:g} is reached: {said}.", hint="Judge again to go on; nothing is paid twice."
        )
    if asking.errors:
        last = asking.errors[-1]
        raise type(last)(f"Requests failed: {len(asking.errors)}. {last.message} {said}.", hint=last.hint)
    if faults:
        raise ModelError(
            f"{model.name} listed no usable claims for {plural(len(faults), 'question')} ({faults[-1]}); {said}."
        )
