"""A section of a report without a language model: values and tables where they are certain, and for everything else
that its guidance asks for the evidence, quoted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragcore.config.settings import AnswerSettings
from ragcore.offline.evidence import Evidence
from ragcore.offline.quotable import Quotable, quotables
from ragcore.offline.table_fields import table_field
from ragcore.offline.value_fields import FieldValue, value_field
from ragcore.offline.writer import listing
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import Capabilities, ModelRequest, Reranker, StaticStream, WritingTask
from ragcore.text.companies import passed_over
from ragcore.text.markdown import escape
from ragcore.text.short_titles import short_titles
from ragcore.text.terms import Wanted
from ragcore.types import OFFLINE, Usage
from ragcore.types.report import Field, KnownFacts, Missing, missing_mark

_NEAREST = 3
_MOST_LACKING = 8  # documents without a value that are named one by one
_OF_ONE = 3  # quotes for one of several requirements; for the only one as many as the answerer gives


class OfflineSections:
    """`LLM` for requests with a ``form``. ``reranker`` of None ranks by words alone."""

    name = OFFLINE
    capabilities = Capabilities(extractive=True)

    def __init__(self, reranker: Reranker | None, settings: AnswerSettings) -> None:
        self._reranker = reranker
        self._settings = settings

    def stream(self, request: ModelRequest) -> StaticStream:
        """The section, one requirement at a time. The prompt is not read."""
        stream = StaticStream((), model=self.name, usage=Usage())
        stream.parts = self._write(request.task, stream)
        return stream

    def _write(self, request: WritingTask, stream: StaticStream) -> Iterator[str]:
        form = request.form
        assert form is not None  # what is asked without one is asked of the answerer
        pieces = form.requirements or (request.question,)
        everything = " ".join((request.question, *pieces))
        found = list(quotables(everything, Wanted(everything, request.terms), request.sources))
        evidence = Evidence(request, found, self._reranker, self._settings)
        titles = short_titles({source.doc_id: source.title for source in request.sources}) | dict(request.stated.titles)
        lacks: Sequence[Sequence[Missing]] = ((),) * len(pieces)
        if form.kind == "table":
            texts = [table_field(request.question, form, request.sources)]
            pieces = (request.question,)
        elif form.kind == "value":
            values = [
                value_field(request.question, piece, form.unit, request.terms, found, evidence.own, request.stated)
                for piece in pieces
            ]
            several = len({quote.source.doc_id for quote in found}) > 1
            texts = [_values(each, several, titles) for each in values]
            lacks = [
                _lacking(piece, [one.quote for one in each], titles, request.stated)
                for piece, each in zip(pieces, values)
            ]
        else:
            quotes = self._quoted(form, pieces, evidence)
            mark = "**" if len(pieces) == 1 else "*"  # what is asked for is printed bold where there are several such
            texts = ["".join(listing(each, mark=mark, titles=titles)).strip() for each in quotes]
            lacks = _lacking_of_each(request, pieces, quotes, titles)
        if any(texts):
            stream.missing = tuple(one for each in lacks for one in each)
            yield from _laid_out(pieces, texts, lacks)
            return
        yield NO_ANSWER
        nearest = evidence.nearest(pieces, _NEAREST)
        if nearest:
            yield " The nearest passages:\n\n"
            yield from listing(nearest)

    def _quoted(self, form: Field, pieces: Sequence[str], evidence: Evidence) -> list[list[Quotable]]:
        alone = len(pieces) == 1
        most = self._settings.offline_sentences if alone else _OF_ONE
        quotes = [evidence.on(piece, most, alone=alone) for piece in pieces]
        if not any(quotes) and evidence.own:
            # The document has such a section; what it says of none of this by name is still what it says.
            quotes[0] = evidence.on(pieces[0], most, alone=True)
        return quotes


def _values(found: Sequence[FieldValue], several: bool, titles: Mapping[str, str]) -> str:
    if not several:
        return "\n".join(one.text for one in found)
    return "\n".join(f"- {escape(titles[one.quote.source.doc_id])}: {one.text}" for one in found)


def _lacking_of_each(
    request: WritingTask, pieces: Sequence[str], quotes: Sequence[Sequence[Quotable]], titles: Mapping[str, str]
) -> list[list[Missing]]:
    """`_lacking` of each piece; of a document of which nothing at all is quoted the whole section, once."""
    nothing = _others([quote for each in quotes for quote in each], titles, request.stated)
    rest = {doc_id: title for doc_id, title in titles.items() if doc_id not in nothing} if len(pieces) > 1 else titles
    called = [_called(piece, pieces) for piece in pieces]
    lacks = [_lacking(piece, each, rest, request.stated) for piece, each in zip(called, quotes)]
    if len(pieces) > 1:
        lacks[-1] += _of_documents(request.question, {doc_id: titles[doc_id] for doc_id in nothing})
    return lacks


def _lacking(piece: str, given: Sequence[Quotable], titles: Mapping[str, str], stated: KnownFacts) -> list[Missing]:
    """That ``piece`` is missing, for each document of a company of which none was given though others' was."""
    return _of_documents(piece, {doc_id: titles[doc_id] for doc_id in _others(given, titles, stated)})


def _others(given: Sequence[Quotable], documents: Iterable[str], stated: KnownFacts) -> list[str]:
    """Those of ``documents`` that are of companies of which nothing is ``given``, though of others something is."""
    return passed_over(documents, (quote.source.doc_id for quote in given), stated.companies)


def _of_documents(what: str, titles: Mapping[str, str]) -> list[Missing]:
    """That ``what`` is missing of documents, the first by their ``titles``, the rest by their number."""
    named = [Missing(what, doc_id, title) for doc_id, title in titles.items()][:_MOST_LACKING]
    more = len(titles) - len(named)
    return [*named, *([Missing(f"{what} ({more} more documents)")] if more > 0 else [])]


def _laid_out(pieces: Sequence[str], texts: Sequence[str], lacks: Sequence[Sequence[Missing]]) -> Iterator[str]:
    """Each piece with its text and the marks of what it lacks; those of which the very same is said stand together."""
    together: dict[frozenset[str] | str, list[str]] = {}
    first: dict[frozenset[str] | str, str] = {}
    marks: dict[frozenset[str] | str, list[str]] = {}
    for piece, text, lacking in zip(pieces, texts, lacks):
        same = frozenset(text.splitlines()) if text else piece
        together.setdefault(same, []).append(piece)
        first.setdefault(same, text or missing_mark(piece))
        marks.setdefault(same, []).extend(missing_mark(one.words) for one in lacking)
    for same, named in together.items():
        if len(pieces) > 1:
            name = "; ".join(_called(piece, pieces) for piece in named)
            yield f"**{escape(name[:1].upper() + name[1:])}**\n\n"
        yield "".join(f"{part}\n\n" for part in (first[same], *marks[same]))


def _called(piece: str, pieces: Sequence[str]) -> str:
    """``piece`` without what it refers to: in "its products (what the company makes)" that stands above it."""
    return piece.removesuffix(f" ({pieces[0]})")
