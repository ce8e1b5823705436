"""Passes that go together, as recipes.toml has them: what people want, and what does it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from onnxpad.padding.forms import Form


@dataclass(frozen=True, slots=True)
class Recipe:
    """A job, the passes for it in their order, and the forms that are gone then."""

    job: str
    passes: tuple[str, ...]
    forms: tuple[Form, ...]

    @property
    def options(self) -> str:
        """The passes as the command line takes them."""
        return " ".join(f"--pass {name}" for name in self.passes)


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
RECIPES = tuple(
    Recipe(one["job"], tuple(one["passes"]), tuple(map(Form, one["forms"])))
    for one in _TABLE["recipe"]
)
ADVICE = {Form(form): advice for form, advice in _TABLE["advice"].items()}
"""What to do about forms that no pass takes away."""
