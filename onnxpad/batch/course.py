"""What is done with one model: the verb, what judges the result, what speaks against it, the file.

`answer` does all of it as plain data, so that it runs wherever an executor takes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from onnxpad.batch.inputs import STANDARD, Job
from onnxpad.errors import (
    ModelError,
    OnnxpadError,
    RequestError,
    RuntimeUnavailable,
    brief,
    fault_in,
    headline,
)

if TYPE_CHECKING:
    from onnxpad.show.document import Document

FINE, FINDINGS, WRONG = 0, 1, 2
_FILES = ("model", "target", "second")
_REPORT = "\n  try     ONNXPAD_TRACEBACK=1 shows where; please report it with the model"
Plain = dict[str, Any]


def _version() -> str:
    """onnxpad's own; its package stands above this room, and is loaded before it."""
    return str(sys.modules["onnxpad"].__version__)


class Request(NamedTuple):
    """What to do with a model; `options` go to the verb, `judging` to the runs of both models."""

    verb: str
    options: Plain
    judging: Plain | None = None
    check: bool = False
    dry_run: bool = False
    strict: bool = False
    certificate: str | None = None
    although_unfit: bool = False

    def about(self, dims: Mapping[str, Any] | None, nodes: Sequence[str] | None) -> Request:
        """The same with what is said of one model."""
        own = {"dims": dims, "nodes": nodes}
        own = {name: value for name, value in own.items() if value is not None}
        judging = None if self.judging is None else {**self.judging, "dims": dims}
        return self._replace(options={**self.options, **own}, judging=judging)


def asked_of(job: Job, request: Request) -> Plain:
    """A job and what to do as plain data for `answer`.

    A model that is to be replaced gets a stamp: tried once more, it must not be read again where
    the first try has replaced it already.
    """
    options = dict(request.options)
    if plan := options.get("plan"):
        options["plan"] = plan.to_json(), plan.file
    return {
        "version": _version(),
        "folder": os.getcwd(),  # noqa: PTH109 - a text
        "stamp": _stamp(job.model) if job.target == job.model else None,
        **{name: getattr(job, name) for name in _FILES},
        **request._replace(options=options)._asdict(),
    }


