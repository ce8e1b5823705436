"""Where the operator stands, what is known of its sizes, who else reads, how constants are held."""

from dataclasses import replace

from numpy.random import Generator

from tests.random_models.bodies import PLACES
from tests.random_models.drawing_fronts import INEXACT, takes_pads
from tests.random_models.spec import Spec, Step
from tests.random_models.stages import before, last_stage, stages

FREE = ("named", "named", "open", "%2=0", "%2=1", "%3=1", "%4=0", "2*h", "4*h", "3*h+1", "number")


def draw_surroundings(rng: Generator, spec: Spec) -> Spec:
    """The spec in its surroundings, without what its operator or opset cannot have."""
    spec = replace(spec, behind="") if spec.indices else spec
    spec = replace(
        spec,
        held=str(rng.choice(["initializer", "initializer", "Constant", "body"])),
        shared=bool(rng.integers(3) == 0),
        extra=str(rng.choice(["", "", "", "", "twin", "reader", "output"])),
        value_info=bool(rng.integers(3) == 0),
    )
    if spec.opset < 9 and spec.held == "Constant":
        spec = replace(spec, held="initializer")
    spec = _placed(rng, spec) if rng.integers(3) == 0 else spec
    spec = _free(rng, spec) if rng.integers(2) else spec
    if rng.integers(8) == 0 and spec.held == "initializer" and not spec.free:
        # What is written about sizes would hold for the default values alone.
        overridable = str(rng.choice(["pads", "all"]))
        spec = replace(spec, overridable=overridable, value_info=False)
    return _harmless(spec)


def possible(spec: Spec) -> Spec:
    """The spec without what its opset cannot write in front."""
    row = spec.operator
    front: list[Step] = list(spec.front)
    if not takes_pads(row, spec.opset):
        front = [step for step in front if step.op != "Pad"]
    if spec.behind == "QDQ" and any(step.op in INEXACT for step in front):
        spec = replace(spec, behind="")
    spec = replace(spec, front=tuple(front))
    if any(stage.dtype == "int32" and spec.opset < 11 for stage in stages(spec)):
        spec = replace(spec, front=tuple(step for step in front if step.op != "Cast"))
    return spec


def _placed(rng: Generator, spec: Spec) -> Spec:
    if spec.operator.family == "deform":
        return spec
    place = str(rng.choice([place for place in PLACES if place != "main"]))
    outside = int(rng.integers(len(spec.front) + 1)) if rng.integers(2) else 0
    inside = [step.op for step in spec.front[outside:]]
    if place == "scan" and (spec.opset < 9 or "Unsqueeze" in inside):
        place = "if"
    if place == "loop" and spec.opset < 11:
        place = "loop carried"
    if place == "scan" and any(step.outside[0] or step.outside[2] for step in spec.front):
        place = "if"
    return replace(spec, place=place, outside=outside, indices=False, extra="", storage_order=0)


def _free(rng: Generator, spec: Spec) -> Spec:
    if spec.operator.family == "deform":
        return spec
    free = [str(rng.choice(FREE)) if rng.integers(3) else "" for _ in spec.spatial]
    return replace(spec, free=tuple(free), free_batch=bool(rng.integers(3) == 0))


def _harmless(spec: Spec) -> Spec:
    """Without what cannot be built."""
    if spec.operator.family in ("deform", "pad") and spec.extra == "twin":
        spec = replace(spec, extra="")
    if not any(step.op == "Unsqueeze" for step in spec.front):
        return spec
    stage = last_stage(spec)
    for step in reversed(spec.front):
        stage = before(step, stage, spec)
    bare = "N" not in stage.axes
    return replace(spec, batch=1, free_batch=False) if bare else spec
