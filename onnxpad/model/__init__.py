"""Models: the only imports of onnx and onnx_graphsurgeon.

`opened` takes whatever is handed over as a model, `files` reads and writes it, `graph` indexes it
as scopes of nodes, `shapes` follows types and sizes, `reading` makes a chain of each padded node,
`editing` writes an edit script back. `stated_sizes` keeps what a model says of sizes true,
`excerpt` cuts a node out, `small_models` builds models from nothing, `comparing` sees two models.
"""

from __future__ import annotations
