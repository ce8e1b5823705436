"""A random model as a value: printable, so that a test can be pasted from it."""

from dataclasses import dataclass, fields

from tests.random_models.kinds import KINDS, Kind


@dataclass(frozen=True)
class Step:
    """One node in front of the operator, or of a Pad alone: the operators of `op` in a row.

    Of a Pad: `pads` over the spatial axes, `outside` over batch and channels (begins, ends),
    `value` what it writes, `source` where its pads come from, `axes` whether the spatial axes
    are listed in an input. Of QuantizeLinear and DequantizeLinear: `channels` is per channel.
    """

    op: str
    pads: tuple[int, ...] = ()
    outside: tuple[int, ...] = (0, 0, 0, 0)
    value: str = "fits"
    mode: str = "constant"
    source: str = "constant"
    axes: bool = False
    channels: bool = False

    def __repr__(self) -> str:
        return _shown(self)


@dataclass(frozen=True)
class Spec:
    """All that makes one model and its inputs.

    `spatial` are the (least) sizes of the input; `free` says for each whether it is fixed (""),
    "named", "open", a fact such as "%4=0", "2*h+1" (a name that is a formula) or "number" (named,
    and stated as a number). `place` is where the operator stands; the first `outside` steps in
    front stand in the main graph. `held` is where constants are. `extra` is who else reads.
    """

    kind: str
    opset: int
    spatial: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str = "none"
    pads: tuple[int, ...] = ()
    front: tuple[Step, ...] = ()
    behind: str = ""
    ceil: bool = False
    counts: bool = False
    output_padding: tuple[int, ...] = ()
    output_shape: tuple[int, ...] = ()
    group: int = 1
    channels: int = 2
    batch: int = 1
    bias: bool = False
    indices: bool = False
    storage_order: int = 0
    p: int = 2
    zero: str = "constant"
    weight_zero: str = "none"
    writes_kernel: bool = True
    place: str = "main"
    outside: int = 0
    free: tuple[str, ...] = ()
    free_batch: bool = False
    extra: str = ""
    held: str = "initializer"
    shared: bool = False
    overridable: str = ""
    value_info: bool = False
    named: bool = True
    negative: bool = False
    seed: int = 0

    def __repr__(self) -> str:
        return _shown(self)

    @property
    def operator(self) -> Kind:
        return KINDS[self.kind]

    @property
    def rank(self) -> int:
        return len(self.spatial)

    @property
    def span(self) -> tuple[int, ...]:
        sides = zip(self.kernel, self.dilations, strict=True)
        return tuple((kernel - 1) * dilation + 1 for kernel, dilation in sides)

    @property
    def dynamic(self) -> bool:
        return any(self.free) or self.free_batch


def _shown(value: Step | Spec) -> str:
    """The constructor call without what is as by default."""
    shown = [
        f"{field.name}={getattr(value, field.name)!r}"
        for field in fields(value)
        if getattr(value, field.name) != field.default
    ]
    return f"{type(value).__name__}({', '.join(shown)})"
