"""Messages through the whole pipeline: exact, each attachment a document of its own, and nothing fetched."""

from __future__ import annotations

import json
from email.message import EmailMessage
from pathlib import Path

import pytest

from ragcore.engine import Engine
from ragcore.ingest.convert.kinds import kind_of
from ragcore.ingest.convert.mail import read_mail
from ragcore.types import Document
from ragcore.types.library import DocumentInfo
from tests import pdfs
from tests.check.files import book as workbook
from tests.command_line import run
from tests.ingest.hostile import error_of
from tests.ingest.mail import message, outlook, picture
from tests.ingest.test_convert import listening

TEXT = "Nitrate was 61.4 mg/l at Orchard Lane.\n\nThe limit is 50 mg/l.\n"
SUBJECT, TEXT_OF, PAGE, CODE_PAGE, SENDER, ADDRESS, TO, SENT = (
    0x37,
    0x1000,
    0x1013,
    0x3FDE,
    0x0C1A,
    0x0C1F,
    0x0E04,
    0x39,
)
METHOD, LONG_NAME, DATA, CONTENT_ID = 0x3705, 0x3707, 0x3701, 0x3712


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(home=tmp_path / "home", overrides={"llm.model": "offline"})


def read(engine: Engine, data: bytes, name: str = "mail.eml") -> tuple[DocumentInfo, Document]:
    info = engine.ingest(engine.add(data, name).doc_id)
    assert info.status == "ready", info.error
    return info, engine.document(info.doc_id)


def text_of(mail: bytes, kind: str = "eml") -> str:
    made = read_mail(mail, "mail", "msg" if kind == "msg" else "eml")
    return " ".join(made.markup.text.split())


def test_a_message_has_its_head_and_text_once_and_is_called_by_its_subject(engine: Engine) -> None:
    info, document = read(engine, message(TEXT, Cc="Café <c@valley.example>", Subject="Résumé of May").as_bytes())
    assert (info.kind, info.title, info.notes) == ("eml", "Résumé of May", ())
    for line in (
        *("From: Ada Marsh <ada@valley.example>", "To: Board <board@valley.example>", "Cc: Café <c@valley.example>"),
        *("Date: Tue, 04 Mar 2025 10:00:00 +0100", "Nitrate was 61.4 mg/l at Orchard Lane.", "Résumé of May"),
    ):
        assert document.text.count(line) == 1, document.text
    assert [document.text[e.start : e.end] for e in document.body if e.kind == "heading"] == ["Résumé of May"]


def test_of_alternatives_the_page_is_taken_and_nothing_in_it_acts_or_is_fetched(engine: Engine) -> None:
    with listening() as (address, asked):
        html = (
            f'<html><head><title>Not this</title></head><body><p onclick="x()">It is <b>61.4</b> mg/l.</p>'
            f'<img src="{address}/pixel.png"><img src="cid:logo"><script>alert(1)</script></body></html>'
        )
        mail = message("The same as plain text.", html)
        page = mail.get_payload()[1]
        assert isinstance(page, EmailMessage)
        page.add_related(picture("Logo"), "image", "png", cid="<logo>", filename="logo.png")
        added = engine.add(mail.as_bytes(), "mail.eml")
        info = engine.ingest(added.doc_id)
    assert (asked, added.attached) == ([], ())
    assert info.notes == ("2 pictures left out.",)
    text = engine.document(info.doc_id).text
    assert "It is 61.4 mg/l." in text
    assert not any(each in text for each in ("plain text", "alert", "Not this", "logo.png"))


