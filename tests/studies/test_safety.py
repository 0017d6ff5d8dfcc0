"""A study file is data: whatever is written in it, nothing of it runs, and what makes no sense is refused."""

import ast
import base64
import json
import math
import pickle
import random
from pathlib import Path

import pytest
from optuna.storages.journal import BaseJournalBackend
from optuna.storages.journal._base import BaseJournalSnapshot

import netbo
from netbo.errors import BaseError
from netbo.studies import Study, StudyError
from netbo.studies.journal import JournalFile
from netbo.studies.journal_lines import MARK
from studies.stress_workers import Process, read_under_watch
from support.studies import create, load

# A number that is no edge is cast before it is refused.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")

PACKAGE = Path(netbo.__file__).parent
READERS = [*sorted((PACKAGE / "studies").glob("*.py")), PACKAGE / "adapters" / "netbo_json.py"]
RUNS_CODE = {"eval", "exec", "compile", "__import__"}
READS_CODE = {
    "pickle",
    "cPickle",
    "_pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "yaml",
    "importlib",
}
CALL = "__import__('os').system('touch harm')"
NONSENSE = [None, True, -1, 7, 1e308, math.nan, "x", "", [], {}, [1], {"a": 1}, CALL]


@pytest.mark.parametrize("path", READERS, ids=lambda path: path.name)
def test_what_reads_a_study_neither_runs_nor_unpickles(path):
    """The version of the package is all that importlib is for."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [node.module or ""] if node.module != "importlib.metadata" else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [node.func.id]

    assert not {name.partition(".")[0] for name in found} & (RUNS_CODE | READS_CODE)


def test_a_journal_of_ours_has_no_snapshot():
    """Optuna unpickles the snapshots of those that have."""
    assert issubclass(JournalFile, BaseJournalBackend)
    assert not issubclass(JournalFile, BaseJournalSnapshot)


def everything(folder):
    """A study in which everything that can be said is said; returns its lines."""
    study = create(folder, lease=100.0)
    study.tell(study.ask(), 1.0)
    study.tell(study.ask(), 2.0, noise=0.1, note="read twice", at=(1, 0.5))
    study.enqueue((0, 0.3))
    suggestion = study.ask()
    study.renew(suggestion)
    study.release(suggestion)
    study.tell(study.ask(), "failed", note="no signal")
    study.add_observation((2, 1.0), 0.3, note="by hand")
    study.correct(0, 1.5)
    study.withdraw(1)
    study.note(0, "recalibrated")
    study.ask()
    lines = [json.loads(line) for line in (folder / "walk.journal").read_bytes().splitlines()]
    return [
        {key: each for key, each in line.items() if key != MARK} for line in lines
    ]  # anybody can forge one


def paths(document, path=()):
    """Where something is written."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*path, key))


def replaced(document, path, value):
    copy = json.loads(json.dumps(document))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


def check_nonsense(folder, n_cases):
    """Replace things by nonsense, one at a time: it is read as data, or refused by an error of ours."""
    lines = everything(folder)
    network = next(number for number, line in enumerate(lines) if "system_attr" in line)
    cases = [
        (number, path, value)
        for number, line in enumerate(lines)
        if number != network  # judged where networks are read
        for path in paths(line)
        for value in NONSENSE
    ]
    chosen = random.Random(0).sample(cases, n_cases or len(cases))
    outcomes = {"read": 0, "refused": 0}
    for number, path, value in chosen:
        changed = [replaced(line, path, value) if at == number else line for at, line in enumerate(lines)]
        (folder / "bad.journal").write_text("".join(json.dumps(line) + "\n" for line in changed))
        try:
            study = Study.load(folder / "bad.journal")
            table, _ = study.trials, study.optimizer
            study.add_observation((0, 0.1), 1.0)
        except BaseError:
            outcomes["refused"] += 1
        except Exception as error:
            raise AssertionError(f"line {number} with {path} = {value!r} was neither") from error
        else:
            outcomes["read"] += 1
            assert len(table) <= 8
    assert min(outcomes.values()) > n_cases / 10


def test_nonsense_in_a_study_is_read_as_data_or_refused(tmp_path):
    check_nonsense(tmp_path, 150)


@pytest.mark.slow
def test_nonsense_anywhere_in_a_study_is_read_as_data_or_refused(tmp_path):
    check_nonsense(tmp_path, 0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("design", "4", "a study stores design as a number, got '4'"),
        ("max_cell", CALL, "a study stores max_cell as a number, got"),
    ],
)
def test_settings_are_of_their_kind(tmp_path, name, value, message):
    with pytest.raises(StudyError, match=message):
        create(tmp_path, **{name: value})


def harmful(folder):
    """Payloads that would leave a file behind."""

    class Harmful:
        def __reduce__(self):
            return (open, (str(folder / "harm"), "w"))

    code = f"__import__('pathlib').Path({str(folder / 'harm')!r}).touch()"
    pickled = pickle.dumps(Harmful(), protocol=0)
    return [
        code,
        pickled.decode("latin-1"),
        base64.b64encode(pickle.dumps(Harmful())).decode(),
        f"!!python/object/apply:os.system ['touch {folder / 'harm'}']",
        {"py/reduce": [{"py/function": "builtins.eval"}, {"py/tuple": [code]}]},
        {"__reduce__": [code], "__class__": "os.system", "~eval": code, "~pickle": pickled.decode("latin-1")},
        "${jndi:ldap://127.0.0.1/x}{{7*7}}%(system)s",
    ]


def test_a_process_that_reads_a_crafted_study_runs_nothing_of_it(tmp_path):
    """Python itself says what is unpickled, compiled, run, imported or started, in a process of its own."""
    lines, files = everything(tmp_path), []
    chance = random.Random(3)
    for payload in harmful(tmp_path):
        for number, line in enumerate(lines):
            path = chance.choice([path for path in paths(line) if len(path) > 1] or list(paths(line)))
            changed = [
                replaced(line, path, payload) if at == number else each for at, each in enumerate(lines)
            ]
            files.append(tmp_path / f"crafted{len(files)}.journal")
            files[-1].write_text("".join(json.dumps(each) + "\n" for each in changed))
    outcomes, ran = Process(read_under_watch, good=tmp_path / "walk.journal", others=files).end()

    assert ran == []
    assert set(outcomes) == {"read", "refused"}
    assert len(outcomes) == len(files)
    assert not (tmp_path / "harm").exists()
    assert load(tmp_path).n_told > 0
