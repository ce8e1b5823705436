"""What prove() answers, on models that were written to deceive it as well."""

import itertools
import re
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnxpad.proof import Limits, prove
from tests.proof.small_models import text

POOL = "g (float[1,1,H] x) => (float[a,b,c] y) {{ {0} }}"
CONV = "g (float[1,2,{size}] x) => (float[a,b,c] y) <float[2,2,3] w = {{{weight}}}> {{ {nodes} }}"


def weights(count: int) -> str:
    return ", ".join(str((at * 7) % 5 - 2.0) for at in range(count))


def conv(nodes: str, size: str = "H", opset: int = 18) -> onnx.ModelProto:
    return text(CONV.format(size=size, weight=weights(12), nodes=nodes), opset)


def pool(nodes: str, opset: int = 18) -> onnx.ModelProto:
    return text(POOL.format(nodes), opset)


def chain(count: int, node: str) -> onnx.ModelProto:
    names = ["x", *(f"t{at}" for at in range(1, count)), "y"]
    nodes = [node.format(b, a=a) for a, b in itertools.pairwise(names)]
    return pool("\n".join(nodes))


SAME = conv("y = Conv<auto_pad = 'SAME_UPPER'>(x, w)".replace("'", '"'))
PADS = conv("y = Conv<pads = [1, 1]>(x, w)")


def test_same_is_its_pads_for_all_sizes_and_weights() -> None:
    proof = prove(SAME, PADS)
    assert proof.verdict == "proved"
    (region,) = proof.regions
    assert (set(region.cuts), region.open_sizes) == ({"w", "x"}, ("H",))
    assert 0 < proof.probability < 1e-9
    assert not proof.rounded


def test_a_wrong_pad_is_refuted_with_numbers() -> None:
    proof = prove(SAME, conv("y = Conv<pads = [0, 2]>(x, w)"))
    assert proof.verdict == "refuted"
    assert re.fullmatch(r"y\[0, 0, \d+\] is [-\d.e+]+, then [-\d.e+]+, at H=\d+", proof.reason)
    shown = proof.counterexample
    assert shown is not None
    assert shown.inputs["x"].shape == (1, 2, shown.sizes["H"])


@pytest.mark.parametrize(
    "count", [10, 61, *(pytest.param(count, marks=pytest.mark.sweep) for count in (62, 200))]
)
def test_doubling_is_never_the_identity(count: int) -> None:
    """Modulo 2**61 - 1, 61 doublings are."""
    once = pool("y = Identity(x)")
    doubled = chain(count, "{} = Add({a}, {a})")
    assert prove(once, doubled, limits=Limits(seconds=0.5)).verdict != "proved"


@pytest.mark.parametrize("count", [3, 61, pytest.param(64, marks=pytest.mark.sweep)])
def test_squaring_is_never_the_identity(count: int) -> None:
    """Modulo a prime p, x to the p is x; beyond a degree nothing is decided."""
    squared = chain(count, "{} = Mul({a}, {a})")
    proof = prove(pool("y = Identity(x)"), squared, limits=Limits(seconds=0.5))
    assert proof.verdict != "proved"
    if count > 40:
        assert proof.verdict == "undecided"


def test_external_weights_are_hashed_in_their_folder(tmp_path: Path) -> None:
    def written(name: str, nodes: str, shift: float = 0) -> onnx.ModelProto:
        folder = tmp_path / name
        folder.mkdir()
        model = conv(nodes)
        array = numpy_helper.to_array(model.graph.initializer[0]) + np.float32(shift)
        model.graph.initializer[0].CopyFrom(numpy_helper.from_array(array, "w"))
        onnx.save(
            model, folder / "m.onnx", save_as_external_data=True, location="w", size_threshold=0
        )
        return onnx.load(folder / "m.onnx", load_external_data=False)

    first = written("a", "y = Conv<pads = [1, 1]>(x, w)")
    second = written("b", 'y = Conv<auto_pad = "SAME_UPPER">(x, w)')
    third = written("c", 'y = Conv<auto_pad = "SAME_UPPER">(x, w)', 1)
    folders = {name: tmp_path / name for name in "abc"}
    assert prove(first, second, outside=(folders["a"], folders["b"])).verdict == "proved"
    assert prove(first, third, outside=(folders["a"], folders["c"])).verdict == "refuted"
    assert prove(first, second).verdict == "undecided"


