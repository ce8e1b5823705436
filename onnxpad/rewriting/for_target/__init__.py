"""Fits a model to a target: for each node that it does not take, the first passes that help.

The way of a call: `requests` reads what the user says and makes a Planner; `fit` goes through the
model. `verdicts` lists what the target does with each node, as the `judge` has it: the table of the
target, then a run where a runtime is asked. For a node that is not taken, `search` cuts it out and
tries passes in one order, the cheap ones first: alone, then with others behind them. `fit` then
runs these passes on the model, judges it again, and does to the whole of it what `preparing` has
for what is left: sizes, shapes, another opset. `openings` tries what facts about sizes would help
with the rest. `plain_facts` names nodes without padding as tables do, `names` the targets as users
do; `report` has the values that all of this comes to.
"""
