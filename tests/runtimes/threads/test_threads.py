"""What the user of each thread would do: rewrite for his runtime, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from onnxpad import Rewriting, inspect, rewrite
from tests.oracle.interpreter import run_model
from tests.runtimes.live import RELEASES, RUNTIMES
from tests.runtimes.live.environments import Unavailable
from tests.runtimes.live.running import Case, outcomes
from tests.runtimes.threads import THREADS, Thread

_SIZES = {"h": 32, "v": 64}
each = pytest.mark.parametrize("thread", THREADS, ids=lambda one: one.where)


def rewritten(thread: Thread) -> Rewriting:
    targets = [thread.target] if isinstance(thread.target, str) else list(thread.target)
    options = thread.options
    return rewrite(
        thread.model(),
        target=targets,
        dims=options.get("dims"),  # type: ignore[arg-type]
        require_device="require_device" in options,
    )


def fed(model: onnx.ModelProto) -> dict[str, NDArray[Any]]:
    """Data below 0 as well, which shows what a max pool pads with."""
    given = model.graph.input[0].type.tensor_type
    kind, dims = onnx.helper.tensor_dtype_to_np_dtype(given.elem_type), given.shape.dim
    sizes = [_SIZES.get(one.dim_param, one.dim_value) for one in dims]
    return {"x": np.random.default_rng(1).normal(size=sizes).astype(kind) - 1}


def expected(thread: Thread, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """What the model computes; where the text forbids it, what numpy makes of the mirror."""
    if thread.mirrors:
        return {"y": np.pad(inputs["x"], thread.mirrors, mode="reflect")}
    return run_model(thread.model(), inputs)


@each
def test_the_target_alone_is_enough(thread: Thread) -> None:
    done = rewritten(thread)
    if thread.no_way:
        assert done.unfit or not done.changed
        return
    assert not done.unfit
    assert done.changed is not thread.right
    inputs, after = fed(thread.model()), done.model
    assert isinstance(after, onnx.ModelProto)
    wanted = expected(thread, inputs)["y"]
    np.testing.assert_allclose(run_model(after, inputs)["y"], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.sweep
@each
def test_the_runtime_of_the_thread_runs_it_right_then(thread: Thread, tmp_path: Path) -> None:
    """And fails before, which is what was reported."""
    if thread.no_way or thread.by_source:
        pytest.skip(thread.no_way or thread.by_source)
    model = thread.model()
    inputs = fed(model)
    wanted = expected(thread, inputs)
    cases = {}
    for name, one in (("before", model), ("after", rewritten(thread).model)):
        assert isinstance(one, onnx.ModelProto)
        dims = one.graph.output[0].type.tensor_type.shape.dim
        del dims[:]
        for size in wanted["y"].shape:
            dims.add().dim_value = size
        onnx.save(one, tmp_path / f"{name}.onnx")
        cases[name] = Case(tmp_path / f"{name}.onnx", inputs, wanted)
    targets = (thread.target,) if isinstance(thread.target, str) else thread.target
    known = RUNTIMES | RELEASES
    here = [name for name in inspect(model, target=list(targets)).targets if name in known]
    if not here:
        pytest.skip(f"{', '.join(targets)}: runs nowhere here")
    try:
        found = {name: outcomes(known[name], cases) for name in here}
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert {name: one["after"].verdict for name, one in found.items()} == dict.fromkeys(here, "ok")
    assert (thread.right or thread.slow) is all(
        one["before"].verdict == "ok" for one in found.values()
    )


def opset_of(model: onnx.ModelProto) -> int:
    return next(int(one.version) for one in model.opset_import if not one.domain)


@pytest.mark.parametrize(("where", "most"), [("onnxruntime#26393", 18), ("swift-f0#3", 17)])
def test_an_older_opset_lets_the_pad_stay(where: str, most: int) -> None:
    (thread,) = [one for one in THREADS if one.where == where]
    after = rewritten(thread).model
    assert isinstance(after, onnx.ModelProto)
    assert opset_of(after) <= most < opset_of(thread.model())
    assert "Pad" in [node.op_type for node in after.graph.node]
