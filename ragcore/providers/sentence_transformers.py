"""Embedders and cross-encoders that sentence-transformers can run, by Hugging Face name or local folder.

A folder is read as it is. A name is loaded from the local Hugging Face cache, or downloaded once by that library if
there is a network; if neither works the error says how to get it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelError, ModelMissing

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
        self._model = load_model("SentenceTransformer", model, threads)
        self._name = f"sentence-transformers:{model}"
        self._prefix = BGE_PREFIX if _is_bge(model) and not self._model.prompts.get("query") else None
        self._dimensions = int(self._model.get_embedding_dimension())
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        if not texts:
            return np.empty((0, self._dimensions), dtype=np.float32)
        return self._run(self._model.encode_document, list(texts))

    def embed_query(self, text: str) -> Vector:
        prompt = {"prompt": self._prefix} if self._prefix is not None else {}
        vector: Vector = self._run(self._model.encode_query, [text], **prompt)[0]
        return vector

    def _run(self, encode: Any, texts: list[str], **options: Any) -> Vector:
        with self._lock:
            vectors = encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False, **options)
        return np.asarray(vectors, dtype=np.float32)


class SentenceTransformersReranker:
    """`Reranker` over a cross-encoder with one output, as the sigmoid of its logit whatever activation it was saved
    with (its own sigmoid is not applied twice). ``threads`` as for the embedder.

    Pairs are scored one at a time, so that a score does not depend on the others; pairs beyond the model's length are
    cut. The constructor raises `ModelMissing`, and `ModelError` for a model that is no cross-encoder with one output or
    that gives no number.
    """

    def __init__(self, model: str, *, threads: int = 0) -> None:
        self._model = load_model("CrossEncoder", model, threads)
        self._activation = _to_probability(self._model, model)
        self._name = f"sentence-transformers:{model}"
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        if not passages:
            return np.empty(0)
        with self._lock:
            scores = self._model.predict(
                [(query, passage) for passage in passages],
                batch_size=BATCH,
                activation_fn=self._activation,
                show_progress_bar=False,
            )
        out = np.asarray(scores, dtype=np.float64)
        if not np.all(np.isfinite(out)):
            raise ModelError(
                f"{self._name} returned a score that isn't a number.",
                hint="The model may be damaged. Download it again, or set another rerank.model.",
            )
        return out


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
        outputs = "1 output" if model.num_labels == 1 else f"{model.num_labels} outputs"
        raise ModelError(
            f"{name} isn't a reranker: it is {', '.join(kinds)} with {outputs}.",
            hint="Choose a cross-encoder trained for ranking, for example BAAI/bge-reranker-base.",
        )
    return Identity() if isinstance(head, Dense) and isinstance(head.activation_function, Sigmoid) else Sigmoid()


def _is_bge(model: str) -> bool:
    name = Path(model).name.lower()
    return name.startswith("bge-") and name.endswith("-en-v1.5")


def load_model(kind: str, model: str, threads: int) -> Any:
    """Model of class ``kind``, on the CPU."""
    import sentence_transformers
    import torch

    if threads:
        torch.set_num_threads(threads)
    make = getattr(sentence_transformers, kind)
    folder = Path(model).expanduser()
    source = str(folder) if folder.is_dir() else model
    try:
        try:
            return make(source, device="cpu", local_files_only=True)
        except OSError:
            # Trying the network first would delay a cached model by most of a minute when offline.
            return make(source, device="cpu")
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelMissing(
            f"sentence-transformers cannot load {model}: {_first_line(error)}",
            hint=f"Name a folder with the model, or download it once: `hf download {model}`.",
        ) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
