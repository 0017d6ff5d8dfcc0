"""A contamination carried by EPANET: plug flow in closed form, and the place found again."""

import numpy as np
import pytest

import netbo
from netbo.adapters.wntr import contamination_misfit, simulate_contamination
from netbo.errors import NetworkError, ParameterError
from support.water_models import DIAMETER, LENGTH, one_pipe, stored

DEMAND = 0.01  # m3/s
VELOCITY = DEMAND / (np.pi * DIAMETER**2 / 4)
RATE = 0.5  # g/s


def town():
    """One pipe to a town that draws water; a state is reported every minute."""
    model = one_pipe()
    model.get_node("town").add_demand(DEMAND, None)
    times = model.options.time
    times.duration, times.report_timestep, times.quality_timestep = 4 * 3600, 60, 10
    times.hydraulic_timestep, times.pattern_timestep = 3600, 3600
    return model


@pytest.mark.parametrize("fraction", [0.25, 0.6])
def test_plug_flow_arrives_in_time_and_is_diluted_by_the_flow(fraction):
    """Concentration rate / flow, after (1 - fraction) L / v."""
    read = simulate_contamination(town(), "main", fraction, RATE, sensors=["town"])["town"]
    arrival = read.index[(read > RATE / DEMAND / 2).to_numpy()][0]

    assert read.iloc[-1] == pytest.approx(RATE / DEMAND, rel=1e-3)  # g/m3 are mg/L
    assert arrival == pytest.approx((1 - fraction) * LENGTH / VELOCITY, abs=90)
    assert read.loc[: arrival - 120].max() < 1e-6


def test_what_the_file_says_of_chlorine_has_no_part_in_it():
    model = town()
    model.options.reaction.bulk_coeff = -1e-3
    model.get_node("lake").initial_quality = 5.0
    model.add_source("doser", "lake", "CONCEN", 1.0)
    read = simulate_contamination(model, "main", 0.5, RATE, sensors=["town"])["town"]

    assert read.iloc[0] == 0.0
    assert read.iloc[-1] == pytest.approx(RATE / DEMAND, rel=1e-3)
    assert "doser" in model.source_name_list  # the model itself is not changed


def test_the_true_place_explains_its_own_readings():
    inp, hours = stored("Net3"), 3600.0 * np.arange(1, 13)
    sensors = ["115", "139", "193", "211"]
    read = simulate_contamination(inp, "173", 0.4, RATE, sensors=sensors, times=hours)
    misfit = contamination_misfit(inp, read, RATE, sd=0.01, score="root mean square")
    by_default = contamination_misfit(inp, read, RATE, sd=0.01)
    point = netbo.read(inp).points("173", fraction=0.4)[0]

    assert misfit(point) == pytest.approx(0.0, abs=1e-3)
    assert misfit.at("173", 0.9) < -0.05 or misfit.at("20", 0.5) < -0.05
    assert by_default.at("20", 0.5) == pytest.approx(-np.log(-misfit.at("20", 0.5)), abs=1e-3)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"rate": 0.0}, ParameterError, "rate must be a positive number of g/s, got 0.0"),
        ({"sensors": {"moon": 1.0}}, NetworkError, "sensors must be at nodes of wntr model, got 'moon'"),
        ({"sensors": 3.0}, NetworkError, "make data to try on with simulate_contamination"),
        ({"sensors": {"town": np.nan}}, NetworkError, "a misfit needs readings, got none"),
    ],
)
def test_what_makes_no_sense_is_refused(change, error, message):
    given = {"sensors": {"town": 1.0}, "rate": RATE, "sd": 0.1} | change
    with pytest.raises(error, match=message):
        contamination_misfit(town(), **given)


def test_a_contamination_must_be_on_a_pipe():
    with pytest.raises(NetworkError, match="a contamination must be on a pipe of wntr model, got 'moon'"):
        simulate_contamination(town(), "moon", 0.5, RATE, sensors=["town"])
