"""Files that are no models any more: bits that flipped, ends that are missing."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.hostile import verbs
from tests.hostile.case import Command, Place
from tests.hostile.valid import model, reference


def flips(random: Random, place: Place) -> Sequence[Command]:
    """Bits and bytes of a model or of its reference changed, inserted, removed, repeated."""
    found = model(random)
    data, arrays = bytearray(found.SerializeToString()), bytearray(reference(random, found))
    damaged = arrays if random.random() < 0.1 else data
    for _ in range(random.choice([1, 1, 2, 4, 16, 64])):
        _damage(random, damaged)
    place.write("model.onnx", data)
    place.write("data.npz", arrays)
    return verbs.every(random)


def _damage(random: Random, data: bytearray) -> None:
    at = random.randrange(max(1, len(data)))
    length = random.choice([1, 2, 8, 40])
    match random.randrange(8):
        case 0 | 1 | 2:
            if data:
                data[at % len(data)] ^= 1 << random.randrange(8)
        case 3:
            data[at : at + 1] = bytes([random.choice([0, 1, 0x7F, 0x80, 0xFF])])
        case 4:
            data[at:at] = random.randbytes(length)
        case 5:
            del data[at : at + length]
        case 6:
            data[at : at + length] = b"\xff" * length
        case _:
            data[at:at] = data[at : at + 10 * length]


def truncations(random: Random, place: Place) -> Sequence[Command]:
    """A model cut off, with something else behind it, or of which only the end is there."""
    found = model(random)
    data, arrays = found.SerializeToString(), reference(random, found)
    at = random.choice([0, 1, 2, 3, 8, len(data) - 1, random.randrange(len(data) + 1)])
    data = random.choice(
        [
            data[:at],
            data[:at],
            data[at:],
            data + random.randbytes(at % 99),
            data + data,
            data + data[:at],
            data[:at] + model(random).SerializeToString(),
            bytes(at),
            random.randbytes(at % 5000),
            "ï»¿{}".encode() + data[:at],
            b"\x0a\x7f" * at,
            b"\x3a\xff\xff\xff\xff\x07" + data,
            b"\x1f\x8b" + data,
            b"PK\x03\x04" + data[:at],
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
            b"<!DOCTYPE html><html><body>404</body></html>",
        ]
    )
    place.write("model.onnx", data)
    place.write("data.npz", arrays if random.random() < 0.8 else arrays[: at % len(arrays)])
    return verbs.every(random)
