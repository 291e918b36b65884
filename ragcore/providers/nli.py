"""Entailment models: any cross-encoder for natural-language inference that sentence-transformers can run, by Hugging
Face name or folder.

It reads a passage and a claim together and returns the probability of entailment. None ships with Groundwork.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelError
from ragcore.providers.sentence_transformers import BATCH, load_model


class SentenceTransformersEntailment:
    """`Entailment` over a cross-encoder with an output called entailment, or with one output (a consistency model).

    Pairs are read one at a time; pairs beyond the model's length are cut. The constructor raises `ModelMissing`, and
    `ModelError` for a model whose outputs do not name entailment, or that gives no number.
    """

    def __init__(self, model: str, *, threads: int = 0) -> None:
        self._model = load_model("CrossEncoder", model, threads)
        self._name = f"sentence-transformers:{model}"
        self._lock = threading.Lock()
        outputs = {int(place): str(name) for place, name in (self._model.config.id2label or {}).items()}
        entailing = [place for place, name in outputs.items() if name.lower().startswith("entail")]
        if len(outputs) > 1 and len(entailing) != 1:
            raise ModelError(
                f"{model} isn't an entailment model: its outputs are {', '.join(outputs.values())}.",
                hint="Set verify.entailment to a cross-encoder with an output called entailment, such as "
                '"sentence-transformers:cross-encoder/nli-deberta-v3-small", or to "off".',
            )
        self._output = entailing[0] if len(outputs) > 1 else None

    @property
    def name(self) -> str:
        return self._name

    def score(self, claim: str, premises: Sequence[str]) -> NDArray[np.float64]:
        from torch.nn import Identity

        if not premises:
            return np.empty(0)
        pairs = [(premise, claim) for premise in premises]
        with self._lock:
            logits = self._model.predict(
                pairs, batch_size=BATCH, activation_fn=Identity(), apply_softmax=False, show_progress_bar=False
            )
        found = np.asarray(logits, dtype=np.float64)
        if not np.all(np.isfinite(found)):
            raise ModelError(
                f"{self._name} returned a score that isn't a number.",
                hint="The model may be damaged. Download it again, or set another verify.entailment.",
            )
        if self._output is None:
            return 1.0 / (1.0 + np.exp(-found.reshape(-1)))
        shares = np.exp(found - found.max(axis=1, keepdims=True))
        chosen: NDArray[np.float64] = shares[:, self._output] / shares.sum(axis=1)
        return chosen
