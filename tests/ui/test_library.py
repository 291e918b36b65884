"""The Library's routes and payload: what to do about what failed, and what another window has done meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcore import errors
from ragcore.config.settings import load
from ragcore.engine import Engine
from ragcore.index.versions import supersede
from tests import pdfs
from tests.ui.asgi import ask, token
from ui.chat.runs import Answers
from ui.library import routes as library_routes
from ui.library.advice import advice
from ui.library.jobs import Ingestion
from ui.server import services as services_module
from ui.server.guard import TOKEN_HEADER
from ui.server.services import Services
from ui.server.tokens import Signer
from ui.viewer.render import Renderer

Json = dict[str, Any]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Services]:
    engine = Engine.open(home=tmp_path / "home", overrides={"llm.model": "offline"})
    renderer = Renderer(tmp_path / "pages")
    made = Services(engine, Ingestion(engine, removed=renderer.forget), Answers(engine), renderer, Signer())
    services_module._opened.append(made)
    yield made
    services_module.close()


def call(made: Services, path: str, body: Json) -> tuple[int, Json]:
    headers = {TOKEN_HEADER: made.signer.token("one")}
    status, _, answer = ask(library_routes.routes(), f"/gw/{path}", headers=headers, body=body)
    return status, json.loads(answer)


@pytest.mark.parametrize(
    "error",
    [
        errors.NoText("scan.pdf has no text."),
        errors.TooManyPages("long.pdf has 6,000 pages."),
        errors.FileTooLarge("large.pdf is 300 MB."),
        errors.ParseError("The reading ended early."),
        errors.ParseTimeout("It took too long."),
        errors.ParseCrashed("The reading ended early."),
        errors.StoreBusy("Another process is at work."),
    ],
)
def test_no_hint_of_a_row_names_a_command_or_a_file_of_settings(error: errors.GroundworkError) -> None:
    settings = load(environ={})[0]
    hint = advice(error.as_dict(), settings)["hint"]
    assert hint
    assert not re.search(r"config\.toml|ragcore|--|ingest|`", hint), hint


@pytest.mark.parametrize(("mode", "said"), [("off", "Turn it on"), ("auto", "every page"), ("force", "language")])
def test_a_scan_without_words_leads_to_the_settings_that_may_help(mode: str, said: str) -> None:
    error = errors.NoText("scan.pdf has no text that can be read (page 1: OCR is off (ocr.mode)).").as_dict()
    told = advice(error, load(environ={}, overrides={"ocr.mode": mode})[0])
    assert (told["settings"], told["again"]) == ("reading", True)
    assert said in told["hint"]
    assert "ocr.mode" not in told["message"]


def test_a_hint_that_was_written_for_one_case_is_kept() -> None:
    error = errors.ParseError("Another version read it.", hint="Remove the document and add it again.", retryable=False)
    told = advice(error.as_dict(), load(environ={})[0])
    assert (told["hint"], told["again"]) == ("Remove the document and add it again.", False)


def test_what_another_window_removed_is_refused_in_words_and_not_as_an_error(opened: Services) -> None:
    doc_id = opened.engine.add(pdfs.one_column(), "survey.pdf").doc_id
    assert call(opened, "library/remove", {"docs": [doc_id]}) == (200, {})
    for path, more in (
        ("library/remove", {}),
        ("library/read", {}),
        ("library/tags", {"add": ["a"]}),
        ("library/folder", {"folder": "a"}),
        (f"documents/{doc_id}/read", {}),
    ):
        status, answer = call(opened, path, {"docs": [doc_id]} | more)
        assert (status, answer["refused"]["code"]) == (200, "removed"), path
    assert call(opened, "library/finish", {"docs": [doc_id]}) == (200, {})
    status, answer = call(opened, "library/restore", {"docs": [doc_id]})
    assert (status, answer["refused"]["message"]) == (200, "It's too late to undo this removal.")


def test_a_name_that_cannot_be_is_refused_and_a_body_that_cannot_be_is_an_error(opened: Services) -> None:
    doc_id = opened.engine.add(pdfs.one_column(), "survey.pdf").doc_id
    status, answer = call(opened, "library/tags", {"docs": [doc_id], "add": ["x" * 200]})
    assert (status, "cannot be a tag" in answer["refused"]["message"]) == (200, True)
    assert call(opened, "library/tags", {"docs": [doc_id], "add": 3})[0] == 400
    assert call(opened, "library/remove", {"docs": "all"})[0] == 400


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("page.html", b"<html><script>alert(1)</script><p>It is a page.</p></html>", "text/html"),
        ("data.csv", b"Well,May\nElm,7\n", "text/csv"),
        ("data.tsv", b"Well\tMay\nElm\t7\n", "text/csv"),
        ("table.pdf", pdfs.ruled_table(), "application/pdf"),
    ],
)
def test_an_original_is_saved_as_it_was_and_never_opened(opened: Services, name: str, data: bytes, kind: str) -> None:
    doc_id = opened.engine.add(data, name).doc_id
    status, headers, body = ask(library_routes.routes(), f"/gw/documents/{doc_id}/original", headers=token(opened))
    assert (status, body) == (200, data)
    assert headers["content-type"].split(";")[0] == kind
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-disposition"] == f'attachment; filename="{name}"'
    opened.engine.remove(doc_id)


def test_an_original_of_an_earlier_version_is_saved_too(opened: Services) -> None:
    old, new = (opened.engine.add(f"The fee is {fee}.".encode(), "fee.txt").doc_id for fee in (4, 5))
    opened.engine.store.set_status(new, "ready")
    with opened.engine.store.database.write() as connection:
        supersede(connection, old, new)
    assert old not in {info.doc_id for info in opened.engine.documents()}
    found = ask(library_routes.routes(), f"/gw/documents/{old}/original", headers=token(opened))
    assert (found[0], found[2]) == (200, b"The fee is 4.")
    opened.engine.remove(new)
