import io

import matplotlib.pyplot as plt
import numpy as np
import pytest

from netbo import interval
from netbo.plotting import draw_field
from netbo.plotting.canvas import as_png
from netbo.plotting.field import floored_norm, probability_norm


def test_a_hundredth_of_the_largest_probability_has_a_tenth_of_the_colours():
    norm = probability_norm()
    norm.autoscale_None([0.2, 5.0])

    assert norm(0.05) == pytest.approx(0.1)
    assert norm.vmin == 0


def test_the_lowest_share_of_the_values_has_one_colour():
    norm = floored_norm(np.array([-np.inf, *range(101), np.nan]), 0.05)

    assert norm.vmin == pytest.approx(5.0)
    assert norm.vmax is None
    assert floored_norm(np.array([-np.inf]), 0.05).vmin == 0.0


def test_images_have_the_size_asked_for_and_leave_no_figure():
    image = plt.imread(
        io.BytesIO(as_png(lambda ax: draw_field(interval(), lambda x: x.z, ax), (4, 3), dpi=50))
    )

    assert image.shape[1] == pytest.approx(200, abs=25)  # room without ink is cut off
    assert not plt.get_fignums()
