"""What was run: models by kind, and on how many every pass and ordered pair really applied."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations

from onnxpad.rewriting import passes
from tests.random_models.checking import Checked, Failure, Order
from tests.random_models.spec import Spec

EXAMPLES = 6
PAIRS = 25


@dataclass
class Coverage:
    """Counts of a run; `examples` are models that an order of passes applied to."""

    models: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    tried: Counter[Order] = field(default_factory=Counter)
    applied: Counter[Order] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)
    examples: dict[Order, list[Spec]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def add(self, spec: Spec, checked: Checked) -> None:
        self.models[spec.kind] += 1
        self.judged[spec.kind] += checked.judged
        self.tried.update(checked.tried)
        self.applied.update(checked.applied)
        self.excluded.update(checked.excluded)
        self.failures += checked.failures
        for order in checked.applied:
            self._keep(order, [spec])

    def merge(self, other: "Coverage") -> None:
        for name in ("models", "judged", "tried", "applied", "excluded"):
            getattr(self, name).update(getattr(other, name))
        self.failures += other.failures
        for order, specs in other.examples.items():
            self._keep(order, specs)

    def _keep(self, order: Order, specs: list[Spec]) -> None:
        kept = self.examples.setdefault(order, [])
        kept += specs[: EXAMPLES - len(kept)]

    def second(self, order: Order) -> list[str]:
        """Passes to try behind `order`: those that applied least there, then those least tried."""
        names = [name for name in passes.all_passes() if name not in order]

        def score(name: str) -> float:
            pair = (*order, name)
            return self.applied[pair] + self.tried[pair] / 8

        return sorted(names, key=score)[:PAIRS]

    def thin(self, wanted: int) -> list[Order]:
        """Orders that apply to some model and to fewer than `wanted`, the rarest first."""
        rare = [order for order, count in self.applied.items() if count < wanted]
        return sorted(rare, key=lambda order: (self.applied[order], order))

    def never(self) -> list[Order]:
        """Passes and ordered pairs that applied to no model."""
        names = list(passes.all_passes())
        orders = [(name,) for name in names] + list(permutations(names, 2))
        return [order for order in orders if not self.applied[order]]

    def lines(self) -> Iterator[str]:
        """The summary as text."""
        yield f"{'kind':<34} {'models':>7} {'judged':>7} {'not judged':>11}"
        for kind, count in sorted(self.models.items()):
            missing = count - self.judged[kind]
            yield f"{kind:<34} {count:>7} {self.judged[kind]:>7} {missing:>11}"
        total = self.models.total()
        yield f"{'all':<34} {total:>7} {self.judged.total():>7} {total - self.judged.total():>11}"
        yield "\npasses and ordered pairs           applied   tried"
        for order in sorted(self.applied, key=lambda order: (len(order), order)):
            yield f"{' > '.join(order):<34} {self.applied[order]:>7} {self.tried[order]:>7}"
        for order in self.never():
            yield f"{' > '.join(order):<34} not applicable in {self.tried[order]} tries"
        yield "\nknown, not onnxpad's"
        for name, count in self.excluded.most_common():
            yield f"{count:>7}  {name}"
