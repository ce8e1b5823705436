"""Writes the same padding in another form: no number of the model changes.

`rewrite` opens the model and makes a `wanted.Wanted`: the model, passes and a target.
`Wanted.done` gives `pipeline.run` the passes. For each padded node it calls the pass (`passes`,
built with `steps`), checks its forms, takes the first way that onnxruntime computes right, and
applies the edits. With a target, `for_target` adds what is still missing, the cheapest first
(`costs`). `Wanted.relied` does it again without the user's sizes: does the result need them?
`rewrite` then writes those sizes into the model and reports. `recipes` names common jobs.
"""
