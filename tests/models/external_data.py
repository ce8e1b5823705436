"""Models with weights in files beside them, written field by field as exporters do."""

from pathlib import Path

import numpy as np
from onnx import GraphProto, ModelProto, SparseTensorProto, TensorProto, helper

WEIGHTS = -np.arange(1, 257, dtype=np.float32)


def external_tensor(
    name: str, *, length: int | str | None = WEIGHTS.nbytes, **entries: str | int
) -> TensorProto:
    """A float tensor of 256 elements whose entries are as given; `length` None leaves it out."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[256])
    tensor.data_location = TensorProto.EXTERNAL
    if length is not None:
        entries["length"] = length
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def model_of(*initializers: TensorProto, graph: GraphProto | None = None) -> ModelProto:
    """A model that adds its first initializer, and holds the others."""
    name = initializers[0].name if initializers else "x"
    graph = graph or helper.make_graph(
        [helper.make_node("Add", ["x", name], ["y"], name="add")],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [256])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [256])],
        list(initializers),
    )
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)])


def saved(folder: Path, model: ModelProto, *data_names: str) -> Path:
    """Write the model and one file of weights per name; returns the model's path."""
    folder.mkdir(parents=True, exist_ok=True)
    for index, name in enumerate(data_names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((WEIGHTS - index).tobytes())
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def below(folder: Path) -> set[str]:
    """What stands in a folder, at any depth."""
    return {str(found.relative_to(folder)) for found in folder.rglob("*")}


def everywhere(tensor: TensorProto) -> dict[str, ModelProto]:
    """The tensor in each place where a model may hold one."""
    body = helper.make_graph([], "body", [], [], [tensor])
    constant = helper.make_node("Constant", [], ["c"], name="c", value=tensor)
    nested = helper.make_graph(
        [helper.make_node("If", ["i"], ["o"], then_branch=body, else_branch=body)], "nested", [], []
    )
    sparse = SparseTensorProto(values=tensor, dims=[1024])
    indices = SparseTensorProto(indices=tensor, dims=[1024])
    function = helper.make_function(
        "local", "f", [], ["c"], [constant], [helper.make_opsetid("", 13)]
    )
    defaults = helper.make_function(
        "local", "f", [], [], [], [], attribute_protos=[helper.make_attribute("d", tensor)]
    )
    nodes = {
        "Constant": [constant],
        "subgraph": [helper.make_node("If", ["i"], ["o"], then_branch=body)],
        "subgraph of a subgraph": [helper.make_node("If", ["i"], ["o"], else_branch=nested)],
        "graphs": [helper.make_node("Custom", [], ["o"], domain="local", bodies=[body])],
        "tensors": [helper.make_node("Custom", [], ["o"], domain="local", values=[tensor])],
        "sparse attribute": [helper.make_node("Constant", [], ["o"], sparse_value=sparse)],
        "sparse attributes": [helper.make_node("Custom", [], ["o"], domain="local", s=[sparse])],
    }
    models = {
        place: model_of(graph=helper.make_graph(found, "graph", [], []))
        for place, found in nodes.items()
    }
    models["initializer"] = model_of(tensor)
    for place, found in {"sparse initializer": sparse, "sparse indices": indices}.items():
        models[place] = model_of()
        models[place].graph.sparse_initializer.append(found)
    for place, made in {"function": function, "function default": defaults}.items():
        models[place] = model_of()
        models[place].functions.append(made)
    models["training"] = model_of()
    models["training"].training_info.add().initialization.CopyFrom(body)
    return models
