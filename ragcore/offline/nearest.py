"""What comes nearest to something that was asked for and is not there, so that a person can see for themselves."""

from __future__ import annotations

from collections.abc import Sequence

from ragcore.config.settings import AnswerSettings
from ragcore.offline.evidence import Evidence
from ragcore.offline.quotable import quotables
from ragcore.protocols import Reranker, WritingTask
from ragcore.text.terms import Term, Wanted
from ragcore.types import Source


def nearest(
    heading: str,
    what: str,
    terms: Sequence[Term],
    sources: Sequence[Source],
    reranker: Reranker | None,
    settings: AnswerSettings,
    most: int,
) -> list[str]:
    """The markers of at most ``most`` sentences and rows of ``sources``, best first."""
    asked = f"{heading}: {what}"
    found = list(quotables(asked, Wanted(asked, terms), sources))
    request = WritingTask(heading, tuple(sources), tuple(terms))
    return [quote.marker for quote in Evidence(request, found, reranker, settings).nearest([what], most)]
