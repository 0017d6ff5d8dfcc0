"""A place on a network as a variable of Optuna."""

import json
import pickle
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import networkx
import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

import netbo
from netbo.errors import ParameterError
from netbo.integrations.optuna import NetworkSampler
from netbo.studies import Study

GRAPH = netbo.star(3, length=2.0)
OPTIONS = {"noise": 0.01, "seed": 3, "max_cell": 0.25}


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield
    optuna.logging.set_verbosity(before)


def height(point):
    """Largest, 1, at 1.3 along edge 2."""
    return 1.0 - abs(point.distance - 1.3) - 0.5 * (point.edge != 2)


def bare(n, sign=1, **options):
    """Places of an optimizer with the same settings."""
    optimizer = netbo.Optimizer(GRAPH, **{**OPTIONS, **options})
    for _ in range(n):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, sign * height(suggestion.point))
    return [(trial.point.edge, pytest.approx(trial.point.z, abs=1e-9)) for trial in optimizer.history]


def places(study, sampler):
    return [(point.edge, point.z) for point in (sampler.point(trial) for trial in study.trials)]


def make(direction="maximize", storage=None, **options):
    sampler = NetworkSampler(GRAPH, **{**OPTIONS, **options})
    return optuna.create_study(direction=direction, sampler=sampler, storage=storage), sampler


def test_a_study_of_optuna_asks_where_an_optimizer_asks():
    study, sampler = make()
    study.optimize(lambda trial: height(sampler.suggest(trial)), n_trials=14)

    assert places(study, sampler) == bare(14)
    assert study.best_value > 0.8


def test_a_study_that_minimizes_does():
    study, sampler = make("minimize")
    study.optimize(lambda trial: -height(sampler.suggest(trial)), n_trials=14)

    assert places(study, sampler) == bare(14, sign=-1, direction="minimize")


def test_the_parameters_are_a_number_and_a_fraction_and_the_users_id_is_noted():
    """Never a category with all edges in it."""
    named = netbo.MetricGraph([0, 1], [1, 2], [2.0, 4.0], edge_ids=["main", ("east", 1)])
    sampler = NetworkSampler(named, prefix="leak", noise=0.01, max_cell=0.5)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: sampler.suggest(trial).distance, n_trials=6)

    for trial in study.trials:
        point = sampler.point(trial)
        assert set(trial.params) == {"leak_edge", "leak_position"}
        assert trial.distributions["leak_edge"] == optuna.distributions.IntDistribution(0, 1)
        assert trial.params["leak_position"] == pytest.approx(point.fraction)
        assert trial.user_attrs["leak_id"] == ("main" if point.edge == 0 else "('east', 1)")


def test_a_study_goes_on_from_its_storage(tmp_path):
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study, sampler = make(storage=storage)
    study.optimize(lambda trial: height(sampler.suggest(trial)), n_trials=5)
    again = NetworkSampler(GRAPH, **OPTIONS)
    resumed = optuna.load_study(study_name=study.study_name, storage=storage, sampler=again)
    resumed.optimize(lambda trial: height(again.suggest(trial)), n_trials=6)

    assert places(resumed, again) == bare(11)


def test_running_trials_are_pending():
    study, sampler = make(noise=0.0)
    running = [study.ask() for _ in range(6)]
    distinct = {(point.edge, point.z) for point in map(sampler.suggest, running)}
    optimizer = netbo.Optimizer(GRAPH, **{**OPTIONS, "noise": 0.0})
    expected = {(s.point.edge, s.point.z) for s in optimizer.ask(6)}

    assert len(distinct) == 6
    assert sorted(distinct) == [(edge, pytest.approx(z)) for edge, z in sorted(expected)]


def test_threads_of_one_study_never_evaluate_one_place_at_once():
    study, sampler = make(noise=0.0)
    busy, clashes, guard = set(), [], threading.Lock()

    def objective(trial):
        point = sampler.suggest(trial)
        with guard:
            clashes.extend([point] if point in busy else [])
            busy.add(point)
        time.sleep(0.01)
        with guard:
            busy.discard(point)
        return height(point)

    study.optimize(objective, n_trials=16, n_jobs=4)

    assert len({(point.edge, point.z) for point in map(sampler.point, study.trials)}) == 16
    assert not clashes


