"""How a study stands: its trials, what is best, what is recommended, who is at work."""

from collections import Counter
from typing import Any

import click

from netbo.cli.study_door import Door
from netbo.cli.study_opening import open_study
from netbo.cli.study_rows import Row, aligned, duration, headline, in_words, places, print_json, trial_rows
from netbo.studies import State, Study

SHOWN = 10  # trials, unless it is said how many
COLUMNS = ("id", "edge", "distance", "from", "x", "y", "z", "value", "noise", "status", "worker", "note")


def show_status(door: Door, count: int | None) -> None:
    """Print how the study stands; `count` is how many of the last trials are listed."""
    study = open_study(door)
    rows, known = trial_rows(study), answers(study)
    counts = dict(Counter(row["status"] for row in rows))
    if door.as_json:
        listed = rows if count is None else rows[len(rows) - min(count, len(rows)) :]
        print_json({
            "study": study.name, "network": study.network_hash, "unit": study.graph.unit,
            "settings": study.settings.as_dict(), "counts": counts, **known, "trials": listed,
        })  # fmt: skip
        return
    said = ", ".join(f"{number} {status}" for status, number in counts.items()) or "no trials yet"
    click.echo(f"{headline(study)}\n{said}")
    _print_trials(rows, SHOWN if count is None else count, study.graph.unit)
    for line in answer_lines(known, study.graph.unit):
        click.echo(line)
    _print_pending([row for row in rows if row["status"] == State.PENDING.value], study)


def answers(study: Study) -> dict[str, Any]:
    """The best value and the recommendation, None before there is a value."""
    optimizer = study.optimizer
    if not optimizer.history.observed:
        return {"best": None, "recommendation": None}
    best, found = optimizer.best(), optimizer.recommend()
    at_best, at_found = places(study.network, [best.point, found.point])
    return {
        "best": {"id": best.id, **at_best, "value": best.value},
        "recommendation": {
            **at_found, "mean": found.mean, "sd": found.std, "low": found.low, "high": found.high,
        },
    }  # fmt: skip


def answer_lines(known: dict[str, Any], unit: str | None) -> list[str]:
    """Best and recommendation, a line each."""
    best, found = known["best"], known["recommendation"]
    if best is None:
        return []
    within = f"95 % between {found['low']:.6g} and {found['high']:.6g}"
    return [
        f"best         {best['value']:.6g} at {in_words(best, unit)}, trial {best['id']}",
        f"recommended  {in_words(found, unit)}: {found['mean']:.6g}, {within}",
    ]


def _print_trials(rows: list[Row], count: int, unit: str | None) -> None:
    listed = rows[len(rows) - min(count, len(rows)) :]
    if listed:
        click.echo(f"\n{aligned(listed, COLUMNS, unit)}")
        if len(listed) < len(rows):
            click.echo(f"(the last {len(listed)} of {len(rows)}; -n {len(rows)} shows all)")
    click.echo()


def _print_pending(rows: list[Row], study: Study) -> None:
    if not rows:
        return
    expiries = {record.id: record.expires for record in study.pending}
    now = study.clock.now()
    for row in rows:
        row["since"] = "" if row["age"] is None else duration(row["age"])
        expires = expiries.get(row["id"])
        row["lease"] = (
            "none" if expires is None else f"{duration(expires - now)} left" if expires > now else "ran out"
        )
    click.echo(
        "\npending\n"
        + aligned(rows, ("id", "edge", "distance", "worker", "since", "lease"), study.graph.unit)
    )
