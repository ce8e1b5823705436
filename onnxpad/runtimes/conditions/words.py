"""The vocabulary of target files: questions about padding that any runtime may ask.

Words about padded cells read the effective pads, however these are written; words about spelling
read the attributes. Of a Pad node, words about cells read the pads of the node itself. Words about
Pad nodes hold as well for an operator with such a Pad node in front.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from onnxpad.padding.chain import AutoPad, Chain, Mark, Pads, PadStep, is_same
from onnxpad.padding.fills import Constant
from onnxpad.padding.forms import (
    mirrors_beyond,
    mixed_types,
    outer_axes,
    pools_padding_alone,
    reaches_kernel,
    writes_value,
)
from onnxpad.padding.operators import Kind, PadInput, Since
from onnxpad.padding.possible_sizes import at_possible_sizes
from onnxpad.runtimes.conditions import windows as w
from onnxpad.runtimes.conditions.rows import Condition

Term: TypeAlias = str | tuple[Literal["not"], str] | tuple[str, int]
"""A word, a word that must not hold, or a word with its number."""
Numbers: TypeAlias = Callable[[Chain], Sequence[int]]
"""The number that a threshold is compared with, at each possible size; empty if not known."""
Test: TypeAlias = Callable[[Chain], bool | None]


class Word(NamedTuple):
    """One question of the vocabulary; `name` is what a target file writes.

    says, otherwise: sentences for a word that holds and for one that does not; {} is its number.
    test: asked of a chain and the number, if the word has one.
    cure: what a user can do about it; {} is the number.
    numbers: what the number is compared with; None if the word takes none.
    of_cells: the word hangs on sizes where SAME pads by them.
    """

    name: str
    says: str
    otherwise: str
    test: Callable[[Chain, int], bool | None]
    cure: str = ""
    numbers: Numbers | None = None
    of_cells: bool = False

    @property
    def takes_number(self) -> bool:
        """Whether a threshold belongs to the word, as in `pad_above = 3`."""
        return self.numbers is not None

    def holds(self, chain: Chain, number: int | None = None) -> bool | None:
        """Whether the word holds at every size; None if it hangs on what is not known."""
        return condition_of(self.name if number is None else (self.name, number)).holds(chain)

    def values(self, chain: Chain) -> Sequence[int]:
        """What the threshold is compared with, at each possible size; empty if not known."""
        return self.numbers(chain) if self.numbers else ()


@cache
def condition_of(term: Term, *, settled: bool = True) -> Condition:
    """The question of a term; always the same Condition.

    settled: None where it holds at some of the sizes that a file leaves open; otherwise it holds
        there, which is worse for a runtime.
    """
    name, number = (term, 0) if isinstance(term, str) else term
    if isinstance(number, str):
        return ~condition_of(number, settled=settled)
    word = WORDS[name]
    condition = Condition(
        word.says.format(number),
        lambda chain: word.test(chain, number),
        word.otherwise.format(number),
        word.cure.format(number),
        of_opset=name.startswith("opset_"),
        of_sizes=name == "open_sizes",
    )
    return _settled(condition) if settled and word.of_cells else condition


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


def _of_pads(test: Callable[[Pads], bool]) -> Test:
    """A question about the pads of an operator, or about those of a Pad node itself."""

    def holds(chain: Chain) -> bool | None:
        pads = _own_pads(chain)
        return any(map(test, pads)) if pads else None

    return holds


def _own_pads(chain: Chain) -> list[Pads]:
    """The pads at each possible size; empty if they are not known."""
    if chain.op.kind is not Kind.PAD:
        return w.possible_pads(chain)
    return [] if chain.pad is None or chain.pad.unclear else [chain.pad.pads]


def _largest_of_axes(attribute: str) -> Numbers:
    return lambda chain: [max((getattr(axis, attribute) for axis in chain.axes), default=0)]


def _is_auto_pad(*values: str) -> Test:
    return lambda chain: chain.padding in values


def _is_unwritten(name: str) -> Test:
    return lambda chain: not w.writes(chain, name)


def _has_axes(count: int) -> Test:
    return lambda chain: chain.rank == count if chain.rank else None


def _has_type(*types: str) -> Test:
    """`types` as numpy names them."""
    return lambda chain: chain.dtype in types if chain.dtype else None


def _input_axes(chain: Chain) -> Sequence[int]:
    return () if chain.shape is None else (len(chain.shape),)


def of_step(test: Callable[[PadStep], bool | None]) -> Test:
    """A test of the Pad in front of the operator, or of the Pad that the chain is about."""
    return lambda chain: chain.pad is not None and test(chain.pad)


def _has_mode(*modes: str) -> Test:
    return of_step(lambda step: step.mode in modes)


def _leaves_sizes_open(chain: Chain) -> bool:
    """Whether the file leaves a size but the batch's open, be it known to the user or not."""
    if Mark.ASSUMES_SIZES in chain.around.marks or chain.shape is None:
        return True
    return any(not isinstance(size, int) for size in chain.shape[2:])


