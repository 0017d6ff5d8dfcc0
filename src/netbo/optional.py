"""Optional packages: imported where they are used, and named by their extra where they are missing."""

from importlib import import_module
from types import ModuleType

from netbo.errors import BaseError


class MissingPackageError(BaseError, ImportError):
    """An optional package that is not installed; the message names the extra that brings it."""


def require(name: str, *, extra: str, purpose: str) -> ModuleType:
    """Module of an optional package; `purpose` begins the message if it is missing.

    >>> require("math", extra="none", purpose="counting").floor(2.5)
    2
    """
    try:
        return import_module(name)
    except ImportError as cause:
        raise MissingPackageError(
            f"{purpose} needs {name}, got {cause}; install the extra {extra!r}: pip install 'netbo[{extra}]'"
        ) from cause
