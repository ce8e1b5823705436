"""The table of options: one row each, from which click, settings, completion and checks are made.

A row is a line `SPELLING : VERBS : VALUE`, and below it what --help says. A name without dashes is
an argument. `SPELLING` ends with the name of the value, where that is not the spelling. `VALUE` is
a kind (`cli.values`) or a choice `a|b`, the placeholder of --help, and any of

    many          the option may be repeated
    optional      an argument may be left out
    required      an option may not
    set           pyproject.toml may set it
    default=VALUE
    alone=VALUE   what it means without a value
    eg=VALUE      an example, for who left the value out
    see=TOPIC     what explains it then
    words=KINDS   the names that a shell completes, by kinds of `explain`
    needs=NAMES   options without which it means nothing
    not=NAMES     options that contradict it

pyproject.toml may come with a model from a stranger: it says nothing of what is read and written,
starts no program, and lifts no limit.
"""

from __future__ import annotations

import re
from typing import NamedTuple

VERBS = {
    "inspect": "List padded nodes and how their padding is written.",
    "rewrite": "Write padding in another form, exactly.",
    "retarget": "Move a model to another framework's padding.",
    "diagnose": "Find the padding that reproduces a reference.",
    "validate": "Prove and run two models, or run one in a runtime or against a reference.",
    "measure": "Learn what a runtime gets wrong by running drawn models.",
    "guard": "Prove what another tool does to a model.",
    "resolve": "Work out a framework's layer: pads, size, ONNX nodes.",
    "port": "Write padded operators as code of a framework.",
    "explain": "Say what a pass, target, form, operator, convention, trap or optimiser is.",
}

