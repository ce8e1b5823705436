"""Types and sizes of tensors, worked out node by node before any run.

`dimensions` turns the file's dimensions into sizes, with the user's facts (`input_shapes`) and
those that an earlier rewrite left in the metadata (`recorded_facts`). Then `model/reading` asks
for each node in order: `result_types` for padded operators and branches, else a rule of
`shape_rules`. Where those leave something open, `node_inference` asks onnx about the one node.
`result_types.joined` decides between that answer and what the file declares.
`unknown_sizes` names the open sizes on which computed pads depend, for messages.
"""
