"""Every `Converter`: equal files give equal pages with their words; what can't be read is one error that names it."""

from __future__ import annotations

from typing import get_args

import pytest

from ragcore.errors import InputError
from ragcore.ingest.convert.converters import CONVERTING
from ragcore.ingest.convert.kinds import CONVERTERS, PICTURES
from ragcore.types.library import FileKind
from tests.check.files import book as workbook
from tests.ingest.mail import book, message, outlook, picture
from tests.ingest.office import needs_office, office_file

FILES: dict[FileKind, bytes] = {
    "xlsx": workbook(Wells=[["Well", "May"], ["Mill Bridge", 11.6]]),
    "csv": b"Well,May\nMill Bridge,11.6\n",
    "md": b"# Wells\n\nMill Bridge: 11.6\n",
    "html": b"<h1>Wells</h1><p>Mill Bridge: 11.6</p>",
    "txt": b"Wells\n\nMill Bridge: 11.6\n",
    "eml": message("Mill Bridge: 11.6").as_bytes(),
    "msg": outlook({0x37: "Wells", 0x1000: "Mill Bridge: 11.6"}),
    "epub": book(("Wells", "<p>Mill Bridge: 11.6</p>")),
    **{kind: picture("Mill Bridge: 11.6", kind=kind.upper()) for kind in PICTURES},
}
OFFICE: tuple[FileKind, ...] = ("docx", "doc", "rtf", "odt", "pptx", "ppt", "odp", "xls", "ods")

CASES = [pytest.param(kind, marks=[needs_office, pytest.mark.slow]) if kind in OFFICE else kind for kind in CONVERTING]
# One for each way through LibreOffice: pages are counted at the end of it.
LIMITED = [case for kind, case in zip(CONVERTING, CASES) if kind not in OFFICE or kind in ("docx", "xls", "ods")]


def file_of(kind: FileKind) -> bytes:
    return office_file(kind) if kind in OFFICE else FILES[kind]


@pytest.mark.parametrize("kind", CASES)
class TestConverter:
    def test_equal_files_give_equal_pages_with_their_words(self, kind: FileKind) -> None:
        first, again = (CONVERTING[kind](file_of(kind), f"wells.{kind}", kind, 9) for _ in range(2))
        texts = [[page.get_text() for page in made.pages] for made in (first, again)]
        assert texts[0] == texts[1]
        said = set("".join(texts[0]).replace(":", " ").split())
        shown = [page.get_pixmap(dpi=20).digest for made in (first, again) for page in made.pages]
        assert shown[: len(shown) // 2] == shown[len(shown) // 2 :]
        assert {"Mill", "Bridge"} <= said or {"Orchard", "Lane", "61.4"} <= said or kind in PICTURES
        assert (first.notes, first.title) == (again.notes, again.title)

    def test_a_file_without_contents_is_named(self, kind: FileKind) -> None:
        with pytest.raises(InputError, match=rf"empty\.{kind}"):
            CONVERTING[kind](b"", f"empty.{kind}", kind, 9)


@pytest.mark.parametrize("kind", LIMITED)
def test_pages_are_limited(kind: FileKind) -> None:
    with pytest.raises(InputError, match=f"wells.{kind} has more than 0 pages"):
        CONVERTING[kind](file_of(kind), f"wells.{kind}", kind, 0)


def test_every_kind_but_pdf_has_one_converter() -> None:
    assert sorted(CONVERTING) == sorted(set(get_args(FileKind)) - {"pdf"}) == sorted(CONVERTERS)
