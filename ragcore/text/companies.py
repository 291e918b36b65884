"""Companies that documents belong to: two companies may state different revenues without disagreeing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragcore.text.words import word_set
from ragcore.types import Document

Company = frozenset[str]  # lower-case words of its name, without its legal form

_FILING = re.compile(r"^(?P<name>.+?) Form (?:\d|S-|DEF )")  # title format of `ragcore.ingest.titles`
_FORM = (
    r"(?:Inc|INC|Incorporated|INCORPORATED|Corp|CORP|Corporation|CORPORATION|Company|COMPANY|Co|CO|Ltd|LTD|Limited|"
    r"LIMITED|LLC|L\.L\.C|LP|L\.P|PLC|plc|AG|SE|GmbH|S\.A|N\.V|Oyj|AB|ASA)"
)
_NAME = re.compile(rf"\b((?:(?:[A-Z][\w’'&.-]*|&|of|and|the)\s+){{0,5}}[A-Z][\w’'&-]*),?\s+{_FORM}\b")
_LEGAL = word_set(
    "the a and of inc incorporated corp corporation company companies co ltd limited llc lp plc ag se gmbh sa nv oyj "
    "ab asa group holding holdings"
)
_OTHERS = re.compile(r"\b(?:stock|exchange|nasdaq|trust|bank|depository|transfer|computershare)\b", re.IGNORECASE)
_COVER = 2  # first pages, searched for the document's company


def companies(document: Document) -> tuple[Company, ...]:
    """Company that filed ``document``, else those named by its title and first pages, if any."""
    return _known(list(_named(document)))


def company_name(document: Document) -> str:
    """First of `companies` as printed, "" if there is none."""
    return next((name for name in _named(document) if _known([name])), "")


def company(name: str) -> tuple[Company, ...]:
    """Company called ``name``."""
    return _known([name])


def companies_in(text: str) -> list[str]:
    """Company names in ``text`` with their legal form, without stock exchanges and share registrars."""
    found = (match for match in _NAME.finditer(text) if text[match.end() : match.end() + 1] not in ("-", "‐", "/"))
    return [match[0] for match in found if not _OTHERS.search(match[0])]


def of_others(these: Sequence[Company], those: Sequence[Company]) -> bool:
    """Whether two documents are known to belong to different companies."""
    return bool(these and those) and not any(one <= other or other <= one for one in these for other in those)


def passed_over(documents: Iterable[str], given: Iterable[str], of: Mapping[str, Sequence[Company]]) -> list[str]:
    """Documents of ``documents`` known to belong to other companies than all ``given`` ones, if any are given; ``of``
    has the companies of each document."""
    has = [of.get(doc_id, ()) for doc_id in set(given)]
    return [one for one in documents if has and all(of_others(of.get(one, ()), those) for those in has)]


def _named(document: Document) -> Iterator[str]:
    filed = _FILING.match(document.title)
    if filed:
        yield filed["name"]
        return
    opening = [document.text[one.start : one.end] for one in document.body if one.page <= _COVER and one.table is None]
    for part in (document.title, *opening):
        for match in _NAME.finditer(part):
            if not _OTHERS.search(match[1]):
                yield " ".join(match[0].split())


def _known(names: Sequence[str]) -> tuple[Company, ...]:
    words = (frozenset(re.findall(r"[^\W_]+", name.lower())) - _LEGAL for name in names)
    return tuple(dict.fromkeys(one for one in words if one))
