"""Routes of watched folders and of versions.

Which paths of this machine are read is for its owner to say: anybody where nobody signs in, since the app then listens
on this machine alone, and administrators where people do.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.errors import GroundworkError, InputError
from ragcore.types.json import picked
from ragcore.types.watch import WatchedFile, WatchedFolder
from ui.gate.access import administers, asker
from ui.server.guard import Json, action, guarded, posts, shown, text_in
from ui.server.services import libraries, services
from ui.viewer import changes


def _require(request: Request) -> None:
    if not administers(request):
        raise InputError("Only administrators can have folders of the server watched.", hint="Ask one of them.")


def _note(request: Request, action: str) -> None:
    user = asker(request)
    if user is not None:
        libraries().grants.note(services().library_id, action, user.email)


@guarded
def folders(request: Request) -> Response:
    """Watched folders, for who may have them watched."""
    if not administers(request):
        return JSONResponse({"allowed": False, "folders": []})
    watch = services().engine.watch
    found = [_folder(one, watch.files(one.path) if one.failed else ()) for one in watch.folders()]
    return JSONResponse({"allowed": True, "folders": found})


def _folder(one: WatchedFolder, files: Iterable[WatchedFile]) -> Json:
    failed = [file for file in files if file.error and not file.gone]
    return {
        "path": str(one.path),
        **picked(one, "files missing scanned every recursive patterns error"),
        "failed": [{"path": file.path, "error": file.error} for file in failed],
    }


@action(GroundworkError)
def add(request: Request, body: Json) -> None:
    """Watch the folder at ``path``."""
    _require(request)
    given = (text_in(body, "path") or "").strip().strip('"')
    if not given or not Path(given).expanduser().is_absolute():
        raise InputError("This isn’t the whole path of a folder.", hint="Enter it from the top, as /home/me/papers.")
    folder = services().engine.watch.add(Path(given))
    services().watcher.stir(folder.path)
    _note(request, f"watches {folder.path}")


@action(GroundworkError)
def remove(request: Request, body: Json) -> None:
    """Watch the folder at ``path`` no longer; its documents stay."""
    _require(request)
    path = Path(text_in(body, "path") or "")
    services().engine.watch.remove(path)
    _note(request, f"watches no longer {path}")


@action(GroundworkError)
def look(request: Request, body: Json) -> None:
    """Look through the folder at ``path`` now."""
    _require(request)
    services().watcher.stir(services().engine.watch.folder(Path(text_in(body, "path") or "")).path)


@shown
def versions(request: Request) -> Response:
    """Versions of a document, the newest first."""
    found = services().engine.versions.of(request.path_params["doc"])
    listed = [{"id": one.doc_id, **picked(one, "title pages created")} for one in found]
    return JSONResponse({"versions": listed})


@shown
def differences(request: Request) -> Response:
    """What is other in a document than in its ``before``, an earlier version."""
    before = request.query_params.get("before", "")
    return JSONResponse(changes.differences(services().engine.versions, before, request.path_params["doc"]))


def routes(prefix: str = "") -> list[BaseRoute]:
    """All routes below ``prefix``."""
    all_, doc = f"{prefix}/gw/library/folders", f"{prefix}/gw/documents/{{doc:str}}"
    return [
        Route(all_, folders),
        *posts(all_, add=add, remove=remove, look=look),
        Route(f"{doc}/versions", versions),
        Route(f"{doc}/differences", differences),
    ]
