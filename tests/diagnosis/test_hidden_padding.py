"""Padding outside of a plan of which these samples cannot show whether it is right."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from onnxpad.diagnosis import diagnose
from onnxpad.show.diagnoses import diagnosis_document
from tests.retargeting.running import outputs, signed

_TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,9,9] x) => (float[1,1,5,5] y) <float[1,1,2,2] w = {{1, 2, 3, 4}}> {{
  c = Conv <pads = [{}]> (x, w)
  y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (c)
}}"""


def test_a_pool_of_which_no_negative_number_tells_the_padding_is_named() -> None:
    """With positive data only, padding of 0 and of -inf are the same to a max pool."""
    damaged, true = (parser.parse_model(_TEXT.format(one)) for one in ("1, 1, 0, 0", "0, 0, 1, 1"))
    x = signed(0, 1, 1, 9, 9)
    for value, named in ((np.abs(x) + 1, True), (-np.abs(x) - 1, False)):
        found = diagnose(damaged, inputs={"x": value}, outputs={"y": outputs(true, value)[0]})
        assert [one.node for one in found.nodes if one.changed] == ["c"]
        said = str(diagnosis_document(found))
        assert ("inputs below the padded number" in said) == named, said


@pytest.mark.parametrize("pool", ["1, 1, 1, 1", "0, 0, 1, 1"])
def test_what_would_tell_the_fill_of_a_pool_is_said_where_positive_data_does_not(pool: str) -> None:
    """The padding of the pool is wrong, or right beside a convolution that is padded wrongly."""
    pads = "1, 1, 0, 0" if pool == "1, 1, 1, 1" else "0, 0, 1, 1"
    true = parser.parse_model(_TEXT.format("0, 0, 1, 1"))
    wrong = parser.parse_model(_TEXT.format(pads).replace("1, 1, 1, 1", pool))
    x = np.abs(signed(0, 1, 1, 9, 9)) + 1
    found = diagnose(wrong, inputs={"x": x}, outputs={"y": outputs(true, x)[0]})
    assert found.explained, found.reason
    said = "inputs below the padded number at the borders"
    assert said in str(diagnosis_document(found))
