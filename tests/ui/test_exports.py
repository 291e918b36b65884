"""The route of exports: a file under a name that any system takes, and errors as its siblings give them."""

from __future__ import annotations

import json
from urllib.parse import unquote

import pytest

from ragcore.export import KINDS
from tests.export.engines import told
from tests.ui.asgi import ask, token
from ui.chat.conversation_routes import routes
from ui.server import files
from ui.server.services import Services


@pytest.mark.parametrize("kind", KINDS)
def test_a_conversation_is_sent_as_a_file(opened: Services, kind: str) -> None:
    conversation_id = told(opened.engine)
    status, headers, body = ask(routes(), f"/gw/conversations/{conversation_id}/export.{kind}", headers=token(opened))
    assert status == 200
    assert headers["content-type"].startswith(files.TYPES[kind])
    assert headers["content-disposition"].startswith(f'attachment; filename="What did it spend.{kind}"')
    assert body == opened.engine.export(conversation_id, kind)  # type: ignore[arg-type]


def test_errors_are_those_of_the_siblings(opened: Services) -> None:
    conversation_id = told(opened.engine)
    cases = ((f"{conversation_id}/export.doc", 400), ("gone/export.md", 404))
    for path, expected in cases:
        status, headers, body = ask(routes(), f"/gw/conversations/{path}", headers=token(opened))
        assert status == expected
        assert headers["content-type"] == "application/json"
        assert json.loads(body)["error"]["hint"]
        assert "content-disposition" not in headers
    status, _, _ = ask(routes(), f"/gw/conversations/{conversation_id}/export.md", "t=forged")
    assert status == 403


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("What did 3M spend?", "What did 3M spend.pdf"),
        ('a/b\\c: "d" <e>|f*', "a b c d e f.pdf"),
        ("..", "conversation.pdf"),
        ("", "conversation.pdf"),
        ("line\nbreak\x00\u202eevil.exe", "line break evil.exe.pdf"),
        ("年度报告", "年度报告.pdf"),
        ("x" * 300, "x" * 80 + ".pdf"),
    ],
)
def test_a_title_makes_a_name_that_any_system_takes(title: str, name: str) -> None:
    assert files.file_name(title, "pdf") == name


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Sales.md", "Sales.md"),
        ("Café ½.md", "Cafe 12.md"),
        ("年度报告.md", "conversation.md"),
        ("שכר 2018.md", "2018.md"),
    ],
)
def test_a_name_beyond_ascii_is_given_twice(name: str, plain: str) -> None:
    header = files.disposition(name)
    assert header.encode("ascii")
    assert f'filename="{plain}"' in header
    if plain != name:
        assert unquote(header.partition("filename*=UTF-8''")[2]) == name
