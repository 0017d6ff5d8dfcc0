"""
What twelve measurements say
============================

What do twelve noisy values say about a whole network? The two ends of the opening of this rectangle are
neighbours in the plane and far apart along the network. Range, amplitude and mean are fitted, then mean and
uncertainty are drawn.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize

import netbo
from netbo import plotting
from netbo.arrays import FloatArray
from netbo.plotting import style

SEED = 0
NOISE_SD = 0.15  # known, as it is for most instruments; twelve values alone may not tell it (docs/model.md)


def truth(x: netbo.Points) -> FloatArray:
    """A wave on a slope, as a function of the distance walked from the left end of the opening.

    The two ends of the opening are neighbours in the plane and far apart along the network, and so are the
    values there.
    """
    assert x.graph is not None
    edge_starts = np.concatenate([[0.0], np.cumsum(x.graph.lengths)[:-1]])
    walked = edge_starts[x.edge] + x.z
    return np.asarray(4.0 - walked / 25 + np.sin(2 * np.pi * walked / 40))


def observe(graph: netbo.MetricGraph, n: int) -> netbo.Observations:
    """The truth at n random places, with measurement errors."""
    rng = np.random.default_rng(SEED)
    places = netbo.uniform_points(graph, n, rng)
    return netbo.Observations(places, truth(places) + NOISE_SD * rng.standard_normal(n))


def fit(graph: netbo.MetricGraph, observations: netbo.Observations) -> netbo.Fit:
    """Range, standard deviation and mean that make the observations most likely."""
    space = netbo.FiniteElementSpace.build(graph, max_cell=0.25)
    prior = netbo.whittle_matern(space, netbo.Matern(alpha=1.0, range=graph.diameter / 4))
    return netbo.fit_parameters(prior, observations, regularization=NOISE_SD**2)


def describe(found: netbo.Fit) -> str:
    """The posterior at the observed places, then what was fitted."""
    posterior = found.posterior
    observations, points = posterior.observations, posterior.observations.points
    rows = zip(points, observations.values, posterior.mean(points), posterior.std(points), strict=True)
    assert found.regularization is not None
    return "\n".join(
        [
            "edge  distance  measured  posterior mean    sd",
            *(
                f"{point.edge_id!s:>4}  {point.distance:8.2f}  {value:8.2f}  {mean:14.2f}  {sd:4.2f}"
                for point, value, mean, sd in rows
            ),
            "",
            f"range         {found.prior.range:8.2f}  distance beyond which values say little of each other",
            f"sigma         {found.prior.sigma:8.2f}  how far the function strays from its mean",
            f"mean          {found.mean:8.2f}  level to which it returns far from data",
            f"noise sd      {found.regularization**0.5:8.2f}  error of one measurement (given)",
            f"log evidence  {found.log_evidence:8.2f}  how well these parameters explain the data",
        ]
    )


def draw(found: netbo.Fit, path: Path) -> None:
    """One picture: the network coloured by mean and by sd, and both along the edges."""
    posterior, graph = found.posterior, found.prior.graph
    figure, (mean, spread, profile) = plt.subplots(
        3, 1, figsize=(9.0, 6.4), height_ratios=(1, 1, 2.2), layout="constrained"
    )
    plotting.draw_field(graph, posterior.mean, mean, label="posterior mean", linewidth=6, to_scale=False)
    plotting.draw_field(
        graph, posterior.std, spread, label="posterior sd", cmap=style.SPREAD_MAP, norm=Normalize(vmin=0),
        linewidth=6, to_scale=False,
    )  # fmt: skip
    for ax in (mean, spread):
        plotting.draw_points(graph, posterior.observations.points, ax)
        plotting.draw_edge_ids(graph, ax)
    mean.annotate(
        "1 apart in the plane,\n75 along the network", (18, 0), (18, 0.35), ha="center", color=style.INK,
        size=style.SMALL_TEXT,
    )  # fmt: skip
    plotting.draw_profile(graph, posterior, profile, reference=truth, label="value")
    profile.legend(loc="lower left", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main(picture: Path = Path("out/first_posterior.png")) -> netbo.Fit:
    """Run the example; the fit it returns is what the table and the picture show."""
    graph = netbo.open_rectangle()
    print(f"{graph!r}\n")
    found = fit(graph, observe(graph, 12))
    print(describe(found))
    draw(found, picture)
    print(f"\npicture: {picture}")
    return found


if __name__ == "__main__":
    main()
