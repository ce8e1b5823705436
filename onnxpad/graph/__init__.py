"""The graph layer: the only imports of onnx and onnx_graphsurgeon."""
