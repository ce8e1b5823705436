"""Ways of padding, each as a small model: the rows of the table of what works where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from onnxpad.model.assembled import Array, with_output_shapes
from onnxpad.model.opened import open_model
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import Chain
from onnxpad.probing.expected import expected
from onnxpad.reproducing.search import chains_of
from onnxpad.reproducing.specimens import Specimen, drafted
from onnxpad.rewriting.for_target.judge import Judge
from onnxpad.rewriting.for_target.verdicts import judged as judged_nodes
from onnxpad.runtimes.judge import Judgement
from onnxpad.runtimes.targets import Target

Words = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Way:
    """A way of padding: how people call it, and the model that is padded so."""

    title: str
    specimen: Specimen

    @property
    def name(self) -> str:
        """What files are called after it."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.casefold()).strip("-")

    @property
    def operator(self) -> str:
        """The operator that pads, or that a Pad stands in front of."""
        return self.specimen.operator

    @property
    def chains(self) -> tuple[Chain, ...]:
        """Its padded nodes, a Pad in front among them."""
        return chains_of(self.specimen)

    @property
    def chain(self) -> Chain:
        """The node that it is about."""
        return next(one for one in self.chains if one.op.title == self.operator)


class WayFile(NamedTuple):
    """The model file of a way, with arrays for its inputs and the outputs by the ONNX text."""

    model: bytes
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]


@cache
def file_of(way: Way) -> WayFile:
    """The model of a way as a file whose outputs declare their shapes, and its arrays."""
    model, inputs = drafted(way.specimen)
    outputs = expected(model, inputs).outputs
    whole = with_output_shapes(model, outputs)
    return WayFile(whole.SerializeToString(deterministic=True), inputs, outputs)


def judged(target: Target, way: Way) -> Judgement:
    """The worst verdict of `inspect --target` on the nodes of a way's model file."""
    verdicts = judged_nodes(_survey(way), Judge(target), lambda _: True)
    return max((judgement for _, _, judgement, _ in verdicts), key=lambda one: one.answer.rank)


@cache
def _survey(way: Way) -> Survey:
    model = open_model(file_of(way).model).model
    return Survey(model)


@cache
def ways() -> tuple[Way, ...]:
    """All, operator by operator."""
    return tuple(_ways())


