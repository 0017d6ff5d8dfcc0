"""Names and counts in sentences."""

from collections.abc import Hashable, Iterable
from itertools import islice

FEW = 3  # examples


def some(names: Iterable[Hashable], count: int) -> str:
    """The first few of `count` names, for people."""
    shown = ", ".join(repr(name) for name in islice(names, FEW))
    return f"{shown}, ..." if count > FEW else shown
