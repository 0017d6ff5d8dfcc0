"""What holds for every acquisition."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import FiniteElementSpace, Matern, Observations, Points, testing
from netbo.acquisition import (
    Acquisition,
    FixedWidth,
    GpTs,
    IgpUcb,
    LogExpectedImprovement,
    MaxVariance,
    NoisyExpectedImprovement,
    PaperWidth,
    RandomSearch,
    RestlessImprovement,
)
from support.reference import contract_graph, contract_space

DETERMINISTIC = [
    IgpUcb(),
    IgpUcb(PaperWidth()),
    MaxVariance(),
    LogExpectedImprovement(),
    NoisyExpectedImprovement(),
    NoisyExpectedImprovement(n_draws=8, n_incumbents=3),
    RestlessImprovement(worth=0.0),
]
RANDOM = [GpTs(), GpTs(FixedWidth(3.0)), RandomSearch()]
EVERY = DETERMINISTIC + RANDOM
NEGLIGIBLE = -30.0  # of a log improvement: rounding decides what is below


def same(found, expected):
    assert_allclose(np.maximum(found, NEGLIGIBLE), np.maximum(expected, NEGLIGIBLE), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("acquisition", EVERY)
def test_every_candidate_has_one_score(acquisition, posterior, candidates, rng):
    scores = acquisition.scores(posterior, candidates, rng)

    assert isinstance(acquisition, Acquisition)
    assert scores.shape == (len(candidates),)
    assert not np.isnan(scores).any()
    assert np.isfinite(scores.max())


@pytest.mark.parametrize("acquisition", EVERY)
def test_no_candidates_have_no_scores(acquisition, posterior, candidates, rng):
    assert acquisition.scores(posterior, candidates[:0], rng).shape == (0,)


@pytest.mark.parametrize("acquisition", EVERY)
def test_without_observations_there_are_scores(acquisition, prior, candidates, rng):
    none = Observations(Points(np.empty(0, dtype=int), []), [])
    scores = acquisition.scores(netbo.condition(prior, none, regularization=0.1), candidates, rng)

    assert np.isfinite(scores).all()


@pytest.mark.parametrize("acquisition", EVERY)
def test_the_same_seed_gives_the_same_scores(acquisition, posterior, candidates):
    one, two = (acquisition.scores(posterior, candidates, np.random.default_rng(3)) for _ in range(2))

    assert_array_equal(one, two)


@pytest.mark.parametrize("acquisition", DETERMINISTIC)
def test_deterministic_rules_draw_nothing(acquisition, posterior, candidates):
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    acquisition.scores(posterior, candidates, rng)

    assert rng.bit_generator.state == before
    assert acquisition.hallucinates


@pytest.mark.parametrize("acquisition", RANDOM)
def test_random_rules_draw_anew_and_need_no_hallucination(acquisition, posterior, candidates, rng):
    one, two = (acquisition.scores(posterior, candidates, rng) for _ in range(2))

    assert (one != two).all()
    assert not acquisition.hallucinates


@pytest.mark.parametrize("acquisition", DETERMINISTIC)
def test_scores_follow_their_candidates(acquisition, posterior, candidates, rng):
    order = np.random.default_rng(1).permutation(len(candidates))
    scores = acquisition.scores(posterior, candidates, rng)

    same(acquisition.scores(posterior, candidates[order], rng), scores[order])


@pytest.mark.parametrize("acquisition", DETERMINISTIC)
def test_the_order_of_observations_is_irrelevant(acquisition, prior, observations, candidates, rng):
    order = np.random.default_rng(2).permutation(len(observations))
    shuffled = Observations(observations.points[order], observations.values[order])
    one, two = (
        acquisition.scores(netbo.condition(prior, data, regularization=0.05), candidates, rng)
        for data in (observations, shuffled)
    )

    same(two, one)


@pytest.mark.parametrize("acquisition", DETERMINISTIC)
def test_flipping_edges_changes_no_score(acquisition, posterior, candidates, rng):
    graph, space, data = contract_graph(), contract_space(), posterior.observations
    flip = np.arange(graph.n_edges) % 2 == 0
    flipped = replace(
        graph,
        curves=None,
        positions=None,
        tails=np.where(flip, graph.heads, graph.tails),
        heads=np.where(flip, graph.tails, graph.heads),
    )

    def moved(x):
        return Points(x.edge, np.where(flip[x.edge], graph.lengths[x.edge] - x.z, x.z), graph=flipped)

    mesh = FiniteElementSpace(flipped, space.cells)
    prior = netbo.whittle_matern(mesh, Matern(alpha=1.0, range=2.0, sigma=1.3))
    other = netbo.condition(
        prior, Observations(moved(data.points), data.values), regularization=0.05, mean=0.3
    )

    same(acquisition.scores(other, moved(candidates), rng), acquisition.scores(posterior, candidates, rng))


def test_a_stranger_can_write_an_acquisition(posterior, candidates, rng):
    class Greedy:
        hallucinates = True

        def scores(self, surrogate, x, rng):
            return surrogate.mean(x)

    assert isinstance(Greedy(), Acquisition)
    assert_array_equal(Greedy().scores(posterior, candidates, rng), posterior.mean(candidates))


@pytest.mark.parametrize("acquisition", EVERY, ids=repr)
class TestContract(testing.AcquisitionContract):
    """What a stranger's rule must pass, ours pass."""

    @pytest.fixture(autouse=True)
    def _chosen(self, acquisition):
        self.acquisition = acquisition

    def make_acquisition(self):
        return self.acquisition
