"""Work out one layer of a framework: pads, output size, divisor, and the ONNX nodes.

    onnxpad resolve tensorflow conv --input 1,3,224,224 --kernel 7 --stride 2 --padding SAME
    onnxpad resolve keras conv --input 1,3,224,224 --kernel 7 --stride 2 --padding same --as pytorch
    onnxpad resolve tf conv --input 1,3,9,9 --kernel 3 --padding SAME --compare 'pytorch padding=1'

OP is conv, depthwise_conv, grouped_conv, max_pool, avg_pool or conv_transpose. Sizes are in ONNX
layout: batch, channels, axes. --set gives any attribute by the framework's own name, such as
--set 'pads=[0,0,1,1]'; onnxpad explain FRAMEWORK lists them. --compare works out a second
framework with the same input, kernel, stride, dilation and groups, but not its padding, whose
words differ, and says which cells of the output differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onnxpad.cli.streams import FINE, report
from onnxpad.errors import RequestError

if TYPE_CHECKING:
    from onnxpad.frameworks.choices import Role
    from onnxpad.show.document import Document

_WINDOW = ("kernel", "stride", "dilation", "groups")


def resolve(given: dict[str, Any]) -> int:
    """Resolve one layer, or two, and print what was found."""
    from onnxpad.frameworks.choices import Role
    from onnxpad.resolving import resolve_general
    from onnxpad.resolving.differences import compare

    window = {Role(name): given[name] for name in _WINDOW if given[name] is not None}
    padding = {} if given["padding"] is None else {Role.PADDING: given["padding"]}
    framework, op, attributes = given["framework"], given["op"], given["attributes"]
    _refuse_doubles(framework, op, {**window, **padding}, attributes)
    shapes = {name: given[name] for name in ("input_shape", "weight_shape")}
    layer = resolve_general(
        framework, op, **shapes, general={**window, **padding}, attributes=attributes
    )
    if given["compare"] is None:
        return _report_one(layer, given)
    framework, attributes = given["compare"]
    other = resolve_general(framework, op, **shapes, general=window, attributes=attributes)
    difference = compare(layer, other)

    def document() -> Document:
        from onnxpad.show.resolutions import difference_document

        return difference_document(difference)

    report(given, difference.to_json, document)
    return FINE


def _report_one(layer: Any, given: Mapping[str, Any]) -> int:  # noqa: ANN401 - a Resolution
    from onnxpad.show.pasting import code_of, language_called
    from onnxpad.show.resolutions import resolution_document

    code = None
    if given["language"] is not None:
        language = language_called(given["language"])
        code = (language, code_of(layer, language))
    more = {} if code is None else {"code": code[1]}
    report(given, lambda: layer.to_json() | more, lambda: resolution_document(layer, code))
    return FINE


def _refuse_doubles(
    framework: str, op: str, general: Mapping[Role, object], attributes: Mapping[str, object]
) -> None:
    """RequestError where `attributes` say again what `general` says."""
    from onnxpad.frameworks.conventions import find_convention, find_layer, find_op
    from onnxpad.resolving import given_as, words_for

    convention = find_convention(framework)
    layer = find_layer(convention, find_op(op)[0])
    for role, value in general.items():
        words = words_for(layer, role, value)
        if words and (twice := given_as(layer, words, attributes)):
            raise RequestError(
                f"{convention.name} {layer.op}: the {role} is given twice, as --{role} {value} and "
                f"as {twice}={attributes[twice]}: give one"
            )
