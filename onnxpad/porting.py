"""`port`: every padded operator, ready to be written in a framework, with the same weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from onnxpad import processes
from onnxpad.errors import RequestError
from onnxpad.frameworks.steps import pad
from onnxpad.model.opened import ModelLike, open_model
from onnxpad.model.reading.survey import Site, Survey, selection
from onnxpad.padding.chain import Chain, Pads, Preference, Preferences, Skip, is_same
from onnxpad.padding.effective_pads import effective_pads, sizes_to_give
from onnxpad.padding.expansion import Step
from onnxpad.padding.fills import number_of
from onnxpad.padding.operators import Kind
from onnxpad.reports import Report, reported
from onnxpad.resolving import Resolution, resolve, step_record
from onnxpad.verbs import verb

_ROOM = 16
"""Strides of a size that stands for all with its remainder: SAME is what it is from there on."""
_OPS = {
    "Conv": "conv",
    "ConvTranspose": "conv_transpose",
    "MaxPool": "max_pool",
    "AveragePool": "avg_pool",
}


@reported("node", "op", "weight", "bias", "pad", "layer", "reason", "hints as try")
@dataclass(frozen=True)
class PortedNode:
    """One operator as a layer of ONNX with explicit pads, or a Pad.

    `layers` is the layer at its size; where its sizes are open, at sizes with every remainder that
    its strides can leave, so that what is the same for all holds for any. `weight` and `bias` are
    tensors of the model, '' where it has none. `step` is that of a Pad. `reason` says why
    neither was worked out; `hints` are what to try then, and where the sizes matter.
    """

    node: str
    op: str
    weight: str = ""
    bias: str = ""
    layers: tuple[Resolution, ...] = ()
    step: Step | None = None
    reason: str = ""
    hints: tuple[str, ...] = ()

    @property
    def layer(self) -> dict[str, object] | None:
        """The first of `layers` as plain data, without its sizes."""
        if not self.layers:
            return None
        first = self.layers[0]
        return {"op": first.op, **first.given}

    @property
    def pad(self) -> dict[str, object] | None:
        """The Pad as plain data."""
        return None if self.step is None else step_record(self.step)


@reported("assumed", "nodes")
@dataclass(frozen=True, eq=False, repr=False)
class Porting(Report):
    """Every operator that pads, in graph order, ready to be written in a framework.

    `assumed` are the sizes that the user stated.
    """

    nodes: tuple[PortedNode, ...]
    assumed: Mapping[str, int | str]

    schema = 1

    @property
    def complete(self) -> bool:
        """Whether all of them were worked out."""
        return not any(node.reason for node in self.nodes)


@verb()
def port(  # noqa: PLR0913 - each option is one word of the command line
    model: ModelLike,
    *,
    dims: Mapping[str, int | str] | None = None,
    nodes: str | Sequence[str] | None = None,
    ambiguous: Preference = None,
    everything: bool = False,
    timeout: float | None = None,
    memory: int | str | None = None,
) -> Porting:
    """Work out every operator of a model that pads, as `resolve` does one layer.

    `everything` takes operators that can pad and do not as well. `dims`, `nodes` and `ambiguous`
    are as for `inspect`, and so are the limits and errors.
    """
    with processes.limited(timeout, memory):
        opened = open_model(model)
        reading = Preferences(ambiguous)
        survey = Survey(opened.model, dims=dims, folder=opened.folder, prefer=reading)
        selected = selection(survey, nodes)
        found = (
            one
            for site in survey.sites_now()
            if selected(site.address)
            if (one := _ported(site)) is not None and (everything or _pads(one))
        )
        return Porting(tuple(found), dict(dims or {}))


def _pads(node: PortedNode) -> bool:
    padded = any(any(layer.pads) for layer in node.layers)
    return padded or node.step is not None or bool(node.reason)


def _ported(site: Site) -> PortedNode | None:
    chain = site.chain
    node = PortedNode(site.address.label, chain.op.title)
    result = _padded(chain) if chain.op.kind is Kind.PAD else _layers(chain)
    if isinstance(result, Skip):
        return replace(node, reason=result.reason, hints=result.hints)
    if result is None or isinstance(result, Step):
        return replace(node, step=result) if result else None
    weight, bias = ("", "") if chain.op.is_pool else (*site.node.inputs, "", "")[1:3]
    hints = sizes_to_give("", chain.axes).hints
    return replace(node, layers=result, weight=weight, bias=bias, hints=hints)


def _padded(chain: Chain) -> Step | Skip | None:
    """A Pad over spatial axes; a Skip where it cannot be written so, None where it pads nothing."""
    step = chain.pad
    if step is None or step.unclear:
        return step.unclear.as_skip() if step and step.unclear else None
    pads = step.pads
    if not any(pads.flat):
        return None
    if len(pads.begins) < 3 or {*pads.begins[:2], *pads.ends[:2]} != {0}:
        return Skip("it pads other axes than those behind batch and channels: port it by hand")
    value = number_of(step.fill)
    if value is None and step.mode == "constant":
        return Skip(f"its padding holds {step.fill}, which is not known before a run")
    return pad(Pads(pads.begins[2:], pads.ends[2:]), step.mode, float(value or 0.0))


def _layers(chain: Chain) -> tuple[Resolution, ...] | Skip:
    kind = _OPS.get(chain.op.name) if not chain.op.domain else None
    if kind is None:
        return Skip(f"{chain.op.title} is no layer that is worked out here: port it by hand")
    pads, weight, channels = effective_pads(chain), None, 1
    words: dict[str, object] = {
        "kernel_shape": [axis.kernel for axis in chain.axes],
        "strides": [axis.stride for axis in chain.axes],
        "dilations": [axis.dilation for axis in chain.axes],
    }
    if isinstance(pads, Pads):
        words["pads"] = list(pads.flat)
    elif is_same(chain.padding) and chain.op.kind is not Kind.TRANSPOSED:
        words["auto_pad"] = str(chain.padding)
    else:
        return pads
    if chain.op.is_pool:
        words["ceil_mode"] = int(chain.ceil_mode)
    else:
        words["group"] = chain.attribute("group", 1)
        weight, channels = _weight_and_channels(chain)
    if chain.op.kind is Kind.AVERAGE:
        words["count_include_pad"] = int(chain.counts_padding)
    if any(chain.output_padding):
        words["output_padding"] = list(chain.output_padding)
    try:
        return tuple(
            resolve("onnx", kind, input_shape=(1, channels, *s), weight_shape=weight, **words)
            for s in _sizes(chain)
        )
    except RequestError as error:
        return Skip(str(error))


def _weight_and_channels(chain: Chain) -> tuple[tuple[int | None, ...], int]:
    """The shape of the weight as far as it is known, and the channels of the input."""
    group = chain.attribute("group", 1)
    groups = group if isinstance(group, int) else 1
    shape = tuple(size if isinstance(size, int) else None for size in chain.weight.shape or ())
    is_transposed = chain.op.kind is Kind.TRANSPOSED
    channels = shape[0 if is_transposed else 1] if len(shape) == chain.tensor_rank else None
    if channels is None:
        return (None, None, *(axis.kernel for axis in chain.axes)), groups
    return shape, channels if is_transposed else channels * groups


def _sizes(chain: Chain) -> Iterator[tuple[int, ...]]:
    """Its sizes; where some are open, sizes with every remainder of its strides."""
    strides = [axis.stride for axis in chain.axes if not isinstance(axis.size, int)]
    for rest in range(max(strides, default=1)):
        yield tuple(
            axis.size if isinstance(axis.size, int) else axis.stride * (_ROOM + axis.span) + rest
            for axis in chain.axes
        )
