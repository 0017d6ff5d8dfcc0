"""How do scikit-learn, BoTorch and GeometricKernels search a network? In .venv-peers: make peers.

Each has the configuration that its documentation recommends, its own first places, the same budget, and the
same knowledge of the noise: a known variance of measurements is given to the model, an unknown one is
learned. They see a network as coordinates of the drawing, as pairs (edge, share of its length), or as the
graph of mesh nodes, and choose among the nodes that an `Optimizer` searches, too. Optuna is in ways.py.
"""

import logging
import warnings
from abc import ABC, abstractmethod
from functools import lru_cache

logging.disable(logging.INFO)  # GeometricKernels greets

import geometric_kernels.torch  # noqa: F401 - switches its backend on
import networkx
import numpy as np
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.exceptions.errors import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.models import MixedSingleTaskGP, SingleTaskGP
from botorch.optim import optimize_acqf_discrete
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating
from geometric_kernels.frontends.gpytorch import GPyTorchGeometricKernel
from geometric_kernels.kernels import MaternGeometricKernel
from geometric_kernels.spaces import Graph
from gpytorch.kernels import ScaleKernel
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.errors import NanError, NotPSDError
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from netbo.acquisition import log_expected_improvement
from netbo.arrays import FloatArray, IntArray
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Point, Points
from netbo.problems import Problem

USUAL_NODES, LEAST_CELLS = 2_000, 2  # of the mesh whose nodes are candidates, as an Optimizer has them
FIRST = 5  # random places before there is a model: as many as Ax takes in two dimensions
EXACT = 1e-6  # variance of exact values, in variances of the values: what their solvers need
START_RANGE = 0.25  # of a kernel along the graph, in diameters
FAILURES = (ModelFittingError, NanError, NotPSDError)  # then a random place is asked for

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def candidates_of(graph: MetricGraph) -> FiniteElementSpace:
    """The mesh whose nodes may be asked for."""
    fewest = graph.n_vertices + (LEAST_CELLS - 1) * graph.n_edges
    return FiniteElementSpace.build(graph, n_nodes=max(USUAL_NODES, fewest), min_cells=LEAST_CELLS)


def coordinates_of(graph: MetricGraph, x: Points) -> FloatArray:
    """Where points lie in the drawing, in a unit square; a network without one is laid out by its lengths."""
    if graph.dimension is not None:
        places = graph.embed(x)
    else:
        links = networkx.Graph()
        links.add_nodes_from(range(graph.n_vertices))
        ends = zip(graph.tails.tolist(), graph.heads.tolist(), graph.lengths.tolist(), strict=True)
        links.add_weighted_edges_from(ends)
        layout = networkx.kamada_kawai_layout(links, weight="weight")
        vertices = np.array([layout[vertex] for vertex in range(graph.n_vertices)])
        share = (x.z / graph.lengths[x.edge])[:, None]
        places = (1 - share) * vertices[graph.tails[x.edge]] + share * vertices[graph.heads[x.edge]]
    low = places.min(axis=0)
    return np.asarray((places - low) / np.ptp(places, axis=0).max())


