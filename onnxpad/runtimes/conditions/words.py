"""The shared vocabulary of target files: questions about padding that any runtime may ask.

A word about the number of padded cells reads the effective pads, be they written as `pads`,
`auto_pad` or `output_shape`; a word about how padding is written reads the attributes. Of a Pad
node, words about cells read the pads of the node itself. Words about Pad nodes hold as well for an
operator with such a Pad node in front. `SECTIONS` at the end is the vocabulary; its last section
holds what few runtimes ask, most of it geometry of one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import isfinite
from operator import and_
from typing import Literal, TypeAlias

from onnxpad.errors import RequestError, nearest
from onnxpad.geometry.size import Symbol
from onnxpad.padding.chain import AutoPad, Chain, Pads, PadStep, is_same
from onnxpad.padding.element_types import mixed_types
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import (
    mirrors_beyond,
    outer_axes,
    pools_padding_alone,
    reaches_kernel,
    writes_value,
)
from onnxpad.padding.operators import Destination, Kind, PadInput, Since
from onnxpad.padding.possible_sizes import at_possible_sizes
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import Condition, OpenBatch

Term: TypeAlias = str | tuple[Literal["not"], str] | tuple[str, int]
"""A word, a word that must not hold, or a word with its number."""
Numbers: TypeAlias = Callable[[Chain], Sequence[int]]
"""The number that a threshold is compared with, at each possible size; empty if not known."""
Test: TypeAlias = Callable[[Chain], bool | None]


@dataclass(frozen=True, slots=True)
class Word:
    """One question of the vocabulary; `name` is what a target file writes."""

    name: str
    _condition: Callable[[int], Condition]
    _numbers: Numbers | None = None
    _of_cells: bool = False

    @property
    def takes_number(self) -> bool:
        """Whether a threshold belongs to the word, as in `pad_above = 3`."""
        return self._numbers is not None

    @property
    def text(self) -> str:
        """The question as a sentence that holds; N stands for the threshold."""
        return self._said(self._condition(0))

    @property
    def negation(self) -> str:
        """The sentence that holds if the word does not."""
        return self._said(~self._condition(0))

    def _said(self, condition: Condition) -> str:
        return condition.text.replace("0", "N") if self.takes_number else condition.text

    def condition(self, number: int | None = None, *, settled: bool = True) -> Condition:
        """The Condition of a row. Raises RequestError if a number is missing or unexpected.

        settled: None where it holds at some of the sizes that a file leaves open; otherwise it
            holds there, which is worse for a runtime.
        """
        if number is None and self.takes_number:
            raise RequestError(f"'{self.name}' needs a number, such as {self.name} = 3")
        if number is not None and not self.takes_number:
            raise RequestError(f"'{self.name}' takes no number")
        condition = self._condition(number or 0)
        return _settled(condition) if settled and self._of_cells else condition

    def holds(self, chain: Chain, number: int | None = None) -> bool | None:
        """Whether the word holds at every size; None if it hangs on what is not known."""
        return self.condition(number).holds(chain)

    def values(self, chain: Chain) -> Sequence[int]:
        """What the threshold is compared with, at each possible size; empty if not known."""
        return self._numbers(chain) if self._numbers else ()


def condition_of(terms: Sequence[Term], *, settled: bool = True) -> Condition:
    """All terms together. Raises RequestError for an unknown word or a wrong number."""
    if not terms:
        raise RequestError("a condition needs at least one word")
    return reduce(and_, (_of_term(term, settled=settled) for term in terms))


def word_called(name: str) -> Word:
    """The word of this name. Raises RequestError with the nearest one."""
    if name in WORDS:
        return WORDS[name]
    near = nearest(name.replace("-", "_"), WORDS)
    advice = f"did you mean '{near[0]}'?" if near else "'onnxpad explain conditions' lists them"
    raise RequestError(f"no condition is called '{name}': {advice}")


def _of_term(term: Term, *, settled: bool) -> Condition:
    if isinstance(term, str):
        return word_called(term).condition(settled=settled)
    first, second = term
    if isinstance(second, int):
        return word_called(first).condition(second, settled=settled)
    return ~word_called(second).condition(settled=settled)


def _settled(condition: Condition) -> Condition:
    """The same, None where it holds at some of the possible sizes only."""

    def holds(chain: Chain) -> bool | None:
        answers = {condition.holds(chain)}
        if chain.op.kind is not Kind.PAD and True in answers and not chain.has_fixed_sizes:
            answers = set()
            for sized in at_possible_sizes(chain):
                answers.add(condition.holds(sized))
                if len(answers) > 1:
                    return None
        return answers.pop()

    return replace(condition, holds=holds)


def _word(name: str, text: str, negation: str, holds: Test) -> Word:
    condition = Condition(text, holds, negation)
    return Word(name, lambda _: condition)


def _of_cells(name: str, text: str, negation: str, holds: Test) -> Word:
    """A word that hangs on sizes, where SAME pads by them."""
    condition = Condition(text, holds, negation)
    return Word(name, lambda _: condition, _of_cells=True)


def _of_pads(name: str, text: str, negation: str, test: Callable[[Pads], bool]) -> Word:
    """A question about the pads of an operator, or about those of a Pad node itself."""

    def holds(chain: Chain) -> bool | None:
        found = _own_pads(chain)
        return any(map(test, found)) if found else None

    return _of_cells(name, text, negation, holds)


def _own_pads(chain: Chain) -> list[Pads]:
    """The pads at each possible size; empty if they are not known."""
    if chain.op.kind is not Kind.PAD:
        return w.possible_pads(chain)
    return [] if chain.pad is None or chain.pad.unclear else [chain.pad.pads]


def _above(name: str, text: str, negation: str, numbers: Numbers) -> Word:
    """A word that holds if the largest of some numbers is above its threshold."""

    def condition(threshold: int) -> Condition:
        def holds(chain: Chain) -> bool | None:
            found = numbers(chain)
            return any(number > threshold for number in found) if found else None

        return Condition(text.format(threshold), holds, negation.format(threshold))

    return Word(name, condition, numbers, _of_cells=True)


def _largest_of_axes(attribute: str) -> Numbers:
    return lambda chain: [max((getattr(axis, attribute) for axis in chain.axes), default=0)]


def _auto_pad(name: str, *values: str) -> Word:
    written = " or ".join(values)
    return _word(
        name,
        f"auto_pad is {written}",
        f"auto_pad is not {written}",
        lambda c: c.padding in values,
    )


def _unwritten(word: str, name: str) -> Word:
    is_unwritten: Test = lambda c: not w.writes(c, name)  # noqa: E731
    return _word(word, f"{name} is not written", f"{name} is written", is_unwritten)


def _axes(name: str, count: int) -> Word:
    text = f"the operator is {count}-D", f"the operator is not {count}-D"
    return _word(name, *text, lambda c: c.rank == count if c.rank else None)


def _element_type(name: str, *types: str) -> Word:
    """`types` as numpy names them."""
    words = " or ".join(types)
    condition = Condition(
        f"the element type is {words}",
        lambda c: c.dtype in types if c.dtype else None,
        f"the element type is not {words}",
        lasting=True,
    )
    return Word(name, lambda _: condition)


def _opset(name: str, text: str, other: str, cure: str, holds: Callable[[int, int], bool]) -> Word:
    """A threshold of the model's opset; N stands for it in texts."""

    def condition(threshold: int) -> Condition:
        said, opposite, advice = (one.replace("N", str(threshold)) for one in (text, other, cure))
        return Condition(
            said,
            lambda c: holds(c.opset, threshold),
            opposite,
            advice,
            lasting=True,
            of_opset=True,
        )

    return Word(name, condition, lambda chain: (chain.opset,))


