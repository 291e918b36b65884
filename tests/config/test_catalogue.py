"""Every setting in words, and what is wrong with one as it is typed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.config import settings as config
from ragcore.config.settings import catalogue, read, wrong
from ragcore.errors import ConfigError

SETTINGS, ORIGINS = config.load(environ={})


def test_it_has_every_setting_and_says_what_it_is() -> None:
    assert list(catalogue()) == list(ORIGINS)
    unsaid = {key for key, item in catalogue().items() if not item.said and item.kind != "table"}
    assert unsaid <= {"llm.claude_model"}, "a comment in config.toml says what it is for"
    assert "with Claude" not in catalogue()["retrieve.top_k"].said
    assert catalogue()["answer.offline_floor"].said.startswith("probability (0-1)")


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("retrieve.top_k", " 30 ", 30),
        ("retrieve.alpha", "0,25", 0.25),
        ("verify.add_citations", "off", False),
        ("verify.judge", "claude", "claude"),
        ("llm.model", "claude-opus-4-6", "claude-opus-4-6"),
    ],
)
def test_what_is_typed_is_read(key: str, typed: str, value: Any) -> None:
    assert read(catalogue()[key], typed) == value
    assert wrong(SETTINGS, ORIGINS, key, typed) == ""


@pytest.mark.parametrize(
    ("key", "typed", "said"),
    [
        ("retrieve.top_k", "0", "Must be a whole number from 1 up."),
        ("retrieve.top_k", "2.5", "Must be a whole number from 1 up."),
        ("retrieve.alpha", "1.5", "Must be a number from 0 to 1."),
        ("retrieve.alpha", "nan", "Must be a number from 0 to 1."),
        ("retrieve.top_k", "9" * 40, "Must be a whole number from 1 up."),
        ("llm.timeout_seconds", "1e99", "Must be a number above 0 up."),
        ("rse.decay_rate", "0", "Must be a number above 0 up."),
        ("verify.judge", "maybe", "Must be off or claude."),
        ("verify.add_citations", "perhaps", "Must be on or off."),
        ("rse.max_length", "many", "Must be a whole number from 1 up."),
        ("chunk.row_tokens", "400", "the library was built with"),
        ("llm.prices", "3", "is a table"),
        ("chunk.max_tokens", "1", "from 20 to 8,000"),
    ],
)
def test_what_is_wrong_is_said_in_words(key: str, typed: str, said: str) -> None:
    assert said in wrong(SETTINGS, ORIGINS, key, typed)


def test_an_unknown_setting_is_an_error() -> None:
    with pytest.raises(ConfigError):
        wrong(SETTINGS, ORIGINS, "retrieve.topk", "3")


@given(st.sampled_from(sorted(catalogue())), st.text(max_size=12))
def test_whatever_is_typed_is_read_or_refused_in_words(key: str, typed: str) -> None:
    item = catalogue()[key]
    try:
        value = read(item, typed)
    except ConfigError as error:
        found = error.message
    else:
        found = ""
    if found:
        assert found[0].isupper() or found.startswith(key)
        return
    # What the field takes, the settings take, but for names that only they know.
    found = wrong(SETTINGS, ORIGINS, key, typed)
    assert found == "" or item.fixed, (key, value)