@pytest.mark.parametrize("limits", [Limits(cells=10), Limits(seconds=0)])
def test_budgets_end_with_a_reason(limits: Limits) -> None:
    proof = prove(SAME, PADS, limits=limits)
    assert proof.verdict == "undecided"
    assert "budget" in proof.reason


COMPUTED = """
    {to}_shape = Shape({x})
    {to}_size = Slice({to}_shape, two, three)
    {to}_up = Add({to}_size, one)
    {to}_steps = Div({to}_up, two)
    {to}_last = Sub({to}_steps, one)
    {to}_start = Mul({to}_last, two)
    {to}_end = Add({to}_start, three)
    {to}_open = Sub({to}_end, {to}_size)
    {to}_total = Max({to}_open, zero)
    {to}_begin = Div({to}_total, two)
    {to}_rest = Sub({to}_total, {to}_begin)
    {to}_pads = Concat<axis = 0>(zero, zero, {to}_begin, zero, zero, {to}_rest)
    {to}_padded = Pad({x}, {to}_pads)
    {to} = Conv<strides = [2]>({to}_padded, w)
"""
"""SAME of a kernel of 3 and a stride of 2, as a model computes it."""
FOUR = (("x", "a"), ("a", "b"), ("b", "c"), ("c", "y"))


def layered(*layers: str) -> onnx.ModelProto:
    numbers = "int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}"
    weight = "float[1,1,3] w = {1, 2, 4}"
    body = "\n".join(layers)
    return text(f"g (float[1,1,H] x) => (float[1,1,D] y) <{numbers}, {weight}> {{ {body} }}")


def computed(x: str, to: str) -> str:
    return COMPUTED.format(x=x, to=to)


def fixed(x: str, to: str, pads: str = "0, 1") -> str:
    return f"{to} = Conv<strides = [2], pads = [{pads}]>({x}, w)"


@pytest.mark.parametrize(
    "count", [1, 2, *(pytest.param(count, marks=pytest.mark.sweep) for count in (3, 4))]
)
def test_computed_pads_in_a_row_are_proved_under_what_is_said_of_sizes(count: int) -> None:
    layers = FOUR[-count:]
    layers = (("x", layers[0][1]), *layers[1:])
    before, after = (
        layered(*(computed(*one) for one in layers)),
        layered(*(fixed(*one) for one in layers)),
    )
    assert prove(before, after, dims={"H": f"%{2**count}=0"}).verdict == "proved"
    weaker = prove(before, after, dims={"H": f"%{2 ** (count - 1)}=0"})
    assert weaker.verdict == "refuted"


def test_tensors_that_a_few_bytes_describe_take_no_memory() -> None:
    """Shapes are followed without cells: a node of a gigabyte once took 8 here."""
    nodes = """n = Constant<value = int64[3] {1, 1, 268435456}>()
        z = ConstantOfShape(n)  c = Concat<axis = 2>(z, x)  """
    graph = "g (float[1,1,4] x) => (float[a,b,c] y) {{ {} {} }}"
    pooled = "y = MaxPool<kernel_shape = [3], {}>({})"
    before = text(graph.format(nodes, pooled.format("pads = [1, 1]", "c")))
    spelled = f"r = Neg(c) q = Neg(r) {pooled.format('pads = [1, 1]', 'q')}"
    after = text(graph.format(nodes, spelled))
    tracemalloc.start()
    try:
        proof = prove(before, after, limits=Limits(cells=4_000_000))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert proof.verdict == "undecided"
    assert most < 2**26


def running_ahead(clock: Callable[[], float], seconds: float) -> Callable[[], float]:
    """A clock on which each look finds so many seconds more."""
    looks = itertools.count()
    return lambda: clock() + next(looks) * seconds


@pytest.mark.parametrize(
    ("of_thread", "on_wall", "limits", "verdict"),
    [
        (0, 5, Limits(seconds=20, slowdown=1e6), "proved"),
        (0, 5, Limits(seconds=20, slowdown=2), "undecided"),
        (5, 0, Limits(seconds=20, slowdown=1e6), "undecided"),
    ],
    ids=["others run", "nothing runs", "it runs"],
)
def test_only_the_time_of_the_proof_itself_counts(
    of_thread: float, on_wall: float, limits: Limits, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "thread_time", running_ahead(time.thread_time, of_thread))
    monkeypatch.setattr(time, "monotonic", running_ahead(time.monotonic, on_wall))
    assert prove(SAME, PADS, limits=limits).verdict == verdict
