import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import netbo
from netbo.acquisition import GpTs
from netbo.optimize import (
    CALIBRATED,
    CandidatePlaces,
    Continuum,
    Forbidden,
    KMedian,
    Maximin,
    Metric,
    Nodes,
    RandomDesign,
    SearchSpace,
)
from netbo.studies import Study, StudyError, StudySettings
from netbo.studies.definition import ABOUT, NETWORK
from netbo.studies.settings import read_candidates, read_design, write_candidates, write_design
from support.studies import GRAPH, create, load


def kept(candidates):
    """Candidates after a round trip through JSON."""
    return read_candidates(json.loads(json.dumps(write_candidates(candidates, GRAPH))), GRAPH)


def test_settings_come_back_from_json():
    settings = StudySettings.of(
        GRAPH, None, preset="paper", acquisition="ucb", noise=np.float64(0.1), seed=np.int64(4), lease=60,
        direction="minimize", repeats=False, separation=0.5, max_cell=0.25, design=5,
    )  # fmt: skip

    assert StudySettings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


@pytest.mark.parametrize(
    ("option", "value", "advice"),
    [
        ("preset", CALIBRATED, "the presets are robust, calibrated, paper, paper-euclidean"),
        ("acquisition", GpTs(), "pass one of the names"),
        ("design", object(), "pass its size, a KMedian, a Maximin or a RandomDesign"),
        ("noise", [0.1], "objects that are code cannot be stored"),
    ],
)
def test_objects_are_refused_by_name(tmp_path, option, value, advice):
    with pytest.raises(StudyError, match=rf"a study stores {option} as a name or a number, got .*; {advice}"):
        create(tmp_path, **{option: value})


def test_unknown_settings_list_those_there_are():
    with pytest.raises(
        StudyError, match=r"a study has no setting 'fit'; there are acquisition, alpha, asking_lease"
    ):
        StudySettings.of(GRAPH, fit="mean")


@pytest.mark.parametrize("name", ["lease", "asking_lease"])
def test_leases_are_times(tmp_path, name):
    with pytest.raises(StudyError, match=rf"^{name} must be a positive number of seconds"):
        create(tmp_path, **{name: -3.0})


def test_the_design_of_a_preset_keeps_its_metric():
    drawn = netbo.open_rectangle()
    paper = StudySettings.of(drawn, preset="paper", design=3).optimizer(drawn)

    assert paper.design == Maximin(3, netbo.optimize.Metric.EUCLIDEAN)


@pytest.mark.parametrize(
    "design", [Maximin(3), Maximin(3, Metric.EUCLIDEAN), RandomDesign(4), KMedian(3), 5, None]
)
def test_designs_come_back_from_json(tmp_path, design):
    study = create(tmp_path, design=design)

    assert load(tmp_path).optimizer.design == study.optimizer.design
    if isinstance(design, Maximin | RandomDesign | KMedian):
        assert study.optimizer.design == design
    assert read_design(json.loads(json.dumps(write_design(design)))) == design


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"kind": "maximin", "size": 3, "metric": "taxi"}, "cannot be read: 'taxi' is not a valid Metric"),
        ({"kind": "random"}, "cannot be read: 'size'"),
        ({"kind": "spiral"}, "of unknown kind 'spiral'; it needs a later netbo"),
    ],
)
def test_designs_that_cannot_be_read_say_so(written, message):
    with pytest.raises(StudyError, match=message):
        read_design(written)


def test_candidates_come_back_from_json():
    points = GRAPH.points([0, 2], [0.1, 1.3])
    forbidden = Forbidden(edges=[1], stretches=[(2, 0.5, 1.0)])

    assert kept(None) is None
    assert kept(points) == points
    assert kept(CandidatePlaces(GRAPH, points, Forbidden(edges=[0]))) == points[1:]
    assert kept(forbidden) == forbidden
    assert kept("continuum").n_points == Continuum(GRAPH).n_points
    assert kept(Continuum(GRAPH, spacing=0.5, forbidden=forbidden)).forbidden == forbidden
    assert kept(Continuum(GRAPH, spacing=0.5)).spacing == 0.5


@pytest.mark.parametrize("candidates", ["continuum", Continuum(GRAPH, n_points=50)])
def test_a_study_may_ask_anywhere_on_the_continuum(tmp_path, candidates):
    study = create(tmp_path, candidates=candidates)
    for _ in range(6):
        suggestion = study.ask()
        study.tell(suggestion, -((suggestion.point.distance - 1.234) ** 2))

    assert isinstance(load(tmp_path).optimizer.search, Continuum)
    assert study.optimizer.propose() == load(tmp_path).ask().point


def test_nodes_of_a_mesh_come_back_from_json():
    space = netbo.FiniteElementSpace.build(GRAPH, max_cell=0.3)
    nodes = Nodes(space, Forbidden(edges=[1]))

    assert kept(nodes).points == nodes.points
    assert_array_equal(kept(nodes).weights, nodes.weights)


