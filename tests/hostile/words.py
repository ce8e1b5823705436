"""Command lines that nobody types: names of 100 KB, numbers of 5,000 digits, endless spaces."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from onnxpad.cli import commands
from tests.hostile.case import Command, Place
from tests.hostile.valid import reference, small

TEXTS = (
    "",
    " ",
    "-",
    "--",
    "---",
    "9" * 5000,
    "-" + "9" * 5000,
    "1e999",
    "nan",
    "inf",
    "0x10",
    "٣",
    "n" * 100_000,
    "\x1b[31mred\x1b[0m",
    "a\nb\r\tc",
    "\x07\x7f\x9b",
    "\udcff\udcfe",
    "\u202egnp",
    "é" * 999,
    "%s%n{0}",
    "*",
    "[",
    "[!",
    "[[]" * 999,
    "*" * 40 + "b",
    "a*" * 3000,
    "?" * 5000,
    "N" + " " * 30_000,
    "N" + " " * 30_000 + "%",
    " " * 30_000 + "=1",
    "N=" + "9" * 5000,
    "N%" + "9" * 5000 + "=0",
    "N%0=0",
    "N=0",
    "N=-1",
    "N%2=7",
    "L=" + str(2**62),
    "L%" + str(2**63) + "=1",
    "=" * 20_000,
    "N=1,M=2," * 3000,
    "x[0]=1",
    "x[" + "9" * 5000 + "]=1",
    "x[-1]=3",
    ",".join("9" * 20),
    "," * 30_000,
    "1,1,9",
    "(" * 5000,
    "[" * 5000,
    "{" * 5000 + "}" * 5000,
    "[" + "1," * 20_000 + "1]",
    "pads=" + "[" * 3000,
    "pads=[" + "9" * 5000 + "]",
    "pads=__import__('os').abort()",
    "pads=9**9**9",
    "pads=" + "-" * 20_000 + "1",
    "pytorch padding=1",
    "pytorch " + "padding=1 " * 3000,
    "'" * 999,
    '"',
    "~",
    "$HOME",
    "/dev/null",
    "/dev/zero",
    "/dev/tty",
    "/etc",
    ".",
    "..",
    "folder",
    "missing",
    "model.onnx",
    "model.onnx/",
    "pipe",
)


def arguments(random: Random, place: Place) -> Sequence[Command]:
    """Options and arguments of every verb, with values that none of them takes."""
    found = small(random)
    place.write("model.onnx", found.SerializeToString())
    place.write("data.npz", reference(random, found))
    (place.inside / "folder").mkdir()
    drawn = [_line(random, verb) for verb in random.sample(sorted(commands.commands), 4)]
    return [*drawn, _layer(random)]


SIZES = (*(1, 2, 3, 3, 7, 9, 64, 224) * 3, 2**16, 2**20, 2**24, 2**31 - 1)
BEYOND = (2**31, 2**40, 2**63, 10**30, 0, -1)


def _layer(random: Random) -> Command:
    """A layer to resolve whose numbers are read well and are far too large."""
    axes = random.choice([1, 1, 2, 3])

    def size() -> int:
        return random.choice(BEYOND if random.random() < 0.02 else SIZES)

    def several() -> str:
        return ",".join(str(size()) for _ in range(random.choice([1, axes])))

    words = [
        "resolve",
        random.choice(["tensorflow", "pytorch", "keras", "caffe", "onnx", "tflite"]),
    ]
    words.append(random.choice(["conv", "max_pool", "avg_pool", "conv_transpose", "grouped_conv"]))
    shape = [1, 1, *(size() for _ in range(axes))]
    words += ["--input", ",".join(map(str, shape)), "--kernel", several()]
    for option in ("--stride", "--dilation", "--groups"):
        if random.random() < 0.3:
            words += [option, several()]
    if random.random() < 0.5:
        padding = random.choice(["SAME", "same", "VALID", "valid", several(), f"[{several()}]"])
        words += ["--padding", padding]
    if random.random() < 0.2:
        words += ["--set", random.choice(["ceil_mode=true", f"output_padding={several()}"])]
    if random.random() < 0.4:
        other = random.choice(["pytorch", "caffe", "tensorflow", "keras"])
        words += ["--compare", f"{other} padding={several()}"]
    elif random.random() < 0.3:
        words += ["--as", random.choice(["pytorch", "tensorflow"])]
    return Command((*words, *random.choice([(), ("--json",)])))


def _line(random: Random, verb: str) -> Command:
    words: list[str] = [verb]
    start = list(_START.get(verb, ("model.onnx",)))
    if random.random() < 0.5:
        start[random.randrange(len(start))] = _text(random)
    words += start
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        words += _option(random, verb)
    if verb in ("rewrite", "retarget") and not {"-o", "--in-place"} & {*words}:
        words.append("--dry-run")
    if verb == "diagnose":
        words += ["--budget", "2", "--device", "cpu"]
    if random.random() < 0.05:
        words = [_text(random), *words]
    return Command(tuple(words), stdin=random.choice([None, "model.onnx"]))


_START = {
    "validate": ("model.onnx", "model.onnx"),
    "diagnose": ("model.onnx", "--data", "data.npz"),
    "retarget": ("model.onnx", "--to", "tensorflow"),
    "resolve": ("tensorflow", "conv", "--input", "1,1,9", "--kernel", "3"),
    "explain": ("split-pads",),
}
_AWAY = ("/dev/tty", "pipe", "/dev/zero")


def _text(random: Random) -> str:
    return random.choice(TEXTS)


def _option(random: Random, verb: str) -> list[str]:
    """An option that the verb has, mostly with a value of the list; never one that writes."""
    known = [one for one in commands.commands[verb].params if one.opts[0].startswith("-")]
    option = random.choice(known)
    name = max(option.opts, key=len)
    if name in ("--output", "--plan", "--in-place"):
        return ["--" + random.choice(["x" * 99_999, "\x1b[31m", "outpu", "jso", "é"])]
    if getattr(option, "is_flag", False):
        return [name] if random.random() < 0.9 else [f"{name}=1"]
    value = _text(random)
    return [f"{name}={value}"] if random.random() < 0.3 else [name, value]
