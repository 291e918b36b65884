"""Claude with its API's own citations in place of markers.

Sources are sent as ``search_result`` blocks, one sentence or cell in each text block, and every
``search_result_location`` that comes back becomes the marker of that place in the text. So every reader of a
`TextStream` sees one marker language, and a place that was not given is dropped as usual.

The format: https://platform.claude.com/docs/en/build-with-claude/search-results (indices from 0, ends exclusive).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragcore.errors import ModelError, RequestRefused
from ragcore.protocols import ModelRequest
from ragcore.providers.anthropic import AnthropicModel, AnthropicStream
from ragcore.providers.faults import words

if TYPE_CHECKING:
    from anthropic import Stream
    from anthropic.types import RawMessageStreamEvent

# Text that a mark precedes: the full stop of the cited sentence, white space, and the bar that closes a table row.
_CLOSING = re.compile(r"(?:[.!?…。！？]+[\"”’)*_]*)?\s*(?:\|\s*)?\Z")


class NativeStream(AnthropicStream):
    """Text of one message, with a marker for each citation at the end of its text block. The block's closing
    punctuation is held back until its citations are known, since they may arrive before or after its text."""

    def __init__(self, model: AnthropicModel, request: ModelRequest) -> None:
        super().__init__(model, request)
        self._held = ""
        self._markers: dict[str, None] = {}

    def _attempt(self) -> ModelError | None:
        error = super()._attempt()
        if isinstance(error, RequestRefused):
            error.hint = f'{error.hint} A server that does not know search results needs llm.citations = "markers".'
        return error

    def _read(self, events: Stream[RawMessageStreamEvent]) -> None:
        self._held, self._markers = "", {}
        super()._read(events)
        if rest := self._end_block():
            self._pieces.put(words(rest))

    def _piece(self, event: RawMessageStreamEvent) -> str:
        if event.type == "content_block_start":
            before = self._end_block()
            self._cite(getattr(event.content_block, "citations", None))
            return before
        if event.type == "content_block_stop":
            return self._end_block()
        if event.type == "content_block_delta" and event.delta.type == "citations_delta":
            self._cite([getattr(event.delta, "citation", None)])
            return ""
        text = self._held + super()._piece(event)
        closing = _CLOSING.search(text)
        keep = closing.start() if closing else len(text)
        self._held = text[keep:]
        return text[:keep]

    def _end_block(self) -> str:
        """Markers of the block's citations, and its closing punctuation."""
        rest = "".join(self._markers) + self._held
        self._held, self._markers = "", {}
        return rest

    def _cite(self, citations: Any) -> None:
        if isinstance(citations, list):
            self._markers.update((self._marker(citation), None) for citation in citations)

    def _marker(self, citation: Any) -> str:
        """Place of ``citation`` in the marker language; an invalid place is written as an invalid marker."""
        kind = getattr(citation, "type", None)
        if kind != "search_result_location":
            return f"<<SOURCE {kind}>>"
        result, first, end = citation.search_result_index, citation.start_block_index, citation.end_block_index
        whole = all(isinstance(index, int) for index in (result, first, end))
        if not (whole and result >= 0 and 0 <= first < end):
            return f"<<SOURCE result {result}, blocks {first} to {end}>>"
        passages = self._request.passages
        source = passages[result].source if result < len(passages) else result + 1
        return f"<<SOURCE {source}.{first + 1}>>" if end == first + 1 else f"<<SOURCE {source}.{first + 1}-{end}>>"
