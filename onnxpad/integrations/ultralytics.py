"""ultralytics: a callback for the end of an ONNX export, which stands behind its onnxslim.

model.add_callback("on_export_end", rewriting(target="opencv"))
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from ultralytics.utils import LOGGER

from onnxpad.integrations import checked, rewritten_in_place


class Exporter(Protocol):
    """What ultralytics hands to a callback: `file` is the name of what is exported."""

    file: Path
    args: Any


def rewriting(**options: Any) -> Callable[[Exporter], None]:  # noqa: ANN401 - those of onnxpad.rewrite
    """A callback that rewrites the exported file in place, with the options of `onnxpad.rewrite`.

    `validate=True` proves it before the file is replaced. It raises RequestError where a target
    takes a node in no form, and where that is not validated: the file is then as ultralytics wrote
    it. Other formats than onnx are left alone, and a warning says so. Wrong options raise at once.
    """
    checked(options)

    def on_export_end(exporter: Exporter) -> None:
        if exporter.args.format != "onnx":
            LOGGER.warning(
                f"onnxpad left the {exporter.args.format} export as it is, which is not made of an "
                "ONNX file: to have it rewritten, export(format='onnx') and convert that"
            )
            return
        path = exporter.file.with_suffix(".onnx")
        int8 = path.with_stem(f"{path.stem}_int8")  # all that quantize=8 leaves
        LOGGER.info(rewritten_in_place(path if path.exists() else int8, **options))

    return on_export_end
