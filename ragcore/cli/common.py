"""Shared parts of the commands: document arguments, progress, Ctrl-C, and printing. Text of documents and errors
must not control the terminal."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import datetime
from difflib import SequenceMatcher
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO, cast

from ragcore.errors import Cancelled, FileMissing, GroundworkError, InputError
from ragcore.files import replacing
from ragcore.types import Scope, Section
from ragcore.types.json import Json
from ragcore.types.sections import SectionNode, section_tree, walk

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.progress import Progress

# Control characters (Unicode category Cc) except tab and line feed.
CONTROLS = {code for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}
_SHOWN = dict.fromkeys(CONTROLS, "\ufffd")
_ESCAPED = {code: f"\\u{code:04x}" for code in CONTROLS}
SHOWN = 4  # sections that an error names


def documents_asked(engine: Engine, given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Documents named by --doc. Reports on stderr those that can't be asked yet, or not in full; unreadable ones were
    reported when added and are listed."""
    chosen = tuple(engine.find(item) for item in given) if given else None
    asked = [info for info in engine.documents() if chosen is None or info.doc_id in chosen]
    left = [info for info in asked if info.status != "failed" and not info.indexed]
    for said, names in (
        ("Not searched, because not read yet", [info.name for info in left if not info.askable]),
        ("Read only in part", [info.name for info in left if info.askable and info.status != "ready"]),
        ("Searched by words only, because not indexed", [info.name for info in left if info.status == "ready"]),
    ):
        if names:
            print(f"{said}: {', '.join(names)}.", file=sys.stderr)
    return chosen


def scope_asked(engine: Engine, options: argparse.Namespace) -> Scope:
    """Scope given by --doc, --pages, --kind and --section. Raises `InputError` for a heading that no document has, or
    several have."""
    doc_ids = documents_asked(engine, options.doc)
    sections = tuple(_section(engine, heading, doc_ids) for heading in options.section)
    return Scope(doc_ids, options.pages, tuple(options.kind), (), sections)


def _section(engine: Engine, given: str, doc_ids: Sequence[str] | None) -> Section:
    """The one section that is called ``given``."""
    found = sections_called(engine, given, doc_ids)
    if len(found) == 1:
        ((doc_id, node, _),) = found
        return node.of(doc_id)
    shown = "; ".join(place for *_, place in found[:SHOWN])
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    hint = "Write the heading in full, with those above it, or give its document with --doc."
    raise InputError(f"“{given}” is the heading of {len(found)} sections: {shown}{more}.", hint=hint)


def sections_called(engine: Engine, given: str, doc_ids: Sequence[str] | None) -> list[tuple[str, SectionNode, str]]:
    """Sections whose heading is ``given``, else begins with it, else has it, also as a path (``Part I › Item 7``): the
    document, the section, and its place in words. Raises `InputError` if there are none."""
    wanted = " ".join(given.split()).casefold()
    known: dict[str, list[tuple[str, SectionNode, str]]] = {}
    for info in engine.documents():
        if info.askable and (doc_ids is None or info.doc_id in doc_ids):
            for node in walk(section_tree(engine.document(info.doc_id))):
                place = f"“{' › '.join(node.path)}” (p. {node.first_page}, {info.name})"
                for name in {node.label.casefold(), " › ".join(node.path).casefold()}:
                    known.setdefault(name, []).append((info.doc_id, node, place))
    tests: tuple[Callable[[str], bool], ...] = (
        lambda name: name == wanted,
        lambda name: name.startswith(wanted),
        lambda name: wanted in name,
    )
    for fits in tests:
        found = {(one[0], one[1].start): one for name in filter(fits, known) for one in known[name]}
        if found:
            return list(found.values())
    shared = {name: SequenceMatcher(None, wanted, name).find_longest_match().size for name in known}
    alike = sorted((name for name in known if 2 * shared[name] > len(wanted)), key=lambda one: (-shared[one], len(one)))
    near = list(dict.fromkeys(place for name in alike for *_, place in known[name]))[:SHOWN]
    nearest = f" The nearest: {'; '.join(near)}." if near else ""
    raise InputError(
        f"There is no section “{given}”.{nearest}",
        hint="`groundwork elements DOC --outline` lists a document's sections.",
    )


def progress(name: str) -> Callable[[Progress], None]:
    """Progress printer: at most one line per stage and tenth."""
    show = tenths(name)
    return lambda progress: show(progress.stage, progress.done, progress.total)


