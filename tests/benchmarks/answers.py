"""Records what onnxpad answers, and compares two records: did anything change for its users?

    python -m tests.benchmarks.answers record DIR [--quick] [--only VERBS] [--tree CHECKOUT]
    python -m tests.benchmarks.answers compare DIR_A DIR_B [--only VERBS] [--examples N]

`record` asks only what users can ask, the public API and the command line, about the models of
../shared (ONNXPAD_SHARED) and about small models of one operator; --tree asks another checkout.
Each verb becomes a file of JSON Lines, a key and an answer a line; a failure is an answer as well.
`compare` prints each kind of difference once, with how often it is there and examples, and exits 1
where there is one. A quick record holds one case in eight, always the same ones.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import io
import json
import os
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon
import onnxruntime

from tests.benchmarks import differences, small_domains

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("ONNXPAD_SHARED", ROOT.parent / "shared")).resolve()
QUICK = 8
FEW = 100
SLOW = (  # corpus models whose search for a target takes seconds even where all sizes are known
    "k_efficientnet_b0_odd_op17",
    "k_efficientnet_b0_kexport_broken_inputs",
    "k_mobilenet_v2_nchw_op18_qdq",
    "t_resnext50_ts_op13_qdq_perchannel",
    "t_squeezenet1_0_ts_op9_to_op13_qoperator",
    "t_script_if_loop_ts",
    "t_avgpool_both_ts_op11_qoperator",
)
OPEN = ("t_unet_outpad_dynamo_dyn", "t_wavenet_pad_dynamo_dyn", "k_wavenet_causal_op13")
FAVOURED = (
    "ncnn", "portable", "onnxruntime", "opencv", "opencv-classic", "tflite", "tensorrt", "mnn"
)  # fmt: skip

Answer = Any
Case = tuple[str, Callable[[], Answer]]


# Asking: one command line or one call, as plain data without times and places.


def shown(*words: str) -> Answer:
    """The exit code of a command line, its report (JSON parsed), and its messages."""
    entry = importlib.import_module("onnxpad.__main__")
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["onnxpad", *words]
    code: object = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            entry.main()
    except SystemExit as leaving:
        code = leaving.code
    finally:
        sys.argv = before
        gc.unfreeze()  # a command freezes what it leaves, as its process is to end
    text = out.getvalue()
    report: Answer = text.splitlines()
    if "--json" in words:
        report = [json.loads(line) for line in report]
    elif "--sarif" in words and text:
        report = json.loads(text)
    return {"exit": code or 0, "report": report, "messages": err.getvalue().splitlines()}


def written(*words: str) -> Answer:
    """The same of a command line that writes a model, with the hash of what it wrote."""
    out = Path(tempfile.gettempdir()) / "written.onnx"
    out.unlink(missing_ok=True)
    return shown(*words, "-o", str(out)) | {"bytes": hashed(out) if out.exists() else None}


def public(name: str) -> Any:
    """A name of the public API."""
    return getattr(importlib.import_module("onnxpad"), name)


def rewritten(model: onnx.ModelProto, **options: Any) -> Answer:
    """What became of a model in memory; None where there was nothing to do or to say."""
    done = public("rewrite")(model, **options)
    told = done.to_json()
    if not (done.changed or told["skips"] or told["notes"] or told["target"] or told["undone"]):
        return None
    return told | {"bytes": hashed(done.model)}


def hashed(model: Path | onnx.ModelProto) -> str:
    """The hash of a model's bytes."""
    data = model.read_bytes() if isinstance(model, Path) else model.SerializeToString(True)
    return hashlib.sha256(data).hexdigest()[:24]


def told(ask: Callable[[], Answer]) -> Answer:
    """An answer as plain data; an exception is one as well."""
    try:
        return plain(ask())
    except Exception as error:  # noqa: BLE001  whatever it is, users get it
        return {"raises": type(error).__name__, "message": plain(str(error))}


_TIME = re.compile(r"\bin \d+(\.\d+)? (s|ms|min)\b")


def plain(value: Any) -> Any:
    """An answer without times, and with names for the folders of this machine."""
    match value:
        case str():
            for path, name in _places().items():
                value = value.replace(path, name)
            return _TIME.sub("in # s", value)
        case Mapping():
            return {str(k): plain(v) for k, v in value.items() if k != "seconds"}
        case list() | tuple():
            return [plain(item) for item in value]
        case np.generic():
            return value.item()
        case _:
            return value


