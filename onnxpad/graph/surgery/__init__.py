"""The same for an onnx_graphsurgeon.Graph."""
