"""From a ModelProto to chains: every padded node with what stands around it, as one value.

`survey` is what every verb starts from. It opens a document and asks `reader`, which walks the
nodes once, forwards: types by the shape rules, and of each padded node its chain by `chains`. That
takes a Pad by `pads`, and what stands in front by `pads_in_front` (`crossing`: through other
operators). `refusals` says what cannot be meant, `divisors` what to try.
"""
