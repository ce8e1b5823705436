"""Many models at once, on any executor; nothing is loaded before it is used.

The course of `each("rewrite", "models/", output="out/")`, file by file:

1. `inputs`: names of files, folders and globs become models, each with its place below `output`.
2. `facts`: facts and globs of nodes are about some models only; each gets its own.
3. `course`: a `Task` is one model and what to do with it, as plain data; `answer` does it, wherever
   an executor takes it.
4. `workers`: processes of onnxpad's own as an executor, and the workers of Dask.
5. `each`: the answers become an `Outcome` each, in order, and a `Batch`.
"""
