"""Operator fusion: PReLU of one slope as LeakyReLU, which onnxruntime computes within the convolution before it.

Both are x above zero and slope·x below; a PReLU is a pass of its own over the whole feature map. Only the copy of the
model in memory is changed, as protobuf's wire format: a message is a list of fields, each a key and a body.
"""

from __future__ import annotations

Fields = list[tuple[int, bytes]]

# Keys of onnx.proto: field number · 8 + wire type.
_GRAPH = 58  # of a model
_NODE, _INITIALIZER = 10, 42  # of a graph
_INPUT, _OPERATOR, _ATTRIBUTE = 10, 34, 42  # of a node
_TYPE, _NAME, _RAW = 16, 66, 74  # of a tensor
_LABEL, _VALUE, _KIND = 10, 21, 160  # of an attribute
_FLOAT = b"\x01"  # a tensor's type and an attribute's


def fusible(model: bytes) -> bytes:
    """``model`` with each PReLU of one constant slope as LeakyReLU."""
    if b"PRelu" not in model:
        return model
    return _message([(key, _fused(body) if key == _GRAPH else body) for key, body in _fields(model)])


def _fused(graph: bytes) -> bytes:
    fields = _fields(graph)
    tensors = [dict(_fields(body)) for key, body in fields if key == _INITIALIZER]
    slopes = {t[_NAME]: t[_RAW] for t in tensors if t[_TYPE] == _FLOAT and len(t.get(_RAW, b"")) == 4}
    return _message([(key, _leaky(body, slopes) if key == _NODE else body) for key, body in fields])


def _leaky(node: bytes, slopes: dict[bytes, bytes]) -> bytes:
    fields = _fields(node)
    inputs = [body for key, body in fields if key == _INPUT]
    if (_OPERATOR, b"PRelu") not in fields or inputs[1] not in slopes:
        return node
    kept = [field for field in fields if field not in ((_OPERATOR, b"PRelu"), (_INPUT, inputs[1]))]
    alpha = _message([(_LABEL, b"alpha"), (_VALUE, slopes[inputs[1]]), (_KIND, _FLOAT)])
    return _message([*kept, (_OPERATOR, b"LeakyRelu"), (_ATTRIBUTE, alpha)])


def _fields(message: bytes) -> Fields:
    found, at = [], 0
    while at < len(message):
        key, at = _number(message, at)
        kind, start = key & 7, at
        if kind == 2:  # preceded by its length
            size, start = _number(message, at)
        else:
            size = {1: 8, 5: 4}[kind] if kind else _number(message, at)[1] - at
        at = start + size
        found.append((key, message[start:at]))
    return found


def _message(fields: Fields) -> bytes:
    return b"".join(
        part for key, body in fields for part in (_bytes(key), _bytes(len(body)) if key & 7 == 2 else b"", body)
    )


def _number(message: bytes, at: int) -> tuple[int, int]:
    """Number that begins at ``at``, seven bits a byte, the lowest first; and the place after it."""
    value = shift = 0
    while message[at] > 127:
        value |= (message[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | message[at] << shift, at + 1


def _bytes(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + _bytes(rest) if rest else bytes([low])
