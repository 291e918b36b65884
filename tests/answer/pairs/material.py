"""Claims with a known verdict, held against documents made for them: truths and controlled edits of each truth.

A truth is a claim that its citation supports (stated plainly, in other words, rounded, in another scale, or derived).
An edit changes one thing in it, such as a digit, the year or who did what to whom, so that the citation no longer
supports it. Every subject has one document on which the rules were tuned and one that was held back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ragcore.answer.cite import Citer, Marker, MarkerParser
from ragcore.answer.sources import build_sources
from ragcore.protocols import Reranker
from ragcore.types import Citation, Claim, Document, Mark, Retrieval, Segment, Source
from ragcore.verify.verify import verify
from tests.answer.samples import SETTINGS
from tests.documents import Break, Grid, Heading, Item, make_document

Half = Literal["tuned", "held"]
TRUTHS = ("stated", "paraphrase", "rounded", "scaled", "derived")
EDITS = (
    *("digit", "sign", "scale", "unit", "currency", "year", "quarter", "date", "negation", "direction", "comparison"),
    *("roles", "name", "row", "column", "identifier", "addition", "subject", "effect", "change", "cause", "bound"),
)


@dataclass(frozen=True)
class Edit:
    """``old`` in the truth is replaced by ``new``; ``at``, where given, is what the edited claim cites instead."""

    kind: str
    old: str
    new: str
    at: str | tuple[str, ...] = ""


@dataclass(frozen=True)
class Truth:
    """``at`` names what is cited: words of a sentence, a cell by its label (``Revenues · 2023``), a row (``Revenues ·
    *``), or several of these."""

    kind: str
    at: str | tuple[str, ...]
    claim: str
    edits: tuple[Edit, ...] = ()


def truth(kind: str, at: str | tuple[str, ...], claim: str, *edits: tuple[str, ...] | Edit) -> Truth:
    """A `Truth` with its edits written as ``(kind, old, new)``."""
    return Truth(kind, at, claim, tuple(edit if isinstance(edit, Edit) else Edit(*edit) for edit in edits))


@dataclass(frozen=True)
class Pair:
    """One claim with what it cites, the edit (or way of telling the truth) and whether it is supported. ``truth`` is
    the claim before the edit, and ``truth_at`` what that cites."""

    half: Half
    subject: str
    kind: str
    claim: str
    at: tuple[str, ...]
    supported: bool
    truth: str
    truth_at: tuple[str, ...]


class Material:
    """One document and the truths about it."""

    def __init__(
        self,
        half: Half,
        subject: str,
        title: str,
        blocks: tuple[str | Heading | Item | Grid | Break, ...],
        truths: tuple[Truth, ...],
    ) -> None:
        self.half, self.subject, self.truths = half, subject, truths
        doc_id = "".join(f"{ord(letter) % 16:x}" for letter in f"{half}{subject}{title}".ljust(16)[:16])
        self.document = make_document(*blocks, doc_id=doc_id, title=title)

    def pairs(self) -> Iterator[Pair]:
        for one in self.truths:
            at = _places(one.at)
            yield Pair(self.half, self.subject, one.kind, one.claim, at, True, one.claim, at)
            for edit in one.edits:
                if one.claim.count(edit.old) != 1:
                    raise ValueError(f"{edit.old!r} does not stand once in {one.claim!r}")
                claim = one.claim.replace(edit.old, edit.new)
                yield Pair(self.half, self.subject, edit.kind, claim, _places(edit.at or at), False, one.claim, at)

    def open(self, _: str) -> Document:
        return self.document

    @cached_property
    def source(self) -> Source:
        """The whole document as one numbered source."""
        whole = Segment(self.document.doc_id, 0, self.document.body_end, 0, 0, 1.0)
        settings = SETTINGS.answer.model_copy(update={"source_tokens": 100_000})
        (source,) = build_sources(Retrieval("q", "hybrid", (), (whole,), {}), self.open, settings)
        return source

    def units(self, place: str) -> list[int]:
        """Numbers of the units that ``place`` names."""
        found = []
        for number, unit in enumerate(self.source.units, start=1):
            words = " ".join(self.document.text[unit.start : unit.end].split())
            row = place.removesuffix(" · *")
            if unit.kind == "cell":
                in_row = place.endswith(" · *") and (
                    unit.label.startswith(f"{row} · ") or words == row.split(" / ")[-1]
                )
                hit = in_row or place == unit.label
            else:
                hit = place in words
            if hit:
                found.append(number)
        if not found:
            raise ValueError(f"nothing is called {place!r} in {self.document.title}")
        return found

    def cite(self, pair: Pair) -> tuple[str, list[Mark], list[Citation]]:
        """The claim as an answer: its text with marks, and the citations, made by the real parser and resolver."""
        numbers = dict.fromkeys(f"1.{number}" for place in pair.at for number in self.units(place))
        citer = Citer((self.source,), self.open)
        parser = MarkerParser()
        text, marks = "", []
        for item in [*parser.feed(f"{pair.claim} <<SOURCE {', '.join(numbers)}>>"), *parser.finish()]:
            if isinstance(item, Marker):
                cited, dropped = citer.resolve(item)
                if dropped:
                    raise ValueError(f"{dropped} were dropped in {pair.claim!r}")
                for citation in cited:
                    marks.append(Mark(len(text), len(text) + len(f"[{citation.n}]"), citation.n))
                    text += f"[{citation.n}]"
            else:
                text += item
        return text, marks, list(citer.citations)

    def verdict(self, pair: Pair, reranker: Reranker | None = None) -> Claim:
        """What verification says of the one claim of ``pair``."""
        text, marks, citations = self.cite(pair)
        (claim,) = verify(text, marks, citations, self.open, SETTINGS.verify, reranker=reranker)
        return claim

    def judged(self, claim: str, *at: str) -> Claim:
        """What verification says of a claim that cites these places."""
        return self.verdict(Pair(self.half, self.subject, "stated", claim, at, True, claim, at))


def _places(at: str | tuple[str, ...]) -> tuple[str, ...]:
    return (at,) if isinstance(at, str) else at
