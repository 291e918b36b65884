"""A table found twice, by its rows and as a whole, is one finding.

Rows and composites are ranked together. Where the ranking holds a composite and rows of it, they are folded into the
composite: it takes the place of the best of them, so that the places behind go to other passages, and what the writer
gets is the table rather than one row of it and then another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragcore.retrieve.fuse import ranking
from ragcore.types import Chunk


@dataclass(frozen=True, slots=True)
class Folded:
    """``scores`` of what remains, by chunk id; ``best`` gives, for each composite in it, the id of its best finding: a
    row of it or itself; ``owners`` gives, for each row that does not remain, the composite that it went into."""

    scores: dict[str, float]
    best: dict[str, str]
    owners: dict[str, str]


def fold(scores: Mapping[str, float], chunks: Mapping[str, Chunk]) -> Folded:
    """``scores`` without the tiles of any composite that it holds; a composite has the best score of them and itself.

    ``chunks`` holds at least the ids of ``scores``. Composites do not overlap, so a tile belongs to one at most.
    """
    owner: dict[tuple[str, int], str] = {}
    for chunk_id in scores:
        chunk = chunks[chunk_id]
        if chunk.tiles is not None:
            owner.update({(chunk.doc_id, tile): chunk_id for tile in range(chunk.tiles[0], chunk.tiles[1] + 1)})
    folded: dict[str, float] = {}
    best: dict[str, str] = {}
    owners: dict[str, str] = {}
    for chunk_id in ranking(scores):
        chunk = chunks[chunk_id]
        kept = chunk_id if chunk.tiles is not None else owner.get((chunk.doc_id, chunk.index), chunk_id)
        folded.setdefault(kept, scores[chunk_id])
        if kept != chunk_id:
            owners[chunk_id] = kept
        if chunks[kept].tiles is not None:
            best.setdefault(kept, chunk_id)
    return Folded(folded, best, owners)
