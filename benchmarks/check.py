"""Does checking a draft find what is wrong in it, and leave alone what is right? Drafts with planted errors.

    python -m benchmarks check --home DIR [--half dev|held] [--baseline] [--show]

Drafts on real PDFs (`check.jsonl`; filings, articles, rules, a report and a manual): true sentences, told in other
words, with the places that bear them out; false ones, each with one error of a *kind*; and a few that claim nothing.
They were written from the pages before any was checked. Six drafts are *dev*, six *held*, all of twenty sentences; no
rule was made on the held ones before their first figure. Two each are *dev-2*, *held-2* and *held-3*, on filings that
leave the period to a heading. *dev-3* and *held-4* are of six documents each (filings, articles, a form's instructions,
reports), eighteen sentences on each, by people who read no code: two thirds of them in clearly other words. *dev-4* and
*held-5*, by others who read none, are of four documents each (filings, articles), with twenty-two sentences as a memo
has them: a quarter of the true ones close to the document's words, a third in other words. *held-6*, by others
again, is of five documents (filings, reports, a review), with twenty-four sentences on each; *held-7*, by one more, of
five that no draft was about (filings, a report, a manual), with as many.

DIR is a library; PDFs that it lacks are read from the measuring data and added to it. Each draft is checked against its
own document, and against all. *errors flagged*: neither confirmed nor taken for no claim. *truths, right place*:
confirmed, with a citation that overlaps the words of evidence on their page. *false contradictions*: truths
called contradicted. *opinions*: taken for no claim. A page is twenty sentences.

``--baseline`` adds the plain way: the nearest passage by meaning and words, and in it the sentence that the
cross-encoder scores highest; confirmed from a score that serves the *dev* half best, else not found. The tables by kind
have the share flagged, or confirmed at the right place, and in brackets that called contradicted. ``--show`` prints
each sentence of the half with its verdict.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import table, words
from benchmarks.two_hop import filled
from ragcore.engine import Engine
from ragcore.text.sentences import sentence_spans
from ragcore.types import Document, Scope

HALVES = ("dev", "held", "dev-2", "held-2", "held-3", "dev-3", "held-4", "dev-4", "held-5", "held-6", "held-7")
NAMED = ("id", "doc", "title", "text", "label", "kind", "half")
IN_A_PARAGRAPH, ON_A_PAGE = 5, 20
# Of a sentence that was cut in two.
WORST = ("contradicted", "partly", "elsewhere", "not_found", "confirmed", "no_claim")
PLAIN = {"retrieve.mode": "hybrid", "rerank.model": "none", "route.weight": 0.0, "agentic.decompose": "off"}
Span = tuple[str, int, int]  # document, start and end in its text


@dataclass(frozen=True, slots=True)
class Sentence:
    """Sentence of the draft ``title`` on the document ``doc`` (data set/file). ``places`` are the pages that decide on
    it, each with a few of its words."""

    id: str
    doc: str
    title: str
    text: str
    label: str
    kind: str
    places: tuple[tuple[int, str], ...]
    half: str

    @property
    def name(self) -> str:
        return Path(self.doc).name


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdict on a sentence. ``cited`` are the places and words cited; ``right``: one overlaps the evidence."""

    sentence: Sentence
    status: str
    reason: str
    cited: tuple[str, ...]
    right: bool
    seconds: float

    @property
    def flagged(self) -> bool:
        return self.status not in ("confirmed", "no_claim")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="a library; PDFs that it lacks are added")
    parser.add_argument("--half", choices=HALVES, default="dev")
    parser.add_argument("--baseline", action="store_true", help="measure the plain way too")
    parser.add_argument("--show", action="store_true", help="print each sentence with its verdict")
    options = parser.parse_args()
    with Engine.open(options.home, overrides={"llm.model": "offline"}) as engine:
        everything = sentences()
        ids = filled(engine, sorted({one.name for one in everything}))
        here = [one for one in everything if one.name in ids]
        chosen = [one for one in here if one.half == options.half]
        if not chosen:
            sys.exit("None of the drafts' documents is here. Set GROUNDWORK_DATA to the folder of measuring data.")
        print(f"{len(chosen)} sentences on {len({one.doc for one in chosen})} documents", file=sys.stderr)
        engine.warm()
        all_of_them = Scope(tuple(sorted({ids[one.name] for one in here})))
        scopes: dict[str, Callable[[str], Scope]] = {
            "its document": lambda name: Scope((ids[name],)),
            f"all {len(all_of_them.doc_ids or ())}": lambda _: all_of_them,
        }
        places = {one.id: evidence(engine, one, ids[one.name]) for one in here}
        baseline = Baseline(engine, here, scopes["its document"]) if options.baseline else None
        found: dict[tuple[str, str], list[Judged]] = {}
        for against, scope in scopes.items():
            found[against, "checked"] = checked(engine, chosen, scope, places)
            if baseline is not None:
                found[against, "baseline"] = baseline.verdicts(chosen, scope, places)
    if options.show:
        show(found[next(iter(found))])
    report(options.half, found)


