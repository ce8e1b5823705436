"""What other optimisers make of padded models, as the formal kernel judges it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Optimiser:
    """A tool in one release: of its rewrites, how many are proved and how many are wrong.

    refuted: by what the model has, one cell on both sides; an example for each way to be wrong.
    """

    name: str
    release: str
    rewrites: int
    proved: int
    wrong: int
    refuted: Mapping[str, str]

    @property
    def source(self) -> str:
        """How it is known."""
        return f"measured with {self.name.partition('-')[0]} {self.release}"


@cache
def optimisers() -> Mapping[str, Optimiser]:
    """By name, from the file beside this one."""
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {name: Optimiser(name, **words) for name, words in tables.items()}
