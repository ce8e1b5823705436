"""The formal kernel in a child process, which can be ended whatever a model makes it do."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.model.comparing.networks import Network
from onnxpad.model.files.onnx_file import parse
from onnxpad.processes import Buffer, ChildEnded, Reply
from onnxpad.proof import Counterexample, Limits, OutputCell, Proof, Proved, prove

Array = NDArray[Any]
_MODULE = "onnxpad.validation.proof_apart"
_GRACE = 2.0
"""Seconds in which the kernel may notice by itself that its time is over."""


def prove_apart(
    networks: tuple[Network, Network], dims: Mapping[str, int | str], limits: Limits
) -> Proof:
    """What the kernel says of two models, within the limits of the work.

    Raises LimitMet where it was ended.
    """
    work = processes.current()
    folders = [str(one.folder) if one.folder else None for one in networks]
    said = {"do": "prove", "dims": dict(dims), "limits": asdict(limits), "folders": folders}
    content = [one.serialised() for one in networks]
    wall = limits.seconds * limits.slowdown + _GRACE
    own = processes.Limits(wall, work.memory_allowed(sum(map(len, content))))
    try:
        child = work.child(_MODULE, "the proof")
        reply = work.call(child, said, content, what="the proof", own=own)
    except ChildEnded as ended:
        if not ended.crashed:
            raise
        return Proof("undecided", f"the proof broke off: {ended}")
    return _unpacked(reply)


def _packed(proof: Proof) -> Reply:
    """A proof as plain data, and the inputs of its counterexample."""
    shown = proof.counterexample
    head = asdict(replace(proof, counterexample=None))
    if shown is None:
        return Reply(head, [])
    buffers: list[Buffer] = []
    for value in shown.inputs.values():
        kind = value.dtype if value.dtype.isbuiltin == 1 else np.dtype(np.float32)
        content = io.BytesIO()
        np.save(content, value.astype(kind), allow_pickle=False)
        buffers.append(content.getvalue())
    kinds = {name: value.dtype.name for name, value in shown.inputs.items()}
    head["counterexample"] = asdict(replace(shown, inputs={})) | {"inputs": kinds}
    return Reply(head, buffers)


def _unpacked(reply: Reply) -> Proof:
    head = dict(reply.head)
    regions = tuple(
        Proved(**{name: _frozen(value) for name, value in one.items()}) for one in head["regions"]
    )
    head |= {"regions": regions, "readings": tuple(head["readings"])}
    shown = head["counterexample"]
    if shown is not None:
        cell = shown["cell"]
        if cell is not None:
            cell = OutputCell(**{name: _frozen(value) for name, value in cell.items()})
        inputs = {
            name: _array(buffer, kind)
            for (name, kind), buffer in zip(shown["inputs"].items(), reply.buffers, strict=True)
        }
        reads, replaced = (shown["reads"][0], shown["reads"][1]), tuple(shown["replaced"])
        head["counterexample"] = Counterexample(
            shown["text"], shown["sizes"], inputs, cell, reads, replaced
        )
    return Proof(**head)


def _frozen(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    return tuple(value) if isinstance(value, list) else value


def _array(buffer: Buffer, kind: str) -> Array:
    value: Array = np.load(io.BytesIO(bytes(buffer)), allow_pickle=False)
    if value.dtype.name == kind:
        return value
    import ml_dtypes

    return value.astype(getattr(ml_dtypes, kind))


def _prove(said: Mapping[str, Any], buffers: list[Buffer]) -> Reply:
    folders = [Path(one) if one else None for one in said["folders"]]
    models = [parse(bytes(one), name="the model", folder=None) for one in buffers]
    found = prove(
        models[0],
        models[1],
        dims=said["dims"],
        limits=Limits(**said["limits"]),
        outside=(folders[0], folders[1]),
    )
    return _packed(found)


def _clear(_: Mapping[str, Any], __: list[Buffer]) -> Reply:
    return Reply({}, [])


if __name__ == "__main__":
    processes.serve({"prove": _prove, "clear": _clear})
