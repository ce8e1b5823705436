"""A small model for each trap, and beside it one that a detail keeps out of it."""

from onnx import ModelProto, TensorProto, helper

from tests.models.text import padded, text_model

WEIGHT = "float[1,1,3] w = {1, 10, 100}"
SHORT = "float[1,1,1] w = {1}"
AROUND = "0, 0, 1, 0, 0, 1"


def conv(attributes: str, inputs: str = "float[1,1,8] x", constants: str = WEIGHT) -> ModelProto:
    return text_model(f"[node] y = Conv <{attributes}> (x, w)", inputs, constants=constants)


def pool(attributes: str, op: str = "MaxPool", **options: object) -> ModelProto:
    return text_model(f"[node] y = {op} <{attributes}> (x)", **options)  # type: ignore[arg-type]


def crop(attributes: str, constants: str = WEIGHT, opset: int = 13) -> ModelProto:
    node = f"[node] y = ConvTranspose <{attributes}> (x, w)"
    return text_model(node, constants=constants, opset=opset)


def quantised_average(attributes: str) -> ModelProto:
    node = f"[node] y = com.microsoft.QLinearAveragePool <{attributes}> (x, s, z, s, z)"
    constants = "float s = {0.5}, uint8 z = {3}"
    return text_model(node, "uint8[1,1,6] x", constants=constants)


def replaceable(ir: int) -> ModelProto:
    model = padded("[node] y = Relu (p)", AROUND)
    model.ir_version = ir
    pads = helper.make_tensor_value_info("pads", TensorProto.INT64, [6])
    model.graph.input.append(pads)
    return model


def declared(shape: str, opset: int) -> ModelProto:
    node = "[node] y = MaxPool <kernel_shape=[1], strides=[2], ceil_mode=1> (x)"
    return text_model(node, "float[1,1,2] x", outputs=f"float[{shape}] y", opset=opset)


def weighted(pads: str) -> ModelProto:
    nodes = "[pad] p = Pad (w, pads) [node] y = Conv (x, p)"
    inputs, constants = "float[1,1,8] x, float[1,1,3] w", f"int64[6] pads = {{{pads}}}"
    return text_model(nodes, inputs, constants=constants)


def beside(more: str) -> ModelProto:
    nodes = f"r = Neg (x) {more} p = Pad (r, pads) [node] y = Conv (p, w)"
    held = f"{WEIGHT}, int64[6] pads = {{{AROUND}}}"
    return text_model(nodes, constants=held, outputs="y, s")


def dequantised(front: str) -> ModelProto:
    body = (
        f"q = QuantizeLinear (x, s, z) {front} v = DequantizeLinear (k, s) [node] c = Conv (d, v)"
    )
    held = "float s = {0.5}, uint8 z = {7}, uint8[1,1,3] k = {1, 2, 3}"
    held += f", int64[6] p = {{{AROUND}}}"
    out = "r = QuantizeLinear (c, s, z) y = DequantizeLinear (r, s, z)"
    return text_model(f"{body} {out}", constants=held)


def padded_bytes(behind: str) -> ModelProto:
    nodes = f"""q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) [node] p = Pad (d, pads)
        k = QuantizeLinear (p, {behind}) y = DequantizeLinear (k, s, z)"""
    held = f"float s = {{0.5}}, uint8 z = {{7}}, uint8 other = {{9}}, int64[6] pads = {{{AROUND}}}"
    return text_model(nodes, constants=held)


MAX, AVERAGE = "[node] y = MaxPool <kernel_shape=[3]> (p)", "[node] y = AveragePool"
SAME = 'auto_pad="SAME_UPPER"'
CEIL_PAIR = "kernel_shape=[2], strides=[3], ceil_mode=1"
OVERHANG = "kernel_shape=[3], strides=[2], pads=[1, 1], ceil_mode=1"

