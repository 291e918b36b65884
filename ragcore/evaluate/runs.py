"""Runs: a configuration over a set of cases, one answer (or search) after another, each stored and never made twice.

A run is known by what its outcomes depend on: cases, settings, documents as they are indexed, writer (none for searches
alone), and this version of the code. Started again, it goes on where it ended; its measures are made anew of what is
stored.
"""

from __future__ import annotations

import csv
import io
import json
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ragcore.config.settings import flatten, toml_value
from ragcore.errors import Cancelled, ConfigError, InputError, KeyMissing, UnknownDocument
from ragcore.evaluate.cases import Case, CaseSet, read_cases
from ragcore.evaluate.claude import Estimate, estimate, judge_by, name_of
from ragcore.evaluate.judges import Judged, SupportJudge, judged, kind_of
from ragcore.evaluate.measures import MEASURES, Page, measures, of_search
from ragcore.evaluate.own import NAME, OwnSet
from ragcore.evaluate.ragchecker import CLAUDE, JUDGES, SUPPORT
from ragcore.export.sheets import safe
from ragcore.index.evaluations import OWN, EvaluationStore, Outcome, RunInfo, SetInfo
from ragcore.index.packing import pack, unpack
from ragcore.library import AskedLibrary
from ragcore.types import Answer, Retrieval
from ragcore.types.answer import Found
from ragcore.types.library import DocumentInfo
from ragcore.types.spending import MAX_USD

DEFAULT = "default"
_HINT = (
    'Write dotted settings, such as "retrieve.mode=bm25,rerank.weight=0", or default, or, for a command, @FILE.toml.'
)


@dataclass(frozen=True, slots=True)
class Configuration:
    """Named changes of settings, by dotted keys."""

    name: str
    overrides: Mapping[str, Any]

    @classmethod
    def parsed(cls, text: str) -> Configuration:
        """Configuration from what `typed` takes, or ``@FILE.toml``, under that name. Raises `ConfigError`."""
        if text.strip().startswith("@"):
            path = Path(text.strip()[1:])
            try:
                return cls(path.stem, flatten(tomllib.loads(path.read_text("utf-8"))))
            except OSError as error:
                raise ConfigError(f"{path} can't be read: {error.strerror}.", hint=_HINT) from error
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise ConfigError(f"{path} is not valid TOML: {error}.", hint=_HINT) from error
        return cls.typed(text)

    @classmethod
    def typed(cls, text: str) -> Configuration:
        """Configuration from ``default`` or ``key=value,key=value``; no file is read. Raises `ConfigError`."""
        text = text.strip()
        if text == DEFAULT:
            return cls(DEFAULT, {})
        parts = [part.partition("=") for part in text.split(",")]
        if not all(key.strip() and sign for key, sign, _ in parts):
            raise ConfigError(f"{text!r} is no configuration.", hint=_HINT)
        return cls(text, {key.strip(): toml_value(value.strip()) for key, _, value in parts})


@dataclass(frozen=True)
class Evaluated:
    """Run with the measures of each of its cases (`MEASURES`), in the set's order; of each kind of judge the one that
    was asked last, and what it ``judged``, by case."""

    info: RunInfo
    cases: tuple[Case, ...]
    outcomes: Mapping[str, Outcome]
    measures: Mapping[str, Mapping[str, float]]
    judges: Mapping[str, str] = field(default_factory=dict)
    judged: Mapping[str, Mapping[str, Judged]] = field(default_factory=dict)

    def means(self) -> dict[str, tuple[float, int]]:
        """Mean of each measure over the cases that define it, and their number."""
        columns = {name: [of[name] for of in self.measures.values() if name in of] for name in MEASURES}
        return {name: (sum(values) / len(values), len(values)) for name, values in columns.items() if values}

    def to_csv(self) -> str:
        """A line for each case: question, reference, answer, error, and its measures."""
        out, names = io.StringIO(), list(self.means())
        writer = csv.writer(out)
        writer.writerow(["id", "question", "reference", "answer", "error", *names])
        for case in self.cases:
            outcome = self.outcomes.get(case.case_id)
            if outcome is not None:
                answer = "" if outcome.answer is None else outcome.answer.text
                values = [self.measures[case.case_id].get(name, "") for name in names]
                error = outcome.error["message"] if outcome.error else ""
                texts = (case.case_id, case.question, case.answer, answer, error)
                writer.writerow([*map(safe, texts), *values])
        return out.getvalue()


