"""The JSON Schema of every report that --json prints, made from the types of the reports.

python -m tests.house.json_schemas      writes them into onnxpad/schemas
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import onnx_graphsurgeon as gs

from onnxpad import (
    Change,
    Diagnosis,
    Explanation,
    Finding,
    Guarding,
    Inspection,
    Measurement,
    NodeVerdict,
    Plan,
    PlanEntry,
    PortedNode,
    Porting,
    Resolution,
    Retargeting,
    Rewriting,
    Validation,
    Verdict,
    guarding,
    reports,
)
from onnxpad.diagnosis import report as diagnosis
from onnxpad.explaining import KINDS
from onnxpad.model.editing import script
from onnxpad.model.opened import Carried
from onnxpad.padding.forms import Form
from onnxpad.probing.live import RuntimeRan
from onnxpad.probing.whole import WholeRun
from onnxpad.proof.counterexamples import Counterexample
from onnxpad.resolving.differences import Difference
from onnxpad.retargeting.report import Move
from onnxpad.rewriting.for_target.fit import Fitted
from onnxpad.rewriting.for_target.report import Opening
from onnxpad.runtimes.installed import OnInstalled
from onnxpad.validation import report as validation
from onnxpad.validation.culprit import Culprit
from onnxpad.validation.distances import Distances
from onnxpad.validation.report import ProofReport

FOLDER = Path(reports.__file__).parent / "schemas"
Schema = dict[str, Any]

TEXT, INTEGER, FLAG, NOTHING = ({"type": one} for one in ("string", "integer", "boolean", "null"))
NUMBER: Schema = {
    "anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}],
    "description": "A number; as a text what is infinite or no number.",
}
_LATER = (Carried, Fitted, NodeVerdict, OnInstalled, Opening, RuntimeRan, WholeRun)
LATER = {one.__name__: one for one in _LATER} | {"gs": gs}
"""Types that modules import for the type checker alone."""


def words(known: Iterable[str]) -> Schema:
    """One of several words. Later releases may have more, which does not raise the version."""
    return {"type": "string", "examples": list(known)}


def record(
    properties: Mapping[str, Schema], *, optional: Iterable[str] = (), about: str = ""
) -> Schema:
    """An object; later releases may have more fields, which does not raise the version."""
    left = set(optional)
    found: Schema = {"type": "object"} | ({"description": about} if about else {})
    needed = [name for name in properties if name not in left]
    return found | {"properties": dict(properties), "required": needed}


def const(value: object) -> Schema:
    return {"const": value}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, NOTHING]}


class Shapes:
    """Schemas of types; those of classes are kept under `$defs` by name."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of whatever `plain` makes of a value of the type."""
        plain = {str: TEXT, int: INTEGER, bool: FLAG, float: NUMBER, type(None): NOTHING}
        if kind in plain:
            return plain[kind]
        if kind in (Any, object):
            return {}
        if get_origin(kind) is not None or kind in (list, dict):
            return self._of_generic(get_origin(kind), get_args(kind))
        if issubclass(kind, StrEnum):
            return words(kind)
        return self.defined(kind)

    def _of_generic(self, origin: Any, args: tuple[Any, ...]) -> Schema:
        if origin is Literal:
            return words(args)
        if origin in (Union, types.UnionType):
            listed = [self.of(one) for one in args]
            return {"anyOf": [one for index, one in enumerate(listed) if one not in listed[:index]]}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(args[1])}
        if origin is tuple and args[-1:] != (...,):
            listed = [self.of(one) for one in args]
            return {"type": "array", "prefixItems": listed, "items": False, "minItems": len(listed)}
        return {"type": "array", "items": self.of(args[0])}

    def defined(self, kind: type) -> Schema:
        """A reference to the schema of a class."""
        name = kind.__name__
        if name not in self.definitions:
            self.definitions[name] = {}
            made = SPECIAL[kind](self) if kind in SPECIAL else record(self.fields(kind))
            self.definitions[name] = {"description": about(kind)} | made
        return {"$ref": f"#/$defs/{name}"}

    def fields(self, kind: type) -> dict[str, Schema]:
        """The fields that `plain` gives, by name."""
        entries = reports._layout(kind)  # noqa: SLF001 - the encoder's own list
        return {name: self.reached(kind, path) for name, path in entries if name}

    def reached(self, kind: Any, path: str) -> Schema:
        """What stands at an attribute of an attribute ..."""
        first, _, rest = path.partition(".")
        if (kind, first) in UNTYPED:
            return UNTYPED[kind, first](self)
        found = attribute(kind, first)
        return self.reached(found, rest) if rest else self.of(found)


