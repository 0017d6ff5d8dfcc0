import os
import pickle

import numpy as np
import pandas as pd
import pytest
import wntr
from scipy.optimize import brentq

from netbo import Point
from netbo.adapters.misfit import MisfitScore, best_size
from netbo.adapters.wntr import leak_misfit, leaks, read_wntr, simulate_leak
from netbo.adapters.wntr.leaks import place_leak
from netbo.adapters.wntr.model import simulate, water_model
from netbo.errors import NetworkError, NumericalError, ParameterError
from support.water_models import LENGTH, hazen_williams, one_pipe, stored, two_lakes

FLOW = 0.05  # m3/s
GALLON_A_MINUTE = 3.785411784e-3 / 60  # m3/s
PSI = 6894.757 / (999.0 * 9.80665)  # m of water at 16 degrees C
EPANET_DIGITS = 2e-3  # m; EPANET stops at a relative flow change of 0.001 and reports single precision


@pytest.mark.parametrize("fraction", [0.0, 1e-4, 0.25, 0.5, 0.9, 1.0])
def test_a_leak_on_one_pipe_loses_the_head_of_hazen_and_williams(fraction):
    """Downstream of the leak nothing flows: the junction shows the head at the leak."""
    readings = simulate_leak(one_pipe(), "main", fraction, FLOW, loggers=["town"])
    exact = 50.0 - 10.0 - hazen_williams(FLOW, fraction * LENGTH)

    assert readings.pressures.loc[0.0, "town"] == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize(
    "pipe", [{}, {"check_valve": True}, {"minor_loss": 5.0}, {"initial_status": "CLOSED"}]
)
def test_splitting_a_pipe_for_a_leak_of_nothing_changes_no_pressure(pipe):
    """Status, check valve and minor loss must not be doubled, nor lost."""
    model = two_lakes(**pipe)
    nodes = ["town", "east"]
    before = simulate_leak(model, "main", 1.0, 0.0, loggers=nodes).pressures
    after = simulate_leak(model, "middle", 0.3, 0.0, loggers=nodes).pressures

    np.testing.assert_allclose(after, before, atol=EPANET_DIGITS)


def test_splitting_any_pipe_of_net3_changes_no_pressure_of_a_day():
    """Controls act on the pipes as before."""
    loggers, times = ["15", "35", "117", "601"], np.arange(0, 25, 6) * 3600.0
    before = simulate_leak(stored("Net3"), "20", 0.0, 0.0, loggers=loggers, times=times).pressures

    for pipe in ("330", "123", "333", "40"):
        after = simulate_leak(stored("Net3"), pipe, 0.4, 0.0, loggers=loggers, times=times).pressures
        np.testing.assert_allclose(after, before, atol=0.02, err_msg=pipe)