def tenths(name: str) -> Callable[[str, int, int], None]:
    """Printer of a stage and how much of how many is done: at most one line per stage and tenth."""
    last = "", -1

    def show(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = stage, done * 10 // max(total, 1)
        if now != last:
            last = now
            print(f"{name}: {stage} {done} of {total}", file=sys.stderr)

    return show


def counted_progress(said: str) -> Callable[[int, int], None]:
    """Progress printer of what is ``said`` to be done: at most one line per tenth, with the time that the rest may
    take. It begins anew with work that does."""
    began, first, last, before = time.monotonic(), -1, -1, -1

    def show(done: int, total: int) -> None:
        nonlocal began, first, last, before
        if done < before:
            began, first, last = time.monotonic(), -1, -1
        before, first = done, done if first < 0 else first
        tenth = done * 10 // max(total, 1)
        if tenth > last:
            last = tenth
            seconds = (time.monotonic() - began) / (done - first) * (total - done) if done > first else 0.0
            left = f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds:.0f} s left"
            print(f"{said} {done} of {total}{left if seconds >= 1 else ''}", file=sys.stderr)

    return show


@contextmanager
def stopped_in_order(stop: Callable[[], None]) -> Iterator[None]:
    """Context in which the first Ctrl-C or SIGTERM calls ``stop`` (in another thread) for an orderly end, and a second
    ends the process as it would without. Handlers of another owner are left in place."""
    usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    if threading.current_thread() is not threading.main_thread() or any(
        signal.getsignal(number) is not handler for number, handler in usual.items()
    ):
        yield
        return
    # A signal handler must take no lock, since the interrupted code may hold it; this queue's ``put`` takes none.
    pressed: SimpleQueue[bool] = SimpleQueue()

    def watch() -> None:
        if pressed.get():
            print("Stopping. Press Ctrl-C again to quit at once.", file=sys.stderr)
            stop()

    def restore() -> None:
        for number, handler in usual.items():
            signal.signal(number, handler)

    def press(_number: int, _frame: FrameType | None) -> None:
        restore()
        pressed.put(True)

    threading.Thread(target=watch, name="stop", daemon=True).start()
    for number in usual:
        signal.signal(number, press)
    try:
        yield
    finally:
        restore()
        pressed.put(False)


@contextmanager
def resumable(command: str, done: Callable[[], str]) -> Iterator[Callable[[], bool]]:
    """Context of work that Ctrl-C or SIGTERM ends in order; gives what tells the work so. Raises its `Cancelled` with
    how much is ``done``, and the ``command`` that goes on with it."""
    stop = threading.Event()
    try:
        with stopped_in_order(stop.set):
            yield stop.is_set
    except Cancelled as error:
        hint = f"They are kept. Go on with `groundwork {command}`."
        raise Cancelled(f"Stopped with {done()}.", hint=hint) from error


def moment(at: float) -> str:
    """Local time of seconds since the epoch."""
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"


def read_file(path: Path) -> bytes:
    """Raises `FileMissing`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileMissing(f"{path} can't be read: {error.strerror}.") from error


def write_file(path: Path, data: bytes) -> None:
    """Write ``path`` atomically. Raises `InputError`."""
    try:
        with replacing(path, 0o666) as stream:
            stream.write(data)
    except OSError as error:
        raise InputError(f"{path} couldn't be written: {error.strerror}.", hint="Choose another place.") from error


def write_out(path: Path, data: bytes) -> None:
    """`write_file`, and say so on stderr."""
    write_file(path, data)
    print(f"Wrote {path}.", file=sys.stderr)


def show(options: argparse.Namespace, value: Callable[[], Json], lines: Iterable[str]) -> None:
    """Print one JSON object for scripts, or lines for people."""
    if options.json:
        print_json(value())
    else:
        for line in lines:
            print(line)


def say_error(error: GroundworkError | Mapping[str, Any], about: str = "") -> None:
    """Print an error as one line on stderr, preceded by its subject."""
    told = error.as_dict() if isinstance(error, GroundworkError) else error
    print(f"{about}{': ' if about else ''}{told['message']} {told['hint']}", file=sys.stderr)


def print_json(value: Json) -> None:
    """Print JSON with control characters escaped; they can occur only in strings."""
    print(json.dumps(value, ensure_ascii=False).translate(_ESCAPED), flush=True)


@contextmanager
def plain_output() -> Iterator[None]:
    """Context in which control characters are printed as U+FFFD."""
    out, err = cast(TextIO, _Plain(sys.stdout)), cast(TextIO, _Plain(sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield


class _Plain:
    """Wrapper of ``stream`` that replaces control characters with U+FFFD."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text.translate(_SHOWN))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
