import runpy
import struct
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from netbo import FitBounds

matplotlib.use("Agg")

EXAMPLES = Path(__file__).parents[2] / "examples"


def png_size(path):
    """Width and height in pixels, from the header."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def test_first_posterior_recovers_what_it_was_given(tmp_path, capsys):
    """The truth lies within three standard deviations almost everywhere, the range within its bounds."""
    picture = tmp_path / "new folder" / "picture.png"
    example = runpy.run_path(str(EXAMPLES / "01_first_posterior.py"))
    fit = example["main"](picture)
    nodes, diameter = fit.prior.space.nodes, fit.prior.graph.diameter
    error = np.abs(fit.posterior.mean(nodes) - example["truth"](nodes))
    low, high = FitBounds().range

    assert fit.converged
    assert fit.at_bound == ()
    assert low * diameter < fit.prior.range < high * diameter
    assert fit.regularization == pytest.approx(example["NOISE_SD"] ** 2)
    assert np.mean(error <= 3 * fit.posterior.std(nodes)) >= 0.9
    assert min(png_size(picture)) >= 900
    assert 30_000 < picture.stat().st_size < 300_000
    assert str(picture) in capsys.readouterr().out


def test_the_table_shows_every_observation(tmp_path, capsys):
    example = runpy.run_path(str(EXAMPLES / "01_first_posterior.py"))
    fit = example["main"](tmp_path / "picture.png")
    printed, observations = capsys.readouterr().out, fit.posterior.observations

    for point, value in zip(observations.points, observations.values, strict=True):
        assert f"{point.edge_id!s:>4}  {point.distance:8.2f}  {value:8.2f}" in printed


def test_the_leak_is_found_and_its_pipe_named(tmp_path, capsys):
    """Thirty readings with errors of 1.5 dB on 3.7 km of pipes: the answer is within 20 m."""
    picture = tmp_path / "picture.png"
    example = runpy.run_path(str(EXAMPLES / "02_find_the_leak.py"))
    result, off = example["main"](picture)
    printed = capsys.readouterr().out
    (pipe, distance), found = example["LEAK"], result.recommend()

    assert found.point.edge_id == pipe
    assert off == pytest.approx(abs(found.point.distance - distance))
    assert off < 20.0
    assert len(result.history) == example["BUDGET"]
    assert "warning" not in printed
    assert f"recommend  edge '{pipe}'" in printed
    assert min(png_size(picture)) >= 600


def test_the_search_list_holds_the_leak_for_other_seeds(tmp_path):
    """The recommended place may be off by more in other runs; the stretches to search still hold the leak."""
    example = runpy.run_path(str(EXAMPLES / "02_find_the_leak.py"))
    pipe, distance = example["LEAK"]
    for seed in (1, 2, 3):
        result, _ = example["main"](tmp_path / "picture.png", seed=seed)
        listed = result.search_list(0.9)

        assert any(each.edge_id == pipe and each.start <= distance <= each.end for each in listed.stretches)
        assert listed.length < 0.2 * result.optimizer.graph.total_length
