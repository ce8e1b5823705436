"""SAME of every small window, its pads computed while the model runs, at sizes 1 to 9."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import onnx
import pytest

from onnxpad.rewriting.rewrite import rewrite
from tests.laws.small_models import Array, Case
from tests.laws.small_operators import OPERATORS, Kind
from tests.models.one_node import assert_same
from tests.oracle.interpreter import run_model
from tests.oracle.onnxruntime_levels import ran

RULE = "runtime-pads"
SIZES = range(1, 10)
OPSETS = (11, 12, 13, 15, 18, 21, 22, 25)
ROUNDING = {"AveragePool": 2e-6, "LpPool": 1e-5}
# What onnxruntime's CPU has no kernel for.
UNRUNNABLE = {"AveragePool double", "LpPool double"}


def opsets(kind: Kind, dilation: int) -> list[int]:
    """Opsets in which the operator has what the case needs."""
    since = {"MaxPool": 12 if "int8" in kind.dtype else 11, "ConvInteger": 11}.get(kind.op, 11)
    if dilation > 1:
        since = {"AveragePool": 19, "LpPool": 18, "QLinearAveragePool": 99}.get(kind.op, since)
        since = max(since, 18 if kind.op == "MaxPool" and kind.dtype == "uint8" else 0)
    return [opset for opset in OPSETS if opset >= since]


def cases(name: str) -> Iterator[Case]:
    """One axis, every window, SAME_UPPER and SAME_LOWER; opsets and counting take turns."""
    kind, turn = OPERATORS[name], 0
    for kernel, stride, dilation, mode in product(
        range(1, 5), range(1, 4), range(1, 4), ("SAME_UPPER", "SAME_LOWER")
    ):
        allowed = opsets(kind, dilation)
        if not allowed:
            continue
        turn += 1
        yield Case(
            kind=name,
            spatial=(9,),
            kernel=(kernel,),
            strides=(stride,),
            dilations=(dilation,),
            padding=mode,
            pads=(),
            counts="Average" in name and (turn % 2 == 0 or name.startswith("QLinear")),
            ceil="Pool" in name and turn % 3 == 0 and (kind.op != "LpPool" or min(allowed) > 11),
            opset=allowed[turn % len(allowed)],
            seed=turn,
        )


def dynamic(case: Case) -> onnx.ModelProto:
    """The model of the case for every size."""
    model = case.model()
    model.graph.input[0].type.tensor_type.shape.dim[case.first_axis].dim_param = "n"
    return model


def right(found: Array | str, wanted: Array, case: Case) -> None:
    assert not isinstance(found, str), found
    assert_same(found, wanted, ROUNDING.get(case.op, 0.0))


def check(case: Case) -> bool:
    model = dynamic(case)
    done = rewrite(model, passes=[RULE])
    assert not done.skips, (case, done.skips)
    assert isinstance(done.model, onnx.ModelProto)
    if not done.changed:
        explicit = rewrite(model, passes=["explicit-pads"])
        assert explicit.changed or "as large as the kernel" in explicit.skips[0].skip.reason
        return False
    onnx.checker.check_model(done.model, full_check=True)
    for size in SIZES:
        feed = replace(case, spatial=(size,)).feed()
        wanted = run_model(model, feed)["y"]
        right(run_model(done.model, feed)["y"], wanted, case)
        for optimised in (False, True) if case.kind not in UNRUNNABLE else ():
            found = ran(done.model, feed, optimised=optimised)
            if case.op == "QLinearAveragePool" and not isinstance(found, str):
                # onnxruntime rounds ties one way or the other, with and without this pass.
                assert int(np.abs(found.astype(int) - wanted).max()) <= 1
                found = wanted
            right(found, wanted, case)
    return True


@pytest.mark.part(4)
@pytest.mark.parametrize(
    "name", [name for name in OPERATORS if name != "Pad" and "Transpose" not in name]
)
def test_every_small_window(name: str) -> None:
    changed = 0
    for case in cases(name):
        try:
            changed += check(case)
        except AssertionError as error:
            raise AssertionError(f"{case}") from error
    assert changed >= (6 if name.startswith("QLinearAverage") else 24)
