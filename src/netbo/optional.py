"""Optional packages: imported where they are used, and named by their extra where they are missing."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from shlex import quote
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
            f"{purpose} needs {name}, got {cause}; install the extra {extra!r}: "
            f"pip install {' '.join(packages_of(extra) or [name])}"
        ) from cause


def packages_of(extra: str) -> list[str]:
    """What an extra brings, as pip takes it in a shell; nothing if netbo itself was not installed.

    The packages themselves, since they are on an index whether netbo is or not.

    >>> packages_of("dask")[0]
    "'dask>=2024.9'"
    """
    try:
        listed = requires("netbo") or []
    except PackageNotFoundError:
        return []
    parted = (each.partition(";") for each in listed)
    return [
        quote(package.strip())
        for package, _, marker in parted
        if marker.replace('"', "'").strip().endswith(f"extra == '{extra}'")
    ]
