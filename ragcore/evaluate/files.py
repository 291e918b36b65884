"""Comparison of two runs as a file: JUnit XML for any CI, and one HTML page to hand on."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ragcore.errors import GroundworkError
from ragcore.evaluate.cases import Case
from ragcore.evaluate.compare import Difference, called, compared, headline, in_both, in_words, told
from ragcore.evaluate.measures import MEASURES, shown, unmarked
from ragcore.evaluate.runs import Evaluated
from ragcore.evaluate.states import gain, state
from ragcore.export.characters import clean, one_line
from ragcore.export.evidence import write_page
from ragcore.export.markdown import parse
from ragcore.export.tree import Manuscript, Node, Nodes, heading, node, paragraph, words
from ragcore.text.markdown import escape

SUITE = "groundwork.evaluate"
_ABOUT = "An interval holds the true difference 19 times in 20; better or worse is said of all these measures together."
_HEAD = "| Measure | A | B | Difference | 95% interval | In words |\n|---|--:|--:|--:|---|---|\n"


def junit(first: Evaluated, second: Evaluated, judged: Sequence[Difference], broken: Sequence[Difference]) -> bytes:
    """Gate as JUnit XML: a test case for each of the ``judged`` measures, which fails if it is ``broken``, and one for
    each question on which the second run failed, as an error."""
    suite = ET.Element("testsuite", name=clean(f"{second.info.set_name}: {second.info.name}"))
    suite.set("timestamp", datetime.fromtimestamp(second.info.created, UTC).isoformat(timespec="seconds"))
    properties = ET.SubElement(suite, "properties")
    for name, value in (("run", second.info.run_id), ("against", first.info.run_id), ("writer", second.info.writer)):
        ET.SubElement(properties, "property", name=name, value=clean(value))
    names = called(first, second)
    for one in judged:
        case = ET.SubElement(suite, "testcase", classname=SUITE, name=_title(one))
        if one in broken:
            failure = ET.SubElement(case, "failure", type="loss", message=clean(in_words(one, *names)))
            before, after = (shown(one.measure, mean) for mean in (one.first, one.second))
            failure.text = f"{before} → {after}, difference {one.signed(one.low)} to {one.signed(one.high)}"
    for asked in second.cases:
        outcome = second.outcomes.get(asked.case_id)
        if outcome is not None and outcome.error is not None:
            _error(ET.SubElement(suite, "testcase", classname=SUITE, name=one_line(asked.question)), outcome.error)
    return _suites(suite)


def junit_unjudged(error: GroundworkError) -> bytes:
    """Gate that can't be judged, as JUnit XML: one test case with the error."""
    suite = ET.Element("testsuite", name="Gate")
    _error(ET.SubElement(suite, "testcase", classname=SUITE, name="The runs can be compared"), error.as_dict())
    return _suites(suite)


def _error(case: ET.Element, error: Mapping[str, Any]) -> None:
    found = ET.SubElement(case, "error", type=clean(str(error["code"])), message=clean(str(error["message"])))
    found.text = clean(str(error["hint"]))


def _suites(suite: ET.Element) -> bytes:
    root = ET.Element("testsuites", name=SUITE)
    root.append(suite)
    for each in (root, suite):
        each.set("tests", str(len(suite.findall("testcase"))))
        each.set("failures", str(len(suite.findall("testcase/failure"))))
        each.set("errors", str(len(suite.findall("testcase/error"))))
    ET.indent(root)
    data: bytes = ET.tostring(root, "utf-8", xml_declaration=True)
    return data + b"\n"


def page(first: Evaluated, second: Evaluated, titles: tuple[str, str]) -> bytes:
    """Two runs, called by their ``titles``, as one HTML file without scripts that loads nothing: headline, measures
    with intervals, and the questions that differ with both answers, the most harmed first. Raises `InputError` if the
    runs can't be compared."""
    found, asked = compared(first, second), in_both(first, second)
    differ = sorted(filter(lambda one: gain(one, first, second), asked), key=lambda one: gain(one, first, second))
    equal = [one for one in found if not (one.better or one.worse)]
    moved = [one for one in found if one not in equal]
    count = f"{len(differ)} of {len(asked)} questions, the most harmed by B first." if differ else "None."
    blocks = [
        *(_about(*one) for one in zip("AB", (first, second), titles)),
        heading(1, "Measures"),
        *(parse(_HEAD + "\n".join(map(_row, moved))) if moved else ()),
        paragraph(_ABOUT if moved else "No measure differs.", "about"),
        *([paragraph(f"The same for every question: {'; '.join(map(_title, equal))}.", "about")] if equal else ()),
        heading(1, "Questions that differ"),
        paragraph(count, "about"),
        *(block for one in differ for block in _question(one, first, second)),
    ]
    made = Manuscript(f"{one_line(first.info.set_name)}: {headline(found)}", blocks)
    return write_page(made, lambda *_: "")


def _about(letter: str, run: Evaluated, title: str) -> Node:
    day = datetime.fromtimestamp(run.info.created, UTC)
    writer = run.info.writer or "search only"
    said = f"{title}, {writer}, {run.info.done} of {run.info.cases} questions, {day:%Y-%m-%d %H:%M} UTC"
    return paragraph([*words(f"{letter}:", "Strong"), node("Space"), *words(one_line(said))], "about")


def _title(one: Difference) -> str:
    return MEASURES[one.measure].full


def _row(one: Difference) -> str:
    means = (shown(one.measure, mean) for mean in (one.first, one.second))
    mean, low, high = (one.signed(value).replace("-", "−") for value in (one.mean, one.low, one.high))
    cells = (_title(one), *means, mean, f"{low} to {high}", told(one, "A", "B"))
    return f"| {' | '.join(map(escape, cells))} |"


def _question(case: Case, first: Evaluated, second: Evaluated) -> Iterator[Node]:
    yield heading(2, one_line(case.question))
    expected = (case.answer or "an answer") if case.answerable else "no answer"
    places = "; ".join(f"{one.document}{f', p. {one.page}' if one.page else ''}" for one in case.evidence)
    yield paragraph(one_line(f"Expected: {expected}{f' ({places})' if places else ''}"), "about")
    for letter, run in (("A", first), ("B", second)):
        yield paragraph(words(f"{letter}: {state(case, run)[0]}", "Strong"))
        yield from _answered(case, run)


def _answered(case: Case, run: Evaluated) -> Nodes:
    outcome = run.outcomes.get(case.case_id)
    if outcome is None:
        return []
    if outcome.error is not None:
        return [paragraph(one_line(f"{outcome.error['message']} {outcome.error['hint']}"), "notice")]
    answer = outcome.answer
    if answer is None:  # it was only searched
        return []
    cited = "; ".join(dict.fromkeys(f"{one.title}, {one.where}" for one in answer.citations))
    return [*parse(unmarked(answer), highest=3), *([paragraph(one_line(f"Cites {cited}"), "about")] if cited else [])]
