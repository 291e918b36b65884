"""Settings that are kept: written into the file that a person edits too, and nothing else in it changes."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragcore.config import settings as config
from ragcore.errors import ConfigError
from ragcore.index.shared import keep, saved

MINE = """# mine
[retrieve]   # how it is searched
top_k = 7    # few
alpha = 0.3

[llm.prices]
"own-model" = [1.0, 2.0, 0.0, 0.0]
"""


def test_a_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    keep(tmp_path / "config.toml", {"retrieve.top_k": 30, "verify.add_citations": False})
    settings, origins = config.load(saved=saved(tmp_path), environ={})
    assert (settings.retrieve.top_k, settings.verify.add_citations) == (30, False)
    assert origins["retrieve.top_k"].endswith("config.toml")


def test_all_else_stays_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(MINE)
    keep(file, {"retrieve.top_k": 9, "retrieve.mode": "bm25", "llm.model": "offline", "retrieve.alpha": None})
    changed = MINE.replace("top_k = 7    # few\nalpha = 0.3\n", 'top_k = 9    # few\nmode = "bm25"\n')
    assert file.read_text() == changed.replace("[llm.prices]", '[llm]\nmodel = "offline"\n\n[llm.prices]')
    settings, _ = config.load(saved=saved(tmp_path), environ={})
    assert (settings.retrieve.top_k, settings.retrieve.mode, settings.llm.model) == (9, "bm25", "offline")


@pytest.mark.parametrize(
    "text",
    [
        "retrieve = { top_k = 7 }  # mine\n",
        "retrieve.top_k = 7  # mine\n",
        '[retrieve]\nalpha = 0.3\n"top_k" = 7 # mine\n',
    ],
)
def test_whatever_way_a_setting_is_written_it_is_changed_there(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    keep(file, {"retrieve.top_k": 9})
    assert file.read_text() == text.replace("7", "9")


def test_what_cannot_be_changed_is_left_and_said(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("retrieve = 7\n")
    with pytest.raises(ConfigError, match="can't edit") as caught:
        keep(file, {"retrieve.top_k": 9})
    assert "retrieve.top_k" in caught.value.hint
    assert file.read_text() == "retrieve = 7\n"


def test_a_broken_file_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[retrieve\n")
    with pytest.raises(ConfigError, match="can't be read"):
        keep(file, {"retrieve.top_k": 9})
    assert file.read_text() == "[retrieve\n"


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["retrieve.top_k", "retrieve.mode", "llm.base_url", "answer.style"]),
            st.none() | st.integers(-5, 5) | st.booleans() | st.text(max_size=8) | st.floats(0, 1),
            max_size=3,
        ),
        max_size=5,
    )
)
@example([{"retrieve.mode": "\x85"}, {}])  # a line's end for Python and not for TOML
def test_the_file_says_what_was_kept_last(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[dict[str, Any]]
) -> None:
    file = tmp_path_factory.mktemp("home") / "config.toml"
    file.write_text(MINE)
    wanted = config.flatten(tomllib.loads(MINE))
    for changes in rounds:
        keep(file, changes)
        wanted |= changes
        wanted = {key: value for key, value in wanted.items() if value is not None}
    assert config.flatten(tomllib.loads(file.read_text())) == wanted
    assert file.read_text().startswith("# mine\n")
