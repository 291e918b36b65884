"""Files over HTTP: those that a page sends in base64, and those that a browser saves under a name that any system
takes."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from ragcore.errors import InputError
from ui.server.guard import text_in

TYPES = {
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "doc": "application/msword",
    "ppt": "application/vnd.ms-powerpoint",
    "xls": "application/vnd.ms-excel",
    "rtf": "application/rtf",
    "odt": "application/vnd.oasis.opendocument.text",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "csv": "text/csv",
    "md": "text/markdown",
    "html": "text/html",
    "txt": "text/plain",
    "eml": "message/rfc822",
    "msg": "application/vnd.ms-outlook",
    "epub": "application/epub+zip",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "tiff": "image/tiff",
    "webp": "image/webp",
    "json": "application/json",
    "jsonl": "text/plain",
}
NAME_LENGTH = 80  # characters of a file's name without its ending
# What some file system or shell takes for something else, and what turns the direction of a name around.
_UNSAFE = re.compile(r'[\\/:*?"<>|%\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+')


def sent(body: dict[str, Any], name: str) -> bytes | None:
    """File in the field ``name`` of a request's body; None if absent. Raises `InputError` if it is no base64."""
    text = text_in(body, name)
    try:
        return None if text is None else base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise InputError("The file didn’t arrive whole.", hint="Choose it again.") from error


def saved(data: bytes | str, name: str) -> Response:
    """Response that a browser saves as a file called ``name``, of the type of its ending."""
    headers = {"Content-Disposition": disposition(name), "Cache-Control": "no-store"}
    return Response(data, media_type=TYPES[name.rpartition(".")[2]], headers=headers)


def file_name(title: str, ending: str) -> str:
    """``title`` as a file name that is valid on every system."""
    words = " ".join(_UNSAFE.sub(" ", unicodedata.normalize("NFC", title)).split())
    return f"{words[:NAME_LENGTH].strip(' .') or 'conversation'}.{ending}"


def disposition(name: str) -> str:
    """``Content-Disposition`` header (RFC 6266): the name in ASCII, plus RFC 5987 where ASCII loses characters."""
    bare = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    stem, _, ending = bare.rpartition(".")
    plain = f"{' '.join(stem.split()) or 'conversation'}.{ending}"
    # NFKD may bring back a quote or a slash (⁄ is one).
    plain = _UNSAFE.sub("-", plain)
    more = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return f'attachment; filename="{plain}"{more}'
