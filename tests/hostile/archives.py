"""References for diagnose and validate: archives that explode, arrays that are programs."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

import numpy as np
from onnx import TensorProto, numpy_helper

from tests.hostile import verbs
from tests.hostile.case import Command, Place
from tests.hostile.valid import small

MEGABYTE = 1 << 20


def archives(random: Random, place: Place) -> Sequence[Command]:
    """A valid model beside an archive, an array or a folder of tensors that is none."""
    place.write("model.onnx", small(random).SerializeToString())
    name = random.choice([_npz, _npz, _npz, _npy, _folder])(random, place)
    if name.endswith(".npy") and random.random() < 0.7:
        data: tuple[str, ...] = ("--inputs", name, "--outputs", name)
    else:
        data = ("--data", name, *random.choice([(), (), ("--data", name)]))
    return [
        Command(("validate", "model.onnx", *data, "--device", "cpu", *verbs.limits("validate"))),
        Command(("diagnose", "model.onnx", *data, "--budget", "3", "--device", "cpu",
                 *verbs.limits("diagnose"))),
    ]  # fmt: skip


def _npz(random: Random, place: Place) -> str:
    members = [_member(random) for _ in range(random.choice([1, 2, 2, 3]))]
    names = random.sample(NAMES, len(members) - 1) + random.choices(["x.npy", "s0_in0.npy"])
    made = io.BytesIO()
    how = random.choice(
        [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2]
    )
    with zipfile.ZipFile(made, "w", how) as file:
        for name, member in zip(names, members, strict=True):
            file.writestr(name, member)
        if random.random() < 0.05:
            for number in range(30_000):
                file.writestr(str(number), b"")
    data = bytearray(made.getvalue())
    if random.random() < 0.15:
        data = bytearray(_bomb(random.choice([1, 64, 3000])))
    elif random.random() < 0.3:
        for _ in range(random.choice([1, 3, 20])):
            data[random.randrange(len(data))] = random.choice([0, 1, 0xFF, random.randrange(256)])
    elif random.random() < 0.1:
        data = data[: random.randrange(len(data))]
    return place.write(random.choice(["data.npz", "data.npz", "data.zip", "data"]), data)


NAMES = ["y.npy", "../../outside/evil.npy", "/onnxpad-evil.npy", "x", " ", "x.npy.npy",
         "\x1b[31m.npy", "n" * 60_000, "s0_ref0.npy", "s999999999999999999999_in0.npy",
         "s0_in1.npy", "x.npy/", "s0_out" + "9" * 5000 + ".npy", "é.npy", "a\nb.npy"]  # fmt: skip


@cache
def _bomb(megabytes: int) -> bytes:
    """An npz of one array of zeros, a thousand times as large as the archive."""
    header = _header(
        f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, {megabytes << 18})}}"
    )
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(header) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed += block * megabytes + packer.flush(zlib.Z_FINISH)
    check = zlib.crc32(header)
    for _ in range(megabytes):
        check = zlib.crc32(_ZEROS, check)
    size = len(header) + megabytes * MEGABYTE
    about = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, check, len(packed), size, 5, 0)
    local = b"PK\x03\x04" + about + b"x.npy"
    central = b"PK\x01\x02" + struct.pack("<H", 20) + about + struct.pack("<HHHII", 0, 0, 0, 0, 0)
    central += b"x.npy"
    start = len(local) + len(packed)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), start, 0)
    return local + packed + central + end


_ZEROS = bytes(MEGABYTE)


def _header(text: str, version: int = 1) -> bytes:
    body = text.encode("utf-8", "surrogatepass") + b"\n"
    length = struct.pack(
        "<H" if version == 1 else "<I", min(len(body), 65535 if version == 1 else 2**32 - 1)
    )
    return b"\x93NUMPY" + bytes([version, 0]) + length + body


def _member(random: Random) -> bytes:
    """An array: a good one, one of objects, one whose header lies or cannot be read."""
    made = io.BytesIO()
    match random.randrange(8):
        case 0 | 1:
            np.save(made, np.zeros((1, 1, 9), random.choice(["<f4", "<f8", ">f4", "<i8", "bool"])))
        case 2:
            np.save(made, np.asarray([print, {"a": 1}], dtype=object), allow_pickle=True)
        case 3:
            odd = random.choice([np.zeros(3, "U9"), np.zeros(3, "c16"), np.zeros(2, "M8[s]"),
                                 np.zeros(2, [("a", "f4"), ("b", "O")]), np.zeros((0, 2**40)),
                                 np.array(3.0), np.full((1, 1, 9), np.nan), np.zeros(2, "V9"),
                                 np.zeros((1,) * 60), np.zeros((1, 1, 9), order="F")])  # fmt: skip
            np.save(made, odd, allow_pickle=True)
        case 4:
            return pickle.dumps({"x": np.zeros(3)})
        case 5:
            return random.choice([b"", b"\x93NUMPY", b"\x93NUMPY\x09\x00", random.randbytes(300)])
        case _:
            return _header(random.choice(HEADERS)(), random.choice([1, 1, 2, 3])) + bytes(36)
    return made.getvalue()


def _says(shape: str, descr: str = "'<f4'", order: str = "False") -> Callable[[], str]:
    return lambda: f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}"


HEADERS: list[Callable[[], str]] = [
    _says("(1, 1, 9)"),
    _says("(1, 1, 10)"),
    _says("(-1,)"),
    _says(f"({2**40},)"),
    _says(f"({2**62}, 4, 4)"),
    _says(f"({2**31}, {2**31}, {2**31}, {2**31})"),
    _says("(" + "9" * 5000 + ",)"),
    _says("(1.5,)"),
    _says("(True,)"),
    _says("'(1, 1, 9)'"),
    _says("(0, " + "9" * 18 + ")"),
    _says("(1, 1, 9)", "'|O'"),
    _says("(1, 1, 9)", "'<f4,<f4'"),
    _says("(1, 1, 9)", "[('a', '<f4', (2000000000,))]"),
    _says("(1, 1, 9)", "'<f999'"),
    _says("(1, 1, 9)", "'U2147483647'"),
    _says("(1, 1, 9)", "None"),
    _says("(1, 1, 9)", order="7"),
    lambda: "(" * 9000,
    lambda: "{" * 300 + "}" * 300,
    lambda: "-" * 60_000 + "1",
    lambda: "[" * 99 + "]" * 99,
    lambda: "\x00" * 100,
    lambda: "{'descr': '<f4'",
    lambda: "__import__('os').abort()",
    lambda: "9" * 5000,
    lambda: "é" * 900,
    lambda: "'" + "x" * 60_000,
    lambda: "",
]


def _npy(random: Random, place: Place) -> str:
    return place.write("x.npy", _member(random))


def _folder(random: Random, place: Place) -> str:
    """A folder test_data_set_0 with tensors that are cut, lie, or have too many of them."""
    held = numpy_helper.from_array(np.zeros((1, 1, 9), np.float32), "x")
    for kind in ("input", "output"):
        made = TensorProto()
        made.CopyFrom(held)
        match random.randrange(6):
            case 0:
                made.dims[:] = random.choice([[2**40], [-1], [2**62, 4], [0]])
            case 1:
                made.data_type = random.choice([0, 8, 99, 14])
            case 2:
                made.data_location = TensorProto.EXTERNAL
                made.external_data.add(key="location", value="../../outside/secret.bin")
            case 3:
                made.name = "\x1b[31m" + "n" * 100_000
        data = made.SerializeToString()
        data = data[: random.randrange(len(data))] if random.random() < 0.2 else data
        for number in random.choice([(0,), (0, 1), (1,), (10**18,), ("x",), tuple(range(300))]):
            place.write(f"test_data_set_0/{kind}_{number}.pb", data)
    return "test_data_set_0"