def attribute(kind: Any, name: str) -> Any:
    """The type of an attribute: of a field, or of what a property returns."""
    hints = get_type_hints(kind, localns=LATER)
    if name in hints and not isinstance(getattr(kind, name, None), property | cached_property):
        return hints[name]
    found = getattr(kind, name)
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, cached_property):
        found = found.func
    else:
        return type(found)
    return get_type_hints(found, localns=LATER)["return"]


def about(kind: type) -> str:
    """The docstring, on one line."""
    return " ".join((kind.__doc__ or "").split())


def _all_fields(shapes: Shapes, kind: type, **others: Schema) -> dict[str, Schema]:
    """Every field of a dataclass, as `asdict` gives them, but for `others`."""
    hints = get_type_hints(kind, localns=LATER)
    assert is_dataclass(kind)
    return {one.name: others.get(one.name) or shapes.of(hints[one.name]) for one in fields(kind)}


def _counterexample(shapes: Shapes) -> Schema:
    inputs = {"type": "object", "additionalProperties": {"type": "array", "items": INTEGER}}
    return record(_all_fields(shapes, Counterexample, inputs=inputs))


def _plan(shapes: Shapes) -> Schema:
    entries: Schema = {"type": "array", "items": shapes.defined(PlanEntry)}
    return record({"schema": const(Plan.schema), "nodes": entries})


def _plan_entry(_shapes: Shapes) -> Schema:
    pads: Schema = {"type": "array", "items": INTEGER}
    pad_node = record({"pads": pads, "value": NUMBER, "mode": TEXT}, optional=("value",))
    settings: dict[str, Schema] = {
        "auto_pad": TEXT,
        "pads": pads,
        "ceil_mode": INTEGER,
        "count_include_pad": INTEGER,
        "output_padding": pads,
        "pad_node": nullable(pad_node),
    }
    names: Schema = {"type": "array", "items": TEXT}
    listed = {"node": TEXT, **settings, "conventions": names}
    return record(listed, optional=settings)


def _validation(shapes: Shapes) -> Schema:
    proof = nullable(shapes.defined(ProofReport))
    head = {"schema": const(validation.SCHEMA), "ok": FLAG}
    return record(head | _all_fields(shapes, Validation, proof=proof))


def _edits(shapes: Shapes) -> Schema:
    """Edit scripts: `edit` names the kind, whose own fields follow."""
    kinds = []
    for kind in get_args(script.Edit):
        name = {"edit": const(kind.__name__)}
        kinds.append(record(name | shapes.fields(kind), about=about(kind)))
    shapes.definitions["Edit"] = {"anyOf": kinds}
    return {"type": "array", "items": {"$ref": "#/$defs/Edit"}}


def _summary(_shapes: Shapes) -> Schema:
    counts = dict.fromkeys(("nodes", "padding", "asymmetric", "unknown", "traps"), INTEGER)
    return record(counts | {"forms": record(dict.fromkeys(map(str, Form), INTEGER))})


def _target(shapes: Shapes) -> Schema:
    return nullable(record({"name": TEXT, **shapes.fields(Fitted)}))


def _onnx_nodes(_shapes: Shapes) -> Schema:
    node = {"type": "object", "properties": {"op": TEXT}, "required": ["op"]}
    return nullable({"type": "array", "items": node | {"additionalProperties": True}})


SPECIAL = {
    Counterexample: _counterexample,
    Plan: _plan,
    PlanEntry: _plan_entry,
    Validation: _validation,
}
UNTYPED = {
    (Inspection, "summary"): _summary,
    (Rewriting, "fitted"): _target,
    (Resolution, "nodes"): _onnx_nodes,
    (Change, "script"): _edits,
    (Move, "script"): _edits,
}


def _report(shapes: Shapes, kind: type[reports.Report]) -> dict[str, Schema]:
    return {"schema": const(kind.schema), **shapes.fields(kind)}


