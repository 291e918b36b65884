"""Checks of a draft against documents: the draft's text, its sentences with verdicts, and what a person decided."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from ragcore.types.answer import Citation
from ragcore.types.retrieval import Scope

CheckStatus = Literal["confirmed", "contradicted", "partly", "elsewhere", "not_found", "no_claim"]
# In this order, the first of the readings of one cell counts.
STATUSES: Final[tuple[CheckStatus, ...]] = get_args(CheckStatus)
PROBLEMS: Final = frozenset(STATUSES) - {"confirmed", "no_claim"}
DraftKind = Literal["docx", "pdf", "md", "txt", "xlsx"]
BlockKind = Literal["heading", "paragraph", "item", "cell", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """Block of a draft at ``[start, end)`` of its text, without markup. ``level`` is a heading's, or a list item's
    depth, from 1. A cell is at ``row`` and ``col`` of the ``table`` (each from 0), ``header`` if it names its column;
    ``place`` is where the original has it, as its program writes it: ``Sheet1!B12``, ``p. 3``, "" if it has none."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    table: int = -1
    row: int = 0
    col: int = 0
    header: bool = False
    place: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """Draft as plain text: ``blocks`` in reading order, apart by line breaks, do not overlap."""

    name: str
    kind: DraftKind
    text: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Correction:
    """Words of the sentence at ``[start, end)`` of its text that the documents contradict: the ``said`` ones, and those
    ``found`` in their place, as the document has them. ``write`` is what to put in place of ``said``, "" if that takes
    a person."""

    start: int
    end: int
    said: str
    found: str
    write: str = ""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """What ``model`` takes a sentence for, and its ``reason``; "" if there was nothing to ask a model about. ``before``
    is the verdict of the rules."""

    model: str
    status: CheckStatus
    reason: str
    before: CheckStatus


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """Sentence, or table cell, at ``[start, end)`` of the draft's text. Verdict: its ``status`` and ``reason`` in plain
    words ("" if confirmed or no claim). ``citations`` are its evidence, best first, numbered within the sentence from
    1; of one that is not found, the nearest passages. ``missing`` are the spans of its text that nothing covers.
    ``opinion`` is a model's, None if none was asked; the verdict is its own only where it has the same status."""

    text: str
    start: int
    end: int
    status: CheckStatus
    reason: str = ""
    citations: tuple[Citation, ...] = ()
    corrections: tuple[Correction, ...] = ()
    missing: tuple[tuple[int, int], ...] = ()
    place: str = ""
    opinion: SecondOpinion | None = None

    @property
    def second(self) -> SecondOpinion | None:
        """Opinion of a model; None if none was asked, or there was nothing to ask it."""
        return self.opinion if self.opinion is not None and self.opinion.model else None


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """Fault of the draft in itself, whatever the documents say: a ``total``, ``difference`` or ``share`` of its own
    table that is not what its figures give, or a figure given ``twice``, differently. ``[start, end)`` of the draft's
    text is the figure at fault, ``others`` are those that it follows from, or disagrees with; ``write`` is the computed
    figure, written as the draft writes it, "" if either may be wrong. Of what was edited, all the words are meant."""

    kind: Literal["total", "difference", "share", "twice"]
    start: int
    end: int
    reason: str
    others: tuple[tuple[int, int], ...] = ()
    write: str = ""


DecisionKind = Literal["", "replaced", "left", "noted"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person made of a sentence and of all that is said of it: ``replaced`` by the text ``revised``, ``left`` as
    it is, or only ``noted``; "" is undecided. A ``note`` may stand beside each."""

    kind: DecisionKind = ""
    revised: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class CheckInfo:
    """Check as it is listed: ``done`` of ``total`` sentences are checked; ``counts`` by status. ``seconds`` is what the
    work took so far."""

    check_id: str
    name: str
    kind: DraftKind
    scope: Scope
    created: float
    total: int
    done: int
    counts: dict[CheckStatus, int] = field(default_factory=dict)
    seconds: float = 0.0
    error: dict[str, Any] | None = None

    @property
    def finished(self) -> bool:
        return self.done == self.total


@dataclass(frozen=True, slots=True)
class Check:
    """Draft with its sentences at ``spans``, in order: the verdict of each (None: not checked yet) and the person's
    decision. The verdict of a replaced sentence is that of its new text; its faults are those of the draft with it."""

    info: CheckInfo
    draft: Draft
    spans: tuple[tuple[int, int], ...]
    sentences: tuple[CheckedSentence | None, ...]
    decisions: tuple[Decision, ...]
    inconsistencies: tuple[Inconsistency, ...] = ()

    def faults(self, n: int) -> tuple[Inconsistency, ...]:
        """The draft's own faults whose figure is in sentence ``n``."""
        low, high = (bisect_left(self.inconsistencies, at, key=lambda one: one.start) for at in self.spans[n])
        return self.inconsistencies[low:high]

    def is_problem(self, n: int) -> bool:
        """Whether the documents or the draft's own figures are against sentence ``n`` as it is now."""
        one = self.sentences[n]
        return (one is not None and one.status in PROBLEMS) or bool(self.faults(n))

    @property
    def open_problems(self) -> tuple[int, ...]:
        """Indexes of sentences with a problem that nobody has left as it is or noted something on."""
        numbered = enumerate(self.decisions)
        return tuple(n for n, one in numbered if self.is_problem(n) and one.kind != "left" and not one.note)
