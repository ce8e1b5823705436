"""Rows of the targets that are built on onnxruntime; their conditions are facts of this folder.

`by` makes evidence of a family of models. `operators` are those that a target leaves to
onnxruntime's loader and kernels; a row about others is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from onnxpad.geometry.windows import output_size
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads
from onnxpad.padding.operators import OPERATORS, Kind
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.plain_facts import EVERYTHING
from onnxpad.runtimes.conditions.rows import (
    Condition,
    Evidence,
    Row,
    measured,
    miscomputes,
    refuses,
    since,
    until,
)
from onnxpad.runtimes.conditions.words import AGAINST_TEXT, NEGATIVE_PADS, word_called
from onnxpad.runtimes.onnxruntime import kernels
from onnxpad.runtimes.onnxruntime.pad_fusion import Way, fused_pads, harms, loses_count
from onnxpad.runtimes.releases import numbers

By = Callable[[str], Evidence]
_PLAIN = (*w.WINDOWS, "LpPool")


def _titles(*kinds: Kind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(op.title for op in OPERATORS.values() if op.kind in kinds))


_NEWEST = (("1.17", 20), ("1.20", 21), ("1.23", 23), ("1.31", 26))
"""Releases, each with the newest opset that it opens."""
_CONVOLUTIONS = _titles(Kind.CONVOLUTION)
_TRANSPOSED = _titles(Kind.TRANSPOSED)
_POOLS = _titles(Kind.MAX, Kind.AVERAGE, Kind.LP)
_ADDING = (*_CONVOLUTIONS, *_POOLS)
_EVERYTHING = _titles(*Kind)
_OTHERS = tuple(title for title in _EVERYTHING if title not in _ADDING)


def _found(text: str, finder: Callable[[Chain], str | None]) -> Condition:
    return Condition(text, lambda chain: finder(chain) is not None, tells=finder)


def _fused(text: str, *ways: Way) -> Condition:
    """Whether onnxruntime folds Pads in front into the operator, wrongly in one of these ways."""
    return Condition(text, lambda chain: not set(ways).isdisjoint(harms(chain)))


_SAME = word_called("same").text
_COUNTS = word_called("counts_padding").condition()
_DROPPED = word_called("last_window_dropped").condition(settled=False)
_CUT = word_called("last_window_cut").condition(settled=False)
_SAME_DILATED = _found(f"{_SAME}, and {word_called('dilated').text}", kernels.same_with_dilation)
_SAME_REFUSED = Condition(
    f"{_SAME}, and {word_called('last_cell_unread').text}", kernels.same_is_refused
)
_SAME_SHIFTS = Condition(
    f"{_SAME}, and no window reads the last two cells of an axis, "
    "which SAME takes for negative padding",
    kernels.same_shifts,
)
_LIKE_KERNEL = _found("a value of `pads` is as large as the kernel", kernels.pads_reach_kernel)
_NEGATIVE = _found(NEGATIVE_PADS, kernels.negative_pads)
_CUT_OFF = replace(_NEGATIVE, cure="a Slice in front of it instead of its negative pads")
_TWICE = _found("auto_pad and pads are both written", kernels.auto_pad_with_pads)
_SHORT = _found("the padded input is shorter than one window", kernels.input_shorter_than_window)
_BEYOND_STRIDE = _found(
    "output_padding is not smaller than the stride", kernels.output_padding_beyond_stride
)
_OVERHANG = _found(
    "it counts padding, and a window hangs over by ceil_mode", kernels.quantised_average_overhang
)
_REFLECT = _found("it mirrors more cells than the input has", kernels.reflect_beyond_input)
_NO_KERNEL = _found("there is no kernel for this element type or opset", kernels.no_cpu_kernel)

_HARMED = _fused("a Pad node that writes 0 stands in front, and a cell may be negative", Way.VALUE)
_SHORTENED = _fused(
    "a Pad node that writes 0 stands in front, and ceil_mode has a window in its cells", Way.WINDOW
)
_WIDENED = _fused("a Pad node that writes 0 and the own pads reach the kernel together", Way.LOAD)
BESIDE_IDENTITY = _fused(
    "a Pad node that writes 0 stands in front, and an Identity beside it makes a result", Way.COPY
)
_WEIGHT_PADDED = _fused("a Pad node that writes 0 makes its weight", Way.WEIGHT)
_LOSES_COUNT = Condition(
    "a Pad node stands in front, and count_include_pad is 0",
    loses_count,
)

_PADS_WRITTEN = Condition("`pads` is written", lambda c: w.writes(c, "pads"))


def _ends_elsewhere(chain: Chain, pads: Pads) -> bool:
    """Whether a window reaches as far as where number 2i + 1 of all pads is not the end of axis i.

    onnxruntime 1.23 takes it for that, by 46 averages of two and three axes; of one axis it is.
    """
    for axis, begin, end, taken in zip(
        chain.axes, pads.begins, pads.ends, pads.flat[1::2], strict=True
    ):
        count = output_size(axis, begin, end, ceil_mode=chain.ceil_mode)
        if not isinstance(count, int) or not isinstance(axis.size, int):
            if taken < end:
                return True
            continue
        beyond = (count - 1) * axis.stride + axis.span - begin - axis.size
        if min(beyond, end) != min(beyond, taken):
            return True
    return False


_ENDS_ELSEWHERE = Condition(
    "a window reaches into end pads that 1.23 takes for those of another axis",
    w.of_pads(_ends_elsewhere),
)


def _is_product(chain: Chain) -> bool:
    """Whether WebGPU makes a matrix product of a convolution that pads at its ends alone.

    Where the kernel is one cell, or as large as the input, it looks at the begin pads alone
    (core/providers/webgpu/nn/conv.cc, and conv.ts of js/web). A Pad that onnxruntime folds counts;
    sizes that the file leaves open are taken to be no kernel's.
    """
    own, front = effective_pads(chain), fused_pads(chain) or Pads.zero(chain.rank)
    if isinstance(own, Skip) or chain.rank > _MOST_AXES or chain.attribute("group", 1) != 1:
        return False
    pads, axes = own + front, axes_in_front(chain, front)
    if any(pads.begins) or not any(pads.ends):
        return False
    single = all(axis.kernel == axis.stride == 1 for axis in axes)
    return single or all(axis.kernel == axis.size for axis in axes)


_MOST_AXES = 2
_PRODUCT = Condition(
    "it pads at the ends alone, those of a Pad of zeros in front included, and its kernel is one "
    "cell or as large as the input",
    _is_product,
)
_SIGNED_WEIGHT = Condition("its weight is int8", lambda c: c.weight.dtype == "int8")
_FUSED_POOLS_SINCE = "1.20"


def loader_rows(
    by: By, operators: Iterable[str] = _PLAIN, *, checks_pads: bool = True
) -> tuple[Row, ...]:
    """What holds for every execution provider; of WebGPU's not that pools check computed pads."""
    rows = (
        refuses((*_CONVOLUTIONS, *_TRANSPOSED), _TWICE, by=by("auto_pad with pads")),
        refuses(_CONVOLUTIONS, _SAME_DILATED, by=by("SAME convolutions with dilations")),
        miscomputes(_POOLS, _SAME_DILATED, by=by("SAME pools with dilations")),
        miscomputes(
            (*_CONVOLUTIONS, *_POOLS), _SAME_SHIFTS, by=by("SAME with kernels below the stride")
        ),
        refuses(_POOLS, _LIKE_KERNEL, by=by("pools with pads up to and beyond the kernel")),
        refuses(_ADDING, _CUT_OFF, by=by("negative pads attributes")),
        refuses(_OTHERS, _NEGATIVE, by=by("negative pads of other operators")),
        refuses(
            _EVERYTHING,
            AGAINST_TEXT,
            by=by("2,000 models of one operator with a wrong type, rank, length or value"),
            unshown="no model that ONNX takes for valid shows it",
        ),
    )
    checked = refuses(_POOLS, _SAME_REFUSED, by=by("SAME pools with kernels below stride"))
    return _about((*rows, *since("1.30", checked)) if checks_pads else rows, operators)


