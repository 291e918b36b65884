"""The chunks of an index file as columns: their ids, documents, kinds and pages, and which of them a scope takes in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ragcore.mapped import Arrays
from ragcore.types import ChunkKind, Entry, Scope

KINDS: tuple[str, ...] = get_args(ChunkKind)
Mask = NDArray[np.bool_]


def keys(texts: Iterable[str]) -> NDArray[np.uint64]:
    """64 bits that stand for each text, the same in every process (BLAKE2b)."""
    digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8")


class Rows:
    """Columns over ``n`` chunks, as `columns` or `joined` made them.

    ``owners`` int32 ``(n,)`` is the number of each chunk's document in ``doc_ids``. Read-only; safe for threads.
    """

    def __init__(self, arrays: Arrays, meta: dict[str, Any]) -> None:
        self.doc_ids: list[str] = meta["docs"]
        self.numbers = {doc_id: number for number, doc_id in enumerate(self.doc_ids)}
        self.owners = arrays["owners"]
        self._arrays = arrays
        # What a number stands for is written in the file, so that a kind more or less does no harm.
        self._kinds: list[str] = meta["kinds"]

    def __len__(self) -> int:
        return len(self.owners)

    def chunk_id(self, row: int) -> str:
        start, end = self._arrays["id_starts"][row : row + 2].tolist()
        return self._arrays["id_bytes"][start:end].tobytes().decode("utf-8", "surrogatepass")

    def chunk_ids(self, rows: NDArray[np.int64]) -> list[str]:
        """Those of many rows, in a fraction of the time."""
        places, text = self._arrays["id_starts"], self._arrays["id_bytes"].data
        spans = zip(places[rows].tolist(), places[rows + 1].tolist())
        return [str(text[start:end], "utf-8", "surrogatepass") for start, end in spans]

    def find(self, chunk_ids: Sequence[str]) -> NDArray[np.int64]:
        """The row of each id, int64 ``(len(chunk_ids),)``; -1 where there is none."""
        return self.find_keys(chunk_ids, keys(chunk_ids))

    def find_keys(self, chunk_ids: Sequence[str], id_keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """`find`, where the ids' `keys` are known."""
        known, order = self._arrays["id_keys"], self._arrays["id_order"]
        found = np.full(len(chunk_ids), -1, dtype=np.int64)
        if not len(known):
            return found
        places = np.searchsorted(known, id_keys)
        for at in np.flatnonzero(known[np.minimum(places, len(known) - 1)] == id_keys).tolist():
            place = int(places[at])
            # Two ids may have one key.
            while place < len(known) and known[place] == id_keys[at]:
                row = int(order[place])
                if self.chunk_id(row) == chunk_ids[at]:
                    found[at] = row
                    break
                place += 1
        return found

    def of_documents(self, doc_ids: Iterable[str]) -> Mask:
        """Whether each chunk belongs to one of ``doc_ids``, bool ``(n,)``."""
        wanted = np.zeros(len(self.doc_ids), dtype=bool)
        wanted[[self.numbers[doc_id] for doc_id in doc_ids if doc_id in self.numbers]] = True
        mask: Mask = wanted[self.owners]
        return mask

    def within(self, scope: Scope) -> Mask | None:
        """Whether each chunk is in ``scope``, bool ``(n,)``; None where all are."""
        masks: list[Mask] = []
        if scope.doc_ids is not None:
            masks.append(self.of_documents(scope.doc_ids))
        if scope.kinds:
            wanted = [number for number, kind in enumerate(self._kinds) if kind in scope.kinds]
            masks.append(np.isin(self._arrays["kinds"], wanted))
        if scope.pages:
            first, last = self._arrays["first_pages"], self._arrays["last_pages"]
            touched = [(first <= end) & (last >= start) for start, end in scope.pages]
            masks.append(np.logical_or.reduce(touched))
        return np.logical_and.reduce(masks) if masks else None


def columns(entries: Sequence[Entry]) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and meta data of `Rows` over ``entries``, in this order."""
    documents: dict[str, int] = {}
    owners = [documents.setdefault(entry.doc_id, len(documents)) for entry in entries]
    names = [entry.chunk_id.encode("utf-8", "surrogatepass") for entry in entries]
    arrays: Arrays = {
        "owners": np.array(owners, dtype=np.int32),
        "kinds": np.array([KINDS.index(entry.kind) for entry in entries], dtype=np.uint8),
        "first_pages": np.array([entry.first_page for entry in entries], dtype=np.int32),
        "last_pages": np.array([entry.last_page for entry in entries], dtype=np.int32),
        "id_bytes": np.frombuffer(b"".join(names), dtype=np.uint8),
        "id_starts": _starts(np.array([len(name) for name in names], dtype=np.int64)),
    }
    arrays |= _by_key(keys(entry.chunk_id for entry in entries))
    return arrays, {"docs": list(documents), "kinds": list(KINDS)}


def joined(parts: Sequence[tuple[Rows, Mask]]) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and meta data of `Rows` over the chunks that each mask keeps, part after part."""
    documents: dict[str, int] = {}
    kinds: dict[str, int] = {kind: number for number, kind in enumerate(KINDS)}
    pieces: dict[str, list[NDArray[Any]]] = {}
    for rows, keep in parts:
        arrays = rows._arrays
        owners = rows.owners[keep]
        used = np.zeros(len(rows.doc_ids), dtype=bool)
        used[owners] = True
        renumbered = np.zeros(len(rows.doc_ids), dtype=np.int32)
        for number in np.flatnonzero(used).tolist():
            renumbered[number] = documents.setdefault(rows.doc_ids[number], len(documents))
        kind_of = np.array([kinds.setdefault(kind, len(kinds)) for kind in rows._kinds], dtype=np.uint8)
        lengths = np.diff(arrays["id_starts"])
        key_of = np.empty(len(rows), dtype=np.uint64)
        key_of[arrays["id_order"]] = arrays["id_keys"]
        piece: Arrays = {
            "owners": renumbered[owners],
            "kinds": kind_of[arrays["kinds"][keep]],
            "first_pages": arrays["first_pages"][keep],
            "last_pages": arrays["last_pages"][keep],
            "id_bytes": arrays["id_bytes"][np.repeat(keep, lengths)],
            "lengths": lengths[keep],
            "keys": key_of[keep],
        }
        for name, values in piece.items():
            pieces.setdefault(name, []).append(values)
    whole = {name: np.concatenate(values) for name, values in pieces.items()}
    out: Arrays = {name: whole[name] for name in ("owners", "kinds", "first_pages", "last_pages", "id_bytes")}
    out["id_starts"] = _starts(whole["lengths"])
    out |= _by_key(whole["keys"])
    return out, {"docs": list(documents), "kinds": list(kinds)}


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of pieces of these lengths begins, and where the last ends."""
    starts: NDArray[np.int64] = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    return starts


def _by_key(values: NDArray[np.uint64]) -> Arrays:
    order = np.argsort(values, kind="stable")
    return {"id_keys": values[order], "id_order": order.astype(np.int32)}
