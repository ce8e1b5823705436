"""A short draw of `interrupted`: rewrites that signals end at random moments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.processes import ROOT, environment
from tools.hostile.interrupted import ONNXPAD, Attack, while_python_starts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """A shell's background jobs ignore some signals, and so would what the test starts there."""
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("files", "error", "early"),
    [
        (["<frozen runpy>", "/lib/python3.11/enum.py"], "KeyboardInterrupt", True),
        (["/lib/python3.11/site.py"], "KeyboardInterrupt", True),
        (["<frozen runpy>", f"{ONNXPAD}/__init__.py"], "KeyboardInterrupt", True),
        (["<frozen runpy>", f"{ONNXPAD}/__main__.py"], "KeyboardInterrupt", True),
        ([f"{ONNXPAD}/__main__.py", f"{ONNXPAD}/cli/__init__.py"], "KeyboardInterrupt", False),
        (
            [f"{ONNXPAD}/__main__.py", f"{ONNXPAD}/errors.py", "/x/re.py"],
            "KeyboardInterrupt",
            False,
        ),
        (["<frozen runpy>"], "ValueError: KeyboardInterrupt is no number", False),
    ],
)
def test_what_python_says_of_an_interrupt_while_it_starts(
    files: list[str], error: str, early: bool
) -> None:
    frames = "".join(f'  File "{name}", line 7, in f\n    work()\n' for name in files)
    said = f"Traceback (most recent call last):\n{frames}{error}\n"
    assert while_python_starts(said.encode()) == early


def test_onnxpad_answers_signals_from_its_first_act_on() -> None:
    """Then the attack takes no traceback for one of Python's own."""
    code = (
        "from tools.hostile.limited import _python_answers as one; import onnxpad.__main__ as m;"
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "print(one(), m._end_on_signals(), one())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=ROOT, capture_output=True, check=True
    )
    assert done.stdout.split() == [b"True", b"None", b"False"]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("names", "count"), [(("SIGTERM", "SIGHUP", "SIGINT"), 6), (("SIGKILL",), 3)]
)
def test_the_output_is_old_or_whole_and_nothing_temporary_stays(
    names: tuple[str, ...], count: int, tmp_path: Path
) -> None:
    attack = Attack(tmp_path, seed=1, share=10, patience=60.0)
    attack.attack(count, [signal.Signals[name] for name in names])
    assert attack.wrong == []
    assert attack.ended == count
