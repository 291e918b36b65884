"""A question as it is searched for: what it asks, and what it also means in the terms of the trade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragcore.retrieve.synonyms import Synonyms

if TYPE_CHECKING:
    from ragcore.config.settings import WordingSettings
    from ragcore.types.question import Question


@dataclass(frozen=True, slots=True)
class Wording:
    """``text`` is what is searched for; ``also`` are other words for terms in it, which count for less."""

    text: str
    also: tuple[str, ...] = ()

    @property
    def terms(self) -> str:
        """``also`` as one text."""
        return "; ".join(self.also)


def wording(question: Question, synonyms: Synonyms | None, settings: WordingSettings) -> Wording:
    """How ``question`` is searched for; without other terms where there are no ``synonyms``."""
    also = synonyms.of(question.text)[: settings.terms] if synonyms is not None else ()
    return Wording(question.focus if settings.focus else question.text, also)
