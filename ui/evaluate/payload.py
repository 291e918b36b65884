"""JSON payload of Evaluate: sets and runs, two runs side by side, and one question under both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragcore.evaluate.cases import Case
from ragcore.evaluate.compare import Difference, compared, in_words
from ragcore.evaluate.measures import MEASURES
from ragcore.evaluate.runs import Evaluated
from ragcore.index.evaluations import Outcome, RunInfo, SetInfo
from ui.chat import payload
from ui.evaluate.jobs import Job

Json = dict[str, Any]
# Configurations to choose from, by what is typed for them.
CONFIGURATIONS = {
    "default": "Settings in use",
    "rerank.model=none": "Without close reading",
    "retrieve.mode=hybrid": "Meaning and words",
    "retrieve.mode=vector": "Meaning alone",
    "retrieve.mode=bm25": "Words alone",
    "retrieve.mode=graph": "Connections",
}
WORTH = {"ok": 1.0, "off": 0.5, "weak": 0.4, "bad": 0.0}  # of an outcome, for the order of harm
RANKED = 0.1  # weight of the rank of the evidence beside it
HIGH = 5  # lowest rank of evidence that was found well
LISTED = 10  # pages of a search that are shown


def named(configuration: str) -> str:
    """Configuration as people read it."""
    return CONFIGURATIONS.get(configuration, configuration)


def overview(
    sets: Sequence[SetInfo], runs: Sequence[RunInfo], jobs: Sequence[Job], trouble: Mapping[str, Any] | None
) -> Json:
    """Sets, their runs, newest first, and what is being run."""
    return {
        "sets": [asdict(one) for one in sets],
        "runs": [_run(one) for one in runs],
        "jobs": [asdict(one) | {"title": named(one.name)} for one in jobs],
        "trouble": trouble,
        "configurations": [{"value": value, "title": title} for value, title in CONFIGURATIONS.items()],
    }


def _run(info: RunInfo) -> Json:
    return {
        "id": info.run_id,
        "set": info.set_id,
        "name": info.name,
        "title": named(info.name) + ", in its documents" * info.within + ", search only" * info.searched,
        "within": info.within,
        "searched": info.searched,
        "writer": payload.model_name(info.writer),
        "created": info.created,
        "done": info.done,
        "cases": info.cases,
        "cost": payload.dollars(info.usd) if info.usd else "",
    }


def table(first: Evaluated, second: Evaluated | None) -> Json:
    """One run, or two side by side: a headline, a row for each measure, and every question with what became of it, the
    most harmed by the second first."""
    means = [one.means() for one in (first, second) if one is not None]
    found = {one.measure: one for one in compared(first, second)} if second is not None else {}
    rows = [
        {
            "measure": name,
            "title": measure.title,
            "lower": measure.better == "lower",
            "means": [_shown(name, mean) for mean in (found[name].first, found[name].second)]
            if name in found
            else [_shown(name, of[name][0]) if name in of else "" for of in means],
            "n": found[name].n if name in found else max(of[name][1] for of in means if name in of),
            "difference": _difference(found[name], first, second) if name in found and second is not None else None,
        }
        for name, measure in MEASURES.items()
        if any(name in of for of in means)
        and not (name == "usd" and all(not of[name][0] for of in means if name in of))
    ]
    cases = [_case(case, first, second) for case in first.cases if case.case_id in first.outcomes]
    order = sorted(cases, key=lambda one: (one["harm"], -len(one["question"]) if second is None else 0))
    return {
        "runs": [_run(one.info) for one in (first, second) if one is not None],
        "headline": _headline(list(found.values())) if second is not None else "",
        "rows": rows,
        "cases": order,
    }


def _headline(found: Sequence[Difference]) -> str:
    clear = [one for one in found if one.clear and MEASURES[one.measure].better]
    better, worse = (sum(one.improved is side for one in clear) for side in (True, False))
    if not clear:
        return "No clear difference. Each could be chance."
    parts = [f"B is better in {_measures(better)}"] * bool(better) + [
        f"{'' if better else 'B is '}worse in {_measures(worse)}"
    ] * bool(worse)
    return f"{' and '.join(parts)}."


def _measures(count: int) -> str:
    return "1 measure" if count == 1 else f"{count} measures"


def _shown(name: str, mean: float) -> str:
    if MEASURES[name].share:
        return f"{100.0 * mean:.1f}%"
    return f"{mean:.1f} s" if name == "seconds" else payload.dollars(mean)


def _difference(one: Difference, first: Evaluated, second: Evaluated) -> Json:
    unit = 100.0 if MEASURES[one.measure].share else 1.0
    verdict = ("better" if one.improved else "worse") if one.clear else ""
    return {
        "mean": unit * one.mean,
        "low": unit * one.low,
        "high": unit * one.high,
        "verdict": verdict,
        "better": one.better,
        "worse": one.worse,
        "words": in_words(one, "A", "B").split(": ", 1)[1].replace("“", "").replace("”", ""),
    }


def _case(case: Case, first: Evaluated, second: Evaluated | None) -> Json:
    states = [_state(case, of) for of in (first, second) if of is not None]
    ranks = [of.measures.get(case.case_id, {}).get("mrr", 0.0) for of in (first, second) if of is not None]
    worth = [WORTH[tone] + RANKED * rank for (_, tone), rank in zip(states, ranks)]
    return {
        "id": case.case_id,
        "question": case.question,
        "states": [{"words": words, "tone": tone} for words, tone in states],
        "harm": round(worth[0], 4)
        if second is None
        else round(worth[1] - worth[0], 4)
        if case.case_id in second.outcomes
        else 0.0,
    }


def _state(case: Case, run: Evaluated) -> tuple[str, str]:
    """What became of a case, in words, and its tone."""
    outcome, found = run.outcomes.get(case.case_id), run.measures.get(case.case_id, {})
    if outcome is None:
        return "Not asked yet", "off"
    if run.info.searched and outcome.error is None:
        return _rank(found)
    if outcome.answer is None or outcome.error is not None:
        return "Failed", "bad"
    if outcome.answer.refused:
        return ("Refused", "bad") if case.answerable else ("Refused", "ok")
    if not case.answerable:
        return "Answered", "bad"
    if "value" in found:
        return ("Right value", "ok") if found["value"] else ("Wrong value", "bad")
    if "evidence_cited" in found:
        if found["evidence_cited"]:
            return "Evidence cited", "ok"
        return ("Not cited", "weak") if found["evidence_given"] else ("Not found", "bad")
    return "Answered", "off"


def _rank(found: Mapping[str, float]) -> tuple[str, str]:
    """Where a search has the evidence."""
    if "mrr" not in found:
        return "Searched", "off"
    rank = round(1.0 / found["mrr"]) if found["mrr"] else 0
    words = "Evidence first" if rank == 1 else f"Evidence is number {rank}" if rank else "Not found"
    return words, "bad" if not rank else "ok" if rank <= HIGH else "weak"


def case(asked: Case, runs: Sequence[Evaluated], names: Mapping[str, str]) -> Json:
    """One question with its reference, and of each run the answer, its citations to open, or the pages that its search
    found, by the ``names`` of their documents."""
    return {
        "id": asked.case_id,
        "question": asked.question,
        "reference": asked.answer if asked.answerable else "",
        "answerable": asked.answerable,
        "evidence": [f"{one.document}{f', p. {one.page}' if one.page else ''}" for one in asked.evidence],
        "sides": [_side(asked, run, run.outcomes.get(asked.case_id), names) for run in runs],
    }


def _side(asked: Case, run: Evaluated, outcome: Outcome | None, names: Mapping[str, str]) -> Json:
    words, tone = _state(asked, run)
    side: Json = {"state": {"words": words, "tone": tone}, "run": run.info.run_id, "config": run.info.config}
    if outcome is None:
        return side
    side["error"] = outcome.error
    side["seconds"] = round(outcome.seconds, 1)
    found = run.measures.get(asked.case_id, {})
    side["measures"] = [
        {"title": MEASURES[name].title, "value": _shown(name, found[name])} for name in MEASURES if name in found
    ]
    if run.info.searched:
        side["pages"] = [f"{names.get(doc_id, 'Removed')}, p. {page}" for doc_id, page in outcome.pages[:LISTED]]
    if outcome.answer is not None:
        side["answer"] = payload.answer(f"{run.info.run_id}-{asked.case_id}", outcome.answer)
    return side
