import math

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from netbo import MetricGraph, Optimizer, open_rectangle
from netbo.errors import ObservationError, ParameterError
from netbo.optimize.answers import Result
from netbo.optimize.results.figures import view
from netbo.plotting import style

mpl.use("Agg")

VALUES = [1.0, math.nan, 3.0, 2.0, 5.0, 4.0]


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def result(values=VALUES, graph=None, **settings):
    graph = open_rectangle() if graph is None else graph
    optimizer = Optimizer(graph, max_cell=graph.total_length / 60, **settings)
    optimizer.tell(optimizer.search.points[: len(values)], values)
    return Result(optimizer, "tired")


def test_the_table_is_that_of_the_history_and_the_best_so_far():
    found = result()
    table = found.history

    assert list(table.columns) == [*found.optimizer.history.table().columns, "best"]
    assert table.index.name == "id"
    assert_array_equal(table["best"], [1, 1, 3, 3, 5, 5])


def test_the_best_so_far_is_the_smallest_when_minimizing():
    assert_array_equal(result([3.0, 4.0, 1.0, 2.0], direction="minimize").history["best"], [3, 3, 1, 1])


def test_the_best_so_far_follows_the_order_told_and_skips_what_does_not_count():
    optimizer = Optimizer(open_rectangle(), max_cell=2.0)
    a, b, c, d, _ = optimizer.ask(5)
    optimizer.tell(c, 2.0)
    optimizer.tell(a, 9.0)
    optimizer.tell(b, 1.0)
    optimizer.withdraw(a)
    optimizer.cancel(d)

    assert_array_equal(Result(optimizer, "").history["best"], [2, 2, 2, np.nan, np.nan])


def test_an_empty_record_is_an_empty_table():
    table = result([]).history

    assert len(table) == 0
    assert "best" in table


def test_answers_are_those_of_the_optimizer():
    found = result()
    optimizer = found.optimizer

    assert found.best() == optimizer.best()
    assert found.recommend() == optimizer.recommend()
    assert found.posterior is optimizer.posterior
    assert str(found.summary()) == str(optimizer.summary())
    assert_array_equal(found.check().predicted, optimizer.check().predicted)
    assert found.modes(2, 3.0, level=0.8, draws=50) == optimizer.modes(2, 3.0, level=0.8, draws=50)
    assert str(found.search_list(0.5, draws=50)) == str(optimizer.search_list(0.5, draws=50))


def test_it_says_what_was_found_and_why_it_ended():
    graph = MetricGraph([0], [1], [60.0], edge_ids=["A1"], unit="km")

    assert repr(result(graph=graph)).startswith("Result(best 5 at edge 'A1', ")
    assert repr(result(graph=graph)).endswith(" km; History(5 observed, 1 failed); stopped: tired)")
    assert repr(result([math.nan])) == "Result(no value; History(1 failed); stopped: tired)"


def test_in_a_notebook_it_shows_its_summary():
    shown = result(graph=MetricGraph([0], [1], [60.0], edge_ids=["<main>"]))._repr_html_()

    assert "recommend" in shown
    assert ">tired<" in shown
    assert "<img" in shown
    assert "&lt;main&gt;" in shown
    assert "no values yet" in result([])._repr_html_()


def test_the_picture_shows_the_mean_what_was_measured_and_what_is_recommended():
    found = result()
    ax = found.plot(label="flow")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    offsets = {marks.get_label(): marks.get_offsets() for marks in ax.collections if marks.get_label()}

    assert labels == ["failed", "observed", "recommended"]
    assert ax.figure.axes[1].get_ylabel() == "flow"
    assert_array_equal(offsets["recommended"], [found.recommend().point.xy])
    assert len(offsets["observed"]) == 5
    assert len(offsets["failed"]) == 1


def test_the_picture_is_drawn_into_the_axes_given():
    _, (left, right) = plt.subplots(1, 2)
    found = result([1.0, 2.0])

    assert found.plot(left) is left
    assert found.plot_convergence(right) is right


