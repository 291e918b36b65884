"""Markup cleaned for pages: of HTML an allow-list keeps what structures text; what acts, fetches or hides goes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape, unescape
from html.parser import HTMLParser

from markdown_it import MarkdownIt

from ragcore.text.numbers import plural

MOST_DEPTH = 60  # elements in one another, beyond which only their text is kept
MOST_INDENTED = 8  # elements of these that are indented further
MOST_NESTED = 100  # lists and quotations in one another: what is deeper, the parser leaves out
MOST_SPAN = 100  # rows or columns of one cell
FRONT_MATTER = re.compile(r"\A---\n(?!\n)(?:(?:(?:[\w-]+:|-)(?:[ \t].*)?|[ \t#].*|)\n)*(?:---|\.\.\.)(?:\n|\Z)")
_KEPT = {
    "h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "ul", "ol", "li", "dl", "dt", "dd", "table",
    "caption", "thead", "tbody", "tfoot", "tr", "td", "th", "blockquote", "pre", "code", "b", "strong", "i",
    "em", "u", "s", "del", "ins", "sub", "sup", "div",
}  # fmt: skip
_AS_DIV = {
    "section", "article", "main", "header", "footer", "nav", "aside", "figure", "figcaption", "address",
    "details", "summary",
}  # fmt: skip
_DROPPED = {
    "script", "style", "template", "noscript", "iframe", "frame", "frameset", "object", "embed", "applet",
    "svg", "math", "canvas", "audio", "video", "button", "select", "textarea", "datalist", "dialog",
}  # fmt: skip
_EMPTY = {
    "br", "hr", "img", "input", "link", "meta", "base", "source", "track", "wbr", "area", "col", "param",
    "embed", "frame",
}  # fmt: skip
# Elements whose end tag may be left out, with the start tags that end them, but for one in one of `_SCOPES` inside.
_ROW_ENDS = frozenset({"tr", "tbody", "thead", "tfoot"})
_ENDED_BY: dict[str, frozenset[str]] = {
    "li": frozenset({"li"}),
    "p": frozenset(_KEPT | _AS_DIV) - {"br", "code", "b", "strong", "i", "em", "u", "s", "del", "ins", "sub", "sup"},
    "tr": _ROW_ENDS,
    **dict.fromkeys(("td", "th"), _ROW_ENDS | {"td", "th"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
}
_OF_TABLES = {"table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"}
_SCOPES = {"table", "ul", "ol", "dl", "select"}
_INDENTED = {"blockquote", "ul", "ol", "dl", "dd"}
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|(?:font-size|opacity)\s*:\s*0(?![.\d]*[1-9])")


@dataclass
class CleanMarkup:
    """Cleaned HTML, its title, and what was left out, by name."""

    html: str = ""
    title: str = ""
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def text(self) -> str:
        return unescape(re.sub(r"<[^<>]*>", " ", self.html))

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(f"{plural(count, name)} left out." for name, count in sorted(self.left_out.items()))


def clean_html(text: str) -> CleanMarkup:
    """HTML with the elements of the allow-list, without attributes, and the texts in them."""
    parser = _Cleaner()
    parser.feed(text)
    parser.close()
    made = parser.made
    made.html = "".join(_without_layout(parser.parts))
    made.title = " ".join(made.title.split())
    return made


def markdown_html(text: str) -> CleanMarkup:
    """Markdown (CommonMark with tables) as clean HTML. Raises `ValueError` if it is nested more deeply than is read."""
    parser = MarkdownIt("commonmark", {"maxNesting": MOST_NESTED}).enable(["table", "strikethrough"])
    tokens = parser.parse(FRONT_MATTER.sub("", text))
    if any(token.level >= MOST_NESTED - 2 for token in tokens):
        raise ValueError(f"its lists and quotations are nested more than {MOST_NESTED} deep")
    return clean_html(parser.renderer.render(tokens, parser.options, {}))


def text_html(text: str) -> CleanMarkup:
    """Plain text as HTML: paragraphs between blank lines, with their lines."""
    parts = re.split(r"\n[ \t]*(?:\n[ \t]*)+", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n"))
    lines = ([" ".join(line.split()) for line in part.split("\n")] for part in parts)
    kept = ([escape(line) for line in part if line] for part in lines)
    return CleanMarkup("".join(f"<p>{'<br/>'.join(part)}</p>" for part in kept if part))


@dataclass
class _Table:
    """Table in parts of HTML: the places of its tags, and what tells whether it has data."""

    tags: list[int] = field(default_factory=list)
    labelled: bool = False  # it has a caption or a header
    outer: bool = False  # another table is in it
    rows: int = 0  # with two cells that have text, or more
    cells: int = 0  # of the present row that have text
    empty: bool = False  # the present cell

    def begin(self, tag: str) -> None:
        self.labelled = self.labelled or tag in ("th", "caption")
        self.empty = tag in ("td", "th")
        if tag == "tr":
            self.rows, self.cells = self.rows + (self.cells > 1), 0

    def say(self) -> None:
        self.cells, self.empty = self.cells + self.empty, False

    @property
    def is_layout(self) -> bool:
        """Whether it only places what is in it, as most tables of e-mails do."""
        return not self.labelled and (self.outer or self.rows + (self.cells > 1) < 2)


def _without_layout(parts: list[str]) -> list[str]:
    """``parts`` with the tags of tables that only place what is in them taken out, each cell as a block."""
    found: list[_Table] = []
    within: list[_Table] = []
    for place, part in enumerate(parts):
        tag = part.strip("</>").partition(" ")[0] if part.startswith("<") else ""
        if part.startswith("<table"):
            for table in within[-1:]:
                table.outer = True
            within.append(_Table())
            found.append(within[-1])
        if within and tag in _OF_TABLES:
            within[-1].tags.append(place)
            if not part.startswith("</"):
                within[-1].begin(tag)
        elif within and not tag and part.strip():
            within[-1].say()
        if part == "</table>" and within:
            within.pop()
    out = list(parts)
    for place in (place for table in found if table.is_layout for place in table.tags):
        cell = out[place].strip("</>").partition(" ")[0] in ("td", "tr")
        out[place] = ("</div>" if out[place].startswith("</") else "<div>") if cell else ""
    return out


class _Cleaner(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.made = CleanMarkup()
        self._open: list[str] = []
        self._without: list[str] = []  # the dropped element and those that are open in it
        self._titled = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._without:
            dropped, *inside = self._without
            if tag not in _ENDED_BY.get(dropped, ()) or not _SCOPES.isdisjoint(inside):
                self._without += [tag] if tag not in _EMPTY else []
                return
            self._without = []
        given = {name: value or "" for name, value in attrs}
        if tag == "title":
            self._titled = not self.made.title
        elif tag == "img":
            self.made.left_out["picture"] += 1
        elif tag in _DROPPED or "hidden" in given or _UNSEEN.search(given.get("style", "").lower()):
            if tag not in _DROPPED:
                self.made.left_out["hidden part"] += 1
            if tag not in _EMPTY:
                self._without.append(tag)
        elif (name := "div" if tag in _AS_DIV else tag) in _KEPT and len(self._open) < MOST_DEPTH:
            while self._open and tag in _ENDED_BY.get(self._open[-1], ()):
                self.parts.append(f"</{self._open.pop()}>")
            spans = "".join(
                f' {key}="{min(int(given[key]), MOST_SPAN)}"'
                for key in ("colspan", "rowspan")
                if tag in ("td", "th") and re.fullmatch(r"[1-9]\d{0,4}", given.get(key, ""))
            )
            if name in _INDENTED and sum(each in _INDENTED for each in self._open) >= MOST_INDENTED:
                name = "div"
            self.parts.append(f"<{name}{spans}>")
            if tag not in _EMPTY:
                self._open.append(name)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _EMPTY:  # <p/> is <p> in HTML
            self.handle_starttag(tag, attrs)
        else:
            self.handle_starttag(tag, attrs)
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._without:
            while self._without.pop() != tag:
                pass
            return
        if self._without:
            if self._without[0] not in _ENDED_BY or ("div" if tag in _AS_DIV else tag) not in self._open:
                return
            self._without = []  # the element around it ends
        if tag == "title":
            self._titled = False
        name = "div" if tag in _AS_DIV else tag
        if name in self._open:
            while (inner := self._open.pop()) != name:
                self.parts.append(f"</{inner}>")
            self.parts.append(f"</{name}>")

    def handle_data(self, data: str) -> None:
        if self._titled:
            self.made.title += data
        elif not self._without:
            self.parts.append(escape(data, quote=False))
