import pickle

import numpy as np
import pandapower as pp
import pandapower.networks
import pytest

from netbo import Point
from netbo.adapters.pandapower import fault_misfit, read_pandapower, simulate_fault
from netbo.errors import NetworkError, NumericalError, ParameterError
from support.power_nets import CABLE, VOLTAGE, feeder, line_impedance, ring, source_impedance

# pandapower 3.5 against pandas to come
pytestmark = pytest.mark.filterwarnings("ignore:tap_dependency_table is missing:DeprecationWarning")

FRACTIONS = [0.0, 1e-4, 0.3, 0.5, 1.0]


@pytest.mark.parametrize("resistance", [0.0, 0.7])
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_voltages_and_currents_on_a_feeder_are_those_of_a_divider(fraction, resistance):
    """Source Zs, then Z to the fault, then its resistance; beyond the fault nothing flows."""
    readings = simulate_fault(
        feeder(), 1, fraction, buses=[0, 1, 2], relays=[(0, 0), (1, 1)], resistance=resistance
    )
    first, second = line_impedance(4.0), line_impedance(3.0 * fraction)
    current = 1 / (source_impedance() + first + second + resistance)
    shares = [abs((first + second + resistance) * current), abs((second + resistance) * current)]

    assert readings.voltages[0] == pytest.approx(shares[0], rel=1e-6)
    assert readings.voltages[1] == pytest.approx(shares[1], rel=1e-6, abs=1e-9)
    assert readings.voltages[2] == pytest.approx(abs(resistance * current), rel=1e-6, abs=1e-9)
    assert readings.currents[0, 0] == pytest.approx(VOLTAGE / np.sqrt(3) * abs(current), rel=1e-6)
    if fraction > 0:
        assert readings.currents[1, 1] == pytest.approx(readings.currents[0, 0], rel=1e-6)


@pytest.mark.parametrize("fraction", [0.2, 0.6])
def test_a_fault_in_a_ring_is_fed_from_both_sides(fraction):
    """Two ways to the fault, in parallel; the shares of the current are as the other way's impedance."""
    readings = simulate_fault(ring(), 1, fraction, buses=[0, 1, 2], relays=[(0, 0), (2, 0), (1, 1), (1, 2)])
    near, far = line_impedance(4.0 + 3.0 * fraction), line_impedance(5.0 + 3.0 * (1 - fraction))
    both = near * far / (near + far)
    total = VOLTAGE / np.sqrt(3) / (source_impedance() + both)

    assert readings.voltages[0] == pytest.approx(abs(both / (source_impedance() + both)), rel=1e-6)
    for relay in ((0, 0), (1, 1)):
        assert readings.currents[relay] == pytest.approx(abs(total * far / (near + far)), rel=1e-6)
    for relay in ((2, 0), (1, 2)):
        assert readings.currents[relay] == pytest.approx(abs(total * near / (near + far)), rel=1e-6)


def test_of_two_parallel_systems_one_is_faulted():
    """The sound system feeds the far bus, and the fault from behind: a ring folded up."""
    net = feeder((4.0,), parallel=2)
    relays = [(0, 0), (0, 1)]
    doubled = simulate_fault(net, 0, 0.25, buses=[0, 1], relays=relays)
    apart = feeder((4.0,))
    pp.create_line_from_parameters(apart, 0, 1, 4.0, **CABLE)
    reference = simulate_fault(apart, 0, 0.25, buses=[0, 1])
    near, far = line_impedance(1.0), line_impedance(7.0)
    total = VOLTAGE / np.sqrt(3) / (source_impedance() + near * far / (near + far))

    assert doubled.voltages == pytest.approx(reference.voltages, rel=1e-6)
    assert doubled.currents[0, 0] == pytest.approx(abs(total), rel=1e-6)
    assert doubled.currents[0, 1] == pytest.approx(0.0, abs=1e-6)


