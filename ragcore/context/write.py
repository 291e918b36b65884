"""Chunks with their context: summaries, and where each passage stands, put in front of them for searching.

What a model wrote is kept by what it was asked about, so it is asked once, whatever becomes of the document; where it
has not written a summary, a sentence of the document stands in and the report says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ragcore.config.settings import Settings
from ragcore.context.extract import best_sentence, prose
from ragcore.context.requests import Ask, document_summary, passages, section_summary, situating
from ragcore.context.sections import Path, Sections
from ragcore.errors import GroundworkError, ModelError
from ragcore.model_calls import Allowance, ModelCalls
from ragcore.protocols import LLM, ContextCache
from ragcore.text.sentences import sentence_spans
from ragcore.types import Chunk, Document, ModelReport

EXTRACT_TOKENS = 60  # longest sentence of the document that serves as a summary
AGAIN = "Run `groundwork index` to write the rest."
_SENTENCE_END = (".", "!", "?", "。", "！", "？", "”", '"', ")", "…")


def add_context(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    writer: Callable[[], LLM | None] | None,
    cache: ContextCache,
    settings: Settings,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] | None = None,
) -> tuple[tuple[Chunk, ...], ModelReport]:
    """``chunks`` (tiles and composites) with what the settings put in front of them, and what became of it. ``writer``
    gives the model, or None where none is in force; without a ``writer`` only what was written before is used.

    What the service does wrong is in the report. Raises `Cancelled`; what was written by then is kept.
    """
    work = Work(document, chunks, cache, settings)
    if not work.wanted:
        return tuple(chunks), ModelReport(usd=round(cache.spent(document.doc_id), 6))
    model: LLM | None = None
    try:
        model = writer() if writer is not None else None
    except ModelError as error:
        work.errors.append(error)
    if model is not None:
        work.run(model, on_progress, cancelled)
    work.finish()
    return work.chunks(), work.report(asked=writer is not None)


@dataclass
class Work:
    """What a document's chunks need, what of it is known, and what is left."""

    document: Document
    given: Sequence[Chunk]
    cache: ContextCache
    settings: Settings
    said: dict[str, str] = field(default_factory=dict)  # by `Ask.key`, what a model wrote
    errors: list[GroundworkError] = field(default_factory=list)
    refused: str = ""
    model: str = ""
    extracted: dict[Path, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)  # the key that was asked for each passage

    def __post_init__(self) -> None:
        chosen = self.settings.context
        self.sections = Sections(self.document, self.given, min_tokens=chosen.section_tokens)
        self.situates = chosen.situate == "claude"
        self.summaries: dict[Path, Ask] = {}
        long = sum(chunk.tokens for chunk in self.given if chunk.tiles is None) > chosen.prompt_tokens
        if chosen.document_summary or (self.situates and long):
            self.summaries[()] = document_summary(self.document, self.settings)
        for path in self.sections.wanted(self.given) if chosen.section_summary else ():
            self.summaries[path] = section_summary(self.document, self.sections, path, self.settings)

    @property
    def wanted(self) -> bool:
        return bool(self.given) and (bool(self.summaries) or self.situates)

    @property
    def _written(self) -> bool:
        """Whether a model is to write the summaries."""
        return self.settings.context.summaries == "auto"

    def summary(self, path: Path) -> str:
        """The summary of a section, ``()`` being the document: a model's, else a sentence of its own."""
        ask = self.summaries[path]
        if ask.key not in self.said and path not in self.extracted:
            elements = self.sections.elements(path) if path else self.document.body
            title = path[-1] if path else self.document.title
            self.extracted[path] = best_sentence(prose(self.document, elements), title, max_tokens=EXTRACT_TOKENS)
        return self.said.get(ask.key) or self.extracted.get(path, "")

    def groups(self) -> list[list[tuple[Ask, Chunk]]]:
        """The situating requests by material; to be called once the summaries are there."""
        if not self.situates:
            return []
        summary = self.summary(()) if () in self.summaries else ""
        found = situating(self.document, self.given, summary, self.settings)
        made = [list(zip(asks, own, strict=True)) for asks, own in found]
        self.places = {chunk.chunk_id: ask.key for group in made for ask, chunk in group}
        return made

    def known(self, ask: Ask, model: str) -> bool:
        """Whether ``model`` has said it already, now or before."""
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

        total = len(self.summaries) * self._written + len(passages(self.given)) * self.situates
        done = 0
        with ModelCalls(
            model,
            prices=self.settings.llm.prices,
            purse=Allowance(self.cache, self.document.doc_id, chosen.max_usd),
            in_flight=chosen.in_flight,
            take=take,
            stopped=f"Writing the contexts of {self.document.name} was stopped.",
            cancelled=cancelled,
        ) as asking:

            def ask_for(ask: Ask, *, alone: bool = False) -> bool:
                nonlocal done
                on_progress(done, total)
                done += 1
                if self.known(ask, model.name) or ask.key in set(asking.keys) or asking.refused in ("errors", "price"):
                    return False
                asks[ask.key] = ask
                return asking.ask(ask.key, ask.request, alone=alone)

            for summary in self.summaries.values() if self._written else ():
                ask_for(summary)
            asking.wait(0)
            for group in self.groups():
                # The first of a material writes the service's cache; only then can the others read it there.
                cold = True
                for ask, _chunk in group:
                    cold = not ask_for(ask, alone=cold) and cold
            asking.wait(0)
            on_progress(total, total)
            self.errors += asking.errors
            self.refused = asking.refused

    def finish(self) -> None:
        """Take what any model wrote before of that which is not known yet."""
        wanted = [ask for ask in self.summaries.values() if self._written]
        wanted += [ask for group in self.groups() for ask, _chunk in group]
        for ask in wanted:
            if ask.key not in self.said and (text := self.cache.latest(ask.key)) is not None:
                self.said[ask.key] = text

    def chunks(self) -> tuple[Chunk, ...]:
        """Each chunk with its lines: the document's summary, its section's, its own sentence."""
        chosen = self.settings.context
        composites = {
            tile: chunk.chunk_id
            for chunk in self.given
            if chunk.tiles
            for tile in range(chunk.tiles[0], chunk.tiles[1] + 1)
        }

        def lines(chunk: Chunk) -> list[str]:
            path = self.sections.of(chunk.section) if chosen.section_summary else None
            place = self.places.get(chunk.chunk_id) or self.places.get(composites.get(chunk.index, ""), "")
            return [
                self.summary(()) if chosen.document_summary else "",
                self.summary(path) if path is not None else "",
                self.said.get(place, ""),
            ]

        return tuple(
            replace(chunk, context="\n".join(dict.fromkeys(filter(None, lines(chunk))))) for chunk in self.given
        )

    def report(self, *, asked: bool) -> ModelReport:
        """What became of it. ``asked``: a model was to be asked, if there is one."""
        written = sum(ask.key in self.said for ask in self.summaries.values())
        situated = sum(key in self.said for key in self.places.values())
        shown = [path for path in self.summaries if path or self.settings.context.document_summary]
        extracted = sum(self.summaries[path].key not in self.said and bool(self.summary(path)) for path in shown)
        left = len(self.places) - situated
        if self.model or self.errors:
            left += len(self.summaries) - written if self._written else 0
        return ModelReport(
            written=written,
            extracted=extracted,
            situated=situated,
            left=left,
            usd=round(self.cache.spent(self.document.doc_id), 6),
            reason=self._reason(asked) if left else "",
            error=self.errors[0].as_dict() | {"hint": f"{self.errors[0].hint} {AGAIN}"} if self.errors else None,
        )

    def _reason(self, asked: bool) -> str:
        limit = self.settings.context.max_usd
        parts = [self.errors[0].message.rstrip(".")] if self.errors else []
        if self.refused == "limit":
            parts.append(f"the limit of ${limit:g} per document is reached (context.max_usd)")
        elif self.refused == "price":
            parts.append(f"llm.prices has no price for {self.model}, so the cost can't be limited")
        if not parts:
            parts.append("no Claude model is set" if asked and not self.model else "they haven't been requested yet")
        return "; ".join(parts)


def clean(text: str) -> str:
    """What a model wrote as one line, without a sentence that was cut off."""
    words = " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text).split())
    spans = sentence_spans(words)
    if len(spans) > 1 and not words.endswith(_SENTENCE_END):
        words = words[: spans[-2][1]]
    return words
