"""Outlook's messages (MSG): head, text and attachments, read from their properties. A message in one becomes an EML."""

from __future__ import annotations

import hashlib
import io
from email.header import Header
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime

from olefile import OleFileIO
from oxmsg import Message
from oxmsg.attachment import Attachment as Attached
from oxmsg.domain import constants as properties
from oxmsg.properties import Properties
from oxmsg.storage import Storage

from ragcore.errors import DamagedFile, EncryptedFile, NoText
from ragcore.ingest.convert.kinds import DAMAGED, decoded
from ragcore.ingest.convert.mail import HEAD, Attachment, Mail, attachment, decoded_header, file_name
from ragcore.ingest.convert.markup import clean_html, text_html

_INNER_HEAD = 24  # bytes before the properties of a message in another
_INNER = "__substg1.0_3701000D"  # name of its storage
_SHOWN_TO = {"Cc": properties.PID_DISPLAY_CC, "Bcc": properties.PID_DISPLAY_BCC, "To": properties.PID_DISPLAY_TO}


class _InnerMessage(Message):
    """Message in another."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._own = Properties(storage, properties_header_offset=_INNER_HEAD)

    @property
    def properties(self) -> Properties:
        return self._own


def read_msg(data: bytes, name: str) -> Mail:
    """Message of an MSG file. Raises `DamagedFile`, `EncryptedFile`, `NoText`."""
    try:
        with OleFileIO(io.BytesIO(data)) as ole:
            storage = Storage.from_ole(ole)
        return _mail(Message(storage), storage, name)
    except (*DAMAGED, AssertionError) as error:
        raise DamagedFile(f"{name} is damaged, or no message of Outlook.", hint=_SAVE) from error


def _mail(message: Message, storage: Storage, name: str) -> Mail:
    if message.message_class.upper() == "IPM.NOTE.SMIME":
        raise EncryptedFile(f"{name} is encrypted.", hint=_SAVE)
    head = _head(message)
    if not head:
        raise DamagedFile(f"{name} is damaged: it has no sender, subject or date.", hint=_SAVE)
    page, code = _page(message)
    text = clean_html(page) if page else text_html(message.body or "")
    if not text.html and message.properties.binary_prop_value(properties.PID_RTF_COMPRESSED):
        raise NoText(f"{name} has its text as RTF only.", hint=_SAVE)
    each = storage.iter_attachment_storages()
    attached = tuple(_attached(one) for one in each if not _is_shown(Attached(one), page))
    return Mail(head, (text,) if text.html else (), attached, (code,))


def _head(message: Message) -> tuple[tuple[str, str], ...]:
    sent = message.sent_date
    shown = {key: message.properties.str_prop_value(pid) for key, pid in _SHOWN_TO.items()}
    told = {"From": message.sender, **shown, "Subject": message.subject, "Date": sent and format_datetime(sent)}
    lines = ((key, decoded_header((told[key] or "").replace("\0", ""))) for key in HEAD)
    return tuple((key, value) for key, value in lines if value)


def _page(message: Message) -> tuple[str, str]:
    """HTML of a message and its encoding; "" if it has none."""
    given = message.properties
    data = given.binary_prop_value(properties.PID_HTML)
    if data is None:
        return given.str_prop_value(properties.PID_BODY_HTML) or "", "utf-8"
    try:
        return data.decode(given.body_encoding), given.body_encoding
    except (UnicodeDecodeError, LookupError):
        return decoded(data) or ("", "utf-8")


def _is_shown(given: Attached, page: str) -> bool:
    """Whether an attachment is a picture that stands in the text."""
    own = given.properties.str_prop_value(properties.PID_ATTACH_CONTENT_ID)
    return bool(own) and f"cid:{own}" in page


def _attached(storage: Storage) -> Attachment:
    inner = next((each for each in storage.storages if each.name == _INNER), None)
    if inner is not None:
        message = _InnerMessage(inner)
        return attachment(file_name(f"{message.subject.replace('/', '-') or 'message'}.eml"), _eml(message, inner))
    name, data = _named(Attached(storage))
    if data is None:
        return Attachment(name, b"", why="It is a link to a file elsewhere.")
    return attachment(name, data)


def _named(given: Attached) -> tuple[str, bytes | None]:
    told = given.file_name or given.properties.str_prop_value(properties.PID_ATTACH_FILENAME)
    return file_name(told or given.properties.str_prop_value(properties.PID_DISPLAY_NAME) or ""), given.file_bytes


def _eml(message: Message, storage: Storage) -> bytes:
    """EML of a message in another; equal ones give equal bytes."""
    page, _ = _page(message)
    parts = [MIMEText(page, "html", "utf-8") if page else MIMEText(message.body or "", "plain", "utf-8")]
    files: list[MIMEApplication] = []
    for one in storage.iter_attachment_storages():
        given, made = Attached(one), _attached(one)
        file = MIMEApplication(made.data)
        file.add_header("Content-Disposition", "attachment", filename=("utf-8", "", made.name))
        if own := given.properties.str_prop_value(properties.PID_ATTACH_CONTENT_ID):
            file.add_header("Content-ID", f"<{own}>")
        files.append(file)
    digest = hashlib.sha256("".join(each.as_string() for each in (*parts, *files)).encode())
    made_of = MIMEMultipart(boundary=digest.hexdigest(), _subparts=[*parts, *files])
    for key, value in _head(message):
        made_of[key] = Header(value, "utf-8").encode()
    return made_of.as_bytes()


_SAVE = "Open it in Outlook, save it as .eml or PDF, and add that."
