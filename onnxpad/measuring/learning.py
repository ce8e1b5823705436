"""The learner: the fewest rules of shared words that cover every failure at few false alarms.

A rule costs what its words and its operators cost; a healthy model under it costs as well. The
rule that covers most failures for its cost comes first, until all are covered (a weighted set
cover); then words and rules that buy nothing are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onnxpad.padding.chain import Chain
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.conditions.words import WORDS, Term, Word

MOST_WORDS = 3
_RULE, _WORD, _NUMBER, _NOT, _OPERATOR = 2.0, 1.0, 1.1, 1.3, 0.4
"""What a rule costs, each of its words, thresholds and negated words, and of its operators."""
_FALSE_ALARM, _OTHER_FAILURE = 0.5, 0.05
"""What a healthy model under a rule costs, and one that fails in another way."""
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


class Sample(NamedTuple):
    """A model that was run: its padded nodes, and what the runtime did."""

    chains: tuple[Chain, ...]
    answer: Answer


class Learned(NamedTuple):
    """A rule: operators (none for all), terms that must all hold, and what the runtime then does.

    models: number of models that fail so under it.
    false_alarms: number of models under it that the runtime computes right.
    """

    operators: tuple[str, ...]
    terms: tuple[Term, ...]
    answer: Answer
    models: int
    false_alarms: int


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
    return tuple(learned)


class _Table:
    """Which literal (row) holds of which node (column); a sample has one node or several."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        chains = [chain for sample in samples for chain in sample.chains]
        self.owner = np.repeat(np.arange(len(samples)), [len(one.chains) for one in samples])
        self.answers = np.array([sample.answer for sample in samples])
        self.names = tuple(dict.fromkeys(chain.op.title for chain in chains))
        self.operator = np.array([self.names.index(chain.op.title) for chain in chains])
        self.terms: list[Term] = []
        self.costs: list[float] = []
        rows: dict[bytes, Bools] = {}
        for term, cost, row in _literals(chains):
            if row.any() and not row.all() and row.tobytes() not in rows:
                rows[row.tobytes()] = row
                self.terms.append(term)
                self.costs.append(cost)
        self.rows = np.array(list(rows.values())).reshape(len(rows), len(chains))

    def nodes(self, literals: Sequence[int]) -> Bools:
        """The nodes of which all these literals hold."""
        held: Bools = self.rows[list(literals)].all(axis=0)
        return held

    def held(self, rule: _Rule) -> Bools:
        """The samples of which a rule holds."""
        found = np.zeros(len(self.answers), bool)
        nodes = self.nodes(rule.literals) & np.isin(self.operator, rule.operators)
        found[self.owner[nodes]] = True
        return found

    def covered(self, rules: Sequence[_Rule]) -> Bools:
        """The samples of which one of the rules holds."""
        return np.array([np.zeros(len(self.answers), bool), *map(self.held, rules)]).any(axis=0)

    def learned(self, rule: _Rule, answer: Answer) -> Learned:
        """The rule in words, with the models behind it."""
        held = self.answers[self.held(rule)]
        matching = set(self.operator[self.nodes(rule.literals)])
        is_all = matching <= set(rule.operators) and len(matching) > 1
        return Learned(
            () if is_all else tuple(self.names[place] for place in sorted(rule.operators)),
            tuple(self.terms[place] for place in rule.literals),
            answer,
            int((held == answer).sum()),
            int((held == Answer.TAKES).sum()),
        )


def _literals(chains: Sequence[Chain]) -> Iterator[tuple[Term, float, Bools]]:
    """Each term with its cost and with the nodes of which it holds, the simplest first."""
    negated: list[tuple[Term, float, Bools]] = []
    for word in sorted(WORDS.values(), key=lambda one: one.takes_number):
        for number in _thresholds(word, chains):
            answers = [word.holds(chain, number) for chain in chains]
            held = np.array([answer is True for answer in answers])
            if number is None:
                yield word.name, _WORD, held
                missed = np.array([answer is False for answer in answers])
                negated.append((("not", word.name), _NOT, missed))
            else:
                yield (word.name, number), _NUMBER, held
    yield from negated


def _thresholds(word: Word, chains: Sequence[Chain]) -> Sequence[int | None]:
    if not word.takes_number:
        return (None,)
    return sorted({value for chain in chains for value in word.values(chain)})


