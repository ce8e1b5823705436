"""Options that several verbs share, and what their values mean."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from math import gcd
from pathlib import Path
from shutil import which
from typing import Any, TypeAlias, TypeVar

import click
from click.core import ParameterSource

from onnxpad.cli.exits import say
from onnxpad.cli.streams import Loudness, set_loudness
from onnxpad.errors import RequestError, told

DIGITS = 30
_SHAPE = re.compile(r"(.+)[:=]\s*[\[(]?((?:\s*\d+\s*[x,])*\s*\d+)\s*[\])]?\s*", re.ASCII)
RENAMED = {"from": "source", "convtranspose-legacy-split": "legacy-split"}
"""Options that had another name, without dashes: the old one goes on working."""
_Completes: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]
_Command = TypeVar("_Command", bound=Callable[..., Any])

MODEL = click.Path(allow_dash=True)
ARRAYS = click.Path(exists=True, dir_okay=False)


def completed(*kinds: str) -> _Completes:
    """What a shell offers: names of these kinds of what `explain` explains, or of any."""

    def names(_context: click.Context, _option: click.Parameter, begin: str) -> list[str]:
        from onnxpad.explaining import entries

        found = (one.name for one in entries() if not kinds or one.kind in kinds)
        return [name for name in found if name.casefold().startswith(begin.casefold())]

    return names


models = click.argument("models", metavar="MODEL|DIR...", nargs=-1, required=True, type=MODEL)
data = click.option(
    "--data",
    type=click.Path(exists=True),
    metavar="PATH",
    multiple=True,
    help="Inputs and reference: .npz, or a folder test_data_set_*. Repeatable.",
)


_atol = click.option(
    "--atol",
    type=click.FloatRange(min=0),
    metavar="A",
    help="Runs agree where |a - b| <= A + R * |b|, b of the reference or of the first model. "
    "[default: a bound that follows from the arithmetic; it is told beside]",
)
_rtol = click.option(
    "--rtol", type=click.FloatRange(min=0), metavar="R", help="The same, relative to b."
)


def tolerance(command: _Command) -> _Command:
    """--atol and --rtol."""
    return _atol(_rtol(command))


def _loud(*spellings: str, level: Loudness, says: str) -> Callable[[_Command], _Command]:
    def heard(_context: click.Context, _option: click.Parameter, given: bool) -> None:  # noqa: FBT001
        if given:
            set_loudness(level)

    return click.option(*spellings, is_flag=True, expose_value=False, callback=heard, help=says)


_quiet = _loud(
    "-q",
    "--quiet",
    level=Loudness.QUIET,
    says="Print errors, and what --json and the like ask for, and no report for people.",
)
_verbose = _loud(
    "-v",
    "--verbose",
    level=Loudness.VERBOSE,
    says="Say on standard error what is being done, and after how many seconds.",
)


def spoken(command: _Command) -> _Command:
    """--json, -q and -v: how a verb answers."""
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, one line per report."
    )
    return as_json(_quiet(_verbose(command)))


dims = click.option(
    "--dim",
    "dims",
    metavar="FACT",
    multiple=True,
    callback=lambda _context, _option, facts: parse_dims(facts),
    help="What is known of a dimension: height=640, 'height%32=0', or 'images[2]=640' for one "
    "without a name; 'enc*.onnx:height=640' for some models alone. Repeatable.",
)
input_shapes = click.option(
    "--input-shape",
    "input_shapes",
    metavar="NAME:1x3x64x64",
    multiple=True,
    callback=lambda _context, _option, texts: parse_shapes(texts),
    help="The shape of an input that leaves sizes open, as --dim would fix them one by one. "
    "Repeatable.",
)
nodes = click.option(
    "--node",
    "nodes",
    metavar="GLOB",
    multiple=True,
    help="Only nodes whose address matches, such as 'stem/*'. An address is what inspect prints: "
    "the scopes around the node, such as 'loop.body/', and its name, or its first output where it "
    "has no name. Repeatable.",
)


def excluded(more: str = "", metavar: str = "GLOB") -> Callable[[_Command], _Command]:
    """--exclude: models of several that are left out; `more` says what else it may leave out."""
    return click.option(
        "--exclude",
        metavar=metavar,
        multiple=True,
        help="Of folders, globs and several models leave out those whose path, name or folder "
        f"matches, such as 'broken*' or old/. {more}Repeatable.",
    )


targets = click.option(
    "--target",
    "targets",
    metavar="T",
    multiple=True,
    shell_complete=completed("target"),
    help="A runtime, with a release where you like (onnxruntime@1.31), or one of your own as a "
    "file of rules (npu.toml; onnxpad explain own-runtime): say what it does with each node that "
    "can pad, or with a Concat that pads one with constants. onnxpad explain targets lists them, "
    "and all is a line for each. Repeatable.",
)
HERE = "here"
_live = click.option(
    "--live",
    is_flag=False,
    flag_value=HERE,
    metavar="[PYTHON]",
    callback=lambda _context, _option, value: live_option(value),
    help="Ask the runtime itself: cut each distinct padded node out, and run it. In this Python, "
    "or in PYTHON, which has the runtime (for onnxruntime-web a folder with node_modules). "
    "onnxpad explain TARGET says what it needs. One PYTHON serves all targets. A runtime of your "
    "own is always asked.",
)
_no_cache = click.option(
    "--no-cache", is_flag=True, help="With --live: read no earlier answers, and keep none."
)


def live(command: _Command) -> _Command:
    """--live and --no-cache."""
    return _live(_no_cache(command))


_runtimes = click.option(
    "--target",
    "targets",
    metavar="T",
    multiple=True,
    shell_complete=completed("target"),
    help="A runtime in which the whole model is run: one that Python can start, or your own "
    "(./npu.py, a command with {model} {inputs} {outputs}). Repeatable.",
)
_python = click.option(
    "--live",
    is_flag=False,
    flag_value=HERE,
    metavar="PYTHON",
    callback=lambda _context, _option, value: live_option(value),
    help="With --target: the Python that has the runtime. [default: this one]",
)


def runtimes(command: _Command) -> _Command:
    """--target and --live, of a verb that runs whole models."""
    return _runtimes(_python(command))


def live_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a verb that --live and --no-cache stand for."""
    return {"live": given["live"], "cache": not given["no_cache"]}


