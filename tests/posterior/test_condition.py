import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import ESTIMATED, Matern, Observations, Points, condition
from netbo.errors import AccuracyWarning, NumericalError, ObservationError, ParameterError, PointError
from netbo.linalg import BlockFactor
from netbo.posterior.block import BlockPosterior
from netbo.posterior.dense import DensePosterior
from netbo.priors import DensePrior, sum_of
from support.reference import case, contract_graph, contract_points, contract_space


def two_observations() -> Observations:
    return Observations(contract_points()[:2], [1.0, 2.0])


@pytest.fixture(params=["hats 1", "spectral 0.75"])
def prior(request):
    return case(request.param).prior


@pytest.mark.parametrize("mean", [np.nan, np.inf])
def test_a_mean_is_finite_or_estimated(prior, mean):
    with pytest.raises(
        ParameterError, match=r"mean must be a finite number or ESTIMATED, got .*; 0 is the paper"
    ):
        condition(prior, two_observations(), regularization=0.1, mean=mean)


def test_a_mean_cannot_be_estimated_from_nothing(prior):
    none = Observations(Points(np.empty(0, dtype=int), []), [])

    with pytest.raises(ObservationError, match=r"an estimated mean needs at least one observation, got none"):
        condition(prior, none, regularization=0.1, mean=ESTIMATED)


@pytest.mark.parametrize("bad", [0.0, -0.1, np.nan, np.inf])
def test_regularization_is_positive(prior, bad):
    with pytest.raises(ObservationError, match=r"regularization must be a positive variance, got"):
        condition(prior, two_observations(), regularization=bad)


def test_noise_has_to_come_from_somewhere(prior):
    with pytest.raises(ObservationError, match=r"2 of 2 observations have no noise variance"):
        condition(prior, two_observations())


def test_noise_is_another_word_for_regularization(prior):
    data, x = two_observations(), contract_points()
    ours, papers = condition(prior, data, noise=0.1), condition(prior, data, regularization=0.1)

    assert np.array_equal(ours.mean(x), papers.mean(x))
    assert ours.regularization == papers.regularization
    with pytest.raises(ParameterError, match=r"are one variance, got 0.1 and 0.2; pass one of them"):
        condition(prior, data, regularization=0.1, noise=0.2)


def test_points_beyond_their_edge_are_refused(prior):
    with pytest.raises(PointError, match=r"distances must lie within the edge, got 99.0 on edge 0"):
        condition(prior, Observations(Points([0], [99.0]), [1.0]), regularization=0.1)
    with pytest.raises(PointError, match=r"edges must lie in 0..5, got 77"):
        condition(prior, Observations(Points([77], [0.0]), [1.0]), regularization=0.1)


def test_points_of_another_network_are_refused(prior):
    elsewhere = netbo.star(4).points(0, 0.5)

    with pytest.raises(PointError, match=r"points must lie on MetricGraph"):
        condition(prior, Observations(elsewhere, [1.0]), regularization=0.1)
    posterior = condition(prior, two_observations(), regularization=0.1)
    with pytest.raises(PointError, match=r"points must lie on MetricGraph"):
        posterior.mean(elsewhere)


@pytest.mark.parametrize("thing", [contract_graph(), contract_space(), None, "prior"])
def test_only_a_prior_can_be_conditioned(thing):
    with pytest.raises(ParameterError, match=r"condition needs a prior, got .*; see whittle_matern"):
        condition(thing, two_observations(), regularization=0.1)


def test_a_finite_element_prior_has_the_block_form_though_it_could_be_dense():
    prior, other = case("hats 1").prior, case("euclidean 0.5").prior

    assert isinstance(prior, DensePrior)
    assert isinstance(condition(prior, two_observations(), regularization=0.1), BlockPosterior)
    assert isinstance(condition(sum_of(prior, other), two_observations(), regularization=0.1), DensePosterior)


