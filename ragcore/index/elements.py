"""The elements of a stored document, each made only when it is asked for.

A filing has some thousands, most of them rows and cells of tables, and an answer looks at a few dozen. They are stored
as one JSON array (`ragcore.index.packing`); where each begins, its span and whether it is noise are read from the JSON
by its keys, which can stand nowhere else: inside a string a quotation mark is escaped.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import overload

from ragcore.errors import StoreError
from ragcore.index.packing import made
from ragcore.types import Element

_BEGINS = re.compile(rb'\{"id":(\d+),"kind":"[^"]*","start":(\d+),"end":(\d+),')
_BROKEN, _REPAIR = "The stored text of this document can't be read.", "Read it again."
_NOISE = re.compile(rb'"noise":(null|")')


class StoredElements(Sequence[Element]):
    """Elements like a tuple of them, equal to one with the same elements. Safe for many threads: at worst an element
    is made twice."""

    __slots__ = ("_json", "_keys", "_made", "_places", "_quiet")

    def __init__(self, packed: bytes) -> None:
        """Raises `StoreError` where ``packed`` is no array of elements."""
        try:
            self._json = zlib.decompress(packed)
        except zlib.error as error:
            raise StoreError(_BROKEN, hint=_REPAIR) from error
        begins, noise = list(_BEGINS.finditer(self._json)), _NOISE.findall(self._json)
        if len(begins) != len(noise) or (not begins and self._json != b"[]"):
            raise StoreError(_BROKEN, hint=_REPAIR)
        starts = [match.start() for match in begins]
        ends = [start - 1 for start in starts[1:]] + [len(self._json) - 1]
        self._places = list(zip(starts, ends))
        # Start, end and id, in which order the body is read.
        self._keys = [(int(match[2]), int(match[3]), int(match[1])) for match in begins]
        self._quiet = [said == b"null" for said in noise]
        self._made: list[Element | None] = [None] * len(begins)

    @property
    def characters(self) -> int:
        """How long their JSON is."""
        return len(self._json)

    def body(self) -> StoredBody:
        """Those that are no noise, in the order of the text."""
        return StoredBody(self, sorted((i for i, quiet in enumerate(self._quiet) if quiet), key=self._keys.__getitem__))

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, index: int) -> Element: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Element, ...]: ...
    def __getitem__(self, index: int | slice) -> Element | tuple[Element, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        found = self._made[index]
        if found is None:
            start, end = self._places[index]
            found = self._made[index] = made(self._json[start:end], Element)
        return found

    def __iter__(self) -> Iterator[Element]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (tuple, StoredElements)) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))


class StoredBody(Sequence[Element]):
    """Some of the elements, in another order."""

    __slots__ = ("_elements", "_order")

    def __init__(self, elements: StoredElements, order: list[int]) -> None:
        self._elements, self._order = elements, order

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Element: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Element, ...]: ...
    def __getitem__(self, index: int | slice) -> Element | tuple[Element, ...]:
        if isinstance(index, slice):
            return tuple(self._elements[i] for i in self._order[index])
        return self._elements[self._order[index]]

    def __iter__(self) -> Iterator[Element]:
        return (self._elements[i] for i in self._order)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (tuple, StoredBody)) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))
