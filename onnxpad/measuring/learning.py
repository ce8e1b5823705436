"""The learner: the fewest rules of shared words that cover every failure at few false alarms.

A rule costs what its words and its operators cost; a healthy model under it costs as well. The
rule that covers most failures for its cost comes first, until all are covered (a weighted set
cover); then words and rules that buy nothing are dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.padding.chain import Chain
from onnxpad.reports import reported
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.conditions.words import LEARNABLE, Term, Word

MOST_WORDS, _BEAM = 3, 24
"""Words of a rule, and the conjunctions that grow by another word."""
_RULE, _WORD, _NUMBER, _NOT, _OPERATOR = 4.0, 1.0, 1.1, 1.3, 0.4
"""What a rule costs, each of its words, thresholds and negated words, and of its operators."""
_FALSE_ALARM, _OTHER_FAILURE, _DEAD_END = 0.7, 0.05, 1000.0
"""What a healthy model under a rule costs, one that fails in another way, and what a healthy one
costs besides under a rule without words, which leaves no form to write it in."""
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


class Facts(NamedTuple):
    """What the words say of a padded node, in the order of the vocabulary.

    answers: of each word whether it holds, None where that is open or it takes a number.
    values: of each word that takes a number what that is compared with, else nothing.
    """

    chain: Chain
    answers: tuple[bool | None, ...]
    values: tuple[tuple[int, ...], ...]


class Sample(NamedTuple):
    """A model that was run: the facts of its padded nodes, what the runtime did, and said."""

    nodes: tuple[Facts, ...]
    answer: Answer
    message: str = ""

    @classmethod
    def of(
        cls, chains: Sequence[Chain], sized: Sequence[Chain], answer: Answer, message: str = ""
    ) -> Sample:
        """The facts of nodes; what hangs on open sizes is read at the sizes that were run."""
        pairs = zip(chains, sized if len(sized) == len(chains) else chains, strict=True)
        return cls(tuple(_facts(*pair) for pair in pairs), answer, message)


def _facts(chain: Chain, sized: Chain) -> Facts:
    words = LEARNABLE.values()
    plain = [None if one.takes_number else one.holds(chain) for one in words]
    settled = [
        one.holds(sized) if answer is None and not one.takes_number else answer
        for one, answer in zip(words, plain, strict=True)
    ]
    return Facts(sized, tuple(settled), tuple(tuple(one.values(sized)) for one in words))


@reported("operators", "when", "answer", "models", "false_alarms", "message")
class Learned(NamedTuple):
    """A rule: operators (none for all), terms that must all hold, and what the runtime then does.

    models: number of models that fail so under it.
    false_alarms: number of models under it that the runtime computes right.
    samples: places of all models under it among those that it was learned from.
    message: what the runtime said most often of models that fail under this rule alone.
    """

    operators: tuple[str, ...]
    when: tuple[Term, ...]
    answer: Answer
    models: int
    false_alarms: int
    samples: tuple[int, ...] = ()
    message: str = ""

    @property
    def words(self) -> list[str]:
        """The terms as people read them: 'asymmetric', 'not dilated', 'pad_above 3'."""
        return [one if isinstance(one, str) else f"{one[0]} {one[1]}" for one in self.when]


class _Rule(NamedTuple):
    """Places of operators and of literals in the table."""

    operators: tuple[int, ...]
    literals: tuple[int, ...]


def learn(samples: Sequence[Sample]) -> tuple[Learned, ...]:
    """Rules that cover every sample that is not taken."""
    table = _Table(samples)
    learned: list[Learned] = []
    covered = np.zeros(len(samples), bool)
    for answer in (Answer.MISCOMPUTES, Answer.REFUSES, Answer.FALLS_BACK):
        rules = _Cover(table, answer, covered).rules()
        learned += [table.learned(rule, answer) for rule in rules]
        covered = table.covered(rules) | covered
    rules_of = Counter(place for one in learned for place in one.samples)
    return tuple(one._replace(message=_message(one, samples, rules_of)) for one in learned)


def _message(rule: Learned, samples: Sequence[Sample], rules_of: Counter[int]) -> str:
    """The most frequent message; those that differ in numbers alone are one."""
    said = [place for place in rule.samples if samples[place].answer is rule.answer]
    alone = [place for place in said if rules_of[place] == 1]
    texts = [samples[place].message for place in alone or said]
    alike = Counter(re.sub(r"\d+", "", text) for text in texts)
    return max(texts, key=lambda text: alike[re.sub(r"\d+", "", text)], default="")


class _Table:
    """Which literal (row) holds of which node (column); a sample has one node or several."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        nodes = [node for sample in samples for node in sample.nodes]
        self.owner = np.repeat(np.arange(len(samples)), [len(one.nodes) for one in samples])
        self.answers = np.array([sample.answer for sample in samples])
        self.names = tuple(dict.fromkeys(node.chain.op.title for node in nodes))
        self.operator = np.array([self.names.index(node.chain.op.title) for node in nodes])
        self._about = np.arange(len(self.names))[:, None] == self.operator
        self.terms: list[Term] = []
        self.costs: list[float] = []
        rows: dict[bytes, Bools] = {}
        for term, cost, row in _literals(nodes):
            if row.any() and not row.all() and row.tobytes() not in rows:
                rows[row.tobytes()] = row
                self.terms.append(term)
                self.costs.append(cost)
        self.rows = np.array(list(rows.values())).reshape(len(rows), len(nodes))
        self.positive = sum(term[0] != "not" for term in self.terms)

    def by_operator(self, weights: Floats) -> Floats:
        """The weights of nodes, a column for each operator."""
        return np.where(self._about.T, weights[:, None], 0).astype(np.float32)

    def nodes(self, literals: Sequence[int]) -> Bools:
        """The nodes of which all these literals hold."""
        return np.asarray(self.rows[list(literals)].all(axis=0))

    def held(self, rule: _Rule) -> Bools:
        """The samples of which a rule holds."""
        found = np.zeros(len(self.answers), bool)
        nodes = self.nodes(rule.literals) & self._about[list(rule.operators)].any(axis=0)
        found[self.owner[nodes]] = True
        return found

    def covered(self, rules: Sequence[_Rule]) -> Bools:
        """The samples of which one of the rules holds."""
        held = np.array([np.zeros(len(self.answers), bool), *map(self.held, rules)])
        return np.asarray(held.any(axis=0))

    def learned(self, rule: _Rule, answer: Answer) -> Learned:
        """The rule in words, with the models behind it."""
        nodes = self.nodes(rule.literals)
        alike = self.answers[self.owner] == answer
        matching = set(self.operator[nodes])
        is_all = len(matching) > 1 and not set(self.operator[nodes & ~alike]) - set(rule.operators)
        if is_all:
            rule = rule._replace(operators=tuple(range(len(self.names))))
        (places,) = self.held(rule).nonzero()
        held = self.answers[places]
        return Learned(
            () if is_all else tuple(self.names[place] for place in sorted(rule.operators)),
            tuple(self.terms[place] for place in rule.literals),
            answer,
            int((held == answer).sum()),
            int((held == Answer.TAKES).sum()),
            tuple(places.tolist()),
        )


