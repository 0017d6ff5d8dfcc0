"""Evidence by numbers alone: to the last bit what the posterior with these parameters says."""

import numpy as np
import pytest

import netbo
from netbo import ESTIMATED, Matern, Observations
from netbo.posterior import Posterior
from netbo.posterior.evidence import NodalEvidence
from support.reference import contract_graph, contract_space

ALPHAS = (0.5, 1.0, 1.5, 2.0)
NODES = [0, 4, 9, 4, 20, 31, 9, 11, 2]  # two of them twice


def start_of(alpha: float, kind: str, mean: float | object) -> Posterior:
    where = contract_graph() if kind == "mesh-free" else contract_space()
    prior = netbo.whittle_matern(where, Matern(alpha, range=1.0), lumped=kind == "lumped")
    data = Observations(contract_space().nodes[NODES], np.sin(np.arange(len(NODES))) + 3.0)
    return netbo.condition(prior, data, noise=1.0, mean=mean)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", ["mesh-free", "consistent", "lumped"])
@pytest.mark.parametrize("mean", [0.5, ESTIMATED])
def test_terms_and_slopes_are_those_of_the_posterior_to_the_last_bit(alpha, kind, mean):
    """With much noise and with hardly any, where duals are read from K x; twice at each range."""
    start = start_of(alpha, kind, mean)
    for length in (0.3, 2.0, 40.0):
        for noise in (0.1, 1e-9):
            prior = start.prior.rescaled(range=length, sigma=1.3)
            quick, slow = start.evidence_at(prior, noise), start.with_parameters(prior, noise)

            assert isinstance(quick, NodalEvidence)
            assert quick.evidence_terms() == slow.evidence_terms()
            assert quick.evidence_derivatives() == slow.evidence_derivatives()


def test_a_posterior_takes_over_what_its_evidence_has_computed():
    start = start_of(1.0, "mesh-free", ESTIMATED)
    prior = start.prior.rescaled(range=2.0, sigma=1.3)
    quick = start.evidence_at(prior, 0.1)
    quick.evidence_terms()
    taken, other = start.with_parameters(prior, 0.1), start.with_parameters(prior, 0.2)

    assert taken.base.factor is quick._factor
    assert other.base.factor is not quick._factor
    assert other.base.prior.unit is quick.prior.unit
    assert (
        taken.evidence_terms()
        == start_of(1.0, "mesh-free", ESTIMATED).with_parameters(prior, 0.1).evidence_terms()
    )


def test_a_mean_that_the_data_hardly_determine_is_left_to_the_posterior():
    """A range of a million diameters: 1 - fit keeps few digits, so it is solved for."""
    start = start_of(1.0, "mesh-free", ESTIMATED)
    prior = start.prior.rescaled(range=1e6, sigma=1.0)
    quick, slow = start.evidence_at(prior, 1e-9), start.with_parameters(prior, 1e-9)

    assert isinstance(quick, NodalEvidence)
    assert slow.base.solution._solved_ones is not None
    assert quick.evidence_terms() == slow.evidence_terms()
    assert quick.evidence_derivatives() == slow.evidence_derivatives()


def test_what_needs_more_than_numbers_is_answered_by_a_posterior():
    """Noise of their own, places between nodes, a variance made constant, next to no noise."""
    graph, space = contract_graph(), contract_space()
    nodes, between = space.nodes[NODES], graph.points([0, 2], [0.123, 0.456])
    values, matern = np.arange(float(len(NODES))), Matern(1.0, range=1.0)
    exact, mesh = netbo.whittle_matern(graph, matern), netbo.whittle_matern(space, matern)
    constant = netbo.whittle_matern(graph, matern, constant_variance=True)
    cases = [
        (exact, Observations(nodes, values, np.where(values > 3, 0.1, np.nan)), 0.1),
        (mesh, Observations(between, values[:2]), 0.1),
        (constant, Observations(nodes, values), 0.1),
        (exact, Observations(nodes, values), 1e-61),
    ]
    for prior, data, noise in cases:
        found = netbo.condition(prior, data, noise=0.1).evidence_at(prior.rescaled(range=2.0), noise)

        assert isinstance(found, Posterior)
