"""Where there is no way for a node, what a user can add to the request is said, and was tried."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import onnx
import pytest

from onnxpad.cli import run
from onnxpad.inspection import inspect
from onnxpad.padding.effective_pads import told_in
from onnxpad.rewriting.rewrite import rewrite
from onnxpad.runtimes.targets import all_targets
from tests.benchmarks.networks import Network
from tests.cli.processes import DYNAMIC, MODELS
from tests.models.text import text_model
from tests.rewriting.for_target.test_search import CONV, PADDED, model_of

ALONE = """<ir_version: 8, opset_import: ["" : 20]>
g (float[1,2,8,8] x) => (float[1,2,9,9] y) <int64[8] p = {0,0,0,0,0,0,1,1}> {
  b = Neg(x)
  [pad] a = Pad<mode="constant">(b, p)
  y = Neg(a)
}"""
BATCH = """<ir_version: 8, opset_import: ["" : 15]>
g (float[n,2,16,16] x) => (float[a,b,c,d] y) <float[2,2,3,3] w> {
  [first] a0 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x, w)
  [pool] a1 = MaxPool<auto_pad="SAME_UPPER", kernel_shape=[2,2], strides=[1,1]>(a0)
  [lower] a2 = Conv<auto_pad="SAME_LOWER", kernel_shape=[3,3], strides=[1,1]>(a1, w)
  [plain] y = Conv<kernel_shape=[3,3], strides=[1,1]>(a2, w)
}"""
POOLS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,2,h,w0] x) => (float[a,b,c,d] y) <float[2,2,3,3] w> {
  [first] a0 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3]>(x, w)
  r0 = Relu(a0)
  [pool] a1 = MaxPool<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(r0)
  [lower] a2 = Conv<auto_pad="SAME_LOWER", kernel_shape=[3,3]>(a1, w)
  r1 = Relu(a2)
  [mean] a3 = AveragePool<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(r1)
  [last] y = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3]>(a3, w)
}"""
SIZES = BATCH.replace("n,2,16,16", "n,2,h,w0")
BRANCHES = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,2,h,w0] x, bool c) => (float[a,b,e,d] y) <float[2,2,3,3] w> {
  [first] a0 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3]>(x, w)
  [choice] y = If (c) <
    then_branch = t () => (float[a,b,e,d] u) { u = Relu(a0) },
    else_branch = f () => (float[a,b,e,d] v) { v = Neg(a0) }>
}"""
Captured = pytest.CaptureFixture[str]
YOLO = MODELS / "k_yolo_tiny_op15.onnx"
OPEN = CONV.replace("float[1,2,8,8]", "float[n,2,h,w]").replace("float[1,3,4,4]", "float[a,b,c,d]")


def test_divisors_that_settle_the_nodes_are_named(capsys: Captured) -> None:
    assert run(["rewrite", str(DYNAMIC), "--target", "opencv", "--check"]) == 1
    shown = capsys.readouterr().out
    facts = "--dim 'unk__9105%4=0' --dim 'unk__9106%4=0'"
    assert f"try: {facts} settles all 2" in shown
    assert "try: --allow-unknown, which " in shown
    given = ["--dim", "unk__9105%4=0", "--dim", "unk__9106%4=0"]
    assert run(["rewrite", str(DYNAMIC), "--target", "opencv", "--dry-run", *given]) == 0


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    onnx.save(model_of(BATCH), tmp_path / "batch.onnx")
    return tmp_path / "batch.onnx"


@pytest.fixture
def sizes(tmp_path: Path) -> Path:
    onnx.save(model_of(SIZES), tmp_path / "sizes.onnx")
    return tmp_path / "sizes.onnx"


def settles(path: Path, stuck: int, name: str) -> None:
    done = rewrite(path, target="ncnn")
    assert done.fitting is not None
    opening = done.fitting.opening
    assert (opening.stuck, opening.settled) == (stuck, stuck)
    assert dict(opening.facts)[name] == 1
    after = rewrite(path, target="ncnn", dims=dict(opening.facts))
    assert after.fitting is not None
    assert after.fitting.no_way == ()


def test_what_is_named_does_settle_it(batch: Path) -> None:
    settles(batch, 4, "n")


@pytest.mark.sweep
def test_what_is_named_does_settle_a_real_model() -> None:
    settles(YOLO, 10, "unk__9836")


def test_the_state_before_is_not_changed_by_trying() -> None:
    model = model_of(OPEN)
    before = model.SerializeToString()
    done = rewrite(model, target="opencv")
    assert done.fitting is not None
    assert dict(done.fitting.opening.facts) == {"h": "%2=0", "w": "%2=0"}
    assert done.fitting.opening.granted == 1
    assert not done.changed
    assert model.SerializeToString() == before


def test_fixed_sizes_leave_nothing_to_say(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(model_of(PADDED), path)
    assert run(["rewrite", str(path), "--target", "qnn", "--check"]) == 1
    assert "try:" not in capsys.readouterr().out


def test_inspect_says_the_same(batch: Path, capsys: Captured) -> None:
    assert run(["inspect", str(batch), "--target", "ncnn"]) == 1
    shown = capsys.readouterr().out
    assert shown.splitlines().count("Batch size is open; ncnn takes only 1.") == 1
    assert "\ntry: --dim 'n=1' settles all" in shown
    assert "left as it is" not in shown
    assert run(["inspect", str(batch), "--target", "ncnn", "--all"]) == 1
    rows = [line for line in capsys.readouterr().out.splitlines() if "only batch 1 here" in line]
    assert len(rows) == 3
    assert all(line.endswith("left as it is") for line in rows)
    assert "batch size is open; ncnn supports only batch 1 here. Add --dim 'n=1'" in rows[0]


LOSES = """<ir_version: 8, opset_import: ["" : 15]>
g (float[n,1,8,8] x, int64[4] s) => (float y) <float[1,1,1,1] w = {2}> {
  a = Conv<kernel_shape=[1,1]>(x, w)
  r = Reshape(a, s)
  k = Relu(r)
  y = Conv<kernel_shape=[1,1]>(k, w)
}"""
KEEPS = LOSES.replace(", int64[4] s)", ")").replace("{2}>", "{2}, int64[4] s = {-1,1,8,8}>")


def test_no_dead_end_behind_what_loses_the_batch(capsys: Captured, tmp_path: Path) -> None:
    """What --dim settles needs no word about the Reshape; what it does not names it."""
    path = tmp_path / "m.onnx"
    behind = "Batch size is not known behind Reshape 'r'; ncnn takes only 1."
    add = "Batch size is open; ncnn takes only 1."

    def says(text: str, *options: str) -> set[str]:
        onnx.save(model_of(text), path)
        run(["rewrite", str(path), "--target", "ncnn", "--check", *options])
        lines = capsys.readouterr().out.splitlines()
        return {line for line in lines if "batch" in line.lower()}

    assert says(KEEPS) == {add}
    assert says(KEEPS, "--dim", "n=1") == set()
    assert says(LOSES) == {add, behind}
    assert says(LOSES, "--dim", "n=1") == {behind}
    (granted,) = says(LOSES, "--dim", "n=1", "--allow-unknown")
    assert granted.startswith("taken for granted: ncnn, Conv 'y': batch size is not known behind")


def test_a_batch_of_an_unnamed_dimension_is_quoted(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(model_of(KEEPS.replace("float[n,1,8,8] x", "float[?,1,8,8] x")), path)
    run(["rewrite", str(path), "--target", "ncnn", "--check"])
    assert "\ntry: --dim 'x[0]=1' settles" in capsys.readouterr().out


def test_inspect_names_the_form_that_is_only_not_known(sizes: Path, capsys: Captured) -> None:
    assert run(["inspect", str(sizes), "--target", "opencv"]) == 1
    shown = capsys.readouterr().out
    assert "with --dim 'h%2=0' --dim 'w0%2=0': explicit-pads; runtime-pads with --allow" in shown
    assert "no way" not in shown
    assert "may compute wrong numbers: OpenCV pads SAME" in shown
    record = inspect(sizes, target="opencv").to_json()
    assert record["openings"]["opencv"]["dims"] == {"h": "%2=0", "w0": "%2=0"}


def test_an_opset_comes_with_its_cure(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(model_of(ALONE), path)
    only = ["--node", "*"]  # of some nodes alone the opset stays
    only += ["--exclude", "clipped-pads"]
    assert run(["rewrite", str(path), "--target", "portable", "--check", *only]) == 1
    assert "  try     export the model with opset 17 or older" in capsys.readouterr().out


@pytest.mark.sweep
def test_sizes_that_the_file_must_fix_are_written_into_it(
    sizes: Path, tmp_path: Path, capsys: Captured
) -> None:
    asked = ["rewrite", str(sizes), "--target", "qnn"]
    assert run([*asked, "--check"]) == 1
    shown = capsys.readouterr().out
    assert "or give the model's inputs fixed sizes" in shown
    (facts,) = re.findall("^try: (--dim .*) settles all 4$", shown, re.MULTILINE)
    assert run([*asked, *shlex.split(facts), "-o", str(tmp_path / "out.onnx")]) == 0
    (given,) = onnx.load(tmp_path / "out.onnx").graph.input
    assert all(one.HasField("dim_value") for one in given.type.tensor_type.shape.dim)


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["qnn", "portable", "onnx2keras"])
def test_numbers_are_written_where_the_target_takes_fixed_sizes_alone(
    target: str, sizes: Path
) -> None:
    dims: dict[str, int | str] = {"n": 1, "h": 64, "w0": 64}
    done = rewrite(sizes, target=target, dims=dims)
    assert done.fitting is not None
    assert not any("leaves a size" in one.judgement.reason for one in done.unfit)
    assert (
        "the sizes of --dim are written into the model: n=1, h=64, w0=64" in done.fitting.prepared
    )
    assert isinstance(done.model, onnx.ModelProto)
    (given,) = done.model.graph.input
    assert all(dim.HasField("dim_value") for dim in given.type.tensor_type.shape.dim)
    kept = rewrite(sizes, target=target, dims=dims | {"h": "%32=0"})
    assert any("leaves a size" in one.judgement.reason for one in kept.unfit)


@pytest.mark.sweep
def test_facts_help_where_only_same_hangs_on_sizes() -> None:
    done = rewrite(DYNAMIC, target="burn")
    assert done.fitting is not None
    assert done.fitting.opening.settled > 0
    after = rewrite(DYNAMIC, target="burn", dims=dict(done.fitting.opening.facts))
    assert len(after.unfit) == len(done.unfit) - done.fitting.opening.settled


@pytest.mark.sweep
@pytest.mark.parametrize("given", [{}, {"N": 1}], ids=["nothing is known", "the batch is known"])
def test_divisors_that_settle_computed_pads_are_named(given: dict[str, int]) -> None:
    net = Network()
    net.shape = ("N", 3, "H", "W")
    for stride in (2, 1, 4):
        net.same_conv(4, 5, stride)
    model = net.model()
    stuck = rewrite(model, target="ncnn", dims=given)
    assert stuck.fitting is not None
    assert stuck.unfit
    opened = stuck.fitting.opening
    assert {**opened.dims, **given} == {"N": 1, "H": "%8=0", "W": "%8=0"}
    assert opened.settled == opened.stuck
    assert not rewrite(model, target="ncnn", dims={**given, **opened.dims}).unfit


def test_every_computed_pad_that_the_divisors_settle_says_so() -> None:
    """Also where it is computed from sizes that nothing tells until those before it are known."""
    net = Network()
    net.shape = ("N", 3, "H", "W")
    net.same_conv(4, 5, 2)
    net.same_conv(4, 3, 4)
    found = inspect(net.model())
    hints = [node.hints[-1] for node in found.nodes if node.pads is None]
    assert hints == ["--dim 'H%8=0' --dim 'W%8=0'"] * 2


def test_rewrite_names_the_way_that_sizes_open(sizes: Path, capsys: Captured) -> None:
    assert run(["rewrite", str(sizes), "--target", "opencv", "--check"]) == 1
    shown = capsys.readouterr().out
    assert "no way" not in shown
    assert "not as it is: opencv, Conv 'first': opencv may compute wrong numbers: " in shown
    with_sizes = "--dim 'h%2=0' --dim 'w0%2=0', with which explicit-pads writes it"
    assert f"  try     {with_sizes}\n" in shown


TORCH = Network()
TORCH.shape = ("N", 3, "h", "W")
for _stride in (2, 1, 4):
    TORCH.same_conv(4, 5, _stride)


@pytest.mark.sweep
@pytest.mark.parametrize("given", ["h%3=0", "h%3=1", "h%2=1"])
@pytest.mark.parametrize(
    ("name", "target"), [("same", ""), ("same", "opencv"), ("computed", "ncnn")]
)
def test_hints_agree_with_what_is_given(
    given: str, name: str, target: str, capsys: Captured, tmp_path: Path
) -> None:
    """The example sizes, too; and the command that is printed as the next one can be typed."""
    path, known = tmp_path / "m.onnx", told_in(f"--dim '{given}'")["h"]
    onnx.save(model_of(STRIDED) if name == "same" else TORCH.model(), path)
    options = ["--dim", given, *(["--target", target] if target else [])]
    run(["inspect", str(path), *options])
    shown = capsys.readouterr().out
    hints = [line for line in shown.splitlines() if "--dim 'h" in line]
    assert hints
    for hint in hints:
        fact = told_in(hint)["h"]
        assert fact.and_also(known) == fact, hint
    (typed,) = (line for line in hints if line.startswith("next: "))
    words = shlex.split(typed.removeprefix("next: onnxpad "))
    assert run([str(tmp_path / "out.onnx") if word == "OUT" else word for word in words]) == 0
    run(["rewrite", str(path), "--check", *options])
    for line in capsys.readouterr().out.splitlines():
        for part in re.split(r", or | or |, ", line if "try" in line else ""):
            facts = told_in(part)
            assert "h" not in facts or facts["h"].and_also(known) == facts["h"], line


STRIDED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,h,16] x) => (float[a,b,c,d] y) <float[2,2,3,3] w> {
  [first] a0 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x, w)
  [second] a1 = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(a0, w)
  [third] y = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(a1, w)
}"""


