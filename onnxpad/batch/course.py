"""What is done with one model: the verb, what judges the result, what speaks against it, the file.

`answer` does all of it as plain data, so that it runs wherever an executor takes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from onnxpad.batch.inputs import STANDARD, Job
from onnxpad.errors import (
    TRY,
    ModelError,
    OnnxpadError,
    RequestError,
    RuntimeUnavailable,
    brief,
    fault_in,
    headline,
)
from onnxpad.padding.effective_pads import facts_text

if TYPE_CHECKING:
    from onnxpad.show.document import Document

FINE, FINDINGS, WRONG = 0, 1, 2
_REPORT = f"{TRY}ONNXPAD_TRACEBACK=1 shows where; please report it with the model"
Plain = dict[str, Any]


def _version() -> str:
    """onnxpad's own; its package stands above this room, and is loaded before it."""
    return str(sys.modules["onnxpad"].__version__)


class Task(NamedTuple):
    """A model and what to do with it, which executors carry as plain data.

    options: what goes to the verb.
    judging: what goes to the runs of both models; None for no runs.
    target, second: the file to write, and the model to compare with.
    whole: whether its whole report is asked for, by this process.
    folder: where names of files begin.
    stamp: what the file was that is to be replaced. Tried once more, it must not be read again
        where the first try has replaced it already.
    """

    verb: str
    options: Plain
    judging: Plain | None = None
    check: bool = False
    dry_run: bool = False
    strict: bool = False
    certificate: str | None = None
    although_unfit: bool = False
    model: str = ""
    target: str | None = None
    second: str | None = None
    whole: bool = False
    folder: str = ""
    stamp: list[int] | None = None
    version: str = ""

    def about(
        self, job: Job, dims: Mapping[str, Any] | None = None, nodes: Sequence[str] | None = None
    ) -> Task:
        """The task for one model, with what is said of its dimensions and nodes."""
        options = dict(self.options)
        options |= {} if dims is None else {"dims": dims}
        options |= {} if nodes is None else {"nodes": nodes}
        if plan := options.get("plan"):
            options["plan"] = plan.to_json(), plan.file
        return self._replace(
            options=options,
            judging=None if self.judging is None else {**self.judging, "dims": dims},
            model=job.model,
            target=job.target,
            second=job.second,
            folder=os.getcwd(),  # noqa: PTH109 - a text
            stamp=_stamp(job.model) if job.target == job.model else None,
            version=_version(),
        )

    def path(self, name: str) -> str:
        """A file as this process finds it, which may work in another folder."""
        if name == STANDARD or self.folder == os.getcwd():  # noqa: PTH109 - a text
            return name
        return str(Path(self.folder, name))


