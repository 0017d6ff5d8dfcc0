"""Commands for a network of one's own: inspect, maximize, suggest, report."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from netbo.adapters import Measurements, Network, read
from netbo.adapters.export import write_csv, write_findings, write_map
from netbo.cli.app import spoken
from netbo.cli.options import (
    COUNT,
    PATH,
    SearchTables,
    column_options,
    in_shell,
    load_objective,
    objective_option,
    optimizer_options,
    parse_options,
    read_measurements,
    read_network,
    read_option,
    reader_words,
    search_options,
    show_warnings,
)
from netbo.cli.output import (
    ADDRESS,
    Row,
    address_rows,
    draw_without_window,
    format_table,
    print_json,
    save_picture,
)
from netbo.cli.run_folder import OBSERVATIONS, RunLog, claim, only_one, open_run
from netbo.errors import ParameterError, UnmeasuredError
from netbo.geometry import Point, Points
from netbo.optimize import Optimizer, Result, Status, Summary
from netbo.optimize import run as run_loop
from netbo.optimize.arguments import usual_mesh
from netbo.optimize.evaluation import only_failures
from netbo.studies.settings import write_candidates
from netbo.wording import length


@click.command()
@click.argument("network")
@read_option
@click.option("--out", type=PATH, help="A map of what was found: findings.gpkg or .geojson.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def inspect(network: str, options: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Print the report of NETWORK: what was read, what was done with it, what looks wrong.

    NETWORK is a file (GeoPackage, Shapefile, GeoJSON, KML, GraphML of OSMnx, EPANET .inp, pandapower .json,
    .swc, an edge list .csv, our own .json) or a name such as sndlib/newyork.
    """
    chosen = parse_options(options)
    with spoken(reader_words):
        try:
            read_in = read(network, **chosen)
        except UnmeasuredError as unknown:
            # To look at a network one need not know how long it is; to search it one must.
            click.echo(f"warning: {in_shell(str(unknown))}; shown as if they were", err=True)
            read_in = read(network, **chosen, coordinates_are_lengths=True)
    report = read_in.report
    text = json.dumps(report.as_dict(), indent=2, ensure_ascii=False) if as_json else in_shell(str(report))
    click.echo(text)
    if out is not None:
        click.echo(f"written: {write_findings(read_in, out)}", err=as_json)


@click.command()
@click.argument("network")
@objective_option
@click.option("--budget", required=True, type=COUNT, help="Measurements in all.")
@click.option("--out", type=PATH, required=True, help="Folder of the run; run again, it goes on.")
@click.option("--jobs", type=COUNT, default=1, show_default=True, help="Processes.")
@read_option
@search_options
@optimizer_options
def maximize(
    network: str,
    tables: SearchTables,
    objective: str,
    budget: int,
    out: Path,
    jobs: int,
    options: tuple[str, ...],
    settings: dict[str, Any],
) -> None:
    """Find where on NETWORK a function is largest, and write what was found into a folder.

    \b
    run.journal       a study with each measurement, as it arrives
    observations.csv  the measurements as a table
    table.csv         all of them with the best so far
    map.png, convergence.png, map.gpkg, report.html

    A run that was broken off, or one with a larger --budget, goes on where it stopped.
    """  # noqa: D301 - click wraps no paragraph that begins with a backspace
    draw_without_window()
    console = Console(highlight=False, soft_wrap=True)
    f = load_objective(objective)
    source = read_network(network, options)
    chosen = {"objective": objective, **settings, "separation": None}
    chosen["candidates"] = write_candidates(tables.on(source), source.graph)
    usual_mesh(source.graph, settings["max_cell"])  # one that cannot be made claims no folder
    folder = claim(out, source, chosen)
    with only_one(out):
        log = RunLog(folder)
        optimizer = folder.optimizer()
        if len(optimizer.history):
            console.print(f"going on after {len(optimizer.history)} measurements in {out / OBSERVATIONS}")
        try:
            result = run_loop(
                f, optimizer, budget=budget, executor=None if jobs == 1 else jobs,
                callbacks=lambda optimizer, _: log.update(optimizer),
            )  # fmt: skip
        finally:
            log.update(optimizer)  # what arrived when the run was broken off
        written = _write_outputs(result, folder.network, out)
    console.print(f"{result.summary()}\nstopped    {result.stopped}", markup=False)
    for path in written:
        console.print(f"written    {path}", markup=False)
    failed = optimizer.history.having(Status.FAILED)
    if failed and not optimizer.history.observed:
        raise only_failures(f"{budget} evaluations", len(failed), failed[-1].point, failed[-1].note)