def live_option(value: str | None) -> bool | str:
    """What --live says: False without it, True for this Python, or the path of another one."""
    if value is None or value == HERE:
        return value is not None
    where = value if Path(value).exists() else which(value) or ""
    if not where:
        raise click.BadParameter(f"'{value}' is no Python, and no folder with node_modules")
    return os.path.abspath(where)  # noqa: PTH100 - the Python of an environment is a link


def settled_live(words: Sequence[str]) -> list[str]:
    """The words of a command line, where --live takes the next one only if that is a Python."""
    settled: list[str] = []
    waiting = list(words)
    asked = 0
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return [*settled, word, *waiting]
        asked += word.partition("=")[0] == "--live"
        if word == "--live":
            word = f"--live={waiting.pop(0) if waiting and _runs(waiting[0]) else HERE}"
        settled.append(word)
    if asked > 1:
        raise click.UsageError("one Python has all the runtimes: give --live once, or run again")
    return settled


def _runs(word: str) -> bool:
    path = Path(word)
    if path.is_dir():
        return (path / "node_modules").is_dir() or (path / "pyvenv.cfg").is_file()
    if path.suffix == ".onnx" or word.startswith("-"):
        return False
    if not path.exists():
        return "python" in word
    # A model may be marked as a program, and is started by nobody's mistake: --live=FILE says it.
    return path.name.startswith(("python", "pypy")) and os.access(path, os.X_OK)


ambiguous = click.option(
    "--ambiguous",
    type=click.Choice(["auto_pad", "pads"]),
    help="Whether auto_pad or pads holds where a node has both.",
)
legacy_split = click.option(
    "--legacy-split",
    is_flag=True,
    help="Read auto_pad and output_shape of ConvTranspose as the text of opsets 1 to 10 has it: "
    "the odd cell is cropped at the other side.",
)
device = click.option(
    "--device",
    type=click.Choice(["auto", "cuda", "cpu"]),
    default="auto",
    show_default=True,
    help="Where onnxruntime runs the models. cuda fails where there is none.",
)
timeout = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="How long onnxruntime or a proof may take before it is ended. [default: 60 for running "
    "models, and 1 more for each MB of them; for a proof 60 of CPU time]",
)
memory = click.option(
    "--memory",
    metavar="SIZE",
    callback=lambda _context, _option, size: parse_memory(size),
    help="How much memory they may take, such as 4G. [default: 2G for running models, and 32 "
    "bytes more for each byte of them]",
)
jobs = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many models are worked on at once, each in a process of its own.",
)
dask = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Work on the models with the workers of this Dask scheduler, such as "
    "tcp://host:8786. They have to see the same files.",
)
samples = click.option(
    "--samples",
    type=click.IntRange(min=1),
    help="How many random inputs are tried. [default: 3, or 1 where both models are proved]",
)
seed = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the random inputs.",
)


def renamed(name: str) -> str:
    """The name that an option has now; an old one is answered with a warning."""
    if name not in RENAMED:
        return name
    say(f"warning: --{name} is now called --{RENAMED[name]}\n")
    return RENAMED[name]


