"""What is done with one model: the verb, what judges the result, what speaks against it, the file.

`answer` does all of it as plain data, so that it runs wherever an executor takes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from onnxpad.batch.inputs import STANDARD, Job
from onnxpad.errors import (
    ModelError,
    OnnxpadError,
    RequestError,
    RuntimeUnavailable,
    brief,
    counted,
    fault_in,
    headline,
    together,
    told,
)

if TYPE_CHECKING:
    from onnxpad.model.editing.session import Edited
    from onnxpad.retargeting import Retargeting
    from onnxpad.rewriting.rewrite import Rewriting
    from onnxpad.validation import Validation
    from onnxpad.validation.distances import Distances

FINE, FINDINGS, WRONG = 0, 1, 2
_REPORT = "\n  try     ONNXPAD_TRACEBACK=1 shows where; please report it with the model"
Plain = dict[str, Any]


def _version() -> str:
    """onnxpad's own; its package stands above this room, and is loaded before it."""
    return str(sys.modules["onnxpad"].__version__)


class Request(NamedTuple):
    """What to do with a model; `options` go to the verb, `judging` to the runs of both models."""

    verb: str
    options: dict[str, Any]
    judging: dict[str, Any] | None = None
    check: bool = False
    dry_run: bool = False
    strict: bool = False
    certificate: str | None = None
    although_unfit: bool = False


class Done(NamedTuple):
    """What became of a model that was to be edited.

    `compared` is what the runs of both models gave, `objection` why nothing was written, and
    `written` the file.
    """

    found: Any
    compared: Any
    objection: str
    written: str | None
    code: int


def rewritten(job: Job, request: Request) -> Done:
    """Rewrite a model, and write it where nothing speaks against it."""
    from onnxpad.rewriting.rewrite import rewrite  # loads onnx

    found = rewrite(job.model, **request.options)
    validation: Validation | None = None
    if request.judging is not None and (found.changed or request.certificate):
        from onnxpad.validation import validate  # loads numpy, and onnxruntime when it runs

        validation = validate(before(job.model, found), found.unread, **request.judging)
    certify = _certifier(job, validation, request)
    objection = _against(found, validation, request)
    return _concluded(job, request, found, validation, objection, certify)


def _certifier(
    job: Job, validation: Validation | None, request: Request
) -> Callable[[], None] | None:
    """What writes the certificate; the original is hashed now, since it may be overwritten."""
    path = request.certificate
    if path is None:
        return None
    from onnxpad.model.files.onnx_file import fingerprint
    from onnxpad.validation.certificates import certificate

    original, judging = fingerprint(job.model), request.judging or {}

    def write() -> None:
        if validation is not None and validation.proof is not None and job.target is not None:
            files = original, fingerprint(job.target)
            record = certificate(validation.proof, files, judging["dims"], judging["ambiguous"])
            replace(record, onnxpad=_version()).write(path)

    return write


def retargeted(job: Job, request: Request) -> Done:
    """Move a model to another convention, and write it where nothing speaks against it."""
    from onnxpad import retargeting  # loads onnx

    found = retargeting.retarget(job.model, **request.options)
    moved: Distances | None = None
    if request.judging is not None and found.changed:
        from onnxpad.validation.distances import distances  # loads numpy, and onnxruntime

        moved = distances(before(job.model, found), found.unread, **request.judging)
    return _concluded(job, request, found, moved, _against_moving(found, request))


def before(model: str, found: Edited) -> object:
    """The model as it was read; standard input cannot be read again."""
    data = found.source.data if found.source else None
    if model != STANDARD or not isinstance(data, bytes):
        return model
    from onnxpad.model.files.onnx_file import parse

    return parse(data, name="standard input", folder=None)


def _concluded(
    job: Job,
    request: Request,
    found: Edited,
    compared: Any,  # noqa: ANN401 - one of two reports
    objection: str,
    saved: Callable[[], None] | None = None,
) -> Done:
    """Write the model where nothing speaks against it; `saved` is called when it stands there."""
    if job.target is not None and not objection:
        more = {"although_unfit": True} if request.although_unfit else {}
        found.save(job.target, in_place=job.target == job.model, **more)
        if saved is not None:
            saved()
    run = getattr(found, "run", None)
    unfit = bool(getattr(found, "unfit", ())) or (run is not None and run.ok is False)
    findings = bool(objection) or unfit or (request.check and found.changed)
    written = None if objection else job.target
    return Done(found, compared, objection, written, FINDINGS if findings else FINE)


