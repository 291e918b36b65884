"""Markdown of an answer → HTML blocks with citation chips and claims, for stored and live answers alike.

Marks and claims are positions in the Markdown text. Before parsing, each becomes a short sentinel between ``⸨`` and
``⸩`` (punctuation to the Markdown parser, as the ``[1]`` was, so that adjacent emphasis still closes). After rendering,
the sentinels become chips and spans. Raw HTML, links and images are shown as text: an answer can neither run nor load
anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape

from markdown_it import MarkdownIt

from ragcore.text.markdown import is_cell_table
from ragcore.types import Citation, Claim, Mark
from ui.chat.cell_grid import as_grid

OPEN, CLOSE = "⸨", "⸩"
_SAFE = str.maketrans({OPEN: "\ue000", CLOSE: "\ue001"})  # the same characters, where the answer itself has them
_RESTORE = str.maketrans({"\ue000": OPEN, "\ue001": CLOSE})
_BLOCK_START = re.compile(r"(?:\s+|[-*+]\s+|\d+[.)]\s+|#{1,6}\s+|>\s?|\|\s*)*")
_PIECE = re.compile(rf"<[^>]*>|{OPEN}[^{CLOSE}]*{CLOSE}|[^<{OPEN}]+")
_LINE_END = re.compile(r"\r\n?|\n")
_INLINE = {"em", "strong", "code", "s"}
VERDICT = {
    "weak": ("weak", "The cited words back only part of this"),
    "unsupported": ("bad", "The cited words don’t say this"),
    "uncited": ("off", "No citation"),
}
NO_BREAK = '<span class="gw-nb">'
LONGEST_WORD = 30  # a longer one may be parted from its chip, rather than stick out


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": False}).enable(["table", "strikethrough"])
    return parser.disable(["link", "image", "autolink", "reference", "html_block", "html_inline", "entity"])


def blocks(
    text: str,
    marks: Sequence[Mark],
    citations: Mapping[int, Citation],
    claims: Sequence[Claim] = (),
    turn_id: str = "",
    *,
    uncited: bool = True,
) -> list[str]:
    """HTML of each top-level block of ``text``, in order.

    ``marks`` and ``claims`` are sorted and lie within ``text``; while an answer streams there are no claims yet. Chips
    are ``a.gw-cite[href="#cite-TURN-N"][data-n]``, with class ``added`` if verification added them; in a table of cells
    (`ragcore.offline.rows`), drawn `as_grid`, the value itself is the chip, with class ``gw-value``. Claims are
    ``span.gw-claim[data-status][data-claim]``, several spans for a claim that crosses emphasis or cells; figures named
    by a verdict are ``span.gw-wrong`` inside. With ``uncited``, a claim without a citation shows its verdict, as a
    doubtful one does.
    """
    return [html for _, html in _by_line(text, marks, citations, claims, turn_id, uncited)]


class Growing:
    """Incremental `blocks` for a live answer: as the text grows, only its last two blocks are parsed again, since
    nothing earlier can change (``2`` may still become the next item of a list)."""

    def __init__(self, turn_id: str) -> None:
        self.turn_id = turn_id
        self._text = ""
        self._shown: list[str] = []
        self._kept = 0  # blocks that do not change any more
        self._start = 0  # and where the others begin

    def blocks(self, text: str, marks: Sequence[Mark], citations: Mapping[int, Citation]) -> list[str]:
        if text != self._text:
            tail, start = text[self._start :], self._start
            later = [replace(m, start=m.start - start, end=m.end - start) for m in marks if m.start >= start]
            found = _by_line(tail, later, citations, (), self.turn_id, uncited=True)
            self._text, self._shown = text, [*self._shown[: self._kept], *(html for _, html in found)]
            if len(found) > 2:
                self._kept += len(found) - 2
                self._start += _offset(tail, found[-2][0])
        return self._shown


def _offset(text: str, line: int) -> int:
    """Offset of a line (from 0), counting lines as the parser does."""
    ends = [match.end() for match in _LINE_END.finditer(text)]
    return ends[line - 1] if line else 0


def _by_line(
    text: str,
    marks: Sequence[Mark],
    citations: Mapping[int, Citation],
    claims: Sequence[Claim],
    turn_id: str,
    uncited: bool,
) -> list[tuple[int, str]]:
    """Starting line and HTML of each block."""
    tokens = _parser().parse(_with_sentinels(text, marks, claims))
    for token in tokens:
        if token.type == "fence" and OPEN in token.info:
            # A chip behind the fence would become part of the code's language.
            token.content, token.info = f"{token.info}\n{token.content}", ""
    out: list[tuple[int, str]] = []
    weaver = _Weaver(citations, claims, turn_id, uncited)
    first = 0
    for i, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            html = _parser().renderer.render(tokens[first : i + 1], _parser().options, {})
            line = (tokens[first].map or [0])[0]
            woven = weaver.weave(html.strip())
            drawn = as_grid(woven) if tokens[first].type == "table_open" else woven
            out.append((line, drawn.translate(_RESTORE)))
            first = i + 1
    return out


def _with_sentinels(text: str, marks: Sequence[Mark], claims: Sequence[Claim]) -> str:
    """``text`` with a sentinel for each mark (``c`` and its number, ``a`` if added, ``v`` if it cites the value in a
    table of cells), claim start (``o``), claim end (``e``), and the ends of a wrong figure (``f``, ``g``)."""
    cuts: list[tuple[int, int, int, str]] = []  # start, end of what is replaced, order at one place, sentinel
    covered = 0
    for index, claim in enumerate(claims):
        start = _BLOCK_START.match(text, max(claim.start, covered), claim.end)
        begin = start.end() if start else claim.start
        end = begin + len(text[begin : claim.end].rstrip(" \t\n|"))
        if end > begin:
            cuts += [(begin, begin, 2, f"o{index}"), (end, end, 0, f"e{index}")]
            covered = end
        for low, high in claim.wrong:
            low -= text[low - 1 : low] == "\\"  # what is escaped stays so
            if begin <= low < high <= end:
                cuts += [(low, low, 3, f"f{index}"), (high, high, -1, f"g{index}")]
    for mark in marks:
        lead = len(text[: mark.start]) - len(text[: mark.start].rstrip(" \t"))
        kind = "a" if mark.added else "v" if _cites_value(text, mark) else "c"
        cuts.append((mark.start - lead, mark.end, 1, f"{kind}{mark.n}"))
    parts: list[str] = []
    at = 0
    for begin, end, _, sentinel in sorted(cuts):
        parts.append(text[at:begin].translate(_SAFE) if begin > at else "")
        parts.append(f"{OPEN}{sentinel}{CLOSE}")
        at = max(at, end)
    parts.append(text[at:].translate(_SAFE))
    return "".join(parts)


def _cites_value(text: str, mark: Mark) -> bool:
    """Whether ``mark`` stands in a row of a table of cells."""
    start = text.rfind("\n", 0, mark.start) + 1
    header = text[start:].partition("\n")[0]
    if not header.startswith("|"):
        return False
    while start and (above := text[text.rfind("\n", 0, start - 1) + 1 : start - 1]).startswith("|"):
        start -= len(above) + 1
        header = above
    return is_cell_table(header)


class _Weaver:
    """Converter of sentinels in rendered HTML into chips and claim spans that keeps tags well nested.

    A claim's span opens at its first text and closes before any tag that it may not enclose; the rest of the claim gets
    another span.
    """

    def __init__(self, citations: Mapping[int, Citation], claims: Sequence[Claim], turn_id: str, uncited: bool) -> None:
        self.citations = citations
        self.claims = claims
        self.turn_id = turn_id
        self.uncited = uncited
        self.claim: int | None = None
        self.spanned = False
        self.inside: list[str] = []  # inline tags opened since the span was
        self.out: list[str] = []

    def weave(self, html: str) -> str:
        self.out = []
        for match in _PIECE.finditer(html):
            piece = match.group()
            if piece.startswith(OPEN):
                self._sentinel(piece[1], int(piece[2:-1]))
            elif piece.startswith("<"):
                self._tag(piece)
            else:
                self._text(piece)
        self._close_span()
        return "".join(self.out)

    def _text(self, piece: str) -> None:
        if piece.strip():
            self._open_span()
        self.out.append(piece)

    def _sentinel(self, kind: str, number: int) -> None:
        if kind == "o":
            self.claim = number
        elif kind == "f":
            self._open_span()
            self.out.append('<span class="gw-wrong">')
        elif kind == "g":
            self.out.append("</span>")
        elif kind == "v":
            self._make_link(number)
        elif kind in "ac":
            self._open_span()
            self._attach(self._chip(number, added=kind == "a"))
        else:
            reopen = self.inside
            self._close_span()
            self.out.append(self._verdict(number))
            self.out.extend(f"<{tag}>" for tag in reopen)
            self.claim = None

    def _tag(self, piece: str) -> None:
        name = piece.strip("</> ").split()[0]
        if name not in _INLINE:
            self._close_span()
        elif not piece.startswith("</"):
            if self.spanned:
                self.inside.append(name)
        elif self.inside:
            self.inside.pop()
        else:
            self._close_span()
        self.out.append(piece)

    def _open_span(self) -> None:
        if self.claim is not None and not self.spanned:
            status = self.claims[self.claim].status
            self.out.append(f'<span class="gw-claim" data-claim="{self.claim}" data-status="{status}">')
            self.spanned, self.inside = True, []

    def _close_span(self) -> None:
        if self.spanned:
            self.out.extend(f"</{tag}>" for tag in reversed(self.inside))
            self.out.append("</span>")
            self.spanned, self.inside = False, []

    def _attach(self, chip: str) -> None:
        """Chip joined to the word before it, so that no line breaks between them; a second chip joins the first."""
        if self.out[-2:] and self.out[-1] == "</span>" and self.out[-2].startswith("<a"):
            self.out.insert(-1, chip)
            return
        last = self.out[-1] if self.out else "<"
        word = re.search(r"\S+$", last)
        if last.startswith("<") or word is None or len(word.group()) > LONGEST_WORD:
            self.out.append(chip)
        else:
            self.out[-1:] = [last[: word.start()], NO_BREAK, word.group(), chip, "</span>"]

    def _make_link(self, n: int) -> None:
        """Value before the mark, turned into the chip."""
        value = self.out.pop() if self.out and not self.out[-1].startswith("<") else ""
        self.out.append(self._chip(n, added=False, value=value.strip()))

    def _chip(self, n: int, *, added: bool, value: str = "") -> str:
        citation = self.citations[n]
        kind = "AI description" if citation.generated else "Citation"
        by = ", added by Groundwork" if added else ""
        said = f"{value}, " if value else ""
        label = said + escape(f"{kind} {n}, {citation.title}, page {citation.page_label}{by}")
        name = "gw-cite gw-value" if value else "gw-cite added" if added else "gw-cite"
        return (
            f'<a class="{name}" href="#cite-{self.turn_id}-{n}" data-n="{n}" data-turn="{self.turn_id}" '
            f'aria-label="{label}">{value or n}</a>'
        )

    def _verdict(self, index: int) -> str:
        claim = self.claims[index]
        if claim.status not in VERDICT or (claim.status == "uncited" and not self.uncited):
            return ""
        tone, words = VERDICT[claim.status]
        tip = f"why-{self.turn_id}-{index}"
        return (
            f'<button type="button" class="gw-verdict {tone}" aria-describedby="{tip}">{claim.status}'
            f'<span class="tip" role="tooltip" id="{tip}"><b>{words}</b>{escape(claim.reason)}</span></button>'
        )
