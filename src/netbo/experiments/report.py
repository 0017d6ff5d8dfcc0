"""report.md: our numbers beside the printed ones with intervals, and in a sentence what agrees."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType

import pandas as pd

import netbo
from netbo.experiments import claims, statistics
from netbo.experiments.printed import FIGURE_LABELS, PrintedCell, printed_cell, sentences
from netbo.experiments.spec import DATA_BLIND, EUCLIDEAN, GP_TS, IGP_UCB, RANDOM, SPDE, Spec

TITLES = MappingProxyType(
    {
        "network": "The network of New York and a sample of the prior",
        "objectives": "The three benchmark functions on the open rectangle",
        "benchmarks": "IGP-UCB and GP-TS on benchmark functions",
        "inversion": "Source identification on New York",
        "sensitivity-b": "Sensitivity to the misspecification parameter b",
        "sensitivity-init": "Sensitivity to the size of the initial design",
        "placement": "Does it matter where the optimum sits?",
        "beyond": "What does each departure from the paper bring?",
    }
)
CHANCE = 0.05  # of a true value outside its 95 % interval
OURS = ("placement", "beyond")  # experiments the paper does not have
PRINTING = ("benchmarks", "sensitivity-b")  # experiments with printed numbers
_PLURAL = {each: each.value.removesuffix("s") for each in claims.Verdict}  # agrees: 3 agree
_FACTORS = ("problem", "placement", "max_cell", "n_init", "b")
_NAMES = MappingProxyType({"problem": "function", "max_cell": "h", "n_init": "N_init"})


def write_report(spec: Spec, table: pd.DataFrame, out: Path) -> Path:
    """Write report.md into the folder of the figures; the same table gives the same text."""
    parts = [_head(spec), _figures(spec, out)]
    if len(table):
        runs = statistics.runs_of(table, statistics.tolerance_of(spec))
        parts += [_effects(spec, table)] if spec.name == "beyond" else []
        parts += [_numbers(spec, runs), _sentences(spec, runs), _design(spec, table, runs)]
    else:
        parts.append("Nothing is optimized here; nothing is printed but a figure: figure only.")
    path = Path(out) / "report.md"
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return path


def _head(spec: Spec) -> str:
    fields = [(name, value) for name, value in spec.as_dict().items() if name != "name"]
    listed = [f"- {name}: {_text(value)}" for name, value in fields]
    kind = "Our own experiment: the paper prints nothing to compare with." if spec.name in OURS else ""
    return "\n".join(
        [
            f"# {TITLES.get(spec.name, spec.name)}",
            "",
            f"Made by `netbo reproduce {spec.name}`, netbo {netbo.__version__}, with:",
            "",
            *listed,
            *(["", kind] if kind else []),
        ]
    )


def _text(value: object) -> str:
    return ", ".join(_label(each) for each in value) if isinstance(value, list) else _label(value)


def _figures(spec: Spec, out: Path) -> str:
    lines = ["## Figures", ""]
    for path in sorted(Path(out).glob("*.png")):
        rule = next((each for each in ("IGP-UCB", "GP-TS") if path.stem.endswith(each.lower())), "")
        label = FIGURE_LABELS.get((spec.name, rule), "")
        beside = f" beside the paper's `{label}` (figure only)" if label else ""
        lines += [
            f"[{path.stem}]({path.name}) ([PDF]({path.stem}.pdf)){beside}:",
            "",
            f"![{path.stem}]({path.name})",
            "",
        ]
    return "\n".join(lines).rstrip() if len(lines) > 2 else ""


def _numbers(spec: Spec, runs: pd.DataFrame) -> str:
    """A table for every acquisition rule: reach rate and iterations of each method, printed ones beside."""
    blocks, findings = ["## Numbers", "", _how(spec, runs)], []
    factors = [name for name in _FACTORS if _matters(spec, runs, name)]
    rules = runs["acquisition"].where(~runs["acquisition"].isin([DATA_BLIND, RANDOM]), "Baselines")
    for rule, part in runs.groupby(rules, sort=False):
        rows = []
        for labels, cell in part.groupby([*factors, "method"], sort=False, dropna=False):
            row, found = _row(spec, labels, cell)
            rows.append(row)
            findings += found
        blocks += ["", f"### {rule}", "", _table(_headings(spec, factors), rows)]
    return "\n".join([*blocks, *_tally(findings)])


def _matters(spec: Spec, runs: pd.DataFrame, name: str) -> bool:
    return runs[name].replace("", None).nunique() > 1 or (name == "problem" and spec.name in PRINTING)


def _headings(spec: Spec, factors: Sequence[str]) -> list[str]:
    names = [_NAMES.get(name, name) for name in factors]
    if spec.name in PRINTING:
        tail = ["reach rate", "printed", "verdict", "mean iterations", "printed", "verdict"]
        return [*names, "method", "runs", *tail]
    over_sources = ["over sources"] if spec.name == "inversion" else []
    return [*names, "method", "runs", "reach rate", *over_sources, "mean iterations", "printed"]


def _row(
    spec: Spec, labels: tuple[object, ...], cell: pd.DataFrame
) -> tuple[list[str], list[tuple[str, claims.Finding]]]:
    rate, mean = statistics.reach_rate(cell), statistics.mean_iterations(cell)
    shown = ["" if _is_missing(each) else _label(each) for each in labels]
    start = [*shown, str(len(cell)), claims.show_rate(rate)]
    nothing = claims.NOT_PRINTED if _is_in_paper(spec, cell) else claims.NOT_IN_PAPER
    if spec.name not in PRINTING:
        over_sources = [_over_sources(cell)] if spec.name == "inversion" else []
        return [*start, *over_sources, claims.show_mean(mean), str(nothing)], []
    printed = _printed(cell)
    if printed is None:
        return [*start, "-", str(nothing), claims.show_mean(mean), "-", str(nothing)], []
    of_rate, of_mean = claims.judge_rate(rate, printed), claims.judge_iterations(mean, printed)
    row = [*start, claims.percent(printed.reach_rate), str(of_rate)]
    row += [claims.show_mean(mean), f"{printed.mean_iterations:.2f}", str(of_mean)]
    return row, [("reach rates", of_rate), ("mean iterations", of_mean)]


def _is_in_paper(spec: Spec, cell: pd.DataFrame) -> bool:
    first = cell.iloc[0]
    is_method = first["kernel"] in (SPDE, EUCLIDEAN) and first["acquisition"] in (IGP_UCB, GP_TS)
    return bool(is_method and spec.name not in OURS)


def _printed(cell: pd.DataFrame) -> PrintedCell | None:
    first = cell.iloc[0]
    return printed_cell(
        str(first["acquisition"]), str(first["problem"]), str(first["kernel"]), float(first["b"])
    )


def _over_sources(cell: pd.DataFrame) -> str:
    rates = cell["iterations"].notna().groupby(cell["source"]).mean()
    return f"{claims.percent(rates.min())} to {claims.percent(rates.max())}"


def _is_missing(value: object) -> bool:
    return isinstance(value, float) and value != value  # noqa: PLR0124 - only NaN differs from itself


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _how(spec: Spec, runs: pd.DataFrame) -> str:
    text = (
        "Reach rate: share of runs with a query after the initial design within "
        f"{statistics.tolerance_of(spec):g} of the maximum, with Wilson's 95 % interval. "
        "Mean iterations: of those runs, with Student's 95 % interval."
    )
    if runs["source"].nunique() > 1:
        text += (
            " Over several sources the intervals are at least as wide as those over the sources' own means."
        )
    return text


def _tally(findings: Iterable[tuple[str, claims.Finding]]) -> list[str]:
    """In a sentence: how many printed numbers agree, and which way the others go."""
    lines = []
    for what in ("reach rates", "mean iterations"):
        verdicts = [found.verdict for name, found in findings if name == what]
        counts = Counter(verdicts)
        if verdicts:
            told = ", ".join(f"{counts[each]} {_PLURAL[each]}" for each in claims.Verdict if counts[each])
            chance = f"about {CHANCE * len(verdicts):.1g} would lie outside its 95 % interval by chance"
            lines += ["", f"Of {len(verdicts)} printed {what}: {told}; {chance}."]
    return lines


def _sentences(spec: Spec, runs: pd.DataFrame) -> str:
    said = sentences(spec.name)
    if not said:
        return ""
    lines = []
    for each in said:
        found = claims.check(each, runs)
        lines.append(f'- "{each.quote}" (`{each.label}`): **{found.verdict.value}**. {found.reason}.')
    return "\n".join(["## What the paper says", "", *lines])


def _effects(spec: Spec, table: pd.DataFrame) -> str:
    lines = [
        "## Effects",
        "",
        "Paired runs: same landscape and seed. Reach rates in points, with 95 % intervals.",
    ]
    headings = ["landscapes", "method", "metric", "pairs", "effect", "95 % interval", "verdict"]
    for reference in statistics.references_of(table):
        rows = []
        for each in statistics.paired_effects(spec, table, reference):
            scale = 100 if each.metric.startswith("reach") else 1
            found = each.difference
            interval = f"{scale * found.low:+.1f} to {scale * found.high:+.1f}"
            said = _effect_verdict(found, more_is_better=scale == 100)
            count = str(each.pairs)
            rows.append(
                [
                    each.landscapes,
                    each.method,
                    each.metric,
                    count,
                    f"{scale * found.value:+.1f}",
                    interval,
                    said,
                ]
            )
        lines += ["", f"### Against {reference}", "", _table(headings, rows)]
    return "\n".join(lines)


def _effect_verdict(found: statistics.Estimate, *, more_is_better: bool) -> str:
    if found.low <= 0 <= found.high:
        return "no difference beyond the error"
    return "better" if (found.value > 0) == more_is_better else "worse"


def _design(spec: Spec, table: pd.DataFrame, runs: pd.DataFrame) -> str:
    """What would change if the initial design counted."""
    tolerance = statistics.tolerance_of(spec)
    counted = statistics.runs_of(table, tolerance, count_init=True)
    lucky = int((counted["iterations"] == 0).sum())
    share, with_design = statistics.reach_rate(runs), statistics.reach_rate(counted)
    return (
        "## Counting the initial design\n\n"
        f"As in the paper, only queries after the initial design count. The design alone was within "
        f"{tolerance:g} of the maximum in {lucky} of {len(counted)} runs; counting it, the reach rate over "
        f"all runs would be {claims.percent(with_design.value)} instead of {claims.percent(share.value)}."
    )


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(each) + " |" for each in lines)
