"""Archives and headers that promise more than they hold, or more than anybody wants."""

from __future__ import annotations

import random
import struct
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from onnxpad import RequestError
from onnxpad.model.files.arrays import array_from_npy, arrays_in

X = np.arange(6.0).reshape(2, 3)


def npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode("latin1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def npz(path: Path, content: bytes, how: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", how) as archive:
        archive.writestr("x.npy", content)
    return path


FLOATS = "{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}\n"
HEADERS = {
    "2^60 cells": (FLOATS.format((2**60,)), ""),
    "digits": (FLOATS.format("(" + "9" * 5000 + ",)"), ""),
    "objects": (FLOATS.format((1,)).replace("<f8", "|O"), "Object arrays cannot be loaded"),
    "no dict": ("[1, 2]\n", ""),
    "deep": ("{'shape': " + "(" * 3000 + "\n", ""),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_cannot_be_is_one_message(name: str, tmp_path: Path) -> None:
    header, said = HEADERS[name]
    content = npy(header, X.tobytes())
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(RequestError, match=rf"x\.npy: is not a readable \.npy file: {said}"):
        array_from_npy(tmp_path / "x.npy")
    with pytest.raises(RequestError, match=rf"x\.npz: is not a readable \.npz file: {said}"):
        arrays_in(npz(tmp_path / "x.npz", content), "x")


def test_a_small_archive_of_gigabytes_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = 90_000_000
    path = npz(tmp_path / "bomb.npz", npy(FLOATS.format((cells,)), bytes(1000)))
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")  # let it declare another size: it is quick to make
    data[entry + 24 : entry + 28] = struct.pack("<I", cells * 8)
    path.write_bytes(data)
    monkeypatch.setattr(np.lib.format, "read_array", None)
    with pytest.raises(RequestError, match=r"its \d+ bytes unpack to 7\d+: save"):
        arrays_in(path, "x")


@pytest.mark.parametrize("how", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_damage_anywhere_is_one_message(how: int, tmp_path: Path) -> None:
    content = BytesIO()
    np.save(content, X)
    whole = npz(tmp_path / "x.npz", content.getvalue(), how).read_bytes()
    draw = random.Random(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        (tmp_path / "x.npz").write_bytes(damaged)
        try:
            arrays_in(tmp_path / "x.npz", "x")
        except RequestError:
            refused += 1
    assert refused > 100
