"""What is found for the questions of published sets, as *Evaluate* measures it, beside a baseline of the same run.

    python -m benchmarks sets NAME --home DIR [-c CONFIG ...] [--structures] [--answers] [--limit N]

The set's library is made in DIR (kept, so that a second run reads and embeds nothing again) and its questions are put
there too: `groundwork --home DIR evaluate list`, and the page *Evaluate*, show the same runs, question by question.
Without ``-c`` the set's own configurations are run; ``--structures`` adds each published tree and graph. They only
search, unless ``--answers`` is given.

NAME: *financebench*, *mmlongbench*: questions on pages of PDFs, each in its document and over all of them; *musique*:
questions of several steps over paragraphs; *scifact*: claims over abstracts; *code*: questions over chunks of source
files; *refusal*: questions on filings and their likes without an answer (another document, company or year, or
nothing that any filing holds), by kind, answered.

The last columns are the difference from the first row in the first measure, with its 95% interval, and seconds a
question. Baseline of PDFs: BM25 as rank-bm25 ships it, over whole pages of plain text.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.common import data, questions, table
from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet, Evidence
from ragcore.evaluate.compare import compared
from ragcore.evaluate.measures import FIRST, of_search
from ragcore.evaluate.measures import Page as Ranked
from ragcore.evaluate.runs import Configuration, Evaluated
from ragcore.index.evaluations import Outcome
from ragcore.retrieve.hybrid import STRUCTURES
from ragcore.types import Chunk, Document, Element, Page, WordMap

ALONE = {"rerank.model": "none", "route.weight": 0.0, "agentic.decompose": "off"}  # candidates and their fusion only
SIDES = {
    "BM25": {"retrieve.mode": "bm25", **ALONE},
    "vectors": {"retrieve.mode": "vector", **ALONE},
    "meaning and words": {"retrieve.mode": "hybrid", **ALONE},
}
STEPS = {
    **SIDES,
    "automatic": ALONE,
    "connections": {"retrieve.mode": "graph", **ALONE},
    "meaning and words, reranked": {"retrieve.mode": "hybrid", "agentic.decompose": "off"},
    "the default": {},
    "connections, reranked": {"retrieve.mode": "graph"},
}
BARE = {"wording.focus": False, "wording.synonyms": False}
PAGES = {
    **{name: {**side, **BARE} for name, side in SIDES.items()},
    "+ wording": SIDES["meaning and words"],
    "+ rerank": {"retrieve.mode": "hybrid", "route.weight": 0.0, "agentic.decompose": "off"},
    "+ routing": {"retrieve.mode": "hybrid", "agentic.decompose": "off"},
    "the default": {},
}
QUICK = {**SIDES, "automatic": ALONE}
RANKS = tuple(f"evidence_at_{k}" for k in (5, 1, 10, 20))
SHARES = ("recall_at_5", "recall_at_10", "recall_at_20", "all_evidence_at_5", "all_evidence_at_10")
NDCG = ("ndcg_at_10", "recall_at_20")
REFUSAL = ("refused", "answered")
WHOLE_PAGES = "BM25, whole pages"


@dataclass(frozen=True)
class Published:
    """Set with its library: ``folder`` of PDFs of the measuring data, or ``passages`` (name, title, text). ``within``:
    each scope that it is run in; ``by_tag``: a row for each kind of question; ``answers``: they are written."""

    cases: Callable[[], Sequence[Case]]
    configurations: Mapping[str, Mapping[str, Any]]
    measures: Sequence[str]
    folder: str = ""
    passages: Callable[[], Iterable[tuple[str, str, str]]] | None = None
    within: tuple[bool, ...] = (False,)
    by_tag: bool = False
    answers: bool = False


def lines(path: str) -> list[dict[str, Any]]:
    folder, _, name = path.partition("/")
    with (data(folder) / name).open(encoding="utf-8") as rows:
        return [json.loads(row) for row in rows]


def of_file(folder: str) -> Sequence[Case]:
    """Cases with evidence: pages of a PDF, which the file counts from 0, or paragraphs by their names."""
    return [case for case in map(of_row, questions(folder)) if case.evidence]


def of_row(row: Mapping[str, Any]) -> Case:
    if "supporting" in row:
        named = tuple(map(Evidence, row["supporting"]))
        return Case(row["id"], row["question"], row["answer"], named, tag=f"{row['hops']} steps")
    pages = tuple(Evidence(row["doc"], one["page"] + 1, one["text"] or "") for one in row["evidence"])
    return Case(row["id"], row["question"], row["answer"], pages, documents=(row["doc"],))


def corpus(folder: str) -> Iterator[tuple[str, str, str]]:
    for row in lines(f"{folder}/corpus.jsonl"):
        yield str(row["id"]), row["title"], row["text"]


def judged() -> Sequence[Case]:
    """Claims with the abstracts that are relevant to them; the queries' own file names those with a verdict only."""
    relevant: dict[str, list[str]] = defaultdict(list)
    for row in (data("scifact") / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, _ = row.split("\t")
        relevant[query].append(document)
    claims = lines("scifact/queries.jsonl")
    return [Case(str(one["id"]), one["text"], "", tuple(map(Evidence, relevant[str(one["id"])]))) for one in claims]


def of_code() -> Sequence[Case]:
    asked = lines("contextual-code/questions.jsonl")
    return [Case(one["id"], one["question"], one["answer"], tuple(map(Evidence, one["golden"]))) for one in asked]


def chunks_of_code() -> Iterator[tuple[str, str, str]]:
    for file in lines("contextual-code/docs.jsonl"):
        for part in file["chunks"]:
            yield part["id"], "", part["content"]


# As the questions call the companies of the filings, others that have none there, and what no filing holds.
CALLED = (
    r"American\s+Express|American\s+Water\s+Works|Coca[\s-]Cola|CVS\s+Health|Foot\s?[Ll]ocker|General\s+Mills|Ulta\s+Beauty|"
    "Adobe|AMD|AMEX|Corning|JPM|Microsoft|Netflix|Pfizer|Verizon"
)
ABSENT = ("Boeing", "Lockheed Martin", "Nike", "Kraft Heinz", "Oracle", "Caterpillar", "Lululemon", "Etsy", "Tesla")
FOREIGN = """
Which volcano buried the city of Pompeii?
What is the boiling point of ethanol?
How many moons does Jupiter have?
How do I reset my home router?
When was the Treaty of Westphalia signed?
What was the rainfall in Nairobi in 2019?
What is the maximum tolerated dose of BMS-986158 in the phase 1 study?
What does the user have to do when the washing machine shows error E18?
What is the governing law of the lease with Harborview Estates?
What is the favourite colour of Adobe's chief executive?
How many dogs live at Microsoft's headquarters?
How many cups of coffee does General Mills serve its employees each day?
What is the capital of France?
What is the speed limit in Germany?
"""


def unanswered() -> Sequence[Case]:
    """The filings' questions, each in its document, and made ones that no document asked holds the answer to."""
    given = questions("financebench-dev")
    filings = sorted({one["doc"] for one in given})
    company = {one["doc"]: one["company"] for one in given}
    made: list[Case] = []

    def put(tag: str, text: str, doc: str = "", answerable: bool = False) -> None:
        made.append(Case(f"{len(made) + 1}", text, "", (), answerable, (doc,) if doc else (), tag=tag))

    for place, one in enumerate(given):
        text, others = one["question"], [doc for doc in filings if company[doc] != one["company"]]
        put("answered in its document", text, one["doc"], answerable=True)
        put("another document, unnamed", re.sub(CALLED, "the company", text), others[(5 * place) % len(others)])
        if re.search(CALLED, text):
            put("another document", text, others[(7 * place) % len(others)])
            put("another company", re.sub(CALLED, ABSENT[place % len(ABSENT)], text))
        if (later := moved(text, 12 if place % 2 else -14)) != text:
            put("another year", later)
    for text in FOREIGN.strip().splitlines():
        put("nothing of filings", text)
    return made


def moved(text: str, years: int) -> str:
    """``text`` with every year that many later."""
    text = re.sub(r"(?<!\d)((?:19|20)\d\d)(?!\d)", lambda match: str(int(match.group()) + years), text)
    return re.sub(r"\bFY(\d\d)\b", lambda match: f"FY{(int(match.group(1)) + years) % 100:02}", text)


SETS: Mapping[str, Published] = {
    "financebench": Published(
        lambda: of_file("financebench-dev"), PAGES, RANKS, "financebench-dev/pdfs", within=(True, False)
    ),
    "mmlongbench": Published(
        lambda: of_file("mmlongbench-dev"), PAGES, RANKS, "mmlongbench-dev/pdfs", within=(True, False)
    ),
    "musique": Published(lambda: of_file("musique-dev"), STEPS, SHARES, passages=lambda: corpus("musique-dev")),
    "scifact": Published(judged, QUICK, NDCG, passages=lambda: corpus("scifact")),
    "code": Published(of_code, {**SIDES, "the default": {}}, SHARES[:3], passages=chunks_of_code),
    "refusal": Published(
        unanswered, {"the default": {}}, REFUSAL, "financebench-dev/pdfs", within=(True,), by_tag=True, answers=True
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", choices=tuple(SETS))
    parser.add_argument("--home", type=Path, required=True, help="where the library is kept")
    parser.add_argument("-c", dest="configuration", action="append", metavar="CONFIG", help="as of `evaluate run`")
    parser.add_argument("--structures", action="store_true", help="also each published tree and graph")
    parser.add_argument("--answers", action="store_true", help="write answers, offline")
    parser.add_argument("--limit", type=int, help="the first questions only")
    options = parser.parse_args()
    published = SETS[options.name]
    ways = [Configuration(name, overrides) for name, overrides in published.configurations.items()]
    if options.configuration:
        ways = [Configuration.parsed(text) for text in options.configuration]
    if options.structures:
        ways += [Configuration(mode, {"retrieve.mode": mode, **ALONE}) for mode in STRUCTURES]
    answers = options.answers or published.answers
    with Engine.open(options.home, overrides={"llm.model": "offline"}) as engine:
        filled(engine, published)
        cases = tuple(published.cases())[: options.limit]
        name = options.name if options.limit is None else f"{options.name}, first {options.limit}"
        measured(engine, published, CaseSet(name, cases), ways, search=not answers)


def filled(engine: Engine, published: Published) -> None:
    """The set's library: what it lacks is read, or put in, and embedded."""
    if published.passages is not None:
        put(engine, published.passages())
    elif published.folder:
        folder, _, part = published.folder.partition("/")
        held = {info.name for info in engine.documents() if info.status == "ready"}
        for path in sorted((data(folder) / part).glob("*.pdf")):
            if path.name not in held:
                print(f"reading {path.name}", file=sys.stderr)
                engine.ingest(engine.add(path).doc_id)
    engine.index()


def put(engine: Engine, passages: Iterable[tuple[str, str, str]]) -> None:
    """Each passage as a document of one chunk, its title as header, under its name."""
    store, recipe = engine.store, engine._reading.recipe
    recipes = store.recipes()
    held = {info.name: info.doc_id for info in store.documents()}
    for name, title, text in passages:
        if name in held and recipes.get(held[name]) == recipe:
            continue
        given = json.dumps({"id": name, "title": title, "text": text}).encode()
        doc_id = held.get(name) or store.add_file(given, name)[0]
        words = WordMap([0], [len(text)], [1], [(0.0, 0.0, 1.0, 1.0)], [False])
        elements, pages = (Element(0, "paragraph", 0, len(text), 1),), (Page(1, "1", 1.0, 1.0),)
        document = Document(doc_id, doc_id * 4, name, title, text, len(text), words, pages, elements)
        chunk = Chunk(f"{doc_id}:0", doc_id, 0, "text", 0, len(text), text, (), title)
        store.put_document(document, [chunk], recipe=recipe)


def measured(
    engine: Engine, published: Published, given: CaseSet, ways: Sequence[Configuration], *, search: bool
) -> None:
    """A table for each scope: a row for each configuration (and kind of question), a column for each measure."""
    evaluation = engine.evaluation
    info = evaluation.put(given)
    names = (
        list(published.measures) if search or published.answers else [*published.measures, "evidence_given", "value"]
    )
    for within in published.within:
        runs = []
        for way in ways:
            print(f"{way.name}{', in its documents' if within else ''}", file=sys.stderr, flush=True)
            runs.append(evaluation.run(info.set_id, way, within, search=search))
        if published.folder and not published.by_tag:
            runs.insert(0, whole_pages(engine, runs[0]))
        rows = [row for run in runs for row in rows_of(run, runs[0], names, published.by_tag)]
        scope = ("in its document" if within else "over all of them") if len(published.within) > 1 else ""
        head = [f"{len(given.cases)} questions{f', {scope}' if scope else ''}", *map(short, names)]
        print(table(rows, [*head, f"{short(names[0])} beside the first", "seconds"]), end="\n\n", flush=True)


def short(name: str) -> str:
    return name.replace("_at_", "@").replace("_", " ")


def rows_of(run: Evaluated, first: Evaluated, names: Sequence[str], by_tag: bool) -> Iterator[list[object]]:
    tags = dict.fromkeys(case.tag for case in run.cases) if by_tag else [""]
    for tag in tags:
        part = {case.case_id: run.measures[case.case_id] for case in run.cases if tag in ("", case.tag)}
        means = replace(run, measures=part).means()
        cells: list[object] = [means[name][0] if name in means else "" for name in names]
        seconds = f"{means['seconds'][0]:.2f}" if "seconds" in means else ""
        yield [
            tag or run.info.name,
            *cells,
            "" if run is first or by_tag else difference(first, run, names[0]),
            seconds,
        ]


def difference(first: Evaluated, second: Evaluated, name: str) -> str:
    one = next(one for one in compared(first, second) if one.measure == name)
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"


def whole_pages(engine: Engine, like: Evaluated) -> Evaluated:
    """Run of the same cases by BM25 with rank-bm25's defaults over whole pages of plain text."""
    import pymupdf
    from rank_bm25 import BM25Okapi

    def terms(text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    ids = {name: info.doc_id for info in engine.documents() for name in (info.name, Path(info.name).stem)}
    texts: dict[Ranked, list[str]] = {}
    for doc_id in sorted(set(ids.values())):
        with pymupdf.open(engine.file(doc_id)) as pdf:
            texts |= {(doc_id, number): terms(page.get_text()) for number, page in enumerate(pdf, start=1)}

    @cache
    def index(doc_ids: frozenset[str]) -> tuple[list[Ranked], BM25Okapi]:
        own = [page for page in texts if page[0] in doc_ids]
        return own, BM25Okapi([texts[page] for page in own])

    outcomes, found = {}, {}
    for case in like.cases:
        asked = [ids[name] for name in case.documents] if like.info.within else ids.values()
        pages, whole = index(frozenset(asked))
        scores = whole.get_scores(terms(case.question))
        best = sorted(range(len(pages)), key=lambda row: -scores[row])[: FIRST[-1]]
        outcomes[case.case_id] = Outcome(case.case_id, None, tuple(pages[row] for row in best))
        wanted = {(ids[one.document], one.page) for one in case.evidence}
        ranks = of_search(outcomes[case.case_id], wanted)
        found[case.case_id] = {name: value for name, value in ranks.items() if name != "seconds"}
    return replace(like, info=replace(like.info, name=WHOLE_PAGES), outcomes=outcomes, measures=found)


if __name__ == "__main__":
    main()
