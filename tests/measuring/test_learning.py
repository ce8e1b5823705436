"""The learner covers every failure, with the simplest rules that tell it from what is right."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from random import Random

import pytest

from onnxpad.measuring.drawing import drawn
from onnxpad.measuring.learning import Sample, learn
from onnxpad.padding.chain import Chain
from onnxpad.reproducing.ways import chains_of
from onnxpad.runtimes.conditions.rows import Answer
from onnxpad.runtimes.conditions.words import WORDS

Runtime = Callable[[Chain], Answer]


@cache
def chains() -> tuple[tuple[Chain, ...], ...]:
    specimens = islice(drawn(Random(3)), 500)
    return tuple(found for one in specimens if (found := chains_of(replace(one, open=""))))


def samples(runtime: Runtime) -> list[Sample]:
    """What a runtime does that gets each node right or wrong by itself."""
    return [
        Sample.of(one, one, max(map(runtime, one), key=lambda answer: answer.rank))
        for one in chains()
    ]


def of_word(word: str, answer: Answer = Answer.REFUSES) -> Runtime:
    return lambda chain: answer if WORDS[word].holds(chain) else Answer.TAKES


def rules(runtime: Runtime) -> list[tuple[object, ...]]:
    return [(one.operators, one.when, one.answer) for one in learn(samples(runtime))]


@pytest.mark.part(2)
@pytest.mark.parametrize("word", ["asymmetric", "ceil_mode", "depthwise", "one_d", "reflect"])
def test_one_word_is_found(word: str) -> None:
    ((_, when, answer),) = rules(of_word(word))
    assert (when, answer) == ((word,), Answer.REFUSES)


def test_a_threshold_is_found() -> None:
    def runtime(chain: Chain) -> Answer:
        return Answer.REFUSES if WORDS["kernel_above"].holds(chain, 5) else Answer.TAKES

    assert rules(runtime) == [((), (("kernel_above", 5),), Answer.REFUSES)]


def test_rules_of_one_operator_are_merged_at_a_few_false_alarms() -> None:
    words = ("strided", "dilated", "grouped")

    def runtime(chain: Chain) -> Answer:
        fails = WORDS["same"].holds(chain) and any(WORDS[one].holds(chain) for one in words)
        return Answer.REFUSES if fails and chain.op.title == "Conv" else Answer.TAKES

    assert rules(runtime) == [(("Conv",), ("same",), Answer.REFUSES)]


def test_a_rule_without_words_is_about_nothing_that_is_right() -> None:
    random = Random(5)
    found = learn(
        samples(
            lambda chain: (
                Answer.REFUSES
                if chain.op.title == "Conv" and random.random() < 0.97
                else Answer.TAKES
            )
        )
    )
    assert found
    assert all(one.when or not one.false_alarms for one in found)


def test_answers_have_rules_of_their_own() -> None:
    def runtime(chain: Chain) -> Answer:
        both = [of_word("three_d", Answer.MISCOMPUTES)(chain), of_word("grouped")(chain)]
        both.append(of_word("bias", Answer.FALLS_BACK)(chain))
        return max(both, key=lambda one: one.rank)

    found = rules(runtime)
    assert ((), ("three_d",), Answer.MISCOMPUTES) in found
    assert {(when, answer) for _, when, answer in found} >= {
        (("grouped",), Answer.REFUSES),
        (("bias",), Answer.FALLS_BACK),
    }


def test_every_failure_is_covered_though_no_word_tells_it() -> None:
    random = Random(0)
    answers = (Answer.TAKES, Answer.TAKES, Answer.REFUSES, Answer.MISCOMPUTES)
    given = [Sample.of(one, one, random.choice(answers)) for one in chains()[:100]]
    found = learn(given)
    fails = {place for place, one in enumerate(given) if one.answer is not Answer.TAKES}
    assert fails <= {place for one in found for place in one.samples}
    assert all(
        sum(given[place].answer is Answer.TAKES for place in rule.samples) == rule.false_alarms
        for rule in found
    )
