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
    fit = example["main"]([str(picture)])
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
    fit = example["main"]([str(tmp_path / "picture.png")])
    printed, observations = capsys.readouterr().out, fit.posterior.observations

    for point, value in zip(observations.points, observations.values, strict=True):
        assert f"{point.edge_id!s:>4}  {point.distance:8.2f}  {value:8.2f}" in printed
