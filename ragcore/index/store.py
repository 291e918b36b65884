"""Library on disk: files by SHA-256, and SQLite as the only source of truth.

Vectors and BM25 are caches that can be rebuilt from it. `revision` grows whenever chunks are added or removed, by which
the caches detect that they are outdated.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from ragcore import files
from ragcore.errors import UnknownDocument
from ragcore.index.chunks import ChunkStore, chunk_row, fingerprint, settle
from ragcore.index.database import IN, Connection, Row, made, open_database
from ragcore.index.objects import open_files
from ragcore.index.packing import StoredElements, pack, pack_elements, unpack
from ragcore.index.versions import newest_versions
from ragcore.text.short_titles import told_apart
from ragcore.types import Chunk, Document, ModelReport, Page, Partly, WordMap
from ragcore.types.library import DocumentInfo, FileKind, Status

# Endings of files that may be made anew; others never change.
REMADE = MADE, UNLOCKED, DRAWN = ".made.pdf", ".unlocked.pdf", ".drawn.pdf"
ADDING = "adding "  # begins the key of a row of ``meta`` that goes on with the hash of files not listed yet
ADDED = 86_400.0  # seconds after which nothing adds them any more
OPENED = 256 << 20  # bytes of documents in memory, at most
_BUILD = "recipe, built, given"  # another process may rebuild or rename a document


class Store(ChunkStore):
    """Everything under one home folder: ``groundwork.sqlite``, ``files/``, ``cache/`` and ``locks/``.

    A document's files are next to each other under the hash that names it: ``.pdf`` as given, ``.unlocked.pdf`` the
    readable copy of an encrypted one; a file of another kind under its kind (``.xlsx``), with the pages made of it as
    ``.made.pdf``; for an ADE import also ``.ade.json``, with ``.drawn.pdf`` for pages drawn from it
    if no PDF was given. The hash is that of the PDF, or of the JSON followed by its PDF if there is one.
    """

    def __init__(self, home: Path) -> None:
        super().__init__(open_database(home))
        self.home = home
        self.files = open_files(home, self.database)
        self.opened = OpenDocuments(OPENED)

    def document_lock(self, doc_id: str) -> AbstractContextManager[Callable[[], bool]]:
        """Lock held by the one task that reads or removes a document. Raises `StoreBusy` at once if it is taken."""
        busy = "Another task is reading or removing this document right now."
        return self.database.locked(doc_id, busy, fence=True)

    def embedding_lock(self, doc_id: str) -> AbstractContextManager[Callable[[], bool]]:
        """Lock held by who embeds a document. Raises `StoreBusy` at once if it is taken."""
        busy = "Another process embeds this document right now."
        return self.database.locked(f"{doc_id}.embed", busy, fence=True)

    def at_work(self, doc_ids: Collection[str]) -> set[str]:
        """Those of some documents that processes on any machine read, embed or remove right now; none of a library
        that only one uses."""
        taken = self.database.taken([name for doc_id in doc_ids for name in (doc_id, f"{doc_id}.embed")])
        return {name.removesuffix(".embed") for name in taken}

    def held(self, doc_id: str) -> bool:
        """Whether a person cancelled reading a document."""
        return bool(self.database.value("SELECT held FROM documents WHERE doc_id = ?", doc_id))

    # Files

    def add_file(self, data: bytes, name: str, kind: FileKind = "pdf") -> tuple[str, bool]:
        """Store a file under its SHA-256 and list it; ``(doc_id, True)`` if it is new, ``(doc_id, False)`` if the
        library already has the same bytes. A document in the trash comes back as new."""
        return self._add({f".{kind}": data}, hashlib.sha256(data).hexdigest(), name, kind)

    def add_ade(self, json: bytes, name: str, pdf: bytes | None) -> tuple[str, bool]:
        """Store an ADE JSON, with its PDF if given, as one document; returns the same as `add_file`."""
        kept = {".ade.json": json} | ({".pdf": pdf} if pdf is not None else {})
        return self._add(kept, hashlib.sha256(json + (pdf or b"")).hexdigest(), name)

    def find_ade(self, json: bytes) -> str | None:
        """Document with exactly this ADE JSON, with a PDF or without; None if there is none."""
        sizes = self.files.sizes()
        for doc_id, sha256 in self.database.rows("SELECT doc_id, sha256 FROM documents WHERE removed IS NULL"):
            path = self.files.find(name) if sizes.get(name := f"{sha256}.ade.json") == len(json) else None
            if path is not None and path.read_bytes() == json:
                return str(doc_id)
        return None

    def file(self, doc_id: str) -> Path:
        """Readable PDF: the unlocked copy of an encrypted one, the pages drawn from an ADE JSON without its PDF, those
        made of a file of another kind, else the file as given."""
        if self.kind(doc_id) != "pdf":
            return self.path(doc_id, MADE)
        for path in (self.path(doc_id, UNLOCKED), self.path(doc_id, DRAWN)):
            if path.is_file():
                return path
        return self.original(doc_id)

    def kind(self, doc_id: str) -> FileKind:
        """Kind of the file as given; an ADE JSON is one with its PDF."""
        kind: FileKind = self._row(doc_id, "file_kind")[0]
        return kind

    def original(self, doc_id: str) -> Path:
        """File as given; of an ADE JSON its PDF, which doesn't exist if none was given."""
        return self.path(doc_id, f".{self.kind(doc_id)}")

    def path(self, doc_id: str, ending: str) -> Path:
        """Path of one of a document's files, whether or not it exists."""
        name = f"{self.sha256(doc_id)}{ending}"
        return self.files.find(name) or self.files.path(name)

    def ade_file(self, doc_id: str) -> Path | None:
        """ADE JSON that the document was imported from; None for a PDF."""
        return self.files.find(f"{self.sha256(doc_id)}.ade.json")

    def delete_files(self, sha256: str) -> None:
        """Delete all files of the document of this hash."""
        kinds = (f".{kind}" for kind in get_args(FileKind))
        suffixes = (*kinds, *REMADE, ".ade.json")
        self.files.delete(f"{sha256}{suffix}" for suffix in suffixes)

    @property
    def pictures(self) -> Path:
        """Folder of cached page pictures, a subfolder for each document."""
        return self.home / "cache" / "pages"

    def sha256(self, doc_id: str) -> str:
        """Hash, in hex, under which the document's files are stored."""
        return str(self._row(doc_id, "sha256")[0])

    def _add(self, kept: Mapping[str, bytes], sha256: str, name: str, kind: FileKind = "pdf") -> tuple[str, bool]:
        adding = f"{ADDING}{sha256}"
        with self.database.write() as connection:
            connection.insert("meta", {"key": adding, "value": {"since": time.time()}}, clash="NOTHING")
        self._keep(kept, sha256)
        row: dict[str, object] = {"doc_id": sha256[:16], "sha256": sha256, "name": name, "file_kind": kind}
        row["bytes"] = sum(map(len, kept.values()))
        with self.database.write() as connection:
            new = connection.insert("documents", row | {"status": "new", "created": time.time()}, clash="NOTHING") == 1
            back = "doc_id = ? AND removed IS NOT NULL"
            new = new or connection.update("documents", back, row["doc_id"], removed=None) == 1
            connection.execute("DELETE FROM meta WHERE key = ?", (adding,))
            self._keep(kept, sha256)  # the end of a removal, or `end_additions`, was before, or waits
        return sha256[:16], new

    def end_additions(self) -> None:
        """Delete the files of additions that broke off: who added was killed, or the disk was full. One that goes on
        stores its files again when it lists them."""
        query = f"SELECT key, value FROM meta WHERE key LIKE '{ADDING}%'"
        if not self.database.rows(query):
            return
        with self.database.write() as connection:
            known = set(connection.column("SELECT sha256 FROM documents"))
            for key, value in connection.rows(query):
                sha256 = key.removeprefix(ADDING)
                if sha256 not in known:
                    self.delete_files(sha256)
                if sha256 in known or value["since"] < time.time() - ADDED:
                    connection.execute("DELETE FROM meta WHERE key = ?", (key,))

    def _keep(self, kept: Mapping[str, bytes], sha256: str) -> None:
        for suffix, data in kept.items():
            self.files.put(f"{sha256}{suffix}", data)

    # Reading a file, page by page

    def set_status(
        self, doc_id: str, status: Status, *, error: Mapping[str, Any] | None = None, seconds: float = 0.0
    ) -> None:
        """Set the status and error; ``seconds`` are added to the time spent."""
        with self.database.write() as connection:
            connection.execute(
                "UPDATE documents SET status = ?, error = ?, seconds = seconds + ? WHERE doc_id = ?",
                (status, dict(error) if error else None, seconds, doc_id),
            )

    def hold(self, doc_ids: Sequence[str] | None, held: bool) -> None:
        """Record whether a person cancelled reading these documents (None: all); only a person can then resume it."""
        with self.database.write() as connection:
            if doc_ids is None:
                connection.update("documents", "held != ?", held, held=held)
            else:
                connection.update("documents", f"doc_id {IN}", list(doc_ids), held=held)

    def set_info(self, doc_id: str, info: bytes, pages: int, notes: Sequence[str] = ()) -> None:
        """Store the file information. The document has its file name as title until it is read."""
        with self.database.write() as connection:
            connection.update("documents", "doc_id = ?", doc_id, info=info, pages=pages, notes=list(notes))

    def info(self, doc_id: str) -> bytes:
        return bytes(self._row(doc_id, "info")[0] or b"")

    def put_page(self, doc_id: str, page: int, data: bytes) -> None:
        """Checkpoint one page as read."""
        with self.database.write() as connection:
            connection.insert("page_layouts", {"doc_id": doc_id, "page": page, "data": data}, key="doc_id, page")

    def built_pages(self, doc_id: str) -> int:
        """First pages that can be asked."""
        return int(self._row(doc_id, "coalesce(built_pages, 0)")[0])

    def page_layouts(self, doc_id: str) -> list[bytes]:
        """Checkpoints in page order."""
        return self.database.column("SELECT data FROM page_layouts WHERE doc_id = ? ORDER BY page", doc_id)

    # Documents

    def put_document(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        *,
        recipe: str,
        figures: ModelReport | None = None,
        context: ModelReport | None = None,
        whole: bool = True,
    ) -> None:
        """Store a built document with its chunks in one transaction, in place of an earlier build. If it isn't
        ``whole``, it has the first pages of a document that is still being read.

        A chunk keeps the vectors of the earlier chunk with the same index text.
        """
        earlier = {chunk.chunk_id: chunk.index_text for chunk in self.chunks(document.doc_id)}
        kept = {chunk.chunk_id for chunk in chunks if earlier.get(chunk.chunk_id) == chunk.index_text}
        with_text = {text: chunk_id for chunk_id, text in earlier.items()}
        texts = {chunk.chunk_id: chunk.index_text for chunk in chunks if chunk.chunk_id not in kept}
        moved = {chunk_id: with_text[text] for chunk_id, text in texts.items() if text in with_text}
        pages = [document.first_and_last_page(chunk.start, chunk.end) for chunk in chunks]
        read = {"status": "ready", "held": False, "error": None, "pages": len(document.pages)} if whole else {}
        with self.database.write() as connection:
            connection.update(
                "documents",
                "doc_id = ?",
                document.doc_id,
                **read,
                built_pages=len(document.pages),
                title=document.title,
                counts=_counts(document, chunks),
                text=document.text,
                body_end=document.body_end,
                words=document.words.to_bytes(),
                page_data=pack(document.pages, tuple[Page, ...]),
                elements=pack_elements(document.elements),
                recipe=recipe,
                built=time.time(),
                figures=figures and asdict(figures),
                context=context and asdict(context),
                chunk_count=len(chunks),
                fingerprint=fingerprint(chunks, pages),
            )
            vectors = _vectors(connection, moved)
            connection.execute(f"DELETE FROM chunks WHERE chunk_id {IN}", (list(earlier.keys() - kept),))
            rows = (chunk_row(chunk, of_chunk) for chunk, of_chunk in zip(chunks, pages))
            connection.insert("chunks", *rows, key="chunk_id")  # a replaced row would lose its vectors
            connection.insert("vectors", *vectors, key="embedder, chunk_id")
            embedders = "SELECT embedder FROM embedded WHERE doc_id = ?"
            for embedder in connection.column(embedders, document.doc_id):
                settle(connection, embedder, [document.doc_id])
        self.opened.drop(document.doc_id)

    def require(self, doc_ids: Sequence[str]) -> None:
        """Raise `UnknownDocument` unless each of these has been read."""
        for doc_id in doc_ids:
            name, body_end = self._row(doc_id, "name, body_end")
            if body_end is None:
                raise _unread(name)

    def document(self, doc_id: str) -> Document:
        """Ready document; the most recently used ones are cached in memory. Raises `UnknownDocument`."""
        held = self.opened.get(doc_id, tuple(self._row(doc_id, _BUILD)))
        if held is not None:
            return held
        row = self._row(doc_id, "*")
        if row["text"] is None:
            raise _unread(row["name"])
        elements = StoredElements(row["elements"])
        document = Document(
            doc_id=doc_id,
            sha256=row["sha256"],
            name=row["name"],
            title=row["given"] or row["title"],
            text=row["text"],
            body_end=row["body_end"],
            words=WordMap.from_bytes(row["words"]),
            pages=unpack(row["page_data"], tuple[Page, ...]),
            elements=elements,
        )
        self.opened.put(document, (row["recipe"], row["built"], row["given"]), weight(document, elements.characters))
        return document

    def builds(self) -> dict[str, str]:
        """Identity of each document's current text, by id, whatever its title."""
        rows = self.database.rows("SELECT doc_id, recipe, built FROM documents")
        return {row["doc_id"]: f"{row['recipe']} {row['built']}" for row in rows}

    def build(self, doc_id: str) -> str:
        """Identity of a document's current build and title."""
        recipe, built, given = self._row(doc_id, _BUILD)
        return f"{recipe} {built} {given or ''}"

    def documents(self, embedder: str = "", doc_id: str | None = None, *, earlier: bool = False) -> list[DocumentInfo]:
        """All documents (or only ``doc_id``) in order of addition, with ``earlier`` versions too. ``indexed`` refers to
        ``embedder``."""
        where = "doc_id = ?" if doc_id is not None else "CAST(? AS TEXT) IS NULL"
        newest = "" if earlier or doc_id is not None else "AND doc_id NOT IN (SELECT doc_id FROM earlier)"
        in_folder = "FROM watched_files w WHERE w.doc_id = d.doc_id AND gone IS"
        with self.database.read() as connection:
            rows = connection.rows(
                f"""
                SELECT doc_id, sha256, name, file_kind AS kind, notes, called AS title, bytes, status, created, seconds,
                    folder, held, counts, error, figures, context, coalesce(pages, 0) AS pages,
                    CASE WHEN status = 'failed' OR doc_id IN (SELECT doc_id FROM coming) THEN 0
                        ELSE coalesce(built_pages, 0) END AS built_pages,
                    (SELECT e.successor FROM earlier e WHERE e.doc_id = d.doc_id) AS successor,
                    EXISTS (SELECT 1 {in_folder} NOT NULL) AND NOT EXISTS (SELECT 1 {in_folder} NULL) AS gone,
                    (SELECT count(*) FROM page_layouts p WHERE p.doc_id = d.doc_id) AS pages_done,
                    status = 'ready' AND doc_id IN (SELECT doc_id FROM settled WHERE embedder = ?) AS "indexed"
                FROM documents d WHERE removed IS NULL AND {where} {newest} ORDER BY created, doc_id
                """,
                *(embedder, doc_id),
            )
            tags: dict[str, tuple[str, ...]] = {}
            tagged = f"SELECT doc_id, tag FROM tags WHERE {where} ORDER BY lower(tag)"
            for of, tag in connection.rows(tagged, doc_id):
                tags[of] = (*tags.get(of, ()), tag)
        return [_info(row, tags.get(row["doc_id"], ())) for row in rows]

    def newest(self) -> dict[str, str]:
        """Newest version of each earlier one."""
        with self.database.read() as connection:
            return newest_versions(connection)

    def names(self) -> list[tuple[str, str, str]]:
        """``(doc_id, title, file name)`` of each document that can be asked, in order of addition."""
        rows = self.database.rows("SELECT doc_id, called, name FROM built ORDER BY created, doc_id")
        return [(doc_id, title, name) for doc_id, title, name in rows]

    def titles(self) -> dict[str, str]:
        """Display name of each document that can be asked."""
        return told_apart(self.names())

    def recipes(self) -> dict[str, str]:
        """Hash of the settings that built each document that was read in full."""
        return dict(map(tuple, self.database.rows("SELECT doc_id, recipe FROM built WHERE status = 'ready'")))

    def partly(self, embedder: str) -> list[Partly]:
        """Documents that can be asked and are not read, or not embedded, in full."""
        rows = self.database.rows(
            """
            SELECT doc_id, called AS title, built_pages AS pages,
                CASE WHEN pages > built_pages THEN pages ELSE built_pages END AS "of" FROM built
            WHERE chunk_count > 0
                AND (status != 'ready' OR doc_id NOT IN (SELECT doc_id FROM settled WHERE embedder = ?))
            ORDER BY created, doc_id
            """,
            embedder,
        )
        return [made(Partly, row) for row in rows]

    def _row(self, doc_id: str, columns: str) -> Row:
        with self.database.read() as connection:
            row = connection.row(f"SELECT {columns} FROM documents WHERE doc_id = ? AND removed IS NULL", doc_id)
        if row is None:
            raise UnknownDocument(f"There is no document {doc_id} in this library.")
        return row


