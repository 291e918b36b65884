"""A question read by rules of English."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragcore.offline.about import asks_about_whole
from ragcore.offline.asks import asks
from ragcore.offline.called import called, compares
from ragcore.offline.decompose import by_rules, several
from ragcore.offline.focus import focused
from ragcore.offline.followups import follow_up
from ragcore.offline.kinds import kinds_called
from ragcore.text.languages import language_of
from ragcore.types.question import Called, FollowUp, Question


class RuleAnalyser:
    """`QuestionAnalyser` without a model."""

    def read(self, text: str) -> Question:
        """The question ``text``, which stands alone."""
        return _read(text)

    def follow_up(self, text: str, earlier: Sequence[str]) -> FollowUp:
        return follow_up(text, earlier)


@lru_cache(maxsize=256)
def _read(text: str) -> Question:
    main = asks(text)[0]
    return Question(
        text,
        main,
        focused(text),
        parts=tuple(by_rules(text)),
        composed=several(text),
        names=tuple(called(main)),
        called=tuple(Called(words, titled) for words, titled in kinds_called(text)),
        compares=compares(main),
        whole=asks_about_whole(main),
        language=language_of(main),
    )
