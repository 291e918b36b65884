"""What programs ask and are told: pydantic models, from which both doors make their schemas.

A `Place` is a citation: ``quote`` is the document's text ``[start, end)``, and ``boxes`` are where these words are
printed, in PDF points of the page as displayed, origin top left.
"""

from __future__ import annotations

from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ragcore.answer.cite import cite_span
from ragcore.errors import InputError
from ragcore.types import Citation
from ragcore.types import Document as Read
from ragcore.types.check import CheckStatus
from ragcore.types.json import plain

LONGEST = 8000  # characters of a question
LONGEST_QUOTATION = 2000
MOST_NAMED = 1000  # documents
LONGEST_NAMED = 100  # characters of a field's name in an error


def _encodable(text: str) -> str:
    """``text``, if it can be stored: half of a pair of surrogates can't be."""
    if any("\ud800" <= letter <= "\udfff" or letter == "\0" for letter in text):
        raise ValueError("has characters that are no text")
    return text


def _several(given: Any) -> Any:
    """A lone name as a list."""
    return [given] if isinstance(given, str) else given


Name = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_encodable)]
Text = Annotated[str, Field(max_length=LONGEST), AfterValidator(_encodable)]
DocumentName = Annotated[Name, Field(description="Id or file name of the document.")]
Documents = Annotated[
    list[Name] | None,
    Field(max_length=MOST_NAMED, description="Ids or file names of the documents to look in; left out: all."),
    BeforeValidator(_several),
]


class Asked(BaseModel):
    """Request; a field that it doesn't have is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Asked)


def checked(kind: type[A], given: Any) -> A:
    """``given`` as a request of ``kind``. Raises `InputError` that names the first fault, on one line."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"])).encode("utf-8", "replace").decode()[:LONGEST_NAMED]
        hint = f"The request's fields are {', '.join(kind.model_fields) or 'none'}."
        raise InputError(f"{where}: {fault['msg']}." if where else f"{fault['msg']}.", hint=hint) from error


class Listing(Asked):
    after: Annotated[str, Field(max_length=300), AfterValidator(_encodable)] = Field(
        "", description="Id of the last document of the page before; left out: from the first."
    )
    limit: int = Field(200, ge=1, le=1000)


class OfDocument(Asked):
    document: DocumentName


class OfPage(Asked):
    document: DocumentName
    page: int = Field(description="Page of the file, counted from 1.", ge=1)


class Picture(Asked):
    document: DocumentName
    page: int | None = Field(None, ge=1, description="Page of the file, from 1; left out: that of the words, else 1.")
    start: int | None = Field(None, ge=0, description="Start of the words to highlight, as a place gives it.")
    end: int | None = Field(None, ge=0, description="End of the words to highlight, as a place gives it.")
    width: int = Field(1000, ge=100, le=2400, description="Width of the picture in pixels.")


class Search(Asked):
    question: Text = Field(description="What to look for, as a question or in words.")
    documents: Documents = None
    limit: int = Field(10, ge=1, le=50, description="Passages at most.")


class Question(Asked):
    question: Text = Field(description="One question, complete in itself.")
    documents: Documents = None


class ToVerify(Asked):
    claim: Text = Field(description="A statement in one sentence or a few.")
    documents: Documents = None


class ToLocate(Asked):
    quotation: Annotated[str, Field(max_length=LONGEST_QUOTATION), AfterValidator(_encodable)] = Field(
        description="Words as printed; … stands for words left out. Line breaks, and forms of quotation marks and "
        "dashes, may differ."
    )
    documents: Documents = None
    limit: int = Field(10, ge=1, le=100, description="Places at most.")


class ToAdd(Asked):
    path: Name = Field(description="Path of a file in one of the allowed folders.")


class Upload(Asked):
    name: Name = Field(description="Name of the file, with its ending.")


class Told(BaseModel):
    """Reply. Later versions may add fields."""

    model_config = ConfigDict(frozen=True, from_attributes=True, json_schema_serialization_defaults_required=True)


class Box(Told):
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class Place(Told):
    """Words of a document. ``place`` is where they are in the file that the pages were made of (``Sheet1!B12``), "" in
    a PDF; ``label`` gives a table cell's row and column headers; ``generated``: an AI-written description of a figure,
    not the document's own words; ``ocr`` is the mean confidence (0–1) of words read by OCR."""

    doc_id: str
    title: str
    page: int
    page_label: str
    quote: str
    start: int
    end: int
    boxes: list[Box]
    section: list[str]
    label: str = ""
    place: str = ""
    generated: bool = False
    ocr: float | None = None

    @classmethod
    def of(cls, citation: Citation, **more: Any) -> Self:
        names = set(Place.model_fields) | ({"n"} & set(cls.model_fields))
        return cls.model_validate({name: plain(getattr(citation, name)) for name in names} | more)

    @classmethod
    def at(cls, document: Read, start: int, end: int, **more: Any) -> Self:
        return cls.of(cite_span(document, start, end, 1), **more)


