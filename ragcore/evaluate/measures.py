"""Measures of one answer: was the evidence found, given and cited; do citations hold; was it right to answer; is the
value the reference's; how many of its words. None of these needs a model as a judge; those of judges stand beside them.

A measure that a case doesn't define (no evidence page, no value) is absent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from ragcore.config.settings import VerifySettings
from ragcore.errors import UnknownDocument
from ragcore.evaluate.cases import Case
from ragcore.evaluate.ragchecker import JUDGES
from ragcore.index.evaluations import Outcome
from ragcore.text.numbers import Number, agree, numbers
from ragcore.text.periods import years
from ragcore.text.words import content_stems, cover
from ragcore.types import Answer, Citation, Document
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import gather
from ragcore.verify.support import support

Page = tuple[str, int]  # document id and page; page 0 is the document as a whole
Better = Literal["higher", "lower", ""]
FIRST = (1, 5, 10, 20)  # ranks
_WHOLE = 1.0  # points by which a box may leave its page


@dataclass(frozen=True, slots=True)
class Measure:
    """Name for people, and which direction is better ("": neither). ``share``: 0–1 a question, shown in per cent.
    ``judge``: the kind of judge whose verdicts it is made of, "" for none."""

    title: str
    better: Better = "higher"
    share: bool = True
    judge: str = ""

    @property
    def full(self) -> str:
        """Title with the judge."""
        return f"{self.title} (RAGChecker by {self.judge})" if self.judge else self.title


_RAGCHECKER = {
    "precision": Measure("Precision"),
    "recall": Measure("Recall"),
    "f1": Measure("F1"),
    "claim_recall": Measure("Claim recall"),
    "context_precision": Measure("Context precision"),
    "context_utilization": Measure("Context utilization"),
    "noise_sensitivity_in_relevant": Measure("Noise sensitivity, relevant passages", "lower"),
    "noise_sensitivity_in_irrelevant": Measure("Noise sensitivity, irrelevant passages", "lower"),
    "hallucination": Measure("Hallucination", "lower"),
    "self_knowledge": Measure("Self-knowledge", "lower"),
    "faithfulness": Measure("Faithfulness"),
}

MEASURES: Mapping[str, Measure] = {
    **{f"evidence_at_{k}": Measure(f"Evidence in the first {k}" if k > 1 else "Evidence first") for k in FIRST},
    **{f"all_evidence_at_{k}": Measure(f"All evidence in the first {k}") for k in FIRST[1:]},
    **{f"recall_at_{k}": Measure(f"Share of the evidence in the first {k}") for k in FIRST[1:]},
    "ndcg_at_10": Measure("nDCG of the first 10"),
    "mrr": Measure("Mean reciprocal rank"),
    "evidence_given": Measure("Evidence given to the writer"),
    "all_evidence_given": Measure("All evidence given to the writer"),
    "evidence_cited": Measure("Cites evidence"),
    "valid_citations": Measure("Citations valid"),
    "citation_recall": Measure("Statements that their citations support"),
    "citation_precision": Measure("Citations that are needed"),
    "answered": Measure("Answered, where there is an answer"),
    "refused": Measure("Refused, where there is none"),
    "value": Measure("Value right"),
    "words_precision": Measure("Words in common, precision (no model)"),
    "words_recall": Measure("Words in common, recall (no model)"),
    "words_f1": Measure("Words in common, F1 (no model)"),
    **{
        f"ragchecker.{kind}.{name}": replace(measure, judge=kind)
        for kind in JUDGES
        for name, measure in _RAGCHECKER.items()
    },
    "seconds": Measure("Seconds", "lower", share=False),
    "usd": Measure("US dollars", "lower", share=False),
}


def shown(name: str, mean: float) -> str:
    """Mean of a measure as printed."""
    return f"{100.0 * mean:.1f}%" if MEASURES[name].share else f"{mean:.3f}"


def of_search(outcome: Outcome, places: Collection[Page]) -> dict[str, float]:
    """Those of `MEASURES` that hits alone define. ``places`` are the evidence pages in the library."""
    return dict(_ranks(outcome.pages, places)) | ({} if outcome.error else {"seconds": outcome.seconds})


def measures(
    case: Case,
    outcome: Outcome,
    places: Collection[Page],
    document: Callable[[str], Document],
    settings: VerifySettings,
) -> dict[str, float]:
    """Those of `MEASURES` that the case defines. ``places`` are its evidence pages in the library; ``document`` gives
    documents by id. Of a failed case only that it isn't answered counts."""
    answer = None if outcome.error is not None else outcome.answer
    found = dict(_ranks(outcome.pages, places))
    refused = answer is None or answer.refused
    found["answered" if case.answerable else "refused"] = float(refused != case.answerable)
    if outcome.error is not None and not case.answerable:
        found["refused"] = 0.0
    if answer is None:
        return found
    given = [(source.doc_id, page) for source in answer.sources for page in source.pages]
    if places:
        found["evidence_given"] = float(any(_meets(given, place) for place in places))
        found["all_evidence_given"] = float(all(_meets(given, place) for place in places))
        cited = [(one.doc_id, box.page) for one in answer.citations for box in one.boxes]
        found["evidence_cited"] = float(any(_meets(cited, place) for place in places))
    with suppress(UnknownDocument):  # removed since: its citations can't be looked up any more
        if answer.citations:
            found["valid_citations"] = _share([_valid(one, document(one.doc_id)) for one in answer.citations])
        if not answer.refused:
            found |= _attributed(answer, document, settings)
    if case.answerable and case.answer:
        found |= _against(case.answer, "" if answer.refused else unmarked(answer))
    found["seconds"] = outcome.seconds
    if answer.cost_usd is not None:
        found["usd"] = answer.cost_usd
    return found


