"""Lines of Python of each room: no more than pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUDGETS: dict[str, int] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][
    "weight"
]
SLACK = 0.05
"""A budget further above its room than this says nothing: it is lowered with the room."""
SMALL = 100


def lines(place: Path) -> int:
    """Lines of all Python below a folder, or of one file."""
    files = [place] if place.is_file() else place.rglob("*.py")
    return sum(len(file.read_bytes().splitlines()) for file in files)


def rooms() -> list[str]:
    """The folders of the product, and the modules beside them."""
    places = sorted((ROOT / "onnxpad").iterdir())
    return [
        f"onnxpad/{place.name}"
        for place in places
        if place.suffix == ".py" or (place / "__init__.py").exists()
    ]


def test_every_room_has_a_budget() -> None:
    assert [name for name in BUDGETS if name not in ("onnxpad", "tests")] == rooms()


@pytest.mark.parametrize("name", BUDGETS)
def test_rooms_stay_within_their_budgets(name: str) -> None:
    held = lines(ROOT / name)
    assert held <= BUDGETS[name]
    assert BUDGETS[name] <= held * (1 + SLACK) + SMALL


INNER = re.compile(r"^ *(from|import) onnxpad\.(?!integrations)", re.MULTILINE)
"""An import of a module of the product; what is public is onnxpad and `onnxpad.integrations`."""
MOST_INNER = 8_500
"""Tests ask what users ask: a third of their lines at most asks anything else."""


def test_tests_ask_the_public_api() -> None:
    texts = (file.read_text("utf-8") for file in (ROOT / "tests").rglob("*.py"))
    held = sum(len(text.splitlines()) for text in texts if INNER.search(text))
    assert 0.95 * MOST_INNER < held <= MOST_INNER
