"""Many models at once, on any executor; nothing is loaded before it is used.

The course of `each("rewrite", "models/", output="out/")`, file by file:

1. `inputs`: names of files, folders and globs become models, each with its place below `output`.
2. `facts`: each model gets those facts and node globs that name something in it.
3. `course`: a `Task` is plain data, one model and the work on it. `answer` does the work in
   whichever process the executor runs it.
4. `workers`: processes of onnxpad's own as an executor, and the workers of Dask.
5. `each`: every answer becomes an `Outcome`; the outcomes in order are the `Batch`.
"""
