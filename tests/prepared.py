"""Documents that this machine read before: their pages are kept, so that a test begins with a library at once.

Reading is what costs: a child process that loads a layout model. Its pages are the same for the same file, settings and
code, so they are kept beside the system's temporary files and given to the library as pages of an attempt that was
stopped at its end; the rest of `Engine.ingest` is done as ever. Tests of reading itself call `Engine.ingest`. Whole
libraries that many tests begin with are kept too, for the code as it stands.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import distributions, version
from pathlib import Path

import pymupdf
from filelock import FileLock

import ragcore
from ragcore import ingest
from ragcore.config.settings import OcrSettings, Settings
from ragcore.engine import Engine
from ragcore.index.database import NAME, URL, open_database
from ragcore.index.move import copy, move
from ragcore.ingest.layout import PageLayout
from ragcore.ingest.parse import parse_pages
from ragcore.types import Scope
from tests.models import machine

READERS = ("pymupdf", "pymupdf4llm", "onnxruntime", "rapidocr", "numpy")
# Rooms that neither read a document, nor index, search or answer: a library is the same whatever they do.
ASIDE = frozenset({"accounts", "check", "cli", "evaluate", "explore", "export", "grid", "report", "serve"})


def read(engine: Engine, data: bytes | Path, name: str = "") -> str:
    """The id of a document that is added to the library and read, whichever process reads it first."""
    doc_id = engine.add(data, name).doc_id
    kept = folder() / key(engine.store.file(doc_id).read_bytes(), engine.settings)
    with FileLock(f"{kept}.lock", timeout=240):
        known = kept.is_dir()
        for page in kept.iterdir() if known else ():
            engine.store.put_page(doc_id, int(page.stem), page.read_bytes())
        if not known:
            _ingest(engine, doc_id)
            keep(kept, engine.store.page_layouts(doc_id))
            return doc_id
    _ingest(engine, doc_id)
    return doc_id


def layouts(path: Path, settings: Settings, ocr: OcrSettings | None = None) -> list[PageLayout]:
    """The pages of a file as real children read them, today or before."""
    with pymupdf.open(path) as pdf:
        numbers = range(1, len(pdf) + 1)
    kept = folder() / (key(path.read_bytes(), settings) + ("-ocr" if ocr else ""))
    with FileLock(f"{kept}.lock", timeout=240):
        if not kept.is_dir():
            read = sorted(parse_pages(path, numbers, settings=settings.ingest, ocr=ocr), key=lambda page: page.number)
            keep(kept, [page.to_bytes() for page in read])
            return read
    return [PageLayout.from_bytes((kept / f"{number}.page").read_bytes()) for number in numbers]


def home(made: Path, files: Mapping[str, bytes], *, ask: str = "", starters: bool = False) -> Path:
    """A library of ``files``, read and indexed, for all processes of a test run: a copy of the one that this machine
    made with today's code. With ``ask`` it has a conversation about each document, in which that was asked; with
    ``starters`` the questions to begin with have been found."""
    with FileLock(f"{made}.lock", timeout=240):
        if not made.is_dir():
            given = "".join(f"{name} {_same(data)}" for name, data in files.items()) + f"{ask} {starters}"
            kept = folder() / f"{_all_code()}-{hashlib.sha256(given.encode()).hexdigest()[:16]}"
            with FileLock(f"{kept}.lock", timeout=240):
                if not kept.is_dir():
                    _make(kept, files, ask, starters)
            shutil.copytree(kept, made)
            if url := os.environ.get(URL):
                move(made, url)
    return made


def copied(home: Path, to: Path) -> Path:
    """``to``, with a copy of the library in ``home``."""
    shutil.copytree(home, to)
    if (to / NAME).exists():
        (to / NAME).unlink()
        with open_database(home).read() as rows:
            copy(rows, open_database(to))
    return to


def _make(kept: Path, files: Mapping[str, bytes], ask: str, starters: bool) -> None:
    new = Path(tempfile.mkdtemp(dir=kept.parent))
    with on_sqlite(), Engine.open(new, overrides={"llm.model": "offline"}) as engine:
        ids = [read(engine, data, name) for name, data in files.items()]
        engine.index()
        for doc_id in ids if ask else ():
            engine.chat(engine.conversations.new(Scope((doc_id,))), ask).run()
        if starters:
            engine.starters(ids)
    new.rename(kept)


@contextmanager
def on_sqlite() -> Iterator[None]:
    """Whatever database the tests run on: what is kept is for all of them."""
    url = os.environ.pop(URL, None)
    try:
        yield
    finally:
        if url is not None:
            os.environ[URL] = url


@cache
def folder() -> Path:
    """Where this machine keeps pages that today's code read."""
    made = machine() / _code()
    made.mkdir(exist_ok=True, mode=0o700)
    return made


def key(data: bytes, settings: Settings) -> str:
    """One for all files that differ in nothing but the identifier that a PDF gets when it is written."""
    given = settings.ingest.model_dump_json() + settings.ocr.model_dump_json()
    return hashlib.sha256(f"{_same(data)} {given}".encode()).hexdigest()[:24]


def _same(data: bytes) -> str:
    return hashlib.sha256(re.sub(rb"/ID\s*\[[^\]]*\]", b"", data)).hexdigest()


def keep(kept: Path, pages: Sequence[bytes]) -> None:
    """All pages or none, since a process may be killed while it writes, and none that this machine was too slow for."""
    if any(PageLayout.from_bytes(data).degraded for data in pages):
        return
    new = Path(tempfile.mkdtemp(dir=kept.parent))
    for number, data in enumerate(pages, start=1):
        (new / f"{number}.page").write_bytes(data)
    new.rename(kept)


def _ingest(engine: Engine, doc_id: str) -> None:
    report = engine.ingest(doc_id)
    assert report.status == "ready", report.error


def _code() -> str:
    (source,) = ingest.__path__
    hashed = hashlib.sha256(" ".join(version(name) for name in READERS).encode())
    for path in sorted(Path(source).rglob("*.py")):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:16]


@cache
def _all_code() -> str:
    """What a whole library depends on: the package, less what is `ASIDE`, with its models, and what is installed beside
    it."""
    hashed = hashlib.sha256(" ".join(sorted(f"{one.name} {one.version}" for one in distributions())).encode())
    package = Path(ragcore.__file__).parent
    for path in sorted(package.rglob("*")):
        if path.relative_to(package).parts[0] in ASIDE:
            continue
        if path.suffix == ".py":
            hashed.update(path.read_bytes())
        elif path.is_file() and path.suffix != ".pyc":
            hashed.update(f"{path.name} {path.stat().st_size}".encode())
    return hashed.hexdigest()[:16]
