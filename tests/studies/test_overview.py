"""Titles, units of values, and the list of all studies: what people read, never what is computed."""

import math
from datetime import UTC, datetime

import matplotlib.pyplot as plt
import optuna
import pytest

import netbo
from netbo.errors import ParameterError, StudyFileError
from netbo.studies import Study, list_studies
from support.studies import GRAPH, JumpingClock, create, load

PIPES = netbo.MetricGraph(
    [0, 1], [1, 2], [4.0, 3.0], edge_ids=["main", "east"], unit="km", positions=[(0, 0), (4, 0), (4, 3)]
)


def leak(storage=None, **options):
    kept = storage or optuna.storages.InMemoryStorage()
    return Study.create(PIPES, name="leak", storage=kept, noise=0.25, max_cell=0.5, **options)


def told(study):
    for place, value in ((("main", 1.0), 3.0), (("east", 2.0), 8.0), (("main", 3.0), 5.0)):
        study.add_observation(place, value)
    return study


# Title and unit


def test_a_title_and_a_unit_are_kept_and_change_for_all_who_have_the_study_open(tmp_path):
    study = create(tmp_path, title="Leaks in zone 3", value_unit="l/s")
    other = load(tmp_path)
    assert (other.title, other.value_unit) == ("Leaks in zone 3", "l/s")

    other.describe(title="Leaks, all zones")
    assert (study.title, study.value_unit) == ("Leaks, all zones", "l/s")
    study.describe(value_unit="")
    assert (other.title, other.value_unit) == ("Leaks, all zones", None)


def test_a_study_made_before_there_were_titles_has_none(tmp_path):
    """The attributes are apart from the format: without them a journal is what it always was."""
    create(tmp_path)
    study = load(tmp_path)

    assert "title" not in (tmp_path / "walk.journal").read_text()
    assert (study.title, study.value_unit, study.optimizer.value_unit) == (None, None, None)


def test_words_are_no_settings_and_change_no_place(tmp_path):
    """A study is gone on with under another title, and asks where it would have asked."""
    plain = create(tmp_path, resume=True).ask(3)
    (tmp_path / "walk.journal").unlink()
    create(tmp_path, title="first")
    worded = create(tmp_path, title="second", value_unit="m", resume=True)

    assert worded.title == "second"
    assert [each.point for each in worded.ask(3)] == [each.point for each in plain]


@pytest.mark.parametrize("words", [{"title": "two\nlines"}, {"value_unit": 7}, {"title": b"bytes"}])
def test_words_must_be_one_line(tmp_path, words):
    name = next(iter(words))
    with pytest.raises(ParameterError, match=f"{name} must be one line of text, got"):
        create(tmp_path, **words)
    assert not (tmp_path / "walk.journal").exists()

    with pytest.raises(ParameterError, match=f"{name} must be one line of text, got"):
        create(tmp_path).describe(**words)


def test_what_others_wrote_in_place_of_a_title_is_not_shown(tmp_path):
    study = create(tmp_path)
    for odd in (["a"], "a\x1b[2Jb", 3):
        study.storage.set_study_user_attr(study.trial_store.study_id, "netbo:title", odd)
        assert study.title is None


def test_the_summary_begins_with_the_title_and_names_the_unit():
    study = told(leak(title="Leaks in zone 3", value_unit="l/s"))
    text = str(study.summary())

    assert text.startswith("title      Leaks in zone 3\nnetwork ")
    assert "observed   8 l/s at edge 'east', 2 km" in text
    assert " l/s (95 %: too few" in text
    assert "l/s" not in str(told(leak()).summary())


@pytest.fixture
def closed_figures():
    yield
    plt.close("all")


@pytest.mark.usefixtures("closed_figures")
def test_pictures_name_the_unit_on_their_scales():
    study = told(leak(title="Leaks in zone 3", value_unit="l/s"))
    plan = study.plot()
    bars = [ax.get_ylabel() for ax in plan.figure.axes] + [ax.get_xlabel() for ax in plan.figure.axes]

    assert plan.get_title() == "Leaks in zone 3"
    assert "posterior mean [l/s]" in " ".join(bars).replace("\n", " ")
    assert study.plot_convergence().get_ylabel() == "value [l/s]"
    assert study.plot_profile().get_ylabel() == "value [l/s]"
    assert study.plot_profile(label="loss").get_ylabel() == "loss"
    assert told(leak()).plot_convergence().get_ylabel() == ""


