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
    """Places of literals in the table; `column` is 0 for all operators, else one more than its."""

    literals: tuple[int, ...]
    column: int


def learn(samples: Sequence[Sample]) -> tuple[Learned, ...]:
    """Rules that cover every sample that is not taken."""
    table = _Table(samples)
    learned: list[Learned] = []
    covered = np.zeros(len(samples), bool)
    for answer in (Answer.MISCOMPUTES, Answer.REFUSES, Answer.FALLS_BACK):
        rules = table.covering(answer, covered)
        learned += table.learned(rules, answer)
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
        self.is_taken = self.answers == Answer.TAKES
        titles = np.array([node.chain.op.title for node in nodes])
        self.names = tuple(dict.fromkeys(titles.tolist()))
        about = [np.ones(len(nodes), bool), *(titles == name for name in self.names)]
        self.about = np.array(about)
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

    def nodes(self, rule: _Rule) -> Bools:
        """The nodes of which a rule holds."""
        held = self.rows[list(rule.literals)].all(axis=0) & self.about[rule.column]
        return np.asarray(held)

    def held(self, rule: _Rule) -> Bools:
        """The samples of which a rule holds."""
        found = np.zeros(len(self.answers), bool)
        found[self.owner[self.nodes(rule)]] = True
        return found

    def covered(self, rules: Sequence[_Rule]) -> Bools:
        """The samples of which one of the rules holds."""
        held = np.array([np.zeros(len(self.answers), bool), *map(self.held, rules)])
        return np.asarray(held.any(axis=0))

    def learned(self, rules: Sequence[_Rule], answer: Answer) -> Iterator[Learned]:
        """The rules in words, those with the same words together, with the models behind them.

        One is about all operators where it holds of none of the others that does not fail so.
        """
        for literals in dict.fromkeys(rule.literals for rule in rules):
            alike = [rule for rule in rules if rule.literals == literals]
            columns = sorted(rule.column for rule in alike)
            every = _Rule(literals, 0)
            other = self.held(every) & ~self.covered(alike)
            holding = self.about[1:, self.nodes(every)].any(axis=1).sum()
            if columns[0] and holding > 1 and (self.answers[other] == answer).all():
                alike, columns = [every], [0]
            (places,) = self.covered(alike).nonzero()
            yield Learned(
                () if not columns[0] else tuple(self.names[column - 1] for column in columns),
                tuple(self.terms[place] for place in literals),
                answer,
                int((self.answers[places] == answer).sum()),
                int(self.is_taken[places].sum()),
                tuple(places.tolist()),
            )

    def covering(self, answer: Answer, covered: Bools) -> list[_Rule]:
        """Rules that hold of every sample with this answer, the best first.

        Those whose samples others cover are left out.
        """
        failing = (self.answers == answer) & ~covered
        prices = np.where(self.is_taken, _FALSE_ALARM, _OTHER_FAILURE).astype(np.float32)
        prices[self.answers == answer] = 0
        rules: list[_Rule] = []
        left = failing.copy()
        while left.any():
            rule = self._best(left, prices)
            held = self.held(rule)
            left &= ~held
            prices[held] = 0
            rules.append(rule)
        counts = {rule: int((self.held(rule) & failing).sum()) for rule in rules}
        for rule in sorted(rules, key=counts.__getitem__):
            others = [other for other in rules if other is not rule]
            if not (failing & ~self.covered(others)).any():
                rules = others
        return rules

    def _best(self, left: Bools, prices: Floats) -> _Rule:
        """The rule that covers most for its cost: the best conjunctions grow by a literal each."""
        gained = (self.about * left[self.owner]).T.astype(np.float32)
        paid = (self.about * prices[self.owner]).T.astype(np.float32)
        listed = np.array([0.0, *[_OPERATOR] * len(self.names)])
        dead = _DEAD_END * (self.about * self.is_taken[self.owner]).sum(axis=1)
        ratios = gained.sum(axis=0) / (_RULE + listed + paid.sum(axis=0) + dead)
        best = (float(ratios.max()), _Rule((), int(ratios.argmax())))
        beam: list[tuple[int, ...]] = [()]
        for _ in range(MOST_WORDS):
            grown: dict[tuple[int, ...], float] = {}
            for literals in beam:
                rows = self.rows & self.rows[list(literals)].all(axis=0)
                costs = _RULE + np.array(self.costs) + sum(self.costs[one] for one in literals)
                weights = rows.astype(np.float32)
                costs_of = costs[:, None] + listed + weights @ paid
                ratios = (weights @ gained) / costs_of
                ratios[list(literals)] = 0
                for literal, column in enumerate(ratios.argmax(axis=1).tolist()):
                    key, ratio = tuple(sorted({*literals, literal})), float(ratios[literal, column])
                    grown[key] = max(ratio, grown.get(key, 0))
                    best = max(best, (ratio, _Rule(key, column)), key=lambda one: one[0])
            ranked = sorted(grown, key=lambda key: -grown[key])
            beam = [key for key in ranked if grown[key] and max(key) < self.positive][:_BEAM]
        return best[1]


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
