"""Names and counts in sentences for people."""

from collections.abc import Iterable

FEW = 3  # examples in a report
SHOWN = 8  # names in one sentence of a message; more are counted


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Count and noun.

    >>> counted(1, "edge"), counted(2, "edge"), counted(3, "vertex", "vertices")
    ('1 edge', '2 edges', '3 vertices')
    """
    return f"{count} {singular if count == 1 else plural or singular + 's'}"


def quoted(names: Iterable[object], *, none: str = "none") -> str:
    """All names as they are typed; `none` if there are none.

    >>> quoted(["length", 7]), quoted([])
    ("'length', 7", 'none')
    """
    return ", ".join(map(repr, names)) or none


def some(names: Iterable[object]) -> str:
    """The first few names.

    >>> some("ab"), some(range(20))
    ("'a', 'b'", '0, 1, 2, ...')
    """
    known = list(names)
    return quoted(known[:FEW]) + (", ..." if len(known) > FEW else "")


def listing(names: Iterable[object]) -> str:
    """The first names, and how many there are if they are more.

    >>> listing("ab"), listing(range(20))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7, ... (20 in all)')
    """
    known = list(names)
    shown = quoted(known[:SHOWN], none="")
    return shown if len(known) <= SHOWN else f"{shown}, ... ({len(known)} in all)"
