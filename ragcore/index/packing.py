"""Dataclasses ↔ bytes for SQLite: JSON, compressed."""

from __future__ import annotations

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


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(cast(Any, kind))
