"""Explore: the questions that are looked at, the settings that its sliders move, and both in the words of the page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragcore.config import PRESET, Settings
from ragcore.engine import Engine
from ragcore.errors import EmptyQuestion, IndexEmpty, InputError, QuestionTooShort, UnknownConversation
from ragcore.explored import Explored, Point
from ragcore.exploring import Exploration
from ragcore.index.outline import Projection
from ragcore.index.store import DocumentInfo
from ragcore.scopes import within
from ragcore.types import Scope, SubQuery
from ui import first_run, payload

Json = dict[str, Any]
SHOWN = 3  # questions that an empty page offers
KEPT = 8  # questions whose arrays are kept (about 2 MB each for 50,000 chunks); the least recently used goes first


@dataclass(frozen=True)
class Slider:
    key: str
    name: str
    low: float
    high: float
    step: float
    means: str
    more: bool = False  # below "More settings"


SLIDERS = (
    Slider("retrieve.alpha", "Alpha", 0, 1, 0.05, "Share of meaning against exact words. 0 is words alone."),
    Slider(
        "rse.irrelevant_chunk_penalty",
        "Penalty",
        0.01,
        0.5,
        0.01,
        "What a chunk that is off the point costs. Higher gives shorter segments.",
    ),
    Slider("rse.decay_rate", "Decay", 5, 200, 1, "How fast rank loses value. Higher lets late finds count."),
    Slider("rse.max_length", "Longest segment", 1, 40, 1, "Chunks in one segment.", True),
    Slider("rse.overall_max_length", "All segments", 1, 200, 1, "Chunks in all segments together.", True),
    Slider("rse.minimum_value", "Least value", 0, 2, 0.05, "A segment worth less is not taken.", True),
    Slider("rerank.weight", "Reading’s vote", 0, 2, 0.1, "Beside meaning and words. 0 keeps their order.", True),
    Slider("route.weight", "Named documents", 0, 1, 0.05, "How far documents that the question names go first.", True),
    Slider("retrieve.top_k", "Passages found", 1, 60, 1, "Hits that segments are made of.", True),
)
MODES = {"hybrid": "Both", "vector": "Meaning alone", "bm25": "Words alone", "reference": "Reference"}
_KEYS = {slider.key for slider in SLIDERS} | {"retrieve.mode", "rse.preset"}


def last_turn(engine: Engine, conversation_id: str | None) -> tuple[str, str]:
    """The open conversation and its last question that has an answer; "" and "" where there is none."""
    if not conversation_id:
        return "", ""
    try:
        turns = engine.conversation(conversation_id).turns
    except UnknownConversation:
        return "", ""  # another tab deleted it: nothing was open here
    answered = [turn.turn_id for turn in turns if turn.answer is not None]
    return (conversation_id, answered[-1]) if answered else ("", "")


def examples(engine: Engine, readable: Sequence[DocumentInfo]) -> list[str]:
    """Questions to begin with: those that were asked last, then about what documents have headings for."""
    found = [info.title for info in engine.conversations()[:SHOWN] if not info.title.endswith("…")]
    if any(info.name == first_run.NAME for info in readable):
        found += first_run.QUESTIONS
    for info in readable if len(found) < SHOWN else ():
        document = engine.document(info.doc_id)
        headings = (document.text[e.start : e.end] for e in document.elements if e.kind == "heading" and not e.noise)
        words = [" ".join(text.split()) for text in headings]
        telling = [text for text in words if 8 <= len(text) <= 60 and text != document.title and text[0].isalpha()]
        telling.sort(key=str.isupper)  # capitals are mostly those of a cover
        found += [f"What is said about {text.rstrip('.:?')}?" for text in telling[: SHOWN - len(found)]]
        if len(found) >= SHOWN:
            break
    return list(dict.fromkeys(found))[:SHOWN]


class Explorations:
    """The questions that were last looked at, in memory. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Any, ...], tuple[threading.Lock, list[Exploration]]] = OrderedDict()
        self._maps: OrderedDict[tuple[Any, ...], tuple[threading.Lock, list[Projection]]] = OrderedDict()

    def get(self, engine: Engine, question: str, scope: Scope, parts: tuple[SubQuery, ...] | None) -> Exploration:
        """Made when it is first asked for, and anew when the library or the settings in force have changed."""
        asked = None if parts is None else tuple(part.text for part in parts)
        # Other settings in force and another key may plan another search.
        key = (engine.settings.hash(), engine.writer_name(), engine.store.revision(), question, scope, asked)
        making, made = self._slot(self._kept, key)
        with making:
            if not made:
                made.append(engine.explore(question, scope, parts=parts))
        return made[0]

    def projection(self, exploration: Exploration, engine: Engine) -> Projection:
        """The map of the documents in scope, which is the same for every question."""
        doc_ids = tuple(extent.doc_id for extent in exploration.outline.extents)
        making, made = self._slot(self._maps, (engine.store.revision(), doc_ids))
        with making:
            if not made:
                made.append(exploration.projection())
        return made[0]

    def _slot(self, kept: OrderedDict[tuple[Any, ...], Any], key: tuple[Any, ...]) -> Any:
        with self._lock:
            slot = kept.setdefault(key, (threading.Lock(), []))
            kept.move_to_end(key)
            while len(kept) > KEPT:
                kept.popitem(last=False)
            return slot


