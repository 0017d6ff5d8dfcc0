"""Links: the record between readers and assembly, one row per link of the source."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from netbo.arrays import FloatArray, as_float_vector
from netbo.errors import NetworkError


class Treatment(Enum):
    """What happens to a link that is no stretch of network: a pump, a valve, an open switch."""

    KEEP = "keep"  # an edge like any other; it needs a positive length
    CONTRACT = "contract"  # its two ends become one place, and its id answers with that place
    CUT = "cut"  # nothing passes: an edge with a length is detached at an end, one without vanishes
    DROP = "drop"  # left out; its id is no address


@dataclass(frozen=True, eq=False, kw_only=True)
class Links:
    """What a file says about its links; `assemble` makes a network of it.

    source: for people, as in "GeoPackage soho.gpkg, layer streets".
    ids: the user's own, each once.
    tails, heads: the user's vertex ids; None: the ends of the curves say what meets.
    lengths: in `unit`, NaN where the file has none.
    curves: (k, 2 or 3) coordinates in `crs` from tail to head; None for a straight link.
    positions: of vertices, in `crs`.
    crs: whatever `pyproj.CRS.from_user_input` takes; None if there is none or nobody knows.
    attributes: columns, one value a link.
    treatments: one a link; None keeps all.
    detach: for links to be cut that have a length: "tail", "head" or "both"; None is "head".
    aliases: other id -> (id of the link it is the same as, whether it runs backwards).
    notes: what the reader decided, in sentences; they appear in the report.
    distrusted_lengths: lengths exist, but were computed from something else than the network's course.
    """

    source: str
    ids: Sequence[Hashable]
    tails: Sequence[Hashable] | None = None
    heads: Sequence[Hashable] | None = None
    lengths: FloatArray | None = None
    curves: Sequence[FloatArray | None] | None = None
    positions: Mapping[Hashable, Sequence[float]] | None = None
    crs: Any = None
    unit: str | None = None
    attributes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    treatments: Sequence[Treatment] | None = None
    detach: Sequence[str | None] | None = None
    aliases: Mapping[Hashable, tuple[Hashable, bool]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    distrusted_lengths: bool = False

    def __post_init__(self) -> None:
        if not len(self.ids):
            raise NetworkError(
                f"a network needs at least one link, got none in {self.source}; check the file and its filter"
            )
        _require_unique(self.ids, self.source)
        self._require_rows()
        if (self.tails is None) != (self.heads is None):
            raise NetworkError(
                f"links need both tails and heads or neither, got one of them in {self.source}; give both"
            )
        if self.tails is None and self.curves is None:
            raise NetworkError(
                f"links need vertex ids or curves, got neither in {self.source}; nothing says what meets"
            )
        if self.lengths is not None:
            object.__setattr__(self, "lengths", _as_lengths(self.lengths, self.ids))
        self._require_aliases()

    @property
    def n_links(self) -> int:
        """Number of links."""
        return len(self.ids)

    def _require_rows(self) -> None:
        columns = {
            name: getattr(self, name)
            for name in ("tails", "heads", "lengths", "curves", "treatments", "detach")
        }
        columns |= {f"attribute {name!r}": column for name, column in self.attributes.items()}
        for name, column in columns.items():
            if column is not None and len(column) != self.n_links:
                raise NetworkError(
                    f"links need one row each, got {len(column)} {name} for {self.n_links} ids "
                    f"in {self.source}; give one a link"
                )

    def _require_aliases(self) -> None:
        known = set(self.ids)
        for alias, (target, _) in self.aliases.items():
            if alias in known:
                raise NetworkError(f"an alias must be no link's own id, got {alias!r}; name it otherwise")
            if target not in known:
                raise NetworkError(
                    f"an alias must stand for a link, got {alias!r} for {target!r}, which no link has; "
                    "point it at the link that stays"
                )


def _require_unique(ids: Sequence[Hashable], source: str) -> None:
    try:
        is_unique = len(set(ids)) == len(ids)
    except TypeError as cause:
        raise NetworkError(f"ids must be hashable, got {ids[0]!r:.60} in {source}; use text") from cause
    if not is_unique:
        name, count = Counter(ids).most_common(1)[0]
        raise NetworkError(
            f"ids must be unique, got {name!r} {count} times in {source}; choose a column without repetitions"
        )


def _as_lengths(lengths: FloatArray, ids: Sequence[Hashable]) -> FloatArray:
    values = as_float_vector(lengths, "lengths", NetworkError)
    bad = np.flatnonzero((values < 0) | np.isinf(values))
    if bad.size:
        raise NetworkError(
            f"lengths must be finite and not negative, got {values[bad[0]]} on link {ids[bad[0]]!r}; "
            "measure it or drop it"
        )
    return values


# Words of the readers' options.


def as_unit(unit: str | None, known: str, format_name: str) -> str:
    """The unit of a format that says it itself; another one would be a wrong length without a word.

    >>> as_unit(None, "km", "pandapower")
    'km'
    """
    if unit not in (None, known):
        raise NetworkError(
            f"lengths of {format_name} are in {known}, got unit={unit!r}; leave it out, and convert results"
        )
    return known


def as_treatment(
    chosen: Treatment | str, option: str, *, allowed: Iterable[Treatment] = tuple(Treatment)
) -> Treatment:
    """A treatment given as itself or by its word; `option` names it in the message.

    >>> as_treatment("cut", "closed")
    <Treatment.CUT: 'cut'>
    """
    words = {treatment.value: treatment for treatment in allowed}
    word = chosen.value if isinstance(chosen, Treatment) else chosen
    if not isinstance(word, str) or word not in words:
        raise NetworkError(f"{option} must be one of {', '.join(words)}, got {word!r}; choose one of them")
    return words[word]