def _write_outputs(result: Result, network: Network, out: Path) -> list[Path]:
    """Table, pictures, GeoPackage and page of a run; without any value the table alone."""
    written = [out / "table.csv"]
    write_csv(written[0], result.history.reset_index())
    if not result.optimizer.history.having(Status.OBSERVED):
        return written
    written.append(save_picture(result.plot(), out / "map.png"))
    written.append(save_picture(result.plot_convergence(), out / "convergence.png"))
    if network.graph.dimension is not None:
        written.append(result.export(out / "map.gpkg", network=network))
    written.append(result.write_page(out / "report.html", network))
    return written


@click.command()
@click.argument("run", type=PATH)
@click.option("--out", type=PATH, help="The page; by default report.html in the folder.")
def report(run: Path, out: Path | None) -> None:
    """Write one self-contained HTML page about the run in folder RUN."""
    draw_without_window()
    folder = open_run(run)
    optimizer = folder.optimizer()
    if not optimizer.history.having(Status.OBSERVED):
        raise ParameterError(f"a report needs at least one value, got none in {run}; measure first")
    show_warnings(folder.network)
    result = Result(optimizer, f"{len(optimizer.history)} measurements")
    click.echo(f"written: {result.write_page(out or run / 'report.html', folder.network)}")


@click.command()
@click.argument("network")
@click.option("--data", required=True, type=PATH, help="CSV file, a line a measurement.")
@click.option("-n", "count", type=COUNT, default=5, show_default=True, help="Places wanted.")
@column_options("noise_column")
@click.option(
    "--separation", type=float, help="Least distance between the places; a fiftieth of the diameter."
)
@click.option("--out", type=PATH, help="Folder for next.csv, map.png and map.gpkg.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@read_option
@search_options
@optimizer_options
def suggest(
    network: str,
    tables: SearchTables,
    data: Path,
    count: int,
    out: Path | None,
    as_json: bool,
    options: tuple[str, ...],
    separation: float | None,
    settings: dict[str, Any],
    noise_column: str | None,
    **columns: Any,
) -> None:
    """From measurements in a CSV file to the next places to measure, the best place so far, and a map."""
    draw_without_window()
    source = read_network(network, options)
    measured = read_measurements(source, data, {"noise": noise_column, **columns})
    optimizer = Optimizer(source, separation=separation, candidates=tables.on(source), **settings)
    optimizer.tell(measured.points, measured.values, noise=measured.noise)
    summary = optimizer.summary()  # before anything is asked for: what is pending is no warning
    recommended, points = optimizer.recommend(), [each.point for each in optimizer.ask(count)]
    found, *rows = _rows(source, optimizer, [recommended.point, *points])
    if as_json:
        print_json({"recommended": found, "next": rows, "warnings": list(summary.warnings)})
    else:
        _print_suggestions(measured, source, summary, [found], rows)
    if out is not None:
        for path in _write_suggestions(source, optimizer, points, rows, out):
            click.echo(f"written: {path}", err=as_json)


def _rows(network: Network, optimizer: Optimizer, chosen: Sequence[Point]) -> list[Row]:
    """Addresses and coordinates of points as the user has them, with mean and sd of the model."""
    points, posterior = Points.at(chosen, graph=network.graph), optimizer.posterior
    means, deviations = posterior.mean(points).tolist(), posterior.std(points).tolist()
    is_sure = optimizer.summary().doubt is None
    return [
        {**row, "expected": mean, "sd": sd if is_sure else None}
        for row, mean, sd in zip(address_rows(network, chosen), means, deviations, strict=True)
    ]


def _print_suggestions(
    measured: Measurements, network: Network, summary: Summary, found: list[Row], rows: list[Row]
) -> None:
    click.echo(f"{len(measured.values)} measurements on {network.graph!r}")
    if measured.off is not None and len(measured.off):
        click.echo(f"snapped from up to {length(measured.off.max(), network.graph.unit)} off the network")
    for title, listed in (("Best place so far, by the model", found), ("Measure next", rows)):
        click.echo(f"\n{title}:\n")
        click.echo(format_table(listed, (*ADDRESS, "expected", "sd"), network))
    unsure = [] if summary.doubt is None else [f"\nsd: {summary.doubt}"]
    for line in [*unsure, *(f"warning: {text}" for text in summary.warnings)]:
        click.echo(line)


def _write_suggestions(
    network: Network, optimizer: Optimizer, chosen: Sequence[Point], rows: list[Row], out: Path
) -> list[Path]:
    import pandas as pd  # noqa: PLC0415 - slow to load, and inspecting a network needs none

    out.mkdir(parents=True, exist_ok=True)
    written = [out / "next.csv"]
    write_csv(written[0], pd.DataFrame(rows))
    if network.graph.dimension is not None:
        posterior = optimizer.posterior
        fields = {"mean": posterior.mean, "sd": posterior.std}
        points = Points.at(chosen, graph=network.graph)
        written.append(write_map(out / "map.gpkg", network, fields, next_points=points))
    return [*written, save_picture(Result(optimizer, "suggested").plot(), out / "map.png")]
