"""Embedders and cross-encoders that sentence-transformers can run, by Hugging Face name or local folder.

A folder is read as it is. A name is loaded from the local Hugging Face cache, or downloaded once by that library if
there is a network; if neither works the error says how to get it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelError, ModelMissing
from ragcore.text.numbers import plural

if TYPE_CHECKING:
    from ragcore.protocols import Vector

# A batch would be padded to its longest text, and floating-point sums then depend on the rest of it.
BATCH = 1
BGE_PREFIX = "Represent this sentence for searching relevant passages: "


class SentenceTransformersEmbedder:
    """`Embedder` over a bi-encoder, scaled to length 1. ``threads`` is the number of cores torch uses (0: its choice).

    The query prompt is the model's own if it names one, and bge's for the English bge v1.5 models, which do not. The
    constructor raises `ModelMissing`.
    """

    def __init__(self, model: str, *, threads: int = 0) -> None:
        self._model = _load("SentenceTransformer", model, threads)
        self.name = f"sentence-transformers:{model}"
        self.dimensions = int(self._model.get_embedding_dimension())
        self._prompt = {"prompt": BGE_PREFIX} if _is_bge(model) and not self._model.prompts.get("query") else {}
        self._lock = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return self._run(self._model.encode_document, list(texts))

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._run(self._model.encode_query, [text], **self._prompt)[0]
        return vector

    def _run(self, encode: Any, texts: list[str], **options: Any) -> Vector:
        with self._lock:
            vectors = encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False, **options)
        return np.asarray(vectors, dtype=np.float32)


class _CrossEncoder:
    """Cross-encoder that reads pairs one at a time, so that a score does not depend on the others; pairs beyond the
    model's length are cut. ``setting`` names it in the configuration."""

    setting: str

    def __init__(self, model: str, *, threads: int = 0) -> None:
        self._model = _load("CrossEncoder", model, threads)
        self.name = f"sentence-transformers:{model}"
        self._lock = threading.Lock()

    def _predict(self, pairs: list[tuple[str, str]], activation: Any) -> NDArray[np.float64]:
        with self._lock:
            scores = self._model.predict(pairs, batch_size=BATCH, activation_fn=activation, show_progress_bar=False)
        found = np.asarray(scores, dtype=np.float64)
        if not np.all(np.isfinite(found)):
            raise ModelError(
                f"{self.name} returned a score that isn't a number.",
                hint=f"The model may be damaged. Download it again, or set another {self.setting}.",
            )
        return found


class SentenceTransformersReranker(_CrossEncoder):
    """`Reranker` over a cross-encoder with one output, as the sigmoid of its logit whatever activation it was saved
    with (its own sigmoid is not applied twice). ``threads`` as for the embedder.

    The constructor raises `ModelMissing`, and `ModelError` for a model that is no cross-encoder with one output or that
    gives no number.
    """

    setting = "rerank.model"

    def __init__(self, model: str, *, threads: int = 0) -> None:
        super().__init__(model, threads=threads)
        self._activation = _to_probability(self._model, model)

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        if not passages:
            return np.empty(0)
        return self._predict([(query, passage) for passage in passages], self._activation)


class SentenceTransformersEntailment(_CrossEncoder):
    """`Entailment` over a cross-encoder for natural-language inference: one with an output called entailment, or with
    one output (a consistency model). ``threads`` as for the embedder. None ships with Groundwork.

    The constructor raises `ModelMissing`, and `ModelError` for a model whose outputs do not name entailment, or that
    gives no number.
    """

    setting = "verify.entailment"

    def __init__(self, model: str, *, threads: int = 0) -> None:
        super().__init__(model, threads=threads)
        outputs = {int(place): str(name) for place, name in (self._model.config.id2label or {}).items()}
        entailing = [place for place, name in outputs.items() if name.lower().startswith("entail")]
        if len(outputs) > 1 and len(entailing) != 1:
            raise ModelError(
                f"{model} isn't an entailment model: its outputs are {', '.join(outputs.values())}.",
                hint="Set verify.entailment to a cross-encoder with an output called entailment, such as "
                '"sentence-transformers:cross-encoder/nli-deberta-v3-small", or to "off".',
            )
        self._output = entailing[0] if len(outputs) > 1 else None

    def score(self, claim: str, premises: Sequence[str]) -> NDArray[np.float64]:
        from torch.nn import Identity

        if not premises:
            return np.empty(0)
        logits = self._predict([(premise, claim) for premise in premises], Identity())
        if self._output is None:
            return 1.0 / (1.0 + np.exp(-logits.reshape(-1)))
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        chosen: NDArray[np.float64] = shares[:, self._output] / shares.sum(axis=1)
        return chosen


def _to_probability(model: Any, name: str) -> Any:
    """Activation that maps the last output of a cross-encoder to 0–1. Raises `ModelError` for a model that is no
    reranker."""
    from sentence_transformers.cross_encoder.modules import Dense, LogitScore
    from torch.nn import Identity, Sigmoid

    head = model[-1]
    kinds = model.config.architectures or []
    # For any other kind of model the library would add an untrained head with meaningless scores.
    trained = isinstance(head, Dense | LogitScore) or any("SequenceClassification" in kind for kind in kinds)
    if model.num_labels != 1 or not trained:
        raise ModelError(
            f"{name} isn't a reranker: it is {', '.join(kinds)} with {plural(model.num_labels, 'output')}.",
            hint="Choose a cross-encoder trained for ranking, for example BAAI/bge-reranker-base.",
        )
    return Identity() if isinstance(head, Dense) and isinstance(head.activation_function, Sigmoid) else Sigmoid()


def _is_bge(model: str) -> bool:
    name = Path(model).name.lower()
    return name.startswith("bge-") and name.endswith("-en-v1.5")


def _load(kind: str, model: str, threads: int) -> Any:
    """Model of class ``kind``, on the CPU."""
    import sentence_transformers
    import torch
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError, HTTPError  # type: ignore[attr-defined]  # of the hub's client

    if threads:
        torch.set_num_threads(threads)
    make = getattr(sentence_transformers, kind)
    folder = Path(model).expanduser()
    source = str(folder) if folder.is_dir() else model
    away = ""
    try:
        try:
            return make(source, device="cpu", local_files_only=True)
        except OSError:
            # The library asks for each of several files six times, for minutes without a network; this asks once.
            if not folder.is_dir():
                away = f", which isn't on this computer, from {constants.ENDPOINT}"
                with suppress(HfHubHTTPError, ValueError):  # an answer, or no valid name: reported below
                    HfApi().model_info(model, timeout=constants.HF_HUB_ETAG_TIMEOUT)
            return make(source, device="cpu")
    except (OSError, ValueError, RuntimeError, HTTPError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelMissing(
            f"sentence-transformers cannot load {model}{away}: {first}",
            hint=f"Check the name and the network, or name a folder with the model: `hf download {model}` gets one.",
        ) from error
