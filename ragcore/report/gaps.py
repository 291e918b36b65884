"""Gaps of a section: requirements of its guidance without text, with the nearest passages; and conflicts between its
sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragcore.protocols import FieldReader, Reranker
from ragcore.text.languages import language_of
from ragcore.text.terms import Term
from ragcore.text.words import content_stems, cover
from ragcore.types import Answer, Document, Source
from ragcore.types.report import (
    INSUFFICIENT,
    Conflict,
    ConflictingValue,
    Field,
    FilledSection,
    Gap,
    KnownFacts,
    Missing,
    SectionStatus,
    missing_mark,
)

if TYPE_CHECKING:
    from ragcore.answer.cite import Marker
    from ragcore.config.settings import Settings
    from ragcore.report.template import Section

NOT_HELD = "The passages found don't answer this."
NOTHING_FOUND = "No passage found is about this."
# A requirement counts as met if this share of its words is in the cited text, or the cross-encoder says so: a false gap
# costs the user more than one they notice themselves.
_WORDS = 0.5
_RELEVANT = 0.3
_NEAREST = 2  # passages given for a gap
_SHOWN = 4  # gaps of a section with passages


@dataclass(frozen=True, slots=True)
class GapFinder:
    """Search for gaps and conflicts in a section's sources; ``document`` and ``terms`` are the engine's."""

    reader: FieldReader
    document: Callable[[str], Document]
    terms: Callable[[str], tuple[Term, ...]]
    settings: Settings

    def with_nearest(self, heading: str, gaps: Sequence[Gap], sources: Sequence[Source]) -> tuple[Gap, ...]:
        """``gaps``, the first ones with the nearest passages of ``sources``; for a gap of one document, from that
        document only."""
        from ragcore.answer.cite import Citer, MarkerParser

        citer = Citer(sources, self.document)
        out = []
        for place, gap in enumerate(gaps):
            if not gap.nearest and place < _SHOWN:
                terms, settings = self.terms(gap.what), self.settings.answer
                own = [source for source in sources if gap.doc_id in ("", source.doc_id)]
                markers = self.reader.nearest(heading, gap.what, terms, own, settings, _NEAREST)
                cited = [citer.resolve(each)[0][0] for mark in markers for each in _markers(MarkerParser().feed(mark))]
                gap = replace(gap, nearest=tuple(cited))
            out.append(gap)
        return tuple(out)

    def conflicts(
        self, asked: Section, form: Field, sources: Sequence[Source], stated: KnownFacts
    ) -> tuple[Conflict, ...]:
        """Differing values in the sources for a single-valued field; ``stated`` are the known facts about their
        documents."""
        if form.kind != "value":
            return ()
        from ragcore.answer.cite import Citer, MarkerParser

        out = []
        for piece, found in self.reader.rivals(asked.heading, form, self.terms(asked.query), sources, stated):
            citer, each = Citer(sources, self.document), []
            for rival in found:
                (parsed,) = _markers(MarkerParser().feed(rival.marker))
                each.append(ConflictingValue(rival.figure, rival.words, citer.resolve(parsed)[0][0]))
            out.append(Conflict(piece, tuple(each)))
        return tuple(out)


def foreign(asked: str, around: str, sources: Sequence[Source]) -> str:
    """Reason why quotes of ``sources`` do not answer ``asked``: it is in another language ("" if not). A few words are
    assumed to be in the language of the template ``around`` them."""
    from ragcore.answer.refuse import in_another_language

    return in_another_language("section", language_of(asked) or language_of(around), sources)


def lacking_of(missing: Sequence[Missing]) -> dict[str, list[str]]:
    """``missing`` pieces of single documents, by document."""
    out: dict[str, list[str]] = {}
    for one in missing:
        if one.doc_id:
            out.setdefault(one.doc_id, []).append(one.what)
    return out


def asks_of_a_year(reader: FieldReader, asked: Section, terms: Sequence[Term] = ()) -> bool:
    """Whether ``asked`` is a value for a year or year-end."""
    return asked.kind == "value" and reader.of_a_year(asked.heading, asked.guidance, asked.unit, terms)


def of_part(reader: FieldReader, asked: Section, stated: KnownFacts) -> str:
    """Notice that ``asked`` is for a year and the documents cover only part of one, else ""."""
    if not stated.interim or not set(stated.titles) <= set(stated.interim) or not asks_of_a_year(reader, asked):
        return ""
    covered = [f"“{stated.titles[one]}” ({words})" for one, words in list(stated.interim.items())[:_SHOWN]]
    return f"It asks for a full year, and the documents cover only part of one: {'; '.join(covered)}."


def marked(text: str) -> list[str]:
    """Pieces that ``text`` itself reports as missing, in order; "" for one without a name."""
    return list(dict.fromkeys((match.group(1) or "").strip(" .") for match in INSUFFICIENT.finditer(text)))


def unmet(requirements: Sequence[str], answer: Answer, heading: str, reranker: Reranker | None) -> list[str]:
    """``requirements`` that no cited claim of ``answer`` covers and that are not marked as missing."""
    told = [claim.text for claim in answer.claims if claim.citations and claim.status != "unsupported"]
    said = set(content_stems(" ".join([heading, *told, *marked(answer.text)])))
    missing = [piece for piece in requirements if cover(content_stems(piece), said) < _WORDS]
    if not missing or reranker is None or not told:
        return missing
    return [piece for piece in missing if float(reranker.score(piece, told).max()) < _RELEVANT]


def with_marks(text: str, missing: Sequence[str]) -> str:
    """``text`` with the ``missing`` pieces marked at its end, in a writer's form."""
    marks = [missing_mark(what) for what in missing]
    return "\n\n".join([*([text] if text else []), *marks])


def nothing_for(section: FilledSection, why: str) -> FilledSection:
    """``section`` as empty, with every requirement a gap."""
    return replace(section, status="empty", gaps=tuple(Gap(what, why) for what in section.field.requirements))


def filled_of(
    section: FilledSection, answer: Answer, missing: Sequence[Missing], rounds: int, why: str
) -> FilledSection:
    """``section`` with its new text and its ``missing`` pieces named; ``why`` is the reason."""
    words = [one.words for one in missing]
    nearest = answer.citations if answer.refused else ()
    gaps = tuple(Gap(what, why, nearest, one.doc_id) for what, one in zip(words, missing, strict=True))
    status: SectionStatus = "partial" if gaps else "filled"
    if answer.status != "complete":
        status = "failed" if answer.status == "failed" else "stopped"
    elif answer.refused or not answer.citations:
        status = "empty"
    if answer.refused:
        # The gaps hold the content of a refusal; a report marks missing pieces in its own way.
        answer = replace(answer, text=with_marks("", words), marks=(), citations=(), claims=())
    else:
        unsaid = [what for what in words if what not in marked(answer.text)]
        answer = replace(answer, text=with_marks(answer.text, unsaid))
    return replace(section, status=status, answer=answer, gaps=gaps, rounds=rounds)


def _markers(items: Sequence[str | Marker]) -> list[Marker]:
    return [item for item in items if not isinstance(item, str)]
