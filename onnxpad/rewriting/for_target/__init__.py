"""Fits a model to a target: for each node that it does not take, the first passes that help.

The way of a call: `requests` reads what the user says and makes a Planner; `fit` goes through the
model. It does to the whole of it what is in the way everywhere (functions, shapes, sizes, opset).
`judge` lists what the target does with each node: by its table, or by a run where a runtime is
asked. For a node that is not taken, `search` cuts it out and tries passes in one order, the cheap
ones first: alone, then with others behind them. `fit` then runs these passes on the model, judges
it again, and says of each node as it was (`before`) which way it went, which is what inspect
shows. `openings` tries what facts about sizes would help with the rest. `plain_facts` names nodes
without padding as tables do; `report` has the values that all of this comes to.
"""
