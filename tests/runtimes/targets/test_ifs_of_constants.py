"""Runtimes that put the branch of an If of a constant in its place see neighbours there.

By 60 and 59 chains of three to five operators, of which some stand in a branch, live in
onnxruntime, both WebGPU providers and onnx2tf: each does what it does with the chain alone.
"""

from __future__ import annotations

from itertools import combinations

import onnx
import pytest

from onnxpad.runtimes.conditions.rows import Answer
from tests.models.text import text_model
from tests.runtimes.targets.test_held_out_facts import answers

CONV = "Conv <kernel_shape = [1, 1]> ({x}, w)"
STORED = (
    "w = Constant <value = float[2, 2, 1, 1] {1, 2, 3, 4}> () "
    "h = Constant <value = float {0.5}> () "
    "p = Constant <value = int64[8] {0, 0, 1, 2, 0, 0, 1, 1}> () "
)
POOL = "AveragePool <kernel_shape = [2, 2]> ({x})"
CHAINS = {
    "two activations": (CONV, "Relu ({x})", "Sigmoid ({x})"),
    "one activation": (CONV, "Relu ({x})", "Relu ({x})"),
    "between them": (CONV, "Relu ({x})", "Abs ({x})", "Sigmoid ({x})"),
    "sums": ("Add ({x}, h)", "Add ({x}, h)"),
    "sum and product": ("Add ({x}, h)", "Mul ({x}, h)"),
    "sums apart": ("Add ({x}, h)", "Relu ({x})", "Sub ({x}, h)"),
    "padded pool": ("Relu ({x})", "Pad ({x}, p)", POOL),
    "padded max pool": ("Pad ({x}, p)", "Identity ({x})", "MaxPool <kernel_shape = [2, 2]> ({x})"),
}


def model(
    chain: tuple[str, ...], part: tuple[int, int] | None, *, taken: str = "then"
) -> onnx.ModelProto:
    """The chain, the operators from the first to before the last of `part` in a branch."""
    first, last = part or (0, 0)
    lines, read = [STORED], "x"
    inner: list[str] = []
    for at, one in enumerate(chain):
        name = "y" if at == len(chain) - 1 else f"t{at}"
        inside = first <= at < last
        own = f"b{at}" if inside else name
        (inner if inside else lines).append(f"{own} = {one.format(x=read)}")
        read = own
        if inside and at == last - 1:
            bodies = {"then": "n = Neg (x)", "else": "n = Neg (x)"} | {taken: " ".join(inner)}
            results = {"then": "n", "else": "n"} | {taken: own}
            branches = ", ".join(
                f"{side}_branch = {side} () => (float[a,b,d,e] {results[side]}) "
                f"{{ {bodies[side]} }}"
                for side in ("then", "else")
            )
            lines.append(f"c = Constant <value = bool {{{int(taken == 'then')}}}> ()")
            lines.append(f"{name} = If (c) <{branches}>")
            read = name
    return text_model(
        " ".join(lines), inputs="float[1, 2, 8, 9] x", outputs="float[f, g, h0, i] y", opset=17
    )


def failing(built: onnx.ModelProto, target: str) -> set[str]:
    return {name for name, answer in answers(built, target).items() if answer.fails}


@pytest.mark.parametrize("target", ["onnxruntime", "webgpu", "webgpu-jsep", "tflite"])
@pytest.mark.parametrize("name", CHAINS)
def test_it_is_as_if_the_branch_stood_in_its_place(name: str, target: str) -> None:
    chain = CHAINS[name]
    wanted = failing(model(chain, None), target)
    for part in combinations(range(len(chain) + 1), 2):
        for taken in ("then", "else"):
            found = failing(model(chain, part, taken=taken), target)
            assert found == wanted, (part, taken, found, wanted)


def test_what_these_chains_show() -> None:
    shown = {
        (name, target)
        for name, chain in CHAINS.items()
        for target in ("webgpu", "webgpu-jsep", "tflite")
        if failing(model(chain, None), target)
    }
    assert {("two activations", "webgpu"), ("padded pool", "webgpu"), ("sums", "tflite")} <= shown


def test_the_branch_that_is_not_run_is_none_of_its_graphs() -> None:
    dead = "n = Add (x, h) m = Add (n, h)"
    branches = (
        f"then_branch = s () => (float[a,b,d,e] m) {{ {dead} }}, "
        "else_branch = f () => (float[a,b,d,e] o) { o = Abs (x) }"
    )
    for condition, wrong in (("1", True), ("0", False)):
        built = text_model(
            f"{STORED} c = Constant <value = bool {{{condition}}}> () y = If (c) <{branches}>",
            inputs="float[1, 2, 8, 9] x",
            outputs="float[f, g, h0, i] y",
            opset=17,
        )
        assert bool(failing(built, "tflite")) is wrong


def test_names_of_branches_may_be_those_of_others() -> None:
    """Both branches that run call their result r, and the first hands on what it reads."""
    one, two = (
        f"If (c) <then_branch = s{at} () => (float[a0,b,d,e] r) {{ r = {body} }}, "
        f"else_branch = t{at} () => (float[a0,b,d,e] n) {{ n = Neg (x) }}>"
        for at, body in enumerate((CONV.format(x="x"), "Relu (a)"))
    )
    built = text_model(
        f"{STORED} c = Constant <value = bool {{1}}> () a = {one} b0 = {two} y = Sigmoid (b0)",
        inputs="float[1, 2, 8, 9] x",
        outputs="float[f, g, h0, i] y",
        opset=17,
    )
    assert Answer.MISCOMPUTES in answers(built, "webgpu").values()
