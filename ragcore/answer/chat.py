"""Questions rewritten for retrieval: misspelt words as documents have them, follow-up questions so that they stand
alone.

Only the retrieval query is rewritten; the writer sees the question as asked, beside the history. Rules do it
(`ragcore.protocols.QuestionAnalyser`) or, with ``chat.rewrite``, the model in force, which fills in one form (`Forms`):
it may contain no name, number or year absent from the conversation, except the year before or after a mentioned one.
If the form is unusable, the rules' question is searched for. The cost of a question is bounded: two calls, with a
history of at most `HISTORY_TOKENS`, within ``chat.timeout_seconds``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from string import ascii_lowercase
from typing import Annotated

from pydantic import ValidationInfo, field_validator

from ragcore.answer.requests import recent
from ragcore.cancel import Stop
from ragcore.config.settings import Settings
from ragcore.errors import (
    Cancelled,
    EmptyQuestion,
    KeyMissing,
    KeyRefused,
    ModelError,
    ModelMissing,
    QuestionTooLong,
    QuestionTooShort,
    QuestionUnclear,
    StoreError,
)
from ragcore.model_calls import Filled, Forms, as_material, words
from ragcore.prompts import REWRITE_PROMPT, REWRITE_SYSTEM
from ragcore.protocols import LLM, Form, QuestionAnalyser
from ragcore.text import lexicon as lex
from ragcore.text.names import words_of
from ragcore.text.periods import years
from ragcore.text.sentences import count_tokens
from ragcore.text.terms import Term, Wanted
from ragcore.text.words import Rarity, content_stems, stem
from ragcore.types import AS_TYPED, Document, Retrieval, Turn, Usage
from ragcore.types.question import FollowUp, Phrase
from ragcore.types.table_labels import GROUP_SEPARATOR, row_parts

LONGEST = 8000  # characters of a question
SHORTEST = 3  # letters and digits of one that stands alone
LONGEST_STANDALONE = 400
HISTORY_TOKENS = 1500  # of the conversation shown to the model
LONGEST_SHOWN = 1500  # characters of a question shown to the model
MAX_TOKENS = 300

_NAME = 0.6  # of a label's stems, if it is a name
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_VOWELS = "aeiouy"
_ENDING = 4  # letters, of which a vowel tells words apart: "sulfites" are no sulfates
_SHORTEST_MISSPELT = 5  # letters
_MOST_SLIPS = 3  # in a question
_WORD = re.compile(rf"(?<![\w'’&.-])[^\W\d_]{{{_SHORTEST_MISSPELT},}}(?![\w&-]|['’](?!s\b))")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Standalone(Filled):
    question: Annotated[str, words(LONGEST_STANDALONE)]

    @field_validator("question")
    @classmethod
    def _nothing_invented(cls, question: str, info: ValidationInfo) -> str:
        said: str = (info.context or {})["said"]
        invented = _invented(question, said)
        if invented:
            raise ValueError(f"{invented!r} is in neither the question nor the conversation")
        return question


_FORM = Form("stand_alone", "Search the documents for the question as it stands alone.", Standalone.model_json_schema())


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Search form of a question; ``by`` is ``rules`` or a model's name, "" if unchanged, and `AS_TYPED` if it refers to
    another question and the reference could not be resolved. ``notes``, ``usage`` and ``cost_usd`` are those of a
    requested model."""

    query: str
    by: str = ""
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    ms: float = 0.0


def check(question: str, history: Sequence[Turn]) -> None:
    """Validate ``question``: it has words, at most `LONGEST` characters and, unless it follows another question, at
    least `SHORTEST` letters and digits (a Chinese, Japanese or Korean character counts as two). Raises `EmptyQuestion`,
    `QuestionTooLong`, `QuestionTooShort`."""
    if not _length(question):  # nor does it mean what was asked before
        raise EmptyQuestion("The question has no words.")
    if len(question) > LONGEST:
        raise QuestionTooLong(f"The question has {len(question):,} characters; the limit is {LONGEST:,}.")
    if not history and _length(question) < SHORTEST:
        raise QuestionTooShort(f"“{' '.join(question.split())}” is too short to search for.")


def spelled(question: str, mentions: Callable[[str], Mapping[str, int]]) -> str:
    """``question`` with each word that no document has as it is there but for one slip behind its first letter: two
    letters exchanged, one too many or too few, before the last one pressed instead of its neighbour, or before the
    ending a vowel written for another. Of several words the most frequent is taken, by ``mentions`` (as
    `SparseIndex.mentions`). If more than three words are unknown, they are no slips.

    Any letter in place of another would be too much: sulfite is not sulfate, nor the payer the payee. Noisy-channel
    spelling correction (Kernighan, Church and Gale, COLING 1990) with the documents as the dictionary."""

    def number(word: str) -> int:
        return sum(mentions(word).values())

    def is_unknown(word: str) -> bool:
        low = word.lower()
        # A word that is one token is common, and may be meant though no document has it.
        common = 1 in (count_tokens(f" {low}"), count_tokens(f" {word}"))
        return not common and word[1:] == low[1:] and not number(low) and not number(stem(low))

    def known(word: str) -> str:
        there = {slip: count for slip in _slips(word.lower()) if (count := number(slip))}
        for stemmed in {stem(slip) for slip in there if stem(slip) != slip}:
            there.pop(stemmed, None)  # an index holds the stems of its words too
        return word[0] + max(there, key=lambda slip: there[slip])[1:] if there else word

    unknown = list(islice((match for match in _WORD.finditer(question) if is_unknown(match.group())), _MOST_SLIPS + 1))
    if len(unknown) <= _MOST_SLIPS:
        for match in reversed(unknown):
            question = question[: match.start()] + known(match.group()) + question[match.end() :]
    return question


