"""Commands on what studies are about: list them, give one a title and its values a unit."""

from dataclasses import asdict, fields

import click

from netbo.cli.options import (
    StudyRef,
    json_option,
    storage_option,
    study_command,
    study_options,
    words_options,
)
from netbo.cli.output import Row, format_table, print_csv, print_json
from netbo.errors import ParameterError
from netbo.studies import StudyOverview, list_studies

COLUMNS = ("name", "title", "network", "direction", "values", "pending", "best", "changed", "file", "problem")


@study_command()
@words_options
@study_options
def describe(ref: StudyRef, title: str | None, value_unit: str | None) -> None:
    """Say what a study is about, and the unit of its values; an empty text takes it away.

    Without an option it prints what was said.
    """
    study = ref.open()
    study.describe(title=title, value_unit=value_unit)
    words = {"study": study.name, "title": study.title, "value_unit": study.value_unit}
    if ref.as_json:
        print_json(words)
        return
    for name, text in (("study", study.name), ("title", study.title), ("value unit", study.value_unit)):
        click.echo(f"{name:<11} {text or 'not said'}")


@study_command("list")
@storage_option(
    default=".", help="A folder of journal files, or as for the other commands; by default this folder."
)
@click.option("--csv", "as_csv", is_flag=True, help="As CSV, for spreadsheets.")
@json_option
def list_(storage: str, as_csv: bool, as_json: bool) -> None:
    """List studies: what each is about, its network, how many values it has, the best, the last change."""
    if as_csv and as_json:
        raise ParameterError("a list is printed as --csv or as --json, got both; choose one")
    found = list_studies(storage)
    rows = [asdict(each) | {"changed": each.changed and each.changed.isoformat()} for each in found]
    if as_json:
        print_json({"studies": rows})
    elif as_csv:
        print_csv(rows, [field.name for field in fields(StudyOverview)])
    elif found:
        click.echo(format_table([_overview_row(each) for each in found], COLUMNS))
    else:
        click.echo("no studies in this folder" if storage == "." else "no studies there")


def _overview_row(found: StudyOverview) -> Row:
    changed = found.changed and found.changed.astimezone().strftime("%Y-%m-%d %H:%M")  # the reader's time
    counts = {} if found.problem else {"values": found.n_values, "pending": found.n_pending}
    return {
        "name": found.name, "title": found.title, "network": found.network, "direction": found.direction,
        **counts, "best": found.best_in_words, "changed": changed, "file": found.journal,
        "problem": found.problem,
    }  # fmt: skip