def _literals(nodes: Sequence[Facts]) -> Iterator[tuple[Term, float, Bools]]:
    """Each term with its cost and with the nodes of which it holds, the simplest first."""
    thresholds: list[tuple[Term, float, Bools]] = []
    negated: list[tuple[Term, float, Bools]] = []
    for place, word in enumerate(LEARNABLE.values()):
        if word.takes_number:
            thresholds += _thresholds(word, place, nodes)
            continue
        answers = [node.answers[place] for node in nodes]
        yield word.name, _WORD, np.array([one is True for one in answers])
        missed = np.array([one is False for one in answers])
        negated.append((("not", word.name), _NOT, missed))
    yield from thresholds
    yield from negated


def _thresholds(
    word: Word, place: int, nodes: Sequence[Facts]
) -> Iterator[tuple[Term, float, Bools]]:
    """The word with each number that tells two nodes apart."""
    alike = {node.values[place]: node.chain for node in nodes}
    for number in sorted({value for values in alike for value in values}):
        holding = {values for values, chain in alike.items() if word.holds(chain, number)}
        held = np.array([node.values[place] in holding for node in nodes])
        yield (word.name, number), _NUMBER, held


class _Cover:
    """The search for rules with one answer: the conjunction with the best ratio first."""

    def __init__(self, table: _Table, answer: Answer, covered: Bools) -> None:
        self._table = table
        self._failing = (table.answers == answer) & ~covered
        is_taken = table.answers == Answer.TAKES
        self._prices = np.where(is_taken, _FALSE_ALARM, _OTHER_FAILURE).astype(np.float32)
        self._prices[table.answers == answer] = 0

    def rules(self) -> list[_Rule]:
        """Rules that hold of every failing sample together."""
        found: list[_Rule] = []
        left, prices = self._failing.copy(), self._prices.copy()
        while left.any():
            rule = self._best(left, prices)
            held = self._table.held(rule)
            left &= ~held
            prices[held] = 0
            found.append(rule)
        rules = self._merged(self._needed(found))
        blanket = {one for rule in rules if not rule.literals for one in rule.operators}
        return [self._widened(rule, blanket) for rule in rules]

    def _best(self, left: Bools, prices: Floats) -> _Rule:
        """The rule that covers most for its cost: the best conjunctions grow by a literal each."""
        table = self._table
        gained, paid = left[table.owner].astype(np.float32), prices[table.owner]
        weights = table.by_operator(gained), table.by_operator(paid)
        costs = _RULE + np.array([0.0, *table.costs])
        is_taken = (table.answers == Answer.TAKES)[table.owner].astype(np.float32)
        dead = weights[1] + table.by_operator(_DEAD_END * is_taken)
        ratios, about = _rated(weights[0].sum(axis=0)[None], dead.sum(axis=0)[None], costs[:1])
        best: tuple[float, tuple[int, ...], Bools] = (ratios[0], (), about[0])
        beam: list[tuple[int, ...]] = [()]
        for _ in range(MOST_WORDS):
            grown: dict[tuple[int, ...], float] = {}
            for literals in beam:
                (places,) = (table.nodes(literals) & ((gained > 0) | (paid > 0))).nonzero()
                rows = table.rows[:, places].astype(np.float32)
                both = costs[1:] + sum(table.costs[one] for one in literals)
                sums = (rows @ weights[0][places], rows @ weights[1][places])
                ratios, about = _rated(*sums, both)
                grown |= {
                    tuple(sorted({*literals, literal})): ratios[literal]
                    for literal in range(len(ratios))
                    if literal not in literals
                }
                ratios[list(literals)] = 0
                most = int(ratios.argmax())
                if ratios[most] > best[0]:
                    best = (ratios[most], tuple(sorted({*literals, most})), about[most])
            ranked = sorted(grown, key=lambda key: -grown[key])
            beam = [key for key in ranked if grown[key] and max(key) < table.positive][:_BEAM]
        return _Rule(tuple(np.flatnonzero(best[2]).tolist()), best[1])

    def _widened(self, rule: _Rule, blanket: set[int]) -> _Rule:
        """The rule about each operator too of which all that it holds of fails so.

        It leaves out operators that a `blanket` rule is about.
        """
        if not rule.literals:
            return rule
        table = self._table
        nodes = table.nodes(rule.literals)
        alike = self._prices[table.owner] == 0
        failing, other = (set(table.operator[nodes & one].tolist()) for one in (alike, ~alike))
        operators = {*rule.operators, *(failing - other)} - blanket
        return rule._replace(operators=tuple(sorted(operators)))

    def _merged(self, rules: list[_Rule]) -> list[_Rule]:
        """Fewer or wider rules, as long as these cost less: false alarms are part of the cost."""
        tried, cost = set[_Rule](), self._cost(rules)
        while wider := {one for rule in rules for one in self._wider(rule, rules)} - tried:
            tried |= wider
            for rule in sorted(wider):
                fewer = self._needed([*rules, rule])
                if self._cost(fewer) < cost:
                    rules, cost = fewer, self._cost(fewer)
        return rules

    def _wider(self, rule: _Rule, rules: Sequence[_Rule]) -> Iterator[_Rule]:
        """The rule with one word less, with no words, and about operators of others as well."""
        for literal in rule.literals:
            yield rule._replace(literals=tuple(one for one in rule.literals if one != literal))
        yield rule._replace(literals=())
        for other in rules:
            yield rule._replace(operators=tuple(sorted({*rule.operators, *other.operators})))

    def _cost(self, rules: Sequence[_Rule]) -> float:
        """What rules cost together, with the healthy samples under them."""
        words = sum(self._table.costs[literal] for rule in rules for literal in rule.literals)
        operators = sum(len(rule.operators) for rule in rules)
        prices = float(self._prices[self._table.covered(rules)].sum())
        blanket = [rule for rule in rules if not rule.literals]
        dead = self._table.covered(blanket) & (self._table.answers == Answer.TAKES)
        prices += _DEAD_END * int(dead.sum())
        return _RULE * len(rules) + words + _OPERATOR * operators + prices

    def _needed(self, rules: list[_Rule]) -> list[_Rule]:
        """The rules without those whose samples others cover."""
        counts = {rule: int((self._table.held(rule) & self._failing).sum()) for rule in rules}
        for rule in sorted(rules, key=counts.__getitem__):
            others = [other for other in rules if other is not rule]
            if not (self._failing & ~self._table.covered(others)).any():
                rules = others
        return rules


def _rated(gains: Floats, prices: Floats, costs: NDArray[np.float64]) -> tuple[Floats, Bools]:
    """What each conjunction (row) covers for its cost, and the operators for which that is most."""
    order = np.argsort(np.where(gains > 0, prices / np.maximum(gains, 1), np.inf), axis=1)
    gain, price = (np.take_along_axis(one, order, axis=1) for one in (gains, prices))
    gained, paid = gain.cumsum(axis=1), price.cumsum(axis=1)
    left = (gain + price).sum(axis=1)[:, None] - gained - paid
    listed = np.where(left > 1e-3, _OPERATOR * (gain > 0).cumsum(axis=1), 0)
    ratios = gained / (costs[:, None] + paid + listed)
    is_about = (order.argsort(axis=1) <= ratios.argmax(axis=1)[:, None]) & (gains > 0)
    return ratios.max(axis=1).astype(np.float32), is_about