@pytest.mark.parametrize(
    ("given", "settles"), [({}, "%8=0"), ({"h": "%4=0"}, "%8=0"), ({"h": "%4=2"}, "%8=2")]
)
def test_a_weaker_fact_is_made_stronger(given: dict[str, str], settles: str) -> None:
    computed = rewrite(model_of(STRIDED), passes="runtime-pads").model
    found = rewrite(computed, target="ncnn", dims=given).fitting
    assert found is not None
    assert found.opening is not None
    assert found.opening.dims == {"h": settles}
    assert found.opening.writes
    assert rewrite(computed, target="ncnn", dims={"h": settles}).stuck == ()


def test_hints_with_commas_have_a_separator(capsys: Captured, tmp_path: Path) -> None:
    onnx.save(TORCH.model(), tmp_path / "m.onnx")
    run(["rewrite", str(tmp_path / "m.onnx"), "--target", "ncnn", "--check"])
    shown = capsys.readouterr().out
    assert ", with which absorb-pad writes it; or give every size with --dim" in shown


def test_what_a_pass_writes_is_not_called_as_it_is(capsys: Captured, tmp_path: Path) -> None:
    onnx.save(model_of(STRIDED), tmp_path / "m.onnx")
    options = ["--pass", "explicit-pads", "--target", "opencv"]
    run(["rewrite", str(tmp_path / "m.onnx"), *options, "--check"])
    assert "  try     --dim 'h%8=0', with which opencv takes it\n" in capsys.readouterr().out


