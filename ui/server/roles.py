"""Roles that the routes of a library need, in one table: a route without an entry does not start.

A viewer reads, asks and exports, and changes what is their own; a contributor changes what is the library's; a manager
removes documents and sets what holds for everybody. What is somebody else's own (`ragcore.index.conversations`) is no
matter of roles: it is as if it were not there.
"""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ragcore.accounts.libraries import Role, covers
from ragcore.errors import GroundworkError
from ragcore.serve.rights import while_allowed
from ui.gate.access import asker
from ui.server.libraries import NotAllowed, UnknownLibrary
from ui.server.services import HERE, libraries

DOC, TALK, TURN = "documents/{doc}", "conversations/{conversation}", "conversations/{conversation}/questions/{turn}"
CHECK, GRID, REPORT = "checks/{check}", "grids/{grid}", "reports/{report}"
PAGE, COLUMN, SECTION = f"{DOC}/pages/{{page}}", f"{GRID}/columns/{{column}}", f"{REPORT}/sections/{{section}}"
MINE = "evaluate/mine/{turn}"

TABLE: dict[Role, dict[str, tuple[str, ...]]] = {
    "viewer": {
        "GET": (
            *(DOC, f"{DOC}/tables", f"{DOC}/tables.{{kind}}", f"{DOC}/tables/{{number}}"),
            *(f"{DOC}/tables/{{number}}.{{kind}}", f"{DOC}/original", f"{DOC}/noise", f"{DOC}/chunks"),
            *(f"{DOC}/sections", f"{DOC}/find", f"{DOC}/overview", f"{PAGE}.png", f"{PAGE}/elements"),
            *(f"{PAGE}/tiles/{{width}}/{{column}}-{{row}}.png", f"{PAGE}/words", f"{PAGE}/found"),
            *(f"{DOC}/versions", f"{DOC}/differences"),
            *("pages", "library", "library/groups", "library/storage", "library/folders"),
            *("conversations", TALK, f"{TALK}/spending", f"{TALK}/export.{{kind}}", f"{TURN}/why"),
            *(f"{TURN}/suggestions", "answers/{turn}/events"),
            *("checks", CHECK, f"{CHECK}/export.{{kind}}"),
            *("grids", "grids/outline", "grids/column"),
            *(GRID, f"{GRID}/cell", f"{GRID}/periods", f"{GRID}/export.{{kind}}"),
            *("reports", REPORT, f"{REPORT}/about", f"{REPORT}/expense", f"{REPORT}/export.{{kind}}"),
            *(f"{SECTION}/versions", "settings", "settings/structures"),
            *("evaluate", "evaluate/estimate", "evaluate/table", "evaluate/case", "evaluate/run.csv"),
            *("evaluate/compare.html", "evaluate/set.{form}", "evaluate/mine", MINE),
        ),
        "POST": (
            *(f"{TALK}/title", f"{TALK}/delete", f"{TALK}/shown", f"{TALK}/share", f"{TALK}/questions"),
            *(f"{TURN}/feedback", "answers/{turn}/stop", "start", "start/questions"),
            *("explore", "explore/point", "explore/use"),
            # For one's own visit only.
            *("settings/check", "settings/change", "settings/preset", "settings/undo"),
            *("settings/key", "settings/forget", "settings/try"),
        ),
    },
    "contributor": {
        "POST": (
            *("library/read", "library/tags", "library/tag", "library/folder"),
            *(f"{DOC}/read", f"{DOC}/title", f"{DOC}/cancel"),
            *("checks/new", "checks/sample", f"{CHECK}/run", f"{CHECK}/stop", f"{CHECK}/again", f"{CHECK}/decide"),
            *(f"{CHECK}/ask", f"{CHECK}/delete"),
            *("grids/new", "grids/ask", "grids/sample", f"{GRID}/run", f"{GRID}/ask", f"{GRID}/stop"),
            *(f"{GRID}/again", f"{GRID}/decide", f"{GRID}/rename", f"{GRID}/rows", f"{GRID}/delete"),
            *(f"{GRID}/columns", COLUMN, f"{COLUMN}/move", f"{COLUMN}/remove"),
            *("reports/new", f"{REPORT}/change", f"{REPORT}/share", f"{REPORT}/delete", f"{REPORT}/fill"),
            *(f"{REPORT}/stop", f"{REPORT}/sections", f"{SECTION}/change", f"{SECTION}/done", f"{SECTION}/places"),
            f"{SECTION}/passages",
            *("evaluate/sets", "evaluate/run", "evaluate/judge", "evaluate/stop"),
            *(MINE, f"{MINE}/pass", f"{MINE}/remove"),
        ),
    },
    "manager": {
        "GET": ("members",),
        "POST": (
            *("library/remove", "library/restore", "library/finish", "library/pictures/clear"),
            # Of administrators (`ui.library.watch_routes`), who name folders of the server.
            *("library/folders/add", "library/folders/remove", "library/folders/look"),
            *("settings/reading", "settings/keep", "settings/structures/build", "settings/structures/stop"),
            *("settings/structures/forget", "settings/structures/estimate"),
            *("members/grant", "members/revoke", "members/rename", "members/remove"),
        ),
    },
}
NEEDED: dict[tuple[str, str], Role] = {
    (method, path): role for role, methods in TABLE.items() for method, paths in methods.items() for path in paths
}


def needed(route: Route, prefix: str) -> Role:
    """Role that a route below ``prefix`` needs. Raises `LookupError` if the table has none."""
    (method,) = (route.methods or set()) - {"HEAD"}
    path = route.path.removeprefix(f"{prefix}/gw/").replace(":str}", "}").replace(":int}", "}")
    found = NEEDED.get((method, path))
    if found is None:
        raise LookupError(f"{method} {route.path} has no role in ui/server/roles.py.")
    return found


def within(route: BaseRoute, prefix: str) -> BaseRoute:
    """Route of a library below ``prefix``, which ends with the library's id."""
    assert isinstance(route, Route)
    route.app = InLibrary(route.app, needed(route, prefix))
    return route


class InLibrary:
    """ASGI app that answers in the library of its path, for who has the role that it ``needs`` there. To anybody else
    the library is as one that does not exist."""

    def __init__(self, app: ASGIApp, needs: Role) -> None:
        self.app = app
        self.needs = needs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        user, library_id = asker(Request(scope)), scope["path_params"]["library"]
        try:
            if user is None:
                raise UnknownLibrary.here()
            found = await run_in_threadpool(libraries().open, library_id, user, self.needs)
        except GroundworkError as error:
            await _refusal(error)(scope, receive, send)
            return
        user_id = user.user_id
        before = HERE.set(found)
        try:
            refused = _refusal(UnknownLibrary.here())
            await while_allowed(self.app, scope, receive, send, lambda: self._covered(user_id, library_id), refused)
        finally:
            HERE.reset(before)

    def _covered(self, user_id: str, library_id: str) -> bool:
        return covers(libraries().role(user_id, library_id), self.needs)


def _refusal(error: GroundworkError) -> JSONResponse:
    return JSONResponse({"error": error.as_dict()}, {UnknownLibrary: 404, NotAllowed: 403}.get(type(error), 500))
