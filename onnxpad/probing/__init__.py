"""What a runtime really computes: one padded node cut out, or the whole model, run and compared.

`live.Live` answers for each node of a survey: `probes` cuts the node out with what feeds it,
writes it as a model and draws signed inputs; `runtimes.running` runs that model in the runtime;
`expected` computes the same by the ONNX text (`proof.alone`: padded operators in float64);
`agreement` compares both. Answers are kept on disk. `whole` runs a whole model and names the first
tensor that differs. The search for a form (`rewriting`) asks the same judge for its candidates.

The room imports `model`, `runtimes`, `sessions` and what is below; `rewriting` and `validation`
import it.
"""