def test_no_rewrite_has_a_reason_for_the_nodes_that_are_left(
    capsys: Captured, tmp_path: Path
) -> None:
    """Not those that a size settles: the first Conv is written with explicit pads then."""
    dilated = (
        SIZES.replace(
            "kernel_shape=[3,3], strides=[1,1]>(a1, w)",
            "kernel_shape=[3,3], strides=[2,2], dilations=[2,2]>(a1, given)",
        )
        .replace("w0] x)", "w0] x, float[2,2,3,3] given)")
        .replace(
            'auto_pad="SAME_LOWER", kernel_shape=[3,3], strides=[2,2]',
            "kernel_shape=[3,3], strides=[2,2]",
        )
    )
    onnx.save(model_of(dilated), tmp_path / "m.onnx")
    assert run(["inspect", str(tmp_path / "m.onnx"), "--target", "tflite"]) == 1
    shown = capsys.readouterr().out
    assert "no rewrite for tflite is known: no way for 'lower'" in shown
    assert "a stride is above 1, and a dilation is above 1; its weight is no constant" in shown


def test_what_is_left_as_it_is_keeps_nothing_from_being_written(
    capsys: Captured, tmp_path: Path
) -> None:
    """Of a window that does not fit its input nothing is known; the other node has a way."""
    small = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,1,4,4] x) => (float[1,1,a,b] y) <float[1,1,3,3] w> {
      [same] s = Conv<auto_pad="SAME_UPPER", kernel_shape=[3,3], strides=[2,2]>(x, w)
      [short] y = Conv<kernel_shape=[3,3]>(s, w)
    }"""
    onnx.save(model_of(small), tmp_path / "m.onnx")
    assert run(["inspect", str(tmp_path / "m.onnx"), "--target", "opencv"]) == 1
    shown = capsys.readouterr().out
    assert "unknown 1, miscomputes 1" in shown
    (line,) = (line for line in shown.splitlines() if line.startswith("next: onnxpad "))
    words = shlex.split(
        line.removeprefix("next: onnxpad ").replace("OUT", str(tmp_path / "o.onnx"))
    )
    assert run(words) == 0
    assert (tmp_path / "o.onnx").exists()


def test_what_would_leave_nothing_written_is_not_offered(tmp_path: Path, capsys: Captured) -> None:
    """Taking for granted what is not known settles one of the nodes that are in the way alone."""
    path = tmp_path / "pools.onnx"
    onnx.save(model_of(POOLS), path)
    assert run(["rewrite", str(path), "--target", "ncnn", "--check"]) == 1
    shown = capsys.readouterr().out
    assert "try: --dim 'n=1' --dim 'h%4=0' --dim 'w0%4=0' settles all 5" in shown
    assert run(["rewrite", str(path), "--target", "ncnn", "--check", "--allow-unknown"]) == 1
    assert "allow-unknown" not in shown


@pytest.mark.sweep
@pytest.mark.parametrize("text", [SIZES, OPEN])
def test_what_was_tried_is_not_in_the_model(text: str, tmp_path: Path) -> None:
    """A file's model is worked on in place; facts that the user did not give must not reach it."""
    path = tmp_path / "m.onnx"
    onnx.save(model_of(text), path)
    given = onnx.load(path)
    for target in all_targets():
        assert rewrite(path, target=target).model == rewrite(given, target=target).model, target


