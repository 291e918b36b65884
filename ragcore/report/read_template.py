"""Report template files, parsed like PDFs in a child process with limits on time and memory.

A Word document is a zip of XML and an outline is Markdown: a small file of either can take hours or many gigabytes. The
child is ``python -m ragcore.report.read_template``; it reads one file from standard input and writes the template as
JSON.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragcore.errors import BadTemplate, ParseCrashed, ParseTimeout
from ragcore.ingest.process import Process
from ragcore.ingest.worker import limit_memory, receive, send, set_alarm

if TYPE_CHECKING:
    from ragcore.report.template import Template

MAX_BYTES = 20_000_000  # a template is text; Word files with pictures may have some megabytes
SECONDS = 20.0
MEMORY_MB = 512  # beyond the child's memory at start
_AT_ONCE = threading.Semaphore(2)
_MESSAGE = 500  # characters of an error message, which may quote the file
_SMALLER = "Keep only headings, guidance and empty tables."


def read_template(data: bytes, name: str) -> Template:
    """Template in the file ``name``: a Word document, a Markdown outline or JSON. Raises `BadTemplate`, also for a file
    that takes too long or too much memory."""
    from ragcore.report.template import from_data

    if len(data) > MAX_BYTES:
        raise BadTemplate(f"{name} is too large for a template.", hint=_SMALLER)
    with _AT_ONCE:
        reply, payload = _in_child(data, name)
    if not reply["ok"]:
        raise BadTemplate(str(reply["message"])[:_MESSAGE], hint=str(reply["hint"])[:_MESSAGE])
    return from_data(json.loads(payload), name)


def _in_child(data: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    process = Process(layout=False, module="ragcore.report.read_template")
    try:
        return process.call({"name": name, "memory_mb": MEMORY_MB}, SECONDS, name, data)
    except ParseTimeout as error:
        raise BadTemplate(f"{name} takes longer than {SECONDS:g} s to read.", hint=_SMALLER) from error
    except ParseCrashed as error:
        why = error.message.removeprefix(f"{name}: ").partition(":")[0]
        raise BadTemplate(f"{name} can't be read as a template ({why}).", hint=_SMALLER) from error
    finally:
        process.close()


def _parsed(data: bytes, name: str) -> Template:
    from ragcore.report.outline import from_docx, from_markdown
    from ragcore.report.template import from_json

    suffix = Path(name).suffix.lower()
    if suffix == ".docx" or data.startswith(b"PK\x03\x04"):
        return from_docx(data, name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTemplate(f"{name} is neither UTF-8 text nor a Word document.") from error
    if suffix in (".md", ".markdown", ".txt"):
        return from_markdown(text, name)
    return from_json(text, name)


def main() -> None:
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # library output is not part of the reply
    message = receive(source)
    if message is None:
        return
    request, data = message
    set_alarm(float(request["seconds"]))
    limit_memory(int(request["memory_mb"]))
    try:
        made = _parsed(data, str(request["name"]))
    except BadTemplate as error:
        send(sink, {"ok": False, "message": error.message, "hint": error.hint})
        return
    send(sink, {"ok": True}, made.as_json().encode())


if __name__ == "__main__":
    main()
