"""Limits of libraries and people: what may be stored, read, asked and spent.

What is asked for is reserved before the work, in one transaction, so that no limit is passed however many ask at once;
what was not used is given back. Days and months are those of UTC.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from ragcore.accounts.accounts import known
from ragcore.accounts.libraries import Grants
from ragcore.errors import InputError, LimitReached
from ragcore.index.database import Connection, made
from ragcore.protocols import Measure

MEASURES: tuple[Measure, ...] = get_args(Measure)
PERIODS: dict[Measure, str] = {"bytes": "", "pages": "%Y-%m", "questions": "%Y-%m-%d", "dollars": "%Y-%m"}
OF_PEOPLE: tuple[Measure, ...] = ("questions",)  # the others are of libraries
EACH = ""  # holder: everybody, or every library, without a limit of their own
NONE = -1.0  # a holder's own limit: none, whatever that of each is


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit of a person or library by name ("" for each that has none of its own), None for none, and what is ``used``
    of it in the present day or month."""

    measure: Measure
    holder: str
    most: float | None
    used: float


class Limits:
    """Limits of one home folder, in the same file as the accounts. ``by`` is who does something: an email, or the
    command line."""

    def __init__(self, grants: Grants) -> None:
        self.grants = grants
        self._accounts = grants.accounts
        self._database = grants.accounts.database

    def put(self, measure: Measure, most: float | None, by: str, of: str = EACH) -> None:
        """Limit a person (email) or a library (name or id), or each without one of its own; None: no limit. Raises
        `InputError`."""
        if of and (measure in OF_PEOPLE) != ("@" in of):
            holds = "a person" if measure in OF_PEOPLE else "a library"
            raise InputError(f"A limit of {measure} is for {holds}.", hint="Run `groundwork admin limit set -h`.")
        library_id = self.grants.find(of) if of and measure not in OF_PEOPLE else ""
        with self._database.write() as connection:
            holder = library_id or (known(connection, of).user_id if of else EACH)
            if most is None and holder == EACH:
                connection.execute("DELETE FROM limits WHERE holder = ? AND measure = ?", (holder, measure))
            else:
                row = {"holder": holder, "measure": measure, "most": NONE if most is None else most}
                connection.insert("limits", row, key="holder, measure")
            said = f"{measure} limited to {most:,.15g}" if most is not None else f"{measure} without limit"
            library = self.grants.name(library_id) if library_id else ""
            self._accounts.note(connection, said, "" if library_id else of, by, library=library)

    def all(self) -> list[Limit]:
        """Limits, those of each first."""
        with self._database.read() as connection:
            rows = connection.rows(_ALL)
            used = {
                (row["holder"], row["measure"]): self._used(connection, row["holder"], row["measure"]) for row in rows
            }
        return [
            made(Limit, row, holder=row["name"], most=_given(row["most"]), used=used[row["holder"], row["measure"]])
            for row in rows
        ]

    def take(self, holder: str, measure: Measure, amount: float, held: float | None = None) -> None:
        """`Allowance.take`; what is ``held`` is noted, for `all`."""
        with self._database.write() as connection:
            most = self._most(connection, holder, measure)
            if most is None:
                return
            used = self._used(connection, holder, measure) if held is None else held
            if used + amount > most:
                message, hint = _told(measure, most, used, amount, self._accounts.clock())
                raise LimitReached(message, hint=hint)
            self._put(connection, holder, measure, used + amount)

    def give_back(self, holder: str, measure: Measure, amount: float) -> None:
        """Release of what was reserved and not used."""
        with self._database.write() as connection:
            if self._most(connection, holder, measure) is not None:
                used = self._used(connection, holder, measure)
                self._put(connection, holder, measure, max(used - amount, 0.0))

    def most(self, holder: str, measure: Measure) -> float | None:
        """Limit of a holder; None for none."""
        with self._database.read() as connection:
            return self._most(connection, holder, measure)

    def _most(self, connection: Connection, holder: str, measure: Measure) -> float | None:
        query = "SELECT most FROM limits WHERE measure = ? AND holder IN (?, ?) ORDER BY holder DESC LIMIT 1"
        return _given(connection.value(query, measure, holder, EACH))

    def _used(self, connection: Connection, holder: str, measure: Measure) -> float:
        query = "SELECT used FROM usage WHERE holder = ? AND measure = ? AND period = ?"
        return float(connection.value(query, holder, measure, self._period(measure)) or 0.0)

    def _put(self, connection: Connection, holder: str, measure: Measure, used: float) -> None:
        row = {"holder": holder, "measure": measure, "period": self._period(measure), "used": used}
        connection.insert("usage", row, key="holder, measure")  # of the period before

    def _period(self, measure: Measure) -> str:
        return time.strftime(PERIODS[measure], time.gmtime(self._accounts.clock()))


@dataclass(frozen=True)
class LibraryAllowance:
    """`Allowance` of the library in the folder ``home``, and of the person ``user_id`` ("": nobody in particular)."""

    limits: Limits
    home: Path
    user_id: str = ""

    def of(self, user_id: str) -> LibraryAllowance:
        return replace(self, user_id=user_id)

    def limited(self, measure: Measure) -> bool:
        holder = self._holder(measure)
        return bool(holder) and self.limits.most(holder, measure) is not None

    def take(self, measure: Measure, amount: float, held: float | None = None) -> None:
        if self.limited(measure):  # else nothing is to be written
            self.limits.take(self._holder(measure), measure, amount, held)

    def give_back(self, measure: Measure, amount: float) -> None:
        if self.limited(measure):
            self.limits.give_back(self._holder(measure), measure, amount)

    def _holder(self, measure: Measure) -> str:
        return self.user_id if measure in OF_PEOPLE else self.limits.grants.at(self.home)


def _given(most: float | None) -> float | None:
    return None if most is None or most == NONE else float(most)


def _told(measure: Measure, most: float, used: float, amount: float, now: float) -> tuple[str, str]:
    """Message and hint: which limit, how much is left, when there is more."""
    left = max(most - used, 0.0)
    whose = "your questions for today" if measure in OF_PEOPLE else f"what this library may {_DOES[measure]}"
    needs = "" if measure in OF_PEOPLE else f" This needs {_said(measure, amount)};"
    message = f"The limit of {whose} is reached:{needs} {_said(measure, left)} of {_said(measure, most)} are left."
    return message, f"{_more(measure, now)} Who runs the server can raise it with `groundwork admin limit`."


_DOES = {"bytes": "store", "pages": "read this month", "dollars": "spend this month"}


def _said(measure: Measure, amount: float) -> str:
    if measure == "bytes":
        return f"{amount / 1e6:,.1f} MB"
    return f"${amount:,.2f}" if measure == "dollars" else f"{amount:,.0f} {measure}"


def _more(measure: Measure, now: float) -> str:
    year, month = time.gmtime(now)[:2]
    following = time.strftime("%-d %B", (year + month // 12, month % 12 + 1, 1, 0, 0, 0, 0, 0, 0))
    return {"bytes": "Remove documents.", "questions": "There are more tomorrow (UTC)."}.get(
        measure, f"There is more from {following}."
    )


_ALL = """
    SELECT limits.*, coalesce(email, libraries.name, holder) AS name
    FROM limits LEFT JOIN users ON user_id = holder LEFT JOIN libraries ON library_id = holder
    ORDER BY holder <> '', measure, name
"""
