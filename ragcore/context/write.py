"""Contexts of chunks: the document's summary and a sentence that situates each passage, by Claude, put in front for
search.

A passage is requested once: the rows of a table share the sentence of their composite. In a document too long for one
prompt, a passage is read with the surrounding part of the document, which many passages share. Texts are stored by the
subject of their request, so each is requested once, whatever happens to the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ragcore.config.settings import Settings
from ragcore.errors import GroundworkError, ModelError
from ragcore.model_calls import ModelCalls, as_material, digest, why_refused
from ragcore.prompts import SITUATE_MATERIAL, SITUATE_PROMPT, SITUATE_SYSTEM, SUMMARY_PROMPT, SUMMARY_SYSTEM
from ragcore.protocols import LLM, ContextCache, Message, ModelRequest
from ragcore.text.sentences import count_tokens, whole_sentences
from ragcore.types import Chunk, Document, Element, ModelReport

MAX_TOKENS = 120  # of a summary or situating sentence
AGAIN = "Run `groundwork index` to write the rest."
_LONGEST_TOKEN = 10  # characters per token that no text exceeds on average


SUMMARY = digest(SUMMARY_SYSTEM, SUMMARY_PROMPT)[:12]
SITUATE = digest(SITUATE_SYSTEM, SITUATE_MATERIAL, SITUATE_PROMPT)[:12]


def add_context(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    writer: Callable[[], LLM] | None,
    cache: ContextCache,
    settings: Settings,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] | None,
) -> tuple[tuple[Chunk, ...], ModelReport]:
    """``chunks`` (tiles and composites) with the contexts that the settings ask for, and a report. ``writer`` gives the
    model, or raises `ModelError`; without it only stored texts are used.

    Faults of the service go into the report. Raises `Cancelled`; texts written by then are kept.
    """
    work = Work(document, chunks, cache, settings)
    if not chunks or not (work.summaries or work.situates):
        return tuple(chunks), ModelReport(usd=round(cache.spent(document.doc_id), 6))
    if writer is not None:
        try:
            work.run(writer(), on_progress, cancelled)
        except ModelError as error:
            work.errors.append(error)
    work.reuse()
    return work.chunks(), work.report()


@dataclass
class Work:
    """Context work of one document: texts needed, known and missing."""

    document: Document
    given: Sequence[Chunk]
    cache: ContextCache
    settings: Settings
    said: dict[str, str] = field(default_factory=dict)  # model text by `Ask.key`
    places: dict[str, str] = field(default_factory=dict)  # request key by passage
    errors: list[GroundworkError] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)  # why no more was requested

    def __post_init__(self) -> None:
        chosen = self.settings.context
        self.situates = chosen.situate == "claude"
        long = sum(chunk.tokens for chunk in self.given if chunk.tiles is None) > chosen.prompt_tokens
        wanted = chosen.document_summary or (self.situates and long)
        self.summaries = [document_summary(self.document, self.settings)] if wanted else []

    def summary(self) -> str:
        """Summary of the document; "" until it is written."""
        return "".join(self.said.get(ask.key, "") for ask in self.summaries)

    def groups(self) -> list[list[tuple[Ask, Chunk]]]:
        """Situating requests grouped by material; to be called after the summary is known."""
        if not self.situates:
            return []
        groups = list(situating(self.document, self.given, self.summary(), self.settings))
        self.places = {chunk.chunk_id: ask.key for group in groups for ask, chunk in group}
        return groups

    def run(
        self,
        model: LLM,
        on_progress: Callable[[int, int], None],
        cancelled: Callable[[], bool] | None,
    ) -> None:
        """Request what ``model`` has not written yet."""
        limit = self.settings.context.max_usd
        asks: dict[str, Ask] = {}
        done, total = 0, len(self.summaries) + len(passages(self.given)) * self.situates

        def take(key: str, text: str) -> None:
            self.said[key] = whole_sentences(text)
            self.cache.put(key, model.name, asks[key].prompt, self.said[key])

        with ModelCalls(
            model,
            prices=self.settings.llm.prices,
            ledger=self.cache,
            doc_id=self.document.doc_id,
            max_usd=limit,
            take=take,
            stopped=f"Writing the contexts of {self.document.name} was stopped.",
            cancelled=cancelled,
        ) as asking:

            def ask_for(ask: Ask, *, alone: bool = False) -> bool:
                nonlocal done
                on_progress(done, total)
                done += 1
                known = self.cache.get(ask.key, model.name, ask.prompt)
                if known is not None:
                    self.said[ask.key] = known
                if ask.key in self.said or ask.key in asking.keys or asking.refused in ("errors", "price"):
                    return False
                asks[ask.key] = ask
                return asking.ask(ask.key, ask.request, alone=alone)

            for summary in self.summaries:
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
        self.reasons += filter(None, [why_refused(asking.refused, model.name, limit, "context.max_usd")])

    def reuse(self) -> None:
        """Use the latest texts by any model for what is still missing."""
        for ask in (*self.summaries, *(ask for group in self.groups() for ask, _chunk in group)):
            if ask.key not in self.said and (text := self.cache.latest(ask.key)) is not None:
                self.said[ask.key] = text

    def chunks(self) -> tuple[Chunk, ...]:
        """Chunks with their context lines: the document's summary, and the chunk's own sentence."""
        summary = self.summary() if self.settings.context.document_summary else ""
        # A row has the sentence of its composite.
        rows = ((chunk, tile) for chunk in self.given for tile in chunk.rows)
        keys = {f"{chunk.doc_id}:{tile}": self.places.get(chunk.chunk_id, "") for chunk, tile in rows} | self.places

        def context(chunk: Chunk) -> str:
            return "\n".join(dict.fromkeys(filter(None, (summary, self.said.get(keys.get(chunk.chunk_id, ""), "")))))

        return tuple(replace(chunk, context=context(chunk)) for chunk in self.given)

    def report(self) -> ModelReport:
        written = sum(ask.key in self.said for ask in self.summaries)
        situated = sum(key in self.said for key in self.places.values())
        left = len(self.summaries) - written + len(self.places) - situated
        error = self.errors[0] if self.errors else None
        reasons = [*([error.message.rstrip(".")] if error else []), *self.reasons] or [
            "they haven't been requested yet"
        ]
        return ModelReport(
            written=written,
            situated=situated,
            left=left,
            usd=round(self.cache.spent(self.document.doc_id), 6),
            reason="; ".join(reasons) if left else "",
            error=error.as_dict() | {"hint": f"{error.hint} {AGAIN}"} if error else None,
        )


# Requests


@dataclass(frozen=True, slots=True)
class Ask:
    """Request for one context. ``key`` identifies its subject and ``prompt`` its wording."""

    key: str
    prompt: str
    request: ModelRequest


def document_summary(document: Document, settings: Settings) -> Ask:
    """Request for a summary of the document, from its beginning."""
    text = joined(document, document.body, settings.context.prompt_tokens)
    quoted = as_material({"title": document.title, "text": text})
    asked = Message(SUMMARY_PROMPT.format(about=quoted))
    return Ask(digest("summary", quoted), SUMMARY, _request(SUMMARY_SYSTEM, asked))


def _request(system: str, *messages: Message) -> ModelRequest:
    return ModelRequest(system, messages, max_tokens=MAX_TOKENS, purpose="contexts", bulk=True)


def situating(
    document: Document, chunks: Sequence[Chunk], summary: str, settings: Settings
) -> Iterator[list[tuple[Ask, Chunk]]]:
    """Situating requests with their passages, grouped by shared material, in document order; ``summary`` is the
    document's, for documents too long for a prompt."""
    limit = settings.context.prompt_tokens
    tiles = [chunk for chunk in chunks if chunk.tiles is None]
    parts = windows(tiles, limit)
    whole = len(parts) == 1
    asked = passages(chunks)
    for part in parts:
        first, last = part[0].index, part[-1].index
        own = [chunk for chunk in asked if first <= chunk.reach[0] <= last]
        if not own:
            continue
        about: dict[str, object] = {"title": document.title}
        if not whole and summary:
            about["summary"] = summary
        about["text" if whole else "part"] = document.text[part[0].start : part[-1].end].strip()
        material = SITUATE_MATERIAL.format(about=as_material(about))
        yield [(_situate(chunk, material), chunk) for chunk in own]


