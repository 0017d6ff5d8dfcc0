"""From measurements someone has to the next places, without a study."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import matplotlib as mpl
import pandas as pd
from matplotlib import pyplot as plt

from netbo.adapters import Measurements, Network, snap_measurements
from netbo.adapters.export import write_map
from netbo.cli.outputs import DPI
from netbo.cli.reading import read_network
from netbo.geometry import Point, Points
from netbo.optimize import Optimizer, Result


def suggest_next(
    source: str,
    data: Path,
    n: int,
    out: Path | None,
    *,
    options: Sequence[str] = (),
    columns: Mapping[str, Any],
    settings: Mapping[str, Any],
    as_json: bool = False,
) -> None:
    """Print where to measure next and what is recommended so far; draw a map if there is a folder for it."""
    mpl.use("agg")  # pictures go to files: no window system is needed
    network = read_network(source, options)
    measured = snap_measurements(network, data, **columns)
    optimizer = Optimizer(network, **settings)
    optimizer.tell(measured.points, measured.values, noise=measured.noise)
    recommended, places = optimizer.recommend(), [each.point for each in optimizer.ask(n)]
    table = _table(network, optimizer, places)
    found = _table(network, optimizer, [recommended.point])
    if as_json:
        told = {"recommended": found.to_dict("records")[0], "next": table.to_dict("records")}
        click.echo(json.dumps(told, indent=2, default=str))
    else:
        _print(measured, network, found, table)
    if out is not None:
        for path in _write(network, optimizer, places, table, out):
            click.echo(f"written: {path}", err=as_json)


def _table(network: Network, optimizer: Optimizer, places: Sequence[Point]) -> pd.DataFrame:
    """Addresses in the user's words, coordinates in the user's system, and what the model expects."""
    points = Points.at(places, graph=network.graph)
    addresses = network.address(points)
    rows = {
        "edge": [each.edge_id for each in addresses],
        "distance": [each.distance for each in addresses],
        "from": [each.start for each in addresses],
    }
    if network.graph.dimension is not None:
        xy = network.coordinates(points)
        rows |= {name: list(column) for name, column in zip("xyz", xy.T, strict=False)}
    posterior = optimizer.posterior
    rows |= {"expected": list(posterior.mean(points)), "sd": list(posterior.std(points))}
    return pd.DataFrame(rows)


def _print(measured: Measurements, network: Network, found: pd.DataFrame, table: pd.DataFrame) -> None:
    unit = f" {network.graph.unit}" if network.graph.unit else ""
    click.echo(f"{len(measured.values)} measurements on {network.graph!r}")
    if measured.off is not None and len(measured.off):
        click.echo(f"snapped from up to {measured.off.max():.4g}{unit} off the network")
    click.echo("\nBest place so far, by the model:\n")
    click.echo(_text(found))
    click.echo("\nMeasure next:\n")
    click.echo(_text(table))


def _text(table: pd.DataFrame) -> str:
    return str(table.to_string(index=False, float_format=lambda value: f"{value:.6g}"))


def _write(
    network: Network, optimizer: Optimizer, places: Sequence[Point], table: pd.DataFrame, out: Path
) -> list[Path]:
    out.mkdir(parents=True, exist_ok=True)
    written = [out / "next.csv"]
    table.to_csv(written[0], index=False)
    result, points = Result(optimizer, "suggested"), Points.at(places, graph=network.graph)
    ax = result.plot()
    if network.graph.dimension is not None:
        posterior = optimizer.posterior
        fields = {"mean": posterior.mean, "sd": posterior.std}
        written.append(write_map(out / "map.gpkg", network, fields, next_points=points))
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.savefig(out / "map.png", dpi=DPI, bbox_inches="tight")
    plt.close(figure)
    return [*written, out / "map.png"]
