import os
import sys

import pytest
from optuna.storages import InMemoryStorage, RDBStorage

import netbo
from netbo.adapters.netbo_json import content_hash, write_network
from netbo.errors import ParameterError
from netbo.optional import MissingPackageError
from netbo.studies import State, Study, StudyError, StudyFileError, study_names
from netbo.studies.definition import ABOUT, NETWORK
from support.studies import GRAPH, SETTINGS, JumpingClock, create, height, load, uninterrupted


def run(study, n):
    found = []
    for _ in range(n):
        suggestion = study.ask()
        study.tell(suggestion, height(suggestion.point), note="by hand")
        found.append(suggestion.point)
    return found


def test_a_study_is_kept_in_a_journal_named_after_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Study.create(GRAPH, name="leaks", **SETTINGS)

    assert Study.load("leaks.journal").name == "leaks"


@pytest.mark.parametrize("name", ["a/b", "c:d", ".."])
def test_a_name_that_names_no_file_needs_a_storage(name):
    with pytest.raises(StudyError, match="needs a name that can name a file"):
        Study.create(GRAPH, name=name)


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_study_needs_a_name(tmp_path, name):
    with pytest.raises(StudyError, match="a study needs a name, got"):
        Study.create(GRAPH, name=name, storage=tmp_path / "x.journal")


def test_sqlite_keeps_all_of_it(tmp_path):
    clock, url = JumpingClock(), f"sqlite:///{tmp_path / 'walk.db'}"
    study = Study.create(GRAPH, name="walk", storage=url, lease=10.0, clock=clock, **SETTINGS)
    found = run(study, 4)
    study.ask()
    clock.jump(11.0)
    resumed = Study.load(url, clock=clock)
    found += run(resumed, 2)
    resumed.correct(0, 0.5)

    assert found == uninterrupted(6)
    assert Study.load(url).records[0].value == 0.5
    assert Study.load(url).records[0].note == "by hand"
    assert [r.state for r in Study.load(url).records].count(State.EXPIRED) == 1


def test_many_threads_on_sqlite_never_get_one_place_twice(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    url = f"sqlite:///{tmp_path / 'walk.db'}"
    Study.create(GRAPH, name="walk", storage=url, **SETTINGS)
    studies = [Study.load(url) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda study: [study.ask() for _ in range(3)], studies))
    handed_out = [record.point for record in studies[0].records if record.state is State.PENDING]

    assert len(handed_out) == len(set(handed_out)) == 9


def test_a_storage_of_optuna_is_taken_as_it_is(tmp_path):
    storage = RDBStorage(f"sqlite:///{tmp_path / 'walk.db'}")
    Study.create(GRAPH, name="walk", storage=storage, **SETTINGS)

    assert study_names(storage) == ["walk"]


@pytest.mark.parametrize("url", ["grpc://nowhere", "grpc://:13000", "grpc://host:port"])
def test_a_proxy_is_named_by_host_and_port(url):
    with pytest.raises(StudyError, match="a gRPC proxy is named grpc://HOST:PORT, got"):
        Study.load(url, "walk")


@pytest.mark.parametrize("url", ["redis://localhost", "http://localhost/x", "mongodb://x"])
def test_other_urls_are_refused(url):
    with pytest.raises(StudyError, match="URL must begin with sqlite, postgresql, mysql or grpc, got"):
        Study.load(url, "walk")


def test_other_things_are_no_storage():
    with pytest.raises(StudyError, match="a storage must be a path, a URL or a storage of Optuna's, got int"):
        Study.load(5, "walk")


def test_a_missing_driver_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(MissingPackageError, match=r"a study in PostgreSQL needs psycopg.*'postgres'"):
        Study.load("postgresql://localhost/netbo", "walk")


