"""Order in the library: tags, of which a document may have several, the folder that it lies in, and what a person
calls it.

A tag is the same tag in capitals and small letters; the spelling that was there first stays. A folder is a path of
names joined by ``/`` and exists as long as a document lies in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from ragcore.errors import InputError, UnknownDocument
from ragcore.index import database as db
from ragcore.index.chunk_store import batches, bump_revision
from ragcore.text.short_titles import plain_title

TAG_LENGTH = 40
FOLDER_LENGTH = 200
TITLE_LENGTH = 200


class Shelf:
    """Tags and folders of one library. Safe for threads and processes; documents in the trash are not here."""

    def __init__(self, database: db.Database) -> None:
        self._database = database

    def tags(self) -> dict[str, int]:
        """Each tag with the number of its documents, in alphabetical order."""
        here = sa.select(db.documents.c.doc_id).where(db.documents.c.removed.is_(None))
        query = sa.select(db.tags.c.tag, sa.func.count()).where(db.tags.c.doc_id.in_(here)).group_by(db.tags.c.tag)
        with self._database.read() as connection:
            found = connection.execute(query).all()
        return dict(sorted(((row[0], row[1]) for row in found), key=lambda row: (row[0].casefold(), row[0])))

    def tag(self, doc_ids: Sequence[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Give documents tags and take others from them. Raises `InputError`, `UnknownDocument`."""
        more, less = [clean_tag(text) for text in add], {clean_tag(text).casefold() for text in remove}
        with self._database.write() as connection:
            _require(connection, doc_ids)
            known = _spelled(connection)
            for tag in more:
                rows = [{"doc_id": doc_id, "tag": known.setdefault(tag.casefold(), tag)} for doc_id in doc_ids]
                if rows:
                    connection.execute(insert(db.tags).on_conflict_do_nothing(), rows)
            gone = [known[key] for key in less if key in known]
            for part in batches(doc_ids):
                connection.execute(sa.delete(db.tags).where(db.tags.c.doc_id.in_(part), db.tags.c.tag.in_(gone)))

    def rename_tag(self, tag: str, name: str) -> None:
        """Call a tag otherwise on all its documents; where that is the name of another tag, the two become one. Raises
        `InputError`."""
        name = clean_tag(name)
        with self._database.write() as connection:
            known = _spelled(connection)
            old = known.get(tag.casefold())
            if old is None:
                raise InputError(f"The tag “{tag}” no longer exists.", hint="Reload the Library.")
            # Another spelling of itself is taken as it is written.
            new = name if name.casefold() == old.casefold() else known.get(name.casefold(), name)
            if new == old:
                return
            of_old = sa.select(db.tags.c.doc_id, sa.literal(new)).where(db.tags.c.tag == old)
            renamed = insert(db.tags).from_select(["doc_id", "tag"], of_old)
            connection.execute(renamed.prefix_with("OR IGNORE"))
            connection.execute(sa.delete(db.tags).where(db.tags.c.tag == old))

    def delete_tag(self, tag: str) -> None:
        """Take a tag from all its documents."""
        with self._database.write() as connection:
            old = _spelled(connection).get(tag.casefold())
            connection.execute(sa.delete(db.tags).where(db.tags.c.tag == old))

    def put(self, doc_ids: Sequence[str], folder: str) -> None:
        """Lay documents into a folder, "" for none. Raises `InputError`, `UnknownDocument`."""
        path = clean_folder(folder)
        with self._database.write() as connection:
            _require(connection, doc_ids)
            for part in batches(doc_ids):
                connection.execute(sa.update(db.documents).where(db.documents.c.doc_id.in_(part)).values(folder=path))

    def rename(self, doc_id: str, title: str) -> None:
        """Call a document ``title`` from now on, also after it is read anew and in what cites it already; "" gives it
        back the title that was read. Raises `InputError`, `UnknownDocument`."""
        given = plain_title(title)
        if len(given) > TITLE_LENGTH:
            raise InputError("This title is too long.", hint=f"Use at most {TITLE_LENGTH} characters.")
        with self._database.write() as connection:
            _require(connection, [doc_id])
            named = sa.update(db.documents).where(db.documents.c.doc_id == doc_id)
            connection.execute(named.values(given=given or None))
            bump_revision(connection)  # what was found may have been found by the old title


def clean_tag(text: str) -> str:
    """A tag as it is kept: single blanks. Raises `InputError` for one that is empty, too long or holds a comma."""
    tag = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if not tag:
        raise InputError("A tag needs a name.", hint="Enter one.")
    if len(tag) > TAG_LENGTH or "," in tag:
        raise InputError(
            f"“{tag[:TAG_LENGTH]}” cannot be a tag.", hint=f"Use at most {TAG_LENGTH} characters and no comma."
        )
    return tag


def clean_folder(path: str) -> str:
    """A folder's path as it is kept: names with single blanks, joined by ``/``; "" for none. Raises `InputError` for
    one that is too long."""
    printable = "".join(c if c.isprintable() else " " for c in path.replace("\\", "/"))
    names = [" ".join(name.split()) for name in printable.split("/")]
    folder = "/".join(name for name in names if name not in ("", ".", ".."))
    if len(folder) > FOLDER_LENGTH:
        raise InputError(f"The folder “{folder[:40]}…” is too long.", hint=f"Use at most {FOLDER_LENGTH} characters.")
    return folder


def _spelled(connection: sa.Connection) -> dict[str, str]:
    """Each tag as it is spelled, by its small letters."""
    return {tag.casefold(): tag for tag in connection.execute(sa.select(db.tags.c.tag).distinct()).scalars()}


def _require(connection: sa.Connection, doc_ids: Sequence[str]) -> None:
    known: set[str] = set()
    for part in batches(doc_ids):
        query = sa.select(db.documents.c.doc_id)
        known.update(
            connection.execute(query.where(db.documents.c.doc_id.in_(part), db.documents.c.removed.is_(None))).scalars()
        )
    missing = [doc_id for doc_id in doc_ids if doc_id not in known]
    if missing:
        raise UnknownDocument(f"There is no document {missing[0]} in this library.")