def test_the_page_has_the_title_and_the_unit(tmp_path):
    study = told(leak(title="Leaks <in> zone 3", value_unit="l/s"))
    page = study.write_page(tmp_path / "page.html").read_text()

    assert "<title>Leaks &lt;in&gt; zone 3</title>" in page
    assert '"title": "Leaks \\u003cin> zone 3"' in page
    assert '"value_unit": "l/s"' in page


def test_tables_and_maps_have_a_column_with_the_unit(tmp_path):
    import geopandas as gpd
    import pandas as pd

    for unit in ("l/s", None):
        study = told(leak(value_unit=unit))
        table = pd.read_csv(study.export(tmp_path / "table.csv"))
        layer = gpd.read_file(study.export(tmp_path / "map.gpkg"), layer="observations")
        assert ("value_unit" in table.columns) == ("value_unit" in layer.columns) == (unit is not None)
        if unit:
            assert set(table["value_unit"]) == set(layer["value_unit"]) == {"l/s"}


def test_a_run_names_the_unit_too():
    result = netbo.maximize(lambda x: x.distance, PIPES, budget=3, noise=0.0, value_unit="l/s")

    assert f"best {result.best().value:.6g} l/s at" in repr(result)


# All studies of a storage


def test_a_list_says_how_each_study_stands(tmp_path):
    """Beside what the study itself answers."""
    clock = JumpingClock()
    study = told(leak(tmp_path / "leak.journal", title="Zone 3", value_unit="l/s", clock=clock))
    study.tell(study.ask(), "failed")
    study.ask()
    clock.jump(500.0)
    study.correct(1, 9.0)
    create(tmp_path, direction="minimize")
    first, second = list_studies(tmp_path)

    assert (first.name, first.title, first.network, first.direction) == (
        "leak", "Zone 3", "2 edges, 7 km in all", "maximize",
    )  # fmt: skip
    assert (first.n_values, first.n_failed, first.n_pending) == (3, 1, 1)
    assert first.best == study.best().value == 9.0
    assert first.best_in_words == "9 l/s"
    assert first.changed == datetime.fromtimestamp(clock.now(), UTC)
    assert first.journal == str(tmp_path / "leak.journal")
    assert (second.name, second.title, second.best, second.changed) == ("walk", None, None, None)


def test_the_best_of_a_search_for_the_least_is_the_least():
    storage = optuna.storages.InMemoryStorage()
    told(leak(storage, direction="minimize"))

    assert list_studies(storage)[0].best == 3.0


def test_a_database_is_listed_and_what_optuna_made_alone_is_not(tmp_path):
    url = f"sqlite:///{tmp_path / 'all.db'}"
    optuna.create_study(study_name="foreign", storage=url)
    for name in ("north", "south"):
        Study.create(GRAPH, name=name, storage=url, title=name.title())

    assert [(each.name, each.title, each.journal) for each in list_studies(url)] == [
        ("north", "North", None), ("south", "South", None),
    ]  # fmt: skip


def test_one_study_that_cannot_be_read_does_not_hide_the_others(tmp_path):
    from netbo.adapters.netbo_json import write_network

    create(tmp_path)
    write_network(PIPES, tmp_path / "pipes.json")
    leak(tmp_path / "lost.journal", title="Zone 9", network_file=tmp_path / "pipes.json")
    (tmp_path / "pipes.json").unlink()
    whole = (tmp_path / "walk.journal").read_text()
    (tmp_path / "broken.journal").write_text(whole + "nonsense\n")
    broken, lost, walk = list_studies(tmp_path)

    assert (broken.name, broken.best) == ("broken", None)
    assert f" is damaged at line {1 + whole.count(chr(10))}" in broken.problem
    assert lost.title == "Zone 9"
    assert lost.problem.startswith("the study 'leak' refers to the network file")
    assert walk.problem == ""
    with pytest.raises(StudyFileError, match="is damaged"):
        list_studies(tmp_path / "broken.journal")


def test_a_list_changes_nothing(tmp_path):
    told(leak(tmp_path / "leak.journal"))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    list_studies(tmp_path)

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_times_that_make_no_sense_are_passed_over(tmp_path):
    study = told(leak(tmp_path / "leak.journal"))
    study.storage.set_study_user_attr(
        study.trial_store.study_id, "netbo:change:0:1:x", {"kind": "note", "note": "odd", "time": math.inf}
    )

    assert list_studies(tmp_path)[0].changed <= datetime.now(UTC)


def test_an_empty_folder_has_no_studies(tmp_path):
    assert list_studies(tmp_path) == []
    with pytest.raises(StudyFileError, match="there is no study file"):
        list_studies(tmp_path / "none.journal")