def sentences() -> list[Sentence]:
    with Path(__file__).with_suffix(".jsonl").open(encoding="utf-8") as lines:
        return [sentence(json.loads(line)) for line in lines]


def sentence(row: dict[str, Any]) -> Sentence:
    first = [(row["page"], row["evidence"])] if row["page"] else []
    places = tuple((page, said) for page, said in [*first, *row.get("also", [])])
    return Sentence(places=places, **{name: row[name] for name in NAMED})


def evidence(engine: Engine, one: Sentence, doc_id: str) -> list[Span]:
    document = engine.document(doc_id)
    found: list[Span] = []
    for page, said in one.places:
        spans = standing(document, page, said)
        if not spans:
            print(f"{one.id}: {said!r} is not in the text read from page {page}", file=sys.stderr)
        found += [(doc_id, start, end) for start, end in spans]
    return found


def standing(document: Document, page: int, said: str) -> list[tuple[int, int]]:
    """Where the words stand on the page, from the first to the last of them."""
    own = np.flatnonzero((document.words.pages == page) & ~document.words.repeated)
    bounds = list(zip(document.words.starts[own].tolist(), document.words.ends[own].tolist()))
    letters = ["".join(words(document.text[start:end])) for start, end in bounds]
    wanted, out = "".join(words(said)), []
    for first in (n for n, own_letters in enumerate(letters) if own_letters):
        so_far = ""
        for last in range(first, len(letters)):
            so_far += letters[last]
            if so_far == wanted:
                out.append((bounds[first][0], bounds[last][1]))
            if len(so_far) >= len(wanted) or not wanted.startswith(so_far):
                break
    return out


def draft(of_one: Sequence[Sentence]) -> bytes:
    """Draft in Markdown: its title, and the sentences a few to the paragraph."""
    texts = [one.text for one in of_one]
    paragraphs = [" ".join(texts[n : n + IN_A_PARAGRAPH]) for n in range(0, len(texts), IN_A_PARAGRAPH)]
    return "\n\n".join([f"# {of_one[0].title}", *paragraphs]).encode()


def checked(
    engine: Engine, chosen: Sequence[Sentence], scope: Callable[[str], Scope], places: dict[str, list[Span]]
) -> list[Judged]:
    out: list[Judged] = []
    for doc in dict.fromkeys(one.doc for one in chosen):
        of_one = [one for one in chosen if one.doc == doc]
        check_id = engine.checks.add(f"{of_one[0].title}.md", draft(of_one), scope(of_one[0].name)).check_id
        began = time.perf_counter()
        engine.checks.run(check_id)
        seconds = (time.perf_counter() - began) / len(of_one)
        check = engine.checks.get(check_id)
        engine.checks.remove(check_id)
        at = 0
        for one in of_one:
            at = check.draft.text.index(one.text, at)
            end = at + len(one.text)
            parts = [said for said in check.sentences if said is not None and said.start < end and at < said.end]
            worst = min(parts, key=lambda said: WORST.index(said.status))
            cited = [citation for said in parts for citation in said.citations]
            right = overlap([(one.doc_id, one.start, one.end) for one in cited], places[one.id])
            quotes = tuple(f"p. {citation.page}: {' '.join(citation.quote.split())}" for citation in cited)
            out.append(Judged(one, worst.status, worst.reason, quotes, right, seconds))
            at = end
        print(f"{of_one[0].title}: {seconds:.2f} s a sentence", file=sys.stderr)
    return out


def overlap(cited: Sequence[Span], places: Sequence[Span]) -> bool:
    return any(a == b and start < until and since < end for a, start, end in cited for b, since, until in places)


