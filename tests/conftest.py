"""What holds for every test: sweeps wait for an option."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

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
    """Deselected, not skipped: a skip is a set-up and two reports, and there are thousands."""
    if not config.getoption("--sweeps"):
        left_out = [item for item in items if _is_left_out(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _is_left_out(item)]


def _is_left_out(item: pytest.Item) -> bool:
    """Whether it is a sweep, or one of those of `part(k)` that are left to sweeps."""
    part = item.get_closest_marker("part")
    drawn = part is None or zlib.crc32(item.name.encode()) % part.args[0] == 0
    return not drawn or item.get_closest_marker("sweep") is not None
