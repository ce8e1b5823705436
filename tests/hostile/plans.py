"""Plans for retarget that are deep, endless, of wrong types, or no JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

from tests.hostile.case import Command, Place
from tests.hostile.mutants import HUGE, NAMES
from tests.hostile.valid import small

VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2**63, 10**400, 1e308, float("nan"), float("inf"),
    "", "SAME_UPPER", "-inf", [], [1], [1, 1], [1, -1], [[1], 1], {}, [True],
    {"pads": [0] * 6, "value": 0, "mode": "constant"}, "x" * 99_999,
    [1.0, 2.0], ["1", "2"], [2**62, 0], [0] * 99_999, {"a": {"a": {}}},
)  # fmt: skip
KEYS = ("auto_pad", "pads", "ceil_mode", "count_include_pad", "output_padding", "pad_node",
        "conventions", "node", "unknown", "", "\x1b[31m")  # fmt: skip


@cache
def _schema() -> dict[str, Any]:
    """The frame of a plan as onnxpad writes it."""
    from onnxpad.retargeting.plan import Plan

    return dict(Plan(()).to_json())


def plans(random: Random, place: Place) -> Sequence[Command]:
    """A small model and a plan for it, from a file and from standard input."""
    place.write("model.onnx", small(random).SerializeToString())
    place.write("plan.json", _plan(random))
    ends = random.choice([("-o", "../out/t.onnx"), ("--dry-run",), ("--check", "--json")])
    output = ends[1] if ends[0] == "-o" else None
    return [
        Command(("retarget", "model.onnx", "--plan", "plan.json", *ends), output=output),
        Command(("retarget", "model.onnx", "--plan", "-", *ends), stdin="plan.json", output=output),
    ]


def _plan(random: Random) -> bytes:
    if random.random() < 0.2:
        return random.choice(BROKEN)()
    if random.random() < 0.5:
        return json.dumps(_schema() | {"nodes": [_large(random)]}).encode()
    frame = dict(_schema())
    entries: list[Any] = []
    for _ in range(random.choice([1, 1, 2, 500])):
        wrong = random.random() < 0.3
        entry = {"node": random.choice([*NAMES, 3, None]) if wrong else "op"}
        for _ in range(random.choice([1, 1, 2, 3])):
            key = random.choice(KEYS)
            entry[key] = _value(random) if random.random() < 0.3 else _near(random, key)
        entries.append(entry)
    lists = [key for key, value in frame.items() if isinstance(value, list)] or ["nodes"]
    frame[lists[0]] = random.choice([entries] * 8 + [{"0": entries}, [entries]])
    if random.random() < 0.1:
        frame[random.choice([*frame, "more"])] = _value(random)
    if random.random() < 0.1:
        frame.pop(random.choice(list(frame)))
    data = json.dumps(frame).encode()
    if random.random() < 0.2:
        at = random.randrange(len(data))
        data = random.choice([data[:at], data[:at] + b"\xff" + data[at:], data + data,
                              "﻿".encode() + data, data.decode().encode("utf-16")])  # fmt: skip
    return data


def _large(random: Random) -> dict[str, Any]:
    """An entry that is read well and asks for much."""
    first, last = (random.choice([0, 0, 1, 2, 7, 1000, 2**16, 2**20]) for _ in range(2))
    entry: dict[str, Any] = {"node": "op"}
    match random.randrange(4):
        case 0:
            entry["auto_pad"] = random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        case 1 | 2:
            entry["pads"] = [first, last]
    if random.random() < 0.5:
        mode = random.choice(["constant", "constant", "edge", "reflect", "wrap"])
        entry["pad_node"] = {"pads": [0, 0, first, 0, 0, last], "value": 0, "mode": mode}
    return entry


def _near(random: Random, key: str) -> Any:
    """What a plan could say there, with numbers that may be huge."""
    numbers = [random.choice([0, 1, 1, 2, 2**20, 2**20 + 1, 2**40, -1]) for _ in range(6)]
    fill = random.choice([0, 1.5, "-inf", 1e308, 10**400])
    pad = {"pads": numbers, "value": fill, "mode": random.choice(["constant", "wrap", "edge", "x"])}
    values: dict[str, Any] = {
        "auto_pad": random.choice(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET", "same"]),
        "pads": random.choice([numbers[:2], numbers[:2], numbers]),
        "output_padding": numbers[:1],
        "pad_node": random.choice([None, pad, pad]),
        "conventions": ["tensorflow"],
    }
    return values.get(key, random.choice([0, 1]))


def _value(random: Random) -> Any:
    if random.random() < 0.3:
        return [random.choice([0, 1, *HUGE]) for _ in range(random.choice([2, 4, 2, 6]))]
    return random.choice(VALUES)


BROKEN: tuple[Callable[[], bytes], ...] = (
    lambda: b"",
    lambda: b"[" * 100_000,
    lambda: b'{"a":' * 100_000,
    lambda: b"[" * 900 + b"]" * 900,
    lambda: b"9" * 5_000,
    lambda: b'{"schema": ' + b"9" * 5_000 + b"}",
    lambda: b'{"schema": 1e999999999}',
    lambda: b"\xff\xfe\x00",
    lambda: b"null",
    lambda: b'"' + b"x" * 1_000_000,
    lambda: b'"\\ud800"',
    lambda: b'{"\\u0000": "\\ud800"}',
    lambda: bytes(1000),
    lambda: b"{'a': 1}",
    lambda: b"[1, 2, 3]",
    lambda: b'{"nodes": "' + b"\\u001b[31m" * 99 + b'"}',
    lambda: b"-" * 100_000,
    lambda: b"[" + b"0," * 200_000 + b"0]",
)
