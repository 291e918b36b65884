"""Descriptions of settings: the comment from ``config.toml``, permitted values, and error messages for typed values.

The comments of the packaged ``config.toml`` are the only descriptions and the models of `ragcore.config.settings` the
only bounds; neither is repeated here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from ragcore.config.settings import FIXED, Settings, flatten, varied
from ragcore.errors import ConfigError

Kind = Literal["choice", "flag", "whole", "number", "text", "table"]
_KINDS: dict[str, Kind] = {
    "boolean": "flag",
    "integer": "whole",
    "number": "number",
    "string": "text",
    "object": "table",
}
_LINE = re.compile(r"^(?P<key>\w+)\s*=\s*(?P<value>\"[^\"]*\"|[^#]*?)\s*(?:#\s*(?P<said>.*))?$")


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
    text = resources.files("ragcore.config").joinpath("config.toml").read_text("utf-8")
    said, fields = _comments(text), _fields()
    defaults = flatten(tomllib.loads(text))
    return {key: _setting(key, fields[key], value, said.get(key, "")) for key, value in defaults.items()}


def read(setting: Setting, typed: str) -> Any:
    """Value parsed from ``typed``. Raises `ConfigError` with a message for display beside the field."""
    text = typed.strip()
    match setting.kind:
        case "flag":
            if text.lower() in ("on", "true", "off", "false"):
                return text.lower() in ("on", "true")
        case "choice":
            if text in setting.choices:
                return text
        case "whole" | "number":
            number = _number(setting, text)
            if number is not None:
                return number
        case "text":
            return text
        case "table":
            raise ConfigError(f"{setting.key} is a table.", hint="Change it in config.toml in the home folder.")
    raise ConfigError(f"Must be {setting.allowed}.", hint="")


def wrong(settings: Settings, origins: Mapping[str, str], key: str, typed: str) -> str:
    """Error message for a setting as typed, "" if valid. Raises `ConfigError` for an unknown key."""
    if key not in catalogue():
        raise ConfigError(f"There's no setting {key!r}.")
    try:
        varied(settings, origins, {key: read(catalogue()[key], typed)})
    except ConfigError as error:
        return f"{error.message} {error.hint}".strip()
    return ""


def _number(setting: Setting, text: str) -> float | None:
    try:
        value = int(text) if setting.kind == "whole" else float(text.replace(",", "."))
    except ValueError:
        return None
    low = setting.least is None or (value > setting.least if setting.above else value >= setting.least)
    # Comparisons with NaN are false, so it is never within bounds.
    return value if low and (setting.most is None or value <= setting.most) and abs(value) < 1e15 else None


def _setting(key: str, field: Mapping[str, Any], default: Any, said: str) -> Setting:
    kind: Kind = "choice" if "enum" in field else _KINDS[field["type"]]
    choices = tuple(str(choice) for choice in field.get("enum", ()))
    least, above = field.get("minimum", field.get("exclusiveMinimum")), "exclusiveMinimum" in field
    if kind == "whole" and above:
        least, above = least + 1, False
    return Setting(key, kind, default, said, choices, least, field.get("maximum"), above)


def _fields() -> dict[str, Any]:
    """JSON schema of each setting, with its type and bounds."""
    schema = Settings.model_json_schema()
    models = {section: schema["$defs"][of["$ref"].rpartition("/")[2]] for section, of in schema["properties"].items()}
    return {f"{section}.{name}": of for section, model in models.items() for name, of in model["properties"].items()}


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