EXPLORATIONS = Explorations()


def asked(body: Json) -> str:
    question = body.get("question")
    if not isinstance(question, str) or not question.strip():
        raise EmptyQuestion("There is no question.", hint="Type one, or choose an example.")
    if sum(character.isalnum() for character in question) < 3:
        raise QuestionTooShort("The question is too short to search for.", hint="Type at least a word.")
    if len(question) > 4000:
        raise InputError("The question is too long.", hint="Shorten it to 4,000 characters.")
    return question.strip()


def overrides(body: Json, name: str) -> dict[str, Any]:
    """The settings of side ``name``, checked for being among those that the page moves; the engine checks the values.
    Raises `InputError`."""
    given = body.get(name) or {}
    if not isinstance(given, dict) or not set(given) <= _KEYS:
        raise InputError(
            "The address of this page names a setting that Explore does not move.", hint="Open Explore anew."
        )
    whole = {slider.key for slider in SLIDERS if float(slider.step).is_integer() and slider.key != "rse.decay_rate"}
    try:
        return {
            key: str(value) if key in ("retrieve.mode", "rse.preset") else int(value) if key in whole else float(value)
            for key, value in given.items()
        }
    except (TypeError, ValueError) as error:
        raise InputError("A setting in the address of this page is not a number.", hint="Open Explore anew.") from error


def explored(exploration: Exploration, chosen: Mapping[str, Any]) -> Explored:
    """Raises `IndexEmpty` where no document of the scope is indexed."""
    if not len(exploration.outline):
        raise IndexEmpty("No document in scope is indexed.", hint="Choose another, or wait until it has been read.")
    # A preset moves what is not moved by hand, whatever a home's own file says.
    moved = {f"rse.{key}": PRESET for key in PRESET_KEYS} if "rse.preset" in chosen else {}
    return exploration.under({**moved, **chosen})


PRESET_KEYS = (
    "max_length",
    "overall_max_length",
    "overall_max_length_extension",
    "minimum_value",
    "irrelevant_chunk_penalty",
    "decay_rate",
    "top_k_for_document_selection",
    "chunk_length_adjustment",
)


def controls(settings: Settings) -> Json:
    """Where each control stands under ``settings``."""
    values = settings.model_dump()
    at = {slider.key: values[slider.key.partition(".")[0]][slider.key.partition(".")[2]] for slider in SLIDERS}
    return {**at, "retrieve.mode": settings.retrieve.mode, "rse.preset": settings.rse.preset}


def known(settings: Settings) -> Json:
    """What the controls are."""
    return {
        "sliders": [
            {
                "key": s.key,
                "name": s.name,
                "low": s.low,
                "high": s.high,
                "step": s.step,
                "means": s.means,
                "more": s.more,
            }
            for s in SLIDERS
        ],
        "modes": [{"value": value, "name": name} for value, name in MODES.items()],
        "presets": list(settings.rse.presets),
    }


