"""Bad arguments for public callables: a sentence of the package or an answer, and nothing changed.

Every callable is known by a good call; in each case one argument of it is replaced by something else. What
may come of it: an answer (the thing happened to be fine), an error of the package, or a TypeError from the
call itself (a keyword that does not exist). After an error an optimizer or a study is as it was.
"""

import importlib
import inspect
import math
import tempfile
import warnings
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import optuna
import pandas

import netbo
from netbo.errors import BaseError
from netbo.optimize import CandidatePlaces, Given, History, NetworkMatern

PACKAGES = (
    "acquisition",
    "fem",
    "geometry",
    "optimize",
    "posterior",
    "priors",
    "problems",
    "studies",
    "adapters",
)
HUGE = 2**70
HOOKS = ("callbacks", "stop")  # functions of the user's: what they raise when they are called is theirs


LEFT_OUT = {
    # between layers, of arrays that were checked before
    "along_edges", "distinct_places", "draw_path", "extremes", "field_columns",
    "field_sources", "field_covariance",
    "gaussian_samples", "graph_facts", "interpolated_variance", "joint_with", "log_expected_improvement",
    "mean_distances", "nearest_nodes", "parts_of",
    "as_place", "as_places", "is_pair", "place_keys", "place_vertices", "score_function", "thumbnail",
    # the paper's own problems and whole experiments: minutes a call
    "compare", "edgewise_problem", "new_york", "new_york_inversion", "open_rectangle_benchmark",
    "placed_anchors", "narrow_rectangle",
    # files, which have a fuzz of their own, and what drives other people's functions
    "assemble", "read_network", "write_network", "work",
}  # fmt: skip


class Raises:
    """An object that raises whatever is asked of it, and can be printed."""

    def __repr__(self):
        return "Raises()"

    def _refuse(self, *_, **__):
        raise RuntimeError("no answer")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __array__ = __getitem__ = __bool__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _refuse


BAD: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "-1": lambda: -1,
    "0": lambda: 0,
    "-0.5": lambda: -0.5,
    "0.5": lambda: 0.5,
    "1e308": lambda: 1e308,
    "1e-320": lambda: 1e-320,
    "10**400": lambda: 10**400,
    "10**5000": lambda: 10**5000,
    "2**70": lambda: HUGE,
    "True": lambda: True,
    "complex": lambda: 1j,
    "empty text": lambda: "",
    "text": lambda: "x",
    "surrogate": lambda: "\ud800",
    "nul": lambda: "a\0b",
    "bytes": lambda: b"x",
    "empty list": list,
    "nested list": lambda: [[1.0, 2.0], [3.0]],
    "list of None": lambda: [None],
    "list of nan": lambda: [math.nan],
    "list of text": lambda: ["a", "b"],
    "dict": dict,
    "set": lambda: {1.5},
    "object": object,
    "raises": Raises,
    "matrix": lambda: np.eye(3),
    "objects": lambda: np.array([None, "a"], dtype=object),
    "three": lambda: np.array([1.0, 2.0, 3.0]),
    "datetime": lambda: np.datetime64("2020-01-01"),
    "timedelta": lambda: np.timedelta64(3, "s"),
    "function": lambda: lambda: None,
    "class": lambda: int,
    "generator": lambda: (i for i in range(3)),
    "other graph": lambda: netbo.interval(9.0),
    "other points": lambda: netbo.interval(9.0).points(0, [8.0]),
    "point": lambda: netbo.interval(9.0).points(0, 8.0)[0],
}


