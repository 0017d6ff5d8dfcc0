"""Objective that locates a leak: pressures and flows by EPANET compared with logger readings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from netbo.adapters.misfit import (
    Misfit,
    MisfitScore,
    as_score,
    as_second_sd,
    best_size,
    require_fraction,
    require_sd,
    residuals_of,
)
from netbo.adapters.wntr import instruments
from netbo.adapters.wntr.model import WaterModel, simulate, water_model
from netbo.arrays import FloatArray
from netbo.checks import require_nonnegative
from netbo.errors import NetworkError, ParameterError

START = 0.1  # of the range of a flow that is not known: what is simulated first


def place_leak(model: Any, pipe_name: str, fraction: float, flow: float) -> str:
    """Put a constant demand (m3/s) on a pipe of a WaterNetworkModel, which is changed; the node it is at."""
    node = instruments.node_on_pipe(model, pipe_name, fraction)
    multiplier = model.options.hydraulic.demand_multiplier
    model.get_node(node).add_demand(flow / multiplier, instruments.constant_pattern(model))
    return node


@dataclass(frozen=True, eq=False)
class LeakReadings:
    """What instruments show, one row a time in seconds: pressures at nodes and flows in links."""

    pressures: pd.DataFrame
    flows: pd.DataFrame


@dataclass(frozen=True, eq=False)
class LeakMisfit(Misfit):
    """A function of a `Point` on a pipe: how well a leak there explains the readings; picklable.

    Made by `leak_misfit`, which checks what it is given.
    """

    event, edge = "leak", "pipe"

    model: WaterModel
    readings: LeakReadings
    flow: float | tuple[float, float]  # if it is known; the smallest and the largest it may be
    sd: float
    meter_sd: float
    score: MisfitScore

    def residuals(self, edge: Any, fraction: float) -> FloatArray:
        """Simulated minus measured, in standard deviations: pressures, then flows."""
        return self._explained(edge, fraction)[1]

    def flow_at(self, edge: Any, fraction: float) -> float:
        """The flow of a leak at a fraction of a pipe that explains the readings best."""
        return self._explained(edge, fraction)[0]

    def _explained(self, edge: Any, fraction: float) -> tuple[float, FloatArray]:
        """The best flow there and its residuals: one simulation if it is known, otherwise a few."""

        def residuals(flow: float) -> FloatArray:
            return self._residuals((edge, fraction, flow))

        if not isinstance(self.flow, tuple):
            return self.flow, residuals(self.flow)
        self.model.require_pipe(edge)
        lowest, highest = self.flow
        known = (lowest, self._without if lowest == 0 else residuals(lowest))
        return best_size(residuals, known, lowest + START * (highest - lowest), highest)

    @cached_property
    def _without(self) -> FloatArray:
        """Residuals without a leak, wherever it is not."""
        return self._residuals((self.model.pipes[0], 1.0, 0.0))

    def _residuals(self, leak: tuple[Any, float, float]) -> FloatArray:
        pressures, flows = self.readings.pressures, self.readings.flows
        simulated = _simulate(self.model, leak, _Wanted(pressures.index, pressures, flows))
        return np.concatenate(
            [
                residuals_of(simulated.pressures, pressures, self.sd),
                residuals_of(simulated.flows, flows, self.meter_sd),
            ]
        )

    def __repr__(self) -> str:
        units, readings = self.model.units, self.readings
        flow = " to ".join(f"{each:g}" for each in np.atleast_1d(self.flow))
        return (
            f"LeakMisfit({self.model.source}: a leak of {flow} {units.flow}, "
            f"{readings.pressures.size} pressures with sd {self.sd:g} {units.pressure}, "
            f"{readings.flows.size} flows)"
        )


def leak_misfit(
    inp: Any,
    loggers: Any,
    flow: float | tuple[float, float] | None = None,
    sd: float | None = None,
    *,
    meters: Any = None,
    meter_sd: float | None = None,
    units: str | None = None,
    score: MisfitScore | str = MisfitScore.LOG_ROOT_MEAN_SQUARE,
) -> LeakMisfit:
    """How well a leak at (pipe, fraction) explains measured pressures: a function to maximize over a network.

    The pipe is split there, the leak is a constant demand, EPANET simulates, and the score is
    -log sqrt(mean(((p - measured) / sd)^2)), or another of `MisfitScore`. If the flow is not known, it is the
    one that explains the readings best at that place (`misfit.flow_at`): two or three simulations.

    A pipe closed at the start, or with a check valve, is closed at its head: there the part that leaks hangs
    on the first node. At an end that is a tank or reservoir the leak is a thousandth of the pipe inside.

    Parameters
    ----------
    inp : path or wntr.network.WaterNetworkModel
        The model. It is never changed, and no file is left behind.
    loggers : DataFrame, Series or mapping
        Measured pressures: a table with one column a node and one row a time (index in seconds, or
        timedeltas), or {node: pressure} at time 0. NaN: that reading is missing.
    flow : float or (float, float), optional
        Of the leak if it is known, or the smallest and the largest it may be. By default it may be anything
        up to what all customers together draw.
    sd : float
        Standard deviation of one reading; needed.
    meters : DataFrame, Series or mapping, optional
        Measured flows in links, in the same form.
    meter_sd : float, optional
        Standard deviation of a flow; needed with `meters`.
    units : {"file", "SI"}, optional
        Of flows, pressures and errors. "file": the flow unit of the file, with psi or m; "SI": m3/s and m of
        water. By default "file" for a path and "SI" for a wntr model, which is what wntr holds itself.
    score : MisfitScore or str
        "log root mean square", "root mean square" or "log likelihood".

    Returns
    -------
    LeakMisfit
        A function of a `Point` on the network that `read_wntr` reads.

    Raises
    ------
    NetworkError
        If a logger or meter is at no node or link, or there are no readings.
    ParameterError
        If a standard deviation, the flow, the units or the score are wrong.

    Examples
    --------
    >>> import wntr
    >>> model = wntr.network.WaterNetworkModel()
    >>> model.add_reservoir("lake", base_head=50.0)
    >>> model.add_junction("town", elevation=10.0)
    >>> model.add_pipe("main", "lake", "town", length=1000.0, diameter=0.3, roughness=100.0)
    >>> leak_misfit(model, {"town": 38.0}, flow=0.05, sd=0.1)
    LeakMisfit(wntr model: a leak of 0.05 m3/s, 1 pressures with sd 0.1 m, 0 flows)
    """
    model = water_model(inp, units)
    pressures = instruments.as_table(loggers, model.nodes, "loggers", model)
    flows = instruments.as_table({} if meters is None else meters, model.links, "meters", model)
    if meters is None:
        flows = pd.DataFrame(index=pressures.index)
    second_sd = as_second_sd(meter_sd, "meter_sd", readings="flow meters", has_readings=meters is not None)
    if not pressures.index.equals(flows.index):
        raise NetworkError(
            f"loggers and meters must have the same times, got {len(pressures)} and {len(flows)} rows; fill "
            "what is missing with NaN"
        )
    if not (pressures.notna().any(axis=None) or flows.notna().any(axis=None)):
        raise NetworkError("a misfit needs readings, got none; give {node: pressure} or a table")
    return LeakMisfit(
        model=model,
        readings=LeakReadings(pressures, flows),
        flow=_require_flows(flow, model),
        sd=require_sd(sd, "sd"),
        meter_sd=second_sd,
        score=as_score(score),
    )


def simulate_leak(
    inp: Any,
    pipe: str,
    fraction: float,
    flow: float,
    *,
    loggers: Sequence[str],
    meters: Sequence[str] = (),
    times: Sequence[float] | None = None,
    sd: float = 0.0,
    meter_sd: float = 0.0,
    seed: int = 0,
    units: str | None = None,
) -> LeakReadings:
    """What loggers (nodes) and meters (links) would show with a leak, plus normal errors: data to try on.

    Parameters
    ----------
    inp : path or wntr.network.WaterNetworkModel
        The model, which is not changed.
    pipe : str
        Where the leak is, and
    fraction : float
        the share of the pipe before it, from its first node.
    flow : float
        Of the leak.
    loggers, meters : sequence of str
        Nodes whose pressures and links whose flows are read.
    times : sequence of float, optional
        In seconds; by default every reported time of the file.
    sd, meter_sd : float, default 0.0
        Standard deviations of the errors.
    seed : int, default 0
        Of the errors.
    units : {"file", "SI"}, optional
        As for `leak_misfit`.

    Returns
    -------
    LeakReadings
        Tables of pressures and flows.

    Raises
    ------
    NetworkError
        If a pipe, node or link is unknown, or a time is not reported.
    NumericalError
        If EPANET fails.
    """
    model = water_model(inp, units)
    known = np.arange(0.0, model.duration + model.step / 2, model.step)
    index = pd.Index(known if times is None else np.asarray(times, dtype=np.float64), name="time")
    wanted = _Wanted(
        instruments.require_times(index, model),
        instruments.require_known(loggers, model.nodes, "loggers", model),
        instruments.require_known(meters, model.links, "meters", model),
    )
    exact = _simulate(model, (pipe, fraction, _require_flow(flow, model)), wanted)
    rng = np.random.default_rng(seed)
    return LeakReadings(
        exact.pressures + sd * rng.standard_normal(exact.pressures.shape),
        exact.flows + meter_sd * rng.standard_normal(exact.flows.shape),
    )


@dataclass(frozen=True, eq=False)
class _Wanted:
    """Times, and the nodes and links (any iterables of names) to be read."""

    times: pd.Index
    nodes: Any
    links: Any


def _simulate(model: WaterModel, leak: tuple[Any, float, float], wanted: _Wanted) -> LeakReadings:
    """Readings without errors, in the units of the model."""
    pipe, fraction, flow = leak
    name, share = model.require_pipe(pipe), require_fraction(fraction)
    changed = model.copy()
    place_leak(changed, name, share, flow * model.units.flow_si)
    described = f"a leak at {share:g} of pipe {name!r} of {model.source}"
    results = simulate(changed, float(wanted.times.max()), described)
    return LeakReadings(
        instruments.picked(results.node["pressure"], wanted.times, wanted.nodes) / model.units.pressure_si,
        instruments.picked(results.link["flowrate"], wanted.times, wanted.links) / model.units.flow_si,
    )


def _require_flow(flow: float, model: WaterModel) -> float:
    return require_nonnegative(
        "the flow of a leak",
        flow,
        f"water that is lost counts as positive, in {model.units.flow}",
        kind="finite and not negative",
    )


def _require_flows(
    flow: float | tuple[float, float] | None, model: WaterModel
) -> float | tuple[float, float]:
    """A known flow, or the smallest and the largest it may be."""
    if flow is None:
        if not model.demand > 0:
            raise ParameterError(
                f"a leak of unknown flow may be as large as the demand of {model.source}, got a demand of 0; "
                "give flow=, or flow=(lowest, highest)"
            )
        return 0.0, model.demand / model.units.flow_si
    if not isinstance(flow, tuple):
        return _require_flow(flow, model)
    flows = tuple(_require_flow(each, model) for each in flow)
    if not (len(flows) == 2 and flows[0] < flows[1]):
        raise ParameterError(
            f"a range of flows must be (lowest, highest), got {flow}; give one number if the flow is known"
        )
    return flows
