"""The formal kernel's verdict on two models, in the words of a report."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnxpad import processes
from onnxpad.errors import headline
from onnxpad.geometry.size import Symbol
from onnxpad.geometry.size_fact import SizeFact
from onnxpad.model.comparing.networks import random_nodes
from onnxpad.model.graph.types import Type
from onnxpad.proof import Counterexample, Limits, Proof, prove
from onnxpad.validation.interface import broken
from onnxpad.validation.report import ProofReport, Validation
from onnxpad.validation.samples import Pair

Array = NDArray[Any]
_BYTES_OF_A_CELL = 8
"""At most so many are held of each: rewrites of ResNet-50 need 3 million cells."""
_ONLY_RUNS = "only runs can compare these models"
_NO_TIME, _NO_CELLS = "the budget of seconds is spent", "the budget of cells is spent"
_EXAMPLE = 224
"""About what a size is fixed to in a hint."""


def proved(pair: Pair, types: Mapping[str, Type], limits: Limits) -> ProofReport:
    """Whether two models are the same function, for inputs of these types.

    `limits` say how long it may take. Raises ModelError where a file was changed meanwhile.
    """
    facts, open_sizes = _facts(pair.before.input_types(), types)
    fixing = _fixing(types)
    found, larger = _proof(pair, facts, limits, is_open=bool(fixing))
    for one in pair:
        one.refuse_changed()
    drawn = [label for one in pair for label in random_nodes(one)]
    shown = found.counterexample
    if drawn and found.verdict == "proved":
        why = f"{drawn[0]} draws random numbers: no function"
        found = replace(found, verdict="undecided", reason=why)
    if found.verdict == "refuted" and shown is None and not broken(*pair):
        found = replace(found, verdict="undecided")  # of defaults, which callers seldom replace
    return ProofReport(
        *(found.verdict, found.reason, found.rounded, open_sizes, facts),
        *(found.regions, found.readings, found.probability, found.seconds),
        None if shown is None else _whole(shown, types, pair),
        fixing if larger else {},
        larger,
    )


def counterexample_file(found: Validation) -> bytes | None:
    """Inputs on which two models differ, as an .npz file; None where none are known."""
    shown = found.proof.counterexample if found.proof else None
    return None if shown is None else arrays_file(shown.inputs)


def arrays_file(given: Mapping[str, Array]) -> bytes:
    """Arrays by name, as an .npz file; types that numpy has no format for as float32."""
    arrays = {
        name: value if value.dtype.isbuiltin == 1 else value.astype(np.float32)
        for name, value in given.items()
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:  # savez takes no array of the name 'file'
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, value, allow_pickle=False)
    return content.getvalue()


def _proof(
    pair: Pair, facts: Mapping[str, int | str], limits: Limits, *, is_open: bool
) -> tuple[Proof, Mapping[str, int | str]]:
    """What the kernel says; where a damaged model breaks it off, nothing is decided.

    With it, of a proof that did not end, the limits that give it more. `is_open`: sizes may be
    fixed.
    """
    cells = min(limits.cells, processes.current().memory_allowed() // _BYTES_OF_A_CELL)
    try:
        found = prove(
            *(one.given for one in pair),
            dims=facts,
            limits=replace(limits, cells=cells),
            outside=(pair.before.outside, pair.after.outside),
        )
    except Exception as error:  # noqa: BLE001 - a file may be damaged in any way; nothing is claimed
        why = f"the proof broke off ({type(error).__name__}: {headline(error)})"
        return Proof("undecided", why), {}
    if _NO_CELLS in found.reason:
        more = "with fixed sizes (--dim) it may be proved" if is_open else _ONLY_RUNS
        return replace(found, reason=f"the proof has too many cells to look at; {more}"), {}
    if _NO_TIME in found.reason:
        why = f"the proof took more than {limits.seconds:.3g} s"
        return replace(found, reason=why), {"timeout": max(600, round(10 * limits.seconds))}
    return found, {}


def _fixing(types: Mapping[str, Type]) -> dict[str, int]:
    """A size for every open one of the inputs: {'N': 1, 'H': 224}."""
    sizes: dict[str, int] = {}
    for type_ in types.values():
        for axis, size in enumerate(type_.dims or ()):
            if isinstance(size, Symbol):
                about = _EXAMPLE if axis or len(type_.dims or ()) == 1 else 1
                fact = SizeFact(size.modulus, size.residue)
                sizes.setdefault(size.name, fact.near(about))
    return sizes


def _facts(
    stated: Mapping[str, Type], types: Mapping[str, Type]
) -> tuple[dict[str, int | str], tuple[str, ...]]:
    """What is known of open sizes beyond what the first model says, and those that stay open."""
    facts: dict[str, int | str] = {}
    left: list[str] = []
    for name, type_ in types.items():
        for own, size in zip(stated[name].dims or (), type_.dims or (), strict=False):
            if isinstance(own, Symbol) and isinstance(size, int):
                facts[own.name] = size
            elif isinstance(own, Symbol):
                left.append(own.name)
                own_fact = own.modulus, own.residue
                if isinstance(size, Symbol) and (size.modulus, size.residue) != own_fact:
                    facts[own.name] = f"%{size.modulus}={size.residue}"
    return facts, tuple(dict.fromkeys(left))


def _whole(shown: Counterexample, types: Mapping[str, Type], pair: Pair) -> Counterexample:
    """The counterexample with zeros for inputs that the cell does not hang on."""

    def smallest(size: object) -> int:
        if isinstance(size, Symbol):
            return shown.sizes.get(size.name, size.residue or size.modulus)
        return size if isinstance(size, int) else 1

    inputs = {name: shown.inputs[name] for name in shown.replaced if name in pair.after.replaceable}
    for name, type_ in types.items():
        if name in shown.inputs:
            inputs[name] = shown.inputs[name]
        elif type_.dims is not None and type_.dtype:
            inputs[name] = np.zeros([smallest(size) for size in type_.dims], np.dtype(type_.dtype))
    return replace(shown, inputs=inputs)


def claim(report: ProofReport) -> str:
    """What is claimed, as a sentence without its full stop."""
    if report.verdict == "undecided":
        return f"not proved and not refuted: {report.obstacle}"
    if report.verdict == "refuted":
        shown = report.counterexample
        if shown is None or shown.cell is None:
            return report.reason
        given = f", where a caller gives {', '.join(shown.replaced)}" if shown.replaced else ""
        cell = shown.cell
        index = ", ".join(map(str, cell.index))
        at = ", ".join(f"{name}={size}" for name, size in shown.sizes.items())
        return (
            f"{cell.output}[{index}] is {cell.before:.6g} in the first model and {cell.after:.6g} "
            f"in the second{f', at {at}' if at else ''}{given}"
        )
    facts = ", ".join(
        f"{name}={fact}" if isinstance(fact, int) else f"{name}{fact}"
        for name, fact in report.dims.items()
    )
    open_sizes = ", ".join(report.open_sizes)
    return (
        f"both are the same function{' up to rounding of constants' if report.rounded else ''}, "
        f"for all values of the inputs{f' and all sizes of {open_sizes}' if open_sizes else ''}"
        f"{f', where {facts}' if facts else ''}"
    )
