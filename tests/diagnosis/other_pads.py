"""Networks whose one Pad in front of a convolution has other sides, crops, or another mode."""

from __future__ import annotations

from random import Random

from tests.diagnosis.damaged_networks import Case, Layer, Network, Way, made

MODES = ("constant", "reflect", "edge", "wrap")
_Front = tuple[int, int, int, int]


def drawn_case(seed: int) -> Case:
    """The network of a seed: one layer reads a Pad that was damaged."""
    random = Random(seed)
    length, spot = random.randint(3, 5), random.randint(0, 2)
    layers = []
    for index in range(length):
        kernel, stride = random.choice((3, 3, 5)), random.choice((1, 1, 2))
        half = Way(pads=(kernel // 2,) * 4)
        activation = random.choice(("Relu", "Tanh", ""))
        right, wrong, damage = half, half, ""
        if index == spot:
            right, wrong, damage = _damaged(random)
        layers.append(Layer("conv", kernel, stride, activation, right, wrong, damage))
    size = random.randint(24, 36), random.randint(24, 36)
    return made(Network(seed, 4, tuple(layers), (size,), is_open=False))


def _damaged(random: Random) -> tuple[Way, Way, str]:
    kind = random.choice(("wrap", "crop", "sides"))
    if kind == "wrap":
        front: _Front = random.choice(((2, 2, 2, 2), (1, 1, 1, 1), (0, 2, 0, 2), (1, 0, 0, 1)))
        modes = ["wrap", random.choice(MODES[:3])]
        random.shuffle(modes)
        return Way(front=front, mode=modes[0]), Way(front=front, mode=modes[1]), kind
    mode = random.choice(MODES[1:]) if kind == "sides" else "constant"
    less, more = random.choice(((-1, 0), (-2, 0), (-1, 2)) if kind == "crop" else ((0, 1), (0, 2)))
    fronts: list[_Front] = [
        (less, less, more, more),
        (more, more, less, less),
        (less, more, more, less),
        (more, less, less, more),
    ]
    random.shuffle(fronts)
    return Way(front=fronts[0], mode=mode), Way(front=fronts[1], mode=mode), kind
