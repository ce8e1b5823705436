"""What a runtime answered to a model and its inputs, before anybody judges it."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tests.runtimes.live import HERE, Runtime
from tests.runtimes.live.environments import cache, digest
from tests.runtimes.live.serving import decode, encode

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Reply:
    status: Literal["ran", "fell back", "refused", "crash", "timeout"]
    message: str = ""
    outputs: Mapping[str, Array] = field(default_factory=dict)


def key(runtime: Runtime, model: Path, inputs: Mapping[str, Array]) -> str | None:
    """Names a reply by all that it depends on; None for a model whose data lies in other files."""
    content = model.read_bytes()
    if b"location" in content:
        return None
    code = [runtime.worker_file, HERE / "serving.py"]
    parts = [digest(runtime), repr(sorted(runtime.variables.items())), *map(_text, code)]
    # A dict's order may matter to a worker that feeds inputs by position.
    parts += [
        f"{name} {array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
        for name, array in inputs.items()
    ]
    return hashlib.sha256("\n".join(parts).encode() + b"\n" + content).hexdigest()


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _file(name: str) -> Path:
    return cache() / "replies" / name[:2] / f"{name[2:]}.json"


def kept(name: str) -> Reply | None:
    """The reply that was kept under `name`, if any."""
    try:
        found = json.loads(_text(_file(name)))
    except FileNotFoundError:
        return None
    return Reply(found["status"], found["message"], decode(found["outputs"]))


def keep(name: str, reply: Reply) -> None:
    """Keep a reply; a timeout is not kept, because it depends on what else the machine did."""
    if reply.status == "timeout":
        return
    path = _file(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "status": reply.status,
        "message": reply.message,
        "outputs": encode(dict(reply.outputs)),
    }
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(json.dumps(content), "utf-8")
    unfinished.replace(path)
