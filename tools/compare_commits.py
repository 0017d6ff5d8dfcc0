"""Do two commits behave alike? Names, commands, suggestions, tables and stored studies, to the last bit.

    python tools/compare_commits.py OLD NEW [--only names,cli,asks,tables,studies]

OLD and NEW are checkouts, or revisions of the repository in the current folder. Both run with this
interpreter, one after the other; what they do is in commit_probes.py. Exit code 1 if anything differs.
Compiled kernels stay in the temporary folder of the machine: the first run of a commit takes longer.

names    what a package lists in __all__, and what the pages and examples of OLD import, is still there. What
         other modules list may move, which is noted. New names are welcome.
cli      every command and parameter: spelling, type, default, environment variable. Help may be reworded.
asks     every place asked for, then the answers, the posterior and the scores, as hexadecimal floats.
tables   what `netbo reproduce all --quick` writes: tables, runs, specs, the tables of the reports. Left out:
         version and hash in spec.json, pictures (they hold dates), Parquet (the same table as the CSV).
studies  OLD writes studies and run folders; OLD and NEW go on with a copy each. Left out: times, workers,
         pictures, maps and pages (they hold dates).
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

Record = dict[str, list[str]]  # what is compared: lines under a title

PROBES = Path(__file__).resolve().with_name("commit_probes.py")
SHOWN = 5  # differences of a group
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")  # one: sums in one order
RUNS = {"finished": "roads.geojson", "interrupted": "finished/network.json"}  # and their networks
LINES = [[[9, 48], [9.01, 48]], [[9.01, 48], [9.01, 48.01], [9.02, 48.01]], [[9.01, 48], [9.03, 48]]]
OBJECTIVE = """
import itertools, math, os
calls = itertools.count()

def level(place):
    if next(calls) == int(os.environ.get("INTERRUPT_AT", -1)):
        raise KeyboardInterrupt
    return math.sin(3 * place.fraction) + math.cos(place.distance / 300)
"""


class CheckoutError(Exception):
    """A checkout could not do what it was asked for."""


@dataclass(frozen=True)
class Checkout:
    """A commit on disk, a folder for what it writes, and one for its compiled kernels."""

    label: str
    root: Path
    scratch: Path
    kernels: Path

    def python(self, *arguments: str | Path, cwd: Path, **variables: str) -> str:
        """What this interpreter prints with the checkout's netbo; nothing is written into the checkout."""
        own = {
            "PYTHONPATH": str(self.root / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(self.kernels),
            "MPLBACKEND": "agg",
        }
        others = {
            name: each for name, each in os.environ.items() if not name.startswith(("NETBO_", "PYTHON"))
        }
        done = subprocess.run(
            [sys.executable, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False,
            env=others | dict.fromkeys(THREADS, "1") | own | variables,
        )  # fmt: skip
        if done.returncode:
            why = (done.stderr.strip() or "no message").splitlines()[-1]
            raise CheckoutError(f"{self.label} fails at {' '.join(map(str, arguments[1:3]))}: {why}")
        return done.stdout

    def probe(self, name: str, folder: Path | None = None) -> Record:
        """What a probe finds in the checkout, working in a folder."""
        found = self.scratch / f"{name}.json"
        self.python(PROBES, name, self.root, found, cwd=folder or self.scratch)
        record: Record = json.loads(found.read_text(encoding="utf-8"))
        return record


@contextmanager
def checked_out(name: str, label: str, scratch: Path) -> Iterator[Checkout]:
    """A folder as it is, or a revision in a worktree that is removed in the end."""
    own = scratch / label
    own.mkdir()
    is_folder = (Path(name) / "src" / "netbo").is_dir()
    root = Path(name).resolve() if is_folder else own / "worktree"
    if not is_folder:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", root, name], check=True)
    try:
        # numba looks at one file at a time and may keep a kernel whose callees changed: a cache per content
        content = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(root.glob("src/**/*.py"))))
        kernels = Path(tempfile.gettempdir()) / f"netbo-kernels-{content.hexdigest()[:16]}"
        yield Checkout(label, root, own, kernels)
    finally:
        if not is_folder:
            subprocess.run(["git", "worktree", "remove", "--force", root], check=True)


@dataclass
class Verdict:
    """Differences of a group, what is worth knowing besides, and how many things were compared."""

    different: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    compared: int = 0


def compare_records(old: Record, new: Record) -> Verdict:
    """The first line in which the two differ, under each title."""
    verdict = Verdict(compared=len(old | new))
    for title in old | new:
        if title not in old or title not in new:
            verdict.different.append(f"{title}: only in {'NEW' if title in new else 'OLD'}")
            continue
        pairs = zip_longest(old[title], new[title], fillvalue="(nothing)")
        unequal = [f"{title} [{n}]: {_parting(*pair)}" for n, pair in enumerate(pairs) if pair[0] != pair[1]]
        verdict.different.extend(unequal[:1])
    return verdict


