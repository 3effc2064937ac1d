"""What is computed: numbers in, numbers out. No I/O, no clock, nothing of ours imported.

Fail is the class being detected, everywhere: Specificity (Spec) is the share of human fails that the judge fails,
Recall (Rec) the share of human passes that it passes. A number that does not exist is an ``Unavailable`` with a reason.
scipy is imported inside the functions that need it, so that a short-lived command does not pay for it.
"""

from stats.checks import StatsInputError
from stats.unavailable import Number, Unavailable, available, jsonable

__all__ = ["Number", "StatsInputError", "Unavailable", "available", "jsonable"]
