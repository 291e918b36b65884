"""Draft reader: a file → its text and blocks."""

from __future__ import annotations

from ragcore.types.check import Block, Draft


def read_draft(name: str, data: bytes) -> Draft:
    """Draft in the file ``name``. Raises `InputError` if it can't be read."""
    text = data.decode("utf-8")
    blocks, at = [], 0
    for part in text.split("\n\n"):
        blocks.append(Block("paragraph", at, at + len(part)))
        at += len(part) + 2
    return Draft(name, "txt", text, tuple(blocks))
