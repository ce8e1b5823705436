"""Ends rewrites of a large model by signals, at random moments, and looks at what is left.

    python -m tools.hostile.interrupted --count 200 --signal TERM,HUP,INT
    python -m tools.hostile.interrupted --count 50 --signal KILL

Every run reads a model of 100 MB, 60 of which are external data, and writes it into a folder that
holds an older one. Each signal comes anywhere in the time that a run takes, or, every other run, a
moment after the first temporary file has appeared. Exits with 1 where one of these was not so: the
output is the old one or complete, its data too; the input is as it was; nothing temporary is left,
after KILL once the next run has ended; and a run ends a second after its signal, with 128+n.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

ONNXPAD = Path(__file__).parents[2] / "onnxpad"
COMMAND = (sys.executable, "-m", "onnxpad", "rewrite")
OLD = b"what was there before"
INSIDE, BESIDE = 10_000_000, 15_000_000
"""Elements of four bytes."""
LONG = 60.0
MOST_WRONG = 20


def large_model(folder: Path, share: int = 1) -> Path:
    """A padded convolution beside 40 MB of weights in the file and 60 MB in another one.

    Or an equal `share` of both.
    """
    inside_it, beside_it = INSIDE // share, BESIDE // share
    numbers = np.random.default_rng(0)
    folder.mkdir(parents=True)
    beside = TensorProto(name="beside", data_type=TensorProto.FLOAT, dims=[beside_it])
    beside.data_location = TensorProto.EXTERNAL
    beside.external_data.add(key="location", value="weights.bin")
    numbers.standard_normal(beside_it, np.float32).tofile(folder / "weights.bin")
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["y"], name="conv", auto_pad="SAME_UPPER"),
            helper.make_node("Identity", ["inside"], ["z"], name="a"),
            helper.make_node("Identity", ["beside"], ["t"], name="b"),
        ],
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 8, 8])],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in (("y", [1, 1, 8, 8]), ("z", [inside_it]), ("t", [beside_it]))
        ],
        [
            numpy_helper.from_array(np.ones((1, 1, 3, 3), np.float32), "w"),
            numpy_helper.from_array(numbers.standard_normal(inside_it, np.float32), "inside"),
            beside,
        ],
    )
    opset = helper.make_opsetid("", 17)
    save(helper.make_model(graph, ir_version=9, opset_imports=[opset]), folder / "model.onnx")
    return folder / "model.onnx"


def digest(path: Path) -> str:
    """What the bytes of a file are, or '' where there is none."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass
