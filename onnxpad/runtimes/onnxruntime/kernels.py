"""What onnxruntime's loader and CPU kernels refuse or compute in their own way, fusion aside.

Each fact stands here once: the traps take their sentences from here, the target `onnxruntime` its
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from onnxpad.geometry.size import residues
from onnxpad.geometry.windows import Axis
from onnxpad.padding.chain import AutoPad, Chain, Pads
from onnxpad.padding.effective_pads import effective_pads, output_sizes, short_axis
from onnxpad.padding.forms import reaches_kernel
from onnxpad.padding.operators import OPERATORS, Kind
from onnxpad.runtimes.conditions.rows import Condition, Evidence, Row, miscomputes, refuses

_SAME = (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
_AVERAGE_SHIFTS_SINCE = 19
_OTHER_FLOATS = frozenset({"float64", "bfloat16"})
_NO_KERNEL = {
    Kind.CONVOLUTION: _OTHER_FLOATS,
    Kind.TRANSPOSED: _OTHER_FLOATS,
    Kind.AVERAGE: _OTHER_FLOATS,
    Kind.LP: _OTHER_FLOATS,
    Kind.MAX: frozenset({"bfloat16"}),
    Kind.PAD: frozenset({"bfloat16", "int16", "uint16"}),
}
_NO_KERNEL_BEFORE = {"AveragePool": 7, "LpPool": 2, "Pad": 2}

Predicate = Callable[[Chain], str | None]


def auto_pad_with_pads(chain: Chain) -> str | None:
    """auto_pad and pads are both written: convolutions are refused, pools follow auto_pad."""
    auto_pad, pads = chain.attribute("auto_pad", ""), chain.attribute("pads", ())
    if not isinstance(pads, tuple) or not chain.op.auto_pad:
        return None
    if auto_pad in ("", "NOTSET") or "pads" not in dict(chain.attributes):
        return None
    both = f"auto_pad={auto_pad} and pads={[int(pad) for pad in pads]} are both written"
    if chain.op.is_pool:
        return f"{both}: onnxruntime follows auto_pad here, onnx's shape inference follows pads"
    return f"{both}: onnxruntime refuses to load it, onnx's shape inference follows pads"


def same_with_dilation(chain: Chain) -> str | None:
    """SAME with a dilation: convolutions are refused, pools leave the dilation out."""
    if chain.padding not in _SAME or chain.trouble:
        return None
    if chain.op.kind is Kind.CONVOLUTION and any(axis.dilation != 1 for axis in chain.axes):
        return f"onnxruntime refuses to run {chain.padding} together with dilations"
    if chain.op.is_pool and any(axis.span != axis.kernel for axis in chain.axes):
        return (
            f"onnxruntime's pools leave the dilation out of {chain.padding}: other pads and output "
            "sizes than in the ONNX text"
        )
    return None


def same_with_short_kernel(chain: Chain) -> str | None:
    """SAME with a kernel shorter than the stride, where onnxruntime counts a negative padding."""
    if not (_same_is_refused(chain) or _same_shifts(chain)):
        return None
    does = "refuses to run the pool" if _same_is_refused(chain) else "shifts the windows"
    known = all(isinstance(axis.size, int) for axis in chain.axes)
    where = "" if known else " for some sizes"
    return f"the kernel is shorter than the stride: with {chain.padding} onnxruntime {does}{where}"


def pads_reach_kernel(chain: Chain) -> str | None:
    """A pad of a pool is as wide as its kernel, as written, or wider."""
    if not chain.op.is_pool or not isinstance(chain.padding, Pads):
        return None
    if not reaches_kernel(chain, chain.padding):
        return None
    return (
        f"pads={list(chain.padding.flat)} reach the kernel {[a.kernel for a in chain.axes]}: "
        "onnxruntime refuses to load such a pool"
    )


def negative_pads(chain: Chain) -> str | None:
    """The pads attribute holds a negative number."""
    if chain.op.kind is Kind.PAD or not isinstance(chain.padding, Pads):
        return None
    if min(chain.padding.flat, default=0) >= 0:
        return None
    return f"pads={list(chain.padding.flat)} are negative: onnxruntime refuses to load it"


def input_shorter_than_window(chain: Chain) -> str | None:
    """The padded input is shorter than one window."""
    if chain.op.kind in (Kind.PAD, Kind.TRANSPOSED, Kind.FOLD, Kind.OTHER):
        return None
    pads = effective_pads(chain)
    short = short_axis(replace(chain, ceil_mode=False), pads) if isinstance(pads, Pads) else None
    if short is None or not isinstance(pads, Pads):
        return None
    return f"{short.reason}: {_what_happens(chain, pads)}"


def quantised_average_overhang(chain: Chain) -> str | None:
    """A window of QLinearAveragePool that counts padding hangs over: its divisor is too large."""
    counts = chain.op.quantised and chain.op.kind is Kind.AVERAGE and chain.counts_padding
    if not counts or not chain.ceil_mode:
        return None
    pads, windows = effective_pads(chain), output_sizes(chain)
    if not isinstance(pads, Pads) or isinstance(chain.padding, AutoPad):
        return None
    sides = list(zip(chain.axes, windows, pads.begins, pads.ends, strict=True))
    known = all(isinstance(axis.size, int) and isinstance(count, int) for axis, count, *_ in sides)
    if known and not any(_hangs_over(*side) for side in sides):
        return None
    return (
        "ceil_mode with count_include_pad: onnxruntime divides windows that hang over by the "
        f"whole kernel{'' if known else ', if there are any'}"
    )


def output_padding_beyond_stride(chain: Chain) -> str | None:
    """output_padding of a ConvTranspose is not smaller than the stride."""
    pairs = zip(chain.axes, chain.output_padding, strict=False)
    if chain.op.kind is not Kind.TRANSPOSED or all(more < axis.stride for axis, more in pairs):
        return None
    return (
        f"output_padding={list(chain.output_padding)} is not smaller than the stride: onnxruntime "
        "fails when it runs"
    )


def reflect_beyond_input(chain: Chain) -> str | None:
    """A Pad mirrors more cells than the input has beside its border."""
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None or step.mode != "reflect" or step.unclear:
        return None
    sides = zip(chain.shape or (), step.pads.begins, step.pads.ends, strict=False)
    if not any(
        isinstance(size, int) and max(begin, end) >= size + min(begin, end, 0)
        for size, begin, end in sides
    ):
        return None
    return "the Pad mirrors more cells than the input has: onnxruntime fails when it runs"


def no_cpu_kernel(chain: Chain) -> str | None:
    """There is no CPU kernel for the operator with this element type or opset."""
    name, kind = chain.op.name, chain.op.kind
    if chain.op.domain == "" and chain.opset < _NO_KERNEL_BEFORE.get(name, 0):
        return f"onnxruntime has no kernel for {name} of opset {chain.opset}"
    if name == "DeformConv" and chain.dtype == "float64":
        return None
    if kind is Kind.PAD and chain.op.domain:
        return None
    if not chain.op.quantised and chain.dtype in _NO_KERNEL.get(kind, ()):
        return f"onnxruntime has no CPU kernel for {chain.op.title} in {chain.dtype}"
    return None


def kernel_rows(by: Callable[[str], Evidence]) -> tuple[Row, ...]:
    """Rows of the target `onnxruntime`; `by` makes evidence of a family of models."""
    reflect = _where("it mirrors more cells than the input has")(reflect_beyond_input)
    missing = _where("there is no kernel for this element type or opset")(no_cpu_kernel)
    every_title = tuple(dict.fromkeys(op.title for op in OPERATORS.values()))
    negative = _where("pads holds a negative number")(negative_pads)
    return (
        *_same_rows(by),
        *_size_rows(by),
        refuses(every_title, negative, by=by("negative pads attributes")),
        refuses(_titles(Kind.PAD), reflect, by=by("Pad in mode reflect")),
        refuses(every_title, missing, by=by("one node per element type and opset")),
    )


def _same_rows(by: Callable[[str], Evidence]) -> tuple[Row, ...]:
    convolutions = _titles(Kind.CONVOLUTION)
    dilated = _where("auto_pad is SAME_UPPER or SAME_LOWER, and a dilation is above 1")
    both = _where("auto_pad and pads are both written")(auto_pad_with_pads)
    short = by("SAME with kernels below the stride")
    return (
        refuses((*convolutions, *_titles(Kind.TRANSPOSED)), both, by=by("auto_pad with pads")),
        refuses(
            convolutions, dilated(same_with_dilation), by=by("SAME convolutions with dilations")
        ),
        miscomputes(_POOLS, dilated(same_with_dilation), by=by("SAME pools with dilations")),
        refuses(_POOLS, _SAME_IS_REFUSED, by=by("SAME pools with kernels below stride")),
        miscomputes((*convolutions, *_POOLS), _SAME_SHIFTS, by=short),
    )


def _size_rows(by: Callable[[str], Evidence]) -> tuple[Row, ...]:
    short = _where("the padded input is shorter than one window")(input_shorter_than_window)
    wide = _where("pads holds a number as large as the kernel")(pads_reach_kernel)
    more = _where("output_padding is not smaller than the stride")(output_padding_beyond_stride)
    overhang = _where("it counts padding, and a window hangs over by ceil_mode")
    return (
        refuses(_POOLS, wide, by=by("pools with pads up to and beyond the kernel")),
        refuses(_titles(Kind.CONVOLUTION), short, by=by("inputs below a window")),
        miscomputes(_POOLS, short, by=by("inputs below a window")),
        refuses(_titles(Kind.TRANSPOSED), more, by=by("output_padding beyond the stride")),
        miscomputes(
            _titles(Kind.AVERAGE),
            overhang(quantised_average_overhang),
            by=by("QLinearAveragePool with ceil_mode"),
        ),
    )


def _where(text: str) -> Callable[[Predicate], Condition]:
    return lambda finder: Condition(text, lambda chain: finder(chain) is not None, tells=finder)


def _titles(*kinds: Kind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(op.title for op in OPERATORS.values() if op.kind in kinds))


_POOLS = _titles(Kind.MAX, Kind.AVERAGE, Kind.LP)


def _same_is_refused(chain: Chain) -> bool:
    """Whether a kernel checks the negative padding that onnxruntime counts for SAME."""
    if not _is_plain_same(chain) or not chain.op.is_pool or not _checks_pads(chain):
        return False
    return min(_totals(chain)) < 0


def _same_shifts(chain: Chain) -> bool:
    """Whether windows begin inside the data by the negative padding counted for SAME."""
    if chain.padding not in _SAME or chain.trouble or _same_is_refused(chain):
        return False
    lower = chain.padding is AutoPad.SAME_LOWER
    if chain.op.is_pool and not (_is_plain_same(chain) and _checks_pads(chain)):
        return any(_begin(total, lower=lower) < 0 for total in _totals(chain))
    if chain.op.kind is Kind.CONVOLUTION and _is_plain_same(chain):
        return any(_shifts(axis, lower=lower) for axis in chain.axes)
    return False


_SAME_NEGATIVE = "auto_pad is SAME_UPPER or SAME_LOWER, and {} at the end {} in no window"
_SAME_IS_REFUSED = Condition(_SAME_NEGATIVE.format("a cell", "is"), _same_is_refused)
_SAME_SHIFTS = Condition(_SAME_NEGATIVE.format("two cells", "are"), _same_shifts)


def _is_plain_same(chain: Chain) -> bool:
    plain = all(axis.dilation == 1 for axis in chain.axes)
    return chain.padding in _SAME and not chain.trouble and plain


def _totals(chain: Chain) -> list[int]:
    return [axis.kernel - end for axis in chain.axes for end in _ends(axis)] or [0]


def _ends(axis: Axis) -> tuple[int, ...]:
    """The distances of the input's end from the last window's start that the size allows."""
    if axis.size is None:
        return tuple(range(1, axis.stride + 1))
    return tuple((rest - 1) % axis.stride + 1 for rest in residues(axis.size, axis.stride))


def _begin(total: int, *, lower: bool) -> int:
    """The begin pad that onnxruntime makes of a total, which may be negative: it rounds to 0."""
    return int((total + lower) / 2)


def _checks_pads(chain: Chain) -> bool:
    """Whether onnxruntime's kernel refuses negative pads, rather than shifting the windows."""
    return chain.op.kind is Kind.MAX or (
        chain.op.kind is Kind.AVERAGE and chain.opset < _AVERAGE_SHIFTS_SINCE
    )


