"""Public threads about padding, rebuilt from their parameters, and what --target makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx

from tests.models.text import text_model


@dataclass(frozen=True)
class Thread:
    """A report: where it stands, the runtime and release, and a model with its parameters.

    `options` are those of rewrite beside the target. `no_way` says why it is not solved, where it
    is not; `right` that the release runs the model as it is. `by_source` says why nothing is run:
    the measure is then what the source or the report says that the runtime takes. `slow` says that
    it is right before, in a slower way. `mirrors` are pads that numpy is asked about.
    """

    where: str
    target: str | tuple[str, ...]
    nodes: str
    x: str
    constants: str = ""
    y: str = "float[] y"
    opset: int = 17
    options: Mapping[str, object] = field(default_factory=dict)
    no_way: str = ""
    right: bool = False
    by_source: str = ""
    slow: bool = False
    dtype: str = "float"
    mirrors: tuple[tuple[int, int], ...] = ()

    def model(self) -> onnx.ModelProto:
        """The model; weights that are named w with their shape are drawn."""
        stored: list[str] = []
        drawn: list[str] = []
        for one in filter(None, self.constants.split("; ")):
            (drawn if one.startswith("w[") else stored).append(one)
        model = text_model(
            self.nodes,
            inputs=f"{self.dtype}[{self.x}] x",
            outputs=self.y,
            constants=", ".join(stored),
            opset=self.opset,
        )
        if ", )" in self.nodes:  # an input that an empty name leaves out: the text has none
            model.graph.node[-1].input.append("")
        draw = np.random.default_rng(3)
        for number, one in enumerate(drawn):
            sizes = [int(size) for size in one.removeprefix("w[").rstrip("]").split(",")]
            values = draw.normal(size=sizes).astype(np.float32)
            name = "w" if not number else f"w{number}"
            model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
        return model


def _pads(*numbers: int) -> str:
    return f"int64[{len(numbers)}] p = {{{', '.join(map(str, numbers))}}}"


_DEVICE = {"require_device": True}
_NPU = "what runs on the CPU shows on a board of Rockchip alone"
_RUST = "it generates or interprets Rust, which no test here compiles"
_EVEN = 'strides = [2, 2], kernel_shape = [3, 3], auto_pad = "SAME_UPPER"'
_CEIL = "kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1"
THREADS = (
    Thread(
        "onnxruntime#26734",
        "webgpu-jsep@1.23",
        f"y = Conv <{_EVEN}> (x, w)",
        "1, 3, 8, 8",
        "w[4,3,3,3]",
    ),
    Thread(
        "onnxruntime#24800",
        "webgpu-jsep@1.23",
        "y = Conv <kernel_shape = [3, 1, 1], pads = [1, 0, 0, 1, 0, 0]> (x, w)",
        "1, 4, 6, 5, 5",
        "w[4,4,3,1,1]",
    ),
    Thread(
        "onnxruntime#23403 (1.20)",
        "webgpu-jsep@1.20",
        "y = ConvTranspose <kernel_shape = [4], strides = [2], pads = [1, 1], "
        "output_padding = [1]> (x, w)",
        "1, 4, 9",
        "w[4,3,4]",
    ),
    Thread(
        "onnxruntime#23403 (1.23)",
        "webgpu-jsep@1.23",
        "y = ConvTranspose <kernel_shape = [4], strides = [2], pads = [1, 1], "
        "output_padding = [1]> (x, w)",
        "1, 4, 9",
        "w[4,3,4]",
        right=True,
    ),
    Thread("onnxruntime#20938", "webgpu-jsep@1.20", f"y = MaxPool <{_CEIL}> (x)", "1, 3, 15, 15"),
    Thread("transformers.js#1435", "webgpu-jsep@1.23", f"y = MaxPool <{_CEIL}> (x)", "1, 3, 7, 7"),
    Thread(
        "onnxruntime#21206", "webgpu-jsep@1.20", f"y = AveragePool <{_CEIL}> (x)", "1, 3, 15, 15"
    ),
    Thread(
        "onnxruntime#21386",
        "webgpu-jsep@1.20",
        "y = MaxPool <kernel_shape = [3], strides = [3]> (x)",
        "1, 3, 30",
        right=True,
    ),
    Thread(
        "onnxruntime#28022",
        "coreml",
        'a = Pad <mode = "reflect"> (x, p) y = Conv <kernel_shape = [3, 3]> (a, w)',
        "1, 3, 8, 8",
        f"{_pads(0, 0, 1, 1, 0, 0, 1, 1)}; w[4,3,3,3]",
        options=_DEVICE,
        by_source="CoreML runs on macOS alone",
    ),
    Thread(
        "onnxruntime#24681",
        "onnxruntime@1.20",
        "y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1], "
        "ceil_mode = 1, count_include_pad = 1> (x)",
        "1, 3, 9, 9",
        opset=19,
    ),
    Thread(
        "onnxruntime#26708",
        "onnxruntime@1.20",
        "a = Pad (x, p) y = AveragePool <kernel_shape = [3, 3], strides = [2, 2]> (a)",
        "1, 3, 8, 8",
        _pads(0, 0, 1, 1, 0, 0, 1, 1),
        opset=20,
    ),
    Thread(
        "onnxruntime#26708 (ceil_mode, 1.23)",
        "onnxruntime@1.23",
        "a = Pad (x, p) y = AveragePool <kernel_shape = [2, 2], strides = [2, 2], "
        "ceil_mode = 1> (a)",
        "1, 3, 8, 8",
        _pads(0, 0, 0, 0, 0, 0, 1, 1),
        opset=20,
    ),
    Thread(
        "onnxruntime#20582",
        "onnxruntime@1.17",
        'y = Conv <kernel_shape = [3, 3], dilations = [2, 2], auto_pad = "SAME_UPPER"> (x, w)',
        "1, 3, 8, 8",
        "w[4,3,3,3]",
    ),
    Thread(
        "pytorch#183528",
        ("onnxruntime@1.23", "openvino"),
        "y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], "
        "ceil_mode = 1, count_include_pad = 1> (x)",
        "1, 3, 8, 8",
        opset=18,
    ),
    Thread(
        "openvino#33369",
        "openvino@2025.3",
        "y = AveragePool <kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1], "
        "ceil_mode = 1> (x)",
        "1, 3, 17, 17",
    ),
    Thread(
        "openvino#35637",
        ("openvino", "onnxruntime"),
        "y = MaxPool <kernel_shape = [2, 2], dilations = [2, 2], pads = [2, 2, 2, 2]> (x)",
        "1, 3, 8, 8",
    ),
    Thread(
        "tvm#20150",
        "tvm@0.25",
        'y = Pad <mode = "wrap"> (x, p, , a)',
        "1, 3, 8, 8",
        f"{_pads(1, 1, 1, 1)}; int64[2] a = {{2, 3}}",
        opset=19,
    ),
    Thread(
        "ncnn#5924",
        "ncnn@20241226",
        "y = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1]> (x, w)",
        "1, 3, 8, 8",
        "w[4,3,3,3]",
    ),
    Thread(
        "burn-onnx#5",
        "burn@0.19",
        "y = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1]> (x, w)",
        "1, 3, 8, 8",
        "w[4,3,3,3]",
        by_source=_RUST,
    ),
    Thread(
        "burn-onnx#468",
        "burn",
        f"y = Conv <{_EVEN}> (x, w)",
        "1, 3, h, v",
        "w[4,3,3,3]",
        y="float[1, 4, a, b] y",
        options={"dims": {"h": "%32=0", "v": "%32=0"}},
        by_source=_RUST,
    ),
    Thread(
        "candle#2497",
        "candle",
        'y = MaxPool <kernel_shape = [2, 2], auto_pad = "SAME_UPPER"> (x)',
        "1, 3, 13, 13",
        by_source=_RUST,
    ),
    Thread(
        "AMDMIGraphX#4069",
        "migraphx@2.12",
        'y = Pad <mode = "edge"> (x, p)',
        "1, 3, 8, 8",
        _pads(0, 0, 1, 1, 0, 0, 1, 1),
        by_source="MIGraphX has no package on PyPI, and needs a GPU of AMD",
    ),
    Thread(
        "AMDMIGraphX#2763",
        "migraphx@2.8",
        "y = Pad (x, p, )",
        "1, 8, 16, 31",
        _pads(0, 0, 0, 0, 0, 0, 0, 1),
        by_source="MIGraphX has no package on PyPI, and needs a GPU of AMD",
    ),
    Thread(
        "openvino#31007",
        ("openvino@2024.6", "openvino@2025.3"),
        f"y = ConvTranspose <{_EVEN}> (x, w)",
        "1, 1, 8, 8",
        "w[1,1,3,3]",
    ),
    Thread(
        "tvm#18601",
        "tvm@0.23",
        "y = ConvTranspose <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], "
        "output_padding = [1, 1]> (x, w)",
        "1, 3, 28, 28",
        "w[3,6,3,3]",
        by_source="PyPI has no apache-tvm before 0.25",
    ),
    Thread(
        "onnxruntime-qnn#52",
        "qnn@1.24",
        'y = Pad <mode = "constant"> (x, p, v)',
        "1, 3, 8, 8",
        f"{_pads(0, 0, 1, 1, 0, 0, 1, 1)}; float16 v = {{0}}",
        y="float16[] y",
        dtype="float16",
        by_source="onnxruntime-qnn 1.24 is not on PyPI, 2.3 is the first there",
    ),
    Thread(
        "zetta_utils#1028",
        "onnx2torch",
        'y = Conv <kernel_shape = [3, 3], auto_pad = "SAME_UPPER"> (x, w)',
        "1, 3, 8, 8",
        "w[4,3,3,3]",
    ),
    Thread(
        "webnn#877",
        "webnn",
        'y = Pad <mode = "edge"> (x, p)',
        "1, 3, 8, 8",
        _pads(0, 0, 1, 1, 0, 0, 1, 1),
        options=_DEVICE,
        by_source="WebNN on TFLite needs a browser built with it",
    ),
    Thread(
        "rknn-toolkit2#328",
        "rknn",
        'a = Pad <mode = "constant"> (x, p) y = Conv <kernel_shape = [3, 3]> (a, w)',
        "1, 3, 8, 8",
        f"{_pads(0, 0, 1, 1, 0, 0, 1, 1)}; w[4,3,3,3]",
        options=_DEVICE,
        by_source=_NPU,
    ),
    Thread(
        "rknn-toolkit2#217",
        "rknn",
        "y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x)",
        "1, 3, 8, 8",
        options=_DEVICE,
        by_source=_NPU,
    ),
    Thread(
        "onnxruntime#26393",
        "onnxruntime-cuda",
        "y = Pad (x, p)",
        "1, 3, 8, 8",
        _pads(0, 0, 1, 1, 0, 0, 1, 1),
        opset=21,
        options=_DEVICE,
    ),
    Thread(
        "onnxruntime#21496",
        "onnxruntime",
        "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) a = Pad (d, p) "
        "r = QuantizeLinear (a, s, z) e = DequantizeLinear (r, s, z) "
        "y = Conv <kernel_shape = [3, 3]> (e, w)",
        "1, 3, 8, 8",
        f"{_pads(0, 0, 1, 1, 0, 0, 1, 1)}; float s = {{0.1}}; uint8 z = {{128}}; w[4,3,3,3]",
        options=_DEVICE,
        slow=True,
    ),
    Thread(
        "onnxruntime#23878",
        "onnxruntime",
        'y = Pad <mode = "reflect"> (x, p)',
        "1, 3, 4, 4",
        _pads(0, 0, 5, 5, 0, 0, 5, 5),
        mirrors=((0, 0), (0, 0), (5, 5), (5, 5)),
    ),
    Thread(
        "tt-forge-onnx#2757",
        "tenstorrent",
        "y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1]> (x)",
        "1, 64, 112, 112",
        by_source="it needs a card of Tenstorrent",
    ),
    # The platform of the report takes opsets 7 to 18 and is not named.
    Thread(
        "swift-f0#3",
        "onnx2torch",
        "a = Pad (x, p) b = Relu (a) c = Pad (b, p) y = Sub (c, c)",
        "1, 1, 40, 132",
        _pads(0, 0, 2, 2, 0, 0, 2, 2),
        opset=20,
    ),
    Thread(
        "torch-mlir#4186",
        "iree",
        'y = GridSample <padding_mode = "border"> (x, g)',
        "1, 1, 4, 4",
        "float[1,1,1,2] g = {2, 2}",
        opset=16,
        no_way="GridSample adds no cells: its padding_mode is shown, and not rewritten",
    ),
    Thread(
        "opencv#24729",
        "opencv@4.8",
        "s = Shape (x) h = Gather (s, two) r = Mod (h, four) n = Neg (r) m = Mod (n, four) "
        "c = Concat <axis = 0> (zeros, m, m) y = Pad (x, c)",
        "1, 3, 6, 6",
        "int64[1] two = {2}; int64[1] four = {4}; int64[6] zeros = {0, 0, 0, 0, 0, 0}",
        y="float[a,b,d] y",
    ),
)
