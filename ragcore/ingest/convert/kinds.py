"""File kinds: what a file is, by its content, and what is checked before anything in it is opened.

Text has no marks of its own, so among Markdown, CSV and plain text the name decides.
"""

from __future__ import annotations

import codecs
import io
import re
import zipfile
import zlib
from pathlib import PurePath

from ragcore.errors import DamagedFile, EncryptedFile, FileTooLarge, NotAPdf, UnknownKind
from ragcore.types.library import FileKind

MOST_ENTRIES, MOST_UNPACKED, MOST_RATIO = 10_000, 1 << 30, 200  # of an archive: files, bytes, bytes for each packed one
RATIO_FROM = 20 << 20  # unpacked bytes up to which the ratio may be larger: a sheet of blanks packs well
SUFFIXES: dict[str, FileKind] = {
    ".pdf": "pdf",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    **dict.fromkeys((".csv", ".tsv", ".tab"), "csv"),
    **dict.fromkeys((".md", ".markdown"), "md"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".txt", ".text"), "txt"),
    **dict.fromkeys((".docx", ".docm", ".dotx"), "docx"),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx"), "pptx"),
    ".doc": "doc",
    ".rtf": "rtf",
    ".odt": "odt",
    ".ppt": "ppt",
    ".odp": "odp",
    ".xls": "xls",
    ".ods": "ods",
    ".eml": "eml",
    ".msg": "msg",
    ".epub": "epub",
    ".png": "png",
    **dict.fromkeys((".jpg", ".jpeg"), "jpeg"),
    **dict.fromkeys((".tif", ".tiff"), "tiff"),
    ".webp": "webp",
}
# Name and version of what makes the pages of each kind; a document made by another is made again. Raise a version when
# the same file would give other pages.
CONVERTERS: dict[FileKind, str] = {
    **dict.fromkeys(("xlsx", "csv"), "sheets-1"),
    **dict.fromkeys(("md", "html", "txt"), "story-2"),
    **dict.fromkeys(("docx", "doc", "odt", "pptx", "ppt", "odp", "xls", "ods"), "office-2"),
    "rtf": "office-3",
    **dict.fromkeys(("eml", "msg"), "mail-1"),
    "epub": "book-1",
    **dict.fromkeys(("png", "jpeg", "tiff", "webp"), "picture-1"),
}
PICTURES: frozenset[FileKind] = frozenset(("png", "jpeg", "tiff", "webp"))
# Kinds whose pages may hold pictures of text.
SCANNED: frozenset[FileKind] = PICTURES | {"docx", "doc", "rtf", "odt", "pptx", "ppt", "odp", "epub"}
MAILS: frozenset[FileKind] = frozenset(("eml", "msg"))
# What a file that is not what it seems makes of the libraries that open it.
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, SyntaxError, EOFError, LookupError),
    *(ValueError, TypeError, AttributeError, RuntimeError, OSError, ArithmeticError),
)
_FOLDERS: dict[str, FileKind] = {"word/": "docx", "ppt/": "pptx"}  # of OOXML
_TYPES: dict[bytes, FileKind] = {
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.presentation": "odp",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
    b"application/epub+zip": "epub",
}
_STREAMS: dict[str, FileKind] = {
    "WordDocument": "doc",
    "PowerPoint Document": "ppt",
    "Workbook": "xls",
    "__properties_version1.0": "msg",
}
_SIGNATURES: dict[bytes, FileKind] = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"II*\0": "tiff",
    b"MM\0*": "tiff",
}
_PROGRAMS: dict[FileKind | None, str] = {
    **dict.fromkeys(("docx", "doc"), "Word"),
    **dict.fromkeys(("pptx", "ppt"), "PowerPoint"),
    **dict.fromkeys(("xlsx", "xls"), "Excel"),
    **dict.fromkeys(("odt", "odp", "ods"), "OpenDocument"),
    "rtf": "RTF",
    "eml": "e-mail",
    "msg": "Outlook",
    "epub": "EPUB",
    **dict.fromkeys(("png", "jpeg", "tiff", "webp"), "picture"),
}
_MAIL_BYTES = 1 << 20  # of a file, in which the fields of a message are looked for
HEAD_BYTES = 1024  # a PDF's header may begin anywhere in the first KiB (ISO 32000-1, annex H)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BOMS = (  # the longer ones first, which begin like shorter ones
    *((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig")),
    *((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")),
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# Possessive: nothing that was passed over is tried again.
_HTML = re.compile(
    r"(?>(?:<\?xml[^>]*>|<!--(?>.*?-->)|\s+)*)<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_FIELD = re.compile(rb"([!-9;-~]++):[^\n]*+(?>(?:\n[ \t][^\n]*+)*)(?:\n|\Z)")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)


def kind_of(data: bytes, name: str) -> FileKind:
    """Kind of the file ``name``. Raises `NotAPdf`, `EncryptedFile`, `DamagedFile`, `FileTooLarge`, or `UnknownKind`."""
    suffix = PurePath(name).suffix.lower()
    named = SUFFIXES.get(suffix)
    if data.startswith(b"%PDF-"):
        return "pdf"
    picture = next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), None)
    if picture or (data.startswith(b"RIFF") and data[8:12] == b"WEBP"):
        return picture or "webp"
    if data.startswith(b"PK\x03\x04"):
        return _packed(data, name)
    if data.startswith(_OLE):
        return _ole(data, name, named)
    if data.startswith(b"{\\rtf"):
        return "rtf"
    if named in ("eml", "txt", None) and _is_mail(data, named == "eml"):
        return "eml"
    if b"%PDF-" in data[:HEAD_BYTES] and (named in (None, "pdf") or not decoded(data)):
        return "pdf"
    text = decoded(data)
    if b"endobj" in data and (text is None or named in (None, "pdf")):
        return "pdf"  # MuPDF repairs a PDF without its header
    if named == "pdf":
        raise NotAPdf(f"{name} is not a PDF.")
    html = text is not None and named not in ("md", "csv") and _HTML.match(text[0]) is not None
    if named in _PROGRAMS and not html:
        raise DamagedFile(f"{name} is damaged, or no {_PROGRAMS[named]} file.")
    if text is None or (named is None and suffix and not html):
        raise UnknownKind(f"{name} is no file that Groundwork reads.")
    return "html" if html else named or "txt"


def decoded(data: bytes) -> tuple[str, str] | None:
    """Text of a file and its encoding: UTF-8, what its byte order mark or, in HTML, its head says, or else Windows'
    Western encoding. None if it is no text."""
    said = [code.decode() for code in _CHARSET.findall(data[:HEAD_BYTES])]
    codes = [code for bom, code in _BOMS if data.startswith(bom)][:1] or ["utf-8", *said[:1], "cp1252"]
    for code in codes:
        try:
            text = data.decode(code)
        except (UnicodeDecodeError, LookupError):
            continue
        if not _CONTROLS.search(text):
            return text, code
    return None


def open_archive(data: bytes, name: str) -> zipfile.ZipFile:
    """Archive within the limits. Raises `DamagedFile`, `EncryptedFile` or `FileTooLarge`."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    except DAMAGED as error:
        raise DamagedFile(f"{name} is damaged: it can't be unpacked.") from error
    unpacked, packed = (sum(getattr(each, size) for each in entries) for size in ("file_size", "compress_size"))
    if len(entries) > MOST_ENTRIES:
        raise FileTooLarge(f"{name} has {len(entries):,} files in it; the limit is {MOST_ENTRIES:,}.", hint=_SPLIT)
    if unpacked > MOST_UNPACKED or (unpacked > RATIO_FROM and unpacked > MOST_RATIO * max(1, packed)):
        raise FileTooLarge(
            f"{name} has {unpacked / 1e6:,.0f} MB unpacked, {unpacked / max(1, packed):,.0f} times its size; the "
            f"limits are {MOST_UNPACKED / 1e6:,.0f} MB and {MOST_RATIO} times.",
            hint=_SPLIT,
        )
    paths = [each.filename.replace("\\", "/") for each in entries]
    if any(path.startswith("/") or ".." in path.split("/") or ":" in path.split("/")[0] for path in paths):
        raise DamagedFile(f"{name} has a file with a path that leads out of it.")
    if any(each.flag_bits & 1 for each in entries):
        raise EncryptedFile(f"{name} has a password.")
    return archive


_SPLIT = "Split it into smaller files."


def _packed(data: bytes, name: str) -> FileKind:
    with open_archive(data, name) as archive:
        names = set(archive.namelist())
        typed = archive.read("mimetype").strip() if "mimetype" in names else b""
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "xl/workbook.bin" in names:
        raise UnknownKind(f"{name} is a binary workbook.", hint="Save it as an Excel workbook (.xlsx).")
    for folder, kind in _FOLDERS.items():
        if "[Content_Types].xml" in names and any(each.startswith(folder) for each in names):
            return kind
    found = next((kind for said, kind in _TYPES.items() if typed.startswith(said)), None)
    if found is None:
        raise UnknownKind(f"{name} is no file that Groundwork reads.")
    return found


def _is_mail(data: bytes, named: bool) -> bool:
    """Whether a file begins with the fields of a message; one that is not ``named`` so needs those that only a message
    has."""
    fields: set[bytes] = set()
    head, at = data[:_MAIL_BYTES].removeprefix(codecs.BOM_UTF8).lstrip(), 0
    if head.startswith(b"From "):  # as a mailbox writes before each of its messages
        at = head.find(b"\n") + 1
    while field := _FIELD.match(head, at):
        fields.add(field.group(1).lower())
        at = field.end()
    if named:
        return not fields.isdisjoint((b"from", b"to", b"date", b"subject", b"received"))
    return b"from" in fields and not fields.isdisjoint((b"message-id", b"mime-version"))


def _ole(data: bytes, name: str, named: FileKind | None) -> FileKind:
    if named in ("msg", None) and _utf16("__properties_version1.0") in data:
        return "msg"  # whatever is attached to it
    if _utf16("EncryptedPackage") in data:
        raise EncryptedFile(f"{name} has a password.")
    found = [kind for stream, kind in _STREAMS.items() if _utf16(stream) in data]
    if not found and named in _STREAMS.values():
        raise DamagedFile(f"{name} is damaged, or no {_PROGRAMS[named]} file.")
    if not found:
        raise UnknownKind(f"{name} is no file that Groundwork reads.")
    return named if named in found else found[0]  # others may be embedded in it


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le")