def stats(found: Explored, exploration: Exploration) -> Json:
    given = [point for point in found.points if point.fate == "given"]
    tiles = {
        (point.chunk.doc_id, tile) for point in given for tile in range(point.chunk.reach[0], point.chunk.reach[1] + 1)
    }
    return {
        "chunks": len(exploration.outline),
        "weighed": found.weighed,
        "hits": len(found.retrieval.hits),
        "segments": sum(segment.via == "rse" for segment in found.retrieval.segments),
        "passages": len(found.retrieval.segments),
        "sources": len(found.sources),
        "given": len(tiles),
        "ms": round(found.ms),
        "read": found.read,
        "queries": [query.text for query in found.retrieval.queries],
        "notes": list(found.retrieval.notes),
        "within": within(exploration.scope, len(exploration.outline.extents)),
    }


BY = {
    "both": "both searches",
    "vector": "meaning only",
    "bm25": "words only",
    "fused": "both together",
    "segment": "filled in by a segment",
    "table": "row of a table",
    "neighbour": "beside a passage",
    "weighed": "far down both lists",
    "unseen": "not found",
}
FATES = {"given": "given to the writer", "no_room": "no room", "folded": "in its table", "out": "left out"}


def row(point: Point, exploration: Exploration, titles: Mapping[str, str]) -> Json:
    """A line of the table."""
    at, chunk = point.row, point.chunk
    return {
        "row": at,
        "id": chunk.chunk_id,
        "doc": chunk.doc_id,
        "title": titles.get(chunk.doc_id, chunk.doc_id),
        "chunk": _number(point),
        "page": int(exploration.outline.first_page[at]) or 1,
        "section": chunk.section[-1] if chunk.section else "",
        "relevance": f"{point.relevance:.2f}",
        "by": BY[point.by],
        "step": point.by,
        "fate": FATES[point.fate],
        "given": point.fate == "given",
        "hit": point.hit,
        "text": _beginning(chunk.text, 90),
    }


def _beginning(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most].rsplit(' ', 1)[0]} …"


def _number(point: Point) -> str:
    first, last = point.chunk.reach
    return f"{first}" if first == last and point.chunk.tiles is None else f"{first}–{last}"


def passage(point: Point, found: Explored, exploration: Exploration) -> Json:
    """A chunk on its page, and why it was chosen or not."""
    chunk = point.chunk
    document = exploration.document(chunk.doc_id)
    pages = document.pages_of(chunk.start, chunk.end)
    labels = [document.pages[page - 1].label for page in pages]
    return {
        **row(point, exploration, {chunk.doc_id: document.title or document.name}),
        "page": pages[0] if pages else 1,
        "label": labels[0] if labels else "1",
        "pages": f"p. {labels[0]}" if len(labels) == 1 else f"pp. {labels[0]}–{labels[-1]}" if labels else "",
        "path": list(chunk.section),
        "kind": "table" if chunk.tiles else chunk.kind,
        "quote": chunk.text,
        "boxes": [payload.box(place) for place in document.boxes(chunk.start, chunk.end)],
        "scores": _scores(point, found, exploration),
        "why": why(point, found, exploration),
    }


def _scores(point: Point, found: Explored, exploration: Exploration) -> list[Json]:
    cosine, words = exploration.cosines[point.row], exploration.bm25[point.row]

    def line(name: str, value: float | None, step: str, digits: int = 2) -> Json:
        rank = point.ranks.get(step)
        return {
            "name": name,
            "value": "–" if value is None or value != value else f"{round(value, digits) + 0.0:.{digits}f}",
            "rank": f"rank {rank:,}" if rank else "",
        }

    lines = [
        line("Meaning", point.scores.get("vector", float(cosine)), "vector"),
        line("Words (BM25)", point.scores.get("bm25", float(words)), "bm25", 1),
    ]
    if "prior" in point.scores or found.retrieval.routes:
        priors = {route.doc_id: route.prior for route in found.retrieval.routes}
        lines.append(line("Named document", priors.get(point.chunk.doc_id, 0.0), "prior"))
    lines.append(line("Fused", point.scores.get("fused"), "fused"))
    lines.append(line("Read side by side", point.scores.get("rerank"), "rerank"))
    if point.rank:
        lines.append({"name": "Score", "value": f"{point.score:.2f}", "rank": f"rank {point.rank:,}"})
    lines.append({"name": "Value in a segment", "value": f"{point.value:+.2f}", "rank": "", "total": True})
    return lines