def _situate(chunk: Chunk, material: str) -> Ask:
    passage = as_material({"section": list(chunk.section), "text": chunk.grid or chunk.text.strip()})
    asked = Message(SITUATE_PROMPT.format(passage=passage))
    request = _request(SITUATE_SYSTEM, Message(material, kept=True), asked)
    # Without the material: a passage keeps its sentence when another part of the document changes.
    return Ask(digest("situate", chunk.doc_id, passage), SITUATE, request)


def passages(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Passages to situate: composites, and tiles outside of any, in document order."""
    covered = {tile for chunk in chunks for tile in chunk.rows}
    chosen = [chunk for chunk in chunks if chunk.tiles is not None or chunk.index not in covered]
    return sorted(chosen, key=lambda chunk: (chunk.start, chunk.index))


def windows(tiles: Sequence[Chunk], limit: int) -> list[list[Chunk]]:
    """``tiles`` in runs of at most ``limit`` tokens; a longer tile alone."""
    runs: list[list[Chunk]] = []
    room = 0
    for tile in tiles:
        if not runs or tile.tokens > room:
            runs.append([])
            room = limit
        runs[-1].append(tile)
        room -= tile.tokens
    return runs


def joined(document: Document, elements: Sequence[Element], max_tokens: int) -> str:
    """Text of ``elements`` up to ``max_tokens`` cl100k tokens, without AI-written figure descriptions."""
    ends = (element.end if element.generated is None else element.generated[0] for element in elements)
    texts = (document.text[element.start : end].strip() for element, end in zip(elements, ends))
    text = "\n\n".join(filter(None, texts))[: max_tokens * _LONGEST_TOKEN]
    while (tokens := count_tokens(text)) > max_tokens:
        text = text[: min(len(text) - 1, len(text) * max_tokens // tokens)]
    return text
