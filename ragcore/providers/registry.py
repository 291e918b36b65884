"""Model registry: models by name, and those of an engine, each created once, on first use, by the names in the
settings; and the choice of writer: Claude, a model on a self-hosted server, or the offline writer.

A local model is named ``provider:model``, for example ``bundled:bge-small-en-v1.5`` or
``sentence-transformers:BAAI/bge-small-en-v1.5``; its libraries are loaded on first use. Naming the writer (`resolve`)
loads nothing: the app does so before it draws its first page.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ragcore.config.settings import LlmSettings, Settings
from ragcore.errors import KeyMissing, KeyRefused, ModelMissing, StreamBroken
from ragcore.protocols import Capabilities, Message, ModelRequest, RememberedReranker
from ragcore.providers import bundled, sentence_transformers
from ragcore.providers.anthropic import DEFAULT_BASE_URL, AnthropicModel, capabilities_of
from ragcore.providers.paid import Billing, PaidModel
from ragcore.types import OFFLINE

if TYPE_CHECKING:
    from ragcore.protocols import (
        LLM,
        Embedder,
        Entailment,
        FieldReader,
        QuestionAnalyser,
        QuestionWording,
        Reranker,
        TextStream,
    )

T = TypeVar("T")

PROVIDERS = ("bundled", "sentence-transformers")
SECRETS = ("ANTHROPIC_API_KEY", "ANTHROPIC_CUSTOM_HEADERS")  # for the machine's own server


class Models:
    """Embedder, reranker and writer. Safe for threads: only one thread creates a part.

    Each raises `ModelError` if it is unavailable; nothing replaces it.
    """

    def __init__(self, settings: Settings, billing: Billing, *, api_key: str | None = None) -> None:
        self._settings = settings
        self._billing = billing
        # Held in a closure, so that no repr, log or pickle of this object can show the key.
        self._environ: Callable[[], Mapping[str, str]] = lambda: _with_key(api_key)
        self._own = _Parts()
        self._shared = _Parts()
        self._read_by: Callable[..., Reranker | None] = lambda shared: shared

    def under(self, settings: Settings, billing: Billing, *, api_key: str | None = None) -> Models:
        """The same parts under other ``settings`` and another key (None: this one's). Parts loaded from files are
        shared. A key given for one server is never sent to another."""
        made = copy.copy(self)
        made._settings, made._billing, made._own = settings, billing, _Parts()
        elsewhere = settings.llm.base_url != self._settings.llm.base_url
        if elsewhere or api_key is not None:
            made._environ = lambda: _with_key(api_key, elsewhere=elsewhere)
        return made

    def once(self) -> Models:
        """The same parts for one question: the reranker reads each passage once."""
        made = copy.copy(self)
        made._read_by = cache(lambda shared: None if shared is None else RememberedReranker(shared))
        return made

    @property
    def embedder(self) -> Embedder:
        index = self._settings.index
        return self._shared.part(f"embedder {index.embedder}", lambda: embedder(index.embedder, threads=index.threads))

    @property
    def reranker(self) -> Reranker | None:
        model, threads = self._settings.rerank.model, self._settings.index.threads
        return self._read_by(self._shared.part(f"reranker {model}", lambda: reranker(model, threads=threads)))

    @property
    def entailment(self) -> Entailment | None:
        model, threads = self._settings.verify.entailment, self._settings.index.threads
        return self._shared.part(f"entailment {model}", lambda: entailment(model, threads=threads))

    @property
    def writer(self) -> LLM:
        """Writer of answers: the current model, or the offline writer. Raises as `anthropic_model` does."""
        if self.capabilities.extractive:
            from ragcore.offline.writer import OfflineWriter

            return OfflineWriter(self.reranker, self._settings.answer)
        return self._model(self.writer_name)

    @property
    def section_writer(self) -> LLM:
        """Writer of report sections: the writer, or quotes under each requirement if that only quotes."""
        if not self.capabilities.extractive:
            return self.writer
        from ragcore.offline.sections import OfflineSections

        return OfflineSections(self.reranker, self._settings.answer)

    @property
    def fields(self) -> FieldReader:
        """Reader of report fields."""
        from ragcore.offline.sections import RuleFields

        return self._shared.part("fields", RuleFields)

    @property
    def analyser(self) -> QuestionAnalyser:
        """Question analyser."""
        from ragcore.offline.question import RuleAnalyser

        return self._shared.part("analyser", RuleAnalyser)

    @property
    def wording(self) -> QuestionWording:
        """Wording of questions about a document."""
        from ragcore.offline import wording

        return wording

    @property
    def describes_figures(self) -> bool:
        """Whether ingest sends pictures of figures to the current model."""
        return self._settings.figures.describe != "off" and self.capabilities.vision

    @property
    def describer(self) -> LLM | None:
        """Model that describes figures, if one does."""
        return self._model(self.writer_name) if self.describes_figures else None

    @property
    def planner(self) -> LLM | None:
        """Model that fills in forms; None if the current writer is the offline one."""
        return None if self.capabilities.extractive else self._model(self.writer_name)

    @property
    def writes_contexts(self) -> bool:
        """Whether ingest sends text to the current model for summaries or situating sentences."""
        chosen = self._settings.context
        return (chosen.document_summary or chosen.situate == "claude") and self.capabilities.prompt_cache

    @property
    def context_writer(self) -> LLM:
        """Writer of summaries and situating sentences. Raises `KeyMissing` if the current model has no prompt cache."""
        if not self.capabilities.prompt_cache:
            raise KeyMissing("[context] needs Claude, and no Claude model is set.")
        return self._model(self._settings.context.model or self.writer_name)

    @property
    def extractor(self) -> LLM:
        """Reader of entities and relations. Raises `KeyMissing` if the current model is not Claude."""
        if not self.capabilities.tools:
            hint = "Set ANTHROPIC_API_KEY, or add a key in the app's Settings."
            raise KeyMissing("Relations are read by Claude, and no Claude model is set.", hint=hint)
        return self._model(self.extractor_name)

    @property
    def extractor_name(self) -> str:
        """Claude that reads relations, or would with a key; nothing is loaded."""
        return self.writer_name if self.capabilities.tools else self._settings.llm.claude_model

    @property
    def writer_name(self) -> str:
        """``offline`` or the model that would answer now; nothing is loaded."""
        return resolve(self._settings.llm, self._environ())

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the current model; nothing is loaded."""
        name = self.writer_name
        return Capabilities(extractive=True) if name == OFFLINE else capabilities_of(name)

    @property
    def server(self) -> str:
        """Address of the writer's server, or ``offline``."""
        return account(self._settings.llm, self._environ())[0]

    def same_account(self, other: Models) -> bool:
        """Whether both use the same server with the same key."""
        return account(self._settings.llm, self._environ()) == account(other._settings.llm, other._environ())

    def _model(self, name: str) -> LLM:
        """Model by name, with booking. Raises `KeyMissing` if there is neither a key nor a self-hosted server
        (``llm.base_url`` or ``ANTHROPIC_BASE_URL``), which may need none, and `KeyRefused` for a key that cannot be
        sent."""

        def make() -> LLM:
            return PaidModel(anthropic_model(name, self._settings.llm, self._environ()), self._billing)

        return self._own.part(f"model {name}", make)


def resolve(settings: LlmSettings, environ: Mapping[str, str]) -> str:
    """Name of the writer that ``llm.model`` selects: ``offline`` or a model's name."""
    if settings.model == "auto":
        return settings.claude_model if _key(environ) else OFFLINE
    return settings.claude_model if settings.model == "claude" else settings.model


def account(settings: LlmSettings, environ: Mapping[str, str]) -> tuple[str, str]:
    """Address of the writer's server and the key it is sent; ``offline`` and "" without a server."""
    if resolve(settings, environ) == OFFLINE:
        return OFFLINE, ""
    return settings.base_url or environ.get("ANTHROPIC_BASE_URL") or DEFAULT_BASE_URL, _key(environ)


def anthropic_model(name: str, settings: LlmSettings, environ: Mapping[str, str]) -> AnthropicModel:
    """Model ``name`` of the service. The key is read at this moment. Raises `KeyMissing`, `KeyRefused`."""
    base_url, key = account(settings, environ)
    if not (key.isascii() and key.isprintable()):
        # Sent, it would fail like a network error, in an error that holds the key.
        raise KeyRefused(
            "ANTHROPIC_API_KEY isn't a valid key.",
            hint="Copy the key again, on one line, and set ANTHROPIC_API_KEY to it.",
        )
    if not key and base_url == DEFAULT_BASE_URL:
        raise KeyMissing(f"{name} needs a key, and ANTHROPIC_API_KEY isn't set.")
    return AnthropicModel(
        name,
        api_key=key or "none",
        base_url=base_url,
        timeout_seconds=settings.timeout_seconds,
        retries=settings.retries,
        custom_headers="ANTHROPIC_CUSTOM_HEADERS" in environ,
    )


def _key(environ: Mapping[str, str]) -> str:
    """Key without copied white space; "" without one."""
    return environ.get("ANTHROPIC_API_KEY", "").strip()


def trial(models: Models) -> TextStream:
    """Send the smallest request to the current writer, booked like any other, to test key and model; returns its
    stream, read to the end. Raises the `ModelError` that an answer would meet."""
    asked = Message("Reply with the one word: ready")
    stream = models.writer.stream(ModelRequest(messages=(asked,), max_tokens=16, fresh=True))
    try:
        list(stream)
    except StreamBroken:
        # A working model that writes more than asked is cut off at so few tokens.
        if not stream.usage.output_tokens:
            raise
    return stream


class _Parts:
    """Parts by name, each created once."""

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
    """Environment with ``api_key`` if there is one; for a server ``elsewhere`` without the secrets of this one."""
    given = {name: value for name, value in os.environ.items() if not elsewhere or name not in SECRETS}
    return {**given, "ANTHROPIC_API_KEY": api_key} if api_key and api_key.strip() else given


def embedder(name: str, *, threads: int = 0) -> Embedder:
    """Embedder named ``provider:model``, ready to run; ``threads`` of 0 means one per core.

    Raises `ModelMissing` that names the known ones, or `ModelDamaged`.
    """
    provider, model = _split(name, "index.embedder")
    if provider == "bundled":
        return bundled.BundledEmbedder(model, threads=threads)
    return sentence_transformers.SentenceTransformersEmbedder(model, threads=threads)


def reranker(name: str, *, threads: int = 0) -> Reranker | None:
    """Reranker named ``provider:model``, ready to run, or None for ``none``.

    Raises `ModelMissing` that names the known ones, or `ModelDamaged`.
    """
    if name == "none":
        return None
    provider, model = _split(name, "rerank.model")
    if provider == "bundled":
        return bundled.BundledReranker(model, threads=threads)
    return sentence_transformers.SentenceTransformersReranker(model, threads=threads)


def entailment(name: str, *, threads: int = 0) -> Entailment | None:
    """Entailment model named ``sentence-transformers:model``, ready to run, or None for ``off``.

    Raises `ModelMissing` if it cannot be loaded, and `ModelError` for a model of another kind.
    """
    if name == "off":
        return None
    provider, model = _split(name, "verify.entailment")
    if provider == "bundled":
        raise ModelMissing(
            f"verify.entailment = {name!r}: no entailment model ships with Groundwork.",
            hint='Use "sentence-transformers:NAME-OR-FOLDER", or "off".',
        )
    return sentence_transformers.SentenceTransformersEntailment(model, threads=threads)


def _split(name: str, key: str) -> tuple[str, str]:
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        raise ModelMissing(
            f"{key} = {name!r} isn't a model Groundwork can run.",
            hint=f"Use provider:model; the provider is {' or '.join(PROVIDERS)}, "
            'for example "bundled:bge-small-en-v1.5" or "bundled:ms-marco-MiniLM-L-12-v2".',
        )
    return provider, model
