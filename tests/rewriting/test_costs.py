"""Work is counted by one set of formulas, for the choice of a pass and for whole models."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from onnxpad.model.editing.session import session_on
from onnxpad.model.opened import open_model
from onnxpad.padding.chain import Preferences
from onnxpad.rewriting import costs
from onnxpad.rewriting.work import work_of_node

HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\n'
NODES = {
    "Conv": """g (float[1,4,9,9] x, float[6,4,3,3] w) => (float[1,6,7,7] y) {
        y = Conv<kernel_shape=[3,3]>(x, w) }""",
    "Conv in groups": """g (float[1,4,9,9] x, float[6,2,3,3] w) => (float[1,6,7,7] y) {
        y = Conv<kernel_shape=[3,3], group=2>(x, w) }""",
    "ConvTranspose": """g (float[1,4,9,9] x, float[4,3,3,3] w) => (float[1,6,11,11] y) {
        y = ConvTranspose<kernel_shape=[3,3], group=2>(x, w) }""",
    "channels last": """g (float[1,9,9,4] x, float[6,3,3,4] w) => (float[1,7,7,6] y) {
        y = com.microsoft.NhwcConv<kernel_shape=[3,3]>(x, w) }""",
    "MaxPool": """g (float[1,4,9,9] x) => (float[1,4,7,7] y) {
        y = MaxPool<kernel_shape=[3,3]>(x) }""",
}


@pytest.mark.parametrize("name", NODES)
def test_a_node_costs_a_pass_what_it_costs_a_model(name: str) -> None:
    session = session_on(
        open_model(parser.parse_model(HEAD + NODES[name])), None, Preferences(None)
    )
    site = session.sites_now()[0]
    chain = site.chain
    turned = name == "ConvTranspose"
    places = costs.input_cells(chain) if turned else costs.output_cells(chain)
    counted = costs.multiply_adds(chain, places, [axis.kernel for axis in chain.axes])
    (context,) = session.typed_contexts()
    assert counted == work_of_node(context, site.node).multiply_adds


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int16", "float16", "float32", "int64", "uint64"]
)
def test_a_cell_is_as_wide_as_numpy_s(dtype: str) -> None:
    assert costs.width(dtype) == np.dtype(dtype).itemsize
