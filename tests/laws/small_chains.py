"""Every small one-axis chain, for laws that hold for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from onnxpad.geometry.size import Size, Symbol
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import AutoPad, Chain, Padding, Pads, PadStep
from onnxpad.padding.fills import Constant, Fill, Implicit, TensorValue
from onnxpad.padding.operators import operator


@dataclass(frozen=True)
class Flavour:
    """An operator with all that is not geometry; `fits` is what a Pad in front should write."""

    name: str
    fill: Fill
    fits: Fill
    dtype: str = "float32"
    domain: str = ""
    ceil: bool = False
    opset: int = 22

    def chain(self, axis: Axis, padding: Padding, pad: PadStep | None = None) -> Chain:
        """The chain of this operator; `axis` has the size behind the Pad."""
        op = operator(self.domain, self.name)
        assert op is not None, self.name
        return Chain(
            op,
            self.opset,
            (axis,),
            padding,
            self.fill,
            self.dtype,
            ceil_mode=self.ceil,
            pad=pad,
        )


ZERO, LOWEST, NOTHING = Constant(0), Implicit.LOWEST, Implicit.NOTHING
CORE = {
    "Conv": Flavour("Conv", ZERO, ZERO),
    "MaxPool": Flavour("MaxPool", LOWEST, Constant(-math.inf)),
    "MaxPool ceil": Flavour("MaxPool", LOWEST, Constant(-math.inf), ceil=True),
    "AveragePool": Flavour("AveragePool", NOTHING, ZERO),
    "AveragePool ceil": Flavour("AveragePool", NOTHING, ZERO, ceil=True),
    "AveragePool counting": Flavour("AveragePool", ZERO, ZERO),
    "AveragePool counting ceil": Flavour("AveragePool", ZERO, ZERO, ceil=True),
    "LpPool": Flavour("LpPool", ZERO, ZERO),
    "LpPool ceil": Flavour("LpPool", ZERO, ZERO, ceil=True),
}
FLAVOURS = CORE | {
    "ConvInteger": Flavour("ConvInteger", TensorValue("zero", 7), Constant(7), "uint8"),
    "ConvInteger, zero point an input": Flavour(
        "ConvInteger", TensorValue("zero"), TensorValue("zero"), "uint8"
    ),
    "QLinearConv": Flavour(
        "QLinearConv", TensorValue("zero", 117), TensorValue("zero", 117), "uint8"
    ),
    "QLinearConv before Pad had inputs": Flavour(
        "QLinearConv", TensorValue("zero", 117), Constant(117.0), "uint8", opset=10
    ),
    "MaxPool int8": Flavour("MaxPool", LOWEST, Constant(-128), "int8", ceil=True),
    "MaxPool uint8": Flavour("MaxPool", LOWEST, ZERO, "uint8"),
}
OTHER_FILLS: tuple[Fill, ...] = (
    ZERO,
    Constant(5),
    Constant(-math.inf),
    TensorValue("seven", 7),
    TensorValue("another"),
)

SIDES = tuple(product(range(5), repeat=2))
PADDINGS: tuple[Padding, ...] = (*AutoPad, *(Pads((begin,), (end,)) for begin, end in SIDES))
SIZES = range(1, 13)


def windows() -> Iterator[tuple[int, int, int]]:
    """(kernel, stride, dilation)."""
    return product(range(1, 6), range(1, 5), range(1, 4))


def in_front(begin: int, end: int, fill: Fill) -> PadStep:
    """A Pad over batch, channel and one spatial axis."""
    return PadStep(Pads((0, 0, begin), (0, 0, end)), fill)


def unpadded(flavour: Flavour) -> Iterator[Chain]:
    """Every chain without a Pad in front."""
    for (kernel, stride, dilation), size in product(windows(), SIZES):
        axis = Axis(size, kernel, stride, dilation)
        for padding in PADDINGS:
            yield flavour.chain(axis, padding)


def padded(
    flavour: Flavour, every: int = 1, fills: Sequence[Fill] | None = None, turn: int = 0
) -> Iterator[Chain]:
    """Chains behind a Pad; of the 25 Pads that each could have, each `every`-th, another each time.

    Every size and every padding of `unpadded` comes with every window; `fills` take turns. Another
    first `turn` gives other Pads.
    """
    written = fills or [flavour.fits]
    for (kernel, stride, dilation), size in product(windows(), SIZES):
        for padding in PADDINGS:
            turn += 1
            for begin, end in SIDES[turn % every :: every]:
                axis = Axis(size + begin + end, kernel, stride, dilation)
                fill = written[turn % len(written)]
                yield flavour.chain(axis, padding, in_front(begin, end, fill))


def transposed() -> Iterator[Chain]:
    """Transposed convolutions, each with another output_padding or output_shape."""
    plain = Flavour("ConvTranspose", ZERO, ZERO)
    turn = 0
    for (kernel, stride, dilation), size in product(windows(), SIZES):
        full = (size - 1) * stride + dilation * (kernel - 1) + 1
        for padding in PADDINGS:
            turn += 1
            chain = plain.chain(Axis(size, kernel, stride, dilation), padding)
            yield chain
            yield replace(chain, output_padding=(turn % stride,))
            # From two cells less than everything to one more than output_padding can add.
            wanted = full - 2 + turn % (stride + 3)
            if wanted > 0:
                yield replace(chain, output_shape=(wanted,))
                yield replace(chain, output_shape=(wanted,), output_padding=(turn % stride,))


def lone_pads() -> Iterator[Chain]:
    """Pad nodes by themselves, of every mode and in every way to write them."""
    op = operator("", "Pad")
    assert op is not None
    fills: tuple[Fill, ...] = (ZERO, Constant(5), TensorValue("c"))
    for mode, sides in product(("constant", "reflect", "edge", "wrap"), (*SIDES, (-1, 2), (0, -2))):
        for turn, fill in enumerate(fills):
            pads = Pads((0, turn, sides[0]), (0, 0, sides[1]))
            computed, listed = (1,) * (turn == 2), (3,) * (turn == 1)
            step = PadStep(pads, fill, mode, computed=computed, listed=listed)
            inputs = (True, True, turn > 0, turn == 1)
            yield Chain(
                op, 18, (), Pads((), ()), fill, "float32", pad=step, shape=(1, 2, 6), inputs=inputs
            )


def unknown_sizes() -> Iterator[Size | None]:
    """Sizes that are no number, with all that may be known of them."""
    yield None
    for modulus in (1, 2, 3, 4, 6, 8):
        for residue in range(modulus):
            yield Symbol("H", modulus, residue, root="H")


def admitted(size: Size | None, limit: int) -> list[int]:
    """The numbers up to `limit` that an unknown size may be."""
    if isinstance(size, int):
        return [size]
    modulus, residue, minimum = (
        (1, 0, 1) if size is None else (size.modulus, size.residue, size.minimum)
    )
    return [n for n in range(minimum, limit + 1) if n % modulus == residue]
