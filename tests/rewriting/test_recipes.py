"""Passes that go together do what their line in `explain recipes` says."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto

from onnxpad.model.editing.session import EditSession
from onnxpad.padding.forms import Form, forms_of
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.passes import all_passes
from onnxpad.rewriting.recipes import ADVICE, RECIPES, Recipe
from onnxpad.rewriting.rewrite import rewrite
from tests.models.text import padded
from tests.models.tiny import tiny
from tests.oracle.interpreter import run_model

BY_PASSES = {recipe.passes: recipe for recipe in RECIPES}
W = "float[1,1,3] w = {1, 10, 100}"
SAME = (
    '[a] a = Conv <strides = [2], auto_pad = "SAME_UPPER"> (x, w) '
    '[b] b = ConvTranspose <strides = [2], auto_pad = "SAME_LOWER"> (a, w) '
    '[c] y = Conv <auto_pad = "SAME_LOWER"> (b, w)'
)
CROPS = (
    "[a] a = ConvTranspose <strides = [3], pads = [1, 0], output_padding = [2]> (x, w) "
    "[b] b = ConvTranspose <strides = [2], output_shape = [32]> (a, w) "
    "[c] y = ConvTranspose <strides = [2], pads = [0, 2]> (b, w)"
)
MIXED = (
    "[a] a = AveragePool <kernel_shape = [3], strides = [2], pads = [1, 1], ceil_mode = 1, "
    "count_include_pad = 1> (x) "
    "[b] b = AveragePool <kernel_shape = [3], pads = [1, 1]> (a) "
    "[c] y = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (b)"
)
PADDED = (
    "[a] a = Conv <pads = [2, 0]> (x, w) [b] b = AveragePool <kernel_shape = [3], pads = [1, 1]> "
    "(a) [c] y = MaxPool <kernel_shape = [3], pads = [0, 1]> (b)"
)
MIRRORS = (
    '[p] a = Pad <mode = "reflect"> (x, p) [q] b = Pad <mode = "edge"> (a, p) [r] y = Pad (b, n)'
)
AUTO = (
    "[a] a = Conv <strides = [2], pads = [0, 1]> (x, w) [b] b = Conv <pads = [1, 1]> (a, w) "
    "[c] c = Conv (b, w) [d] y = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (c)"
)
FOLDED = ("[op] y = Conv (p, w)", "0, 0, 1, 0, 0, 2")
FIXED = "float[1,1,10]"
EXAMPLES: dict[tuple[str, ...], ModelProto] = {
    ("plain-transpose", "explicit-pads"): tiny(SAME, FIXED),
    ("plain-transpose", "runtime-pads", "explicit-pads"): tiny(SAME, "float[1,1,n]"),
    ("symmetric-pads",): tiny(PADDED, FIXED),
    ("absorb-pad", "symmetric-pads-by-slice"): padded(*FOLDED, more=W),
    ("output-padding-by-kernel", "slice-transpose"): tiny(CROPS, "float[1,1,5]"),
    ("plain-transpose", "output-padding-by-kernel", "symmetric-pads-by-slice"): tiny(
        CROPS, "float[1,1,5]"
    ),
    ("floor-pool", "counted-padding"): tiny(MIXED, FIXED),
    ("counted-padding", "uncounted-padding"): tiny(MIXED, FIXED),
    ("uncounted-padding", "split-pads"): tiny(PADDED, FIXED),
    ("absorb-pad",): padded(*FOLDED, more=W),
    ("border-pads", "split-pads"): tiny(
        '[a] a = Conv <strides = [2], auto_pad = "SAME_UPPER"> (x, w) '
        "[b] y = MaxPool <kernel_shape = [3], pads = [1, 1]> (a)",
        FIXED,
    ),
    ("plain-pad",): tiny(
        MIRRORS,
        FIXED,
        constants="int64[6] p = {0, 0, 2, 0, 0, 1}, int64[6] n = {0, 0, -1, 0, 0, 0}",
    ),
    ("floor-pool", "auto-pads"): tiny(AUTO, FIXED),
    ("average-by-conv",): tiny(PADDED, FIXED),
}


def forms(model: ModelProto, *, pads: bool) -> frozenset[Form]:
    chains = [site.chain for site in EditSession(model).sites_now()]
    found = [one for one in chains if pads or one.op.kind is not Kind.PAD]
    return frozenset[Form]().union(*map(forms_of, found))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: " ".join(recipe.passes))
def test_a_recipe_does_its_job(recipe: Recipe) -> None:
    model = EXAMPLES[recipe.passes]
    pads = recipe.passes == ("plain-pad",)
    assert set(recipe.forms) & forms(model, pads=pads)
    done = rewrite(model, passes=recipe.passes)
    assert done.changed
    assert not done.skips
    assert {change.rule for change in done.changes} == set(recipe.passes)
    assert isinstance(done.model, ModelProto)
    assert not set(recipe.forms) & forms(done.model, pads=pads)
    sizes = [dim.dim_value or 10 for dim in model.graph.input[0].type.tensor_type.shape.dim]
    x = -np.random.default_rng(3).random(sizes, np.float32) - 1
    before, after = (run_model(one, {"x": x})["y"] for one in (model, done.model))
    np.testing.assert_allclose(after, before, rtol=1e-5)


def test_recipes_name_passes_and_what_they_take_away() -> None:
    known = all_passes()
    for recipe in RECIPES:
        gone = frozenset[Form]().union(*(known[name].removes for name in recipe.passes))
        assert set(recipe.forms) <= gone, recipe
    assert len(BY_PASSES) == len(RECIPES)


def test_advice_is_for_forms_that_no_pass_takes_away() -> None:
    removed = frozenset[Form]().union(*(rule.removes for rule in all_passes().values()))
    assert set(ADVICE) == set(Form) - removed
