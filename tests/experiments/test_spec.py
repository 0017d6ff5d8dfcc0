"""Specs: what may be changed, how they are written down, and what is refused."""

import json
import tomllib
from dataclasses import replace

import pytest

import netbo
from netbo.errors import ParameterError
from netbo.experiments import DEFINITIONS, Spec, definition, read_spec

SPEC = definition("sensitivity-b").default_spec()


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("quick", [False, True])
def test_a_spec_written_as_toml_reads_back_the_same(tmp_path, name, quick):
    spec = DEFINITIONS[name].quick_spec() if quick else DEFINITIONS[name].default_spec()
    path = tmp_path / "spec.toml"
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in spec.as_dict().items())
    path.write_text(text, encoding="utf-8")

    assert tomllib.loads(text) == spec.as_dict()
    assert read_spec(path) == spec
    assert read_spec(path).fingerprint() == spec.fingerprint()


def test_a_toml_file_changes_only_what_it_names(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "sensitivity-b"\nb = [0, 1]\nrepetitions = 3\n', encoding="utf-8")

    assert read_spec(path) == replace(SPEC, b=(0.0, 1.0), repetitions=3)


def test_a_toml_file_may_start_from_the_quick_spec(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "benchmarks"\nquick = true\n', encoding="utf-8")

    assert read_spec(path) == definition("benchmarks").quick_spec()


@pytest.mark.parametrize(
    ("setting", "field", "value"),
    [
        ("repetitions=3", "repetitions", 3),
        ("seed = 7", "seed", 7),
        ("quick=true", "quick", True),
        ("b=0,0.25", "b", (0.0, 0.25)),
        ("n_init=4", "n_init", (4,)),
        ("max_cell=1, 0.5", "max_cell", (1.0, 0.5)),
        ("functions=levy", "functions", ("levy",)),
        ("kernels=SPDE,Euclidean nu=1/2", "kernels", ("SPDE", "Euclidean nu=1/2")),
        ("tolerance=1e-3", "tolerance", 1e-3),
    ],
)
def test_every_field_can_be_set_by_text(setting, field, value):
    changed = SPEC.with_settings([setting])

    assert changed == replace(SPEC, **{field: value})
    assert type(getattr(changed, field)) is type(value)


def test_the_last_of_several_settings_counts():
    assert SPEC.with_settings(["seed=1", "seed=2", "repetitions=5"]) == replace(SPEC, seed=2, repetitions=5)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("repetitions", "a setting must be field=value, got 'repetitions'"),
        ("reps=3", "sensitivity-b has no setting 'reps'; it has name, repetitions, seed"),
        ("sources=3", "sensitivity-b has no setting 'sources'"),
        ("repetitions=0", "repetitions must be at least 1, got 0"),
        ("repetitions=two", "repetitions must be a whole number, got 'two'"),
        ("repetitions=2.5", "repetitions must be a whole number, got '2.5'"),
        ("seed=-1", "seed must be at least 0, got -1"),
        ("quick=yes", "quick must be true or false, got 'yes'"),
        ("b=0,-1", "b must be at least 0, got -1"),
        ("b=0,0.0", "b must be values that differ from each other"),
        ("b=", "b must be a finite number, got ''"),
        ("tolerance=nan", "tolerance must be a finite number, got nan"),
        ("noise=0", "noise must be above 0, got 0"),
        ("max_cell=0", "max_cell must be above 0, got 0"),
        ("functions=sphere", "functions must be of ackley, rastrigin, levy, got 'sphere'"),
        ("placements=moon", "placements must be of gap-end, .*, got 'moon'"),
    ],
)
def test_what_cannot_be_set_is_refused(setting, message):
    with pytest.raises(ParameterError, match=message):
        SPEC.with_settings([setting])


def test_python_values_are_checked_like_text():
    with pytest.raises(ParameterError, match="one value or more"):
        replace(SPEC, b=())
    with pytest.raises(ParameterError, match="repetitions must be a whole number, got True"):
        replace(SPEC, repetitions=True)
    with pytest.raises(ParameterError, match="quick must be true or false, got 1"):
        replace(SPEC, quick=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repetitions = 3\n", "a spec must name its experiment"),
        ("name = [\n", "a spec must be a TOML file"),
        ('name = "nothing"\n', "an experiment must be one of network, .* or all, got 'nothing'"),
        ('name = "benchmarks"\nsources = 2\n', "benchmarks has no setting 'sources'"),
    ],
)
def test_wrong_toml_files_are_refused(tmp_path, text, message):
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ParameterError, match=message):
        read_spec(path)


def test_a_missing_toml_file_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"a spec must be a file that can be read, got .*none\.toml"):
        read_spec(tmp_path / "none.toml")


def test_the_fingerprint_changes_with_content_and_version(monkeypatch):
    before = SPEC.fingerprint()

    assert replace(SPEC).fingerprint() == before
    assert replace(SPEC, seed=1).fingerprint() != before
    monkeypatch.setattr(netbo, "__version__", "9.9.9")
    assert SPEC.fingerprint() != before


def test_the_difference_names_the_first_field():
    stored = replace(SPEC, seed=3, n_init=(4,)).as_dict()

    assert SPEC.difference(SPEC.as_dict()) is None
    assert SPEC.difference(stored) == ("seed", 0, 3)
    assert SPEC.difference({**SPEC.as_dict(), "sources": 5}) == ("sources", None, 5)


def test_seeds_count_on_from_the_first():
    assert list(Spec("benchmarks", repetitions=3, seed=5).seeds) == [5, 6, 7]