def test_the_leak_takes_its_flow_at_every_hour():
    """Net3 has a default pattern, and a demand multiplier is set: neither may touch the leak."""
    model = wntr.network.WaterNetworkModel(stored("Net3"))
    model.options.hydraulic.demand_multiplier = 1.3
    node = place_leak(model, "123", 0.4, 0.01)
    demand = simulate(model, 6 * 3600.0, "a test").node["demand"][node]

    assert len(demand) == 7
    np.testing.assert_allclose(demand, 0.01, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:wntr.*")  # of its own use of scipy
def test_pressures_agree_with_wntrs_own_solver():
    """An independent program on a model split by hand."""
    model = wntr.network.WaterNetworkModel(stored("Net1"))
    split = wntr.morph.split_pipe(model, "21", "21b", "leak", split_at_point=0.3)
    split.add_pattern("flat", [1.0])
    split.get_node("leak").add_demand(0.01, "flat")
    split.options.time.duration = 4 * 3600
    reference = wntr.sim.WNTRSimulator(split).run_sim().node["pressure"]
    readings = simulate_leak(model, "21", 0.3, 0.01, loggers=["22", "31"], times=[0.0, 7200.0, 14400.0])

    for time in readings.pressures.index:
        for node in ("22", "31"):
            assert readings.pressures.loc[time, node] == pytest.approx(reference.loc[time, node], abs=5e-3)


def test_a_leak_on_a_closed_pipe_draws_from_its_first_node_only():
    """The closed end is the head: the other side keeps its pressure."""
    model = two_lakes(initial_status="CLOSED")
    for fraction in (0.25, 1.0):
        shown = simulate_leak(model, "middle", fraction, FLOW, loggers=["town", "east"]).pressures.loc[0.0]

        assert shown["town"] == pytest.approx(40.0 - hazen_williams(FLOW, LENGTH), abs=0.02)
        assert shown["east"] == pytest.approx(35.0, abs=EPANET_DIGITS)


def test_units_are_those_of_the_file_for_a_path_and_si_for_a_model():
    """100 gallons a minute and psi against m3/s and m: the same leak."""
    in_file = simulate_leak(stored("Net3"), "123", 0.5, 100.0, loggers=["117"], meters=["123"], times=[0.0])
    model = wntr.network.WaterNetworkModel(stored("Net3"))
    flow = 100.0 * GALLON_A_MINUTE
    in_si = simulate_leak(model, "123", 0.5, flow, loggers=["117"], meters=["123"], times=[0.0])

    assert in_si.pressures.iloc[0, 0] == pytest.approx(in_file.pressures.iloc[0, 0] * PSI, rel=1e-3)
    assert in_si.flows.iloc[0, 0] == pytest.approx(in_file.flows.iloc[0, 0] * GALLON_A_MINUTE, rel=1e-5)
    assert water_model(model, "file").units.flow == "GPM"
    assert water_model(stored("Net3"), "SI").units.pressure == "m"


def test_scores_are_those_of_the_head_that_is_lost():
    """By default minus the logarithm of the residuals' root mean square."""
    loggers = simulate_leak(one_pipe(), "main", 0.4, FLOW, loggers=["town"]).pressures
    drop = hazen_williams(FLOW, 0.2 * LENGTH)  # from fraction 0.4 to 0.6
    likelihood = leak_misfit(one_pipe(), loggers, FLOW, 0.5, score="log likelihood")
    gentle = leak_misfit(one_pipe(), loggers, FLOW, 0.5, score="root mean square")
    by_default = leak_misfit(one_pipe(), loggers, FLOW, 0.5)

    assert likelihood.at("main", 0.4) == pytest.approx(0.0, abs=1e-9)
    assert likelihood.at("main", 0.6) == pytest.approx(-0.5 * (drop / 0.5) ** 2, rel=0.02)
    assert gentle.at("main", 0.6) == pytest.approx(-drop / 0.5, rel=0.01)
    assert by_default.at("main", 0.6) == pytest.approx(-np.log(drop / 0.5), abs=0.01)


def test_flow_meters_tell_the_side_that_pressure_does_not():
    """Between two lakes, the flow of the first pipe grows when the leak moves towards it."""
    truth = simulate_leak(two_lakes(), "middle", 0.3, FLOW, loggers=["town"], meters=["main"])
    misfit = leak_misfit(
        two_lakes(), truth.pressures, FLOW, 0.1, meters=truth.flows, meter_sd=1e-3, score="log likelihood"
    )
    residuals = misfit.residuals("middle", 0.8)

    assert misfit.at("middle", 0.3) == pytest.approx(0.0, abs=1e-6)
    assert residuals.shape == (2,)
    assert residuals[1] < -1


def test_errors_of_readings_are_normal_and_follow_the_seed():
    times = np.arange(0, 25) * 3600.0
    loggers = [str(name) for name in (15, 35, 117, 119, 205, 215)]
    exact, first, again, other = (
        simulate_leak(
            stored("Net3"), "123", 0.5, 100, loggers=loggers, times=times, sd=sd, seed=seed
        ).pressures
        for sd, seed in [(0.0, 0), (0.3, 1), (0.3, 1), (0.3, 2)]
    )

    pd.testing.assert_frame_equal(first, again)
    assert not np.allclose(first, other)
    assert (first - exact).to_numpy().std() == pytest.approx(0.3, rel=0.2)


def test_missing_readings_do_not_count():
    loggers = simulate_leak(one_pipe(), "main", 0.4, FLOW, loggers=["town", "lake"]).pressures
    loggers["lake"] = np.nan

    assert leak_misfit(one_pipe(), loggers, FLOW, 0.5).residuals("main", 0.6).shape == (1,)


def test_a_mapping_and_timedeltas_are_understood():
    table = simulate_leak(stored("Net1"), "21", 0.5, 100, loggers=["22"], times=[0.0, 3600.0]).pressures
    by_time = table.set_axis(pd.to_timedelta(table.index, unit="s"))
    once = {"22": table.loc[0.0, "22"]}

    for given in (by_time, once):
        misfit = leak_misfit(stored("Net1"), given, 100, 1.0, score="log likelihood")
        assert misfit.at("21", 0.5) == pytest.approx(0.0, abs=1e-9)


def test_places_of_the_network_are_places_of_the_misfit():
    """Also at vertices and at contracted pumps: a point there is the end of some pipe."""
    network = read_wntr(stored("Net3"))
    misfit = leak_misfit(stored("Net3"), {"117": 60.0}, 100.0, 1.0)
    places = [*network.points("123", fraction=0.4), *network.points(["335", "10"], fraction=0.5)]

    assert misfit(places[0]) == misfit.at("123", 0.4)
    assert all(np.isfinite(misfit(place)) for place in places)


def test_the_misfit_travels_between_processes_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    misfit = leak_misfit(stored("Net1"), {"22": 70.0}, 100.0, 1.0)
    copy = pickle.loads(pickle.dumps(misfit))

    assert copy.at("21", 0.3) == misfit.at("21", 0.3)
    assert os.listdir(tmp_path) == []


def test_the_model_given_is_never_changed():
    model = two_lakes()
    names = list(model.link_name_list)
    leak_misfit(model, {"town": 30.0}, FLOW, 1.0).at("middle", 0.5)

    assert list(model.link_name_list) == names
    assert model.get_link("middle").length == LENGTH


def test_the_misfit_says_what_it_is():
    assert repr(leak_misfit(stored("Net3"), {"117": 60.0}, 100.0, 0.5)) == (
        "LeakMisfit(EPANET file Net3.inp: a leak of 100 GPM, 1 pressures with sd 0.5 psi, 0 flows)"
    )


@pytest.mark.parametrize(
    ("loggers", "options", "error", "message"),
    [
        ({"nowhere": 1.0}, {}, NetworkError, r"loggers must be at nodes of .*, got 'nowhere'; .*'town'"),
        ({}, {}, NetworkError, "a misfit needs readings, got none"),
        (["town"], {}, NetworkError, "loggers must be a table or a mapping of measured values, got list"),
        ({"town": "high"}, {}, NetworkError, "loggers must be numbers"),
        ({"town": 1.0}, {"meters": {"town": 1.0}, "meter_sd": 1.0}, NetworkError,
         r"meters must be at links of wntr model, got 'town'; there are 'main'"),
        ({"town": 1.0}, {"meters": {"main": 1.0}}, ParameterError, "flow meters need meter_sd"),
        ({"town": 1.0}, {"sd": 0.0}, ParameterError, "sd must be positive, got 0.0"),
        ({"town": 1.0}, {"flow": np.nan}, ParameterError, "the flow of a leak must be finite"),
        ({"town": 1.0}, {"flow": -0.05}, ParameterError,
         "the flow of a leak must be finite and not negative, got -0.05; water that is lost counts as pos"),
        ({"town": 1.0}, {"flow": (0.0, -0.05)}, ParameterError, "the flow of a leak must be .*, got -0.05"),
        ({"town": 1.0}, {"flow": (0.05, 0.01)}, ParameterError,
         r"a range of flows must be \(lowest, highest\), got \(0.05, 0.01\); give one number"),
        ({"town": 1.0}, {"flow": None}, ParameterError,
         "may be as large as the demand of wntr model, got a demand of 0; give flow="),
        ({"town": 1.0}, {"sd": None}, ParameterError, "sd must be positive, got None; give the error of one"),
        ({"town": 1.0}, {"units": "psi"}, ParameterError, "units must be 'file' or 'SI', got 'psi'"),
        ({"town": 1.0}, {"score": "best"}, ParameterError, "score must be one of log root mean square, "),
        (pd.DataFrame({"town": [1.0]}, index=[1800.0]), {}, NetworkError,
         "times of readings must be different multiples of the file's report step of 3600 s, got 1800 s"),
        (pd.DataFrame({"town": [1.0, 2.0]}, index=[0.0, 3600.0]), {"meters": {"main": 1.0}, "meter_sd": 1.0},
         NetworkError, "loggers and meters must have the same times, got 2 and 1 rows"),
    ],
)  # fmt: skip
def test_wrong_readings_are_refused(loggers, options, error, message):
    given = {"flow": FLOW, "sd": 1.0} | options

    with pytest.raises(error, match=message):
        leak_misfit(one_pipe(), loggers, given.pop("flow"), given.pop("sd"), **given)


def test_wrong_places_are_refused():
    misfit = leak_misfit(stored("Net3"), {"117": 60.0}, 100.0, 1.0)

    with pytest.raises(
        NetworkError, match=r"a leak must be on a pipe of EPANET file Net3.inp, got 'X', .*'20'"
    ):
        misfit.at("X", 0.5)
    with pytest.raises(NetworkError, match=r"got '335', which is a pump or valve"):
        misfit.at("335", 0.5)
    with pytest.raises(ParameterError, match=r"a fraction must lie in 0..1, got 1.5"):
        misfit.at("123", 1.5)
    with pytest.raises(ParameterError, match="a leak needs the fraction of its pipe, got none on '123'"):
        misfit(Point(0, 0.0, edge_id="123"))


def test_a_part_without_supply_is_an_error_not_a_number():
    """EPANET would answer with a pressure of minus ten thousand kilometres."""
    model = one_pipe(initial_status="CLOSED")
    model.add_junction("end", elevation=0.0)
    model.add_pipe("spur", "town", "end", LENGTH)

    with pytest.raises(NumericalError, match=r"EPANET finds no way for the water on a leak at 1 of pipe 'sp"):
        simulate_leak(model, "spur", 1.0, FLOW, loggers=["town"])


def test_a_failure_of_epanet_is_named():
    model = one_pipe()
    model.add_junction("alone", elevation=0.0)

    with pytest.raises(NumericalError, match=r"EPANET failed on a leak at 0.5 of pipe 'main' of wntr model"):
        simulate_leak(model, "main", 0.5, FLOW, loggers=["town"])


# A leak whose flow is not known: at each place the one that explains best.


def town(demand=0.02):
    """One pipe to customers who draw water."""
    model = one_pipe()
    model.get_node("town").add_demand(demand, None)
    return model


@pytest.mark.parametrize("fraction", [0.2, 0.7, 1.0])
def test_one_pressure_is_explained_by_the_flow_that_loses_its_head(fraction):
    """Hazen and Williams: what is drawn in town flows all the way, the leak up to its place."""
    lost = 3.0
    misfit = leak_misfit(town(), {"town": 50.0 - 10.0 - lost}, flow=(0.0, 0.2), sd=0.1)

    def excess(flow):
        rest = hazen_williams(0.02, (1 - fraction) * LENGTH)
        return hazen_williams(0.02 + flow, fraction * LENGTH) + rest - lost

    assert misfit.flow_at("main", fraction) == pytest.approx(brentq(excess, 0.0, 0.2), rel=0.01)
    assert misfit.at("main", fraction) > 2.0  # nothing is left to explain


def test_by_default_a_leak_is_at_most_what_all_customers_draw():
    table = simulate_leak(town(), "main", 1.0, 0.05, loggers=["town"]).pressures
    misfit = leak_misfit(town(), table, sd=0.1)

    assert misfit.flow == (0.0, pytest.approx(0.02))
    assert misfit.flow_at("main", 1.0) == pytest.approx(0.02)
    assert (
        repr(misfit) == "LeakMisfit(wntr model: a leak of 0 to 0.02 m3/s, 1 pressures with sd 0.1 m, 0 flows)"
    )


def test_where_pressures_are_higher_than_they_should_be_there_is_no_leak():
    misfit = leak_misfit(town(), {"town": 45.0}, sd=0.1)

    assert misfit.flow_at("main", 0.5) == 0.0


def test_few_simulations_find_the_flow_that_a_fine_search_finds(monkeypatch):
    """Net3, six hours at four loggers: at most three simulations a place, after one without a leak."""
    inp, loggers = stored("Net3"), ["15", "113", "189", "219"]
    table = simulate_leak(
        inp, "113", 0.4, 300.0, loggers=loggers, times=3600.0 * np.arange(6), sd=0.02, seed=1
    ).pressures
    misfit, calls = leak_misfit(inp, table, sd=0.02), []
    simulated = leaks._simulate
    monkeypatch.setattr(leaks, "_simulate", lambda *given: calls.append(given) or simulated(*given))
    places = [("113", 0.4), ("123", 0.5), ("20", 0.5), ("329", 0.7), ("191", 0.1)]
    scores = [misfit.at(*place) for place in places]
    n_calls = len(calls)

    assert n_calls <= 1 + 3 * len(places)
    for place, score in zip(places[1:4], scores[1:4], strict=True):
        known = [leak_misfit(inp, table, flow, 0.02).at(*place) for flow in np.geomspace(20.0, 3000.0, 25)]
        assert score >= max(known) - 2e-3
    assert misfit.flow_at("113", 0.4) == pytest.approx(300.0, rel=0.05)


def test_the_misfit_of_an_unknown_flow_travels_between_processes():
    misfit = leak_misfit(stored("Net1"), {"22": 70.0}, sd=1.0)
    before = misfit.at("21", 0.3)

    assert pickle.loads(pickle.dumps(misfit)).at("21", 0.3) == before


def test_no_size_is_simulated_that_promises_nothing():
    """Residuals that are linear in the size: one trial, then the minimum."""
    sizes = []

    def residuals(size):
        sizes.append(size)
        return np.array([2.0 * size - 6.0, size - 1.0])  # squares are least at 13 / 5

    size, found = best_size(residuals, (0.0, np.array([-6.0, -1.0])), 1.0, 10.0)

    assert size == pytest.approx(13 / 5)
    assert sizes == pytest.approx([1.0, 13 / 5])
    np.testing.assert_allclose(found, [-0.8, 1.6])


def test_sizes_without_a_solution_are_smaller_next_time_or_an_error():
    """A narrow pipe cannot give a tenth of what a town draws; one without supply gives nothing."""

    def narrow(size):
        if size > 0.3:
            raise NumericalError("no way for the water")
        return np.array([10.0 * size - 2.0])

    def dry(size):
        raise NumericalError(f"no way for {size}")

    assert best_size(narrow, (0.0, np.array([-2.0])), 1.0, 10.0)[0] == pytest.approx(0.2)
    with pytest.raises(NumericalError, match=r"no way for 1\.0"):
        best_size(dry, (0.0, np.array([-2.0])), 1.0, 10.0)


def test_a_larger_size_without_a_solution_ends_the_search():
    def residuals(size):
        if size > 1.5:
            raise NumericalError("no way for the water")
        return np.array([size - 3.0])

    assert best_size(residuals, (0.0, np.array([-3.0])), 1.0, 10.0)[0] == 1.0


def test_negative_flows_are_refused_when_a_leak_is_simulated():
    with pytest.raises(ParameterError, match=r"got -5; water that is lost counts as positive, in GPM"):
        simulate_leak(stored("Net1"), "21", 0.5, -5, loggers=["22"])


def test_scores_have_the_same_maximum():
    residuals = [np.array([1.0, 2.0]), np.array([0.5, 0.1]), np.array([3.0, 0.0])]
    logarithms = [MisfitScore.LOG_ROOT_MEAN_SQUARE.of(r) for r in residuals]

    assert logarithms == pytest.approx([-np.log(2.5) / 2, -np.log(0.13) / 2, -np.log(4.5) / 2], abs=1e-3)
    assert MisfitScore.LOG_ROOT_MEAN_SQUARE.of(np.zeros(3)) == pytest.approx(-np.log(0.01))  # has a value

    assert [MisfitScore.LOG_LIKELIHOOD.of(r) for r in residuals] == pytest.approx([-2.5, -0.13, -4.5])
    assert np.argmax([MisfitScore.ROOT_MEAN_SQUARE.of(r) for r in residuals]) == 1
