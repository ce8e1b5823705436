"""Each pass on a model of every operator: what it does not mean to change stays as it was."""

from __future__ import annotations

import re

import onnx
import pytest

from onnxpad.model.editing.script import Edit, RemoveConstant
from onnxpad.padding.operators import OPERATORS
from onnxpad.rewriting.passes import Pass, all_passes
from onnxpad.rewriting.rewrite import Rewriting, rewrite
from tests.models.every_operator import NOT_IN_TEXT, every_operator, operators_in
from tests.models.proto_differences import differences

each_pass = pytest.mark.parametrize("rule", all_passes().values(), ids=lambda rule: rule.name)


def test_the_model_has_every_operator() -> None:
    found = {name for _, name in operators_in(every_operator())}
    assert found == {name for _, name in OPERATORS} - NOT_IN_TEXT


def touched(script: tuple[Edit, ...]) -> set[str]:
    """Names of the nodes that a script edits or puts something beside."""
    names = set()
    for edit in script:
        for field in ("node", "before", "reader", "maker"):
            if hasattr(edit, field):
                names.add(getattr(edit, field).label)
    return names


def unexpected(before: onnx.ModelProto, done: Rewriting) -> list[str]:
    """Differences that the script does not account for."""
    assert isinstance(done.model, onnx.ModelProto)
    names = touched(done.script)
    read = {tensor for node in before.graph.node if node.name in names for tensor in node.input} | {
        edit.tensor for edit in done.script if isinstance(edit, RemoveConstant)
    }
    written = {tensor for node in before.graph.node if node.name in names for tensor in node.output}
    found = []
    for line in differences(before, done.model):
        match = re.match(r"graph\.(node|initializer|value_info)\[([^\]]+)\](.*)", line)
        kind, name, rest = match.groups() if match else ("", "", line)
        own = name.split("/")[0] in names | read
        expected = {
            "node": own and not re.match(r"\.(name|doc_string|metadata_props|op_type)", rest),
            "initializer": (rest == ": added" and own) or (rest == ": removed" and name in read),
            "value_info": rest == ": removed" and name in written | read,
        }.get(kind, False)
        if not expected:
            found.append(line)
    return found


@pytest.mark.part(2)
@each_pass
def test_only_what_a_pass_means_to_change_changes_and_a_second_run_changes_nothing(
    rule: Pass,
) -> None:
    if rule.name in ("crop-by-slice", "declared-shapes", "joined-pads", "plain-batches"):
        pytest.skip("a valid model of single operators has nothing for it; other tests have")
    model = every_operator()
    before = model.SerializeToString()
    done = rewrite(model, passes=[rule.name])
    assert done.changed
    assert model.SerializeToString() == before
    assert unexpected(model, done) == []
    for refusal in done.skips:
        assert len(refusal.skip.reason) > 10, refusal
    again = rewrite(done.model, passes=[rule.name])
    assert not again.changed, again.changes
