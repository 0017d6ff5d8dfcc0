"""Tensors that are no places, and models that are none."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

import netbo
from netbo.errors import ObservationError, ParameterError, PointError
from netbo.integrations.botorch import NetworkModel, candidates_tensor, points_from
from netbo.optimize import Nodes


def double(rows):
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (double([[0.5, 0.1]]), PointError, r"must be whole in the edge, got \[0\.5, 0\.1\]; use indices"),
        (double([[0.0, 0.1], [1.0, 1.5]]), PointError, r"within the edge, got 1\.5 on edge 1 of length 1\.0"),
        (double([[1.0, -0.5]]), PointError, r"within the edge, got -0\.5"),
        (double([[3.0, 0.5]]), PointError, r"edges must lie in 0\.\.2, got 3"),
        (double([[-1.0, 0.5]]), PointError, r"edges must lie in 0\.\.2, got -1"),
        (double([[0.0, torch.nan]]), PointError, r"must be finite, got \[0\.0, nan\]; leave"),
        (double([[torch.inf, 0.0]]), PointError, r"must be finite, got \[inf, 0\.0\]"),
        (double([[0.0, 0.1, 0.2]]), PointError, r"rows \(edge, distance\), got shape \(1, 3\); pass"),
        (double([0.0, 0.1]), PointError, r"rows \(edge, distance\), got shape \(2,\)"),
        (torch.zeros(1, 2), ParameterError, r"torch\.float64, got torch\.float32; .* candidates_tensor"),
        (np.zeros((1, 2)), ParameterError, r"torch\.float64, got ndarray"),
        (double([[0.0, 0.1]]).requires_grad_(), ParameterError, r"requires_grad.*optimize_acqf_discrete"),
    ],
)  # fmt: skip
def test_what_is_no_place_is_refused(path, X, error, message):
    model = NetworkModel(path.posterior())

    with pytest.raises(error, match=message):
        model.posterior(X)
    with pytest.raises(error, match=message):
        model.condition_on_observations(X, torch.zeros(len(X), 1))
    with pytest.raises(error, match=message):
        points_from(X, path.graph)


def test_places_go_there_and_back(path):
    points = path.points(np.array([0.0, 0.25, 1.0, 2.5, 3.0]))
    X = candidates_tensor(points)

    assert X.dtype == torch.float64
    assert points_from(X, path.graph) == points
    assert points_from(X.reshape(5, 1, 1, 2), path.graph) == points
    assert points_from(X, path.graph).graph is path.graph


def test_rows_are_of_the_users_edges_where_the_graph_has_them_in_pieces(path):
    """A path of three edges of length 1, the second cut in two: numbers and distances are as before."""
    points = path.points(np.array([0.25, 1.2, 1.7, 2.5]))
    split = netbo.geometry.split_at(path.graph, path.points(np.array([1.5])))
    X = candidates_tensor(split.transfer(points))

    assert_allclose(X, candidates_tensor(points), rtol=1e-14)
    assert [p.edge for p in points_from(X, split.graph)] == [0, 1, 2, 3]
    with pytest.raises(PointError, match=r"edges must lie in 0\.\.2, got 3"):
        points_from(double([[3.0, 0.5]]), split.graph)


def test_candidates_of_an_optimizer_are_where_it_may_ask(path):
    places = path.points(np.array([0.25, 1.5, 2.5]))
    space = netbo.FiniteElementSpace.build(path.graph, max_cell=0.5)

    assert_allclose(
        candidates_tensor(netbo.Optimizer(path.graph, candidates=places)), [[0, 0.25], [1, 0.5], [2, 0.5]]
    )
    assert points_from(candidates_tensor(Nodes(space)), path.graph) == space.nodes
    assert len(candidates_tensor(netbo.Optimizer(path.graph))) > 1000


def test_candidates_come_from_places_only():
    with pytest.raises(
        ParameterError, match=r"from an optimizer, a search space or points, got list; make points"
    ):
        candidates_tensor([0.5])


def test_a_model_needs_a_posterior(path):
    with pytest.raises(
        ParameterError, match=r"needs a posterior, got Optimizer; .*\.from_optimizer\(optimizer\)"
    ):
        NetworkModel(netbo.Optimizer(path.graph))


def test_a_model_needs_to_know_its_network(path):
    """A model of somebody else's, whose points are on no network in particular."""
    posterior = path.posterior()
    stray = SimpleNamespace(**{
        name: getattr(posterior, name)
        for name in (
            "noise", "mean", "variance", "std", "covariance", "sample", "information_gain", "extend",
            "leave_one_out",
        )
    })  # fmt: skip
    stray.observations = netbo.Observations(netbo.Points([0], [0.5]), [1.0])

    with pytest.raises(ParameterError, match=r"observations bound to their network.*graph\.bind\(points\)"):
        NetworkModel(stray)


def test_an_optimizer_without_values_has_no_model(path):
    with pytest.raises(ObservationError, match="needs at least one observation"):
        NetworkModel.from_optimizer(netbo.Optimizer(path.graph))


@pytest.mark.parametrize("outputs", [[1], [0, 0], []])
def test_there_is_one_output(path, tensor, outputs):
    with pytest.raises(ParameterError, match=r"has the output 0 only, got \["):
        NetworkModel(path.posterior()).posterior(tensor([0.5]), output_indices=outputs)
