"""Serialisation for SQLite: dataclasses ↔ compressed JSON, arrays ↔ bytes with a checksum. A document's elements are
decoded one by one, on demand."""

from __future__ import annotations

import copy
import json
import zlib
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import StoreError
from ragcore.files import sealed, unsealed
from ragcore.types import Element

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


def pack(value: Any, kind: Hashable) -> bytes:
    """``value`` of type ``kind`` (a dataclass, or a tuple of them), serialised."""
    return zlib.compress(adapter(kind).dump_json(value), 6)


def unpack(data: bytes, kind: type[T]) -> T:
    """Inverse of `pack`."""
    value: T = adapter(cast(Hashable, kind)).validate_json(zlib.decompress(data))
    return value


def fields(data: bytes) -> dict[str, Any]:
    """Packed dataclass as JSON: much faster than `unpack`."""
    packed: dict[str, Any] = json.loads(zlib.decompress(data))
    return packed


@cache
def adapter(kind: Hashable) -> TypeAdapter[Any]:
    """Converter between a type and its JSON."""
    from pydantic import TypeAdapter

    return TypeAdapter(cast(Any, kind))


def pack_arrays(head: Any, arrays: Sequence[NDArray[Any]]) -> bytes:
    """``head``, serialised as JSON, and one-dimensional ``arrays``, with a checksum."""
    first = json.dumps([head, [(values.dtype.str, len(values)) for values in arrays]]).encode()
    return sealed(b"%d\n" % len(first) + first + b"".join(values.tobytes() for values in arrays))


def unpack_arrays(data: bytes) -> tuple[Any, list[NDArray[Any]]]:
    """Inverse of `pack_arrays`. Raises `ValueError` for damaged data."""
    size, _, rest = unsealed(data).partition(b"\n")
    head, kinds = json.loads(rest[: int(size)])
    arrays, at = [], int(size)
    for dtype, count in kinds:
        arrays.append(np.frombuffer(rest, dtype, count, at))
        at += arrays[-1].nbytes
    return head, arrays


def pack_elements(elements: Sequence[Element]) -> bytes:
    """Elements as `StoredElements` reads them: a line with the places of the body, then each element on a line."""
    body = [place for place, element in enumerate(elements) if element.noise is None]
    body.sort(key=lambda place: (elements[place].start, elements[place].end, elements[place].id))
    lines = [json.dumps(body).encode(), *map(adapter(Element).dump_json, elements)]
    return zlib.compress(b"\n".join(lines), 6)


class StoredElements(Sequence[Element]):
    """Elements of a stored document, each decoded on demand: a filing has some thousands, mostly rows and cells of
    tables, and an answer reads a few dozen. Equal to a tuple of the same elements. Thread-safe: at worst one is decoded
    twice."""

    def __init__(self, packed: bytes) -> None:
        """Raises `StoreError` if ``packed`` is damaged."""
        try:
            data = zlib.decompress(packed)
        except zlib.error as error:
            raise StoreError("The stored text of this document can't be read.", hint="Read it again.") from error
        body, *self._lines = data.split(b"\n")
        self.characters = len(data)  # of their JSON
        self._body: Sequence[int] = json.loads(body)
        self._decoded: list[Element | None] = [None] * len(self._lines)
        self._order: Sequence[int] = range(len(self._lines))

    def body(self) -> StoredElements:
        """Elements that are no noise, in the order of the text."""
        made = copy.copy(self)
        made._order = self._body
        return made

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Element: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Element, ...]: ...
    def __getitem__(self, index: int | slice) -> Element | tuple[Element, ...]:
        if isinstance(index, slice):
            return tuple(map(self._at, self._order[index]))
        return self._at(self._order[index])

    def __iter__(self) -> Iterator[Element]:
        return map(self._at, self._order)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (tuple, StoredElements)) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def _at(self, place: int) -> Element:
        found = self._decoded[place]
        if found is None:
            found = self._decoded[place] = cast(Element, adapter(Element).validate_json(self._lines[place]))
        return found
