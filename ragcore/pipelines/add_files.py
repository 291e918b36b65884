"""Adding of files: which files are accepted, which belong together, and their storage.

An ADE JSON and the PDF of its name beside it (in its folder or upload) form one document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath

from ragcore.config.settings import IngestSettings
from ragcore.errors import BadAdeJson, EmptyFile, FileMissing, FileTooLarge, NotAPdf, TooManyPages
from ragcore.index.store import Store
from ragcore.ingest.convert.kinds import SUFFIXES, kind_of
from ragcore.ingest.convert.mail import Attachment, attachments
from ragcore.progress import Added, printable
from ragcore.protocols import UNLIMITED, Allowance
from ragcore.types.library import FileKind

PATIENCE = 60.0  # seconds that an addition waits for another one
ALONE = (
    "This ADE JSON came without its PDF, so its pages are redrawn and whole blocks or cells are highlighted. For the "
    "original pages and exact words, remove it and add JSON and PDF together, under the same name."
)


def files_to_read(paths: Sequence[Path], settings: IngestSettings) -> Iterator[Path]:
    """Files as given, and all that Groundwork reads below a folder but hidden ones, sorted by name; a PDF is left out
    if its ADE JSON is included. A folder without any is returned itself, so that `add` rejects it instead of ignoring
    it silently."""
    from ragcore.ingest.ade.source import looks_like_ade

    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            files = sorted(item for item in path.rglob("*") if item.is_file() and is_meant(item.relative_to(path)))
            taken = [
                item
                for item in files
                if item.suffix.lower() in SUFFIXES or (item.suffix.lower() == ".json" and looks_like_ade(item))
            ]
            found += taken or [path]
        else:
            found.append(path)
    paired = {pdf for path in found if (pdf := _pdf_beside(path)) is not None and _is_sound(path, settings)}
    yield from (path for path in found if path not in paired)


def is_meant(path: Path) -> bool:
    """Whether a file below a folder is meant with it: none that is hidden, of a program, or Office's own."""
    return not any(part.startswith((".", "~$")) or part == "node_modules" for part in path.parts)


def add(
    store: Store,
    settings: IngestSettings,
    data: bytes | Path,
    name: str = "",
    pdf: bytes | None = None,
    *,
    allowance: Allowance = UNLIMITED,
) -> Added:
    """Store a file under its hash and list it as new, with the files attached to a message, each as a document of its
    own; ``pdf`` is the file that came with an ADE JSON. Raises `FileMissing`, `EmptyFile`, `FileTooLarge`, what
    `kind_of` does, `BadAdeJson`, for a JSON, `TooManyPages`, and `LimitReached`."""
    from ragcore.ingest.ade.source import is_json, read_ade

    beside: Path | None = None
    if isinstance(data, Path):
        name = name or data.name
        beside = _pdf_beside(data)
        data = contents(data, name, settings)
    # File names are bytes to the system; invalid UTF-8 cannot be stored or shown.
    name = printable(Path(name)) if name else name
    _check_size(len(data), name, settings)
    if not is_json(data, name):
        kind = kind_of(data, name)
        within = list(_attached(data, name, kind))
        with _reserved(allowance, store, data, *(each.data for each in within)):
            doc_id, new = store.add_file(data, name, kind)
            attached = dict.fromkeys(store.add_file(each.data, each.name, each.kind)[0] for each in within if each.kind)
        return Added(doc_id, "new" if new else "already", attached=tuple(attached))
    _check_size(len(data), name, settings, json=True)
    read_ade(data, name, settings.max_pages)
    if pdf is None and beside is not None:
        pdf = contents(beside, beside.name, settings)
    elif pdf is not None:
        _check_size(len(pdf), pdf_name(name), settings)
    if pdf is not None:
        if kind_of(pdf, pdf_name(name)) != "pdf":
            raise NotAPdf(f"{pdf_name(name)} is not a PDF.")
    else:
        known = store.find_ade(data)
        if known is not None:
            return Added(known, "already", "" if store.original(known).is_file() else ALONE)
    with _reserved(allowance, store, data, pdf or b""):
        doc_id, new = store.add_ade(data, name, pdf)
    return Added(doc_id, "new" if new else "already", ALONE if pdf is None else "")


def _attached(data: bytes, name: str, kind: FileKind) -> Iterator[Attachment]:
    """Readable files attached to a message, and to messages attached to it."""
    messages = [(data, name, kind)]
    while messages:
        for each in attachments(*messages.pop(0)):
            if each.kind is not None:
                yield each
                messages.append((each.data, each.name, each.kind))


@contextmanager
def _reserved(allowance: Allowance, store: Store, *files: bytes) -> Iterator[None]:
    """Context to store ``files`` in, for which there is room. Where bytes are limited no other process stores any
    meanwhile: two at once would pass the limit together. Raises `LimitReached`, and `StoreBusy` after `PATIENCE`."""
    if not allowance.limited("bytes"):
        yield
        return
    with store.database.locked("adding", "Another file is being added to this library.", seconds=PATIENCE):
        allowance.take("bytes", sum(map(len, files)), held=sum(one.bytes for one in store.documents(earlier=True)))
        yield


def pdf_name(name: str) -> str:
    """Name in messages of the PDF that came with the ADE JSON ``name``."""
    return f"{PurePath(name).stem}.pdf"


def _pdf_beside(path: Path) -> Path | None:
    if path.suffix.lower() != ".json":
        return None
    named = (path.with_suffix(suffix) for suffix in (".pdf", ".PDF"))
    return next((pdf for pdf in named if pdf.is_file()), None)


def _is_sound(path: Path, settings: IngestSettings) -> bool:
    """Whether the ADE JSON is valid; if not, its PDF is still read by itself."""
    from ragcore.ingest.ade.source import read_ade

    try:
        data = contents(path, path.name, settings)
        _check_size(len(data), path.name, settings, json=True)
        read_ade(data, path.name, settings.max_pages)
    except (BadAdeJson, TooManyPages, EmptyFile, FileTooLarge, FileMissing):
        return False
    return True


def contents(path: Path, name: str, settings: IngestSettings) -> bytes:
    """Bytes of a file. Raises `FileMissing`, `EmptyFile`, `FileTooLarge`."""
    if path.is_dir():
        raise FileMissing(
            f"The folder {printable(path)} has no file that Groundwork reads.",
            hint="Choose another folder, or the files themselves.",
        )
    if not path.is_file():
        raise FileMissing(f"No file at {path}.")
    _check_size(path.stat().st_size, name, settings)
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileMissing(f"{path} can't be read: {error.strerror}.", hint="Check its permissions.") from error


def _check_size(size: int, name: str, settings: IngestSettings, *, json: bool = False) -> None:
    limit, key = (settings.max_json_bytes, "max_json_bytes") if json else (settings.max_bytes, "max_bytes")
    if size == 0:
        raise EmptyFile(f"{name} is empty.")
    if size > limit:
        raise FileTooLarge(
            f"{name} has {size / 2**20:.0f} MiB; the limit is {limit / 2**20:.0f} MiB.",
            hint=f"Split the file, or raise ingest.{key} in config.toml.",
        )