def test_what_is_attached_is_a_document_of_its_own(engine: Engine) -> None:
    inner = message(
        "The board meets on Friday.", attached=[("wells.xlsx", workbook(S=[["Well"], ["Elm"]]))], Subject="Ü"
    )
    mail = message(TEXT, attached=[("rép/ort.pdf", pdfs.one_column()), ("tool.zip", b"\0\1\2"), ("none.txt", b"")])
    mail.add_attachment(inner)
    added = engine.add(mail.as_bytes(), "mail.eml")
    names = {info.doc_id: (info.name, info.kind, info.status) for info in engine.documents()}
    assert [names[doc_id] for doc_id in added.attached] == [
        ("ort.pdf", "pdf", "new"),
        ("Ü.eml", "eml", "new"),
        ("wells.xlsx", "xlsx", "new"),
    ]
    info = engine.ingest(added.doc_id)
    assert info.notes == (
        "Attached, as documents of their own: ort.pdf, Ü.eml.",
        "Attached, and not read: “tool.zip”. tool.zip is no file that Groundwork reads.",
        "Attached, and not read: “none.txt”. It is empty.",
    )
    text = engine.document(info.doc_id).text
    assert "Attachments: ort.pdf (" in text
    assert "Friday" not in text
    assert all(engine.ingest(doc_id).status == "ready" for doc_id in added.attached)
    again = engine.add(mail.as_bytes(), "again.eml")
    assert (again.status, again.attached) == ("already", added.attached)


def test_from_the_command_line_what_is_attached_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "mail.eml").write_bytes(message(TEXT, attached=[("wells.md", b"# Wells\n\nElm: 7.2 mg/l.")]).as_bytes())
    done = run(["--home", str(tmp_path / "home"), "--json", "ingest", str(tmp_path / "mail.eml")])
    assert done.returncode == 0, done.stderr
    assert [(one["name"], one["status"], one["note"]) for one in json.loads(done.stdout)["documents"]] == [
        ("mail.eml", "ready", ""),
        ("wells.md", "ready", "attached to mail.eml"),
    ]


def raw(head: str, body: bytes) -> bytes:
    return b"From: a@x\nSubject: s\n" + head.encode() + b"\n\n" + body


@pytest.mark.parametrize(
    "data",
    [
        raw('Content-Type: text/plain; charset="iso-8859-1"', "Das Café".encode("latin-1")),
        raw('Content-Type: text/plain; charset="us-ascii"', "Das Café".encode()),
        raw('Content-Type: text/plain; charset="us-ascii"', "Das Café".encode("cp1252")),
        raw('Content-Type: text/plain; charset="no-such"', "Das Café".encode()),
        raw("Content-Transfer-Encoding: base64\nContent-Type: text/plain; charset=utf-8", b"RGFzIENhZsOp"),
        raw(
            "Content-Transfer-Encoding: quoted-printable\nContent-Type: text/plain; charset=utf-8", b"Das Caf=C3=\n=A9"
        ),
        raw("Content-Type: multipart/mixed; boundary=none", "Das Café".encode()),
        raw("Content-Type: multipart/mixed; boundary=b", b"--b\n\nDas Caf\xc3\xa9"),
        b"\xef\xbb\xbf" + raw("X: y", "Das Café".encode()),
        b"From - Tue Mar 04 10:00:00 2025\n" + raw("X: y", "Das Café".encode()),
        raw("X: y", "Das Café".encode()).replace(b"\n", b"\r\n"),
    ],
    ids=["named", "utf-8", "cp1252", "unknown", "base64", "quoted", "no parts", "cut", "mark", "mailbox", "crlf"],
)
def test_every_way_of_writing_letters_is_read(data: bytes) -> None:
    assert kind_of(data, "mail.eml") == "eml"
    assert text_of(data).endswith("Das Café")


@pytest.mark.parametrize("subject", [b"=?utf-8?q?Caf=C3=A9?=", "Café".encode(), b"Caf\xe9", b"=?no-such?q?Caf=C3=A9?="])
def test_a_head_in_any_encoding_is_read(subject: bytes) -> None:
    assert read_mail(b"From: a@x\nSubject: " + subject + b"\n\nText", "mail", "eml").subject == "Café"


def nested(depth: int) -> bytes:
    head = b"".join(b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (n, n) for n in range(depth))
    return b"From: a@x\nSubject: deep\n" + head + b"\nIt is deep."


