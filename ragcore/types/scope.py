"""Scopes as text: parsing of typed page ranges, and descriptions for display."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ragcore.errors import InputError
from ragcore.types import Scope

KINDS = {"text": "text", "table": "tables", "figure": "figures"}  # display name of each `ChunkKind`
_PART = re.compile(r"(\d{1,5})(?:\s*[-–—]\s*(\d{1,5}))?")


def page_ranges(text: str, last: int | None = None) -> tuple[tuple[int, int], ...]:
    """Parsed page ranges, sorted and merged: ``3-7, 12`` → ``((3, 7), (12, 12))``; ``()`` for an empty text.

    ``last`` is the highest existing page, if known. Raises `InputError` that names the faulty part.
    """
    ranges = [_range(part.strip()) for part in re.split("[,;]", text) if part.strip()]
    if last is not None and ranges and all(first > last for first, _ in ranges):
        raise InputError(
            f"The longest document in scope has {last} page{'s' * (last > 1)}.", hint="Count pages from 1."
        )
    joined: list[tuple[int, int]] = []
    for first, end in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((first, end))
    return tuple(joined)


def checked(scope: Scope) -> Scope:
    """``scope``, if it is valid. Raises `InputError` for invalid pages, kinds or sections."""
    for first, end in scope.pages:
        if not 1 <= first <= end:
            raise InputError(f"{first}-{end} is not a range of pages.", hint="Count pages from 1, lowest first.")
    for kind in scope.kinds:
        if kind not in KINDS:
            raise InputError(f"There is no kind of passage {kind!r}.", hint=f"Choose one of {', '.join(KINDS)}.")
    for section in scope.sections:
        if not (section.path and 0 <= section.start < section.end):
            raise InputError("A section in scope has no heading or no text.", hint="Choose it again in Contents.")
    return scope


def _range(part: str) -> tuple[int, int]:
    found = _PART.fullmatch(part)
    if found is None:
        raise InputError(f"“{part}” is not a page.", hint="Enter pages or ranges, for example 3-7, 12.")
    first = int(found.group(1))
    end = int(found.group(2) or first)
    if first == 0:
        raise InputError("There's no page 0.", hint="Count pages from 1.")
    if end < first:
        raise InputError(f"“{part}” runs backwards.", hint=f"Write {end}-{first}.")
    return first, end


def pages_typed(scope: Scope) -> str:
    """Pages of ``scope`` in input syntax: ``3-7, 12``."""
    return ", ".join(str(first) if first == end else f"{first}-{end}" for first, end in scope.pages)


def pages_in_words(scope: Scope) -> str:
    """Pages in words: ``page 12``, ``pages 3–7 and 12``; "" for all."""
    parts = [str(first) if first == end else f"{first}–{end}" for first, end in scope.pages]
    if not parts:
        return ""
    noun = "page" if len(parts) == 1 and scope.pages[0][0] == scope.pages[0][1] else "pages"
    return f"{noun} {_listed(parts)}"


def kinds_in_words(scope: Scope) -> str:
    """Kinds in words: ``tables and figures``; "" for all."""
    return _listed([words for kind, words in KINDS.items() if kind in scope.kinds])


def sections_in_words(scope: Scope, titles: Mapping[str, str] | None = None) -> str:
    """Sections in words, each with its document as far as ``titles`` has it: ``“Item 7. Discussion” of AMD 10-K``; ""
    for all."""
    of = {doc_id: f" of {title}" for doc_id, title in (titles or {}).items()}
    return _listed([f"“{one.label}”{of.get(one.doc_id, '')}" for one in scope.sections])


def within(scope: Scope, searched: int, titles: Mapping[str, str] | None = None) -> str:
    """Scope in words: ``12 documents``, ``pages 3–7 and 12 of 1 document, only tables``, ``pages 3–7 of “Item 7.
    Discussion” of AMD 10-K``. ``titles`` are those of documents, by id."""
    words = sections_in_words(scope, titles) or f"{searched:,} document{'s' * (searched != 1)}"
    pages, kinds = pages_in_words(scope), kinds_in_words(scope)
    return (f"{pages} of {words}" if pages else words) + (f", only {kinds}" if kinds else "")


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def nothing_found(scope: Scope, lengths: Sequence[int] = ()) -> str:
    """Message that ``scope``, whose documents have ``lengths`` pages (if known), has no hits, with the reason if it is
    evident."""
    named, kinds = pages_in_words(scope), kinds_in_words(scope)
    words = "Nothing found" + (f" on {named}" if named else "") + (f" among {kinds}" if kinds else "")
    words += f" in {sections_in_words(scope)}" if scope.sections else ""
    last = max(lengths, default=0)
    if not (named and last) or any(first <= last for first, _ in scope.pages):
        return f"{words}."
    longest = "the document" if len(lengths) == 1 else "the longest document"
    return f"{words}: {longest} has {last} page{'s' * (last > 1)}."
