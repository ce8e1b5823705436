"""Specs from seeds."""

import zlib
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from tests.oracle.windows import resolve_same
from tests.random_models.drawing_fronts import draw_front
from tests.random_models.drawing_places import draw_surroundings, possible
from tests.random_models.kinds import KINDS, Kind, newest_opset
from tests.random_models.spec import Spec
from tests.random_models.stages import crossed_sizes

Ints = tuple[int, ...]
PADDINGS = ("pads", "pads", "pads of SAME", "none", "VALID", "SAME_UPPER", "SAME_LOWER", "NOTSET")


def draw(kind: str, seed: int) -> Spec:
    """A model of this kind; equal seeds give equal specs."""
    rng = np.random.default_rng([zlib.crc32(kind.encode()), seed])
    row = KINDS[kind]
    rank = int(rng.choice(row.ranks))
    opset = _opset(rng, row)
    kernel = ints(rng, 1, 5 if rank < 3 else 4, rank)
    dilated = row.dilated and opset >= row.dilated and rng.integers(3) == 0
    spec = Spec(
        kind=kind,
        opset=opset,
        spatial=(1,) * rank,
        kernel=kernel,
        strides=ints(rng, 1, 5, rank) if rng.integers(2) else ints(rng, 1, 3, rank),
        dilations=ints(rng, 1, 4, rank) if dilated else (1,) * rank,
        batch=int(rng.integers(1, 3)),
        ceil=bool(row.rounds and opset >= row.rounds and rng.integers(2)),
        counts=bool(row.family == "average" and rng.integers(2)),
        bias=bool(rng.integers(2) and not row.is_pool and row.family != "pad"),
        negative=bool(row.family == "max" and rng.integers(3)),
        p=int(rng.integers(1, 4)) if row.family == "lp" else 2,
        zero="fed" if row.family in ("integer", "qlinear") and rng.integers(4) == 0 else "constant",
        weight_zero=_weight_zero(rng, kind, row),
        writes_kernel=bool(row.is_pool or rng.integers(3)),
        behind=str(rng.choice(["", "", "", "Slice"])),
        named=bool(rng.integers(4)),
        seed=int(rng.integers(1 << 20)),
    )
    spec = _grouped(rng, _with_indices(rng, possible(draw_front(rng, spec))))
    spec = _with_sizes(rng, spec)
    spec = _with_padding(rng, spec)
    if row.op == "ConvTranspose":
        spec = _with_output(rng, spec)
    return draw_surroundings(rng, spec)


def ints(rng: Generator, low: int, high: int, count: int) -> Ints:
    return tuple(rng.integers(low, high, count).tolist())


def _opset(rng: Generator, row: Kind) -> int:
    """Most often one of the opsets that brought something, else any."""
    newest = newest_opset()
    if rng.integers(2):
        return int(rng.integers(row.since, newest + 1))
    return int(rng.choice([o for o in (7, 10, 11, 13, 18, 19, 22, newest) if o >= row.since]))


def _weight_zero(rng: Generator, kind: str, row: Kind) -> str:
    """onnxruntime's ConvInteger takes one zero point for all of its weight."""
    if row.family not in ("integer", "qlinear") and kind != "Conv QDQ":
        return "none"
    per_channel = row.family != "integer" or rng.integers(8) == 0
    return str(rng.choice(["none", "number", "channels"] if per_channel else ["none", "number"]))


def _grouped(rng: Generator, spec: Spec) -> Spec:
    family, padded = spec.operator.family, any(any(step.outside) for step in spec.front)
    if family not in ("conv", "transposed", "integer", "qlinear") or padded:
        return spec
    channels, group = [(2, 1), (2, 2), (4, 2), (1, 1)][int(rng.integers(4))]
    return replace(spec, channels=channels, group=group)


def _with_indices(rng: Generator, spec: Spec) -> Spec:
    if spec.operator.op != "MaxPool" or spec.opset < 8 or rng.integers(4):
        return spec
    order = 0 if rng.integers(3) else 1
    return replace(spec, indices=True, storage_order=order)


def _with_sizes(rng: Generator, spec: Spec) -> Spec:
    """Sizes at which a window fits even without the operator's own pads, nearly always."""
    added = crossed_sizes(spec, (0,) * spec.rank)
    short = 1 if rng.integers(8) == 0 and spec.operator.family == "max" else 0
    least = [max(1, span - more - short) for span, more in zip(spec.span, added, strict=True)]
    cropped = [
        max(
            [0] + [-min(0, *step.pads) * 2 for step in spec.front if step.op == "Pad" and step.pads]
        )
    ] * spec.rank
    spread = rng.integers(0, 7 if spec.rank < 3 else 3, spec.rank)
    reach = 3 if any(step.mode != "constant" for step in spec.front) else 0
    spatial = [
        max(low, reach) + crop + int(more)
        for low, crop, more in zip(least, cropped, spread, strict=True)
    ]
    return replace(spec, spatial=tuple(spatial))


def _with_padding(rng: Generator, spec: Spec) -> Spec:
    row, rank = spec.operator, spec.rank
    padding = str(rng.choice(PADDINGS))
    if padding.isupper() and not row.auto_pad:
        padding = "pads"
    if padding not in ("pads", "pads of SAME", "NOTSET"):
        return replace(spec, padding=padding)
    kernel = np.asarray(spec.kernel * 2)
    limit = kernel if row.is_pool and rng.integers(12) else kernel + 2
    if row.family == "transposed":
        limit = np.minimum(kernel, 2)
    pads = rng.integers(0, limit)
    if padding == "pads of SAME":
        lower = bool(rng.integers(2))
        sizes = crossed_sizes(spec, spec.spatial)
        sides = zip(sizes, spec.kernel, spec.strides, spec.dilations, strict=True)
        same = [resolve_same(size, k, s, d, lower) for size, k, s, d in sides]
        pads = np.asarray(same).T.ravel()
        padding = "pads"
    elif rng.integers(3) == 0:
        pads[rank:] = pads[:rank]
    return replace(spec, padding=padding, pads=tuple(pads.tolist()))


def _with_output(rng: Generator, spec: Spec) -> Spec:
    """Some have output_padding, some output_shape, from two cells less up to one too many."""
    strides = np.asarray(spec.strides)
    extra = rng.integers(0, strides) * rng.integers(2)
    full = (np.asarray(crossed_sizes(spec, spec.spatial)) - 1) * strides + spec.span
    wanted = full + rng.integers(-2, strides + 1)
    listed = rng.integers(3) == 0 and (wanted > 0).all()
    return replace(
        spec,
        output_padding=tuple(extra.tolist()) if extra.any() else (),
        output_shape=tuple(wanted.tolist()) if listed else (),
    )