OUTLOOK = outlook({SUBJECT: "Nitrate", TEXT_OF: TEXT})
HOSTILE: dict[str, tuple[bytes, str]] = {
    "deep.eml": (nested(10_000), "nested too deep"),
    "many.eml": (raw("Content-Type: multipart/mixed; boundary=b", b"--b\n\nx\n" * 10_001), "1,000 parts"),
    "no.eml": (b"Only words, and no message.", "no e-mail"),
    "sealed.eml": (raw("Content-Type: application/pkcs7-mime; smime-type=enveloped-data", b"MII"), "is encrypted"),
    "cut.msg": (outlook({SUBJECT: "Nitrate", TEXT_OF: TEXT * 200})[:-3000], "damaged"),
    "wiped.msg": (OUTLOOK[:512] + bytes(512) + OUTLOOK[1024:], "damaged"),
    "fake.msg": (b"Only words.", "no Outlook file"),
    "rtf.msg": (outlook({SUBJECT: "Nitrate", 0x1009: b"LZFu"}), "RTF only"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_message_is_one_clear_error(engine: Engine, name: str) -> None:
    data, said = HOSTILE[name]
    error = error_of(engine, data, name)
    assert error is not None
    assert said in error["message"]


def test_a_message_in_a_text_file_is_one_and_a_text_with_colons_is_not() -> None:
    mail = message(TEXT).as_bytes()
    assert [kind_of(mail, name) for name in ("mail.eml", "mail.txt", "mail")] == ["eml"] * 3
    assert kind_of(b"From: here\nTo: there\n\nA journey.", "notes.txt") == "txt"
    assert kind_of(raw("X: y", b"%PDF-1.7 \0\1 endobj"), "mail.eml") == "eml"


def test_an_outlook_message_is_read_as_any_other(engine: Engine) -> None:
    head = {SUBJECT: "Nitrate in May", SENDER: "Ada Marsh", ADDRESS: "ada@valley.example", TO: "Board"}
    page = '<html><body><p>It is <b>61.4</b> mg/l at the Café.</p><img src="cid:logo@1"></body></html>'
    data = outlook(
        {**head, SENT: 133_855_812_000_000_000, TEXT_OF: "plain", PAGE: page.encode("cp1252"), CODE_PAGE: 1252},
        [
            {METHOD: 1, LONG_NAME: "report.pdf", DATA: pdfs.one_column()},
            {METHOD: 1, LONG_NAME: "logo.png", DATA: picture("Logo"), CONTENT_ID: "logo@1"},
            {METHOD: 5, DATA: {SUBJECT: "An older message\0", TEXT_OF: "The board meets on Friday."}},
            {METHOD: 7, LONG_NAME: "far.pdf"},
        ],
    )
    added = engine.add(data, "mail.msg")
    info = engine.ingest(added.doc_id)
    assert (info.status, info.kind, info.title) == ("ready", "msg", "Nitrate in May")
    text = engine.document(info.doc_id).text
    for line in ('From: "Ada Marsh" <ada@valley.example>', "To: Board", "Date: Tue, 04 Mar 2025 17:00:00 +0000"):
        assert text.count(line) == 1, text
    assert "It is 61.4 mg/l at the Café." in text
    assert engine.original(info.doc_id).read_bytes() == data
    assert info.notes[:2] == (
        "Attached, as documents of their own: report.pdf, An older message.eml.",
        "Attached, and not read: “far.pdf”. It is a link to a file elsewhere.",
    )
    assert [engine.ingest(doc_id).status for doc_id in added.attached] == ["ready", "ready"]
    assert "The board meets on Friday." in engine.document(added.attached[1]).text
    assert engine.add(data, "again.msg").attached == added.attached


def test_an_outlook_message_of_plain_text_has_its_lines(engine: Engine) -> None:
    assert "61.4 mg/l at Orchard Lane." in text_of(outlook({SUBJECT: "Nitrate", TEXT_OF: TEXT}), "msg")