def _input_axes(chain: Chain) -> Sequence[int]:
    return () if chain.shape is None else (len(chain.shape),)


def _fewer_axes(count: int) -> Condition:
    return Condition(
        f"the input has fewer than {count} axes",
        lambda c: None if c.shape is None else len(c.shape) < count,
        f"the input has {count} axes or more",
    )


def of_step(test: Callable[[PadStep], bool | None]) -> Test:
    """A test of the Pad in front of the operator, or of the Pad that the chain is about."""
    return lambda chain: chain.pad is not None and test(chain.pad)


def _mode(name: str, *modes: str) -> Word:
    words = " or ".join(modes)
    is_one = of_step(lambda step: step.mode in modes)
    return _word(name, f"its mode is {words}", f"its mode is not {words}", is_one)


def _leaves_sizes_open(chain: Chain) -> bool:
    """Whether the file leaves a size but the batch's open, be it known to the user or not."""
    if chain.read_as.assumes_sizes or chain.shape is None:
        return True
    return any(not isinstance(size, int) for size in chain.shape[2:])


def _batch(chain: Chain) -> bool | None:
    size = chain.shape[0] if chain.shape else None
    return size != 1 if isinstance(size, int) else None


def _open_batch(chain: Chain) -> OpenBatch:
    size = chain.shape[0] if chain.shape else None
    return OpenBatch(size.root if isinstance(size, Symbol) and size.name == size.root else "")


