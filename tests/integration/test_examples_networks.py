"""Examples on networks that people have: Soho in 1854, and a table of measurements on Manhattan's streets."""

import runpy
import struct
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

import netbo

matplotlib.use("Agg")

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.filterwarnings("ignore::netbo.errors.NetworkWarning")  # true, and not the point here


def png_size(path):
    """Width and height in pixels, from the header."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def test_forty_surveys_find_where_cholera_struck_hardest_in_soho(tmp_path, capsys):
    """A scan of every 2 m finds the same place: in Broad Street, 40 m from the pump John Snow had closed."""
    picture = tmp_path / "new folder" / "soho.png"
    example = runpy.run_path(str(EXAMPLES / "03_soho_cholera.py"))
    answer = example["main"](picture)
    printed = capsys.readouterr().out

    assert answer.rate >= 0.99 * answer.highest_rate
    assert answer.metres_off < 15.0
    assert answer.metres_to_pump < 60.0
    assert len(answer.result.history) == example["BUDGET"]
    assert "components      1" in printed
    assert min(png_size(picture)) >= 600


def test_the_cholera_rate_counts_all_deaths_and_all_streets():
    """Where one walks without end, the rate is all deaths over all streets."""
    example = runpy.run_path(str(EXAMPLES / "03_soho_cholera.py"))
    network = netbo.read(example["MAPS"] / "Soho_Network.shp", node=True, snap=example["SNAP"])
    rate = example["CholeraRate"](network, walk=1e9)
    somewhere = network.graph.vertex_points([0, 50])

    assert rate.deaths.sum() == 392
    np.testing.assert_allclose(rate.rates(somewhere), 100 * 392 / network.graph.total_length, rtol=1e-9)


def test_sixty_measurements_name_the_street_of_the_source(tmp_path, capsys):
    """Two positions are off by a kilometre and left out; the others lead to within 40 m of the source."""
    picture = tmp_path / "new folder" / "roads.png"
    example = runpy.run_path(str(EXAMPLES / "04_measurements_on_roads.py"))
    answer = example["main"](picture)
    printed, table = capsys.readouterr().out, pd.read_csv(picture.with_suffix(".csv"))
    (street, _), limit = example["SOURCE"], example["LIMIT"]

    assert answer.recommended.point.edge_id == street
    assert answer.metres_off < 40.0
    assert len(table) == 60
    assert sorted({*range(60)} - {*answer.measurements.rows.tolist()}) == [20, 40]
    assert answer.measurements.off.max() < limit
    assert "West 88th Street" in printed
    assert "58 of 60 measurements kept" in printed
    assert min(png_size(picture)) >= 550


def test_the_next_places_are_apart_and_where_the_air_may_be_worse(tmp_path):
    """Five crews should not meet; most go near the source, one may look where nobody was."""
    example = runpy.run_path(str(EXAMPLES / "04_measurements_on_roads.py"))
    answer = example["main"](tmp_path / "roads.png")
    network = netbo.read(example["STREETS"])
    places = netbo.Points.at([each.point for each in answer.following], graph=network.graph)
    between = network.graph.distance(places, places)
    blindly = example["Air"](network).metres(
        netbo.uniform_points(network.graph, 500, np.random.default_rng(0))
    )

    assert between[~np.eye(len(places), dtype=bool)].min() >= example["APART"] - 1e-6
    assert len(places) == example["N_NEXT"]
    assert np.median(example["Air"](network).metres(places)) < np.median(blindly) / 2


def test_five_of_six_tables_lead_to_the_source(tmp_path):
    """Sixty values on 8.6 km are few: where the van did not happen upon the source, the answer is off."""
    example = runpy.run_path(str(EXAMPLES / "04_measurements_on_roads.py"))
    network, table, off = netbo.read(example["STREETS"]), tmp_path / "table.csv", []
    for seed in range(6):
        example["write_measurements"](network, table, seed)
        off.append(example["answer_of"](network, table, seed)[1].metres_off)

    assert sorted(off)[4] < 40.0
