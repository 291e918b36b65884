"""Settings: defaults, overrides, and refusals that name the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcore.config import settings as config
from ragcore.errors import ConfigError
from ragcore.index.shared import saved


def test_each_layer_overrides_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[retrieve]\ntop_k = 7\nalpha = 0.3\n")
    settings, origins = config.load(
        saved=saved(tmp_path), environ={"GROUNDWORK_RETRIEVE__ALPHA": "0.4", "GROUNDWORK_HOME": "elsewhere"}
    )
    assert (settings.retrieve.top_k, settings.retrieve.alpha) == (7, 0.4)
    assert origins["retrieve.top_k"] == str(tmp_path / "config.toml")
    assert origins["retrieve.alpha"] == "environment"
    assert origins["retrieve.mode"] == "default"


def test_a_file_given_by_name_replaces_the_home_s(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[retrieve]\ntop_k = 7\n")
    (tmp_path / "other.toml").write_text("[answer]\nsource_tokens = 100\n")
    settings, origins = config.load(file=tmp_path / "other.toml", saved=saved(tmp_path), environ={})
    assert settings.answer.source_tokens == 100
    assert origins["retrieve.top_k"] == "default"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[retrieve]\ntopk = 3\n", "retrieve.top_k"),
        ("[retreive]\ntop_k = 3\n", "retrieve.top_k"),
        ("[retrieve]\ntop_k = -3\n", "retrieve.top_k = -3"),
        ('[retrieve]\nmode = "magic"\n', "retrieve.mode = 'magic'"),
        ("[retrieve\n", "not valid TOML"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        config.load(saved=saved(tmp_path), environ={})
    assert said in caught.value.message
    assert "config.toml" in caught.value.message


def test_an_unknown_variable_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean"):
        config.load(environ={"GROUNDWORK_RETRIEVE__TOPK": "3"})


def test_prices_of_more_models_are_added(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[llm.prices]\n"my-model" = [1.0, 2.0, 0.1, 1.2]\n')
    settings, _ = config.load(saved=saved(tmp_path), environ={})
    assert settings.llm.prices["my-model"] == (1.0, 2.0, 0.1, 1.2)
    assert "claude-sonnet-4-6" in settings.llm.prices


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[rse]\nmax_length = 0\n", "rse.max_length = 0 can't be used"),
        ("[rse]\nirrelevant_chunk_penalty = 0.0\n", "rse.irrelevant_chunk_penalty = 0.0"),
        ("[rse]\nmax_lenght = 3\n", "rse.max_lenght"),
        ("[llm]\nprices = 3\n", "llm.prices = 3"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        config.load(saved=saved(tmp_path), environ={})
    assert said in caught.value.message


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No settings file"):
        config.load(file=tmp_path / "none.toml", environ={})


def test_the_hash_names_the_settings() -> None:
    one, _ = config.load(environ={})
    same, _ = config.load(environ={})
    other, _ = config.load(environ={}, overrides={"retrieve.top_k": 3})
    assert one.hash() == same.hash() != other.hash()


def test_every_default_has_a_comment() -> None:
    lines = (Path(config.__file__).parent / "config.toml").read_text().splitlines()
    settings = [line for line in lines if "=" in line and not line.startswith("#")]
    unexplained = [line for line in settings if "#" not in line]
    assert len(unexplained) <= len(settings) // 3, unexplained
