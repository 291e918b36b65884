"""Entities and relations of a document as Claude reads them, each with the numbers of the sentences it was read from.

A request has a run of leaves of one section. Each answer is stored as it came, so that none is paid for twice. What is
taken from it is decided here: an item without a sentence of the request is dropped, and so is a name that stands
neither in its sentences nor before them. The model's own words are never a passage: only sentences lead anywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from pydantic import ValidationError

from ragcore.answer.render import neutralise
from ragcore.config.settings import Settings
from ragcore.index.chunks import Entries, leaves
from ragcore.index.packing import pack_arrays, unpack_arrays
from ragcore.model_calls import Filled, ModelCalls, as_material, digest, told, unpriced
from ragcore.prompts import EXTRACT_MORE, EXTRACT_PROMPT, EXTRACT_SYSTEM, FORM_AGAIN
from ragcore.protocols import LLM, ContextCache, Form, Message, ModelRequest
from ragcore.structure.facts import Facts
from ragcore.text.mentions import key_of, mentions
from ragcore.text.numbers import plural
from ragcore.text.sentences import count_tokens, sentence_spans
from ragcore.types import Chunk, Entry, Usage

VERSION = 1  # raise it when what is taken from an answer changes
UNIT_TOKENS = 1200  # of the sentences of one request
LONGEST_SENTENCE = 5000  # characters; of a longer one the rest is not sent
LONGEST_NAME, LONGEST_SAID = 100, 250  # characters
SAID_WORDS = 25
MISSED = 3  # names by rules in no item, from which on they are asked for
FORM_TOKENS = 3000
SECONDS = 12.0  # that one answer probably takes
# Probable tokens of the service for one of cl100k, and of the answer for one of the request.
_FINER, _ANSWERED = 1.2, 0.6

# Text stored for a request, None if there is none.
Stored = Callable[[str], str | None]
_Span = tuple[int, int, int]  # leaf, start, end


class Entity(Filled):
    name: str
    about: str
    n: list[int]


class Relation(Filled):
    source: str
    target: str
    what: str
    n: list[int]


class Listed(Filled):
    entities: list[Entity]
    relations: list[Relation]


_FORM = Form("list_entities", "List the entities and relations of the sentences.", Listed.model_json_schema())


PROMPT = digest(EXTRACT_SYSTEM, EXTRACT_PROMPT, EXTRACT_MORE, FORM_AGAIN, json.dumps(_FORM.schema))[:12]


@dataclass(frozen=True, slots=True)
class Ask:
    """Request to send, and the key under which its answer is stored."""

    key: str
    request: ModelRequest

    @property
    def usage(self) -> Usage:
        """Tokens that it will probably take."""
        asked = count_tokens(self.request.messages[-1].text)
        given = count_tokens(EXTRACT_SYSTEM) + count_tokens(json.dumps(_FORM.schema)) + asked
        return Usage(round(given * _FINER), round(min(asked * _ANSWERED, FORM_TOKENS)))


@dataclass(slots=True)
class Unit:
    """Run of sentences of one section that is sent at once, with the title and headings above it in ``header``;
    ``spans`` has leaf, start and end of each."""

    doc_id: str
    header: str
    section: tuple[str, ...]
    spans: list[_Span] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    tokens: int = 0

    @property
    def key(self) -> str:
        """Hash of what is read, without the title."""
        return digest(self.doc_id, *self.section, "", *self.texts)

    def heard(self, stored: Stored) -> tuple[list[Listed], Ask | None, str]:
        """Forms filled in for it as far as ``stored``, what is to be asked next, and the fault for which it is left.

        An invalid form is asked for once more. Where several names by rules are in no item, they are asked for once.
        """
        first = stored(self.key)
        if first is None:
            return [], self._ask("", ""), ""
        listed, fault = _read(first)
        if listed is None:
            second = stored(f"{self.key} again")
            if second is None:
                return [], self._ask(" again", FORM_AGAIN.format(problem=fault)), ""
            listed, fault = _read(second)
            if listed is None:
                return [], None, fault
        missed = self._missed(listed)
        if len(missed) < MISSED:
            return [listed], None, ""
        more = stored(f"{self.key} more")
        if more is None:
            return [listed], self._ask(" more", EXTRACT_MORE.format(missed=as_material({"names": missed}))), ""
        further, _ = _read(more)
        return [one for one in (listed, further) if one is not None], None, ""

    def _ask(self, step: str, further: str) -> Ask:
        sentences = [{"n": n, "text": text} for n, text in enumerate(self.texts, start=1)]
        about = as_material({"title and headings": self.header, "sentences": sentences})
        asked = Message(EXTRACT_PROMPT.format(about=about) + further)
        request = ModelRequest(
            EXTRACT_SYSTEM, (asked,), tool=_FORM, max_tokens=FORM_TOKENS, purpose="structure", bulk=True
        )
        return Ask(self.key + step, request)

    def _missed(self, listed: Listed) -> list[str]:
        """Names by rules, as printed, that are no part of an item's name, nor the other way round."""
        named = [name for name, *_ in self.names(listed)] + [
            name for one, other, *_ in self.related(listed) for name in (one, other)
        ]
        held = {f" {key_of(name)} " for name in named}
        text, found = "\n\n".join(self.texts), dict[str, str]()
        for one in mentions(text):
            if not one.doubtful and not any(f" {one.key} " in key or key in f" {one.key} " for key in held):
                found.setdefault(one.key, " ".join(text[one.start : one.end].split()))
        return list(found.values())

    def names(self, listed: Listed) -> Iterator[tuple[str, str, list[int]]]:
        """Valid entities: name, what is said of it, and the indices of its sentences."""
        for one in listed.entities:
            name, rows = self._placed(one.name, one.n)
            if rows:
                yield name, _said(one.about), rows

    def related(self, listed: Listed) -> Iterator[tuple[str, str, str, list[int]]]:
        """Valid relations: both names, what is said of them, and the indices of their sentences."""
        for one in listed.relations:
            source, rows = self._placed(one.source, one.n)
            target, others = self._placed(one.target, one.n)
            rows = [row for row in rows if row in others]
            if rows and key_of(source) != key_of(target):
                yield source, target, _said(one.what), rows

    def _placed(self, given: str, n: Sequence[int]) -> tuple[str, list[int]]:
        """A name on one line, and the indices of those of its sentences that have it, or come after one that has it, a
        heading or the title, so that a pronoun may stand for it; none if it is no name."""
        name = " ".join(given[: LONGEST_NAME + 1].split())
        key = key_of(name)
        if len(given) > LONGEST_NAME or len(key) < 2 or key.isdigit():
            return name, []
        printed = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        texts = enumerate((self.header, *self.texts))
        first = next((at for at, text in texts if printed.search(" ".join(text.split()))), len(self.texts) + 1)
        return name, sorted({each - 1 for each in n if max(first, 1) <= each <= len(self.texts)})


