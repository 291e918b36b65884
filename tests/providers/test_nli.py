"""Entailment models from local folders; no network."""

from __future__ import annotations

import json
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from ragcore.engine import Engine
from ragcore.errors import ModelError, ModelMissing
from ragcore.protocols import Entailment
from ragcore.providers.registry import entailment
from ragcore.verify.claims import Statement
from ragcore.verify.evidence import Evidence
from ragcore.verify.support import support
from tests.answer.samples import SETTINGS
from tests.providers.models import tiny_cross_encoder

WORDS = "The cat of the company sat in the property."
EVIDENCE = Evidence(WORDS, "", "", sentences=(WORDS,))


def tiny_entailment(folder: Path, *outputs: str) -> str:
    """A real, very small cross-encoder with random weights whose outputs are called ``outputs``."""
    tiny_cross_encoder(folder, outputs=len(outputs))
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    config["id2label"] = {str(place): name for place, name in enumerate(outputs)}
    config["label2id"] = {name: place for place, name in enumerate(outputs)}
    path.write_text(json.dumps(config), "utf-8")
    return f"sentence-transformers:{folder}"


def test_off_is_none_and_none_ships() -> None:
    assert entailment("off") is None
    with pytest.raises(ModelMissing, match="no entailment model ships") as caught:
        entailment("bundled:nli")
    assert "sentence-transformers:" in caught.value.hint


@pytest.mark.slow
def test_the_probability_is_that_of_the_output_called_entailment(tmp_path: Path) -> None:
    orders = ("contradiction", "entailment", "neutral"), ("entailment", "neutral", "contradiction")
    first, second = (entailment(tiny_entailment(tmp_path / order[0], *order)) for order in orders)
    assert isinstance(first, Entailment)
    assert isinstance(second, Entailment)
    one, other = (model.score("The cat sat.", [WORDS, "the property"]) for model in (first, second))
    assert one.shape == (2,)
    assert np.all((one > 0.0) & (one < 1.0) & (other > 0.0) & (one + other < 1.0)), "two of three shares of one whole"
    assert first.score("The cat sat.", ["the property"]) == pytest.approx(one[1:])


@pytest.mark.slow
def test_a_model_of_another_kind_or_none_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="LABEL_0, LABEL_1, LABEL_2") as caught:
        entailment(f"sentence-transformers:{tiny_cross_encoder(tmp_path / 'other', outputs=3)}")
    assert "verify.entailment" in caught.value.hint
    name = f"sentence-transformers:{tmp_path / 'absent'}"
    opened = Engine.open(tmp_path / "home", overrides={"verify.entailment": name})
    with opened as engine, pytest.raises(ModelMissing, match="absent") as missing:
        engine.try_out({"verify.entailment"})
    assert "download" in missing.value.hint


@pytest.mark.slow
def test_it_joins_the_support_of_prose_and_never_outweighs_an_exact_check(tmp_path: Path) -> None:
    model = entailment(tiny_entailment(tmp_path / "nli", "contradiction", "entailment", "neutral"))
    assert model is not None
    said = Statement("The cat of the company sat in the property.", 0, 43, (1,))
    alone = support(said, EVIDENCE, SETTINGS.verify).probability
    entailed = float(model.score(said.text, [EVIDENCE.words])[0])
    both = support(said, EVIDENCE, SETTINGS.verify, entailment=model)
    mean = (log(alone / (1 - alone)) + log(entailed / (1 - entailed))) / 2
    assert both.probability == pytest.approx(1 / (1 + exp(-mean)))
    assert model.name in both.words.reason
    wrong = Statement("The 12 cats of the company sat in the property.", 0, 47, (1,))
    assert support(wrong, EVIDENCE, SETTINGS.verify, entailment=model).finding.status == "unsupported"