def _stamp(path: str) -> list[int] | None:
    """What a file that is replaced does not keep."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]


def answer(asked: Plain) -> Plain:
    """Do what is asked with one model; the fields of an Outcome. Errors are answers too."""
    model = asked["model"]
    try:
        return {"file": model} | _done(asked)
    except OnnxpadError as error:
        if isinstance(error.__cause__, BrokenPipeError):  # its reader has gone
            raise error.__cause__ from None
        name, message = "standard input" if model == STANDARD else model, str(error)
        own = message.startswith((name, f"'{name}'", brief(name)))
        if not own and not isinstance(error, RuntimeUnavailable):
            message = f"{name}: {message}"
        return refusal(model, type(error).__name__, message)
    except Exception as error:  # the other models go on
        if os.environ.get("ONNXPAD_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {headline(error)}"
        message = fault_in(error) or f"internal error; nothing was written ({what}){_REPORT}"
        return refusal(model, "InternalError", f"{model}: {message}")


def refusal(model: str, kind: str, message: str) -> Plain:
    """The answer about a model that came to nothing."""
    error = {"kind": kind, "message": message}
    record = {"schema": 1, "file": model, "status": "error", "error": error}
    head = {"file": model, "result": "error", "code": WRONG}
    return {**head, "record": record, "error": message}


def _done(asked: Plain) -> Plain:
    if asked["version"] != _version():
        raise RequestError(
            f"this worker has onnxpad {_version()}, and the request is from "
            f"{asked['version']}: install the same on both machines"
        )
    request = Request(**{name: asked[name] for name in Request._fields})
    model, target, second = (asked[name] and _place(asked, asked[name]) for name in _FILES)
    job = Job(model, target, second)
    if asked["stamp"] is not None and asked["stamp"] != _stamp(job.model):
        raise ModelError(
            "the file has changed since the work on it began: a worker that ended may have "
            "written it already; run once more"
        )
    if job.target is not None:
        from onnxpad.model.files.delivery import check_target  # loads onnx

        check_target(job.target)  # before there is work to lose
    return _VERBS[request.verb](job, request, asked)


def _place(asked: Plain, path: str) -> str:
    """The path as this process finds it, which may work in another folder."""
    if path == STANDARD or asked["folder"] == os.getcwd():  # noqa: PTH109 - a text
        return path
    return str(Path(asked["folder"], path))


class _Edited(NamedTuple):
    """What became of a model that was to be edited: its report, the runs of both, an objection."""

    report: Any
    compared: Any
    objection: str


def _edited(job: Job, request: Request) -> _Edited:
    edit: Any
    compare: Any
    options = dict(request.options)
    if request.verb == "rewrite":
        from onnxpad.rewriting.rewrite import rewrite as edit  # loads onnx
    else:
        from onnxpad.retargeting import retarget as edit  # loads onnx
        from onnxpad.retargeting.plan import Plan

        if sent := options.get("plan"):
            options["plan"] = Plan.from_json(sent[0], file=sent[1])
    report, compared = edit(job.model, **options), None
    if request.judging is not None and (report.changed or request.certificate):
        if request.verb == "rewrite":
            from onnxpad.validation import validate as compare  # loads numpy, and onnxruntime
        else:
            from onnxpad.validation.distances import distances as compare
        before: object = job.model
        if before == STANDARD:  # it cannot be read again
            from onnxpad.model.files.onnx_file import parse

            before = parse(report.source.data, name="standard input", folder=None)
        compared = compare(before, report.unread, **request.judging)
    against = _against_rewriting if request.verb == "rewrite" else _against_moving
    objection = against(report, compared, request)
    if not objection and request.strict and report.skips:
        objection = f"--strict allows no skips, and there are {len(report.skips)}"
    return _Edited(report, compared, objection)


def _against_moving(report: Any, _compared: object, _request: Request) -> str:  # noqa: ANN401
    return f"it would break {report.breaks[0]}" if report.breaks else ""


def _against_rewriting(report: Any, validation: Any, request: Request) -> str:  # noqa: ANN401
    """What speaks against writing a model; '' where nothing does."""
    if report.unfit and not request.although_unfit:
        return f"no way was found for {len(report.stuck)} of its nodes on {report.target}"
    if report.run and report.run.ok is False and not request.although_unfit:
        others = "; --node leaves other nodes as they are" if request.options.get("nodes") else ""
        more = "; --although-unfit writes it all the same" if report.changed else ""
        return f"{report.run.sentence}{others}{more}"
    proof = validation.proof if validation else None
    if request.certificate is not None and (proof is None or proof.verdict != "proved"):
        return "the rewritten model is not proved, so there is nothing to certify"
    if validation is not None and not validation.ok:
        return f"the rewritten model is not validated ({validation.verdict})"
    return ""


def _write(job: Job, request: Request, edited: _Edited) -> bool:
    """Write the model where nothing speaks against it, and the certificate; whether it was."""
    if edited.objection or job.target is None:
        return False
    from onnxpad.model.files.onnx_file import fingerprint

    path, judging = request.certificate, request.judging or {}
    original = fingerprint(job.model) if path else None  # now, since it may be overwritten
    more = {"although_unfit": True} if request.although_unfit else {}
    edited.report.save(job.target, in_place=job.target == job.model, **more)
    if path and original:
        from onnxpad.validation.certificates import certificate

        files = original, fingerprint(job.target)
        proof = edited.compared.proof
        record = certificate(proof, files, judging["dims"], judging["ambiguous"])
        replace(record, onnxpad=_version()).write(path)
    return True


def _edit(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.show.batches import refusal_text, retargeting_line, rewriting_line
    from onnxpad.show.document import lines_text
    from onnxpad.show.edited import edited_record, script_lines

    edited = _edited(job, request)
    report, compared, objection = edited
    script, written = request.dry_run, asked["target"] if _write(job, request, edited) else None
    unfit = bool(getattr(report, "unfit", ()))
    ran_wrong = getattr(report, "run", None) is not None and report.run.ok is False
    findings = objection or unfit or ran_wrong or (request.check and report.changed)
    parts = (asked["model"], written, report, compared)
    record = edited_record(request.verb, *parts, script=script, refused=objection)
    code = FINDINGS if findings else FINE
    answered = {"result": record["status"], "code": code, "record": record, "written": written}
    if asked.get("whole"):
        was_compared = request.judging is None or report.changed or unfit
        more = {"script": script, "compared": was_compared, "objection": objection}
        answered["document"] = partial(_edited_document, request.verb, *parts, **more)
    if objection:
        failed = None if getattr(compared, "ok", True) else compared
        return answered | {"error": refusal_text(asked["model"], objection, report, failed)}
    line = rewriting_line(*parts) if request.verb == "rewrite" else retargeting_line(*parts[:3])
    return answered | {"line": lines_text([*(script_lines(report) if script else ()), line])}


def _edited_document(verb: str, *parts: Any, **more: Any) -> Document:  # noqa: ANN401 - of both reports
    from onnxpad.show.retargetings import retargeting_document
    from onnxpad.show.rewritings import rewriting_document

    more["each"] |= more.pop("page", False)
    return (rewriting_document if verb == "rewrite" else retargeting_document)(*parts, **more)


def _inspect(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.inspection import inspect, inspected_status

    report = inspect(job.model, **request.options)
    record = report.to_json()
    status = inspected_status(record, fails=report.fails)
    answered = {
        "result": status,
        "code": FINDINGS if report.fails else FINE,
        "record": {"file": asked["model"], "status": status} | record,
    }
    if report.findings:
        from onnxpad.show.following import commands

        answered["following"] = commands(report, asked["model"])
    if asked.get("whole"):
        from onnxpad.show.inspections import inspection_document

        return answered | {"document": partial(inspection_document, report, asked["model"])}
    from onnxpad.show.batches import inspection_line

    return answered | {"line": inspection_line(asked["model"], report)}


def _validate(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.show.batches import validation_line
    from onnxpad.validation import validate

    if job.second is None and not request.options.get("target"):
        raise ModelError("the second folder has no such model")
    report = validate(job.model, job.second, **request.options)
    head = {"before": asked["model"], "after": asked["second"], "status": str(report.verdict)}
    return {
        "result": str(report.verdict),
        "code": FINE if report.ok else FINDINGS,
        "record": head | report.to_json(),
        "line": validation_line(asked["model"], asked["second"], report),
    }


_VERBS = {"inspect": _inspect, "rewrite": _edit, "retarget": _edit, "validate": _validate}
