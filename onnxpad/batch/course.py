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
    from onnxpad.model.editing.session import Edited
    from onnxpad.retargeting import Retargeting
    from onnxpad.rewriting.rewrite import Rewriting
    from onnxpad.show.document import Document
    from onnxpad.validation import Validation
    from onnxpad.validation.distances import Distances

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
        said = {"dims": dims, "nodes": nodes}
        said = {name: value for name, value in said.items() if value is not None}
        judging = None if self.judging is None else {**self.judging, "dims": dims}
        return self._replace(options={**self.options, **said}, judging=judging)


class _Edited(NamedTuple):
    """What became of a model that was to be edited: its report, the runs of both, an objection."""

    found: Any
    compared: Any
    objection: str


def _rewritten(job: Job, request: Request) -> _Edited:
    from onnxpad.rewriting.rewrite import rewrite  # loads onnx

    found = rewrite(job.model, **request.options)
    validation: Validation | None = None
    if request.judging is not None and (found.changed or request.certificate):
        from onnxpad.validation import validate  # loads numpy, and onnxruntime when it runs

        validation = validate(_before(job.model, found), found.unread, **request.judging)
    return _Edited(found, validation, _against(found, validation, request))


def _retargeted(job: Job, request: Request) -> _Edited:
    from onnxpad import retargeting  # loads onnx

    found = retargeting.retarget(job.model, **request.options)
    moved: Distances | None = None
    if request.judging is not None and found.changed:
        from onnxpad.validation.distances import distances  # loads numpy, and onnxruntime

        moved = distances(_before(job.model, found), found.unread, **request.judging)
    breaks = f"it would break {found.breaks[0]}" if found.breaks else ""
    return _Edited(found, moved, breaks or _too_many_skips(found, request))


def _before(model: str, found: Edited) -> object:
    """The model as it was read; standard input cannot be read again."""
    data = found.source.data if found.source else None
    if model != STANDARD or not isinstance(data, bytes):
        return model
    from onnxpad.model.files.onnx_file import parse

    return parse(data, name="standard input", folder=None)


def _write(job: Job, request: Request, edited: _Edited) -> bool:
    """Write the model where nothing speaks against it, and the certificate; whether it was."""
    if edited.objection or job.target is None:
        return False
    from onnxpad.model.files.onnx_file import fingerprint

    path, validation = request.certificate, edited.compared
    original = fingerprint(job.model) if path else None  # now, since it may be overwritten
    more = {"although_unfit": True} if request.although_unfit else {}
    edited.found.save(job.target, in_place=job.target == job.model, **more)
    if path and original and validation and validation.proof:
        from onnxpad.validation.certificates import certificate

        judging, files = request.judging or {}, (original, fingerprint(job.target))
        record = certificate(validation.proof, files, judging["dims"], judging["ambiguous"])
        replace(record, onnxpad=_version()).write(path)
    return True


def _against(found: Rewriting, validation: Validation | None, request: Request) -> str:
    """What speaks against writing a model; '' where nothing does."""
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
        alone = found.fitting is not None and found.fitting.elsewhere
        hint = f"; without --validate it is written for {found.target} alone" if alone else ""
        return f"the rewritten model is not validated{hint} ({validation.verdict})"
    return _too_many_skips(found, request)


def _unfit(found: Rewriting) -> str:
    from onnxpad.runtimes.conditions.rows import Answer  # loads the targets

    answers = [one.judgement.answer for one in found.stuck]
    wrong = sum(one.fails for one in answers)
    if not wrong and (slow := answers.count(Answer.FALLS_BACK)):
        return f"{found.target} would leave {slow} of its nodes to the CPU"
    if not wrong:
        return f"it is not known whether {found.target} runs {len(found.stuck)} of its nodes"
    plans = found.fitting.plans if found.fitting else ()
    helped = {one.node for one in plans} - {one.node for one in found.stuck}
    rest = f"; for {len(helped)} more there is a way" if helped else ""
    return f"{found.target} would refuse or miscompute {wrong} of its nodes{rest}"


def _too_many_skips(found: Rewriting | Retargeting, request: Request) -> str:
    if request.strict and found.skips:
        return f"--strict allows no skips, and there are {len(found.skips)}"
    return ""