def units(chunks: Sequence[tuple[Entry, Chunk]]) -> list[Unit]:
    """Requests' worth of sentences: runs of leaves of one section, a leaf longer than `UNIT_TOKENS` in several."""
    found: list[Unit] = []
    for leaf, (_, chunk) in enumerate(leaves(chunks)):
        spans = sentence_spans(chunk.text)
        texts = [chunk.text[start:end][:LONGEST_SENTENCE] for start, end in spans]
        tokens = [count_tokens(text) for text in texts]
        if not found or found[-1].section != chunk.section or found[-1].tokens + sum(tokens) > UNIT_TOKENS:
            found.append(Unit(chunk.doc_id, chunk.header, chunk.section))
        for (start, end), text, size in zip(spans, texts, tokens):
            if found[-1].texts and found[-1].tokens + size > UNIT_TOKENS:
                found.append(Unit(chunk.doc_id, chunk.header, chunk.section))
            found[-1].spans.append((leaf, chunk.start + start, chunk.start + end))
            found[-1].texts.append(text)
            found[-1].tokens += size
    return [unit for unit in found if unit.texts]


def asks(found: Sequence[Unit], stored: Stored) -> dict[str, Ask]:
    """What is to be asked next of these units, by key: equal ones once."""
    due = (unit.heard(stored)[1] for unit in found)
    return {one.key: one for one in due if one is not None}


