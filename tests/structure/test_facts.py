"""Facts of documents by rules."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ragcore.index.store import Store
from ragcore.structure.facts import Facts
from tests.libraries import add_document


def facts(tmp_path: Path, *documents: list[str]) -> tuple[Store, list[Facts]]:
    store = Store(tmp_path)
    ids = [add_document(store, f"{n}.pdf", passages) for n, passages in enumerate(documents)]
    return store, [Facts.of(store.indexed_chunks(doc_id)) for doc_id in ids]


def test_names_of_a_sentence_are_related_and_the_sentence_stands_there(tmp_path: Path) -> None:
    store, (found,) = facts(
        tmp_path, ["The river is long. They say Jane Miller left Alpha Corp.", "Nothing here has one."]
    )
    text = store.document(store.documents()[0].doc_id).text
    ((sentence, one, other),) = found.relations.tolist()
    leaf, start, end = found.sentences[sentence].tolist()
    assert (leaf, text[start:end]) == (0, "They say Jane Miller left Alpha Corp.")
    assert {found.shown[one], found.shown[other]} == {"Jane Miller", "Alpha Corp"}
    assert "the" not in found.keys
    assert found.words == [""]


def test_stored_facts_are_the_same(tmp_path: Path) -> None:
    _, (found,) = facts(tmp_path, ["Jane Miller left Alpha Corp for Beta Inc.", "Beta Inc is in Northtown."])
    again = Facts.from_bytes(found.to_bytes())
    assert again.to_bytes() == found.to_bytes()
    assert np.array_equal(again.mentions, found.mentions)


def test_facts_of_several_documents_have_each_name_once(tmp_path: Path) -> None:
    _, parts = facts(tmp_path, ["In May Jane Miller left Alpha Corp."], ["Now JANE MILLER works in Northtown."])

    def related(joined: Facts) -> set[tuple[str, ...]]:
        ids = [joined.entries.ids[joined.sentences[row, 0]] for row in joined.relations[:, 0].tolist()]
        ends = [sorted((joined.keys[one], joined.keys[other])) for _, one, other in joined.relations.tolist()]
        return {(chunk_id, *pair) for chunk_id, pair in zip(ids, ends)}

    one, two = Facts.joined(parts), Facts.joined(parts[::-1])
    assert one.keys == two.keys
    assert one.shown == two.shown
    assert related(one) == related(two)
    assert one.keys.count("jane miller") == 1
    assert Facts.joined([]).keys == []