@pytest.mark.parametrize("storage", ["walk.journal", "sqlite:///walk.db"])
def test_loading_what_is_not_there_makes_no_file(tmp_path, monkeypatch, storage):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(StudyFileError, match=r"there is no study file .*; make it with Study\.create"):
        Study.load(storage)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "walk.db"
    path.write_bytes(b"this is no database, but long enough to be taken for one " * 50)
    before = path.read_bytes()

    with pytest.raises(StudyFileError, match=r"cannot be opened: .*not a database.*nothing was changed"):
        Study.load(f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_a_password_is_not_repeated_in_errors():
    with pytest.raises(StudyFileError) as caught:
        Study.load("postgresql://netbo:secret@127.0.0.1:1/nothing", "walk")

    assert "postgresql://netbo:***@127.0.0.1:1/nothing cannot be opened" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_name_that_is_taken_names_the_ways_out(tmp_path):
    create(tmp_path)

    with pytest.raises(StudyError, match=r"there is a study named 'walk' already; load it with Study\.load"):
        create(tmp_path)


def test_resuming_needs_the_same_settings_and_network(tmp_path):
    study = create(tmp_path)
    run(study, 3)

    assert create(tmp_path, resume=True).n_told == 3
    with pytest.raises(StudyError, match=r"'walk' was made with noise=0\.01, got noise=0\.5; load it"):
        create(tmp_path, resume=True, noise=0.5)
    with pytest.raises(StudyError, match="was made for the network"):
        Study.create(
            netbo.star(3, length=2.5), name="walk", storage=tmp_path / "walk.journal", resume=True, **SETTINGS
        )


def test_resuming_makes_a_study_where_there_is_none(tmp_path):
    assert create(tmp_path, resume=True).n_told == 0


def test_a_study_interrupted_while_it_was_made_is_completed(tmp_path):
    study = create(tmp_path)
    lines = (tmp_path / "walk.journal").read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        (tmp_path / "walk.journal").write_bytes(b"".join(lines[:kept]))
        with pytest.raises(StudyError, match="holds no network: netbo did not make it, or was interrupted"):
            load(tmp_path, name="walk")
        assert create(tmp_path).ask().point == uninterrupted(1)[0]
    assert study.name == "walk"


def test_the_network_comes_back_whole(tmp_path):
    drawn = netbo.MetricGraph(
        [0, 1, 1], [1, 2, 3], None, positions=[[0, 0], [1, 0], [1, 2.5], [3, 0]],
        edge_ids=["main", ("a", 1), 7], unit="km",
    )  # fmt: skip
    Study.create(drawn, name="drawn", storage=tmp_path / "d.journal", max_cell=0.5)
    found = Study.load(tmp_path / "d.journal")

    assert list(found.graph.edge_ids) == ["main", ("a", 1), 7]
    assert found.graph.unit == "km"
    assert content_hash(found.graph) == found.network_hash == content_hash(drawn)
    assert found.place((("a", 1), 1.25)).xy == (1.0, 1.25)


def test_a_study_of_another_network_is_refused_by_both_hashes(tmp_path):
    create(tmp_path)
    other = netbo.star(3, length=2.5)
    one, two = content_hash(GRAPH)[:12], content_hash(other)[:12]

    with pytest.raises(StudyError, match=rf"'walk' was made for the network {one}, got the network {two}"):
        load(tmp_path, network=other)
    assert load(tmp_path, network=netbo.star(3, length=2.0)).name == "walk"


def test_a_network_can_be_kept_in_a_file_of_its_own(tmp_path):
    path = tmp_path / "network.json"
    write_network(GRAPH, path)
    create(tmp_path, network_file=path)
    study = load(tmp_path)
    path_of_journal = tmp_path / "walk.journal"

    assert run(study, 2) == uninterrupted(2)
    assert NETWORK not in path_of_journal.read_text()
    write_network(netbo.star(3, length=2.5), path)
    with pytest.raises(StudyError, match="was made for the network"):
        load(tmp_path)
    path.unlink()
    with pytest.raises(StudyFileError, match=r"refers to the network file .*, which does not exist; pass"):
        load(tmp_path)
    assert load(tmp_path, network=GRAPH).n_told == 2


def test_a_file_of_another_network_cannot_be_referred_to(tmp_path):
    write_network(netbo.star(3, length=2.5), tmp_path / "network.json")

    with pytest.raises(StudyError, match="was made for the network"):
        create(tmp_path, network_file=tmp_path / "network.json")
    assert not (tmp_path / "walk.journal").exists()


def test_unknown_names_list_those_there_are(tmp_path):
    create(tmp_path)

    with pytest.raises(StudyError, match="the storage holds 'walk', got the name 'run'"):
        load(tmp_path, name="run")


def test_a_name_may_be_left_out_where_there_is_one_study():
    storage = InMemoryStorage()
    with pytest.raises(StudyError, match="needs no name, got none; pass name="):
        Study.load(storage)
    Study.create(GRAPH, name="one", storage=storage, **SETTINGS)
    assert Study.load(storage).name == "one"
    Study.create(GRAPH, name="two", storage=storage, **SETTINGS)
    with pytest.raises(StudyError, match="needs no name, got 'one', 'two'; pass name="):
        Study.load(storage)


def test_a_study_needs_a_network(tmp_path):
    with pytest.raises(StudyError, match=r"a study needs a network, got list; read one with netbo\.read"):
        Study.create([1, 2], name="walk", storage=tmp_path / "walk.journal")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"preset": "fast"}, "preset must be one of robust, calibrated, paper"),
        ({"acquisition": "best"}, "acquisition must be one of ucb"),
        ({"direction": "up"}, "direction must be one of maximize, minimize"),
        ({"noise": -1.0}, "noise must be a variance"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"design": 0}, "a design needs at least one measurement"),
    ],
)
def test_bad_settings_leave_no_file(tmp_path, settings, message):
    with pytest.raises(ParameterError, match=message):
        create(tmp_path, **settings)
    assert not list(tmp_path.iterdir())