def extract(
    found: Sequence[Unit],
    *,
    doc_id: str,
    model: LLM,
    cache: ContextCache,
    settings: Settings,
    on_asked: Callable[[], object],
    cancelled: Callable[[], bool] | None = None,
) -> str:
    """Ask ``model`` for what it has not answered yet of the units ``found`` of one document; each answer is stored at
    once. Returns why some were not answered, "" if all were. Raises `Cancelled`, `ConfigError` (no price), and the
    service's error after several in a row."""
    limit = settings.structure.max_usd
    tried: set[str] = set()
    with ModelCalls(
        model,
        prices=settings.llm.prices,
        ledger=cache,
        doc_id=doc_id,
        max_usd=limit,
        take=lambda key, text: cache.put(key, model.name, PROMPT, text),
        stopped="Reading relations was stopped.",
        cancelled=cancelled,
    ) as asking:
        while not asking.refused:
            due = asks(found, lambda key: cache.get(key, model.name, PROMPT))
            new = {key: one for key, one in due.items() if key not in tried}
            if not new:
                break
            for key, one in new.items():
                if not asking.ask(key, one.request):
                    break
                tried.add(key)
                on_asked()
            asking.wait(0)
    if asking.refused == "errors":
        raise asking.errors[-1]
    if asking.refused == "limit":
        return f"The limit of ${limit:g} per document is reached (structure.max_usd)."
    if asking.refused == "price":
        raise unpriced(model.name)
    return f"{plural(len(asking.errors), 'request')} failed: {asking.errors[-1].message}" if asking.errors else ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """Facts of a document by a model, and by rules where no usable answer is stored. Of its ``units``, ``answered``
    have facts by the model, ``due`` can still be asked about and ``left`` cannot, for the reason ``fault``."""

    facts: Facts
    units: int
    answered: int
    due: int
    left: int
    fault: str

    @classmethod
    def of(cls, chunks: Sequence[tuple[Entry, Chunk]], stored: Stored) -> Extraction:
        found = units(chunks)
        gathered, by_rules = _Gathered(), set[_Span]()
        answered = due = left = 0
        faults = [""]
        for unit in found:
            forms, ask, fault = unit.heard(stored)
            answered, due, left = answered + bool(forms), due + (ask is not None), left + bool(fault)
            faults += [fault] if fault else []
            by_rules |= set() if forms else set(unit.spans)
            for listed in forms:
                for name, said, rows in unit.names(listed):
                    gathered.entity(name, said, [unit.spans[row] for row in rows])
                for source, target, said, rows in unit.related(listed):
                    gathered.relation(source, target, said, [unit.spans[row] for row in rows])
        # Headings are not sent as sentences, but join their leaves to names.
        rules = Facts.of(chunks)
        spans = [(leaf, start, end) for leaf, start, end in rules.sentences.tolist()]
        kept = [span in by_rules or span[1:] == (0, 0) for span in spans]
        for sentence, number in rules.mentions.tolist():
            if kept[sentence]:
                gathered.entity(rules.shown[number], "", [spans[sentence]])
        for sentence, one, other in rules.relations.tolist():
            if kept[sentence]:
                gathered.relation(rules.shown[one], rules.shown[other], "", [spans[sentence]])
        return cls(gathered.facts(chunks), len(found), answered, due, left, faults[-1])

    @property
    def begun(self) -> bool:
        """Whether anything of it is settled."""
        return bool(self.answered) or self.due < max(self.units, 1)

    def to_bytes(self) -> bytes:
        head = [self.units, self.answered, self.due, self.left, self.fault]
        return pack_arrays(head, [np.frombuffer(self.facts.to_bytes(), np.uint8)])

    @classmethod
    def from_bytes(cls, data: bytes) -> Extraction:
        """Inverse of `to_bytes`. Raises `ValueError` for damaged data."""
        head, (facts,) = unpack_arrays(data)
        return cls(Facts.from_bytes(facts.tobytes()), *head)


@dataclass(slots=True)
class _Gathered:
    """Facts as they come; equal ones once."""

    names: dict[str, tuple[str, str]] = field(default_factory=dict)  # printed, and what is said, by key
    held: dict[tuple[_Span, str], None] = field(default_factory=dict)
    related: dict[tuple[_Span, str, str, str], None] = field(default_factory=dict)

    def entity(self, name: str, said: str, spans: Sequence[_Span]) -> str:
        key = key_of(name)
        shown, known = self.names.get(key, (name, ""))
        self.names[key] = (min(shown, name), max(known, said, key=lambda text: (len(text), text)))
        self.held.update(dict.fromkeys((span, key) for span in spans))
        return key

    def relation(self, source: str, target: str, said: str, spans: Sequence[_Span]) -> None:
        one, other = self.entity(source, "", spans), self.entity(target, "", spans)
        self.related.update(dict.fromkeys((span, one, other, said) for span in spans))

    def facts(self, chunks: Sequence[tuple[Entry, Chunk]]) -> Facts:
        keys = sorted(self.names)
        number = {key: place for place, key in enumerate(keys)}
        spans = sorted({span for span, _ in self.held})
        row = {span: place for place, span in enumerate(spans)}
        held = sorted((row[span], number[key]) for span, key in self.held)
        related = sorted((row[span], number[one], number[other], said) for span, one, other, said in self.related)
        return Facts(
            Entries.of([entry for entry, _ in leaves(chunks)]),
            keys,
            [self.names[key][0] for key in keys],
            [self.names[key][1] for key in keys],
            np.array(spans, np.int32).reshape(-1, 3),
            np.array(held, np.int32).reshape(-1, 2),
            np.array([each[:3] for each in related], np.int32).reshape(-1, 3),
            [said for *_, said in related],
        )


def _read(text: str) -> tuple[Listed | None, str]:
    """Form as filled in, else the fault."""
    try:
        return Listed.model_validate_json(text), ""
    except ValidationError as error:
        return None, neutralise(told(error, text))[:LONGEST_SAID]


def _said(text: str) -> str:
    """Words of a model, short, on one line and without marks."""
    return neutralise(" ".join(text[: LONGEST_SAID * 4].split()[:SAID_WORDS]))[:LONGEST_SAID]
