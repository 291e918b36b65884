"""Command ``watch``: look through a folder, once or again and again, and read what differs."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragcore.cli.common import moment, print_json, progress, say_error, show, stopped_in_order
from ragcore.errors import Cancelled, StoreBusy
from ragcore.pipelines.watch import SETTLED_SECONDS
from ragcore.progress import printable
from ragcore.text.numbers import plural
from ragcore.types.json import plain

if TYPE_CHECKING:
    from ragcore.engine import Engine
    from ragcore.types.library import DocumentInfo
    from ragcore.types.watch import FileChange, ScanReport, WatchedFolder

LOOKS = 30  # of `--once` while another process scans, and fewer at files that are still being written
LOOKS_AT_WAITING = 3
_SAID = {
    "new": "new",
    "changed": "changed: a new version",
    "known": "in the library already",
    "moved": "moved",
    "back": "there again",
    "gone": "no longer there; its document stays",
    "waiting": "still being written",
}


def watch(engine: Engine, options: argparse.Namespace) -> int:
    if options.list:
        return _list(engine, options)
    if options.remove is not None:
        engine.watch.remove(options.remove)
        return _list(engine, options)
    folder = engine.watch.add(options.folder, recursive=not options.flat, patterns=options.pattern, every=options.every)
    stop, failed = threading.Event(), False
    with stopped_in_order(stop.set):
        for number in range(sys.maxsize):
            report = _scan(engine, folder, stop, options.once)
            if stop.is_set():
                break
            documents = _read(engine, folder, report.attached if report else (), stop)
            failed = report is None or report.error is not None or bool(report.of("failed"))
            failed |= any(info.status == "failed" for info in documents)
            if report is not None and (report.changes or report.error or documents or not number):
                _show(engine, options, report, documents)
            if options.once or stop.wait(folder.every):
                break
    if stop.is_set():
        print(f"Stopped. The app and `groundwork watch` go on with {folder.path}.", file=sys.stderr)
        return 1 if options.once else 0
    return 1 if failed else 0


def _scan(engine: Engine, folder: WatchedFolder, stop: threading.Event, once: bool) -> ScanReport | None:
    """Result of a scan, ``once`` of several if files are still being written or another process scans; None if another
    one does, or it was stopped."""
    seen: dict[str, FileChange] = {}
    for look in range(LOOKS):
        try:
            report = engine.watch.scan(folder.path, stop.is_set)
        except Cancelled:
            return None
        except StoreBusy as error:
            if once and look + 1 == LOOKS:
                raise
            if not once:
                say_error(error)
                return None
        else:
            seen = {path: one for path, one in seen.items() if one.kind != "waiting"}
            seen |= {one.path: one for one in report.changes}
            waits = report.of("waiting") and look < LOOKS_AT_WAITING
            if not (once and waits):
                return replace(report, changes=tuple(seen.values()))
        if stop.wait(SETTLED_SECONDS):
            return None
    return None


def _read(engine: Engine, folder: WatchedFolder, attached: Sequence[str], stop: threading.Event) -> list[DocumentInfo]:
    """Read the folder's unread documents, and what is ``attached`` to its messages, but not those that another process
    reads, and embed them."""
    tried: set[str] = set()
    done: set[str] = set()
    try:
        while not stop.is_set():
            left = engine.watch.unread(folder.path, but=tried) or [one for one in attached if one not in tried]
            if not left:
                break
            doc_id = left[0]
            tried.add(doc_id)
            name = engine.info(doc_id).name
            try:
                info = engine.ingest(doc_id, on_progress=progress(name), cancelled=stop.is_set)
            except StoreBusy:
                continue  # another process was faster
            if info.error:
                say_error(info.error, name)
            done.add(doc_id)
        if done:
            engine.index(refresh=False, on_progress=progress("index"), cancelled=stop.is_set)
    except Cancelled:
        pass  # by Ctrl-C: what is read is kept, and the rest is read next time
    return [info for info in engine.documents(earlier=True) if info.doc_id in done]


def _show(engine: Engine, options: argparse.Namespace, report: ScanReport, documents: list[DocumentInfo]) -> None:
    if report.error:
        say_error(report.error)
    for one in report.changes:
        if one.error:
            say_error(one.error, one.path)
    if options.json:
        print_json({**plain(report), "folder": str(report.folder), "documents": plain(documents)})
        return
    titles = {info.doc_id: info.title for info in engine.documents(earlier=True)}
    for one in report.changes:
        if one.kind in _SAID:
            title = titles.get(one.doc_id, "")
            print(f"{one.path}: {_SAID[one.kind]}{f'  [{title}]' if title else ''}")
    differ = sum(one.kind not in ("waiting", "failed") for one in report.changes)
    print(
        f"{printable(report.folder)}: {plural(report.files, 'file')}, {differ} changed, in {report.seconds:.1f} s"
        f" at {time.strftime('%H:%M:%S')}.",
        file=sys.stderr,
    )


def _list(engine: Engine, options: argparse.Namespace) -> int:
    folders = engine.watch.folders()
    lines = []
    for one in folders:
        parts = [plural(one.files, "file"), f"{one.failed} not read" if one.failed else ""]
        parts += [f"{one.missing} no longer there" if one.missing else "", " ".join(one.patterns)]
        parts += ["" if one.recursive else "without folders in it", f"every {one.every:g} s"]
        parts.append("not looked at yet" if one.scanned is None else f"looked at {moment(one.scanned)}")
        lines.append(f"{one.path}  ({', '.join(part for part in parts if part)})")
        if one.error:
            say_error(one.error)
        lines += [
            f"  {file.path}: {file.error['message']} {file.error['hint']}"
            for file in engine.watch.files(one.path)
            if file.error and not file.gone
        ]
    told = [{**plain(one), "path": str(one.path)} for one in folders]
    show(options, lambda: {"folders": told}, lines or ["No folder is watched."])
    return 0
