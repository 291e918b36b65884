"""A section of a report without a language model: values and tables where they are certain, and for everything else
that its guidance asks for the evidence, quoted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragcore.config import AnswerSettings
from ragcore.markdown import escape
from ragcore.prompts import NO_ANSWER
from ragcore.protocols import Request, Reranker, StaticStream
from ragcore.providers.evidence import Evidence
from ragcore.providers.offline import listing
from ragcore.providers.quotable import quotables
from ragcore.providers.table_fields import table_field
from ragcore.providers.value_fields import value_field
from ragcore.reports import Field, missing_mark
from ragcore.terms import Wanted
from ragcore.types import Usage

_NEAREST = 3
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
            texts = [_values([(one.quote.source.title, one.text) for one in each], several) for each in values]
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
        texts = ["".join(listing(evidence.on(piece, most, alone=alone))).strip() for piece in pieces]
        if not any(texts) and evidence.own:
            # The document has such a section; what it says of none of this by name is still what it says.
            texts[0] = "".join(listing(evidence.on(pieces[0], most, alone=True))).strip()
        return texts


def _values(found: Sequence[tuple[str, str]], several: bool) -> str:
    return "\n".join(f"- {escape(title)}: {text}" if several else text for title, text in found)


def _laid_out(pieces: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    for piece, text in zip(pieces, texts):
        if len(pieces) > 1:
            yield f"**{escape(piece[:1].upper() + piece[1:])}**\n\n"
        yield f"{text or missing_mark(piece)}\n\n"
