"""PyMuPDF loaded for the parsing child: with or without its layout model, and one thread for each model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import Any, cast

from ragcore.errors import ModelMissing


def load(*, layout: bool) -> None:
    """Import PyMuPDF, with its layout model or, in a third of the time, without. Must be the first to import it.
    Raises ModelMissing."""
    if "pymupdf" in sys.modules:
        raise RuntimeError("PyMuPDF was imported before its models could be limited to one thread")
    # None is the import system's own way to say "not there"; pymupdf then goes without.
    for unused in ("pymupdf4llm",) if layout else ("pymupdf4llm", "pymupdf.layout"):
        sys.modules[unused] = cast(ModuleType, None)
    with _one_thread() if layout else nullcontext():
        import pymupdf
    if layout and not callable(pymupdf._get_layout):
        raise ModelMissing(
            f"PyMuPDF {pymupdf.__version__} lacks its layout model.",
            hint="Reinstall pymupdf 2 from a wheel for this system.",
        )
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Within it, onnxruntime's sessions use one thread, and keep their memory where their inputs have one size.

    The parent runs one child per core; onnxruntime's own thread pool, which spins while it waits, costs a page 0.15 s
    of processor time on two cores (0.52 s against 0.37 s). The layout package turns the memory arena off, since it
    would grow with the largest page; the image model sees every page in one size, and without an arena a third of
    its time goes into mapping 120 MB afresh.
    """
    import onnxruntime

    given = onnxruntime.InferenceSession

    class OneThread(given):  # type: ignore[misc, valid-type]  # onnxruntime has no types
        def __init__(self, path: str, sess_options: Any = None, **others: Any) -> None:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            super().__init__(path, sess_options=options, **others)
            sizes = [size for needed in self.get_inputs() for size in needed.shape[1:]]
            if not all(isinstance(size, int) for size in sizes):
                options.enable_cpu_mem_arena = False
                super().__init__(path, sess_options=options, **others)

    # pymupdf.layout makes its sessions while it is imported and takes no options for them.
    onnxruntime.InferenceSession = OneThread
    try:
        yield
    finally:
        onnxruntime.InferenceSession = given
