"""Transposed convolutions with explicit pads: what each way of writing their crop comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onnxpad.errors import counted
from onnxpad.geometry.windows import Taps, transposed_output
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.expansion import Expansion
from onnxpad.padding.operators import AttributeValue, Kind
from onnxpad.rewriting.steps.composer import Composer
from onnxpad.rewriting.steps.kernels import require_kernel, require_weight, with_taps
from onnxpad.rewriting.steps.refusals import known, refuse, require


@dataclass(frozen=True, slots=True)
class Crop:
    """Cells that explicit pads crop, none negative, and those that output_padding adds."""

    pads: Pads
    extra: tuple[int, ...]

    @property
    def beyond(self) -> tuple[int, ...]:
        """What is cropped at each end, or added where it is below 0."""
        return tuple(end - more for end, more in zip(self.pads.ends, self.extra, strict=True))


def standard_crop(chain: Chain, *, grows: bool = False) -> Crop:
    """What a transposed convolution crops, with auto_pad and output_shape resolved.

    Cells that output_shape or a negative end pad asks for beyond the full output count as
    output_padding, which onnxruntime wants below the stride; with `grows` the kernel makes them.
    """
    require(chain.op.kind is Kind.TRANSPOSED, "no transposed convolution", moot=True)
    pads = known(effective_pads(chain))
    if min(pads.begins, default=0) < 0:
        refuse(f"begin pads of {list(pads.flat)} are negative: no attribute adds cells in front")
    extra = list(chain.output_padding or (0,) * chain.rank)
    for index, (axis, begin, end) in enumerate(chain.sides(pads)):
        if end < 0:
            extra[index] -= end
            if extra[index] >= axis.stride and not grows:
                cells = counted(extra[index], "cell")
                refuse(
                    f"the output ends {cells} beyond the full output; output_padding must stay "
                    f"below the stride {axis.stride}"
                )
        left = transposed_output(axis, begin, max(0, end), extra[index])
        if isinstance(left, int) and left < 1:
            refuse(f"its pads {begin},{end} leave nothing of axis {chain.first_axis + index}")
    return Crop(Pads(pads.begins, tuple(max(0, end) for end in pads.ends)), tuple(extra))


def require_axes(chain: Chain) -> None:
    """Leave alone what nothing may follow: an output_shape below the input's size.

    onnx's shape inference leaves off there and states a result of too few axes
    (convTransposeShapeInference in onnx/defs/nn/defs.cc); onnxruntime refuses what contradicts it.
    """
    for index, (axis, wanted) in enumerate(zip(chain.axes, chain.output_shape, strict=False)):
        if isinstance(axis.size, int) and wanted < axis.size:
            refuse(
                f"output_shape {list(chain.output_shape)} asks for less than the {axis.size} cells "
                f"of axis {chain.first_axis + index}: onnx then infers too few axes, and "
                "onnxruntime refuses a node behind",
                "--pass plain-transpose",
            )


def with_crop(chain: Chain, crop: Crop) -> Chain:
    """The chain with explicit pads and output_padding."""
    kept = any(crop.extra) or bool(chain.output_padding)
    extra = crop.extra if kept else ()
    return replace(chain.with_padding(crop.pads), output_shape=(), output_padding=extra)


def cropped(chain: Chain, done: Crop, wanted: Crop) -> Chain | Expansion:
    """The operator crops as `done` says, a Slice what is missing to `wanted`, whatever the size."""
    starts = [b - a for a, b in zip(done.pads.begins, wanted.pads.begins, strict=True)]
    ends = [b - a for a, b in zip(done.beyond, wanted.beyond, strict=True)]
    if not any((*starts, *ends)):
        return with_crop(chain, done)
    composer = Composer(chain.opset, chain.dtype)
    sets, gone = written(chain, done)
    whole = composer.itself(sets=sets, removes=gone)
    rest = Pads(tuple(starts), tuple(ends))
    return composer.finish(composer.cut(whole, rest, chain.first_axis))


def grown(chain: Chain, crop: Crop, taps: Sequence[Taps]) -> Chain | Expansion:
    """The operator with more taps, cropping as `crop` says."""
    fronts, backs = [one.front for one in taps], [one.back for one in taps]
    if not any((*fronts, *backs)):
        return with_crop(chain, crop)
    require_weight(chain)
    require_kernel(chain, fronts, backs)
    sets, gone = written(chain, crop)
    return with_taps(chain, fronts, backs, sets, removes=gone)


def written(chain: Chain, crop: Crop) -> tuple[dict[str, AttributeValue], tuple[str, ...]]:
    """Attributes to set on the node and to remove from it, so that it crops like that."""
    old = dict(chain.written.attributes)
    sets: dict[str, AttributeValue] = {}
    if any(crop.pads.flat) or "pads" in old:
        sets["pads"] = crop.pads.flat
    if any(crop.extra):
        sets["output_padding"] = crop.extra
    gone: list[str] = [
        name for name in ("output_shape", "output_padding") if name in old and name not in sets
    ]
    if old.get("auto_pad", "NOTSET") != "NOTSET":
        gone.append("auto_pad")
    return sets, tuple(gone)


def needs_words(chain: Chain) -> bool:
    """Whether the node says its crop in another way than by pads that crop."""
    if isinstance(chain.padding, Pads) and min(chain.padding.flat, default=0) < 0:
        return True
    return isinstance(chain.padding, AutoPad) or bool(chain.output_shape) or chain.conflict_settled
