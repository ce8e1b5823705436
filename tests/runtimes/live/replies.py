"""What a runtime answered, kept on disk before anybody judges it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from onnxpad.runtimes.running import cache
from onnxpad.runtimes.running.runner import Array, Reply, Runner
from onnxpad.runtimes.running.serving import decode, encode
from tests.runtimes.live import Runtime
from tests.runtimes.live.environments import digest, folder


def key(runtime: Runtime, runner: Runner, model: Path, inputs: Mapping[str, Array]) -> str | None:
    """Names a reply by all that it depends on; None for a model whose data lies in other files."""
    content = model.read_bytes()
    if b"location" in content:
        return None
    # A dict's order may matter to an adapter that feeds inputs by position.
    fed = [
        f"{name} {array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
        for name, array in inputs.items()
    ]
    return "\n".join([digest(runtime), runner.key, *fed, hashlib.sha256(content).hexdigest()])


def kept(name: str) -> Reply | None:
    """The reply that was kept under `name`, if any."""
    found = cache.kept(name, folder() / "replies")
    if found is None:
        return None
    return Reply(found["status"], found["message"], decode(found["outputs"]))


def keep(name: str, reply: Reply) -> None:
    """Keep a reply; a timeout is not kept, because it depends on what else the machine did."""
    if reply.status != "timeout":
        outputs = encode(reply.outputs)
        value = {"status": reply.status, "message": reply.message, "outputs": outputs}
        cache.keep(name, value, folder() / "replies")
