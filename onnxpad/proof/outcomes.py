"""Why an evaluation ends without cells."""


class NoResult(Exception):
    """The model has no result at this size: no window fits, a crop leaves less than nothing."""


class Undecided(Exception):
    """Something is not understood; the reason is a sentence without its full stop."""
