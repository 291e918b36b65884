"""Documents that a question calls by what they are: "Which law governs the supply agreement?", "What does the lease say
about pets?". Such words name no document by themselves; they do where a title has them all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragcore.text.words import word_set

# Kinds of documents, those that mean the same together.
_ALIKE = (
    ("agreement", "contract"),
    ("lease", "tenancy"),
    ("licence", "license"),
    ("guidance", "guideline"),
    *((kind,) for kind in (
        "policy", "protocol", "handbook", "manual", "deed", "memorandum", "regulation", "statute", "directive",
        "ordinance", "indenture", "charter", "brochure", "monograph",
    )),
)  # fmt: skip
_KIND = "|".join(kind for alike in _ALIKE for kind in alike)
# The phrase ends there: "the lease liability" and "the policy of the board" are no documents.
_CALLED = re.compile(
    rf"\b(?:the|our|my)\s+(?P<phrase>(?P<which>(?:[a-z][\w-]*\s+){{0,3}}?)(?P<kind>{_KIND}))s?\b(?=\W*$|\s*[,;?]|\s+"
    r"(?:sa(?:y|ys|id)|and|or|provides?|requires?|allows?|ends?|expires?|starts?|begins?|lasts?|contains?|have|has|defines?|"
    r"means?|permits?|mentions?|covers?|governed|signed|dated|valid|effective|terminates?|differ)\b)"
)
_LINKING = word_set("of for in to on by with from and or that which is are was does did do")


def kinds_called(question: str) -> Iterator[tuple[str, tuple[frozenset[str], ...]]]:
    """The words by which ``question`` calls documents, and for each word those one of which a title has to hold."""
    for match in _CALLED.finditer(question):
        which = match["which"].split()
        if not _LINKING.isdisjoint(which):
            continue
        alike = next(alike for alike in _ALIKE if match["kind"] in alike)
        yield match["phrase"], (*(frozenset({word}) for word in which), frozenset(alike))
