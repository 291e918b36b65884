"""HTTP routes of the Settings page. A key comes in and never goes out; it is neither logged nor written to disk.

A value that cannot be set is reported as ``refused`` (`ui.server.guard.action`).
"""

from __future__ import annotations

import os
import threading
import time
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.config.settings import ENV_PREFIX, READING, catalogue, read, wrong
from ragcore.errors import ConfigError, InputError, ModelError
from ragcore.ingest.ocr.engine import recogniser
from ragcore.providers.registry import trial
from ragcore.types.spending import cost
from ui.chat.payload import dollars, model_name
from ui.gate.access import administers
from ui.server.guard import Json, Malformed, action, engine_of, guarded, posts, text_in, visit
from ui.server.services import services, whole
from ui.server.visits import refused_to_keep
from ui.settings import payload as settings_data
from ui.settings import presets, structures
from ui.settings.rights import LOCAL, administrators_only, checked_reach

_trials = threading.BoundedSemaphore(4)  # at once: a server that hangs keeps a thread from others


@guarded
def show(request: Request) -> Response:
    return JSONResponse(_page(request))


@action(ConfigError)
def check(request: Request, body: Json) -> Json:
    """Problem with a setting as typed."""
    engine = engine_of(request)
    key, typed = text_in(body, "key") or "", text_in(body, "value") or ""
    if key in READING:
        return {"wrong": _wrong_reading(key, typed)}
    found = wrong(engine.settings, engine.origins, key, typed) or _wrong_address(key, typed)
    return {"wrong": found}


@action(ConfigError)
def change(request: Request, body: Json) -> Json:
    """Change settings for this visit, as typed; null restores the saved value. A local model is tried first."""
    visits, own, changes = services().visits, visit(request) or "", _changes(body)
    before = visits.overrides(own)
    checked_reach(request, changes)
    visits.change(own, changes)
    try:
        visits.engine(own).try_out(LOCAL.intersection(changes))
    except ModelError as error:
        visits.change(own, {key: before.get(key) for key in changes})
        raise ConfigError(error.message, hint=error.hint) from error
    return _page(request)


@action(ConfigError)
def preset(request: Request, body: Json) -> Json:
    """Apply a search preset for this visit."""
    chosen = next((item for item in presets.PRESETS if item.name == text_in(body, "name")), None)
    if chosen is None:
        raise InputError("This preset doesn’t exist.", hint="Reload the page.")
    made, own = services(), visit(request) or ""
    if chosen.model and made.visits.engine(own).models.capabilities.extractive:
        raise ConfigError(f"{chosen.title} needs a model.", hint="First choose Claude or a server to answer.")
    made.visits.change(own, chosen.values)
    return _page(request)


@action(ConfigError)
def reading(request: Request, body: Json) -> Json:
    """Change how documents are read from now on; saved at once, since all visits share one library."""
    _for_everybody(request)
    changes = _changes(body)
    strange = [key for key in changes if key not in READING]
    wrongs = [_wrong_reading(key, str(value)) for key, value in changes.items() if value is not None]
    if strange:
        raise InputError(f"{strange[0]} isn’t a setting for reading documents.", hint="Reload the page and try again.")
    if any(wrongs):
        raise ConfigError(next(filter(None, wrongs)), hint="")
    _keep(changes)
    return _page(request)


@action(ConfigError)
def keep(request: Request, body: Json) -> Json:
    """Save this visit's settings for every visit from now on."""
    _for_everybody(request)
    made, own = services(), visit(request) or ""
    changes = made.visits.overrides(own)
    refused_to_keep(changes)
    _keep(changes)
    made.visits.change(own, dict.fromkeys(changes))
    return _page(request)


def _for_everybody(request: Request) -> None:
    """Raises `ConfigError` for who is no administrator, in the library whose settings are those of the team too."""
    if services().engine.home == whole().base.home:
        administrators_only(request)


def _keep(changes: Json) -> None:
    set_outside = [key for key in changes if _variable(key) in os.environ]
    if set_outside:
        raise ConfigError(
            f"{', '.join(set_outside)} is set by the environment, which overrides the file.",
            hint=f"Unset {', '.join(map(_variable, set_outside))} first.",
        )
    services().keep(changes)


@action(ConfigError)
def undo(request: Request, body: Json) -> Json:
    """Restore all saved values."""
    made, own = services(), visit(request) or ""
    made.visits.change(own, dict.fromkeys(made.visits.overrides(own)))
    return _page(request)


@action(InputError)
def set_key(request: Request, body: Json) -> Json:
    services().visits.set_key(visit(request) or "", text_in(body, "key") or "")
    return _page(request)


@action()
def forget_key(request: Request, body: Json) -> Json:
    services().visits.forget_key(visit(request) or "")
    return _page(request)


@action()
def try_key(request: Request, body: Json) -> Json:
    """Smallest request to the visit's model; its result, even an error, is the answer."""
    engine = engine_of(request)
    if engine.models.capabilities.extractive:
        return {"works": True, "words": "Offline answers need no key. Nothing was sent."}
    if not _trials.acquire(blocking=False):
        return {"works": False, "words": "Other keys are being tested.", "hint": "Try again in a moment."}
    started = time.perf_counter()
    try:
        found = trial(engine.models)
    except ModelError as error:
        return {"works": False, "words": error.message, "hint": error.hint}
    finally:
        _trials.release()
    usd = cost(found.usage, found.model, engine.settings.llm.prices, asked=engine.models.writer_name)
    words = f"{model_name(found.model)} answered in {time.perf_counter() - started:.1f} s"
    return {"works": True, "words": f"{words}, {dollars(usd)}." if usd else f"{words}."}


def _page(request: Request) -> Json:
    return settings_data.page(services(), visit(request) or "", told=administers(request))


def _changes(body: Json) -> Json:
    given = body.get("changes")
    if not isinstance(given, dict) or not all(value is None or isinstance(value, str) for value in given.values()):
        raise Malformed("“changes” in the request's body are not settings.")
    unknown = [key for key in given if key not in catalogue()]
    if unknown:
        raise ConfigError(f"There’s no setting {unknown[0]!r}.")
    for key, value in given.items():
        address = "" if value is None else _wrong_address(key, value)
        if address:
            raise ConfigError(address, hint="")
    return {key: None if value is None else read(catalogue()[key], value) for key, value in given.items()}


def _wrong_address(key: str, typed: str) -> str:
    """Problem with a server's address."""
    if key != "llm.base_url" or not typed.strip():
        return ""
    try:
        parts = urlsplit(typed.strip())
        good = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
        )
    except ValueError:
        good = False
    return "" if good else "Enter a server’s address, such as http://localhost:11434."


def _wrong_reading(key: str, typed: str) -> str:
    """Problem with a setting for reading documents."""
    settings = services().engine.settings.ocr
    try:
        value = read(catalogue()[key], typed)
        if key == "ocr.language":
            recogniser(settings.model_copy(update={"language": value}))
    except (ConfigError, ModelError) as error:
        return f"{error.message} {error.hint}".strip()
    return ""


def _variable(key: str) -> str:
    return ENV_PREFIX + key.upper().replace(".", "__")


def routes(prefix: str = "") -> list[BaseRoute]:
    at = f"{prefix}/gw/settings"
    return [
        Route(at, show),
        *structures.routes(f"{at}/structures"),
        *posts(at, check=check, change=change, preset=preset, reading=reading, keep=keep, undo=undo),
        *posts(at, key=set_key, forget=forget_key, **{"try": try_key}),
    ]
