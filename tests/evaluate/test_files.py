"""Comparisons as files: JUnit XML and a page."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ragcore.engine import Engine
from ragcore.evaluate.cases import Case, CaseSet, Evidence
from ragcore.evaluate.compare import broken, compared, in_words, judged
from ragcore.evaluate.files import junit, page
from ragcore.evaluate.measures import MEASURES
from ragcore.evaluate.runs import Configuration, Evaluated
from ragcore.index.evaluations import Outcome, RunInfo
from ragcore.types import Answer
from tests import prepared
from tests.command_line import run
from tests.evaluate.test_compare import runs

texts = st.text(st.characters(blacklist_categories=[]), max_size=30)
MARKUP = '<b onclick="x()">&amp; | `a` *b* [c](http://d) ![e](http://f)</b><script>g()</script>'


def made(name: str, cases: tuple[Case, ...], answers: Mapping[str, str], failed: Mapping[str, str]) -> Evaluated:
    """Run of made-up answers and failures by case."""
    info = RunInfo(name, "s", "a set", name, {}, "", False, "offline", 0.0, 0.0, len(cases), len(cases), 0.0)
    outcomes = {one: Outcome(one, Answer(one, text=text)) for one, text in answers.items()}
    for one, message in failed.items():
        outcomes[one] = Outcome(one, None, error={"code": "x", "message": message, "hint": message})
    return Evaluated(info, cases, outcomes, {one: {"answered": float(one in answers)} for one in outcomes})


class Parts(HTMLParser):
    """Tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_a_gate_is_a_test_case_for_each_measure() -> None:
    first, second = runs([1.0] * 40, [0.0] * 30 + [1.0] * 10)
    found = compared(first, second)
    (suite,) = ET.fromstring(junit(first, second, judged(found), broken(found)))
    (case,) = suite.findall("testcase")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    assert case.get("name") == MEASURES["mrr"].title
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == in_words(found[0], "old", "new")
    (held,) = ET.fromstring(junit(second, first, judged(compared(second, first)), []))
    assert held.get("failures") == "0"
    assert held.find("testcase/failure") is None


@given(texts, texts, texts)
def test_any_text_is_escaped(name: str, question: str, message: str) -> None:
    cases = (Case("one", question), Case("two", question))
    first = made("old", cases, {"one": message, "two": message}, {})
    second = made(name or "x", cases, {"one": message}, {"two": message})
    found = compared(first, second)
    (suite,) = ET.fromstring(junit(first, second, judged(found), found))
    assert suite.get("errors") == "1"
    failed = suite.findall("testcase/error")
    assert [one.get("type") for one in failed] == ["x"]
    assert len(suite.findall("testcase/failure")) == len(found)


def test_a_page_has_the_questions_that_differ_and_loads_nothing() -> None:
    cases = tuple(Case(str(n), f"Why {n}? {MARKUP}", MARKUP, (Evidence("a.pdf", n),)) for n in (1, 2, 3))
    first = made("old", cases, {"1": "first", "2": MARKUP, "3": "same"}, {})
    second = made("new", cases, {"1": "first", "3": "same"}, {"2": f"It broke {MARKUP}."})
    html = page(first, second, ("Settings in use", MARKUP)).decode()
    assert "Why 2?" in html
    assert not any(f"Why {n}?" in html for n in (1, 3)), "they came out the same"
    assert all(words in html for words in ("A: Answered", "B: Failed", "It broke", "a.pdf, p. 2", "95% interval"))
    assert "1 of 3 questions" in html
    parts = Parts()
    parts.feed(html)
    assert not parts.tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "b"}
    assert not [name for name in parts.attributes if name.startswith("on") or name in ("src", "srcset")]
    assert "url(" not in html
    assert "color-scheme: light dark" in html


def test_the_command_line_writes_both(surveyed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    prepared.copied(surveyed, home)
    command = ["--home", str(home), "evaluate"]
    cases = (
        Case("one", "What was the highest nitrate reading?", "61.4", (Evidence("survey.pdf", 1),)),
        Case("two", "What is said there?", "x", (Evidence("elsewhere.pdf", 1),)),
    )
    with Engine.open(home, overrides={"llm.model": "offline"}) as engine:
        info = engine.evaluation.put(CaseSet("mixed", cases))
        for configuration in ("default", "retrieve.mode=bm25"):
            engine.evaluation.run(info.set_id, Configuration.parsed(configuration))
        new, old = (one.run_id for one in engine.evaluation.runs())
    page_file, gate_file = tmp_path / "compared.html", tmp_path / "gate.xml"
    assert run([*command, "compare", old, new, "--html", str(page_file)]).returncode == 0
    assert "</html>" in page_file.read_text("utf-8")
    gate = [*command, "gate", new, "--against", old, "--junit", str(gate_file)]
    assert run(gate).returncode == 0
    (suite,) = ET.parse(gate_file).getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    error = suite.find("testcase/error")
    assert error is not None
    assert "elsewhere.pdf" in str(error.get("message"))
    assert len(suite.findall("testcase")) > 2
    assert run([*gate, "--measure", "answered"]).returncode == 0
    assert len(ET.parse(gate_file).getroot()[0].findall("testcase")) == 2, "one measure, one error"
    assert run([*command, "gate", "nothing", "--against", old, "--junit", str(gate_file)]).returncode == 2
    assert ET.parse(gate_file).getroot().get("errors") == "1"


def test_searches_alone_are_compared_on_a_page_too(tmp_path: Path, sampled: Path) -> None:
    prepared.copied(sampled, tmp_path / "home")
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline", "rerank.model": "none"}) as engine:
        name = engine.documents()[0].name
        asked = ("What was net cash from operations?", "When does the credit facility mature?")
        cases = tuple(Case(str(n), one, evidence=(Evidence(name, 5),)) for n, one in enumerate(asked))
        set_id = engine.evaluation.put(CaseSet("own", cases)).set_id
        first, second = (
            engine.evaluation.run(set_id, Configuration.parsed(f"retrieve.mode={mode}"), search=True)
            for mode in ("bm25", "vector")
        )
    assert b"search only" in page(first, second, ("words", "meaning"))


def test_a_gate_that_cannot_write_or_is_given_no_number_is_not_judged(tmp_path: Path, sampled: Path) -> None:
    prepared.copied(sampled, tmp_path / "home")
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        set_id = engine.evaluation.put(CaseSet("own", (Case("1", "What was net cash from operations?"),))).set_id
        run_id = engine.evaluation.run(set_id, Configuration.parsed("default")).info.run_id
    gate = ["--home", str(tmp_path / "home"), "evaluate", "gate", run_id, "--against", run_id]
    assert run(gate).returncode == 0
    assert run([*gate, "--junit", str(tmp_path)]).returncode == 2
    for wrong in ("nan", "-1"):
        assert run([*gate, "--loss", wrong]).returncode == 2
