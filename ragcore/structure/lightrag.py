"""LightRAG (Guo et al. 2024, arXiv 2410.05779), by its modes: names near to the narrow words of a question (*local*),
relations near to its wide ones (*global*), both in turn (*hybrid*), with the nearest passages (*mix*), or these alone
(*naive*).

In place of what a model does: the narrow words are the names of the question, the wide ones its other content words;
each stands for the other where it is missing. Names that stand in one sentence are a relation, the sentence its text;
relations are looked for in the passages nearest to the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragcore.protocols import Asked, Texts, Vector
from ragcore.structure.named import NamedPassages
from ragcore.structure.passages import Passages, in_turn
from ragcore.text.words import STOP_WORDS, WORD
from ragcore.types import EVERYTHING, NamePath, Scope

MOST, LEAST = 40, 0.2  # names, and sentences with relations, that are taken; least cosine of a name
RELATIONS = 100  # of the names taken: as many as fit into the 8,000 tokens that they may have
AMONG = 20  # nearest passages, of which the sentences are compared with the wide words
EACH = 5 / 2  # passages for each name, or relation
NEAREST = 20  # passages by cosine in *mix*

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class LightRag:
    """`Structure` of one ``mode``; all but *naive* need ``named``, with the same passages."""

    passages: Passages
    mode: str = "naive"
    named: NamedPassages | None = None

    def leaves(self, asked: Asked, k: int, scope: Scope = EVERYTHING) -> list[tuple[str, float]]:
        if self.named is None:
            return self.passages.best(self.passages.cosines(asked.vector, scope), k)
        of = self.named.within(scope)
        names, pairs = self.chosen(of, asked)
        cosines = of.passages.cosines(asked.vector)
        order = of.passages.order(cosines)
        having = set(np.flatnonzero(of.holding[:, names].sum(axis=1)).tolist())
        joining = {row for rows in of.joining(pairs) for row in rows}
        lists = [
            order[:NEAREST] if self.mode == "mix" else [],
            [row for row in order if row in having][: int(EACH * len(names))],
            [row for row in order if row in joining][: int(EACH * len(pairs))],
        ]
        return of.passages.ranked(in_turn(lists), k)

    def paths(self, asked: Asked, ids: Sequence[str], texts: Texts) -> list[NamePath]:
        if self.named is None:
            return []
        of = self.named.within(texts.scope)
        return of.paths_from(self.chosen(of, asked)[0], asked.text, ids, texts)

    def chosen(self, of: NamedPassages, asked: Asked) -> tuple[list[int], list[Pair]]:
        """Names and relations of ``of`` that the mode takes for a question, best first."""
        narrow, wide = words(of, asked.text)
        names, pairs = list[list[int]](), list[list[Pair]]()
        if self.mode != "global":
            names.append(near(of, of.embedder.vectors([narrow])[0]))
            pairs.append(related(of, names[-1]))
        if self.mode != "local":
            pairs.append(said(of, asked.vector, of.embedder.vectors([wide])[0]))
            names.append(list(dict.fromkeys(name for pair in pairs[-1] for name in pair)))
        return in_turn(names), in_turn(pairs)


def words(of: NamedPassages, text: str) -> tuple[str, str]:
    """Narrow and wide words of a question."""
    found = [one for one in of.find(text) if not one.doubtful or one.key in of.numbers]
    names = [text[one.start : one.end] for one in found]
    others = [
        match.group()
        for match in WORD.finditer(text)
        if match.group().lower() not in STOP_WORDS and not any(one.start <= match.start() < one.end for one in found)
    ]
    narrow, wide = ", ".join(names), ", ".join(others)
    return narrow or wide or text, wide or narrow or text


def near(of: NamedPassages, vector: Vector) -> list[int]:
    """Names in the passages that are nearest to a vector."""
    cosines = np.where(of.frequency > 0.0, of.vectors @ vector, -1.0)
    order = np.argsort(-cosines, kind="stable")[:MOST]
    return list(map(int, order[cosines[order] >= LEAST]))


def related(of: NamedPassages, names: Sequence[int]) -> list[Pair]:
    """Relations of ``names``: those first whose two names together have most relations, then those said most often."""
    beside = of.beside[names].tocoo()
    found: dict[Pair, float] = {}
    for row, other, weight in zip(beside.row.tolist(), beside.col.tolist(), beside.data.tolist()):
        found[min(names[row], other), max(names[row], other)] = weight
    degree = of.degree
    order = sorted(found, key=lambda pair: (-(degree[pair[0]] + degree[pair[1]]), -found[pair], pair))
    return order[:RELATIONS]


def said(of: NamedPassages, question: Vector, vector: Vector) -> list[Pair]:
    """Relations said by the sentences nearest to ``vector``, of the passages nearest to the ``question``."""
    found: dict[Pair, None] = {}
    for sentence, _ in of.nearest(vector, of.passages.cosines(question), AMONG)[:MOST]:
        for one, other in of.facts.relations[of.facts.relations[:, 0] == sentence, 1:].tolist():
            if one != other:
                found.setdefault((min(one, other), max(one, other)))
    return list(found)
