"""Single layers and where each convention moves them: `cases/moves.txt`, written with --record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto

from onnxpad import RequestError, retarget
from tests.models.text import text_model

CASES = Path(__file__).parent / "cases" / "moves.txt"
PER_AXIS = {"strides": 1, "dilations": 1, "output_padding": 0}


def model_called(line: str) -> ModelProto:
    """The layer 'Conv 224 3 strides=2 pads=1,1': operator, size and kernel of each axis, words.

    `front` is a Pad: begin, end, mode, value.
    """
    op, size, kernel, *given = line.split()
    words = dict(one.split("=", 1) for one in given)
    rank = int(words.get("rank", 2))
    attributes = [f"kernel_shape = {[int(kernel)] * rank}"]
    for name, plain in PER_AXIS.items():
        if (number := int(words.get(name, plain))) != plain:
            attributes.append(f"{name} = {[number] * rank}")
    if "pads" in words:
        begin, end = map(int, words["pads"].split(","))
        attributes.append(f"pads = {[begin] * rank + [end] * rank}")
    attributes += [f'auto_pad = "{words["auto_pad"]}"'] if "auto_pad" in words else []
    attributes += [f"{one} = 1" for one in ("ceil_mode", "count_include_pad") if one in words]
    shape = ",".join(["1", "1"] + [size] * rank)
    inputs, reads = f"float[{shape}] x", ["x"]
    if op.startswith("Conv"):
        inputs += f", float[1,1,{','.join([kernel] * rank)}] w"
        reads.append("w")
    nodes, constants = f"[op] y = {op} <{', '.join(attributes)}> ({', '.join(reads)})", ""
    if "front" in words:
        begins, ends, mode, value = words["front"].split(",")
        numbers = ["0", "0", *[begins] * rank, "0", "0", *[ends] * rank]
        constants = f"int64[{len(numbers)}] n = {{{','.join(numbers)}}}, float v = {{{value}}}"
        nodes = f'p = Pad <mode = "{mode}"> (x, n, v) ' + nodes.replace("(x", "(p")
    return text_model(nodes, inputs, constants=constants, opset=int(words.get("opset", 22)))


def answer(line: str) -> str:
    """What becomes of a line such as 'Conv 224 3 strides=2 pads=1,1 -> tensorflow'."""
    layer, _, goal = line.partition(" -> ")
    to, _, source = goal.partition(" from ")
    layer, _, fact = layer.partition(" where ")
    dims: dict[str, Any] = {"H": fact} if fact else {}
    model = model_called(layer)
    found = retarget(model, to=to, source=source or None, dims=dims)
    if found.skips:
        return f"skip: {found.skips[0].skip.reason}"
    return found.changes[0].after if found.changes else "stays"


def test_a_layer_goes_where_the_framework_has_it(request: pytest.FixtureRequest) -> None:
    lines = CASES.read_text().splitlines()
    answers = [f"{one} : {answer(one)}" for one in (line.partition(" : ")[0] for line in lines)]
    if request.config.getoption("--record"):
        CASES.write_text("\n".join(answers) + "\n")
    assert answers == lines or request.config.getoption("--record")


@pytest.mark.parametrize("name", ["tensorflw", "SAME", "", "x" * 99])
def test_unknown_conventions_are_errors(name: str) -> None:
    with pytest.raises(RequestError, match=f"no convention is called '{name}'"):
        answer(f"Conv 32 3 -> {name}")
