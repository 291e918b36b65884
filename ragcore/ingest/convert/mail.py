"""Mail read: head, text and attachments of an EML or MSG file. Nothing that it names is fetched, nothing in it is run.

Of alternatives of one text the web page is taken, else the plain text. A message that is attached is an attachment, as
a file of its own.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from html import escape
from itertools import islice

from ragcore.errors import DamagedFile, EncryptedFile, FileTooLarge, InputError
from ragcore.ingest.convert.kinds import DAMAGED, MAILS, decoded, kind_of
from ragcore.ingest.convert.markup import CleanMarkup, clean_html, text_html
from ragcore.ingest.convert.workbook import encoding_notes
from ragcore.types.library import FileKind

MOST_PARTS = 1_000  # parts of a message, those of messages attached to it included
HEAD = ("From", "To", "Cc", "Bcc", "Date", "Subject")
_SEALED = {"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"}
_TEXTS = ("text/plain", "text/html")
MOST_NAME = 200  # characters of an attachment's name
_UNITS = ((1e6, "MB"), (1e3, "kB"))


@dataclass(frozen=True, slots=True)
class Attachment:
    """File attached to a message, and its kind; None for one that Groundwork doesn't read, with the reason."""

    name: str
    data: bytes
    kind: FileKind | None = None
    why: str = ""

    @property
    def size(self) -> str:
        number = len(self.data)
        for unit, name in _UNITS:
            if number >= unit:
                return f"{number / unit:.0f} {name}" if number >= 10 * unit else f"{number / unit:.1f} {name}"
        return f"{number} bytes"


@dataclass(frozen=True, slots=True)
class Mail:
    """One message: its ``head`` as name and value, its ``texts`` cleaned, and the files attached to it."""

    head: tuple[tuple[str, str], ...]
    texts: tuple[CleanMarkup, ...]
    attachments: tuple[Attachment, ...]
    encodings: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        return dict(self.head).get("Subject", "")

    @property
    def markup(self) -> CleanMarkup:
        """The message as it is set on pages: its subject as heading, its head line by line, then its texts."""
        lines = [f"<b>{name}:</b> {escape(value, quote=False)}" for name, value in self.head if name != "Subject"]
        if self.attachments:
            named = ", ".join(f"{escape(each.name, quote=False)} ({each.size})" for each in self.attachments)
            lines.append(f"<b>Attachments:</b> {named}")
        made = CleanMarkup(title=self.subject)
        heading = f"<h1>{escape(self.subject, quote=False)}</h1>" if self.subject else ""
        made.html = heading + "".join(f"<p>{line}</p>" for line in lines) + "<hr>"
        for text in self.texts:
            made.html += f"<div>{text.html}</div>"
            made.left_out += text.left_out
        return made

    @property
    def notes(self) -> tuple[str, ...]:
        codes = dict.fromkeys(note for code in self.encodings for note in encoding_notes(code))
        read = [each.name for each in self.attachments if each.kind]
        own = "a document of its own" if len(read) == 1 else "documents of their own"
        left = (f"Attached, and not read: “{each.name}”. {each.why}" for each in self.attachments if not each.kind)
        return (*codes, *([f"Attached, as {own}: {', '.join(read)}."] if read else []), *left)


def read_mail(data: bytes, name: str, kind: FileKind) -> Mail:
    """Message of a file of this ``kind``. Raises `InputError`."""
    if kind == "msg":
        from ragcore.ingest.convert.outlook import read_msg

        return read_msg(data, name)
    try:
        return _mail(message_from_bytes(data.removeprefix(BOM_UTF8).lstrip(), policy=policy.compat32), name)
    except RecursionError as error:
        raise DamagedFile(f"{name} has parts nested too deep to be read.", hint=SAVE) from error
    except DAMAGED as error:
        raise DamagedFile(f"{name} is damaged: a part of it can't be read.") from error


def attachments(data: bytes, name: str, kind: FileKind) -> tuple[Attachment, ...]:
    """Files attached to a message; none of a file that is no message, or that is found damaged when it is read."""
    if kind not in MAILS:
        return ()
    try:
        return read_mail(data, name, kind).attachments
    except InputError:
        return ()