def why(point: Point, found: Explored, exploration: Exploration) -> str:
    """Why a chunk was chosen or not, in words."""
    settings = found.settings
    several = len(found.retrieval.queries) > 1 and point.rank
    of_query = f" For “{found.retrieval.queries[point.query - 1].text}”." if several else ""
    if point.passage >= 0:
        segment = found.retrieval.segments[point.passage]
        place = f"chunks {segment.first_chunk} to {segment.last_chunk}"
        if segment.first_chunk == segment.last_chunk:
            place = f"chunk {segment.first_chunk}"
        how = {
            "rse": f"in the segment of {place}, whose value is {segment.value:.2f}",
            "table": f"in the table of {place}, found as a whole",
            "hit": "as a single passage: no segment holds it",
            "neighbour": "because it stands beside a passage of its section that was found",
        }[segment.via]
        if point.fate == "given":
            return f"Chosen {how}. The writer gets it in source {point.source}.{of_query}"
        room = settings.answer.source_tokens
        return f"Chosen {how}, but the better passages fill the {room:,} tokens that the writer gets.{of_query}"
    if point.fate == "folded":
        return f"Not taken by itself: its table was weighed in its place.{of_query}"
    if not point.rank:
        return "Neither search has it among the candidates that are weighed."
    top = settings.retrieve.top_k
    read = "rerank" in point.ranks
    said = "It was read side by side with the question and" if read else "It"
    reranked = settings.rerank.candidates
    tail = "" if read or not point.ranks.get("fused") else f" Only the first {reranked} by fusion are read."
    return f"{said} came out at rank {point.rank:,}; the first {top} are found.{tail}{of_query}"


def differences(a: Explored, b: Explored, exploration: Exploration, titles: Mapping[str, str]) -> Json:
    """What the writer gets under A and under B: in both, only in one, and how ranks move."""
    # The rows of a table that was found as a whole come and go with it.
    given = [{p.chunk.chunk_id: p for p in of.points if p.fate == "given" and p.by != "table"} for of in (a, b)]
    ranks = [{hit.chunk.chunk_id: hit.rank for hit in of.retrieval.hits} for of in (a, b)]
    lines = []
    for chunk_id in dict.fromkeys((*given[0], *given[1])):
        point = given[0].get(chunk_id) or given[1][chunk_id]
        where = "both" if chunk_id in given[0] and chunk_id in given[1] else "a" if chunk_id in given[0] else "b"
        first, second = ranks[0].get(chunk_id, 0), ranks[1].get(chunk_id, 0)
        if where == "both" and first == second:
            continue
        lines.append({**row(point, exploration, titles), "where": where, "a": first, "b": second})
    lines.sort(key=lambda line: ({"a": 0, "b": 1, "both": 2}[line["where"]], line["a"] or 999, line["b"] or 999))
    return {
        "both": len(given[0].keys() & given[1].keys()),
        "only_a": len(given[0].keys() - given[1].keys()),
        "only_b": len(given[1].keys() - given[0].keys()),
        "lines": lines[:60],
        "left": max(0, len(lines) - 60),
    }


def named(chosen: Mapping[str, Any], names: Sequence[Slider] = SLIDERS) -> str:
    """``penalty 0.30, words alone``; "as in force" where nothing is moved."""
    known_names = {slider.key: slider.name.lower() for slider in names}
    parts = []
    for key, value in chosen.items():
        if key == "retrieve.mode":
            parts.append(MODES.get(str(value), str(value)).lower())
        elif key == "rse.preset":
            parts.append(f"preset {value}")
        else:
            parts.append(f"{known_names[key]} {value:g}")
    return ", ".join(parts) or "settings in force"
