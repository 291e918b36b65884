"""Answers as Anthropic's own citations come: text blocks with ``citations_delta`` events.

They are made from answers in the marker language, so that a test can say the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

Delta = dict[str, Any]
_MARKERS = re.compile(r"(?:\s*<<SOURCE [\d.,\s-]+>>)+")
_PLACE = re.compile(r"(\d+)\.(\d+)(?:-(?:\d+\.)?(\d+))?")


def search_results(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The ``search_result`` blocks of a request, in the order in which citations count them."""
    return [
        part
        for message in body["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "search_result"
    ]


def location(result: Any, first: Any, end: Any, **changes: Any) -> Delta:
    """The event of a citation of blocks ``[first, end)`` of a search result, all from 0."""
    citation = {
        "type": "search_result_location",
        "cited_text": "as in the block",
        "source": f"source-{result}",
        "title": "A title",
        "search_result_index": result,
        "start_block_index": first,
        "end_block_index": end,
        **changes,
    }
    return {"type": "citations_delta", "citation": citation}


def cited_blocks(marked: str, *, cuts: Sequence[int] = (), cited_first: bool = False) -> list[list[Delta]]:
    """The blocks of an answer whose markers ``<<SOURCE 1.2>>`` stand after what they cite.

    A block is what stands before a run of markers, a closing full stop first in the next one, as the service does it.
    Its text is cut at ``cuts`` (places in the text without markers); its citations come after the text, or before.
    """
    blocks: list[list[Delta]] = []
    position, place = 0, 0
    for match in [*_MARKERS.finditer(marked), None]:
        text = marked[position : match.start() if match else len(marked)]
        borders = [0, *sorted({cut - place for cut in cuts if 0 < cut - place < len(text)}), len(text)]
        pieces = [{"type": "text_delta", "text": text[a:b]} for a, b in pairwise(borders) if a < b]
        cited = [
            location(int(source) - 1, int(first) - 1, int(last or first))
            for source, first, last in (_PLACE.findall(match.group()) if match else ())
        ]
        if pieces or cited:
            blocks.append([*cited, *pieces] if cited_first else [*pieces, *cited])
        place += len(text)
        position = match.end() if match else position
    return blocks
