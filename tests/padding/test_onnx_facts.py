"""Opsets and input places of the operators, held against the schemas of the installed onnx."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from onnx.defs import OpSchema, get_schema

import onnxpad
from onnxpad.padding.operators import (
    CONV_BIAS,
    FREE_INITIALIZERS,
    OPERATORS,
    Kind,
    Operator,
    PadInput,
    Since,
    name_of_pads,
    pads_are_attributes,
)

Shows = Callable[[OpSchema], bool]

NEWEST = onnx.defs.onnx_opset_version()


def _has_attribute(name: str) -> Shows:
    return lambda schema: name in schema.attributes


def _lacks_attribute(name: str) -> Shows:
    return lambda schema: name not in schema.attributes


def _reads(*names: str) -> Shows:
    return lambda schema: {one.name for one in schema.inputs} >= set(names)


def _takes(dtype: str) -> Shows:
    return lambda schema: any(
        f"tensor({dtype})" in one.allowed_type_strs for one in schema.type_constraints
    )


def _says(words: str) -> Shows:
    return lambda schema: words in " ".join((schema.doc or "").split())


def _mode(name: str) -> Shows:
    return lambda schema: f"`{name}`" in schema.attributes["mode"].description


def _drops_the_last_window(schema: OpSchema) -> bool:
    """Shape inference of a pool whose last window would start in the end padding."""
    pool = helper.make_node(
        "MaxPool", ["x"], ["y"], kernel_shape=[2], strides=[3], pads=[1, 1], ceil_mode=1
    )
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [pool],
        "pool",
        [value("x", TensorProto.FLOAT, [1, 1, 5])],
        [value("y", TensorProto.FLOAT, None)],
    )
    opsets = [helper.make_opsetid("", schema.since_version)]
    inferred = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=opsets))
    return bool(inferred.graph.output[0].type.tensor_type.shape.dim[2].dim_value == 2)


PACKAGE = Path(onnxpad.__path__[0])
NUMBERED = re.compile(r"(opset|ir_version)\s*(<|>|<=|>=|==|!=)\s*\d")
SHOWN_BY: dict[str, tuple[tuple[str, ...], Shows]] = {
    "NAMED_PADS": (("Pad",), lambda schema: "paddings" not in schema.attributes),
    "BROADCASTING": (("Add", "Mul", "Sub", "Div"), _lacks_attribute("broadcast")),
    "COUNT_INCLUDE_PAD": (("AveragePool",), _has_attribute("count_include_pad")),
    "STORAGE_ORDER": (("MaxPool",), _has_attribute("storage_order")),
    "EXPAND": (("Expand",), _reads("input", "shape")),
    "CONSTANT_INTEGERS": (("Constant",), _takes("int64")),
    "SLICE_INPUTS": (("Slice",), _reads("starts", "ends", "axes", "steps")),
    "PAD_INPUTS": (("Pad",), _reads("pads", "constant_value")),
    "PAD_INTEGERS": (("Pad",), _takes("int8")),
    "PAD_ANY_TYPE": (("Pad",), _takes("bool")),
    "CLIP_INPUTS": (("Clip",), _reads("min", "max")),
    "CROP_AS_PADS_SPLIT": (("ConvTranspose",), _says("If (auto_pads == SAME_UPPER)")),
    "MAX_INTEGERS": (("Max",), _takes("int64")),
    "AXES_INPUT": (("Squeeze", "Unsqueeze"), _reads("axes")),
    "SOFTMAX_OF_AXIS": (("Softmax",), lambda text: text.attributes["axis"].default_value.i == -1),
    "SHAPE_START": (("Shape",), _has_attribute("start")),
    "PAD_AXES": (("Pad",), _reads("axes")),
    "PAD_WRAP": (("Pad",), _mode("wrap")),
    "WINDOWS_START_IN_DATA": (("MaxPool",), _drops_the_last_window),
}
FACTS = {name: value for name, value in vars(Since).items() if name.isupper()}


def _shown(op_type: str, opset: int, shows: Shows) -> bool:
    try:
        return shows(get_schema(op_type, opset))
    except onnx.defs.SchemaError:
        return False


@pytest.mark.parametrize("name", FACTS)
def test_the_schema_shows_it_since_that_opset_and_not_before(name: str) -> None:
    operators, shows = SHOWN_BY[name]
    for op_type in operators:
        first = [opset for opset in range(1, NEWEST + 1) if _shown(op_type, opset, shows)]
        assert first == list(range(FACTS[name], NEWEST + 1)), op_type


@pytest.mark.parametrize("row", [row for row in OPERATORS.values() if not row.domain])
@pytest.mark.parametrize("name", ["ceil_mode", "dilations"])
def test_a_row_names_the_opset_that_brought_the_attribute(name: str, row: Operator) -> None:
    has = [o for o in range(1, NEWEST + 1) if _shown(row.name, o, _has_attribute(name))]
    known = [o for o in range(1, NEWEST + 1) if _shown(row.name, o, lambda _: True)]
    since = getattr(row, name)
    if row.kind is Kind.OTHER or not known:
        return
    if not since or not has:
        assert not has, f"{row.name} has {name} since opset {has[0]}"
    else:
        assert has == [opset for opset in known if opset >= since]


@pytest.mark.parametrize("opset", range(Since.PAD_INPUTS, NEWEST + 1))
def test_a_pad_reads_its_inputs_where_the_schema_lists_them(opset: int) -> None:
    names = [one.name for one in get_schema("Pad", opset).inputs]
    assert names[PadInput.PADS] == "pads"
    assert names[PadInput.VALUE] == "constant_value"
    assert opset < Since.PAD_AXES or names[PadInput.AXES] == "axes"


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
def test_a_convolution_reads_its_bias_where_the_schema_lists_it(op_type: str) -> None:
    assert get_schema(op_type, NEWEST).inputs[CONV_BIAS].name == "B"


@pytest.mark.parametrize("opset", range(1, NEWEST + 1))
def test_a_pad_has_its_pads_as_the_schema_says(opset: int) -> None:
    attributes = get_schema("Pad", opset).attributes
    assert pads_are_attributes("ai.onnx", opset) == bool({"pads", "paddings"} & set(attributes))
    assert not pads_are_attributes("com.microsoft", opset)
    assert not pads_are_attributes("", opset) or name_of_pads(opset) in attributes


@pytest.mark.parametrize("version", [FREE_INITIALIZERS - 1, FREE_INITIALIZERS])
def test_an_initializer_is_free_where_the_checker_says_so(version: int) -> None:
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    node = helper.make_node("Identity", ["w"], ["y"])
    weight = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    graph = helper.make_graph([node], "one", [], [value], [weight])
    opsets = [helper.make_opsetid("", 8)]
    model = helper.make_model(graph, ir_version=version, opset_imports=opsets)
    if version >= FREE_INITIALIZERS:
        onnx.checker.check_model(model)
    else:
        with pytest.raises(onnx.checker.ValidationError, match="not in graph input"):
            onnx.checker.check_model(model)


def test_no_other_file_compares_versions_with_numbers() -> None:
    # The formal kernel reads models by itself: what it shares with a pass, it cannot judge.
    apart = {*(PACKAGE / "proof").rglob("*.py")}
    files = {*PACKAGE.rglob("*.py")} - apart
    found = {path.name for path in files if NUMBERED.search(path.read_text("utf-8"))}
    assert found == set()
    assert NUMBERED.search("if chain.opset < 11:")
