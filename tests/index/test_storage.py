"""What a library takes on the disk."""

from __future__ import annotations

from pathlib import Path

from ragcore.engine import Engine
from tests import pdfs, prepared


def test_every_byte_is_counted_once_and_every_document_has_its_part(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        data = pdfs.one_column()
        doc_id = prepared.read(engine, data, "survey.pdf")
        engine.index()
        picture = tmp_path / "cache" / "pages" / doc_id / "1-640.png"
        picture.parent.mkdir(parents=True)
        picture.write_bytes(b"x" * 1000)
        found = engine.storage()
    assert found.files == found.documents[doc_id].file == len(data)
    assert found.pictures == found.documents[doc_id].pictures == 1000
    assert 0 < found.documents[doc_id].rows < found.database
    assert found.total == found.files + found.database + found.pictures
