"""Objective that locates a contamination: what EPANET carries to the sensors compared with their readings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from netbo.adapters.misfit import (
    Misfit,
    MisfitScore,
    as_score,
    require_fraction,
    require_sd,
    residuals_of,
)
from netbo.adapters.wntr import instruments
from netbo.adapters.wntr.model import WaterModel, simulate, water_model
from netbo.arrays import FloatArray
from netbo.checks import require_positive
from netbo.errors import NetworkError

GRAMS = 1e3  # in a kilogram, and mg/L in a kg/m3


def place_source(model: Any, pipe_name: str, fraction: float, rate: float) -> str:
    """Let a mass (kg/s) into a pipe of a WaterNetworkModel, which is changed; the node it is at.

    Water is clean at the start, and nothing reacts: what the file says of chlorine has no part in it.
    """
    node = instruments.node_on_pipe(model, pipe_name, fraction)
    for name in list(model.source_name_list):
        model.remove_source(name)
    for _, each in model.nodes():
        each.initial_quality = 0.0
    for _, pipe in model.pipes():
        pipe.bulk_coeff = pipe.wall_coeff = 0.0
    model.options.reaction.bulk_coeff = model.options.reaction.wall_coeff = 0.0
    model.add_source(f"{node}-source", node, "MASS", rate, instruments.constant_pattern(model))
    return node


@dataclass(frozen=True, eq=False)
class ContaminationMisfit(Misfit):
    """A function of a `Point` on a pipe: how well a source there explains the concentrations; picklable.

    Made by `contamination_misfit`, which checks what it is given.
    """

    event, edge = "contamination", "pipe"

    model: WaterModel
    concentrations: pd.DataFrame
    rate: float
    sd: float
    score: MisfitScore

    def residuals(self, edge: Any, fraction: float) -> FloatArray:
        """Simulated minus measured concentrations, in standard deviations."""
        read = self.concentrations
        simulated = _simulate(self.model, (edge, fraction, self.rate), read.index, list(read))
        return residuals_of(simulated, read, self.sd)

    def __repr__(self) -> str:
        return (
            f"ContaminationMisfit({self.model.source}: {self.rate:g} g/s, {self.concentrations.size} "
            f"concentrations with sd {self.sd:g} mg/L)"
        )


def contamination_misfit(
    inp: Any,
    sensors: Any,
    rate: float,
    sd: float,
    *,
    score: MisfitScore | str = MisfitScore.LOG_ROOT_MEAN_SQUARE,
) -> ContaminationMisfit:
    """How well a source at (pipe, fraction) explains measured concentrations: a function to maximize.

    From time 0 a constant mass is let into clean water there; EPANET carries it along without reactions.

    Parameters
    ----------
    inp : path or wntr.network.WaterNetworkModel
        The model. It is never changed, and no file is left behind.
    sensors : DataFrame, Series or mapping
        Measured concentrations in mg/L: one column a node and one row a time (index in seconds, or
        timedeltas). NaN: that reading is missing.
    rate : float
        Mass let in, in g/s.
    sd : float
        Standard deviation of one reading in mg/L.
    score : MisfitScore or str
        "log root mean square", "root mean square" or "log likelihood".

    Returns
    -------
    ContaminationMisfit
        A function of a `Point` on the network that `read_wntr` reads.

    Raises
    ------
    NetworkError
        If a sensor is at no node, or there are no readings.
    ParameterError
        If the rate, the standard deviation or the score are wrong.

    Examples
    --------
    >>> import wntr
    >>> model = wntr.network.WaterNetworkModel()
    >>> model.add_reservoir("lake", base_head=50.0)
    >>> model.add_junction("town", base_demand=0.01, elevation=10.0)
    >>> model.add_pipe("main", "lake", "town", length=1000.0, diameter=0.3, roughness=100.0)
    >>> contamination_misfit(model, {"town": 0.0}, rate=1.0, sd=0.1)
    ContaminationMisfit(wntr model: 1 g/s, 1 concentrations with sd 0.1 mg/L)
    """
    model = water_model(inp, "SI")
    read = instruments.as_table(sensors, model.nodes, "sensors", model, maker="simulate_contamination")
    if not read.notna().any(axis=None):
        raise NetworkError("a misfit needs readings, got none; give a table of concentrations")
    return ContaminationMisfit(model, read, _require_rate(rate), require_sd(sd, "sd"), as_score(score))


def simulate_contamination(
    inp: Any,
    pipe: str,
    fraction: float,
    rate: float,
    *,
    sensors: Sequence[str],
    times: Sequence[float] | None = None,
    sd: float = 0.0,
    seed: int = 0,
) -> pd.DataFrame:
    """What sensors would show of a contamination, plus normal errors: data to try on.

    Parameters
    ----------
    inp : path or wntr.network.WaterNetworkModel
        The model, which is not changed.
    pipe : str
        Where mass is let in, and
    fraction : float
        the share of the pipe before it, from its first node.
    rate : float
        In g/s, from time 0 on.
    sensors : sequence of str
        Nodes whose concentrations are read.
    times : sequence of float, optional
        In seconds; by default every reported time of the file.
    sd : float, default 0.0
        Standard deviation of the errors, in mg/L.
    seed : int, default 0
        Of the errors.

    Returns
    -------
    DataFrame
        Concentrations in mg/L, one row a time and one column a sensor.

    Raises
    ------
    NetworkError
        If a pipe or node is unknown, or a time is not reported.
    NumericalError
        If EPANET fails.
    """
    model = water_model(inp, "SI")
    known = np.arange(0.0, model.duration + model.step / 2, model.step)
    index = instruments.require_times(
        pd.Index(known if times is None else np.asarray(times, dtype=np.float64), name="time"), model
    )
    names = instruments.require_known(sensors, model.nodes, "sensors", model)
    exact = _simulate(model, (pipe, fraction, _require_rate(rate)), index, names)
    return exact + sd * np.random.default_rng(seed).standard_normal(exact.shape)


def _simulate(
    model: WaterModel, source: tuple[Any, float, float], times: pd.Index, nodes: Sequence[Any]
) -> pd.DataFrame:
    """Concentrations without errors, in mg/L."""
    pipe, fraction, rate = source
    name, share = model.require_pipe(pipe, "contamination"), require_fraction(fraction)
    changed = model.copy()
    place_source(changed, name, share, rate / GRAMS)
    described = f"a contamination at {share:g} of pipe {name!r} of {model.source}"
    results = simulate(changed, float(times.max()), described, quality="CHEMICAL")
    return instruments.picked(results.node["quality"], times, nodes) * GRAMS


def _require_rate(rate: float) -> float:
    return require_positive("rate", rate, "give the mass let in, in g/s", kind="a positive number of g/s")
