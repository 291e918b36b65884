"""A small document with prose and a table, its retrieval and its sources, shared by the tests of the answer stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ragcore.answer.sources import build_sources
from ragcore.config.settings import Settings, load
from ragcore.protocols import Capabilities, ModelRequest, StaticStream
from ragcore.types import Chunk, Document, Hit, Retrieval, Segment, Source, Usage
from tests.documents import Break, Grid, Heading, Item, make_document

SETTINGS: Settings = load(environ={})[0]

REPORT = make_document(
    Heading("Results of operations"),
    "Revenues rose 10% to $62.4 billion in fiscal 2023. Gross margin fell 250 basis points to 41.5%. "
    "The Company did not repurchase shares in China.",
    Grid(
        "Statements of income (In millions)",
        [
            ["", "2023", "2022"],
            ["Revenues", "62,418", "56,940"],
            ["Cost of sales", "36,515", "31,886"],
            ["Net income (loss)", "4,180", "(7,052)"],
        ],
    ),
    "Inventories are stated at the lower of cost and net realizable value.",
    Break(),
    Heading("Dividends"),
    "The Board of Directors declared dividends of $1.745 per share on June 14, 2023.",
    Item("Tallis is a wholly owned subsidiary."),
    Item("Study KLM-204817 is not part of this report."),
    title="Sample 10-K",
    labels=["i", "12"],
)

OTHER = make_document(
    Heading("Scope"),
    "A sponsor shall submit an IND to FDA if the sponsor intends to conduct a clinical investigation.",
    "An IND goes into effect 30 days after FDA receives it.",
    doc_id="fedcba9876543210",
    title="21 CFR 312",
)

DOCUMENTS = {document.doc_id: document for document in (REPORT, OTHER)}


def document(doc_id: str) -> Document:
    return DOCUMENTS[doc_id]


def find(doc: Document, words: str) -> tuple[int, int]:
    """The span of the first place of ``words`` in the text."""
    start = doc.text.index(words)
    return start, start + len(words)


def segment(doc: Document, first: str, last: str, *, via: str = "rse") -> Segment:
    """From the beginning of ``first`` to the end of ``last``."""
    return Segment(doc.doc_id, find(doc, first)[0], find(doc, last)[1], 0, 0, 1.0, via)


def retrieval(query: str, segments: Iterable[Segment], *, rerank: float = 0.9) -> Retrieval:
    """What retrieval would have found: one hit for each segment, all with one rerank score."""
    taken = tuple(segments)
    hits = tuple(
        Hit(
            rank=rank,
            chunk=Chunk(
                chunk_id=f"{s.doc_id}-{s.start}",
                doc_id=s.doc_id,
                index=rank,
                kind="text",
                start=s.start,
                end=s.end,
                text=document(s.doc_id).text[s.start : s.end],
            ),
            score=rerank,
            scores={"rerank": rerank},
            ranks={"rerank": rank},
            via="vector+bm25",
        )
        for rank, s in enumerate(taken, start=1)
    )
    return Retrieval(query, "hybrid", hits, taken, {"total": 5.0})


PROSE = segment(REPORT, "Results of operations", "shares in China.")
TABLE = segment(REPORT, "2023 | 2022", "(7,052)")
DIVIDENDS = segment(REPORT, "Dividends", "this report.")
IND = segment(OTHER, "Scope", "receives it.")


def sources(*segments: Segment) -> tuple[Source, ...]:
    return build_sources(retrieval("q", segments), document, SETTINGS.answer)


class ScriptedWriter:
    """An `LLM` that says what it is told, in the given pieces, and may fail or run something midway."""

    name = "scripted"
    capabilities = Capabilities()

    def __init__(self, *pieces: str | Exception | Callable[[], None], usage: Usage | None = None) -> None:
        self._pieces = pieces
        self._usage = usage or Usage(10, 5)
        self.requests: list[ModelRequest] = []

    def stream(self, request: ModelRequest) -> StaticStream:
        self.requests.append(request)
        return StaticStream(self._say(), model="scripted-1", usage=self._usage)

    def _say(self) -> Iterable[str]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            if callable(piece):
                piece()
            else:
                yield piece
