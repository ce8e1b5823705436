"""Where there is no way for a node, what a user can add to the request is said, and was tried."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import onnx
import pytest

from onnxpad import inspect, rewrite
from tests.command import run, told_in
from tests.rewriting.for_target.test_search import CONV, model_of
from tools.benchmarks.networks import Network

BATCH = """<ir_version: 8, opset_import: ["" : 15]>
g (float[n,2,16,16] x) => (float[a,b,c,d] y) <float[2,2,3,3] w> {
  [first] a0 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x, w)
  [pool] a1 = MaxPool<auto_pad="SAME_UPPER", kernel_shape=[2,2], strides=[1,1]>(a0)
  [lower] a2 = Conv<auto_pad="SAME_LOWER", kernel_shape=[3,3], strides=[1,1]>(a1, w)
  [plain] y = Conv<kernel_shape=[3,3], strides=[1,1]>(a2, w)
}"""
POOLS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,2,h,w0] x) => (float[a,b,c,d] y) <float[2,2,3,3] w> {
  [first] a0 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3]>(x, w)
  r0 = Relu(a0)
  [pool] a1 = MaxPool<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(r0)
  [lower] a2 = Conv<auto_pad="SAME_LOWER", kernel_shape=[3,3]>(a1, w)
  r1 = Relu(a2)
  [mean] a3 = AveragePool<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(r1)
  [last] y = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3]>(a3, w)
}"""
SIZES = BATCH.replace("n,2,16,16", "n,2,h,w0")
BRANCHES = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,2,h,w0] x, bool c) => (float[a,b,e,d] y) <float[2,2,3,3] w> {
  [first] a0 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3]>(x, w)
  [choice] y = If (c) <
    then_branch = t () => (float[a,b,e,d] u) { u = Relu(a0) },
    else_branch = f () => (float[a,b,e,d] v) { v = Neg(a0) }>
}"""
Captured = pytest.CaptureFixture[str]
OPEN = CONV.replace("float[1,2,8,8]", "float[n,2,h,w]").replace("float[1,3,4,4]", "float[a,b,c,d]")


@pytest.mark.parametrize("target", ["ncnn", "opencv"])
@pytest.mark.parametrize("text", [BATCH, SIZES, OPEN, POOLS, BRANCHES])
def test_what_is_named_settles_as_many_as_it_says(text: str, target: str) -> None:
    before = rewrite(model_of(text), target=target).fitting
    assert before is not None
    opening = before.opening
    after = rewrite(model_of(text), target=target, dims=opening.dims).fitting
    assert after is not None
    assert opening.stuck == len({one.node for one in before.no_way})
    assert opening.settled == opening.stuck - len(after.left.keys() & before.left.keys())
    assert opening.writes == (bool(opening.facts) and after.writes)


def test_the_state_before_is_not_changed_by_trying() -> None:
    model = model_of(OPEN)
    before = model.SerializeToString()
    done = rewrite(model, target="opencv")
    assert done.fitting is not None
    assert dict(done.fitting.opening.facts) == {"h": "%2=0", "w": "%2=0"}
    assert done.fitting.opening.granted == 1
    assert not done.changed
    assert model.SerializeToString() == before


def test_every_computed_pad_that_the_divisors_settle_says_so() -> None:
    """Also where it is computed from sizes that nothing tells until those before it are known."""
    net = Network()
    net.shape = ("N", 3, "H", "W")
    net.same_conv(4, 5, 2)
    net.same_conv(4, 3, 4)
    found = inspect(net.model())
    hints = [node.hints[-1] for node in found.nodes if node.pads is None]
    assert hints == ["--dim 'H%8=0' --dim 'W%8=0'"] * 2


TORCH = Network()
TORCH.shape = ("N", 3, "h", "W")
for _stride in (2, 1, 4):
    TORCH.same_conv(4, 5, _stride)


@pytest.mark.sweep
@pytest.mark.parametrize("given", ["h%3=0", "h%3=1", "h%2=1"])
@pytest.mark.parametrize(
    ("name", "target"), [("same", ""), ("same", "opencv"), ("computed", "ncnn")]
)
def test_hints_agree_with_what_is_given(
    given: str, name: str, target: str, capsys: Captured, tmp_path: Path
) -> None:
    """The example sizes, too; and the command that is printed as the next one can be typed."""
    path, known = tmp_path / "m.onnx", told_in(f"--dim '{given}'")["h"]
    onnx.save(model_of(STRIDED) if name == "same" else TORCH.model(), path)
    options = ["--dim", given, *(["--target", target] if target else [])]
    run(["inspect", str(path), *options])
    shown = capsys.readouterr().out
    hints = [line for line in shown.splitlines() if "--dim 'h" in line]
    assert hints
    for hint in hints:
        fact = told_in(hint)["h"]
        assert fact.and_also(known) == fact, hint
    (typed,) = (line for line in hints if line.startswith("next: "))
    words = shlex.split(typed.removeprefix("next: onnxpad "))
    assert run([str(tmp_path / "out.onnx") if word == "OUT" else word for word in words]) == 0
    run(["rewrite", str(path), "--check", *options])
    for line in capsys.readouterr().out.splitlines():
        for part in re.split(r", or | or |, ", line if "try" in line else ""):
            facts = told_in(part)
            assert "h" not in facts or facts["h"].and_also(known) == facts["h"], line


STRIDED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,h,16] x) => (float[a,b,c,d] y) <float[2,2,3,3] w> {
  [first] a0 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x, w)
  [second] a1 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(a0, w)
  [third] y = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(a1, w)
}"""