class _Cover:
    """The search for rules with one answer: of all conjunctions the best ratio first."""

    def __init__(self, table: _Table, answer: Answer, covered: Bools) -> None:
        self._table = table
        self._failing = (table.answers == answer) & ~covered
        is_taken = table.answers == Answer.TAKES
        self._prices = np.where(is_taken, _FALSE_ALARM, _OTHER_FAILURE).astype(np.float32)
        self._prices[table.answers == answer] = 0
        free = np.ones((MOST_WORDS, table.rows.shape[1]), bool)
        self._rows = np.concatenate([free, table.rows])
        self._costs = np.array([0.0] * MOST_WORDS + table.costs, np.float32)
        self._conjunctions = _conjunctions(len(self._rows))

    def rules(self) -> list[_Rule]:
        """Rules that hold of every failing sample together."""
        found: list[_Rule] = []
        if not self._failing.any():
            return found
        left = self._failing.copy()
        gains = self._sums(left.astype(np.float32))
        prices = self._sums(self._prices)
        while left.any():
            rule = self._simplest(self._best(gains, prices), found)
            held = self._table.held(rule)
            gains -= self._sums((held & left).astype(np.float32))
            prices -= self._sums(np.where(held & ~self._table.covered(found), self._prices, 0))
            left &= ~held
            found.append(rule)
        return self._needed(found)

    def _sums(self, weights: Floats) -> Floats:
        """The weight of the samples of which each conjunction holds, by operator."""
        table = self._table
        found = np.zeros((len(self._conjunctions), len(table.names)), np.float32)
        starts = np.searchsorted(self._conjunctions[:, 0], np.arange(len(self._rows) + 1))
        for operator in range(len(table.names)):
            nodes = (table.operator == operator) & (weights[table.owner] != 0)
            rows, weight = self._rows[:, nodes].astype(np.float32), weights[table.owner[nodes]]
            for first, (start, stop) in enumerate(zip(starts, starts[1:], strict=False)):
                inner = rows[first] > 0
                if start < stop and inner.any():
                    part = rows[:, inner]
                    sums = (part * weight[inner]) @ part.T
                    second, third = self._conjunctions[start:stop, 1:].T
                    found[start:stop, operator] = sums[second, third]
        return found

    def _best(self, gains: Floats, prices: Floats) -> _Rule:
        """The conjunction, and the operators for which it covers most for its cost."""
        costs = _RULE + self._costs[self._conjunctions].sum(axis=1)
        whole = gains.sum(axis=1)
        least = (whole / (costs + prices.sum(axis=1) + _OPERATOR * gains.shape[1])).max()
        places = np.flatnonzero(whole / costs >= least)
        gain, price = gains[places], prices[places]
        order = np.argsort(np.where(gain > 0, price / np.maximum(gain, 1), np.inf), axis=1)
        gain, price = np.take_along_axis(gain, order, 1), np.take_along_axis(price, order, 1)
        gained, paid = gain.cumsum(axis=1), price.cumsum(axis=1)
        left = (gain + price).sum(axis=1)[:, None] - gained - paid
        listed = np.where(left > 1e-3, _OPERATOR * (gain > 0).cumsum(axis=1), 0)
        ratios = gained / (costs[places][:, None] + paid + listed)
        place, last = np.unravel_index(ratios.argmax(), ratios.shape)
        operators = [int(one) for one in order[place, : last + 1]]
        literals = [int(one) - MOST_WORDS for one in self._conjunctions[places[place]]]
        return _Rule(
            tuple(one for n, one in enumerate(operators) if gain[place, n] > 0),
            tuple(literal for literal in literals if literal >= 0),
        )

    def _simplest(self, rule: _Rule, before: Sequence[_Rule]) -> _Rule:
        """The rule without the words that keep no healthy sample out."""
        free = self._failing | self._table.covered(before)
        for literal in sorted(rule.literals, key=lambda one: -self._table.costs[one]):
            fewer = rule._replace(literals=tuple(one for one in rule.literals if one != literal))
            if not (self._table.held(fewer) & ~self._table.held(rule) & ~free).any():
                rule = fewer
        return rule

    def _needed(self, rules: list[_Rule]) -> list[_Rule]:
        """The rules without those whose samples others cover."""
        counts = {rule: int((self._table.held(rule) & self._failing).sum()) for rule in rules}
        for rule in sorted(rules, key=counts.__getitem__):
            others = [other for other in rules if other is not rule]
            if not (self._failing & ~self._table.covered(others)).any():
                rules = others
        return rules


def _conjunctions(count: int) -> NDArray[np.int32]:
    """Places of three literals each; the first `MOST_WORDS` hold always, and stand for none."""
    found = np.array(list(combinations(range(count), MOST_WORDS)), np.int32)
    free = found < MOST_WORDS
    first = np.arange(MOST_WORDS)
    is_plain = (~free | (found == first)).all(axis=1)
    return found[is_plain]
