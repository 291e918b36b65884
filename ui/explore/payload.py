"""JSON payload of Explore's table and open chunk: the numbers, and the reasons in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ragcore.explore.explore import Exploration, Explored, Point
from ragcore.text.short_titles import short
from ragcore.types import Citation
from ragcore.types.json import Json, picked
from ragcore.types.scope import within
from ui.chat import payload
from ui.explore.paths import path


def stats(found: Explored, exploration: Exploration) -> Json:
    extents = exploration.outline.extents
    given = [point for point in found.points if point.fate == "given"]
    tiles = {
        (point.chunk.doc_id, tile) for point in given for tile in range(point.chunk.reach[0], point.chunk.reach[1] + 1)
    }
    return {
        "chunks": len(exploration.outline),
        **picked(found, "weighed read"),
        "hits": len(found.retrieval.hits),
        "segments": sum(segment.via == "rse" for segment in found.retrieval.segments),
        "passages": len(found.retrieval.segments),
        "sources": len(found.sources),
        "given": len(tiles),
        "ms": round(found.ms),
        "queries": [query.text for query in found.retrieval.queries],
        "notes": list(found.retrieval.notes),
        "within": within(exploration.scope, len(extents), {extent.doc_id: extent.title for extent in extents}),
    }


BY = {
    "both": "both searches",
    "vector": "meaning only",
    "bm25": "words only",
    "graph": "through names",
    "structure": "through a tree or graph",
    "fused": "both together",
    "segment": "filled in by a segment",
    "table": "row of a table",
    "neighbour": "beside a passage",
    "weighed": "far down both lists",
    "unseen": "not found",
}
FATES = {"given": "given to the writer", "no_room": "no room", "folded": "in its table", "out": "left out"}


def use(point: Point, cited: Collection[int] = ()) -> str:
    """Use of a chunk: ``cited`` by the answer (``cited`` holds the rows of such chunks), ``used`` by the writer,
    ``found`` by a search, or ""."""
    if point.row in cited:
        return "cited"
    if point.fate == "given":
        return "used"
    return "found" if point.hit or point.by in ("both", "vector", "bm25", "graph", "structure", "fused") else ""


def cited(citations: Sequence[Citation], found: Explored) -> frozenset[int]:
    """Rows of the chunks that contain ``citations``."""
    return frozenset(
        point.row
        for point in found.points
        for item in citations
        if item.doc_id == point.chunk.doc_id and item.start < point.chunk.end and item.end > point.chunk.start
    )


def row(point: Point, exploration: Exploration, titles: Mapping[str, str], cited: Collection[int] = ()) -> Json:
    """Row of the table."""
    at, chunk = point.row, exploration.scope.cut(point.chunk)
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
        "use": use(point, cited),
        "fate": FATES[point.fate],
        "given": point.fate == "given",
        "hit": point.hit,
        "text": _beginning(chunk.text, 160),
    }


def _beginning(text: str, most: int) -> str:
    flat = " ".join(text[: most * 20].split())  # a table's passage may be a book long
    return flat if len(flat) <= most else f"{flat[:most].rsplit(' ', 1)[0]} …"


def _number(point: Point) -> str:
    first, last = point.chunk.reach
    return f"{first}" if first == last and point.chunk.tiles is None else f"{first}–{last}"


def passage(point: Point, found: Explored, exploration: Exploration, cited: Collection[int] = ()) -> Json:
    """Chunk on its page, with the reasons it was chosen or not."""
    chunk = exploration.scope.cut(point.chunk)
    parts = exploration.scope.parts(point.chunk) or [(chunk.start, chunk.end)]
    document = exploration.document(chunk.doc_id)
    pages = document.pages_of(chunk.start, chunk.end)
    labels = [document.pages[page - 1].label for page in pages]
    reached = next((one for one in found.retrieval.paths if one.chunk_id == chunk.chunk_id), None)
    return {
        **row(point, exploration, {chunk.doc_id: short(document.title or document.name)}, cited),
        "page": pages[0] if pages else 1,
        "label": labels[0] if labels else "1",
        "pages": f"p. {labels[0]}" if len(labels) == 1 else f"pp. {labels[0]}–{labels[-1]}" if labels else "",
        "path": list(chunk.section),
        "kind": "table" if chunk.tiles else chunk.kind,
        "quote": chunk.text,
        "boxes": [payload.box(place) for part in parts for place in document.boxes(*part)],
        "scores": _scores(point, found, exploration),
        "why": why(point, found),
        "reached": None if reached is None else path(reached, {}, exploration.document),
    }


def _scores(point: Point, found: Explored, exploration: Exploration) -> list[Json]:
    cosine, words = exploration.cosines[point.row], exploration.bm25[point.row]
    of_table = exploration.outline.holders[point.row] != point.row

    def line(name: str, value: float | None, step: str, digits: int = 2) -> Json:
        rank = point.ranks.get(step)
        return {
            "name": name,
            "value": "–" if value is None or value != value else f"{round(value, digits) + 0.0:.{digits}f}",
            "rank": f"rank {rank:,}" if rank else "",
        }

    lines = [
        line("Meaning, of its table" if of_table else "Meaning", point.scores.get("vector", float(cosine)), "vector"),
        line("Words (BM25)", point.scores.get("bm25", float(words)), "bm25", 1),
    ]
    if "graph" in point.scores:
        lines.append(line("Names", point.scores["graph"], "graph", 4))
    if "structure" in point.scores:
        lines.append(line("Tree or graph", point.scores["structure"], "structure", 4))
    if "prior" in point.scores or found.retrieval.routes:
        priors = {route.doc_id: route.prior for route in found.retrieval.routes}
        lines.append(line("Named document", priors.get(point.chunk.doc_id, 0.0), "prior"))
    lines.append(line("Fused", point.scores.get("fused"), "fused"))
    lines.append(line("Read side by side", point.scores.get("rerank"), "rerank"))
    if point.rank:
        lines.append({"name": "Score", "value": f"{point.score:.2f}", "rank": f"rank {point.rank:,}"})
    lines.append({"name": "Value in a segment", "value": f"{point.value:+.2f}", "rank": "", "total": True})
    return lines


def why(point: Point, found: Explored) -> str:
    """Reasons a chunk was chosen or not, in words."""
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
    said = "It was read together with the question and" if read else "It"
    reranked = settings.rerank.candidates
    tail = "" if read or not point.ranks.get("fused") else f" Only the first {reranked} by fusion are read."
    return f"{said} came out at rank {point.rank:,}; the first {top} are found.{tail}{of_query}"


def differences(a: Explored, b: Explored, exploration: Exploration, titles: Mapping[str, str]) -> Json:
    """Comparison of what the writer receives under A and B: shared, in one only, and changed ranks."""
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
