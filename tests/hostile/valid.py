"""Valid models that the attack begins with, and references for them."""

from __future__ import annotations

import io
from functools import cache
from random import Random

import numpy as np
import onnx
from onnx import helper

from tests.models.real import model_paths
from tests.models.tiny import tiny
from tests.random_models.building import build
from tests.random_models.drawing import draw
from tests.random_models.kinds import KINDS

LARGEST = 120_000
"""Bytes of the real models that are taken: time goes into attacks, not into weights."""
CELLS = 200_000


@cache
def real_models() -> tuple[bytes, ...]:
    """The small ones of the real models."""
    paths = [path for path in model_paths() if path.stat().st_size <= LARGEST]
    return tuple(path.read_bytes() for path in paths)


def model(random: Random) -> onnx.ModelProto:
    """A valid model: a real one, a random one, or a tiny one."""
    if random.random() < 0.4:
        return onnx.load_model_from_string(random.choice(real_models()))
    if random.random() < 0.7:
        return build(draw(random.choice(list(KINDS)), random.randrange(1 << 31))).model
    return small(random)


def small(random: Random) -> onnx.ModelProto:
    """A model of one padded operator."""
    body = random.choice(
        [
            '[op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)',
            "[op] y = Conv <pads = [1, 1]> (x, w)",
            "[op] y = ConvTranspose <strides = [2], pads = [0, 1]> (x, w)",
            "[op] y = MaxPool <kernel_shape = [3], strides = [2], ceil_mode = 1> (x)",
            "[op] y = AveragePool <kernel_shape = [3], pads = [1, 1], count_include_pad = 1> (x)",
            "p = Constant <value_ints = [0, 0, 1, 0, 0, 1]> () q = Pad (x, p) [op] y = Conv (q, w)",
        ]
    )
    return tiny(body, random.choice(["float[1,1,9]", "float[N,1,L]", "float[1,1,L]"]))


def reference(random: Random, found: onnx.ModelProto) -> bytes:
    """An npz with an input for each of a model, and some outputs; all of them small."""
    held = {tensor.name for tensor in found.graph.initializer}
    arrays = {}
    for value in [*found.graph.input, *found.graph.output]:
        if value.name not in held and value.name:
            arrays[value.name] = _array(random, value)
    made = io.BytesIO()
    try:
        np.savez(made, allow_pickle=False, **arrays)
    except (ValueError, TypeError, OverflowError, UnicodeError):
        made = io.BytesIO()
        np.savez(made, s0_in0=np.zeros((1, 1, 9), np.float32), s0_ref0=np.zeros(3, np.float32))
    return made.getvalue()


def _array(random: Random, value: onnx.ValueInfoProto) -> np.ndarray:
    kind = value.type.tensor_type
    try:
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
    except KeyError:
        dtype = np.dtype(np.float32)
    if dtype.kind not in "fiub":
        dtype = np.dtype(np.float32)
    shape = [dim.dim_value if 0 < dim.dim_value <= CELLS else 4 for dim in kind.shape.dim][:8]
    if np.prod(shape, dtype=object) > CELLS:
        shape = [1] * len(shape)
    return np.random.default_rng(random.randrange(1 << 31)).normal(size=shape).astype(dtype)