def test_failed_pruned_and_infinite_trials_are_no_values():
    study, sampler = make(noise=0.0)
    answers = iter([float("nan"), "prune", float("inf"), RuntimeError("no signal")])

    def objective(trial):
        point, answer = sampler.suggest(trial), next(answers, None)
        if answer == "prune":
            raise optuna.TrialPruned
        if isinstance(answer, Exception):
            raise answer
        return height(point) if answer is None else answer

    study.optimize(objective, n_trials=9, catch=RuntimeError)
    states = [trial.state for trial in study.trials[:4]]
    learned = sampler._history(study.trials)

    assert states == [TrialState.FAIL, TrialState.PRUNED, TrialState.COMPLETE, TrialState.FAIL]
    assert [each.status.value for each in learned[:5]] == [
        "failed", "cancelled", "failed", "failed", "observed",
    ]  # fmt: skip


def test_enqueued_places_are_measured_and_known():
    study, sampler = make()
    study.enqueue_trial({"place_edge": 1, "place_position": 0.25})
    study.optimize(lambda trial: height(sampler.suggest(trial)), n_trials=3)
    first = sampler.point(study.trials[0])

    assert (first.edge, first.distance) == (1, 0.5)
    assert len(set(map(str, places(study, sampler)))) == 3


def test_a_place_that_waits_in_the_queue_is_not_suggested_to_others():
    study, sampler = make(noise=0.0, candidates=GRAPH.points([0, 1], [1.0, 1.0]))
    running = study.ask()  # it asks for its place after the other one was enqueued
    study.enqueue_trial({"place_edge": 0, "place_position": 0.5})

    assert sampler.suggest(running).edge == 1


def test_other_parameters_fall_to_the_independent_sampler():
    study, sampler = make(independent_sampler=optuna.samplers.TPESampler(seed=1, n_startup_trials=3))

    def objective(trial):
        depth = trial.suggest_float("depth", 0.0, 1.0)
        kind = trial.suggest_categorical("kind", ["a", "b"])
        return height(sampler.suggest(trial)) - depth - (kind == "a")

    study.optimize(objective, n_trials=10)

    assert {"depth", "kind", "place_edge", "place_position"} == set(study.best_params)
    assert len({trial.params["depth"] for trial in study.trials}) == 10


def test_a_sampler_travels_to_other_processes():
    study, sampler = make()
    study.optimize(lambda trial: height(sampler.suggest(trial)), n_trials=5)
    copy = pickle.loads(pickle.dumps(sampler))
    study.sampler = copy
    study.optimize(lambda trial: height(copy.suggest(trial)), n_trials=3)

    assert places(study, copy) == bare(8)


def test_a_frozen_trial_gives_its_point_again():
    study, sampler = make()
    study.optimize(lambda trial: height(sampler.suggest(trial)), n_trials=2)

    assert sampler.suggest(study.trials[0]) == sampler.point(study.trials[0])


def test_bad_arguments_are_refused():
    with pytest.raises(ParameterError, match="a sampler needs a network, got list; make a MetricGraph"):
        NetworkSampler([1, 2])
    with pytest.raises(ParameterError, match="prefix must be a name for the variable, got ''"):
        NetworkSampler(GRAPH, prefix="")
    with pytest.raises(ParameterError, match="direction is that of the Optuna study, got 'minimize'"):
        NetworkSampler(GRAPH, direction="minimize")
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=NetworkSampler(GRAPH, **OPTIONS))
    trial = study.ask()
    with pytest.raises(ParameterError, match="a network sampler needs one objective, got 2"):
        trial.suggest_int("place_edge", 0, 2)


def test_a_trial_without_a_place_is_named():
    sampler = NetworkSampler(GRAPH, **OPTIONS)
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)

    with pytest.raises(
        ParameterError, match="trial 0 must have the parameters place_edge and place_position, got x"
    ):
        sampler.point(study.trials[0])


