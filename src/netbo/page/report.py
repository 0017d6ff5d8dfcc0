"""The same page in one file: of a result, an optimizer, a study or a network; to send, or in a notebook."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from netbo.adapters import Network
from netbo.errors import ParameterError
from netbo.files import write_text
from netbo.geometry import MetricGraph
from netbo.optimize import Answers, Optimizer
from netbo.page.lines import PageLines
from netbo.page.shell import single_file
from netbo.page.snapshot import Snapshot, take
from netbo.page.state import best_of, number, snapshot_document, trial_rows
from netbo.studies import State, Study, TrialRecord

HEIGHT = 620  # pixels in a notebook
READER = {"role": "reader", "name": ""}


def records_of(found: Answers) -> list[TrialRecord]:
    """The trials of a study, or those of an optimizer in the same form, timed by their order."""
    if isinstance(found, Study):
        return [record for record in found.records if record.point is not None]
    return [
        TrialRecord(
            each.id, State(each.status.value), each.point, each.point, each.value, each.noise, each.note
        )
        for each in found.optimizer.history
    ]


def still_data(
    lines: PageLines, found: Answers | None, *, title: str | None = None, label: str | None = None
) -> dict[str, Any]:
    """Everything that the page would fetch, as it is now."""
    optimizer = None if found is None else found.optimizer
    records = [] if found is None else records_of(found)
    snapshot = Snapshot("none", 0, 0.0, 0.0) if optimizer is None else take(optimizer, lines, "still")
    model = snapshot_document(snapshot)
    if optimizer is not None and (stopped := getattr(found, "stopped", None)):
        model["facts"] = [*model["facts"], f"stopped    {stopped}"]
    rows = trial_rows(lines, records, found.trial_store.changes() if isinstance(found, Study) else {})
    orders = {} if optimizer is None else {trial.id: trial.order for trial in optimizer.history}
    for row in rows:
        row["order"] = orders.get(row["id"])
    direction = "maximize" if optimizer is None else optimizer.direction
    counts = {state.value: n for state in State if (n := sum(r.state is state for r in records))}
    times = [record.ended for record in records if number(record.ended) is not None]
    study = {
        "title": title or (found and found.title) or "Search on a network", "unit": lines.graph.unit,
        "value_unit": optimizer and optimizer.value_unit, "value_label": label, "direction": direction,
        "lease": None,
    }  # fmt: skip
    state = {
        "version": 0, "now": max(times, default=None), "study": study, "me": READER, "counts": counts,
        "budget": None, "best": best_of(direction, records), "trouble": None,
        "open": [row for row in rows if row["status"] in ("pending", "waiting")],
        "model": None if optimizer is None else {**model, "made": 0, "took": 0, "behind": 0},
    }  # fmt: skip
    levels = {what: b64encode(snapshot.levels(what)).decode() for what in snapshot.fields}
    packed = b64encode(lines.packed()).decode()
    return {
        "still": True, "state": state, "history": {"trials": rows}, "network": lines.document(),
        "lines": packed, "levels": levels, "settings": [] if optimizer is None else settings_of(optimizer),
    }  # fmt: skip


def settings_of(optimizer: Optimizer) -> list[list[str]]:
    """What the search was told, and the parameters of every model it learned."""
    noise = {None: "learned", 0.0: "values are exact"}.get(optimizer.noise, optimizer.noise)
    said: dict[str, object] = {
        "direction": optimizer.direction, "seed": optimizer.seed, "noise variance": noise,
        "acquisition": repr(optimizer.acquisition), "design": repr(optimizer.design),
        "models": repr(optimizer.fit), "candidates": len(optimizer.search.points),
        "repeats": optimizer.repeats, "netbo": version("netbo"),
    }  # fmt: skip
    if optimizer.history.observed:
        outcome = optimizer.outcome
        for label, weight, fit in zip(outcome.labels, outcome.weights, outcome.fits, strict=False):
            said[label] = (
                f"weight {weight:.0%}, range {fit.prior.range:.4g}, sd {outcome.unit * fit.prior.sigma:.4g}, "
                f"mean {outcome.unit * fit.mean:.4g}, log evidence {fit.log_evidence:.5g}"
                + (f", at bound: {', '.join(fit.at_bound)}" if fit.at_bound else "")
            )
    return [[name, str(value)] for name, value in said.items()]


def lines_for(found: Answers, network: Network | None) -> PageLines:
    """Lines of what was searched: of the network as it was read, if it is known."""
    graph = found.optimizer.graph
    if network is not None and not network.graph.has_edges_of(graph):
        raise ParameterError(
            f"network must be the one that was searched, {graph!r}, got {network.graph!r}; "
            "pass what netbo.read returned for this run"
        )
    return PageLines.of(network or found.optimizer.network or graph)


def write_page(
    found: Answers, path: str | Path, network: Network | None = None, *, title: str | None = None,
    label: str | None = None,
) -> Path:  # fmt: skip
    """One self-contained HTML file about a run; it appears whole or not at all.

    network: as it was read, for the user's own addresses and its report. label: of the values, with unit.
    """
    return _explored(still_data(lines_for(found, network), found, title=title, label=label)).write_html(path)


def explore(
    found: Answers | Network | MetricGraph, *, title: str | None = None, network: Network | None = None
) -> Explored:
    """The page of an answer, or of a network alone, to look around in."""
    if isinstance(found, Network | MetricGraph):
        return _explored(still_data(PageLines.of(found), None, title=title or "Network"))
    return _explored(still_data(lines_for(found, network), found, title=title))


@dataclass(frozen=True, slots=True)
class Explored:
    """A page as text: a notebook shows it, `write_html` writes it to a file."""

    html: str

    def write_html(self, path: str | Path) -> Path:
        """Write the page; it needs no other file and no connection."""
        target = Path(path)
        write_text(target, self.html)
        return target

    def __repr__(self) -> str:
        return f"Explored({len(self.html):,} characters of HTML; write_html(path) writes them)"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts allow-downloads allow-modals" '
            f'title="a map to look around in" width="100%" height="{HEIGHT}" style="border:0"></iframe>'
        )


def _explored(data: Mapping[str, Any]) -> Explored:
    return Explored(single_file(str(data["state"]["study"]["title"]), data))
