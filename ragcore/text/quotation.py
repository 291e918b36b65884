"""A document's words between quotation marks: marks inside of it become single ones, so that no “““ stands there."""

from __future__ import annotations

import re

# A pair of straight marks: the first behind a blank or bracket, the second before what is no letter. One alone may be
# inches.
_STRAIGHT = re.compile(r'(?<![^\s(\[{“‘—–/-])"(?=\S)([^"\n]*\S)"(?!\w)')
_SINGLE = str.maketrans("“”„‟", "‘’‚‘")  # as ui/components/shared/quoted.js does


def quoted(text: str) -> str:
    """``text`` as a quotation “…”. What is a quotation as a whole already is not quoted twice."""
    text = _STRAIGHT.sub(r"“\1”", text)
    whole = text.startswith("“") and text.endswith("”") and text.count("“") == text.count("”") == 1
    return text if whole else f"“{text.translate(_SINGLE)}”"