@cache
def _places() -> dict[str, str]:
    tree = Path(str(importlib.import_module("onnxpad").__file__)).parents[1]
    named = {tempfile.gettempdir(): "TEMP", str(SHARED): "SHARED", str(tree): "TREE"}
    return dict(sorted(named.items(), key=lambda place: -len(place[0])))


# What there is to ask about.


@cache
def names(kind: str) -> tuple[str, ...]:
    """The names of all passes, targets, conventions ... , as `explain` lists them."""
    entries = shown("explain", "--json")["report"]
    return tuple(entry["name"] for entry in entries if entry["kind"] == kind)


@cache
def stored(glob: str) -> tuple[str, ...]:
    """Models of ../shared, named from there."""
    return tuple(sorted(path.relative_to(SHARED).as_posix() for path in SHARED.glob(glob)))


CORPUS, PROBES, PAIRS = "corpus/models/*.onnx", "probes/models/*.onnx", "corpus/pairs/*/wrong.onnx"


def every_file() -> tuple[str, ...]:
    """All models of ../shared."""
    return (*stored(CORPUS), *stored(PROBES), *stored(PAIRS))


@cache
def small(domain: str) -> tuple[tuple[str, onnx.ModelProto], ...]:
    """The small models of a domain, with their keys."""
    return tuple(small_domains.DOMAINS[domain]())


