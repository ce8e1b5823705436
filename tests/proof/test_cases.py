"""Models as text, and what the kernel says of each beside the first (cases/*.txt).

`@` is the hole in a graph, `{12 numbers}` are so many, and NUMBERS declares every c3 (3) and m3
(-3) that the graph reads. `unproved` and `unrefuted` are said of both directions.
"""

import re
from pathlib import Path

import onnx
import pytest

from onnxpad.proof import Limits, Proof, prove
from tests.proof.small_models import text

KEY = re.compile(
    r"^(before|dims|opset|reading|because|\w*proved|\w*refuted|(?:itself )?undecided):"
)
CASES = [
    case
    for path in sorted((Path(__file__).parent / "cases").glob("*.txt"))
    for case in path.read_text().split("== ")[1:]
]


def weights(count: int) -> str:
    return ", ".join(str((at * 7) % 5 - 2.0) for at in range(count))


def model(graph: str, part: str, opset: int) -> onnx.ModelProto:
    body = re.sub(r"@(?!\w)", lambda _: part, graph)
    read = sorted(set(re.findall(r"\b([cm])(\d+)\b", body)))
    numbers = [f"int64[1] {sign}{one} = {{{'-' * (sign == 'm')}{one}}}" for sign, one in read]
    body = body.replace("NUMBERS", ", ".join(numbers))
    return text(re.sub(r"(\d+) numbers", lambda one: weights(int(one[1])), body), opset)


@pytest.mark.parametrize("case", CASES, ids=[case.partition("\n")[0] for case in CASES])
def test_verdicts(case: str) -> None:
    lines = case.splitlines()[1:]
    first = next(at for at, line in enumerate(lines) if KEY.match(line))
    graph, opset, before, proof = "\n".join(lines[:first]), 18, "", Proof("undecided")
    dims: dict[str, int | str] = {}
    for line in filter(None, lines[first:]):
        key, _, part = (one.strip() for one in line.partition(":"))
        match key:
            case "before":
                before = part
            case "opset":
                opset = int(part)
            case "dims":
                given = dict(one.split("=", 1) for one in part.split(", "))
                dims = {name: int(one) if one.isdigit() else one for name, one in given.items()}
            case "reading":
                assert "; ".join(proof.readings) == part, line
            case "because":
                assert part in proof.reason, line
            case "unproved" | "unrefuted":
                pair = model(graph, before, opset), model(graph, part, opset)
                for one, other in (pair, pair[::-1]):
                    limits = Limits(seconds=1, slowdown=1000)  # some would take long
                    proof = prove(one, other, dims=dims, limits=limits)
                    assert proof.verdict != key.removeprefix("un"), line
            case _:
                start = part if key.startswith("itself") else before
                pair = model(graph, start, opset), model(graph, part, opset)
                proof = prove(*pair, dims=dims)
                assert proof.verdict == key.removeprefix("itself "), f"{line}\n{proof}"
