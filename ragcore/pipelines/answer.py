"""Answering of a question: stand-alone form → passages → numbered sources → streamed answer."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragcore.answer.chat import Rewritten, booked, check, rewrite, spelled, tells_of_part
from ragcore.answer.sources import build_sources
from ragcore.cancel import Stop
from ragcore.config.settings import Settings
from ragcore.index.store import Store
from ragcore.pipelines.search import Search
from ragcore.pipelines.stream import AnswerStream, AnswerTask, Services
from ragcore.protocols import LLM
from ragcore.providers.registry import Models
from ragcore.retrieve.segments import with_cited
from ragcore.text.definitions import defined
from ragcore.types import OnStep, Retrieval, Scope, Turn
from ragcore.types.question import Comparison, Phrase, Question

WIDER = 3  # times ``answer.source_tokens`` that an overview may read, and a model for a comparison
OPENING_PAGES = 4  # filings open with a cover, perhaps a table of contents, then their report


@dataclass(frozen=True, slots=True)
class AnswerPipeline:
    """Question answering over one library."""

    models: Models
    settings: Settings
    search: Search
    store: Store

    def stream(
        self, question: str, scope: Scope, history: Sequence[Turn], on_step: OnStep, stop: Stop, *, fresh: bool = False
    ) -> AnswerStream:
        """Answer to ``question``; the writer is called only on iteration, also for a request that it answered before if
        ``fresh``. Raises what rewriting and retrieval raise."""
        check(question, history)  # before its words are looked up
        mentions = self.search.sparse().mentions  # opened once, not per word
        written = spelled(question, mentions)
        rewritten = self._standalone(written, scope, history, stop)
        asked = self.models.analyser.read(rewritten.query)
        partly = self.store.partly(self.settings.index.embedder)  # before the search, which may find more
        retrieval = booked(self._found(asked, rewritten, scope, history, on_step, stop), rewritten)
        # One lookup per document and answer: each check for a rebuild is a database query.
        document = functools.cache(self.store.document)
        room = self.settings.answer
        if retrieval.overview is not None:
            room = room.model_copy(update={"source_tokens": WIDER * room.source_tokens})
        comparison = self._comparison(retrieval)
        if comparison is not None:
            times = max(1, len(comparison.questions) // 2)
            times = times if self.models.capabilities.extractive else min(WIDER, times)
            room = room.model_copy(update={"source_tokens": times * room.source_tokens})
        sources = build_sources(retrieval, document, room)
        cited = dict.fromkeys(source.doc_id for source in sources)
        terms = (*self.search.terms(asked.text), *defined(asked.text, {one: document(one).text for one in cited}))
        judge = self.models.planner if self.settings.verify.judge == "claude" else None
        return AnswerStream(
            AnswerTask(
                question,
                asked,
                retrieval,
                sources,
                tuple(history),
                terms,
                rewritten.by or ("rules" if written != question else ""),
                fresh,
                tuple(one for one in partly if retrieval.scope.holds(one.doc_id)),
                comparison=comparison,
            ),
            Services(
                self.models.writer,
                self.settings,
                document,
                self.models.reranker,
                judge,
                mentions,
                self.store.titles,
                self.models.entailment,
            ),
            stop,
        )

    def _comparison(self, retrieval: Retrieval) -> Comparison | None:
        """Documents that were asked one by one; None if there were none."""
        if retrieval.each is None:
            return None
        asked = {one.doc_id: self.models.analyser.read(one.text) for one in retrieval.queries if one.doc_id}
        return Comparison(retrieval.each, asked, retrieval.among, retrieval.left)

    def _standalone(self, question: str, scope: Scope, history: Sequence[Turn], stop: Stop) -> Rewritten:
        several = scope.doc_ids is None or len(scope.doc_ids) > 1
        before = {doc_id for doc_id, *_ in history[-1].cited if scope.holds(doc_id)} if history else set()

        def held(words: str) -> bool:
            return several and bool(before) and not before.isdisjoint(self.search.sparse().mentions(words))

        def apart(phrase: Phrase) -> bool:
            documents = [self.store.document(doc_id) for doc_id in sorted(before & self.store.recipes().keys())]
            known = self.search.synonyms().names(phrase.words, phrase.whole)
            if phrase.name and not known and not any(phrase.words in document.text for document in documents):
                return False  # "BioNTech", unlike "Inventories", is written with capitals only
            about = (phrase.words, phrase.whole, self.search.terms(phrase.words), 1.0 if known else 0.5)
            told = {tells_of_part(document, *about) for document in documents}
            return True not in told and (known or False in told)

        analyser, planner = self.models.analyser, self.rewriter()
        return rewrite(question, history, analyser, self.settings, planner, stop, held=held, apart=apart)

    def _found(
        self,
        asked: Question,
        rewritten: Rewritten,
        scope: Scope,
        history: Sequence[Turn],
        on_step: OnStep,
        stop: Stop,
    ) -> Retrieval:
        view = self.search.overview(asked.text, scope, on_step=on_step, stop=stop)
        if view is not None:
            return view
        # The opening of a document says what it is about, in other words than the question's.
        pages = scope.pages or (((1, OPENING_PAGES),) if asked.whole and not scope.sections else ())
        found = self.search.retrieve(asked.text, replace(scope, pages=pages), on_step=on_step, stop=stop)
        if self.settings.retrieve.mode == "overview":
            note = "No themes were found on this, so it was searched by meaning, words and names."
            found = replace(found, notes=(*found.notes, note))
        if not (rewritten.by and history) or scope.narrowed:
            return found
        # The passages that it refers to were found one question ago.
        cited = [span for span in history[-1].cited if scope.doc_ids is None or span[0] in scope.doc_ids]
        return with_cited(found, self.store.tiles_at(cited), self.models.reranker)

    def rewriter(self) -> LLM | None:
        """Model that makes follow-up questions stand alone; None if rules do."""
        asks = self.settings.chat.rewrite == "auto" and self.models.capabilities.tools
        return self.models.planner if asks else None
