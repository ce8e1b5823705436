"""What holds for every test: sweeps wait for an option, and no clock decides."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

LEFT_OUT = "a sweep, left out without --sweeps"

# How long an example takes depends on what else the machine does.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


# What a process of a test compiled, the next one reads.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sweeps", action="store_true", help="run the tests marked sweep as well")
    parser.addoption(
        "--record", action="store_true", help="write recorded answers anew instead of failing"
    )
    parser.addoption(
        "--fusion-rows", type=int, default=80, help="random rows of Pads that onnxruntime may fuse"
    )


Recorded = Callable[[Path, str, Callable[[str], str]], None]


@pytest.fixture
def recorded(request: pytest.FixtureRequest) -> Recorded:
    """Holds each line of a file, a question and an answer apart by a separator, against the answer
    that there is now; --record writes that one."""

    def holds(path: Path, separator: str, answer: Callable[[str], str]) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        questions = [line.partition(separator)[0] for line in lines]
        answered = [f"{question}{separator}{answer(question)}" for question in questions]
        if request.config.getoption("--record"):
            path.write_text("\n".join(answered) + "\n", encoding="utf-8")
        else:
            assert answered == lines

    return holds


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--sweeps"):
        for item in items:
            if item.get_closest_marker("sweep") or _is_left_out(item):
                item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


def _is_left_out(item: pytest.Item) -> bool:
    """Whether it is one of those of `part(k)` that are left to sweeps: all but one in k."""
    part = item.get_closest_marker("part")
    return part is not None and zlib.crc32(item.name.encode()) % part.args[0] != 0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = [report for report in skipped if LEFT_OUT in str(report.longrepr)]
    if left_out:
        terminalreporter.write_line(
            f"left out: {len(left_out)} tests marked sweep; run python3 tests/check.py --all"
        )
