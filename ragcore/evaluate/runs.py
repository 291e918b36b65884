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
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from pydantic import TypeAdapter

from ragcore.config.settings import Settings, flatten
from ragcore.errors import Cancelled, ConfigError, InputError, UnknownDocument
from ragcore.evaluate.cases import Case, CaseSet, read_cases
from ragcore.evaluate.measures import MEASURES, Page, measures, of_search
from ragcore.export.sheets import safe
from ragcore.index.evaluations import EvaluationStore, Outcome, RunInfo, SetInfo
from ragcore.index.store import Store
from ragcore.providers.registry import Models
from ragcore.types import Answer, Document, Retrieval
from ragcore.types.answer import Found
from ragcore.types.library import DocumentInfo

DEFAULT = "default"
_HINT = 'Write dotted settings, such as "retrieve.mode=bm25,rerank.weight=0", or @FILE.toml, or default.'


class Asking(Protocol):
    """Answer in the making: iterate it for its events; ``answer`` is final at its end."""

    answer: Answer | None

    def __iter__(self) -> Any: ...


class AskedLibrary(Protocol):
    """Library that answers questions under its settings, as an engine does."""

    @property
    def settings(self) -> Settings: ...
    @property
    def models(self) -> Models: ...
    @property
    def store(self) -> Store: ...
    def documents(self) -> list[DocumentInfo]: ...
    def document(self, doc_id: str) -> Document: ...
    def with_settings(self, overrides: Mapping[str, Any]) -> AskedLibrary: ...
    def ask(self, question: str, *, doc_ids: Sequence[str] | None = None) -> Asking: ...
    def retrieve(self, query: str, *, doc_ids: Sequence[str] | None = None) -> Retrieval: ...


@dataclass(frozen=True, slots=True)
class Configuration:
    """Named changes of settings, by dotted keys."""

    name: str
    overrides: Mapping[str, Any]

    @classmethod
    def parsed(cls, text: str) -> Configuration:
        """Configuration from ``default``, ``key=value,key=value`` or ``@FILE.toml``, under that name. Raises
        `ConfigError`."""
        text = text.strip()
        if text == DEFAULT:
            return cls(DEFAULT, {})
        if text.startswith("@"):
            path = Path(text[1:])
            try:
                return cls(path.stem, flatten(tomllib.loads(path.read_text("utf-8"))))
            except OSError as error:
                raise ConfigError(f"{path} can't be read: {error.strerror}.", hint=_HINT) from error
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise ConfigError(f"{path} is not valid TOML: {error}.", hint=_HINT) from error
        parts = [part.partition("=") for part in text.split(",")]
        if not all(key.strip() and sign for key, sign, _ in parts):
            raise ConfigError(f"{text!r} is no configuration.", hint=_HINT)
        return cls(text, {key.strip(): _value(value.strip()) for key, _, value in parts})


def _value(text: str) -> Any:
    """TOML value, or the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


@dataclass(frozen=True)
class Evaluated:
    """Run with the measures of each of its cases (`MEASURES`), in the set's order."""

    info: RunInfo
    cases: tuple[Case, ...]
    outcomes: Mapping[str, Outcome]
    measures: Mapping[str, Mapping[str, float]]

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

    def add(self, path: Path, form: str = "") -> SetInfo:
        """Store a set from a file. Raises `InputError` that names the line at fault."""
        return self.put(read_cases(path, form))

    def put(self, given: CaseSet) -> SetInfo:
        """Store a set."""
        data = zlib.compress(TypeAdapter(tuple[Case, ...]).dump_json(given.cases))
        self._store.put_set(given.digest, given.name, len(given.cases), data)
        return next(info for info in self._store.sets() if info.set_id == given.digest)

    def sets(self) -> list[SetInfo]:
        """Stored sets, newest first."""
        return self._store.sets()

    def find(self, name: str) -> SetInfo:
        """Stored set by its id's beginning or its name, the newest of several. Raises `InputError`."""
        for info in self.sets():
            if name == info.name or (len(name) >= 4 and info.set_id.startswith(name)):
                return info
        raise InputError(f"There is no set {name!r}.", hint="Import it: `groundwork evaluate import FILE`.")

    def cases(self, set_id: str) -> tuple[Case, ...]:
        data = zlib.decompress(self._store.cases(set_id))
        return TypeAdapter(tuple[Case, ...]).validate_json(data)

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
        known = self._store.done(run_id)
        for number, case in enumerate(cases):
            if on_progress is not None:
                on_progress(number, len(cases))
            if cancelled is not None and cancelled():
                raise Cancelled(
                    f"The run was stopped after {number} of {len(cases)} questions.", hint="Start it again to go on."
                )
            if case.case_id not in known:
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
        return Evaluated(info, cases, outcomes, found)

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

    def find(self, name: str) -> str:
        """Raises `UnknownDocument`."""
        found = self._ids.get(name) or self._ids.get(Path(name).stem)
        if found is None:
            raise UnknownDocument(
                f"{name} isn't in the library.", hint="Add it in the Library, then run the set again."
            )
        return found

    def places(self, case: Case) -> set[Page]:
        """Evidence pages of a case that are in the library."""
        found = set()
        for one in case.evidence:
            try:
                found.add((self.find(one.document), one.page))
            except UnknownDocument:
                continue
        return found


def _writer(engine: AskedLibrary, search: bool) -> str:
    return "" if search else engine.models.writer_name


def _outcome(engine: AskedLibrary, case: Case, documents: _Documents, *, within: bool, search: bool) -> Outcome:
    try:
        named = [
            documents.find(name) for name in dict.fromkeys([*case.documents, *(one.document for one in case.evidence)])
        ]
    except UnknownDocument as error:
        return Outcome(case.case_id, None, (), error.as_dict(), 0.0)
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
