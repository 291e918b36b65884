"""The heavy parts of an engine, each made once, on first use, by the names in the settings."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragcore.config.settings import Settings
from ragcore.errors import KeyMissing
from ragcore.providers.paid import Billing, PaidContextWriter, PaidDescriber, PaidPlanner, PaidWriter

if TYPE_CHECKING:
    from ragcore.protocols import (
        LLM,
        ContextWriter,
        Describer,
        Embedder,
        Planner,
        QuestionAnalyser,
        Reranker,
        VectorStore,
    )

T = TypeVar("T")

SECRETS = ("ANTHROPIC_API_KEY", "ANTHROPIC_CUSTOM_HEADERS")  # for the machine's own server


class Models:
    """Embedder, reranker, vector store and writer. Safe for threads: only one thread makes a part.

    Each raises `ModelError` where it cannot be had; nothing stands in for it.
    """

    def __init__(self, settings: Settings, cache: Path, billing: Billing, *, api_key: str | None = None) -> None:
        self._settings = settings
        self._cache = cache
        self._billing = billing
        # Held in a closure, so that no repr, log or pickle of this object can show the key.
        self._environ: Callable[[], Mapping[str, str]] = lambda: _with_key(api_key)
        self._own = _Parts()
        self._shared = _Parts()

    def under(self, settings: Settings, billing: Billing, *, api_key: str | None = None) -> Models:
        """The same parts under other ``settings`` and another key (None: this one's). What is loaded from files is
        loaded once for both. A key that was given for one server is never sent to another."""
        made = copy.copy(self)
        made._settings, made._billing, made._own = settings, billing, _Parts()
        elsewhere = settings.llm.base_url != self._settings.llm.base_url
        if elsewhere or api_key is not None:
            made._environ = lambda: _with_key(api_key, elsewhere=elsewhere)
        return made

    @property
    def embedder(self) -> Embedder:
        from ragcore import providers

        index = self._settings.index
        return self._shared.part("embedder", lambda: providers.embedder(index.embedder, threads=index.threads))

    @property
    def reranker(self) -> Reranker | None:
        from ragcore import providers

        model, threads = self._settings.rerank.model, self._settings.index.threads
        return self._shared.part(f"reranker {model}", lambda: providers.reranker(model, threads=threads))

    @property
    def vector_store(self) -> VectorStore:
        from ragcore.index.vectors import vector_store

        kind = self._settings.index.vector_store
        return self._shared.part("vector_store", lambda: vector_store(kind, self._cache / kind))

    @property
    def writer(self) -> LLM:
        from ragcore.providers.writers import writer

        settings = self._settings

        def make() -> LLM:
            made = writer(
                settings.llm, environ=self._environ(), reranker=self.reranker, settings_answer=settings.answer
            )
            return made if made.extractive else PaidWriter(made, self._billing)

        return self._own.part("writer", make)

    @property
    def section_writer(self) -> LLM:
        """What writes the sections of reports: the writer, or quotes under each requirement where that only quotes."""
        from ragcore.offline.sections import OfflineSections

        writer = self.writer
        if not writer.extractive:
            return writer
        reranker = self.reranker
        return self._own.part("section_writer", lambda: OfflineSections(reranker, self._settings.answer))

    @property
    def analyser(self) -> QuestionAnalyser:
        """What reads questions."""
        from ragcore.offline.question import RuleAnalyser

        return self._shared.part("analyser", RuleAnalyser)

    @property
    def describer(self) -> Describer | None:
        """What describes figures; None where ``figures.describe`` is off or the model in force is no Claude."""
        if self._settings.figures.describe == "off":
            return None
        from ragcore.providers.writers import describer

        def make() -> Describer | None:
            made = describer(self._settings.llm, environ=self._environ())
            return None if made is None else PaidDescriber(made, self._billing)

        return self._own.part("describer", make)

    @property
    def planner(self) -> Planner | None:
        """What plans searches; None where the model in force is the offline writer."""
        from ragcore.providers.writers import planner

        def make() -> Planner | None:
            made = planner(self._settings.llm, environ=self._environ())
            return None if made is None else PaidPlanner(made, self._billing)

        return self._own.part("planner", make)

    @property
    def context_writer(self) -> ContextWriter | None:
        """What writes summaries and situating sentences; None where the model in force is no Claude and
        ``context.situate`` does not ask for one. Raises `KeyMissing` where it does."""
        from ragcore.providers.writers import context_writer

        chosen = self._settings.context

        def make() -> ContextWriter | None:
            made = context_writer(self._settings.llm, chosen.model, environ=self._environ())
            return None if made is None else PaidContextWriter(made, self._billing)

        made = self._own.part("context_writer", make)
        if made is None and chosen.situate == "claude":
            raise KeyMissing("context.situate needs Claude, and no Claude model is set.")
        return made

    @property
    def context_model(self) -> str:
        """The Claude that writes, or would write if it were in force, summaries and situating sentences."""
        name = self._settings.context.model or self.writer_name
        return name if name.startswith("claude") else self._settings.llm.claude_model

    @property
    def writer_name(self) -> str:
        """``offline`` or the model that would answer now; nothing is loaded."""
        from ragcore.providers.writers import resolve

        return resolve(self._settings.llm, self._environ())

    @property
    def server(self) -> str:
        """The address of the server that writes, or ``offline``."""
        return self._account()[0]

    def same_account(self, other: Models) -> bool:
        """Whether both ask the same server with the same key."""
        return self._account() == other._account()

    def _account(self) -> tuple[str, str]:
        from ragcore.providers.writers import account

        return account(self._settings.llm, self._environ())


class _Parts:
    """Parts by name, each made once."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._made: dict[str, Any] = {}

    def part(self, name: str, make: Callable[[], T]) -> T:
        with self._lock:
            if name not in self._made:
                self._made[name] = make()
            part: T = self._made[name]
            return part


def _with_key(api_key: str | None, *, elsewhere: bool = False) -> Mapping[str, str]:
    """The environment, with ``api_key`` if there is one; for a server ``elsewhere`` without the secrets of this one."""
    given = {name: value for name, value in os.environ.items() if not elsewhere or name not in SECRETS}
    return {**given, "ANTHROPIC_API_KEY": api_key} if api_key and api_key.strip() else given
