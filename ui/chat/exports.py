"""HTTP route that exports a conversation as Markdown, Word or PDF."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ragcore.export import KINDS, MEDIA_TYPES, kind
from ui.server.guard import guarded
from ui.server.services import services

NAME_LENGTH = 80  # characters of a file's name without its ending
# What some file system or shell takes for something else, and what turns the direction of a name around.
_UNSAFE = re.compile(r'[\\/:*?"<>|%\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+')


@guarded
def export(request: Request) -> Response:
    """Shown branch of a conversation as a file."""
    # Not a coroutine: Starlette runs it on a thread, and the event loop goes on.
    chosen, conversation_id = kind(request.path_params["kind"], KINDS), request.path_params["conversation"]
    engine = services().engine
    data = engine.export(conversation_id, chosen)
    name = file_name(engine.conversations.get(conversation_id, newest=0).info.title, chosen)
    headers = {"Content-Disposition": disposition(name), "Cache-Control": "no-store"}
    return Response(data, media_type=MEDIA_TYPES[chosen], headers=headers)


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


def routes(prefix: str = "") -> list[BaseRoute]:
    return [Route(f"{prefix}/gw/conversations/{{conversation:str}}/export.{{kind:str}}", export)]
