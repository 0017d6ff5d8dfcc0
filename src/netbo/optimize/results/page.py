"""A run as one HTML file that can be sent to others: words, pictures and tables, nothing from outside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netbo.adapters.export import as_column
from netbo.adapters.short_lines import addresses_of
from netbo.errors import ParameterError
from netbo.files import write_text
from netbo.geometry import MetricGraph, Point, Points
from netbo.optimize.maximizer import USUAL_SEPARATION, modes, search_list
from netbo.optimize.results.figures import draw_view
from netbo.optimize.trials import Status, Trial
from netbo.plotting import draw_calibration, style
from netbo.plotting.canvas import as_png, plan_size
from netbo.wording import value_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netbo.adapters.network import Network
    from netbo.optimize.answers import Answers
    from netbo.optimize.optimizer import Optimizer


# The pictures of a page, as images inside its text.


PROFILE_HEIGHT, SQUARE = 3.2, 4.0  # inches
LEGEND_HEIGHT = 0.4  # inches below a plan
CAPTIONS = {
    "mean": "What is expected",
    "sd": "How uncertain that is: pale near measurements",
    "probability": "Where the best value may be",
}


def embed_pictures(optimizer: Optimizer, label: str | None) -> list[tuple[str, str]]:
    """Names and bodies of the sections with maps, convergence and calibration; only what there is to see."""
    history = optimizer.history
    sections = []
    if history.having(Status.OBSERVED):
        sections.append(("Maps", _maps(optimizer, label)))
    if history.having(Status.OBSERVED) or history.having(Status.FAILED):
        drawn = _image(
            lambda ax: optimizer.plot_convergence(ax, label=label),
            (style.FIGURE_WIDTH, PROFILE_HEIGHT),
            "Values in the order measured, and the best so far",
        )
        sections.append(("Convergence", drawn))
    if history.having(Status.OBSERVED):
        check, beside = optimizer.check(), value_label(label, optimizer.value_unit)
        drawn = _image(
            lambda ax: draw_calibration(check.predicted, check.std, check.value, ax, label=beside),
            (SQUARE, SQUARE),
            "Each value beside its prediction from all others",
        )
        sections.append(("Calibration", drawn))
    return sections


def _maps(optimizer: Optimizer, label: str | None) -> str:
    graph = optimizer.graph
    width, height = (style.FIGURE_WIDTH, PROFILE_HEIGHT) if graph.dimension is None else plan_size(graph)
    images = [
        _image(
            partial(draw_view, optimizer, what, label=label),
            (width, height + LEGEND_HEIGHT),
            caption,
        )
        for what, caption in CAPTIONS.items()
    ]
    return f'<div class="pictures">\n{"".join(images)}</div>'


def _image(draw: Callable[[Axes], object], size: tuple[float, float], caption: str) -> str:
    data, text = b64encode(as_png(draw, size)).decode("ascii"), escape(caption)
    image = f'<img alt="{text}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{text}</figcaption></figure>\n"


# How a page looks: on screen and on paper.

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #22272e; background: #fff;
  max-width: 62rem; margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-bottom: .2rem; border-bottom: 1px solid #d0d7de; }
pre { background: #f6f8fa; padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; white-space: pre-wrap;
  font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e4e8ec; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { border-bottom: 2px solid #8b949e; white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
img { max-width: 100%; height: auto; display: block; margin: .4rem 0; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 1rem; }
figure { margin: 0; break-inside: avoid; }
figcaption { font-size: 13px; color: #57606a; }
.warning { border-left: 4px solid #c0392b; background: #fdf3f2; padding: .4rem .8rem; margin: .5rem 0; }
@media print {
  body { max-width: none; margin: 0; font-size: 11pt; }
  pre { border: 1px solid #d0d7de; }
  h2, tr { break-after: avoid; break-inside: avoid; }
  thead { display: table-header-group; }
}
"""


N_MODES = 5
MASS = 0.8
STRETCHES_SHOWN = 50


