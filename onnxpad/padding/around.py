"""What stands around a padded operator: facts about the graph, never verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from onnxpad.padding.expansion import Attributes
from onnxpad.padding.fills import Fill
from onnxpad.padding.operators import Destination

if TYPE_CHECKING:
    from onnxpad.padding.chain import Chain, PadStep, Shape


@dataclass(frozen=True, slots=True)
class Conversion:
    """A QuantizeLinear or DequantizeLinear: what it reads, and how it is written."""

    source: str
    dtype: str
    scale: str
    zero_point: str
    attributes: Attributes = ()
    domain: str = ""
    quantises: bool = False


@dataclass(frozen=True, slots=True)
class Dequantised:
    """The DequantizeLinear in front of an operator, as a place for new Pads.

    A Pad goes in front of `steps`, the conversions that stand before the operator: on the
    quantised tensor, where `zero` stands for 0 and `lowest` is the lowest value; or, where
    `zero` is None, in front of the QuantizeLinear as well. `refusal` says why no place is right.
    """

    steps: tuple[Conversion, ...] = ()
    zero: Fill | None = None
    lowest: int = 0
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class InFront:
    """A Pad in front of an operator, perhaps behind operators that hand on what they read.

    `pad` has its axes in the operator's order; `order` names for each of them the axis of the Pad,
    where Transposes between the two changed it. `untold` says that what stands between may change
    more. `readers` counts what reads the Pad or what hands it on, results of the graph included,
    and of several readers the most; those that are equal count once. `at_run_time` says that its
    pads hang on sizes that the file leaves open, `follows_transpose` that a Transpose stands in
    front of it, `copied_out` that its input has one other reader, an Identity that makes a result
    of the graph. `key` names the node.
    """

    pad: PadStep
    readers: int = 1
    order: tuple[int, ...] = ()
    untold: bool = False
    at_run_time: bool = False
    follows_transpose: bool = False
    copied_out: bool = False
    key: tuple[str, int] = field(default=("", 0), compare=False)


@dataclass(frozen=True, slots=True)
class Around:
    """The surroundings of one operator.

    `front` are the Pads in front, the nearest first, as far as operators between them hand on
    what they read; `weight_front` the same for the weight. `beside` are the operators that would
    still be behind the chain's Pad if this one read past it, `far_beside` behind its far Pad,
    each as it would be then. `copied_out` says that the operator's input has one other reader, an
    Identity that makes a result of the graph.

    `at_least` is a bound that no cell of the input of a max pool is below. `dequantised` tells of
    a DequantizeLinear that makes the input; `behind_quantised` that a quantised operator computes
    it. `producer` is, for averages, the tool that wrote the model.

    Of a Pad node, `behind` are the operators that read it, `reads_input` says that it reads an
    input of the model, `feeds_alone` what reads it; `key` names the node.
    """

    front: tuple[InFront, ...] = ()
    weight_front: tuple[InFront, ...] = ()
    beside: tuple[Chain, ...] = ()
    far_beside: tuple[Chain, ...] = ()
    copied_out: bool = False
    at_least: float | None = None
    dequantised: Dequantised | None = None
    behind_quantised: bool = False
    producer: str = ""
    behind: tuple[Chain, ...] = ()
    reads_input: bool = False
    feeds_alone: Destination | None = None
    key: tuple[str, int] = field(default=("", 0), compare=False)


NOTHING = Around()


class Surroundings(NamedTuple):
    """What the file says beside a chain, as the traps ask for it; the defaults say nothing.

    `auto_pad` and `pads` are as written in the file. `declared` is the output shape that the
    file states. `pad_reads` names a DequantizeLinear that makes the data of the Pad in front.
    """

    auto_pad: str = ""
    pads: tuple[int, ...] | None = None
    input_shape: Shape = None
    output_shape: Shape = None
    declared: Shape = None
    outputs: int = 1
    weight_of: str = ""
    pad_reads: str = ""
    computed_pads: str = ""
    overridable_pads: str = ""
