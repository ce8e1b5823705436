"""The command line in this process, as the console script runs it."""

from onnxpad.cli import run

__all__ = ["run"]
