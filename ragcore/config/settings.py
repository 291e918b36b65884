"""Settings: the packaged ``config.toml``, overridden by the user's file, then by the environment, then by the caller.

Every key is in ``config.toml`` beside this module with its default and a comment, its only description; the models here
only give types and bounds. An unknown key or an invalid value is a `ConfigError` that names it and the nearest existing
key.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragcore.errors import ConfigError

ENV_PREFIX = "GROUNDWORK_"
LIBRARIES = "libraries"  # folder of a team's home with a home for each of its libraries
NAMED = ("llm.prices",)  # settings that are tables, keyed by names
SHORT_QUOTES = 2  # quotes of the offline answerer in the short style
# Settings with which documents are read, built and indexed: a change needs another library, or an update of this one.
# Those of [auth] hold for the server from its start.
FIXED = ("ingest", "ocr", "noise", "figures", "chunk", "context", "index", "auth")
# Those of them that may change while the library is open: they apply to pages read from then on.
READING = ("ocr.mode", "ocr.language")
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0.0)]

HUGE = 1e15  # larger numbers are refused

Kind = Literal["choice", "flag", "whole", "number", "text", "table"]
_KINDS: dict[str, Kind] = {
    "boolean": "flag",
    "integer": "whole",
    "number": "number",
    "string": "text",
    "object": "table",
}
_LINE = re.compile(r"^(?P<key>\w+)\s*=\s*(?P<value>\"[^\"]*\"|[^#]*?)\s*(?:#\s*(?P<said>.*))?$")


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class IngestSettings(Section):
    max_bytes: Positive
    max_json_bytes: Positive
    max_pages: Positive
    page_seconds: Seconds
    plain_seconds: Seconds
    memory_mb: Annotated[int, Field(ge=512)]
    workers: Count
    process_pages: Positive
    idle_seconds: Annotated[float, Field(ge=0)]
    here: bool
    undo_seconds: Seconds


class OcrSettings(Section):
    mode: Literal["auto", "off", "force"]
    language: str
    models: str
    page_seconds: Seconds


class NoiseSettings(Section):
    frequency: Share
    min_pages: Positive


class FigureSettings(Section):
    describe: Literal["auto", "off"]
    max_usd: Annotated[float, Field(ge=0.0)]
    max_figures: Count


class ChunkSettings(Section):
    max_tokens: Annotated[int, Field(ge=20, le=8000)]
    target_tokens: Positive
    row_tokens: Count
    composites: bool
    lead_in_tokens: Count


class ContextSettings(Section):
    document_summary: bool
    situate: Literal["off", "claude"]
    model: str
    prompt_tokens: Annotated[int, Field(ge=500)]
    max_usd: Annotated[float, Field(ge=0.0)]


class StructureSettings(Section):
    max_usd: Annotated[float, Field(ge=0.0)]
    keep_paid: bool


class IndexSettings(Section):
    embedder: str
    vector_store: Annotated[str, Field(pattern=r"^(memory|pgvector|chroma|chroma:https?://\S+)$")]
    batch: Positive
    threads: Count
    bm25_k1: Annotated[float, Field(ge=0.0)]
    bm25_b: Share


# Tree and graph methods as published, to be compared with.
PublishedMode = Literal[
    "raptor",
    "raptor-traversal",
    "hipporag",
    "hipporag2",
    "lightrag-naive",
    "lightrag-local",
    "lightrag-global",
    "lightrag-hybrid",
    "lightrag-mix",
    "graphrag-local",
    "graphrag-global",
    "graphrag-dynamic",
    "graphrag-drift",
    "graphrag-fast",
]
SearchMode = Literal["auto", "hybrid", "vector", "bm25", "graph", "outline", "overview", PublishedMode]


class RetrieveSettings(Section):
    mode: SearchMode
    top_k: Positive
    candidates: Positive
    alpha: Share


class WordingSettings(Section):
    focus: bool
    synonyms: bool


class RouteSettings(Section):
    weight: Share


class RerankSettings(Section):
    model: str
    candidates: Positive
    weight: Annotated[float, Field(ge=0.0)]


class RseSettings(Section):
    max_length: Positive
    overall_max_length: Positive
    minimum_value: float
    irrelevant_chunk_penalty: Annotated[float, Field(gt=0.0)]
    decay_rate: Annotated[float, Field(gt=0.0)]


class AgenticSettings(Section):
    decompose: Literal["auto", "rules", "off"]
    gaps: bool
    max_iterations: Annotated[int, Field(ge=1, le=5)]
    timeout_seconds: Seconds


class ChatSettings(Section):
    rewrite: Literal["rules", "auto"]
    timeout_seconds: Seconds


class AnswerSettings(Section):
    style: Literal["full", "short"]
    source_tokens: Positive
    history_turns: Count
    history_tokens: Count
    offline_sentences: Positive
    offline_floor: Share
    offline_share: Share

    @property
    def offline_quotes(self) -> int:
        """Largest number of quotes of the offline answerer, at the style in force."""
        return min(self.offline_sentences, SHORT_QUOTES) if self.style == "short" else self.offline_sentences


class VerifySettings(Section):
    weak_below: Share
    unsupported_below: Share
    add_citations: bool
    entailment: str
    judge: Literal["off", "claude"]
    judge_tokens: Positive
    judge_seconds: Seconds


class ReportSettings(Section):
    rounds: Positive
    section_tokens: Positive
    pinned_tokens: Positive


class ExportSettings(Section):
    quote_length: Annotated[int, Field(ge=40)]
    paper: Literal["a4", "letter"]


class LlmSettings(Section):
    model: str
    claude_model: str
    base_url: str
    max_tokens: Positive
    timeout_seconds: Seconds
    retries: Count
    cache: bool
    prices: dict[str, tuple[float, float, float, float]]


class AuthSettings(Section):
    mode: Literal["off", "local", "oidc", "proxy"]
    url: Annotated[str, Field(pattern=r"^(https?://[^/\s?#@]+)?$")]
    issuer: Annotated[str, Field(pattern=r"^(https?://\S+)?$")]
    client_id: str
    domains: str
    header: str
    proxies: str


class Settings(Section):
    """All settings. ``origins`` (of `load`) gives the source of each."""

    ingest: IngestSettings
    ocr: OcrSettings
    noise: NoiseSettings
    figures: FigureSettings
    chunk: ChunkSettings
    context: ContextSettings
    index: IndexSettings
    structure: StructureSettings
    retrieve: RetrieveSettings
    wording: WordingSettings
    route: RouteSettings
    rerank: RerankSettings
    rse: RseSettings
    agentic: AgenticSettings
    chat: ChatSettings
    answer: AnswerSettings
    verify: VerifySettings
    report: ReportSettings
    export: ExportSettings
    llm: LlmSettings
    auth: AuthSettings

    def hash(self) -> str:
        """Configuration id of 12 hex digits, stored with every answer. Who may sign in is no part of it."""
        text = json.dumps(self.model_dump(mode="json", exclude={"auth"}), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def default_home() -> Path:
    """``GROUNDWORK_HOME``, else the platform's data folder."""
    given = os.environ.get("GROUNDWORK_HOME")
    return Path(given).expanduser() if given else Path(platformdirs.user_data_path("groundwork", appauthor=False))


