"""Which figures of the experiments does docs/results.md show? Its tables, from results/reproduce.json."""

from collections.abc import Iterable, Sequence
from typing import Any

from netbo.experiments.printed import printed_cell

Row = dict[str, Any]


def tables(record: dict[str, Any]) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Heads and rows by the name of the table."""
    rows: list[Row] = record["rows"]
    by_name = {name: [row for row in rows if row["experiment"] == name] for name in _names(rows)}
    return {
        "times": _times(record["times"]),
        "benchmarks": _benchmarks(by_name["benchmarks"]),
        "inversion": _inversion(by_name["inversion"]),
        "sensitivity-b": _by_b(by_name["sensitivity-b"]),
        "sensitivity-init": _by_init(by_name["sensitivity-init"]),
        "placement 1e-6": _by_place(by_name["placement"], "1e-6"),
        "placement 0.01": _by_place(by_name["placement"], "0.01"),
        "beyond": _beyond(by_name["beyond"]),
    }


def _names(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(str(row["experiment"]) for row in rows))


def _times(times: dict[str, dict[str, float]]) -> tuple[list[str], list[list[str]]]:
    rows = [
        [name, *(f"{each[key] / 60:.1f}" for key in ("clock, s", "processors, s"))]
        for name, each in times.items()
    ]
    return ["experiment", "minutes by the clock", "minutes of processors"], rows


def _benchmarks(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    head = ["function", "method", "reached 1e-6", "printed", "iterations", "printed", "reached 0.01"]
    body = []
    for row in rows:
        kernel, _, rule = row["method"].partition(", ")
        printed = printed_cell(rule, row["problem"], kernel, 0.0) if rule else None
        shown = (
            ("-", "-")
            if printed is None
            else (_percent(printed.reach_rate), f"{printed.mean_iterations:.2f}")
        )
        body.append(
            [row["problem"], row["method"], _rate(row, "1e-6"), shown[0], _iterations(row, "1e-6"), shown[1],
             _percent(row["reached 0.01"])]
        )  # fmt: skip
    return head, body


def _inversion(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    body = [
        [row["method"], str(row["runs"]), _rate(row, "1e-6"), _iterations(row, "1e-6"), _rate(row, "0.01")]
        for row in rows
    ]
    return ["method", "runs", "reached 1e-6", "iterations", "reached 0.01"], body


def _by_b(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Reach rates pooled over the functions, ours and the printed ones."""
    values = sorted({row["b"] for row in rows if row["b"] is not None})
    body = []
    for method in dict.fromkeys(row["method"] for row in rows if row["b"] is not None):
        kernel, _, rule = method.partition(", ")
        of_method = [row for row in rows if row["method"] == method]
        if len({row["b"] for row in of_method}) < len(values):
            continue  # a baseline, at one b only
        ours = [_percent(_mean(row["reached 1e-6"] for row in of_method if row["b"] == b)) for b in values]
        functions = dict.fromkeys(row["problem"] for row in of_method)
        cells = [[printed_cell(rule, function, kernel, b) for function in functions] for b in values]
        theirs = [_percent(_mean(cell.reach_rate for cell in each if cell is not None)) for each in cells]
        body += [[method, "ours", *ours], ["", "printed", *theirs]]
    return ["method", "", *(f"b = {b:g}" for b in values)], body


def _by_init(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Reach rates by size of the design, on every mesh."""
    sizes = sorted({row["n_init"] for row in rows})
    meshes = sorted({row["max_cell"] for row in rows}, reverse=True)
    body = []
    for method in dict.fromkeys(row["method"] for row in rows):
        of_method = {(row["n_init"], row["max_cell"]): row for row in rows if row["method"] == method}
        if len(of_method) < len(sizes) * len(meshes):
            continue  # a baseline, in one setting only
        body += [
            [
                method if h == meshes[0] else "",
                f"{h:g}",
                *(_percent(of_method[n, h]["reached 1e-6"]) for n in sizes),
            ]
            for h in meshes
        ]
    return ["method", "h", *(f"N_init = {n}" for n in sizes)], body


def _by_place(rows: Sequence[Row], tolerance: str) -> tuple[list[str], list[list[str]]]:
    """Reach rates pooled over the functions, a column a place of the optimum."""
    places = list(dict.fromkeys(row["placement"] for row in rows))
    body = []
    for method in dict.fromkeys(row["method"] for row in rows):
        shares = [
            _mean(
                row[f"reached {tolerance}"]
                for row in rows
                if (row["method"], row["placement"]) == (method, place)
            )
            for place in places
        ]
        body.append([method, *map(_percent, shares)])
    return ["method", *places], body


def _beyond(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Rates and queries on the rectangle, pooled over functions and placements, and on New York."""
    body = []
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = [method]
        for on_new_york in (False, True):
            mine = [r for r in rows if r["method"] == method and (r["problem"] == "newyork") == on_new_york]
            cells += [_percent(_mean(row[f"reached {each}"] for row in mine)) for each in ("1e-6", "0.01")]
            reached = [row for row in mine if row["iterations to 0.01"] is not None]
            total = sum(row["reached 0.01"] * row["runs"] for row in reached)
            spent = sum(row["iterations to 0.01"] * row["reached 0.01"] * row["runs"] for row in reached)
            cells.append(f"{spent / total:.1f}" if total else "-")
        body.append(cells)
    names = ["reached 1e-6", "reached 0.01", "iterations to 0.01"]
    heads = [f"{where}: {name}" for where in ("rectangle", "New York") for name in names]
    return ["method", *heads], body


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _rate(row: Row, tolerance: str) -> str:
    name = f"reached {tolerance}"
    return f"{_percent(row[name])} ({100 * row[f'{name}, low']:.0f}-{100 * row[f'{name}, high']:.0f})"


def _iterations(row: Row, tolerance: str) -> str:
    name = f"iterations to {tolerance}"
    if row[name] is None:
        return "-"
    low, high = row[f"{name}, low"], row[f"{name}, high"]
    return f"{row[name]:.1f}" + ("" if low is None else f" ({low:.1f}-{high:.1f})")
