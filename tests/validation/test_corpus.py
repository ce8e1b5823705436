"""Real exported models against themselves and their frameworks, where the corpus is present."""

from pathlib import Path

import pytest

from tests.validation.runs import validate

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus of exported models")
MODELS = [
    "k_unet_dyn_op13",
    "k_resnet50_v1_op13",
    "t_densenet_dynamo",
    "t_convtranspose_zoo_ts",
    "t_shufflenet_v2_dynamo_op23",
    "t_resnet18_half_ts",
    "t_script_if_loop_ts",
    "t_inception_ts_op11_functions",
]


def path(name: str) -> Path:
    return CORPUS / "models" / f"{name}.onnx"


@pytest.mark.parametrize("name", MODELS)
def test_models_agree_with_their_framework(name: str) -> None:
    values = path(name).with_suffix(".npz")
    report = validate(
        path(name),
        data=values,
        device="cpu",
    )
    assert report.ok, report.reason
    assert not [one for one in report.warnings if "left out" not in one]
