"""Parsing child process: ``python -m ragcore.ingest.worker``.

It reads requests from standard input and writes replies to standard output, each as two big-endian lengths, a JSON head
and a payload of bytes. A ragcore error is a reply; anything else ends the process, and the parent (`process.Child`)
treats that as a crash. It never outlives a request by much: an operating system timer ends it even if MuPDF loops
inside C and the parent is gone.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import IO, Any, cast

from ragcore.errors import GroundworkError, ModelMissing, ParseCrashed

_FRAME = struct.Struct(">II")


def send(stream: IO[bytes], head: dict[str, Any], payload: bytes = b"") -> None:
    text = json.dumps(head).encode()
    stream.write(_FRAME.pack(len(text), len(payload)) + text + payload)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Next message, or None at the end of the stream."""
    frame = _exactly(stream, _FRAME.size)
    if frame is None:
        return None
    head_length, payload_length = _FRAME.unpack(frame)
    head = _exactly(stream, head_length)
    payload = _exactly(stream, payload_length)
    if head is None or payload is None:
        return None
    message: dict[str, Any] = json.loads(head)
    return message, payload


def _exactly(stream: IO[bytes], count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        part = stream.read(count)
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


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


def draw_json(request: dict[str, Any]) -> None:
    """Draw the ADE JSON that the request names (see `ade.draw`)."""
    from ragcore.ingest.ade.draw import draw_pages
    from ragcore.ingest.ade.source import read_ade

    source = Path(request["json"])
    width, height = request["size"]
    draw_pages(read_ade(source.read_bytes(), source.name), Path(request["target"]), (width, height))


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
    """Context in which onnxruntime's sessions use one thread, and keep their memory if their inputs have one size.

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


def main() -> None:
    os.umask(0o077)  # its files are readable by the owner only
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
        send(sink, {"ok": False, "error": error.as_dict()})
        return
    import pymupdf

    from ragcore.config.settings import OcrSettings
    from ragcore.ingest.read import NeedsOcr, Reader

    reader: Reader | None = None
    while message is not None:
        request, _payload = message
        set_alarm(float(request["seconds"]))
        try:
            if request["op"] == "open":
                limit_memory(int(request["memory_mb"]))
                if request["path"] is not None:
                    ocr = None if request["ocr"] is None else OcrSettings.model_validate(request["ocr"])
                    reader = Reader(Path(request["path"]), request["password"], request["name"], ocr)
                send(sink, {"ok": True})
            elif request["op"] == "close":
                if reader is not None:
                    reader.close()
                reader = None
                send(sink, {"ok": True})
            elif request["op"] == "draw":
                draw_json(request)
                send(sink, {"ok": True})
            elif reader is None:
                raise SystemExit("the first request must open a file")
            elif request["op"] == "info":
                send(sink, {"ok": True, "info": asdict(reader.info())})
            elif request["op"] == "page":
                page = reader.page(int(request["page"]), plain=bool(request["plain"]), ask=bool(request["ask"]))
                send(sink, {"ok": True, "ocr": None}, page.to_bytes())
            elif request["op"] == "scan":
                page = reader.scan(int(request["page"]))
                send(sink, {"ok": True}, page.to_bytes())
            elif request["op"] == "frame":
                send(sink, {"ok": True, "frame": reader.frame(int(request["page"]))})
            elif request["op"] == "crop":
                width, height, digest, png = reader.crop(
                    int(request["page"]), request["box"], dpi=request["dpi"], max_pixels=request["max_pixels"]
                )
                send(sink, {"ok": True, "width": width, "height": height, "sha256": digest}, png)
            elif request["op"] == "unlock":
                reader.unlock(Path(request["target"]))
                send(sink, {"ok": True})
            else:
                raise SystemExit(f"unknown request {request['op']!r}")
        except NeedsOcr as need:
            send(sink, {"ok": True, "ocr": str(need)})
        except GroundworkError as error:
            send(sink, {"ok": False, "error": error.as_dict()})
        except pymupdf.mupdf.FzErrorBase as error:
            # MuPDF's own error about the file; it leaves the process usable.
            problem = ParseCrashed(" ".join(str(error).split())[:200])
            send(sink, {"ok": False, "error": problem.as_dict()})
        set_alarm(0)
        message = receive(source)


if __name__ == "__main__":
    main()