def _batch(chain: Chain) -> bool | None:
    size = chain.shape[0] if chain.shape else None
    return size != 1 if isinstance(size, int) else None


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
    assumes = Mark.ASSUMES_SIZES in chain.around.marks
    by_the_user = PadInput.PADS in step.computed and assumes
    return bool(step.unclear or by_the_user)


def _reads_value(chain: Chain) -> bool:
    given = chain.written.inputs[PadInput.VALUE :][:1] == (True,)
    return chain.opset >= Since.PAD_INPUTS and given


def _pads_outer_axes(chain: Chain) -> bool:
    return chain.pad is not None and bool(outer_axes(chain, chain.pad.pads))


def _is_behind_zeros(chain: Chain) -> bool:
    step = chain.pad or chain.around.nearest
    if step is None or step.mode != "constant" or step.fill != Constant(0):
        return False
    return PadInput.AXES not in step.listed and any(step.pads.flat) and min(step.pads.flat) >= 0


AGAINST_TEXT = Condition(
    "the ONNX text does not allow a type, a rank, a length or a value of it",
    lambda _: False,
    "the ONNX text allows it",
    "mend the model where it was made, or export it again",
)
"""Asked about a node as it is written, not about what is read of it (model/reading/by_the_text)."""


def _has_negative_pads(chain: Chain) -> bool | None:
    if chain.op.kind is Kind.PAD:
        return of_step(lambda step: min(step.pads.flat, default=0) < 0)(chain)
    return isinstance(chain.padding, Pads) and min(chain.padding.flat, default=0) < 0