def _parting(ours: str, theirs: str) -> str:
    """Both lines around the first character in which they differ."""
    unequal = (n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
    start = next(unequal, min(len(ours), len(theirs)))
    around = slice(max(start - 40, 0), start + 40)
    return f"{ours[around]} -> {theirs[around]}"


def compare_names(old: Checkout, new: Checkout) -> Verdict:
    """What became of each name that is listed or documented."""
    before, after = old.probe("names"), new.probe("names")
    verdict = Verdict(notes=[f"not importable in OLD: {each}" for each in before["missing"]])
    for title, names in before.items():
        kind, _, module = title.partition(" ")
        if kind not in {"listed", "documented"}:
            continue
        is_package = module in before["packages"]
        there = set(after.get(f"offered {module}", []))
        if kind == "listed" and module in after["packages"]:
            there &= set(after.get(f"listed {module}", []))  # public means listed; a file lists nothing
        for name in (each for each in names if each not in there):
            place = _elsewhere(name, module, after)
            may_move = place is not None and kind == "listed" and not is_package
            told = verdict.notes if may_move else verdict.different
            told.append(f"{kind} {module}.{name}: {f'moved to {place}' if place else 'gone'}")
        verdict.compared += len(names)
    return verdict


def _elsewhere(name: str, module: str, record: Record) -> str | None:
    """The module that offers the name: the parent if it does, or else the one with the shortest path."""
    offering = [title.partition(" ")[2] for title, names in record.items() if name in names and " " in title]
    parent = module.rpartition(".")[0]
    places = sorted(set(offering) - {module}, key=lambda path: (path != parent, path.count("."), path))
    return places[0] if places else None


def compare_cli(old: Checkout, new: Checkout) -> Verdict:
    """Commands and their parameters."""
    return compare_records(old.probe("cli"), new.probe("cli"))


def compare_asks(old: Checkout, new: Checkout) -> Verdict:
    """Suggestions and answers of optimizers."""
    return compare_records(old.probe("asks"), new.probe("asks"))


def compare_tables(old: Checkout, new: Checkout) -> Verdict:
    """What `netbo reproduce all --quick` writes."""
    for each in (old, new):
        each.python(
            "-m", "netbo", "reproduce", "all", "--quick", "--jobs=1", "--out=tables", cwd=each.scratch
        )
    return compare_records(*(_tables(each.scratch / "tables") for each in (old, new)))


def _tables(folder: Path) -> Record:
    record = {}
    for path in sorted(each for each in folder.rglob("*") if each.suffix in {".csv", ".json", ".md"}):
        lines = path.read_text(encoding="utf-8").splitlines()
        if path.suffix == ".md":
            lines = [line for line in lines if line.startswith("|")]
        if path.name == "spec.json":
            lines = [line for line in lines if not line.startswith(('  "netbo":', '  "fingerprint":'))]
        record[str(path.relative_to(folder))] = lines
    return record


def compare_studies(old: Checkout, new: Checkout) -> Verdict:
    """How both go on with what OLD wrote."""
    written = old.scratch / "written"
    written.mkdir()
    (written / "sound.py").write_text(OBJECTIVE, encoding="utf-8")
    features = [
        {"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": line}}
        for line in LINES
    ]
    roads = {"type": "FeatureCollection", "features": features}
    (written / RUNS["finished"]).write_text(json.dumps(roads), encoding="utf-8")
    old.probe("write_studies", written)
    _maximize(old, written, "finished", 11)
    _maximize(old, written, "interrupted", 11, INTERRUPT_AT="7")
    return compare_records(*(_continued(each, written) for each in (old, new)))


def _continued(checkout: Checkout, written: Path) -> Record:
    folder = checkout.scratch / "continued"
    shutil.copytree(written, folder)
    record = checkout.probe("open_studies", folder)
    for name in RUNS:
        record[f"run {name}, printed"] = _maximize(checkout, folder, name, 14).splitlines()
        for path in (folder / name / "observations.csv", folder / name / "table.csv"):
            record[f"run {name}, {path.name}"] = path.read_text(encoding="utf-8").splitlines()
    return record


def _maximize(checkout: Checkout, folder: Path, name: str, budget: int, **variables: str) -> str:
    options = ["--objective=sound:level", f"--budget={budget}", f"--out={name}", "--noise=0.01", "--seed=2"]
    return checkout.python("-m", "netbo", "maximize", RUNS[name], *options, cwd=folder, **variables)


GROUPS: dict[str, Callable[[Checkout, Checkout], Verdict]] = {
    "names": compare_names,
    "cli": compare_cli,
    "asks": compare_asks,
    "tables": compare_tables,
    "studies": compare_studies,
}


def judge(group: str, old: Checkout, new: Checkout) -> bool:
    """Whether a group is the same, told in one line, with the first differences and the notes below."""
    begin = time.monotonic()
    try:
        verdict = GROUPS[group](old, new)
    except CheckoutError as reason:
        verdict = Verdict([str(reason)])
    said = f"DIFFERENT ({len(verdict.different)})" if verdict.different else "same"
    print(f"{group:8} {said}: {verdict.compared} compared in {time.monotonic() - begin:.0f} s")
    for line in [*verdict.different[:SHOWN], *(f"note: {note}" for note in verdict.notes)]:
        print(f"    {line}", flush=True)
    return not verdict.different


def main() -> int:
    """0 if the commits behave alike, 1 if not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("--only", default=",".join(GROUPS), metavar="GROUP,...", help="the groups to compare")
    given = parser.parse_args()
    chosen = given.only.split(",")
    if unknown := [group for group in chosen if group not in GROUPS]:
        parser.error(f"--only takes some of {','.join(GROUPS)}, got {unknown[0]!r}")
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="compare-")))
        old = stack.enter_context(checked_out(given.old, "OLD", scratch))
        new = stack.enter_context(checked_out(given.new, "NEW", scratch))
        sames = [judge(group, old, new) for group in chosen]  # all are told, not the first alone
    return 0 if all(sames) else 1


if __name__ == "__main__":
    sys.exit(main())
