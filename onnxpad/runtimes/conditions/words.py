"""The shared vocabulary of target files: questions about padding that any runtime may ask.

A word about the number of padded cells reads the effective pads, be they written as `pads`,
`auto_pad` or `output_shape`; a word about how padding is written reads the attributes. Of a Pad
node, words about cells read the pads of the node itself. Words about Pad nodes hold as well for an
operator with such a Pad node in front.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Literal, TypeAlias

from onnxpad.errors import RequestError, nearest
from onnxpad.padding.chain import Chain, Pads
from onnxpad.padding.operators import Kind
from onnxpad.padding.possible_sizes import at_possible_sizes
from onnxpad.runtimes.conditions import fronts as f
from onnxpad.runtimes.conditions import pads as p
from onnxpad.runtimes.conditions import tensors as t
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import Condition

Term: TypeAlias = str | tuple[Literal["not"], str] | tuple[str, int]
"""A word, a word that must not hold, or a word with its number."""
Numbers: TypeAlias = Callable[[Chain], Sequence[int]]
"""The number that a threshold is compared with, at each possible size; empty if not known."""


@dataclass(frozen=True, slots=True)
class Word:
    """One question of the vocabulary; `name` is what a target file writes."""

    name: str
    _condition: Callable[[int], Condition]
    _numbers: Numbers | None = None
    _of_sizes: bool = False

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
        return _settled(condition) if settled and self._of_sizes else condition

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


def _cells(operator: Condition, pad_node: Callable[[Pads], bool]) -> Condition:
    """A question about the pads of an operator, or about those of a Pad node itself."""
    def holds(chain: Chain) -> bool | None:
        if chain.op.kind is not Kind.PAD:
            return operator.holds(chain)
        pads = _own_pads(chain)
        return pad_node(pads[0]) if pads else None

    return replace(operator, holds=holds)


def _own_pads(chain: Chain) -> list[Pads]:
    """The pads at each possible size; empty if they are not known."""
    if chain.op.kind is not Kind.PAD:
        return w.possible_pads(chain)
    return [] if chain.pad is None or chain.pad.unclear else [chain.pad.pads]


def _of_pads(number: Callable[[Pads], int]) -> Numbers:
    return lambda chain: [number(pads) for pads in _own_pads(chain)]


def _largest_of_axes(attribute: str) -> Numbers:
    return lambda chain: [max((getattr(axis, attribute) for axis in chain.axes), default=0)]


def _word(name: str, condition: Condition, negation: str = "", *, of_sizes: bool = False) -> Word:
    asked = replace(condition, negation=negation or condition.negation)
    return Word(name, lambda _: asked, _of_sizes=of_sizes)


def _above(name: str, text: str, negation: str, numbers: Numbers) -> Word:
    """A word that holds if the largest of some numbers is above its threshold."""

    def condition(threshold: int) -> Condition:
        def holds(chain: Chain) -> bool | None:
            found = numbers(chain)
            return any(number > threshold for number in found) if found else None

        return Condition(text.format(threshold), holds, negation.format(threshold))

    return Word(name, condition, numbers, _of_sizes=True)


def _axes(chain: Chain) -> Sequence[int]:
    return () if chain.shape is None else (len(chain.shape),)


def input_axes_below(count: int) -> Condition:
    """The input has fewer axes."""
    return Condition(
        f"the input has fewer than {count} axes",
        lambda c: None if c.shape is None else len(c.shape) < count,
        f"the input has {count} axes or more",
    )


def _opset(chain: Chain) -> Sequence[int]:
    return (chain.opset,)


_WRITTEN = (
    _word("auto_pad", w.AUTO_PAD),
    _word("same", w.SAME),
    _word("same_upper", w.SAME_UPPER),
    _word("same_lower", w.SAME_LOWER),
    _word("valid", w.VALID),
    _word("pads_unwritten", w.PADS_UNWRITTEN, "pads is written"),
    _word("strides_unwritten", w.STRIDES_UNWRITTEN, "strides is written"),
    _word("kernel_unwritten", w.KERNEL_UNWRITTEN, "kernel_shape is written"),
    _word("dilations_unwritten", w.DILATIONS_UNWRITTEN),
    _word("counting_unwritten", w.COUNTING_UNWRITTEN),
    _word("auto_pad_and_pads", w.AUTO_PAD_AND_PADS),
    _word("ceil_mode", w.CEIL_MODE),
    _word("counts_padding", w.COUNTS),
    _word("output_padding", w.OUTPUT_PADDING, "output_padding is not set"),
    _word("output_shape", w.OUTPUT_SHAPE),
    _word("samples_border", w.SAMPLES_BORDER),
)
_CELLS = (
    _word("padded", _cells(w.PADDED, lambda pads: any(pads.flat)), "it does not pad", of_sizes=True),
    _word(
        "asymmetric",
        _cells(w.ASYMMETRIC, lambda pads: pads.begins != pads.ends),
        "begin and end pads are equal",
        of_sizes=True,
    ),
    _word("pads_asymmetric", w.EXPLICIT_ASYMMETRIC),
    _word("unequal_pads", w.UNEQUAL_PADS, of_sizes=True),
    _word("end_above_begin", w.END_ABOVE_BEGIN, of_sizes=True),
    _word("pads_off_centre", w.PADS_OFF_CENTRE, of_sizes=True),
    _word("begins_off_centre", w.BEGINS_OFF_CENTRE, of_sizes=True),
    _word("begins_unlike_stride_one", w.BEGINS_UNLIKE_STRIDE_ONE, of_sizes=True),
    _word("first_axis_unpadded", w.FIRST_UNPADDED, of_sizes=True),
    _word("keeps_sizes", w.KEEPS_SIZES, of_sizes=True),
    _word("last_cell_unread", w.SAME_NEGATIVE),
    _word("like_same_upper", w.LIKE_SAME_UPPER),
    _word("half_kernel", w.HALF_KERNEL, of_sizes=True),
    _word(
        "negative_pads",
        _cells(w.NEGATIVE_PADS, lambda pads: min(pads.flat, default=0) < 0),
        "no pad is negative",
        of_sizes=True,
    ),
    _word(
        "pads_reach_kernel", w.PADS_LIKE_KERNEL, "every pad is smaller than the kernel"
    ),
    _word("pads_over_half", w.PADS_OVER_HALF, "no pad is wider than half the kernel", of_sizes=True),
    _word("empty_window", w.EMPTY_WINDOW),
    _word("last_window_dropped", w.DROPPED_WINDOW, "the last window starts in the data", of_sizes=True),
    _word("last_window_cut", w.CUT_WINDOW, "the last window ends within the padding", of_sizes=True),
    _above(
        "pad_above",
        "a pad is above {}",
        "no pad is above {}",
        _of_pads(lambda pads: max(pads.flat, default=0)),
    ),
    _above(
        "axes_above",
        "it pads more than {} axes",
        "it pads {} axes at most",
        _of_pads(lambda pads: sum(any(sides) for sides in pads.sides)),
    ),
)
_WINDOWS = (
    _word("strided", w.STRIDED),
    _word("dilated", w.DILATED),
    _word("unequal_steps", w.UNEQUAL_STEPS, "strides and dilations are the same on every axis"),
    _word("kernel_of_one", w.KERNEL_OF_ONE),
    _word("kernel_of_three", w.KERNEL_OF_THREE),
    _word("kernel_below_stride", w.KERNEL_BELOW_STRIDE),
    _word("grouped", w.GROUPED, "group is 1"),
    _word("depthwise", w.DEPTHWISE),
    _word("bias", w.HAS_BIAS, "it has no bias"),
    _word("weight_computed", w.WEIGHT_COMPUTED, "its weight is a constant"),
    _word("indices", w.INDICES, "its Indices are not used"),
    _word("columns_first", w.COLUMNS_FIRST),
    _word("several_per_channel", w.SEVERAL_PER_CHANNEL),
    _word("wide_as_deep", w.WIDE_AS_DEEP, of_sizes=True),
    _word("nine_in_a_row", w.NINE_IN_A_ROW),
    _word("weight_int8", w.WEIGHT_INT8),
    _word("weight_off_middle", w.WEIGHT_OFF_MIDDLE),
    _word("scales_listed", w.SCALES_LISTED),
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
    _word("one_d", t.ONE_D, "the operator is not 1-D"),
    _word("two_d", t.TWO_D, "the operator is not 2-D"),
    _word("three_d", t.THREE_D, "the operator is not 3-D"),
    _word("batch_above_1", t.BATCH_ABOVE_ONE, "the batch is 1"),
    _word("open_sizes", t.SPATIAL_SIZES_LEFT_OPEN),
    _above(
        "input_axes_above",
        "the input has more than {} axes",
        "the input has {} axes or fewer",
        _axes,
    ),
    Word("input_axes_below", input_axes_below, _axes),
    _word("float16", t.element_type("float16")),
    _word("float64", t.element_type("float64")),
    _word("int8", t.element_type("int8")),
    _word("uint8", t.element_type("uint8")),
    _word("two_types", t.TWO_TYPES),
    _word("eight_bit", t.EIGHT_BIT),
    _word(
        "quantised",
        Condition("it is a quantised operator", lambda c: c.op.quantised),
        "it is no quantised operator",
    ),
    _word("scales_by_channel", w.SCALES_BY_CHANNEL),
    _word("dequantised", f.DEQUANTISED, "it reads no DequantizeLinear"),
    _word("never_negative", f.NEVER_NEGATIVE),
    _word("behind_quantised", t.BEHIND_QUANTISED),
    _word("between_conversions", f.BETWEEN_CONVERSIONS),
    _word("feeds_max_pools", f.FEEDS_MAX_POOLS),
    _word("behind_pad", f.BEHIND_PAD, "no Pad node stands in front"),
    _word("behind_zeros", f.BEHIND_ZEROS, "no Pad node that writes 0 stands in front"),
    _word("reads_input", p.READS_INPUT),
    _word("from_pytorch", f.FROM_PYTORCH),
    Word("opset_above", t.opset_above, _opset),
    Word("opset_below", t.opset_below, _opset),
)
_PAD_NODES = (
    _word("reflect", p.REFLECT),
    _word("edge", p.EDGE),
    _word("wrap", p.WRAP),
    _word("mirrors", p.MIRRORS),
    _word("wraps_again", p.WRAPS_AGAIN, "its mode is not wrap, or its pads are within the axis"),
    _word("mode_unwritten", p.MODE_UNWRITTEN, "Pad writes `mode`"),
    _word("value_not_zero", p.WRITES_VALUE, "it pads with 0 or mirrors"),
    _word("infinite_value", p.VALUE_NOT_FINITE, "it pads with a finite value or mirrors"),
    _word("value_given", p.VALUE_GIVEN, "constant_value is left out"),
    _word("value_listed", p.VALUE_LISTED, "constant_value is no list"),
    _word("pads_computed", p.COMPUTED, "its pads are constants"),
    _word("lists_axes", p.LISTS_AXES, "it lists no axes"),
    _word("pads_batch", p.BATCH_AXIS),
    _word("pads_batch_or_channels", p.OUTER_AXES),
    _word("beyond_last_two", p.BEYOND_LAST_TWO, "it pads the last two axes alone"),
)
SECTIONS: Mapping[str, tuple[Word, ...]] = {
    "How padding is written": _WRITTEN,
    "Padded cells": _CELLS,
    "Windows and weights": _WINDOWS,
    "Tensors": _TENSORS,
    "Pad nodes": _PAD_NODES,
}
WORDS: Mapping[str, Word] = {word.name: word for part in SECTIONS.values() for word in part}
