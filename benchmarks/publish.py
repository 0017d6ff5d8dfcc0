"""Which parts of a full run does docs/results show? Reports, figures in 256 colours, one row a run."""

import argparse
import shutil
from pathlib import Path

import pandas as pd
from PIL import Image

from netbo.experiments import DEFINITIONS
from netbo.experiments.statistics import runs_of

DOCS = Path(__file__).parents[1] / "docs" / "results"
TOLERANCES = {"iterations_to_1e-6": 1e-6, "iterations_to_0.01": 0.01}


def publish(folder: Path, into: Path) -> None:
    """Copy one experiment; the tidy table of all queries stays behind, as it has megabytes."""
    into.mkdir(parents=True, exist_ok=True)
    for path in [folder / "report.md", folder / "spec.json", *sorted(folder.glob("*.pdf"))]:
        shutil.copy(path, into / path.name)
    for path in sorted(folder.glob("*.png")):
        Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
            into / path.name, optimize=True
        )
    table = pd.read_parquet(folder / "table.parquet")
    if len(table):
        runs_table(table).to_parquet(into / "runs.parquet", index=False)


def runs_table(table: pd.DataFrame) -> pd.DataFrame:
    """One row a run: its labels and the iterations it needed, NaN if it did not succeed."""
    counted = {name: runs_of(table, tolerance)["iterations"] for name, tolerance in TOLERANCES.items()}
    return runs_of(table, 1e-6).drop(columns="iterations").assign(**counted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of a full run: one folder an experiment")
    given = parser.parse_args()
    for name in DEFINITIONS:
        publish(given.folder / name, DOCS / name)
        print(f"published: {DOCS / name}")


if __name__ == "__main__":
    main()
