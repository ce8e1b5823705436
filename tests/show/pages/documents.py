"""Pages as tests read them, and models whose names mean harm."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from onnx import ModelProto, TensorProto, helper

HOSTILE = "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&${{7*7}}"
_VOID = {"meta", "link", "img", "br", "input", "hr", "wbr"}
_LEADS = ("src", "href", "xlink:href", "action", "data", "poster", "srcset")


class Document(HTMLParser):
    """Tags, what they lead to, names of places, and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.places: list[str] = []
        self.leads: list[str] = []
        self.handlers: list[str] = []
        self.said = ""
        self._open: list[str] = []
        self.unclosed: list[str] = []
        self.feed(text)
        self.close()
        self.unclosed += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in _VOID:
            self._open.append(tag)
        self._look(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._look(attrs)

    def _look(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            self.places += [value or ""] if name == "id" else []
            self.leads += [value or ""] if name in _LEADS else []
            self.handlers += [name] if name.startswith("on") else []

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.unclosed.append(tag)

    def handle_data(self, data: str) -> None:
        self.said += data


def hostile_model(name: str = HOSTILE) -> ModelProto:
    """A convolution and a pool with SAME, named after an attack, its tensors and sizes as well."""
    weight = helper.make_tensor(f"w{name}", TensorProto.FLOAT, [2, 1, 3, 3], [1.0] * 18)
    nodes = [
        helper.make_node(
            "Conv", [f"x{name}", f"w{name}"], [f"c{name}"], name=name, pads=[0, 0, 1, 1]
        ),
        helper.make_node(
            "MaxPool",
            [f"c{name}"],
            [f"y{name}"],
            name=f"p{name}",
            kernel_shape=[3, 3],
            strides=[2, 2],
            auto_pad="SAME_UPPER",
        ),
    ]
    x = helper.make_tensor_value_info(f"x{name}", TensorProto.FLOAT, [1, 1, 12, 12])
    y = helper.make_tensor_value_info(f"y{name}", TensorProto.FLOAT, [1, 1, None, None])
    graph = helper.make_graph(nodes, "g", [x], [y], [weight])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name=name
    )


def saved(model: ModelProto, path: Path) -> Path:
    path.write_bytes(model.SerializeToString())
    return path