def asked_of(job: Job, request: Request) -> Plain:
    """A job and what to do as plain data for `answer`.

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
        "stamp": _stamp(job.model) if in_place else None,
        **{name: getattr(job, name) for name in _FILES},
        **request._asdict(),
    }


def answer(asked: Plain) -> Plain:
    """Do what is asked with one model; the fields of an Outcome. Errors are answers too."""
    try:
        if asked["version"] != _version():
            raise RequestError(  # noqa: TRY301 - an answer as all others
                f"this worker has onnxpad {_version()}, and the request is from "
                f"{asked['version']}: install the same on both machines"
            )
        return {"file": asked["model"]} | _done(asked)
    except OnnxpadError as error:
        if isinstance(error.__cause__, BrokenPipeError):  # its reader has gone
            raise error.__cause__ from None
        return refusal(asked, type(error).__name__, named(asked["model"], error))
    except Exception as error:  # the other models go on
        if os.environ.get("ONNXPAD_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {headline(error)}"
        internal = f"internal error; nothing was written ({what}){_REPORT}"
        message = fault_in(error) or internal
        return refusal(asked, "InternalError", f"{asked['model']}: {message}")


def refusal(asked: Plain, kind: str, message: str) -> Plain:
    """The answer about a model that came to nothing."""
    error = {"kind": kind, "message": message}
    return {
        "file": asked["model"],
        "result": "error",
        "code": WRONG,
        "record": {"schema": 1, "file": asked["model"], "status": "error", "error": error},
        "error": message,
    }


def named(model: str, error: OnnxpadError) -> str:
    """What an error about one of several models says; it begins with the model's name."""
    name = "standard input" if model == STANDARD else model
    message = str(error)
    own = message.startswith((name, f"'{name}'", brief(name)))
    return message if own or isinstance(error, RuntimeUnavailable) else f"{name}: {message}"


def _done(asked: Plain) -> Plain:
    request = Request(**{name: asked[name] for name in Request._fields})
    model, target, second = (asked[name] and _place(asked, asked[name]) for name in _FILES)
    job = Job(model, target, second)
    if asked["stamp"] is not None and asked["stamp"] != _stamp(job.model):
        raise ModelError(
            "the file has changed since the work on it began: a worker that ended may have "
            "written it already; run once more"
        )
    job.check()
    return _VERBS[request.verb](job, request, asked)


def _edit(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.show.batches import refusal_text, retargeting_line, rewriting_line
    from onnxpad.show.document import lines_text
    from onnxpad.show.edited import edited_record, script_lines

    if sent := request.options.get("plan"):
        from onnxpad.retargeting.plan import Plan

        plan = Plan.from_json(sent["record"], file=sent["file"])
        request = request._replace(options={**request.options, "plan": plan})
    edited = (_rewritten if request.verb == "rewrite" else _retargeted)(job, request)
    found, compared, against = edited
    script, written = request.dry_run, asked["target"] if _write(job, request, edited) else None
    ran_wrong = getattr(found, "run", None) is not None and found.run.ok is False
    unfit = bool(getattr(found, "unfit", ()))
    findings = against or unfit or ran_wrong or (request.check and found.changed)
    parts = (asked["model"], written, found, compared)
    record = edited_record(request.verb, *parts, script=script, refused=against)
    code = FINDINGS if findings else FINE
    answered = {"result": record["status"], "code": code, "record": record, "written": written}
    if asked.get("whole"):
        was_compared = request.judging is None or found.changed or unfit
        more = {"script": script, "compared": was_compared, "objection": against}
        answered["document"] = partial(_edited_document, request.verb, *parts, **more)
    if against:
        failed = None if getattr(compared, "ok", True) else compared
        return answered | {"error": refusal_text(asked["model"], against, found, failed)}
    line = rewriting_line(*parts) if request.verb == "rewrite" else retargeting_line(*parts[:3])
    return answered | {"line": lines_text([*(script_lines(found) if script else ()), line])}


def _edited_document(verb: str, *parts: Any, **more: Any) -> Document:  # noqa: ANN401 - of both reports
    from onnxpad.show.retargetings import retargeting_document
    from onnxpad.show.rewritings import rewriting_document

    more["each"] |= more.pop("page", False)
    return (rewriting_document if verb == "rewrite" else retargeting_document)(*parts, **more)


def _inspect(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.inspection import inspect, inspected_status

    found = inspect(job.model, **request.options)
    record = found.to_json()
    status = inspected_status(record, fails=found.fails)
    answered = {
        "result": status,
        "code": FINDINGS if found.fails else FINE,
        "record": {"file": asked["model"], "status": status} | record,
    }
    if found.findings:
        from onnxpad.show.following import commands

        answered["following"] = commands(found, asked["model"])
    if asked.get("whole"):
        from onnxpad.show.inspections import inspection_document

        return answered | {"document": partial(inspection_document, found, asked["model"])}
    from onnxpad.show.batches import inspection_line

    return answered | {"line": inspection_line(asked["model"], found)}


def _validate(job: Job, request: Request, asked: Plain) -> Plain:
    from onnxpad.show.batches import validation_line
    from onnxpad.validation import validate

    if job.second is None and not request.options.get("target"):
        raise ModelError("the second folder has no such model")
    found = validate(job.model, job.second, **request.options)
    head = {"before": asked["model"], "after": asked["second"], "status": str(found.verdict)}
    return {
        "result": str(found.verdict),
        "code": FINE if found.ok else FINDINGS,
        "record": head | found.to_json(),
        "line": validation_line(asked["model"], asked["second"], found),
    }


_VERBS = {"inspect": _inspect, "rewrite": _edit, "retarget": _edit, "validate": _validate}


def _place(asked: Plain, path: str) -> str:
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
