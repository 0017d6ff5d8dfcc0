"""Reader of neuron morphologies: SWC files as trees of cables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.links import Links
from netbo.adapters.network import Network
from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.geometry import Points
from netbo.wording import listing

COLUMNS = 7  # id, type, x, y, z, radius, parent
ROOT = -1  # as the parent


@dataclass(frozen=True)
class Sample:
    """One line of the file."""

    kind: int
    position: tuple[float, float, float]
    radius: float
    parent: int


def read_swc(
    source: str | Path,
    *,
    sections: bool = True,
    crs: Any = None,
    unit: str | None = "um",
    **assembly: Any,
) -> Network:
    r"""Network of an SWC file.

    Edges point away from the root; lengths are those of the drawn cables in three dimensions. The columns
    `samples` and `distances` hold the ids along each edge and how far from its tail they are.

    Parameters
    ----------
    source : path
        The file.
    sections : bool, default True
        An edge is an unbranched cable from a root or branching to the next branching or tip, named by the id
        of its last sample; False: one edge a segment, named by the sample at its far end.
    crs : optional
        Coordinate system, if the drawing is on a map, and then without its heights.
    unit : str or None, default "um"
        Of the coordinates; micrometres by custom, the file does not say.
    **assembly
        Options of `assemble`, such as barriers=.

    Returns
    -------
    Network
        Graph, report and addresses.

    Raises
    ------
    NetworkError
        If a line is no sample, or samples do not lead to a root.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "cell.swc"
    ...     _ = path.write_text("1 1 0 0 0 1 -1\n2 3 0 3 4 1 1\n3 3 0 3 9 1 2\n")
    ...     read_swc(path).graph
    MetricGraph(2 vertices, 1 edge, total length 10 um, 1 component)
    """
    return assemble(links_from_swc(source, sections=sections, crs=crs, unit=unit), **assembly)


def links_from_swc(
    source: str | Path, *, sections: bool = True, crs: Any = None, unit: str | None = "um"
) -> Links:
    """Links of an SWC file; parameters are those of `read_swc`."""
    samples = _read_samples(Path(source))
    rows = list(_sections(samples) if sections else _segments(samples))
    curves = [np.array([samples[each].position for each in row]) for row in rows]
    walked = [_walked(curve) for curve in curves]
    ends = {end for row in rows for end in (row[0], row[-1])}
    return Links(
        source=f"SWC file {Path(source).name}",
        ids=[row[-1] for row in rows],
        tails=[row[0] for row in rows],
        heads=[row[-1] for row in rows],
        lengths=np.array([each[-1] for each in walked]),
        curves=curves,
        positions={end: samples[end].position for end in sorted(ends)},
        crs=crs,
        unit=unit,
        attributes={
            "type": [samples[row[-1]].kind for row in rows],
            "radius": [_mean_radius(row, samples, each) for row, each in zip(rows, walked, strict=True)],
            "samples": [tuple(row) for row in rows],
            "distances": [tuple(each.tolist()) for each in walked],
        },
        notes=_notes(samples, unit, sections=sections),
    )


def sample_points(network: Network, sample_ids: Sequence[int]) -> Points:
    """Where samples of the file lie on its network.

    A sample at a branching is an end of several edges; it is answered with one of them.
    """
    columns = network.graph.edge_attributes
    places = {
        sample: (edge_id, distance)
        for edge_id, along, distances in zip(
            network.graph.edge_ids, columns["samples"], columns["distances"], strict=True
        )
        for sample, distance in zip(along, distances, strict=True)
    }
    unknown = [each for each in sample_ids if each not in places]
    if unknown:
        raise NetworkError(f"samples must be on the network, got {unknown[0]!r}; there are {listing(places)}")
    edge_ids, distances = zip(*(places[each] for each in sample_ids), strict=True)
    return network.points(list(edge_ids), np.array(distances))


def _read_samples(path: Path) -> dict[int, Sample]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as cause:
        raise NetworkError(f"an SWC file must be readable, got {cause}; check the path") from cause
    samples: dict[int, Sample] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, sample = _as_sample(words, f"line {number} of {path.name}", line)
        if name in samples:
            raise NetworkError(f"samples must have ids of their own, got {name} again in line {number} of "
                               f"{path.name}; renumber them")  # fmt: skip
        samples[name] = sample
    _require_trees(samples, path.name)
    return samples


def _as_sample(words: list[str], where: str, line: str) -> tuple[int, Sample]:
    try:
        name, kind, parent = (int(words[column]) for column in (0, 1, COLUMNS - 1))
        x, y, z, radius = (float(word) for word in words[2 : COLUMNS - 1])
    except (ValueError, IndexError) as cause:
        raise NetworkError(
            f"a sample needs numbers id, type, x, y, z, radius, parent, got {line.strip()!r:.80} in {where}; "
            "correct that line"
        ) from cause
    if not np.isfinite([x, y, z, radius]).all():
        raise NetworkError(f"a sample needs finite numbers, got {line.strip()!r:.80} in {where}; correct it")
    return name, Sample(kind, (x, y, z), radius, parent)


def _require_trees(samples: Mapping[int, Sample], name: str) -> None:
    """Every sample leads to a root."""
    if not samples:
        raise NetworkError(f"an SWC file needs samples, got none in {name}; check the file")
    rooted: set[int] = set()
    for start in samples:
        path: list[int] = []
        on_path: set[int] = set()
        each = start
        while each != ROOT and each not in rooted:
            if each not in samples:
                raise NetworkError(
                    f"parents must be samples or {ROOT}, got {each} as the parent of {path[-1]} in {name}; "
                    "correct that line"
                )
            if each in on_path:
                raise NetworkError(
                    f"samples must lead to a root (parent {ROOT}), got a circle through {each} in {name}; "
                    "correct a parent on it"
                )
            path.append(each)
            on_path.add(each)
            each = samples[each].parent
        rooted.update(path)


def _segments(samples: Mapping[int, Sample]) -> Iterator[list[int]]:
    return ([sample.parent, name] for name, sample in samples.items() if sample.parent != ROOT)


def _sections(samples: Mapping[int, Sample]) -> Iterator[list[int]]:
    """Ids along each unbranched cable, from the root's side."""
    children: dict[int, int] = {}
    for sample in samples.values():
        children[sample.parent] = children.get(sample.parent, 0) + 1
    for name, sample in samples.items():
        if sample.parent == ROOT or children.get(name, 0) == 1:
            continue
        row = [name, sample.parent]
        while children[row[-1]] == 1 and samples[row[-1]].parent != ROOT:
            row.append(samples[row[-1]].parent)
        yield row[::-1]


def _walked(curve: FloatArray) -> FloatArray:
    """Distance of each sample from the first."""
    steps = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _mean_radius(row: Sequence[int], samples: Mapping[int, Sample], walked: FloatArray) -> float:
    """Mean of the radius along the cable, linear between samples."""
    radii = np.array([samples[each].radius for each in row])
    if walked[-1] == 0:
        return float(radii.mean())
    means = np.array([(a + b) / 2 for a, b in pairwise(radii)])
    return float(means @ np.diff(walked) / walked[-1])


def _notes(samples: Mapping[int, Sample], unit: str | None, *, sections: bool) -> list[str]:
    roots = [name for name, sample in samples.items() if sample.parent == ROOT]
    named = "unbranched section, named by its last sample" if sections else "segment, named by its far sample"
    notes = [
        f"{len(samples)} samples; one edge is one {named}",
        f"coordinates and lengths are taken to be in {unit or 'one unit'}: the format does not say",
    ]
    if len(roots) > 1:
        notes.append(f"{len(roots)} roots ({listing(roots)}): as many trees, which are not joined")
    return notes