def _stamp(path: str) -> list[int] | None:
    """What a file that is replaced does not keep."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]


def answer(asked: Plain) -> Plain:
    """Do a task, given as a dict; the fields of an Outcome. Errors are answers too."""
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
    task = Task(**asked)
    if task.stamp is not None and task.stamp != _stamp(task.path(task.model)):
        raise ModelError(
            "the file has changed since the work on it began: a worker that ended may have "
            "written it already; run once more"
        )
    if task.target is not None:
        from onnxpad.model.files.delivery import check_target  # loads onnx

        check_target(task.path(task.target))  # before there is work to lose
    return _VERBS[task.verb](task)


def _edited(task: Task) -> tuple[Any, Any, str]:
    """The report on a model that was edited, the runs of both, and what speaks against it."""
    edit: Any
    compare: Any
    options, model = dict(task.options), task.path(task.model)
    if task.verb == "rewrite":
        from onnxpad.rewriting.rewrite import rewrite as edit  # loads onnx
    else:
        from onnxpad.retargeting import retarget as edit  # loads onnx
        from onnxpad.retargeting.plan import Plan

        if sent := options.get("plan"):
            options["plan"] = Plan.from_json(sent[0], file=sent[1])
    report, compared = edit(model, **options), None
    if task.judging is not None and (report.changed or task.certificate):
        if task.verb == "rewrite":
            from onnxpad.validation import validate as compare  # loads numpy, and onnxruntime
        else:
            from onnxpad.validation.distances import distances as compare
        before: object = model
        if before == STANDARD:  # it cannot be read again
            from onnxpad.model.files.onnx_file import parse

            before = parse(report.source.data, name="standard input", folder=None)
        compared = compare(before, report.unread, **task.judging)
    against = _against_rewriting if task.verb == "rewrite" else _against_moving
    objection = against(report, compared, task)
    if not objection and task.strict and report.skips:
        objection = f"--strict allows no skips, and there are {len(report.skips)}"
    return report, compared, objection


def _against_moving(report: Any, _compared: object, _task: Task) -> str:  # noqa: ANN401
    return f"it would break {report.breaks[0]}" if report.breaks else ""


def _against_rewriting(report: Any, validation: Any, task: Task) -> str:  # noqa: ANN401
    """What speaks against writing a model; '' where nothing does."""
    if report.unfit and not task.although_unfit:
        opening, nodes = report.fitting.opening, f"{len(report.stuck)} of its nodes"
        if opening.writes:
            return f"for {nodes} {report.target} needs {facts_text(opening.facts)}"
        return f"no way was found for {nodes} on {report.target}"
    if report.run and report.run.ok is False and not task.although_unfit:
        others = "; --node leaves other nodes as they are" if task.options.get("nodes") else ""
        more = "; --although-unfit writes it all the same" if report.changed else ""
        return f"it does not run right in {report.run.runtime}{others}{more}"
    proof = validation.proof if validation else None
    if task.certificate is not None and (proof is None or proof.verdict != "proved"):
        return "the rewritten model is not proved, so there is nothing to certify"
    if validation is not None and not validation.ok:
        return f"the rewritten model is not validated ({validation.verdict})"
    return ""


def _write(task: Task, report: Any, proof: Any) -> None:  # noqa: ANN401
    """Write the model, and the certificate of its proof."""
    from onnxpad.model.files.onnx_file import fingerprint

    if task.target is None:
        return
    model, target = task.path(task.model), task.path(task.target)
    original = fingerprint(model) if task.certificate else None  # now: it may be overwritten
    more = {"although_unfit": True} if task.although_unfit else {}
    report.save(target, in_place=task.target == task.model, **more)
    if task.certificate and original and task.judging:
        from onnxpad.validation.certificates import certificate

        files, judging = (original, fingerprint(target)), task.judging
        record = certificate(proof, files, judging["dims"], judging["ambiguous"])
        replace(record, onnxpad=_version()).write(task.certificate)


def _edit(task: Task) -> Plain:
    from onnxpad.show.edits import edited_document, edited_record

    report, compared, objection = _edited(task)
    if not objection:
        _write(task, report, getattr(compared, "proof", None))
    script, written = task.dry_run, None if objection else task.target
    unfit = bool(getattr(report, "unfit", ()))
    ran_wrong = getattr(report, "run", None) is not None and report.run.ok is False
    findings = objection or unfit or ran_wrong or (task.check and report.changed)
    parts = (task.model, written, report, compared)
    record = edited_record(task.verb, *parts, script=script, refused=objection)
    document = partial(edited_document, *parts, script=script, objection=objection)
    answered = _answer(task, record, document, fails=bool(findings)) | {"written": written}
    return answered | ({"error": document().line} if objection else {})


def _answer(task: Task, record: Plain, document: Callable[..., Document], *, fails: bool) -> Plain:
    code, status = FINDINGS if fails else FINE, record["status"]
    more = {"document": document} if task.whole else {"line": document().line}
    return {"result": status, "code": code, "record": record, **more}


def _inspect(task: Task) -> Plain:
    from onnxpad.inspection import inspect, inspected_status
    from onnxpad.show.inspections import inspection_document

    report = inspect(task.path(task.model), **task.options)
    record = report.to_json()
    status = inspected_status(record, fails=report.fails)
    record = {"file": task.model, "status": status} | record
    document = partial(inspection_document, report, task.model)
    answered = _answer(task, record, document, fails=report.fails)
    return answered | ({"following": document().commands} if report.findings else {})


def _validate(task: Task) -> Plain:
    from onnxpad.show.validations import validation_document
    from onnxpad.validation import validate

    if task.second is None and not task.options.get("target"):
        raise ModelError("the second folder has no such model")
    second = task.second and task.path(task.second)
    report = validate(task.path(task.model), second, **task.options)
    head = {"before": task.model, "after": task.second, "status": str(report.verdict)}
    names = [name for name in (task.model, task.second) if name]
    document = partial(validation_document, report, names)
    return _answer(task, head | report.to_json(), document, fails=not report.ok)


_VERBS = {"inspect": _inspect, "rewrite": _edit, "retarget": _edit, "validate": _validate}
