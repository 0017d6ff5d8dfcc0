"""What one checkout of netbo offers and does, as lines of text; compare_commits.py runs it in each of two.

python tools/commit_probes.py PROBE CHECKOUT OUT.json, with PYTHONPATH=CHECKOUT/src. Imports are of the
documented paths alone: they exist in both.
"""

import importlib
import json
import math
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

import netbo
from netbo.cli import main as command
from netbo.optimize import Combination, Continuum, Learned, NetworkMatern, SumOf

Record = dict[str, list[str]]  # lines under a title

STEPS = 20
NOISES = (None, 0.1**2, 0.0)  # of the seeds 0, 1, 2: learned, known, values without error
RULES = ("noisy-ei", "log-ei", "ucb", "max-variance", "random")
STORAGES = ("leak.journal", "sqlite:///leak.db")
IMPORT = re.compile(r"^(?:>>> )?from (netbo[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def names(root: Path) -> Record:
    """What each module lists and offers, and what the pages and examples import."""
    record: Record = {"packages": ["netbo"], "missing": []}
    walked = list(pkgutil.walk_packages(netbo.__path__, "netbo.", onerror=lambda _: None))
    record["packages"] += [each.name for each in walked if each.ispkg]
    for path in ("netbo", *(each.name for each in walked)):
        try:
            module = importlib.import_module(path)
        except ImportError as reason:
            record["missing"].append(f"{path} ({reason})"[:90])
            continue
        listed = record[f"listed {path}"] = list(getattr(module, "__all__", []))
        record[f"offered {path}"] = [name for name in {*dir(module), *listed} if hasattr(module, name)]
    pages = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("examples/*.py")]
    for path, named in IMPORT.findall("\n".join(page.read_text(encoding="utf-8") for page in pages)):
        if f"offered {path}" in record:  # else it needs a package that is missing
            bare = re.sub(r"#.*| as \w+", "", named)
            record.setdefault(f"documented {path}", []).extend(re.findall(r"\w+", bare))
    return record


def cli(root: Path) -> Record:
    """Every command and every parameter."""
    return dict(_commands(command, click.Context(command, info_name="netbo")))


def _commands(described: click.Command, context: click.Context) -> Iterator[tuple[str, list[str]]]:
    path = context.command_path
    arguments = [each.name for each in described.params if isinstance(each, click.Argument)]
    settings = described.context_settings
    yield path, [f"arguments={arguments}", f"hidden={described.hidden}", f"settings={settings}"]
    for parameter in described.params:
        told = parameter.to_info_dict() | {"path_type": getattr(parameter.type, "path_type", None)}
        told.pop("help", None)
        yield f"{path}: {parameter.name}", [f"{name}={value!r}" for name, value in sorted(told.items())]
    if isinstance(described, click.Group):
        for name in described.list_commands(context):
            below = described.get_command(context, name)
            assert below is not None
            yield from _commands(below, click.Context(below, info_name=name, parent=context))


def asks(root: Path) -> Record:
    """Suggestions and answers: presets by seeds by networks, then every other way on the roads."""
    road = netbo.road(30, seed=4)
    graphs = {"rectangle": netbo.narrow_rectangle(), "road": road, "loops": _loops()}
    presets: dict[str, dict[str, Any]] = {"default": {}, "paper": {"preset": "paper"}}
    record = {}
    for label, graph in graphs.items():
        for preset, options in presets.items():
            for seed, noise in enumerate(NOISES):
                given = options | {"seed": seed, "noise": noise, "max_cell": graph.total_length / 120}
                record[f"{label}, {preset}, seed {seed}"] = _follow(netbo.Optimizer(graph, **given))
    models = (NetworkMatern(0.5), NetworkMatern(1.0), SumOf(NetworkMatern(0.5), NetworkMatern(1.0)))
    ways: dict[str, dict[str, Any]] = {
        "batches of three": {"separation": 0.5},
        "usual mesh, minimize": {"max_cell": None, "direction": "minimize"},
        "continuum": {"candidates": Continuum(road, n_points=200)},
        "mesh-free prior": {"domain": netbo.whittle_matern(road, netbo.Matern(1.0, range=3.0, sigma=1.0))},
        "averaged models": {"fit": Learned(models=models, combination=Combination.AVERAGE)},
        "straight lines": {"preset": "paper-euclidean"},
        **{rule: {"acquisition": rule} for rule in RULES},
    }
    usual: dict[str, Any] = {"domain": road, "noise": 0.1**2, "seed": 1, "max_cell": 0.4}
    for label, options in ways.items():
        record[label] = _follow(netbo.Optimizer(**usual | options), 3 if label.startswith("batches") else 1)
    return record


