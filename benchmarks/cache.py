"""When may a question be answered from the retrieval of another, and what does that save?

    python -m benchmarks cache [--home HOME] [--pairs]

How near the embedder puts questions to each other: pairs that ask the same in other words or order (`SAME`), pairs
that differ in a literal part (`OTHER_LITERAL`) or only in a word (`OTHER_WORDS`), and all pairs of different questions
of three sets. Then how many of each would be served: by cosine alone, with the literal parts compared, and with the
words compared too (``cache.same_words``). ``--pairs`` prints each pair. With ``--home``, a library that is indexed, the
questions of FinanceBench about its documents are asked twice, with and without the cache.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import questions, table
from ragcore.config.settings import load
from ragcore.engine import Engine
from ragcore.offline.literals import difference, literals_of, same_words
from ragcore.providers import embedder

SETS = ("financebench-dev", "mmlongbench-dev", "musique-dev")
MOST = 250  # questions of a set

# In other words or order, the same is asked.
SAME = (
    ("What was Nike's total revenue in fiscal 2023?", "What was the total revenue of Nike in fiscal 2023?"),
    ("What was Nike's total revenue in fiscal 2023?", "In fiscal 2023, what was the total revenue of Nike?"),
    ("What was Nike's total revenue in fiscal 2023?", "What were Nike's total revenues for fiscal 2023?"),
    ("What was Nike's total revenue in fiscal 2023?", "what was nike's total revenue in fiscal 2023"),
    ("What was Nike's total revenue in fiscal 2023?", "Please tell me what Nike's total revenue was in fiscal 2023."),
    ("How much did Corning spend on R&D in 2022?", "How much was spent on R&D by Corning in 2022?"),
    ("How much did Corning spend on R&D in 2022?", "How much R&D expense did Corning have in 2022?"),
    (
        "How many employees did the company have at year end?",
        "How many people did the company employ at the end of the year?",
    ),
    ("How many employees did the company have at year end?", "What was the company's headcount at year end?"),
    ("Which risks does the report name?", "What risks are named in the report?"),
    ("Which risks does the report name?", "List the risks that the report names."),
    ("Who audits the company?", "Who is the company's auditor?"),
    ("Who audits the company?", "Who is the auditor of the company?"),
    ("When is the annual general meeting held?", "On which date does the annual general meeting take place?"),
    ("When is the annual general meeting held?", "When does the annual general meeting take place?"),
    ("How is the pump installed?", "How do I install the pump?"),
    ("How is the pump installed?", "How does one install the pump?"),
    ("How is the pump installed?", "How is the installation of the pump done?"),
    ("Where is the drug excreted?", "Where is excretion of the drug?"),
    ("What are the side effects of the vaccine?", "What side effects does the vaccine have?"),
    ("What are the side effects of the vaccine?", "Which adverse events follow vaccination?"),
    ("What are the side effects of the vaccine?", "What adverse effects does the vaccine cause?"),
    ("Why did margins shrink?", "Why did the margins shrink?"),
    ("Why did margins shrink?", "What is the reason that margins shrank?"),
    ("Why did gross margin fall in 2021?", "Why was there a fall of gross margin in 2021?"),
    ("How does the model handle missing data?", "How is missing data handled by the model?"),
    ("How does the model handle missing data?", "How are missing values treated in the model?"),
    ("Does the lease include the garden?", "Is the garden included in the lease?"),
    ("Does the lease include the garden?", "Is the garden part of the lease?"),
    ("What is the warranty period of the boiler?", "What is the boiler's warranty period?"),
    ("What is the warranty period of the boiler?", "For how long is the boiler under warranty?"),
    ("Describe the sampling method.", "Explain the sampling method."),
    ("Describe the sampling method.", "What is the sampling method?"),
    ("Describe the sampling method.", "How were samples taken?"),
    ("What data sets were used for the evaluation?", "Which data sets were used in the evaluation?"),
    ("What data sets were used for the evaluation?", "On what data was the evaluation run?"),
    ("What is the maximum dose of ABT-450?", "What is ABT-450's maximum dose?"),
    ("What is the maximum dose of ABT-450?", "What is the highest dose of ABT-450?"),
    ("Summarise the findings of the inspection.", "Give a summary of the inspection's findings."),
    ("What conclusions do the authors draw?", "What do the authors conclude?"),
    ("What was capex in 2018?", "What were capital expenditures in 2018?"),
    ("What was capex in 2018?", "What was the capital expenditure for 2018?"),
)
# Alike, and a literal part makes it another question.
OTHER_LITERAL = (
    ("What was Nike's total revenue in fiscal 2023?", "What was Nike's total revenue in fiscal 2022?"),
    ("What was Nike's total revenue in fiscal 2023?", "What was Adidas's total revenue in fiscal 2023?"),
    ("What was Nike's total revenue in Q2 2023?", "What was Nike's total revenue in Q3 2023?"),
    ("What is the maximum dose of ABT-450?", "What is the maximum dose of ABT-267?"),
    ("What is the maximum dose of ABT-450?", "What is the minimum dose of ABT-450?"),
    ("Which items are included in the lease?", "Which items are not included in the lease?"),
    ("Which items come with the warranty?", "Which items come without the warranty?"),
    ("Why did the share price rise?", "Why did the share price fall?"),
    ("Did operating costs increase in 2021?", "Did operating costs decrease in 2021?"),
    ("What happened before the merger?", "What happened after the merger?"),
    ("Who signed the contract?", "When was the contract signed?"),
    ("Where was the sample taken?", "When was the sample taken?"),
    ("How did cash change from 2015 to 2016?", "How did cash change from 2016 to 2015?"),
    ("Did Alpha sue Beta?", "Did Beta sue Alpha?"),
    ("What does the chapter 'Safety' say?", "What does the chapter 'Scope' say?"),
    ("Which tests had a p value above 0.05?", "Which tests had a p value below 0.05?"),
    ("Show revenue by region for 2019.", "Show revenue by region for 2020."),
    ("What does clause 4.2 demand?", "What does clause 4.3 demand?"),
    ("How many patients had at least two relapses?", "How many patients had at most two relapses?"),
    ("Which segment had the highest margin?", "Which segment had the lowest margin?"),
)
# Alike, and a word makes it another question.
OTHER_WORDS = (
    ("What was Nike's gross margin in 2023?", "What was Nike's operating margin in 2023?"),
    ("What was Nike's total revenue in fiscal 2023?", "What was Nike's total cost in fiscal 2023?"),
    ("What were 3M's capital expenditures in 2018?", "What were 3M's operating expenses in 2018?"),
    ("What were Corning's accounts payable in 2022?", "What were Corning's accounts receivable in 2022?"),
    ("What are the company's current assets?", "What are the company's current liabilities?"),
    ("What is the net income of the company?", "What is the net debt of the company?"),
    ("What was basic earnings per share in 2020?", "What was diluted earnings per share in 2020?"),
    ("What is the quick ratio?", "What is the current ratio?"),
    ("What are the side effects of the vaccine?", "What are the benefits of the vaccine?"),
    ("What is the dose for children?", "What is the dose for adults?"),
    ("What is the dose for children?", "What is the dose for infants?"),
    ("How is the pump installed?", "How is the pump removed?"),
    ("How is the pump installed?", "How is the valve installed?"),
    ("What does the tenant have to pay?", "What does the landlord have to pay?"),
    ("What are the rights of the buyer?", "What are the rights of the seller?"),
    ("What did the treatment group report?", "What did the control group report?"),
    ("What is the primary endpoint of the trial?", "What is the secondary endpoint of the trial?"),
    ("How many patients were enrolled?", "How many patients were excluded?"),
    ("What is the sensitivity of the test?", "What is the specificity of the test?"),
    ("What is the precision of the model?", "What is the recall of the model?"),
    ("Describe the training data.", "Describe the test data."),
    ("Which figure shows the encoder?", "Which figure shows the decoder?"),
    ("Who is the chief executive officer?", "Who is the chief financial officer?"),
    ("Who wrote the foreword?", "Who wrote the afterword?"),
    ("When does the contract start?", "When does the contract end?"),
    ("What is the temperature of the inlet?", "What is the temperature of the outlet?"),
    ("What are domestic sales?", "What are foreign sales?"),
    ("What happens in the first phase?", "What happens in the second phase?"),
    ("What was the balance of goodwill in 2021?", "What was the impairment of goodwill in 2021?"),
    ("How much short-term debt is there?", "How much long-term debt is there?"),
    ("What is the male mortality rate?", "What is the female mortality rate?"),
    ("What was nike's revenue?", "What was adidas's revenue?"),
)


@dataclass(frozen=True)
class Pair:
    """Two questions, the cosine of their vectors, and whether their literal parts and their words are the same."""

    one: str
    other: str
    cosine: float
    literals: bool
    words: bool


def compared(pairs: Sequence[tuple[str, str]], vectors: dict[str, Any]) -> list[Pair]:
    out = []
    for one, other in pairs:
        first, second = literals_of(one), literals_of(other)
        alike = not difference(first, second)
        cosine = float(vectors[one] @ vectors[other])
        out.append(Pair(one, other, cosine, alike, alike and same_words(first, second)))
    return out


def every_pair(name: str) -> list[tuple[str, str]]:
    """Each two different questions of a set."""
    asked = list(dict.fromkeys(item["question"] for item in questions(name)))[:MOST]
    return list(combinations(asked, 2))


def row(name: str, pairs: Sequence[Pair]) -> Iterator[object]:
    cosines = np.array([pair.cosine for pair in pairs])
    yield name
    yield len(pairs)
    yield from (float(value) for value in np.percentile(cosines, (10, 50, 90, 100)))
    for least in (0.9, 0.7):
        near = [pair for pair in pairs if pair.cosine >= least]
        yield f"{len(near)} / {sum(p.literals for p in near)} / {sum(p.words for p in near)}"


def timed(engine: Engine, asked: Sequence[str]) -> list[float]:
    out = []
    for question in asked:
        started = time.perf_counter()
        engine.retrieve(question)
        out.append((time.perf_counter() - started) * 1000)
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path)
    parser.add_argument("--pairs", action="store_true")
    options = parser.parse_args()
    settings, _ = load()
    model = embedder(settings.index.embedder, threads=settings.index.threads)
    sets = {"same": SAME, "other literal part": OTHER_LITERAL, "other word": OTHER_WORDS}
    named = sets | {name: every_pair(name) for name in SETS}
    texts = dict.fromkeys(text for pairs in named.values() for pair in pairs for text in pair)
    vectors = {text: model.embed_query(text) for text in texts}
    rows = {name: compared(pairs, vectors) for name, pairs in named.items()}
    if options.pairs:
        shown = [
            (f"{p.cosine:.3f}", "words" if p.words else "literals" if p.literals else "", p.one, p.other)
            for name in sets
            for p in rows[name]
        ]
        print(table(shown, ("cosine", "same", "one", "other")), end="\n\n")
    head = ("pairs", "number", "cosine p10", "p50", "p90", "most", "≥ .9: all / literals / words", "≥ .7")
    print(table([tuple(row(name, pairs)) for name, pairs in rows.items()], head))
    if options.home is None:
        return
    with (
        Engine.open(options.home) as cached,
        Engine.open(options.home, overrides={"cache.mode": "off"}) as plain,
    ):
        names = {info.name for info in plain.documents() if info.indexed}
        asked = [item["question"] for item in questions("financebench-dev") if item["doc"] in names]
        cached.warm()
        plain.warm()
        timed(plain, asked[:2])
        timed(cached, asked[:2])
        runs: dict[str, list[float]] = {"off": [], "miss": [], "hit": []}
        for question in asked[2:]:
            runs["off"] += timed(plain, [question])
            runs["miss"] += timed(cached, [question])
            runs["hit"] += timed(cached, [question])
        base = statistics.median(runs["off"])
        steps = [
            (name, statistics.median(spent), f"{statistics.median(spent) / base:.3f}") for name, spent in runs.items()
        ]
        print()
        print(table(steps, (f"{len(asked) - 2} questions", "ms, median", "of off")))


if __name__ == "__main__":
    main()
