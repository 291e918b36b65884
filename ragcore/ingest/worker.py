"""Parsing child process: ``python -m ragcore.ingest.worker``.

It reads requests from standard input and writes replies to standard output, each as a line of JSON and a payload of
bytes, whose length the line gives. A ragcore error is a reply; anything else ends the process, and the parent
(`process.Child`) treats that as a crash. It never outlives a request by much: an operating system timer ends it even if
MuPDF loops inside C and the parent is gone.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, cast

from ragcore.errors import GroundworkError, ModelMissing, ParseCrashed
from ragcore.ingest.fusion import fusible
from ragcore.progress import GARBAGE, NICE

if TYPE_CHECKING:
    from ragcore.ingest.read import Reader

_CODE = "code="  # of MuPDF's errors
_OF_THE_SYSTEM = ("2", "5")  # of these numbers, memory and limits; the others are of what is in the file


def send(stream: IO[bytes], head: dict[str, Any], payload: bytes = b"") -> None:
    stream.write(json.dumps({**head, "bytes": len(payload)}).encode() + b"\n" + payload)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Next message, or None at the end of the stream."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    head: dict[str, Any] = json.loads(line)
    payload = stream.read(head["bytes"])
    return (head, payload) if len(payload) == head["bytes"] else None


def limit_memory(megabytes: int) -> None:
    """Limit the address space to the present use plus ``megabytes``, on platforms that can."""
    try:
        import resource
    except ImportError:  # Windows has no such limit; the time limit still applies there.
        return
    try:
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    except FileNotFoundError:  # macOS: no /proc, and its kernel does not enforce RLIMIT_AS.
        return
    ceiling = used + megabytes * 1024 * 1024
    _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        ceiling = min(ceiling, hard)
    resource.setrlimit(resource.RLIMIT_AS, (ceiling, hard))


def set_alarm(seconds: float) -> None:
    """End the process after ``seconds``, on platforms that can; 0 cancels that."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def load_pymupdf(*, layout: bool) -> None:
    """Import PyMuPDF, first in the process, with its layout model or, in a third of the time, without. Raises
    ModelMissing."""
    if "pymupdf" in sys.modules:
        raise RuntimeError("PyMuPDF was imported before its models could be limited to one thread")
    # None is the import system's own mark for "not there"; pymupdf then goes without.
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
    """Context in which onnxruntime's sessions use one thread and fuse activations (`fusion`), and keep their memory if
    their inputs have one size.

    The parent runs one child per core; onnxruntime's own thread pool, which spins while it waits, costs a page 0.15 s
    of processor time on two cores (0.52 s against 0.37 s). The layout package turns the memory arena off, since it
    would grow with the largest page; the image model sees every page in one size, and without an arena a third of its
    time goes into mapping 120 MB afresh.
    """
    import onnxruntime

    given = onnxruntime.InferenceSession

    class OneThread(given):  # type: ignore[misc, valid-type]  # onnxruntime has no types
        def __init__(self, path: str, sess_options: Any = None, **others: Any) -> None:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            model = fusible(Path(path).read_bytes())
            super().__init__(model, sess_options=options, **others)
            sizes = [size for needed in self.get_inputs() for size in needed.shape[1:]]
            if not all(isinstance(size, int) for size in sizes):
                options.enable_cpu_mem_arena = False
                super().__init__(model, sess_options=options, **others)

    # pymupdf.layout makes its sessions while it is imported and takes no options for them.
    onnxruntime.InferenceSession = OneThread
    try:
        yield
    finally:
        onnxruntime.InferenceSession = given


def main() -> None:
    os.umask(0o077)  # its files are readable by the owner only
    if hasattr(os, "nice"):
        os.nice(NICE)
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    # A library's prints must not end up between two replies.
    os.dup2(2, 1)

    message = receive(source)
    if message is None:
        return
    # The imports depend on the first request, which opens the file.
    set_alarm(float(message[0]["seconds"]))
    try:
        load_pymupdf(layout=bool(message[0]["layout"]))
    except ModelMissing as error:
        send(sink, _failure(error))
        return
    gc.freeze()
    gc.set_threshold(GARBAGE)
    import pymupdf

    from ragcore.ingest.read import MISSING, NeedsOcr, Reader

    reader: Reader | None = None
    while message is not None:
        request, _payload = message
        set_alarm(float(request["seconds"]))
        head: dict[str, Any] = {"ok": True}
        payload = b""
        try:
            match request["op"]:
                case "open":
                    limit_memory(int(request["memory_mb"]))
                    if request["path"] is not None:
                        reader = Reader(
                            *(Path(request["path"]), request["password"], request["name"], request["ocr"]),
                            made=bool(request["made"]),
                        )
                case "close":
                    if reader is not None:
                        reader.close()
                    reader = None
                case "draw":
                    from ragcore.ingest.ade.draw import draw_pages
                    from ragcore.ingest.ade.source import read_ade

                    width, height = request["size"]
                    source_json = Path(request["json"])
                    ade = read_ade(source_json.read_bytes(), source_json.name)
                    draw_pages(ade, Path(request["target"]), (width, height))
                case "convert":
                    from ragcore.ingest.convert.converters import convert

                    tempfile.tempdir = request["folder"]
                    paths = Path(request["source"]), Path(request["target"])
                    convert(*paths, request["kind"], request["name"], int(request["most_pages"]))
                case _:
                    assert reader is not None
                    answer, payload = _answer(reader, request)
                    head |= answer
        except NeedsOcr as need:
            head["ocr"] = str(need)
        except GroundworkError as error:
            head = _failure(error)
        except (pymupdf.mupdf.FzErrorBase, RuntimeError) as error:
            # MuPDF's own error about the file, which PyMuPDF may raise as Python's; it leaves the process usable.
            code, _, reason = str(error).partition(":")
            if not code.startswith(_CODE):
                raise
            of_the_system = code.removeprefix(_CODE) in _OF_THE_SYSTEM
            head = _failure(ParseCrashed(" ".join(reason.split())[:200] if of_the_system else MISSING))
        send(sink, head, payload)
        set_alarm(0)
        message = receive(source)


def _failure(error: GroundworkError) -> dict[str, Any]:
    return {"ok": False, "error": {"kind": type(error).__name__, **error.as_dict()}}


def _answer(reader: Reader, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Fields and payload of the reply to a request about the open file."""
    number = int(request.get("page", 0))
    match request["op"]:
        case "info":
            return {"info": asdict(reader.info())}, b""
        case "page":
            return {"ocr": None}, reader.page(number, plain=bool(request["plain"])).to_bytes()
        case "scan":
            return {}, reader.scan(number).to_bytes()
        case "frame":
            return {"frame": reader.frame(number)}, b""
        case "crop":
            return reader.crop(number, request["box"], dpi=request["dpi"], max_pixels=request["max_pixels"])
        case "unlock":
            reader.unlock(Path(request["target"]))
            return {}, b""
    raise SystemExit(f"unknown request {request['op']!r}")


if __name__ == "__main__":
    main()
