"""sentence-transformers models from local folders; no network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ragcore.errors import ModelError, ModelMissing
from ragcore.providers import embedder, reranker
from tests.contracts.test_embedder import minilm_folder
from tests.providers.models import tiny_cross_encoder


def test_a_local_folder_is_an_embedder() -> None:
    model = embedder(f"sentence-transformers:{minilm_folder()}")
    assert (model.dimensions, model.name) == (384, f"sentence-transformers:{minilm_folder()}")
    near, far = model.embed_documents(["The cat sat on the mat.", "Revenue grew."]) @ model.embed_query(
        "a cat on a rug"
    )
    assert near > far + 0.2


@pytest.mark.parametrize("make", [embedder, reranker])
def test_a_folder_that_is_not_there_or_holds_no_model(make: type, tmp_path: Path) -> None:
    for name in (tmp_path / "absent", tmp_path):
        with pytest.raises(ModelMissing, match=str(name)) as caught:
            make(f"sentence-transformers:{name}")
        assert "download" in caught.value.hint


def test_a_name_that_cannot_be_downloaded() -> None:
    # Offline is read once per process, so this runs in its own.
    code = """
import os, sys
os.environ["HF_HUB_OFFLINE"] = "1"
from ragcore.errors import ModelMissing
from ragcore.providers import embedder
try:
    embedder("sentence-transformers:nobody/no-such-model")
except ModelMissing as error:
    sys.exit(0 if "hf download nobody/no-such-model" in error.hint else 1)
sys.exit(2)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_bge_folders_get_bge_s_query_prefix(tmp_path: Path) -> None:
    folder = tmp_path / "bge-tiny-en-v1.5"
    shutil.copytree(minilm_folder(), folder)
    plain = embedder(f"sentence-transformers:{minilm_folder()}")
    model = embedder(f"sentence-transformers:{folder}")
    np.testing.assert_allclose(
        model.embed_query("cash"),
        plain.embed_documents(["Represent this sentence for searching relevant passages: cash"])[0],
        atol=1e-6,
    )
    np.testing.assert_allclose(plain.embed_query("cash"), plain.embed_documents(["cash"])[0], atol=1e-6)


def test_what_is_no_cross_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="BertModel"):
        reranker(f"sentence-transformers:{minilm_folder()}")
    with pytest.raises(ModelError, match="3 outputs"):
        reranker(f"sentence-transformers:{tiny_cross_encoder(tmp_path, outputs=3)}")
