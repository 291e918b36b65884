"""Commands that evaluate answers: sets of questions, runs, comparisons, and a gate for scripts."""

from __future__ import annotations

import argparse
import json
import math
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.cli.common import print_json, say_error, show, stopped_in_order, tenths, write_out
from ragcore.errors import GroundworkError, InputError
from ragcore.evaluate.compare import Difference, broken, called, compared, in_words, judged, together
from ragcore.evaluate.judges import heading
from ragcore.evaluate.measures import MEASURES, shown
from ragcore.evaluate.ragchecker import averages, read_checked
from ragcore.evaluate.runs import Configuration, Evaluated
from ragcore.text.numbers import plural
from ragcore.types.json import Json, plain

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.index.evaluations import SetInfo

SAID = 3  # kinds of errors of a run that are printed
LONGEST_NAME = 24
NOT_JUDGED = 2  # exit code of a gate whose runs can't be compared


def score(_: Engine, options: argparse.Namespace) -> int:
    checked = read_checked(options.file)
    groups = averages(checked)
    lines = [f"{plural(len(checked), 'response')}, means in per cent:"]
    for group, metrics in groups.items():
        lines.append(group.removesuffix("_metrics").capitalize())
        lines += [f"  {name.replace('_', ' '):32}{mean:6.1f}" for name, mean in metrics.items()]
    show(options, lambda: groups, lines)
    return 0


def add(engine: Engine, options: argparse.Namespace) -> int:
    info = engine.evaluation.add(options.file, options.form or "")
    show(options, lambda: {"set": plain(info)}, [f"{info.name}: {plural(info.cases, 'question')} ({info.set_id})."])
    return 0


def listed(engine: Engine, options: argparse.Namespace) -> int:
    evaluation = engine.evaluation
    sets, runs = evaluation.sets(), evaluation.runs()
    lines = []
    for info in sets:
        lines.append(f"{info.set_id}  {info.name}: {plural(info.cases, 'question')}")
        for run in runs:
            if run.group == info.set_id:
                left = "" if run.ended else f"  ({run.done} of {run.cases} done)"
                kind = ", within its documents" * run.within + ", search only" * run.searched
                then = f", {plural(run.cases, 'question')}" if run.own and run.cases != info.cases else ""
                lines.append(f"  {run.run_id}  {run.name}{kind}{then}{left}")
    show(options, lambda: {"sets": plain(sets), "runs": plain(runs)}, lines)
    if not sets and not options.json:
        print("No sets yet. Import one: groundwork evaluate import FILE", file=sys.stderr)
    return 0


def run(engine: Engine, options: argparse.Namespace) -> int:
    configurations = [Configuration.parsed(text) for text in options.configuration or ["default"]]
    info = _set(engine, options.set)
    stop = threading.Event()
    done = []
    with stopped_in_order(stop.set):
        for one in configurations:
            said = partial(tenths(one.name), "asked")
            done.append(engine.evaluation.run(info.set_id, one, options.within, options.search, said, stop.is_set))
    show(options, lambda: {"set": plain(info), "runs": [_run(one) for one in done]}, _table(done))
    failed = [outcome.error for one in done for outcome in one.outcomes.values() if outcome.error]
    for error in list({error["message"]: error for error in failed}.values())[:SAID]:
        say_error(error)
    return 1 if failed else 0


def _set(engine: Engine, given: str) -> SetInfo:
    """Stored set of that name, or the one in a file."""
    path = Path(given)
    return engine.evaluation.add(path) if path.is_file() else engine.evaluation.find(given)


def _run(one: Evaluated) -> Json:
    means = {name: {"mean": round(mean, 6), "n": n} for name, (mean, n) in one.means().items()}
    cases = [
        {
            "case_id": case.case_id,
            "question": case.question,
            "answer": None if (answer := one.outcomes[case.case_id].answer) is None else answer.text,
            "error": one.outcomes[case.case_id].error,
            "measures": dict(one.measures[case.case_id]),
        }
        for case in one.cases
        if case.case_id in one.outcomes
    ]
    return {**plain(one.info), "judges": dict(one.judges), "measures": means, "cases": cases}


def _table(runs: Sequence[Evaluated]) -> list[str]:
    """A line for each measure, a column for each run."""
    means = [one.means() for one in runs]
    width = max(len(MEASURES[name].title) for name in MEASURES)
    heads = [f"{_short(one.info.name)} ({one.info.run_id})" for one in runs]
    lines = [" " * width + "".join(f"  {head:>24}" for head in heads)]
    for name in MEASURES:
        if any(name in of for of in means) and together(name, *runs):
            lines += _heading(name, runs[0], lines)
            cells = [f"{shown(name, of[name][0])} of {of[name][1]}" if name in of else "" for of in means]
            lines.append(f"{MEASURES[name].title:{width}}" + "".join(f"  {cell:>24}" for cell in cells))
    return lines


