"""Accounts: passwords, sessions and links that end, delays that survive a restart, words that tell nothing."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragcore.accounts.accounts import FREE, FREE_ACCOUNT, FREE_ADDRESS, IDLE, LINK, LONGEST, Accounts, Device
from ragcore.errors import GroundworkError, InputError, LinkSpent, SignInRefused, StoreError
from tests.accounts.conftest import Clock, stored

GOOD, OTHER = "four words to remember", "another four words here"
HERE = Device("192.0.2.7", "Firefox on Linux")


@pytest.fixture
def accounts(tmp_path: Path, clock: Clock) -> Iterator[Accounts]:
    made = Accounts(tmp_path, clock)
    made.accept(made.first_link(), "Mara@Fernhill.example", "Mara Okell", GOOD, HERE)
    yield made
    made.close()


def refused(accounts: Accounts, email: str, password: str, device: Device = HERE) -> tuple[str, str]:
    with pytest.raises(SignInRefused) as raised:
        accounts.sign_in(email, password, device)
    return raised.value.message, raised.value.hint


def test_the_first_link_makes_one_administrator(accounts: Accounts) -> None:
    (mara,) = accounts.users()
    assert (mara.email, mara.name, mara.admin) == ("mara@fernhill.example", "Mara Okell", True)
    with pytest.raises(LinkSpent):
        accounts.accept(accounts.first_link(), "other@fernhill.example", "", GOOD, HERE)


@pytest.mark.usefixtures("costly_passwords")
def test_neither_token_nor_code_nor_password_is_stored(accounts: Accounts, tmp_path: Path) -> None:
    token = accounts.sign_in("mara@fernhill.example", GOOD, HERE)
    code = accounts.invite("jonas@fernhill.example", "mara@fernhill.example")
    kept = stored(accounts)
    assert not [secret for secret in (token, code, GOOD) if secret.encode() in kept]
    assert b"$argon2id$v=19$m=65536,t=3,p=4$" in kept
    assert not [path for path in tmp_path.iterdir() if path.is_file() and path.stat().st_mode & 0o077]


@pytest.mark.parametrize("password", ["short", "q1w2e3r4t5y6", "aaaaaaaaaaaaaaaa", "x" * 201, "Jonas@fernhill.example"])
def test_a_password_that_is_easily_guessed_is_refused_and_the_link_still_opens(
    accounts: Accounts, password: str
) -> None:
    code = accounts.invite("jonas@fernhill.example", "cli")
    with pytest.raises(InputError):
        accounts.accept(code, "", "", password, HERE)
    accounts.accept(code, "", "", GOOD, HERE)


def test_a_link_opens_once_and_for_a_week(accounts: Accounts, clock: Clock) -> None:
    code = accounts.invite("jonas@fernhill.example", "cli")
    accounts.accept(code, "mallory@else.example", "Jonas", GOOD, HERE)
    assert accounts.users()[1].email == "jonas@fernhill.example"  # not the one that was entered
    late = accounts.reset_link("jonas@fernhill.example", "cli")
    clock.now += LINK
    for spent in (code, late, "", "no such code"):
        with pytest.raises(LinkSpent):
            accounts.accept(spent, "", "", OTHER, HERE)


def test_a_newer_link_replaces_the_one_before(accounts: Accounts) -> None:
    before, now = (accounts.invite("jonas@fernhill.example", "cli") for _ in range(2))
    with pytest.raises(LinkSpent):
        accounts.link(before)
    assert accounts.link(now).email == "jonas@fernhill.example"


def test_sessions_end_by_time_by_hand_and_by_a_block(accounts: Accounts, clock: Clock) -> None:
    accounts.accept(accounts.invite("jonas@fernhill.example", "cli", admin=True), "", "", GOOD, HERE)
    one, two, three = (accounts.sign_in("jonas@fernhill.example", GOOD, HERE) for _ in range(3))
    session = accounts.session(one)
    assert session is not None
    accounts.end(session, "jonas@fernhill.example")
    assert accounts.session(one) is None
    clock.now += IDLE - 1
    assert accounts.session(two, use=True) is not None
    clock.now += 2
    assert accounts.session(three) is None
    while accounts.session(two, use=True) is not None:
        clock.now += IDLE / 2
    assert clock.now - session.created == pytest.approx(LONGEST, abs=IDLE)
    four = accounts.sign_in("jonas@fernhill.example", GOOD, HERE)
    accounts.block("jonas@fernhill.example", "cli")
    assert accounts.session(four) is None
    assert refused(accounts, "jonas@fernhill.example", GOOD)[0] == "Email or password is wrong."
    with pytest.raises(InputError, match="is blocked"):
        accounts.reset_link("jonas@fernhill.example", "cli")
    accounts.block("jonas@fernhill.example", "cli", blocked=False)
    assert accounts.session(four) is None
    accounts.sign_in("jonas@fernhill.example", GOOD, HERE)


def test_a_new_password_ends_the_other_sessions_and_a_reset_ends_all(accounts: Accounts) -> None:
    one, two = (accounts.sign_in("mara@fernhill.example", GOOD, HERE) for _ in range(2))
    session = accounts.session(one)
    assert session is not None
    with pytest.raises(InputError):
        accounts.change_password(session, "wrong", OTHER)
    accounts.change_password(session, GOOD, OTHER)
    assert accounts.session(one) is not None
    assert accounts.session(two) is None
    three = accounts.accept(accounts.reset_link("mara@fernhill.example", "cli"), "", "", GOOD, HERE)
    assert accounts.session(one) is None
    assert accounts.session(three) is not None


def test_the_only_administrator_stays(accounts: Accounts) -> None:
    with pytest.raises(InputError):
        accounts.block("mara@fernhill.example", "cli")
    assert accounts.has_admin()


def test_delays_grow_and_outlive_a_restart(accounts: Accounts, clock: Clock, tmp_path: Path) -> None:
    for _ in range(FREE):
        assert refused(accounts, "mara@fernhill.example", OTHER)[0] == "Email or password is wrong."
    again = Accounts(tmp_path, clock)
    said = ("Too many tries.", "Try again in 15 s.")
    assert refused(again, "mara@fernhill.example", GOOD) == said
    clock.now += 15
    assert refused(again, "mara@fernhill.example", OTHER)[0] == "Email or password is wrong."
    assert refused(again, "mara@fernhill.example", GOOD) == ("Too many tries.", "Try again in 30 s.")
    clock.now += 30
    again.sign_in("mara@fernhill.example", GOOD, HERE)
    assert refused(again, "mara@fernhill.example", OTHER)[0] == "Email or password is wrong."
    again.close()


def test_nobody_is_kept_out_by_what_others_try(accounts: Accounts) -> None:
    for _ in range(FREE + 1):
        refused(accounts, "mara@fernhill.example", OTHER, Device("198.51.100.1"))
    session = accounts.session(accounts.sign_in("mara@fernhill.example", GOOD, HERE))
    assert session is not None
    accounts.change_password(session, GOOD, OTHER)
    accounts.sign_in("mara@fernhill.example", OTHER, HERE)


@pytest.mark.usefixtures("costly_passwords")
def test_a_reset_ends_also_what_is_being_signed_in_with_the_old_password(accounts: Accounts) -> None:
    mara = "mara@fernhill.example"
    for _ in range(3):
        code = accounts.reset_link(mara, "cli")
        with ThreadPoolExecutor(8) as pool:
            coming = [pool.submit(accounts.sign_in, mara, GOOD, Device(f"198.51.100.{n}")) for n in range(7)]
            accounts.accept(code, "", "", OTHER, HERE)
        given = [one.result() for one in coming if one.exception() is None]
        assert not any(accounts.session(token) for token in given)
        accounts.accept(accounts.reset_link(mara, "cli"), "", "", GOOD, HERE)


@pytest.mark.usefixtures("costly_passwords")
def test_a_password_that_was_reset_is_not_changed_with_the_old_one(accounts: Accounts) -> None:
    mara = "mara@fernhill.example"
    session = accounts.session(accounts.sign_in(mara, GOOD, HERE))
    assert session is not None
    code = accounts.reset_link(mara, "cli")
    with ThreadPoolExecutor(1) as pool:
        change = pool.submit(accounts.change_password, session, GOOD, "what a thief would choose")
        accounts.accept(code, "", "", OTHER, HERE)
    assert isinstance(change.exception(), InputError)
    accounts.sign_in(mara, OTHER, HERE)


def test_an_account_tried_from_many_addresses_is_slowed_down_but_not_where_it_signed_in(
    accounts: Accounts, clock: Clock
) -> None:
    mara = "mara@fernhill.example"
    accounts.sign_in(mara, GOOD, HERE)
    clock.now += 20 * 86400
    for n in range(FREE_ACCOUNT):
        refused(accounts, mara, OTHER, Device(f"198.51.100.{n}"))
    assert refused(accounts, mara, GOOD, Device("203.0.113.9"))[0] == "Too many tries."
    accounts.sign_in(mara, GOOD, HERE)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("testclient", "", False),
    ],
)
def test_addresses_of_one_network_count_as_one(accounts: Accounts, one: str, other: str, same: bool) -> None:
    for _ in range(FREE):
        refused(accounts, "mara@fernhill.example", OTHER, Device(one))
    said = refused(accounts, "mara@fernhill.example", OTHER, Device(other))[0]
    assert said == ("Too many tries." if same else "Email or password is wrong.")


def test_many_accounts_from_one_address_are_slowed_down(accounts: Accounts) -> None:
    for n in range(FREE_ADDRESS):
        assert refused(accounts, f"nobody{n}@fernhill.example", OTHER)[0] == "Email or password is wrong."
    assert refused(accounts, "somebody@fernhill.example", OTHER)[0] == "Too many tries."


def test_an_invitation_is_withdrawn(accounts: Accounts) -> None:
    code = accounts.invite("wrong@fernhill.example", "cli", admin=True)
    accounts.block("Wrong@fernhill.example", "cli")
    with pytest.raises(LinkSpent):
        accounts.link(code)
    assert accounts.invited() == []
    with pytest.raises(InputError):
        accounts.block("wrong@fernhill.example", "cli")


def test_a_changed_password_ends_what_links_would_set(accounts: Accounts) -> None:
    session = accounts.session(accounts.sign_in("mara@fernhill.example", GOOD, HERE))
    assert session is not None
    code = accounts.reset_link("mara@fernhill.example", "cli")
    accounts.change_password(session, GOOD, OTHER)
    with pytest.raises(LinkSpent):
        accounts.link(code)


@pytest.mark.usefixtures("costly_passwords")
def test_tries_at_the_same_time_are_no_more_than_one_after_another(accounts: Accounts) -> None:
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: refused(accounts, "mara@fernhill.example", OTHER)[0], range(3 * FREE)))
    assert said.count("Email or password is wrong.") == FREE


@pytest.mark.usefixtures("costly_passwords")
def test_a_link_used_twice_at_the_same_time_makes_one_account(accounts: Accounts) -> None:
    code = accounts.invite("jonas@fernhill.example", "cli")

    def accept(_: int) -> str:
        try:
            return accounts.accept(code, "", "", GOOD, HERE)
        except LinkSpent:
            return ""

    with ThreadPoolExecutor(4) as pool:
        assert sum(map(bool, pool.map(accept, range(4)))) == 1


@pytest.mark.usefixtures("costly_passwords")
def test_an_unknown_account_is_refused_with_the_same_words_delays_and_work(accounts: Accounts) -> None:
    took: dict[str, list[float]] = {"mara@fernhill.example": [], "nobody@fernhill.example": []}
    said: dict[str, list[tuple[str, str]]] = {email: [] for email in took}
    for turn in range(FREE + 2):
        for email in took:
            started = time.perf_counter()
            said[email].append(refused(accounts, email, OTHER, Device(f"{email} {turn}")))
            took[email].append(time.perf_counter() - started)
    known, unknown = said.values()
    assert known == unknown
    one, other = (statistics.median(times[:FREE]) for times in took.values())
    assert max(one, other) < 2 * min(one, other)


def test_the_log_only_grows(accounts: Accounts) -> None:
    refused(accounts, "nobody@fernhill.example", GOOD)
    refused(accounts, "mara@fernhill.example", OTHER)
    accounts.reset_link("mara@fernhill.example", "command line")
    told = [(event.action, event.email, event.by) for event in accounts.log()]
    mara = "mara@fernhill.example"
    assert told[:3] == [
        ("reset link made", mara, "command line"),
        ("sign-in refused", mara, mara),
        ("sign-in refused", "", ""),
    ]
    for statement in ("DELETE FROM audit", "UPDATE audit SET email = ''"):
        with pytest.raises(StoreError, match="append only"), accounts.database.write() as connection:
            connection.execute(statement)
    assert [(event.action, event.email, event.by) for event in accounts.log()][:3] == told[:3]


@pytest.mark.parametrize("email", ["", "mara", "a b@c.example", "a@b@c", "x" * 300 + "@c.example", "a@b\u202e.example"])
def test_what_is_no_email_is_refused(accounts: Accounts, email: str) -> None:
    with pytest.raises(GroundworkError):
        accounts.invite(email, "cli")
