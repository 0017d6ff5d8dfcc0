"""How do scikit-learn, BoTorch and GeometricKernels search a network? In .venv-peers: make peers.

Each has the configuration that its documentation recommends, its own first places, the same budget, and the
same knowledge of the noise: a known variance of measurements is given to the model, an unknown one is
learned. They see a network as coordinates of the drawing, as pairs (edge, share of its length), or as the
graph of mesh nodes. Candidates are the nodes of the mesh that an `Optimizer` has, on coordinates also places
about the best measured ones, on pairs all places. Optuna is in ways.py.
"""

import logging
import warnings
from abc import ABC, abstractmethod
from functools import lru_cache

logging.disable(logging.INFO)  # GeometricKernels greets

import geometric_kernels.torch  # noqa: F401 - switches its backend on
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
from netbo.arrays import FloatArray
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Point, Points
from netbo.problems import Problem
from ways import drawn

USUAL_NODES, LEAST_CELLS = 2_000, 2  # of the mesh whose nodes are candidates, as an Optimizer has them
FIRST = 5  # random places before there is a model: as many as Ax takes in two dimensions
EXACT = 1e-6  # variance of exact values, in variances of the values: what their solvers need
INCUMBENTS, NEARBY = 3, 100  # best measured places, and candidates about each of them
START_RANGE = 0.25  # of a kernel along the graph, in diameters
FAILURES = (ModelFittingError, NanError, NotPSDError)  # then a random place is asked for

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


@lru_cache(maxsize=16)
def mesh_of(graph: MetricGraph) -> FiniteElementSpace:
    """The mesh whose nodes may be asked for."""
    fewest = graph.n_vertices + (LEAST_CELLS - 1) * graph.n_edges
    return FiniteElementSpace.build(graph, n_nodes=max(USUAL_NODES, fewest), min_cells=LEAST_CELLS)


class Drawing:
    """Coordinates of points in a unit square; a network without a drawing is laid out by its lengths."""

    def __init__(self, graph: MetricGraph) -> None:
        self.graph = drawn(graph)
        places = self.graph.embed(mesh_of(graph).nodes)
        self.low, self.size = places.min(axis=0), np.ptp(places, axis=0).max()

    def __call__(self, x: Points) -> FloatArray:
        """(n, 2 or 3)."""
        return np.asarray((self.graph.embed(x) - self.low) / self.size)


class PoolSearch(ABC):
    """Chooses among candidates: the first of them at random, then as `choose` says."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        self.graph, self.noise, self.rng = problem.graph, noise, np.random.default_rng(seed)
        self.nodes = mesh_of(problem.graph).nodes
        self.measured: list[Point] = []
        self.values: list[float] = []

    def ask(self) -> Point:
        """One of the candidates."""
        pool = self.pool()
        is_first = len(self.values) < FIRST
        return pool[int(self.rng.integers(len(pool))) if is_first else self.choose(pool)]

    def tell(self, suggestion: Point | Points, value: float) -> None:
        """The value there."""
        self.measured.append(suggestion if isinstance(suggestion, Point) else suggestion[0])
        self.values.append(value)

    @abstractmethod
    def choose(self, pool: Points) -> int:
        """Which candidate is measured next."""

    def pool(self) -> Points:
        """The nodes; where values are exact, without those measured."""
        return self._unmeasured(self.nodes)

    def _unmeasured(self, x: Points) -> Points:
        if self.noise != 0 or not self.measured:
            return x
        known = Points.at(self.measured, graph=self.graph)
        seen = known.edge + 1j * known.z
        return x[~np.isin(x.edge + 1j * x.z, seen)]

    @property
    def variance(self) -> float | None:
        """Of a measurement, None if it has to be learned."""
        spread = float(np.var(self.values)) or 1.0
        return None if self.noise is None else max(self.noise, EXACT * spread)


class PlaneSearch(PoolSearch):
    """Sees coordinates; besides the nodes, places about the best measured ones are candidates."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        super().__init__(problem, seed, noise)
        self.drawing = Drawing(problem.graph)

    def pool(self) -> Points:
        """Nodes, and places on the edges of the best measured ones, no farther from them than two cells."""
        best = np.argsort(self.values)[::-1][:INCUMBENTS]
        if not len(best):
            return super().pool()
        at = Points.at([self.measured[index] for index in best], graph=self.graph)
        edge, cell = np.repeat(at.edge, NEARBY), self.graph.total_length / USUAL_NODES
        z = np.repeat(at.z, NEARBY) + 2 * cell * self.rng.uniform(-1, 1, len(edge))
        near = Points(edge, np.clip(z, 0.0, self.graph.lengths[edge]), graph=self.graph)
        return self._unmeasured(Points.concatenate([self.nodes, near]))

    def known(self) -> FloatArray:
        """Coordinates of what was measured."""
        return self.drawing(Points.at(self.measured, graph=self.graph))


