"""`models/ORIGINS.md` describes every file of the folder, and the files are the ones described."""

import hashlib
import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

MODELS = Path(__file__).resolve().parents[2] / "models"
SIZE_LIMIT = 800_000  # bytes: every clone and every source release carries the folder
FILE_ROW = re.compile(r"^\| `([^`]+)` \| `([0-9a-f]{64})` \|$", re.MULTILINE)
MODEL_ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \| \d+ \| [^|]+ \| [^|]+ \|$", re.MULTILINE)


def differences(folder: Path) -> list[str]:
    """What ORIGINS.md and the files beside it do not agree on."""
    text = (folder / "ORIGINS.md").read_text(encoding="utf-8")
    listed = dict(FILE_ROW.findall(text))
    described = set(MODEL_ROW.findall(text))
    present = {path.name: path for path in folder.iterdir() if path.name != "ORIGINS.md"}
    found = [f"{name}: listed but absent" for name in listed.keys() - present.keys()]
    found += [f"{name}: present but not listed" for name in present.keys() - listed.keys()]
    found += [
        f"{name}: sha256 differs"
        for name in listed.keys() & present.keys()
        if hashlib.sha256(present[name].read_bytes()).hexdigest() != listed[name]
    ]
    stems = {Path(name).stem for name in listed}
    found += [f"{stem}: listed but not described" for stem in stems - described]
    found += [f"{stem}: described but not listed" for stem in described - stems]
    return sorted(found)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MODELS, tmp_path / "models"))


def test_origins_and_files_agree() -> None:
    assert differences(MODELS) == []


def test_a_changed_file_is_noticed(copied: Path) -> None:
    with (copied / "kt_net_even.npz").open("ab") as file:
        file.write(b"\0")
    assert differences(copied) == ["kt_net_even.npz: sha256 differs"]


def test_an_added_and_a_removed_file_are_noticed(copied: Path) -> None:
    (copied / "kt_net_even.npz").rename(copied / "new.npz")
    assert differences(copied) == [
        "kt_net_even.npz: listed but absent",
        "new.npz: present but not listed",
    ]


def test_an_undescribed_model_is_noticed(copied: Path) -> None:
    origins = copied / "ORIGINS.md"
    lines = origins.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not MODEL_ROW.match(line.rstrip()) or "kt_net" not in line]
    origins.write_text("".join(kept), encoding="utf-8")
    assert differences(copied) == ["kt_net_even: listed but not described"]


def test_the_folder_stays_small() -> None:
    sizes = [path.stat().st_size for path in MODELS.iterdir() if path.suffix in {".npz", ".onnx"}]
    assert sum(sizes) < SIZE_LIMIT


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
def test_every_model_is_valid_and_has_signed_references(path: Path) -> None:
    model = onnx.load(path)
    onnx.checker.check_model(model)
    with np.load(path.with_suffix(".npz")) as arrays:
        first = {name for name in arrays if name.startswith("s0_") and "_ort" not in name}
        inputs = {f"s0_in{i}" for i in range(len(model.graph.input))}
        outputs = {f"s0_src{i}" for i in range(len(model.graph.output))}
        assert first == inputs | outputs
        assert all(arrays[name].min() < 0 < arrays[name].max() for name in first)