def test_switches_stay_at_their_ends_when_a_line_is_split():
    """A ring opened at bus 2: the fault is fed through line 0 only, up to the open end."""
    net = ring()
    pp.create_switch(net, bus=2, element=1, et="l", closed=False)
    pp.create_switch(net, bus=1, element=1, et="l", closed=True)
    for fraction in (0.4, 1.0):
        shown = simulate_fault(net, 1, fraction, buses=[0, 1, 2], relays=[(2, 0)])
        near = line_impedance(4.0 + 3.0 * fraction)

        assert shown.voltages[0] == pytest.approx(abs(near / (source_impedance() + near)), rel=1e-5)
        assert shown.voltages[2] == pytest.approx(shown.voltages[0], rel=1e-6)
        assert shown.currents[2, 0] == pytest.approx(0.0, abs=1e-6)


def test_a_fault_elsewhere_leaves_another_island_as_it_was():
    net = feeder()
    other, end = pp.create_bus(net, VOLTAGE), pp.create_bus(net, VOLTAGE)
    pp.create_ext_grid(net, other, s_sc_max_mva=500.0, rx_max=0.1)
    pp.create_line_from_parameters(net, other, end, 2.0, **CABLE)

    assert simulate_fault(net, 0, 0.5, buses=[other, end]).voltages == pytest.approx({other: 1.0, end: 1.0})


def test_the_score_is_the_log_likelihood_of_the_readings():
    readings = simulate_fault(feeder(), 1, 0.3, buses=[0, 1], relays=[(0, 0)])
    given = {"voltages": readings.voltages, "sd": 0.01, "currents": readings.currents, "current_sd": 0.05}
    misfit = fault_misfit(feeder(), **given, score="log likelihood")
    other = simulate_fault(feeder(), 1, 0.8, buses=[0, 1], relays=[(0, 0)])
    expected = -0.5 * (
        sum((other.voltages[bus] - readings.voltages[bus]) ** 2 for bus in (0, 1)) / 0.01**2
        + (other.currents[0, 0] - readings.currents[0, 0]) ** 2 / 0.05**2
    )

    assert misfit.at(1, 0.3) == pytest.approx(0.0, abs=1e-9)
    assert misfit.at(1, 0.8) == pytest.approx(expected)
    assert fault_misfit(feeder(), **given).at(1, 0.8) == pytest.approx(
        -np.log(-2 * expected / 3) / 2, abs=1e-4
    )


def test_errors_of_readings_follow_the_seed():
    first, again, other = (
        simulate_fault(feeder(), 1, 0.3, buses=[0, 1], relays=[(0, 0)], sd=0.01, current_sd=0.1, seed=seed)
        for seed in (1, 1, 2)
    )

    assert first == again
    assert first != other


def test_places_of_the_network_are_places_of_the_misfit():
    network = read_pandapower(ring())
    misfit = fault_misfit(ring(), {0: 0.8, 2: 0.5}, 0.01)

    for place in network.points([0, 1, 2, 1], fraction=[0.0, 0.5, 1.0, 0.25]):
        assert misfit(place) == misfit.at(place.edge_id, place.fraction)


def test_the_misfit_travels_between_processes_and_changes_no_net():
    net = ring()
    misfit = fault_misfit(net, {0: 0.8}, 0.01)
    copy = pickle.loads(pickle.dumps(misfit))

    assert copy.at(1, 0.3) == misfit.at(1, 0.3)
    assert len(net.line) == 3
    assert len(net.bus) == 3
    assert repr(misfit).startswith("FaultMisfit(pandapower net 'feeder': 1 voltages with sd 0.01")


def test_a_line_without_supply_is_an_error_not_a_number():
    net = feeder()
    lone, end = pp.create_bus(net, VOLTAGE), pp.create_bus(net, VOLTAGE)
    line = pp.create_line_from_parameters(net, lone, end, 2.0, **CABLE)
    misfit = fault_misfit(net, {0: 0.8}, 0.01)

    with pytest.raises(NumericalError, match=f"a fault at 0.5 of line {line}"):
        misfit.at(line, 0.5)


