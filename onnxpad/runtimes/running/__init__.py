"""Runtimes that run models here: one adapter each, for the live judge, reproducers and tests.

Idea: a runtime is asked, not modelled. An adapter is a file in `adapters/` with `load(model,
inputs, outputs)`, which runs in the runtime's own Python, without onnxpad.
Way of a call: `headers` reads the TOML file beside an adapter; `places` finds its packages in
this Python or another one; `runner` makes a Runner of both, or of a user's file, command or
callable; its first `run` starts `serving` in a process of its own through `server`. `cache` keeps
answers on disk.
It may import numpy and platformdirs, but no onnx, no model and no runtime: those stay in adapters.
"""
