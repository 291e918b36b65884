"""Models of the tests: each is loaded once in a process, and what it gives for a text is kept on this machine, since it
depends on nothing else (tests/contracts). Another release of what runs it, or another word in the code, begins anew.
Each server of the tests imports this, so it imports nothing that a server doesn't."""

from __future__ import annotations

import getpass
import hashlib
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ragcore.providers import bundled

RUNS = ("onnxruntime", "tokenizers", "numpy", bundled.PACKAGE)
_made: dict[tuple[str, str, int], Any] = {}


def machine() -> Path:
    """Where this machine keeps what tests made."""
    made = Path(tempfile.gettempdir()) / f"groundwork-tests-{getpass.getuser()}"
    made.mkdir(exist_ok=True, mode=0o700)
    return made


def once(kind: str, make: Any) -> Any:
    """What ``make`` makes, for each name and number of threads once, reading each text once."""

    def made(name: str, *, threads: int = 0) -> Any:
        key = (kind, name, threads)
        if key not in _made:
            model = make(name, threads=threads)
            kept = KeptEmbedder if kind == "embedder" else KeptReranker
            _made[key] = None if model is None else kept(model)
        return _made[key]

    return made


class Kept:
    """Arrays by their texts, in a file that all processes of the tests share."""

    def __init__(self, name: str, dtype: Any) -> None:
        code = Path(bundled.__file__).read_bytes()
        told = f"{name} {[version(each) for each in RUNS]} {hashlib.sha256(code).hexdigest()}"
        file = machine() / f"model-{hashlib.sha256(told.encode()).hexdigest()[:16]}.sqlite"
        self._dtype = dtype
        self._lock = threading.Lock()
        self._rows = sqlite3.connect(file, timeout=60, isolation_level=None, check_same_thread=False)
        for line in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF"):
            self._rows.execute(line)
        self._rows.execute("CREATE TABLE IF NOT EXISTS given (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")

    def of(self, kind: str, texts: Sequence[str], give: Callable[[list[str]], Any]) -> list[Any]:
        """For each text what ``give`` gave, now or before."""
        keys = {text: hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).digest() for text in texts}
        known: dict[str, Any] = {}
        with self._lock:
            for text, key in keys.items():
                row = self._rows.execute("SELECT value FROM given WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    known[text] = np.frombuffer(row[0], self._dtype)
        missing = [text for text in keys if text not in known]
        if missing:
            new = [np.atleast_1d(np.asarray(each, self._dtype)) for each in give(missing)]
            known.update(zip(missing, new, strict=True))
            rows = [(keys[text], each.tobytes()) for text, each in zip(missing, new, strict=True)]
            with self._lock:
                self._rows.execute("BEGIN IMMEDIATE")
                self._rows.executemany("INSERT OR IGNORE INTO given VALUES (?, ?)", rows)
                self._rows.execute("COMMIT")
        return [known[text] for text in texts]


class KeptReranker:
    def __init__(self, model: Any) -> None:
        self.name = model.name
        self._model, self._kept = model, Kept(model.name, np.float64)

    def score(self, query: str, passages: Sequence[str]) -> Any:
        given = self._kept.of(f"pair {query}", passages, lambda missing: self._model.score(query, missing))
        return np.array([score[0] for score in given], np.float64)


class KeptEmbedder:
    def __init__(self, model: Any) -> None:
        self.name, self.dimensions = model.name, model.dimensions
        self._model, self._kept = model, Kept(model.name, np.float32)

    def embed_documents(self, texts: Sequence[str]) -> Any:
        given = self._kept.of("document", texts, self._model.embed_documents)
        return np.array(given, np.float32).reshape(len(texts), self.dimensions)

    def embed_query(self, text: str) -> Any:
        (given,) = self._kept.of("query", [text], lambda missing: [self._model.embed_query(each) for each in missing])
        return given.copy()
