"""The names users type, and what importing them costs."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo

PUBLIC = [
    "Amplitude", "circle", "compare", "condition", "edgewise_matern", "errors", "ESTIMATED",
    "euclidean_matern",
    "FiniteElementSpace",
    "Fit", "fit_parameters", "FitBounds", "Forbidden", "grid", "interval", "Matern", "maximize",
    "merge_vertices", "MetricGraph", "minimize", "narrow_rectangle", "Network", "NetworkReport",
    "Observations", "open_rectangle", "Optimizer", "Point", "Points", "Posterior", "Prior", "read",
    "Result", "road", "spectral", "star", "Study", "Suggestion", "telecom", "uniform_points",
    "whittle_matern",
]  # fmt: skip

HEAVY = {
    "optuna", "matplotlib", "pandas", "networkx", "geopandas", "shapely", "pyproj", "osmnx", "wntr",
    "pandapower", "plotly", "torch", "rich", "click", "topohub",
}  # fmt: skip


def loaded_after(code: str) -> set[str]:
    """The packages that a fresh process has loaded after running the code."""
    script = f"import sys; {code}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_public_means_listed():
    """A name added or removed is a decision: change this list with the changelog."""
    assert sorted(netbo.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        assert hasattr(netbo, name)


def test_the_reference_lists_every_public_name_and_every_module_with_public_names():
    """`make docs` looks for the rest in the built site."""
    reference = Path(__file__).parents[2] / "docs" / "reference"
    listed = (reference / "api.md").read_text(encoding="utf-8").split()
    modules = (reference / "modules.md").read_text(encoding="utf-8").split()
    public = [path for path in Path(netbo.__file__).parent.glob("*/__init__.py") if path.parent.name != "cli"]
    with_names = [path.parent.name for path in public if "__all__" in path.read_text(encoding="utf-8")]

    assert set(PUBLIC) - {"errors"} <= set(listed)
    assert {f"netbo.{name}" for name in with_names} <= set(modules)


def test_a_bare_import_loads_nothing_but_the_package():
    """Neither what computes nor what is optional: all of it waits until it is used."""
    packages = loaded_after("import netbo")

    assert "netbo" in packages
    assert packages.isdisjoint({"numpy", "scipy", "numba", *HEAVY})


def test_a_network_loads_no_kernels_and_nothing_optional():
    packages = loaded_after("import netbo; netbo.star(3)")

    assert "scipy" in packages
    assert packages.isdisjoint({"numba", *HEAVY})


def test_a_search_loads_no_package_it_does_not_need():
    """Studies, pictures, tables and readers bring theirs when they are used."""
    search = (
        "netbo.maximize(lambda x: x.distance, netbo.star(3), budget=7, noise=0.0, progress=False).summary()"
    )
    packages = loaded_after(f"import netbo; {search}")

    assert {"numpy", "scipy", "numba"} <= packages
    assert packages.isdisjoint(HEAVY)


def test_submodules_are_found_without_being_imported():
    packages = loaded_after("import netbo; netbo.problems, netbo.plotting, netbo.studies, netbo.testing")

    assert {"matplotlib", "optuna"} <= packages


def test_the_directory_lists_what_can_be_used_and_nothing_else():
    assert set(netbo.__all__) < set(dir(netbo))
    assert all(hasattr(netbo, name) for name in dir(netbo))
    assert not {"Any", "TYPE_CHECKING", "import_module"} & set(dir(netbo))


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'maximise'"):
        netbo.maximise  # noqa: B018


def test_from_graph_to_posterior_by_the_documented_signatures():
    """Every call of the design page, on three edges."""
    graph = netbo.MetricGraph([0, 1, 1], [1, 2, 2], [1.0, 2.0, 3.0])
    x = netbo.Points([0, 1, 2], [0.5, 1.0, 2.9])
    space = netbo.FiniteElementSpace.build(graph, max_cell=0.25)
    n = space.n_nodes
    paper = netbo.Matern(alpha=1.0, kappa=2.0, tau=0.5)
    human = netbo.Matern(alpha=1.0, range=paper.range, sigma=paper.sigma)
    priors = [netbo.whittle_matern(space, matern, lumped=False) for matern in (paper, human)]
    observations = netbo.Observations(x, [0.1, 0.7, -0.3])
    posterior = netbo.condition(priors[0], observations, regularization=0.1)
    rng = np.random.default_rng(0)

    assert len(space.nodes) == n
    assert space.mass.shape == space.stiffness.shape == (n, n)
    assert space.lumped_mass.shape == (n,)
    assert space.basis(x).shape == (3, n)
    assert_allclose(priors[0].covariance(x, space.nodes), priors[1].covariance(x, space.nodes), rtol=1e-10)
    assert priors[0].variance(x).shape == (3,)
    assert posterior.mean(x).shape == posterior.std(x).shape == (3,)
    assert posterior.covariance(x, space.nodes).shape == (3, n)
    assert posterior.sample(x, rng).shape == (3,)
    assert posterior.sample(x, rng, scale=2.0, n=5).shape == (5, 3)
    assert posterior.extend(netbo.Observations(x[:1], [0.2])).mean(x).shape == (3,)
    assert isinstance(posterior.log_evidence(), float)
    assert isinstance(posterior.information_gain(), float)
    assert isinstance(posterior, netbo.Posterior)
    assert isinstance(priors[0], netbo.Prior)


def test_strangers_to_the_package_can_write_a_prior():
    """The protocol is all that is asked: here, white noise of unit variance at distinct points."""

    class White:
        graph = netbo.interval(1.0)
        range = 1.0
        sigma = 1.0

        def covariance(self, x, y):
            return (x.z[:, None] == y.z).astype(float)

        def variance(self, x):
            return np.ones(len(x))

        def sample(self, x, rng, n=None):
            return rng.standard_normal(len(x) if n is None else (n, len(x)))

        def rescaled(self, *, range=None, sigma=None):  # noqa: A002
            return self

        def range_derivative(self, x, y):
            return np.zeros((len(x), len(y)))

        def range_derivative_of_variance(self, x):
            return np.zeros(len(x))

    prior = White()
    x = prior.graph.points(0, [0.2, 0.8])
    posterior = netbo.condition(prior, netbo.Observations(x[:1], [2.0]), regularization=1.0)

    assert isinstance(prior, netbo.Prior)
    assert posterior.mean(x) == pytest.approx([1.0, 0.0])
    assert posterior.variance(x) == pytest.approx([0.5, 1.0])
