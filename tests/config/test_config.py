"""Settings: defaults, overrides, and refusals that name the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcore.config import settings as config
from ragcore.errors import ConfigError


def test_each_layer_overrides_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[retrieve]\ntop_k = 7\nalpha = 0.3\n")
    settings, origins = config.load(
        home=tmp_path, environ={"GROUNDWORK_RETRIEVE__ALPHA": "0.4", "GROUNDWORK_HOME": "elsewhere"}
    )
    assert (settings.retrieve.top_k, settings.retrieve.alpha) == (7, 0.4)
    assert origins["retrieve.top_k"] == str(tmp_path / "config.toml")
    assert origins["retrieve.alpha"] == "environment"
    assert origins["retrieve.mode"] == "default"


def test_a_file_given_by_name_replaces_the_home_s(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[retrieve]\ntop_k = 7\n")
    (tmp_path / "other.toml").write_text("[answer]\nsource_tokens = 100\n")
    settings, origins = config.load(file=tmp_path / "other.toml", home=tmp_path, environ={})
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
        config.load(home=tmp_path, environ={})
    assert said in caught.value.message
    assert "config.toml" in caught.value.message


def test_an_unknown_variable_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="GROUNDWORK_RETRIEVE__TOP_K"):
        config.load(environ={"GROUNDWORK_RETRIEVE__TOPK": "3"})


def test_prices_of_more_models_are_added(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[llm.prices]\n"my-model" = [1.0, 2.0, 0.1, 1.2]\n')
    settings, _ = config.load(home=tmp_path, environ={})
    assert settings.llm.prices["my-model"] == (1.0, 2.0, 0.1, 1.2)
    assert "claude-sonnet-4-6" in settings.llm.prices


RSE = {
    "max_length": 15,
    "overall_max_length": 30,
    "overall_max_length_extension": 5,
    "minimum_value": 0.7,
    "irrelevant_chunk_penalty": 0.2,
    "decay_rate": 30.0,
    "top_k_for_document_selection": 10,
    "chunk_length_adjustment": True,
}


def test_a_preset_gives_what_no_single_key_sets(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[rse]\nminimum_value = 0.3\n")
    settings, origins = config.load(home=tmp_path, environ={}, overrides={"rse.preset": "precision"})
    assert settings.rse.model_dump(exclude={"preset", "presets"}) == RSE | {"minimum_value": 0.3}
    assert origins["rse.minimum_value"] == str(tmp_path / "config.toml")
    assert origins["rse.max_length"] == "preset precision"


def test_a_preset_of_one_s_own_takes_the_rest_from_balanced(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        '[rse]\npreset = "mine"\n[rse.presets.mine]\nminimum_value = 0.7\nirrelevant_chunk_penalty = 0.2\n'
        "[rse.presets.find_all]\nmax_length = 9\n"
    )
    settings, _ = config.load(home=tmp_path, environ={})
    assert settings.rse.model_dump(exclude={"preset", "presets"}) == RSE
    changed = config.load(home=tmp_path, environ={"GROUNDWORK_RSE__PRESET": "find_all"})[0].rse
    assert (changed.max_length, changed.overall_max_length) == (9, 200)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[rse]\npreset = "presicion"\n', "There's no preset rse.preset = 'presicion'"),
        ("[rse]\npresets = 3\n", "rse.presets = 3"),
        ("[rse.presets]\nmine = 3\n", "rse.presets.mine = 3"),
        ("[rse.presets.mine]\nmax_lenght = 3\n", "rse.presets.mine.max_lenght"),
        ("[rse.presets.default]\nmax_length = 0\n", "rse.max_length = 0 can't be used"),
        ("[rse]\nirrelevant_chunk_penalty = 0.0\n", "rse.irrelevant_chunk_penalty = 0.0"),
    ],
)
def test_a_preset_that_cannot_be_used_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        config.load(home=tmp_path, environ={})
    assert said in caught.value.message
    if "presicion" in text:
        assert "default, balanced, precision, find_all" in caught.value.hint


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
