"""Reports that are worked on: nothing written is lost, edits are checked again, conflicts are seen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcore.cancel import Stop
from ragcore.engine import Engine
from ragcore.errors import BadTemplate, InputError, SectionAccepted, UnknownReport
from ragcore.index.report_rows import StoredSection
from ragcore.report.editing import HAND
from ragcore.report.template import Template, from_data
from ragcore.report.workspace import Desk
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
    shutil.copytree(shelf, tmp_path / "home")
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


def write(desk: Desk, report_id: str, *section_ids: str, instruction: str = "") -> None:
    desk.queue(report_id, list(section_ids) or None, instruction)
    for task in desk.store.tasks():
        desk.write(task, lambda _: None, Stop())


def made(engine: Engine, *sections: dict[str, Any]) -> tuple[Desk, str, list[str]]:
    desk = engine.reports
    report_id = desk.new(template(*sections), origin="test")
    return desk, report_id, [one.section_id for one in desk.get(report_id).stored.sections]


def shown(desk: Desk, section_id: str) -> StoredSection:
    return desk.store.section(section_id)


def test_a_report_survives_and_keeps_every_version(home: Path) -> None:
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        desk, report_id, (wells, absent) = made(engine, WELLS, ABSENT)
        write(desk, report_id)
        first = shown(desk, wells)
        assert first.shown is not None
        assert (first.shown.author, first.shown.change) == ("offline", "Filled")
        assert first.content is not None
        desk.edit(wells, first.content.text + "\n\nA sentence of my own.")
    with Engine.open(home=home, overrides={"llm.model": "offline"}) as engine:
        desk = engine.reports
        stored = shown(desk, wells)
        assert stored.content is not None
        assert stored.content.text.endswith("A sentence of my own.")
        assert stored.shown is not None
        assert (stored.shown.author, stored.versions) == (HAND, 2)
        desk.undo(wells)
        assert shown(desk, wells).content == first.content
        latest = desk.versions(wells)[0]
        desk.show(wells, latest.version_id)  # what was undone is there still
        assert shown(desk, wells).content == stored.content
        desk.undo(wells)
        desk.undo(wells)
        assert shown(desk, wells).content is None
        with pytest.raises(InputError, match="nothing to undo"):
            desk.undo(wells)
        gaps = shown(desk, absent).content
        assert gaps is not None
        assert [gap.what for gap in gaps.gaps] == ["Dividends per share"]
        desk.store.delete(report_id)
        with pytest.raises(UnknownReport):
            desk.get(report_id)
        assert desk.versions(wells) == []


def test_an_edit_that_disagrees_with_its_source_is_flagged(engine: Engine) -> None:
    desk, report_id, (staff,) = made(engine, STAFF)
    desk.store.set_documents(report_id, [info.doc_id for info in engine.documents() if info.name == "north.pdf"])
    write(desk, report_id)
    content = shown(desk, staff).content
    assert content is not None
    assert "412" in content.text
    right = desk.edit(staff, "There were 412 employees at the end of 2023 [1].").answer
    wrong = desk.edit(staff, "There were 812 employees at the end of 2023 [1]. They like it there [9].").answer
    assert right is not None
    assert wrong is not None
    assert [claim.status for claim in right.claims] == ["supported"]
    assert [claim.status for claim in wrong.claims] == ["unsupported", "uncited"]
    assert wrong.dropped == ("[9]",)
    assert [citation.n for citation in wrong.citations] == [1]
    assert shown(desk, staff).versions == 3


def test_an_accepted_section_is_not_changed_by_anything(engine: Engine) -> None:
    desk, report_id, (staff, wells) = made(engine, STAFF, WELLS)
    with pytest.raises(InputError, match="still empty"):
        desk.accept(staff)
    write(desk, report_id)
    desk.accept(wells)
    before = shown(desk, wells)
    for change in (
        lambda: desk.edit(wells, "x"),
        lambda: desk.undo(wells),
        lambda: desk.queue(report_id, [wells]),
        lambda: desk.change(wells, {"heading": "Other"}),
        lambda: desk.remove(wells),
    ):
        with pytest.raises(SectionAccepted):
            change()
    # Accepted between the queue and its turn: it is passed over.
    desk.store.queue(report_id, [(wells, "")], "offline")
    assert not desk.write(desk.store.tasks()[0], lambda _: None, Stop())
    after = shown(desk, wells)
    assert (after.content, after.versions, after.waits) == (before.content, before.versions, None)
    desk.accept(wells, False)
    desk.edit(wells, "Now it may be changed.")


def test_two_values_for_one_field_are_seen_side_by_side(engine: Engine) -> None:
    desk, report_id, (staff,) = made(engine, STAFF)
    write(desk, report_id)
    content = shown(desk, staff).content
    assert content is not None
    (conflict,) = content.conflicts
    assert {rival.figure for rival in conflict.rivals} == {"412", "437"}
    assert len({rival.citation.doc_id for rival in conflict.rivals}) == 2
    for rival in conflict.rivals:
        document = engine.document(rival.citation.doc_id)
        assert document.text[rival.citation.start : rival.citation.end] == rival.citation.quote
        assert rival.citation.boxes
    number = next(i for i, rival in enumerate(conflict.rivals) if rival.figure == "437")
    chosen = desk.choose(staff, 0, number)
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
        desk, report_id, (staff,) = made(engine, STAFF)
        write(desk, report_id)
        content = shown(desk, staff).content
        assert content is not None
        (conflict,) = content.conflicts
        assert {rival.figure for rival in conflict.rivals} == {"86", "91"}
        assert "412" in content.text


def test_pins_and_exclusions_reach_the_sources(engine: Engine) -> None:
    desk, report_id, (staff,) = made(engine, STAFF)
    north, later = (next(i.doc_id for i in engine.documents() if i.name == n) for n in ("north.pdf", "north-later.pdf"))
    text = engine.document(north).text
    whole = Span(north, 0, len(text))
    desk.place(staff, whole, "excluded")
    survey = next(info.doc_id for info in engine.documents() if info.name == "survey.pdf")
    at = engine.document(survey).text.index("nitrate")
    desk.place(staff, Span(survey, at, at + 40), "pinned")
    write(desk, report_id)
    content = shown(desk, staff).content
    assert content is not None
    assert content.answer is not None
    sources = content.answer.sources
    assert sources[0].doc_id == survey
    assert sources[0].via == "pinned"
    assert {source.doc_id for source in sources} == {survey, later}
    assert content.conflicts == ()
    desk.place(staff, whole, None)
    write(desk, report_id, staff)
    again = shown(desk, staff).content
    assert again is not None
    assert len(again.conflicts) == 1


def test_a_passage_added_by_hand_is_quoted_cited_and_pinned(engine: Engine) -> None:
    desk, report_id, (absent,) = made(engine, ABSENT)
    write(desk, report_id)
    survey = next(info.doc_id for info in engine.documents() if info.name == "survey.pdf")
    text = engine.document(survey).text
    start = text.index("nitrate") - 4
    made_of = desk.add_passage(absent, Span(survey, start, start + 50), "Dividends per share")
    assert made_of.gaps == ()
    assert "INSUFFICIENT" not in made_of.text
    assert made_of.answer is not None
    (citation,) = made_of.answer.citations
    assert text[citation.start : citation.end] == citation.quote
    assert [claim.status for claim in made_of.answer.claims] == ["supported"]
    assert shown(desk, absent).pinned == (Span(survey, start, start + 50),)
    twice = desk.add_passage(absent, Span(survey, start, start + 50))
    assert twice.answer is not None
    assert len(twice.answer.citations) == 1
    with pytest.raises(InputError, match="No words"):
        desk.add_passage(absent, Span(survey, 10, 10))


def test_the_outline_is_changed_in_place(engine: Engine) -> None:
    group = {"heading": "Group", "sections": [{"heading": "One"}, {"heading": "Two"}]}
    desk, report_id, (top, one, two, wells) = made(engine, group, WELLS)

    def outline() -> list[str]:
        return [f"{place.number} {place.section.heading}" for _, place in desk.get(report_id).pairs]

    desk.change(one, {"heading": "First", "kind": "table", "columns": ["A", "B"]})
    with pytest.raises(BadTemplate, match='needs its "columns"'):
        desk.change(two, {"kind": "table"})
    desk.move(two, -1)
    desk.move(two, -1)  # already the first
    assert outline() == ["1 Group", "1.1 Two", "1.2 First", "2 Wells"]
    desk.move(wells, -1)
    assert outline() == ["1 Wells", "2 Group", "2.1 Two", "2.2 First"]
    added = desk.add(report_id, "New", after=top, below=True)
    desk.add(report_id, "Next", after=wells)
    assert outline() == ["1 Wells", "2 Next", "3 Group", "3.1 Two", "3.2 First", "3.3 New"]
    desk.remove(added)
    assert outline()[-1] == "3.2 First"
    desk.restore(added)
    assert outline()[-1] == "3.3 New"
    with pytest.raises(BadTemplate, match="empty"):
        desk.rename(report_id, "  ")
    desk.rename(report_id, "Another title", "For all of it.")
    report = desk.report(report_id)
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
    desk, report_id, (wells, staff) = made(engine, WELLS, STAFF)
    expense = desk.expense(report_id)
    assert expense.sections == 2
    assert expense.usd is not None
    assert expense.most_usd is not None
    assert 0 < expense.usd < expense.most_usd
    server.reply(Reply(text="How many wells were sampled is known, and the highest nitrate reading <<SOURCE 1.1>>."))
    write(desk, report_id, wells)
    desk.edit(wells, "My own words on the wells sampled and the highest nitrate reading [1].")
    server.reply(Reply(text="Shorter: wells sampled, highest nitrate reading <<SOURCE 1.1>>."))
    write(desk, report_id, wells, instruction="Make it shorter.")
    asked = str(server.requests[-1]["body"]["messages"])
    assert "My own words on the wells sampled and the highest nitrate reading <<SOURCE 1.1>>." in asked
    assert "Make it shorter." in asked
    stored = shown(desk, wells)
    assert stored.content is not None
    assert stored.content.text.startswith("Shorter")
    assert [version.change for version in desk.versions(wells)] == ["Rewritten: Make it shorter.", "Edited", "Filled"]
    spent = {entry.purpose: entry.usd for entry in engine.spending().entries}
    assert spent["report"] == pytest.approx(desk.store.cost(report_id))
    # What is accepted is given to the writer of what stands before it.
    desk.accept(wells)
    desk.move(staff, -1)
    server.reply(Reply(text="**412** <<SOURCE 1.1>>"))
    write(desk, report_id)
    assert "Shorter: wells sampled" in str(server.requests[-1]["body"]["messages"])


def test_what_is_stopped_or_fails_does_not_take_the_place_of_what_was_there(
    claude: tuple[Engine, MessagesServer],
) -> None:
    engine, server = claude
    desk, report_id, (wells,) = made(engine, WELLS)
    whole = "How many wells were sampled, and the highest nitrate reading <<SOURCE 1.1>>."
    server.reply(Reply(text=whole))
    write(desk, report_id)
    before = shown(desk, wells).content
    server.reply(Reply(text=whole, disconnect_after=2))
    write(desk, report_id, wells)
    after = shown(desk, wells)
    assert after.content == before
    assert after.trouble is not None
    assert after.versions == 2
    stop = Stop()
    server.reply(Reply(text=whole, chunks=40, delay=0.02))
    desk.queue(report_id, [wells])
    desk.write(desk.store.tasks()[0], lambda _: stop.set(), stop)
    assert shown(desk, wells).content == before
    assert desk.store.tasks() == []