def _against(found: Rewriting, validation: Validation | None, request: Request) -> str:
    if found.unfit and not request.although_unfit:
        return _unfit(found)
    if found.run and found.run.ok is False and not request.although_unfit:
        others = "; --node leaves other nodes as they are" if request.options.get("nodes") else ""
        more = "; --although-unfit writes it all the same" if found.changed else ""
        return f"{found.run.sentence}{others}{more}"
    proof = None if validation is None else validation.proof
    if request.certificate is not None and (proof is None or proof.verdict != "proved"):
        return "the rewritten model is not proved, so there is nothing to certify"
    if validation is not None and not validation.ok:
        alone = _only_for_the_target(found, validation)
        hint = f"; without --validate it is written for {found.target} alone" if alone else ""
        return f"the rewritten model is not validated{hint} ({validation.verdict})"
    return _too_many_skips(found, request)


def _only_for_the_target(found: Rewriting, validation: Validation) -> bool:
    """Whether only onnxruntime's optimiser harms it, in a form that it is said to harm."""
    if found.fitting is None or not found.fitting.elsewhere:
        return False
    plain = [row.equal for row in validation.outputs if row.level == "off"]
    return bool(plain) and all(plain)


def _unfit(found: Rewriting) -> str:
    wrong = sum(1 for one in found.stuck if one.judgement.answer.fails)
    if wrong and all(one.brought_by for one in found.stuck):
        rules = tuple(dict.fromkeys(one.brought_by for one in found.stuck))
        written = f"{together(rules)} {'write' if rules[1:] else 'writes'}"
        return f"{found.target} would refuse or miscompute {counted(wrong, 'node')} that {written}"
    if wrong:
        plans = found.fitting.plans if found.fitting else ()
        helped = {one.node for one in plans} - {one.node for one in found.stuck}
        rest = f"; for {len(helped)} more there is a way" if helped else ""
        return f"{found.target} would refuse or miscompute {wrong} of its nodes{rest}"
    count = len(found.stuck)
    return f"it is not known whether {found.target} runs {count} of its nodes"


def _against_moving(found: Retargeting, request: Request) -> str:
    if found.breaks:
        return f"it would break {found.breaks[0]}"
    return _too_many_skips(found, request)


def _too_many_skips(found: Rewriting | Retargeting, request: Request) -> str:
    if request.strict and found.skips:
        return f"--strict allows no skips, and there are {len(found.skips)}"
    return ""


def asked_of(job: Job, request: Request, after: str | None = None) -> Plain:
    """A job and what to do as plain data for `answer`; `after` is the second model of validate.

    A model that is to be replaced gets a stamp: tried once more, it must not be read again where
    the first try has replaced it already.
    """
    in_place = job.target is not None and job.target == job.model
    plan = request.options.get("plan")
    if plan is not None:
        options = {**request.options, "plan": {"record": plan.to_json(), "file": plan.file}}
        request = request._replace(options=options)
    return {
        "version": _version(),
        "folder": os.getcwd(),  # noqa: PTH109 - a text
        "after": after,
        "stamp": _stamp(job.model) if in_place else None,
        **job._asdict(),
        **request._asdict(),
    }


