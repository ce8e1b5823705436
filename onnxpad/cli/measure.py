"""Run drawn models on a runtime, and learn the rules of what it gets wrong.

    onnxpad measure opencv -o opencv-here.toml
    onnxpad measure openvino --live ov/bin/python -o openvino-here.toml
    onnxpad measure ./npu.py -o npu.toml
    onnxpad measure 'python run_npu.py {model} {inputs} {outputs}' --count 600 -o npu.toml

TARGET is a target that Python can run, or a runtime of your own: a .py file with run(model,
inputs), or a command that reads and writes .npz files. A command is started for each model: at a
second a start, --count 600 takes about 15 minutes; a .py file is started once. The file that -o
names is a target then: onnxpad inspect MODEL --target npu.toml. Models are small: one operator that
pads, with one Pad in front at most.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from onnxpad.cli.outputs import refuse_overwriting
from onnxpad.cli.streams import FINE, STANDARD, report, working

if TYPE_CHECKING:
    from onnxpad.show.document import Document


def measure(given: dict[str, Any]) -> int:
    """Measure, print what came out, and write the target file."""
    from onnxpad import measuring  # loads numpy and onnx

    given["live"] = given["live"] or None
    target, output = given["target"], given["output"]
    refuse_overwriting("-o", output, [target])
    if output is not None:
        measuring.check_place(output)
    names = ("live", "count", "seed", "timeout")
    options = {name: given[name] for name in names if given[name] is not None}
    with working(f"starting {target}") as tell:
        measurement = measuring.measure(target, cache=given["cache"], progress=tell, **options)
    if output is not None:
        measurement.save(output)

    def document() -> Document:
        from onnxpad.show.measurements import measurement_document

        return measurement_document(measurement, output)

    stream = sys.stderr if output == STANDARD else sys.stdout
    report(given, measurement.to_json, document, stream)
    return FINE
