"""The package's errors: each is a BaseError and the builtin a caller would expect."""

LONGEST = 80  # characters of a value in a message


def shown(value: object) -> str:
    """A value as a message shows it: cut to its first characters, whatever it is.

    >>> shown("low"), shown(10**5000)
    ("'low'", 'a value of type int that cannot be printed')
    """
    try:
        return repr(value)[:LONGEST]
    except Exception:  # its own repr, or a whole number of thousands of digits
        return f"a value of type {type(value).__name__} that cannot be printed"


class BaseError(Exception):
    """Anything netbo raises on purpose; the message says what was expected, what was got, what to try."""


class GraphError(BaseError, ValueError):
    """A network that is not a compact metric graph."""


class NetworkError(BaseError, ValueError):
    """A file or an object that cannot be read as a network; the message names the feature."""


class UnmeasuredError(NetworkError):
    """A drawing whose lengths nobody knows: pixels, or coordinates without a system."""


class NetworkWarning(UserWarning):
    """What the report on a network warns of, shown when the network is first searched."""


class PointError(BaseError, ValueError):
    """A point that does not lie on its network."""


class ParameterError(BaseError, ValueError):
    """A parameter outside its domain."""


class OptionError(ParameterError, TypeError):
    """An option that a function does not have."""


class ObservationError(BaseError, ValueError):
    """Observations that cannot be conditioned on."""


class NumericalError(BaseError, ArithmeticError):
    """A computation that lost its accuracy; the message carries the numbers."""


class ExhaustedError(BaseError, RuntimeError):
    """There is no place left to ask for."""


# What can go wrong with a study that is not about the network or the values.


class StudyError(BaseError, ValueError):
    """A study that cannot be created, opened or changed as asked."""


class StudyFileError(BaseError, OSError):
    """A file of a study that is missing or damaged; nothing was written to it."""


class BudgetError(ExhaustedError):
    """Every evaluation of the budget is made or under way."""


class AccuracyWarning(UserWarning):
    """An answer with fewer digits than usual; the message says why, and what would keep them."""
