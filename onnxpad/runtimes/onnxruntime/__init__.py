"""onnxruntime: what its default optimiser makes of padding."""