class Baseline:
    """The plain way. Its threshold is what serves the *dev* half of ``here`` best, in ``scope``: the share of errors
    flagged and that of truths confirmed count alike."""

    def __init__(self, engine: Engine, here: Sequence[Sentence], scope: Callable[[str], Scope]) -> None:
        self._plain = engine.with_settings(PLAIN).search
        assert engine.models.reranker is not None
        self._score = engine.models.reranker.score
        dev = [(one.label, self._best(one, scope)[0]) for one in here if one.half == "dev" and one.label != "opinion"]
        truths, errors = ([score for label, score in dev if label == which] for which in ("true", "error"))

        def served(least: float) -> float:
            return sum(s >= least for s in truths) / len(truths) + sum(s < least for s in errors) / len(errors)

        self.least = max((score for _, score in dev), key=served) if truths and errors else 0.5
        print(f"baseline: confirmed from a score of {self.least:.4f}", file=sys.stderr)

    def verdicts(
        self, chosen: Sequence[Sentence], scope: Callable[[str], Scope], places: dict[str, list[Span]]
    ) -> list[Judged]:
        out: list[Judged] = []
        for one in chosen:
            began = time.perf_counter()
            score, span, quote = self._best(one, scope)
            seconds = time.perf_counter() - began
            status = "confirmed" if score >= self.least else "not_found"
            right = overlap([span], places[one.id])
            out.append(Judged(one, status, f"{score:.4f}", (quote,), right, seconds))
        return out

    def _best(self, one: Sentence, scope: Callable[[str], Scope]) -> tuple[float, Span, str]:
        """Score, span and text of the best sentence, or row, of the nearest passage."""
        hits = self._plain.retrieve(one.text, scope(one.name)).hits
        if not hits:
            return 0.0, ("", 0, 0), ""
        chunk = hits[0].chunk
        spans = rows_of(chunk.text) if chunk.kind == "table" else sentence_spans(chunk.text)
        texts = [chunk.text[start:end] for start, end in spans]
        scores = self._score(one.text, texts)
        best = int(np.argmax(scores))
        start, end = spans[best]
        return float(scores[best]), (chunk.doc_id, chunk.start + start, chunk.start + end), texts[best]


def rows_of(text: str) -> list[tuple[int, int]]:
    """Spans of the lines of a table that have words."""
    ends = [at for at, character in enumerate(f"{text}\n") if character == "\n"]
    return [(start, end) for start, end in zip([0, *(at + 1 for at in ends)], ends) if text[start:end].strip()]


def share(of: Sequence[Judged], holds: Callable[[Judged], bool]) -> float:
    return statistics.fmean(holds(one) for one in of) if of else 0.0


def report(half: str, found: dict[tuple[str, str], list[Judged]]) -> None:
    rows: list[list[object]] = []
    for (against, way), verdicts in found.items():
        errors, truths, opinions = (
            [one for one in verdicts if one.sentence.label == label] for label in ("error", "true", "opinion")
        )
        seconds = statistics.fmean(one.seconds for one in verdicts)
        rows.append([half, against, way, share(errors, lambda one: one.flagged)])
        rows[-1].append(share(errors, lambda one: one.status == "contradicted"))
        rows[-1].append(share(truths, lambda one: one.status == "confirmed" and one.right))
        rows[-1].append(share(truths, lambda one: one.status == "confirmed"))
        rows[-1].append(share(truths, lambda one: one.status == "contradicted"))
        rows[-1].append(share(opinions, lambda one: one.status == "no_claim"))
        rows[-1] += [f"{seconds:.2f}", f"{seconds * ON_A_PAGE:.1f}"]
    outcomes = (
        "errors flagged",
        "contradicted",
        "truths, right place",
        "truths confirmed",
        "false contradictions",
        "opinions",
    )
    print(table(rows, ("half", "against", "way", *outcomes, "s a sentence", "s a page")))
    print()
    print(by_kind("error", found, lambda one: one.flagged))
    print()
    print(by_kind("true", found, lambda one: one.status == "confirmed" and one.right))


def by_kind(label: str, found: dict[tuple[str, str], list[Judged]], holds: Callable[[Judged], bool]) -> str:
    """Of each kind of sentence, the share for which it holds; and, in brackets, that called contradicted."""
    groups = [[one for one in verdicts if one.sentence.label == label] for verdicts in found.values()]
    rows: list[list[object]] = []
    for kind in sorted({one.sentence.kind for one in groups[0]}):
        of_kind = [[one for one in group if one.sentence.kind == kind] for group in groups]
        shares = [(share(group, holds), share(group, lambda one: one.status == "contradicted")) for group in of_kind]
        rows.append([kind, len(of_kind[0]), *(f"{right:.3f} ({wrong:.3f})" for right, wrong in shares)])
    return table(rows, (f"kind ({label})", "n", *(f"{way}, {against}" for against, way in found)))


def show(verdicts: Sequence[Judged]) -> None:
    for one in verdicts:
        wanted = {"true": one.status == "confirmed" and one.right, "error": one.flagged}
        mark = "+" if wanted.get(one.sentence.label, one.status == "no_claim") else "-"
        print(f"\n{mark} {one.sentence.id} {one.sentence.label}, {one.sentence.kind}: {one.sentence.text}")
        print(f"  {one.status}{': ' if one.reason else ''}{one.reason}")
        for quote in one.cited[:3]:
            print(f"  {quote[:300]}")
        expected = ", ".join(f"p. {page}: {said}" for page, said in one.sentence.places)
        print(f"  evidence {'cited' if one.right else 'not cited'}: {expected or '–'}")
    print()


if __name__ == "__main__":
    main()
