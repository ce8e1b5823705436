"""What stands in front of the operator."""

from dataclasses import replace

from numpy.random import Generator

from tests.random_models.kinds import Kind
from tests.random_models.spec import Spec, Step

CROSSED = ("Relu", "LeakyRelu", "Sigmoid", "Identity", "Neg", "Abs", "Tanh")
INEXACT = ("Sigmoid", "Tanh")


def draw_front(rng: Generator, spec: Spec) -> Spec:
    """The spec with a front, and with quantisation around it where its kind has that."""
    row = spec.operator
    if spec.kind.endswith("QDQ"):
        return _quantised(rng, spec)
    if row.family == "pad":
        pads = tuple(_alone(rng, spec) for _ in range(1 + int(rng.integers(5) == 0)))
        return replace(spec, front=pads)
    steps: list[Step] = []
    form = int(rng.integers(8))
    if form in (0, 1, 2, 3):
        steps.append(_pad(rng, spec))
    if form == 3:
        steps.append(_pad(rng, spec))
    if form in (2, 3, 4) and row.family != "deform":
        steps += _crossed(rng, spec)
    if form == 4:
        steps.append(_pad(rng, spec))
    return replace(spec, front=tuple(steps))


def _crossed(rng: Generator, spec: Spec) -> list[Step]:
    """One operator that a Pad may have to cross; a Cast comes first of all."""
    row = spec.operator
    known = ["Identity", "Transpose", "Unsqueeze"]
    if row.dtype == "float32":
        known += [*CROSSED, *CROSSED]
        if spec.opset >= 11:
            known.append("Cast")
        if spec.opset >= 10:
            known += ["QDQ", "QDQ"]
    chosen = str(rng.choice(known))
    if chosen != "QDQ":
        return [Step(chosen)]
    return [Step("QuantizeLinear"), Step("DequantizeLinear")]


def _quantised(rng: Generator, spec: Spec) -> Spec:
    """QuantizeLinear and DequantizeLinear with Pads before, between and behind them."""
    channels = bool(rng.integers(3) == 0)
    steps = [Step("QuantizeLinear", channels=channels), Step("DequantizeLinear", channels=channels)]
    place = int(rng.integers(4))
    if place < 3:
        steps.insert(place, _pad(rng, spec, outside=not channels))
    if rng.integers(6) == 0:
        steps.insert(int(rng.integers(len(steps) + 1)), _pad(rng, spec, outside=False))
    behind = "QDQ" if rng.integers(4) else ""
    return replace(spec, front=tuple(steps), behind=behind)


def _pad(rng: Generator, spec: Spec, *, outside: bool = True) -> Step:
    row, rank = spec.operator, spec.rank
    values = ["fits", "fits", "fits", "fits", "zero", "other", "omitted", "minus zero"]
    if row.family == "max":
        values.append("lowest")
    elif row.op == "ConvInteger" or row.op.startswith("QLinear"):
        values += ["tensor", "tensor"]
    pads = rng.integers(0, 3 if rng.integers(3) else 4, 2 * rank)
    if rng.integers(12) == 0:
        pads *= 0
    if rng.integers(10) == 0 and row.family != "average":
        pads -= 1
    step = Step("Pad", tuple(pads.tolist()), value=str(rng.choice(values)))
    step = replace(step, mode=_mode(rng, spec, 8), source=_source(rng, spec))
    if rng.integers(14) == 0 and outside and row.family not in ("transposed", "deform"):
        batch, channels = rng.integers(0, 2, 2).tolist()
        step = replace(step, outside=(0, channels, batch, 0), source="constant", mode="constant")
    return _spelt(rng, spec, step)


def _alone(rng: Generator, spec: Spec) -> Step:
    pads = rng.integers(-1 if rng.integers(2) else 0, 3, 2 * spec.rank)
    values = ["omitted", "zero", "other", "fits"]
    step = Step("Pad", tuple(pads.tolist()), value=str(rng.choice(values)))
    step = replace(step, mode=_mode(rng, spec, 2), source=_source(rng, spec))
    if rng.integers(4) == 0:
        step = replace(step, outside=tuple(rng.integers(0, 2, 4).tolist()), source="constant")
    return _spelt(rng, spec, step)


def _mode(rng: Generator, spec: Spec, rarely: int) -> str:
    if rng.integers(rarely):
        return "constant"
    known = ["reflect", "edge"] + (["wrap"] if spec.opset >= 19 and _standard(spec) else [])
    return str(rng.choice(known))


def _standard(spec: Spec) -> bool:
    return not (spec.operator.family == "pad" and spec.operator.domain)


def _source(rng: Generator, spec: Spec) -> str:
    computed = ["chain", "shape", "input"]
    if spec.opset < 11 or rng.integers(4) or spec.operator.family == "deform":
        return "constant"
    return str(rng.choice(computed))


def _spelt(rng: Generator, spec: Spec, step: Step) -> Step:
    """Axes as an input where the opset has it; what older opsets cannot say is left out."""
    if spec.opset >= 18 and rng.integers(5) == 0 and _standard(spec) and not any(step.outside):
        return replace(step, axes=True, source="constant")
    if spec.opset < 11 and step.value == "tensor":
        return replace(step, value="fits")
    return step


def takes_pads(row: Kind, opset: int) -> bool:
    """Whether a Pad can write the operator's type at this opset."""
    return opset >= 11 or row.dtype.startswith("float")