def _is_infinite(step: PadStep) -> bool:
    is_number = step.mode == "constant" and isinstance(step.fill, Constant)
    return is_number and isinstance(step.fill, Constant) and not isfinite(step.fill.value)


def _is_computed(step: PadStep) -> bool:
    return bool(step.computed or (step.unclear and not step.unclear.illegal))


def _is_unknown(chain: Chain) -> bool:
    """Whether pads are no numbers, or only by what the user says of sizes left open."""
    step = chain.pad
    if step is None or (step.unclear and step.unclear.illegal):
        return False
    by_the_user = PadInput.PADS in step.computed and chain.read_as.assumes_sizes and step.sized
    return bool(step.unclear or by_the_user)


def _reads_value(chain: Chain) -> bool:
    given = chain.inputs[PadInput.VALUE :][:1] == (True,)
    return chain.opset >= Since.PAD_INPUTS and given


def _pads_outer_axes(chain: Chain) -> bool:
    return chain.pad is not None and bool(outer_axes(chain, chain.pad.pads))


def _is_behind_zeros(chain: Chain) -> bool:
    step = chain.pad or chain.around.nearest.pad
    if step is None or step.mode != "constant" or step.fill != Constant(0):
        return False
    return PadInput.AXES not in step.listed and any(step.pads.flat) and min(step.pads.flat) >= 0


