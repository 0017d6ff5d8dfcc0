import numpy as np
import pytest
from numpy.testing import assert_array_equal

from netbo import FiniteElementSpace, MetricGraph, Optimizer, open_rectangle
from netbo.errors import ParameterError
from netbo.optimize.results.figures import VIEWS, density, draw_view, view


def optimizer(**options):
    space = FiniteElementSpace.build(open_rectangle(), max_cell=1.0)
    found = Optimizer(space, seed=2, noise=0.01, **options)
    found.tell(found.search.points[::8], np.cos(found.search.points[::8].z))
    return found


def test_mean_and_sd_are_those_of_the_posterior():
    found = optimizer()
    x = found.search.points

    assert_array_equal(view(found, "mean").function(x), found.posterior.mean(x))
    assert_array_equal(view(found, "sd").function(x), found.posterior.std(x))


@pytest.mark.parametrize("acquisition", ["thompson", "ucb", "noisy-ei", "log-ei"])
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_next_place_is_where_the_scores_are_largest(acquisition, direction):
    found = optimizer(acquisition=acquisition, direction=direction)
    for _ in range(3):  # pending places count where the rule says so
        scores = found.next_scores()(found.search.points)
        asked = found.ask().point

        assert asked == found.search.points[int(np.argmax(scores))]


def test_the_probability_is_that_of_the_modes():
    found = optimizer()
    (mode,) = found.modes(1, separation=1e9)
    edge = np.arange(found.graph.n_edges)

    assert density(found).mass(edge, 0.0 * edge, found.graph.lengths).sum() == pytest.approx(mode.probability)


def test_labels_carry_the_users_words_and_unit():
    graph = MetricGraph([0], [1], [60.0], unit="km")
    found = Optimizer(graph, max_cell=1.0, direction="minimize")
    found.tell(graph.points(0, [1.0, 30.0]), [1.0, 2.0])
    labels = {what: view(found, what, "flow (l/s)").label for what in VIEWS}

    assert labels == {
        "mean": "flow (l/s)",
        "sd": "standard deviation of flow (l/s)",
        "acquisition": "acquisition (RestlessImprovement)",
        "probability": "probability of the minimum per km",
    }


def test_views_are_four():
    with pytest.raises(ParameterError, match="one of mean, sd, acquisition, probability, got 'variance'"):
        view(optimizer(), "variance")


def few(graph, n):
    found = Optimizer(graph, max_cell=graph.total_length / 40, noise=0.01)
    points = found.search.points[:: len(found.search.points) // n][:n]
    found.tell(points, np.cos(points.z))
    return found


@pytest.mark.parametrize("is_drawn", [True, False], ids=["plan", "profile"])
def test_no_spread_is_drawn_of_fewer_than_five_values(is_drawn):
    """A fit to four values is too sure of itself; the picture says why it shows none."""
    graph = open_rectangle() if is_drawn else MetricGraph([0, 1], [1, 2], [3.0, 2.0])
    unsure, sure = (draw_view(few(graph, n), "sd") for n in (4, 5))

    assert unsure.get_title() == "standard deviation: too few values to say"
    assert sure.get_title() == ""
    if is_drawn:
        assert [len(ax.figure.axes) for ax in (unsure, sure)] == [1, 2]  # with a scale of colours
    else:
        assert np.isnan(unsure.lines[0].get_ydata()).all()


def test_a_profile_of_few_values_has_no_band():
    graph = MetricGraph([0, 1], [1, 2], [3.0, 2.0])
    unsure, sure = (draw_view(few(graph, n), "mean") for n in (4, 5))

    assert [len(ax.collections) for ax in (unsure, sure)] == [0, 1]
    assert unsure.get_title() == "standard deviation: too few values to say"
