"""Short descriptions of a scope, for chips and single lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ragcore.types import Scope
from ragcore.types.scope import kinds_in_words, pages_in_words, sections_in_words, within

SHOWN = 3  # page ranges that are named where there are many more


def pages_in_brief(scope: Scope) -> str:
    """Summary such as ``pages 1–2, 4–5, 7–8 and 27 more``; a few pages are all named; "" means all pages."""
    more = len(scope.pages) - SHOWN
    if more < 3:
        return pages_in_words(scope)
    named = pages_in_words(replace(scope, pages=scope.pages[:SHOWN])).replace(" and ", ", ")
    return f"{named} and {more} more"


def only(scope: Scope) -> str:
    """Sections, pages and kinds of a question: ``Only pages 3–7, tables``; "" if it is of whole documents."""
    parts = [part for part in (sections_in_words(scope), pages_in_brief(scope), kinds_in_words(scope)) if part]
    return f"Only {', '.join(parts)}" if parts else ""


def searched_in(scope: Scope, documents: int, titles: Mapping[str, str] | None = None) -> str:
    """Scope summary, as `within` has it: ``12 documents``, ``pages 3–7 and 12 of 1 document, only tables``."""
    pages, rest = pages_in_brief(scope), within(replace(scope, pages=()), documents, titles)
    return f"{pages} of {rest}" if pages else rest