def answer(asked: Plain) -> Plain:
    """Do what is asked with one model; the fields of an Outcome. Errors are answers too."""
    try:
        _refuse_other_version(asked)
        return {"file": asked["model"], "error": "", "written": None, "line": ""} | _done(asked)
    except OnnxpadError as error:
        return refusal(asked, type(error).__name__, named(asked["model"], error))
    except Exception as error:  # the other models go on
        if os.environ.get("ONNXPAD_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {headline(error)}"
        internal = f"internal error; nothing was written ({what}){_REPORT}"
        said = fault_in(error) or internal
        return refusal(asked, "InternalError", f"{asked['model']}: {said}")


def refusal(asked: Plain, kind: str, said: str) -> Plain:
    """The answer about a model that came to nothing."""
    record = without_report(asked["model"], kind, said)
    return {
        "file": asked["model"],
        "result": record["status"],
        "code": WRONG,
        "record": record,
        "error": said,
        "written": None,
        "line": "",
    }


def without_report(model: str, kind: str, said: str) -> Plain:
    """The record of a model that came to nothing."""
    error = {"kind": kind, "message": said}
    return {"schema": 1, "file": model, "status": "error", "error": error}


def named(model: str, error: OnnxpadError) -> str:
    """What an error about one of several models says; it begins with the model's name."""
    name = "standard input" if model == STANDARD else model
    said = told(error)
    own = said.startswith((name, f"'{name}'", brief(name)))
    return said if own or isinstance(error, RuntimeUnavailable) else f"{name}: {said}"


def addressable(asked: Plain) -> Plain:
    """Dimensions and inputs of a model, and globs of padded nodes; {} where it cannot be read."""
    from onnxpad.model.opened import open_model
    from onnxpad.model.reading.survey import Survey, selection
    from onnxpad.model.shapes.input_shapes import input_sizes

    try:
        opened = open_model(_place(asked, asked["model"]))
        survey = Survey(opened.model, folder=opened.source.folder if opened.source else None)
    except OnnxpadError:
        return {}
    globs = []
    for glob in asked["globs"]:
        try:
            selection(survey, glob)
        except RequestError:
            continue
        globs.append(glob)
    inputs = input_sizes(opened.model)
    return {"dims": sorted(survey.dimension_names), "globs": globs, "inputs": inputs}


def _refuse_other_version(asked: Plain) -> None:
    if asked["version"] != _version():
        raise RequestError(
            f"this worker has onnxpad {_version()}, and the request is from {asked['version']}: "
            "install the same on both machines"
        )


def _done(asked: Plain) -> Plain:
    request = Request(**{name: asked[name] for name in Request._fields})
    model, target = _place(asked, asked["model"]), asked["target"]
    job = Job(model, target and _place(asked, target))
    if asked["stamp"] is not None and asked["stamp"] != _stamp(job.model):
        raise ModelError(
            "the file has changed since the work on it began: a worker that ended may have "
            "written it already; run once more"
        )
    job.check()
    return _VERBS[request.verb](job, request, asked)


def _rewrite(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.show import batches

    done = rewritten(job, request)
    line = batches.rewriting_line(asked["model"], _written(done, asked), done.found, done.compared)
    return _edited(done, asked, line)


def _retarget(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.retargeting.plan import Plan
    from onnxpad.show import batches

    if sent := request.options.get("plan"):
        plan = Plan.from_json(sent["record"], file=sent["file"])
        request = request._replace(options={**request.options, "plan": plan})
    done = retargeted(job, request)
    line = batches.retargeting_line(asked["model"], _written(done, asked), done.found)
    return _edited(done, asked, line)


def _written(done: Done, asked: Plain) -> str | None:
    """The file as it was asked for; None where nothing was written."""
    target: str | None = asked["target"]
    return target if done.written else None


def _edited(done: Done, asked: Plain, line: str) -> Plain:
    """The answer about a model that was to be edited."""
    from onnxpad.show.batches import refusal_text
    from onnxpad.show.document import lines_text
    from onnxpad.show.edited import edited_record, script_lines

    written = _written(done, asked)
    against = done.objection
    failed = None if getattr(done.compared, "ok", True) else done.compared
    refused = refusal_text(asked["model"], against, done.found, failed) if against else ""
    record = edited_record(
        asked["verb"],
        asked["model"],
        written,
        done.found,
        done.compared,
        script=asked["dry_run"],
        refused=done.objection,
    )
    return {
        "result": record["status"],
        "code": done.code,
        "record": record,
        "error": refused,
        "written": written,
        "line": lines_text([*(script_lines(done.found) if asked["dry_run"] else ()), line]),
    }


def _inspect(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.inspection import inspect, inspected_status
    from onnxpad.show import batches

    found = inspect(job.model, **request.options)
    record = found.to_json()
    status = inspected_status(record, fails=found.fails)
    return {
        "result": status,
        "code": FINDINGS if found.fails else FINE,
        "record": {"file": asked["model"], "status": status} | record,
        "line": batches.inspection_line(asked["model"], found),
        "following": found.following.to_json() if found.following else {},
    }


def _validate(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.show import batches
    from onnxpad.validation import validate

    if asked["after"] is None and not request.options.get("target"):
        raise ModelError("the second folder has no such model")
    after = asked["after"] and _place(asked, asked["after"])
    found = validate(job.model, after, **request.options)
    return {
        "result": str(found.verdict),
        "code": FINE if found.ok else FINDINGS,
        "record": {"before": asked["model"], "after": asked["after"]}
        | {"status": str(found.verdict)}
        | found.to_json(),
        "line": batches.validation_line(asked["model"], asked["after"], found),
    }


_VERBS = {"inspect": _inspect, "rewrite": _rewrite, "retarget": _retarget, "validate": _validate}


def _place(asked: Mapping[str, Any], path: str) -> str:
    """The path as this process finds it, which may work in another folder."""
    if path == STANDARD or asked["folder"] == os.getcwd():  # noqa: PTH109 - a text
        return path
    return str(Path(asked["folder"], path))


def _stamp(path: str) -> list[int] | None:
    """What a file that is replaced does not keep."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]
