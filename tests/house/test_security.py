"""SECURITY.md: the limits that it states are those of the code."""

from __future__ import annotations

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
LIMITS = re.findall(r"^\| .+ \| ([\d.]+) \| `([a-z_.]+)\.([\w.]+)` \|$", TEXT, re.MULTILINE)


def test_every_row_of_the_table_is_read() -> None:
    table = TEXT.partition("| limit | number |")[2].partition("\n\n")[0]
    assert len(LIMITS) == len(table.splitlines()) - 2 > 0


@pytest.mark.parametrize(("number", "module", "name"), LIMITS)
def test_the_limits_are_those_of_the_code(number: str, module: str, name: str) -> None:
    assert float(number) == attrgetter(name)(import_module(module))


def test_the_readme_names_it() -> None:
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
