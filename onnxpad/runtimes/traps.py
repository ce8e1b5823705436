"""Padding that is written correctly and still goes wrong somewhere: a test for each trap.

Sentences, sources and passes stand in traps.txt, in the order of the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from onnxpad.geometry.size import show
from onnxpad.geometry.windows import same_totals
from onnxpad.padding.as_written import AsWritten
from onnxpad.padding.chain import AutoPad, Chain, Pads, is_same
from onnxpad.padding.effective_pads import effective_pads
from onnxpad.padding.operators import MICROSOFT, OPTIMISED_DOMAINS, Kind, Since
from onnxpad.reports import reported
from onnxpad.runtimes.conditions.words import WORDS
from onnxpad.runtimes.onnxruntime.facts import FACTS
from onnxpad.runtimes.onnxruntime.pad_fusion import fused_pads

Test = Callable[[Chain, AsWritten], bool]
_GROUPED = ("Conv", "AveragePool", "MaxPool")


@reported("*")
class Trap(NamedTuple):
    """A trap that a node is in: its code, what goes wrong there, and passes that may help."""

    code: str
    sentence: str
    passes: tuple[str, ...] = ()


class TrapRule(NamedTuple):
    """How one trap is found.

    says: the sentence about a node; in braces facts of the node and of AsWritten.
    text: what the trap is about; `source` says where that is known from.
    passes: those that take the trap away where they can, from the operator `helped` ('': from all).
    target: the one that refuses what is in the trap, or says that its runtime miscomputes it; ''
        where no single one does.
    """

    code: str
    test: Test
    says: str
    text: str
    source: str
    passes: tuple[str, ...] = ()
    helped: str = ""
    target: str = ""


def _rounds_up_valid(chain: Chain) -> bool:
    """Whether auto_pad VALID with ceil_mode gives a window that the ONNX formula does not."""
    if chain.padding is not AutoPad.VALID or not chain.ceil_mode or chain.trouble:
        return False
    return any(total % axis.stride for axis in chain.axes for total in same_totals(axis))


def _lacks_cells(chain: Chain) -> bool:
    """Whether SAME wants more cells of a transposed convolution than its windows make."""
    if chain.op.kind is not Kind.TRANSPOSED or not is_same(chain.padding) or chain.output_shape:
        return False
    extra = chain.output_padding or (0,) * chain.rank
    pairs = zip(chain.axes, extra, strict=True)
    return any(axis.span + more < axis.stride for axis, more in pairs)


def _splits_otherwise(chain: Chain) -> bool:
    """Whether a transposed convolution crops an odd cell that opset 11 moved to the other side."""
    if chain.op.kind is not Kind.TRANSPOSED or chain.opset >= Since.CROP_AS_PADS_SPLIT:
        return False
    pads = effective_pads(chain)
    derived = chain.output_shape or is_same(chain.padding)
    return bool(derived) and isinstance(pads, Pads) and pads.begins != pads.ends


def _is_optimised(chain: Chain) -> bool:
    nhwc = chain.op.domain == MICROSOFT and chain.op.name.startswith("Nhwc")
    return nhwc or chain.op.domain in OPTIMISED_DOMAINS


def _parts_group(chain: Chain, written: AsWritten) -> bool:
    """Whether a Pad stands between a DequantizeLinear and what would be computed in bytes."""
    if not written.pad_reads or chain.op.title not in _GROUPED:
        return False
    return chain.is_max or fused_pads(chain) is None


def _has_negative_pads(chain: Chain, _: AsWritten) -> bool:
    is_own = chain.op.kind is not Kind.PAD and isinstance(chain.padding, Pads)
    return is_own and WORDS["negative_pads"].holds(chain) is True


_TESTS: Mapping[str, Test] = {
    "valid-with-ceil-mode": lambda chain, _: _rounds_up_valid(chain),
    "transposed-same-short-kernel": lambda chain, _: _lacks_cells(chain),
    "computed-pads": lambda _, written: bool(written.computed_pads),
    "overridable-pads": lambda _, written: bool(written.overridable_pads),
    "optimised-only": lambda chain, _: _is_optimised(chain),
    "pad-in-quantised-group": _parts_group,
    "negative-pads": _has_negative_pads,
    "transposed-split-before-11": lambda chain, _: _splits_otherwise(chain),
}


def _of_words(when: str) -> Test:
    """Whether one of these holds, which stand between commas."""
    words = [FACTS.get(name) or WORDS[name] for name in when.split(", ")]
    return lambda chain, _: any(one.holds(chain) for one in words)


@cache
def all_rules() -> Mapping[str, TrapRule]:
    """Every rule by its code."""
    _, *sections = Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n[")
    return {rule.code: rule for rule in map(_rule, sections)}


def _rule(section: str) -> TrapRule:
    """A rule from its code, its facts and its text."""
    head, _, text = section.partition("\n\n")
    code, *lines = head.splitlines()
    facts = dict(line.split(": ", 1) for line in lines)
    code, passes = code.removesuffix("]"), facts.pop("passes", "")
    listed = tuple(passes.split(", ")) if passes else ()
    test = _of_words(facts.pop("when")) if "when" in facts else _TESTS[code]
    return TrapRule(code, test, text=text.strip(), passes=listed, **facts)


def traps_of(chain: Chain, written: AsWritten) -> tuple[Trap, ...]:
    """Every trap that a padded node is in."""
    return tuple(
        Trap(rule.code, _sentence(rule.says, chain, written), rule.passes * _helps(rule, chain))
        for rule in all_rules().values()
        if rule.test(chain, written)
    )


def _helps(rule: TrapRule, chain: Chain) -> bool:
    return rule.helped in ("", chain.op.name)


def _sentence(says: str, chain: Chain, written: AsWritten) -> str:
    facts = written._asdict() | {
        "output_shape": f"[{', '.join(show(size) for size in written.output_shape or ())}]",
        "padding": chain.padding,
        "opset": chain.opset,
        "dtype": chain.dtype or "an open type",
        "operator": chain.op.title,
    }
    return says.format(**facts)


def helping(code: str, passes: Iterable[str]) -> str:
    """The target for which a rewrite mends a trap that has these passes; '' where none does.

    What the newest release refuses is mended by passes alone.
    """
    target = all_rules()[code].target
    return target if any(passes) or "@" in target else ""


def of_another(code: str, asked: Iterable[str]) -> str:
    """The runtime whose trap it is, where other targets alone were asked about; '' elsewhere."""
    runtimes = {target.partition("@")[0] for target in asked}
    runtime = all_rules()[code].target.partition("@")[0]
    return runtime if runtimes and runtime not in runtimes else ""