def write_page(
    found: Answers,
    path: str | Path,
    network: Network | None = None,
    *,
    title: str | None = None,
    label: str | None = None,
) -> Path:
    """One self-contained HTML file about a run; it appears whole or not at all.

    network: the network as it was read, for the user's own addresses and its report.
    label: of the values, with their unit.
    """
    optimizer, target = found.optimizer, Path(path)
    if network is not None and not network.graph.has_edges_of(optimizer.graph):
        raise ParameterError(
            f"network must be the one that was searched, {optimizer.graph!r}, got {network.graph!r}; "
            "pass what netbo.read returned for this run"
        )
    network = network or optimizer.network
    source = optimizer.graph if network is None else network
    head = title or found.title or "Search on a network"
    sections = [
        _section("Summary", _summary(optimizer, getattr(found, "stopped", None))),
        *(_answers(optimizer, source) if optimizer.history.having(Status.OBSERVED) else []),
        *(_section(name, body) for name, body in embed_pictures(optimizer, label)),
        _section("Measurements", _measurements(optimizer, source)),
        *(_model(optimizer) if optimizer.history.having(Status.OBSERVED) else []),
        *([] if network is None else [_section("Network", _preformatted(network.report))]),
        _section("Settings", _settings(optimizer)),
    ]
    page = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(head)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(head)}</h1>\n{''.join(sections)}</body>\n</html>\n"
    )
    write_text(target, page)
    return target


def _section(name: str, body: str) -> str:
    return f"<section>\n<h2>{escape(name)}</h2>\n{body}\n</section>\n"


def _preformatted(content: object) -> str:
    return f"<pre>{escape(str(content))}</pre>"


def _table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Numbers to the right, with six digits; everything else is text."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def _cell(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f'<td class="number">{"" if np.isnan(value) else f"{value:.6g}"}</td>'
    kind = ' class="number"' if isinstance(value, int | np.integer) else ""
    return f"<td{kind}>{escape('' if value is None else str(value))}</td>"


def _summary(optimizer: Optimizer, stopped: str | None) -> str:
    summary = optimizer.summary()
    warnings = "".join(f'<p class="warning">{escape(text)}</p>' for text in summary.warnings)
    ended = [] if stopped is None else [f"{'stopped':<10} {stopped}"]  # only a run has an end
    facts = "\n".join([*summary.facts, *ended])
    return f"{_preformatted(facts)}\n{warnings}"


def _addresses(source: Network | MetricGraph, points: Sequence[Point]) -> list[tuple[str, float]]:
    """The user's edge and distance of each place."""
    places = Points.at(points)
    graph = source if isinstance(source, MetricGraph) else source.graph
    ids, distance = addresses_of(source, Points(places.edge, places.z, graph=graph))
    return [(str(edge), float(along)) for edge, along in zip(as_column(ids), distance, strict=True)]


def _answers(optimizer: Optimizer, source: Network | MetricGraph) -> list[str]:
    """Recommendation, modes and search list; all from one set of sample paths."""
    best, samples = optimizer.recommend(), optimizer.maximizer()
    unit = f" ({optimizer.graph.unit})" if optimizer.graph.unit else ""
    place, values = ["edge", f"distance{unit}"], _beside_values(optimizer)
    found = modes(
        samples, optimizer.posterior, optimizer.search, N_MODES, USUAL_SEPARATION * optimizer.graph.diameter
    )
    doubt = optimizer.summary().doubt
    ends = [] if doubt else ["low (95 %)", "high (95 %)"]
    unsure = f"<p>95 % intervals: {escape(doubt)}</p>\n" if doubt else ""
    spread = [] if doubt else [best.std, best.low, best.high]
    recommended = [(*_addresses(source, [best.point])[0], best.mean, *spread)]
    rows = [
        (
            *address, mode.probability, mode.probability_error, mode.mean,
            *([] if doubt else [mode.low, mode.high]),
        )
        for address, mode in zip(_addresses(source, [m.point for m in found]), found, strict=True)
    ]  # fmt: skip
    listed = search_list(samples, optimizer.search, MASS)
    return [
        _section(
            "Recommendation",
            unsure + _table([*place, f"mean{values}", *(["sd"] if ends else []), *ends], recommended),
        ),
        _section(
            "Where the best value may be",
            _table([*place, "probability", "standard error", f"mean{values}", *ends], rows),
        ),
        _section("Stretches to search", _stretches(listed, unit)),
    ]


