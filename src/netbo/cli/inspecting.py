"""What is known about a network before it is trusted, printed."""

import json
from collections.abc import Sequence

import click

from netbo.cli.reading import read_network


def inspect_network(source: str, options: Sequence[str], *, as_json: bool) -> None:
    """The report on stdout, for people or as JSON."""
    report = read_network(source, options).report
    click.echo(json.dumps(report.as_dict(), indent=2, ensure_ascii=False) if as_json else str(report))
