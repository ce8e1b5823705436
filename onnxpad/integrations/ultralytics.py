"""ultralytics: a callback for the end of an ONNX export, which stands behind its onnxslim.

model.add_callback("on_export_end", rewriting(target="opencv"))
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from ultralytics.utils import LOGGER

import onnxpad
from onnxpad.integrations import checked, rewritten_in_place


class Exporter(Protocol):
    """What ultralytics hands to a callback: `file` is the name of what is exported."""

    file: Path
    args: Any


def rewriting(**options: Any) -> Callable[[Exporter], None]:  # noqa: ANN401 - those of onnxpad.rewrite
    """A callback that rewrites the exported file in place, with the options of `onnxpad.rewrite`.

    `validate=True` proves it before the file is replaced. It raises RequestError for formats other
    than onnx, where a target takes a node in no form, and where that is not validated: the file is
    then as ultralytics wrote it. Wrong options raise at once.
    """
    checked(options)

    def on_export_end(exporter: Exporter) -> None:
        if exporter.args.format != "onnx":
            raise onnxpad.RequestError(
                f"'{exporter.args.format}' is not made of the file that onnxpad rewrites: "
                "export(format='onnx') first, and convert that"
            )
        path = exporter.file.with_suffix(".onnx")
        int8 = path.with_stem(f"{path.stem}_int8")  # all that quantize=8 leaves
        LOGGER.info(rewritten_in_place(path if path.exists() else int8, **options))

    return on_export_end