def test_without_coordinates_a_profile_is_drawn():
    ax = result(graph=MetricGraph([0, 1], [1, 2], [2.0, 3.0])).plot()

    assert ax.get_xlabel() == "distance along the edges"


def test_convergence_shows_values_in_the_order_told():
    optimizer = Optimizer(open_rectangle(), max_cell=2.0, direction="minimize")
    first, second, third = optimizer.ask(3)
    optimizer.tell([third, first, second], [3.0, 1.0, 2.0])
    ax = Result(optimizer, "").plot_convergence(reference=0.5, label="cost")
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}

    assert_array_equal(lines["observations"], [3, 1, 2])
    assert_array_equal(lines["best so far"], [3, 1, 1])
    assert_array_equal(lines["optimum"], [0.5, 0.5])
    assert ax.get_ylabel() == "cost"


def test_a_picture_needs_a_value():
    with pytest.raises(ObservationError, match="needs at least one observation"):
        result([math.nan]).plot()


@pytest.mark.parametrize("what", ["mean", "sd", "acquisition", "probability"])
def test_each_view_is_one_call(what):
    found = result()
    found.optimizer.ask()
    ax = found.plot(what=what, label="flow (l/s)")
    offsets = {marks.get_label(): len(marks.get_offsets()) for marks in ax.collections if marks.get_label()}

    assert {name: offsets[name] for name in ("failed", "observed", "next", "recommended")} == {
        "failed": 1,
        "observed": 5,
        "next": 1,
        "recommended": 1,
    }
    assert ax.get_aspect() == 1
    assert len(ax.figure.axes) == 2  # a colour bar


def test_the_sd_is_drawn_in_its_own_colours_and_named():
    ax = result().plot(what="sd", label="flow (l/s)")

    assert ax.collections[1].cmap.name == style.SPREAD_MAP
    assert ax.figure.axes[1].get_ylabel().replace("\n", " ") == "standard deviation of flow (l/s)"


def test_likely_stretches_hold_all_of_the_probability():
    found = result()
    ax = found.plot(what="probability")
    stretches = ax.collections[1]
    lengths = np.linalg.norm(np.diff(stretches.get_segments(), axis=1)[:, 0], axis=1)

    assert np.dot(stretches.get_array(), lengths) == pytest.approx(1.0)


def test_places_of_ones_own_are_dots_with_their_probability():
    graph = open_rectangle()
    optimizer = Optimizer(graph, max_cell=2.0, candidates=graph.points([0, 2, 4], [1.0, 9.0, 2.0]))
    optimizer.tell(optimizer.search.points[:2], [1.0, 2.0])
    ax = Result(optimizer, "").plot(what="probability")

    assert ax.collections[1].get_array().sum() == pytest.approx(1.0)
    assert ax.figure.axes[1].get_ylabel().replace("\n", " ") == "probability of the maximum"


def test_scores_far_below_the_rest_do_not_take_the_colours():
    """log-EI falls by hundreds beside a measurement."""
    found = result(acquisition="log-ei", noise=1e-6)
    ax = found.plot(what="acquisition")
    scores = view(found.optimizer, "acquisition").function(found.optimizer.search.points)

    assert ax.collections[1].norm.vmin == pytest.approx(np.quantile(scores[np.isfinite(scores)], 0.05))


@pytest.mark.parametrize("what", ["sd", "acquisition", "probability"])
def test_without_coordinates_every_view_is_a_profile(what):
    ax = result(graph=MetricGraph([0, 1], [1, 2], [2.0, 3.0])).plot(what=what)

    assert ax.get_xlabel() == "distance along the edges"
    assert ax.get_ylabel()


def test_a_profile_goes_from_place_to_place():
    graph = open_rectangle()
    ax = result(graph=graph).plot_profile(between=(graph.points(0, 1.0), graph.points(0, 5.0)), label="flow")

    assert ax.get_xlabel() == "distance along the path"
    assert ax.get_ylabel() == "flow"


def test_views_are_named():
    with pytest.raises(ParameterError, match="a view must be one of"):
        result().plot(what="variance")