def _begins_unlike_stride_one(chain: Chain, pads: Pads) -> bool:
    upper = chain.padding is not AutoPad.SAME_LOWER
    both = zip(chain.axes, pads.begins, strict=True)
    return any(begin != (axis.span - upper) // 2 for axis, begin in both)


TWO_TYPES = Condition(
    "the data has another element type than the weight, where ONNX has one type for both",
    lambda c: mixed_types(c) is not None,
    "the data and the weight have one element type",
    "store the weight in the element type of the data, or export the model again",
    lasting=True,
    tells=mixed_types,
)
AGAINST_TEXT = Condition(
    "the ONNX text does not allow a type, a rank, a length or a value of it",
    lambda _: False,
    "the ONNX text allows it",
    "mend the model where it was made, or export it again",
)
"""Asked about a node as it is written, not about what is read of it (model/reading/by_the_text)."""
_DROPPED = Condition(
    "the last window of ceil_mode starts in the end padding",
    lambda c: c.ceil_mode and w.of_pads(w.overhangs)(c),
    "the last window starts in the data",
    of_windows=True,
)
_BATCH_ABOVE_ONE = Condition(
    "the batch is not 1",
    _batch,
    "the batch is 1",
    "export the model with a batch of 1, and run it once for each sample",
    asks=_open_batch,
    lasting=True,
)
_OPEN_SIZES = Condition(
    "the file leaves a size other than the batch open",
    _leaves_sizes_open,
    "the file leaves no size but the batch open",
    "give the model's inputs fixed sizes",
    lasting=True,
    of_sizes=True,
)
NEGATIVE_PADS = "a value of `pads` is negative"
_WRITTEN = (
    _word(
        "auto_pad",
        "auto_pad is written",
        "auto_pad is not written",
        lambda c: is_same(c.padding) or c.padding is AutoPad.VALID,
    ),
    _auto_pad("same", "SAME_UPPER", "SAME_LOWER"),
    _auto_pad("same_upper", "SAME_UPPER"),
    _auto_pad("same_lower", "SAME_LOWER"),
    _auto_pad("valid", "VALID"),
    _unwritten("pads_unwritten", "pads"),
    _unwritten("strides_unwritten", "strides"),
    _unwritten("kernel_unwritten", "kernel_shape"),
    _word("ceil_mode", "ceil_mode is 1", "ceil_mode is 0", lambda c: c.ceil_mode),
    _word(
        "counts_padding",
        "count_include_pad is 1",
        "count_include_pad is 0",
        lambda c: c.counts_padding,
    ),
    _word(
        "output_padding",
        "output_padding is set",
        "output_padding is not set",
        lambda c: any(c.output_padding),
    ),
    _word(
        "output_shape",
        "output_shape is set",
        "output_shape is not set",
        lambda c: bool(c.output_shape),
    ),
)
_CELLS = (
    _of_pads("padded", "it pads", "it does not pad", lambda pads: any(pads.flat)),
    _of_pads(
        "asymmetric",
        "begin and end pads differ",
        "begin and end pads are equal",
        lambda pads: pads.begins != pads.ends,
    ),
    _word(
        "negative_pads",
        NEGATIVE_PADS,
        "no pad is negative",
        lambda c: (
            of_step(lambda s: min(s.pads.flat, default=0) < 0)(c)
            if c.op.kind is Kind.PAD
            else isinstance(c.padding, Pads) and min(c.padding.flat, default=0) < 0
        ),
    ),
    _of_cells(
        "pads_reach_kernel",
        "a pad is as wide as the kernel",
        "every pad is smaller than the kernel",
        w.of_pads(reaches_kernel),
    ),
    _of_cells(
        "pads_over_half",
        "a pad is wider than half the kernel",
        "no pad is wider than half the kernel",
        w.of_sides(lambda axis, begin, end: max(begin, end) > axis.kernel // 2),
    ),
    _word(
        "empty_window",
        "a window reads padding alone",
        "every window reads a cell of data",
        w.reads_padding_alone,
    ),
    Word("last_window_dropped", lambda _: _DROPPED, _of_cells=True),
    _of_cells(
        "last_window_cut",
        "the last window of ceil_mode reads beyond the padding",
        "the last window ends within the padding",
        lambda c: c.ceil_mode and w.of_pads(w.cut_off)(c),
    ),
    _above(
        "pad_above",
        "a pad is above {}",
        "no pad is above {}",
        lambda c: [max(pads.flat, default=0) for pads in _own_pads(c)],
    ),
    _above(
        "axes_above",
        "it pads more than {} axes",
        "it pads {} axes at most",
        lambda c: [sum(map(any, pads.sides)) for pads in _own_pads(c)],
    ),
)
_WINDOWS = (
    _word(
        "strided",
        "a stride is above 1",
        "no stride is above 1",
        w.of_axes(lambda axis: axis.stride > 1),
    ),
    _word(
        "dilated",
        "a dilation is above 1",
        "no dilation is above 1",
        w.of_axes(lambda axis: axis.dilation > 1),
    ),
    _word(
        "unequal_steps",
        "strides or dilations differ between axes",
        "strides and dilations are the same on every axis",
        lambda c: len({(axis.stride, axis.dilation) for axis in c.axes}) > 1,
    ),
    _word(
        "kernel_of_one",
        "the kernel is 1 on every axis",
        "the kernel is above 1 on some axis",
        lambda c: all(axis.kernel == 1 for axis in c.axes),
    ),
    _word(
        "kernel_below_stride",
        "a kernel is smaller than the stride",
        "no kernel is smaller than the stride",
        w.of_axes(lambda axis: axis.kernel < axis.stride),
    ),
    _word(
        "grouped",
        "group is above 1",
        "group is 1",
        lambda c: int(c.attribute("group", 1)) > 1,  # type: ignore[arg-type]
    ),
    _word(
        "depthwise",
        "each group of the convolution reads one channel",
        "a group of the convolution reads several channels",
        w.reads_one_channel_a_group,
    ),
    _word("bias", "it has a bias", "it has no bias", w.has_bias),
    _word(
        "weight_computed",
        "its weight is no constant",
        "its weight is a constant",
        lambda c: (
            c.op.weight is not None and not c.weight.has_value and c.around.dequantised is None
        ),
    ),
    _word(
        "weight_int8",
        "its weight is stored as int8 with the zero point 0",
        "its weight is not stored as int8 with the zero point 0",
        lambda c: c.weight.whole == "int8" and c.weight.zero_point in (0, None),
    ),
    _word(
        "indices",
        "its Indices are used",
        "its Indices are not used",
        lambda c: c.uses_indices,
    ),
    _word(
        "columns_first",
        "storage_order is 1",
        "storage_order is 0",
        lambda c: c.attribute("storage_order", 0) == 1,
    ),
    _above(
        "kernel_above", "a kernel is above {}", "no kernel is above {}", _largest_of_axes("kernel")
    ),
    _above(
        "stride_above", "a stride is above {}", "no stride is above {}", _largest_of_axes("stride")
    ),
    _above(
        "dilation_above",
        "a dilation is above {}",
        "no dilation is above {}",
        _largest_of_axes("dilation"),
    ),
)
_TENSORS = (
    *(_axes("one_d", 1), _axes("two_d", 2), _axes("three_d", 3)),
    Word("batch_above_1", lambda _: _BATCH_ABOVE_ONE),
    Word("open_sizes", lambda _: _OPEN_SIZES),
    _element_type("float16", "float16"),
    _element_type("eight_bit", "int8", "uint8"),
    _element_type("int8", "int8"),
    _word(
        "quantised",
        "it is a quantised operator",
        "it is no quantised operator",
        lambda c: c.op.quantised,
    ),
    _word(
        "scales_by_channel",
        "its weight has a scale for each channel",
        "its weight has one scale",
        lambda c: c.op.quantised and isinstance(c.weight.scales, int) and c.weight.scales > 1,
    ),
    _word(
        "dequantised",
        "it reads a DequantizeLinear",
        "it reads no DequantizeLinear",
        lambda c: c.around.dequantised is not None,
    ),
    _word(
        "never_negative",
        "no cell of its input is negative",
        "a cell of its input may be negative",
        lambda c: c.around.at_least is not None and c.around.at_least >= 0,
    ),
    _word(
        "behind_pad",
        "a Pad node stands in front",
        "no Pad node stands in front",
        lambda c: c.pad is not None and c.op.kind is not Kind.PAD,
    ),
    _opset(
        "opset_above",
        "the opset is above N",
        "the opset is N or older",
        "export the model with opset N or older",
        lambda opset, number: opset > number,
    ),
    _opset(
        "opset_below",
        "the opset is below N",
        "the opset is N or newer",
        "export the model with opset N or newer",
        lambda opset, number: opset < number,
    ),
)
_PAD_NODES = (
    *(_mode("reflect", "reflect"), _mode("edge", "edge"), _mode("wrap", "wrap")),
    _word(
        "value_not_zero",
        "it pads with a value other than 0",
        "it pads with 0 or mirrors",
        of_step(writes_value),
    ),
    _word(
        "infinite_value",
        "it pads with an infinite value",
        "it pads with a finite value or mirrors",
        of_step(_is_infinite),
    ),
    _word("value_given", "constant_value is given", "constant_value is left out", _reads_value),
    _word(
        "pads_computed",
        "its pads are computed",
        "its pads are constants",
        of_step(_is_computed),
    ),
    _word(
        "lists_axes",
        "it lists axes",
        "it lists no axes",
        of_step(lambda s: PadInput.AXES in s.listed),
    ),
    _word(
        "pads_batch_or_channels",
        "it pads the batch or the channels",
        "neither the batch nor the channels are padded",
        _pads_outer_axes,
    ),
)
_RARE = (
    _unwritten("dilations_unwritten", "dilations"),
    _unwritten("counting_unwritten", "count_include_pad"),
    _word(
        "auto_pad_and_pads",
        "auto_pad and pads are both written",
        "auto_pad and pads are not both written",
        lambda c: w.writes(c, "pads") and c.attribute("auto_pad", "") not in ("", "NOTSET"),
    ),
    _word(
        "pads_asymmetric",
        "begin and end values of `pads` differ",
        "begin and end values of `pads` do not differ",
        lambda c: isinstance(c.padding, Pads) and c.padding.begins != c.padding.ends,
    ),
    _of_pads(
        "unequal_pads",
        "not all its pads are equal",
        "all its pads are equal",
        lambda pads: len(set(pads.flat)) > 1,
    ),
    _of_cells(
        "end_above_begin",
        "an end pad is above its begin pad",
        "no end pad is above its begin pad",
        w.of_sides(lambda _, begin, end: end > begin),
    ),
    _of_cells(
        "pads_off_centre",
        "a begin pad is not half of begin and end together, rounded down",
        "begin pads are half of begin and end together, rounded down",
        w.of_sides(lambda _, begin, end: begin != (begin + end) // 2),
    ),
    _of_cells(
        "begins_off_centre",
        "SAME with stride 1 and no dilation would have other begin pads",
        "its begin pads are half of the kernel less 1",
        w.of_sides(lambda axis, begin, _: begin != (axis.kernel - 1) // 2),
    ),
    _of_cells(
        "begins_unlike_stride_one",
        "SAME with stride 1 would have other begin pads",
        "SAME with stride 1 would have the same begin pads",
        w.of_pads(_begins_unlike_stride_one),
    ),
    _word(
        "begins_vary",
        "its begin pads are others at other sizes that the model allows",
        "its begin pads are the same at every size that the model allows",
        lambda c: len({pads.begins for pads in w.possible_pads(c)}) > 1,
    ),
    _of_cells(
        "first_axis_unpadded",
        "it pads, but not at the begin of its first axis",
        "it pads nothing, or the begin of its first axis",
        w.of_pads(lambda _, pads: any(pads.flat) and pads.begins[:1] == (0,)),
    ),
    _of_cells(
        "half_kernel",
        "its pads are half of an odd kernel",
        "its pads are not half of an odd kernel",
        w.of_pads(lambda c, p: all(a.kernel == 2 * b + 1 and b == e for a, b, e in c.sides(p))),
    ),
    _of_cells(
        "keeps_sizes",
        "its result has the sizes of its input",
        "its result has other sizes than its input",
        w.of_pads(w.keeps_sizes),
    ),
    _word(
        "like_same_upper",
        "its pads are those of SAME_UPPER",
        "its pads are not those of SAME_UPPER",
        w.is_like_same_upper,
    ),
    _word(
        "last_cell_unread",
        "no window reads the last cell of an axis, which SAME takes for negative padding",
        "a window reads the last cell of every axis",
        w.leaves_last_cell,
    ),
    _word(
        "kernel_of_three",
        "the kernel is 3 on every axis",
        "the kernel is not 3 on every axis",
        lambda c: all(axis.kernel == 3 for axis in c.axes),
    ),
    _word(
        "nine_in_a_row",
        "its kernel is 9 along one axis and 1 along the other, without dilations",
        "its kernel is not 9 along one axis alone",
        w.has_nine_taps,
    ),
    _word(
        "several_per_channel",
        "it is depthwise, with several outputs for each channel",
        "it is not depthwise, or has one output for each channel",
        w.has_multiplier,
    ),
    _of_cells(
        "wide_as_deep",
        "it is depthwise, and its result has as many columns as channels",
        "it is not depthwise, or its result has not as many columns as channels",
        w.of_pads(w.is_as_wide_as_deep),
    ),
    _word(
        "weight_off_middle",
        "the zero point of its weight is not the middle of the type (0 of int8, 128 of uint8)",
        "the zero point of its weight is the middle of the type",
        w.is_off_middle,
    ),
    _word(
        "scales_listed",
        "a scale or zero point is a list, even if of one element",
        "all scales and zero points are scalars",
        lambda c: c.weight.listed,
    ),
    _word(
        "samples_border",
        "padding_mode is not zeros",
        "padding_mode is zeros",
        lambda c: c.attribute("padding_mode", "zeros") != "zeros",
    ),
    _above(
        "input_axes_above",
        "the input has more than {} axes",
        "the input has {} axes or fewer",
        _input_axes,
    ),
    Word("input_axes_below", _fewer_axes, _input_axes),
    *(_element_type("uint8", "uint8"), _element_type("float64", "float64")),
    Word("two_types", lambda _: TWO_TYPES),
    _word(
        "behind_quantised",
        "a quantised operator stands in front",
        "no quantised operator stands in front",
        lambda c: c.around.behind_quantised,
    ),
    _word(
        "between_conversions",
        "it stands between DequantizeLinear and QuantizeLinear with the same numbers",
        "it does not stand between DequantizeLinear and QuantizeLinear with the same numbers",
        lambda c: c.around.between is not None,
    ),
    _word(
        "feeds_max_pools",
        "only max pools read it, each of whose windows holds a cell of data",
        "something else than a max pool reads it, or a max pool with a window that holds no data",
        lambda c: c.around.feeds_alone is Destination.MAX_POOLS,
    ),
    _word(
        "behind_zeros",
        "a Pad node that writes 0 stands in front",
        "no Pad node that writes 0 stands in front",
        _is_behind_zeros,
    ),
    _word(
        "reads_input",
        "it reads an input of the model",
        "it reads no input of the model",
        lambda c: c.around.reads_input,
    ),
    _word(
        "from_pytorch",
        "the model names pytorch as its producer",
        "the model does not name pytorch as its producer",
        lambda c: c.around.producer == "pytorch",
    ),
    _mode("mirrors", "reflect", "edge", "wrap"),
    _word(
        "wraps_again",
        "its mode is wrap, and a pad is longer than the axis",
        "its mode is not wrap, or its pads are within the axis",
        w.wraps_again,
    ),
    _word(
        "mirrors_beyond",
        "it mirrors more cells than the axis has beside its border",
        "it mirrors no more cells than the axis has beside its border",
        mirrors_beyond,
    ),
    _word(
        "padding_alone",
        "a window holds nothing but padding",
        "no window holds nothing but padding",
        lambda c: bool(pools_padding_alone(c)),
    ),
    _word(
        "mode_unwritten",
        "Pad omits `mode`",
        "Pad writes `mode`",
        lambda c: not w.writes(c, "mode"),
    ),
    _word(
        "value_listed",
        "constant_value is a list of one number",
        "constant_value is no list",
        of_step(lambda s: PadInput.VALUE in s.listed),
    ),
    _word(
        "pads_unknown",
        "its pads hang on more than constants and sizes that are known",
        "its pads hang on constants and sizes that are known",
        _is_unknown,
    ),
    _word(
        "pads_batch",
        "it pads the batch",
        "it does not pad the batch",
        of_step(lambda s: any(any(sides) for sides in s.pads.sides[:1])),
    ),
    _word(
        "beyond_last_two",
        "it pads axes other than the last two",
        "it pads the last two axes alone",
        of_step(lambda s: any(any(sides) for sides in s.pads.sides[:-2])),
    ),
)
SECTIONS: Mapping[str, tuple[Word, ...]] = {
    "How padding is written": _WRITTEN,
    "Padded cells": _CELLS,
    "Windows and weights": _WINDOWS,
    "Tensors": _TENSORS,
    "Pad nodes": _PAD_NODES,
    "Rarely asked": _RARE,
}
WORDS: Mapping[str, Word] = {word.name: word for part in SECTIONS.values() for word in part}
LEARNABLE: Mapping[str, Word] = {
    word.name: word for part in SECTIONS.values() for word in part if part is not _RARE
}
"""What rules are learned with."""