def _slips(word: str) -> set[str]:
    """Words of which ``word`` may be a misspelling, with the same first letter."""
    places = range(1, len(word))
    exchanged = {word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in places[:-1]}
    fewer = {word[:n] + word[n + 1 :] for n in places}
    more = {word[:n] + letter + word[n:] for n in (*places, len(word)) for letter in ascii_lowercase}
    beside = {word[:n] + letter + word[n + 1 :] for n in places[:-1] for letter in _beside(word[n])}
    vowels = {word[:n] + letter + word[n + 1 :] for n in places[:-_ENDING] if word[n] in _VOWELS for letter in _VOWELS}
    return exchanged | fewer | more | beside | vowels - {word}


def _beside(letter: str) -> set[str]:
    """Keys on both sides of a letter's."""
    row = next((row for row in _KEYBOARD if letter in row), "")
    place = row.find(letter)
    return {*row[max(place - 1, 0) : max(place, 0)], *row[place + 1 : place + 2]}


def rewrite(
    question: str,
    history: Sequence[Turn],
    analyser: QuestionAnalyser,
    settings: Settings,
    planner: LLM | None = None,
    stop: Stop | None = None,
    *,
    held: Callable[[str], bool] = lambda words: False,
    apart: Callable[[Phrase], bool] = lambda phrase: False,
) -> Rewritten:
    """Stand-alone form of ``question``, by ``planner`` if there is one and ``analyser`` is unsure. ``held`` says
    whether a passage of the documents cited by the previous answer, if several are in scope, has all of some words;
    ``apart``, whether these documents tell of a noun phrase, and not as a part of what was asked for before.
    Raises what `check` raises, and `KeyMissing`, `KeyRefused` and `ModelMissing` of ``planner``. ``stop`` ends its
    calls."""
    started = time.perf_counter()
    check(question, history)
    asked = " ".join(question.split())
    earlier = _earlier(history, analyser)
    before = earlier[-1] if earlier else ""
    read = analyser.follow_up(question, earlier)
    query = _reading(read, held, apart)
    if query == asked and before and _length(asked) < SHORTEST:
        query = before
    stays = bool(before) and query == asked and read.goes_on
    ruled = Rewritten(query, "rules" if query != asked else AS_TYPED if stays else "")
    if planner is None or not before or (query == asked and read.named):
        return ruled
    try:
        found = _by_model(asked, history, planner, settings, stop or Stop())
    except Cancelled:
        return ruled  # the answer stream then ends as stopped
    ms = round((time.perf_counter() - started) * 1000, 2)
    if not found.query:
        return replace(found, query=ruled.query, by=ruled.by, ms=ms)
    return replace(found, by=found.by if found.query != asked else "", ms=ms)


def _reading(read: FollowUp, held: Callable[[str], bool], apart: Callable[[Phrase], bool]) -> str:
    """Form of a follow-up that fits the documents, of those that ``read`` gives."""
    if read.phrase is not None and not apart(read.phrase):
        return read.text
    if read.stays and held(read.words):
        return read.stays
    return read.text if read.phrase is None else read.phrase.alone


def tells_of_part(
    document: Document, words: str, whole: str, terms: Sequence[Term] = (), least: float = 0.5
) -> bool | None:
    """Whether a table of ``document`` tells of ``words``, with the synonyms of ``terms``, as a part of ``whole``: a row
    or column of that name has the share ``least`` of the whole's words, by their rarity, in its title, group, header or
    columns; what shares a word with the whole is another quantity. Without that name, True if another row with the
    words is of the whole, else None."""
    part, rows = Wanted(words, terms), list(_rows(document))
    other = frozenset(content_stems(whole)) - lex.TOTAL_STEMS
    of = other.intersection(frozenset().union(*(row for row, _ in rows)))
    if not part.words or not of:
        return None
    rarity = Rarity([row for row, _ in rows])
    named: list[bool] = []
    held: list[bool] = []
    for row, labels in rows:
        if part.cover(row) == 1.0:
            is_part = of.isdisjoint(part.words) and rarity.total(of & row) >= least * rarity.total(of)
            (named if any(_is_name(label, part) for label in labels) else held).append(is_part)
    return any(named) if named else any(held) or None


def _is_name(label: frozenset[str], wanted: Wanted) -> bool:
    """Whether a ``label`` has all that is ``wanted``, and little else."""
    return wanted.cover(label) == 1.0 and len(label & wanted.everything) >= _NAME * len(label)


