"""History of a library: whatever was added, removed and put back, structures are those of a library made at once."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ragcore.index.shelf import Trash
from ragcore.retrieve.hybrid import STRUCTURES
from ragcore.types import Seeds
from tests.contracts.test_structure import LIBRARY, QUESTION, Shelf

ASKED = (QUESTION, "Who sells tea?", "Northtown and Westford College")


def everything(shelf: Shelf) -> dict[str, list[dict[str, float]]]:
    """What every mode gives for each question, and the graph of names."""
    graph = shelf.indexer.graph()
    found = {"graph": [dict(graph.query(Seeds(text), 50)) for text in ASKED]}
    for mode in STRUCTURES:
        structure = shelf.structures.open(mode)
        found[mode] = [dict(structure.leaves(shelf.asked(text), 50)) for text in ASKED]
    return found


class History(RuleBasedStateMachine):
    """A library to which documents are added in any order, from which they are removed, some to come back."""

    @initialize()
    def begin(self) -> None:
        self.home = Path(tempfile.mkdtemp())
        self.shelf = Shelf(self.home / "library")
        self.trash = Trash(self.shelf.store, 3600.0)
        self.here: set[str] = set()
        self.thrown: set[str] = set()

    def doc_id(self, name: str) -> str:
        return next(info.doc_id for info in self.shelf.store.documents() if info.name == name)

    @precondition(lambda self: len(self.here | self.thrown) < len(LIBRARY))
    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(LIBRARY.keys() - self.here - self.thrown)))
        self.shelf.add(name)
        self.here.add(name)

    @precondition(lambda self: self.here)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.here)))
        self.shelf.remove(name)
        self.here.remove(name)

    @precondition(lambda self: self.here)
    @rule(data=st.data())
    def throw(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.here)))
        self.ids = {**getattr(self, "ids", {}), name: self.doc_id(name)}
        self.trash.put([self.ids[name]])
        self.here.remove(name)
        self.thrown.add(name)

    @precondition(lambda self: self.thrown)
    @rule(data=st.data())
    def put_back(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.thrown)))
        self.trash.restore([self.ids[name]])
        self.thrown.remove(name)
        self.here.add(name)

    @precondition(lambda self: self.here)
    @rule()
    def search(self) -> None:
        """Make what is made when it is first asked for, so that later steps find it made."""
        everything(self.shelf)

    @invariant()
    def facts_are_those_of_the_documents_that_are_here(self) -> None:
        if hasattr(self, "shelf"):
            names = {info.doc_id: info.name for info in self.shelf.store.documents()}
            assert {names[doc_id] for doc_id in self.shelf.store.searchable()} == self.here

    def teardown(self) -> None:
        if hasattr(self, "shelf"):
            fresh = Shelf(self.home / "fresh").add(*sorted(self.here))
            mine, made_at_once = everything(self.shelf), everything(fresh)
            for mode, answers in made_at_once.items():
                for one, other in zip(mine[mode], answers):
                    assert one == pytest.approx(other, rel=1e-6), mode
            mine_facts, fresh_facts = (
                {doc_id: facts.to_bytes() for doc_id, facts in of.structures.facts(of.store.searchable()).items()}
                for of in (self.shelf, fresh)
            )
            assert mine_facts == fresh_facts
            assert np.array_equal(self.shelf.structures.passages().vectors, fresh.structures.passages().vectors)
            shutil.rmtree(self.home)


@pytest.mark.slow
def test_history_makes_no_difference() -> None:
    run_state_machine_as_test(History, settings=settings(max_examples=25, stateful_step_count=8, deadline=None))
