"""python -m tests.proof.refolded: what validate says of honest rewrites that move roundings.

Small random networks, and the same ones as an optimiser writes them: batch normalisations, scales
and shifts folded into weights, channels equalised between two layers, constants reassociated. All
is computed in float64 and rounded to float32 once. None of them may be called different.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.random import Generator
from numpy.typing import NDArray
from onnx import numpy_helper

import onnxpad
from tests.proof.mutants import CLAIMS
from tests.proof.small_models import text

Array = NDArray[Any]
Pair = tuple[onnx.ModelProto, onnx.ModelProto]
_OPEN = "float[N,{0},H,W] x"


def model(body: str, given: str, constants: Mapping[str, Array]) -> onnx.ModelProto:
    """A graph from x to y as text, with its constants rounded to float32."""
    made = text(f"g ({given}) => (float[a,b,c,d] y) {{ {body} }}", opset=15)
    for name, value in constants.items():
        kind = np.int64 if np.asarray(value).dtype.kind == "i" else np.float32
        made.graph.initializer.append(numpy_helper.from_array(np.asarray(value, kind), name))
    if "MatMul" in body or "Gemm" in body:
        del made.graph.output[0].type.tensor_type.shape.dim[2:]
    return made


class Drawn:
    """Weights and statistics of layers as float32 numbers, kept as float64."""

    def __init__(self, rng: Generator) -> None:
        self.rng = rng
        self.channels, self.out = (int(rng.integers(1, 9)) for _ in range(2))
        self.kernel = int(rng.choice([1, 2, 3]))
        self.placed = f"pads = [{', '.join(str(one) for one in rng.integers(0, 2, 4))}]"
        self.placed += f", strides = [{rng.integers(1, 3)}, {rng.integers(1, 3)}]"

    def numbers(self, *shape: int, low: float = 0.0) -> Array:
        """Of several magnitudes from channel to channel; positive from `low` on, if that is."""
        scale = 10.0 ** self.rng.uniform(-2, 2, (*shape[:1], *[1] * (len(shape) - 1)))
        drawn = self.rng.standard_normal(shape) * scale
        drawn = np.abs(drawn) + low if low else drawn
        return drawn.astype(np.float32).astype(np.float64)

    def weight(self, out: int, channels: int) -> Array:
        return self.numbers(out, channels, self.kernel, self.kernel)

    def normal(self, count: int) -> tuple[Array, Array, Array, Array]:
        """Scale, shift, mean and variance of a batch normalisation."""
        scale, shift, mean = (self.numbers(count) for _ in range(3))
        return scale, shift, mean, self.numbers(count, low=1e-3)


def _linear(normal: Sequence[Array]) -> tuple[Array, Array]:
    """Factor and addend of a batch normalisation."""
    scale, shift, mean, variance = normal
    factor = scale / np.sqrt(variance + np.float64(np.float32(1e-5)))
    return factor, shift - mean * factor


def _per_output(factor: Array) -> Array:
    return factor.reshape(-1, 1, 1, 1)


def normalised(d: Drawn) -> Pair:
    """A batch normalisation behind a Conv goes into its weights."""
    w, b, normal = d.weight(d.out, d.channels), d.numbers(d.out), d.normal(d.out)
    factor, addend = _linear(normal)
    held = dict(zip("sbmv", normal, strict=True)) | {"w": w, "c": b}
    before = f"t = Conv<{d.placed}>(x, w, c)\n u = BatchNormalization(t, s, b, m, v)\n y = Relu(u)"
    after = f"t = Conv<{d.placed}>(x, w, c)\n y = Relu(t)"
    folded = {"w": w * _per_output(factor), "c": b * factor + addend}
    given = _OPEN.format(d.channels)
    return model(before, given, held), model(after, given, folded)


def scaled(d: Drawn) -> Pair:
    """A Mul and an Add behind a Conv go into its weights."""
    w, factor, addend = d.weight(d.out, d.channels), d.numbers(d.out), d.numbers(d.out)
    held = {"w": w, "f": factor.reshape(1, -1, 1, 1), "a": addend.reshape(1, -1, 1, 1)}
    before = f"t = Conv<{d.placed}>(x, w)\n u = Mul(t, f)\n y = Add(u, a)"
    after = f"y = Conv<{d.placed}>(x, w, c)"
    given = _OPEN.format(d.channels)
    return model(before, given, held), model(
        after, given, {"w": w * _per_output(factor), "c": addend}
    )


def shifted(d: Drawn) -> Pair:
    """A mean and a deviation that the input is freed of go into a Conv that does not pad."""
    w, mean, by = d.weight(d.out, d.channels), d.numbers(d.channels), d.numbers(d.channels, low=0.1)
    shape = (1, -1, 1, 1)
    held = {"w": w, "m": mean.reshape(shape), "d": by.reshape(shape)}
    inner = w / by.reshape(shape)
    folded = {"w": inner, "c": -(inner * mean.reshape(shape)).sum((1, 2, 3))}
    given = _OPEN.format(d.channels)
    before = model("t = Sub(x, m)\n u = Div(t, d)\n y = Conv(u, w)", given, held)
    return before, model("y = Conv(x, w, c)", given, folded)


def equalised(d: Drawn) -> Pair:
    """Two layers share their scales anew: Relu(f x) = f Relu(x) for f > 0."""
    w, b, v = d.weight(d.out, d.channels), d.numbers(d.out), d.weight(3, d.out)
    factor = d.numbers(d.out, low=0.01)
    body = f"t = Conv<{d.placed}>(x, w, c)\n r = Relu(t)\n y = Conv<pads = [1, 1, 1, 1]>(r, v)"
    given = _OPEN.format(d.channels)
    moved = {"w": w * _per_output(factor), "c": b * factor, "v": v / factor.reshape(1, -1, 1, 1)}
    return model(body, given, {"w": w, "c": b, "v": v}), model(body, given, moved)


def averaged(d: Drawn) -> Pair:
    """An average that counts its padding as a depthwise Conv."""
    k = d.kernel + 1
    body = f"y = AveragePool<kernel_shape = [{k}, {k}], {d.placed}, count_include_pad = 1>(x)"
    after = f"y = Conv<{d.placed}, group = {d.channels}>(x, w)"
    given = _OPEN.format(d.channels)
    weight = np.full((d.channels, 1, k, k), 1 / k**2)
    return model(body, given, {}), model(after, given, {"w": weight})


def reassociated(d: Drawn) -> Pair:
    """Factors and addends of one another, taken together."""
    a, b, c, e = (d.numbers(d.channels, 1, 1) for _ in range(4))
    held = {"f": a, "g": b, "h": c, "k": e}
    body = "t = Mul(x, f)\n u = Mul(t, g)\n v = Add(u, h)\n y = Add(v, k)"
    given = _OPEN.format(d.channels)
    after = model("t = Mul(x, f)\n y = Add(t, h)", given, {"f": a * b, "h": c + e})
    return model(body, given, held), after


def divided(d: Drawn) -> Pair:
    """A division as a product, between two pools."""
    by = d.numbers(d.channels, 1, 1, low=0.01)
    pool = f"MaxPool<kernel_shape = [2, 2], {d.placed}>"
    given = _OPEN.format(d.channels)
    before = model(f"t = {pool}(x)\n u = Div(t, f)\n y = Tanh(u)", given, {"f": by})
    return before, model(f"t = {pool}(x)\n u = Mul(t, f)\n y = Tanh(u)", given, {"f": 1 / by})


def multiplied(d: Drawn) -> Pair:
    """Two products of matrices as one, with their additions."""
    inner, k = int(d.rng.integers(2, 9)), d.channels + 1
    a, b = d.numbers(k, inner), d.numbers(inner, d.out)
    c, e = d.numbers(inner), d.numbers(d.out)
    body = "t = MatMul(x, a)\n u = Add(t, c)\n v = MatMul(u, b)\n y = Add(v, e)"
    before = model(body, f"float[N,{k}] x", {"a": a, "b": b, "c": c, "e": e})
    held = {"a": a @ b, "c": c @ b + e}
    return before, model("y = Gemm(x, a, c)", f"float[N,{k}] x", held)


def twice_normalised(d: Drawn) -> Pair:
    """Two batch normalisations as a Mul and an Add."""
    first, second = d.normal(d.channels), d.normal(d.channels)
    held = dict(zip("abcd", first, strict=True)) | dict(zip("efgh", second, strict=True))
    body = "t = BatchNormalization(x, a, b, c, d)\n y = BatchNormalization(t, e, f, g, h)"
    (f, a), (g, b) = _linear(first), _linear(second)
    shape = (1, -1, 1, 1)
    folded = {"f": (f * g).reshape(shape), "a": (a * g + b).reshape(shape)}
    given = _OPEN.format(d.channels)
    return model(body, given, held), model("t = Mul(x, f)\n y = Add(t, a)", given, folded)


KINDS: tuple[Callable[[Drawn], Pair], ...] = (
    normalised,
    scaled,
    shifted,
    equalised,
    averaged,
    reassociated,
    divided,
    multiplied,
    twice_normalised,
)


def pair(number: int, seed: int) -> tuple[str, Pair]:
    """An honest rewrite, the kinds in turn."""
    kind = KINDS[number % len(KINDS)]
    return kind.__name__, kind(Drawn(np.random.default_rng([seed, number])))


def main() -> None:
    """Parse the command line, judge, print; exit with 1 where one is called different."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.refolded", description=__doc__)
    parser.add_argument("--count", type=int, default=90)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(options.count):
        name, (before, after) = pair(number, options.seed)
        found = onnxpad.validate(before, after)
        counts[name, found.verdict.value] += 1
        if found.verdict.value not in CLAIMS:
            sys.stdout.write(f"{found.verdict.value} {name} {number}: {found.reason}\n")
            sys.stdout.flush()
    for what, count in sorted(counts.items()):
        sys.stdout.write(f"{count:>6}  {' '.join(what)}\n")
    sys.exit(1 if any(verdict == "different" for _, verdict in counts) else 0)


if __name__ == "__main__":
    main()