def altered(folder, **about):
    """A study whose own description was changed by somebody."""
    study = create(folder)
    known = study.storage.get_study_user_attrs(study.trial_store.study_id)[ABOUT]
    study.storage.set_study_user_attr(study.trial_store.study_id, ABOUT, {**known, **about})
    return known


def test_a_study_of_another_format_is_refused(tmp_path):
    altered(tmp_path, format=99, netbo="7.0")

    with pytest.raises(StudyError, match=r"must be of format 1, got 99 written by netbo 7\.0; install"):
        load(tmp_path)


def test_settings_nobody_knows_are_refused(tmp_path):
    known = altered(tmp_path)
    study = load(tmp_path)
    about = {**known, "settings": {**known["settings"], "hook": "os.system"}}
    study.storage.set_study_user_attr(study.trial_store.study_id, ABOUT, about)

    with pytest.raises(StudyError, match=r"settings of the study cannot be read, got \['hook'\]"):
        load(tmp_path)


def test_a_study_that_lost_its_network_says_so(tmp_path):
    study = create(tmp_path)
    study.storage.set_study_system_attr(study.trial_store.study_id, NETWORK, None)

    with pytest.raises(StudyError, match="has lost its network; pass it"):
        load(tmp_path)
    assert load(tmp_path, network=GRAPH).name == "walk"


@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_files_of_a_study_are_as_private_as_the_user_says(tmp_path, kind):
    """No file is opened to others beyond the mask of the process; none holds the password of a storage."""
    before = os.umask(0o077)
    try:
        storage = tmp_path / "walk.journal" if kind == "journal" else f"sqlite:///{tmp_path / 'walk.db'}"
        study = Study.create(GRAPH, name="walk", storage=storage, **SETTINGS)
        study.tell(study.ask(), 0.5)
    finally:
        os.umask(before)

    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