def _vectors(connection: Connection, moved: Mapping[str, str]) -> list[dict[str, Any]]:
    """Vectors for chunks (the keys) of others (the values)."""
    rows = connection.rows(f"SELECT * FROM vectors WHERE chunk_id {IN}", list(set(moved.values())))
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["chunk_id"], []).append(row)
    return [
        {"embedder": row["embedder"], "chunk_id": chunk_id, "vector": row["vector"]}
        for chunk_id, old in moved.items()
        for row in found.get(old, ())
    ]


def _counts(document: Document, chunks: Sequence[Chunk]) -> dict[str, int | dict[str, int] | list[int]]:
    return {
        "elements": len(document.elements),
        "tables": sum(element.table is not None for element in document.elements),
        "noise": sum(element.noise is not None for element in document.elements),
        "noise_by_reason": dict(sorted(Counter(e.noise for e in document.elements if e.noise is not None).items())),
        "chunks": len(chunks),
        "ocr_pages": len(confidences := [page.ocr for page in document.pages if page.ocr is not None]),
        "ocr_confidence": int(100 * sum(confidences) / len(confidences)) if confidences else 0,
        "degraded_pages": sum(page.degraded is not None and not page.unread for page in document.pages),
        "unread_pages": [page.number for page in document.pages if page.unread],
    }


