"""Groups of documents that are alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragcore.index.chunks import Entries
from ragcore.retrieve.themes import Group
from ragcore.structure.groups import DocumentGroup, document_groups, shared
from ragcore.structure.passages import Passages
from ragcore.types import Entry

# Two kinds of documents; of the first, two subjects. Directions of their passages:
KINDS = {
    "a1": (1.0, 0.2, 0.0, 0.0),
    "a2": (1.0, 0.25, 0.0, 0.0),
    "b1": (1.0, -0.6, 0.1, 0.0),
    "b2": (1.0, -0.65, 0.1, 0.0),
    "z1": (0.0, 0.0, 0.0, 1.0),
    "p1": (0.0, 0.0, 1.0, 0.1),
    "p2": (0.0, 0.0, 1.0, 0.15),
}
TITLES = {
    "a1": "Adder & Sons Annual Report 2030",
    "a2": "Adder & Sons Annual Report 2031",
    "b1": "Badger annual report",
    "b2": "The Badger annual report",
    "p1": "On peat",
    "p2": "Mosses of the north",
}


def passages(order: Sequence[str]) -> Passages:
    noise = {doc_id: np.random.default_rng(n).normal(0, 0.02, (5, 4)) for n, doc_id in enumerate(sorted(KINDS))}
    vectors = np.array([noise[doc_id] + KINDS[doc_id] for doc_id in order], np.float32).reshape(-1, 4)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    entries = [Entry(f"{doc_id}:{n}", doc_id, "text", 1, 1, 10 * n, 10 * n + 9) for doc_id in order for n in range(5)]
    return Passages(Entries.of(entries), vectors)


def marks(groups: Sequence[Group]) -> list[tuple[str, ...]]:
    return [("peat bogs", "sphagnum", "rain") for _ in groups]


def test_documents_of_a_kind_then_on_one_subject() -> None:
    adder = DocumentGroup("Adder & Sons Annual Report", ("a1", "a2"))
    badger = DocumentGroup("Badger annual report", ("b1", "b2"))
    reports = DocumentGroup("Annual Report", ("a1", "a2", "b1", "b2"), (adder, badger))
    peat = DocumentGroup("peat bogs, sphagnum", ("p1", "p2"))
    assert document_groups(passages(list(KINDS)), TITLES, marks) == (reports, peat)


def test_the_order_of_documents_makes_no_difference() -> None:
    one, two = passages(list(KINDS)), passages(sorted(KINDS, reverse=True))
    assert document_groups(one, TITLES, marks) == document_groups(two, TITLES, marks)


def test_few_documents_have_no_groups() -> None:
    assert document_groups(passages([]), {}, marks) == ()
    assert document_groups(passages(["a1"]), TITLES, marks) == ()


def test_a_name_is_what_most_titles_share() -> None:
    assert shared(["Marsh Ltd Form 10-K 2030", "Marsh Ltd Form 10-K 2031", "Other"]) == "Marsh Ltd Form 10-K"
    assert shared(["A study of the bog", "The state of the moor"]) == ""
    assert shared(["Report for the year 2030", "Accounts for the half of 2031"]) == ""
    assert shared([]) == ""
