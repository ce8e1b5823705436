"""What users say about targets and passes, checked and made into a planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from onnxpad.errors import RequestError
from onnxpad.model.opened import Model
from onnxpad.rewriting.passes import find_pass
from onnxpad.runtimes.own_targets import Asking, TargetName
from onnxpad.runtimes.targets import find_target, find_targets

if TYPE_CHECKING:
    from onnxpad.probing.live import Live
    from onnxpad.rewriting.for_target.search import Planner

PassNames = str | Sequence[str] | None
TargetNames = TargetName | Sequence[TargetName] | None


def planner(
    target: TargetNames,
    *,
    prefer: PassNames = None,
    exclude: PassNames = None,
    allow_unknown: bool = False,
    require_device: bool = False,
    live: Live | None = None,
) -> Planner | None:
    """A planner for `target`, None without one.

    `live` asks runtimes: those that it has for the target, and for the others their tables count.

    Raises RequestError for names that do not exist, a pass that is preferred and excluded, and
    wishes without a target.
    """
    if target is None:
        given = {"prefer": prefer, "exclude": exclude, "allow-unknown": allow_unknown}
        given["require-device"] = require_device
        if named := [f"--{name}" for name, value in given.items() if value]:
            raise RequestError(f"{' and '.join(named)}: only together with --target T")
        return None
    from onnxpad.rewriting.for_target.judge import Judge
    from onnxpad.rewriting.for_target.search import Planner

    preferred, excluded = (
        tuple(find_pass(name).name for name in names_of(names)) for names in (prefer, exclude)
    )
    if both := sorted(set(preferred) & set(excluded)):
        raise RequestError(f"'{both[0]}' is both preferred and excluded: choose one")
    asked = find_targets(target)
    answers = live is not None and any(one.name in live.trials for one in asked.parts or (asked,))
    judge = Judge(
        asked,
        allows_unknown=allow_unknown,
        requires_device=require_device,
        live=live if answers else None,
    )
    return Planner(judge, preferred, excluded)


def runtimes_asked(stack: ExitStack, target: TargetNames, asking: Asking) -> Live | None:
    """The runtimes that answer for `target`, open as long as `stack`; None where none is asked.

    A runtime of the user's own always answers for itself. Raises RequestError where there is no
    target, and as `open_live` does.
    """
    if target is None:
        if asking.live:
            raise RequestError("--live asks a runtime: add --target NAME")
        return None
    asked = find_targets(target)
    if not asking.live and not any(one.is_own for one in asked.parts or (asked,)):
        return None
    from onnxpad.probing.live import open_live

    live = open_live(asked, asking)
    stack.callback(live.close)
    return live


def beyond_batch(model: Model, dims: Mapping[str, int | str] | None) -> dict[str, int | str] | None:
    """Of what a user says of sizes, all but those that stand on the first axis of inputs alone."""
    first, others = set[str](), set[str]()
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            (others if axis else first).update({dim.dim_param, f"{value.name}[{axis}]"})
    batch = first - others
    return None if dims is None else {k: size for k, size in dims.items() if k not in batch}


def names_of(names: PassNames) -> tuple[str, ...]:
    """A name, a sequence of names or nothing as a tuple of names."""
    return (names,) if isinstance(names, str) else tuple(names or ())


class ByTarget(dict[str, Any]):
    """What is known of targets, by their own names; `[]` also takes names that stand for these."""

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - as in dict
        try:
            own = find_target(name).name
        except RequestError:
            own = name
        if own == name:
            raise KeyError(name)
        return self[own]
