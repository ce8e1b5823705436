"""Write every padded operator as code of a framework, so that its weights compute the same.

    onnxpad port model.onnx --as pytorch
    onnxpad port model.onnx --as tensorflow --dim height=224 --node 'stem/*'

Each block takes x, and weight and bias where it has them. A Pad in front of an operator is part of
its block. Exit codes: 0 all are written; 1 some are not, and a comment says why.
"""

from __future__ import annotations

from typing import Any

import click

from onnxpad.cli.streams import FINDINGS, FINE, report, working
from onnxpad.errors import RequestError

_OPTIONS = ("dims", "nodes", "ambiguous", "everything", "timeout", "memory")


def port(given: dict[str, Any]) -> int:
    """Port and print the code."""
    from onnxpad.porting import port as port_model  # loads onnx
    from onnxpad.show import portings
    from onnxpad.show.pasting import language_called

    model = given["model"]
    try:
        language = language_called(given["language"])
    except RequestError as error:
        raise click.BadParameter(str(error), param_hint="--as") from None
    with working(model):
        porting = port_model(model, **{name: given[name] for name in _OPTIONS})

    def record() -> dict[str, Any]:
        plain = porting.to_json()
        for node, one in zip(plain["nodes"], porting.nodes, strict=True):
            node.update(portings.record(one, language))
        return {"file": model, "language": language, **plain}

    report(given, record, lambda: portings.porting_document(porting, language, model))
    return FINE if portings.complete(porting, language) else FINDINGS
