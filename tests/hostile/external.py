"""Weights in other files: outside of the folder, missing, too short, no files at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random

import numpy as np
from onnx import ModelProto, TensorProto

from tests.hostile import verbs
from tests.hostile.case import Command, Place
from tests.models.external_data import WEIGHTS, everywhere, external_tensor, model_of
from tests.models.tiny import tiny

NUMBERS = (0, 1, 4, 512, 1023, 1024, 1025, 2**31, 2**40, 2**62, 2**63, 2**64, -1, -1024, 10**5000,
           "", " 4", "0x10", "4.0", "1e3", "NaN", "٤", "+4", "4\n", "1_000")  # fmt: skip


def external(random: Random, place: Place) -> Sequence[Command]:
    """A tensor whose entries lie, in any place that holds tensors, and every verb on the model."""
    _files(random, place)
    secret = place.outside / "secret.bin"
    location = "data.bin" if random.random() < 0.4 else random.choice(
        ["../outside/secret.bin", str(secret), "link.bin",
         "folder", "pipe", "/dev/zero", "/dev/full", "/dev/stdin", "/proc/self/mem", "missing.bin",
         "", ".", "..", "short.bin", "sparse.bin", "sub/../data.bin", "sub/link/secret.bin",
         "linked/secret.bin", "hard.bin", "model.onnx", "data.bin/", "data.bin\x00", "n" * 5000,
         "..\\outside\\secret.bin", "file://data.bin", "~/data.bin", "\x1b[31m.bin", "loop.bin",
         "./././data.bin", "linked/../../outside/secret.bin", "é.bin"]
    )  # fmt: skip
    entries: dict[str, str | int] = {"location": location}
    if random.random() < 0.3:
        entries["offset"] = _number(random)
    length = random.choice([WEIGHTS.nbytes, WEIGHTS.nbytes, WEIGHTS.nbytes, None, _number(random)])
    if random.random() < 0.2:
        entries[random.choice(["checksum", "key", "", "location2"])] = _number(random)
    held = external_tensor("w", length=length, **entries)
    if random.random() < 0.1:
        held.external_data.add(key="location", value="../outside/secret.bin")
    if random.random() < 0.15:
        held.dims[:] = random.choice([[2**40], [-1], [0], [2**33], [256, 256]])
    if random.random() < 0.4:
        found = random.choice(list(everywhere(held).values()))
    else:
        found = _padded(held) if random.random() < 0.7 else model_of(held)
    place.write("model.onnx", found.SerializeToString())
    stored = np.zeros((1, 1, 9), np.float32)
    np.savez(place.inside / "data.npz", x=stored, y=stored)
    return verbs.every(random)


def _padded(held: TensorProto) -> ModelProto:
    """A convolution that a rewrite changes, with the tensor as its weight."""
    found = tiny('[op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)', "float[1,1,999]")
    if list(held.dims) == [256]:
        held.dims[:] = [1, 1, 256]
    del found.graph.initializer[:]
    found.graph.initializer.append(held)
    return found


def _number(random: Random) -> str:
    value = random.choice(NUMBERS)
    return (
        value
        if isinstance(value, str)
        else "1" + "0" * 5000
        if value == NUMBERS[14]
        else str(value)
    )


def _files(random: Random, place: Place) -> None:
    """Data that is whole, too short, sparse, and everything that only looks like a file."""
    place.write("data.bin", WEIGHTS.tobytes())
    place.write("é.bin", WEIGHTS.tobytes())
    place.write("short.bin", WEIGHTS.tobytes()[:100])
    with (place.inside / "sparse.bin").open("wb") as file:
        file.truncate(random.choice([2**20, 2**31, 2**36]))
    (place.inside / "folder").mkdir()
    (place.inside / "sub").mkdir()
    (place.inside / "link.bin").symlink_to("../outside/secret.bin")
    (place.inside / "loop.bin").symlink_to("loop.bin")
    (place.inside / "linked").symlink_to("../outside")
    (place.inside / "sub" / "link").symlink_to("../../outside")
    os.link(place.outside / "secret.bin", place.inside / "hard.bin")
    os.mkfifo(place.inside / "pipe")
