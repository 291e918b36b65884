"""Outlook's messages (MSG): head, text and attachments, read from their properties."""

from __future__ import annotations

from email.utils import format_datetime

from oxmsg import Message
from oxmsg.attachment import Attachment as OxAttachment
from oxmsg.domain import constants as properties

from ragcore.errors import DamagedFile, EncryptedFile, NoText
from ragcore.ingest.convert.kinds import DAMAGED, decoded
from ragcore.ingest.convert.mail import HEAD, Attachment, Mail, attachment, plain_name
from ragcore.ingest.convert.markup import clean_html, text_html

_SHOWN_TO = {"Cc": properties.PID_DISPLAY_CC, "Bcc": properties.PID_DISPLAY_BCC, "To": properties.PID_DISPLAY_TO}


def read_msg(data: bytes, name: str) -> Mail:
    """Message of an MSG file. Raises `DamagedFile`, `EncryptedFile`, `NoText`."""
    try:
        return _mail(Message.load(data), name)
    except (*DAMAGED, AssertionError) as error:
        raise DamagedFile(f"{name} is damaged, or no message of Outlook.", hint=_SAVE) from error


def _mail(message: Message, name: str) -> Mail:
    given = message.properties
    if message.message_class.upper() == "IPM.NOTE.SMIME":
        raise EncryptedFile(f"{name} is encrypted.", hint=_SAVE)
    page, code = _page(message)
    text = clean_html(page) if page else text_html(message.body or "")
    if not text.html and given.binary_prop_value(properties.PID_RTF_COMPRESSED):
        raise NoText(f"{name} has its text as RTF only.", hint=_SAVE)
    sent = message.sent_date
    shown = {key: given.str_prop_value(pid) for key, pid in _SHOWN_TO.items()}
    told = {"From": message.sender, **shown, "Subject": message.subject, "Date": sent and format_datetime(sent)}
    head = tuple((key, " ".join(value.split())) for key in HEAD if (value := told[key]))
    if not head:
        raise DamagedFile(f"{name} is damaged: it has no sender, subject or date.", hint=_SAVE)
    attached = tuple(_attached(each) for each in message.attachments if not _is_shown(each, page))
    return Mail(head, (text,) if text.html else (), attached, (code,))


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


def _is_shown(given: OxAttachment, page: str) -> bool:
    """Whether an attachment is a picture that stands in the text."""
    own = given.properties.str_prop_value(properties.PID_ATTACH_CONTENT_ID)
    return bool(own) and f"cid:{own}" in page


def _attached(given: OxAttachment) -> Attachment:
    called = given.file_name or given.properties.str_prop_value(properties.PID_ATTACH_FILENAME) or ""
    name = plain_name(called or given.properties.str_prop_value(properties.PID_DISPLAY_NAME) or "") or "attachment"
    if given.file_bytes is None:
        return Attachment(name, b"", why="It is a message or a link. Save it in Outlook as a file of its own.")
    return attachment(name, given.file_bytes)


_SAVE = "Open it in Outlook, save it as .eml or PDF, and add that."
