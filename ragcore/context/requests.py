"""Context requests to Claude: the summary of a document, and the sentence that situates each passage in it.

A passage is requested once: the rows of a table share the sentence of their composite. In a document too long for one
prompt, a passage is read with the surrounding part of the document, which many passages share.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragcore.config.settings import Settings
from ragcore.prompts import SITUATE_MATERIAL, SITUATE_PROMPT, SITUATE_SYSTEM, SUMMARY_PROMPT, SUMMARY_SYSTEM
from ragcore.protocols import Message, ModelRequest
from ragcore.text.sentences import count_tokens
from ragcore.types import Chunk, Document, Element


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


MAX_TOKENS = 120  # of a summary or situating sentence
_LONGEST_TOKEN = 10  # characters per token that no text exceeds on average
SUMMARY = _hash(SUMMARY_SYSTEM, SUMMARY_PROMPT)[:12]
SITUATE = _hash(SITUATE_SYSTEM, SITUATE_MATERIAL, SITUATE_PROMPT)[:12]


@dataclass(frozen=True, slots=True)
class Ask:
    """Request for one context. ``key`` identifies its subject and ``prompt`` its wording."""

    key: str
    prompt: str
    request: ModelRequest


def document_summary(document: Document, settings: Settings) -> Ask:
    """Request for a summary of the document, from its beginning."""
    text = joined(document, document.body, settings.context.prompt_tokens)
    quoted = _quoted({"title": document.title, "text": text})
    asked = Message(SUMMARY_PROMPT.format(about=quoted))
    return Ask(_hash("summary", quoted), SUMMARY, _request(settings, SUMMARY_SYSTEM, asked))


def _request(settings: Settings, system: str, *messages: Message) -> ModelRequest:
    return ModelRequest(
        system,
        messages,
        max_tokens=MAX_TOKENS,
        purpose="contexts",
        bulk=True,
    )


def situating(
    document: Document, chunks: Sequence[Chunk], summary: str, settings: Settings
) -> Iterator[tuple[list[Ask], list[Chunk]]]:
    """Situating requests grouped by shared material, with their passages, in document order; ``summary`` is the
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
        material = SITUATE_MATERIAL.format(about=_quoted(about))
        yield [_situate(chunk, material, settings) for chunk in own], own


def _situate(chunk: Chunk, material: str, settings: Settings) -> Ask:
    passage = _quoted({"section": list(chunk.section), "text": chunk.grid or chunk.text.strip()})
    asked = Message(SITUATE_PROMPT.format(passage=passage))
    request = _request(settings, SITUATE_SYSTEM, Message(material, kept=True), asked)
    # Without the material: a passage keeps its sentence when another part of the document changes.
    return Ask(_hash("situate", chunk.doc_id, passage), SITUATE, request)


def passages(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Passages to situate: composites, and tiles outside of any, in document order."""
    covered = {tile for chunk in chunks if chunk.tiles for tile in range(chunk.tiles[0], chunk.tiles[1] + 1)}
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


def _quoted(about: Mapping[str, object]) -> str:
    """JSON object that confines the document's words to its strings."""
    return json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")
