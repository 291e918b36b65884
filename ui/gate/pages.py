"""Pages for signing in, as plain HTML: sign in, and what a one-time link opens. They run no script.

A form is taken only from the app's own page (`ui.gate.gate`). Whatever goes wrong is said on the page; it never tells
whether an account exists.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from html import escape
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ragcore.accounts.accounts import LONGEST, Accounts, Device, Link
from ragcore.accounts.passwords import SHORTEST
from ragcore.errors import InputError, LinkSpent, SignInRefused
from ui.gate.access import Access, listed
from ui.server import web

LARGEST_FORM = 16_000  # bytes
AT_ONCE = 4  # passwords checked at the same time, each with 64 MB
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Groundwork</title><link rel="icon" type="image/svg+xml" href="{root}/assets/mark.svg">
<link rel="stylesheet" href="{root}/styles.css"></head>
<body class="gw-sign"><main><div><p class="logo"><img src="{root}/assets/mark.svg" alt="" width="24"
height="24"> Groundwork</p><h1>{title}</h1><p class="lead">{lead}</p>{content}</div></main>
<aside aria-label="What it does"><div><p class="ask">When does the facility mature?</p>
<p class="answer">On 30 June 2029, unless it is extended. <span class="gw-tag on">1</span></p>
<div class="sheet gw-paper"><p><span>4.1</span>The Borrower may use the Facility from the Signing Date until the date
falling one month before the Maturity Date.</p><p><span>4.2</span><mark>The Facility shall be repaid in full on 30 June
2029</mark> (the “Maturity Date”), <mark class="claim">unless extended under clause 4.3</mark>. Any Loan outstanding on
that date is due together with accrued interest.</p><p><span>4.3</span>The Borrower may, by notice given not more than
ninety and not less than sixty days before the second anniversary, ask for one more year.</p></div>
<p class="lead">Ask your documents. Every claim highlights the words it stands on.</p></div></aside></body></html>"""
LEAD = "to ask the documents of this library"
PROXY = "proxy"  # issuer of what a proxy says
PASSWORD_HINT = f"At least {SHORTEST} characters. A few words are easy to remember."
TITLES = {
    "first": ("Make the first account", "You will be the administrator of this library."),
    "invitation": ("Join Groundwork", "You are invited to a library."),
    "reset": ("Choose a new password", "You are then signed out everywhere else."),
}


