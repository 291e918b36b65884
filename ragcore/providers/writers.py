"""Who writes the answer: Claude, a model on a server of one's own, or the offline writer.

To name the writer (`resolve`) loads none of them: the app does so before it draws its first page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from ragcore.config.settings import AnswerSettings, LlmSettings
from ragcore.errors import KeyMissing, KeyRefused
from ragcore.protocols import LLM, ContextWriter, Describer, Planner, Reranker
from ragcore.providers.anthropic import DEFAULT_BASE_URL, AnthropicWriter

OFFLINE = "offline"


class _Service(TypedDict):
    api_key: str
    base_url: str
    timeout_seconds: float
    retries: int
    custom_headers: bool


def resolve(settings: LlmSettings, environ: Mapping[str, str]) -> str:
    """The name of the writer that ``llm.model`` stands for: ``offline`` or a model's name."""
    if settings.model == "auto":
        return settings.claude_model if _given(environ) else OFFLINE
    return settings.claude_model if settings.model == "claude" else settings.model


def writer(
    settings: LlmSettings,
    *,
    environ: Mapping[str, str],
    reranker: Reranker | None,
    settings_answer: AnswerSettings,
) -> LLM:
    """The writer that the settings name, ready to run. The key is read from ``ANTHROPIC_API_KEY`` at this moment.

    Raises `KeyMissing` when a model is named and there is neither a key nor a server of one's own (``llm.base_url`` or
    ``ANTHROPIC_BASE_URL``), which may do without, and `KeyRefused` for a key that cannot be sent.
    """
    name = resolve(settings, environ)
    if name == OFFLINE:
        from ragcore.offline.writer import OfflineWriter

        return OfflineWriter(reranker, settings_answer)
    if settings.citations == "native":
        from ragcore.providers.native import NativeWriter

        return NativeWriter(name, **_service(name, settings, environ))
    return AnthropicWriter(name, **_service(name, settings, environ))


def describer(settings: LlmSettings, *, environ: Mapping[str, str]) -> Describer | None:
    """What describes pictures: the model in force when it is a Claude, else None. Raises as `writer` does."""
    name = resolve(settings, environ)
    if not name.startswith("claude"):
        return None
    from ragcore.providers.vision import AnthropicDescriber

    return AnthropicDescriber(name, **_service(name, settings, environ))


def context_writer(settings: LlmSettings, model: str, *, environ: Mapping[str, str]) -> ContextWriter | None:
    """What writes summaries and situating sentences: ``model``, else the model in force when it is a Claude, else None.
    Where no Claude is in force ``model`` is not asked either. Raises as `writer` does."""
    name = resolve(settings, environ)
    if not name.startswith("claude"):
        return None
    from ragcore.providers.context import AnthropicContextWriter

    name = model or name
    return AnthropicContextWriter(name, **_service(name, settings, environ))


def planner(settings: LlmSettings, *, environ: Mapping[str, str]) -> Planner | None:
    """What plans searches: the model in force, or None where that is the offline writer. Raises as `writer` does."""
    name = resolve(settings, environ)
    if name == OFFLINE:
        return None
    from ragcore.providers.planning import AnthropicPlanner

    return AnthropicPlanner(name, **_service(name, settings, environ))


def account(settings: LlmSettings, environ: Mapping[str, str]) -> tuple[str, str]:
    """The address of the server that writes and the key that it is sent; ``offline`` and "" where none does."""
    if resolve(settings, environ) == OFFLINE:
        return OFFLINE, ""
    return settings.base_url or environ.get("ANTHROPIC_BASE_URL") or DEFAULT_BASE_URL, _given(environ)


def _given(environ: Mapping[str, str]) -> str:
    """The key without the white space that copying brings along; "" where there is none."""
    return environ.get("ANTHROPIC_API_KEY", "").strip()


def _service(name: str, settings: LlmSettings, environ: Mapping[str, str]) -> _Service:
    base_url, key = account(settings, environ)
    if not (key.isascii() and key.isprintable()):
        # Sent, it would fail as if the network had, in an error that holds the key.
        raise KeyRefused(
            "ANTHROPIC_API_KEY isn't a valid key.",
            hint="Copy the key again, on one line, and set ANTHROPIC_API_KEY to it.",
        )
    if not key and base_url == DEFAULT_BASE_URL:
        raise KeyMissing(f"{name} needs a key, and ANTHROPIC_API_KEY isn't set.")
    return {
        "api_key": key or "none",
        "base_url": base_url,
        "timeout_seconds": settings.timeout_seconds,
        "retries": settings.retries,
        "custom_headers": "ANTHROPIC_CUSTOM_HEADERS" in environ,
    }
