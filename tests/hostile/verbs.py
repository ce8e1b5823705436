"""Command lines of every verb about a model, with options that are drawn."""

from __future__ import annotations

from functools import cache
from random import Random

from onnxpad.cli import commands
from onnxpad.frameworks.conventions import all_conventions
from onnxpad.rewriting.passes import all_passes
from onnxpad.runtimes.targets import all_targets, find_target
from tests.hostile.case import Command

SECONDS = 3
MEGABYTES = 512
"""Less than the judge allows: a child may overshoot while nobody looks, as SECURITY.md says."""
LAYERS = ("tensorflow", "pytorch", "keras", "caffe", "onnx")


@cache
def _takes(verb: str, option: str) -> bool:
    return any(option in found.opts for found in commands.commands[verb].params)


def limits(verb: str) -> tuple[str, ...]:
    """Options that bound what running a model may cost, where the verb has them."""
    found: tuple[str, ...] = ()
    if _takes(verb, "--timeout"):
        found += ("--timeout", str(SECONDS))
    if _takes(verb, "--memory"):
        found += ("--memory", f"{MEGABYTES}M")
    return found


def _some(random: Random, chance: float, *arguments: str) -> tuple[str, ...]:
    return arguments if random.random() < chance else ()


def inspect(random: Random, model: str = "model.onnx") -> Command:
    targets = random.sample(sorted(all_targets()), random.choice([0, 0, 0, 1, 2]))
    return Command(
        (
            "inspect",
            model,
            *_some(random, 0.4, "--json"),
            *_some(random, 0.2, "--all"),
            *_some(random, 0.1, "--ambiguous", random.choice(["auto_pad", "pads"])),
            *_some(random, 0.1, "--dim", random.choice(["N=1", "H=32", "L%8=0"])),
            *(word for target in targets for word in ("--target", target)),
            *_some(random, 0.15, "--html", "../out/page.html"),
            *limits("inspect"),
        )
    )


def reproduce(random: Random, model: str = "model.onnx") -> Command:
    """A node of a model, or a fact of a target, written into a folder."""
    target = random.choice(sorted(all_targets()))
    if random.random() < 0.2:
        rows = [*find_target(target).failures, "nothing", "\x1b[31m"]
        row = random.choice(rows)
        line: tuple[str, ...] = ("explain", target, "--reproduce", row, "-o", "../out/made")
        return Command((*line, *_some(random, 0.2, "--json")))
    node = random.choice(["*", "*", "op", "[", "*op*"])
    asked = ("inspect", model, "--target", target, "--reproduce", node, "-o", "../out/made")
    return Command((*asked, *_some(random, 0.2, "--json"), *limits("inspect")))


def rewrite(random: Random, model: str = "model.onnx", output: str = "../out/r.onnx") -> Command:
    names = list(all_passes())
    if random.random() < 0.3:
        how: tuple[str, ...] = ("--target", random.choice(sorted(all_targets())))
    else:
        drawn = [random.choice(names) for _ in range(random.choice([0, 1, 1, 2, 3]))]
        how = tuple(word for name in drawn for word in ("--pass", name))
    judged = random.random() < 0.15
    return Command(
        (
            "rewrite",
            model,
            "-o",
            output,
            *how,
            *_some(random, 0.2, "--json"),
            *(("--validate", "--device", "cpu", "--samples", "1") if judged else ()),
            *(limits("rewrite") if judged else ()),
            *_some(random, 0.15, "--html", "../out/page.html"),
        ),
        output=output,
    )


def retarget(random: Random, model: str = "model.onnx", output: str = "../out/t.onnx") -> Command:
    judged = random.random() < 0.15
    return Command(
        (
            "retarget",
            model,
            "--to",
            random.choice(["SAME_UPPER", "SAME_LOWER", "symmetric", *all_conventions()]),
            "-o",
            output,
            *_some(random, 0.2, "--json"),
            *(("--validate", "--device", "cpu", "--samples", "1") if judged else ()),
            *(limits("retarget") if judged else ()),
            *_some(random, 0.15, "--html", "../out/page.html"),
        ),
        output=output,
    )


def validate(random: Random, before: str = "model.onnx", after: str = "model.onnx") -> Command:
    return Command(
        (
            *("validate", before, after, "--device", "cpu", "--samples", "1"),
            *_some(random, 0.3, "--json"),
            *_some(random, 0.15, "--html", "../out/page.html"),
            *limits("validate"),
        )
    )


def diagnose(random: Random, model: str = "model.onnx", data: str = "data.npz") -> Command:
    return Command(
        (
            *("diagnose", model, "--data", data, "--budget", str(SECONDS), "--device", "cpu"),
            *_some(random, 0.7, "--plan", "../out/plan.json"),
            *_some(random, 0.3, "--json"),
            *_some(random, 0.15, "--html", "../out/page.html"),
            *limits("diagnose"),
        )
    )


def every(random: Random, model: str = "model.onnx", data: str = "data.npz") -> list[Command]:
    """What is done with a model that may be anything."""
    return [
        inspect(random, model),
        rewrite(random, model),
        retarget(random, model),
        validate(random, model, model),
        diagnose(random, model, data),
        reproduce(random, model),
    ]
