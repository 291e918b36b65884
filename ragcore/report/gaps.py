"""What a section lacks, with the passages that come nearest to it; and what its sources say differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragcore.report.recall import marked, with_marks
from ragcore.text.languages import language_of
from ragcore.text.terms import Term
from ragcore.types import Answer, Document, Source
from ragcore.types.report import (
    Conflict,
    ConflictingValue,
    Field,
    FilledSection,
    Gap,
    KnownFacts,
    Missing,
    SectionStatus,
)

if TYPE_CHECKING:
    from ragcore.answer.cite import Marker
    from ragcore.config.settings import Settings
    from ragcore.report.template import Section

NOT_HELD = "The passages found don't answer this."
NOTHING_FOUND = "No passage found is about this."
_NEAREST = 2  # passages that are given for what is missing
_SHOWN = 4  # gaps of a section, for which they are looked for


@dataclass(frozen=True, slots=True)
class GapFinder:
    """Looks through the sources of a section; ``document`` and ``terms`` are the engine's."""

    document: Callable[[str], Document]
    terms: Callable[[str], tuple[Term, ...]]
    settings: Settings

    def with_nearest(self, heading: str, gaps: Sequence[Gap], sources: Sequence[Source]) -> tuple[Gap, ...]:
        """``gaps``, the first of them with the passages of ``sources`` that come nearest to what they lack; of one that
        is of one document, passages of that document only."""
        from ragcore.answer.cite import Citer, MarkerParser
        from ragcore.offline.nearest import nearest

        citer = Citer(sources, self.document)
        out = []
        for place, gap in enumerate(gaps):
            if not gap.nearest and place < _SHOWN:
                terms, settings = self.terms(gap.what), self.settings.answer
                # By words alone: it is a hint, and the cross-encoder would read every sentence again.
                own = [source for source in sources if gap.doc_id in ("", source.doc_id)]
                markers = nearest(heading, gap.what, terms, own, None, settings, _NEAREST)
                cited = [citer.resolve(each)[0][0] for mark in markers for each in _markers(MarkerParser().feed(mark))]
                gap = replace(gap, nearest=tuple(cited))
            out.append(gap)
        return tuple(out)

    def conflicts(
        self, asked: Section, form: Field, sources: Sequence[Source], stated: KnownFacts
    ) -> tuple[Conflict, ...]:
        """Where the sources give different values for a field that holds one; ``stated`` is what is known of their
        documents."""
        if form.kind != "value":
            return ()
        from ragcore.answer.cite import Citer, MarkerParser
        from ragcore.offline.rivals import rivals

        out = []
        for piece in form.requirements:
            citer = Citer(sources, self.document)
            for found in rivals(asked.heading, piece, asked.unit, self.terms(asked.query), sources, stated):
                each = []
                for figure, words, marker in found:
                    (parsed,) = _markers(MarkerParser().feed(marker))
                    each.append(ConflictingValue(figure, words, citer.resolve(parsed)[0][0]))
                out.append(Conflict(piece, tuple(each)))
        return tuple(out)


def foreign(asked: str, around: str, sources: Sequence[Source]) -> str:
    """Why quotes of ``sources`` are no answer to ``asked``, where it is in another language ("" where it is not); a few
    words are taken to be in the language of the template ``around`` them."""
    from ragcore.answer.refuse import in_another_language

    return in_another_language("section", language_of(asked) or language_of(around), sources)


def lacking_of(missing: Sequence[Missing]) -> dict[str, list[str]]:
    """What is ``missing`` of one document only, by that document."""
    out: dict[str, list[str]] = {}
    for one in missing:
        if one.doc_id:
            out.setdefault(one.doc_id, []).append(one.what)
    return out


def of_part(asked: Section, stated: KnownFacts) -> str:
    """That ``asked`` is of a year and that the documents cover only a part of one, "" where that is not so."""
    from ragcore.report.coverage import asks_of_a_year

    if not stated.interim or not set(stated.titles) <= set(stated.interim) or not asks_of_a_year(asked):
        return ""
    covered = [f"“{stated.titles[one]}” ({words})" for one, words in list(stated.interim.items())[:_SHOWN]]
    return f"It asks for a full year, and the documents cover only part of one: {'; '.join(covered)}."


def nothing_for(section: FilledSection, why: str) -> FilledSection:
    """``section`` with nothing of what it asks for."""
    return replace(section, status="empty", gaps=tuple(Gap(what, why) for what in section.field.requirements))


def filled_of(
    section: FilledSection, answer: Answer, missing: Sequence[Missing], rounds: int, why: str
) -> FilledSection:
    """``section`` with what was written, and what is ``missing`` named in it; ``why`` it is."""
    words = [one.words for one in missing]
    nearest = answer.citations if answer.refused else ()
    gaps = tuple(Gap(what, why, nearest, one.doc_id) for what, one in zip(words, missing, strict=True))
    status: SectionStatus = "partial" if gaps else "filled"
    if answer.status != "complete":
        status = "failed" if answer.status == "failed" else "stopped"
    elif answer.refused or not answer.citations:
        status = "empty"
    if answer.refused:
        # What a refusal tells is in the gaps; a report says what is missing in its own way.
        answer = replace(answer, text=with_marks("", words), marks=(), citations=(), claims=())
    else:
        unsaid = [what for what in words if what not in marked(answer.text)]
        answer = replace(answer, text=with_marks(answer.text, unsaid))
    return replace(section, status=status, answer=answer, gaps=gaps, rounds=rounds)


def _markers(items: Sequence[str | Marker]) -> list[Marker]:
    return [item for item in items if not isinstance(item, str)]
