"""Rows of the targets that are built on onnxruntime; their conditions are facts of this folder.

A file of rules includes a table of `shared_rows` by its name. A row about operators that the file
does not leave to onnxruntime is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from onnxpad.geometry.windows import output_size
from onnxpad.padding.chain import Chain, Pads, Skip
from onnxpad.padding.effective_pads import axes_in_front, effective_pads
from onnxpad.padding.forms import mirrors_beyond
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
"""Evidence of a family of models."""


def _titles(*kinds: Kind) -> tuple[str, ...]:
    return tuple(dict.fromkeys(op.title for op in OPERATORS.values() if op.kind in kinds))


_CONVOLUTIONS = _titles(Kind.CONVOLUTION)
_TRANSPOSED = _titles(Kind.TRANSPOSED)
_POOLS = _titles(Kind.MAX, Kind.AVERAGE, Kind.LP)
_ADDING = (*_CONVOLUTIONS, *_POOLS)
_EVERYTHING = _titles(*Kind)
_OTHERS = tuple(title for title in _EVERYTHING if title not in _ADDING)
_PLAIN = (*w.WINDOWS, "LpPool")
_NEWEST = (("1.17", 20), ("1.20", 21), ("1.23", 23), ("1.31", 26))
"""Releases, each with the newest opset that it opens."""
_MOST_AXES = 2
"""Of a convolution that WebGPU makes a matrix product of."""


def _word(name: str, number: int | None = None) -> Condition:
    return word_called(name).condition(number, settled=False)


def _fused(text: str, way: Way) -> Condition:
    """Whether onnxruntime folds Pads in front into the operator, wrongly in this way."""
    return Condition(text, lambda chain: way in harms(chain))


_SAME = word_called("same").text
_COUNTS = _word("counts_padding")
_SAME_DILATED = Condition(f"{_SAME}, and {word_called('dilated').text}", kernels.same_with_dilation)
_SAME_SHIFTS = Condition(
    f"{_SAME}, and no window reads the last two cells of an axis, "
    "which SAME takes for negative padding",
    kernels.same_shifts,
)
_SAME_REFUSED = Condition(
    f"{_SAME}, and {word_called('last_cell_unread').text}", kernels.same_is_refused
)
_LIKE_KERNEL = Condition("a value of `pads` is as large as the kernel", kernels.pads_reach_kernel)
_NEGATIVE = Condition(NEGATIVE_PADS, kernels.has_negative_pads)
_CUT_OFF = replace(_NEGATIVE, cure="a Slice in front of it instead of its negative pads")
_TWICE = Condition("auto_pad and pads are both written", kernels.writes_auto_pad_and_pads)
_SHORT = Condition("the padded input is shorter than one window", kernels.is_shorter_than_window)
_BEYOND_STRIDE = Condition(
    "output_padding is not smaller than the stride", kernels.has_output_padding_beyond_stride
)
_OVERHANG = Condition(
    "it counts padding, and a window hangs over by ceil_mode", kernels.average_overhangs
)
_REFLECT = Condition("it mirrors more cells than the input has", mirrors_beyond)
_NO_KERNEL = Condition(
    "there is no kernel for this element type or opset", kernels.has_no_cpu_kernel
)
_HARMED = _fused("a Pad node that writes 0 stands in front, and a cell may be negative", Way.VALUE)
_SHORTENED = _fused(
    "a Pad node that writes 0 stands in front, and ceil_mode has a window in its cells", Way.WINDOW
)
_WIDENED = _fused("a Pad node that writes 0 and the own pads reach the kernel together", Way.LOAD)
_BESIDE_IDENTITY = _fused(
    "a Pad node that writes 0 stands in front, and an Identity beside it makes a result", Way.COPY
)
_WEIGHT_PADDED = _fused("a Pad node that writes 0 makes its weight", Way.WEIGHT)
_LOSES_COUNT = Condition("a Pad node stands in front, and count_include_pad is 0", loses_count)


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


def _loader(by: By) -> tuple[Row, ...]:
    """What holds for every execution provider."""
    return (
        refuses((*_CONVOLUTIONS, *_TRANSPOSED), _TWICE, by=by("auto_pad with pads")),
        refuses(_CONVOLUTIONS, _SAME_DILATED, by=by("SAME convolutions with dilations")),
        miscomputes(_POOLS, _SAME_DILATED, by=by("SAME pools with dilations")),
        miscomputes(_ADDING, _SAME_SHIFTS, by=by("SAME with kernels below the stride")),
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


def _checked(by: By) -> tuple[Row, ...]:
    """What WebGPU does not check."""
    return since(
        "1.30", refuses(_POOLS, _SAME_REFUSED, by=by("SAME pools with kernels below stride"))
    )


def _cpu_kernels(by: By) -> tuple[Row, ...]:
    """What holds besides where the CPU kernels run everything."""
    short = by("inputs below a window")
    return (
        refuses(_CONVOLUTIONS, _SHORT, by=short),
        miscomputes(_POOLS, _SHORT, by=short),
        refuses(_TRANSPOSED, _BEYOND_STRIDE, by=by("output_padding beyond the stride")),
        miscomputes(_titles(Kind.AVERAGE), _OVERHANG, by=by("QLinearAveragePool with ceil_mode")),
        refuses(_titles(Kind.PAD), _REFLECT, by=by("Pad in mode reflect")),
        refuses(_EVERYTHING, _NO_KERNEL, by=by("one node per element type and opset")),
    )


def _weights(by: By) -> tuple[Row, ...]:
    return (refuses("Conv", _WEIGHT_PADDED, by=by("Pad(0) in front of the weight of Conv")),)


def _pools(by: By, *when: Condition, operators: tuple[str, ...] = w.POOLS) -> tuple[Row, ...]:
    """What Pad fusion does to pools, whatever runs the nodes."""
    return (
        miscomputes("MaxPool", _HARMED, *when, by=by("Pad(0) in front of MaxPool")),
        miscomputes(operators, _SHORTENED, *when, by=by("Pad(0) in front of pools with ceil_mode")),
        refuses(operators, _WIDENED, *when, by=by("Pad(0) in front of pools")),
    )


def _copies(by: By) -> tuple[Row, ...]:
    """What becomes of a Pad of zeros beside an Identity that makes a result."""
    family = "Pad(0) beside an Identity that makes a result"
    pool = refuses(
        "MaxPool", _BESIDE_IDENTITY, by=by(family.replace("beside", "of MaxPool beside"))
    )
    kept = refuses(("Conv", "AveragePool"), _BESIDE_IDENTITY, by=by(family))
    return (kept, *until("1.31", pool))


def _products(by: By) -> tuple[Row, ...]:
    """What both WebGPU providers do with convolutions that they take for a matrix product."""
    when = Condition(
        "it pads at the ends alone, those of a Pad of zeros in front included, and its kernel is "
        "one cell or as large as the input",
        _is_product,
    )
    found = by("convolutions with a kernel of one cell or of the input's size, padded at the ends")
    return (miscomputes("Conv", when, by=found, says="WebGPU leaves its end pads out"),)


def _wraps(by: By) -> tuple[Row, ...]:
    """What a Pad in mode wrap of an axis more than once is, before onnxruntime 1.31."""
    row = miscomputes(
        "Pad",
        _word("wraps_again"),
        by=by("Pad in mode wrap, pads longer than the axis"),
        says="it reads memory beyond its input",
        unshown="small models wrap an axis once",
    )
    return (row,)


def _averages_of_1_23(product: str) -> tuple[Row, ...]:
    """What its kernel of averages with dilations does, which has run those of opset 19 since."""
    when = Condition(
        "a window reaches into end pads that 1.23 takes for those of another axis",
        w.of_pads(_ends_elsewhere),
    )
    by = measured(f"{product} 1.23")("averages of opset 19 and newer")
    row = miscomputes("AveragePool", _COUNTS, _word("opset_above", 18), when, by=by)
    return since("1.23", *until("1.23", row))


def _older(product: str, known: Sequence[str]) -> Iterator[Row]:
    """What releases before the newest did, by what they ran; newer ones do none of it.

    `known` are the releases that were run, the oldest first: what ended before them is left out.
    """
    rows = _older_rows(product, known)
    return (row for row in rows if numbers(row.until) >= numbers(known[0]))


def _older_rows(product: str, known: Sequence[str]) -> Iterator[Row]:
    for release, opset in _NEWEST:
        tried = [one for one in known if numbers(one) <= numbers(release)] or known[:1]
        by = measured(f"{product} {max(tried, key=numbers)}")("one node per opset")
        names = (*_EVERYTHING, *EVERYTHING)
        yield from until(release, refuses(names, _word("opset_above", opset), by=by))
    pads_written = Condition("`pads` is written", lambda chain: w.writes(chain, "pads"))
    oldest, older, old = (measured(f"{product} {one}") for one in ("1.17", "1.20", "1.23"))
    yield from until("1.17", *_pools(oldest, pads_written, operators=("MaxPool",)))
    cut, before_19 = _word("last_window_cut"), _word("opset_below", 19)
    averages = "averages with ceil_mode"
    dropped = _word("last_window_dropped")
    counted = miscomputes("AveragePool", _LOSES_COUNT, by=older("Pad in front of averages"))
    yield from until(
        "1.20",
        miscomputes(w.POOLS, dropped, by=older("windows that start in the padding")),
        miscomputes("AveragePool", _COUNTS, cut, by=older(averages)),
        *since("1.20", counted),
    )
    web = measured("onnxruntime-web 1.27")(averages)
    yield from until("1.27", miscomputes("AveragePool", _COUNTS, cut, before_19, by=web))
    signed = Condition("its weight is int8", lambda chain: chain.weight.dtype == "int8")
    yield from until(
        "1.23",
        refuses("ConvInteger", signed, by=old("ConvInteger, int8")),
        miscomputes("AveragePool", _COUNTS, cut, before_19, by=old(averages)),
    )


def shared_rows(
    by: By, table: str, operators: Sequence[str], last: str, releases: Sequence[str]
) -> Iterable[Row]:
    """A table of this file by the name that files of rules have for it.

    operators: those that the target leaves to onnxruntime; all that a table is about if empty.
    last: the last release in which the table holds, where there is one.
    """
    product, loader = by("").where, (*_loader(by), *_checked(by))
    pools = until(last, *since("1.20", *_pools(by)))
    tables: Mapping[str, Callable[[], Iterable[Row]]] = {
        "loader": lambda: _about(loader, operators or _PLAIN),
        "loader of WebGPU": lambda: _about(_loader(by), _PLAIN),
        "CPU kernels": lambda: (*loader, *_cpu_kernels(by)),
        "fusion": lambda: _about((*_weights(by), *pools), operators or _PLAIN),
        "copies": lambda: _copies(by),
        "products": lambda: _products(by),
        "wraps": lambda: until(last, *_wraps(by)),
        "averages of 1.23": lambda: _averages_of_1_23(product),
        "older releases": lambda: _older(product, releases),
    }
    return tables[table]()


def _about(rows: Iterable[Row], operators: Iterable[str]) -> Iterator[Row]:
    """The rows, each about those of its operators alone."""
    for row in rows:
        if names := tuple(name for name in row.operators if name in operators):
            yield replace(row, operators=names)