def load(
    *,
    file: Path | None = None,
    saved: Mapping[str, bytes] | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> tuple[Settings, dict[str, str]]:
    """Settings in force and, for each ``section.key``, its origin.

    ``file`` replaces what is ``saved``: the texts of ``config.toml`` by their origins, each over the ones before it;
    ``overrides`` are dotted keys set by the caller (tests, the command line). Raises `ConfigError` that names the
    file or variable, the key and the nearest existing key.
    """
    merged = flatten(tomllib.loads(packaged()))
    known = set(merged)
    origins = dict.fromkeys(merged, "default")

    if file is not None:
        if not file.is_file():
            raise ConfigError(f"No settings file at {file}.", hint="Check the path given to --config.")
        saved = {str(file): file.read_bytes()}
    for origin, text in (saved or {}).items():
        try:
            given = flatten(tomllib.loads(text.decode("utf-8")))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{origin} is not valid TOML: {error}.") from error
        merge(merged, origins, given, known, origin)
    merge(merged, origins, _from_environ(os.environ if environ is None else environ), known, "environment")
    merge(merged, origins, dict(overrides or {}), known, "argument")

    return settled(merged, origins), origins


def packaged() -> str:
    """The packaged ``config.toml``."""
    return resources.files("ragcore.config").joinpath("config.toml").read_text("utf-8")


def settled(merged: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    """Validated settings from all dotted keys. Raises `ConfigError`."""
    try:
        return Settings.model_validate(_unflatten(merged))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(
            f"{key} = {first.get('input')!r} can't be used: {first['msg']} (from {origins.get(key, 'the settings')})."
        ) from error


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted keys of a settings tree; a setting that is itself a table (`NAMED`) is not split."""
    out: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and name not in NAMED:
            out.update(flatten(value, f"{name}."))
        else:
            out[name] = value
    return out


def _unflatten(flat: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in flat.items():
        *parents, leaf = name.split(".")
        node = out
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = value
    return out


def merge(
    merged: dict[str, Any], origins: dict[str, str], given: Mapping[str, Any], known: set[str], origin: str
) -> None:
    """Update ``merged`` with dotted keys from ``origin``. Raises `ConfigError` for an unknown key."""
    for key, value in given.items():
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), n=1, cutoff=0.8)
            meant = f"; did you mean {near[0]!r}?" if near else ": there is none of this name, or none any more."
            raise ConfigError(f"Unknown setting {key!r} in {origin}{meant}")
        if key in NAMED:
            if not isinstance(value, Mapping):
                raise ConfigError(f"{key} = {value!r} can't be used: it is a table of names (from {origin}).")
            value = merged[key] | value
        merged[key] = value
        origins[key] = origin


def _from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    """``GROUNDWORK_SECTION__KEY`` → ``section.key``."""
    return {
        name.removeprefix(ENV_PREFIX).lower().replace("__", "."): toml_value(raw)
        for name, raw in environ.items()
        if name.startswith(ENV_PREFIX) and "__" in name
    }


def toml_value(text: str) -> Any:
    """TOML value, or the text itself if it is none."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def varied(
    settings: Settings,
    origins: Mapping[str, str],
    overrides: Mapping[str, Any],
    origin: str = "argument",
    *,
    reading: bool = False,
) -> tuple[Settings, dict[str, str]]:
    """``settings`` with the dotted keys ``overrides``, and the origin of each key. Raises `ConfigError` for an unknown
    key, an invalid value, or a setting that fixes how the library was read and indexed (`FIXED`); ``reading`` permits
    those of `READING`."""
    merged, came = flatten(settings.model_dump()), dict(origins)
    held = [key for key in overrides if key.partition(".")[0] in FIXED and not (reading and key in READING)]
    fixed = [key for key in held if key in merged and merged[key] != overrides[key]]
    if fixed:
        server = fixed[0].startswith("auth.")
        why, after = ("server was started", "") if server else ("library was built", "; documents are then updated")
        raise ConfigError(
            f"{', '.join(fixed)} can't change for one visit: the {why} with them.",
            hint=f"Set it in config.toml in the home folder and restart{after}.",
        )
    merge(merged, came, overrides, set(merged), origin)
    return settled(merged, came), came


def edited(text: bytes, changes: Mapping[str, Any], name: str) -> bytes:
    """The ``text`` of a ``config.toml``, called ``name`` in errors, with the dotted keys ``changes``; None removes a
    key, so that its default applies. Raises `ConfigError` if it cannot be changed consistently."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        before = text.decode("utf-8")
        was = flatten(tomllib.loads(before))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{name} can't be read: {error}.", hint="Correct it by hand first.") from error
    wanted = {key: value for key, value in {**was, **changes}.items() if value is not None}
    try:
        document = tomlkit.parse(before)
        for key, value in changes.items():
            _set_in(document, key.split("."), value)
        after = tomlkit.dumps(document)
        says = flatten(tomllib.loads(after))
    except (TOMLKitError, ValueError, TypeError):
        says = {}
    if says != wanted:
        raise ConfigError(
            f"{name} has a layout that Groundwork can't edit.",
            hint=f"Set {', '.join(changes)} in it by hand.",
        )
    return after.encode()


def _set_in(table: Any, path: list[str], value: Any) -> None:
    import tomlkit

    *sections, name = path
    for section in sections:
        if section not in table:
            if value is None:
                return
            table[section] = tomlkit.table()
        table = table[section]
    if value is not None:
        table[name] = value
    elif name in table:
        del table[name]


@dataclass(frozen=True, slots=True)
class Setting:
    """Description of one ``section.key``. ``choices`` are the values of a choice, ``least`` and ``most`` the bounds of
    a number (``above``: ``least`` itself is excluded). ``said`` is its comment."""

    key: str
    kind: Kind
    default: Any
    said: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: bool = False

    @property
    def fixed(self) -> bool:
        """Whether the library was read and indexed with it."""
        return self.key.partition(".")[0] in FIXED

    @property
    def allowed(self) -> str:
        """Permitted values in words: ``a whole number from 20 to 8000``."""
        if self.kind in ("choice", "flag"):
            names = self.choices or ("on", "off")
            return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
        if self.kind not in ("whole", "number"):
            return "text"
        noun = "a whole number" if self.kind == "whole" else "a number"
        if self.least is None:
            return noun
        low = f"above {_plain(self.least)}" if self.above else f"from {_plain(self.least)}"
        return f"{noun} {low} to {_plain(self.most)}" if self.most is not None else f"{noun} {low} up"


@cache
def catalogue() -> Mapping[str, Setting]:
    """All settings by key, in the order of ``config.toml``."""
    said, schema = _comments(packaged()), Settings.model_json_schema()
    found: dict[str, Setting] = {}
    for key, default in flatten(tomllib.loads(packaged())).items():
        section, name = key.split(".")
        model = schema["properties"][section]["$ref"].rpartition("/")[2]
        field = schema["$defs"][model]["properties"][name]
        kind: Kind = "choice" if "enum" in field else _KINDS[field["type"]]
        choices = tuple(str(choice) for choice in field.get("enum", ()))
        least, above = field.get("minimum", field.get("exclusiveMinimum")), "exclusiveMinimum" in field
        found[key] = Setting(key, kind, default, said.get(key, ""), choices, least, field.get("maximum"), above)
    return found


def read(setting: Setting, typed: str) -> Any:
    """Value parsed from ``typed``. Raises `ConfigError` with a message for display beside the field."""
    if setting.kind == "table":
        raise ConfigError(f"{setting.key} is a table.", hint="Change it in config.toml in the home folder.")
    text = typed.strip()
    defaults = {key: each.default for key, each in catalogue().items()}
    try:
        made = settled({**defaults, setting.key: text.replace(",", ".") if setting.kind == "number" else text}, {})
    except ConfigError as error:
        raise ConfigError(f"Must be {setting.allowed}.", hint="") from error
    value = flatten(made.model_dump())[setting.key]
    if isinstance(value, int | float) and abs(value) >= HUGE:
        raise ConfigError(f"Must be {setting.allowed}.", hint="")
    return value


def wrong(settings: Settings, origins: Mapping[str, str], key: str, typed: str) -> str:
    """Error message for a setting as typed, "" if valid. Raises `ConfigError` for an unknown key."""
    if key not in catalogue():
        raise ConfigError(f"There's no setting {key!r}.")
    try:
        varied(settings, origins, {key: read(catalogue()[key], typed)})
    except ConfigError as error:
        return f"{error.message} {error.hint}".strip()
    return ""


def _plain(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def _comments(text: str) -> dict[str, str]:
    """Comment of each key: the one beside it, plus its continuation lines."""
    found: dict[str, list[str]] = {}
    section, key = "", ""
    for line in text.splitlines():
        if line.startswith("["):
            section, key = line[1 : line.index("]")], ""
        elif match := _LINE.match(line):
            key = f"{section}.{match['key']}"
            found[key] = [match["said"]] if match["said"] else []
        elif key and line.startswith(" ") and line.lstrip().startswith("#"):
            found[key].append(line.lstrip(" #"))
        else:
            key = ""
    return {key: " ".join(lines) for key, lines in found.items()}
