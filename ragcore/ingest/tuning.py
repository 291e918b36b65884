"""PyMuPDF loaded for the parsing child: one thread per model, and four of its inner Python functions by faster equals.

PyMuPDF's table finder spends most of its time in Python: a dict of 24 entries is made for each character by way of
three small objects, and the same cells are classified over and over for the header. The functions here give the very
same values (tests/ingest/test_tuning.py compares them). Each takes the place of a function only where the source of
that function is the one it was written against (`replace_functions` says which were); another PyMuPDF runs as it is.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from types import ModuleType
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from ragcore.errors import ModelMissing

# SHA-256 (its first 16 digits) of the source of each function that is replaced.
SOURCES: Final = {
    "pymupdf.table.make_chars": "4631a69307e0bb81",
    "pymupdf.table.chars_in_rect": "ea960d781eb3462a",
    "pymupdf._table_headers.row_features": "c81b681c56b0fb2d",
    "pymupdf._table_headers.row_vector": "8ec3dcf2e86a95b6",
}
_CELLS = 8192  # classified cells and rows that are remembered


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
    if layout:
        if not callable(pymupdf._get_layout):
            raise ModelMissing(
                f"PyMuPDF {pymupdf.__version__} lacks its layout model.",
                hint="Reinstall pymupdf 2 from a wheel for this system.",
            )
        replace_functions()
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


def replace_functions() -> tuple[str, ...]:
    """Put the faster functions in place; the names of those that were replaced."""
    from pymupdf import _table_headers, table

    made: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
        "make_chars": _make_chars,
        "chars_in_rect": _chars_in_rect,
        "row_features": _remembered,
        "row_vector": _remembered,
    }
    done: list[str] = []
    for module in (table, _table_headers):
        for name, maker in made.items():
            full = f"{module.__name__}.{name}"
            if full in SOURCES and source_digest(getattr(module, name, None)) == SOURCES[full]:
                setattr(module, name, maker(getattr(module, name)))
                done.append(full)
    return tuple(done)


def source_digest(function: Callable[..., Any] | None) -> str:
    """The first 16 digits of the SHA-256 of the function's source; "" where there is none to be had."""
    try:
        source = inspect.getsource(function) if function is not None else ""
    except OSError:  # installed without sources
        return ""
    return hashlib.sha256(source.encode()).hexdigest()[:16] if source else ""


def _remembered(original: Callable[[list[str]], dict[str, float]]) -> Callable[[list[str]], dict[str, float]]:
    """A function of a row's cell texts that is worked out once per row: the header rules ask for it up to seven
    times."""

    @lru_cache(maxsize=_CELLS)
    def of_row(row: tuple[str, ...]) -> dict[str, float]:
        return original(list(row))

    def remembered(texts: list[str]) -> dict[str, float]:
        return dict(of_row(tuple(texts)))

    return remembered


class _Boxes:
    """The boxes of the characters that `_make_chars` made last, and the list that it made."""

    chars: list[dict[str, Any]] | None = None
    corners: NDArray[np.float64] = np.empty((0, 4))


def _make_chars(original: Callable[..., Any]) -> Callable[..., Any]:
    """``make_chars``: the characters of a page as the dicts of pdfplumber, in the order of lines and spans."""
    import pymupdf
    from pymupdf import table

    def make_chars(page: Any, clip: Any = None) -> Any:
        matrix = page.transformation_matrix
        if (matrix.a, matrix.b, matrix.c, matrix.d) != (1.0, 0.0, 0.0, -1.0):
            return original(page, clip=clip)
        text_page = page.get_textpage(clip=clip, flags=table.FLAGS)
        found: list[dict[str, Any]] = []
        places: list[tuple[float, ...]] = []
        number, base = page.number + 1, page.rect.height * page.number
        for block in page.get_text("rawdict", textpage=text_page)["blocks"]:
            for line in block["lines"]:
                cosine, sine = round(line["dir"][0], 4), round(line["dir"][1], 4)
                upright = sine == 0
                for span in sorted(line["spans"], key=_left):
                    colour = pymupdf.sRGB_to_pdf(span["color"])
                    bold = bool(span["flags"] & pymupdf.TEXT_FONT_BOLD or span["char_flags"] & 8)
                    for char in sorted(span["chars"], key=_left):
                        x0, y0, x1, y1 = char["bbox"]
                        places.append((y0, y1, *char["origin"]))
                        found.append(
                            {
                                "adv": x1 - x0 if upright else y1 - y0,
                                "bottom": y1,
                                "doctop": y0 + base,
                                "fontname": span["font"],
                                "height": y1 - y0,
                                "matrix": (cosine, -sine, sine, cosine),
                                "ncs": "DeviceRGB",
                                "non_stroking_color": colour,
                                "non_stroking_pattern": None,
                                "object_type": "char",
                                "page_number": number,
                                "size": span["size"] if upright else y1 - y0,
                                "stroking_color": colour,
                                "stroking_pattern": None,
                                "bold": bold,
                                "text": char["c"],
                                "top": y0,
                                "upright": upright,
                                "width": x1 - x0,
                                "x0": x0,
                                "x1": x1,
                                "y0": 0.0,
                                "y1": 0.0,
                            }
                        )
        # MuPDF works in single precision: what it maps to the page's own coordinates is rounded to that.
        shift = np.asarray((matrix.f, matrix.f, matrix.e, matrix.f), dtype=np.float32)
        signs = np.asarray((-1, -1, 1, -1), dtype=np.float32)
        mapped = (np.asarray(places, dtype=np.float32).reshape(-1, 4) * signs + shift).tolist()
        chars = table.CHARS._list()
        for char, (high, low, x, y) in zip(found, mapped, strict=True):
            char["y0"], char["y1"] = low, high
            char["matrix"] += (x, y)
        chars.extend(found)
        _Boxes.chars = chars
        _Boxes.corners = np.asarray([(c["x0"], c["y0"], c["x1"], c["y1"]) for c in chars]).reshape(-1, 4)
        return text_page

    return make_chars


def _left(item: dict[str, Any]) -> float:
    left: float = item["bbox"][0]
    return left


def _chars_in_rect(original: Callable[..., bool]) -> Callable[..., bool]:
    """``chars_in_rect``: whether any of the characters lies wholly in a rectangle."""
    from pymupdf import table

    def chars_in_rect(chars: Any, rect: Any) -> bool:
        if chars is not table.CHARS or chars._list() is not _Boxes.chars or len(chars) != len(_Boxes.corners):
            return original(chars, rect)
        x0, y0, x1, y1 = rect
        corners = _Boxes.corners
        inside = (corners[:, 0] >= x0) & (corners[:, 1] >= y0) & (corners[:, 2] <= x1) & (corners[:, 3] <= y1)
        return bool(inside.any())

    return chars_in_rect
