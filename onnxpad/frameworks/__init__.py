"""A framework's layer as data, and the one engine that works it out.

`conventions` reads a framework's file into `layer.Layer`s, in the vocabulary of `choices`.
`worked_out.make_plan` takes a layer, shapes and attributes: `values` reads the attributes, a rule
of `rules` or `own_rules` pads each axis, and `limits` has the framework's reasons to refuse.
`to_onnx.lower` writes the `WorkedOut` layer as ONNX nodes, with `steps`.
Backwards: `ways` lists how a layer can pad, and `fits` compares these ways with a node of a model.
The room imports geometry and padding, never a model.
"""
