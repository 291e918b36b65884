"""Plain text ↔ Markdown: foreign words made safe to stand in an answer, and an answer made readable as plain text.

The escapes are CommonMark's (0.31, "Backslash escapes"): a backslash before ASCII punctuation, except inside code.
"""

from __future__ import annotations

import re

# What formats inside a line, opens an HTML tag, an entity or a citation marker. An underscore inside a word does not.
_FORMATS = re.compile(r"[\\*`~\[\]<]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_CODE_OR_ESCAPE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^[ \t]*(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)"
    r"|`+"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])",
    re.MULTILINE | re.DOTALL,
)


def escape(text: str) -> str:
    """``text`` as words inside a line of Markdown: nothing in it formats, links, opens a tag or is a citation marker.

    What counts at the start of a line only (``#``, ``-``, ``>``) is left alone: put something before it.
    """
    return _FORMATS.sub(r"\\\g<0>", text)


def plain(markdown: str) -> str:
    """``markdown`` without its backslash escapes (``\\[2\\]`` → ``[2]``); other markup and all code stay."""
    return _CODE_OR_ESCAPE.sub(lambda match: match["escaped"] or match.group(), markdown)
