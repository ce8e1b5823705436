"""Models that parse and mean nonsense: what a checker refuses, and what it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper

from onnxpad.padding.operators import OPERATORS
from tests.hostile import verbs
from tests.hostile.case import Command, Place
from tests.hostile.valid import model, reference

HUGE = (2**62, 2**63 - 1, -(2**63), 2**31, 2**32 - 1, 2**40, 10**9, 2**24, 99_999, -1, -7, 0)
NAMES = (
    "",
    " ",
    "a\nb",
    "\x1b[31mred\x1b[0m",
    "\x07\x08\x00",
    "\u202egnp.exe",
    "n" * 100_000,
    "../../../etc/passwd",
    "*",
    "[a-z]?",
    "é" * 300,
    "{0}%s%n",
    "H+1",
    "-1",
    "N" * 5000 + "*2",
    "1",
    "''\"",
    "<b>&",
)
WORDS = ("auto_pad", "pads", "strides", "dilations", "kernel_shape", "group", "ceil_mode",
         "count_include_pad", "output_padding", "output_shape", "mode", "storage_order", "p",
         "axes", "axis", "value", "perm", "to", "body", "then_branch")  # fmt: skip


_PADDED = frozenset(name for _, name in OPERATORS)


def mutants(random: Random, place: Place) -> Sequence[Command]:
    """A valid model changed in one to four places, and every verb on it."""
    found = model(random)
    arrays = reference(random, found)
    for _ in range(random.choice([1, 1, 1, 2, 3, 4])):
        change = random.choice(CHANGES)
        try:
            change(random, found)
        except (IndexError, ValueError, DecodeError):  # nothing that could be changed so, or deeper
            continue
    place.write("model.onnx", found.SerializeToString())
    place.write("data.npz", arrays)
    return verbs.every(random)


def _node(random: Random, found: ModelProto) -> NodeProto:
    """Any node, rather one that can pad."""
    nodes: list[NodeProto] = [
        *found.graph.node,
        *(node for function in found.functions for node in function.node),
    ]
    for node in found.graph.node:
        for entry in node.attribute:
            nodes += entry.g.node
    padded = [node for node in nodes if node.op_type in _PADDED]
    return random.choice(padded if padded and random.random() < 0.7 else nodes)


def _integers(random: Random) -> list[int]:
    count = random.choice([0, 1, 2, 3, 4, 4, 6, 8, 100])
    near = [0, 1, 2, 3]
    return [random.choice([*near, *near, *near, *HUGE]) for _ in range(count)]


def attribute(random: Random, found: ModelProto) -> None:
    """An attribute of a wrong type, or with wrong numbers."""
    node = _node(random, found)
    names = [entry.name for entry in node.attribute]
    name = random.choice([*names, *names, *WORDS])
    kept = [entry for entry in node.attribute if entry.name != name]
    if random.random() < 0.9:
        del node.attribute[:]
        node.attribute.extend(kept)
    made = node.attribute.add(name=name)
    match random.randrange(12):
        case 0 | 1 | 2 | 3 | 4:
            made.type = AttributeProto.INTS
            made.ints.extend(_integers(random))
        case 5:
            made.type = AttributeProto.INT
            made.i = random.choice([1, 2, *HUGE])
        case 6:
            made.type = AttributeProto.FLOATS
            made.floats.extend([1e38, float("nan"), -0.5][: random.randrange(4)])
        case 7:
            made.type = AttributeProto.STRING
            made.s = random.choice(
                [b"", b"SAME_UPPER", b"same_upper", b"SAME", b"\xff\xfe", b"wrap", b"x" * 99_999,
                 b"VALID", b"NOTSET", b"SAME_LOWER", b"reflect", b"constant\n"]
            )  # fmt: skip
        case 8:
            made.type = AttributeProto.TENSOR
            made.t.CopyFrom(_tensor(random))
        case 9:
            whole = found.graph.SerializeToString()  # of which `made` is a part
            made.type = AttributeProto.GRAPH
            made.g.ParseFromString(whole)
        case 10:
            made.type = random.choice([0, 3, 7, 11, 13, 14])
            made.ints.extend(_integers(random))
        case _:
            made.type = AttributeProto.INTS
            made.ref_attr_name = random.choice(["pads", "", "missing"])


def _tensor(random: Random) -> TensorProto:
    made = TensorProto(name=random.choice(["", "t", "w"]))
    made.data_type = random.choice([1, 1, 6, 7, 8, 9, 10, 11, 14, 16, 17, 21, 22, 0, 99, -1])
    made.dims.extend(random.choice([[], [0], [1], [4], [-1], [2**40], [2**32, 2**32], [3, 2], [8]]))
    match random.randrange(6):
        case 0:
            made.raw_data = random.randbytes(random.choice([0, 1, 4, 8, 32, 33]))
        case 1:
            made.float_data.extend([float("inf"), float("nan"), 1e38][: random.randrange(4)])
        case 2:
            made.int64_data.extend(_integers(random))
        case 3:
            made.int32_data.extend([2**31 - 1, -1, 70_000][: random.randrange(4)])
        case 4:
            made.string_data.extend([b"\xff", b"x"])
        case _:
            made.raw_data = np.array(_integers(random), np.int64).tobytes()
            made.data_type, made.dims[:] = 7, [len(made.raw_data) // 8]
    if random.random() < 0.1:
        made.segment.begin, made.segment.end = 0, 2**40
    return made


def tensor(random: Random, found: ModelProto) -> None:
    """An initializer or a value that says something else than it holds."""
    held = random.choice(found.graph.initializer)
    match random.randrange(7):
        case 0:
            held.dims[:] = random.choice([[], [-1], [2**40], [2**62, 4], [0], [1] * 70, [7, 0, 3]])
        case 1:
            held.data_type = random.choice([0, 2, 7, 8, 9, 10, 14, 17, 23, 99, -1])
        case 2:
            held.raw_data = held.raw_data[: random.randrange(9)]
        case 3:
            made = _tensor(random)
            made.name = held.name
            held.CopyFrom(made)
        case 4:
            held.ClearField("raw_data")
        case 5:
            held.raw_data = np.array(random.choices(HUGE, k=len(held.raw_data) // 8 or 1)).tobytes()
        case _:
            held.data_location = TensorProto.EXTERNAL


def wiring(random: Random, found: ModelProto) -> None:
    """Inputs that are missing or too many, names given twice, circles."""
    node = _node(random, found)
    names = [name for one in found.graph.node for name in [*one.input, *one.output]]
    match random.randrange(9):
        case 0:
            del node.input[random.randrange(len(node.input)) :]
        case 1:
            node.input[random.randrange(len(node.input))] = random.choice(["", "nothing", *NAMES])
        case 2:
            node.input[random.randrange(len(node.input))] = random.choice(names)
        case 3:
            node.input[0] = node.output[0]
        case 4:
            node.output[random.randrange(len(node.output))] = random.choice([*names, ""])
        case 5:
            node.input.extend(random.choices(names, k=random.choice([1, 3, 300])))
        case 6:
            nodes = list(found.graph.node)
            random.shuffle(nodes)
            del found.graph.node[:]
            found.graph.node.extend(nodes)
        case 7:
            node.output.extend(random.choices([*names, "", "new"], k=random.choice([1, 3])))
        case _:
            del node.output[:]


def naming(random: Random, found: ModelProto) -> None:
    """Names that are empty, long, given twice, or not made for printing."""
    name = random.choice(NAMES)
    match random.randrange(8):
        case 0:
            _node(random, found).name = name
        case 1:
            for node in found.graph.node:
                node.name = name
        case 2:
            old = random.choice([one.name for one in found.graph.input])
            _rename(found, old, name)
        case 3:
            old = random.choice([one for node in found.graph.node for one in node.output])
            _rename(found, old, name)
        case 4:
            value = random.choice([*found.graph.input, *found.graph.output])
            random.choice(value.type.tensor_type.shape.dim).dim_param = name
        case 5:
            found.graph.initializer.append(random.choice(found.graph.initializer))
        case 6:
            found.graph.input.append(random.choice(found.graph.input))
        case _:
            found.graph.name = found.producer_name = found.doc_string = name
            found.metadata_props.add(key=name, value=name)


def _rename(found: ModelProto, old: str, new: str) -> None:
    for value in [*found.graph.input, *found.graph.output, *found.graph.value_info]:
        value.name = new if value.name == old else value.name
    for held in found.graph.initializer:
        held.name = new if held.name == old else held.name
    for node in found.graph.node:
        node.input[:] = [new if name == old else name for name in node.input]
        node.output[:] = [new if name == old else name for name in node.output]


def shapes(random: Random, found: ModelProto) -> None:
    """Inputs and outputs of other ranks, sizes and types."""
    graph = found.graph
    value = random.choice([*graph.input, *graph.output, *graph.value_info])
    kind = value.type.tensor_type
    match random.randrange(7):
        case 0:
            random.choice(kind.shape.dim).dim_value = random.choice(HUGE)
        case 1:
            del kind.shape.dim[random.randrange(len(kind.shape.dim)) :]
        case 2:
            for _ in range(random.choice([1, 3, 70])):
                kind.shape.dim.add(dim_value=random.choice([1, 2, *HUGE]))
        case 3:
            kind.ClearField("shape")
        case 4:
            kind.elem_type = random.choice([0, 2, 7, 8, 9, 10, 14, 99, -3])
        case 5:
            value.ClearField("type")
        case _:
            made = value.type
            for _ in range(random.choice([1, 5, 60])):
                inner = onnx.TypeProto()
                inner.sequence_type.elem_type.CopyFrom(made)
                made = inner
            value.type.CopyFrom(made)


def versions(random: Random, found: ModelProto) -> None:
    """Opsets and versions that do not exist, twice, or not at all."""
    absurd = [0, -1, 1, 5, 6, 10, 999, 2**31, 2**62, -(2**62)]
    match random.randrange(5):
        case 0:
            random.choice(found.opset_import).version = random.choice(absurd)
        case 1:
            del found.opset_import[:]
        case 2:
            found.opset_import.add(domain=random.choice(["", "ai.onnx", *NAMES]), version=3)
        case 3:
            found.ir_version = random.choice(absurd)
        case _:
            random.choice(found.opset_import).domain = random.choice(NAMES)


def operators(random: Random, found: ModelProto) -> None:
    """A node that becomes another operator, or one of nowhere."""
    node = _node(random, found)
    match random.randrange(3):
        case 0:
            node.op_type = random.choice(
                [one.name for one in onnx.defs.get_all_schemas() if one.domain == ""]
            )
        case 1:
            node.domain = random.choice(["com.microsoft", "ai.onnx.ml", "local", *NAMES])
        case _:
            node.op_type = random.choice(NAMES)


def bodies(random: Random, found: ModelProto) -> None:
    """The graph inside an If or a Loop of itself, a few times over."""
    for _ in range(random.choice([1, 2, 3])):
        body = onnx.GraphProto()
        body.CopyFrom(found.graph)
        if random.random() < 0.5:
            del body.input[:]
        node = random.choice(
            [
                helper.make_node("If", ["c"], ["z"], then_branch=body, else_branch=body),
                helper.make_node("Loop", ["", ""], ["z"], body=body),
                helper.make_node("Scan", ["x"], ["z"], body=body, num_scan_inputs=1),
            ]
        )
        found.graph.node.append(node)


CHANGES: tuple[Callable[[Random, ModelProto], None], ...] = (
    *([attribute] * 4), tensor, tensor, wiring, wiring, naming, shapes, versions, operators, bodies,
)  # fmt: skip
