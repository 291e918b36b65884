"""JSON payload of the Settings page: the answering model, values with their origin, and folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ragcore.config.settings import READING, Setting, catalogue
from ragcore.engine import Engine
from ragcore.index.store import measure
from ragcore.providers.anthropic import DEFAULT_BASE_URL, is_claude
from ragcore.types.json import Json, picked
from ui.chat import conversation_list
from ui.chat.payload import dollars, model_name
from ui.server.services import Services, api_key
from ui.server.visits import ORIGIN
from ui.settings import presets

ORIGINS = {"default": "default", "environment": "environment", "argument": "command line", ORIGIN: ORIGIN}


def page(made: Services, visit: str, *, told: bool) -> Json:
    """Settings page as it stands in one visit; with ``told``, where on the server things are."""
    own, kept = made.visits.engine(visit), made.engine
    overrides = made.visits.overrides(visit)
    return {
        "who": _who(made, own, visit),
        "presets": {"on": presets.in_force(own.settings), "all": [_preset(item) for item in presets.PRESETS]},
        "settings": [_row(item, own, kept, overrides, manages=made.may("manager")) for item in catalogue().values()],
        "changes": len(overrides),
        "reading": {key: presets.value_of(kept.settings, key) for key in READING},
        "data": _data(made, told),
        "spent": _spent(own),
    }


def _who(made: Services, own: Engine, visit: str) -> Json:
    llm, writer, able = own.settings.llm, own.models.writer_name, own.models.capabilities
    set_at = made.visits.key_set(visit)
    url = _url(own)
    has_key = _has_key(made, own, visit)
    own_server = bool(llm.base_url) or not (able.extractive or is_claude(writer))
    return {
        "choice": "offline" if able.extractive else "server" if own_server else "claude",
        "writer": model_name(writer),
        "host": urlsplit(url).netloc or url,
        "direct": url == DEFAULT_BASE_URL,
        "key": {"from": "visit" if set_at else "machine" if has_key else "", "set": set_at},
        "model": llm.claude_model,
        "models": [
            {"name": name, "label": model_name(name), "price": f"${price[0]:g} in, ${price[1]:g} out per million"}
            for name, price in llm.prices.items()
            if is_claude(name)
        ],
        "base_url": llm.base_url,
        "server_model": llm.model if own_server else "",
    }


def needs_key(made: Services, own: Engine, visit: str) -> bool:
    """Whether ``visit``, with engine ``own``, lacks a key for its model."""
    return not own.models.capabilities.extractive and not _has_key(made, own, visit) and _url(own) == DEFAULT_BASE_URL


def _has_key(made: Services, own: Engine, visit: str) -> bool:
    machine = bool(os.environ.get("ANTHROPIC_API_KEY", "").strip() or api_key())
    # A machine's key is not sent to a server that the visit chose.
    elsewhere = own.settings.llm.base_url != made.engine.settings.llm.base_url
    return bool(made.visits.key_set(visit)) or (machine and not elsewhere)


def _url(own: Engine) -> str:
    return own.settings.llm.base_url or os.environ.get("ANTHROPIC_BASE_URL") or DEFAULT_BASE_URL


def _preset(item: presets.Preset) -> Json:
    values = [f"{key} = {_shown(value)}" for key, value in item.values.items()]
    return {
        **picked(item, "name title said cost values model"),
        "steps": list(item.steps),
        "words": values,
    }


def _row(item: Setting, own: Engine, kept: Engine, overrides: Mapping[str, Any], *, manages: bool) -> Json:
    value = presets.value_of(own.settings, item.key)
    origin = own.origins[item.key]
    return {
        **picked(item, "key kind said allowed fixed"),
        "value": value if item.kind == "flag" else _shown(value),
        "default": _shown(item.default),
        "choices": list(item.choices),
        "reading": item.key in READING,
        "origin": ORIGINS.get(origin, "config.toml"),
        "where": origin if manages else ORIGINS.get(origin, "config.toml"),
        "visit": item.key in overrides,
        "kept": _shown(presets.value_of(kept.settings, item.key)),
    }


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        return f"{len(value)}: {', '.join(value)}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _data(made: Services, told: bool) -> Json:
    engine = made.engine
    infos = engine.documents()
    return {
        "home": str(engine.home) if told else "On the server",
        "config": str(engine.home / "config.toml") if told else "config.toml",
        "bytes": measure(engine.store).total,
        "documents": len(infos),
        "pages": sum(info.pages for info in infos),
        "chunks": sum(info.chunks for info in infos),
        "conversations": len(engine.conversations.all()),
        "figures": engine.models.describes_figures,
        "contexts": engine.models.writes_contexts,
    }


def _spent(engine: Engine) -> Json:
    spent = engine.spending()
    if not spent.calls:
        return {}
    return {"all": dollars(spent.usd), "calls": spent.calls, "parts": conversation_list.parts(spent)}
