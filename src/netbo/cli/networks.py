"""Commands for a network of one's own: inspect, maximize, suggest, report."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

FOLDER = click.Path(path_type=Path)

read_option = click.option(
    "--read",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option of the reader, as for netbo.read: --read length=km --read snap=0.5 --read node=true",
)


def optimizer_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that decide suggestions."""
    for option in (
        click.option("--minimize", is_flag=True, help="Look for the smallest value instead."),
        click.option(
            "--noise", type=float, help="Variance of a measurement; 0 if exact. Learned if not given."
        ),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed."),
        click.option("--preset", default="calibrated", show_default=True, help="calibrated or paper."),
        click.option("--acquisition", help="Another rule: thompson, ucb, noisy-ei, log-ei."),
        click.option(
            "--max-cell", type=float, help="Largest cell of the mesh; about 2,000 nodes if not given."
        ),
    ):
        command = option(command)
    return command


def as_settings(
    *,
    minimize: bool,
    noise: float | None,
    seed: int,
    preset: str,
    acquisition: str | None,
    max_cell: float | None,
    separation: float = 0.0,
) -> dict[str, Any]:
    """Settings of an optimizer as JSON can hold them."""
    return {
        "direction": "minimize" if minimize else "maximize",
        "noise": noise,
        "seed": seed,
        "preset": preset,
        "acquisition": acquisition,
        "max_cell": max_cell,
        "separation": separation,
    }


@click.command(short_help="Read a network and say what it is like before it is trusted.")
@click.argument("network")
@read_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def inspect(network: str, options: tuple[str, ...], as_json: bool) -> None:
    """Print the report of NETWORK: what was read, what was done with it, what looks wrong.

    NETWORK is a file (GeoPackage, Shapefile, GeoJSON, GraphML of OSMnx, EPANET .inp, pandapower .json, .swc,
    our own .json) or a name such as sndlib/newyork.
    """
    from netbo.cli.inspecting import inspect_network  # noqa: PLC0415 - loads readers, which help does not need

    inspect_network(network, options, as_json=as_json)


@click.command(short_help="Search a network with a function of your own.")
@click.argument("network")
@click.option("--objective", required=True, metavar="MODULE:FUNCTION", help="Called with a netbo.Point.")
@click.option("--budget", required=True, type=click.IntRange(min=1), help="Measurements in all.")
@click.option("--out", type=FOLDER, required=True, help="Folder of the run; run again, it goes on.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@read_option
@optimizer_options
def maximize(
    network: str, objective: str, budget: int, out: Path, jobs: int, options: tuple[str, ...], **chosen: Any
) -> None:
    r"""Find where on NETWORK a function is largest, and write what was found into a folder.

    \b
    observations.csv  each measurement, as it arrives
    table.csv         all of them with the best so far
    map.png, convergence.png, map.gpkg, report.html

    A run that was broken off, or one with a larger --budget, goes on where it stopped.
    """
    from netbo.cli.maximizing import search  # noqa: PLC0415

    settings = as_settings(**chosen)
    search(network, objective, budget, out, options=options, jobs=jobs, settings=settings)


@click.command(short_help="Where to measure next, from measurements you have.")
@click.argument("network")
@click.option(
    "--data", required=True, type=click.Path(path_type=Path), help="CSV file, a line a measurement."
)
@click.option("-n", "count", type=click.IntRange(min=1), default=5, show_default=True, help="Places wanted.")
@click.option("--value", default="value", show_default=True, help="Column of the values.")
@click.option("--x", help="Column of the first coordinate (longitude, easting).")
@click.option("--y", help="Column of the second coordinate.")
@click.option("--edge", help="Column of edge ids, instead of coordinates.")
@click.option("--distance", help="Column of distances along the edges.")
@click.option("--noise-column", help="Column of noise variances.")
@click.option("--crs", help="Coordinate system of x and y, if not that of the network: EPSG:4326.")
@click.option("--limit", type=float, help="Farthest a place may lie off the network, in its unit.")
@click.option("--separation", type=float, default=0.0, help="Least distance between the places.")
@click.option("--out", type=FOLDER, help="Folder for next.csv, map.png and map.gpkg.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@read_option
@optimizer_options
def suggest(
    network: str,
    data: Path,
    count: int,
    out: Path | None,
    as_json: bool,
    options: tuple[str, ...],
    separation: float,
    limit: float | None,
    crs: str | None,
    noise_column: str | None,
    value: str,
    x: str | None,
    y: str | None,
    edge: str | None,
    distance: str | None,
    **chosen: Any,
) -> None:
    """From measurements in a CSV file to the next places to measure, the best place so far, and a map."""
    from netbo.cli.suggesting import suggest_next  # noqa: PLC0415

    columns: dict[str, Any] = {
        "value": value,
        "x": x,
        "y": y,
        "edge": edge,
        "distance": distance,
        "noise": noise_column,
    }
    columns |= {"crs": crs, "limit": limit}
    suggest_next(
        network, data, count, out, options=options, as_json=as_json,
        columns={name: each for name, each in columns.items() if each is not None},
        settings=as_settings(separation=separation, **chosen),
    )  # fmt: skip


@click.command(short_help="A run as one page to look at or to send.")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="The page; by default report.html in the folder."
)
def report(run: Path, out: Path | None) -> None:
    """Write one self-contained HTML page about the run in folder RUN."""
    from netbo.cli.reporting import report_run  # noqa: PLC0415

    click.echo(f"written: {report_run(run, out)}")
