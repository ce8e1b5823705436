"""Models that drive native code out of bounds: a loop without end, memory, a crash."""

from onnx import ModelProto

from tests.models.text import text_model


def endless_loop() -> ModelProto:
    """A Loop whose condition stays true."""
    body = "b (int64 i, bool c, float[1] v) => (bool d, float[1] w) "
    body += "{ d = Identity (c) w = Identity (v) }"
    loop = f"y = Loop (, on, x) <body = {body}>"
    return text_model(loop, "float[1] x", constants="bool on = {1}", opset=18)


def four_gigabytes() -> ModelProto:
    """A constant of 2^30 cells, summed to one."""
    nodes = "b = ConstantOfShape (s) c = Add (b, x) y = ReduceSum <keepdims = 0> (c)"
    return text_model(nodes, "float[1] x", constants="int64[1] s = {1073741824}", opset=18)


def rewritten_beside_a_crash() -> ModelProto:
    """A pool whose sizes are corrected behind a rewrite, beside a Slice behind a kernel that is
    larger than its input, which crashes inference."""
    return text_model(
        """t = Conv (x, w)  y = Slice (t, a, b, ax)
        z = MaxPool <kernel_shape = [2], strides = [3], ceil_mode = 1, auto_pad = "SAME_UPPER"> (x)
        """,
        "float[1,1,8] x, float[1,1,20] w",
        outputs="y, float[1,1,n] z",
        constants="int64[1] a = {0}, int64[1] b = {100}, int64[1] ax = {2}",
        opset=18,
    )