class ScikitLearn(PlaneSearch):
    """scikit-learn's Gaussian process on coordinates, Matérn 5/2, and expected improvement."""

    def choose(self, pool: Points) -> int:
        """The candidate of largest expected improvement over the best mean at a measured one."""
        model = self._fitted()
        mean, std = model.predict(self.drawing(pool), return_std=True)
        gain = mean - model.predict(self.known()).max()
        z = gain / np.maximum(std, 1e-12)
        return int(np.argmax(gain * norm.cdf(z) + std * norm.pdf(z)))

    def _fitted(self) -> GaussianProcessRegressor:
        x, nugget = self.known(), EXACT
        kernel = ConstantKernel(1.0) * Matern(length_scale=np.full(x.shape[1], 0.3), nu=2.5)
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
            return model.fit(x, self.values)


# BoTorch, and GeometricKernels in its models.


def fitted(model: SingleTaskGP) -> SingleTaskGP:
    """A model with parameters of largest likelihood times prior."""
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def targets(search: PoolSearch) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Values and their variances as BoTorch takes them, (n, 1)."""
    y = torch.tensor(search.values)[:, None]
    return y, None if search.variance is None else torch.full_like(y, search.variance)


class BoTorchPlane(PlaneSearch):
    """BoTorch on the coordinates of the drawing: its usual model, log noisy expected improvement."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        super().__init__(problem, seed, noise)
        torch.manual_seed(seed)

    def choose(self, pool: Points) -> int:
        """The candidate of largest log noisy expected improvement."""
        x, choices = torch.tensor(self.known()), torch.tensor(self.drawing(pool))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fits to few values often warn
            try:
                rule = qLogNoisyExpectedImprovement(fitted(SingleTaskGP(x, *targets(self))), X_baseline=x)
                best, _ = optimize_acqf_discrete(rule, q=1, choices=choices)
            except FAILURES:
                return int(self.rng.integers(len(pool)))
        return int(torch.argmin((choices - best).abs().sum(dim=1)))


class BoTorchEdges(PoolSearch):
    """BoTorch on (edge, share of its length): edges are categories, the share is continuous."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        super().__init__(problem, seed, noise)
        torch.manual_seed(seed)

    def ask(self) -> Point:
        """Random nodes first, then the maximum of the acquisition over edges and shares."""
        if len(self.values) < FIRST:
            return super().ask()
        edge, share = self._maximized()
        return Points(np.array([edge]), np.array([share * self.graph.lengths[edge]]), graph=self.graph)[0]

    def choose(self, pool: Points) -> int:
        """Nothing is chosen from the pool but the first places."""
        raise NotImplementedError

    def _maximized(self) -> tuple[int, float]:
        known, n = Points.at(self.measured, graph=self.graph), self.graph.n_edges
        x = torch.tensor(np.column_stack([known.edge, known.z / self.graph.lengths[known.edge]]))
        y, variance = targets(self)
        bounds, edges = torch.tensor([[0.0, 0.0], [n - 1.0, 1.0]]), {0: [float(each) for each in range(n)]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = fitted(MixedSingleTaskGP(x, y, cat_dims=[0], train_Yvar=variance))
                rule = qLogNoisyExpectedImprovement(model, X_baseline=x)
                best, _ = optimize_acqf_mixed_alternating(rule, bounds, cat_dims=edges)
            except FAILURES:
                return int(self.rng.integers(n)), float(self.rng.random())
        return round(float(best[0, 0])), float(best[0, 1].clamp(0.0, 1.0))


class GeometricKernels(PoolSearch):
    """A Matérn kernel of GeometricKernels on the graph of mesh nodes, range and smoothness learned."""

    def __init__(self, problem: Problem, seed: int, noise: float | None) -> None:
        super().__init__(problem, seed, noise)
        torch.manual_seed(seed)
        self.kernel = graph_kernel(problem.graph)

    def choose(self, pool: Points) -> int:
        """Log expected improvement over the best mean, by hand: the kernel takes no batches of inputs."""
        x, y_and_variance = self._numbers(Points.at(self.measured, graph=self.graph)), targets(self)
        kernel = GPyTorchGeometricKernel(self.kernel, lengthscale=START_RANGE, nu=1.5, trainable_nu=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = fitted(SingleTaskGP(x, *y_and_variance, covar_module=ScaleKernel(kernel)))
                with torch.no_grad():
                    known, at = model.posterior(x).mean.max(), model.posterior(self._numbers(pool))
                    mean, std = at.mean[:, 0].numpy(), at.variance[:, 0].clamp_min(1e-18).sqrt().numpy()
            except FAILURES:
                return int(self.rng.integers(len(pool)))
        return int(np.argmax(log_expected_improvement(mean, std, float(known))))

    def _numbers(self, x: Points) -> torch.Tensor:
        """Numbers of the nodes nearest to points, (n, 1)."""
        nodes = mesh_of(self.graph).locate(x)
        nearer = np.where(nodes.fraction > 0.5, nodes.right, nodes.left)
        return torch.tensor(nearer, dtype=torch.float64)[:, None]


@lru_cache(maxsize=16)
def graph_kernel(graph: MetricGraph) -> MaternGeometricKernel:
    """The kernel; its eigenvectors cost seconds, so they are kept.

    Weights are 1 / h^2 between neighbours at distance h, in diameters: the Laplacian of equal cells.
    """
    weights = (mesh_of(graph).stiffness.toarray() * graph.diameter) ** 2
    np.fill_diagonal(weights, 0.0)
    return MaternGeometricKernel(Graph(torch.tensor(weights)))
