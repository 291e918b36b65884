"""Finding conversations by words: what of a turn is searched, what a search asks for, and where it was found.

A word is found where one of the text begins with it, accents and case aside, or has its Porter stem: ``expense`` finds
``expenses``, ``2018`` finds ``2018Q4``. Scripts that put no blanks between words are searched character by character.
The words of every turn are kept as one folded line, and a search reads all of them: that is simple and fast enough for
what one person asks (tests/index/test_conversation_search.py holds it to 1,000 conversations).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ragcore.text.markdown import plain
from ragcore.text.words import stem

AROUND = 60  # characters of a snippet on either side of what was found
MOST_PLACES = 200  # where words were found that are weighed for it
# Chinese, Japanese and Thai characters stand for themselves; a number keeps its separators.
_SINGLE = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[0-9]+(?:[.,][0-9]+)+|[{_SINGLE}]|[^\W_{_SINGLE}]+")
_MARK = re.compile(r" ?\[\d{1,3}\]")
# What is put over or under a letter, of the scripts in which words are searched without it.
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_STEMS = "\n"  # between the words and their stems, so that no run of words reaches over it


@dataclass(frozen=True, slots=True)
class Wanted:
    """One word of a search: what a text must hold, as `searchable` writes it, one of ``needles``. ``parts`` are its
    own words (``BMS-986158`` has two) and ``stem`` the stem of a single one, else ""."""

    parts: tuple[str, ...]
    stem: str

    @property
    def needles(self) -> tuple[str, ...]:
        begins = f" {' '.join(self.parts)}"
        return (begins, f" ={self.stem} ") if self.stem else (begins,)

    def among(self, words: str) -> bool:
        return any(needle in words for needle in self.needles)


def searchable(text: str) -> str:
    """The folded words of ``text`` in order, then their stems: what `Wanted.needles` are looked for in."""
    words = _WORD.findall(_folded(text))
    stems = sorted({f"={stem(word)}" for word in set(words) if _has_stem(word)})
    return f" {' '.join(words).replace(',', '')} {_STEMS} {' '.join(stems)} "


def turn_text(question: str, answer: str) -> str:
    """A turn as it is searched and shown in a snippet: no Markdown and no citation marks."""
    return unicodedata.normalize("NFC", f"{question}\n{plain(_MARK.sub('', answer))}".strip())


def wanted(search: str) -> tuple[Wanted, ...]:
    """The words of a search, each once."""
    found: dict[tuple[str, ...], Wanted] = {}
    for word in search.split():
        parts = tuple(part.replace(",", "") for part in _WORD.findall(_folded(word)))
        if parts:
            single = len(parts) == 1 and _has_stem(parts[0])
            found[parts] = Wanted(parts, stem(parts[0]) if single else "")
    return tuple(found.values())


def snippet(text: str, asked: tuple[Wanted, ...]) -> str:
    """The words of ``text`` around the first place where most of those that were asked for stand together, on one line;
    "" where none can be pointed at: a character may stand for several, as ¼ does."""
    # Most texts have a word as it was asked for; folding each word, which takes long, is for the others.
    matches = _verbatim(text, asked)
    found = list(islice(matches, MOST_PLACES)) or list(islice(_places(text, asked), MOST_PLACES))
    best = max(
        found,
        key=lambda first: len({want for start, _, want in found if first[0] <= start < first[1] + AROUND}),
        default=None,
    )
    return _around(text, best[0], best[1]) if best else ""


def _verbatim(text: str, asked: tuple[Wanted, ...]) -> Iterator[tuple[int, int, Wanted]]:
    by_word = {want.parts[0]: want for want in asked if len(want.parts) == 1}
    if len(by_word) < len(asked):
        return
    words = "|".join(sorted(map(re.escape, by_word), key=len, reverse=True))
    for match in re.finditer(rf"(?<![^\W_])(?:{words})[^\W_]*", text, re.IGNORECASE):
        word = match.group().lower()
        want = next((want for part, want in by_word.items() if word.startswith(part)), None)
        if want is not None:
            yield match.start(), match.end(), want


def _places(text: str, asked: tuple[Wanted, ...]) -> Iterator[tuple[int, int, Wanted]]:
    """Start and end of each place where one of ``asked`` is, in order."""
    words = [(match.start(), match.end(), _folded(match.group()).replace(",", "")) for match in _WORD.finditer(text)]
    for place, (start, _, _) in enumerate(words):
        for want in asked:
            end = _matched(words[place : place + len(want.parts)], want)
            if end:
                yield start, end, want


def _matched(words: list[tuple[int, int, str]], want: Wanted) -> int:
    """Where the match at the beginning of ``words`` ends in the text; 0 where there is none."""
    given = tuple(word for _, _, word in words)
    *whole, last = want.parts
    begins = len(given) == len(want.parts) and list(given[:-1]) == whole and given[-1].startswith(last)
    same_stem = want.stem and given and _has_stem(given[0]) and stem(given[0]) == want.stem
    return words[-1][1] if begins or same_stem else 0


def _around(text: str, start: int, end: int) -> str:
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    before, after = text[first:start], text[end:last]
    if first:
        before = before.partition(" ")[2] if " " in before else before
    if last < len(text):
        after = after.rpartition(" ")[0] if " " in after else after
    words = " ".join(f"{before}{text[start:end]}{after}".split())
    return f"{'… ' if first else ''}{words}{' …' if last < len(text) else ''}"


def _folded(text: str) -> str:
    """``text`` without case and accents; a character may become several."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return decomposed if decomposed.isascii() else _ACCENTS.sub("", decomposed)


def _has_stem(word: str) -> bool:
    return len(word) > 2 and word.isascii() and word.isalpha()