def test_unbound_points_are_bound_to_the_network(prior):
    """Points(edge, z) alone do: the prior knows its graph."""
    bound = contract_points()[:2]
    loose = Points(bound.edge, bound.z)
    one, two = (
        condition(prior, Observations(x, [1.0, 2.0]), regularization=0.1).mean(bound) for x in (bound, loose)
    )

    assert_allclose(one, two, rtol=1e-15)


def test_a_kernel_singular_to_rounding_is_refused_with_its_numbers():
    """Close points and no noise to speak of: the dense form cannot be factored."""
    graph = netbo.interval(1.0)
    smooth = netbo.euclidean_matern(graph, nu=2.5, range=1e4)
    data = Observations(graph.points(0, np.linspace(0, 1, 30)), np.zeros(30))
    posterior = condition(smooth, data, regularization=1e-30)

    with pytest.raises(
        NumericalError, match=r"not positive definite \(n=30, smallest noise 1e-30, sigma\^2 1\)"
    ):
        posterior.mean(graph.points(0, 0.5))


def test_extending_into_a_singular_kernel_is_refused_the_same_way():
    """The rows added to a Cholesky factor can fail as the whole can."""
    graph = netbo.interval(1.0)
    smooth = netbo.euclidean_matern(graph, nu=2.5, range=1e4)
    start = condition(smooth, Observations(graph.points(0, 0.0), [0.0]), regularization=1e-30)
    more = Observations(graph.points(0, np.linspace(0.1, 1, 30)), np.zeros(30))

    with pytest.raises(NumericalError, match=r"not positive definite"):
        start.extend(more).mean(graph.points(0, 0.5))


@pytest.mark.parametrize("mean", [0.0, ESTIMATED])
def test_other_parameters_are_as_if_conditioned_anew(prior, mean):
    """Also after extending: nothing of the old parameters may stay."""
    x, more = contract_points(), Observations(contract_points()[2:4], [0.0, 5.0])
    moved = prior.rescaled(range=0.5, sigma=2.0)
    kept = condition(prior, two_observations(), regularization=0.1, mean=mean).extend(more)
    kept.mean(x)
    kept.log_evidence_gradient()
    found = kept.with_parameters(moved, 0.3)
    expected = condition(moved, two_observations().joined(more), regularization=0.3, mean=mean)

    assert_allclose(found.mean(x), expected.mean(x), rtol=1e-12)
    assert_allclose(found.std(x), expected.std(x), rtol=1e-12)
    assert_allclose(found.log_evidence_gradient(), expected.log_evidence_gradient(), rtol=1e-10)
    assert found.information_gain() == pytest.approx(expected.information_gain(), rel=1e-12)
    assert found.regularization == 0.3


def test_other_parameters_share_what_depends_on_the_data_alone():
    """Places are located once; values are merged anew only if another noise may weigh them otherwise."""
    prior, data = case("hats 1").prior, two_observations()
    mixed = Observations(data.points, data.values, [0.2, np.nan])
    common, own = (condition(prior, each, regularization=0.1, mean=ESTIMATED) for each in (data, mixed))

    for posterior, is_common in ((common, True), (own, False)):
        other = posterior.with_parameters(prior.rescaled(range=3.0), 0.4)
        assert other.data is posterior.data
        assert (other.values is posterior.values) == is_common


@pytest.mark.parametrize(("name", "other"), [("hats 1", "spectral 0.75"), ("spectral 0.75", "hats 1")])
def test_other_parameters_belong_to_the_same_prior(name, other):
    posterior = condition(case(name).prior, two_observations(), regularization=0.1)

    with pytest.raises(
        ParameterError, match=r"takes the same prior rescaled, got another; use condition\(\)"
    ):
        posterior.with_parameters(case(other).prior, 0.1)


