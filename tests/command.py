"""The command line in this process, as the console script runs it."""

import re

from onnxpad.cli import run
from onnxpad.geometry.size_fact import SizeFact

__all__ = ["run", "told_in"]


def told_in(hint: str) -> dict[str, SizeFact]:
    """The facts of options by the dimension's name: {'N': =1, 'H': %2=0}."""
    told = re.findall(r"--dim '(.+?)=?((?<==)\d+|%\d+=\d+)'", hint)
    return {name: SizeFact.read(name, fact) for name, fact in told}
