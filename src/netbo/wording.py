"""Names, counts, lengths and places in sentences for people."""

import math
from collections.abc import Iterable, Sequence

FEW = 3  # examples in a report
SHOWN = 8  # names in one sentence of a message; more are counted
SIGNIFICANT = 9  # digits of a place whose unit nobody knows: centimetres if it is degrees, or metres
CENTIMETRE = {"m": 2, "km": 5, "ft": 2, "US ft": 2, "degrees": 7}  # decimals that tell them apart, by unit


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Count and noun.

    >>> counted(1, "edge"), counted(2, "edge"), counted(3, "vertex", "vertices")
    ('1 edge', '2 edges', '3 vertices')
    """
    return f"{count} {singular if count == 1 else plural or singular + 's'}"


def with_unit(name: str, unit: str | None) -> str:
    """Name of a quantity with its unit, as on an axis.

    >>> with_unit("value", "l/s"), with_unit("value", None)
    ('value [l/s]', 'value')
    """
    return f"{name} [{unit}]" if unit else name


def value_label(label: str | None, unit: str | None) -> str | None:
    """What to write beside values: what was asked for, else their unit if it is known.

    >>> value_label("loss [l/s]", "l/s"), value_label(None, "l/s"), value_label(None, None)
    ('loss [l/s]', 'value [l/s]', None)
    """
    return label if label is not None or unit is None else with_unit("value", unit)


def in_unit(value: float, unit: str | None) -> str:
    """A number with its unit.

    >>> in_unit(47.1, "l/s"), in_unit(1 / 3, None)
    ('47.1 l/s', '0.333333')
    """
    return f"{value:.6g} {unit}" if unit else f"{value:.6g}"


def extent(n_edges: int, total: float, unit: str | None) -> str:
    """Size of a network.

    >>> extent(3, 12.0, "km")
    '3 edges, 12 km in all'
    """
    return f"{counted(n_edges, 'edge')}, {length(total, unit)} in all"


def quoted(names: Iterable[object], *, none: str = "none") -> str:
    """All names as they are typed; `none` if there are none.

    >>> quoted(["length", 7]), quoted([])
    ("'length', 7", 'none')
    """
    return ", ".join(map(repr, names)) or none


def some(names: Iterable[object], *, quote: bool = True) -> str:
    """The first few names, as they are typed or as they are.

    >>> some("ab"), some(range(20)), some("ab", quote=False)
    ("'a', 'b'", '0, 1, 2, ...', 'a, b')
    """
    known = list(names)
    shown = quoted(known[:FEW]) if quote else ", ".join(map(str, known[:FEW]))
    return shown + (", ..." if len(known) > FEW else "")


def listing(names: Iterable[object]) -> str:
    """The first names, and how many there are if they are more.

    >>> listing("ab"), listing(range(20))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7, ... (20 in all)')
    """
    known = list(names)
    shown = quoted(known[:SHOWN], none="")
    return shown if len(known) <= SHOWN else f"{shown}, ... ({len(known)} in all)"


def positional(value: float, decimals: int | None = None) -> str:
    """A coordinate in digits to be typed: so many decimals, or nine digits; no exponent, no idle zeros.

    >>> positional(5549961.2345, 2), positional(14.40251234567, 7), positional(0.1 + 0.2), positional(-0.0)
    ('5549961.23', '14.4025123', '0.3', '0')
    """
    if not math.isfinite(value):
        return str(value)
    if decimals is None:
        decimals = max(CENTIMETRE["m"], SIGNIFICANT - _before_the_point(value))
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def spot(place: Sequence[float]) -> str:
    """Coordinates with digits enough to stand on the spot: centimetres of a map, or of degrees.

    >>> spot((458123.456789, 5549961.2345)), spot((14.40251234567, 50.1))
    ('(458123.457, 5549961.23)', '(14.4025123, 50.1)')
    """
    return f"({', '.join(positional(round(value, 9)) for value in place)})"


def length(value: float, unit: str | None = None) -> str:
    """A length or a distance with its unit, to the centimetre where the unit is known; never an exponent.

    >>> length(1234567.891, "m"), length(3.2, "km"), length(1 / 3)
    ('1234567.89 m', '3.2 km', '0.333333')
    """
    if unit in CENTIMETRE:
        return f"{positional(value, CENTIMETRE[unit])} {unit}"
    text = positional(value, max(0, 6 - _before_the_point(value)))
    return f"{text} {unit}" if unit else text


def _before_the_point(value: float) -> int:
    """Digits before the decimal point, negative for zeros after it."""
    return math.floor(math.log10(abs(value))) + 1 if value and math.isfinite(value) else 1