class NodeSearch(ABC):
    """Searches the nodes of a mesh: first some at random, then as `choose` says."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        self.noise, self.rng = noise, np.random.default_rng(seed)
        self.mesh = candidates_of(problem.graph)
        self.points = self.mesh.nodes
        self.measured: list[int] = []  # nodes
        self.values: list[float] = []
        self.asked = -1

    def ask(self) -> Point:
        """A node."""
        self.asked = self._any() if len(self.values) < FIRST else self.choose()
        return self.points[self.asked]

    def tell(self, suggestion: Point | Points, value: float) -> None:
        """The value there; a place that was never asked for counts as the nearest node."""
        if isinstance(suggestion, Points):
            self.asked = int(np.argmin(self.mesh.graph.distance(suggestion, self.points)[0]))
        self.measured.append(self.asked)
        self.values.append(value)

    @abstractmethod
    def choose(self) -> int:
        """The node to measure next."""

    def _any(self) -> int:
        return int(self.rng.choice(self.open_nodes))

    @property
    def open_nodes(self) -> IntArray:
        """Nodes that may be asked for: exact values are not measured twice."""
        every = np.arange(len(self.points))
        return np.asarray(np.setdiff1d(every, self.measured) if self.noise == 0 else every)

    @property
    def variance(self) -> float | None:
        """Of a measurement, None if it has to be learned."""
        spread = float(np.var(self.values)) or 1.0
        return None if self.noise is None else max(self.noise, EXACT * spread)


class ScikitLearn(NodeSearch):
    """scikit-learn's Gaussian process on coordinates, Matérn 5/2, and expected improvement."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        super().__init__(problem, seed, noise)
        self.x = coordinates_of(problem.graph, self.points)

    def choose(self) -> int:
        """The node of largest expected improvement over the best mean at a measured one."""
        model = self._fitted()
        nodes = self.open_nodes
        mean, std = model.predict(self.x[nodes], return_std=True)
        gain = mean - model.predict(self.x[self.measured]).max()
        z = gain / np.maximum(std, 1e-12)
        return int(nodes[np.argmax(gain * norm.cdf(z) + std * norm.pdf(z))])

    def _fitted(self) -> GaussianProcessRegressor:
        kernel = ConstantKernel(1.0) * Matern(length_scale=np.full(self.x.shape[1], 0.3), nu=2.5)
        nugget = EXACT
        if self.variance is None:
            kernel = kernel + WhiteKernel(0.1)
        else:
            nugget = self.variance / (float(np.var(self.values)) or 1.0)
        model = GaussianProcessRegressor(
            kernel, alpha=nugget, normalize_y=True, n_restarts_optimizer=2,
            random_state=int(self.rng.integers(2**31)),
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a parameter at its bound is no surprise with few values
            return model.fit(self.x[self.measured], self.values)


class TorchSearch(NodeSearch):
    """Log noisy expected improvement of a BoTorch model, over the nodes of a mesh."""

    inputs: torch.Tensor  # (n_nodes, d), what the model sees of a node

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        super().__init__(problem, seed, noise)
        torch.manual_seed(seed)

    def model(self, x: torch.Tensor, y: torch.Tensor, variance: torch.Tensor | None) -> SingleTaskGP:
        """The model before it is fitted."""
        raise NotImplementedError

    def choose(self) -> int:
        """The node of largest log noisy expected improvement."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fits to few values often warn
            try:
                return self._chosen()
            except FAILURES:
                return self._any()

    def _fitted(self) -> SingleTaskGP:
        x, y = self._measured_inputs(), torch.tensor(self.values)[:, None]
        variance = None if self.variance is None else torch.full_like(y, self.variance)
        model = self.model(x, y, variance)
        with torch.enable_grad():
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def _measured_inputs(self) -> torch.Tensor:
        return self.inputs[self.measured]

    def _chosen(self) -> int:
        nodes = self.open_nodes
        rule = qLogNoisyExpectedImprovement(self._fitted(), X_baseline=self._measured_inputs())
        best, _ = optimize_acqf_discrete(rule, q=1, choices=self.inputs[nodes])
        return int(nodes[int(torch.argmin((self.inputs[nodes] - best).abs().sum(dim=1)))])


class BoTorchPlane(TorchSearch):
    """BoTorch on the coordinates of the drawing."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        super().__init__(problem, seed, noise)
        self.inputs = torch.tensor(coordinates_of(problem.graph, self.points))

    def model(self, x: torch.Tensor, y: torch.Tensor, variance: torch.Tensor | None) -> SingleTaskGP:
        """The usual model of continuous inputs."""
        return SingleTaskGP(x, y, variance)


class BoTorchEdges(TorchSearch):
    """BoTorch on (edge, share of its length): edges are categories, the share is continuous."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        super().__init__(problem, seed, noise)
        self.places: list[tuple[int, float]] = []  # edge and share of what was measured

    def tell(self, suggestion: Point | Points, value: float) -> None:
        """The value there."""
        graph = self.mesh.graph
        place = Points.at(suggestion, graph=graph) if isinstance(suggestion, Point) else suggestion
        [edge], [z] = place.edge.tolist(), place.z.tolist()
        self.places.append((edge, z / float(graph.lengths[edge])))
        self.values.append(value)

    def ask(self) -> Point:
        """Random nodes first, then the maximum of the acquisition over edges and shares."""
        if len(self.values) < FIRST:
            return self.points[self._any()]
        graph, (edge, share) = self.mesh.graph, self._maximized()
        return Points(np.array([edge]), np.array([share * graph.lengths[edge]]), graph=graph)[0]

    def model(self, x: torch.Tensor, y: torch.Tensor, variance: torch.Tensor | None) -> SingleTaskGP:
        """The usual model of categories and continuous inputs."""
        return MixedSingleTaskGP(x, y, cat_dims=[0], train_Yvar=variance)

    def _measured_inputs(self) -> torch.Tensor:
        return torch.tensor(self.places)

    def _maximized(self) -> tuple[int, float]:
        n = self.mesh.graph.n_edges
        bounds = torch.tensor([[0.0, 0.0], [n - 1.0, 1.0]])
        edges = {0: [float(edge) for edge in range(n)]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                rule = qLogNoisyExpectedImprovement(self._fitted(), X_baseline=self._measured_inputs())
                best, _ = optimize_acqf_mixed_alternating(rule, bounds, cat_dims=edges)
            except FAILURES:
                return int(self.rng.integers(n)), float(self.rng.random())
        return round(float(best[0, 0])), float(best[0, 1].clamp(0.0, 1.0))


class GeometricKernels(TorchSearch):
    """A Matérn kernel of GeometricKernels on the graph of mesh nodes, range and smoothness learned."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        super().__init__(problem, seed, noise)
        self.kernel = _graph_kernel(problem.graph)
        self.inputs = torch.arange(len(self.points), dtype=torch.float64)[:, None]

    def model(self, x: torch.Tensor, y: torch.Tensor, variance: torch.Tensor | None) -> SingleTaskGP:
        """Gaussian process of nodes; ranges are in diameters."""
        kernel = GPyTorchGeometricKernel(self.kernel, lengthscale=START_RANGE, nu=1.5, trainable_nu=True)
        return SingleTaskGP(x, y, variance, covar_module=ScaleKernel(kernel))

    def _chosen(self) -> int:
        """Log expected improvement over the best mean, by hand: the kernel takes no batches of inputs."""
        nodes = self.open_nodes
        with torch.no_grad():
            model = self._fitted()
            known = model.posterior(self._measured_inputs()).mean.max()
            at = model.posterior(self.inputs[nodes])
            mean, std = at.mean[:, 0].numpy(), at.variance[:, 0].clamp_min(1e-18).sqrt().numpy()
        return int(nodes[np.argmax(log_expected_improvement(mean, std, float(known)))])


@lru_cache(maxsize=16)
def _graph_kernel(graph: MetricGraph) -> MaternGeometricKernel:
    """The kernel; its eigenvectors cost seconds, so they are kept."""
    return MaternGeometricKernel(Graph(_adjacency(graph)))


def _adjacency(graph: MetricGraph) -> torch.Tensor:
    """Weights 1 / h^2 between neighbours at distance h, in diameters: the Laplacian of equal cells."""
    mesh: FiniteElementSpace = candidates_of(graph)
    weights = (mesh.stiffness.toarray() * graph.diameter) ** 2
    np.fill_diagonal(weights, 0.0)
    return torch.tensor(weights)