class Attack:
    """One model, what a whole run makes of it and how long that takes, and what went wrong."""

    folder: Path
    seed: int
    share: int = 1
    patience: float = 1.0
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0
    ended: int = 0

    def __post_init__(self) -> None:
        """Make the model and time a whole run."""
        self.draw = random.Random(self.seed)
        self.model = large_model(self.folder / "in", self.share)
        self.inputs = self._digests(self.folder / "in")
        self.time = self.writing = LONG
        self._note(self._started(self._fresh()))
        self.whole = self._digests(self.folder / "out")

    def _digests(self, folder: Path) -> tuple[str, str]:
        return digest(folder / "model.onnx"), digest(folder / "weights.bin")

    def _fresh(self) -> Path:
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        for path in out.iterdir():
            path.unlink()
        (out / "model.onnx").write_bytes(OLD)
        return out / "model.onnx"

    def _started(self, out: Path) -> subprocess.Popen[bytes]:
        self.began = time.monotonic()
        return subprocess.Popen(
            [*COMMAND, self.model, "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def _note(self, process: subprocess.Popen[bytes]) -> None:
        """How long a run takes, and its writing; a busy machine makes it longer for a while."""
        wait_for_the_first(process, self.folder / "out")
        first = time.monotonic()
        process.communicate()
        self.writing = min(self.writing, time.monotonic() - first)
        self.time = min(self.time, time.monotonic() - self.began)

    def run(self, number: signal.Signals) -> None:
        """One run, its signal, and the look at what is left."""
        out = self._fresh()
        process = self._started(out)
        if self.draw.random() < 0.5:
            time.sleep(self.draw.uniform(0, self.time))
        else:
            wait_for_the_first(process, out.parent)
            time.sleep(self.draw.uniform(0, self.writing))
        writing = bool(temporary(out.parent))
        process.send_signal(number)
        sent = time.monotonic()
        try:
            _, errors = process.communicate(timeout=LONG)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.wrong.append(f"{number.name}: still there after {LONG:g} s")
            return
        took, ended = time.monotonic() - sent, process.returncode
        self._look(number, ended, errors, out)
        if not ended:
            self.counts["too late"] += 1
            self.time = min(self.time, sent + took - self.began)
            return
        self.ended += 1
        self.counts["while it wrote" if writing else "before it wrote, or after"] += 1
        self.slowest = max(self.slowest, took)
        self._expect(took < self.patience, f"{number.name}: ended {took:.2f} s after it")

    def _look(self, number: signal.Signals, ended: int, errors: bytes, out: Path) -> None:
        model, data = self._digests(out.parent)
        old = hashlib.sha256(OLD).hexdigest()
        told = f"{number.name}, exit {ended}"
        self._expect(model in (old, self.whole[0]), f"{told}: the output is neither old nor whole")
        self._expect(data in ("", self.whole[1]), f"{told}: the data is not whole")
        whole = (model, data) == self.whole
        self._expect(whole or model == old, f"{told}: a model without its data")
        self._expect(whole or ended != 0, f"{told}: nothing was written")
        early = while_python_starts(errors) or ended == -number != -signal.SIGKILL
        self.counts["while Python started"] += early
        self._expect(early or ended in (0, 128 + number, -number), f"{told}: another exit code")
        self._expect(early or not errors, f"{told}: said {errors.decode()!r}")
        self._expect(self._digests(self.folder / "in") == self.inputs, f"{told}: the input changed")
        left = temporary(out.parent)
        if number == signal.SIGKILL:
            self.counts["left something"] += bool(left)
            subprocess.run([*COMMAND, self.model, "-o", out], check=True, capture_output=True)
            left = temporary(out.parent)
            self._expect(self._digests(out.parent) == self.whole, f"{told}: the next run differs")
        self._expect(not left, f"{told}: {left} is left")

    def _expect(self, fine: bool, told: str) -> None:
        if not fine:
            self.wrong.append(told)

    def attack(self, count: int, signals: Sequence[signal.Signals]) -> None:
        """As many runs as it takes for `count` to end by signals, each in its turn."""
        while self.ended < count and len(self.wrong) < MOST_WRONG:
            self.run(signals[self.ended % len(signals)])


def wait_for_the_first(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until there is a temporary file, or the process has ended."""
    while process.poll() is None and not temporary(folder):
        time.sleep(0.001)


_FRAME = re.compile(r'^ +File "(.*)", line \d+', re.MULTILINE)


def while_python_starts(errors: bytes) -> bool:
    """Whether this is Python's traceback of a Ctrl+C before onnxpad's first act: to answer them.

    SECURITY.md says so. No frame is of onnxpad but its two first modules.
    """
    text = errors.decode()
    if not text.rstrip().endswith("KeyboardInterrupt"):
        return False
    inside = {Path(one) for one in _FRAME.findall(text) if Path(one).is_relative_to(ONNXPAD)}
    return inside <= {ONNXPAD / "__init__.py", ONNXPAD / "__main__.py"}


def temporary(folder: Path) -> list[str]:
    """The names of temporary files in a folder."""
    return [name for name in os.listdir(folder) if name.startswith(".")]  # noqa: PTH208 - quick


def main() -> int:
    """Attack and print what was found; 1 where something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--signal", default="TERM,HUP,INT", help="names, with commas")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    signals = [signal.Signals[f"SIG{name}"] for name in given.signal.split(",")]
    for number in signals:
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)  # what is ignored here is ignored there
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(Path(folder), given.seed)
        attack.attack(given.count, signals)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(attack.counts.items()))
    print(f"{attack.ended} runs of {attack.time:.1f} s ended by {given.signal}: {counts}")
    print(f"the slowest ended {attack.slowest:.2f} s after its signal")
    print(*attack.wrong, f"{len(attack.wrong)} wrong", sep="\n")
    return int(bool(attack.wrong))


if __name__ == "__main__":
    sys.exit(main())
