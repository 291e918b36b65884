"""Dataclasses ↔ bytes for SQLite: JSON, compressed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Hashable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


def pack(value: Any, kind: Hashable) -> bytes:
    """``value`` of type ``kind`` (a dataclass, or a tuple of them)."""
    return zlib.compress(_adapter(kind).dump_json(value), 6)


def unpack(data: bytes, kind: type[T]) -> T:
    """The inverse of `pack`."""
    value: T = _adapter(cast(Hashable, kind)).validate_json(zlib.decompress(data))
    return value


def made(text: bytes, kind: type[T]) -> T:
    """A value of ``kind`` from its own part of an unpacked one."""
    value: T = _adapter(cast(Hashable, kind)).validate_json(text)
    return value


def fields(data: bytes) -> dict[str, Any]:
    """A packed dataclass as JSON has it: much faster than `unpack`."""
    packed: dict[str, Any] = json.loads(zlib.decompress(data))
    return packed


def strings(data: bytes, *names: str) -> tuple[str, ...]:
    """Fields of a packed dataclass that are strings, "" where one is missing."""
    packed = fields(data)
    return tuple(str(packed.get(name, "")) for name in names)


def number(data: bytes, name: str) -> float | None:
    """A field of a packed dataclass that is a number or missing."""
    value = fields(data).get(name)
    return None if value is None else float(value)


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(cast(Any, kind))
