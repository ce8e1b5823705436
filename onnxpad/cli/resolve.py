"""onnxpad resolve."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from onnxpad.cli import arguments
from onnxpad.cli.exits import FINE
from onnxpad.cli.streams import show, terminal
from onnxpad.errors import RequestError

if TYPE_CHECKING:
    from onnxpad.frameworks.choices import Role
    from onnxpad.resolving import Resolution

_HELP = """Work out one layer of a framework: pads, output size, divisor, and the ONNX nodes.

\b
onnxpad resolve tensorflow conv --input 1,3,224,224 --kernel 7 --stride 2 --padding SAME
onnxpad resolve keras conv --input 1,3,224,224 --kernel 7 --stride 2 --padding same --as pytorch
onnxpad resolve caffe max_pool --input 1,64,112,112 --kernel 3 --stride 2 --compare pytorch
onnxpad resolve tf conv --input 1,3,9,9 --kernel 3 --padding SAME --compare 'pytorch padding=1'

OP is conv, depthwise_conv, grouped_conv, max_pool, avg_pool or conv_transpose. Sizes are in ONNX
layout: batch, channels, axes. --set gives any attribute by the framework's own name, such as
--set ceil_mode=true or --set 'pads=[0,0,1,1]'; onnxpad explain FRAMEWORK lists them.
--compare works out a second framework with the same input, kernel, stride, dilation and groups,
and says which cells of the output differ; its own attributes win over these. Padding is not carried
over: its words differ. --as writes one layer, so not beside --compare. Exit codes: 0 fine,
also where the two differ; 2 wrong usage.
"""


_WORDS = {"true": True, "false": False, "none": None, "null": None}
_Numbers = int | list[int] | None


def parse_value(text: str) -> object:
    """A number, a list, true, false, none, or the text itself."""
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value


def _numbers(_context: click.Context, option: click.Parameter, text: str | None) -> _Numbers:
    """7 from '7', [1, 3, 224, 224] from '1,3,224,224'."""
    if text is None:
        return None
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"'{text}' is no number or list: write 7 or 7,5") from None
    return found[0] if len(found) == 1 and option.name not in {"shape", "weight"} else found


def _settings(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, object]:
    found: dict[str, object] = {}
    for text in texts:
        name, is_there, value = text.partition("=")
        if not is_there or not name:
            raise click.BadParameter(f"cannot read '{text}': expected NAME=VALUE")
        if name in found:
            raise click.BadParameter(f"'{name}' is set twice")
        found[name] = parse_value(value)
    return found


def _comparison(
    context: click.Context, option: click.Parameter, text: str | None
) -> tuple[str, dict[str, object]] | None:
    """A framework and its attributes, from 'pytorch padding=3 ceil_mode=true'."""
    if text is None:
        return None
    if not text.split():
        raise click.BadParameter("name a framework")
    name, *rest = text.split()
    return name, _settings(context, option, tuple(rest))


@click.command(help=_HELP, short_help="Work out a framework's layer: pads, size, ONNX nodes.")
@click.argument("framework", shell_complete=arguments.completed("convention"))
@click.argument("op")
@click.option(
    "--input",
    "--input-shape",
    "shape",
    metavar="N,C,H,W",
    required=True,
    callback=_numbers,
    help="Shape of the input: batch, channels, and one to three sizes.",
)
@click.option(
    "--weight",
    "--weight-shape",
    "weight",
    metavar="M,C,H,W",
    callback=_numbers,
    help="Shape of the weight in ONNX layout, instead of --kernel.",
)
@click.option("--kernel", metavar="K[,K]", callback=_numbers, help="Size of the window.")
@click.option("--stride", metavar="S[,S]", callback=_numbers, help="Stride.")
@click.option("--dilation", metavar="D[,D]", callback=_numbers, help="Dilation.")
@click.option("--groups", metavar="G", callback=_numbers, help="Number of groups.")
@click.option("--padding", metavar="PADDING", help="The framework's padding: SAME, 3, [1,2] ...")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_settings,
    help="An attribute by the framework's own name. Repeatable.",
)
@click.option(
    "--compare",
    metavar="'FRAMEWORK [NAME=VALUE ...]'",
    callback=_comparison,
    help="A second framework, and its own attributes.",
)
@click.option(
    "--as",
    "language",
    metavar="FRAMEWORK",
    help="Print the same layer as code: pytorch (torch) or tensorflow (tf, keras).",
)
@arguments.spoken
def resolve(  # noqa: PLR0913 - each option is one word of the command line
    *,
    framework: str,
    op: str,
    shape: list[int],
    weight: list[int] | None,
    padding: str | None,
    settings: dict[str, object],
    compare: tuple[str, dict[str, object]] | None,
    language: str | None,
    as_json: bool,
    **window: _Numbers,
) -> int:
    """Resolve one layer, or two, and print what was found."""
    if compare is not None and language is not None:
        raise click.UsageError("--as writes one layer: leave --compare out")
    from onnxpad.frameworks.choices import Role

    general: dict[Role, object] = {
        Role(name): value for name, value in window.items() if value is not None
    }
    first = general if padding is None else {**general, Role.PADDING: parse_value(padding)}
    _refuse_doubles(framework, op, first, settings)
    found = _resolved(framework, op, shape, weight, first, settings)
    write = sys.stdout.write if as_json else show
    if compare is None:
        write(_single(found, language, as_json=as_json))
        return FINE
    other, own = compare
    second = _resolved(other, op, shape, weight, general, own)
    write(_both(found, second, as_json=as_json))
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


def _resolved(
    framework: str,
    op: str,
    shape: list[int],
    weight: list[int] | None,
    general: dict[Role, object],
    own: dict[str, object],
) -> Resolution:
    from onnxpad.resolving import resolve_general

    return resolve_general(
        framework, op, input_shape=shape, weight_shape=weight, general=general, attributes=own
    )


def _single(found: Resolution, language: str | None, *, as_json: bool) -> str:
    from onnxpad.reports import json_line
    from onnxpad.show.document import document_text
    from onnxpad.show.pasting import code_of, language_called
    from onnxpad.show.resolutions import resolution_document

    written = None if language is None else language_called(language)
    code = None if written is None else (written, code_of(found, written))
    if as_json:
        return json_line(found.to_json() | ({"code": code[1]} if code else {}))
    return document_text(resolution_document(found, code), terminal(sys.stdout))


def _both(first: Resolution, second: Resolution, *, as_json: bool) -> str:
    from onnxpad.reports import json_line
    from onnxpad.resolving.differences import compare
    from onnxpad.show.document import document_text
    from onnxpad.show.resolutions import difference_document

    found = compare(first, second)
    if as_json:
        return json_line(found.to_json())
    return document_text(difference_document(found), terminal(sys.stdout))