def test_extending_factors_anew_now_and_then(monkeypatch):
    """Rank-one updates are cheap but pile up columns and rounding: 40 of them need two fresh factors."""
    made, factor = [], BlockFactor.__init__

    def counted(self, *args, **kwargs):
        made.append(1)
        factor(self, *args, **kwargs)

    space = contract_space()
    prior = netbo.whittle_matern(space, Matern(alpha=1.0, range=1.0))
    more = scattered(space.graph, 40)
    posterior = condition(prior, two_observations(), regularization=0.1)
    posterior.std(space.nodes)
    monkeypatch.setattr(BlockFactor, "__init__", counted)
    for i in range(40):
        posterior = posterior.extend(Observations(more.points[[i]], more.values[[i]]))
        posterior.mean(space.nodes)
        posterior.std(space.nodes)

    assert 1 <= len(made) <= 4


def right_hand_sides(monkeypatch, prior, data) -> tuple[int, int]:
    """Systems solved and factors made for mean, variance, evidence and gradient."""
    counts = [0, 0]
    solve, factor = BlockFactor.solve, BlockFactor.__init__

    def counted_solve(self, x):
        counts[0] += len(x)
        return solve(self, x)

    def counted_factor(self, *args, **kwargs):
        counts[1] += 1
        factor(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(BlockFactor, "solve", counted_solve)
        patch.setattr(BlockFactor, "__init__", counted_factor)
        posterior = condition(prior, data, regularization=0.1, mean=ESTIMATED)
        posterior.mean(prior.space.nodes)
        posterior.std(prior.space.nodes)
        posterior.log_evidence()
        posterior.log_evidence_gradient()
        posterior.sample(prior.space.nodes, np.random.default_rng(0))
    return counts[0], counts[1]


def scattered(graph, n) -> Observations:
    rng = np.random.default_rng(n)
    return Observations(netbo.uniform_points(graph, n, rng), rng.standard_normal(n))


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_the_work_does_not_grow_with_the_data(monkeypatch, alpha, constant):
    """As many right-hand sides and factors for 500 observations as for 5."""
    space = contract_space()
    counts = [
        right_hand_sides(
            monkeypatch,
            netbo.whittle_matern(space, Matern(alpha=alpha, range=1.0), constant_variance=constant),
            scattered(space.graph, n),
        )
        for n in (5, 500)
    ]

    assert counts[0] == counts[1]
    assert counts[0][0] == 3  # values, ones and one sample
    assert counts[0][1] <= 4  # with data, K, and two without data for a constant variance


def test_no_matrix_over_observations_is_formed():
    """With 3,000 observations an n x n matrix is 72 MB, one of n x N 24 MB; all that is used is below 6."""
    space = netbo.FiniteElementSpace.build(contract_graph(), n_nodes=1000)
    prior = netbo.whittle_matern(space, Matern(alpha=1.0, range=1.0))
    data = scattered(space.graph, 3000)
    condition(prior, scattered(space.graph, 3), regularization=0.1, mean=ESTIMATED).log_evidence_gradient()
    tracemalloc.start()
    posterior = condition(prior, data, regularization=0.1, mean=ESTIMATED)
    posterior.std(space.nodes)
    posterior.log_evidence_gradient()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 6e6


def coarse_prior(alpha=1.0, **options):
    space = netbo.FiniteElementSpace.build(netbo.interval(3.0), max_cell=0.5)
    return netbo.whittle_matern(space, netbo.Matern(alpha=alpha, range=1.0, sigma=2.0), **options)


def test_noise_below_what_a_crowded_cell_can_hold_is_raised_with_a_word():
    """Two exact values inside a cell tell the third: what it says beyond them is lost at 1e-20."""
    prior = coarse_prior()
    x = prior.graph.points(0, [0.6, 0.7, 0.9, 2.6])
    values, questions = [0.1, 0.9, 0.3, 0.7], prior.graph.points(0, [0.0, 0.4, 1.3, 3.0])
    with pytest.warns(AccuracyWarning, match=r"3 observations in crowded cells .* at least 1e-13"):
        floored = netbo.condition(prior, netbo.Observations(x, values, [1e-20, 1e-20, 1e-20, 0.1]))
    same = netbo.condition(prior, netbo.Observations(x, values, [4e-13, 4e-13, 4e-13, 0.1]))

    assert_array_equal(floored.noise, same.noise)
    with pytest.warns(AccuracyWarning, match="values should agree where the field can hardly differ"):
        assert_array_equal(floored.mean(questions), same.mean(questions))


def test_so_many_values_inside_cells_that_their_columns_fill_the_memory_have_the_floor(monkeypatch):
    monkeypatch.setattr("netbo.posterior.border.MOST_ENTRIES", 10)
    prior = coarse_prior()
    x = prior.graph.points(0, [0.2, 1.7])
    with pytest.warns(AccuracyWarning, match=r"2 observations in crowded cells .* at least 1e-13"):
        posterior = netbo.condition(prior, netbo.Observations(x, [0.1, 0.3], 1e-20))

    assert_array_equal(posterior.noise, 4e-13)


@pytest.mark.parametrize("constant", [False, True], ids=["as it is", "constant variance"])
def test_paths_and_extensions_know_exact_values_inside_cells(constant):
    """Paths pass through the values; their spread elsewhere is the posterior's, to 4 standard errors."""
    prior = coarse_prior(constant_variance=constant)
    points, x = prior.graph.points(0, [0.2, 0.9, 1.0, 2.6]), prior.graph.points(0, [0.5, 1.3, 2.2])
    data = netbo.Observations(points, [0.1, 0.9, 0.3, 0.7], [1e-18, 1e-18, 0.2, 1e-18])
    posterior = netbo.condition(prior, data, mean=ESTIMATED)
    rng = np.random.default_rng(5)
    paths = posterior.sample(Points.concatenate([points, x]), rng, n=3000)
    first = netbo.condition(
        prior, netbo.Observations(points[:2], data.values[:2], data.noise[:2]), mean=ESTIMATED
    )
    grown = first.extend(netbo.Observations(points[2:], data.values[2:], data.noise[2:]))

    assert_allclose(paths[:, [0, 1, 3]], np.tile(data.values[[0, 1, 3]], (3000, 1)), atol=1e-7)
    assert_allclose(paths[:, 4:].std(axis=0), posterior.std(x), rtol=4 / np.sqrt(2 * 3000))
    assert_allclose(posterior.covariance(x, x).diagonal(), posterior.variance(x), rtol=1e-12)
    assert_allclose(grown.mean(x), posterior.mean(x), rtol=1e-11)
    assert_allclose(grown.std(x), posterior.std(x), rtol=1e-11)


@pytest.mark.parametrize("constant", [False, True], ids=["as it is", "constant variance"])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0])
def test_leaving_exact_values_inside_cells_out_is_conditioning_on_the_others(alpha, constant):
    prior = coarse_prior(alpha, constant_variance=constant)
    points = prior.graph.points(0, [0.2, 0.9, 1.0, 2.6])
    data = netbo.Observations(points, [0.1, 0.9, 0.3, 0.7], [1e-16, 1e-16, 1e-16, 0.2])
    found = netbo.condition(prior, data).leave_one_out()
    for index in range(4):
        rest = np.delete(np.arange(4), index)
        others = netbo.condition(prior, netbo.Observations(points[rest], data.values[rest], data.noise[rest]))

        assert found.mean[index] == pytest.approx(others.mean(points[[index]])[0], rel=1e-9)
        expected = others.variance(points[[index]])[0] + data.noise[index]
        assert found.variance[index] == pytest.approx(expected, rel=1e-9)


