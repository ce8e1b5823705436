"""Command lines that mean harm: of every verb, with wild words, into places that do not take it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from signal import SIGHUP, SIGINT, SIGTERM

from onnxpad.cli import commands
from onnxpad.frameworks.conventions import all_conventions
from onnxpad.rewriting.passes import all_passes
from onnxpad.runtimes.targets import all_targets
from tools.hostile import models
from tools.hostile.case import Command, Place

SECONDS, MEGABYTES = 3, 512
"""Less than the judge allows: a child may overshoot while nobody looks, as SECURITY.md says."""
RUNS = ("--device", "cpu", "--samples", "1")


def limits(verb: str) -> tuple[str, ...]:
    """Options that bound what running a model may cost, where the verb has them."""
    given = {"--timeout": str(SECONDS), "--memory": f"{MEGABYTES}M"}
    options = {name for option in commands.commands[verb].params for name in option.opts}
    return tuple(word for name in given if name in options for word in (name, given[name]))


def _some(random: Random, chance: float, *arguments: str) -> tuple[str, ...]:
    return arguments if random.random() < chance else ()


def _shown(random: Random) -> tuple[str, ...]:
    return (*_some(random, 0.3, "--json"), *_some(random, 0.15, "--html", "../out/page.html"))


def inspect(random: Random) -> Command:
    targets = random.sample(sorted(all_targets()), random.choice([0, 0, 0, 1, 2]))
    named = [word for target in targets for word in ("--target", target)]
    dim = _some(random, 0.1, "--dim", random.choice(["N=1", "H=32", "L%8=0"]))
    return Command(
        ("inspect", "model.onnx", *_shown(random), *dim, *named, *_some(random, 0.2, "--all"))
    )


def rewrite(random: Random, output: str = "../out/r.onnx") -> Command:
    how = [word for name in random.sample(list(all_passes()), 2) for word in ("--pass", name)]
    if random.random() < 0.3:
        how = ["--target", random.choice(sorted(all_targets()))]
    line = ("rewrite", "model.onnx", "-o", output, *how[: random.choice([0, 2, 2, 4])])
    return Command((*line, *_shown(random)), output=output)


def retarget(random: Random, output: str = "../out/t.onnx") -> Command:
    name = random.choice(["SAME_UPPER", "SAME_LOWER", "symmetric", *all_conventions()])
    line = ("retarget", "model.onnx", "--to", name, "-o", output)
    return Command((*line, *_shown(random)), output=output)


def validate(random: Random) -> Command:
    line = ("validate", "model.onnx", "model.onnx", *RUNS, *limits("validate"))
    return Command((*line, *_shown(random)))


def diagnose(random: Random, *data: str) -> Command:
    given = data or ("--data", "data.npz")
    line = ("diagnose", "model.onnx", *given, "--budget", str(SECONDS), "--device", "cpu")
    plan = _some(random, 0.7, "--plan", "../out/plan.json")
    return Command((*line, *plan, *limits("diagnose"), *_shown(random)))


def reproduce(random: Random) -> Command:
    """A node of a model written into a folder."""
    target, node = random.choice(sorted(all_targets())), random.choice(["*", "op", "[", "*op*"])
    line = ("inspect", "model.onnx", "--target", target, "--reproduce", node, "-o", "../out/made")
    return Command((*line, *limits("inspect")))


def judged(command: Command) -> Command:
    """The command with a run of what it wrote."""
    more = ("--validate", *RUNS, *limits(command.arguments[0]))
    return replace(command, arguments=(*command.arguments, *more))


def every(random: Random) -> list[Command]:
    """What is done with a model that may be anything."""
    writing = [rewrite(random), retarget(random)]
    run = [judged(one) if random.random() < 0.15 else one for one in writing]
    return [inspect(random), *run, validate(random), diagnose(random), reproduce(random)]


# Words that nobody types.

TEXTS = (
    "", " ", "-", "--", "---", "9" * 5000, "-" + "9" * 5000, "1e999", "nan", "0x10", "٣",
    "n" * 100_000, "\x1b[31mred\x1b[0m", "a\nb\r\tc", "\udcff\udcfe", "\u202egnp", "é" * 999,
    "%s%n{0}", "*", "[", "[!", "[[]" * 999, "*" * 40 + "b", "a*" * 3000, "?" * 5000,
    "N" + " " * 30_000 + "%", " " * 30_000 + "=1", "N=" + "9" * 5000, "N%" + "9" * 5000 + "=0",
    "N%0=0", "N=0", "N=-1", "N%2=7", f"L={2**62}", f"L%{2**63}=1", "=" * 20_000, "N=1,M=2," * 3000,
    "x[0]=1", "x[" + "9" * 5000 + "]=1", "x[-1]=3", ",".join("9" * 20), "," * 30_000, "1,1,9",
    "(" * 5000, "[" * 5000, "{" * 5000 + "}" * 5000, "[" + "1," * 20_000 + "1]", f"1,1,{2**31}",
    "pads=" + "[" * 3000, "pads=__import__('os').abort()", "pads=9**9**9", f"3,{2**63},1",
    "pads=" + "-" * 20_000 + "1", "pytorch padding=1", "pytorch " + "padding=1 " * 3000, "'" * 999,
    '"', "~", "$HOME", "/dev/null", "/dev/zero", "/dev/tty", "/etc", ".", "..", "folder", "missing",
    "model.onnx", "model.onnx/", "pipe",
)  # fmt: skip
_START = {
    "validate": ("model.onnx", "model.onnx"),
    "diagnose": ("model.onnx", "--data", "data.npz"),
    "retarget": ("model.onnx", "--to", "tensorflow"),
    "resolve": ("tensorflow", "conv", "--input", "1,1,9", "--kernel", "3"),
    "explain": ("split-pads",),
}


def words(random: Random, place: Place) -> Sequence[Command]:
    """Options and arguments of every verb, with values that none of them takes."""
    found = models.small(random)
    place.write("model.onnx", found.SerializeToString())
    place.write("data.npz", models.reference(found))
    (place.inside / "folder").mkdir()
    return [_line(random, verb) for verb in random.sample(sorted(commands.commands), 5)]


def _line(random: Random, verb: str) -> Command:
    start = list(_START.get(verb, ("model.onnx",)))
    if random.random() < 0.5:
        start[random.randrange(len(start))] = random.choice(TEXTS)
    line = [verb, *start]
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        line += _option(random, verb)
    if verb in ("rewrite", "retarget"):
        line.append("--dry-run")
    if verb in ("diagnose", "validate"):
        line += ["--device", "cpu", *limits(verb)]
    if random.random() < 0.05:
        line.insert(0, random.choice(TEXTS))
    return Command(tuple(line), stdin=random.choice([None, "model.onnx"]))


def _option(random: Random, verb: str) -> list[str]:
    """An option of the verb, mostly with one of TEXTS; never one that writes or starts."""
    away = ("--output", "--plan", "--in-place", "--live")
    known = [one for one in commands.commands[verb].params if one.opts[0].startswith("-")]
    option = random.choice([one for one in known if not {*one.opts} & {*away}])
    name, value = max(option.opts, key=len), random.choice(TEXTS)
    if getattr(option, "is_flag", False):
        return [name] if random.random() < 0.9 else [f"{name}=1"]
    return [f"{name}={value}"] if random.random() < 0.3 else [name, value]


# Places, streams, signals, and two at once.


def places(random: Random, place: Place) -> Sequence[Command]:
    """Commands that would succeed, with an output, a stream or a disk that does not take it."""
    found = models.small(random) if random.random() < 0.7 else models.valid(random)
    place.write("model.onnx", found.SerializeToString())
    place.write("data.npz", models.reference(found))
    (place.outputs / "old.onnx").write_bytes(models.small(random).SerializeToString())
    (place.outputs / "folder").mkdir()
    (place.outputs / "locked").mkdir(mode=0o500)
    (place.outputs / "loop").symlink_to("loop")
    names = ["old.onnx", "new.onnx", "folder/", "missing/new.onnx", "old.onnx/new.onnx", "loop",
             "n" * 300, "n" * 5000, "a/b/c/", "\x1b[31m.onnx", "", "."]  # fmt: skip
    names += [] if os.geteuid() == 0 else ["locked/new.onnx"]
    outputs = [f"../out/{name}" for name in names]
    outputs += ["/proc/new.onnx", "/dev/full", "/dev/null", "-", "model.onnx", "/dev/fd/99"]
    made = []
    for where in random.choices(outputs, k=2):
        command = random.choice([rewrite, retarget])(random, where)
        writes = None if where.startswith(("/dev", "-")) else where
        if writes and (writes.endswith("/") or writes == "../out/."):
            writes = f"{writes}/model.onnx"
        made.append(replace(command, output=writes))
    reading = random.choice(
        [("inspect", "model.onnx", "--sarif"), ("explain",), ("inspect", "/dev/zero"), ("--help",),
         ("inspect", "/dev/urandom"), ("inspect", "-"), ("inspect", "."), ("--version",)]
    )  # fmt: skip
    made.append(Command(reading, stdin=random.choice(["model.onnx", None])))
    return [_spoilt(random, command) for command in made]


def _spoilt(random: Random, command: Command) -> Command:
    """The same with a stream that is closed or full, or files that end early."""
    match random.randrange(5):
        case 0:
            return replace(command, closed=tuple(random.sample([0, 1, 2], random.randrange(1, 4))))
        case 1:
            return replace(command, full=random.choice([(1,), (2,), (1, 2)]))
        case 2:
            return replace(command, room=random.choice([0, 1, 100, 400]))
        case _:
            return command


def signals(random: Random, place: Place) -> Sequence[Command]:
    """A signal at any moment of a command that searches or runs."""
    made = random.choice([models.running, models.blow_ups])(random, place)[:3]
    moments = [round(random.choice([0.05, 0.3, 1.5]) * random.random(), 3) for _ in made]
    return [
        replace(command, signal=(random.choice([SIGTERM, SIGINT, SIGHUP]), moment))
        for command, moment in zip(made, moments, strict=True)
    ]


def concurrency(random: Random, place: Place) -> Sequence[Command]:
    """The same command several times at once into one place: each ends well."""
    place.write("model.onnx", models.small(random).SerializeToString())
    where = random.choice(["../out/new.onnx", "../out/", "../out/sub/"])
    output = where if where.endswith(".onnx") else f"{where}model.onnx"
    line = random.choice([("rewrite", "model.onnx"), ("retarget", "model.onnx", "--to", "caffe")])
    command = Command((*line, "-o", where), output=output, copies=random.choice([2, 2, 3, 4]))
    return [command, command]
