"""Settings written into the home's ``config.toml``, where whatever else stands in it stays as it is.

A file that people edit has comments and an order of its own, so lines are changed and the outcome is read again: it is
kept only where it says exactly what it said before, but for the settings that were to change.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from ragcore.config.settings import flatten
from ragcore.errors import ConfigError
from ragcore.files import replacing, reported


def keep(file: Path, changes: Mapping[str, Any]) -> None:
    """Set the dotted keys ``changes`` in ``file``, made where there is none; None takes a key out, so that its default
    holds again. Raises `ConfigError` where the file cannot be changed so that it stays true, `StoreError`."""
    try:
        before = file.read_text("utf-8") if file.is_file() else ""
        was = flatten(tomllib.loads(before))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{file} can't be read: {error}.", hint="Correct it by hand first.") from error
    wanted = {**was, **{key: value for key, value in changes.items() if value is not None}}
    for key in (key for key, value in changes.items() if value is None):
        wanted.pop(key, None)
    lines = before.split("\n")[: -1 if before.endswith("\n") else None] if before else []  # TOML has no other line ends
    for key, value in changes.items():
        lines = _changed(lines, key, value)
    after = "\n".join(lines) + "\n" if lines else ""
    if not _says(after, wanted):
        raise ConfigError(
            f"{file} has a layout that Groundwork can't edit.",
            hint=f"Set {', '.join(changes)} in it by hand.",
        )
    with reported(file.parent), replacing(file) as out:
        out.write(after.encode())


def _changed(lines: list[str], key: str, value: Any) -> list[str]:
    section, _, name = key.rpartition(".")
    start = next((i for i, line in enumerate(lines) if re.match(rf"\s*\[\s*{re.escape(section)}\s*\]", line)), None)
    if start is None:
        if value is None:
            return lines
        return [*lines, *([""] if lines else []), f"[{section}]", _line(name, value)]
    end = next((i for i in range(start + 1, len(lines)) if lines[i].lstrip().startswith("[")), len(lines))
    at = next((i for i in range(start + 1, end) if re.match(rf"\s*{re.escape(name)}\s*=", lines[i])), None)
    if value is None:
        return lines if at is None else lines[:at] + lines[at + 1 :]
    if at is not None:
        comment = re.search(r"\s+#[^\"']*$", lines[at])
        return [*lines[:at], _line(name, value) + (comment.group() if comment else ""), *lines[at + 1 :]]
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], _line(name, value), *lines[end:]]


def _line(name: str, value: Any) -> str:
    return tomli_w.dumps({name: value}).strip()


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return flatten(tomllib.loads(text)) == wanted
    except tomllib.TOMLDecodeError:
        return False
