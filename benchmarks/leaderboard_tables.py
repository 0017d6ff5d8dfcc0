"""Which tables does the leaderboard have? Made from the records in results/leaderboard."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from leaderboard import ABLATION, ABLATIONS, OURS, PEERS, PICTURE, RECORDS
from netbo.experiments import Comparison
from netbo.problems import SUITE, SuiteProblem

NOT_YET = "*Not measured yet.*"
DEFAULT, RANDOM = "default", "random"
EARLY = (10, 20, 40)  # evaluations after which nothing may be behind random search
SOON, TOPS = 20, (0.005, 0.01)  # a place of the best share of the length should be visited so soon


@lru_cache(maxsize=4)
def _read(folder: Path) -> Comparison | None:
    return Comparison.read(folder) if any(folder.glob("*.parquet")) else None


def table(name: str, folder: Path = RECORDS) -> str:
    """The table of that name, or a word that it is not there yet."""
    if name == "picture":
        return f"![leaderboard](pictures/{PICTURE.name})" if PICTURE.exists() else NOT_YET
    if name == "ablation" and folder == RECORDS:
        folder = ABLATIONS
    found = _read(folder)
    made = TABLES[name](found, folder) if found is not None else None
    return NOT_YET if made is None else _markdown(*made)


Made = tuple[Sequence[str], list[list[str]]] | None


def _markdown(head: Sequence[str], rows: list[list[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [list(head), rule, *rows])


def _present(found: Comparison, names: Sequence[str]) -> list[str]:
    return [each for each in names if each in found.methods]


def _entries(found: Comparison, wanted: Callable[[SuiteProblem], bool]) -> list[str]:
    there = set(found.table["problem"])
    return [each.name for each in SUITE if each.name in there and wanted(each)]


def _board(found: Comparison) -> Made:
    """Leaderboard, with the mean rank on the locked problems apart."""
    if found.paired().table.empty:
        return None
    locked = _entries(found, lambda each: each.is_locked)
    apart = found.among(problems=locked).leaderboard() if locked else None
    ranks = {} if apart is None else apart.set_index("method")["rank"].to_dict()
    board = found.leaderboard()
    marks = [name for name in board.columns if str(name).startswith("regret after")]
    rows = [
        [
            row["method"], f"{row['rank']:.2f}", f"{ranks[row['method']]:.2f}" if ranks else "-",
            f"{row['reached']:.0%} ({100 * row['low']:.0f} to {100 * row['high']:.0f})",
            f"{row['evaluations']:.1f}", *(f"{100 * row[mark]:.2g}" for mark in marks),
            f"{row['ms an ask']:.3g}",
        ]
        for row in board.to_dict("records")
    ]  # fmt: skip
    regrets = [str(mark).replace("regret after", "regret %,") for mark in marks]
    return ["method", "rank", "rank, locked", "reached", "evaluations", *regrets, "ms an ask"], rows


def all_problems(found: Comparison, folder: Path) -> Made:
    """The ways that ran on all problems."""
    return _board(found.among(_present(found, list(OURS))))


def slow_peers(found: Comparison, folder: Path) -> Made:
    """All ways, on the problems that the slow ones have."""
    return _board(found) if _present(found, list(PEERS)) else None


def duels(found: Comparison, folder: Path) -> Made:
    """The default against each other way."""
    if DEFAULT not in found.methods or len(found.methods) < 2:
        return None
    rows = [
        [
            row["rival"], str(row["problems"]), str(row["pairs"]), _points(row["effect"]),
            f"{_points(row['low'])} to {_points(row['high'])}", f"{_points(row['worst'])} ({row['on']})",
            f"{row['p_holm']:.2g}", f"{row['evaluations']:.2f}",
        ]
        for row in found.duels(DEFAULT).to_dict("records")
    ]  # fmt: skip
    head = [
        "against",
        "problems",
        "pairs",
        "points",
        "95 %",
        "worst problem",
        "least p",
        "evaluations, ratio",
    ]
    return head, rows


def _points(share: float) -> str:
    return f"{100 * share:+.0f}"


def random_search(found: Comparison, folder: Path) -> Made:
    """Each way against random search after few evaluations: Holm over problems and numbers."""
    if RANDOM not in found.methods:
        return None
    rows = []
    for method in [each for each in found.methods if each != RANDOM]:
        tests = found.among([method, RANDOM]).paired().behind(method, RANDOM)
        early = tests[tests["evaluations"].isin(EARLY)].drop(columns="p_holm").reset_index(drop=True)
        holm = np.minimum(1.0, (early["p"] * np.arange(len(early), 0, -1)).cummax())
        behind = [int(((early["evaluations"] == mark) & (holm <= 0.05)).sum()) for mark in EARLY]
        rows.append([method, str(early["problem"].nunique()), *map(str, behind), f"{holm.min():.2g}"])
    return ["method", "problems", *(f"behind after {mark}" for mark in EARLY), "least p"], rows


def by_problem(found: Comparison, folder: Path) -> Made:
    """Reach rates, problem by problem."""
    order = [*_present(found, list(OURS)), *_present(found, list(PEERS))]
    rates = found.rates().set_index(["problem", "method"])["rate"]
    locked = {each.name for each in SUITE if each.is_locked}
    rows = []
    for name in _entries(found, lambda each: True):
        shares = (rates.get((name, each)) for each in order)
        cells = ["" if each is None else f"{100 * each:.0f}" for each in shares]
        rows.append([f"{name}{', locked' if name in locked else ''}", *cells])
    return ["problem", *order], rows


def simulators(found: Comparison, folder: Path) -> Made:
    """Median evaluations until a place was visited than which 0.5 %, or 1 %, of the length is better."""
    problems = _entries(found, lambda each: each.is_simulated)
    if not problems:
        return None
    simulated = found.among(problems=problems)
    order = [*_present(simulated, list(OURS)), *_present(simulated, list(PEERS))]
    shares = {share: _median_visits(simulated, share) for share in TOPS}
    rows = [
        [
            name,
            *(" / ".join(_evaluations(shares[share].get((name, each))) for share in TOPS) for each in order),
        ]
        for name in problems
    ]
    for share, medians in shares.items():
        is_soon = medians <= SOON
        by = [f"{is_soon[is_soon.index.get_level_values('method') == each].mean():.0%}" for each in order]
        rows.append([f"within {SOON}, {share:.1%}", *by])
    return ["problem", *order], rows


def _median_visits(found: Comparison, share: float) -> pd.Series:
    visits = found.visits(share).fillna({"evaluations": np.inf})
    return visits.groupby(["problem", "method"])["evaluations"].median()


def _evaluations(number: float | None) -> str:
    return "" if number is None else "never" if np.isinf(number) else f"{number:.0f}"


def answers(found: Comparison, folder: Path) -> Made:
    """Coverage and lists over all problems but needles; distances on the simulators."""
    wide = found.among(problems=_entries(found, lambda each: "needle" not in each.name)).answered()
    if wide.empty:
        return None
    problems = _entries(found, lambda each: each.is_simulated)
    near = found.among(problems=problems).answered().set_index("method") if problems else pd.DataFrame()
    rows = []
    for row in wide.to_dict("records"):
        has = row["method"] in near.index
        distances = near.loc[row["method"], ["distance", "best_distance"]] if has else ()
        cells = [f"{100 * each:.2g}" for each in distances] or ["-", "-"]
        shares = [_share(row[each]) for each in ("covers", "holds", "listed")]
        rows.append([row["method"], str(row["runs"]), *shares, *cells])
    head = ["method", "runs", "value there", "best value", "list holds", "recommended, % off", "best, % off"]
    return head, rows


def _share(number: float) -> str:
    return "-" if np.isnan(number) else f"{number:.0%}"


def ablation(found: Comparison, folder: Path) -> Made:
    """The default without each of its parts, paired with all of it."""
    names = _present(found, list(ABLATION))
    if not names:
        return None
    together = found.among(names).paired()
    board = together.leaderboard().set_index("method").to_dict("index")
    effects = {row["method"]: row for row in together.effects(names[0]).to_dict("records")}
    rows = []
    for name in names:
        row, change = board[name], ["", ""]
        if name in effects:
            low, high = (_points(effects[name][end]) for end in ("low", "high"))
            change = [_points(effects[name]["effect"]), f"{low} to {high}"]
        figures = [f"{row['evaluations']:.1f}", f"{row['ms an ask']:.3g}"]
        rows.append([name, f"{row['reached']:.0%}", *change, *figures])
    return ["way", "reached", "points", "95 %", "evaluations", "ms an ask"], rows


def parts(found: Comparison, folder: Path) -> Made:
    """Where each method was run."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    rows = [
        [
            each["method"], str(each["problems"]), str(each["seeds"]), each["commit"] or "-",
            f"{each['core_hours']:.2f}", ", ".join(map(" ".join, each["tools"].items())),
        ]
        for each in records
    ]  # fmt: skip
    return ["method", "problems", "seeds", "commit", "core-hours", "tools there"], rows


TABLES: dict[str, Callable[[Comparison, Path], Made]] = {
    "all": all_problems,
    "duels": duels,
    "random": random_search,
    "problems": by_problem,
    "peers": slow_peers,
    "simulators": simulators,
    "answers": answers,
    "ablation": ablation,
    "parts": parts,
}
