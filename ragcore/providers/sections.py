"""A section of a report without a language model: values and tables where they are certain, and for everything else
that its guidance asks for the evidence, quoted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragcore.companies import of_others
from ragcore.config import AnswerSettings
from ragcore.markdown import escape
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import Request, Reranker, StaticStream
from ragcore.providers.evidence import Evidence
from ragcore.providers.offline import listing
from ragcore.providers.quotable import Quotable, quotables
from ragcore.providers.table_fields import table_field
from ragcore.providers.value_fields import FieldValue, value_field
from ragcore.reports import Field, Stated, missing_mark
from ragcore.terms import Wanted
from ragcore.types import Usage

_NEAREST = 3
_LONGEST_TITLE = 70  # characters of a document's name between quotes
_MOST_LACKING = 8  # documents without a value that are named one by one
_OF_ONE = 3  # quotes for one of several requirements; for the only one as many as the answerer gives


class OfflineSections:
    """`LLM` for requests with a ``form``. ``reranker`` of None ranks by words alone."""

    name = "offline"
    extractive = True

    def __init__(self, reranker: Reranker | None, settings: AnswerSettings) -> None:
        self._reranker = reranker
        self._settings = settings

    def stream(self, request: Request) -> StaticStream:
        """The section, one requirement at a time. The prompt is not read."""
        return StaticStream(self._write(request), model=self.name, usage=Usage())

    def _write(self, request: Request) -> Iterator[str]:
        form = request.form
        assert form is not None  # what is asked without one is asked of the answerer
        pieces = form.requirements or (request.question,)
        everything = " ".join((request.question, *pieces))
        found = list(quotables(everything, Wanted(everything, request.terms), request.sources))
        evidence = Evidence(request, found, self._reranker, self._settings)
        if form.kind == "table":
            texts = [table_field(request.question, form, request.sources)]
            pieces = (request.question,)
        elif form.kind == "value":
            values = [
                value_field(request.question, piece, form.unit, request.terms, found, evidence.own, request.stated)
                for piece in pieces
            ]
            several = len({quote.source.doc_id for quote in found}) > 1
            texts = [
                "\n\n".join(
                    part for part in (_values(each, several), *_lacking(piece, each, found, request.stated)) if part
                )
                for piece, each in zip(pieces, values)
            ]
        else:
            texts = self._quoted(form, pieces, evidence)
        if any(texts):
            yield from _laid_out(pieces, texts)
            return
        yield NO_ANSWER
        nearest = evidence.nearest(pieces, _NEAREST)
        if nearest:
            yield " The nearest:\n\n"
            yield from listing(nearest)

    def _quoted(self, form: Field, pieces: Sequence[str], evidence: Evidence) -> list[str]:
        alone = len(pieces) == 1
        most = self._settings.offline_sentences if alone else _OF_ONE
        mark = "**" if alone else "*"  # what is asked for is printed bold where there are several such

        def quotes(piece: str, alone: bool) -> str:
            return "".join(listing(evidence.on(piece, most, alone=alone), mark=mark, longest=_LONGEST_TITLE)).strip()

        texts = [quotes(piece, alone) for piece in pieces]
        if not any(texts) and evidence.own:
            # The document has such a section; what it says of none of this by name is still what it says.
            texts[0] = quotes(pieces[0], True)
        return texts


def _values(found: Sequence[FieldValue], several: bool) -> str:
    return "\n".join(f"- {escape(one.quote.source.title)}: {one.text}" if several else one.text for one in found)


def _lacking(piece: str, given: Sequence[FieldValue], found: Sequence[Quotable], stated: Stated) -> list[str]:
    """That a value is missing, for each document of a company of which none was given though others' was."""
    titles = {**stated.titles, **{quote.source.doc_id: quote.source.title for quote in found}}
    of = stated.companies
    has = [of.get(one.quote.source.doc_id, ()) for one in given]
    lacking = [
        title
        for doc_id, title in titles.items()
        if has and all(of_others(of.get(doc_id, ()), companies) for companies in has)
    ]
    marks = [missing_mark(f"{piece} ({title})") for title in lacking[:_MOST_LACKING]]
    more = len(lacking) - _MOST_LACKING
    return [*marks, *([missing_mark(f"{piece} ({more} more documents)")] if more > 0 else [])]


def _laid_out(pieces: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    """Each piece with its text; those of which the very same is said stand together."""
    together: dict[frozenset[str] | str, list[str]] = {}
    first: dict[frozenset[str] | str, str] = {}
    for piece, text in zip(pieces, texts):
        same = frozenset(text.splitlines()) if text else piece
        together.setdefault(same, []).append(piece)
        first.setdefault(same, text or missing_mark(piece))
    for same, named in together.items():
        if len(pieces) > 1:
            # "its products (what the company makes)" refers to what stands above it.
            name = "; ".join(piece.removesuffix(f" ({pieces[0]})") for piece in named)
            yield f"**{escape(name[:1].upper() + name[1:])}**\n\n"
        yield f"{first[same]}\n\n"