def _info(row: Row, tags: tuple[str, ...]) -> DocumentInfo:
    counts = row["counts"] or {}
    counts["unread_pages"] = tuple(counts.get("unread_pages", ()))
    reports = {name: ModelReport(**(row[name] or {})) for name in ("figures", "context")}
    marks = {"indexed": bool(row["indexed"]), "gone": bool(row["gone"]), "successor": row["successor"] or ""}
    return made(DocumentInfo, row, **counts, **reports, **marks, tags=tags)


def _unread(name: str) -> UnknownDocument:
    return UnknownDocument(f"{name} has not been read yet.", hint="Add it first, or wait until it has been read.")


# Documents in memory

_ENTRY = 26  # bytes of a word map for each of its entries
_DECODED = 3  # bytes for each character of the JSON of elements: itself, and all objects made of it


def weight(document: Document, packed: int) -> int:
    """Approximate upper bound of a document's memory in bytes; ``packed`` is the length of its elements' JSON."""
    return len(document.text) * 2 + _ENTRY * len(document.words) + _DECODED * packed


class OpenDocuments:
    """Cache of the most recently used documents, of at most ``most`` bytes together; the last one is always kept.
    Thread-safe.

    Each is stored with the identity of its build, so a document that another process rebuilt is never returned
    outdated.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[str, tuple[Hashable, Document, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, doc_id: str) -> bool:
        return doc_id in self._held

    def get(self, doc_id: str, build: Hashable) -> Document | None:
        """Document as built by ``build``; None if it is not cached."""
        with self._lock:
            held, document, _ = self._held.get(doc_id, (None, None, 0))
            if document is None or held != build:
                return None
            self._held.move_to_end(doc_id)
            return document

    def put(self, document: Document, build: Hashable, size: int) -> None:
        with self._lock:
            self._held.pop(document.doc_id, None)
            self._held[document.doc_id] = (build, document, size)
            while sum(size for _, _, size in self._held.values()) > self._most and len(self._held) > 1:
                self._held.popitem(last=False)

    def drop(self, doc_id: str) -> None:
        with self._lock:
            self._held.pop(doc_id, None)


# Disk usage of a library


@dataclass(frozen=True, slots=True)
class Storage:
    """Disk usage of a library in bytes: ``files`` as given, the ``database`` and ``pictures`` of pages (drawn again on
    demand)."""

    files: int
    database: int
    pictures: int

    @property
    def total(self) -> int:
        return self.files + self.database + self.pictures


def measure(store: Store) -> Storage:
    """Disk usage of ``store`` now, with that of documents in the trash. Raises `StoreError`."""
    return Storage(sum(store.files.sizes().values()), store.database.size(), files.size(store.pictures))
