"""JSON payload of Evaluate: sets and runs, two runs side by side, and one question under both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragcore.evaluate.cases import Case
from ragcore.evaluate.claude import Estimate
from ragcore.evaluate.compare import Difference, compared, headline, in_both, together, told
from ragcore.evaluate.judges import Claim, Judged, Labels, heading
from ragcore.evaluate.measures import MEASURES
from ragcore.evaluate.runs import Evaluated
from ragcore.evaluate.states import gain, state, worth
from ragcore.index.evaluations import Outcome, RunInfo, SetInfo
from ragcore.index.jobs import Job
from ragcore.types import Answer
from ragcore.types.json import Json, picked
from ui.chat import payload

# Configurations to choose from, by what is typed for them.
CONFIGURATIONS = {
    "default": "Settings in use",
    "rerank.model=none": "Without close reading",
    "retrieve.mode=hybrid": "Meaning and words",
    "retrieve.mode=vector": "Meaning alone",
    "retrieve.mode=bm25": "Words alone",
    "retrieve.mode=graph": "Connections",
}
ENTAILED = "Entailed"
VERDICTS = {"Entailment": ENTAILED, "Neutral": "Not stated", "Contradiction": "Contradicted"}
LISTED = 10  # pages of a search that are shown


def named(configuration: str) -> str:
    """Configuration as people read it."""
    return CONFIGURATIONS.get(configuration, configuration)


def titled(info: RunInfo) -> str:
    """Run as people read it."""
    return named(info.name) + ", in its documents" * info.within + ", search only" * info.searched


def overview(
    sets: Sequence[SetInfo], runs: Sequence[RunInfo], jobs: Sequence[Job], trouble: Mapping[str, Any] | None
) -> Json:
    """Sets, their runs, newest first, and what is being run."""
    return {
        "sets": [asdict(one) for one in sets],
        "runs": [_run(one) for one in runs],
        "jobs": [asdict(one) | {"title": f"{'Judging ' if one.by else ''}{named(one.name)}"} for one in jobs],
        "trouble": trouble,
        "configurations": [{"value": value, "title": title} for value, title in CONFIGURATIONS.items()],
    }


def _run(info: RunInfo) -> Json:
    return {
        "id": info.run_id,
        "set": info.group,
        **picked(info, "name within searched created own done cases verdicts"),
        "title": titled(info),
        "writer": payload.model_name(info.writer),
        "cost": payload.dollars(info.usd) if info.usd else "",
    }


def table(first: Evaluated, second: Evaluated | None) -> Json:
    """One run, or two side by side: a headline, a row for each measure, and every question with what became of it, the
    most harmed by the second first."""
    runs = [one for one in (first, second) if one is not None]
    means = [one.means() for one in runs]
    found = {one.measure: one for one in compared(first, second)} if second is not None else {}
    asked = first.cases if second is None else in_both(first, second)
    alike = second is None or first.info.set_id == second.info.set_id
    rows = [
        {
            "measure": name,
            "title": measure.title,
            "judge": judged_by(first.judges[measure.judge]) if measure.judge else "",
            "lower": measure.better == "lower",
            "means": [_shown(name, mean) for mean in (found[name].first, found[name].second)]
            if name in found
            else [_shown(name, of[name][0]) if name in of else "" for of in means],
            "n": found[name].n if name in found else max(of[name][1] for of in means if name in of),
            "difference": _difference(found[name]) if name in found else None,
        }
        for name, measure in MEASURES.items()
        if (any(name in of for of in means) if alike else name in found)
        and together(name, *runs)
        and not (name == "usd" and all(not of[name][0] for of in means if name in of))
    ]
    cases = [_case(case, first, second) for case in asked if case.case_id in first.outcomes]
    order = sorted(cases, key=lambda one: (one["harm"], -len(one["question"]) if second is None else 0))
    return {
        "runs": [_run(one.info) for one in runs],
        "headline": headline(list(found.values())) if second is not None else "",
        "rows": rows,
        "shared": len(asked),
        "cases": order,
    }


def judged_by(judge: str) -> str:
    """Heading of a judge's figures, the model as people name it."""
    model = judge.partition(" ")[0]
    return heading(judge).replace(model, payload.model_name(model))


