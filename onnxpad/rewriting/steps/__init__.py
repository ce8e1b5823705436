"""What passes build with: questions that may refuse, and the nodes of an expansion.

A pass asks `refusals`: a question with a bad answer raises Refused, which ends the pass with its
Skip. It then changes the chain, or collects new nodes with a `composer.Composer`, which spells
them for the opset. `pads` builds Pad nodes and blocks, `run_time_pads` pads computed from
sizes, `kernels` more taps, `transposed` crops, `divisors` the factors of averages.
Last, the pipeline calls `dequantised_pads.outside_group`, which moves a new Pad in front of
DequantizeLinear. The room reads chains only: no model, no runtime.
"""
