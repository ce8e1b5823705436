"""Files of plans: diagnose checks the place before its search and writes after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnxpad.cli import destinations
from onnxpad.cli.exits import STANDARD
from onnxpad.errors import ModelError, RequestError, told

if TYPE_CHECKING:
    from onnxpad.model.comparing.networks import Network
    from onnxpad.retargeting.plan import Plan

_CURE = "give another --plan"


def check(path: str | None, options: dict[str, Any]) -> None:
    """UsageError where the plan would overwrite an input, RequestError where it has no place."""
    if path is None:
        return
    given = [options["model"], *options["data"], options["inputs"], options["outputs"]]
    destinations.refuse_overwriting(path, given, _CURE)
    from onnxpad.model.files.delivery import check_target

    try:
        check_target(path)
    except ModelError as error:
        raise RequestError(f"the plan: {told(error)}") from error


def check_weights(path: str | None, network: Network) -> None:
    """UsageError where the plan would overwrite external data of the model."""
    if path is None or network.folder is None:
        return
    from onnxpad.model.files.external import data_files

    files = data_files(network.model, b"location", name="the model")
    weights = [str(network.folder / file.location) for file in files]
    destinations.refuse_overwriting(path, weights, _CURE)


def read(path: str) -> Plan:
    """The plan in a file or on standard input; RequestError says what is wrong with it."""
    from onnxpad.model.files.contents import standard_input
    from onnxpad.retargeting import LARGEST_PLAN, parse_plan, read_plan

    if path != STANDARD:
        return read_plan(path)
    try:
        return parse_plan(standard_input(LARGEST_PLAN), "standard input")
    except (OSError, ValueError) as error:
        raise RequestError(f"cannot read the plan on standard input: {told(error)}") from error


def not_written(path: str, why: str = "") -> str:
    """What to say where there is no plan to write: a file of that name is an older one."""
    older = path != STANDARD and Path(path).exists()
    said = f"no plan was written{f', {path} is an older one' if older else ''}"
    return f"{said}: {why}" if why else said


def write(path: str, plan: Plan) -> None:
    """Write the plan, all or nothing where a file can be replaced; RequestError if that fails."""
    from onnxpad.model.files.delivery import deliver

    data = memoryview(json.dumps(plan.to_json(), indent=2).encode() + b"\n")
    try:
        deliver([data], (), path, origin=None)
    except ModelError as error:
        raise RequestError(f"the plan: {told(error)}") from error.__cause__