def given_by_hand(name: str) -> bool:
    """Whether an option stands on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def _field(option: str) -> str:
    """What the command calls an option."""
    found = click.get_current_context().command.params
    return next(one.name or "" for one in found if f"--{option}" in one.opts)


def refuse_given(why: str, *names: str) -> None:
    """UsageError for options that stand on the command line and would do nothing."""
    given = [f"--{name}" for name in names if given_by_hand(_field(name))]
    if given:
        does = "does" if len(given) == 1 else "do"
        raise click.UsageError(f"{' and '.join(given)} {does} nothing here: {why}")


def refuse_data_twice(options: Mapping[str, object]) -> None:
    """UsageError where --data is given beside files that hold the same."""
    if options["data"] and (options["inputs"] or options["outputs"]):
        raise click.UsageError(
            "--data holds inputs and outputs already: leave --inputs and --outputs out"
        )


def parse_memory(size: str | None) -> int | None:
    """Bytes of '4G'; raises click.BadParameter for what is no size."""
    if size is None:
        return None
    from onnxpad.processes import bytes_of

    try:
        return bytes_of(size)
    except RequestError as error:
        raise click.BadParameter(told(error)) from None


def parse_dims(facts: Sequence[str]) -> dict[str, int | str]:
    """{'height': 640, 'width': '%32=0'} from 'height=640' and 'width%32=0'.

    Raises click.BadParameter for anything else, and for two facts about one dimension.
    """
    found: dict[str, int | str] = {}
    for fact in facts:
        parts = fact.split(",")
        if len(parts) > 1 and all(_fact(part) for part in parts):
            each = " ".join(f"--dim '{part.strip()}'" for part in parts)
            raise click.BadParameter(f"'{fact}' is several facts: repeat the option, {each}")
        known = _fact(fact)
        if known is None:
            raise click.BadParameter(f"cannot read '{fact}': expected NAME=SIZE or 'NAME%32=0'")
        name, said = known
        if name in found:
            raise click.BadParameter(_two_facts(name, found[name], said))
        found[name] = said
    return found


def parse_shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """{'images': (1, 3, 64, 64)} from 'images:1x3x64x64', or from 'images=1,3,64,64'.

    Raises click.BadParameter for anything else, and for two shapes of one input.
    """
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        match = _SHAPE.fullmatch(text)
        if match is None:
            raise click.BadParameter(f"cannot read '{text}': expected NAME:1x3x64x64")
        name, parts = match[1], re.split("[x,]", match[2])
        if name in found:
            raise click.BadParameter(f"two shapes of '{name}': give one")
        if max(map(len, parts)) > DIGITS:
            raise click.BadParameter(f"'{text}': a size has at most {DIGITS} digits")
        found[name] = tuple(map(int, parts))
    return found


def _two_facts(name: str, one: int | str, other: int | str) -> str:
    """Why two facts about a dimension are too many, and what to say where two sizes are meant."""
    divisor = gcd(one, other) if isinstance(one, int) and isinstance(other, int) else 1
    if one != other and divisor > 1:
        both = f"{one} and {other}"
        return f"two sizes of '{name}': for {both} say what both are, --dim '{name}%{divisor}=0'"
    return f"two facts about '{name}': give the one that says more"


def _fact(text: str) -> tuple[str, int | str] | None:
    """A dimension and what is known of it; read from the end, since names may hold signs too."""
    text = text.strip()
    front, _, number = text.rpartition("=")
    name, percent, divisor = front.removesuffix("=").rpartition("%")
    numbers = [number.strip()]
    if percent and name and divisor.strip().isdecimal():
        numbers.append(divisor.strip())
        said: int | str = text[len(name) :]
    else:
        name, said = front.removesuffix("="), 0
    if not name or name[0] in "%=" or name[-1] in "<>!" or not numbers[0].isdecimal():
        return None
    if max(map(len, numbers)) > DIGITS:
        raise click.BadParameter(f"'{text}': a size has at most {DIGITS} digits")
    return name.rstrip(), said or int(number)


def edits(validate: str) -> Callable[[_Command], _Command]:
    """The options of a command that writes models; `validate` is the help of --validate."""
    options = (
        click.option(
            "-o", "--output", metavar="OUT|DIR/", type=MODEL, help="File or folder to write."
        ),
        click.option("--in-place", is_flag=True, help="Overwrite the models."),
        click.option(
            "--check", is_flag=True, help="Write nothing; exit 1 if anything would change."
        ),
        click.option("--dry-run", is_flag=True, help="Write nothing; print the edits."),
        click.option(
            "--strict", is_flag=True, help="Write nothing and exit 1 if a node is skipped."
        ),
        click.option("--validate", is_flag=True, help=validate),
        click.option(
            "--each",
            is_flag=True,
            help="Name every node of one model, where many alike are a row or a line otherwise.",
        ),
    )

    def decorate(command: _Command) -> _Command:
        for option in (
            *options,
            *(device, samples, seed, timeout, memory),
            *(dims, input_shapes, nodes, ambiguous, jobs, dask),
        )[::-1]:
            command = option(command)
        return command

    return decorate
