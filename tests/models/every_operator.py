"""One model with every padded operator in it, and with everything that rewriters might lose."""

import onnx

UNKNOWN = bytes([0xC2, 0x3E, 3]) + b"any"
"""Field 1000 with three bytes, which no message of onnx has."""

_W = "{1,-2,3,4,5,-6,7,8,-9}"
_BYTES = "{1,2,3,4,5,6,7,8,9}"
_HALVES = ",".join(["0.5"] * 18 * 6 * 6)
_CONSTANTS = f"""
 float[1,1,3,3] w1 = {_W}, float[1,1,3,3] w2 = {_W}, float[1,1,3,3] w3 = {_W},
 float[1,1,3,3] w4 = {_W}, float[1,3,3,1] wn = {_W}, float[1,1,3] w5 = {{1,-2,3}},
 float[1,1,3,3] w6 = {_W}, float[1,1,2,2] w7 = {{1,-2,3,4}},
 uint8[1,1,3,3] wq1 = {_BYTES}, uint8[1,1,3,3] wq2 = {_BYTES}, uint8 zx = {{7}}, uint8 zw = {{3}},
 float sx = {{0.5}}, int64[4] dynamic = {{0, 1, 1, 0}}, int64[2] image = {{4, 5}},
 int64[2] block = {{2, 3}}, int64[8] p1 = {{0,0,1,0,0,0,0,1}}, int64[8] p2 = {{0,0,0,1,0,0,1,0}},
 int64[8] p3 = {{0,0,1,-1,0,0,0,1}}, int64[2] p4 = {{1,2}}, int64[1] axis = {{3}},
 int64[8] p5 = {{0,1,0,0,0,0,0,0}}, float two = {{2}}, float zero = {{0}}, float least = {{-inf}},
 float deep = {{-1e9}}, float[1,2,2,2] grid = {{0, 0, 1, 1, 2, 2, -1, 0}},
 int64[8] p6 = {{0,0,0,7,0,0,0,0}},
 float[1] bias = {{2}}, int64[2] cropped = {{4, 4}}, float[1,18,6,6] offsets = {{{_HALVES}}},
 int32[1,6] mask = {{1,1,1,1,1,1}}, float[4] spare = {{1, 2, 3, 4}}
"""
_NODES = """
 [conv] a1 = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (x, w1)
 [wide] a2 = Conv <pads = [0, 1, 1, 0]> (x, w2)
 [front] b0 = Pad (x, p1)
 [behind] a3 = Conv (b0, w2)
 [mirror] a4 = Pad <mode = "reflect"> (x, p2)
 [crop] a5 = Pad (x, p3)
 [up] a6 = ConvTranspose <auto_pad = "SAME_LOWER", strides = [2, 2]> (x, w3)
 [grown] a7 = ConvTranspose <strides = [2, 2], pads = [0, 1, 1, 0], output_padding = [1, 0]> (x, w3)
 [deform] a8 = DeformConv <pads = [1, 1, 1, 1]> (x, w4, offsets)
 [max] a9, i9 = MaxPool <kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 1, 1]> (x)
 [unpool] a10 = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (a9, i9)
 [ceil] a11 = MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)
 [mean] a12 = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 0, 1], count_include_pad = 1> (x)
 [plain] a13 = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)
 [norm] a14 = LpPool <kernel_shape = [3, 3], pads = [1, 1, 1, 0]> (x)
 [fold] a15 = Col2Im <pads = [1, 0, 0, 1]> (blocks, image, block)
 [sample] a37 = GridSample <padding_mode = "border"> (x, grid)
 [again] a38 = Pad <mode = "reflect"> (x, p6)
 [centre] a16 = CenterCropPad <axes = [2, 3]> (x, cropped)
 [integer] a17 = ConvInteger <pads = [1, 0, 0, 1]> (u, wq1, zx, zw)
 [linear] a18 = QLinearConv <auto_pad = "SAME_UPPER"> (u, sx, zx, wq2, sx, zw, sx, zx)
 [fused] a19 = com.microsoft.FusedConv <pads = [1, 0, 0, 1], activation = "Relu"> (x, w1)
 [last] a20 = com.microsoft.NhwcMaxPool <kernel_shape = [3, 3], pads = [1, 0, 0, 1]> (u)
 [average] a21 = com.microsoft.QLinearAveragePool
   <kernel_shape = [3, 3], pads = [1, 0, 0, 1], count_include_pad = 1> (u, sx, zx, sx, zx)
 [dynamic_up] a22 = com.microsoft.ConvTransposeWithDynamicPads (x, w3, dynamic)
 [axes] a30 = Pad (x, p4, , axis)
 [outer] a31 = Pad (x, p5)
 [two] a32 = Pad (x, p1, two)
 [theirs] a23 = com.microsoft.Pad (x, p1)
 [masked] a24 = com.microsoft.MaxpoolWithMask <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, mask)
 [line] a25 = Conv <pads = [1, 0]> (l, w5)
 [nhwc] a26 = com.microsoft.NhwcConv <pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (t, wn)
 [nhwc_fused] a27 = com.microsoft.NhwcFusedConv
   <pads = [1, 1, 1, 1], kernel_shape = [3, 3], activation = "Relu"> (t, wn)
 [quantise] q = QuantizeLinear (x, sx, zx)
 [dequantise] d = DequantizeLinear (q, sx, zx)
 [group] a28 = Conv <pads = [1, 0, 0, 1]> (d, w4)
 [open] a29 = Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (o, w4)
 [biased] a33 = Conv <pads = [1, 1, 1, 1]> (x, w2, bias)
 [zero_value] a34 = Pad (x, p1, zero)
 [endless] b1 = Pad (x, p1, least)
 [deepest] a35 = MaxPool <kernel_shape = [3, 3]> (b1)
 [inside] b3 = Pad (d, p1)
 [back] q2 = QuantizeLinear (b3, sx, zx)
 [forth] a39 = DequantizeLinear (q2, sx, zx)
 [positive] r = Relu (x)
 [below] b2 = Pad (r, p1, deep)
 [held] a36 = MaxPool <kernel_shape = [3, 3]> (b2)
 [spread] a41 = Conv <dilations = [2, 1]> (x, w6)
 [even] a42 = Conv <pads = [1, 0, 0, 0]> (x, w7)
 [uneven] a40 = MaxPool <kernel_shape = [1, 2], dilations = [1, 3]> (x)
"""


