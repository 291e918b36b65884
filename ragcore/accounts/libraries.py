"""Libraries of people and teams: who owns them, and who may use them in which role.

A library is a home folder of its own, below ``libraries`` in the home of the team; the first one is that home itself,
as it was before there were accounts. Nothing is shared between them. A role comes from owning a library, from a grant
to a person, or to a team they are in; the highest counts. Being an administrator gives none: an administrator may take
one, which is in the log like every change.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragcore.accounts.accounts import Accounts, known
from ragcore.config.settings import LIBRARIES
from ragcore.errors import InputError
from ragcore.index.database import Connection, Row, made

Role = Literal["viewer", "contributor", "manager"]
ROLES: tuple[Role, ...] = ("viewer", "contributor", "manager")
EVERYONE = "everyone"  # team_id of the team that everybody is in
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """Library with its owner's name ("" while nobody owns it), the role of who asks (None: none), and the number of
    people who may use it."""

    library_id: str
    name: str
    owner: str
    own: bool
    role: Role | None
    people: int
    first: bool
    created: float
    removed: float | None


@dataclass(frozen=True, slots=True)
class Member:
    """Person or team with a role in a library. ``email`` is "" for a team; an owner's role can't be taken."""

    holder: str
    name: str
    email: str
    role: Role
    owner: bool
    people: int


@dataclass(frozen=True, slots=True)
class Team:
    team_id: str
    name: str
    members: tuple[tuple[str, bool], ...]  # email, and whether they manage it


def covers(role: Role | None, needed: Role) -> bool:
    """Whether a role may do what ``needed`` may."""
    return role is not None and ROLES.index(role) >= ROLES.index(needed)


class Grants:
    """Libraries of one home folder with their rights, in the same file as the accounts. ``by`` is who does something:
    an email, or the command line."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts
        self._database = accounts.database
        self._begun = False
        self.top = accounts.home  # home of the first library

    def begin(self, adopt: Callable[[str], None]) -> None:
        """Make the first library, which everybody may change, as it was before there were others. As soon as there is
        an administrator, it is theirs: ``adopt`` is called with their ``user_id`` before that is stored."""
        if self._begun:
            return
        with self._database.write() as connection:
            first = connection.row("SELECT library_id, owner FROM libraries WHERE first")
            library_id = first["library_id"] if first else self._make(connection, "Library", "", first=True)
            if first is None:
                connection.insert("grants", {"library_id": library_id, "holder": EVERYONE, "role": 2})
            admin = connection.row("SELECT * FROM users WHERE admin AND NOT blocked ORDER BY created, rowid LIMIT 1")
            if admin is not None and not (first and first["owner"]):
                adopt(admin["user_id"])
                connection.update("libraries", "first", owner=admin["user_id"])
            self._begun = admin is not None

    # What a person may use

    def role(self, user_id: str, library_id: str) -> Role | None:
        """Role of a person in a library; None for none, for a removed library, and where there is no such library."""
        query = "SELECT role FROM roles WHERE library_id = ? AND user_id = ?"
        found: int | None = self._database.value(query, library_id, user_id)
        return None if found is None else ROLES[found - 1]

    def of(self, user_id: str) -> list[LibraryInfo]:
        """Libraries that a person may use, the first one first."""
        return [info for info in self._listed(user_id) if info.role is not None and info.removed is None]

    def all(self) -> list[LibraryInfo]:
        """All libraries, removed ones too."""
        return self._listed("")

    @property
    def first(self) -> str:
        """Id of the first library; "" before `begin` has made it."""
        return self._database.value("SELECT library_id FROM libraries WHERE first") or ""

    def home(self, library_id: str) -> Path:
        """Home folder of a library."""
        if self._database.value("SELECT first FROM libraries WHERE library_id = ?", library_id):
            return self.top
        return self.top / LIBRARIES / library_id

    def at(self, home: Path) -> str:
        """Id of the library in a home folder; "" before `begin` has made the first one."""
        return home.name if home != self.top else self.first

    def name(self, library_id: str) -> str:
        """Name of a library; "" if there is none."""
        return self._database.value("SELECT name FROM libraries WHERE library_id = ?", library_id) or ""

    def managers(self, library_id: str) -> list[str]:
        """Names of those who manage a library."""
        query = "SELECT name FROM roles JOIN users USING (user_id) WHERE library_id = ? AND role = 3 ORDER BY name"
        return self._database.column(query, library_id)

    # Libraries

    def create(self, name: str, owner: str, by: str) -> str:
        """Make a library that a person (email) or a team (name) owns; returns its id. Raises `InputError`."""
        with self._database.write() as connection:
            name = _named(name)
            library_id = self._make(connection, name, self._holder(connection, owner))
            self.accounts.note(connection, "library made", owner, by, library=name)
        return library_id

    def note(self, library_id: str, action: str, by: str) -> None:
        """Add to the log what was done in a library."""
        with self._database.write() as connection:
            self.accounts.note(connection, action, "", by, library=self._library(connection, library_id)["name"])

    def rename(self, library_id: str, name: str, by: str) -> None:
        with self._database.write() as connection:
            before, name = self._library(connection, library_id), _named(name)
            connection.update("libraries", "library_id = ?", library_id, name=name)
            self.accounts.note(connection, f"library renamed {name}", "", by, library=before["name"])

    def remove(self, library_id: str, by: str, removed: bool = True) -> None:
        """Close a library to everybody, or open it again; its files stay."""
        with self._database.write() as connection:
            found = self._library(connection, library_id)
            at = self.accounts.clock() if removed else None
            connection.update("libraries", "library_id = ?", library_id, removed=at)
            action = "library removed" if removed else "library taken back"
            self.accounts.note(connection, action, "", by, library=found["name"])

    def find(self, named: str) -> str:
        """Id of a library by its name or the beginning of its id. Raises `InputError`."""
        found = [one for one in self.all() if named and (one.name == named or one.library_id.startswith(named))]
        if len(found) != 1:
            said = "There is no library" if not found else "There are several libraries"
            raise InputError(f"{said} {named!r}.", hint="Run `groundwork admin library list`, and give its id.")
        return found[0].library_id

    # Rights

    def members(self, library_id: str) -> list[Member]:
        """Who has a role in a library, owners first."""
        with self._database.read() as connection:
            rows = connection.rows(_MEMBERS, library_id, library_id)
        return [made(Member, row, role=ROLES[row["role"] - 1], owner=bool(row["owner"])) for row in rows]

    def grant(self, library_id: str, to: str, role: Role, by: str) -> None:
        """Give a person (email) or a team (name) a role in a library, in place of the one that they were given. Raises
        `InputError`."""
        with self._database.write() as connection:
            library, holder = self._library(connection, library_id), self._holder(connection, to)
            if holder == library["owner"]:
                raise InputError(f"{to} owns this library.", hint="An owner manages it already.")
            row = {"library_id": library_id, "holder": holder, "role": ROLES.index(role) + 1}
            connection.insert("grants", row, key="library_id, holder")
            self.accounts.note(connection, f"made {role}", to, by, library=library["name"])

    def revoke(self, library_id: str, to: str, by: str) -> None:
        """Take the role from a person or a team that was given to them. Raises `InputError` if none was, whoever it
        is."""
        named = to.strip().casefold()
        with self._database.write() as connection:
            library, members = self._library(connection, library_id), self.members(library_id)
            holder = next((one.holder for one in members if (one.email or one.name).casefold() == named), "")
            query = "DELETE FROM grants WHERE library_id = ? AND holder = ?"
            if not connection.execute(query, (library_id, holder)).rowcount:
                raise InputError(f"{to} was given no role in this library.", hint="They may have one by their team.")
            self.accounts.note(connection, "role taken", to, by, library=library["name"])

    # Teams

    def teams(self) -> list[Team]:
        """Teams by name, but for that of everybody."""
        query = "SELECT team_id, email, manager FROM members JOIN users USING (user_id) ORDER BY email"
        with self._database.read() as connection:
            rows = connection.rows(query)
            teams = connection.rows("SELECT * FROM teams WHERE team_id <> ? ORDER BY lower(name), name", EVERYONE)
        of = {team["team_id"]: [row for row in rows if row["team_id"] == team["team_id"]] for team in teams}
        return [
            Team(team["team_id"], team["name"], tuple((row["email"], row["manager"]) for row in of[team["team_id"]]))
            for team in teams
        ]

    def add_team(self, name: str, by: str) -> None:
        with self._database.write() as connection:
            name = _named(name)
            if "@" in name:
                raise InputError("A team's name can't have an @.", hint="That is for the emails of people.")
            if _called(connection, name):
                raise InputError(f"There is a team {name!r} already.", hint="Choose another name.")
            row = {"team_id": secrets.token_hex(16), "name": name, "created": self.accounts.clock()}
            connection.insert("teams", row)
            self.accounts.note(connection, "team made", name, by)

    def remove_team(self, name: str, by: str) -> None:
        """Remove a team with all its roles. Raises `InputError` while it owns a library."""
        with self._database.write() as connection:
            team_id = self._team(connection, name)
            if connection.row("SELECT 1 FROM libraries WHERE owner = ?", team_id):
                raise InputError(f"{name} owns a library.", hint="A team that owns one stays.")
            connection.execute("DELETE FROM grants WHERE holder = ?", (team_id,))
            connection.execute("DELETE FROM teams WHERE team_id = ?", (team_id,))
            self.accounts.note(connection, "team removed", name, by)

    def join(self, team: str, email: str, by: str, *, manager: bool = False) -> None:
        """Put somebody into a team, as its manager or not."""
        with self._database.write() as connection:
            row = {"team_id": self._team(connection, team), "user_id": known(connection, email).user_id}
            connection.insert("members", row | {"manager": manager}, key="team_id, user_id")
            self.accounts.note(connection, f"{'manages' if manager else 'in'} team {team}", email, by)

    def leave(self, team: str, email: str, by: str) -> None:
        """Take somebody out of a team."""
        with self._database.write() as connection:
            named = (self._team(connection, team), known(connection, email).user_id)
            if not connection.execute("DELETE FROM members WHERE team_id = ? AND user_id = ?", named).rowcount:
                raise InputError(f"{email} isn't in {team}.", hint="Run `groundwork admin team list`.")
            self.accounts.note(connection, f"out of team {team}", email, by)

    def _make(self, connection: Connection, name: str, owner: str, *, first: bool = False) -> str:
        row = {"library_id": secrets.token_hex(16), "name": name, "owner": owner, "first": first}
        connection.insert("libraries", row | {"created": self.accounts.clock()})
        return str(row["library_id"])

    def _library(self, connection: Connection, library_id: str) -> Row:
        row = connection.row("SELECT * FROM libraries WHERE library_id = ?", library_id)
        if row is None:
            raise InputError("There is no such library.", hint="Reload the page.")
        return row

    def _team(self, connection: Connection, name: str) -> str:
        team_id = _called(connection, name.strip())
        if not team_id or team_id == EVERYONE:
            raise InputError(f"There is no team {name.strip()!r}.", hint="Run `groundwork admin team list`.")
        return team_id

    def _holder(self, connection: Connection, named: str) -> str:
        """``user_id`` of an email, or ``team_id`` of a name."""
        named = named.strip()
        if "@" in named:
            return known(connection, named).user_id
        return EVERYONE if named.lower() == EVERYONE else self._team(connection, named)

    def _listed(self, user_id: str) -> list[LibraryInfo]:
        with self._database.read() as connection:
            rows = connection.rows(_LISTED, user_id, user_id)
        return [
            made(LibraryInfo, row, role=ROLES[row["role"] - 1] if row["role"] else None, own=bool(row["own"]))
            for row in rows
        ]


