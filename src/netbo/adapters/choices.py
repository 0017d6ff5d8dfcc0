"""Words of the readers' options, and short lists of names for messages and reports."""

from collections.abc import Iterable

from netbo.adapters.links import Treatment
from netbo.errors import NetworkError

SHOWN = 8  # names in one sentence; more are counted


def as_treatment(
    chosen: Treatment | str, option: str, *, allowed: Iterable[Treatment] = tuple(Treatment)
) -> Treatment:
    """A treatment given as itself or by its word; `option` names it in the message.

    >>> as_treatment("cut", "closed")
    <Treatment.CUT: 'cut'>
    """
    words = {treatment.value: treatment for treatment in allowed}
    word = chosen.value if isinstance(chosen, Treatment) else chosen
    if word not in words:
        raise NetworkError(f"{option} must be one of {', '.join(words)}, got {word!r}; choose one of them")
    return words[word]


def listing(names: Iterable[object]) -> str:
    """The first names, and how many there are if they are more.

    >>> listing("ab"), listing(range(20))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7, ... (20 in all)')
    """
    known = list(names)
    shown = ", ".join(repr(name) for name in known[:SHOWN])
    return shown if len(known) <= SHOWN else f"{shown}, ... ({len(known)} in all)"
