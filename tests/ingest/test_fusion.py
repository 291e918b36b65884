"""PReLU as LeakyReLU: the model computes what it did, and one whose slopes differ by channel stays as it is."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import onnxruntime
import pymupdf
import pytest

from ragcore.ingest.fusion import fusible

IMAGE_MODEL = Path(pymupdf.__file__).parent / "layout" / "resources" / "onnx" / "feature_imf1.onnx"
GIVEN = np.array([[-2.0, -0.5], [0.0, 3.0]], np.float32)


def block(number: int, *parts: bytes) -> bytes:
    """Field of a protobuf message, shorter than 16,384 bytes."""
    body = b"".join(parts)
    return bytes([number << 3 | 2, len(body) & 127 | 128, len(body) >> 7]) + body


def prelu(*slopes: float) -> bytes:
    """ONNX model of one PReLU over two columns."""
    node = block(1, block(1, b"x"), block(1, b"slope"), block(2, b"y"), block(4, b"PRelu"))
    shape = bytes([1 << 3, len(slopes)])
    slope = block(5, shape, bytes([2 << 3, 1]), block(8, b"slope"), block(9, struct.pack(f"<{len(slopes)}f", *slopes)))
    sizes = block(2, block(1, b"\x08\x02"), block(1, b"\x08\x02"))
    kind = block(2, block(1, b"\x08\x01", sizes))
    graph = block(7, node, block(2, b"graph"), slope, block(11, block(1, b"x"), kind), block(12, block(1, b"y"), kind))
    return b"\x08\x08" + graph + block(8, b"\x10\x10")


def run(model: bytes, given: np.ndarray) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return list(session.run(None, {session.get_inputs()[0].name: given}))


@pytest.mark.parametrize("slope", [0.25, -0.5, 2.75, 0.0])
def test_one_slope_is_a_leaky_relu(slope: float) -> None:
    fused = fusible(prelu(slope))
    assert b"LeakyRelu" in fused
    assert b"PRelu" not in fused
    assert np.array_equal(run(fused, GIVEN)[0], run(prelu(slope), GIVEN)[0])


def test_a_slope_for_each_channel_stays() -> None:
    model = prelu(0.25, 0.5)
    assert b"PRelu" in fusible(model)
    assert np.array_equal(run(fusible(model), GIVEN)[0], run(model, GIVEN)[0])


def test_the_image_model_sees_the_same() -> None:
    model = IMAGE_MODEL.read_bytes()
    fused = fusible(model)
    assert b"PRelu" not in fused
    image = np.random.default_rng(0).random((1, 1, 300, 300), np.float32)
    for ours, theirs in zip(run(fused, image), run(model, image), strict=True):
        assert np.allclose(ours, theirs, atol=1e-4)