def _mail(message: Message, name: str) -> Mail:
    if sum(1 for _ in islice(message.walk(), MOST_PARTS + 1)) > MOST_PARTS:
        raise FileTooLarge(f"{name} has more than {MOST_PARTS:,} parts; that is the limit.", hint=SAVE)
    head = tuple((key, value) for key in HEAD if (value := _header(message, key)))
    if not head:
        raise DamagedFile(f"{name} is damaged, or no e-mail.")
    if message.get_content_type() in _SEALED:
        raise EncryptedFile(f"{name} is encrypted.", hint=SAVE)
    texts: list[CleanMarkup] = []
    codes: list[str] = []
    attached: list[Attachment] = []
    pages = ""
    for part in _chosen(message):
        found = _text(part)
        if found is None:
            attached.append(Attachment(_named(part), _content(part), why="It is no text."))
            continue
        html = part.get_content_type() == "text/html"
        pages += found[0] if html else ""
        texts.append((clean_html if html else text_html)(found[0]))
        codes.append(found[1])
    attached += [_attached(part) for part in _leaves(message) if not _is_text(part) and not _is_shown(part, pages)]
    return Mail(head, tuple(text for text in texts if text.html), tuple(attached), tuple(codes))


def attachment(name: str, data: bytes) -> Attachment:
    """File ``name`` attached to a message, with its kind."""
    if not data:
        return Attachment(name, data, why="It is empty.")
    try:
        return Attachment(name, data, kind_of(data, name))
    except InputError as error:
        return Attachment(name, data, why=error.message)


def file_name(given: str, otherwise: str = "attachment") -> str:
    """Name of an attached file without folders and what no name may have."""
    last = given.replace("\\", "/").rpartition("/")[2]
    return "".join(char for char in last if char.isprintable()).strip()[-MOST_NAME:] or otherwise


def decoded_header(raw: str) -> str:
    """Header on one line, its encoded words read. What can't be read stays as it is."""
    try:
        pieces: Sequence[tuple[bytes | str, str | None]] = decode_header(raw)
    except (HeaderParseError, ValueError):
        pieces = [(raw, None)]
    return " ".join("".join(_piece(text, code) for text, code in pieces).split())


def _leaves(message: Message) -> Iterator[Message]:
    """Parts that hold something: no parts of their own, or another message."""
    if message.get_content_maintype() == "multipart" and message.is_multipart():
        for part in _children(message):
            yield from _leaves(part)
    else:
        yield message


def _children(message: Message) -> list[Message]:
    parts = message.get_payload()
    return [part for part in parts if isinstance(part, Message)] if isinstance(parts, list) else []


def _is_text(part: Message) -> bool:
    """Whether a part is a text of the message, or said to have parts that it hasn't."""
    kind = part.get_content_type()
    return part.get_content_disposition() != "attachment" and (kind in _TEXTS or kind.startswith("multipart/"))


def _chosen(message: Message) -> list[Message]:
    """Texts to be shown, of alternatives the last that has one."""
    if not (message.get_content_maintype() == "multipart" and message.is_multipart()):
        return [message] if _is_text(message) else []
    found = [texts for part in _children(message) if (texts := _chosen(part))]
    if message.get_content_type() == "multipart/alternative":
        found = found[-1:]
    return [text for texts in found for text in texts]


def _text(part: Message) -> tuple[str, str] | None:
    """Text of a part and its encoding: the one that it names, if that fits, else as `decoded` tells; None if it is no
    text."""
    data, said = _content(part), str(part.get_content_charset() or "ascii")
    try:
        return data.decode(said), said
    except (UnicodeDecodeError, LookupError):
        return decoded(data)


def _content(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _is_shown(part: Message, pages: str) -> bool:
    """Whether a part is a picture that stands in a text."""
    own = str(part.get("Content-ID", "")).strip("<> ")
    unnamed = part.get_content_disposition() == "inline" and not part.get_filename()
    return part.get_content_maintype() == "image" and (unnamed or bool(own and f"cid:{own}" in pages))


def _attached(part: Message) -> Attachment:
    if part.get_content_type() == "message/rfc822" and (inner := _children(part)):
        name = file_name(_header(inner[0], "Subject").replace("/", "-"), "message")
        return attachment(f"{name}.eml", inner[0].as_bytes())
    return attachment(_named(part), _content(part))


def _named(part: Message) -> str:
    ending = part.get_content_subtype().partition("+")[0]
    return file_name(decoded_header(part.get_filename() or ""), f"attachment.{ending}")


def _header(message: Message, key: str) -> str:
    """Value of a header on one line; of several with this name all, one after another."""
    values = (str(value) for name, value in message.raw_items() if name.lower() == key.lower())
    return ", ".join(filter(None, map(decoded_header, values)))


def _piece(piece: bytes | str, code: str | None) -> str:
    data = piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece
    for each in (code or "utf-8", "utf-8"):
        try:
            return data.decode(each)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("cp1252", "replace")


SAVE = "Open it in your mail program, save it as PDF, and add that."
