"""What follows from a chain and its surroundings alone."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from onnxpad.chain import AutoPad, Chain, Pads, Skip, Unclear
from onnxpad.effective import effective_pads
from onnxpad.fitting import fits
from onnxpad.forms import Form, forms_of
from onnxpad.ops import Kind
from onnxpad.traps import Surroundings, Trap, traps_of


class Facts(NamedTuple):
    """What follows from a chain and its surroundings alone."""

    chain: Chain
    pads: Pads | Skip
    forms: tuple[str, ...]
    conventions: tuple[str, ...]
    traps: tuple[Trap, ...]


class Known:
    """Facts, worked out once for nodes that compute the same: those share one Chain object."""

    def __init__(self) -> None:
        self._facts: dict[tuple[int, Surroundings], Facts] = {}

    def of(self, chain: Chain, around: Surroundings) -> Facts:
        """The facts about a node, the same object for nodes that are alike."""
        key = (id(chain), around)
        if key not in self._facts:
            pads, forms = _pads(chain, around), _forms(with_far_pad(chain), around)
            known = None if isinstance(pads, Skip) else pads
            self._facts[key] = Facts(
                chain,
                pads,
                tuple(str(form) for form in Form if form in forms),
                () if _is_behind_pad(with_far_pad(chain)) else fits(chain, known),
                traps_of(chain, around),
            )
        return self._facts[key]


def with_far_pad(chain: Chain) -> Chain:
    """The chain with a Pad in front that reaches it through other operators, if there is one.

    Behind a Transpose, or the DequantizeLinear of a group of its own, it pads all the same.
    """
    far = chain.far_pad
    if chain.pad is not None or far is None or far.unclear or not any(far.pads.flat):
        return chain
    return replace(chain, pad=far)


def _pads(chain: Chain, around: Surroundings) -> Pads | Skip:
    step = chain.pad
    if chain.op.kind is not Kind.PAD or step is None:
        found = effective_pads(chain)
        if isinstance(found, Skip) and not found.hints:
            return Skip(found.reason, _hints(chain, around))
        return found
    return Skip(step.unclear, step.hints) if step.unclear else step.pads


def _is_behind_pad(chain: Chain) -> bool:
    """Whether a Pad node in front pads as well, so that the operator's own pads say too little."""
    step = chain.pad
    return step is not None and (bool(step.unclear) or any(step.pads.flat))


def _forms(chain: Chain, around: Surroundings) -> frozenset[Form]:
    """The forms; padding that cannot be read is dynamic only where it is computed."""
    forms = forms_of(chain)
    if not isinstance(chain.padding, Unclear) or not chain.trouble:
        return forms
    if chain.pad is None or not chain.pad.unclear:
        forms -= {Form.DYNAMIC}
    return forms | {Form.AUTO_PAD} if _says_auto_pad(chain, around) else forms


def _hints(chain: Chain, around: Surroundings) -> tuple[str, ...]:
    """What to write into a file that nobody can read as it is."""
    if not chain.trouble or chain.op.why_left_alone:
        return ()
    if _says_auto_pad(chain, around) and around.auto_pad not in AutoPad.__members__:
        return tuple(
            f"auto_pad={mode} in the file" for mode in (AutoPad.SAME_UPPER, AutoPad.SAME_LOWER)
        )
    if chain.axes:
        return ()
    return ("kernel_shape in the file",)


def _says_auto_pad(chain: Chain, around: Surroundings) -> bool:
    return chain.op.auto_pad and around.auto_pad not in ("", "NOTSET")
