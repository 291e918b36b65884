"""Does verification tell true claims from edited ones? Pairs of a claim and its source with known verdicts.

    python -m benchmarks verification [--half held|tuned|both] [--no-cross-encoder] [--wrong] [--ablate]

The pairs are those of ``tests/answer/pairs``: claims about documents made for them, cited and verified by the real
code. The rules were tuned on the documents of one half; the other is looked at only for the figures stated.
"Supported" is held against anything else (weak or unsupported).

``words``: the baseline, lexical cover alone: supported where at least half of the claim's content words stand in the
cited words or the headers of the cited cells. ``rules``: `verify` without a model. ``rules + model``: with the bundled
cross-encoder. Per kind of edit, recall is the share of edits that are not called supported; precision the share of
edits among what is not called supported, of these edits and the truths that they were made from.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.common import table
from ragcore.protocols import Reranker
from ragcore.text.words import content_stems, cover
from ragcore.verify.claims import split_statements
from ragcore.verify.evidence import gather
from ragcore.verify.support import CHECKS, support
from ragcore.verify.verify import verify
from tests.answer.pairs import EDITS, MATERIALS, TRUTHS, Material, Pair
from tests.answer.samples import SETTINGS

Judge = Callable[[Material, Pair], bool]


@dataclass(frozen=True)
class Verdict:
    pair: Pair
    supported: bool
    of_truth: bool


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", choices=("held", "tuned", "both"), default="held")
    parser.add_argument("--no-cross-encoder", action="store_true")
    parser.add_argument("--wrong", action="store_true", help="list the pairs that the rules get wrong")
    parser.add_argument("--ablate", action="store_true", help="leave out one exact check at a time, without a model")
    options = parser.parse_args()
    chosen = [m for m in MATERIALS if options.half in (m.half, "both")]

    if options.ablate:
        print(table([_ablated(chosen, name) for name in ("", *CHECKS)], ("without", "truths supported", "edits found")))
        return
    seconds: dict[str, list[float]] = {}
    judges: dict[str, Judge] = {"words": _by_words, "rules": _by_rules(None, seconds.setdefault("rules", []))}
    if not options.no_cross_encoder:
        from ragcore.providers.bundled import BundledReranker

        model = BundledReranker("ms-marco-MiniLM-L-12-v2", threads=1)
        model.score("warm", ["warm"])
        judges["rules + model"] = _by_rules(model, seconds.setdefault("rules + model", []))
    judges["rules"](chosen[0], next(chosen[0].pairs()))
    seconds["rules"].clear()
    verdicts = {
        name: [_verdict(judge, m, pair) for m in chosen for pair in m.pairs()] for name, judge in judges.items()
    }

    print(f"\n{len(verdicts['words'])} pairs of {len(chosen)} documents ({options.half})\n")
    print(table([_confusion(name, found) for name, found in verdicts.items()], _CONFUSION))
    print()
    head = ["truths", "n", *(f"{name}: supported" for name in verdicts)]
    print(table([_truths(kind, verdicts) for kind in TRUTHS], head))
    print()
    print(table([row for kind in EDITS if (row := _edits(kind, verdicts))], ["edit", "n", *_columns(verdicts)]))
    print()
    print(
        table([_latency(name, times) for name, times in seconds.items()], ("ms per claim", "median", "95%", "longest"))
    )
    if options.wrong:
        for verdict in verdicts["rules"]:
            if verdict.supported != verdict.pair.supported:
                print(f"{verdict.pair.kind}: {verdict.pair.claim}  [{'; '.join(verdict.pair.at)}]")


_CONFUSION = (
    *("", "truths supported", "truths not", "edits supported", "edits not"),
    *("precision of supported", "recall of supported", "edits found"),
)


def _confusion(name: str, verdicts: list[Verdict]) -> tuple[object, ...]:
    right = sum(v.supported for v in verdicts if v.pair.supported)
    truths = sum(v.pair.supported for v in verdicts)
    passed = sum(v.supported for v in verdicts if not v.pair.supported)
    edits = len(verdicts) - truths
    share = right / (right + passed) if right + passed else 0.0
    return name, right, truths - right, passed, edits - passed, share, right / truths, (edits - passed) / edits


def _truths(kind: str, verdicts: dict[str, list[Verdict]]) -> list[object]:
    row: list[object] = [kind]
    for found in verdicts.values():
        own = [v for v in found if v.pair.kind == kind and v.pair.supported]
        row = [*row, len(own)] if len(row) == 1 else row
        row.append(f"{sum(v.supported for v in own)}")
    return row


def _columns(verdicts: dict[str, list[Verdict]]) -> list[str]:
    return [f"{name}: {measure}" for name in verdicts for measure in ("precision", "recall")]


def _edits(kind: str, verdicts: dict[str, list[Verdict]]) -> list[object]:
    row: list[object] = [kind]
    for found in verdicts.values():
        own = [v for v in found if v.pair.kind == kind and not v.pair.supported]
        if not own:
            return []
        row = [*row, len(own)] if len(row) == 1 else row
        caught = sum(not v.supported for v in own)
        alarms = sum(not v.of_truth for v in own)
        row += [caught / (caught + alarms) if caught + alarms else 0.0, caught / len(own)]
    return row


def _latency(name: str, times: list[float]) -> tuple[object, ...]:
    ordered = sorted(times)
    late = ordered[int(len(ordered) * 0.95)]
    return name, f"{statistics.median(ordered) * 1e3:.2f}", f"{late * 1e3:.2f}", f"{ordered[-1] * 1e3:.2f}"


def _verdict(judge: Judge, material: Material, pair: Pair) -> Verdict:
    supported = judge(material, pair)
    if pair.supported:
        return Verdict(pair, supported, supported)
    truth = next(
        one for one in material.pairs() if one.supported and (one.claim, one.at) == (pair.truth, pair.truth_at)
    )
    return Verdict(pair, supported, judge(material, truth))


def _ablated(chosen: list[Material], without: str) -> tuple[object, ...]:
    """How many truths are supported and how many edits are found where one check is left out."""
    right = found = 0
    kept = dict(CHECKS)
    CHECKS.pop(without, None)
    try:
        for material in chosen:
            for pair in material.pairs():
                text, marks, citations = material.cite(pair)
                (statement,) = split_statements(text, marks)
                evidence = gather(citations, material.open)
                status = support(statement, evidence, SETTINGS.verify).finding.status
                right += pair.supported and status == "supported"
                found += not pair.supported and status != "supported"
    finally:
        CHECKS.clear()
        CHECKS.update(kept)
    return without or "nothing", right, found


def _by_words(material: Material, pair: Pair) -> bool:
    text, marks, citations = material.cite(pair)
    (statement,) = split_statements(text, marks)
    evidence = gather(citations, material.open)
    return cover(content_stems(statement.text), content_stems(evidence.words)) >= 0.5


def _by_rules(reranker: Reranker | None, times: list[float]) -> Judge:
    def judge(material: Material, pair: Pair) -> bool:
        text, marks, citations = material.cite(pair)
        started = time.perf_counter()
        (claim,) = verify(text, marks, citations, material.open, SETTINGS.verify, reranker=reranker)
        times.append(time.perf_counter() - started)
        return claim.status == "supported"

    return judge


if __name__ == "__main__":
    main()