def test_values_that_contradict_each_other_are_said():
    """Two exact values 1e-9 of the range apart that differ by 1: duals of 1e9 of both signs make the mean."""
    graph = netbo.MetricGraph([0, 1, 2], [1, 2, 3], [1.0, 1e-11, 1.0])
    prior = netbo.whittle_matern(graph, netbo.Matern(alpha=1.5, range=1.0))
    points, x = graph.points([0, 2], [1.0, 0.0]), graph.points(0, 0.5)
    with pytest.warns(AccuracyWarning, match=r"got ones that contradict .* raise the noise"):
        netbo.condition(prior, netbo.Observations(points, [0.0, 1.0], 1e-16)).mean(x)

    netbo.condition(prior, netbo.Observations(points, [0.0, 1.0], 1e-3)).mean(x)


def test_an_evidence_of_which_rounding_leaves_little_is_said():
    """Two exact values 1e-7 of a cell apart, which agree: what the second one adds is lost in rounding."""
    prior = coarse_prior()
    points = prior.graph.points(0, [0.7, 0.7 + 5e-8])
    with pytest.warns(AccuracyWarning, match=r"the log evidence should keep six digits.* raise the noise"):
        netbo.condition(prior, netbo.Observations(points, [0.5, 0.5], 1e-18)).log_evidence()

    netbo.condition(prior, netbo.Observations(points, [0.5, 0.5], 1e-6)).log_evidence()