def _heading(name: str, run: Evaluated, before: Sequence[str]) -> list[str]:
    """Name of a measure's judge, unless it stands there."""
    judge = run.judges.get(MEASURES[name].judge)
    return [heading(judge)] if judge and heading(judge) not in before else []


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def judge(engine: Engine, options: argparse.Namespace) -> int:
    """Claims of a run's answers, judged by one judge; or what that would cost."""
    if options.estimate:
        probable = engine.evaluation.estimate(options.what)
        usd = "no price" if probable.usd is None else f"${probable.usd:.2f} (allow ${probable.limit:.2f})"
        tokens = f"{probable.input_tokens:,} tokens in, {probable.output_tokens:,} out"
        said = f"{plural(probable.questions, 'question')} left: about {plural(probable.calls, 'call')}, {tokens}, {usd}"
        lines = [f"{said}, {plural(math.ceil(probable.minutes), 'minute')}, by {probable.model}. Nothing was sent."]
        show(options, lambda: {"estimate": plain(probable) | {"limit": probable.limit}}, lines)
        return 0
    stop = threading.Event()
    with stopped_in_order(stop.set):
        said_of = partial(tenths("Judging"), "judged"), stop.is_set
        found = engine.evaluation.judge(options.what, options.by, options.max_usd, *said_of)
    show(options, lambda: {"run": _run(found)}, _table([found]))
    return 0


def compare(engine: Engine, options: argparse.Namespace) -> int:
    first, second = (engine.evaluation.evaluated(one) for one in (options.first, options.second))
    found = compared(first, second)
    lines = _differences(found, first, second)
    show(options, lambda: {"first": first.info.run_id, "second": second.info.run_id, **_compared(found)}, lines)
    if options.html is not None:
        from ragcore.evaluate.files import page

        write_out(options.html, page(first, second, (first.info.name, second.info.name)))
    return 0


def _differences(found: Sequence[Difference], first: Evaluated, second: Evaluated) -> list[str]:
    """A line for each measure, then what is clear."""
    names = called(first, second)
    width = max((len(MEASURES[one.measure].title) for one in found), default=0)
    lines = [f"{names[0]} → {names[1]}, with 95% intervals of the difference:"]
    for one in found:
        lines += _heading(one.measure, first, lines)
        low, high = one.signed(one.low), one.signed(one.high)
        before, after = (shown(one.measure, mean) for mean in (one.first, one.second))
        said = f"{one.better} better, {one.worse} worse of {one.n}" if one.better or one.worse else "equal"
        lines.append(f"{MEASURES[one.measure].title:{width}}  {before:>7} → {after:>7}  [{low}, {high}]  {said}")
    clear = [in_words(one, *names) for one in found if one.clear]
    return lines + (clear or ["No difference is clear: each could be chance."])


def _compared(found: Sequence[Difference]) -> Json:
    return {"differences": [plain(one) | {"mean": one.mean, "clear": one.clear} for one in found]}


def gate(engine: Engine, options: argparse.Namespace) -> int:
    """0 if the gate holds, 1 if it is broken, 2 if it can't be judged."""
    from ragcore.evaluate.files import junit, junit_unjudged

    try:
        first, second = (engine.evaluation.evaluated(one) for one in (options.against, options.run_id))
        for one in (first, second):
            if one.info.done < one.info.cases:
                raise InputError(f"The run {one.info.run_id} isn't finished.", hint="Let it run to its end first.")
        found = compared(first, second, options.measure)
        worse = broken(found, wanted=options.measure, loss=options.loss / 100.0)
        if options.junit is not None:
            write_out(options.junit, junit(first, second, judged(found, options.measure), worse))
    except GroundworkError as error:
        if options.json:
            print_json({"error": error.as_dict()})
        else:
            say_error(error)
        if options.junit is not None:
            with suppress(GroundworkError):  # what can't be written is said already
                write_out(options.junit, junit_unjudged(error))
        return NOT_JUDGED
    lines = _differences(worse, first, second) if worse else ["The gate holds."]
    show(options, lambda: {"holds": not worse, "broken": [one.measure for one in worse], **_compared(found)}, lines)
    return 1 if worse else 0


def export(engine: Engine, options: argparse.Namespace) -> int:
    """A set as JSONL or as a table; or a run, as a table of its questions or as input for RAGChecker."""
    evaluation = engine.evaluation
    if options.form in ("set", "table"):
        given = evaluation.read(options.what)
        text = given.to_jsonl() if options.form == "set" else given.to_csv()
    else:
        found = evaluation.evaluated(options.what)
        text = _for_ragchecker(found, options.by) if options.form == "ragchecker" else found.to_csv()
    if options.output is None:
        sys.stdout.write(text)
    else:
        write_out(options.output, text.encode())
    return 0


def _for_ragchecker(found: Evaluated, by: str | None) -> str:
    """The reference program's checking inputs; or its outputs, of the answers that a judge ``by`` has judged. Passages
    are the sources given to the writer."""
    if found.info.searched:
        raise InputError(f"The run {found.info.run_id} only searched: it has no answers.", hint="Run it with answers.")
    results, judged = [], found.judged.get(by or "", {})
    if by and not judged:
        hint = f"Judge it: `groundwork evaluate judge {found.info.run_id} --by {by}`."
        raise InputError(f"The run {found.info.run_id} isn't judged by {by}.", hint=hint)
    for case in found.cases:
        outcome = found.outcomes.get(case.case_id)
        if outcome is not None and outcome.answer is not None and (not by or case.case_id in judged):
            passages = [{"doc_id": one.doc_id, "text": one.text} for one in outcome.answer.sources]
            answer = {"query_id": case.case_id, "query": case.question, "gt_answer": case.answer}
            verdicts = judged[case.case_id].model_dump(mode="json") if by else {}
            results.append(answer | {"response": outcome.answer.text, "retrieved_context": passages} | verdicts)
    return json.dumps({"results": results}, ensure_ascii=False, indent=1) + "\n"
