"""What is private or undocumented in Optuna and relied on here: by it a new version is judged."""

import json
import os

import optuna
import pytest
from optuna.storages import InMemoryStorage, JournalStorage, RDBStorage, get_storage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from optuna.study import StudyDirection
from optuna.trial import TrialState, create_trial

from netbo.integrations.optuna import FIXED
from netbo.studies import journal_lines
from netbo.studies.journal import GuardedLock, JournalFile
from netbo.studies.journal_lines import SET_STATE


def link_of_the_lock(folder):
    lock = JournalFileSymlinkLock(str(folder / "a.journal"))
    lock._lock_target_file = "elsewhere"
    lock.acquire()
    found = os.readlink(folder / "a.journal.lock")
    lock.release()
    return found


def codes_of_operations(folder):
    from optuna.storages.journal._storage import JournalOperation

    return [int(code) for code in JournalOperation]


def last_line(folder):
    """What Optuna writes when a trial is finished."""
    storage = JournalStorage(JournalFileBackend(str(folder / "a.journal")))
    study = storage.create_new_study([StudyDirection.MAXIMIZE], "a")
    trial = storage.create_new_trial(study)
    storage.set_trial_state_values(trial, TrialState.COMPLETE, [1.0])
    line = json.loads((folder / "a.journal").read_bytes().splitlines()[-1])
    return {key: line.get(key) for key in ("op_code", "state")}


def attributes_of_ours(folder):
    backend, lock = JournalFileBackend(str(folder / "a")), JournalFileSymlinkLock(str(folder / "a"))
    ours = set(vars(JournalFile(folder / "b"))) - set(vars(backend))
    ours |= set(vars(GuardedLock(str(folder / "b")))) - set(vars(lock))
    return ours


def torn_line(folder):
    """Optuna passes over half a last line when it reads."""
    (folder / "a").write_bytes(b'{"op_code": 0}\n{"op_co')
    return list(JournalFileBackend(str(folder / "a")).read_logs(0))


def damaged_line(folder):
    (folder / "a").write_bytes(b"nonsense\n{}\n")
    try:
        return list(JournalFileBackend(str(folder / "a")).read_logs(0))
    except ValueError:
        return "ValueError"


def running_trial():
    storage = InMemoryStorage()
    study = storage.create_new_study([StudyDirection.MAXIMIZE], "a")
    key = storage.create_new_trial(study, template_trial=create_trial(state=TrialState.RUNNING))
    return key, storage.get_trial(key)


def key_of_a_trial(folder):
    key, trial = running_trial()
    return trial._trial_id == key


def state_of_a_template(folder):
    return running_trial()[1].state.name


def storage_of_a_study(folder):
    storage = InMemoryStorage()
    return optuna.create_study(storage=storage)._storage is storage


def enqueued_parameters(folder):
    study = optuna.create_study(storage=InMemoryStorage())
    study.enqueue_trial({"place_edge": 1})
    return study.get_trials()[0].system_attrs.get(FIXED)


def statements_for_update(folder):
    """Statements that Optuna reads to write; our listener recognizes them by SQLAlchemy's attribute."""
    from sqlalchemy import event

    storage, seen = RDBStorage(f"sqlite:///{folder / 'a.db'}"), []
    event.listen(
        storage.scoped_session.session_factory,
        "do_orm_execute",
        lambda state: seen.append(getattr(state.statement, "_for_update_arg", None) is not None),
    )
    study = storage.create_new_study([StudyDirection.MAXIMIZE], "a")
    trial = storage.create_new_trial(study, template_trial=create_trial(state=TrialState.WAITING))
    seen.clear()
    storage.set_trial_state_values(trial, TrialState.RUNNING)
    storage.engine.dispose()
    return storage.engine.name, any(seen)


def cached_database(folder):
    storage = RDBStorage(f"sqlite:///{folder / 'a.db'}")
    cached = get_storage(storage)
    storage.engine.dispose()
    return cached._backend is storage


FINISHED = {"op_code": SET_STATE, "state": int(TrialState.COMPLETE)}
CODES = [
    journal_lines.CREATE_STUDY, journal_lines.DELETE_STUDY, journal_lines.STUDY_USER_ATTR,
    journal_lines.STUDY_SYSTEM_ATTR, journal_lines.CREATE_TRIAL, journal_lines.SET_PARAM, SET_STATE,
    journal_lines.INTERMEDIATE, journal_lines.TRIAL_USER_ATTR, journal_lines.TRIAL_SYSTEM_ATTR,
    journal_lines.DISCARD,
]  # fmt: skip
OURS = {
    "_state",
    "_offset",
    "_tail",
    "_stamp",
    "_unread",
    "path",
    "_file_lock",
    "_lock_path",
    "_guard_path",
    "_guard",
}
JOURNAL, STUDIES, SAMPLER = "netbo.studies.journal", "netbo.studies", "netbo.integrations.optuna"
RELIED_ON = {  # what, who relies on it, how to see it, and what it must be
    "JournalFileSymlinkLock._lock_target_file": (JOURNAL, link_of_the_lock, "elsewhere"),
    "the codes of JournalOperation": (JOURNAL, codes_of_operations, CODES),
    "the keys op_code and state of a journal's lines": (JOURNAL, last_line, FINISHED),
    "the attributes of JournalFileBackend or its lock: one is now named as ours": (
        JOURNAL, attributes_of_ours, OURS),
    "JournalFileBackend.read_logs at a torn last line": (JOURNAL, torn_line, [{"op_code": 0}]),
    "JournalFileBackend.read_logs at a damaged line": (JOURNAL, damaged_line, "ValueError"),
    "FrozenTrial._trial_id": (f"{STUDIES} and {SAMPLER}", key_of_a_trial, True),
    "create_new_trial(template_trial=) with a trial that runs": (STUDIES, state_of_a_template, "RUNNING"),
    "Study._storage": (SAMPLER, storage_of_a_study, True),
    "the system attribute of enqueued parameters": (SAMPLER, enqueued_parameters, {"place_edge": 1}),
    "RDBStorage.engine, scoped_session, or how it reads rows for update": (
        "netbo.studies.storages", statements_for_update, ("sqlite", True)),
    "_CachedStorage._backend": ("tests/studies", cached_database, True),
}  # fmt: skip


@pytest.mark.parametrize("what", RELIED_ON)
def test_what_is_private_in_optuna_is_as_it_was(what, tmp_path):
    """Optuna promises none of it: pyproject.toml admits a version of which this has been checked."""
    who, look, expected = RELIED_ON[what]
    try:
        found = look(tmp_path)
    except Exception as error:
        found = error

    assert found == expected, f"Optuna {optuna.__version__} changed {what}; {who} relies on it"
