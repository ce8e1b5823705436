"""The work of a node."""

from __future__ import annotations

import pytest
from onnx import parser

from onnxpad.model.editing.session import session_on
from onnxpad.model.opened import open_model
from onnxpad.padding.chain import Preferences
from onnxpad.rewriting.costs import work_of_node

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


WORK = {
    "Conv": 6 * 7 * 7 * 9 * 4,
    "Conv in groups": 6 * 7 * 7 * 9 * 2,
    "ConvTranspose": 4 * 9 * 9 * 9 * 3,
    "channels last": 6 * 7 * 7 * 9 * 4,
    "MaxPool": 4 * 7 * 7 * 9,
}


@pytest.mark.parametrize("name", NODES)
def test_multiply_adds_of_a_node(name: str) -> None:
    session = session_on(
        open_model(parser.parse_model(HEAD + NODES[name])), None, Preferences(None)
    )
    site = session.sites_now()[0]
    (context,) = session.contexts
    assert work_of_node(context, site.node).multiply_adds == WORK[name]