_PADDED: tuple[tuple[str, Words], ...] = (
    ("symmetric pads", {"pads": (1, 1)}),
    ("asymmetric pads, more at the end", {"pads": (0, 1)}),
    ("asymmetric pads, more at the begin", {"pads": (1, 0)}),
    ("auto_pad SAME_UPPER", {"auto_pad": "SAME_UPPER"}),
    ("auto_pad SAME_UPPER with stride 2", {"auto_pad": "SAME_UPPER", "stride": 2, "size": 6}),
    ("auto_pad SAME_LOWER with stride 2", {"auto_pad": "SAME_LOWER", "stride": 2, "size": 6}),
    ("auto_pad VALID", {"auto_pad": "VALID"}),
    ("auto_pad SAME_UPPER, open sizes", {"auto_pad": "SAME_UPPER", "open": "sizes"}),
    ("1-D, symmetric pads", {"rank": 1, "pads": (1, 1)}),
    ("1-D, asymmetric pads, more at the end", {"rank": 1, "pads": (0, 1)}),
    ("1-D, auto_pad SAME_UPPER", {"rank": 1, "auto_pad": "SAME_UPPER", "stride": 2}),
    ("3-D, symmetric pads", {"rank": 3, "pads": (1, 1), "size": 4}),
    ("3-D, asymmetric pads, more at the end", {"rank": 3, "pads": (0, 1), "size": 4}),
    ("3-D, auto_pad SAME_UPPER", {"rank": 3, "auto_pad": "SAME_UPPER", "stride": 2, "size": 4}),
    ("asymmetric pads, more at the end, stride 2", {"pads": (0, 1), "stride": 2, "size": 6}),
)
_SPREAD: tuple[tuple[str, Words], ...] = (
    ("dilations and symmetric pads", {"dilation": 2, "pads": (2, 2)}),
    ("dilations and auto_pad SAME_UPPER", {"dilation": 2, "auto_pad": "SAME_UPPER"}),
)
_FRONTED: tuple[tuple[str, Words], ...] = (
    ("behind a Pad node that writes 0", {"front": "pad"}),
    ("behind a Pad node in mode reflect", {"front": "pad reflect"}),
)
_NARROW: tuple[tuple[str, Words], ...] = (
    (
        "auto_pad SAME_UPPER, kernel below the stride",
        {"auto_pad": "SAME_UPPER", "kernel": 1, "stride": 2, "size": 6},
    ),
)
_ROUNDED: tuple[tuple[str, Words], ...] = (
    ("ceil_mode", {"ceil_mode": True, "stride": 2, "pads": (0, 0), "size": 6}),
    ("ceil_mode and symmetric pads", {"ceil_mode": True, "stride": 2, "pads": (1, 1), "size": 6}),
    (
        "ceil_mode, last window in the padding",
        {"ceil_mode": True, "stride": 3, "kernel": 2, "pads": (1, 1)},
    ),
)
_BY_OPERATOR: tuple[tuple[str, tuple[tuple[str, Words], ...]], ...] = (
    (
        "Conv",
        (
            *_PADDED,
            *_SPREAD,
            *_NARROW,
            *_FRONTED,
            ("1x1 kernel with pads", {"kernel": 1, "pads": (1, 1)}),
            ("depthwise, symmetric pads", {"group": "each", "pads": (1, 1)}),
            ("depthwise, asymmetric pads, more at the end", {"group": "each", "pads": (0, 1)}),
        ),
    ),
    (
        "ConvTranspose",
        (
            *_PADDED,
            *_NARROW,
            ("dilations and symmetric pads", {"dilation": 2, "pads": (2, 2)}),
            ("output_padding", {"output_padding": 1, "stride": 2, "pads": (1, 1)}),
            ("output_shape, even crop", {"output_shape": "even"}),
            ("output_shape, odd crop", {"output_shape": "odd"}),
            ("groups, symmetric pads", {"group": "2", "pads": (1, 1)}),
        ),
    ),
    (
        "MaxPool",
        (
            *_PADDED,
            *_SPREAD,
            *_NARROW,
            *_ROUNDED,
            *_FRONTED,
            ("Indices", {"indices": True, "pads": (1, 1)}),
        ),
    ),
    (
        "AveragePool",
        (
            *_PADDED,
            *_ROUNDED,
            ("dilations and symmetric pads", {"dilation": 2, "pads": (1, 1), "opset": 19}),
            *_NARROW,
            *_FRONTED,
            ("count_include_pad", {"count_include_pad": True, "pads": (1, 1)}),
            (
                "count_include_pad, asymmetric pads, more at the end",
                {"count_include_pad": True, "pads": (0, 1)},
            ),
            (
                "count_include_pad and ceil_mode",
                {
                    "count_include_pad": True,
                    "ceil_mode": True,
                    "stride": 2,
                    "size": 6,
                    "pads": (1, 1),
                },
            ),
        ),
    ),
    ("LpPool", (*_PADDED[:5], *_PADDED[8:9], *_PADDED[11:12])),
    ("QLinearConv", (*_PADDED[:5], *_PADDED[8:9])),
    ("ConvInteger", (*_PADDED[:5], *_PADDED[8:9])),
    (
        "Pad",
        (
            ("constant 0", {}),
            ("mode not written", {"mode_written": False}),
            ("constant 1", {"value": 1}),
            ("minus infinity", {"value": float("-inf")}),
            ("asymmetric, more at the end", {"pads": (0, 1)}),
            ("mode reflect", {"mode": "reflect"}),
            ("mode edge", {"mode": "edge"}),
            ("mode wrap", {"mode": "wrap", "opset": 19}),
            ("negative pads", {"pads": (-1, -1)}),
            ("negative and positive pads", {"pads": (-1, 1)}),
            ("input axes", {"axes": True, "opset": 18}),
            ("computed pads", {"computed": True}),
            ("of the batch", {"padded": "batch"}),
            ("of the channels", {"padded": "channels"}),
            ("of all axes", {"padded": "all"}),
            ("of 3 axes", {"rank": 1}),
            ("of 5 axes", {"rank": 3, "size": 4}),
            ("of int8", {"dtype": "int8"}),
            ("of uint8", {"dtype": "uint8"}),
            ("opset 10, pads an attribute", {"opset": 10}),
        ),
    ),
)


def _ways() -> Iterator[Way]:
    for operator, titled in _BY_OPERATOR:
        yield from _of(operator, titled)


def _of(operator: str, titled: Iterable[tuple[str, Words]]) -> Iterator[Way]:
    for title, words in titled:
        start = "Pad " if operator == "Pad" else f"{operator}, "
        yield Way(start + title, Specimen(operator).varied(**words))
