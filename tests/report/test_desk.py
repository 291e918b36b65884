"""Reports that are worked on: nothing written is lost, edits are checked again, conflicts are seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcore.cancel import Stop
from ragcore.engine import Engine
from ragcore.errors import BadTemplate, InputError, SectionAccepted, UnknownReport, UnknownSection
from ragcore.index.reports import StoredSection
from ragcore.report.editing import HAND
from ragcore.report.template import Template, from_data
from ragcore.report.workspace import ReportWorkspace
from ragcore.types.report import Span
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply
from tests.report.truths import _pdf


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    files = {
        "survey.pdf": pdfs.one_column(),
        "north.pdf": _pdf(
            "# Northwind annual report 2023", "## Staff", "At the end of 2023 we had 412 employees in all."
        ),
        "north-later.pdf": _pdf("# Northwind review of 2023", "## Staff", "At the end of 2023 we had 437 employees."),
    }
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        for name, data in files.items():
            prepared.read(engine, data, name)
        engine.index()
    return home


@pytest.fixture
def home(shelf: Path, tmp_path: Path) -> Path:
    prepared.copied(shelf, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def engine(home: Path) -> Iterator[Engine]:
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as opened:
        yield opened


def template(*sections: dict[str, Any]) -> Template:
    return from_data({"title": "Survey report", "sections": list(sections)})


WELLS = {"heading": "Wells", "guidance": "State how many wells were sampled and the highest nitrate reading."}
STAFF = {"heading": "Employees", "kind": "value", "guidance": "How many employees the company has."}
ABSENT = {"heading": "Dividends", "kind": "value", "guidance": "Dividends per share.", "required": False}


def write(workspace: ReportWorkspace, report_id: str, *section_ids: str, instruction: str = "") -> None:
    workspace.queue(report_id, list(section_ids) or None, instruction)
    for task in workspace.store.tasks():
        workspace.write(task, lambda _: None, Stop())


def made(engine: Engine, *sections: dict[str, Any]) -> tuple[ReportWorkspace, str, list[str]]:
    workspace = engine.reports
    report_id = workspace.new(template(*sections), origin="test")
    return workspace, report_id, [one.section_id for one in workspace.get(report_id).sections]


def shown(workspace: ReportWorkspace, section_id: str) -> StoredSection:
    return workspace.store.section(section_id)


def test_a_report_survives_and_keeps_every_version(home: Path) -> None:
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        workspace, report_id, (wells, absent) = made(engine, WELLS, ABSENT)
        write(workspace, report_id)
        first = shown(workspace, wells)
        assert first.shown is not None
        assert (first.shown.author, first.shown.change) == ("offline", "Filled")
        assert first.content is not None
        assert [(one.filled, one.not_stated, one.sections) for one in workspace.all()] == [(1, 1, 2)]
        workspace.edit(wells, first.content.text + "\n\nA sentence of my own.")
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        workspace = engine.reports
        stored = shown(workspace, wells)
        assert stored.content is not None
        assert stored.content.text.endswith("A sentence of my own.")
        assert stored.shown is not None
        assert (stored.shown.author, stored.versions) == (HAND, 2)
        workspace.undo(wells)
        assert shown(workspace, wells).content == first.content
        latest = workspace.versions(wells)[0]
        workspace.show(wells, latest.version_id)  # what was undone is there still
        assert shown(workspace, wells).content == stored.content
        workspace.undo(wells)
        workspace.undo(wells)
        assert shown(workspace, wells).content is None
        assert [(one.filled, one.not_stated, one.sections) for one in workspace.all()] == [(0, 1, 2)]
        with pytest.raises(InputError, match="nothing to undo"):
            workspace.undo(wells)
        gaps = shown(workspace, absent).content
        assert gaps is not None
        assert [gap.what for gap in gaps.gaps] == ["Dividends per share"]
        workspace.store.delete(report_id)
        with pytest.raises(UnknownReport):
            workspace.get(report_id)
        with pytest.raises(UnknownSection):
            workspace.versions(wells)


def test_an_edit_that_disagrees_with_its_source_is_flagged(engine: Engine) -> None:
    workspace, report_id, (staff,) = made(engine, STAFF)
    doc_ids = [info.doc_id for info in engine.documents() if info.name == "north.pdf"]
    workspace.store.update(report_id, doc_ids=doc_ids)
    write(workspace, report_id)
    content = shown(workspace, staff).content
    assert content is not None
    assert "412" in content.text
    right = workspace.edit(staff, "There were 412 employees at the end of 2023 [1].").answer
    wrong = workspace.edit(staff, "There were 812 employees at the end of 2023 [1]. They like it there [9].").answer
    assert right is not None
    assert wrong is not None
    assert [claim.status for claim in right.claims] == ["supported"]
    assert [claim.status for claim in wrong.claims] == ["unsupported", "uncited"]
    assert wrong.dropped == ("[9]",)
    assert [citation.n for citation in wrong.citations] == [1]
    assert shown(workspace, staff).versions == 3


def test_an_accepted_section_is_not_changed_by_anything(engine: Engine) -> None:
    workspace, report_id, (staff, wells) = made(engine, STAFF, WELLS)
    with pytest.raises(InputError, match="still empty"):
        workspace.accept(staff)
    write(workspace, report_id)
    workspace.accept(wells)
    before = shown(workspace, wells)
    for change in (
        lambda: workspace.edit(wells, "x"),
        lambda: workspace.undo(wells),
        lambda: workspace.queue(report_id, [wells]),
        lambda: workspace.change(wells, {"heading": "Other"}),
        lambda: workspace.remove(wells),
    ):
        with pytest.raises(SectionAccepted):
            change()
    # Accepted between the queue and its turn: it is passed over.
    workspace.store.queue(report_id, [(wells, "")], "offline")
    assert not workspace.write(workspace.store.tasks()[0], lambda _: None, Stop())
    after = shown(workspace, wells)
    assert (after.content, after.versions, after.waits) == (before.content, before.versions, None)
    workspace.accept(wells, False)
    workspace.edit(wells, "Now it may be changed.")


def test_two_values_for_one_field_are_seen_side_by_side(engine: Engine) -> None:
    workspace, report_id, (staff,) = made(engine, STAFF)
    write(workspace, report_id)
    content = shown(workspace, staff).content
    assert content is not None
    (conflict,) = content.conflicts
    assert {rival.figure for rival in conflict.rivals} == {"412", "437"}
    assert len({rival.citation.doc_id for rival in conflict.rivals}) == 2
    for rival in conflict.rivals:
        document = engine.document(rival.citation.doc_id)
        assert document.text[rival.citation.start : rival.citation.end] == rival.citation.quote
        assert rival.citation.boxes
    number = next(i for i, rival in enumerate(conflict.rivals) if rival.figure == "437")
    chosen = workspace.choose(staff, 0, number)
    assert chosen.text.startswith("**437**")
    assert chosen.conflicts == ()
    assert chosen.answer is not None
    assert [claim.status for claim in chosen.answer.claims] == ["supported"]


def test_companies_that_state_different_values_do_not_disagree(tmp_path: Path) -> None:
    said = "At the end of 2023 we had {} employees in all."
    files = {
        "belford.pdf": _pdf("# Annual report 2023", "Belford Water, Inc.", "## Staff", said.format(412)),
        "carrow.pdf": _pdf("# Annual report 2023", "Carrow Paper Corporation", "## Staff", said.format(86)),
        "carrow-later.pdf": _pdf("# Review of 2023", "CARROW PAPER CORP.", "## Staff", said.format(91)),
    }
    with Engine.open(home=tmp_path, overrides={"llm.model": "offline"}) as engine:
        for name, data in files.items():
            prepared.read(engine, data, name)
        engine.index()
        workspace, report_id, (staff,) = made(engine, STAFF)
        write(workspace, report_id)
        content = shown(workspace, staff).content
        assert content is not None
        (conflict,) = content.conflicts
        assert {rival.figure for rival in conflict.rivals} == {"86", "91"}
        assert "412" in content.text


def test_pins_and_exclusions_reach_the_sources(engine: Engine) -> None:
    workspace, report_id, (staff,) = made(engine, STAFF)
    north, later = (next(i.doc_id for i in engine.documents() if i.name == n) for n in ("north.pdf", "north-later.pdf"))
    whole = Span(north, 0, len(engine.document(north).text))
    workspace.place(staff, whole, "excluded")
    survey = next(info.doc_id for info in engine.documents() if info.name == "survey.pdf")
    at = engine.document(survey).text.index("nitrate")
    workspace.place(staff, Span(survey, at, at + 40), "pinned")
    write(workspace, report_id)
    content = shown(workspace, staff).content
    assert content is not None
    assert content.answer is not None
    first = content.answer.sources[0]
    assert first.doc_id == survey
    assert first.start <= at < at + 40 <= first.end
    assert {source.doc_id for source in content.answer.sources} == {survey, later}
    assert content.conflicts == ()
    workspace.place(staff, Span(survey, at, at + 40), None)
    workspace.place(staff, whole, None)
    write(workspace, report_id, staff)
    again = shown(workspace, staff)
    assert again.pinned == again.excluded == ()
    assert again.content is not None
    assert len(again.content.conflicts) == 1


def test_a_passage_added_by_hand_is_quoted_cited_and_pinned(engine: Engine) -> None:
    workspace, report_id, (absent,) = made(engine, ABSENT)
    write(workspace, report_id)
    survey = next(info.doc_id for info in engine.documents() if info.name == "survey.pdf")
    text = engine.document(survey).text
    start = text.index("nitrate") - 4
    made_of = workspace.add_passage(absent, Span(survey, start, start + 50), "Dividends per share")
    assert made_of.gaps == ()
    assert "INSUFFICIENT" not in made_of.text
    assert made_of.answer is not None
    (citation,) = made_of.answer.citations
    assert text[citation.start : citation.end] == citation.quote
    assert [claim.status for claim in made_of.answer.claims] == ["supported"]
    assert shown(workspace, absent).pinned == (Span(survey, start, start + 50),)
    twice = workspace.add_passage(absent, Span(survey, start, start + 50))
    assert twice.answer is not None
    assert len(twice.answer.citations) == 1
    with pytest.raises(InputError, match="No words"):
        workspace.add_passage(absent, Span(survey, 10, 10))


def test_the_outline_is_changed_in_place(engine: Engine) -> None:
    group = {"heading": "Group", "sections": [{"heading": "One"}, {"heading": "Two"}]}
    workspace, report_id, (top, one, two, wells) = made(engine, group, WELLS)

    def outline() -> list[str]:
        return [f"{place.number} {place.section.heading}" for _, place in workspace.get(report_id).pairs]

    workspace.change(one, {"heading": "First", "kind": "table", "columns": ["A", "B"]})
    with pytest.raises(BadTemplate, match='needs its "columns"'):
        workspace.change(two, {"kind": "table"})
    workspace.move(two, -1)
    workspace.move(two, -1)  # already the first
    assert outline() == ["1 Group", "1.1 Two", "1.2 First", "2 Wells"]
    workspace.move(wells, -1)
    assert outline() == ["1 Wells", "2 Group", "2.1 Two", "2.2 First"]
    added = workspace.add(report_id, "New", after=top, below=True)
    workspace.add(report_id, "Next", after=wells)
    assert outline() == ["1 Wells", "2 Next", "3 Group", "3.1 Two", "3.2 First", "3.3 New"]
    workspace.remove(added)
    assert outline()[-1] == "3.2 First"
    workspace.restore(added)
    assert outline()[-1] == "3.3 New"
    with pytest.raises(BadTemplate, match="empty"):
        workspace.rename(report_id, "  ")
    workspace.rename(report_id, "Another title", "For all of it.")
    report = workspace.report(report_id)
    assert (report.title, report.guidance) == ("Another title", "For all of it.")
    assert "Not written yet." in engine.write_report(report, "md").decode()


@pytest.fixture
def claude(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Engine, MessagesServer]]:
    with MessagesServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        with Engine.open(home=home) as opened:
            yield opened, server


def test_a_rewrite_keeps_the_draft_its_sources_and_its_price(claude: tuple[Engine, MessagesServer]) -> None:
    engine, server = claude
    workspace, report_id, (wells, staff) = made(engine, WELLS, STAFF)
    expense = workspace.expense(report_id)
    assert expense.parts == 2
    assert expense.usd is not None
    assert expense.usd > 0
    server.reply(Reply(text="How many wells were sampled is known, and the highest nitrate reading <<SOURCE 1.1>>."))
    write(workspace, report_id, wells)
    workspace.edit(wells, "My own words on the wells sampled and the highest nitrate reading [1].")
    server.reply(Reply(text="Shorter: wells sampled, highest nitrate reading <<SOURCE 1.1>>."))
    write(workspace, report_id, wells, instruction="Make it shorter.")
    asked = str(server.requests[-1]["body"]["messages"])
    assert "My own words on the wells sampled and the highest nitrate reading <<SOURCE 1.1>>." in asked
    assert "Make it shorter." in asked
    stored = shown(workspace, wells)
    assert stored.content is not None
    assert stored.content.text.startswith("Shorter")
    assert [version.change for version in workspace.versions(wells)] == [
        "Rewritten: Make it shorter.",
        "Edited",
        "Filled",
    ]
    spent = {entry.purpose: entry.usd for entry in engine.spending().entries}
    assert spent["report"] == pytest.approx(workspace.store.cost(report_id))
    # What is accepted is given to the writer of what stands before it.
    workspace.accept(wells)
    workspace.move(staff, -1)
    server.reply(Reply(text="**412** <<SOURCE 1.1>>"))
    write(workspace, report_id)
    assert "Shorter: wells sampled" in str(server.requests[-1]["body"]["messages"])


def test_what_is_stopped_or_fails_does_not_take_the_place_of_what_was_there(
    claude: tuple[Engine, MessagesServer],
) -> None:
    engine, server = claude
    workspace, report_id, (wells,) = made(engine, WELLS)
    whole = "How many wells were sampled, and the highest nitrate reading <<SOURCE 1.1>>."
    server.reply(Reply(text=whole))
    write(workspace, report_id)
    before = shown(workspace, wells).content
    server.reply(Reply(text=whole, disconnect_after=2))
    write(workspace, report_id, wells)
    after = shown(workspace, wells)
    assert after.content == before
    assert after.trouble is not None
    assert after.versions == 2
    stop = Stop()
    server.reply(Reply(text=whole, chunks=40, delay=0.02))
    workspace.queue(report_id, [wells])
    workspace.write(workspace.store.tasks()[0], lambda _: stop.set(), stop)
    assert shown(workspace, wells).content == before
    assert workspace.store.tasks() == []
