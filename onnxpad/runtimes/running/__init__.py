"""Runtimes that run models here: one adapter each, for the live judge, reproducers and tests.

Idea: a runtime is asked, not modelled. An adapter is a file in `adapters/` with `run(model,
inputs, outputs)`, which runs in the runtime's own Python, without onnxpad.
Way of a call: `headers` reads what an adapter says of itself; `places` finds its packages in
this Python or another one; `runner` makes a Runner of both, or of a user's file, command or
callable; its first `run` starts `serving` in a process of its own through `server`. `cache` keeps
answers on disk.
It may import numpy and platformdirs, but no onnx, no model and no runtime: those stay in adapters.
"""

from __future__ import annotations

import os

EXAMPLE = "python run_npu.py {model} {inputs} {outputs}"
"""A command of a user's own runtime."""


def is_own_runtime(spec: object) -> bool:
    """Whether a target is a runtime of the user's: a .py file, a command, or a callable.

    It is no name of a target then: those have no blanks and no slashes. A .toml has rules only.
    """
    if isinstance(spec, os.PathLike):
        spec = os.fspath(spec)
    if not isinstance(spec, str):
        return callable(spec)
    if spec.endswith(".toml"):
        return False
    return spec.endswith(".py") or any(one in spec for one in " \t\n/\\{}")