def _rows(document: Document) -> Iterator[tuple[frozenset[str], list[frozenset[str]]]]:
    """Stems around and in each row of the tables of ``document``, and those of its header, alone and under its group,
    and of its columns."""
    tables = (element.table for element in document.body if element.table is not None)
    for start, end in (span for table in tables for span in table.row_spans):
        title, path, columns = row_parts(document.text[start:end])
        labels = (path.rpartition(GROUP_SEPARATOR)[2], path, *columns)
        names = [frozenset(content_stems(label)) for label in labels]
        yield frozenset(content_stems(title)).union(*names), names


def _by_model(question: str, history: Sequence[Turn], planner: LLM, settings: Settings, stop: Stop) -> Rewritten:
    """``question`` rewritten by ``planner``, from the newest whole turns of ``history`` that fit
    `HISTORY_TOKENS`; its query is "" if the model's form is unusable. Raises `KeyMissing`, `KeyRefused`,
    `ModelMissing` and `Cancelled`."""

    def note(why: str) -> tuple[str, ...]:
        return (f"{planner.name} couldn't rewrite the question, so rules did: {why.rstrip('.')}.",)

    if len(question) > LONGEST_SHOWN:
        return Rewritten("", notes=note(f"the question has more than {LONGEST_SHOWN} characters"))
    shown = recent(history, settings.answer.history_turns, HISTORY_TOKENS)
    about = {
        "conversation": [{"question": turn.question, "answer": turn.answer} for turn in shown],
        "question": question,
    }
    prompt = REWRITE_PROMPT.format(about=as_material(about))
    said = "\n".join([question, *(f"{turn.question}\n{turn.standalone}\n{turn.answer}" for turn in shown)])
    forms = Forms(
        planner,
        stop,
        max_tokens=MAX_TOKENS,
        timeout_seconds=settings.chat.timeout_seconds,
        purpose="rewrite",
    )
    query, notes = "", tuple[str, ...]()
    try:
        filled: Standalone = forms.fill(_FORM, Standalone, REWRITE_SYSTEM, prompt, context={"said": said})
        query = filled.question
    except (KeyMissing, KeyRefused, ModelMissing):
        raise  # an error of the settings, for which the rules are no substitute
    except (ModelError, StoreError) as error:
        notes = note(error.message)
    return Rewritten(query, forms.model, notes, forms.usage, forms.cost(settings.llm.prices))


def settle(question: str, history: Sequence[Turn], analyser: QuestionAnalyser) -> None:
    """Check that ``analyser`` can tell which of the last two subjects ``question`` refers to, or that the last two
    answers cite a common document. Raises `QuestionUnclear`."""
    cited = [{doc_id for doc_id, *_ in turn.cited} for turn in history[-2:]]
    if len(cited) > 1 and not cited[0].isdisjoint(cited[1]):
        return
    if analyser.follow_up(question, _earlier(history, analyser)).unclear:
        asked = [f"“{' '.join(one.split())}”" for one in (question, *(turn.question for turn in history[-2:]))]
        raise QuestionUnclear(f"About what? {asked[0]} could go on from {' or from '.join(asked[1:])}.")


def booked(retrieval: Retrieval, rewritten: Rewritten) -> Retrieval:
    """``retrieval`` with the usage, cost and notes of the model that rewrote its question."""
    if rewritten.usage == Usage() and not rewritten.notes and not rewritten.ms:
        return retrieval
    costs = (retrieval.cost_usd, rewritten.cost_usd)
    return replace(
        retrieval,
        usage=retrieval.usage + rewritten.usage,
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        notes=(*rewritten.notes, *retrieval.notes),
        timings_ms={"rewrite": rewritten.ms, **retrieval.timings_ms},
    )


def _earlier(history: Sequence[Turn], analyser: QuestionAnalyser) -> list[str]:
    """Stand-alone forms of the questions of ``history``, so that a chain of follow-ups keeps its subject."""
    asked: list[str] = []
    for turn in history:
        asked.append(turn.standalone or analyser.follow_up(turn.question, asked).text)
    return asked


def _length(question: str) -> int:
    return sum(2 if 0x3000 <= ord(character) < 0xD7B0 else 1 for character in question if character.isalnum())


def _invented(question: str, said: str) -> str:
    """First name or number of ``question`` that is not in ``said``; "" if there is none."""
    numbers = {_bare(number) for number in _NUMBER.findall(said)}
    told = years(said)
    asked: list[str] = _NUMBER.findall(question)
    for number in asked:
        near = number.isdigit() and len(number) == 4 and any(abs(int(number) - year) == 1 for year in told)
        if _bare(number) not in numbers and not near:
            return number
    known = said.casefold()
    for word in words_of(question):
        name = question[word.start : word.end]
        parts = re.findall(r"[^\W\d_]{2,}", name) if word.names and word.marked else []
        if any(part.casefold() not in known for part in parts):
            return name.removesuffix("'s")
    return ""


def _bare(number: str) -> str:
    return number.replace(",", "")