_TABLE = """\
models : inspect rewrite retarget : model MODEL|DIR... many
model : diagnose port : model
more : diagnose : model many optional
before : validate : model
after : validate : model optional
target : measure : text words=target
command : guard : words many
framework : resolve : text words=convention
op : resolve : text
name : explain : text optional words=*
word : explain : text optional
--pass passes : rewrite : names NAME many set eg=explicit-pads see=passes words=pass
    A pass, in order. Repeatable.
--to : retarget : text NAME set eg=pytorch see=retarget words=convention
    The convention to move to.
--source : retarget : text NAME set eg=pytorch see=retarget words=convention
    Whose padding it is: settles numbers that can mean several things.
--plan : retarget : existing FILE eg=plan.json see=plans not=to,source
    The padding of single nodes, as JSON; diagnose writes it. '-': from standard input.
--target : inspect : names T many set eg=opencv see=targets words=target
    Say what this runtime does with each node that can pad: a name (onnxruntime, onnxruntime@1.31),
    all, or a runtime of your own (npu.toml; onnxpad explain own-runtime). Repeatable.
--target : rewrite : names T many set eg=opencv see=targets words=target
    Write what this runtime refuses or computes wrongly in a cheap form that it takes: a name
    (openvino, openvino@2024.6), or a runtime of your own (npu.toml; onnxpad explain own-runtime).
    Repeatable: one model that all of them take.
--target : validate : names T many eg=opencv see=targets words=target
    A runtime in which the whole model is run: one that Python can start, or your own (./npu.py, a
    command with {model} {inputs} {outputs}). Repeatable.
--live : inspect rewrite : live [PYTHON] alone=here needs=target
    Ask the runtime itself: cut each distinct padded node out, and run it in this Python, or in
    PYTHON, which has all the runtimes (for onnxruntime-web a folder with node_modules).
--live : validate : live PYTHON alone=here needs=target
    The Python that has the runtime of --target. [default: this one]
--live : measure : live [PYTHON] alone=here
    The Python that has the runtime; a folder with node_modules for one of npm.
--no-cache cache : inspect rewrite : unset
    With --live: read no earlier answers, and keep none.
--no-cache cache : measure : unset
    Run every model, also those run before.
--prefer : rewrite : names PASS many set eg=explicit-pads see=passes words=pass needs=target
    With --target: a pass that counts as free of cost. Repeatable.
--allow-unknown : rewrite : flag set needs=target
    With --target: take for granted what is not known of it.
--require-device : rewrite : flag needs=target
    With --target: rewrite as well what it would leave to the CPU.
--although-unfit : rewrite : flag set needs=target
    With --target: write the model although there is no way for some nodes, and exit 1.
--data : diagnose validate : there PATH many eg=reference.npz not=inputs,outputs
    Inputs and reference: .npz, or a folder test_data_set_*. Repeatable.
--inputs : diagnose : file FILE
    Inputs alone: .npz, .npy.
--outputs : diagnose : file FILE
    The reference alone.
--inputs : validate : file FILE
    Inputs, instead of random ones: .npz, .npy.
--outputs : validate : file FILE needs=inputs
    What BEFORE should compute for --inputs: .npz, .npy.
--in before : guard : text FILE
    The model that it reads.
--out after : guard : text FILE
    The model that it writes.
--input --input-shape input_shape : resolve : sizes N,C,H,W required
    Shape of the input: batch, channels, and one to three sizes.
--weight --weight-shape weight_shape : resolve : sizes M,C,H,W
    Shape of the weight in ONNX layout, instead of --kernel.
--kernel : resolve : numbers K[,K]
    Size of the window.
--stride : resolve : numbers S[,S]
    Stride.
--dilation : resolve : numbers D[,D]
    Dilation.
--groups : resolve : numbers G
    Number of groups.
--padding : resolve : value PADDING
    The framework's padding: SAME, 3, [1,2] ...
--set attributes : resolve : attributes NAME=VALUE many
    An attribute by the framework's own name. Repeatable.
--compare : resolve : layer 'FRAMEWORK_[NAME=VALUE_...]'
    A second framework, and its own attributes.
--as language : resolve : text FRAMEWORK eg=pytorch not=compare
    Print the same layer as code: pytorch (torch) or tensorflow (tf, keras).
--as language : port : text FRAMEWORK required eg=pytorch
    What to write: pytorch (torch) or tensorflow (tf, keras).
--dim dims : inspect rewrite retarget validate guard port : facts FACT many set eg='height%32=0'\
 see=sizes
    What is known of a dimension: height=640, 'height%32=0', or 'images[2]=640' for one without a
    name; 'enc*.onnx:height=640' for some models alone. Repeatable.
--input-shape input_shapes : inspect rewrite retarget validate : shapes NAME:1x3x64x64 many
    The shape of an input that leaves sizes open. Repeatable.
--node nodes : inspect rewrite retarget port : names GLOB many set eg='stem/*'
    Only nodes whose address matches, such as 'stem/*'. inspect prints addresses: the scopes around
    a node, and its name or first output. Repeatable.
--exclude : inspect rewrite retarget validate : globs GLOB many set eg='broken*' see=batches
    Of folders, globs and several models leave out those whose path, name or folder matches, such
    as 'broken*' or old/. Of rewrite also a pass, which is not used. Repeatable.
--ambiguous : inspect rewrite retarget diagnose validate port : auto_pad|pads set
    Whether auto_pad or pads holds where a node has both.
--legacy-split : rewrite : flag set not=validate,certificate
    Read auto_pad and output_shape of ConvTranspose as opsets 1 to 10 have it: the odd cell is
    cropped at the other side. onnxruntime does not, and so cannot judge the result.
--all everything : inspect : flag set
    Show operators that can pad and write no padding as well.
--all everything : port : flag set
    Write operators that can pad and write no padding as well.
--all everything : explain : flag set
    Every operator of every rule of a target, and how each is known; without NAME a line for each
    entry.
--each : inspect : flag set
    Show findings that are alike one by one; of many models, name every node that fails.
--each : rewrite retarget : flag set
    Name every node of one model, also where many are alike.
--failing : inspect : flag set
    List only models that fail, a line for each, and count all; without a target, traps fail.
--fail-on : inspect : fallback|unknown|refused|wrong|trap many set
    Exit 1 where a target does this to a node, or worse: fallback (it leaves the node to the CPU),
    unknown, refused, wrong. [default: refused] trap: where a node is in a trap. Repeatable.
--baseline : inspect : file-name FILE set
    A file of known findings, a line for each: they do not count for the exit code.
--write-baseline : inspect : flag needs=baseline not=prune_baseline,nodes
    Write what fails now into the --baseline FILE, and exit 0.
--prune-baseline : inspect : flag needs=baseline not=nodes
    Drop from the --baseline FILE what is gone, and accept nothing new.
--sarif : inspect : flag not=as_json
    Print SARIF 2.1.0 about the targets, or about traps where there is none.
--schema : explain : text VERB not=name
    Print the JSON Schema (2020-12) of what the verb prints with --json.
--reproduce : inspect : text NODE needs=target,output
    Write this node, with an input, the expected output and a script for the --target, into -o DIR.
--reproduce : guard : folder DIR
    Where the models differ: write the changed part in both forms, and inputs that show it.
--reproduce : explain : text ROW needs=name,output
    Write a model, an input, the expected output and a script that show this fact into -o DIR.
-o output : inspect : text DIR eg=folder needs=reproduce
    The folder for --reproduce.
-o output : explain : text DIR eg=folder needs=reproduce
    The folder to write into.
-o --output : rewrite retarget : model OUT|DIR/ eg=out.onnx not=in_place
    File or folder to write.
-o --output : measure : text FILE.toml eg=npu.toml
    The target file to write.
--in-place : rewrite retarget : flag
    Overwrite the models.
--check : rewrite retarget : flag
    Write nothing; exit 1 if anything would change.
--dry-run : rewrite retarget : flag
    Write nothing; print the edits.
--strict : rewrite retarget : flag set
    Write nothing and exit 1 if a node is skipped.
--validate : rewrite : flag set
    Prove and run both models first; write only if they agree.
--validate : retarget : flag set
    Run both models and show how far outputs move.
--certificate : rewrite : model FILE
    Write only if both models are proved the same, and record what was proved of which bytes.
--certificate : validate : file FILE
    Prove again what rewrite --certificate wrote of these two files, at other random points.
--counterexample : validate : model FILE
    Where the proof finds a difference: write inputs that show it, .npz.
--plan : diagnose : new FILE eg=plan.json see=plans
    Write what to change, for retarget --plan. '-': to standard output.
--nearest : diagnose : flag needs=plan
    With --plan: where nothing explains the reference, write what comes nearest.
--budget : diagnose : seconds SECONDS set default=120
    End the search after so many seconds; what came nearest is told all the same.
--html : inspect rewrite retarget diagnose validate guard : model FILE
    Write the report as a page with pictures as well: one file that loads nothing. Needs jinja2.
--html : explain : text DIR not=name,schema,reproduce,output
    Write everything as pages that need no network. Needs jinja2.
--proof-only : validate : flag set not=run_only
    Run nothing: prove that both are the same function for all inputs and sizes, or refute it.
--run-only : validate : flag set
    Prove nothing: say what runs show.
--device : inspect : cuda|cpu set
    Say where onnxruntime runs each padded node; exit 1 where one leaves the GPU.
--device : rewrite retarget diagnose validate guard : auto|cuda|cpu set default=auto
    Where onnxruntime runs the models. cuda fails where there is none.
--count : measure : count N
    How many models are drawn, besides those of the conformance table. [default: 4000]
--samples : rewrite retarget validate guard : count N set
    How many random inputs are tried. [default: 3, or 1 where both models are proved]
--seed : rewrite retarget validate guard : seed N set default=0
    Seed of the random inputs.
--seed : measure : seed N set default=0
    Seed of the drawn models.
--atol : diagnose validate : tolerance A
    Runs agree where |a - b| <= A + R * |b|, b of the reference or of the first model. [default: a
    bound that follows from the arithmetic; it is told beside]
--rtol : diagnose validate : tolerance R
    The same, relative to b.
--tf32 : validate : flag set
    Let CUDA round convolution inputs to 10 bits.
--timeout : inspect rewrite retarget diagnose validate guard port : seconds SECONDS
    How long onnxruntime or a proof may take before it is ended. [default: 60 for running models,
    and 1 more for each MB of them; for a proof 60 of CPU time]
--timeout : measure : seconds SECONDS
    How long one model may take on the runtime. [default: 10]
--memory : inspect rewrite retarget diagnose validate guard port : memory SIZE
    How much memory they may take, such as 4G. [default: 2G for running models, and 32 bytes more
    for each byte of them]
-j --jobs : inspect rewrite retarget validate : count N default=1
    How many models are worked on at once, each in a process of its own.
--dask : inspect rewrite retarget validate : text ADDRESS
    Use the workers of this Dask scheduler (tcp://host:8786), which have to see the same files.
--json as_json : all : flag
    Print JSON, one line per report.
-q --quiet : all : flag not=verbose
    Print errors, and what --json and the like ask for, and no report for people.
-v --verbose : all : flag
    Say on standard error what is being done, and after how many seconds.
"""


