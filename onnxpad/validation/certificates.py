"""What was proved of two files, on record, and proved again with fresh random points.

A certificate records, it does not sign: whoever doubts it checks it, which does not believe it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onnxpad.errors import RequestError
from onnxpad.model.files.contents import AnyPath, contents
from onnxpad.model.files.delivery import deliver
from onnxpad.model.files.onnx_file import Fingerprint, fingerprint
from onnxpad.padding.chain import Preference
from onnxpad.proof import VERSION
from onnxpad.reports import plain
from onnxpad.validation import validate
from onnxpad.validation.report import ProofReport, Validation, Verdict

SCHEMA = 1
_LARGEST = 1 << 24
_CLAIMS = ("rounded", "open_sizes", "dims", "readings")


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof and the files that it is about.

    `dims` and `ambiguous` are what the proof was told; `proof` is its report as plain data,
    `onnxpad` and `kernel` are versions.
    """

    before: Fingerprint
    after: Fingerprint
    dims: Mapping[str, int | str]
    ambiguous: Preference
    proof: Mapping[str, Any]
    onnxpad: str = ""
    kernel: int = VERSION
    certificate: int = SCHEMA

    def write(self, path: AnyPath) -> None:
        """Write it as JSON, all or nothing; raises ModelError where that fails."""
        data = json.dumps(plain(self), indent=2).encode() + b"\n"
        deliver([memoryview(data)], (), path, origin=None)


def certificate(
    proof: ProofReport,
    files: tuple[Fingerprint, Fingerprint],
    dims: Mapping[str, int | str] | None,
    ambiguous: Preference,
) -> Certificate:
    """What a proof says of these files; raises RequestError where nothing is proved."""
    if proof.verdict != "proved":
        raise RequestError(f"there is nothing to certify: {proof.reason}")
    unclaimed = ("verdict", "reason", "counterexample", "fixing", "limits")
    claims = {name: value for name, value in proof.to_json().items() if name not in unclaimed}
    return Certificate(*files, dict(dims or {}), ambiguous, claims)


def read(path: AnyPath) -> Certificate:
    """A certificate from its file; raises RequestError for anything else."""
    try:
        record = json.loads(contents(path, _LARGEST))
        files = {name: Fingerprint(**record[name]) for name in ("before", "after")}
        certificate = Certificate(**record | files)
        if certificate.certificate == SCHEMA and certificate.proof.keys() >= set(_CLAIMS):
            return certificate
    except OSError as error:
        raise RequestError(f"cannot read the certificate '{path}': {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        problem = f"'{path}' is no certificate: onnxpad rewrite --certificate writes one"
        raise RequestError(problem) from error
    raise RequestError(f"'{path}' is of another onnxpad: rewrite --certificate writes it anew")


def proved_again(
    path: AnyPath,
    before: AnyPath,
    after: AnyPath,
    *,
    timeout: float | None = None,
    memory: int | str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Validation:
    """Prove what a certificate says once more, with random points of its own.

    `proved` where the proof claims the same; else what the proof finds. Raises RequestError for
    files of other bytes than those that it is about.
    """
    record = read(path)
    for known, file in zip((record.before, record.after), (before, after), strict=True):
        seen = fingerprint(file)
        if (seen.sha256, seen.data) != (known.sha256, known.data):
            raise RequestError(
                f"the certificate '{path}' is about other bytes than '{file}', or its data files\n"
                f"  try     onnxpad validate {Path(before).name} {Path(after).name}"
            )
    found = validate(
        before,
        after,
        proof_only=True,
        dims=dict(record.dims),
        ambiguous=record.ambiguous,
        timeout=timeout,
        memory=memory,
        progress=progress,
    )
    if found.proof is None or found.verdict is not Verdict.PROVED:
        return found
    claims = found.proof.to_json()
    for name in _CLAIMS:
        if claims[name] != record.proof[name]:
            told = f"{name.replace('_', ' ')} {json.dumps(record.proof[name])}"
            why = f"{found.reason}; '{path}' says {told}"
            return replace(found, verdict=Verdict.UNVERIFIED, reason=why)
    return replace(found, reason=f"'{path}' holds: {found.reason}")