class Pages:
    """Handlers of the pages for signing in."""

    def __init__(self, access: Access, accounts: Accounts, prefix: str = "") -> None:
        self.access = access
        self.accounts = accounts
        self.prefix = prefix
        self.places = asyncio.Semaphore(AT_ONCE)

    def routes(self) -> list[BaseRoute]:
        at = f"{self.prefix}/gw/auth"
        return [
            Route(f"{at}/sign-in", self.sign_in, methods=["GET", "POST"]),
            Route(f"{at}/link/{{code:str}}", self.link, methods=["GET", "POST"]),
            Route(f"{at}/sign-out", self.sign_out, methods=["POST"]),
        ]

    async def sign_in(self, request: Request) -> Response:
        back = self.back(request.query_params.get("next", ""))
        mode = self.access.auth.mode
        if mode == "proxy":
            return await self._as_the_proxy_says(request, back)
        if request.method != "POST" or mode != "local":
            signed_in = await run_in_threadpool(self.accounts.session, self._token(request))
            return RedirectResponse(back, 303) if signed_in else self.sign_in_page(back)
        form = await _form(request)
        email = form.get("email", "")
        try:
            async with self.places:
                given = (email, form.get("password", ""), device(request))
                token = await run_in_threadpool(self.accounts.sign_in, *given)
        except InputError as error:
            return self.sign_in_page(back, error, email)
        return await self.enter(request, token, back)

    async def _as_the_proxy_says(self, request: Request, back: str) -> Response:
        """Response to who comes through the proxy, without any page of ours."""
        email, domains = self.access.vouched(request), listed(self.access.auth.domains)
        try:
            present = await run_in_threadpool(self.accounts.session, self._token(request))
            if request.method == "HEAD" or (present is not None and present.user.email == email):
                return RedirectResponse(back, 303)
            if not email:
                raise SignInRefused("The proxy didn’t say who you are.", hint="Open the app by its usual address.")
            given = (PROXY, email, email, "", domains, device(request))
            return await self.enter(request, await run_in_threadpool(self.accounts.sign_in_as, *given), back)
        except InputError as error:
            return self._page("You can’t sign in", f"{error.message} {error.hint}", "")

    async def link(self, request: Request) -> Response:
        if self.access.auth.mode != "local":  # no passwords: the invitation is found by the email
            return RedirectResponse(f"{self.prefix}/gw/auth/sign-in", 303)
        code = request.path_params["code"]
        try:
            found = await run_in_threadpool(self.accounts.link, code)
            if request.method != "POST":
                return self._link_page(found)
            form = await _form(request)
            given = (code, *(form.get(name, "") for name in ("email", "name", "password")), device(request))
            try:
                async with self.places:
                    token = await run_in_threadpool(self.accounts.accept, *given)
            except LinkSpent:
                raise
            except InputError as error:
                return self._link_page(found, error, form)
        except LinkSpent as error:
            said = f'<p><a class="gw-btn big" href="{self.prefix}/gw/auth/sign-in">Sign in</a></p>'
            return self._page("This link doesn’t work", f"{error.message} {error.hint}", said)
        return await self.enter(request, token, f"{self.prefix}/")

    async def sign_out(self, request: Request) -> Response:
        session = await run_in_threadpool(self.accounts.session, self._token(request))
        if session is not None:
            await run_in_threadpool(self.accounts.end, session, session.user.email, device(request).address)
        left: Response = RedirectResponse(f"{self.prefix}/gw/auth/sign-in", 303)
        if self.access.auth.mode == "proxy":  # which would say at once who is there
            left = self._page("Signed out", "Sign out where you signed in, too.", "")
        left.headers["Clear-Site-Data"] = '"cache"'
        left.delete_cookie(self.access.cookie, path="/", secure=self.access.secure, httponly=True, samesite="lax")
        return left

    async def enter(self, request: Request, token: str, back: str) -> Response:
        """Response that begins a session. One that the browser brought along ends, and what it keeps of pages goes:
        they may be somebody else's."""
        before = await run_in_threadpool(self.accounts.session, self._token(request))
        if before is not None:
            await run_in_threadpool(self.accounts.end, before, before.user.email, device(request).address)
        entered = RedirectResponse(back, 303, {"Cache-Control": "no-store", "Clear-Site-Data": '"cache"'})
        self.set_cookie(entered, self.access.cookie, token, int(LONGEST))
        return entered

    def set_cookie(self, response: Response, name: str, value: str, seconds: int) -> None:
        """Set a cookie that no script reads and no other site's request carries, but a link to a page."""
        kept = {"max_age": seconds, "path": "/", "secure": self.access.secure, "httponly": True}
        response.set_cookie(name, value, samesite="lax", **kept)

    def _token(self, request: Request) -> str:
        return request.cookies.get(self.access.cookie, "")

    def back(self, given: str) -> str:
        """Own address to go on at; the first page for any other."""
        own = given.startswith("/") and not given.startswith("//") and given.isprintable() and "\\" not in given
        parts = urlsplit(given if own else "")
        path = parts.path if own and parts.path.startswith(f"{self.prefix}/") and "//" not in parts.path else ""
        return (path + (f"?{parts.query}" if parts.query else "")) if path else f"{self.prefix}/"

    def sign_in_page(self, back: str, error: InputError | None = None, email: str = "") -> Response:
        if self.access.auth.mode == "oidc":
            at = f"{self.prefix}/gw/auth/provider?next={quote(back)}"
            # A link and no form: the policy lets forms lead to no other site.
            go = f'<p><a class="gw-btn primary big" href="{escape(at)}">Continue with company sign-in</a></p>'
            return self._page("Sign in", LEAD, _error(error) + go)
        at = f"{self.prefix}/gw/auth/sign-in?next={quote(back)}"
        fields = [_field("email", "Email", email, "username", kind="email"), _password("current-password")]
        foot = '<p class="foot">Forgot your password? An administrator can make you a link to choose another.</p>'
        content = _form_html(at, fields, "Sign in", error) + foot
        return self._page("Sign in", LEAD, content)

    def _link_page(
        self, link: Link, error: InputError | None = None, form: Mapping[str, str] | None = None
    ) -> Response:
        title, lead = TITLES[link.purpose]
        email = _field(
            "email", "Email", link.email or (form or {}).get("email", ""), "username", "email", bool(link.email)
        )
        name = _field("name", "Name", (form or {}).get("name", ""), "name", need=False)
        fields = [email, *([] if link.purpose == "reset" else [name]), _password("new-password", PASSWORD_HINT)]
        return self._page(title, lead, _form_html("", fields, "Go on", error))

    def _page(self, title: str, lead: str, content: str) -> Response:
        root = self.prefix + web.static_root()
        html = PAGE.format(title=escape(title), lead=escape(lead), content=content, root=root)
        return HTMLResponse(html, headers={"Cache-Control": "no-store"})


def device(request: Request) -> Device:
    """Where a request comes from; behind a proxy, what uvicorn takes from its headers (FORWARDED_ALLOW_IPS)."""
    return Device(request.client.host if request.client else "", request.headers.get("user-agent", ""))


async def _form(request: Request) -> dict[str, str]:
    """Fields of a form; of an oversized one none."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_FORM:
            return {}
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _form_html(action: str, fields: list[str], button: str, error: InputError | None) -> str:
    send = f'<button class="gw-btn primary big">{button}</button>'
    return f'<form method="post" action="{escape(action)}">{"".join(fields)}{_error(error)}{send}</form>'


def _error(error: InputError | None) -> str:
    return f'<p class="error" role="alert">{escape(f"{error.message} {error.hint}")}</p>' if error else ""


def _field(
    name: str, label: str, value: str, complete: str, kind: str = "text", fixed: bool = False, need: bool = True
) -> str:
    more = " readonly" if fixed else "" if value else " autofocus" if name == "email" else ""
    return (
        f'<label><span>{label}</span><input class="gw-field" type="{kind}" name="{name}" value="{escape(value)}" '
        f'autocomplete="{complete}" maxlength="254"{" required" if need else ""}{more}></label>'
    )


def _password(complete: str, hint: str = "") -> str:
    told = f"<small>{hint}</small>" if hint else ""
    return (
        '<label><span>Password</span><input class="gw-field" type="password" name="password" '
        f'autocomplete="{complete}" maxlength="1000" required>{told}</label>'
    )