def _shifts(axis: Axis, *, lower: bool) -> bool:
    """Whether onnxruntime starts the first window of a SAME convolution inside the data."""
    totals = [axis.kernel - end for end in _ends(axis)]
    if isinstance(axis.size, int):
        windows = -(-axis.size // axis.stride)
        more = int((axis.size + 2 * totals[0] - axis.kernel) / axis.stride + 1) < windows
        totals = [totals[0] + more]
    return any(_begin(total, lower=lower) < 0 for total in totals)


def _what_happens(chain: Chain, pads: Pads) -> str:
    """What onnxruntime does with an input that is shorter than the window."""
    if not chain.op.is_pool:
        return "onnxruntime fails when it runs"
    sides = zip(chain.axes, pads.begins, pads.ends, strict=True)
    counts = [
        int((axis.size + begin + end - axis.span) / axis.stride) + 1
        for axis, begin, end in sides
        if isinstance(axis.size, int)
    ]
    if min(counts) < 0:
        return "onnxruntime fails when it runs"
    if min(counts) == 0:
        return "onnxruntime gives an output without cells"
    cells = "the cells that are there, or of none (a MaxPool then gives the lowest finite float)"
    if chain.ceil_mode:
        return f"with ceil_mode there is one window all the same, of {cells}"
    return f"the ONNX text gives no window, onnxruntime one, of {cells}"


def _hangs_over(axis: Axis, windows: object, begin: int, end: int) -> bool:
    if not isinstance(windows, int) or not isinstance(axis.size, int):
        return True
    return (windows - 1) * axis.stride + axis.span > axis.size + begin + end
