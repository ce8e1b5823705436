"""onnxpad resolve on the command line."""

from __future__ import annotations

import json

import pytest

from onnxpad.cli import run
from onnxpad.cli.resolve import parse_value

Captured = pytest.CaptureFixture[str]
CONV = ["resolve", "tensorflow", "conv", "--input", "1,3,224,224", "--kernel", "7", "--stride", "2"]
SAME = [*CONV, "--padding", "SAME"]
POOL = ["resolve", "caffe", "max_pool", "--input", "1,64,112,112", "--kernel", "3", "--stride", "2"]


def test_one_layer(capsys: Captured) -> None:
    assert run(SAME) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("tensorflow conv [1, 3, 224, 224] -> [1, ?, 112, 112]\n")
    assert "2     224    k7 s2   2,3   112\n" in shown
    assert "onnx     Conv(kernel_shape=[7, 7], strides=[2, 2], pads=[2, 2, 3, 3])\n" in shown
    assert "known    TensorFlow 2.21 measured" in shown


def test_json_is_one_line_with_a_schema(capsys: Captured) -> None:
    assert run([*SAME, "--json", "--as", "pytorch"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\n") == 1
    found = json.loads(shown)
    assert found["schema"] == 1
    assert found["pads"] == [2, 2, 3, 3]
    assert found["nodes"][0]["op"] == "Conv"
    assert found["code"].startswith("x = F.pad(x, (2, 3, 2, 3))")


def test_code_to_paste(capsys: Captured) -> None:
    assert run([*SAME, "--as", "pytorch"]) == 0
    assert capsys.readouterr().out.endswith(
        "in pytorch:\n  x = F.pad(x, (2, 3, 2, 3))\n  x = F.conv2d(x, weight, bias, stride=2)\n"
    )


def test_two_frameworks(capsys: Captured) -> None:
    assert run([*SAME, "--compare", "pytorch padding=3"]) == 0
    shown = capsys.readouterr().out
    assert "tensorflow and pytorch differ in 12544 of 12544 cells of each channel\n" in shown
    assert "  axis 2: 0 to 111, the first window starts at -2 and -3\n" in shown
    assert run([*POOL, "--compare", "pytorch"]) == 0
    shown = capsys.readouterr().out
    assert "caffe and pytorch give 56x56 and 55x55 cells\n" in shown
    assert (
        "differ in 0 of 3025 cells of each channel that both have\n  axis 2: 55 in caffe only\n"
        in shown
    )
    assert run([*POOL, "--compare", "pytorch ceil_mode=true", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differing_cells"] == 0
    assert run([*POOL, "--compare", "pytorch ceil_mode=true"]) == 0
    assert "give the same for every input" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "pads"),
    [
        (["torch7", "conv", "--kernel", "3,5", "--padding", "[1,2]"], [1, 2, 1, 2]),
        (["mpsgraph", "conv", "--kernel", "3", "--padding", "TF_SAME"], [1, 1, 1, 1]),
        (["onnx", "conv", "--weight", "4,3,3,3", "--padding", "[1,0,0,2]"], [1, 0, 0, 2]),
        (["onnx", "conv", "--kernel", "3", "--padding", "SAME_LOWER"], [1, 1, 1, 1]),
        (
            ["cntk", "conv", "--kernel", "2", "--set", "auto_padding=[False,True,True]"],
            [0, 0, 1, 1],
        ),
        (["caffe", "max_pool", "--kernel", "3", "--set", "pad_h=1"], [1, 0, 1, 0]),
        (["paddle", "max_pool", "--kernel", "3", "--set", "padding=[0,1,1,0]"], [0, 1, 1, 0]),
    ],
)
def test_plain_words_reach_the_framework_s_own(
    arguments: list[str], pads: list[int], capsys: Captured
) -> None:
    assert run(["resolve", *arguments, "--input", "1,3,9,9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pads"] == pads


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["resolve", "tensorflow", "conv"], "Missing option '--input'"),
        (["resolve", "tensorflow", "conv", "--input", "1,3,a"], "'1,3,a' is no number or list"),
        ([*CONV, "--set", "padding"], "cannot read 'padding': expected NAME=VALUE"),
        ([*CONV, "--set", "a=1", "--set", "a=2"], "'a' is set twice"),
        ([*CONV, "--set", "pading=SAME"], "did you mean 'padding'"),
        ([*CONV, "--padding", "sam"], "did you mean 'SAME'"),
        ([*CONV, "--compare", " "], "name a framework"),
        ([*SAME, "--compare", "pytorch", "--as", "pytorch"], "--as writes one layer"),
        ([*SAME, "--compare", "pytorch padding"], "cannot read 'padding'"),
        ([*SAME, "--compare", "pytorsh"], "did you mean 'pytorch'"),
        ([*SAME, "--as", "pytorsh"], "no code is written for 'pytorsh'; did you mean 'pytorch'"),
        ([*POOL, "--dilation", "2"], "caffe max_pool has no dilation"),
        ([*POOL, "--weight", "1,1,3,3"], "a pool has no weight"),
        (["resolve", "tf", "conv", "--input", "1,3,8,8", "--kernel", "0"], "the kernel is 0"),
        (["resolve", "tf", "conv", "--input", "5", "--kernel", "3"], "give batch, channels"),
        (["resolve", "tf", "conv", "--input", "1,3,8,8"], "--kernel K, or --weight M,C,K"),
        ([*SAME, "--set", "padding=VALID"], "given twice, as --padding SAME and as padding=VALID"),
        ([*SAME, "--set", "padding=SAME"], "the padding is given twice"),
        ([*SAME, "--set", "strides=1"], "the stride is given twice, as --stride 2"),
        ([*POOL, "--set", "kernel_size=5"], "the kernel is given twice, as --kernel 3"),
        ([*POOL, "--padding", "1", "--set", "pad_h=2"], "the padding is given twice"),
        (
            ["resolve", "pytorch", "conv1d", "--input", "1,3,8", "--kernel", "3,3"],
            "2 values for 1 axis, give one",
        ),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, capsys: Captured) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert message in shown.err


def test_help_has_examples(capsys: Captured) -> None:
    assert run(["resolve", "--help"]) == 0
    assert "onnxpad resolve tensorflow conv --input 1,3,224,224" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("[1, 2]", [1, 2]),
        ("1,2", (1, 2)),
        ("true", True),
        ("False", False),
        ("none", None),
        ("SAME", "SAME"),
        ("[[0,0],[1,1]]", [[0, 0], [1, 1]]),
        ("'3'", "3"),
        ("[1,", "[1,"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert parse_value(text) == value


def test_the_mode_of_a_pad_node_is_printed_as_onnx_has_it(capsys: Captured) -> None:
    command = ["resolve", "pytorch", "conv", "--input", "1,3,9,9", "--kernel", "3"]
    assert run([*command, "--padding", "1", "--set", "padding_mode=reflect"]) == 0
    assert "Pad(mode='reflect', pads=[1, 1, 1, 1])" in capsys.readouterr().out


def test_the_second_framework_may_have_its_own_window(capsys: Captured) -> None:
    command = [*POOL, "--compare", "pytorch kernel_size=5 padding=1", "--json"]
    assert run(command) == 0
    second = json.loads(capsys.readouterr().out)["second"]
    assert [axis["kernel"] for axis in second["axes"]] == [5, 5]


def test_padding_that_is_not_given_is_said(capsys: Captured) -> None:
    assert run(CONV) == 0
    assert "padding  not given: padding='VALID' by default\n" in capsys.readouterr().out
    assert run(["resolve", "darknet", "max_pool", *CONV[3:]]) == 0
    assert "padding  not given: the pads above by default\n" in capsys.readouterr().out
    assert run([*SAME]) == 0
    assert "padding  " not in capsys.readouterr().out
    assert run([*SAME, "--compare", "caffe"]) == 0
    shown = capsys.readouterr().out
    assert (
        "padding  not given: pad=0 by default; that of tensorflow is not carried over: "
        "--compare 'caffe pad=...'\n"
    ) in shown
    assert "  axis 2: 0 to 108, 109 to 111 in tensorflow only, the first window" in shown


def test_channels_last_are_pointed_out(capsys: Captured) -> None:
    last = ["resolve", "tensorflow", "conv", "--input", "1,224,224,3", "--kernel", "3"]
    assert run([*last, "--padding", "SAME"]) == 0
    said = capsys.readouterr().out
    assert "note     sizes are N,C,H,W: 224 are channels here, and 3 are cells\n" in said
    assert run(SAME) == 0
    assert "note  " not in capsys.readouterr().out


def test_channels_that_are_open_have_a_hint(capsys: Captured) -> None:
    assert run(SAME) == 0
    assert "weight   not given: --weight M,C,7,7 says the channels '?'" in capsys.readouterr().out
    weight = ["--weight", "64,3,7,7", "--padding", "SAME"]
    assert run(["resolve", "tf", "conv", "--input", "1,3,224,224", *weight]) == 0
    shown = capsys.readouterr().out
    assert "-> [1, 64, 224, 224]" in shown
    assert "not given" not in shown
