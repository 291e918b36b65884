"""Text for a terminal: what a document, a file's name or an error says must not speak to the terminal itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

# All control characters but tab and line feed (Unicode's category Cc).
CONTROLS = {code for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}
_SHOWN = dict.fromkeys(CONTROLS, "\ufffd")
_ESCAPED = {code: f"\\u{code:04x}" for code in CONTROLS}


@contextmanager
def plain_output() -> Iterator[None]:
    """While the block runs, control characters are printed as U+FFFD."""
    out, err = cast(TextIO, _Plain(sys.stdout)), cast(TextIO, _Plain(sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield


class _Plain:
    """``stream``, to which control characters are written as U+FFFD."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text.translate(_SHOWN))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def json_escaped(text: str) -> str:
    """The same JSON without control characters: they may stand in its strings only, where they can be escaped."""
    return text.translate(_ESCAPED)
