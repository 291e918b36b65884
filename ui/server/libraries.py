"""Open libraries of a team: the only way to an engine where people sign in.

A library is opened when somebody first asks for it, and stays open while something is done in it; of those in which
nothing happens the ones used last stay.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ragcore.accounts.accounts import User
from ragcore.accounts.libraries import Grants, LibraryInfo, Role, covers
from ragcore.errors import InputError

if TYPE_CHECKING:
    from ui.server.services import Services

MOST = 16  # open libraries, as long as nothing is done in some of them
KNOWN = 2.0  # seconds for which a role is not looked up again
REMEMBERED = 10_000  # roles


class UnknownLibrary(InputError):
    """Error: there is no such library, or none for who asks."""

    @classmethod
    def here(cls) -> UnknownLibrary:
        return cls("This library isn’t here, or isn’t open to you.", hint="Choose another, or ask who manages it.")


class NotAllowed(InputError):
    """Error: the role of who asks does not cover what they want to do."""


class Libraries:
    """Libraries of one home, each opened by ``opened`` from its folder; ``first`` is open already."""

    def __init__(
        self, grants: Grants, first: Services, opened: Callable[[Path, Services], Services], most: int = MOST
    ) -> None:
        self.grants = grants
        self._first = first
        self._opened = opened
        self._most = most
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Services] = OrderedDict()
        self._opening: dict[str, threading.Lock] = {}
        self._roles: dict[tuple[str, str], tuple[float, Role | None]] = {}
        self._last: dict[str, str] = {}

    def open(self, library_id: str, user: User, needs: Role) -> Services:
        """A library as ``user`` has it. Raises `UnknownLibrary`, `NotAllowed` if their role doesn't cover ``needs``,
        and what opening it raises."""
        role = self.role(user.user_id, library_id)
        if role is None:
            raise UnknownLibrary.here()
        if not covers(role, needs):
            raise self.refusal(library_id, role)
        return self._whole(library_id).of(user, library_id, role)

    def refusal(self, library_id: str, role: Role) -> NotAllowed:
        """Error that says whom to ask."""
        said = "You can read this library, not change it." if role == "viewer" else "Only its managers can do this."
        managers = self.grants.managers(library_id)[:3]
        return NotAllowed(said, hint=f"Ask {' or '.join(managers) or 'an administrator'}.")

    def of(self, user: User) -> list[LibraryInfo]:
        """Libraries that ``user`` may open, the first one first."""
        self._begin()
        return self.grants.of(user.user_id)

    def default(self, user: User) -> str:
        """Library that ``user`` had open last, or else the first one, or one of their own before what others opened to
        them; "" if there is none."""
        known = [one.library_id for one in sorted(self.of(user), key=lambda one: (not one.first, not one.own))]
        last = self._last.get(user.user_id, "")
        return last if last in known else next(iter(known), "")

    def role(self, user_id: str, library_id: str) -> Role | None:
        """`Grants.role`, as it was in the last `KNOWN` seconds."""
        now = time.monotonic()
        at, role = self._roles.get((user_id, library_id), (-KNOWN, None))
        if now - at >= KNOWN:
            self._begin()
            role = self.grants.role(user_id, library_id)
            if len(self._roles) >= REMEMBERED:
                self._roles.clear()
            self._roles[user_id, library_id] = (now, role)
        return role

    def changed(self) -> None:
        """Look all roles up again."""
        self._roles.clear()

    def seen(self, user: User, library_id: str) -> None:
        """Remember what ``user`` has open."""
        self._last[user.user_id] = library_id

    def close(self) -> None:
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()

    def _begin(self) -> None:
        self.grants.begin(self._first.base.adopt)

    def _whole(self, library_id: str) -> Services:
        with self._lock:
            found = self._open.get(library_id)
            if found is not None:
                self._open.move_to_end(library_id)
                return found
            opening = self._opening.setdefault(library_id, threading.Lock())
        home = self.grants.home(library_id)
        if home == self.grants.top:
            return self._first
        with opening:
            with self._lock:
                if library_id in self._open:
                    return self._open[library_id]
            made = self._opened(home, self._first)
            with self._lock:
                self._open[library_id] = made
                self._opening.pop(library_id, None)
                idle = [name for name, one in self._open.items() if one is not made and one.idle()]
                closed = [self._open.pop(name) for name in idle[: max(len(self._open) - self._most, 0)]]
        for one in closed:
            one.close()
        return made
