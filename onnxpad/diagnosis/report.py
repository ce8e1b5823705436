"""What a diagnosis found, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from onnxpad.padding.chain import Chain
from onnxpad.reports import InNotebooks, plain, reported
from onnxpad.retargeting.plan import Plan
from onnxpad.validation.report import OutputRow, ToleranceReport

SCHEMA = 3


class Cause(StrEnum):
    """What makes the model differ from the reference; `tolerated` is what the user allows."""

    NOTHING = "nothing"
    ROUNDING = "rounding"
    TOLERATED = "tolerated"
    PADDING = "padding"
    NOT_PADDING = "not padding"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another way to pad a node that gives the same here.

    `sizes` are the spatial sizes of its input nearest to these at which it would differ, None
    where values decide, not sizes. `nearly` says that it gives other numbers, and that what is
    allowed, for rounding or by the tolerance asked for, is more than that changes.
    """

    label: str
    conventions: tuple[str, ...]
    sizes: tuple[int, ...] | None
    nearly: bool = False

    @property
    def hidden(self) -> bool:
        """Whether only the values of these samples hide that it gives something else."""
        return self.sizes is None


@reported(
    *("node", "op", "before", "after", "changed", "conventions", "sizes", "alternatives", "why")
)
@dataclass(frozen=True, slots=True)
class NodeFinding:
    """One padded node: how it is padded, how it has to be, and what else would do.

    `sizes` are the spatial sizes that it reads in the first sample; `changed` says whether the
    plan has it. `chains` are what is read now and what has to be, for pictures.
    """

    node: str
    op: str
    before: str
    after: str
    changed: bool
    conventions: tuple[str, ...]
    sizes: tuple[int, ...]
    alternatives: tuple[Alternative, ...] = ()
    why: str = ""
    chains: tuple[Chain, Chain] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Unseen:
    """A padded node that nothing of the reference depends on; `outputs` of the model do."""

    node: str
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemainingDifference:
    """Where a difference that stays begins: at `tensor`, which `node` computes.

    `after` is the last tensor in front of it that is known to agree ('' for the inputs), `nodes`
    those between both; `where` says whether borders or all cells differ.
    """

    node: str
    tensor: str
    max_abs: float | None
    relative: float | None
    where: str
    after: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis(InNotebooks):
    """The padding that reproduces a reference, or that no padding does.

    `residual` is the largest difference over the largest reference value, over all outputs and
    samples, with `plan` applied; `before` the same for the model as it is (None where it does not
    run or has other sizes), `allowed` what rounding may do. `explained` says that the residual is
    rounding. `hypothesis` is the joint guess that was found; `tried` counts assignments.
    `preparation` says how the inputs have to be prepared besides, '' as they are.
    `same_either_way` are nodes outside the plan that the plan's convention pads as they are,
    `unchanged` all nodes outside the plan. `reasons` are the parts of `reason`: the verdict first.
    `unseen` are padded nodes that the reference does not depend on, so that nothing is known of
    their padding; `without_reference` are outputs of the model that the reference has not.
    `complete` is False where the search ended before every assignment was tried.
    `nearest` is the plan that came nearest where it leaves less than a tenth of the difference
    and more than rounding: padding is then a part of the cause. `nearest_nodes` are its nodes,
    `nearest_residual` what it leaves, measured as `residual` is, `nearest_seconds` how long it took
    to find it. `settles` says what to add to the reference where the cause is unknown, '' where
    nothing is known that would help; `settling_atol` is the atol that would, where what is left is
    what a reference of lower precision leaves. `outputs` compare the reference with the plan
    applied, `as_it_is` with the model itself where the plan changes it. `tolerance` is set where
    one was asked for.
    """

    explained: bool
    cause: Cause
    reason: str
    plan: Plan = field(default_factory=Plan)
    residual: float | None = None
    before: float | None = None
    allowed: float | None = None
    hypothesis: str = ""
    preparation: str = ""
    nodes: tuple[NodeFinding, ...] = ()
    same_either_way: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    nearest: Plan | None = None
    nearest_nodes: tuple[NodeFinding, ...] = ()
    nearest_residual: float | None = None
    nearest_seconds: float | None = None
    outputs: tuple[OutputRow, ...] = ()
    as_it_is: tuple[OutputRow, ...] = ()
    difference: RemainingDifference | None = None
    settles: str = ""
    settling_atol: float | None = None
    tolerance: ToleranceReport | None = None
    unseen: tuple[Unseen, ...] = ()
    without_reference: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    device: str = ""
    providers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    samples: int = 0
    tried: int = 0
    seconds: float = 0.0
    complete: bool = False

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values; `schema` is the version of its fields."""
        plans = replace(self, nodes=(), nearest_nodes=())
        content = {"schema": SCHEMA, **asdict(plans), "plan": self.plan.to_json()}
        content |= {"nodes": plain(self.nodes), "nearest_nodes": plain(self.nearest_nodes)}
        content["nearest"] = None if self.nearest is None else self.nearest.to_json()
        record: dict[str, Any] = plain(content)
        return record
