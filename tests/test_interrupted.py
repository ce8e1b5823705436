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
from tools.hostile.interrupted import Attack

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """A shell's background jobs ignore some signals, and so would what the test starts there."""
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


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
