"""The functions that take the place of PyMuPDF's own give the very same values."""

from __future__ import annotations

import importlib
import random
import subprocess
import sys
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymupdf import _table_headers, table

from ragcore.ingest import tuning
from tests import pdfs

PAGES = {
    "a table": pdfs.ruled_table(),
    "a turned page": pdfs.rotated(90),
    "a crop box": pdfs.cropped(),
    "two columns": pdfs.two_columns(),
}


@pytest.mark.parametrize("full", tuning.SOURCES)
def test_the_installed_functions_are_those_that_were_replaced(full: str) -> None:
    module, name = full.rsplit(".", 1)
    found = tuning.source_digest(getattr(importlib.import_module(module), name))
    assert found == tuning.SOURCES[full], f"{full} has changed: compare the one in tuning.py, then its digest"


def test_a_function_without_source_is_left_alone() -> None:
    assert tuning.source_digest(None) == ""


@pytest.mark.parametrize("data", PAGES.values(), ids=PAGES)
def test_characters_are_the_same(data: bytes) -> None:
    make_chars = tuning._make_chars(table.make_chars)
    chars_in_rect = tuning._chars_in_rect(table.chars_in_rect)
    with pymupdf.open(stream=data, filetype="pdf") as document:
        page = document[0]
        page.set_rotation(0)
        table.CHARS.clear()
        table.make_chars(page)
        theirs = list(table.CHARS)
        table.CHARS.clear()
        make_chars(page)
        ours = list(table.CHARS)
        assert theirs
        assert ours == theirs
        places = random.Random(3)
        for _ in range(200):
            x0, y0 = places.uniform(0, 500), places.uniform(0, 700)
            rect = pymupdf.Rect(x0, y0, x0 + places.uniform(0, 300), y0 + places.uniform(0, 100))
            assert chars_in_rect(table.CHARS, rect) == table.chars_in_rect(table.CHARS, rect)
        table.CHARS.clear()


@given(
    st.lists(st.sampled_from(["", "Revenue", "1,234", "(5.6)%", "$ 12", "2023", "Q1", "a b c d e f g h i j", "n/a"]))
)
def test_rows_are_classified_the_same(row: list[str]) -> None:
    for original in (_table_headers.row_features, _table_headers.row_vector):
        remembered = tuning._remembered(original)
        assert remembered(row) == original(row)
        remembered(row).clear()
        assert remembered(row) == original(row)


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_layout_model_is_there_or_not_as_asked() -> None:
    code = "from ragcore.ingest import tuning; tuning.load(layout={}); import pymupdf; print(pymupdf._get_layout)"
    assert run(code.format(False)) == "None"
    assert run(code.format(True)) != "None"


def test_the_models_have_one_thread_and_nothing_else_does() -> None:
    code = (
        "import gc, onnxruntime\n"
        "given = onnxruntime.InferenceSession\n"
        "from ragcore.ingest import tuning\n"
        "tuning.load(layout=True)\n"
        "made = [o for o in gc.get_objects() if isinstance(o, given)]\n"
        "print(len(made) > 1, {o.get_session_options().intra_op_num_threads for o in made}, "
        "len({o.get_session_options().enable_cpu_mem_arena for o in made}), onnxruntime.InferenceSession is given)"
    )
    assert run(code) == "True {1} 2 True"


@pytest.mark.slow
def test_pages_are_read_the_same(tmp_path: Path) -> None:
    data = pdfs.joined(
        pdfs.ruled_table(), pdfs.borderless_table(), pdfs.multi_level_table(), pdfs.rotated_table(90), pdfs.cropped(90)
    )
    path = pdfs.write(tmp_path, "given.pdf", data)
    code = (
        "from pathlib import Path\n"
        "from ragcore.ingest import tuning\n"
        "from ragcore.ingest.read import Reader\n"
        f"reader = Reader(Path({str(path)!r}), None, 'given.pdf')\n"
        "def read():\n"
        "    return [reader.page(i + 1, plain=False).to_bytes() for i in range(reader.document.page_count)]\n"
        "before = read()\n"
        "print(len(tuning.replace_functions()), before == read())"
    )
    assert run(code) == f"{len(tuning.SOURCES)} True"


def test_it_must_be_the_first_to_import_mupdf() -> None:
    with pytest.raises(RuntimeError, match="PyMuPDF was imported before"):
        tuning.load(layout=True)
