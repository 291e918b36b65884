"""LightRAG (Guo et al. 2024), by its modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragcore.protocols import Asked
from ragcore.structure.passages import Passages
from ragcore.types import EVERYTHING, Chunk, Document, NamePath, Scope


@dataclass(frozen=True)
class LightRag:
    """`Structure` of the mode *naive*: passages by cosine alone."""

    passages: Passages

    def leaves(self, asked: Asked, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        return self.passages.best(self.passages.cosines(asked.vector, scope), k)

    def paths(
        self,
        asked: Asked,
        ids: Sequence[str],
        chunks: Callable[[Sequence[str]], Sequence[Chunk]],
        document: Callable[[str], Document],
        scope: Scope = EVERYTHING,
    ) -> list[NamePath]:
        return []
