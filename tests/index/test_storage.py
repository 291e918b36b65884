"""What a library takes on the disk."""

from __future__ import annotations

from pathlib import Path

from ragcore.engine import Engine
from tests import pdfs, prepared


def test_every_byte_is_counted_once(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        data = pdfs.one_column()
        doc_id = prepared.read(engine, data, "survey.pdf")
        engine.index()
        picture = tmp_path / "cache" / "pages" / doc_id / "1-640.png"
        picture.parent.mkdir(parents=True)
        picture.write_bytes(b"x" * 1000)
        found = engine.storage()
    assert (found.files, found.pictures) == (len(data), 1000)
    assert found.database > 0
    assert found.total == found.files + found.database + found.pictures