def test_noise_at_nodes_may_be_as_small_as_one_likes():
    """Nothing is felt of 1e-60 of the variance, so nothing is said."""
    space = netbo.FiniteElementSpace.build(netbo.interval(3.0), max_cell=0.5)
    prior = netbo.whittle_matern(space, netbo.Matern(alpha=1.0, range=1.0, sigma=2.0))
    values = [0.1, 0.9, 0.3]
    posterior = netbo.condition(prior, netbo.Observations(space.nodes[[0, 2, 4]], values), noise=1e-300)

    assert_allclose(posterior.mean(space.nodes[[0, 2, 4]]), values, rtol=1e-13)
    assert np.isfinite(posterior.log_evidence())


def test_the_variance_of_an_estimated_mean_keeps_its_digits_beside_a_field_that_varies_far_more():
    """On a loop of 1e-8 a field of range 8e6 varies by 1e14, beside which noise of 0.8 is next to none.

    Both values are then of one variable, of variance v = 1 / (kappa^3 tau^2 length): that of the mean is
    v + 0.8 / 2, and far away, where the values tell nothing, the field's own is added.
    """
    graph = netbo.MetricGraph([0, 0, 1], [0, 0, 1], [7e-8, 5e-9, 1e10])
    space = netbo.FiniteElementSpace(graph, np.array([2, 4, 2]))
    matern = netbo.Matern(1.5, kappa=4.4e-7, sigma=1.0)
    prior = netbo.whittle_matern(space, matern)
    data = netbo.Observations(graph.points([1, 0], fraction=[0.38, 0.7505]), [0.1, -0.1], 0.8)
    far = graph.points(2, fraction=0.5)
    posterior = netbo.condition(prior, data, mean=ESTIMATED)
    v = 1 / (matern.kappa**6 * matern.tau**2 * 7.5e-8)

    assert posterior.variance(far)[0] == pytest.approx(v + 0.4 + prior.variance(far)[0], rel=1e-9)


def test_a_mean_whose_variance_keeps_no_digits_is_said():
    """Where the variance is made constant, no equation is known for 1 - fit: it stays a difference."""
    prior = coarse_prior(constant_variance=True)
    data = netbo.Observations(prior.space.nodes[[0, 2]], [0.1, -0.1], 1e-14)
    far = netbo.condition(prior, data, mean=ESTIMATED).prior.space.nodes[[4]]
    long = netbo.condition(prior.rescaled(range=1e9), data, mean=ESTIMATED)
    with pytest.warns(AccuracyWarning, match=r"an estimated mean should keep two digits .* shorten the"):
        long.variance(far)

    netbo.condition(prior.rescaled(range=1e9), data, mean=0.0).variance(far)