def every_operator() -> onnx.ModelProto:
    """A valid model at opset 18 whose nodes, tensors and lists all carry notes of their own."""
    outputs = ", ".join(f"float[] a{number}" for number in range(1, 43))
    model: onnx.ModelProto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 19, "com.microsoft": 1], producer_name: "a tool">\n'
        "every (float[1,1,6,6] x, uint8[1,1,6,6] u, float[1,1,9] l, float[1,6,6,1] t, "
        f"float[1,6,16] blocks, float[1,1,n,n] o) => ({outputs}) <{_CONSTANTS}> {{ {_NODES} }}"
    )
    graph = model.graph
    for output in graph.output:
        output.ClearField("type")
        output.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    graph.metadata_props.add(key="graph", value="fact")
    onnx.helper.set_model_props(model, {"author": "somebody"})
    for node in graph.node:
        node.doc_string = f"of {node.name}"
        node.metadata_props.add(key="from", value=f"layer {node.name}")
        node.MergeFromString(UNKNOWN)
    for tensor in graph.initializer:
        tensor.doc_string = f"of {tensor.name}"
        tensor.MergeFromString(UNKNOWN)
    for name, shape in (("a2", (1, 1, 5, 5)), ("b0", (1, 1, 7, 7)), ("d", (1, 1, 6, 6))):
        graph.value_info.append(onnx.helper.make_tensor_value_info(name, 1, shape))
    for message in (model, graph, *graph.value_info, *graph.input):
        message.MergeFromString(UNKNOWN)
    return model