@pytest.mark.parametrize(
    ("voltages", "options", "error", "message"),
    [
        ({}, {}, NetworkError, "a misfit needs readings, got none"),
        ({9: 1.0}, {}, NetworkError, "voltage meters must be at a bus with a line .* on, got 9; .*0, 1"),
        ({0: np.nan}, {}, NetworkError, "readings must be finite, got nan"),
        ({0: 1.0}, {"sd": -1.0}, ParameterError, "sd must be positive"),
        ({0: 1.0}, {"resistance": -1.0}, ParameterError, "resistance must be a finite number, not negative"),
        ({0: 1.0}, {"currents": {(0, 0): 1.0}}, ParameterError, "currents need current_sd"),
        ({0: 1.0}, {"currents": {0: 1.0}, "current_sd": 1.0}, NetworkError,
         r"currents are measured at \(line, bus\), got 0; lines are 0, 1"),
        ({0: 1.0}, {"currents": {(0, 2): 1.0}, "current_sd": 1.0}, NetworkError,
         "line 0 ends at buses 0 and 1, got 2"),
        ({0: 1.0}, {"score": "best"}, ParameterError, "score must be one of"),
    ],
)  # fmt: skip
def test_wrong_readings_are_refused(voltages, options, error, message):
    with pytest.raises(error, match=message):
        fault_misfit(feeder(), voltages, **({"sd": 0.01} | options))


def test_nets_that_cannot_be_short_circuited_are_refused_at_once():
    weak, generating = feeder(), feeder()
    weak.ext_grid = weak.ext_grid.drop(columns="s_sc_max_mva")
    pp.create_sgen(generating, 1, p_mw=0.1, sn_mva=0.1)
    tapped = feeder((4.0,))
    low, end = pp.create_bus(tapped, 10.0), pp.create_bus(tapped, 10.0)
    pp.create_transformer(tapped, 1, low, "0.4 MVA 20/0.4 kV")
    pp.create_line_from_parameters(tapped, low, end, 0.3, **CABLE)

    with pytest.raises(NetworkError, match=r"strength of the supplying grid, got no s_sc_max_mva"):
        fault_misfit(weak, {0: 0.8}, 0.01)
    with pytest.raises(NetworkError, match=r"must be able to compute short circuits of the net"):
        fault_misfit(generating, {0: 0.8}, 0.01)
    with pytest.raises(NetworkError, match=r"rated voltages of transformers must be those of their buses"):
        fault_misfit(tapped, {0: 0.8}, 0.01)


def test_wrong_places_are_refused():
    misfit = fault_misfit(feeder(), {0: 0.8}, 0.01)

    with pytest.raises(NetworkError, match="a fault must be on a line, got 9; lines are 0, 1"):
        misfit.at(9, 0.5)
    with pytest.raises(ParameterError, match=r"a fraction must lie in 0..1, got -0.1"):
        misfit.at(0, -0.1)
    with pytest.raises(ParameterError, match="a fault needs the fraction of its line, got none on 0"):
        misfit(Point(0, 0.0, edge_id=0))


def test_mv_oberrhein_works_with_its_switches():
    net = pandapower.networks.mv_oberrhein()
    net.sgen["in_service"] = False
    net.ext_grid[["s_sc_max_mva", "rx_max"]] = 1000.0, 0.1
    shown = simulate_fault(net, 66, 0.4, buses=[39, 319], relays=[(193, 319), (62, 319)])

    assert shown.voltages[39] == pytest.approx(1.0)
    assert 0.2 < shown.voltages[319] < 0.9
    assert shown.currents[62, 319] == pytest.approx(0.0, abs=1e-6)
    assert shown.currents[193, 319] > 1.0
