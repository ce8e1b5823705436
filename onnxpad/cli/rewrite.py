"""Write the padding of a model in another form, without changing what it computes.

    onnxpad rewrite model.onnx -o explicit.onnx
    onnxpad rewrite model.onnx --pass explicit-pads --pass split-pads -o padded.onnx
    onnxpad rewrite model.onnx --dim 'height%32=0' --validate --in-place
    onnxpad rewrite models/ -o rewritten/ -j 4
    onnxpad rewrite model.onnx --target opencv --target ncnn -o for_both.onnx
    onnxpad rewrite model.onnx -o explicit.onnx --certificate explicit.json

Without --pass and --target it writes auto_pad as explicit pads. With --target it writes only what
that runtime refuses or computes wrongly, and nothing at all where there is no way for a node. With
both, the passes run first. A node that a pass cannot rewrite exactly is left as it is, with the
reason. A model that needs no change is written byte for byte as it was. onnxpad explain lists the
passes and the targets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from onnxpad.cli import batches
from onnxpad.cli.destinations import jobs_of
from onnxpad.cli.outputs import check_place
from onnxpad.cli.streams import STANDARD

if TYPE_CHECKING:
    from onnxpad.batch.course import Request
    from onnxpad.batch.inputs import Inputs

_WISHES = ("prefer", "exclude", "allow_unknown", "require_device")
_LIMITS = ("timeout", "memory")
_OPTIONS = ("passes", "target", *_WISHES, "ambiguous", "legacy_split", "live", "cache", *_LIMITS)


def rewrite(given: dict[str, Any]) -> int:
    """Rewrite each model, report it, and write it if nothing speaks against it."""
    from onnxpad.rewriting.passes import pass_names

    globs = [name for name in given["exclude"] if name not in pass_names()]
    jobs = jobs_of({**given, "exclude": globs}, pass_names())
    given["exclude"] = [name for name in given["exclude"] if name not in globs]
    _check_certificate(given["certificate"], jobs)
    return batches.edit(jobs.jobs, _request(given), given, many=jobs.many)


def _check_certificate(path: str | None, jobs: Inputs) -> None:
    """Errors where a certificate cannot be written."""
    if path is None:
        return
    if jobs.many:
        raise click.UsageError("--certificate is about one model: give one at a time")
    (job,) = jobs.jobs
    if STANDARD in (job.model, job.target, path) or job.target is None:
        raise click.UsageError(
            "--certificate is about files: name the model, -o OUT and the certificate, without "
            "--check and --dry-run"
        )
    check_place("--certificate", path, [job.model, job.target])


def _request(given: dict[str, Any]) -> Request:
    """What to do with each model; RequestError for unknown passes and targets."""
    from onnxpad.batch.course import Request
    from onnxpad.rewriting.for_target.requests import planner
    from onnxpad.rewriting.passes import find_pass

    for name in given["passes"] or ():
        find_pass(name)
    planner(given["target"], **{name: given[name] for name in _WISHES})
    judging = None
    if given["validate"]:
        judging = {
            name: given[name] for name in ("device", "samples", "seed", "ambiguous", *_LIMITS)
        }
    elif given["certificate"]:
        judging = {name: given[name] for name in ("ambiguous", *_LIMITS)} | {"proof_only": True}
    flags = {name: given[name] for name in ("check", "dry_run", "strict", "although_unfit")}
    options = {name: given[name] for name in _OPTIONS}
    return Request("rewrite", options, judging, **flags, certificate=given["certificate"])
