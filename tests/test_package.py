"""What the package promises as a whole: its names, its error tree, its light import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ragcore
from ragcore import errors


def test_every_public_name_is_there() -> None:
    for name in ragcore.__all__:
        assert getattr(ragcore, name) is not None
    assert ragcore.__all__ == sorted(ragcore.__all__)
    with pytest.raises(AttributeError):
        _ = ragcore.nothing


@pytest.mark.parametrize("module", ["ragcore", "ragcore.engine", "ragcore.cli"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    heavy = ["torch", "pymupdf", "onnxruntime", "streamlit", "sentence_transformers", "anthropic"]
    code = f"import sys, {module}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


ERRORS = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.GroundworkError)
]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_each_error_says_what_to_do(kind: type[errors.GroundworkError]) -> None:
    error = kind("It broke.", retryable=True)
    assert error.as_dict() == {"code": kind("").code, "message": "It broke.", "hint": error.hint, "retryable": True}
    assert error.hint.endswith((".", ")"))


def test_codes_are_distinct() -> None:
    assert len({kind("").code for kind in ERRORS}) == len(ERRORS)
