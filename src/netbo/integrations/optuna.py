"""A place on a network as a variable of Optuna: `optuna.create_study(sampler=NetworkSampler(graph))`."""

from collections.abc import Mapping, Sequence
from math import isfinite
from threading import Lock
from typing import Any, Unpack

import numpy as np
from optuna import Study, Trial
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from netbo.errors import ParameterError, PointError
from netbo.geometry import MetricGraph, Point, Points, as_place
from netbo.optimize import Optimizer, Status
from netbo.optimize import Trial as Place
from netbo.optimize.arguments import OptimizerOptions, as_network_given, require_options

EDGE, POSITION = "edge", "position"  # ends of the names of the two parameters
HANDED_OUT = "netbo:place"  # system attribute of a trial: its place, before the objective asks for it
FIXED = "fixed_params"  # where Optuna keeps what was enqueued
_STATUS = {
    TrialState.COMPLETE: Status.OBSERVED,
    TrialState.FAIL: Status.FAILED,
    TrialState.PRUNED: Status.CANCELLED,
    TrialState.RUNNING: Status.PENDING,
}


class NetworkSampler(BaseSampler):
    """Chooses the edge and the position of each trial together, by a model on the network.

    The parameters are PREFIX_edge, the number of an edge of yours (the k-th of `graph.address_table`, also
    where it was cut or joined), and PREFIX_position, the fraction of its length; `suggest(trial)` gives the
    point, and notes its address as the attributes PREFIX_id and PREFIX_distance. `parameters(place)` are
    those of a place of yours, to be enqueued. Running trials count as pending. Other parameters go to
    `independent_sampler`, and the model knows nothing of them. options: as for `Optimizer`, but for
    `direction`, which is the study's, and `seed`.

    >>> import netbo, optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> sampler = NetworkSampler(netbo.interval(3.0), noise=0.0, seed=1)
    >>> study = optuna.create_study(direction="maximize", sampler=sampler)
    >>> study.optimize(lambda trial: -((sampler.suggest(trial).distance - 1.0) ** 2), n_trials=20)
    >>> round(sampler.point(study.best_trial).distance, 1)
    1.0
    """

    def __init__(
        self,
        network: Any,
        *,
        prefix: str = "place",
        seed: int = 0,
        independent_sampler: BaseSampler | None = None,
        **options: Unpack[OptimizerOptions],
    ) -> None:
        whole = as_network_given(network)
        graph = network if whole is None else whole.graph
        if not isinstance(graph, MetricGraph):
            raise ParameterError(f"a sampler needs a network, got {type(graph).__name__}; make a MetricGraph")
        if not isinstance(prefix, str) or not prefix:
            raise ParameterError(f"prefix must be a name for the variable, got {prefix!r}; 'place' is usual")
        given: Mapping[str, object] = options
        for name in ("direction", "history"):
            if name in given:
                raise ParameterError(
                    f"{name} is that of the Optuna study, got {given[name]!r:.80}; leave it out"
                )
        require_options(options, NetworkSampler, "NetworkSampler")
        self.graph, self.prefix = graph, prefix
        self._names = (f"{prefix}_{EDGE}", f"{prefix}_{POSITION}")
        self._options, self._seed = options, seed
        self._independent = independent_sampler or RandomSampler(seed=seed)
        self._lock = Lock()  # threads of `n_jobs` take turns: each sees the places of those before
        self._optimizers: dict[str, Optimizer] = {"maximize": self._optimizer("maximize")}

    def suggest(self, trial: Trial | FrozenTrial) -> Point:
        """The place of a trial, inside an objective; its address is noted by the user's id and distance."""
        edge, position = self._names
        trial.suggest_int(edge, 0, len(self.graph.address_table) - 1)
        trial.suggest_float(position, 0.0, 1.0)
        point = self.point(trial)
        if isinstance(trial, Trial):
            trial.set_user_attr(f"{self.prefix}_id", _as_json(point.edge_id))
            trial.set_user_attr(f"{self.prefix}_distance", point.distance)
        return point

    def parameters(self, place: Any) -> dict[str, int | float]:
        """Parameters of a place, as in `study.enqueue_trial(sampler.parameters(("main", 2.5)))`.

        place: a Point, Points of one, a pair (edge id, distance), or the name of a vertex.
        """
        edge, position = self._names
        point, table = as_place(place, self.graph), self.graph.address_table
        row, distance = table.measure(np.array([point.edge]), np.array([point.z]))
        return {edge: int(row[0]), position: min(1.0, float(distance[0]) / float(table.lengths[row[0]]))}

    def point(self, trial: Trial | FrozenTrial) -> Point:
        """The place of a trial that has one."""
        found = self._place(trial.params)
        if found is not None:
            return found
        edge, position = self._names
        if edge in trial.params and position in trial.params:
            raise ParameterError(
                f"trial {trial.number} must be on the network, got {edge}={trial.params[edge]!r} and "
                f"{position}={trial.params[position]!r}, which was cut off; parameters(place) gives those of "
                "a place"
            )
        raise ParameterError(
            f"trial {trial.number} must have the parameters {edge} and {position}, got "
            f"{', '.join(trial.params) or 'none'}; call suggest(trial) in the objective"
        )

    # What Optuna calls

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Edge and position belong together."""
        edge, position = self._names
        numbers = IntDistribution(0, len(self.graph.address_table) - 1)
        return {edge: numbers, position: FloatDistribution(0.0, 1.0)}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The next place, written down at once so that trials which begin meanwhile count it as pending."""
        if not search_space:
            return {}
        if len(study.directions) != 1:
            raise ParameterError(
                f"a network sampler needs one objective, got {len(study.directions)}; "
                "optimize them in studies of their own"
            )
        edge, position = self._names
        with self._lock:
            fixed = trial.system_attrs.get(FIXED, {})
            if edge in fixed and position in fixed:
                params = {edge: fixed[edge], position: fixed[position]}
            else:
                params = self.parameters(self._propose(study, trial))
            storage, key = study._storage, trial._trial_id  # noqa: SLF001 - FrozenTrial has no setter
            storage.set_trial_system_attr(key, HANDED_OUT, params)
        return params

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Any other parameter."""
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Passed on."""
        self._independent.before_trial(study, trial)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Passed on."""
        self._independent.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        """Of the independent sampler alone: places depend on the seed and the trials, never on who asks."""
        self._independent.reseed_rng()

    # Inside

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_lock", "_optimizers")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock, self._optimizers = Lock(), {}

    def _optimizer(self, direction: str) -> Optimizer:
        return Optimizer(self.graph, direction=direction, seed=self._seed, **self._options)

    def _propose(self, study: Study, trial: FrozenTrial) -> Point:
        direction = "minimize" if study.directions[0] is StudyDirection.MINIMIZE else "maximize"
        if direction not in self._optimizers:
            self._optimizers[direction] = self._optimizer(direction)
        optimizer = self._optimizers[direction]
        trials = study.get_trials(deepcopy=False)
        others = [each for each in trials if each.number != trial.number]
        optimizer.replace_history(self._history(others))
        return optimizer.propose()

    def _history(self, trials: Sequence[FrozenTrial]) -> list[Place]:
        """Trials with a place, numbered anew, in the order of their numbers; told in that of their ends."""
        placed = [(trial, point) for trial in trials if (point := self._place_of(trial)) is not None]
        ended = [i for i, (trial, _) in enumerate(placed) if trial.datetime_complete is not None]
        ended.sort(key=lambda i: (placed[i][0].datetime_complete, i))
        order = {i: rank for rank, i in enumerate(ended)}
        return [
            _as_place(number, trial, point, order.get(number)) for number, (trial, point) in enumerate(placed)
        ]

    def _place_of(self, trial: FrozenTrial) -> Point | None:
        if trial.state is TrialState.WAITING:
            return self._place(trial.system_attrs.get(FIXED, {}))
        return self._place(trial.params) or self._place(trial.system_attrs.get(HANDED_OUT, {}))

    def _place(self, params: Any) -> Point | None:
        edge, position = (params.get(name) for name in self._names)
        table = self.graph.address_table
        if edge is None or position is None or not 0 <= int(edge) < len(table):
            return None
        row = np.array([int(edge)])
        try:
            found, z = table.locate(row, min(1.0, max(0.0, float(position))) * table.lengths[row])
        except PointError:  # a part that was cut off: on your edge, and not on the network
            return None
        return Points(found, z, graph=self.graph)[0]


def _as_place(number: int, trial: FrozenTrial, point: Point, order: int | None) -> Place:
    status = _STATUS.get(trial.state, Status.PENDING)
    value = trial.value if status is Status.OBSERVED else None
    if status is Status.OBSERVED and (value is None or not isfinite(value)):
        status, value = Status.FAILED, None  # Optuna takes infinities for values
    is_told = status in (Status.OBSERVED, Status.FAILED)
    return Place(number, point, status, asked=point, value=value, order=order if is_told else None)


def _as_json(edge_id: Any) -> Any:
    return edge_id if isinstance(edge_id, str | int | float | bool) else str(edge_id)