def _or_error(report: Schema) -> Schema:
    """A report, or why there is none about this model."""
    error = record({"kind": TEXT, "message": TEXT})
    about_it = "A model that came to nothing: the error, and what was wrong."
    status = {"status": const("error")}
    failed = record({"schema": const(1), "file": TEXT, **status, "error": error}, about=about_it)
    return {"anyOf": [report, failed]}


def _inspect(shapes: Shapes) -> Schema:
    finding = record(shapes.fields(Finding) | {"fails": FLAG, "known": FLAG}, about=about(Finding))
    listed: Schema = {"type": "array", "items": finding}
    status = words(("fine", "with traps", "with known findings", "not known", "failing"))
    more = {"file": TEXT, "status": status, "findings": listed}
    return _or_error(record(_report(shapes, Inspection) | more, about=about(Inspection)))


def _fate(done: str) -> Schema:
    """What became of a model that was to be edited."""
    return words((done, f"would be {done}", "unchanged", "not written"))


def _rewrite(shapes: Shapes) -> Schema:
    more = {name: nullable(TEXT) for name in ("written", "refused")}
    more |= {"file": TEXT, "status": _fate("rewritten"), "script": _edits(shapes)}
    more["validation"] = nullable(shapes.defined(Validation))
    found = _report(shapes, Rewriting) | more
    return _or_error(record(found, optional=("script",), about=about(Rewriting)))


def _retarget(shapes: Shapes) -> Schema:
    more = {name: nullable(TEXT) for name in ("written", "refused")}
    more |= {"file": TEXT, "status": _fate("moved"), "script": _edits(shapes)}
    more["moved"] = nullable(shapes.defined(Distances))
    found = _report(shapes, Retargeting) | more
    return _or_error(record(found, optional=("script",), about=about(Retargeting)))


def _diagnose(shapes: Shapes) -> Schema:
    plan = shapes.defined(Plan)
    listed = _all_fields(shapes, Diagnosis, plan=plan, nearest=nullable(plan))
    head = {"model": TEXT, "schema": const(diagnosis.SCHEMA)}
    return record(head | listed, about=about(Diagnosis))


def _validate(shapes: Shapes) -> Schema:
    made = _validation(shapes)
    names = {"before": TEXT, "after": nullable(TEXT), "status": words(Verdict)}
    return _or_error(record(names | made["properties"], about=about(Validation)))


def _resolve(shapes: Shapes) -> Schema:
    one = _report(shapes, Resolution) | {"code": TEXT}
    single = record(one, optional=("code",), about=about(Resolution))
    return {"anyOf": [single, record(_report(shapes, Difference), about=about(Difference))]}


def _explain(shapes: Shapes) -> Schema:
    found = _report(shapes, Explanation) | {"kind": words(KINDS)}
    return record(found, about=about(Explanation))


def _guard(shapes: Shapes) -> Schema:
    culprit, made = shapes.defined(Culprit), shapes.defined(Validation)
    own = _all_fields(shapes, Guarding, validation=made, culprit=nullable(culprit))
    return record({"schema": const(guarding.SCHEMA), "ok": FLAG, **own}, about=about(Guarding))


def _measure(shapes: Shapes) -> Schema:
    return record(_report(shapes, Measurement), about=about(Measurement))


def _port(shapes: Shapes) -> Schema:
    shapes.definitions["PortedNode"] = record(shapes.fields(PortedNode) | {"code": TEXT})
    made = _report(shapes, Porting) | {"file": TEXT, "language": TEXT}
    return record(made, about=about(Porting))


_VERBS = {
    "inspect": _inspect,
    "rewrite": _rewrite,
    "retarget": _retarget,
    "diagnose": _diagnose,
    "validate": _validate,
    "measure": _measure,
    "guard": _guard,
    "resolve": _resolve,
    "port": _port,
    "explain": _explain,
}


def schemas() -> dict[str, str]:
    """The text of each verb's schema."""
    found = {}
    for verb, make in _VERBS.items():
        shapes = Shapes()
        made = make(shapes)
        head = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"A line of onnxpad {verb} --json",
        }
        content = head | made | {"$defs": dict(sorted(shapes.definitions.items()))}
        found[verb] = json.dumps(content, indent=1) + "\n"
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for verb, text in schemas().items():
        (FOLDER / f"{verb}.json").write_text(text, encoding="utf-8")