def _loops() -> netbo.MetricGraph:
    """Two components, a loop, and two edges between the same vertices."""
    places = [(0, 0), (2, 0), (2, 1.5), (4, 0), (6, 0), (7, 1), (5.5, 2)]
    tails, heads = [0, 1, 1, 2, 3, 3, 4, 5, 4], [1, 2, 2, 3, 3, 1, 5, 6, 6]
    lengths = [2.0, 1.5, 2.5, 2.6, 3.0, 2.0, 1.6, 1.9, 2.2]
    return netbo.MetricGraph(tails, heads, lengths, edge_ids=list("abcdefghi"), positions=places)


def _follow(optimizer: netbo.Optimizer, batch: int = 1) -> list[str]:
    """Places asked for, then the answers."""
    errors = np.random.default_rng(optimizer.seed)
    scale = 0.0 if optimizer.noise == 0 else 0.1
    asked: list[str] = []
    while len(asked) < STEPS:
        for suggestion in optimizer.ask(batch):
            asked.append(f"ask {_place(suggestion.point)}")
            optimizer.tell(suggestion, _objective(suggestion.point) + scale * errors.standard_normal())
    return [*asked, *_answers(optimizer)]


def _answers(optimizer: netbo.Optimizer) -> list[str]:
    """Best place and its company; posterior and scores show what the choice among candidates may hide."""
    best, found, listed = optimizer.best(), optimizer.recommend(), optimizer.search_list(draws=64)
    modes = [(_place(mode.point), _hex(mode.probability, mode.mean)) for mode in optimizer.modes(2, draws=64)]
    rng, known = np.random.default_rng(0), optimizer.posterior
    x = netbo.uniform_points(optimizer.graph, 4, rng)
    return [
        f"best {best.id} {_place(best.point)} {_hex(best.value)}",
        f"recommend {_place(found.point)} {_hex(found.mean, found.std, found.low, found.high)}",
        f"modes {modes}",
        f"search list {_hex(listed.length, listed.probability, listed.held_out)}",
        f"posterior {_hex(*known.mean(x), *known.std(x))}",
        f"scores {_hex(*optimizer.acquisition.scores(known, x, rng))}",
    ]


def _objective(point: netbo.Point) -> float:
    return math.sin(point.edge + 2 * point.z) + math.cos(0.3 * point.z)


def _place(point: netbo.Point) -> str:
    return f"{point.edge}:{_hex(point.z)}"


def _hex(*numbers: float) -> str:
    return " ".join(float(number).hex() for number in numbers)


def write_studies(root: Path) -> Record:
    """Nothing to compare: studies in this folder, with trials of every kind."""
    for storage in STORAGES:
        study = netbo.Study.create(
            _loops(), name="leak", storage=storage, noise=0.01, design=4, max_cell=0.2, seed=3
        )
        for _ in range(9):
            suggestion = study.ask()
            study.tell(suggestion, _objective(suggestion.point))
        failed, _pending = study.ask(2)
        study.tell(failed, "failed", note="no access")
        study.correct(0, 1.25, noise=0.04)
        study.withdraw(2)
        study.add_observation(("c", 2.25), 0.7, note="by hand")
        study.enqueue(("h", 1.5))
    return {}


def open_studies(root: Path) -> Record:
    """What the studies in this folder hold, and how they go on."""
    record = {}
    for storage in STORAGES:
        study = netbo.Study.load(storage)
        trials = study.trials.drop(columns=["worker", "began", "ended"]).to_csv(float_format="%.17g")
        asked = []
        for _ in range(3):  # the first was enqueued
            suggestion = study.ask()
            asked.append(f"ask {suggestion.id} {_place(suggestion.point)}")
            study.tell(suggestion, _objective(suggestion.point))
        record[f"study {storage}"] = [*trials.splitlines(), *asked, *_answers(study.optimizer)]
    return record


PROBES: dict[str, Callable[[Path], Record]] = {
    probe.__name__: probe for probe in (names, cli, asks, write_studies, open_studies)
}


def main(probe: str, checkout: str, out: str) -> None:
    """Write what a probe finds; refuse a netbo that is not the checkout's."""
    root = Path(checkout).resolve()
    if not Path(netbo.__file__).resolve().is_relative_to(root):
        raise SystemExit(f"netbo must come from {root}, got {netbo.__file__}; set PYTHONPATH to its src")
    Path(out).write_text(json.dumps(PROBES[probe](root)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
