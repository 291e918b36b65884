"""Parsed questions: frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragcore.types.retrieval import Each, SubQuery


@dataclass(frozen=True, slots=True)
class Name:
    """Name in a question, ``text`` as written. ``owner``: it is in the position of the question's subject; ``common``:
    only its capital distinguishes it from a common word, as in "Target's"."""

    text: str
    owner: bool = False
    common: bool = False


@dataclass(frozen=True, slots=True)
class AnswerType:
    """Expected type of an answer. ``wants``: kinds of entities (``PERSON``, ``MONEY``), at least one of which it
    contains; ``says`` and ``written``: words, some of which it contains; ``beside``: stems of the question's words
    other than its cue; ``term``: the term to be defined, "" for none; ``prose``: a row of figures cannot answer it."""

    wants: tuple[str, ...] = ()
    says: tuple[tuple[str, ...], ...] = ()
    written: tuple[str, ...] = ()
    beside: frozenset[str] = frozenset()
    term: str = ""
    prose: bool = False

    @property
    def figures(self) -> bool:
        """Whether the answer is a figure."""
        return bool(self.wants) and not {"PERSON", "NAME"} & set(self.wants)


@dataclass(frozen=True, slots=True)
class Question:
    """Stand-alone question, parsed once (`ragcore.protocols.QuestionAnalyser`).

    ``text`` is the question as asked; ``main`` is it without instructions; ``focus`` is the search query, without the
    form of the answer. ``parts`` are searched for in addition, and ``composed`` says whether a model may find more of
    them. ``names`` and ``years`` are those in ``main``. ``answer`` is the expected type, ``task`` a task other than
    answering (summarise, compare). ``polar``: it asks whether something is so. ``compares``: it compares two or more
    things; ``changes``: it asks how a quantity changed; ``extreme``: 1 if it asks for the highest of several things, -1
    for the lowest; ``whole``: it is about a document as a whole. ``overview``: it asks for themes of documents, or for
    a summary of them; ``topic`` is what an overview is to be about, "" for all that they say. ``language`` is that of
    ``main``, "" if unknown. ``about`` is the earlier question that it goes on from, "" for none. ``each`` is what it
    asks of each of several documents; None if it asks no such thing.
    """

    text: str
    main: str
    focus: str
    parts: tuple[SubQuery, ...] = ()
    composed: bool = False
    names: tuple[Name, ...] = ()
    years: frozenset[int] = frozenset()
    answer: AnswerType = AnswerType()
    task: str = ""
    polar: bool = False
    changes: bool = False
    compares: bool = False
    extreme: int = 0
    whole: bool = False
    overview: bool = False
    topic: str = ""
    language: str = ""
    about: str = ""
    each: Each | None = None

    @property
    def judged(self) -> str:
        """Text that passages are compared with: ``main``, and what it goes on from."""
        return f"{self.main} ({self.about})" if self.about else self.main


@dataclass(frozen=True, slots=True)
class Comparison:
    """Documents by id with the question that is asked of each alone, as ``each`` of the whole question says. It asks
    about ``among``, of which ``left`` were not asked; ``silent`` are those without an answer."""

    each: Each
    questions: Mapping[str, Question]
    among: int
    left: int = 0
    silent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Phrase:
    """Noun phrase after a question: its ``words`` without periods, ``whole``, the words of what that question asks for,
    and ``alone``, its form without that question. ``name``: it is spelled like a name."""

    words: str
    whole: str
    alone: str
    name: bool = False


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Meaning of a question after earlier ones. ``text`` is its stand-alone form; ``goes_on``: it clearly refers to an
    earlier question; ``named``: it names its own subject; ``unclear``: it may refer to either of the last two
    questions. ``stays`` is the form of a whole question without names, with the names of the question before; it is the
    better reading if that question contains the ``words``. A ``phrase`` may stand alone; then ``stays`` is its form
    with these names."""

    text: str
    goes_on: bool = False
    named: bool = False
    unclear: bool = False
    stays: str = ""
    words: str = ""
    phrase: Phrase | None = None


def unread(text: str, documents: Sequence[str] = ()) -> Question:
    """Unparsed `Question` with only its text (`QuestionAnalyser.read`)."""
    return Question(text, text, text)