def test_other_candidates_are_refused():
    class Other(SearchSpace):
        graph = GRAPH

        def maximize(self, scores, allowed, surroundings=None):
            raise NotImplementedError

    elsewhere = CandidatePlaces(netbo.star(5), netbo.star(5).points(4, 0.5))
    with pytest.raises(StudyError, match="nodes, what is forbidden or the continuum, got Other; pass its"):
        write_candidates(Other(), GRAPH)
    with pytest.raises(StudyError, match=r"candidates must lie on MetricGraph.*, got some on MetricGraph"):
        write_candidates(elsewhere, GRAPH)
    with pytest.raises(StudyError, match="candidates by name can only be 'continuum', got 'all'"):
        write_candidates("all", GRAPH)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"kind": "points", "edge": [9], "distance": [0.1]}, "cannot be read: edges must lie in"),
        ({"kind": "points"}, "cannot be read: 'edge'"),
        ({"kind": "nodes", "edges": [77]}, "cannot be read"),
        ({"kind": "program"}, "are of unknown kind 'program'"),
    ],
)
def test_written_candidates_that_make_no_sense_are_refused(written, message):
    with pytest.raises(StudyError, match=f"the candidates of the study {message}"):
        read_candidates(written, GRAPH)


def test_nothing_in_a_study_file_is_executed(tmp_path, monkeypatch):
    """Attributes made to look like code, pickles and references to functions are text or are refused."""
    harm = tmp_path / "harm"

    class Harmful:
        def __reduce__(self):
            return (open, (str(harm), "w"))

    study = create(tmp_path)
    study.tell(study.ask(), 1.0)
    assert len(study.trials) == 1  # whatever tables import is imported
    known, number = study.storage.get_study_user_attrs(0)[ABOUT], study.trial_store.study_id
    payload = pickle.dumps(Harmful(), protocol=0).decode("latin-1")
    call = f"__import__('pathlib').Path({str(harm)!r}).touch()"
    crafted = {"py/object": "os.system", "py/reduce": [call], "__reduce__": call, "pickle": payload}
    storage = study.storage
    storage.set_study_user_attr(number, "netbo:change:0:000001:x", {"kind": "correct", "value": call})
    storage.set_study_user_attr(number, "netbo:change:0:000002:x", {"kind": payload, **crafted})
    storage.set_study_user_attr(number, "netbo:change:zero:1:x", crafted)
    storage.set_study_user_attr(number, "something", crafted)
    key = storage.create_new_trial(number)
    for name in ("netbo:place", "netbo:lease", "netbo:told", "netbo:closed", "netbo:renewed"):
        storage.set_trial_user_attr(key, name, crafted)
    storage.set_trial_system_attr(key, "netbo:place", payload)
    for dangerous in ("loads", "load", "Unpickler"):
        monkeypatch.setattr(pickle, dangerous, refuse)
    monkeypatch.setattr("builtins.eval", refuse)

    loaded = load(tmp_path)
    assert len(loaded.trials) == 2
    for settings in (
        {**known["settings"], "acquisition": call},
        {**known["settings"], "preset": payload},
        {**known["settings"], "candidates": crafted},
        {**known["settings"], "noise": crafted},
        crafted,
    ):
        storage.set_study_user_attr(number, ABOUT, {**known, "settings": settings})
        with pytest.raises(netbo.errors.BaseError):
            load(tmp_path)
    storage.set_study_user_attr(number, ABOUT, known)
    storage.set_study_system_attr(number, NETWORK, crafted)
    with pytest.raises(netbo.errors.BaseError):
        load(tmp_path)
    assert not harm.exists()


def refuse(*arguments, **options):
    raise AssertionError("a study file must not be executed")


@pytest.mark.parametrize(
    "place", [{"distance": 1e9}, {"distance": -1.0}, {"distance": "far"}, {"distance": None}]
)
def test_a_trial_off_the_network_is_named(tmp_path, place):
    study = create(tmp_path)
    suggestion = study.ask()
    study.storage.set_trial_user_attr(study.trial_store.key_of(suggestion.id), "netbo:place", place)

    with pytest.raises(StudyError, match="trial 0 does not lie on the network of its study"):
        load(tmp_path).ask()


def test_trials_of_other_programs_in_the_same_study_are_understood(tmp_path):
    """Made by Optuna itself: edge and position are all it needs; an infinity is no value."""
    from optuna.distributions import FloatDistribution, IntDistribution
    from optuna.trial import TrialState, create_trial

    study = create(tmp_path)
    distributions = {"edge": IntDistribution(0, 2), "position": FloatDistribution(0, 1)}
    for state, value in [
        (TrialState.COMPLETE, 2.5),
        (TrialState.COMPLETE, float("inf")),
        (TrialState.PRUNED, None),
    ]:
        trial = create_trial(
            state=state, value=value, params={"edge": 1, "position": 0.25}, distributions=distributions
        )
        study.storage.create_new_trial(study.trial_store.study_id, template_trial=trial)
    records = study.records

    assert [record.state.value for record in records] == ["observed", "failed", "cancelled"]
    assert (records[0].point.edge, records[0].point.distance, records[0].value) == (1, 0.5, 2.5)
    assert records[1].note == "the value was inf"
    assert Study.load(tmp_path / "walk.journal").best().value == 2.5


def test_a_history_of_a_study_is_changed_by_the_study_alone(tmp_path):
    study = create(tmp_path)
    suggestion = study.ask()

    with pytest.raises(StudyError, match="got a new trial; call the study's ask or tell"):
        study.optimizer.ask()
    with pytest.raises(StudyError, match="got a change; call the study's own method"):
        study.optimizer.tell(suggestion, 1.0)
    with pytest.raises(netbo.errors.ObservationError, match="no trial 5 has a place of its own"):
        study.optimizer.cancel(5)
