"""Contexts of chunks: the document's summary and a sentence that situates each passage, put in front for search.

Texts are stored by the subject of their request, so each is requested once, whatever happens to the document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ragcore.config.settings import Settings
from ragcore.context.requests import Ask, document_summary, passages, situating
from ragcore.errors import GroundworkError, ModelError
from ragcore.model_calls import ModelCalls
from ragcore.protocols import LLM, ContextCache
from ragcore.text.sentences import sentence_spans
from ragcore.types import Chunk, Document, ModelReport

AGAIN = "Run `groundwork index` to write the rest."
_SENTENCE_END = (".", "!", "?", "。", "！", "？", "”", '"', ")", "…")


def add_context(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    writer: Callable[[], LLM] | None,
    cache: ContextCache,
    settings: Settings,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] | None = None,
) -> tuple[tuple[Chunk, ...], ModelReport]:
    """``chunks`` (tiles and composites) with the contexts that the settings ask for, and a report. ``writer`` gives the
    model, or raises `ModelError`; without it only stored texts are used.

    Faults of the service go into the report. Raises `Cancelled`; texts written by then are kept.
    """
    work = Work(document, chunks, cache, settings)
    if not work.wanted:
        return tuple(chunks), ModelReport(usd=round(cache.spent(document.doc_id), 6))
    if writer is not None:
        try:
            work.run(writer(), on_progress, cancelled)
        except ModelError as error:
            work.errors.append(error)
    work.finish()
    return work.chunks(), work.report()


@dataclass
class Work:
    """Context work of one document: texts needed, known and missing."""

    document: Document
    given: Sequence[Chunk]
    cache: ContextCache
    settings: Settings
    said: dict[str, str] = field(default_factory=dict)  # model text by `Ask.key`
    errors: list[GroundworkError] = field(default_factory=list)
    refused: str = ""
    model: str = ""
    places: dict[str, str] = field(default_factory=dict)  # request key by passage

    def __post_init__(self) -> None:
        chosen = self.settings.context
        self.situates = chosen.situate == "claude"
        long = sum(chunk.tokens for chunk in self.given if chunk.tiles is None) > chosen.prompt_tokens
        wanted = chosen.document_summary or (self.situates and long)
        self.to_write = [document_summary(self.document, self.settings)] if wanted else []

    @property
    def wanted(self) -> bool:
        return bool(self.given) and (bool(self.to_write) or self.situates)

    @property
    def summary(self) -> str:
        """Summary of the document; "" until it is written."""
        return "".join(self.said.get(ask.key, "") for ask in self.to_write)

    def groups(self) -> list[list[tuple[Ask, Chunk]]]:
        """Situating requests grouped by material; to be called after the summary is known."""
        if not self.situates:
            return []
        found = situating(self.document, self.given, self.summary, self.settings)
        made = [list(zip(asks, own, strict=True)) for asks, own in found]
        self.places = {chunk.chunk_id: ask.key for group in made for ask, chunk in group}
        return made

    def known(self, ask: Ask, model: str) -> bool:
        """Whether a text by ``model`` is known, from now or before."""
        if ask.key not in self.said:
            text = self.cache.get(ask.key, model, ask.prompt)
            if text is not None:
                self.said[ask.key] = text
        return ask.key in self.said

    def run(
        self,
        model: LLM,
        on_progress: Callable[[int, int], None],
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self.model = model.name
        chosen = self.settings.context
        asks: dict[str, Ask] = {}

        def take(key: str, text: str) -> None:
            self.said[key] = clean(text)
            self.cache.put(key, model.name, asks[key].prompt, self.said[key])

        total = len(self.to_write) + len(passages(self.given)) * self.situates
        done = 0
        with ModelCalls(
            model,
            prices=self.settings.llm.prices,
            ledger=self.cache,
            doc_id=self.document.doc_id,
            max_usd=chosen.max_usd,
            take=take,
            stopped=f"Writing the contexts of {self.document.name} was stopped.",
            cancelled=cancelled,
        ) as asking:

            def ask_for(ask: Ask, *, alone: bool = False) -> bool:
                nonlocal done
                on_progress(done, total)
                done += 1
                if self.known(ask, model.name) or ask.key in asking.keys or asking.refused in ("errors", "price"):
                    return False
                asks[ask.key] = ask
                return asking.ask(ask.key, ask.request, alone=alone)

            for summary in self.to_write:
                ask_for(summary)
            asking.wait(0)
            for group in self.groups():
                # The first request of a material writes the service's cache; only then can the others read it.
                cold = True
                for ask, _chunk in group:
                    cold = not ask_for(ask, alone=cold) and cold
            asking.wait(0)
            on_progress(total, total)
            self.errors += asking.errors
            self.refused = asking.refused

    def finish(self) -> None:
        """Use earlier texts of any model for requests without one."""
        for ask in (*self.to_write, *(ask for group in self.groups() for ask, _ in group)):
            if ask.key not in self.said and (text := self.cache.latest(ask.key)) is not None:
                self.said[ask.key] = text

    def chunks(self) -> tuple[Chunk, ...]:
        """Chunks with their context lines: the document's summary, and the chunk's own sentence."""
        summary = self.summary if self.settings.context.document_summary else ""
        composites = {
            tile: chunk.chunk_id
            for chunk in self.given
            if chunk.tiles
            for tile in range(chunk.tiles[0], chunk.tiles[1] + 1)
        }

        def context(chunk: Chunk) -> str:
            place = self.places.get(chunk.chunk_id) or self.places.get(composites.get(chunk.index, ""), "")
            return "\n".join(dict.fromkeys(filter(None, (summary, self.said.get(place, "")))))

        return tuple(replace(chunk, context=context(chunk)) for chunk in self.given)

    def report(self) -> ModelReport:
        written = sum(ask.key in self.said for ask in self.to_write)
        situated = sum(key in self.said for key in self.places.values())
        left = len(self.places) - situated + len(self.to_write) - written
        return ModelReport(
            written=written,
            situated=situated,
            left=left,
            usd=round(self.cache.spent(self.document.doc_id), 6),
            reason=self._reason() if left else "",
            error=self.errors[0].as_dict() | {"hint": f"{self.errors[0].hint} {AGAIN}"} if self.errors else None,
        )

    def _reason(self) -> str:
        limit = self.settings.context.max_usd
        parts = [self.errors[0].message.rstrip(".")] if self.errors else []
        if self.refused == "limit":
            parts.append(f"the limit of ${limit:g} per document is reached (context.max_usd)")
        elif self.refused == "price":
            parts.append(f"llm.prices has no price for {self.model}, so the cost can't be limited")
        return "; ".join(parts) or "they haven't been requested yet"


def clean(text: str) -> str:
    """Model text on one line, without an incomplete last sentence."""
    words = " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text).split())
    spans = sentence_spans(words)
    if len(spans) > 1 and not words.endswith(_SENTENCE_END):
        words = words[: spans[-2][1]]
    return words
