"""JSON payload of the map of connections: its names and passages, and the sentences that join them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ragcore.errors import InputError
from ragcore.explore.explore import Exploration, Explored
from ragcore.types.json import Json
from ui.explore import payload
from ui.explore.paths import citation


def drawn(found: Explored, exploration: Exploration, titles: Mapping[str, str], cited: Collection[int] = ()) -> Json:
    """``nodes``, heaviest first, each a name or a passage with its row of the outline; ``links`` as two of their
    numbers, that of a sentence, and whether the walk came over it; and the ``sentences``, as citations (None for one
    that is no longer in the library). ``size`` is the root of a node's share of the heaviest. Raises
    `InputError` if a passage is gone or new."""
    connections = exploration.connections(found)
    keys = [node.key if node.kind == "passage" else "" for node in connections.nodes]
    most = max((node.weight for node in connections.nodes), default=1.0)
    nodes: list[Json] = []
    for node, row in zip(connections.nodes, exploration.outline.rows(keys).tolist()):
        shown: Json = {"kind": node.kind, "key": node.key, "name": node.printed, "x": node.x, "y": node.y}
        if node.kind == "passage":
            point = found.point(row) if row >= 0 else None
            if point is None:
                raise InputError("The library has changed.", hint="Search again.")
            of = payload.row(point, exploration, titles, cited)
            use = of["use"] if of["use"] in ("used", "cited") else "passage"
            shown |= {"kind": use, "title": of["title"], "page": of["page"], "row": row, "begins": of["text"]}
        nodes.append(shown | {"size": round((node.weight / most) ** 0.5, 3)})
    numbers: dict[tuple[str, int, int], int] = {}
    sentences: list[Json | None] = []
    links: list[tuple[int, int, int, bool]] = []
    for link in connections.links:
        said = link.sentence
        at = numbers.setdefault((said.doc_id, said.start, said.end), len(numbers))
        if at == len(sentences):
            sentences.append(citation(said, titles, exploration.document))
        links.append((link.one, link.other, at, link.way))
    return {"nodes": nodes, "links": links, "sentences": sentences}
