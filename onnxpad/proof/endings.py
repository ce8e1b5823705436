"""Why an evaluation ends without cells."""


class NoResult(Exception):
    """The model has no result at this size: no window fits, a crop leaves less than nothing."""


class Undecided(Exception):
    """Something is not understood; the reason is a sentence without its full stop."""


class Invalid(Undecided):
    """An operator is none by the text of its opset: it has a type, attribute or number too many."""


class WithoutResult(Undecided):
    """There is no size at which the first model has a result: nothing is to be proved."""
