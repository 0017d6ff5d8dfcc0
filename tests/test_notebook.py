"""Small HTML: nothing in it is code of others, and pictures stay small."""

import base64
import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex

from netbo.notebook import GRAIN, MOST_LINES, VIRIDIS, Plan, bar, card, table, thin

EVIL = "<script>alert('x')</script>"


def test_every_text_is_escaped():
    shown = card(EVIL, [(EVIL, EVIL)], warnings=[EVIL], rows=table([EVIL], [[EVIL]])) + bar(EVIL, 0.5)

    assert "<script>" not in shown
    assert shown.count("&lt;script&gt;") == 7


def test_a_table_says_how_many_rows_it_leaves_out():
    assert "... and 3 more" in table(["a"], [[1]], n_hidden=3)
    assert "more" not in table(["a"], [[1]])


@pytest.mark.parametrize(("share", "width"), [(-1.0, "0.0%"), (0.25, "25.0%"), (7.0, "100.0%")])
def test_a_bar_is_filled_to_its_share(share, width):
    assert f"width:{width}" in bar("done", share)


def test_colours_are_those_of_the_other_pictures():
    assert [to_hex(mpl.colormaps["viridis"](k / 11)) for k in range(12)] == list(VIRIDIS)


def test_a_plan_keeps_proportions_and_fits_its_image():
    """Both directions have one scale, north is up, and nothing lies outside."""
    corners = np.array([[100.0, 200.0], [300.0, 200.0], [300.0, 300.0]])
    plan = Plan.of(corners)
    a, b, c = plan.steps(corners)
    width, height = (GRAIN * side for side in plan.size)

    assert b[0] - a[0] == pytest.approx(2 * (b[1] - c[1]), abs=2)
    assert c[1] < b[1]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in (a, b, c))


@pytest.mark.parametrize(
    "corners", [[[0.0, 0.0], [0.0, 0.0]], [[1e9, 0.0], [1e9, 5.0]], [[0.0, 1.0], [1e-9, 1.0]]]
)
def test_a_plan_without_extent_is_drawn_too(corners):
    plan = Plan.of(np.array(corners))

    assert np.all(plan.steps(np.array(corners)) >= 0)
    assert all(side > 0 for side in plan.size)


def test_few_pieces_are_all_kept():
    steps = np.array([[[0, 0], [40, 0]], [[40, 0], [40, 40]]])
    kept, which = thin(steps)

    np.testing.assert_array_equal(kept, steps)
    np.testing.assert_array_equal(which, [0, 1])


def test_copies_and_pieces_without_extent_are_left_out():
    steps = np.array([[[0, 0], [40, 0]], [[40, 0], [0, 0]], [[7, 7], [7, 7]]])

    assert thin(steps)[1].tolist() == [0]


def test_many_pieces_become_few_and_cover_what_they_covered():
    """Coarsening moves an end by at most half of a cell, and leaves no part of the plan bare."""
    rng = np.random.default_rng(0)
    start = rng.integers(0, 900, size=(50_000, 2))
    steps = np.stack([start, start + rng.integers(-20, 21, size=start.shape)], axis=1)
    kept, which = thin(steps)
    moved = np.abs(kept - steps[which]).max()
    squares = {tuple(square) for square in (start // 100).tolist()}
    drawn = {tuple(square) for square in (kept.reshape(-1, 2) // 100).tolist()}

    assert 0 < len(kept) <= MOST_LINES
    assert moved <= 32
    assert squares <= drawn


def test_pictures_are_images_without_links():
    """An image runs no script and loads nothing."""
    import netbo

    shown = netbo.star(3)._repr_html_()
    [data] = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', shown)
    svg = base64.b64decode(data).decode()

    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert "script" not in svg
