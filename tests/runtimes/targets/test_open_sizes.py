"""What a target does at some size is said where the size is open."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import onnx
import pytest

from onnxpad.model.reading.survey import Survey
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.judge import judge
from onnxpad.runtimes.targets import all_targets
from tests.models.text import text_model

FINE = (Answer.TAKES, Answer.FALLS_BACK)


def windows(op: str, mode: str, window: tuple[int, int, int], sizes: str) -> onnx.ModelProto:
    kernel, stride, dilation = window
    axes = sizes.count(",") + 1
    lists = {"kernel_shape": kernel, "strides": stride} | (
        {} if op == "AveragePool" else {"dilations": dilation}
    )
    written = ", ".join(f"{name} = {[value] * axes}" for name, value in lists.items())
    weights = ",".join(["1"] * (4 * kernel**axes))
    has_weight = op.startswith("Conv")
    return text_model(
        f'y = {op}<auto_pad = "{mode}", {written}>({"x,w" if has_weight else "x"})',
        inputs=f"float[1,2,{sizes}] x",
        outputs=f"float[{','.join('abcde'[: axes + 2])}] y",
        constants=f"float[2,2,{','.join([str(kernel)] * axes)}] w = {{{weights}}}"
        if has_weight
        else "",
    )


def said(model: onnx.ModelProto) -> Mapping[str, Answer]:
    survey = Survey(model)
    (chain,) = (site.chain for site in survey.sites_now())
    return {name: judge(target, chain).answer for name, target in all_targets().items()}


@pytest.mark.part(13)
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool", "ConvTranspose"])
@pytest.mark.parametrize("others", ["", ",7"], ids=["line", "image"])
def test_nothing_is_taken_at_open_sizes_that_fails_at_one(op: str, mode: str, others: str) -> None:
    """SAME_LOWER with kernel 3 and stride 2 is 1,1 at odd sizes; at even ones 1,0, like 1,1."""
    dilations = (1,) if op == "AveragePool" else (1, 2)
    for window in product((1, 2, 3), (1, 2, 3), dilations):
        still = said(windows(op, mode, window, f"h{others}"))
        for size in range(12, 18):
            fixed = said(windows(op, mode, window, f"{size}{others}"))
            wrong = {name for name in fixed if fixed[name].fails and still[name] in FINE}
            assert not wrong, (window, size)
