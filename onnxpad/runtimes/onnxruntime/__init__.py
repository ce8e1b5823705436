"""onnxruntime: what its loader, its default optimiser and its CPU kernels make of padding."""
