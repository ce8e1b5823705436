"""What users say about targets and passes, checked and made into a planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from onnxpad.errors import RequestError
from onnxpad.model.opened import Model
from onnxpad.rewriting.passes import find_pass

if TYPE_CHECKING:
    from onnxpad.rewriting.for_target.search import Planner

PassNames = str | Sequence[str] | None
TargetNames = str | Sequence[str] | None


def planner(
    target: TargetNames,
    dims: Mapping[str, int | str] | None = None,
    *,
    prefer: PassNames = None,
    exclude: PassNames = None,
    allow_unknown: bool = False,
    require_device: bool = False,
) -> Planner | None:
    """A planner for `target`, None without one; `dims` are sizes that the user gave.

    Raises RequestError for names that do not exist, a pass that is preferred and excluded, and
    wishes without a target.
    """
    if target is None:
        given = {"prefer": prefer, "exclude": exclude, "allow-unknown": allow_unknown}
        given["require-device"] = require_device
        named = [f"--{name}" for name, value in given.items() if value]
        if named:
            raise RequestError(f"{' and '.join(named)}: only together with --target T")
        return None
    from onnxpad.rewriting.for_target.names import targets_asked
    from onnxpad.rewriting.for_target.obstacles import Judge
    from onnxpad.rewriting.for_target.search import Planner, Wishes

    wishes = Wishes(names_of(prefer), names_of(exclude))
    for name in (*wishes.prefer, *wishes.exclude):
        find_pass(name)
    both = sorted(set(wishes.prefer) & set(wishes.exclude))
    if both:
        raise RequestError(f"'{both[0]}' is both preferred and excluded: choose one")
    judge = Judge(
        targets_asked(target),
        allows_unknown=allow_unknown,
        assumes_sizes=bool(dims),
        requires_device=require_device,
    )
    return Planner(judge, wishes)


def beyond_batch(model: Model, dims: Mapping[str, int | str] | None) -> dict[str, int | str] | None:
    """Of what a user says of sizes, all but those that stand on the first axis of inputs alone."""
    first, others = set[str](), set[str]()
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            (others if axis else first).update({dim.dim_param, f"{value.name}[{axis}]"})
    batch = first - others
    return None if dims is None else {k: size for k, size in dims.items() if k not in batch}


def names_of(names: PassNames) -> tuple[str, ...]:
    """One name or several as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names or ())
