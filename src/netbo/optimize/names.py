"""The public door: names as text become objects here and nowhere else."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from netbo.acquisition import (
    Acquisition,
    FixedWidth,
    GpTs,
    IgpUcb,
    LogExpectedImprovement,
    MaxVariance,
    NoisyExpectedImprovement,
    RandomSearch,
    ValidWidth,
)
from netbo.errors import ParameterError
from netbo.optimize.presets import PRESETS, Preset

ACQUISITIONS: Mapping[str, Callable[[], Acquisition]] = {
    "ucb": lambda: IgpUcb(ValidWidth()),
    "thompson": lambda: GpTs(FixedWidth(1.0)),
    "noisy-ei": NoisyExpectedImprovement,
    "log-ei": LogExpectedImprovement,
    "max-variance": MaxVariance,
    "random": RandomSearch,
}
DIRECTIONS = {"maximize": 1, "minimize": -1}
T = TypeVar("T")


def as_preset(preset: Preset | str) -> Preset:
    """A preset, by itself or by name."""
    return preset if isinstance(preset, Preset) else _named("preset", preset, PRESETS)


def as_acquisition(acquisition: Acquisition | str) -> Acquisition:
    """An acquisition, by itself or by name."""
    if isinstance(acquisition, Acquisition):
        return acquisition
    return _named("acquisition", acquisition, ACQUISITIONS)()


def as_sign(direction: str) -> int:
    """+1 to maximize, -1 to minimize."""
    return _named("direction", direction, DIRECTIONS)


def _named(what: str, name: Any, known: Mapping[str, T]) -> T:
    if not isinstance(name, str) or name not in known:
        raise ParameterError(f"{what} must be one of {', '.join(known)}, or an object, got {name!r}")
    return known[name]
