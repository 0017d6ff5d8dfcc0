"""Water models for simulation: opened, copied quickly, run by EPANET, in the units of their owner."""

import logging
import os
import pickle
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from netbo.errors import NetworkError, NumericalError, ParameterError
from netbo.optional import require
from netbo.wording import listing

PURPOSE = "reading water networks"
ABSURD_HEAD = -1e4  # m; EPANET answers with about -1e7 where no water can come from


def load_wntr() -> Any:
    """The wntr package; `six`, which it imports without declaring it, is asked for by name."""
    require("six", extra="water", purpose=PURPOSE)
    with np.printoptions():  # importing it changes how numpy prints, everywhere
        return require("wntr", extra="water", purpose=PURPOSE)


@dataclass(frozen=True)
class Units:
    """Names of the units of flow and pressure, and what one of each is in m3/s and m of water."""

    flow: str
    pressure: str
    flow_si: float = field(repr=False)
    pressure_si: float = field(repr=False)


SI = Units("m3/s", "m", 1.0, 1.0)


@dataclass(frozen=True, eq=False)
class WaterModel:
    """A model that can be copied quickly and sent to other processes.

    Kept as a pickle of our own: loading it takes a sixth of the time of `copy.deepcopy`.
    """

    source: str
    units: Units
    content: bytes = field(repr=False)
    pipes: tuple[str, ...] = field(repr=False)
    links: tuple[str, ...] = field(repr=False)
    nodes: tuple[str, ...] = field(repr=False)
    step: float = field(repr=False)  # s between reported states
    duration: float = field(repr=False)  # s
    demand: float = field(repr=False)  # m3/s that all customers together draw, before patterns

    def copy(self) -> Any:
        """A WaterNetworkModel of one's own."""
        load_wntr()
        return pickle.loads(self.content)

    def require_pipe(self, name: Any, event: str = "leak") -> str:
        """A pipe's name, or an error that says which there are."""
        if name not in self.pipes:
            what = "a pump or valve" if name in self.links else "no link"
            raise NetworkError(
                f"a {event} must be on a pipe of {self.source}, got {name!r}, which is {what}; "
                f"pipes are {listing(self.pipes)}"
            )
        return str(name)


def open_model(source: Any) -> tuple[Any, str]:
    """A WaterNetworkModel of an EPANET file or of itself, and its name for people."""
    wntr = load_wntr()
    if isinstance(source, wntr.network.WaterNetworkModel):
        return source, f"wntr model {Path(source.name).name}" if source.name else "wntr model"
    path = Path(source)
    if not path.is_file():
        raise NetworkError(f"an EPANET file must exist, got {path}; check the path")
    try:
        with _quiet():  # a bare name might be one of wntr's own models
            return wntr.network.WaterNetworkModel(str(path.absolute())), f"EPANET file {path.name}"
    except Exception as cause:  # wntr's parser raises whatever the broken line provokes
        raise NetworkError(
            f"an EPANET file must be readable by wntr, got {type(cause).__name__}: {cause} in {path.name}; "
            "open it in EPANET and save it again"
        ) from cause


def water_model(source: Any, units: str | None = None) -> WaterModel:
    """A model to simulate. units: 'file' (by default for files) or 'SI' (by default for wntr models)."""
    model, name = open_model(source)
    words = ("file", "SI")
    if units is not None and units not in words:
        raise ParameterError(f"units must be 'file' or 'SI', got {units!r}; choose one of them")
    in_file = units == "file" or (units is None and isinstance(source, str | os.PathLike))
    times = model.options.time
    return WaterModel(
        source=name,
        units=_file_units(model) if in_file else SI,
        content=pickle.dumps(model),
        pipes=tuple(model.pipe_name_list),
        links=tuple(model.link_name_list),
        nodes=tuple(model.node_name_list),
        step=float(times.report_timestep),
        duration=float(times.duration),
        demand=_demand(model),
    )


def _demand(model: Any) -> float:
    """Wells, which are junctions that draw less than nothing, do not count."""
    drawn = (each.base_value for _, node in model.junctions() for each in node.demand_timeseries_list)
    return float(model.options.hydraulic.demand_multiplier * sum(max(each, 0.0) for each in drawn))


def simulate(model: Any, duration: float, described: str, *, quality: str = "NONE") -> Any:
    """EPANET's results for a model that may be changed; `described` says in a message what was simulated.

    Files go to a folder that is removed. Water quality is switched off unless it is asked for ("CHEMICAL").
    """
    wntr = load_wntr()
    times = model.options.time
    times.duration, times.report_start, times.statistic = duration, 0.0, "NONE"
    model.options.quality.parameter = quality
    with tempfile.TemporaryDirectory(prefix="netbo-") as folder, _quiet():
        try:
            simulator = wntr.sim.EpanetSimulator(model)
            results = simulator.run_sim(file_prefix=str(Path(folder) / "run"), convergence_error=True)
        except (RuntimeError, wntr.epanet.exceptions.EpanetException) as cause:
            raise NumericalError(
                f"EPANET failed on {described}, got {cause}; check the model there"
            ) from cause
    lowest = float(results.node["pressure"].min().min())
    if lowest < ABSURD_HEAD:
        raise NumericalError(
            f"EPANET finds no way for the water on {described}, got a pressure of {lowest:.3g} m; that part "
            "is cut off from every tank and reservoir"
        )
    return results


def _file_units(model: Any) -> Units:
    util = load_wntr().epanet.util
    unit = util.FlowUnits[model.options.hydraulic.inpfile_units]
    pressure = "psi" if unit.is_traditional else "m"
    factors = (float(util.to_si(unit, 1.0, each)) for each in (util.HydParam.Flow, util.HydParam.Pressure))
    return Units(unit.name, pressure, *factors)


@contextmanager
def _quiet() -> Iterator[None]:
    """wntr logs and warns of what its users know (duplicate controls, unused curves, low pressures)."""
    logger = logging.getLogger("wntr")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"wntr\..*")
            yield
    finally:
        logger.setLevel(level)
