"""sentence-transformers models from local folders; no network."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from ragcore.errors import ModelError, ModelMissing
from ragcore.providers.registry import embedder, reranker
from tests.contracts.test_embedder import minilm_folder
from tests.providers.models import tiny_cross_encoder, tiny_cross_encoder_with_its_own_sigmoid

pytestmark = pytest.mark.slow  # what each test loads takes seconds; tests/contracts hold both models to their protocols


@pytest.mark.parametrize("make", [embedder, reranker])
def test_a_folder_that_is_not_there_or_holds_no_model(make: type, tmp_path: Path) -> None:
    for name in (tmp_path / "absent", tmp_path):
        with pytest.raises(ModelMissing, match=str(name)) as caught:
            make(f"sentence-transformers:{name}")
        assert "download" in caught.value.hint


class _Hub:
    """A hub at ``address`` that hangs up on every request, and counts them as ``asked``."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked = 0
        threading.Thread(target=self._hang_up, daemon=True).start()

    def _hang_up(self) -> None:
        while True:
            self._socket.accept()[0].close()
            self.asked += 1


NAMED = """
from ragcore.errors import ModelMissing
from ragcore.providers.registry import embedder
try:
    embedder("sentence-transformers:nobody/no-such-model")
except ModelMissing as error:
    print(error.message, error.hint, sep="\\n")
"""


def test_a_name_that_cannot_be_downloaded_is_asked_for_once_or_offline_never(tmp_path: Path) -> None:
    hubs = _Hub(), _Hub()
    started = []
    for offline, hub in enumerate(hubs):
        # These variables are read once per process, so this runs in its own.
        own = {"HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": str(offline), "HF_HOME": str(tmp_path / str(offline))}
        command = [sys.executable, "-c", NAMED]
        started.append(subprocess.Popen(command, env=os.environ | own, stdout=subprocess.PIPE, text=True))
    for offline, (hub, process) in enumerate(zip(hubs, started)):
        message, hint = process.communicate(timeout=280)[0].splitlines()
        assert f"nobody/no-such-model, which isn't on this computer, from {hub.address}" in message
        assert "hf download nobody/no-such-model" in hint
        assert hub.asked == (0 if offline else 1)


def test_bge_folders_get_bge_s_query_prefix(tmp_path: Path) -> None:
    folder = tmp_path / "bge-tiny-en-v1.5"
    shutil.copytree(minilm_folder(), folder)
    plain = embedder(f"sentence-transformers:{minilm_folder()}")
    assert (plain.dimensions, plain.name) == (384, f"sentence-transformers:{minilm_folder()}")
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


PASSAGES = ["the property in the cat .", "cat", "company s .", "the the property property company in in ."]


@pytest.mark.parametrize("activation", [None, "Identity", "Sigmoid", "Tanh"])
def test_scores_are_the_sigmoid_of_the_logit_whatever_activation_it_was_saved_with(
    activation: str | None, tmp_path: Path
) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    folder = str(tiny_cross_encoder(tmp_path, activation=activation))
    pairs = [("the company", passage) for passage in PASSAGES]
    logits = CrossEncoder(folder, device="cpu").predict(pairs, batch_size=1, activation_fn=torch.nn.Identity())
    model = reranker(f"sentence-transformers:{folder}")
    assert model is not None
    scores = model.score("the company", PASSAGES)
    np.testing.assert_allclose(scores, 1.0 / (1.0 + np.exp(-logits.astype(np.float64))), atol=1e-6)
    assert np.ptp(scores) > 0.01


def test_a_head_with_a_sigmoid_gets_no_second_one(tmp_path: Path) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    folder = str(tiny_cross_encoder_with_its_own_sigmoid(tmp_path))
    pairs = [("the company", passage) for passage in PASSAGES]
    own = CrossEncoder(folder, device="cpu").predict(pairs, batch_size=1, activation_fn=torch.nn.Identity())
    model = reranker(f"sentence-transformers:{folder}")
    assert model is not None
    np.testing.assert_allclose(model.score("the company", PASSAGES), own, atol=1e-6)
    assert own.min() < 0.5 or own.max() > 0.74, "a second sigmoid would give .5 to .73"


def test_a_damaged_model_is_not_taken_for_an_answer(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    weights = tiny_cross_encoder(tmp_path) / "model.safetensors"
    damaged = load_file(weights)
    damaged["classifier.bias"] = torch.full_like(damaged["classifier.bias"], float("nan"))
    save_file(damaged, weights, metadata={"format": "pt"})
    model = reranker(f"sentence-transformers:{tmp_path}")
    assert model is not None
    with pytest.raises(ModelError, match="isn't a number"):
        model.score("the company", PASSAGES)
