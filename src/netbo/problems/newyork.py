"""The telecommunication network of New York in SNDlib, and the paper's source problem on it (ssec:MAP)."""

import warnings

import numpy as np

from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph
from netbo.optional import require
from netbo.problems.inversion import SourceInversion, SourceLoad, SourcePrior

SCALE = 150.0  # pixels a unit of length; the paper states none, and this one gives 262 nodes at h = 0.25


def new_york(scale: float = SCALE) -> MetricGraph:
    """16 vertices N1..N16 and 49 straight links named by their pairs of vertices.

    Positions are the stored pixels divided by `scale`, lengths those of the straight lines between them. The
    stored `dist` is a great-circle formula applied to pixels and is not used. The second coordinate is kept
    as stored; should it point down, as in images, drawings are mirrored, but no length changes.
    Needs the extra 'telecom'.
    """
    if not (np.isfinite(scale) and scale > 0):
        raise ParameterError(f"scale must be positive pixels a unit, got {scale}; 150 gives the paper's size")
    topohub = require("topohub", extra="telecom", purpose="the New York network")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # topohub leaves its file to the garbage collector
        stored = topohub.get("sndlib/newyork")
    nodes = sorted(stored["nodes"], key=lambda node: int(node["id"]))
    names = [str(node["name"]) for node in nodes]
    tails, heads = ([int(edge[end]) for edge in stored["edges"]] for end in ("source", "target"))
    return MetricGraph(
        tails,
        heads,
        None,
        positions=np.array([node["pos"] for node in nodes], dtype=np.float64) / scale,
        vertex_ids=names,
        edge_ids=[(names[tail], names[head]) for tail, head in zip(tails, heads, strict=True)],
    )


def new_york_inversion(
    source: int,
    *,
    seed: int = 0,
    scale: float = SCALE,
    max_cell: float = 0.25,
    load: SourceLoad = SourceLoad.POINT,
    prior: SourcePrior = SourcePrior.NODE_MASS,
    noise_sd: float = 0.1,
) -> SourceInversion:
    """The paper's source problem: chi = 0.2, half of the nodes observed, cells of at most 0.25.

    source: index of a node of the mesh. Results differ by source; report several.
    """
    space = FiniteElementSpace.build(new_york(scale), max_cell=max_cell)
    return SourceInversion(space, source, load=load, prior=prior, noise_sd=noise_sd, seed=seed)
