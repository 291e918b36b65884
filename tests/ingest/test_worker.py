"""PyMuPDF in the parsing child: its layout model or none, each model on one thread."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ragcore.ingest import worker


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_layout_model_is_there_or_not_as_asked() -> None:
    code = (
        "from ragcore.ingest import worker as w\nw.load_pymupdf(layout={})\nimport pymupdf\nprint(pymupdf._get_layout)"
    )
    assert run(code.format(False)) == "None"
    assert run(code.format(True)) != "None"


def test_the_models_have_one_thread_and_nothing_else_does() -> None:
    code = (
        "import gc, onnxruntime\n"
        "given = onnxruntime.InferenceSession\n"
        "from ragcore.ingest import worker\n"
        "worker.load_pymupdf(layout=True)\n"
        "made = [o for o in gc.get_objects() if isinstance(o, given)]\n"
        "print(len(made) > 1, {o.get_session_options().intra_op_num_threads for o in made}, "
        "len({o.get_session_options().enable_cpu_mem_arena for o in made}), onnxruntime.InferenceSession is given)"
    )
    assert run(code) == "True {1} 2 True"


def test_it_must_be_the_first_to_import_mupdf() -> None:
    with pytest.raises(RuntimeError, match="PyMuPDF was imported before"):
        worker.load_pymupdf(layout=True)
