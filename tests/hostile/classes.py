"""The classes of the attack, and what share of the cases each has."""

from __future__ import annotations

from typing import NamedTuple

from tests.hostile.archives import archives
from tests.hostile.case import Maker
from tests.hostile.damage import flips, truncations
from tests.hostile.external import external
from tests.hostile.folding import folding
from tests.hostile.growing import blow_ups, functions
from tests.hostile.mutants import mutants
from tests.hostile.places import concurrency, places, signals
from tests.hostile.plans import plans
from tests.hostile.runaway import running
from tests.hostile.words import arguments


class Class(NamedTuple):
    """Makes the files of a case and its commands; `weight` is its share of all cases."""

    make: Maker
    weight: float


CLASSES = {
    "flips": Class(flips, 5),
    "truncations": Class(truncations, 3),
    "mutants": Class(mutants, 12),
    "blow-ups": Class(blow_ups, 6),
    "functions": Class(functions, 3),
    "folding": Class(folding, 7),
    "running": Class(running, 4),
    "external": Class(external, 6),
    "archives": Class(archives, 5),
    "plans": Class(plans, 4),
    "arguments": Class(arguments, 7),
    "places": Class(places, 6),
    "signals": Class(signals, 3),
    "concurrency": Class(concurrency, 2),
}
