"""Verdict on a sentence of a draft: what the documents in scope say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragcore.check.sentences import Checkable
from ragcore.types import Scope
from ragcore.types.check import CheckedSentence

if TYPE_CHECKING:
    from ragcore.check.checks import CheckedLibrary


class Checker:
    """Checker of sentences against the documents in ``scope``."""

    def __init__(self, library: CheckedLibrary, scope: Scope) -> None:
        self._library, self._scope = library, scope

    def verdict(self, sentence: Checkable) -> CheckedSentence:
        """Raises what retrieval raises."""
        retrieval = self._library.search.retrieve(sentence.text, self._scope)
        return CheckedSentence(sentence.text, sentence.start, sentence.end, "not_found", f"{len(retrieval.hits)} near")