class Evaluation:
    """Evaluation of one library. Safe for threads, and for processes: two that do one run share its work."""

    def __init__(self, library: AskedLibrary) -> None:
        self._library = library
        self._store = EvaluationStore(library.store.database)
        self.own = OwnSet(library)

    def add(self, path: Path, form: str = "") -> SetInfo:
        """Store a set from a file. Raises `InputError` that names the line at fault."""
        return self.put(read_cases(path, form))

    def put(self, given: CaseSet, *, own: bool = False) -> SetInfo:
        """Store a set."""
        data = pack(given.cases, tuple[Case, ...])
        self._store.put_set(given.digest, given.name, len(given.cases), data, own=own)
        return next(info for info in self._store.sets() if info.set_id == given.digest)

    def sets(self) -> list[SetInfo]:
        """Sets, newest first: one's own once, as it is now, then those stored."""
        stored, own = self._store.sets(), self.own.all()
        found = [info for info in stored if not info.own]
        if not own and len(found) == len(stored):
            return found
        return [SetInfo(OWN, NAME, len(own), own[-1].created if own else 0.0, own=True), *found]

    def find(self, name: str) -> SetInfo:
        """Set by its id's beginning or its name, the newest of several; one's own, if it has questions, is stored as it
        is now. Raises `InputError`."""
        cases = self.own.cases(quotes=False) if name in (OWN, NAME) else ()
        if cases:  # without the words of evidence: they are kept in one place, from which they can be deleted
            return self.put(CaseSet(NAME, cases), own=True)
        for info in self._store.sets():
            if (name == info.name and not info.own) or (len(name) >= 4 and info.set_id.startswith(name)):
                return info
        if name in (OWN, NAME):
            raise InputError(f"“{NAME}” is empty.", hint="Keep an answer of a conversation as a test question.")
        raise InputError(f"There is no set {name!r}.", hint="Import it: `groundwork evaluate import FILE`.")

    def read(self, name: str) -> CaseSet:
        """Set with all that is known of its cases, to be written to a file. Raises `InputError`."""
        cases = self.own.cases(quotes=True) if name in (OWN, NAME) else ()
        if cases:
            return CaseSet(NAME, cases)
        info = self.find(name)
        return CaseSet(info.name, self.cases(info.set_id))

    def cases(self, set_id: str) -> tuple[Case, ...]:
        return unpack(self._store.cases(set_id), tuple[Case, ...])

    def info(self, run: str) -> RunInfo:
        """Run by its id, or the beginning of it. Raises `UnknownRun`."""
        return self._store.run(run)

    def run_id(self, set_id: str, configuration: Configuration, within: bool = False, search: bool = False) -> str:
        """Id of a run, made or not: a digest of all that its outcomes depend on. Raises `ConfigError`."""
        engine = self._library.with_settings(configuration.overrides)
        return self._identity(engine, set_id, within, _writer(engine, search))

    def runs(self, set_id: str = "") -> list[RunInfo]:
        """Runs, newest first; of one set, or of all."""
        return self._store.runs(set_id)

    def run(
        self,
        set_id: str,
        configuration: Configuration,
        within: bool = False,
        search: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Evaluated:
        """Do what is left of a run. ``within``: each question is asked of its case's documents only, where it names
        some. ``search``: no answer is written, only hits are measured. What failed is tried again. Raises
        `ConfigError`, `Cancelled` and what stops every answer."""
        engine = self._library.with_settings(configuration.overrides)
        cases, documents = self.cases(set_id), _Documents(engine.documents())
        writer = _writer(engine, search)
        run_id = self._identity(engine, set_id, within, writer)
        columns = {
            "name": configuration.name,
            "config": dict(configuration.overrides),
            "settings_hash": engine.settings.hash(),
            "within": within,
            "writer": writer,
        }
        self._store.put_run(run_id, set_id, columns)
        self._take_over(engine, run_id, cases, within, writer)
        for number, case in enumerate(cases):
            if on_progress is not None:
                on_progress(number, len(cases))
            if cancelled is not None and cancelled():
                raise Cancelled(
                    f"The run was stopped after {number} of {len(cases)} questions.", hint="Start it again to go on."
                )
            if case.case_id not in self._store.done(run_id):  # another process may have asked it meanwhile
                self._store.put(run_id, _outcome(engine, case, documents, within=within, search=search))
        self._store.end(run_id)
        return self.evaluated(run_id)

    def evaluated(self, run: str, case_id: str = "") -> Evaluated:
        """Run by its id, or the beginning of it, with its measures: of one case, or of all. Raises `UnknownRun`."""
        info = self._store.run(run)
        cases, outcomes = self.cases(info.set_id), self._store.outcomes(info.run_id, case_id)
        documents, read = _Documents(self._library.documents()), cache(self._library.document)
        found = {}
        for case in cases:
            outcome = outcomes.get(case.case_id)
            if outcome is not None and info.searched:
                found[case.case_id] = of_search(outcome, documents.places(case))
            elif outcome is not None:
                found[case.case_id] = measures(
                    case, outcome, documents.places(case), read, self._library.settings.verify
                )
        kept = self._store.judged(info.run_id)
        judges = {kind_of(judge): judge for judge in kept}
        judged_by = {
            kind: {one: unpack(data, Judged) for one, data in kept[judge].items() if case_id in ("", one)}
            for kind, judge in judges.items()
        }
        for kind, each in judged_by.items():
            for one, verdicts in each.items():
                found[one] |= {f"ragchecker.{kind}.{name}": v for name, v in verdicts.checked.metrics().items()}
        return Evaluated(info, cases, outcomes, found, judges, judged_by)

    def judge(
        self,
        run: str,
        by: str = SUPPORT,
        max_usd: float = MAX_USD,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Evaluated:
        """Have a judge of the kind ``by`` (`JUDGES`) judge those answers of a run that have a reference and that it has
        not judged; a model's replies may cost ``max_usd``. Raises `InputError`, `UnknownRun`, `StoreBusy`,
        `KeyMissing`, `Cancelled`, and what `judge_by` raises."""
        if by not in JUDGES:
            raise InputError(f"There is no judge {by!r}.", hint=f"Choose one of {', '.join(JUDGES)}.")
        info, settings, models = self._store.run(run), self._library.settings, self._library.models
        rules = SupportJudge(settings.verify)
        model = models.planner if by == CLAUDE and models.capabilities.tools else None
        if by == CLAUDE and model is None:
            hint = "Set ANTHROPIC_API_KEY, add a key in the app's Settings, or judge by the support score."
            raise KeyMissing("Claude judges claims, and no Claude model is set.", hint=hint)
        name = rules.name if model is None else name_of(model.name)
        with self._library.store.database.locked(info.run_id, "This run is being judged right now."):
            todo = self._unjudged(info, name)
            self._store.put_last(info.run_id, name)
            if model is not None:
                judge_by(model, todo, info.run_id, self._store, settings, max_usd, on_progress, cancelled)
                return self.evaluated(info.run_id)
            for number, (case, answer) in enumerate(todo):
                on_progress(number, len(todo))
                if cancelled is not None and cancelled():
                    raise Cancelled("Judging was stopped.", hint="Judge again to go on.")
                found = judged(case, answer, rules)
                self._store.put_judged(info.run_id, case.case_id, name, pack(found, Judged))
        return self.evaluated(info.run_id)

    def estimate(self, run: str) -> Estimate:
        """What `judge` by Claude will probably take; nothing is sent. Raises `UnknownRun`."""
        info, model = self._store.run(run), self._library.models.extractor_name
        todo = self._unjudged(info, name_of(model))
        return estimate(todo, model, self._store, self._library.settings.llm.prices)

    def _unjudged(self, info: RunInfo, judge: str) -> list[tuple[Case, Answer]]:
        """Cases with a reference whose answer this judge hasn't judged. Raises `InputError` if none has a reference."""
        if info.searched:
            raise InputError(f"The run {info.run_id} only searched: it has no answers.", hint="Run it with answers.")
        outcomes, known = self._store.outcomes(info.run_id), self._store.judged(info.run_id).get(judge, {})
        found = [
            (case, outcome.answer)
            for case in self.cases(info.set_id)
            if case.answerable and case.answer and (outcome := outcomes.get(case.case_id)) is not None
            if outcome.answer is not None and outcome.error is None
        ]
        if not found:
            hint = "Give the questions reference answers, and run the set."
            raise InputError(f"The run {info.run_id} has no answer with a reference to judge it by.", hint=hint)
        return [(case, answer) for case, answer in found if case.case_id not in known]

    def _take_over(self, engine: AskedLibrary, run_id: str, cases: Sequence[Case], within: bool, writer: str) -> None:
        """Copy what other sets' runs, all else being equal, answered to the same questions."""
        asked, runs = {case.case_id: _asked(case) for case in cases}, {info.run_id for info in self._store.runs()}
        for info in self._store.sets():
            other = self._identity(engine, info.set_id, within, writer)
            if other != run_id and other in runs:
                same = [one.case_id for one in self.cases(info.set_id) if asked.get(one.case_id) == _asked(one)]
                self._store.take_over(run_id, other, same)

    def _identity(self, engine: AskedLibrary, set_id: str, within: bool, writer: str) -> str:
        indexed = sorted(engine.store.searchable().items())
        parts = [set_id, engine.settings.hash(), writer, within, indexed, _build()]
        return blake2b(json.dumps(parts).encode(), digest_size=6).hexdigest()


class _Documents:
    """Documents of a library, by what a set calls them: file names, with or without an ending, or ids."""

    def __init__(self, infos: Sequence[DocumentInfo]) -> None:
        self._ids: dict[str, str] = {}
        for info in infos:
            for name in (info.doc_id, info.name, Path(info.name).stem):
                self._ids.setdefault(name, info.doc_id)

    def find(self, name: str) -> str | None:
        return self._ids.get(name) or self._ids.get(Path(name).stem)

    def places(self, case: Case) -> set[Page]:
        """Evidence pages of a case that are in the library."""
        return {(doc_id, one.page) for one in case.evidence if (doc_id := self.find(one.document)) is not None}


def _asked(case: Case) -> tuple[str, tuple[str, ...], frozenset[str]]:
    """All of a case that its outcome depends on."""
    return case.question, case.documents, frozenset(one.document for one in case.evidence)


def _writer(engine: AskedLibrary, search: bool) -> str:
    return "" if search else engine.models.writer_name


def _outcome(engine: AskedLibrary, case: Case, documents: _Documents, *, within: bool, search: bool) -> Outcome:
    ids = {name: documents.find(name) for name in (*case.documents, *(one.document for one in case.evidence))}
    named = [doc_id for doc_id in ids.values() if doc_id is not None]
    if len(named) < len(ids):
        lacking = next(name for name, doc_id in ids.items() if doc_id is None)
        hint = "Add it in the Library, then run the set again."
        return Outcome(case.case_id, error=UnknownDocument(f"{lacking} isn't in the library.", hint=hint).as_dict())
    scope = named if within and case.documents else None
    started = time.perf_counter()
    if search:
        hits = engine.retrieve(case.question, doc_ids=scope)
        spent = time.perf_counter() - started
        return Outcome(case.case_id, None, tuple(_pages(engine, hits)), None, spent)
    asking = engine.ask(case.question, doc_ids=scope)
    pages: dict[Page, None] = {}
    for event in asking:
        if isinstance(event, Found):
            pages = _pages(engine, event.retrieval)
    answer = asking.answer
    assert answer is not None  # a stream always ends with one
    failed = answer.error if answer.status == "failed" else None
    spent = time.perf_counter() - started
    return Outcome(case.case_id, answer, tuple(pages), None if failed is None else dict(failed), spent)


def _pages(engine: AskedLibrary, found: Retrieval) -> dict[Page, None]:
    """Distinct pages of the hits, best first."""
    pages: dict[Page, None] = {}
    for hit in found.hits:
        chunk = hit.chunk
        pages |= dict.fromkeys(
            (chunk.doc_id, page) for page in engine.document(chunk.doc_id).pages_of(chunk.start, chunk.end)
        )
    return pages


@cache
def _build() -> str:
    """Digest of this version of the package."""
    digest = blake2b(digest_size=8)
    root = Path(__file__).resolve().parents[1]
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".toml", ".sql"):
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
