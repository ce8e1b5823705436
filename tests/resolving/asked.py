"""Layers as the command line resolves them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

from tests.command import run


def written(value: object) -> str:
    """A value of an attribute as it is typed."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def asked(framework: str, op: str, words: Mapping[str, Any], *more: str) -> Any:
    """The JSON of `onnxpad resolve`, or {'error': what it says}."""
    line = ["resolve", framework, op, *more, "--json"]
    for name, value in words.items():
        if name in ("input_shape", "weight_shape"):
            option = "--input" if name == "input_shape" else "--weight"
            line += [option, ",".join(map(str, value))] if value else []
        else:
            line += ["--set", f"{name}={written(value)}"]
    with redirect_stdout(StringIO()) as printed, redirect_stderr(StringIO()) as error:
        status = run(line)
    return {"error": error.getvalue()} if status else json.loads(printed.getvalue())
