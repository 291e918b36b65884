"""Quotations: document text between quotation marks, with inner double marks turned into single ones."""

from __future__ import annotations

import re

# A pair of straight marks: the first after a blank or bracket, the second not before a letter. A single one may mean
# inches.
_STRAIGHT = re.compile(r'(?<![^\s(\[{“‘—–/-])"(?=\S)([^"\n]*\S)"(?!\w)')
_SINGLE = str.maketrans("“”„‟", "‘’‚‘")  # as ui/components/shared/quoted.js does


def quoted(text: str) -> str:
    """``text`` as a quotation “…”, unless it already is one."""
    text = _STRAIGHT.sub(r"“\1”", text)
    whole = text.startswith("“") and text.endswith("”") and text.count("“") == text.count("”") == 1
    return text if whole else f"“{text.translate(_SINGLE)}”"