def every_small(every: int = 1) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Each `every`-th of all small models."""
    for domain in small_domains.DOMAINS:
        yield from small(domain)[:: every if len(small(domain)) > FEW else 1]


@cache
def sizes(model: str) -> tuple[str, ...]:
    """Options that fix every open size of a model."""
    found: dict[str, int] = {}
    for given in onnx.load(SHARED / model, load_external_data=False).graph.input:
        for axis, size in enumerate(given.type.tensor_type.shape.dim):
            if size.dim_param or not size.HasField("dim_value"):
                name = size.dim_param or f"{given.name}[{axis}]"
                found.setdefault(name, 64 if axis else 1)
    return tuple(word for name, size in found.items() for word in ("--dim", f"{name}={size}"))


# The verbs: what is asked of each.


def _explain() -> Iterator[Case]:
    yield "list", partial(shown, "explain")
    for kind in ("pass", "target", "form", "operator", "convention", "trap"):
        for name in names(kind):
            yield f"{kind} {name}", partial(shown, "explain", name)
            yield f"{kind} {name} json", partial(shown, "explain", name, "--json")


def _requests() -> Iterator[Case]:
    model, other, pair = stored(PROBES)[0], stored(PROBES)[100], stored(PAIRS)[0]
    resolve = "resolve tensorflow conv --input 1,3,9,9 --kernel 3"
    for line in (
        "", "--help", "--version", "unknown", "explain nothing-like-it", "explain splitpads",
        *(f"{verb} --help" for verb in _COMMANDS), *_COMMANDS,
        f"inspect {model} --target nccn", f"inspect {model} --dim H", f"inspect {model} --dim H=3",
        f"inspect {model} --node nowhere", "inspect nowhere.onnx", "inspect index.json",
        "inspect probes/index.json", f"inspect {model} {other} --json", f"inspect {model} {other}",
        f"inspect {model} --sarif", f"inspect {model} --ambiguous both",
        f"rewrite {model}", f"rewrite {model} --pass nothing --dry-run",
        f"rewrite {model} --target ncnn --target mnn --dry-run", f"rewrite {model} -o {model}",
        f"rewrite {model} --prefer split-pads --dry-run", f"rewrite {model} --check",
        f"rewrite {model} --pass split-pads --check", f"rewrite {model} --dry-run --in-place",
        f"rewrite {model} {other} --pass split-pads --json -o TEMP/several/",
        f"rewrite {model} {other} --dry-run --dim H=4", f"rewrite {model} --strict --dry-run",
        f"rewrite {model} --target ncnn --prefer nothing --dry-run",
        f"rewrite {model} --target ncnn --exclude symmetric-pads --dry-run",
        f"retarget {model} --dry-run", f"retarget {model} --to nowhere --dry-run",
        f"retarget {model} --to keras --source nowhere --dry-run",
        f"retarget {model} --plan probes/index.json --dry-run",
        f"validate {model}", f"validate {model} {other} --device cpu",
        f"validate {model} {model} --device cpu --samples 0", f"diagnose {model}",
        f"diagnose {model} --data probes/index.json", f"diagnose {pair} --budget 0",
        f"{resolve}", f"{resolve} --padding SAME", f"{resolve} --padding FULL",
        f"{resolve} --padding SAME --compare pytorch", f"{resolve} --padding SAME --as pytorch",
        f"{resolve} --padding SAME --as caffe", f"{resolve} --set padding=SAME --json",
        f"{resolve} --padding SAME --set padding=SAME", f"{resolve} --padding SAME --set x",
        "resolve nowhere conv --input 1,3,9,9 --kernel 3", "resolve keras fold --input 1,3,9,9",
    ):  # fmt: skip
        yield line, partial(_requested, line)


def _requested(line: str) -> Answer:
    return shown(*line.replace("TEMP", tempfile.gettempdir()).split())


_COMMANDS = ("inspect", "rewrite", "retarget", "diagnose", "validate", "resolve", "explain")


def _resolve() -> Iterator[Case]:
    for path in sorted((SHARED / "goldens").glob("*.json")):
        arrays = np.load(path.with_suffix(".npz"))
        for record in json.loads(path.read_text(encoding="utf-8")):
            given = [arrays.get(f"{record['id']}/{name}") for name in ("weight", "bias")]
            yield record["id"], partial(_resolved, record, given)
            yield f"{record['id']} as text", partial(shown, *_layer(record))
            for option in ("--as pytorch", "--as tensorflow", "--compare caffe"):
                words = (*_layer(record), *option.split())
                yield f"{record['id']} {option}", partial(shown, *words)


def _resolved(record: dict[str, Any], given: list[Any]) -> Answer:
    found = public("resolve")(
        record["framework"],
        record["op"],
        input_shape=record["input_shape"],
        weight_shape=record["weight_shape"],
        **record["attributes"],
    )
    model = told(lambda: hashed(found.to_model(*given)))
    return found.to_json() | {"repr": repr(found), "model": model}


def _layer(record: dict[str, Any]) -> list[str]:
    words = ["resolve", record["framework"], record["op"], "--input"]
    words.append(",".join(map(str, record["input_shape"])))
    if record["weight_shape"]:
        words += ["--weight", ",".join(map(str, record["weight_shape"]))]
    for name, value in record["attributes"].items():
        words += ["--set", f"{name}={json.dumps(value) if isinstance(value, bool) else value}"]
    return words


def _inspect() -> Iterator[Case]:
    for model in every_file():
        yield model, partial(shown, "inspect", model, "--json")
        yield f"{model} all", partial(shown, "inspect", model, "--json", "--all")
        if sizes(model):
            words = ("inspect", model, "--json", *sizes(model))
            yield f"{model} with all sizes", partial(shown, *words)
    for key, small_model in every_small():
        yield key, partial(lambda found: public("inspect")(found).to_json(), small_model)


def _texts() -> Iterator[Case]:
    for model in every_file():
        for words in (
            "inspect", "inspect --all", "rewrite --dry-run", "rewrite --pass split-pads --dry-run",
            "rewrite --pass symmetric-pads --pass floor-pool --dry-run",
            "retarget --to tensorflow --dry-run", "retarget --to caffe --dry-run",
        ):  # fmt: skip
            verb, *options = words.split()
            yield f"{verb} {model} {' '.join(options)}", partial(shown, verb, model, *options)
    for model in stored(PROBES)[2::6]:
        for words in (
            "inspect --target portable --target ncnn", "inspect --target opencv-classic --sarif",
            "rewrite --target opencv-classic --dry-run",
        ):  # fmt: skip
            verb, *options = words.split()
            yield f"{verb} {model} {' '.join(options)}", partial(shown, verb, model, *options)


def _retarget() -> Iterator[Case]:
    for model in every_file():
        for name in names("convention"):
            yield f"{model} to {name}", partial(written, "retarget", model, "--to", name, "--json")
        for words in ("--to pytorch --source tensorflow", "--to keras --source caffe"):
            line = ("retarget", model, "--json", *words.split())
            yield f"{model} {words}", partial(written, *line)
    for key, small_model in every_small(12):
        for name in names("convention"):
            yield f"{key} to {name}", partial(_retargeted, small_model, name)


def _retargeted(model: onnx.ModelProto, name: str) -> Answer:
    done = public("retarget")(model, to=name)
    return done.to_json() | {"bytes": hashed(done.model)}


def _passes() -> Iterator[Case]:
    for model in every_file():
        for name in names("pass"):
            words = ("rewrite", model, "--pass", name, "--json")
            yield f"{model} {name}", partial(written, *words)


def _small() -> Iterator[Case]:
    for key, model in every_small():
        yield key, partial(_by_each_pass, model)


def _by_each_pass(model: onnx.ModelProto, *before: str, **options: Any) -> Answer:
    """What each pass does, where it does or says anything; nothing else must change the model."""
    data = model.SerializeToString(True)
    rules = names("pass")
    found = {
        rule: told(partial(rewritten, model, passes=[*before, rule], **options)) for rule in rules
    }
    unharmed = model.SerializeToString(True) == data
    return {rule: answer for rule, answer in found.items() if answer} | {"unharmed": unharmed}


def _options() -> Iterator[Case]:
    """Passes in a row, ambiguous nodes, the old split, facts about sizes, nodes, graphsurgeon."""
    first = ("split-pads", "absorb-pad", "runtime-pads", "explicit-pads", "auto-pads", "floor-pool",
             "symmetric-pads", "slice-transpose", "lift-rank", "counted-padding")  # fmt: skip
    for key, model in every_small(48):
        for before in first:
            yield f"{key}, {before} before", partial(_by_each_pass, model, before)
    for key, model in every_small(8):
        for name in ("auto_pad", "pads") if "auto_pad" in str(model) else ():
            yield f"{key}, ambiguous={name}", partial(_by_each_pass, model, ambiguous=name)
        if "ConvTranspose" in key:
            yield f"{key}, old split", partial(_by_each_pass, model, legacy_split=True)
    for key, model in small("computed"):
        for facts in ({"H": "%4=0", "W": "%4=1"}, {"H": 7, "W": 13}) if "H" in key else ():
            yield f"{key}, {facts}", partial(_by_each_pass, model, dims=facts)
    yield from _options_of_files()


def _options_of_files() -> Iterator[Case]:
    for model in every_file():
        facts = [f"{fact.split('=')[0]}%32=0" for fact in sizes(model)[1::2]]
        words = [word for fact in facts for word in ("--dim", fact)]
        for name in ("explicit-pads", "runtime-pads", "symmetric-pads") if facts else ():
            line = ("rewrite", model, "--pass", name, "--json", *words)
            yield f"{model} {name} {' '.join(words)}", partial(written, *line)
    for model in (*stored(CORPUS)[::3], *stored(PROBES)[::3]):
        for name in ("explicit-pads", "split-pads", "absorb-pad", "symmetric-pads", "lift-rank"):
            yield f"{model} {name}, graphsurgeon", partial(_in_place, model, name)
        glob = ("rewrite", model, "--pass", "split-pads", "--node", "*1*", "--json")
        yield f"{model} --node *1*", partial(written, *glob)


def _in_place(model: str, rule: str) -> Answer:
    graph = onnx_graphsurgeon.import_onnx(onnx.load(SHARED / model))
    done = public("rewrite")(graph, passes=[rule])
    exported = onnx_graphsurgeon.export_onnx(graph)
    return done.to_json() | {"same": done.model is graph, "bytes": hashed(exported)}


def _targets() -> Iterator[Case]:
    """Each target somewhere, and some targets everywhere, in turn."""
    every = [word for name in names("target") for word in ("--target", name)]
    for model in stored(PROBES)[::6]:
        yield f"inspect {model}", partial(shown, "inspect", model, "--json", *every)
    quick = [model for model in stored(CORPUS) if Path(model).stem not in SLOW]
    for at, model in enumerate(quick):
        chosen = [word for name in _in_turn(at, 4) for word in ("--target", name)]
        words = ("inspect", model, "--json", *chosen, *sizes(model))
        yield f"inspect {model}", partial(shown, *words)
        for name in _in_turn(at + 4, 3):
            yield f"{model} for {name}", partial(_fitted, model, name, *sizes(model))
    for at, model in enumerate(stored(PROBES)):
        for name in names("target") if at % 6 == 1 else _in_turn(at, 4):
            yield f"{model} for {name}", partial(_fitted, model, name)
    yield from _targets_of_small_models()
    for at, model in enumerate(stored(PROBES)[2::8]):
        (name,) = _in_turn(at, 1)
        for more in ("--allow-unknown", "--prefer split-pads", "--exclude symmetric-pads"):
            yield f"{model} for {name} {more}", partial(_fitted, model, name, *more.split())
        rules = ("--pass", "floor-pool", "--pass", "split-pads", "--pass", "concat-pads")
        yield f"{model} for {name} after passes", partial(_fitted, model, name, *rules)


def _targets_of_small_models() -> Iterator[Case]:
    for at, (key, model) in enumerate(small("windows")[::24]):
        for name in names("target") if at % 12 == 0 else _in_turn(at, 1):
            yield f"{key} for {name}", partial(rewritten, model, target=name)
    for at, (key, model) in enumerate(small("surroundings")):
        for name in _in_turn(at, 4):
            yield f"{key} for {name}", partial(rewritten, model, target=name)


def _in_turn(at: int, count: int) -> tuple[str, ...]:
    """`count` of the favoured targets, others for the next place."""
    return tuple(FAVOURED[(at + step) % len(FAVOURED)] for step in range(count))


def _fitted(model: str, target: str, *options: str) -> Answer:
    return written("rewrite", model, "--target", target, *options, "--json")


def _searches() -> Iterator[Case]:
    """The searches for a target that take seconds."""
    for model in stored(CORPUS):
        if Path(model).stem in SLOW:
            yield f"{model} for ncnn", partial(_fitted, model, "ncnn", *sizes(model))
        if Path(model).stem in OPEN:
            yield f"{model} for ncnn, sizes open", partial(_fitted, model, "ncnn")


def _validate() -> Iterator[Case]:
    for model in (*stored(CORPUS)[::6], *stored(PROBES)[::20]):
        for rule in ("explicit-pads", "split-pads"):
            yield f"{model} {rule}", partial(_validated, model, rule)
    for pair in stored(PAIRS)[::3]:
        data = pair.replace("wrong.onnx", "reference.npz")
        words = ("validate", pair, "--data", data, "--device", "cpu")
        yield pair, partial(shown, *words, "--json")
        yield f"{pair} as text", partial(shown, *words)


def _validated(model: str, rule: str) -> Answer:
    out = Path(tempfile.gettempdir()) / "after.onnx"
    public("rewrite")(model, passes=[rule]).save(out)
    return shown("validate", model, str(out), "--device", "cpu", "--samples", "2", "--json")


def _diagnose() -> Iterator[Case]:
    for pair in stored(PAIRS):
        data = pair.replace("wrong.onnx", "reference.npz")
        words = ("diagnose", pair, "--data", data, "--device", "cpu", "--budget", "600")
        name = Path(pair).parent.name
        if name.startswith(_CHEAP):
            yield pair, partial(shown, *words, "--json")
        if name.startswith("p01"):
            yield f"{pair} as text", partial(shown, *words)


_CHEAP = ("p01", "p02", "p03", "p05", "p06", "p07", "p08", "p10", "p16", "p19")

VERBS: dict[str, Callable[[], Iterator[Case]]] = {
    "explain": _explain,
    "requests": _requests,
    "inspect": _inspect,
    "resolve": _resolve,
    "texts": _texts,
    "passes": _passes,
    "small": _small,
    "retarget": _retarget,
    "options": _options,
    "diagnose": _diagnose,
    "validate": _validate,
    "targets": _targets,
    "searches": _searches,
}


# The two commands.


def record(folder: Path, verbs: list[str], *, quick: bool) -> None:
    """Ask every case of the verbs, and write their files."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    os.chdir(SHARED)
    with tempfile.TemporaryDirectory() as temporary:
        tempfile.tempdir = temporary
        for verb in verbs:
            began, count = time.process_time(), 0
            with (folder / f"{verb}.jsonl").open("w", encoding="utf-8") as file:
                for key, ask in VERBS[verb]():
                    if quick and zlib.crc32(key.encode()) % QUICK:
                        continue
                    count += 1
                    file.write(json.dumps({"key": key, "answer": told(ask)}) + "\n")
            print(f"{verb}: {count} cases, {time.process_time() - began:.0f} s", flush=True)
    versions = {one.__name__: one.__version__ for one in (np, onnx, onnxruntime)}
    about = {"quick": quick, "versions": versions}
    (folder / differences.ABOUT).write_text(json.dumps(about) + "\n", encoding="utf-8")


def main() -> int:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.answers")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--quick", action="store_true", help="one case in eight")
    recording.add_argument("--tree", type=Path, default=ROOT, help="the checkout that is asked")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--examples", type=int, default=2, help="of each kind of difference")
    for command in (recording, comparing):
        command.add_argument("--only", nargs="+", choices=list(VERBS), default=list(VERBS))
    given = parser.parse_args()
    if given.command == "compare":
        return differences.compare(given.before, given.after, given.only, given.examples)
    tree = str(given.tree.resolve())
    sys.path.insert(0, tree)
    os.environ["PYTHONPATH"] = tree
    record(given.folder, given.only, quick=given.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
