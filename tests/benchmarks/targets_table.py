"""Of the real models, how many each target takes before and after `rewrite --target`.

python -m tests.benchmarks.targets_table [TARGET ...]     prints a Markdown table

By the facts alone, nothing is run. Sizes that a model leaves open are given as in its sample. A
model is left for padding where the target would take all operators that it does not take if they
padded nothing, and for another reason where it takes one of them not even so: for a number of axes,
a dilation, a type of elements, an operator that it lacks.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import onnxpad
from onnxpad.errors import OnnxpadError
from onnxpad.model.reading.survey import Survey
from onnxpad.padding.chain import NO_PAD, Chain, Pads
from onnxpad.padding.operators import Kind
from onnxpad.rewriting.for_target.report import NodeVerdict
from onnxpad.rewriting.rewrite import Rewriting
from onnxpad.runtimes.conditions.plain_facts import FACTS
from onnxpad.runtimes.judge import judge
from onnxpad.runtimes.targets import find_target
from tests.runtimes.live import RUNTIMES
from tests.runtimes.live.running import Case
from tests.runtimes.targets import corpus

RELEASES = ("openvino@2023.3", "onnxruntime@1.17", "opencv@4.8")
BEFORE, AFTER, PADDING, OTHER, FAILED = (
    "fits before",
    "fits after",
    "left: padding",
    "left: not padding",
    "cannot be read",
)
PADS_BY = ("auto_pad", "ceil_mode", "output_padding", "output_shape", "pads")


def outcome(case: Case, target: str) -> str:
    """The column in which a model counts."""
    try:
        done = onnxpad.rewrite(case.model, target=target, dims=corpus.sizes(case))
    except OnnxpadError:
        return FAILED
    if done.unfit:
        return PADDING if len(list(_for_padding(done, target))) == len(done.unfit) else OTHER
    return AFTER if _failed(done) else BEFORE


def _for_padding(done: Rewriting, target: str) -> Iterator[NodeVerdict]:
    """Those of the nodes in the way that the target would take if they padded nothing."""
    survey = Survey(done.edited)
    chains = {site.address.label: site.chain for site in survey.sites_now()}
    for one in done.unfit:
        chain = chains.get(one.node.label)
        if one.op not in FACTS and chain is not None:
            bare = judge(find_target(target), _unpadded(chain)).answer
            if chain.op.kind is Kind.PAD or not bare.fails:
                yield one


def _unpadded(chain: Chain) -> Chain:
    written = tuple(one for one in chain.attributes if one[0] not in PADS_BY)
    none = (0,) * len(chain.axes)
    around = replace(chain.around, nearest=NO_PAD)
    weight = chain.weight._replace(is_padded=False)
    bare = replace(chain, padding=Pads(none, none), pad=None, far_pad=None, attributes=written)
    bare = replace(bare, weight=weight)
    return replace(bare, ceil_mode=False, output_padding=(), output_shape=(), around=around)


def _failed(done: Rewriting) -> bool:
    plans = done.fitting.plans if done.fitting else ()
    return any(plan.judgement.answer.fails for plan in plans)


def main(targets: Sequence[str]) -> int:
    """Print one row for each target."""
    cases = corpus.cases()
    columns = (BEFORE, AFTER, PADDING, OTHER, FAILED)
    print(f"| target ({len(cases)} models) | {' | '.join(columns)} |")
    print("| --- |" + " ---: |" * len(columns))
    for target in targets:
        found = Counter(outcome(case, target) for case in cases.values())
        print(f"| {target} | {' | '.join(str(found[one]) for one in columns)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [*RUNTIMES, *RELEASES]))
