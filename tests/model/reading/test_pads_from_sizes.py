"""PadStep.sized: whether pads that are known come from sizes, which a runtime may not know."""

from __future__ import annotations

import pytest

from onnxpad.model.reading.survey import Survey
from tests.models.text import text_model

CONSTANTS = "int64[2] none = {0, 0}, int64[1] one = {1}, int64[1] axis = {2}"
JOINED = "p = Concat <axis = 0> (none, u, none, u)"
MADE = {
    "stored": ("p = Identity (q)", ", int64[6] q = {0, 0, 1, 0, 0, 1}", False),
    "of constants": (f"u = Add (one, one) {JOINED}", "", False),
    "of the shape of a constant": (
        f"t = Shape (none) u = Sub (t, one) {JOINED}",
        "",
        False,
    ),
    "of the shape": (
        f"s = Shape (x) h = Gather (s, axis) t = Mod (h, one) u = Add (t, one) {JOINED}",
        "",
        True,
    ),
}


@pytest.mark.parametrize(("made", "more", "sized"), MADE.values(), ids=MADE)
@pytest.mark.parametrize("fact", [6, "%2==0"])
def test_pads_come_from_sizes_or_not(made: str, more: str, fact: int | str, *, sized: bool) -> None:
    model = text_model(
        f"{made} y = Pad (x, p)",
        "float[1, 2, H] x",
        outputs="float[1, 2, W] y",
        constants=f"{CONSTANTS}{more}",
    )
    (site,) = Survey(model, dims={"H": fact}).sites_now()
    assert site.chain.pad is not None
    assert (site.chain.pad.unclear, site.chain.pad.sized) == (None, sized)
