"""Building of structures: from the documents of a library to the facts that its trees and graphs are made of.

One document is built at a time and stored at once, so that a killed run goes on where it was. What was built once is
kept in step with the library, but for relations: only a person has a model read them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from ragcore.errors import Cancelled, InputError
from ragcore.index.model_records import ModelTexts
from ragcore.model_calls import IN_FLIGHT
from ragcore.pipelines.structures import KEPT, RELATIONS
from ragcore.progress import Progress, ignore
from ragcore.structure.extraction import PROMPT, SECONDS, asks, extract, units
from ragcore.types import Usage
from ragcore.types.spending import cost

if TYPE_CHECKING:
    from ragcore.config.settings import Settings
    from ragcore.pipelines.structures import Structures
    from ragcore.progress import IsCancelled, OnProgress
    from ragcore.providers.registry import Models
    from ragcore.structure.extraction import Extraction

INDEXED = ("graph",)  # comes with the index


@dataclass(frozen=True, slots=True)
class StructureState:
    """State of a structure: its ``documents``, ``nodes`` and ``edges``, the seconds that building it took and what it
    cost, all attempts together. ``missing`` says in words what it lacks."""

    name: str
    documents: int
    nodes: int
    edges: int
    seconds: float
    usd: float
    state: Literal["ready", "partly", "not built"]
    missing: str = ""


@dataclass(frozen=True, slots=True)
class StructureEstimate:
    """What reading the relations of a document will probably take: requests, tokens, US dollars (None: the model has no
    price) and minutes."""

    doc_id: str
    title: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    minutes: float


@dataclass(frozen=True)
class StructureBuilder:
    """Structures of one library, with the model in force. Thread-safe."""

    structures: Structures
    models: Models
    settings: Settings

    def state(self) -> tuple[StructureState, ...]:
        """State of each structure."""
        documents = self.structures.whole()
        return tuple(self._state(name, documents) for name in KEPT)

    def _state(self, name: str, documents: Mapping[str, str]) -> StructureState:
        of = self.structures
        kinds = KEPT[name].derived(of)
        lacking = {doc_id for kind in kinds for doc_id in of.indexer.lacking(kind, documents)}
        usd, missing = 0.0, list[str]()
        if name == RELATIONS:
            usd = round(self._texts("").spent_here(), 6)
            read = self._read(documents).items()
            lacking = documents.keys() - {doc_id for doc_id, each in read if each.begun}
            due = sum(each.due for doc_id, each in read if doc_id not in lacking)
            left = [each for _, each in read if each.left]
            missing += [f"parts of documents still to be read: {due}"] if due else []
            missing += [f"parts left: {sum(one.left for one in left)} ({left[0].fault})"] if left else []
        has = len(documents) - len(lacking)
        if has and lacking:
            missing.insert(0, f"documents not in it: {len(lacking)}")
        spent = of.store.derived_seconds()
        nodes, edges = KEPT[name].size(of) if has else (0, 0)
        return StructureState(
            name,
            has,
            nodes,
            edges,
            round(sum(spent.get(kind.name, 0.0) for kind in kinds), 3),
            usd,
            "not built" if not has else "partly" if missing else "ready",
            "; ".join(missing),
        )

    def build(
        self, names: Collection[str], on_progress: OnProgress = ignore, cancelled: IsCancelled | None = None
    ) -> tuple[str, ...]:
        """Build what these structures lack; returns remarks on what could not be read. Raises `InputError` for an
        unknown name, `Cancelled`; for relations `KeyMissing`, `ConfigError` (no price), and the service's error after
        several in a row."""
        notes: tuple[str, ...] = ()
        for name in self.checked(names):
            if name == RELATIONS:
                notes += self._extract(on_progress, cancelled)
            else:
                self._make([name], lambda kept: True, on_progress, cancelled)
        return notes

    def keep(self, on_progress: OnProgress = ignore, cancelled: IsCancelled | None = None) -> None:
        """Build, of every structure that was built once, what new and changed documents need; nothing is asked."""
        self._make(KEPT, bool, on_progress, cancelled)

    def _make(
        self,
        names: Collection[str],
        wants: Callable[[Mapping[str, str]], bool],
        on_progress: OnProgress,
        cancelled: IsCancelled | None,
    ) -> None:
        of, documents = self.structures, self.structures.whole()
        todo = []
        for name in names:
            for kind in KEPT[name].derived(of):
                kept = of.store.derived_marks(kind.name)
                lacking = of.indexer.lacking(kind, documents) if wants(kept) else {}
                todo += [(name, kind, one) for one in lacking if name != RELATIONS or one in kept]
        for done, (name, kind, doc_id) in enumerate(todo):
            on_progress(Progress("build", done, len(todo)))
            if cancelled is not None and cancelled():
                raise Cancelled(f"Building the structure {name} was stopped.")
            of.indexer.remade(kind, doc_id)
        if todo:
            on_progress(Progress("build", len(todo), len(todo)))

    def forget(self, names: Collection[str] = ()) -> None:
        """Delete these structures (none given: all) with the answers that were paid for, unless structure.keep_paid
        kept them. Raises `InputError` for an unknown name, and for the graph of names, which is part of the index."""
        chosen = self.checked(names) or [name for name in KEPT if name not in INDEXED]
        if fixed := [name for name in chosen if name in INDEXED]:
            raise InputError(f"The structure {fixed[0]} is part of the index.", hint="Forget the others by name.")
        of = self.structures
        of.store.forget_derived([kind.name for name in chosen for kind in KEPT[name].derived(of)])
        if RELATIONS in chosen:
            self._texts("").forget()
        of.store.touch()

    def estimate(self) -> tuple[StructureEstimate, ...]:
        """What the relations that are still missing will probably take, for each document that lacks some; nothing is
        sent. Each may cost no more than structure.max_usd, whatever is estimated."""
        of, documents, model = self.structures, self.structures.whole(), self.models.extractor_name
        read, titles, found = self._read(documents), of.store.titles(), list[StructureEstimate]()
        for doc_id in documents:
            if doc_id not in read or read[doc_id].due:
                stored = partial(self._texts(doc_id).get, model=model, prompt=PROMPT)
                due = asks(units(of.store.indexed_chunks(doc_id)), stored).values()
                usage = sum((one.usage for one in due), Usage())
                usd = cost(usage, model, self.settings.llm.prices)
                minutes = len(due) * SECONDS / IN_FLIGHT / 60
                tokens = usage.input_tokens, usage.output_tokens
                found.append(StructureEstimate(doc_id, titles.get(doc_id, ""), len(due), *tokens, usd, minutes))
        return tuple(found)

    def _extract(self, on_progress: OnProgress, cancelled: IsCancelled | None) -> tuple[str, ...]:
        of, model, notes = self.structures, self.models.extractor, list[str]()
        todo = self.estimate()
        done, total = 0, sum(one.calls for one in todo)

        def asked() -> None:
            nonlocal done
            done += 1
            on_progress(Progress("build", done, max(done, total)))

        for one in todo:
            began = time.monotonic()
            with of.store.document_lock(one.doc_id):
                found = units(of.store.indexed_chunks(one.doc_id))
                try:
                    reason = extract(
                        found,
                        doc_id=one.doc_id,
                        model=model,
                        cache=self._texts(one.doc_id),
                        settings=self.settings,
                        on_asked=asked,
                        cancelled=cancelled,
                    )
                finally:
                    of.indexer.remade(of.relations, one.doc_id, time.monotonic() - began)
                    of.store.touch()
            notes += [f"{one.title}: {reason}"] if reason else []
        return tuple(notes)

    def _read(self, documents: Mapping[str, str]) -> dict[str, Extraction]:
        """What is known of the relations of those documents that have some."""
        of = self.structures
        kept = of.store.derived_marks(RELATIONS)
        return of.indexer.derived(of.relations, {one: digest for one, digest in documents.items() if one in kept})

    def _texts(self, doc_id: str) -> ModelTexts:
        owner = None if self.settings.structure.keep_paid else doc_id
        return ModelTexts(self.structures.store.database, RELATIONS, owner)

    def checked(self, names: Collection[str]) -> list[str]:
        """``names``, each once. Raises `InputError` if there is no such structure."""
        for name in names:
            if name not in KEPT:
                raise InputError(f"There's no structure {name!r}.", hint=f"Choose one of {', '.join(KEPT)}.")
        return list(dict.fromkeys(names))