# Code, a model that is in the trap at the node called 'node', and one that is not.
TRAPS: dict[str, tuple[ModelProto, ModelProto]] = {
    "auto-pad-with-pads": (conv(f"{SAME}, pads=[1, 1]"), conv('auto_pad="NOTSET", pads=[1, 1]')),
    "same-with-dilation": (
        conv(f"{SAME}, dilations=[2]"),
        conv("pads=[2, 2], dilations=[2]"),
    ),
    "same-with-short-kernel": (
        conv(f"{SAME}, strides=[4]", constants=SHORT),
        conv(f"{SAME}, strides=[2]", constants=SHORT),
    ),
    "valid-with-ceil-mode": (
        pool('kernel_shape=[3], strides=[2], ceil_mode=1, auto_pad="VALID"'),
        pool('kernel_shape=[2], strides=[2], ceil_mode=1, auto_pad="VALID"'),
    ),
    "transposed-same-short-kernel": (
        crop(f"{SAME}, strides=[4]", SHORT),
        crop(f"{SAME}, strides=[3]"),
    ),
    "pad-fused-into-max-pool": (
        padded(MAX, AROUND),
        padded(MAX.replace("[3]", '[3], auto_pad="VALID"'), AROUND),
    ),
    "pad-fused-beyond-kernel": (
        padded(f"{AVERAGE} <kernel_shape=[3]> (p)", "0, 0, 3, 0, 0, 3"),
        padded(f"{AVERAGE} <kernel_shape=[3]> (p)", "0, 0, 2, 0, 0, 2"),
    ),
    "pad-fused-with-ceil-mode": (
        padded(f"{AVERAGE} <{CEIL_PAIR}> (p)", "0, 0, 0, 0, 0, 1", "float[1,1,3] x"),
        padded(f"{AVERAGE} <{CEIL_PAIR}> (p)", "0, 0, 0, 0, 0, 1", "float[1,1,4] x"),
    ),
    "pad-in-quantised-group": (
        dequantised("b = DequantizeLinear (q, s, z) d = Pad (b, p, s)"),
        dequantised("b = Pad (q, p, z) d = DequantizeLinear (b, s, z)"),
    ),
    "pad-of-floats-between-bytes": (padded_bytes("s, z"), padded_bytes("s, other")),
    "pad-fused-beside-identity": (beside("s = Identity (r)"), beside("s = Neg (r)")),
    "pad-on-weight": (weighted("0, 0, 1, 0, 0, 0"), weighted("0, 0, -1, 0, 0, 0")),
    "pads-reach-kernel": (
        pool("kernel_shape=[3], pads=[3, 0]", "LpPool"),
        pool("kernel_shape=[3], pads=[2, 0]", "LpPool"),
    ),
    "negative-pads": (conv("pads=[-1, 1]"), conv("pads=[0, 1]")),
    "window-of-padding": (
        pool("kernel_shape=[2], dilations=[2], pads=[1, 1]", inputs="float[1,1,1] x"),
        pool("kernel_shape=[2], dilations=[2], pads=[1, 1]", inputs="float[1,1,2] x"),
    ),
    "input-shorter-than-window": (
        conv("strides=[1]", "float[1,1,2] x"),
        conv("strides=[1]", "float[1,1,3] x"),
    ),
    "quantised-average-overhang": (
        quantised_average(f"{OVERHANG}, count_include_pad=1"),
        quantised_average(f"{OVERHANG}, count_include_pad=0"),
    ),
    "output-padding-beyond-stride": (
        crop("strides=[1], dilations=[2], output_padding=[1]"),
        crop("strides=[2], dilations=[2], output_padding=[1]"),
    ),
    "transposed-split-before-11": (
        crop(f"{SAME}, strides=[2]", opset=10),
        crop(f"{SAME}, strides=[2]", opset=11),
    ),
    "reflect-beyond-input": (
        text_model(
            '[node] y = Pad <mode="reflect"> (x, pads)', constants="int64[6] pads = {0,0,8,0,0,0}"
        ),
        text_model(
            '[node] y = Pad <mode="reflect"> (x, pads)', constants="int64[6] pads = {0,0,7,0,0,7}"
        ),
    ),
    "declared-shape": (declared("1,1,2", 13), declared("1,1,1", 13)),
    "computed-pads": (
        text_model("[node] y = Pad (x, pads)", "float[1,1,8] x, int64[6] pads"),
        text_model("[node] y = Pad (x, pads)", constants=f"int64[6] pads = {{{AROUND}}}"),
    ),
    "overridable-pads": (replaceable(4), replaceable(3)),
    "no-cpu-kernel": (
        pool("kernel_shape=[2]", "AveragePool", inputs="double[1,1,8] x"),
        pool("kernel_shape=[2]", "MaxPool", inputs="double[1,1,8] x"),
    ),
    "mixed-types": (
        conv("pads = [1, 1]", constants="double[1,1,3] w = {1, 10, 100}"),
        conv("pads = [1, 1]"),
    ),
    "optimised-only": (
        pool("kernel_shape=[2, 2]", "com.microsoft.NhwcMaxPool", inputs="uint8[1,8,8,1] x"),
        pool("kernel_shape=[2, 2]", "MaxPool", inputs="uint8[1,1,8,8] x"),
    ),
}
