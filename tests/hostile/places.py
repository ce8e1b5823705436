"""Where outputs go and streams lead: full, closed, not writable, no files; signals; two at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from signal import SIGHUP, SIGINT, SIGTERM

from onnxpad.rewriting.passes import all_passes
from tests.hostile import growing, runaway, verbs
from tests.hostile.case import Command, Place
from tests.hostile.valid import model, reference, small
from tests.models.external_data import WEIGHTS, external_tensor
from tests.models.tiny import tiny


def places(random: Random, place: Place) -> Sequence[Command]:
    """A command that would succeed, with an output, a stream or a disk that does not take it."""
    _prepare(random, place)
    where = random.choice(_targets(place))
    made = [_writing(random, where) for _ in range(2)]
    spoilt = [_spoilt(random, command) if random.random() < 0.5 else command for command in made]
    return [*spoilt, _spoilt(random, _reading(random))]


def _prepare(random: Random, place: Place) -> None:
    found = small(random) if random.random() < 0.7 else model(random)
    place.write("model.onnx", found.SerializeToString())
    place.write("data.npz", reference(random, found))
    (place.outputs / "old.onnx").write_bytes(small(random).SerializeToString())
    (place.outputs / "old.json").write_text('{"schema": 1, "nodes": []}\n', encoding="utf-8")
    (place.outputs / "folder").mkdir()
    locked = place.outputs / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    (place.outputs / "dangling.onnx").symlink_to("../outside/new.onnx")
    (place.outputs / "loop").symlink_to("loop")


def _targets(place: Place) -> list[str]:
    found = [
        "old.onnx",
        "old.onnx",
        "new.onnx",
        "folder/",
        "missing/new.onnx",
        "old.onnx/new.onnx",
        "old.json",
        "loop",
        "n" * 300,
        "n" * 5000,
        "new/",
        "a/b/c/",
        "\x1b[31m.onnx",
        "",
        ".",
    ]
    outputs = [f"../out/{name}" for name in found]
    outputs += ["/proc/new.onnx", "/sys/new.onnx", "/dev/full", "/dev/null", "-", "model.onnx",
                "./model.onnx", "/dev/stdout", "/dev/fd/99", "data.npz"]  # fmt: skip
    if os.geteuid() != 0:
        outputs.append("../out/locked/new.onnx")
    if place.full is not None:
        outputs += [f"{place.full}/new.onnx", f"{place.full}/sub/", f"{place.full}/plan.json"]
    return outputs


def _writing(random: Random, where: str) -> Command:
    verb = random.choice(["rewrite", "retarget", "diagnose"])
    writes = where if not where.startswith(("/dev", "-")) else None
    if (writes and writes.endswith("/")) or writes in ("../out/", "../out/."):
        writes = f"{writes}/model.onnx"
    if verb == "rewrite":
        names = [word for name in random.sample(list(all_passes()), 2) for word in ("--pass", name)]
        return Command(("rewrite", "model.onnx", "-o", where, *names), output=writes)
    if verb == "retarget":
        return Command(("retarget", "model.onnx", "--to", "tensorflow", "-o", where), output=writes)
    line = ("diagnose", "model.onnx", "--data", "data.npz", "--budget", "2", "--device", "cpu")
    return Command((*line, "--plan", where), output=writes)


def _reading(random: Random) -> Command:
    return random.choice(
        [
            Command(("inspect", "model.onnx", *random.choice([(), ("--json",), ("--sarif",)]))),
            Command(("explain",)),
            Command(("resolve", "tensorflow", "conv", "--input", "1,1,9", "--kernel", "3")),
            Command(("inspect", "-"), stdin=random.choice(["model.onnx", None])),
            Command(
                ("inspect", random.choice(["/dev/zero", "/dev/null", "/dev/urandom", ".", "-"]))
            ),
            Command(("--help",)),
            Command(("--version",)),
            verbs.validate(random),
        ]
    )


def _spoilt(random: Random, command: Command) -> Command:
    """The same with a stream that is closed or full, or files that end early."""
    match random.randrange(4):
        case 0:
            return replace(
                command, closed=tuple(random.sample([0, 1, 2], random.choice([1, 1, 2, 3])))
            )
        case 1:
            return replace(command, full=random.choice([(1,), (2,), (1, 2)]))
        case 2:
            return replace(command, room=random.choice([0, 1, 100, 400]))
        case _:
            return command


def _external(place: Place, megabytes: int) -> None:
    """A convolution to rewrite, and weights in a file beside it."""
    found = tiny('[op] y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)', "float[1,1,999]")
    del found.graph.initializer[:]
    held = external_tensor("w", location="data.bin")
    held.dims[:] = [1, 1, 256]
    found.graph.initializer.append(held)
    place.write("model.onnx", found.SerializeToString())
    place.write("data.bin", WEIGHTS.tobytes() + os.urandom(1 << 10) * (megabytes << 10))


def signals(random: Random, place: Place) -> Sequence[Command]:
    """A signal at any moment of a command that writes, searches or runs."""
    made: list[Command] = []
    if random.random() < 0.4:
        _external(place, random.choice([1, 8, 30]))
        (place.outputs / "old.onnx").write_bytes(small(random).SerializeToString())
        how = random.choice(
            [("rewrite", "model.onnx"), ("retarget", "model.onnx", "--to", "caffe")]
        )
        made += [
            Command((*how, "-o", "../out/old.onnx"), output="../out/old.onnx") for _ in range(4)
        ]
    else:
        drawn = random.choice([runaway.running, growing.blow_ups, growing.functions])
        made += list(drawn(random, place))[:3]
    named = [random.choice([SIGTERM, SIGINT, SIGHUP]) for _ in made]
    return [
        replace(
            command, signal=(signal, round(random.choice([0.05, 0.3, 1.5]) * random.random(), 3))
        )
        for command, signal in zip(made, named, strict=True)
    ]


def concurrency(random: Random, place: Place) -> Sequence[Command]:
    """The same command twice or more at once into one place: each ends well."""
    if random.random() < 0.6:
        _external(place, random.choice([0, 1, 8]))
    else:
        place.write("model.onnx", small(random).SerializeToString())
    where = random.choice(["../out/new.onnx", "../out/new.onnx", "../out/", "../out/sub/"])
    output = where if where.endswith(".onnx") else f"{where}model.onnx"
    how = random.choice(
        [("rewrite", "model.onnx"), ("retarget", "model.onnx", "--to", "tensorflow")]
    )
    command = Command((*how, "-o", where), output=output, copies=random.choice([2, 2, 3, 4]))
    return [command, command]