class Problem(Told):
    """Error: what happened, and in ``hint`` what to do next. ``retryable``: the same request may work later."""

    code: str
    message: str
    hint: str
    retryable: bool = False


class ProblemDetails(Told):
    """Error by RFC 9457: ``detail`` says what happened, ``hint`` what to do next. ``code`` is stable; ``retryable``:
    the same request may work later."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    hint: str
    retryable: bool = False


class Document(Told):
    """Document of the library. It can be asked as soon as it is ``askable``; then ``status`` may still be ``reading``,
    and is ``ready`` or ``failed`` at the end."""

    doc_id: str
    name: str
    title: str
    kind: str
    status: str
    askable: bool
    pages: int
    pages_done: int
    unread_pages: list[int]
    folder: str
    tags: list[str]
    notes: list[str]
    error: Problem | None


class DocumentList(Told):
    """Documents in the order added; ``more``: there are others after the last."""

    documents: list[Document]
    more: bool


class Heading(Told):
    """Section: its span with all subsections, ``depth`` counted from 0."""

    label: str
    depth: int
    first_page: int
    last_page: int
    start: int
    end: int


class Outline(Told):
    doc_id: str
    title: str
    pages: int
    sections: list[Heading]


class Part(Place):
    """Paragraph, heading, table or other element, as far as it is on the page. ``noise`` is the reason why it is never
    searched (a page header, for one), "" if it is."""

    kind: str
    noise: str


class PageText(Told):
    """Page as read, in reading order; ``unread`` says why nothing on it could be read, "" if it was."""

    doc_id: str
    title: str
    page: int
    page_label: str
    pages: int
    width: float
    height: float
    unread: str
    parts: list[Part]


class Passage(Place):
    rank: int
    score: float
    kind: str


class Passages(Told):
    """Passages, best first; ``notes`` say what was not searched, or why nothing was found."""

    question: str
    passages: list[Passage]
    notes: list[str]


class Cited(Place):
    """Citation ``[n]`` of an answer."""

    n: int


class Claim(Told):
    """Sentence of an answer with its verdict: ``supported``, ``weak``, ``unsupported`` or ``uncited``."""

    text: str
    status: str
    reason: str
    citations: list[int]


class Answer(Told):
    """Answer with marks ``[n]``. ``refused``: the documents don't have the answer. ``extractive``: it is made of
    quotes, no model wrote it. ``status`` is ``stopped`` if it was stopped before its end."""

    question: str
    answer: str
    refused: bool
    status: str
    claims: list[Claim]
    citations: list[Cited]
    notes: list[str]
    model: str
    extractive: bool
    cost_usd: float | None


class Correction(Told):
    """Words of the claim that the documents contradict, and those found in their place."""

    said: str
    found: str


class Verdict(Told):
    """Verdict on one sentence with its evidence, best first; of one that is not found, the nearest passages.
    ``missing`` are its words that nothing covers."""

    text: str
    status: CheckStatus
    reason: str
    places: list[Place]
    corrections: list[Correction]
    missing: list[str]


class Verdicts(Told):
    """``status`` of the whole: ``confirmed`` if all its sentences are, ``contradicted`` if one is, else ``partly``, or
    what all have in common."""

    claim: str
    status: CheckStatus
    sentences: list[Verdict]


class Located(Told):
    """Places of a quotation. ``searched`` of ``documents`` in question were looked through: those whose index has all
    its words; without places there, the others too, and ``note`` says if some are left."""

    quotation: str
    places: list[Place]
    searched: int
    documents: int
    note: str


class Added(Told):
    """Added file; ``already``: the library had it before."""

    document: Document
    already: bool
    note: str


class Found(Told):
    """Event of an answer: the passages that it is written from."""

    passages: list[Place]


class Wrote(Told):
    """Event of an answer: more of its text."""

    text: str


class Checked(Told):
    """Event of an answer: the verdicts of its claims."""

    claims: list[Claim]


class Doing(Told):
    """Event of any work: what is done now, ``done`` of ``total`` parts if that is known (0: it isn't)."""

    doing: str
    done: int = 0
    total: int = 0