class Option(NamedTuple):
    """A row of the table.

    spellings: what is typed; the name in capitals for an argument.
    name: what the verb calls the value.
    metavar: the placeholder of --help, "" for that of the kind.
    more: the other words of the column VALUE, by their names; "" for those without a value.
    """

    spellings: tuple[str, ...]
    name: str
    verbs: tuple[str, ...]
    kind: str
    metavar: str
    more: dict[str, str]
    help: str

    @property
    def is_argument(self) -> bool:
        """Whether its place says what it is."""
        return not self.spellings[0].startswith("-")

    @property
    def setting(self) -> str:
        """The name of the option in pyproject.toml."""
        return self.spellings[-1].lstrip("-")

    def names(self, key: str) -> list[str]:
        """Names of options that stand in the table under `key`."""
        return [name for name in self.more.get(key, "").split(",") if name]


_RUNS = "data inputs outputs device samples seed tf32 atol rtol"
_IDLE = f"""\
rewrite retarget : device samples seed : -validate : only --validate runs models
validate : data outputs certificate : target : --target runs the model itself
validate : samples seed atol rtol device tf32 ambiguous : target -after : --target runs the model\
 itself on samples of its own
validate : {_RUNS} dims input_shapes ambiguous run_only : certificate : --certificate says what is\
 proved
validate : {_RUNS} : proof_only : --proof-only runs no model
validate : counterexample : run_only : --run-only proves nothing
validate : counterexample run_only : -after : a reference is compared by running
validate : samples seed : inputs : --inputs says what the models run on
validate : samples seed : data : --data says what the models run on
validate : data inputs outputs counterexample certificate input_shapes : many : each pair of models\
 is compared on inputs of its own
validate : exclude : -many : it leaves out models of folders
"""
_ATTRIBUTE = re.compile("([a-z]+)(?:=(.+))?")


