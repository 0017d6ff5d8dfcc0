"""A study opened before a fork, or sent to another process: each process has its own storage and name."""

import copy
import os
import pickle

import optuna
import pytest

import netbo
from netbo.studies import State, Study, StudyError
from studies.stress_crowds import SETTINGS, check_forks, in_a_child, measure_and_tell
from support.studies import GRAPH, create, load


@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_a_study_opened_before_a_fork_serves_children_and_parent(tmp_path, kind):
    """Optuna's writer would be one and the same in all of them, and its database connection too."""
    check_forks(tmp_path / "crowd.journal" if kind == "journal" else f"sqlite:///{tmp_path / 'crowd.db'}")


def test_a_storage_of_optunas_own_is_opened_anew_in_a_child(tmp_path):
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "crowd.journal"))
    check_forks(optuna.storages.JournalStorage(backend), n_children=1)


def test_a_study_goes_to_a_process_that_shares_nothing(tmp_path):
    check_forks(tmp_path / "crowd.journal", n_children=1, n_trials=2, method="spawn")


def test_a_lock_held_at_the_fork_does_not_stop_the_child(tmp_path):
    """Another thread of the parent was at work; nobody in the child could ever release its locks."""
    study = create(tmp_path)
    with study._lock, study.storage._thread_lock:
        told = in_a_child(lambda: study.tell(study.ask(), 0.5))

    assert told == 0
    assert study.records[0].value == 0.5


def test_the_name_of_a_worker_is_its_own_in_each_process(tmp_path):
    study = create(tmp_path, worker="north")
    child = in_a_child(lambda: study.worker)

    assert study.worker == "north"
    assert child.startswith("north-")


@pytest.mark.parametrize("storage", ["optuna", "sqlite://"])
def test_a_study_in_memory_is_refused_in_another_process(storage):
    """What is told there would be lost with the process."""
    kept = optuna.storages.InMemoryStorage() if storage == "optuna" else storage
    study = Study.create(GRAPH, name="walk", storage=kept, **SETTINGS)
    said = in_a_child(lambda: study.tell(study.ask(), 0.5))

    assert said.startswith("StudyError: a study in memory belongs to the process that made it, got another")
    with pytest.raises(StudyError, match="keep the study in a file"):
        pickle.dumps(study)
    copy.copy(study).tell(study.ask(), 0.5)
    assert study.n_told == 1


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda study: pickle.loads(pickle.dumps(study))])
def test_a_copy_is_another_worker_of_the_same_study(tmp_path, twin):
    study = create(tmp_path)
    measure_and_tell(study, 2)
    other = twin(study)
    held = study.ask()
    measure_and_tell(other, 1)

    assert other.worker != study.worker
    assert (other.storage is study.storage) == (twin is copy.copy)  # threads may share one
    assert (other.name, other.settings, other.network_hash) == (
        study.name,
        study.settings,
        study.network_hash,
    )
    study.tell(held, 0.25)
    assert [record.state for record in load(tmp_path).records].count(State.OBSERVED) == 4
    assert {record.worker for record in study.records} == {study.worker, other.worker}


def test_a_study_stays_lazy_in_its_process(tmp_path):
    """A process of its own is noticed by its id alone: nothing is opened again without a fork."""
    study = create(tmp_path)
    before = study.storage
    measure_and_tell(study, 1)

    assert study.storage is before
    assert str(os.getpid()) in study.worker
    assert isinstance(study, netbo.Study)
