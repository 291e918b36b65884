"""Extractive summary: the most representative sentence of a document.

Centroid-based extraction as in MEAD (Radev, Jing, Styś, Tam: Centroid-based summarization of multiple documents,
Information Processing & Management 40, 2004): a sentence scores by its overlap with the centroid of all sentences, its
earliness, and its overlap with the title. Two departures: the title replaces MEAD's first sentence, since the first
sentence of a PDF is often not part of its text; and similarity to the centroid is the cosine, so that long sentences
have no advantage. No model is used; equal texts give equal sentences.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from ragcore.text.sentences import count_tokens, sentence_spans
from ragcore.text.words import content_stems
from ragcore.types import Document, Element

MIN_WORDS, MIN_STEMS = 8, 4
MIN_LETTERS = 0.7  # of non-blank characters; a sentence with a smaller share is a row of figures
LEAD_TOKENS = 8000  # beginning searched for a summary (dsRAG's limit for document summaries)
_PROSE = ("paragraph", "list_item")
_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_CJK = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")
# Title words for the kind of document or company, not its topic.
_KINDS = frozenset(content_stems("annual report form inc corp corporation company ltd limited group plc 10k 10-k pdf"))
# Boilerplate at the beginning of many documents.
_BOILERPLATE = re.compile(
    r"all rights reserved|copyright|©|creative commons|licen[sc]ed? |open.access|correspond(?:ence|ing author)|"
    r"check ?mark|forward.looking|incorporated (?:herein )?by reference|pursuant to|exchange act|hereby|"
    r"https?://|www\.|[\w.]@[\w.]|table of contents|this (?:page|report|document) (?:is|contains|includes|should)|"
    r"form 10-|\bregistrant|(?:annual|quarterly) report|unless the context|references? (?:in this|to)|"
    r"the terms? [\"“']|shares? outstanding|"
    r"(?:see|refer to) (?:also )?(?:note|item|part|page|section|table|figure|appendix)\b",
    re.IGNORECASE,
)


def prose(document: Document, elements: Sequence[Element]) -> list[str]:
    """Sentences of running text among ``elements``: no headings, tables, captions, footnotes or AI-written text."""
    found: list[str] = []
    for element in elements:
        if element.kind in _PROSE and element.noise is None and element.generated is None:
            text = document.text[element.start : element.end]
            found.extend(" ".join(text[start:end].split()) for start, end in sentence_spans(text))
    return found


def best_sentence(sentences: Sequence[str], title: str, *, max_tokens: int) -> str:
    """Most representative sentence, of at most ``max_tokens`` cl100k tokens; "" if none qualifies."""
    again = Counter(sentence.casefold() for sentence in sentences)
    stems = [Counter(content_stems(sentence)) for sentence in sentences]
    rarity = _rarity(stems)
    centroid: Counter[str] = Counter()
    for counted in stems:
        centroid.update({stem: count * rarity[stem] for stem, count in counted.items()})
    names = {name for name in content_stems(title) if name not in _KINDS and not name.isdigit()}
    read = 0
    scored: list[tuple[float, float, int, str]] = []
    for place, (sentence, counted) in enumerate(zip(sentences, stems, strict=True)):
        read += len(sentence) // 4
        if scored and read > LEAD_TOKENS:
            break
        if again[sentence.casefold()] == 1 and tells(sentence, counted):
            central = _cosine({stem: count * rarity[stem] for stem, count in counted.items()}, centroid)
            scored.append((central, len(names & set(counted)) / (len(names) or 1), -place, sentence))
    if not scored:
        return ""
    nearest = max(central for central, *_rest in scored) or 1.0
    last = max(-place for _central, _named, place, _sentence in scored) + 1
    ranked = sorted(
        (
            (central / nearest + 1.0 + place / last + named, place, sentence)
            for central, named, place, sentence in scored
        ),
        reverse=True,
    )
    return next((sentence for *_rank, sentence in ranked if count_tokens(sentence) <= max_tokens), "")


def _rarity(stems: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """Inverse sentence frequency with a small positive minimum."""
    frequency: Counter[str] = Counter(stem for counted in stems for stem in counted)
    return {stem: math.log((1 + len(stems)) / count) for stem, count in frequency.items()}


def _cosine(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    norms = math.sqrt(sum(v * v for v in first.values()) * sum(v * v for v in second.values()))
    return sum(value * second.get(stem, 0.0) for stem, value in first.items()) / norms if norms else 0.0


def tells(sentence: str, stems: Mapping[str, int] | None = None) -> bool:
    """Whether it is a complete, informative sentence, not a legal notice, list of names or row of figures; ``stems``
    are its content words if known."""
    stems = Counter(content_stems(sentence)) if stems is None else stems
    ideographs = len(_CJK.findall(sentence))
    solid = sum(not c.isspace() for c in sentence)
    return (
        (len(sentence.split()) >= MIN_WORDS or ideographs >= 2 * MIN_WORDS)
        and (len(stems) >= MIN_STEMS or bool(ideographs))
        and _END.search(sentence) is not None
        and (sentence[0].isupper() or sentence[0].isdigit() or not sentence[0].islower())
        and sum(c.isalpha() for c in sentence) >= MIN_LETTERS * solid
        and not sentence.isupper()
        and _BOILERPLATE.search(sentence) is None
    )
