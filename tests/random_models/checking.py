"""One spec: every pass and ordered pairs of passes, each judged."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import onnx

from onnxpad import Rewriting, Skip, rewrite
from onnxpad.model.editing.session import EditSession
from onnxpad.model.opened import proto_of
from onnxpad.padding.chain import Chain
from onnxpad.padding.forms import Form, forms_of
from onnxpad.padding.operators import Kind
from onnxpad.rewriting import passes
from tests.random_models.applying import applying
from tests.random_models.building import build
from tests.random_models.feeding import feeds, stated
from tests.random_models.judging import Original, mismatch
from tests.random_models.spec import Spec

Order = tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """A spec that some passes, in this order, make something else of."""

    spec: Spec
    order: Order
    reason: str

    def __str__(self) -> str:
        return f"{' then '.join(self.order)}: {self.reason}\n  {self.spec!r}"


@dataclass
class Checked:
    """What came of one spec: orders of passes that changed it, and what went wrong."""

    judged: bool = False
    applied: list[Order] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


class Broken(Exception):
    """A rewrite went wrong, in a way that the message tells."""


def opened(spec: Spec) -> Original:
    """The model of a spec with its inputs."""
    built = build(spec)
    return Original(spec, built.model, feeds(spec, built))


def check(spec: Spec, pairs: int) -> Checked:
    """Apply every pass, and behind every one that changed something up to `pairs` others."""
    original, found = opened(spec), Checked()
    rng = np.random.default_rng(spec.seed)
    seen: set[bytes] = set()
    names = list(passes.all_passes())
    for first in _worth_a_rewrite(original, names):
        after = _try(original, (first,), found, seen)
        if after is None:
            continue
        behind = [str(name) for name in rng.permutation(names) if name != first][:pairs]
        for second in applying(after, behind, _still_open(spec, after)):
            _try(original, (first, second), found, seen)
    found.judged = original.judged
    return found


def _worth_a_rewrite(original: Original, names: list[str]) -> list[str]:
    """Those that find something to do, and one of the others, which must change nothing."""
    finding = applying(original.model, names, stated(original.spec))
    idle = [name for name in names if name not in finding]
    return finding + idle[original.spec.seed % len(idle) :][:1] if idle else finding


def _try(
    original: Original, order: Order, found: Checked, seen: set[bytes]
) -> onnx.ModelProto | None:
    """The model where all passes of the order changed something; what went wrong is noted."""
    try:
        done = rewritten(original, order)
        applied = {change.rule for change in done.changes} == set(order)
        if applied:
            if original.judged:
                found.applied.append(order)
            judge(original, done, order, seen)
    except Broken as error:
        found.failures.append(Failure(original.spec, order, str(error)))
        return None
    return proto_of(done.model) if applied else None


def failure(spec: Spec, order: Order) -> str | None:
    """What goes wrong with these passes in this order, or None."""
    try:
        original = opened(spec)
        done = rewritten(original, order)
        judge(original, done, order, set())
    except Broken as error:
        return str(error)
    return None


def rewritten(original: Original, order: Iterable[str]) -> Rewriting:
    """The rewrite by these passes; Broken where it raises or touches what it was given."""
    before = original.model.SerializeToString()
    facts = stated(original.spec)
    try:
        done = rewrite(original.model, passes=list(order), dims=facts)
    except Exception as error:
        raise Broken(f"rewrite raises {type(error).__name__}: {error}") from error
    if original.model.SerializeToString() != before:
        raise Broken("the given model was changed")
    return done


def judge(original: Original, done: Rewriting, order: Order, seen: set[bytes]) -> None:
    """Broken where the rewritten model is invalid, unstable or computes something else."""
    after = done.model
    assert isinstance(after, onnx.ModelProto)
    written = after.SerializeToString()
    if not done.changed:
        if written != original.model.SerializeToString():
            raise Broken("nothing is reported as changed, and yet the model is another")
        return
    _check_stable(original, after, order)
    if len(order) == 1:
        _check_forms(original, done, after, order[0])
    if written in seen:
        return
    seen.add(written)
    for complaint in _new_complaints(original.model, after):
        if not original.inferred_wrongly:
            raise Broken(complaint)
    if original.judged and (wrong := mismatch(original, after)):
        raise Broken(wrong)


def _still_open(spec: Spec, model: onnx.ModelProto) -> dict[str, int | str]:
    """Facts without the sizes that a run wrote into the model."""
    names = {
        name
        for value in model.graph.input
        for axis, dim in enumerate(value.type.tensor_type.shape.dim)
        if not dim.HasField("dim_value")
        for name in (dim.dim_param, f"{value.name}[{axis}]")
    }
    return {name: f for name, f in stated(spec).items() if isinstance(f, str) or name in names}


def _check_stable(original: Original, after: onnx.ModelProto, order: Order) -> None:
    try:
        again = rewrite(after, passes=[order[-1]], dims=_still_open(original.spec, after))
    except Exception as error:
        raise Broken(f"a second run raises {type(error).__name__}: {error}") from error
    if again.changed:
        raise Broken(f"a second run of {order[-1]} changes it again")


def _check_forms(original: Original, done: Rewriting, after: onnx.ModelProto, name: str) -> None:
    """A pass takes its forms away, but where it says why not, and adds those alone that it tells.

    New Pads in front of pools bring an auto_pad of VALID with them; Pads themselves are no matter
    where the model is about an operator behind them, nor is what a second Pad comes to behind the
    first.
    """
    if len(original.spec.front) > 1:
        return
    rule = passes.all_passes()[name]
    lone = original.spec.operator.family == "pad"
    chains = [
        [
            site.chain
            for site in EditSession(model, dims=_still_open(original.spec, model)).sites_now()
            if lone or site.chain.op.kind is not Kind.PAD
        ]
        for model in (original.model, after)
    ]
    before, now = (frozenset[Form]().union(*map(forms_of, some)) for some in chains)
    if added := now - before - rule.adds:
        raise Broken(f"{sorted(added)} are added")
    skipped = {one.chain for one in done.skips}
    rewritable = (one for one in chains[1] if one not in skipped and not _is_refused(rule, one))
    still = frozenset[Form]().union(*map(forms_of, rewritable)) & rule.removes
    if still - {Form.AUTO_PAD}:
        raise Broken(f"{sorted(still)} are still there, and no skip says why")


def _is_refused(rule: passes.Pass, chain: Chain) -> bool:
    verdict = rule.rewrite(chain)
    return isinstance(verdict, Skip) and not verdict.moot


def _new_complaints(before: onnx.ModelProto, after: onnx.ModelProto) -> Iterator[str]:
    """What the checker or strict shape inference has against `after` and not against `before`."""
    for check_one in (_checker, _inference):
        complaint = check_one(after)
        if complaint is not None and check_one(before) is None:
            yield f"{check_one.__name__.strip('_')} of onnx: {complaint}"


def _checker(model: onnx.ModelProto) -> str | None:
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        return str(error)
    return None


def _inference(model: onnx.ModelProto) -> str | None:
    try:
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except (onnx.shape_inference.InferenceError, ValueError) as error:
        return str(error)
    return None
