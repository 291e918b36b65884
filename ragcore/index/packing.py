"""Serialisation: dataclasses ↔ compressed JSON for SQLite. A document's elements are decoded one by one, on demand."""

from __future__ import annotations

import copy
import json
import re
import zlib
from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from ragcore.errors import StoreError
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


_BEGINS = re.compile(rb'\{"id":(\d+),"kind":"[^"]*","start":(\d+),"end":(\d+),')
_NOISE = re.compile(rb'"noise":(null|")')


class StoredElements(Sequence[Element]):
    """Elements of a stored document, each decoded on demand: a filing has some thousands, mostly rows and cells of
    tables, and an answer reads a few dozen. Equal to a tuple of the same elements. Thread-safe: at worst one is decoded
    twice.

    They are stored as one JSON array. Where each begins, its span and whether it is noise are found by the JSON keys,
    which can occur nowhere else: inside a string a quotation mark is escaped.
    """

    def __init__(self, packed: bytes) -> None:
        """Index the elements. Raises `StoreError` if ``packed`` is no array of elements."""
        try:
            self._json = zlib.decompress(packed)
        except zlib.error:
            self._json = b""
        begins, noise = list(_BEGINS.finditer(self._json)), _NOISE.findall(self._json)
        if len(begins) != len(noise) or (not begins and self._json != b"[]"):
            raise StoreError("The stored text of this document can't be read.", hint="Read it again.")
        starts = [match.start() for match in begins]
        self._places = list(zip(starts, [start - 1 for start in starts[1:]] + [len(self._json) - 1]))
        # Start, end and id: the sort key of the body.
        self._keys = [(int(match[2]), int(match[3]), int(match[1])) for match in begins]
        self._quiet = [said == b"null" for said in noise]
        self._decoded: list[Element | None] = [None] * len(begins)
        self._order: Sequence[int] = range(len(begins))

    @property
    def characters(self) -> int:
        """Length of their JSON."""
        return len(self._json)

    def body(self) -> StoredElements:
        """Elements that are no noise, in the order of the text."""
        made = copy.copy(self)
        made._order = sorted((at for at, quiet in enumerate(self._quiet) if quiet), key=self._keys.__getitem__)
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
            start, end = self._places[place]
            found = self._decoded[place] = cast(Element, adapter(Element).validate_json(self._json[start:end]))
        return found
