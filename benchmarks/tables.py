"""Which figures do the pages show? The tables of the pages, made from the records in results/.

Between `<!-- table: name -->` and `<!-- end -->` a page shows what is printed here; --write puts it there.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import leaderboard_tables
import reproduce_tables
import speed_tables

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parents[1] / "docs"
PAGES = (
    DOCS / "optimizer.md",
    DOCS / "leaderboard.md",
    DOCS / "benchmarks.md",
    DOCS / "theory" / "mesh-free.md",
    DOCS / "results.md",
    DOCS / "page.md",
)
MARKED = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)

Row = dict[str, Any]


def rows_of(record: str) -> list[Row]:
    """The rows of a record by its name."""
    rows: list[Row] = json.loads((RESULTS / f"{record}.json").read_text(encoding="utf-8"))["rows"]
    return rows


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], *, n_left: int) -> str:
    """A table whose first columns are text and whose others are figures."""
    rule = ["---"] * n_left + ["---:"] * (len(head) - n_left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *rows])


def reached(problem: str) -> str:
    """How many runs reached the maximum, and after how many queries on average."""
    labels = ("1e-6", "0.01", "1e-6, design counted", "0.01, design counted")
    rows = [
        [row["way"], *(_share(row[f"reached {each}"], row[f"mean iterations to {each}"]) for each in labels)]
        for row in rows_of("optimizer")
        if row["problem"] == problem
    ]
    return markdown(["way", *labels], rows, n_left=1)


def _share(share: float, iterations: float | None) -> str:
    return f"{share:.0%}" if iterations is None else f"{share:.0%} ({iterations:.1f})"


def asking(wanted: Callable[[Row], bool]) -> str:
    """Milliseconds of one ask."""
    rows = [
        [row["mesh"], f"{row['nodes']:,}", row["setting"], str(row["observations"]), *_milliseconds(row)]
        for row in rows_of("asking")
        if wanted(row)
    ]
    head = ["network", "nodes", "way", "values", "median ms", "mean ms", "largest ms"]
    return markdown(head, rows, n_left=3)


def _milliseconds(row: Row) -> list[str]:
    digits = 0 if row["ms median"] > 100 else 1
    return [f"{row[f'ms {each}']:,.{digits}f}" for each in ("median", "mean", "largest")]


def exact_cost() -> str:
    """Milliseconds of the exact kernel, of finite elements, and their ratio."""
    names = ("mesh-free, ms", "finite elements, ms", "mesh-free / finite elements", "mesh-free / prototype")
    rows = []
    for row in rows_of("mesh_free"):
        figures = [_figure(row.get(name)) for name in names]
        rows.append([row["what"], f"{row['vertices']:,}", f"{row['nodes']:,}", *figures])
    head = ["what", "vertices", "nodes", "exact, ms", "elements, ms", "exact / elements", "exact / prototype"]
    return markdown(head, rows, n_left=1)


def default_prior() -> str:
    """Errors of the usual mesh and milliseconds of an ask with either prior."""
    rows = []
    for row in rows_of("default_prior"):
        errors = [f"{row[name]:.1e}" for name in row if name.startswith("variance error")]
        times = [_figure(row[name]) for name in row if name.startswith("ms an ask")][:2]
        rows.append([row["network"], f"{row['nodes']:,}", *errors, *times])
    ranges = [f"error, range {share} diameters" for share in ("0.03", "0.1", "0.3")]
    return markdown(["network", "nodes", *ranges, "ms, elements", "ms, exact"], rows, n_left=1)


def page_seen() -> str:
    """Seconds until the page is seen and recoloured, milliseconds of a frame, by the number of edges."""
    record = json.loads((RESULTS / "page.json").read_text(encoding="utf-8"))
    rows = [
        [
            f"{row['edges']:,}", f"{row['first_paint_seconds']:.1f}", f"{row['update_seconds']:.2f}",
            f"{1000 * row['frame_seconds']:.0f}", f"{1000 * row['empty_frame_seconds']:.0f}",
            f"{row['frame_ratio']:.1f}",
        ]
        for row in record["pages"].values()
    ]  # fmt: skip
    head = ["edges", "first paint, s", "update, s", "frame, ms", "frame of an empty map, ms", "ratio"]
    said = f"Chromium {record['browser']}, renderer {record['renderer']}, {record['cpu_count']} cores."
    return f"{markdown(head, rows, n_left=0)}\n\n{said}"


def page_answers() -> str:
    """Milliseconds of the state endpoint, while a model is computed beside and at rest."""
    found = json.loads((RESULTS / "page.json").read_text(encoding="utf-8"))["answering"]
    figures = [found[f"state_ms_{each}"] for each in (
        "median_while_computing", "95_percent_while_computing", "95_percent_at_rest"
    )]  # fmt: skip
    head = ["edges", "values", "requests", "median, computing", "95 %, computing", "95 %, at rest"]
    counts = [f"{found[name]:,}" for name in ("edges", "values", "requests")]
    return markdown(head, [[*counts, *(f"{each:.1f} ms" for each in figures)]], n_left=0)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def table(name: str) -> str:
    """The table of that name."""
    record, _, part = name.partition(" ")
    if record == "reproduce":
        head, rows = reproduce_tables.tables(json.loads((RESULTS / "reproduce.json").read_text()))[part]
        return markdown(head, rows, n_left=2 if part.startswith(("benchmarks", "sensitivity")) else 1)
    makers: dict[str, Callable[[], str]] = {
        "mesh_free": exact_cost,
        "default_prior": default_prior,
        "speed": lambda: speed_tables.table(part),
        "leaderboard": lambda: leaderboard_tables.table(part),
        "page": page_answers if part == "answers" else page_seen,
        "asking": lambda: asking(lambda row: not part or row["setting"] == part),
    }
    return makers.get(record, lambda: reached(part))()


def filled(text: str) -> str:
    """A page with its tables as the records have them."""
    return MARKED.sub(lambda found: f"{found[1]}\n{table(found[2])}\n\n{found[3]}", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into the pages")
    is_written = parser.parse_args().write
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if is_written:
            page.write_text(filled(text), encoding="utf-8")
            continue
        for _, name, _ in MARKED.findall(text):
            print(f"{name}\n\n{table(name)}\n")


if __name__ == "__main__":
    main()
