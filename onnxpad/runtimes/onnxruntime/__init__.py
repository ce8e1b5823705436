"""onnxruntime, which must run right after a rewrite what it ran right before.

`kernels` says what its loader and CPU kernels refuse or miscompute, `pad_fusion` what its optimiser
does to a Pad of zeros, both as predicates on a chain. `rows` names them for `tables.toml`, the
rules that targets built on onnxruntime include. `runtime_check` asks them of every rewrite.
"""
