"""Data and plans that mean harm: archives that explode, arrays that are programs, endless JSON."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from onnxpad.retargeting.plan import Plan
from tools.hostile import lines, models
from tools.hostile.case import Command, Place

MEGABYTE = 1 << 20
NAMES = ("x.npy", "y.npy", "../../outside/evil.npy", "/evil.npy", "x", " ", "\x1b[31m.npy",
         "n" * 60_000, "s0_ref0.npy", "s0_in0.npy", f"s{'9' * 21}_in0.npy", "x.npy/",
         "s0_out" + "9" * 5000 + ".npy", "a\nb.npy")  # fmt: skip


def archives(random: Random, place: Place) -> Sequence[Command]:
    """A valid model beside an archive, an array or a folder of tensors that is none."""
    place.write("model.onnx", models.small(random).SerializeToString())
    name = random.choice([_npz, _npz, _npz, _npy, _folder])(random, place)
    data: tuple[str, ...] = ("--data", name)
    if name.endswith(".npy") and random.random() < 0.7:
        data = ("--inputs", name, "--outputs", name)
    validate = ("validate", "model.onnx", *data, "--device", "cpu", *lines.limits("validate"))
    return [Command(validate), lines.diagnose(random, *data)]


def _npz(random: Random, place: Place) -> str:
    made = io.BytesIO()
    how = random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
    with zipfile.ZipFile(made, "w", how) as file:
        for name in random.sample(NAMES, random.choice([1, 2, 2, 3])):
            file.writestr(name, _member(random))
        for number in range(30_000 if random.random() < 0.05 else 0):
            file.writestr(str(number), b"")
    data = bytearray(made.getvalue())
    if random.random() < 0.15:
        data = bytearray(_bomb(random.choice([1, 64, 3000])))
    elif random.random() < 0.3:
        for _ in range(random.choice([1, 3, 20])):
            data[random.randrange(len(data))] = random.choice([0, 1, 0xFF])
    elif random.random() < 0.1:
        data = data[: random.randrange(len(data))]
    return place.write(random.choice(["data.npz", "data.zip", "data"]), data)


@cache
def _bomb(megabytes: int) -> bytes:
    """An npz of one array of zeros, a thousand times as large as the archive."""
    made = io.BytesIO()
    header = _header(f"(1, 1, {megabytes << 18})")
    with (
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        file.write(header)
        for _ in range(megabytes):
            file.write(bytes(MEGABYTE))
    return made.getvalue()


def _header(shape: str, descr: str = "'<f4'", order: str = "False") -> bytes:
    return _framed(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}\n")


def _framed(text: str, version: int = 1) -> bytes:
    body = text.encode("utf-8", "surrogatepass")
    size = (
        struct.pack("<H", min(len(body), 65535)) if version == 1 else struct.pack("<I", len(body))
    )
    return b"\x93NUMPY" + bytes([version, 0]) + size + body


_SHAPES = ("(1, 1, 9)", "(1, 1, 10)", "(-1,)", f"({2**40},)", f"({2**62}, 4, 4)", "(1.5,)",
           f"({2**31}, {2**31}, {2**31}, {2**31})", "(" + "9" * 5000 + ",)", "(True,)",
           "'(1, 1, 9)'", "(0, " + "9" * 18 + ")")  # fmt: skip
_TYPES = ("'|O'", "'<f4,<f4'", "[('a', '<f4', (2000000000,))]", "'U2147483647'", "None")
_HEADS = ("(" * 9000, "{" * 300 + "}" * 300, "-" * 60_000 + "1", "\x00" * 100, "", "9" * 5000,
          "{'descr': '<f4'", "__import__('os').abort()", "é" * 900)  # fmt: skip
HEADERS = (
    *map(_header, _SHAPES),
    *(_header("(1, 1, 9)", kind) for kind in _TYPES),
    _header("(1, 1, 9)", order="7"),
    *(_framed(text, 2) for text in _HEADS),
)


def _member(random: Random) -> bytes:
    """An array: a good one, one of objects, one whose header lies or cannot be read."""
    made = io.BytesIO()
    match random.randrange(6):
        case 0 | 1:
            np.save(made, np.zeros((1, 1, 9), random.choice(["<f4", "<f8", ">f4", "<i8", "bool"])))
        case 2:
            odd = random.choice(
                [np.asarray([print, {"a": 1}], object), np.zeros(3, "U9"), np.zeros(3, "c16"),
                 np.zeros(2, [("a", "f4"), ("b", "O")]), np.zeros((0, 2**40)), np.array(3.0),
                 np.full((1, 1, 9), np.nan), np.zeros((1,) * 60), np.zeros((1, 1, 9), order="F")]
            )  # fmt: skip
            np.save(made, odd, allow_pickle=True)
        case 3:
            broken = [b"", b"\x93NUMPY", b"\x93NUMPY\x09\x00", random.randbytes(300)]
            return random.choice([pickle.dumps({"x": np.zeros(3)}), *broken])
        case _:
            return random.choice(HEADERS) + bytes(36)
    return made.getvalue()


def _npy(random: Random, place: Place) -> str:
    return place.write("x.npy", _member(random))


def _folder(random: Random, place: Place) -> str:
    """A folder test_data_set_0 with tensors that are cut, lie, or have too many of them."""
    for kind in ("input", "output"):
        made = numpy_helper.from_array(np.zeros((1, 1, 9), np.float32), "x")
        for _ in range(random.choice([0, 1, 1])):
            models.mutate(random, made)
        if random.random() < 0.2:
            made.data_location = TensorProto.EXTERNAL
            made.external_data.add(key="location", value="../../outside/secret.bin")
        data = made.SerializeToString()
        data = data[: random.randrange(len(data) + 1)] if random.random() < 0.2 else data
        for number in random.choice([(0,), (0, 1), (1,), (10**18,), ("x",), tuple(range(300))]):
            place.write(f"test_data_set_0/{kind}_{number}.pb", data)
    return "test_data_set_0"


# Plans.

VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2**63, 10**400, 1e308, float("nan"), "", "SAME_UPPER", "-inf", [], [1],
    [1, 1], [1, -1], [[1], 1], {}, [True], {"pads": [0] * 6, "value": 0, "mode": "constant"},
    {"pads": [0, 0, 2**20, 0, 0, 2**40], "value": 10**400, "mode": "wrap"}, "x" * 99_999,
    [1.0, 2.0], ["1", "2"], [2**62, 0], [2**20, 2**16], [0] * 99_999, {"a": {"a": {}}},
)  # fmt: skip
KEYS = ("auto_pad", "pads", "ceil_mode", "count_include_pad", "output_padding", "pad_node",
        "conventions", "node", "unknown", "", "\x1b[31m")  # fmt: skip
BROKEN: tuple[bytes, ...] = (
    b"", b"[" * 100_000, b'{"a":' * 100_000, b"[" * 900 + b"]" * 900, b"9" * 5_000,
    b'{"schema": ' + b"9" * 5_000 + b"}", b'{"schema": 1e999999999}', b"\xff\xfe\x00", b"null",
    b'"' + b"x" * 1_000_000, b'"\\ud800"', b'{"\\u0000": "\\ud800"}', bytes(1000), b"{'a': 1}",
    b'{"nodes": "' + b"\\u001b[31m" * 99 + b'"}', b"[" + b"0," * 200_000 + b"0]",
)  # fmt: skip


def plans(random: Random, place: Place) -> Sequence[Command]:
    """A small model and a plan for it, from a file and from standard input."""
    place.write("model.onnx", models.small(random).SerializeToString())
    place.write("plan.json", random.choice(BROKEN) if random.random() < 0.2 else _plan(random))
    ends = random.choice([("-o", "../out/t.onnx"), ("--dry-run",), ("--check", "--json")])
    output = ends[1] if ends[0] == "-o" else None
    line = ("retarget", "model.onnx", "--plan")
    return [
        Command((*line, "plan.json", *ends), output=output),
        Command((*line, "-", *ends), stdin="plan.json", output=output),
    ]


def _plan(random: Random) -> bytes:
    frame: dict[str, Any] = dict(Plan(()).to_json())
    entries: list[Any] = []
    for _ in range(random.choice([1, 1, 2, 500])):
        entry = {random.choice(KEYS): random.choice(VALUES) for _ in range(random.randrange(1, 4))}
        entries.append({"node": random.choice(["op", "op", *models.NAMES, 3, None])} | entry)
    lists = [key for key, value in frame.items() if isinstance(value, list)]
    frame[lists[0]] = random.choice([entries] * 8 + [{"0": entries}, [entries]])
    if random.random() < 0.1:
        frame[random.choice([*frame, "more"])] = random.choice(VALUES)
    if random.random() < 0.1:
        frame.pop(random.choice(list(frame)))
    data = json.dumps(frame).encode()
    at = random.randrange(len(data))
    return random.choice([data] * 8 + [data[:at], data[:at] + b"\xff" + data[at:], data + data])
