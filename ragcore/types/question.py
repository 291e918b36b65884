"""A question as it was read: frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

from ragcore.types.retrieval import SubQuery


@dataclass(frozen=True, slots=True)
class Name:
    """``text`` as the question writes it. ``owner``: it stands where the one stands that the question is about;
    ``common``: only its capital tells it from a common word, as in "Target's"."""

    text: str
    owner: bool = False
    common: bool = False


@dataclass(frozen=True, slots=True)
class Called:
    """A document called by what it is: the ``words`` that do it ("the supply agreement"), and for each of them those
    ``titled``, one of which its title has to hold."""

    words: str
    titled: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class AnswerType:
    """What kind of answer a question asks for. ``wants``: kinds of things (``PERSON``, ``MONEY``) of which one stands
    in it; ``says`` and ``written``: words of which some do; ``beside``: the stems of what the question says beside its
    cue; ``term``: whose meaning it asks for, "" for none; ``prose``: no row of figures gives the answer."""

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
    """A question that stands alone, read once (`ragcore.protocols.QuestionAnalyser`) for all that need it.

    ``text`` is as it was asked; ``main`` what it asks, without instructions; ``focus`` what is searched for, without
    the form of the answer. ``parts`` are searched for beside it, and ``composed`` says whether a model may find more of
    them. ``names`` and ``years`` are those in ``main``; ``called`` documents called by what they are. ``answer`` is the
    type of its answer, ``extreme`` 1 for the most, -1 for the least of something and 0 for neither, ``task`` what it
    wants done that is no answer (summarise, compare). ``compares``: it holds two or more against each other;
    ``changes``: it asks how a quantity moved; ``whole``: it is about a document as a whole. ``language`` is that of
    ``main``, "" where it can't be told.
    """

    text: str
    main: str
    focus: str
    parts: tuple[SubQuery, ...] = ()
    composed: bool = False
    names: tuple[Name, ...] = ()
    years: frozenset[int] = frozenset()
    called: tuple[Called, ...] = ()
    answer: AnswerType = AnswerType()
    extreme: int = 0
    task: str = ""
    changes: bool = False
    compares: bool = False
    whole: bool = False
    language: str = ""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What a question means behind those before it. ``text`` is it as it stands alone; ``goes_on`` says that it plainly
    goes on from another, ``named`` that it says itself what it is about, and ``unclear`` that it could go on from
    either of the last two questions. ``stays`` is a whole question that names nothing, with what the one before names;
    it is the better reading where that says the ``words`` of the question."""

    text: str
    goes_on: bool = False
    named: bool = False
    unclear: bool = False
    stays: str = ""
    words: str = ""


def unread(text: str) -> Question:
    """``text`` as a question of which nothing is known."""
    return Question(text, text, text)