def cpu_rows(by: By) -> tuple[Row, ...]:
    """What holds where the CPU kernels run everything; the rows of the loader are among them."""
    short = by("inputs below a window")
    return (
        *loader_rows(by, _EVERYTHING),
        refuses(_CONVOLUTIONS, _SHORT, by=short),
        miscomputes(_POOLS, _SHORT, by=short),
        refuses(_TRANSPOSED, _BEYOND_STRIDE, by=by("output_padding beyond the stride")),
        miscomputes(_titles(Kind.AVERAGE), _OVERHANG, by=by("QLinearAveragePool with ceil_mode")),
        refuses(_titles(Kind.PAD), _REFLECT, by=by("Pad in mode reflect")),
        refuses(_EVERYTHING, _NO_KERNEL, by=by("one node per element type and opset")),
    )


def fusion_rows(
    by: By, operators: Iterable[str] = _PLAIN, *, pools_until: str = ""
) -> tuple[Row, ...]:
    """What the optimiser's Pad fusion does, whatever runs the nodes.

    `pools_until` is the last release in which it harms pools, where it is known.
    """
    weights = refuses("Conv", _WEIGHT_PADDED, by=by("Pad(0) in front of the weight of Conv"))
    pools = until(pools_until, *since(_FUSED_POOLS_SINCE, *_fused_pools(by)))
    return _about((weights, *pools), operators)


def _fused_pools(by: By, *when: Condition, operators: tuple[str, ...] = w.POOLS) -> tuple[Row, ...]:
    return (
        miscomputes("MaxPool", _HARMED, *when, by=by("Pad(0) in front of MaxPool")),
        miscomputes(operators, _SHORTENED, *when, by=by("Pad(0) in front of pools with ceil_mode")),
        refuses(operators, _WIDENED, *when, by=by("Pad(0) in front of pools")),
    )


