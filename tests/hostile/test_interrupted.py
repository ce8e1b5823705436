"""A short draw of `interrupted`: rewrites that signals end at random moments."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.interrupted import Attack

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """A shell's background jobs ignore some signals, and so would what the test starts there."""
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("names", [("SIGTERM", "SIGHUP", "SIGINT"), ("SIGKILL",)])
def test_the_output_is_old_or_whole_and_nothing_temporary_stays(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    attack = Attack(tmp_path, seed=1, share=10, patience=60.0)
    attack.attack(6, [signal.Signals[name] for name in names])
    assert attack.wrong == []
    assert attack.ended == 6
