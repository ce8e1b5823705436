"""Tiny models written as ONNX text."""

from __future__ import annotations

from onnx import ModelProto, parser

HEADER = '<ir_version: {ir}, opset_import: ["" : {opset}, "com.microsoft" : 1]>'


def text_model(
    nodes: str,
    inputs: str = "float[1,1,8] x",
    *,
    outputs: str = "y",
    constants: str = "",
    opset: int = 13,
    ir: int = 8,
) -> ModelProto:
    """A model of `nodes`; `constants` are initializers such as 'int64[2] a = {1, 2}'."""
    header = HEADER.format(ir=ir, opset=opset)
    kept = f"<{constants}>" if constants else ""
    text = f"{header} g ({inputs}) => ({outputs}) {kept} {{ {nodes} }}"
    model: ModelProto = parser.parse_model(text)
    return model


def padded(
    node: str,
    pads: str,
    inputs: str = "float[1,1,8] x",
    *,
    more: str = "",
    opset: int = 13,
    outputs: str = "y",
) -> ModelProto:
    """A Pad of one spatial axis, whose output is p, in front of `node`."""
    constants = f"int64[6] pads = {{{pads}}}" + (f", {more}" if more else "")
    value = ", c" if "c =" in more else ""
    return text_model(
        f"[pad] p = Pad (x, pads{value}) {node}",
        inputs,
        constants=constants,
        opset=opset,
        outputs=outputs,
    )