_LISTED = """
    SELECT library_id, libraries.name, libraries.owner = ? AS own, first, libraries.created, removed,
        coalesce(users.name, teams.name, '') AS owner,
        (SELECT role FROM roles WHERE roles.library_id = libraries.library_id AND user_id = ?) AS role,
        (SELECT count(*) FROM roles WHERE roles.library_id = libraries.library_id) AS people
    FROM libraries LEFT JOIN users ON user_id = owner LEFT JOIN teams ON team_id = owner
    ORDER BY first DESC, lower(libraries.name), libraries.created
"""
_MEMBERS = """
    SELECT holder, coalesce(users.name, teams.name) AS name, coalesce(email, '') AS email, role, given.owner,
        (SELECT count(*) FROM holders WHERE holders.holder = given.holder) AS people
    FROM (
        SELECT owner AS holder, 3 AS role, 1 AS owner FROM libraries WHERE library_id = ? AND owner <> ''
        UNION ALL SELECT holder, role, 0 FROM grants WHERE library_id = ?
    ) given LEFT JOIN users ON user_id = holder LEFT JOIN teams ON team_id = holder
    ORDER BY given.owner DESC, role DESC, lower(coalesce(users.name, teams.name))
"""


def _called(connection: Connection, name: str) -> str:
    """``team_id`` of the team with a name, in whatever case; "" if there is none."""
    teams = connection.rows("SELECT team_id, name FROM teams")
    return next((team["team_id"] for team in teams if team["name"].casefold() == name.casefold()), "")


def _named(name: str) -> str:
    name = " ".join("".join(letter for letter in name if letter.isprintable()).split())
    if not name or len(name) > LONGEST_NAME:
        raise InputError(f"A name has 1 to {LONGEST_NAME} characters.", hint="Enter another.")
    return name
