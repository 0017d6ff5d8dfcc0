"""How fast is it, and beside what? Tables of docs/benchmarks.md from the records of speed, and its picture.

Run as a program it draws docs/pictures/speed.png.
"""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt


RESULTS = Path(__file__).parent / "results"
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "speed.png"
NOT_YET = "*Not measured yet.*"
RECORDS = ("targets", "growth", "threads", "long_runs", "rivals", "peer_times", "start", "newcomer")
TOOLS = ("SuperLU on Q", "CHOLMOD on Q", "dense GP", "prototype")

Row = dict[str, Any]
Made = tuple[Sequence[str], list[list[str]]]


def _number(value: float | None) -> str:
    """Three digits; a dash where nothing was run, n/a where no number came out."""
    if value is None:
        return "-"
    if math.isnan(value):
        return "fails"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _error(value: float | None) -> str:
    return "-" if value is None else "fails" if math.isnan(value) else f"{value:.0e}"


def _verdict(found: float, target: float | None) -> str:
    return "" if target is None else "yes" if found <= target else "no"


def targets(record: Any) -> Made:
    """Milliseconds of ask + tell against what was asked for."""
    rows = []
    for row in record["rows"]:
        names = [row["network"], f"{row['nodes']:,}", f"{row['vertices']:,}", row["way"]]
        numbers = [_number(row[key]) for key in ("ms median", "ms mean", "target")]
        rows.append([*names, *numbers, _verdict(row["ms mean"], row["target"]), _number(row["ms largest"])])
    one = record["likelihood"]
    numbers = ["-", _number(one["ms"]), _number(one["target"]), _verdict(one["ms"], one["target"]), "-"]
    rows.append(["rectangle", "300", "6", "likelihood and gradient", *numbers])
    head = ["network", "nodes", "vertices", "way", "median ms", "mean ms", "target", "met", "largest ms"]
    return head, rows


def growth(record: Any) -> Made:
    """Exponents and memory."""
    head = ["network", "way", "exponent", "at most", "met", "peak GB at 1e6", "below", "met"]
    rows = []
    for row in record["summary"]:
        exponent = [f"{row['exponent']:.2f}", f"{row['limit']}", _verdict(row["exponent"], row["limit"])]
        peak = [f"{row['peak GB']:.2f}", f"{row['limit GB']}", _verdict(row["peak GB"], row["limit GB"])]
        rows.append([row["network"], row["way"], *exponent, *peak])
    return head, rows


def asks(record: Any) -> Made:
    """Milliseconds of ask + tell by the number of nodes."""
    sizes = sorted({_rounded(row["nodes"]) for row in record["rows"]})
    ways = {(row["network"], row["way"]): {} for row in record["rows"]}  # type: dict[Any, dict[int, float]]
    for row in record["rows"]:
        ways[row["network"], row["way"]][_rounded(row["nodes"])] = row["ms mean"]
    rows = [[*way, *(_number(found.get(n)) for n in sizes)] for way, found in ways.items()]
    return ["network", "way", *(f"{n:,} nodes" for n in sizes)], rows


def _rounded(nodes: int) -> int:
    """A mesh of at most n nodes has a few less."""
    return int(float(f"{nodes:.0e}"))


def threads(record: Any) -> Made:
    """Two threads against one."""
    rows = [
        [row["network"], f"{row['nodes']:,}", _number(row["one thread, ms"]), _number(row["two threads, ms"]),
         f"{row['ratio']:.2f}", _number(row["at least"]),
         "" if row["at least"] is None else _verdict(row["at least"], row["ratio"])]
        for row in record["rows"]
    ]  # fmt: skip
    return ["work", "numbers", "one thread, ms", "two, ms", "ratio", "at least", "met"], rows


def long_runs(record: Any) -> Made:
    """Seconds of 1,000 iterations, and growth with the values."""
    keys = ("1,000 iterations, s", "ms early", "ms late", "growth")
    rows = [[row["way"], row["in"], *(_number(row[key]) for key in keys)] for row in record["rows"]]
    return [
        "way",
        "in",
        "1,000 iterations, s",
        "ms, 100 to 300 values",
        "ms, last 200 of 2,000",
        "ratio",
    ], rows


def rivals(record: Any) -> Made:
    """Milliseconds of a posterior."""
    head = ["network", "nodes", "vertices", "bound", "netbo", *TOOLS]
    return head, [
        [row["network"], f"{row['nodes']:,}", f"{row['vertices']:,}", _number(row["bound ms"]),
         *(_number(row["ms"].get(name)) for name in ("netbo", *TOOLS))]
        for row in record["rows"]
    ]  # fmt: skip


def errors(record: Any) -> Made:
    """Errors of the mean."""
    names = ("netbo", *TOOLS[:3])
    return ["network", "nodes", *names], [
        [row["network"], f"{row['nodes']:,}", *(_error(row["error"].get(name)) for name in names)]
        for row in record["rows"]
    ]