def _meets(pages: Collection[Page], place: Page) -> bool:
    doc_id, page = place
    return any(one == doc_id for one, _ in pages) if not page else place in pages


def _ranks(pages: Sequence[Page], places: Collection[Page]) -> Iterator[tuple[str, float]]:
    """Ranking measures over distinct pages, or over documents if no evidence has a page."""
    if not places:
        return
    if not any(page for _, page in places):
        pages = [(doc_id, 0) for doc_id in dict.fromkeys(doc_id for doc_id, _ in pages)]
    for k in FIRST:
        yield f"evidence_at_{k}", float(any(_meets(pages[:k], place) for place in places))
        if k > 1:
            share = _share([_meets(pages[:k], place) for place in places])
            yield f"all_evidence_at_{k}", float(share == 1.0)
            yield f"recall_at_{k}", share
    hits = [any(_meets([page], place) for place in places) for page in pages]
    best = sum(1.0 / math.log2(rank + 2) for rank in range(min(10, len(set(places)))))
    yield "ndcg_at_10", min(1.0, sum(1.0 / math.log2(rank + 2) for rank, hit in enumerate(hits[:10]) if hit) / best)
    yield "mrr", next((1.0 / rank for rank, hit in enumerate(hits, start=1) if hit), 0.0)


def _valid(citation: Citation, document: Document) -> bool:
    """Whether the quote is the document's text at its place, and its boxes lie on their pages."""

    def inside(page: int, x0: float, y0: float, x1: float, y1: float) -> bool:
        sheet = document.pages[page - 1]
        return -_WHOLE <= x0 < x1 <= sheet.width + _WHOLE and -_WHOLE <= y0 < y1 <= sheet.height + _WHOLE

    exact = document.text[citation.start : citation.end] == citation.quote
    return exact and all(inside(box.page, box.x0, box.y0, box.x1, box.y1) for box in citation.boxes)


def _attributed(answer: Answer, document: Callable[[str], Document], settings: VerifySettings) -> dict[str, float]:
    """Citation recall and precision (Gao et al.: ALCE, 2023), judged by the project's support score: a statement is
    recalled if its citations together support it; a citation is needed if it supports its statement itself, or the
    others don't without it."""
    by_number = {one.n: one for one in answer.citations}
    recalled: list[bool] = []
    needed: list[bool] = []
    for claim in answer.claims:
        statement = Statement(claim.text, claim.start, claim.end, claim.citations)

        def held(citations: Sequence[Citation], of: Statement = statement) -> bool:
            return support(of, gather(citations, document), settings).finding.status == "supported"

        cited = [by_number[n] for n in claim.citations if n in by_number]
        recalled.append(claim.status == "supported")
        for one in cited if len(cited) > 1 else ():
            others = [other for other in cited if other.n != one.n]
            needed.append(recalled[-1] and (held([one]) or not held(others)))
        needed += [recalled[-1]] * (len(cited) == 1)
    found = {"citation_recall": _share(recalled)} if recalled else {}
    return found | ({"citation_precision": _share(needed)} if needed else {})


def unmarked(answer: Answer) -> str:
    """Text of an answer without the numbers of its citations."""
    text = answer.text
    for mark in sorted(answer.marks, key=lambda mark: -mark.start):
        text = text[: mark.start] + text[mark.end :]
    return text


def _against(reference: str, text: str) -> dict[str, float]:
    """Measures against the reference answer: its values, and its words."""
    wanted, given = set(content_stems(reference)), set(content_stems(text))
    precision, recall = cover(given, wanted) if given else 0.0, cover(wanted, given)
    both = precision + recall
    found = {
        "words_precision": precision,
        "words_recall": recall,
        "words_f1": 2.0 * precision * recall / both if both else 0.0,
    }
    values = _values(reference)
    if values:
        stated = numbers(text)
        found["value"] = float(all(any(agree(one, other, None) for other in stated) for one in values))
    return found


def _values(text: str) -> list[Number]:
    """Figures of a reference answer, without years, and without the numbers in letters of a sentence."""
    said = {float(year) for year in years(text)}
    return [one for one in numbers(text) if not one.counts and (one.kind or one.scale > 1.0 or one.value not in said)]


def _share(held: Sequence[bool]) -> float:
    return sum(held) / len(held)
