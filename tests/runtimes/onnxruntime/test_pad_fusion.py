"""What onnxruntime's Pad fusion harms, optimisations on against off, pad_fusion foresees."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from onnx import ModelProto

from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.runtimes.onnxruntime.pad_fusion import Way, harms
from tests.runtimes.onnxruntime.installed import HARMS_POOLS
from tests.runtimes.onnxruntime.matrix import Array, Row, built, drawn, feeds

runtime = pytest.importorskip("onnxruntime")


def results(model: ModelProto, given: dict[str, Array], *, optimised: bool) -> list[Array] | None:
    """Every output; None where onnxruntime refuses the model."""
    levels = runtime.GraphOptimizationLevel
    options = runtime.SessionOptions()
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    )
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = runtime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        found: list[Array] = session.run(
            None, {one.name: given[one.name] for one in session.get_inputs()}
        )
    except Exception:  # noqa: BLE001 - its errors have no common class
        return None
    return found


def measured(row: Row, model: ModelProto) -> str:
    """What the optimiser does to the model: nothing ('fine'), 'load' or 'value'."""
    plain, optimised = (results(model, feeds(row), optimised=on) for on in (False, True))
    assert plain is not None, row
    if optimised is None:
        return "load"
    pairs = zip(plain, optimised, strict=True)
    same = all(
        one.shape == other.shape
        and np.allclose(one.astype(float), other.astype(float), rtol=1e-3, atol=1e-3)
        for one, other in pairs
    )
    return "fine" if same else "value"


def foreseen(model: ModelProto) -> tuple[Chain, tuple[Way, ...]]:
    sites = Survey(model).sites_now()
    chain = next(site.chain for site in sites if site.address.label == "op")
    return chain, harms(chain)


def assert_foreseen(which: list[Row]) -> Counter[str]:
    """Every harm is foreseen, and of what is fine at most one row in ten is feared for."""
    seen = Counter[str]()
    missed, alarms = [], []
    for row in which:
        model = built(row)
        found, fears = measured(row, model), bool(foreseen(model)[1])
        seen[found] += 1
        if found != "fine" and not fears:
            missed.append((row, found))
        if found == "fine" and fears:
            alarms.append(row)
    assert not missed, (len(missed), missed[:5])
    assert not HARMS_POOLS or 10 * len(alarms) <= seen["fine"], (len(alarms), alarms[:5])
    return seen


def test_drawn_rows(fusion_rows: int) -> None:
    """Rows that mix all axes; `--fusion-rows 20000` draws that many."""
    assert_foreseen(list(drawn(11, fusion_rows)))


@pytest.mark.sweep
def test_many_drawn_rows() -> None:
    seen = assert_foreseen(list(drawn(12, 2000)))
    assert min(seen[one] for one in (["fine", "load", "value"] if HARMS_POOLS else ["fine"])) > 20
