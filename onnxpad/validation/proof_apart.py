"""The formal kernel in a child process, which can be ended whatever a model makes it do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from onnxpad import processes
from onnxpad.model.comparing.networks import Network
from onnxpad.model.files.onnx_file import parse
from onnxpad.processes import Buffer, ChildEnded, Reply
from onnxpad.proof import Counterexample, Limits, OutputCell, Proof, Proved, prove
from onnxpad.sessions import packed, unpacked

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
    head = {"do": "prove", "dims": dict(dims), "limits": asdict(limits), "folders": folders}
    content = [one.serialised() for one in networks]
    wall = limits.seconds * limits.slowdown + _GRACE
    try:
        with processes.limited(work.seconds or wall, work.memory) as own:
            child = own.child(_MODULE, "the proof")
            reply = own.call(child, head, content, what="the proof")
    except ChildEnded as ended:
        if not ended.crashed:
            raise
        return Proof("undecided", f"the proof broke off: {ended}")
    return _unpacked(reply)


def _packed(proof: Proof) -> Reply:
    """A proof as plain data, and the inputs of its counterexample."""
    shown, buffers = proof.counterexample, list[Buffer]()
    head = asdict(replace(proof, counterexample=None))
    if shown is not None:
        inputs = {name: packed(value, buffers) for name, value in shown.inputs.items()}
        head["counterexample"] = asdict(replace(shown, inputs={})) | {"inputs": inputs}
    return Reply(head, buffers)


def _unpacked(reply: Reply) -> Proof:
    head, buffers = _frozen(reply.head), iter(reply.buffers)
    head["regions"] = tuple(Proved(**_frozen(one)) for one in head["regions"])
    if shown := head["counterexample"]:
        cell = OutputCell(**_frozen(shown["cell"])) if shown["cell"] else None
        inputs = {name: unpacked(value, buffers) for name, value in shown["inputs"].items()}
        head["counterexample"] = Counterexample(**_frozen(shown) | {"cell": cell, "inputs": inputs})
    return Proof(**head)


def _frozen(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a value, whose lists were tuples before they were JSON."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in plain.items()}


def _prove(head: Mapping[str, Any], buffers: list[Buffer]) -> Reply:
    before, after = (parse(bytes(one), name="the model", folder=None) for one in buffers)
    first, second = (Path(one) if one else None for one in head["folders"])
    limits = Limits(**head["limits"])
    return _packed(prove(before, after, dims=head["dims"], limits=limits, outside=(first, second)))


if __name__ == "__main__":
    processes.serve({"prove": _prove, "clear": lambda _, __: Reply({}, [])})
