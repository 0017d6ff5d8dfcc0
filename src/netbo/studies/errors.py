"""What can go wrong with a study that is not about the network or the values."""

from netbo.errors import BaseError, ExhaustedError


class StudyError(BaseError, ValueError):
    """A study that cannot be created, opened or changed as asked."""


class StudyFileError(BaseError, OSError):
    """A file of a study that is missing or damaged; nothing was written to it."""


class BudgetError(ExhaustedError):
    """Every evaluation of the budget is made or under way."""