def peers(record: Any) -> Made:
    """Seconds of a turn by the number of candidates."""
    sizes = sorted({row["candidates"] for row in record["rows"]})
    ways: dict[str, list[str]] = {}
    for row in sorted(record["rows"], key=lambda row: int(row["candidates"])):
        cell = row["not run"] if row["s"] is None else _number(1e3 * row["s"])
        ways.setdefault(row["way"], []).append(cell)
    order = dict.fromkeys(row["way"] for row in record["rows"])
    return ["way", *(f"{n:,}" for n in sizes)], [[way, *ways[way]] for way in order]


def starts(record: Any) -> Made:
    """Seconds from the start of Python."""
    rows = [
        [row["until"], row["start"], _number(row["wall s"]), _number(row["CPU s"]), _number(row["target"]),
         _verdict(row["CPU s"], row["target"])]
        for row in record["rows"]
    ]  # fmt: skip
    return ["until", "start", "seconds", "CPU seconds", "target", "met"], rows


def newcomer(record: Any) -> Made:
    """Seconds of each step that a newcomer types."""
    rows = [[step, _number(seconds)] for step, seconds in record["seconds"].items()]
    return ["step", "seconds"], [*rows, ["from clone to picture", _number(record["clone_to_picture_s"])]]


def machine(folder: Path) -> Made:
    """Where each record comes from."""
    rows = []
    for name in RECORDS:
        record = _read(folder, name)
        if record is not None:
            tools = record["versions"] | record.get("tools", {})
            said = ", ".join(f"{tool} {version}" for tool, version in tools.items())
            machine = f"{record['processor']}, {record['cores']} cores"
            rows.append([f"`{name}.json`", record["commit"], machine, f"{record['load']}", said])
    return ["record", "commit", "machine", "load before", "versions"], rows


TABLES: dict[str, tuple[str, Callable[[Any], Made], int]] = {  # record, table, columns of text
    "targets": ("targets", targets, 4),
    "growth": ("growth", growth, 2),
    "asks": ("growth", asks, 2),
    "threads": ("threads", threads, 1),
    "long runs": ("long_runs", long_runs, 2),
    "rivals": ("rivals", rivals, 1),
    "errors": ("rivals", errors, 1),
    "peers": ("peer_times", peers, 1),
    "starts": ("start", starts, 2),
    "newcomer": ("newcomer", newcomer, 1),
}


def table(name: str, folder: Path = RESULTS) -> str:
    """The table of that name in Markdown, or the picture."""
    if name == "picture":
        return f"![time of one ask](pictures/{PICTURE.name})" if PICTURE.exists() else NOT_YET
    if name == "machine":
        head, rows = machine(folder)
        return _markdown(head, rows, len(head)) if rows else NOT_YET
    source, make, n_text = TABLES[name]
    record = _read(folder, source)
    return NOT_YET if record is None else _markdown(*make(record), n_text)


def _read(folder: Path, name: str) -> Any:
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    record = json.loads(path.read_text(encoding="utf-8"))
    return record if "load" in record else None  # a record of before says less


def _markdown(head: Sequence[str], rows: list[list[str]], n_text: int) -> str:
    rule = ["---"] * n_text + ["---:"] * (len(head) - n_text)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *rows])


# The picture: one ask over the number of candidates, ours and others', and the bound of memory.

COLOURS = ("#0072b2", "#56b4e9", "#d55e00", "#e69f00", "#009e73", "#cc79a7", "#999999", "#000000")
MARKS = "osD^vP*X"


def draw(folder: Path, path: Path) -> None:
    """Time of one ask over the number of candidates, log-log."""
    found, peer, rival = (_read(folder, name) for name in ("growth", "peer_times", "rivals"))
    figure, axes = plt.subplots(figsize=(7.5, 5.0), layout="constrained")
    for (way, style), colour in zip((("GP-TS", "-"), ("default", "--")), COLOURS, strict=False):
        for network, mark in (("rectangle", "o"), ("road", "s")):
            rows = [row for row in found["rows"] if (row["network"], row["way"]) == (network, way)]
            x, y = [row["nodes"] for row in rows], [row["ms mean"] for row in rows]
            axes.plot(x, y, style, color=colour, marker=mark, label=f"netbo, {way}, {network}")
    others = dict.fromkeys(row["way"] for row in peer["rows"] if not row["way"].startswith("netbo"))
    for way, colour, mark in zip(others, COLOURS[2:], MARKS[2:], strict=False):
        rows = [row for row in peer["rows"] if row["way"] == way and row["s"] is not None]
        x, y = [row["candidates"] for row in rows], [1e3 * row["s"] for row in rows]
        axes.plot(x, y, ":", color=colour, marker=mark, label=way)
    rows = [row for row in rival["rows"] if row["network"] == "rectangle"]
    axes.plot([row["nodes"] for row in rows], [row["bound ms"] for row in rows], color="#bbbbbb", linewidth=4,
              label="bound of memory, one posterior", zorder=0)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="candidates", ylabel="one ask + tell, ms of one thread")
    axes.grid(visible=True, which="major", color="#e5e5e5")
    axes.legend(fontsize=7.5, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    draw(RESULTS, PICTURE)
    print(f"drawn: {PICTURE}")