@dataclass(frozen=True)
class Call:
    """A callable, its good arguments, and what must stay as it was when it fails."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    state: Callable[[], object] = lambda: None


def _measured(**options):
    optimizer = netbo.Optimizer(netbo.star(3, length=2.0), max_cell=0.5, design=3, noise=0.01, **options)
    optimizer.tell(optimizer.graph.points([0, 1, 2], [0.5, 1.0, 1.5]), [1.0, -0.5, 0.3])
    optimizer.ask()
    return optimizer


def _functions() -> list[Call]:
    """Functions and constructors, which have no state."""
    graph = netbo.star(3, length=2.0)
    drawn = netbo.grid(2, 3)
    space = netbo.FiniteElementSpace.build(graph, max_cell=0.5)
    matern = netbo.Matern(alpha=1.0, range=1.0)
    prior = netbo.whittle_matern(space, matern)
    dense = netbo.spectral(space, matern)
    points = graph.points([0, 1], [0.5, 1.0])
    data = netbo.Observations(points, [1.0, 2.0], [0.1, 0.1])
    posterior = netbo.condition(prior, data)
    network = netbo.adapters.as_network(graph)
    rng = np.random.default_rng(0)
    o, p = netbo.optimize, netbo.posterior
    table = pandas.DataFrame({"edge": [0, 1], "distance": [0.5, 1.0], "value": [1.0, 2.0]})
    optimizer = _measured()
    samples = optimizer.maximizer(5)
    f = lambda x: x.distance  # noqa: E731
    listed: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (netbo.Matern, {"alpha": 1.0, "range": 1.0, "sigma": 1.0}),
        (netbo.Matern, {"alpha": 1.0, "kappa": 1.0, "tau": 1.0}),
        (
            netbo.MetricGraph,
            {
                "tails": [0, 1], "heads": [1, 2], "lengths": [1.0, 2.0], "positions": None, "curves": None,
                "unit": "m", "edge_ids": ["a", "b"], "vertex_ids": None, "edge_attributes": {},
            },
        ),
        (netbo.Points, {"edge": [0], "z": [0.5], "graph": graph}),
        (netbo.circle, {"length": 1.0}),
        (netbo.interval, {"length": 1.0}),
        (netbo.star, {"n_arms": 3, "length": 1.0}),
        (netbo.grid, {"rows": 2, "columns": 2, "spacing": 1.0}),
        (netbo.road, {"n_vertices": 9, "seed": 0, "spacing": 1.0}),
        (netbo.telecom, {"n_vertices": 9, "seed": 0, "attachments": 2}),
        (netbo.open_rectangle, {"width": 3.0, "height": 1.0, "gap": 0.5}),
        (netbo.merge_vertices, {"graph": drawn, "tolerance": 0.1}),
        (netbo.uniform_points, {"graph": graph, "n": 3, "rng": rng}),
        (netbo.FiniteElementSpace.build, {"graph": graph, "max_cell": 0.5, "min_cells": 1}),
        (netbo.FiniteElementSpace.build, {"graph": graph, "n_nodes": 20}),
        (space.locate, {"x": points}),
        (space.basis, {"x": points}),
        (
            netbo.whittle_matern,
            {
                "where": space, "matern": matern, "lumped": False, "vertex_condition": 0.0,
                "constant_variance": False,
            },
        ),
        (netbo.whittle_matern, {"where": space, "matern": netbo.Matern(0.8, range=1.0), "tolerance": 1e-6}),
        (netbo.spectral, {"space": space, "matern": matern, "vertex_condition": 0.0}),
        (netbo.euclidean_matern, {"graph": graph, "nu": 0.5, "range": 1.0, "sigma": 1.0}),
        (netbo.edgewise_matern, {"graph": graph, "range": 1.0, "sigma": 1.0, "profile": 1.0}),
        (prior.covariance, {"x": points, "y": points}),
        (prior.variance, {"x": points}),
        (prior.sample, {"x": points, "rng": rng, "n": 2}),
        (prior.rescaled, {"range": 1.0, "sigma": 1.0}),
        (dense.covariance, {"x": points, "y": points}),
        (netbo.priors.sum_of, {"shares": [1.0]}),
        (netbo.Observations, {"points": points, "values": [1.0, 2.0], "noise": [0.1, 0.2]}),
        (netbo.condition, {"prior": prior, "observations": data, "regularization": 0.1, "mean": 0.0}),
        (netbo.condition, {"prior": dense, "observations": data, "noise": 0.1}),
        (posterior.mean, {"x": points}),
        (posterior.std, {"x": points}),
        (posterior.covariance, {"x": points, "y": points}),
        (posterior.sample, {"x": points, "rng": rng, "scale": 1.0, "n": 2}),
        (posterior.extend, {"new": data}),
        (posterior.with_parameters, {"prior": prior, "regularization": 0.1}),
        (
            netbo.fit_parameters,
            {
                "prior": prior, "observations": data, "regularization": 0.1, "mean": 0.0,
                "amplitude": p.Amplitude.ESTIMATED, "bounds": None, "beliefs": None, "start": None,
            },
        ),
        (p.FitBounds, {"range": (0.1, 1.0), "sigma": (0.1, 1.0), "noise_ratio": (0.1, 1.0)}),
        (p.Belief, {"median": 1.0, "log_sd": 1.0}),
        (p.Beliefs, {"range": None, "noise_ratio": None}),
        (p.weights_by_evidence, {"log_evidences": [0.0, 1.0]}),
        (netbo.acquisition.FixedWidth, {"value": 1.0}),
        (netbo.acquisition.PaperWidth, {"rkhs_bound": 1.0, "noise_bound": 1.0, "failure_probability": 0.1}),
        (netbo.acquisition.ValidWidth, {"rkhs_bound": 1.0, "noise_bound": 1.0, "misspecification": 0.1}),
        (netbo.acquisition.LogExpectedImprovement, {"margin": 0.0}),
        (netbo.acquisition.NoisyExpectedImprovement, {"n_draws": 4, "n_incumbents": 4}),
        (netbo.acquisition.GpTs, {"width": netbo.acquisition.FixedWidth(1.0)}),
        (netbo.acquisition.IgpUcb, {"width": netbo.acquisition.FixedWidth(1.0)}),
        (o.Maximin, {"size": 3, "metric": o.Metric.GEODESIC}),
        (o.RandomDesign, {"size": 3}),
        (o.Budget, {"evaluations": 3}),
        (o.Target, {"value": 1.0}),
        (o.NoProgress, {"n": 3, "tolerance": 0.0}),
        (o.BoundGap, {"gap": 1.0, "width": 2.0}),
        (o.FixedRegularization, {"value": 1.0}),
        (o.Learned, {"models": (NetworkMatern(),), "mean": 0.0}),
        (o.Known, {"model": Given(prior), "mean": 0.0}),
        (CandidatePlaces, {"graph": graph, "points": points}),
        (o.Continuum, {"graph": graph, "spacing": None, "n_points": 20}),
        (o.Nodes, {"space": space}),
        (netbo.Forbidden, {"edges": [0], "stretches": [(1, 0.1, 0.2)]}),
        (o.default_draws, {"n_candidates": 10}),
        (o.process_pool, {"n": 0}),
        (
            o.modes,
            {
                "samples": samples, "surrogate": optimizer.posterior, "search": optimizer.search, "k": 2,
                "separation": 0.1, "level": 0.9,
            },
        ),
        (o.search_list, {"samples": samples, "search": optimizer.search, "mass": 0.5}),
        (
            netbo.Optimizer,
            {
                "domain": graph, "preset": "calibrated", "acquisition": "ucb", "candidates": None,
                "design": 3, "fit": None, "noise": 0.1, "direction": "maximize", "seed": 0, "repeats": None,
                "separation": 0.0, "max_cell": 0.5, "history": (),
            },
        ),
        (
            netbo.maximize,
            {
                "f": f, "graph": graph, "budget": 2, "seed": 0, "executor": None, "workers": None,
                "callbacks": (), "stop": (), "catch": (Exception,), "max_cell": 0.5, "noise": 0.0,
            },
        ),
        (netbo.minimize, {"f": f, "graph": graph, "budget": 2, "max_cell": 0.5, "noise": 0.0}),
        (o.run, {"f": f, "optimizer": _measured(repeats=False), "budget": 3, "workers": None}),
        (
            p.fit_smoothness,
            {"prior": lambda alpha: prior, "observations": data, "bounds": (0.5, 1.0)},
        ),
        (netbo.geometry.split_at, {"graph": graph, "points": points}),
        (netbo.geometry.cut_at, {"graph": graph, "vertex": 0, "edges": [0]}),
        (netbo.geometry.contract, {"graph": drawn, "tolerance": 0.1}),
        (netbo.geometry.merge_degree_two, {"graph": drawn}),
        (netbo.problems.suite_problem, {"name": "none"}),
        (
            netbo.problems.composed,
            {
                "graph": drawn, "outer": netbo.problems.ACKLEY, "anchors": [[0.0, 0.0], [1.0, 1.0]],
                "noise": 0.0, "name": None,
            },
        ),
        (netbo.adapters.read_stretches, {"network": graph, "table": table}),
        (netbo.read, {"source": networkx.path_graph(3), "format": "networkx"}),
        (netbo.adapters.load, {"document": netbo.adapters.dump(graph)}),
        (netbo.adapters.dump, {"network": graph, "attributes": None}),
        (netbo.adapters.content_hash, {"graph": graph}),
        (netbo.adapters.as_network, {"graph": graph}),
        (network.points, {"edge_ids": 0, "distance": 0.5}),
        (
            netbo.adapters.snap_measurements,
            {"network": graph, "table": table, "value": "value", "edge": "edge", "distance": "distance"},
        ),
        (netbo.adapters.read_places, {"network": graph, "table": table}),
        (netbo.problems.random_field, {"where": space, "prior": matern, "seed": 0, "noise": 0.0}),
        (netbo.problems.needle, {"graph": graph, "width": 0.1, "height": 1.0, "seed": 0, "noise": 0.0}),
        (netbo.problems.nodal_problem, {"name": "x", "space": space, "values": np.ones(space.n_nodes)}),
        (graph.points, {"edge_ids": 0, "distance": 0.5}),
        (graph.points, {"edge_ids": 0, "fraction": 0.5, "start": None}),
        (graph.distance, {"x": points, "y": points}),
        (graph.embed, {"x": points}),
        (drawn.nearest, {"xy": [[0.1, 0.2]], "limit": 9.0}),
        (graph.bind, {"points": points}),
        (graph.split, {"x": points}),
        (graph.subgraph, {"component": 0}),
        (graph.intervals, {"edge_ids": [0], "start": [0.1], "end": [0.2]}),
        (graph.edge_indices, {"edge_ids": [0]}),
    ]  # fmt: skip
    return [Call(_name(function), function, arguments) for function, arguments in listed]


def _methods(folder: Path) -> list[Call]:
    """Methods of an optimizer and of a study, whose record must not change when they fail."""
    optimizer = _measured()
    graph = optimizer.graph
    record = lambda: [repr(trial) for trial in optimizer.history]  # noqa: E731
    pending = optimizer.history.pending[0].id
    listed: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (optimizer.tell, {"subject": pending, "values": math.inf, "noise": 0.1, "at": graph.points(0, 0.1)}),
        (
            optimizer.tell,
            {"subject": graph.points([0, 1], [0.5, 0.5]), "values": [1.0, math.inf], "noise": None},
        ),
        (optimizer.ask, {"travel": None}),
        (optimizer.cancel, {"suggestion": 99}),
        (optimizer.correct, {"suggestion": 99, "value": 1.0, "noise": 0.1}),
        (optimizer.correct, {"suggestion": 0, "value": math.nan}),
        (optimizer.withdraw, {"suggestion": 99}),
        (optimizer.modes, {"k": 1, "separation": 0.1, "level": 0.9, "draws": 5}),
        (optimizer.search_list, {"mass": 0.5, "draws": 5}),
        (optimizer.maximizer, {"draws": 5}),
        (optimizer.replace_history, {"history": History(optimizer.history)}),
    ]
    calls = [
        Call(f"Optimizer.{function.__name__}", function, arguments, record) for function, arguments in listed
    ]
    storage = optuna.storages.InMemoryStorage()
    options = {"max_cell": 0.5, "design": 3, "noise": 0.01}
    study = netbo.Study.create(graph, name="fuzz", storage=storage, **options)
    study.tell(study.ask(), 1.0)
    asked = study.ask()
    seen = lambda: [repr(record) for record in study.records]  # noqa: E731
    names = lambda: sorted(s.study_name for s in storage.get_all_studies())  # noqa: E731
    told: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (study.tell, {"suggestion": asked, "value": math.inf, "noise": 0.1, "at": (0, 0.5), "note": ""}),
        (study.add_observation, {"place": (0, 0.5), "value": math.inf, "noise": 0.1, "note": ""}),
        (study.correct, {"suggestion": 99, "value": 1.0, "noise": 0.1}),
        (study.withdraw, {"suggestion": 99}),
        (study.cancel, {"suggestion": 99}),
        (study.release, {"suggestion": 99}),
        (study.renew, {"suggestion": 99, "lease": 9.0}),
        (study.enqueue, {"place": (99, 0.5)}),
        (study.note, {"suggestion": 99, "text": "seen"}),
        (study.place, {"where": (0, 0.5)}),
    ]
    calls += [Call(f"Study.{function.__name__}", function, arguments, seen) for function, arguments in told]
    wanted = {
        "network": graph, "name": "fuzz", "storage": storage, "preset": "calibrated", "acquisition": None,
        "direction": "maximize", "seed": 0, "lease": None, "asking_lease": 9.0, "noise": 0.1, "design": 3,
        "max_cell": 0.5, "separation": 0.0, "candidates": None, "title": None, "value_unit": None,
    }  # fmt: skip
    calls.append(Call("Study.create", netbo.Study.create, wanted, names))
    nowhere = {"storage": folder / "none.journal"}
    calls.append(Call("list_studies", netbo.studies.list_studies, nowhere))
    calls.append(Call("study_names", netbo.studies.study_names, nowhere))
    calls.append(
        Call("repair_journal", netbo.studies.repair_journal, {"path": folder / "none.journal", "out": None})
    )
    return calls


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__


def attempt(call: Call, argument: str, bad: str) -> str | None:
    """What was wrong with a case; None if nothing was."""
    arguments = {**call.arguments, argument: BAD[bad]()}
    before = call.state()
    where = f"{call.name}({argument}={bad})"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call.function(**arguments)
    except BaseError as error:
        text = str(error)
        if not text or "\n\n" in text:
            return f"{where}: an error without a sentence"
    except Exception as error:  # the very thing that is looked for
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        at = "" if place is None else f" ({Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno})"
        return f"{where}: {type(error).__name__}: {str(error)[:120]}{at}"
    else:
        return None
    return None if call.state() == before else f"{where}: refused, and something had changed"


def cases(n: int, seed: int, folder: Path) -> list[tuple[Call, str, str]]:
    """n different cases, drawn from all of them."""
    calls = [*_functions(), *_methods(folder)]
    everything = [
        (call, argument, bad)
        for call in calls
        for argument in call.arguments
        for bad in BAD
        if not (argument in HOOKS and bad in ("function", "class"))
        and not (call.function is netbo.posterior.fit_smoothness and bad == "function")
    ]
    chosen = np.random.default_rng(seed).permutation(len(everything))[:n]
    return [everything[index] for index in sorted(chosen)]


def wrong_cases(n: int, seed: int) -> list[str]:
    """Bad arguments that ended in a raw exception, or changed something."""
    with tempfile.TemporaryDirectory() as name, chdir(name):  # some bad arguments are good names of files
        found = [attempt(*case) for case in cases(n, seed, Path(name))]
    return [text for text in found if text is not None]


def fuzz(n: int = 3_000, seed: int = 0) -> dict[str, object]:
    """The long form: how many cases, and those that are wrong."""
    return {"cases": n, "seed": seed, "wrong": wrong_cases(n, seed)}


def unknown_functions() -> list[str]:
    """Public functions of the front doors that no case reaches."""
    with tempfile.TemporaryDirectory() as name:
        known = [call.function for call in [*_functions(), *_methods(Path(name))]]
    doors = [netbo, *(importlib.import_module(f"netbo.{package}") for package in PACKAGES)]
    listed = [getattr(door, each) for door in doors for each in door.__all__]
    return sorted({_name(each) for each in listed if inspect.isfunction(each) and each not in known})
