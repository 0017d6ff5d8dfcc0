"""What an experiment is, in numbers and names: frozen, hashed, read from TOML or from the command line."""

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from types import NoneType
from typing import Any, Final, Self, get_args, get_origin, get_type_hints

import netbo
from netbo.errors import ParameterError
from netbo.problems import OUTER_FUNCTIONS, Placement

SPDE: Final = "SPDE"
EUCLIDEAN: Final = "Euclidean nu=1/2"  # the paper's baseline
MATCHED: Final = (
    "Euclidean nu=3/2"  # as smooth as the SPDE kernel with alpha = 1, its amplitude treated alike
)
IGP_UCB: Final = "IGP-UCB"
GP_TS: Final = "GP-TS"
DATA_BLIND: Final = "data-blind"
RANDOM: Final = "random"

_NAMES: Mapping[str, tuple[str, ...]] = {
    "functions": tuple(OUTER_FUNCTIONS),
    "placements": tuple(placement.value for placement in Placement),
    "acquisitions": (IGP_UCB, GP_TS),
    "kernels": (SPDE, EUCLIDEAN, MATCHED),
    "baselines": (DATA_BLIND, RANDOM),
}
_LEAST: Mapping[str, float] = {
    "repetitions": 1,
    "seed": 0,
    "sources": 1,
    "n_init": 1,
    "horizon_ucb": 1,
    "horizon_ts": 1,
    "b": 0.0,
    "tolerance": 0.0,
    "noise": 0.0,
    "max_cell": 0.0,
}
_POSITIVE = ("noise", "max_cell")


