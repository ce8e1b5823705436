"""The words in which target files say what a runtime does with padding.

`runtimes/rule_files` reads a rule of a file into a `rows.Row`: operators, conditions, an answer
and evidence. `words.condition_of` makes a condition of each word: a question about a chain, whose
answer is None if it depends on something unknown. Its sentences are in words.toml, its tests in
`words` and `windows`. `runtimes/judge` asks the rows of a target about a chain, and the worst
answer counts. `plain_facts` names what rows may say of a model besides padding.
The room imports geometry and padding.
"""