def _rows(table: str) -> list[Option]:
    rows: list[Option] = []
    for line in table.splitlines():
        if line.startswith(" "):
            rows[-1] = rows[-1]._replace(help=f"{rows[-1].help} {line.strip()}".strip())
            continue
        spelling, verbs, value = line.split(" : ")
        *spellings, name = spelling.split()
        if name.startswith("-") or not spellings:
            spellings.append(name if name.startswith("-") else name.upper())
            name = name.lstrip("-").replace("-", "_")
        kind, *words = value.split()
        more: dict[str, str] = {}
        metavar = ""
        for word in words:
            if attribute := _ATTRIBUTE.fullmatch(word):
                more[attribute[1]] = attribute[2] or ""
            else:
                metavar = word.replace("_", " ")
        of = tuple(VERBS) if verbs == "all" else tuple(verbs.split())
        rows.append(Option(tuple(spellings), name, of, kind, metavar, more, ""))
    return rows


OPTIONS = _rows(_TABLE)
IDLE = [line.split(" : ") for line in _IDLE.splitlines()]
"""Verbs, options that do nothing, what makes it so (`-`: its absence), and the reason."""


def options_of(verb: str) -> dict[str, Option]:
    """The rows of a verb by name, in the order of the table."""
    return {row.name: row for row in OPTIONS if verb in row.verbs}
