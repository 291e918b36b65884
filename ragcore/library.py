"""Library: the contents of one home folder, and all operations that need no search and no model. The engine is a
library that answers questions (`ragcore.engine`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from ragcore.config.settings import Settings
from ragcore.errors import GroundworkError, InputError, UnknownDocument
from ragcore.index.conversations import Conversations, FeedbackStore
from ragcore.index.model_records import FigureTexts, Ledger, ModelTexts, Overviews
from ragcore.index.reports import Reports
from ragcore.index.shelf import Shelf, Trash
from ragcore.index.store import Storage, Store, measure
from ragcore.index.versions import followed
from ragcore.pipelines.add_files import add, files_to_read
from ragcore.pipelines.versions import Versions
from ragcore.progress import Added
from ragcore.protocols import UNLIMITED, Allowance
from ragcore.types import Box, Chunk, Document, Retrieval, Scope, Section, Spending
from ragcore.types.library import DocumentInfo
from ragcore.types.scope import checked
from ragcore.types.sections import placed

if TYPE_CHECKING:
    from ragcore.export import Kind
    from ragcore.export.evidence import Sheets
    from ragcore.export.sheets import SheetKind
    from ragcore.pipelines.search import Search
    from ragcore.pipelines.stream import AnswerRun
    from ragcore.pipelines.watch import Watch
    from ragcore.providers.registry import Models

MAX_PIXELS = 6_000_000  # per picture of a page
ID_START = 4  # least number of characters of an abbreviated id


class Library:
    """Documents with their chunks, conversations, feedback and model costs. Thread-safe; several processes may share
    one home."""

    def __init__(self, home: Path, settings: Settings, allowance: Allowance = UNLIMITED) -> None:
        self.home = home
        self.allowance = allowance
        self.settings = settings
        self.store = Store(home)
        database = self.store.database
        self.shelf = Shelf(database)
        self.trash = Trash(self.store, settings.ingest.undo_seconds)
        self.descriptions = FigureTexts(database)
        self.contexts = ModelTexts(database, "context")
        # Where people sign in, the command line has the conversations that are nobody's, until `of` is asked.
        self.see(None if settings.auth.mode == "off" else "")
        self.overviews = Overviews(database)
        self.ledger = Ledger(database)
        self.versions = Versions(self.store)

    def see(self, owner: str | None) -> None:
        """Have the conversations, the feedback and the reports of ``owner``; None: of everybody."""
        self.owner = owner or None  # the queue of reports, where nobody asks, has all of them
        self.conversations = Conversations(self.store.database, owner)
        self.feedback = FeedbackStore(self.store.database, owner)

    def adopt(self, owner: str) -> None:
        """Give the conversations and reports that are nobody's to ``owner``."""
        self.conversations.adopt(owner)
        Reports(self.store.database).adopt(owner)

    def add(self, data: bytes | Path, name: str = "", *, pdf: bytes | None = None) -> Added:
        """Store a file of a kind that Groundwork reads, or an ADE JSON (with the ``pdf`` that came with it, else the
        PDF of its name beside it or in the library), under its hash and list it as new. Raises `InputError`."""
        return add(self.store, self.settings.ingest, data, name, pdf, allowance=self.allowance)

    def pdf_paths(self, paths: Sequence[Path]) -> Iterator[Path]:
        """Files as given, and all that Groundwork reads below a folder, sorted by name. A folder without any is
        returned itself, for `ingest_path` to report; a PDF is left out if its ADE JSON is included."""
        return files_to_read(paths, self.settings.ingest)

    @property
    def watch(self) -> Watch:
        """Watched folders: their scans, and what of their files is not read yet."""
        from ragcore.pipelines.watch import Watch

        return Watch(self.store, self.settings.ingest, self.allowance)

    def documents(self, *, earlier: bool = False) -> list[DocumentInfo]:
        """All documents, in the order added; with ``earlier`` versions too."""
        return self.store.documents(self.settings.index.embedder, earlier=earlier)

    def find(self, given: str, *, whole: bool = False) -> str:
        """Id of the document with an id, its beginning (`ID_START` characters or more, unless ``whole``), or a file
        name; an earlier version is found by its id. Raises `UnknownDocument`."""

        def fits(info: DocumentInfo) -> bool:
            return info.doc_id == given or (not whole and len(given) >= ID_START and info.doc_id.startswith(given))

        found = [info for info in self.documents() if given == info.name or fits(info)]
        found = found or [info for info in self.documents(earlier=True) if fits(info)]
        if len(found) == 1:
            return found[0].doc_id
        if found:
            raise UnknownDocument(
                f"{given!r} matches {len(found)} documents.", hint="Use the full id: `groundwork documents` lists them."
            )
        raise UnknownDocument(f"There is no document {given!r} in this library.")

    def resolved(self, scope: Scope) -> Scope:
        """``scope`` with the newest versions of its documents, and its exclusions replaced by the ids of all other
        documents that can be asked; with sections, each where it now is in its document, and the ids of these
        documents. Raises `UnknownDocument`, and `InputError` if a document has no such section any more."""
        scope = followed(scope, self.store.newest())
        if scope.sections:
            found = tuple(self._placed(section) for section in checked(scope).sections)
            doc_ids = tuple(dict.fromkeys(section.doc_id for section in found))
            return replace(scope, doc_ids=doc_ids, without=(), sections=found)
        if not scope.without:
            return scope
        infos = self.documents()
        if not any(info.doc_id in scope.without for info in infos):
            return replace(scope, without=())
        inside = tuple(info.doc_id for info in infos if info.askable and scope.holds(info.doc_id))
        return replace(scope, doc_ids=inside, without=())

    def _placed(self, section: Section) -> Section:
        document = self.document(section.doc_id)
        found = placed(section, document)
        if found is None:
            raise InputError(
                f"{document.title} no longer has the section “{section.label}”.",
                hint="Remove it from the question's scope, or choose another in Contents.",
            )
        return found

    def document(self, doc_id: str) -> Document:
        return self.store.document(doc_id)

    def chunks(self, doc_id: str) -> list[Chunk]:
        return self.store.chunks(doc_id)

    def file(self, doc_id: str) -> Path:
        """Readable PDF: the pages, decrypted if the original was encrypted, or made of it if it is no PDF."""
        return self.store.file(doc_id)

    def original(self, doc_id: str) -> Path:
        """File as given: of a document added as ADE JSON alone, that."""
        path = self.store.original(doc_id)
        return path if path.is_file() else self.store.ade_file(doc_id) or path

    def storage(self) -> Storage:
        """Disk usage of the library, by kind and by document."""
        return measure(self.store)

    def write_tables(self, doc_id: str, kind: SheetKind, number: int | None = None) -> bytes:
        """Tables of a document, or only table ``number`` (from 1, in text order), as a file of format ``kind``. Raises
        `UnknownDocument`, and `InputError` if there is no table."""
        from ragcore.export.sheets import sheets, write

        return write(sheets(self.document(doc_id), number), kind)

    def info(self, doc_id: str) -> DocumentInfo:
        """One document, of whatever version. Raises `UnknownDocument`."""
        found = self.store.documents(self.settings.index.embedder, doc_id)
        if not found:
            raise UnknownDocument(f"There is no document {doc_id} in this library.")
        return found[0]

    def export(self, conversation_id: str, kind: Kind) -> bytes:
        """Shown branch of a conversation as a file of format ``kind``, each citation a note with document, page and
        quote. Raises `UnknownConversation`, `InputError`."""
        from ragcore.export import writer
        from ragcore.export.manuscripts import of_conversation

        stored = self.versions.told(self.conversations.get(conversation_id))
        settings = self.settings.export
        files = {info.doc_id: info.name for info in self.documents(earlier=True)}
        made = of_conversation(stored.info.title, stored.turns, files, quote_length=settings.quote_length)
        return writer(kind)(made, settings)

    @contextmanager
    def sheets(self, dpi: float) -> Iterator[Sheets]:
        """Renderer of parts of pages, with one child process per document while the block runs. A page that cannot be
        drawn gives the reason instead."""
        from ragcore.export.evidence import Sheet, part
        from ragcore.ingest.process import Child

        with ExitStack() as stack:
            children: dict[str, Child] = {}

            def draw(doc_id: str, page: int, places: Sequence[Box]) -> Sheet | str:
                try:
                    shown = self.document(doc_id).pages[page - 1]
                    box = part(page, shown.width, shown.height, places)
                    if doc_id not in children:
                        opened = Child(self.file(doc_id), self.settings.ingest, name=self.document(doc_id).name)
                        children[doc_id] = stack.enter_context(closing(opened))
                    crop = children[doc_id].crop(box, dpi=dpi, max_pixels=MAX_PIXELS)
                except UnknownDocument:
                    return "The document is no longer in the library."
                except GroundworkError as error:
                    return f"The page couldn't be drawn: {error.message}"
                return Sheet(crop.png, crop.width, crop.height, box)

            yield draw

    def spending(self) -> Spending:
        """Cost of all model calls so far, in tokens and in US dollars at ``llm.prices``."""
        return self.ledger.spending(self.settings.llm.prices)


class AskedLibrary(Protocol):
    """Library that answers questions under its settings, as an engine does."""

    settings: Settings
    models: Models
    search: Search
    store: Store
    versions: Versions
    conversations: Conversations
    feedback: FeedbackStore

    def documents(self, *, earlier: bool = False) -> list[DocumentInfo]: ...
    def document(self, doc_id: str) -> Document: ...
    def chunks(self, doc_id: str) -> list[Chunk]: ...
    def resolved(self, scope: Scope) -> Scope: ...
    def sheets(self, dpi: float) -> AbstractContextManager[Sheets]: ...
    def with_settings(self, overrides: Mapping[str, Any]) -> Self: ...
    def ask(self, question: str, *, doc_ids: Sequence[str] | None = None) -> AnswerRun: ...
    def retrieve(self, query: str, *, doc_ids: Sequence[str] | None = None) -> Retrieval: ...