def estimate(each: Sequence[Estimate], ready: bool) -> Json:
    """What judging runs by Claude will probably cost, with the limit of each; ``ready``: there is a key."""
    usd = [one.usd for one in each if one.usd is not None]
    limits = [one.limit for one in each if one.limit is not None]
    return {
        "ready": ready,
        "model": payload.model_name(each[0].model),
        "questions": sum(one.questions for one in each),
        "calls": sum(one.calls for one in each),
        "minutes": round(sum(one.minutes for one in each), 1),
        "usd": payload.dollars(sum(usd)) if len(usd) == len(each) else "",
        "limit": payload.dollars(sum(limits)),
        "limits": limits,
    }


def _shown(name: str, mean: float) -> str:
    if MEASURES[name].share:
        return f"{100.0 * mean:.1f}%"
    return f"{mean:.{1 if mean >= 1 else 2}f} s" if name == "seconds" else payload.dollars(mean)


def _difference(one: Difference) -> Json:
    unit = 100.0 if MEASURES[one.measure].share else 1.0
    verdict = ("better" if one.improved else "worse") if one.clear else ""
    return {
        "mean": unit * one.mean,
        "low": unit * one.low,
        "high": unit * one.high,
        "verdict": verdict,
        **picked(one, "better worse"),
        "words": told(one, "A", "B"),
    }


def _case(case: Case, first: Evaluated, second: Evaluated | None) -> Json:
    states = [state(case, of) for of in (first, second) if of is not None]
    return {
        "id": case.case_id,
        "question": case.question,
        "states": [{"words": words, "tone": tone} for words, tone in states],
        "harm": round(worth(case, first), 4) if second is None else gain(case, first, second),
    }


def case(asked: Case, runs: Sequence[Evaluated], names: Mapping[str, str]) -> Json:
    """One question with its reference, and of each run the answer, its citations to open, or the pages that its search
    found, by the ``names`` of their documents."""
    return {
        "id": asked.case_id,
        **picked(asked, "question answerable"),
        "reference": asked.answer if asked.answerable else "",
        "evidence": [f"{one.document}{f', p. {one.page}' if one.page else ''}" for one in asked.evidence],
        "sides": [_side(asked, run, run.outcomes.get(asked.case_id), names) for run in runs],
    }


def _side(asked: Case, run: Evaluated, outcome: Outcome | None, names: Mapping[str, str]) -> Json:
    words, tone = state(asked, run)
    side: Json = {"state": {"words": words, "tone": tone}, "run": run.info.run_id, "config": run.info.config}
    if outcome is None:
        return side
    side["error"] = outcome.error
    side["seconds"] = round(outcome.seconds, 1)
    found = run.measures.get(asked.case_id, {})
    side["measures"] = [
        {"title": MEASURES[name].full, "value": _shown(name, found[name])} for name in MEASURES if name in found
    ]
    if run.info.searched:
        side["pages"] = [f"{names.get(doc_id, 'Removed')}, p. {page}" for doc_id, page in outcome.pages[:LISTED]]
    if outcome.answer is not None:
        side["answer"] = payload.answer(f"{run.info.run_id}-{asked.case_id}", outcome.answer)
        side["judged"] = [
            _judged(judged_by(run.judges[kind]), cases[asked.case_id], outcome.answer)
            for kind, cases in run.judged.items()
            if asked.case_id in cases
        ]
    return side


def _judged(by: str, found: Judged, answer: Answer) -> Json:
    """Claims of an answer and of its reference, each with its verdicts in words."""

    def rows(claims: Sequence[Claim], labels: Labels, passages: Sequence[Labels]) -> list[Json]:
        return [
            {
                "claim": " ".join(claim),
                "verdict": VERDICTS[label],
                "passages": [
                    source.number for source, verdict in zip(answer.sources, row) if VERDICTS[verdict] == ENTAILED
                ],
            }
            for claim, label, row in zip(claims, labels, passages, strict=True)
        ]

    return {
        "by": by,
        "response": rows(found.response_claims, found.answer2response, found.retrieved2response),
        "reference": rows(found.gt_answer_claims, found.response2answer, found.retrieved2answer),
        "passages": [
            {"n": one.number, "title": f"{one.title}, p. {', '.join(one.page_labels)}"} for one in answer.sources
        ],
    }
