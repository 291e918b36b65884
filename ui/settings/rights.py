"""Rights over settings: what only an administrator may choose, where people sign in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from ragcore.errors import ConfigError
from ui.gate.access import administers
from ui.server.services import services
from ui.settings.presets import value_of

LOCAL = frozenset({"rerank.model", "index.embedder", "verify.entailment"})
_SERVER = "llm.base_url"
_LOADED = "sentence-transformers:"  # from any folder or address that is named after it


def administrators_only(request: Request) -> None:
    """Raises `ConfigError` for who signed in and is no administrator."""
    if not administers(request):
        raise ConfigError(
            "Only administrators can save settings, or choose a server or a model of their own.",
            hint="Ask one of them.",
        )


def checked_reach(request: Request, changes: Mapping[str, Any]) -> None:
    """Raises `ConfigError` for who is no administrator and would have the server call an address, or open a folder,
    of their own choice."""
    kept = services().engine.settings
    chosen = {
        key for key, value in changes.items() if key in {*LOCAL, _SERVER} and value not in (None, value_of(kept, key))
    }
    if _SERVER in chosen or any(str(changes[key]).startswith(_LOADED) for key in chosen):
        administrators_only(request)