_TESTS: Mapping[str, Test] = {
    "auto_pad": lambda c: is_same(c.padding) or c.padding is AutoPad.VALID,
    "same": _is_auto_pad("SAME_UPPER", "SAME_LOWER"),
    "same_upper": _is_auto_pad("SAME_UPPER"),
    "same_lower": _is_auto_pad("SAME_LOWER"),
    "valid": _is_auto_pad("VALID"),
    "pads_unwritten": _is_unwritten("pads"),
    "strides_unwritten": _is_unwritten("strides"),
    "kernel_unwritten": _is_unwritten("kernel_shape"),
    "dilations_unwritten": _is_unwritten("dilations"),
    "counting_unwritten": _is_unwritten("count_include_pad"),
    "mode_unwritten": _is_unwritten("mode"),
    "ceil_mode": lambda c: c.ceil_mode,
    "counts_padding": lambda c: c.counts_padding,
    "output_padding": lambda c: any(c.output_padding),
    "output_shape": lambda c: bool(c.output_shape),
    "negative_pads": _has_negative_pads,
    "strided": w.of_axes(lambda axis: axis.stride > 1),
    "dilated": w.of_axes(lambda axis: axis.dilation > 1),
    "unequal_steps": lambda c: len({(axis.stride, axis.dilation) for axis in c.axes}) > 1,
    "kernel_of_one": lambda c: all(axis.kernel == 1 for axis in c.axes),
    "kernel_below_stride": w.of_axes(lambda axis: axis.kernel < axis.stride),
    "grouped": lambda c: int(c.attribute("group", 1)) > 1,  # type: ignore[arg-type]
    "depthwise": w.reads_one_channel_a_group,
    "bias": w.has_bias,
    "weight_computed": lambda c: (
        c.op.weight is not None and not c.weight.has_value and c.around.dequantised is None
    ),
    "weight_int8": lambda c: c.weight.whole == "int8" and c.weight.zero_point in (0, None),
    "indices": lambda c: c.uses_indices,
    "columns_first": lambda c: c.attribute("storage_order", 0) == 1,
    "one_d": _has_axes(1),
    "two_d": _has_axes(2),
    "three_d": _has_axes(3),
    "batch_above_1": _batch,
    "open_sizes": _leaves_sizes_open,
    "float16": _has_type("float16"),
    "float64": _has_type("float64"),
    "eight_bit": _has_type("int8", "uint8"),
    "int8": _has_type("int8"),
    "uint8": _has_type("uint8"),
    "quantised": lambda c: c.op.quantised,
    "scales_by_channel": lambda c: (
        c.op.quantised and isinstance(c.weight.scales, int) and c.weight.scales > 1
    ),
    "dequantised": lambda c: c.around.dequantised is not None,
    "never_negative": lambda c: c.around.never_negative,
    "behind_pad": lambda c: c.pad is not None and c.op.kind is not Kind.PAD,
    "reflect": _has_mode("reflect"),
    "edge": _has_mode("edge"),
    "wrap": _has_mode("wrap"),
    "mirrors": _has_mode("reflect", "edge", "wrap"),
    "value_not_zero": of_step(writes_value),
    "infinite_value": of_step(_is_infinite),
    "value_given": _reads_value,
    "value_listed": of_step(lambda step: PadInput.VALUE in step.listed),
    "pads_computed": of_step(_is_computed),
    "pads_unknown": _is_unknown,
    "lists_axes": of_step(lambda step: PadInput.AXES in step.listed),
    "pads_batch_or_channels": _pads_outer_axes,
    "pads_batch": of_step(lambda step: any(any(sides) for sides in step.pads.sides[:1])),
    "beyond_last_two": of_step(lambda step: any(any(sides) for sides in step.pads.sides[:-2])),
    "auto_pad_and_pads": lambda c: (
        w.writes(c, "pads") and c.attribute("auto_pad", "") not in ("", "NOTSET")
    ),
    "pads_asymmetric": lambda c: isinstance(c.padding, Pads) and c.padding.begins != c.padding.ends,
    "begins_vary": lambda c: len({pads.begins for pads in w.possible_pads(c)}) > 1,
    "like_same_upper": w.is_like_same_upper,
    "last_cell_unread": w.leaves_last_cell,
    "nine_in_a_row": w.has_nine_taps,
    "several_per_channel": w.has_multiplier,
    "weight_off_middle": w.is_off_middle,
    "scales_listed": lambda c: c.weight.listed,
    "samples_border": lambda c: c.attribute("padding_mode", "zeros") != "zeros",
    "two_types": lambda c: mixed_types(c) is not None,
    "behind_quantised": lambda c: Mark.BEHIND_QUANTISED in c.around.marks,
    "between_conversions": lambda c: c.around.between is not None,
    "behind_zeros": _is_behind_zeros,
    "reads_input": lambda c: Mark.READS_INPUT in c.around.marks,
    "kernel_even": lambda c: any(axis.kernel % 2 == 0 for axis in c.axes),
    "declared_otherwise": lambda c: Mark.DECLARED_OTHERWISE in c.around.marks,
    "from_pytorch": lambda c: Mark.FROM_PYTORCH in c.around.marks,
    "wraps_again": w.wraps_again,
    "mirrors_beyond": mirrors_beyond,
    "padding_alone": lambda c: bool(pools_padding_alone(c)),
}
_TESTS_OF_CELLS: Mapping[str, Test] = {
    "padded": _of_pads(lambda pads: any(pads.flat)),
    "asymmetric": _of_pads(lambda pads: pads.begins != pads.ends),
    "unequal_pads": _of_pads(lambda pads: len(set(pads.flat)) > 1),
    "pads_reach_kernel": w.of_pads(reaches_kernel),
    "pads_over_half": w.of_sides(lambda axis, begin, end: max(begin, end) > axis.kernel // 2),
    "last_window_dropped": lambda c: c.ceil_mode and w.of_pads(w.overhangs)(c),
    "last_window_cut": lambda c: c.ceil_mode and w.of_pads(w.cut_off)(c),
    "end_above_begin": w.of_sides(lambda _, begin, end: end > begin),
    "pads_off_centre": w.of_sides(lambda _, begin, end: begin != (begin + end) // 2),
    "begins_off_centre": w.of_sides(lambda axis, begin, _: begin != (axis.kernel - 1) // 2),
    "keeps_sizes": w.of_pads(w.keeps_sizes),
}
"""Questions about cells, which hang on sizes where SAME pads by them."""
_THRESHOLDS: Mapping[str, Numbers] = {
    "pad_above": lambda c: [max(pads.flat, default=0) for pads in _own_pads(c)],
    "axes_above": lambda c: [sum(map(any, pads.sides)) for pads in _own_pads(c)],
    "kernel_above": _largest_of_axes("kernel"),
    "stride_above": _largest_of_axes("stride"),
    "dilation_above": _largest_of_axes("dilation"),
    "opset_above": lambda c: (c.opset,),
    "opset_below": lambda c: (c.opset,),
    "input_axes_above": _input_axes,
    "input_axes_below": _input_axes,
}


def _of_threshold(numbers: Numbers, *, below: bool) -> Callable[[Chain, int], bool | None]:
    def holds(chain: Chain, threshold: int) -> bool | None:
        found = numbers(chain)
        passes = (number < threshold if below else number > threshold for number in found)
        return any(passes) if found else None

    return holds


def _built(name: str, says: str, otherwise: str, cure: str = "") -> Word:
    if numbers := _THRESHOLDS.get(name):
        below = name.endswith("_below")
        of_cells = not (below or name == "opset_above")
        test = _of_threshold(numbers, below=below)
        return Word(name, says, otherwise, test, cure, numbers, of_cells)
    of_cells = name in _TESTS_OF_CELLS
    plain = _TESTS_OF_CELLS[name] if of_cells else _TESTS[name]
    return Word(name, says, otherwise, lambda c, _: plain(c), cure, None, of_cells)


_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SECTIONS: Mapping[str, tuple[Word, ...]] = {
    title: tuple(_built(name, *texts) for name, texts in words.items())
    for title, words in _TEXTS.items()
}
WORDS: Mapping[str, Word] = {word.name: word for part in SECTIONS.values() for word in part}
LEARNABLE: Mapping[str, Word] = {
    word.name: word for title, part in SECTIONS.items() for word in part if title != "Rarely asked"
}
"""What rules are learned with."""