@pytest.mark.parametrize("shape", ["-1,4,4,4", "0,4,4,4"])
def test_a_batch_that_a_reshape_hides_is_one_of_the_inputs(shape: str) -> None:
    model = text_model(
        "a = Reshape (z, s) y = ConvTranspose <pads = [0,0,1,1], strides = [2,2]> (a, w)",
        "float[n,64] z",
        outputs="float[a,b,c,d] y",
        constants=f"int64[4] s = {{{shape}}}, float[4,1,2,2] w = {{{','.join(['1'] * 16)}}}",
        opset=13,
    )
    found = rewrite(model, target="ncnn")
    assert found.fitting is not None
    assert found.fitting.opening.facts == (("n", 1),)
    assert not rewrite(model, target="ncnn", dims={"n": 1}).unfit


def test_facts_that_lead_to_no_model_are_no_try(tmp_path: Path, capsys: Captured) -> None:
    """An If stays whatever is said of sizes."""
    onnx.save(model_of(BRANCHES), tmp_path / "branches.onnx")
    run(["inspect", str(tmp_path / "branches.onnx"), "--target", "ncnn"])
    shown = capsys.readouterr().out
    assert "no rewrite for ncnn is known: no way for 'choice'" in shown
    assert "\ntry: " not in shown
    assert "would settle 1 of the 2; nothing is written even so\n" in shown


@pytest.mark.parametrize("text", [SIZES, OPEN])
def test_sizes_that_the_target_pads_for_itself_are_not_asked_for(text: str) -> None:
    """SAME is what ncnn takes as it is, at any size; opencv does not."""
    found = {name: rewrite(model_of(text), target=name).fitting for name in ("ncnn", "opencv")}
    asked = {name: one.opening.dims for name, one in found.items() if one}
    assert asked["ncnn"] == {"n": 1}
    assert set(asked["opencv"].values()) == {"%2=0"}
    assert rewrite(model_of(text), target="ncnn", dims={"n": 1}).unfit == ()