def _stretches(listed: Any, unit: str) -> str:
    shown = listed.stretches[:STRETCHES_SHOWN]
    names = map(str, as_column([each.edge_id for each in shown]))
    rows = [
        (name, each.start, each.end, f"{each.probability:.1%}")
        for name, each in zip(names, shown, strict=True)
    ]
    hidden = len(listed.stretches) - len(shown)
    rest = f"<p>... and {hidden} more</p>" if hidden else ""
    head = str(listed).partition("\nedge")[0]  # the table below takes the place of the printed one
    return f"<p>{escape(head)}</p>\n{_table(['edge', f'from{unit}', f'to{unit}', 'probability'], rows)}{rest}"


def _measurements(optimizer: Optimizer, source: Network | MetricGraph) -> str:
    trials = list(optimizer.history)
    if not trials:
        return "<p>none yet</p>"
    unit = f" ({optimizer.graph.unit})" if optimizer.graph.unit else ""
    names = [
        "id",
        "edge",
        f"distance{unit}",
        f"value{_beside_values(optimizer)}",
        "noise variance",
        "status",
        "note",
    ]
    rows = [
        (trial.id, *address, trial.value, trial.noise, trial.status.value, _last_line(trial))
        for trial, address in zip(trials, _addresses(source, [t.point for t in trials]), strict=True)
    ]
    return _table(names, rows)


def _beside_values(optimizer: Optimizer) -> str:
    return f" ({optimizer.value_unit})" if optimizer.value_unit else ""


def _last_line(trial: Trial) -> str:
    lines = trial.note.strip().splitlines()
    return lines[-1] if lines else ""


def _model(optimizer: Optimizer) -> list[str]:
    """Parameters of every model with its weight, and the leave-one-out check."""
    outcome, check, doubt = optimizer.outcome, optimizer.check(), optimizer.summary().doubt
    if doubt:
        said = f"{', '.join(outcome.labels)}: {doubt}"
        return [_section("Model", f"<p>{escape(said)}</p>")]
    unit = outcome.unit
    names = ["model", "weight", "range", "sd", "mean", "noise variance", "log evidence", "at bound"]
    rows = [
        (
            label, float(weight), float(fit.prior.range), unit * fit.prior.sigma, unit * fit.mean,
            fit.regularization and unit * unit * fit.regularization, float(fit.log_evidence),
            ", ".join(fit.at_bound),
        )
        for label, weight, fit in zip(outcome.labels, outcome.weights, outcome.fits, strict=False)
    ]  # fmt: skip
    known = "".join(f"<p>{escape(label)}, known</p>" for label in outcome.labels)
    can_predict = bool(np.isfinite(check.std).any())
    coverage = [(f"{level:.0%}", f"{share:.0%}") for level, share in check.coverage.items()]
    return [
        _section("Model", _table(names, rows) if rows else known),
        _section(
            "Check",
            f"<p>{escape(str(check))}</p>\n"
            f"{_table(['interval', 'values inside'], coverage) if can_predict else ''}",
        ),
    ]


def _settings(optimizer: Optimizer) -> str:
    noise = {None: "learned", 0.0: "values are exact"}.get(optimizer.noise, optimizer.noise)
    return _table(
        ["setting", "value"],
        [
            ("direction", optimizer.direction),
            ("seed", optimizer.seed),
            ("noise", noise),
            ("acquisition", repr(optimizer.acquisition)),
            ("design", repr(optimizer.design)),
            ("models", repr(optimizer.fit)),
            ("candidates", len(optimizer.search.points)),
            ("repeats", optimizer.repeats),
            *([("unit of the values", optimizer.value_unit)] if optimizer.value_unit else []),
            ("netbo", version("netbo")),
        ],
    )