def product_rows(by: By) -> tuple[Row, ...]:
    """What both WebGPU providers do with convolutions that they take for a matrix product."""
    found = by("convolutions with a kernel of one cell or of the input's size, padded at the ends")
    return (miscomputes("Conv", _PRODUCT, by=found, says="WebGPU leaves its end pads out"),)


def wrap_rows(by: By) -> tuple[Row, ...]:
    """What a Pad in mode wrap of an axis more than once is, before onnxruntime 1.31."""
    found = by("Pad in mode wrap, pads longer than the axis")
    words = {
        "says": "it reads memory beyond its input",
        "unshown": "small models wrap an axis once",
    }
    return (miscomputes("Pad", word_called("wraps_again").condition(), by=found, **words),)


def older_rows(product: str, known: Sequence[str]) -> tuple[Row, ...]:
    """What releases before the newest did, by what they ran; newer ones do none of it.

    `known` are the releases that were run, the oldest first: a row that ends before them is none.
    """
    rows = (*_limits(product, known), *_older_rows(product))
    return tuple(row for row in rows if numbers(row.until) >= numbers(known[0]))


def _limits(product: str, known: Sequence[str]) -> Iterator[Row]:
    """Which opsets were newer than a release."""
    for release, opset in _NEWEST:
        tried = [one for one in known if numbers(one) <= numbers(release)] or known[:1]
        by = measured(f"{product} {max(tried, key=numbers)}")
        yield from until(
            release,
            refuses(
                (*_EVERYTHING, *EVERYTHING),
                word_called("opset_above").condition(opset),
                by=by("one node per opset"),
            ),
        )


def _older_rows(product: str) -> tuple[Row, ...]:

    def seen(release: str) -> By:
        return measured(f"{product} {release}")

    averages = "averages with ceil_mode"
    return (
        *until("1.17", *_fused_pools(seen("1.17"), _PADS_WRITTEN, operators=("MaxPool",))),
        *until(
            "1.20",
            miscomputes(w.POOLS, _DROPPED, by=seen("1.20")("windows that start in the padding")),
            miscomputes("AveragePool", _COUNTS, _CUT, by=seen("1.20")(averages)),
            *since(
                _FUSED_POOLS_SINCE,
                miscomputes(
                    "AveragePool", _LOSES_COUNT, by=seen("1.20")("Pad in front of averages")
                ),
            ),
        ),
        *until(
            "1.27",
            miscomputes(
                "AveragePool",
                _COUNTS,
                _CUT,
                word_called("opset_below").condition(19),
                by=measured("onnxruntime-web 1.27")(averages),
            ),
        ),
        *until(
            "1.23",
            refuses("ConvInteger", _SIGNED_WEIGHT, by=seen("1.23")("ConvInteger, int8")),
            miscomputes(
                "AveragePool",
                _COUNTS,
                _CUT,
                word_called("opset_below").condition(19),
                by=seen("1.23")(averages),
            ),
        ),
    )


def rows_of_1_23(product: str) -> tuple[Row, ...]:
    """What its kernel of averages with dilations does, which has run those of opset 19 since."""
    by = measured(f"{product} 1.23")("averages of opset 19 and newer")
    row = miscomputes(
        "AveragePool", _COUNTS, word_called("opset_above").condition(18), _ENDS_ELSEWHERE, by=by
    )
    return since("1.23", *until("1.23", row))


def _about(rows: Iterable[Row], operators: Iterable[str]) -> tuple[Row, ...]:
    """The rows, each about those of its operators alone."""
    wanted = set(operators)
    kept = ((row, tuple(name for name in row.operators if name in wanted)) for row in rows)
    return tuple(replace(row, operators=names) for row, names in kept if names)


def copy_rows(by: By) -> tuple[Row, ...]:
    """What becomes of a Pad of zeros beside an Identity that makes a result."""
    kept = refuses(
        ("Conv", "AveragePool"),
        BESIDE_IDENTITY,
        by=by("Pad(0) beside an Identity that makes a result"),
    )
    found = by("Pad(0) of MaxPool beside an Identity that makes a result")
    return (kept, *until("1.31", refuses("MaxPool", BESIDE_IDENTITY, by=found)))


def shared_rows(
    by: By, table: str, operators: Sequence[str], last: str, releases: Sequence[str]
) -> tuple[Row, ...]:
    """A table of this file by the name that files of rules have for it; `last` is its release."""
    product = by("").where
    made: Mapping[str, Callable[[], tuple[Row, ...]]] = {
        "loader": lambda: loader_rows(by, operators or _PLAIN),
        "loader of WebGPU": lambda: loader_rows(by, checks_pads=False),
        "CPU kernels": lambda: cpu_rows(by),
        "fusion": lambda: fusion_rows(by, operators or _PLAIN, pools_until=last),
        "copies": lambda: copy_rows(by),
        "products": lambda: product_rows(by),
        "wraps": lambda: until(last, *wrap_rows(by)),
        "averages of 1.23": lambda: rows_of_1_23(product),
        "older releases": lambda: older_rows(product, releases),
    }
    return made[table]()