@pytest.mark.parametrize(
    "plot",
    ["plot_optimization_history", "plot_slice", "plot_contour", "plot_parallel_coordinate", "plot_edf"],
)
def test_optunas_plots_take_a_network_variable(plot):
    study, sampler = make()
    study.optimize(lambda trial: height(sampler.suggest(trial)), n_trials=8)
    figure = getattr(optuna.visualization, plot)(study)

    assert len(figure.data) >= 1


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(url, seconds=60.0):
    """A page, as soon as the server is up."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.mark.parametrize("kind", ["sampler, sqlite", "study, journal"])
def test_the_dashboard_shows_a_study(tmp_path, kind):
    """A real server, on a free port of this machine."""
    if kind == "sampler, sqlite":
        storage = f"sqlite:///{tmp_path / 'study.db'}"
        study, sampler = make(storage=storage)
        study.optimize(lambda trial: height(sampler.suggest(trial)), n_trials=3)
        name, parameter = study.study_name, "place_edge"
    else:
        storage, name, parameter = str(tmp_path / "walk.journal"), "walk", "edge"
        ours = Study.create(GRAPH, name=name, storage=storage, noise=0.01, max_cell=0.25)
        ours.work(height, budget=3)
    command = Path(sys.executable).parent / "optuna-dashboard"
    port = free_port()
    options = ["--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen([command, storage, *options], stderr=subprocess.DEVNULL) as server:
        try:
            page = fetch(f"http://127.0.0.1:{port}/dashboard/")
            listed = json.loads(fetch(f"http://127.0.0.1:{port}/api/studies")[1])["study_summaries"]
            number = listed[0]["study_id"]
            trials = json.loads(fetch(f"http://127.0.0.1:{port}/api/studies/{number}?after=0")[1])["trials"]
        finally:
            server.terminate()

    assert page[0] == 200
    assert "<html" in page[1].lower()
    assert [each["study_name"] for each in listed] == [name]
    assert [parameter in {p["name"] for p in trial["params"]} for trial in trials] == [True] * 3


def test_a_journal_of_ours_opens_as_an_optuna_study(tmp_path):
    """Best trial and values are there for whoever has Optuna alone."""
    ours = Study.create(GRAPH, name="walk", storage=tmp_path / "walk.journal", noise=0.01, max_cell=0.25)
    ours.work(height, budget=6)
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "walk.journal")))
    theirs = optuna.load_study(study_name="walk", storage=storage)

    assert theirs.best_value == ours.best().value
    assert theirs.best_trial.number == ours.best().id
    assert len(theirs.trials_dataframe()) == 6


def test_a_sampler_speaks_of_the_users_edges_and_takes_them():
    """A graph whose edge 2 is in two pieces; a vertex by its name."""
    graph = netbo.MetricGraph(
        [0, 0, 0], [1, 2, 3], [2.0, 2.0, 2.0], edge_ids=list("abc"), vertex_ids=["hub", "p", "q", "r"]
    )
    sampler = NetworkSampler(graph.split(graph.points("c", 0.5)), **OPTIONS)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for place in (("c", 1.75), "r", ("a", 1.0)):
        study.enqueue_trial(sampler.parameters(place))
    study.optimize(lambda trial: sampler.suggest(trial).distance, n_trials=6)

    told = [(trial.user_attrs["place_id"], trial.user_attrs["place_distance"]) for trial in study.trials]
    assert told[:3] == [("c", 1.75), ("c", 2.0), ("a", 1.0)]
    assert {edge for edge, _ in told} <= set("abc")
    numbers = [(trial.params["place_edge"], trial.params["place_position"]) for trial in study.trials]
    assert numbers[:3] == [(2, 0.875), (2, 1.0), (0, 0.5)]
    assert {trial.distributions["place_edge"].high for trial in study.trials} == {2}
    assert [trial.value for trial in study.trials] == [distance for _, distance in told]


def test_a_sampler_takes_what_read_takes():
    streets = networkx.Graph()
    streets.add_edge("church", "mill", length=120.0)

    assert NetworkSampler(streets).graph.total_length == 120.0


def test_a_place_that_was_cut_off_is_no_place_of_a_sampler():
    """The end of an edge of which half is left; its number and fraction are those of the whole."""
    graph = netbo.MetricGraph([0, 1], [1, 2], [2.0, 2.0], edge_ids=["a", "b"])
    pieces = graph.split(graph.points("b", 1.0))
    apart = pieces.cut(pieces.vertex_ids[-1], pieces.edge_ids[-1])
    sampler = NetworkSampler(apart.subgraph(0), **OPTIONS)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.enqueue_trial({"place_edge": 1, "place_position": 0.75})

    with pytest.raises(ParameterError, match=r"place_edge=1 and place_position=0.75, which was cut off"):
        study.optimize(sampler.suggest, n_trials=1)
    assert sampler.parameters(("b", 0.5)) == {"place_edge": 1, "place_position": 0.25}