@dataclass(frozen=True, slots=True)
class Spec:
    """Everything that decides the table of an experiment, besides the version of netbo.

    A field that is None plays no part in the experiment. Factors are tuples: each value is tried.
    """

    name: str
    repetitions: int = 60
    seed: int = 0  # of the first repetition; the others count on from it
    quick: bool = False
    functions: tuple[str, ...] | None = None
    placements: tuple[str, ...] | None = None  # of the optimum on the open rectangle
    sources: int | None = None  # how many are tried on New York
    kernels: tuple[str, ...] | None = None
    acquisitions: tuple[str, ...] | None = None
    baselines: tuple[str, ...] | None = None  # that do without a kernel of their own
    b: tuple[float, ...] | None = None  # misspecification
    n_init: tuple[int, ...] | None = None  # measurements of the initial design
    max_cell: tuple[float, ...] | None = None  # h of the mesh
    horizon_ucb: int | None = None  # T of IGP-UCB and of what has no horizon of its own
    horizon_ts: int | None = None  # T of GP-TS
    tolerance: float | None = None  # Tol: a run stops within it of the maximum
    noise: float | None = None  # variance: of measurements on the rectangle, the nugget on New York

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, kind.checked(value))

    @property
    def seeds(self) -> range:
        """One for each repetition."""
        return range(self.seed, self.seed + self.repetitions)

    def with_settings(self, settings: Iterable[str]) -> Self:
        """The spec with fields replaced by `field=value`; a tuple's values are separated by commas.

        >>> Spec("benchmarks", b=(0.0,)).with_settings(["b=0,0.5", "repetitions=3"]).b
        (0.0, 0.5)
        """
        changes: dict[str, Any] = {}
        for setting in settings:
            name, is_assigned, text = setting.partition("=")
            if not is_assigned:
                raise ParameterError(f"a setting must be field=value, got {setting!r}; try repetitions=10")
            changes[name.strip()] = self.kind(name.strip()).parsed(text.strip())
        return replace(self, **changes)

    def updated(self, values: Mapping[str, Any]) -> Self:
        """The spec with fields replaced by values, as from a TOML file."""
        for name in values:
            self.kind(name)
        return replace(self, **values)

    def kind(self, name: str) -> "Kind":
        """What the values of one of its fields are; an error if it plays no part here."""
        own = [each for each in _KINDS if getattr(self, each) is not None]
        if name not in own:
            raise ParameterError(f"{self.name} has no setting {name!r}; it has {', '.join(own)}")
        return _KINDS[name]

    def as_dict(self) -> dict[str, Any]:
        """Fields that play a part, tuples as lists: what JSON and TOML hold."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def fingerprint(self) -> str:
        """Hash of the content and of the version of netbo: equal fingerprints, equal tables."""
        content = json.dumps([netbo.__version__, self.as_dict()], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def difference(self, other: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
        """First field in which stored values differ, with ours and theirs; None if there is none."""
        own = self.as_dict()
        for name in [*own, *(name for name in other if name not in own)]:
            if own.get(name) != other.get(name):
                return name, own.get(name), other.get(name)
        return None


@dataclass(frozen=True, slots=True)
class Kind:
    """What the values of a field are."""

    name: str
    type: type[int] | type[float] | type[bool] | type[str]
    is_tuple: bool

    def parsed(self, text: str) -> Any:
        """The value that a text means."""
        return (
            tuple(self._word(each.strip()) for each in text.split(",")) if self.is_tuple else self._word(text)
        )

    def _word(self, text: str) -> Any:
        if self.type is bool:
            self._refuse_unless(text in ("true", "false"), text, self._expected)
            return text == "true"
        try:
            return self.type(text)
        except ValueError:
            return self.checked(text)  # says what is wrong with it

    def checked(self, value: Any) -> Any:
        """The value in its type and range, or an error."""
        if not self.is_tuple:
            return self._item(value)
        items = tuple(value) if isinstance(value, list | tuple) else (value,)
        self._refuse_unless(len(items) > 0, value, "one value or more")
        self._refuse_unless(len(set(items)) == len(items), value, "values that differ from each other")
        return tuple(self._item(item) for item in items)

    def _item(self, value: Any) -> Any:
        if self.type is bool or isinstance(value, bool):
            self._refuse_unless(self.type is bool and isinstance(value, bool), value, self._expected)
            return value
        is_number = isinstance(value, int | float) and math.isfinite(value)
        is_whole = is_number and float(value).is_integer()
        fits = {int: is_whole, float: is_number, str: isinstance(value, str)}[self.type]
        self._refuse_unless(fits, value, self._expected)
        if self.name in _NAMES:
            self._refuse_unless(value in _NAMES[self.name], value, f"of {', '.join(_NAMES[self.name])}")
        if self.name in _LEAST:
            least, is_strict = _LEAST[self.name], self.name in _POSITIVE
            bound = f"above {least:g}" if is_strict else f"at least {least:g}"
            self._refuse_unless(value > least or (value == least and not is_strict), value, bound)
        return self.type(value)

    @property
    def _expected(self) -> str:
        return {int: "a whole number", float: "a finite number", str: "text", bool: "true or false"}[
            self.type
        ]

    def _refuse_unless(self, holds: bool, value: Any, expected: str) -> None:
        if not holds:
            raise ParameterError(f"{self.name} must be {expected}, got {value!r}")


def _kind(name: str, hint: Any) -> Kind:
    (hint,) = (
        [each for each in get_args(hint) if each is not NoneType] if NoneType in get_args(hint) else [hint]
    )
    is_tuple = get_origin(hint) is tuple
    return Kind(name, get_args(hint)[0] if is_tuple else hint, is_tuple)


_KINDS: Final = {field.name: _kind(field.name, get_type_hints(Spec)[field.name]) for field in fields(Spec)}


def read_toml(path: Path) -> dict[str, Any]:
    """Fields of a spec in a TOML file; `name` says which experiment it changes."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as reason:
        raise ParameterError(
            f"a spec must be a file that can be read, got {path}: {reason.strerror}"
        ) from reason
    except tomllib.TOMLDecodeError as reason:
        raise ParameterError(f"a spec must be a TOML file, got {path}: {reason}") from reason
    if not isinstance(values.get("name"), str):
        raise ParameterError(f'a spec must name its experiment, got {path}; add name = "benchmarks"')
    return values
