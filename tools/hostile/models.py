"""Models that mean harm: broken bytes, fields with wild values, sizes and loops without end."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
import onnx
from google.protobuf.descriptor import FieldDescriptor  # type: ignore[import-untyped]
from google.protobuf.message import Message  # type: ignore[import-untyped]
from onnx import ModelProto, NodeProto, helper

from tests.models import runaway, unbounded
from tests.models.external_data import WEIGHTS, everywhere, external_tensor
from tests.models.real import model_paths
from tests.models.tiny import tiny
from tests.random_models.building import build
from tests.random_models.drawing import draw
from tests.random_models.kinds import KINDS
from tools.hostile import lines, out_of_bounds
from tools.hostile.case import Command, Place

LARGEST, CELLS = 120_000, 200_000
"""Bytes of the real models that are taken, and cells of an input."""
MOST = 2**63 - 1
NUMBERS = (0, 1, 2, 3, 7, -1, -7, 99, 10**9, 2**24, 2**31, 2**32 - 1, 2**40, 2**62, MOST, -(2**63))
NAMES = ("", " ", "a\nb", "\x1b[31mred\x1b[0m", "\x07\x08\x00", "\u202egnp.exe", "n" * 100_000,
         "../../../etc/passwd", "*", "[a-z]?", "é" * 300, "{0}%s%n", "H+1", "-1", "N" * 5000 + "*2",
         "<b>&", "x", "w", "y", "pads", "auto_pad", "SAME_UPPER", "wrap", "Loop", "If")  # fmt: skip


# Valid models, with which the attack begins.


@cache
def _real_models() -> tuple[bytes, ...]:
    paths = [path for path in model_paths() if path.stat().st_size <= LARGEST]
    return tuple(path.read_bytes() for path in paths)


def valid(random: Random) -> ModelProto:
    """A real model, a random one, or a tiny one."""
    if random.random() < 0.4:
        return onnx.load_model_from_string(random.choice(_real_models()))
    if random.random() < 0.7:
        return build(draw(random.choice(list(KINDS)), random.randrange(1 << 31))).model
    return small(random)


def small(random: Random) -> ModelProto:
    """A model of one padded operator."""
    body = random.choice(
        [
            '[op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)',
            "[op] y = ConvTranspose <strides = [2], pads = [0, 1]> (x, w)",
            "[op] y = MaxPool <kernel_shape = [3], strides = [2], ceil_mode = 1> (x)",
            "[op] y = AveragePool <kernel_shape = [3], pads = [1, 1], count_include_pad = 1> (x)",
            "p = Constant <value_ints = [0, 0, 1, 0, 0, 1]> () q = Pad (x, p) [op] y = Conv (q, w)",
        ]
    )
    return tiny(body, random.choice(["float[1,1,9]", "float[N,1,L]", "float[1,1,L]"]))


def reference(found: ModelProto) -> bytes:
    """An npz with a small array for each input and output of a model."""
    held = {tensor.name for tensor in found.graph.initializer}
    values = [one for one in (*found.graph.input, *found.graph.output) if one.name not in held]
    made = io.BytesIO()
    try:
        np.savez(made, allow_pickle=False, **{one.name: _array(one) for one in values})
    except (ValueError, TypeError, OverflowError, UnicodeError):
        made = io.BytesIO()
        np.savez(made, s0_in0=np.zeros((1, 1, 9), np.float32), s0_ref0=np.zeros(3, np.float32))
    return made.getvalue()


def _array(value: onnx.ValueInfoProto) -> np.ndarray:
    kind = value.type.tensor_type
    try:
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
    except KeyError:
        dtype = np.dtype(np.float32)
    shape = [dim.dim_value if 0 < dim.dim_value <= CELLS else 4 for dim in kind.shape.dim][:8]
    if np.prod(shape, dtype=object) > CELLS:
        shape = [1] * len(shape)
    numbers = np.random.default_rng(0).normal(size=shape)
    return numbers.astype(dtype if dtype.kind in "fiub" else np.float32)


def attack(random: Random, place: Place, found: ModelProto) -> Sequence[Command]:
    """Every verb on a model."""
    place.write("model.onnx", found.SerializeToString())
    place.write("data.npz", reference(found))
    return lines.every(random)


# Bytes.


def damaged(random: Random, place: Place) -> Sequence[Command]:
    """A model or its data with bytes changed, inserted, removed, repeated or cut off."""
    found = valid(random)
    data, arrays = bytearray(found.SerializeToString()), bytearray(reference(found))
    broken = arrays if random.random() < 0.1 else data
    for _ in range(random.choice([1, 1, 2, 4, 16, 64])):
        at, length = random.randrange(len(broken) + 1), random.choice([1, 2, 8, 40])
        match random.randrange(6):
            case 0 | 1:
                broken[at : at + 1] = bytes([random.choice([0, 1, 0x7F, 0x80, 0xFF])])
            case 2:
                broken[at:at] = random.randbytes(length)
            case 3:
                del broken[at : at + length]
            case 4:
                broken[at:at] = broken[at : at + 10 * length]
            case _ if at < len(broken):
                broken[at] ^= 1 << random.randrange(8)
    place.write("model.onnx", data if random.random() < 0.7 else _cut(random, bytes(data)))
    place.write("data.npz", arrays)
    return lines.every(random)


def _cut(random: Random, data: bytes) -> bytes:
    at = random.choice([0, 1, 2, 3, 8, random.randrange(len(data) + 1)])
    return random.choice(
        [
            data[:at], data[at:], data + random.randbytes(at % 99), data + data, data + data[:at],
            bytes(at), random.randbytes(at % 5000), "\ufeff".encode() + data[:at],
            b"\x0a\x7f" * at, b"\x3a\xff\xff\xff\xff\x07" + data, b"PK\x03\x04" + data[:at],
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
            b"<!DOCTYPE html><html><body>404</body></html>",
        ]
    )  # fmt: skip


# Fields.


def mutants(random: Random, place: Place) -> Sequence[Command]:
    """A valid model with one to four fields set to wild values, anywhere in it."""
    found = valid(random)
    for _ in range(random.choice([1, 1, 1, 2, 3, 4])):
        mutate(random, found)
    return attack(random, place, found)


def mutate(random: Random, found: ModelProto) -> None:
    """Change one field of one message of the model; nodes and attributes are met most often."""
    messages = list(_messages(found))
    names = {"NodeProto", "AttributeProto"} if random.random() < 0.6 else {"TensorProto"}
    chosen = [one for one in messages if one.DESCRIPTOR.name in names]
    message = random.choice(chosen if chosen and random.random() < 0.8 else messages)
    field = random.choice(message.DESCRIPTOR.fields)
    if field.message_type is not None:
        _mutate_messages(random, message, field, messages)
    elif hasattr(held := getattr(message, field.name), "extend"):
        count = random.choice([0, 1, 2, 2, 4, 6, len(held), len(held), 100])
        values = [_scalar(random, field) for _ in range(count)]
        at = random.randrange(len(held) + 1)
        kept = [*held]
        kept[at : at + random.choice([0, 1, len(kept)])] = values
        held[:] = kept
    else:
        setattr(message, field.name, _scalar(random, field))


def _messages(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if hasattr(value, "extend") else (value,):
                yield from _messages(inner)


def _mutate_messages(
    random: Random, message: Message, field: Any, messages: Sequence[Message]
) -> None:
    """Copy a message of this type from elsewhere, or shuffle, repeat or clear what is here."""
    alike = [one for one in messages if field.message_type == one.DESCRIPTOR]
    source = type(alike[0]).FromString(random.choice(alike).SerializeToString()) if alike else None
    if not hasattr(getattr(message, field.name), "extend"):
        if source is None or random.random() < 0.4:
            message.ClearField(field.name)
        else:
            getattr(message, field.name).CopyFrom(source)
        return
    kept = [type(one).FromString(one.SerializeToString()) for one in getattr(message, field.name)]
    match random.randrange(3):
        case 0:
            random.shuffle(kept)
        case 1:
            kept = kept[: random.randrange(len(kept) + 1)]
        case _:
            kept += [source] * random.choice([1, 1, 2, 50]) if source is not None else []
    message.ClearField(field.name)
    getattr(message, field.name).extend(kept)


def _scalar(random: Random, field: Any) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            text = random.choice(NAMES)
            if field.type != FieldDescriptor.TYPE_BYTES:
                return text
            numbers = np.array(random.choices(NUMBERS, k=4)).tobytes()
            return random.choice([text.encode(), numbers, b"\xff\xfe", random.randbytes(33)])
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return random.choice([0.0, -0.5, 1e38, float("nan"), float("-inf")])
        case FieldDescriptor.CPPTYPE_ENUM:
            return random.choice([one.number for one in field.enum_type.values])
        case FieldDescriptor.CPPTYPE_INT32:
            return random.choice([0, 1, 7, 14, 99, -1, 2**31 - 1])
        case FieldDescriptor.CPPTYPE_UINT64:
            return random.choice([0, 1, 2**64 - 1])
        case _:
            return random.choice([1, 2, 3, *NUMBERS])


# Sizes, expressions, calls and loops.


def blow_ups(random: Random, place: Place) -> Sequence[Command]:
    """Small models that describe large things."""
    return attack(random, place, random.choice(_LARGE)(random))


def running(random: Random, place: Place) -> Sequence[Command]:
    """Models that load, and do not end or take all memory when they are run."""
    found = random.choice([_endless, _allocation, _doubled, _odd])(random)
    attack(random, place, found)
    drawn = [lines.validate(random), lines.diagnose(random), lines.judged(lines.rewrite(random))]
    return [*drawn, lines.judged(lines.retarget(random))]


def _sizes(*sizes: int | str) -> tuple[int | str, ...]:
    return sizes


def _windows(random: Random) -> ModelProto:
    """Axes, kernels, strides, dilations and pads of up to 2^62."""

    def large() -> int:
        return random.choice([1, 2, 3, 7, 2**16, 2**24, 2**31, 2**33, 2**40, 2**62])

    op = random.choice(["MaxPool", "AveragePool", "LpPool", "Conv", "ConvTranspose", "MaxPool"])
    drawn: dict[str, Any] = {
        "strides": [large()],
        "dilations": [large()],
        "ceil_mode": 1,
        "pads": [large(), large()],
        "auto_pad": random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]),
    }
    drawn.pop(random.choice(["pads", "auto_pad"]))
    attributes = {name: value for name, value in drawn.items() if random.random() < 0.6}
    kernel = large() if "Pool" in op else 3
    size = random.choice(_sizes(1, 9, 2**24, 2**40, 2**62, "L"))
    return unbounded.window(op, size, kernel, **attributes)


def _pads(random: Random) -> ModelProto:
    """A Pad of each mode with pads of up to 2^62."""
    ends = [0, 1, 5, 2**20, 2**33, 2**62, -1, -(2**24), -(2**62)]
    mode = random.choice(["constant", "reflect", "edge", "wrap"])
    size = random.choice(_sizes(1, 5, 2**24, 2**33, "L"))
    return unbounded.pad(mode, (random.choice(ends), random.choice(ends)), size)


def _folded(random: Random) -> ModelProto:
    """Operators on extreme constants that compute the pads of a Pad."""
    schemas = [one for one in onnx.defs.get_all_schemas() if one.domain == "" and one.max_input < 6]
    kinds = ("int64", "int64", "int64", "int32", "float32", "bool")
    with np.errstate(all="ignore"):
        constants = [
            onnx.numpy_helper.from_array(
                np.asarray(random.choices(NUMBERS, k=count)).astype(random.choice(kinds)), f"c{n}"
            )
            for n, count in enumerate(random.choices([1, 1, 3, 6], k=4))
        ]
    nodes, names = [], [one.name for one in constants]
    for n in range(random.randrange(1, 6)):
        nodes.append(_any_node(random, random.choice(schemas), names, n))
        names += nodes[-1].output
    nodes.append(helper.make_node("Identity", [names[-1]], ["p"]))
    return unbounded.folded(nodes, *constants)


def _any_node(random: Random, schema: Any, names: Sequence[str], number: int) -> NodeProto:
    count = random.randrange(min(schema.min_input, 5), min(schema.max_input, 5) + 1)
    outputs = [f"o{number}_{k}" for k in range(max(1, min(schema.min_output, 4)))]
    node = helper.make_node(schema.name, random.choices(names, k=count), outputs)
    integer = random.choice([0, 1, 2, -1, 7, 2**31, MOST])
    values: dict[str, Any] = {
        "INT": integer,
        "INTS": [integer] * random.randrange(1, 4),
        "FLOAT": random.choice([0.0, -1.0, float("nan"), 1e38]),
        "STRING": random.choice(["", "linear", "constant", "LEFT"]),
    }
    for name, entry in schema.attributes.items():
        value = values.get(str(entry.type).rpartition(".")[2])
        if value is not None and (entry.required or random.random() < 0.2):
            node.attribute.append(helper.make_attribute(name, value))
    return node


def _odd(random: Random) -> ModelProto:
    """Any operators of onnx with inputs and attributes that nobody thought of."""
    schemas = [one for one in onnx.defs.get_all_schemas() if one.domain == ""]
    nodes, names = [], ["x", "x", "i", "s", ""]
    for n in range(random.randrange(1, 6)):
        nodes.append(_any_node(random, random.choice(schemas), names, n))
        names += list(nodes[-1].output) * 2
    nodes.append(helper.make_node("MaxPool", [names[-1]], ["y"], "op", kernel_shape=[3]))
    constants = {"i": random.choices(NUMBERS, k=random.randrange(4)), "s": random.choice(NUMBERS)}
    shape = random.choice([[1, 1, 9], [2, 3], [1, 1, 4, 4], []])
    return out_of_bounds.made_of(nodes, [out_of_bounds.value("x", shape)], constants)


def _doubled(random: Random) -> ModelProto:
    """A tensor doubled many times."""
    nodes, name = [], "x"
    for n in range(random.choice([10, 25, 40, 64, 300])):
        mode = random.choice(["wrap", "edge", "constant", "reflect"])
        doubling = [
            helper.make_node("Concat", [name, name], [f"d{n}"], axis=2),
            helper.make_node("Tile", [name, "twice"], [f"d{n}"]),
            helper.make_node("Pad", [name, "p"], [f"d{n}"], mode=mode),
            helper.make_node("ConvTranspose", [name, "w"], [f"d{n}"], strides=[2]),
        ]
        nodes.append(random.choice(doubling))
        name = f"d{n}"
    nodes.append(helper.make_node("MaxPool", [name], ["y"], "op", kernel_shape=[3], pads=[1, 1]))
    weight = np.ones((1, 1, 3), np.float32)
    constants: dict[str, Any] = {"twice": [1, 1, 2], "p": [0, 0, 1, 0, 0, 2], "w": weight}
    size = random.choice(_sizes(1, 3, "H", "N*2"))
    return out_of_bounds.made_of(
        nodes, [out_of_bounds.value("x", [1, 1, size])], constants, opset=19
    )


def _endless(random: Random) -> ModelProto:
    """A Loop without an end, or one of which each round carries twice as much."""
    found = runaway.endless_loop()
    body = found.graph.node[0].attribute[0].g
    if random.random() < 0.5:
        body.node[1].CopyFrom(helper.make_node("Concat", ["v", "v"], ["w"], axis=0))
    found.graph.node[0].input[0] = random.choice(["", "m"])
    trips = np.asarray(random.choice([MOST, 10**9, 40, 0, -1]))
    found.graph.initializer.append(onnx.numpy_helper.from_array(trips, "m"))
    return found


def _allocation(random: Random) -> ModelProto:
    """Tensors of gigabytes out of a few bytes."""
    found = runaway.four_gigabytes()
    size = random.choice([2**10, 2**20, 2**28, 2**33, 2**40, 2**62])
    found.graph.initializer[0].CopyFrom(unbounded.whole("s", [size]))
    found.graph.node[0].op_type = random.choice(["ConstantOfShape", "ConstantOfShape", "Range"])
    return found


_LARGE: tuple[Callable[[Random], ModelProto], ...] = (
    _windows,
    _windows,
    _pads,
    _folded,
    _folded,
    _doubled,
    _allocation,
    lambda random: unbounded.sums_of_sizes(random.choice([3, 20, 60, 200])),
    lambda random: unbounded.calls(random.choice([2, 8, 14, 20]), twice=random.random() < 0.6),
    lambda random: unbounded.halves(random.choice([2, 8, 20, 60])),
    lambda random: unbounded.nested_ifs(random.choice([2, 10, 24, 40])),
    lambda random: unbounded.chain(
        random.choice(["Relu", "Pad", "Conv", "Identity"]), random.choice([100, 1000, 5000])
    ),
    lambda random: out_of_bounds.nested_functions(random.choice([2, 8, 14, 30])),
    lambda random: out_of_bounds.sliced_shape(*random.choices(NUMBERS, k=3)),
    lambda random: out_of_bounds.cut_of(random.choices(NUMBERS[:8], k=2)),
)


# Weights in other files.


def external(random: Random, place: Place) -> Sequence[Command]:
    """A tensor whose entries lead anywhere, in any place that holds tensors."""
    place.fill_with_traps()
    location = "data.bin" if random.random() < 0.4 else random.choice(
        ["../outside/secret.bin", str(place.outside / "secret.bin"), "link.bin", "folder", "pipe",
         "/dev/zero", "/dev/stdin", "/proc/self/mem", "missing.bin", "", ".", "..", "short.bin",
         "sparse.bin", "sub/../data.bin", "linked/secret.bin", "hard.bin", "model.onnx",
         "data.bin/", "data.bin\x00", "n" * 5000, "..\\outside\\secret.bin", "file://data.bin",
         "\x1b[31m.bin", "loop.bin", "linked/../../outside/secret.bin"]
    )  # fmt: skip
    numbers = [*map(str, NUMBERS), "9" * 5000, "", " 4", "0x10", "4.0", "NaN", "1_000"]
    entries: dict[str, str | int] = {"location": location}
    if random.random() < 0.3:
        entries[random.choice(["offset", "offset", "checksum", "key"])] = random.choice(numbers)
    length = random.choice([WEIGHTS.nbytes, WEIGHTS.nbytes, None, random.choice(numbers)])
    held = external_tensor("w", length=length, **entries)
    if random.random() < 0.15:
        held.dims[:] = random.choice([[2**40], [-1], [0], [2**33], [256, 256]])
    if random.random() < 0.4:
        return attack(random, place, random.choice(list(everywhere(held).values())))
    found = small(random)
    if list(held.dims) == [256]:
        held.dims[:] = [1, 1, 256]
    del found.graph.initializer[:]
    found.graph.initializer.append(held)
    return attack(random, place, found)
