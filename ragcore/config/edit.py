"""Settings written into the home's ``config.toml``, where whatever else stands in it stays as it is."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from ragcore.config.settings import flatten
from ragcore.errors import ConfigError
from ragcore.files import replacing, reported


def keep(file: Path, changes: Mapping[str, Any]) -> None:
    """Set the dotted keys ``changes`` in ``file``, made where there is none; None takes a key out, so that its default
    holds again. Raises `ConfigError` where the file cannot be changed so that it stays true, `StoreError`."""
    try:
        before = file.read_bytes().decode("utf-8") if file.is_file() else ""
        was = flatten(tomllib.loads(before))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{file} can't be read: {error}.", hint="Correct it by hand first.") from error
    wanted = {key: value for key, value in {**was, **changes}.items() if value is not None}
    try:
        document = tomlkit.parse(before)
        for key, value in changes.items():
            _set(document, key.split("."), value)
        after = tomlkit.dumps(document)
        says = flatten(tomllib.loads(after))
    except (TOMLKitError, ValueError, TypeError):
        says = {}
    if says != wanted:
        raise ConfigError(
            f"{file} has a layout that Groundwork can't edit.",
            hint=f"Set {', '.join(changes)} in it by hand.",
        )
    with reported(file.parent), replacing(file) as out:
        out.write(after.encode())


def _set(table: Any, path: list[str], value: Any) -> None:
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
