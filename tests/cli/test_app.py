"""The command as people type it: help, version, errors and exit codes."""

import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import geopandas as gpd
import pytest
from click.testing import CliRunner
from shapely import LineString

import netbo
from netbo.cli import main
from netbo.cli.app import EXAMPLES, PHRASES, LazyCommand, study
from netbo.errors import ParameterError


@pytest.fixture
def failing(monkeypatch):
    """The group with a command that raises what it is given."""

    def add(error):
        @click.command("fail")
        def fail():
            raise error

        monkeypatch.setitem(main.commands, "fail", fail)

    return add


def test_help_lists_the_commands_and_the_exit_codes():
    shown = CliRunner().invoke(main, ["--help"])

    assert shown.exit_code == 0
    assert "demo" in shown.output
    for line in ("0  everything went well", "1  something unexpected happened", "2  wrong input"):
        assert line in shown.output


def test_help_of_the_demo_tells_its_defaults():
    shown = CliRunner().invoke(main, ["demo", "--help"])

    assert shown.exit_code == 0
    for part in ("--out", "out/demo", "--seed", "--quick"):
        assert part in shown.output


def test_the_module_is_the_command():
    shown = subprocess.run(
        [sys.executable, "-m", "netbo", "--version"], capture_output=True, text=True, check=True
    )

    assert shown.stdout == f"netbo, version {netbo.__version__}\n"


def loaded_by(*arguments):
    """Packages that are loaded once a command has run."""
    code = (
        "import sys; from netbo.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *arguments]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["study", "--help"], ["--version"]])
def test_the_commands_are_listed_without_any_numerics(arguments):
    loaded = loaded_by(*arguments)

    assert {"netbo", "click"} <= loaded
    assert loaded.isdisjoint({"numpy", "scipy", "numba", "matplotlib", "pandas", "optuna", "rich"})


@pytest.mark.parametrize("arguments", [["inspect"], ["study", "tell"], ["worker"]])
def test_commands_that_draw_nothing_load_nothing_that_draws(arguments):
    assert loaded_by(*arguments, "--help").isdisjoint({"matplotlib", "pandas"})


def test_a_bare_import_does_not_load_the_command():
    code = "import sys, netbo; assert not {'click', 'rich', 'pandas'} & set(sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_lists_of_commands_are_those_of_the_modules():
    """Each entry names a command of its module, and no command of these modules is left out."""
    entries = [each for group in (main, study) for each in group.commands.values()]
    lazy = [each for each in entries if isinstance(each, LazyCommand)]
    listed = [each.load() for each in lazy]
    modules = [import_module(each.module) for each in lazy]
    defined = [
        each for module in modules for each in vars(module).values() if isinstance(each, click.Command)
    ]

    assert [command.name for command in listed] == [entry.name for entry in lazy]
    assert {id(command) for command in listed} == {id(command) for command in defined}
    assert all(command.help and entry.short_help for command, entry in zip(listed, lazy, strict=True))


@pytest.mark.parametrize("arguments", [["maximize"], ["reproduce"], ["study", "export"]])
def test_tables_in_help_keep_their_lines(arguments):
    """A line for each kind of file or experiment, and no mark of the formatter."""
    shown = CliRunner().invoke(main, [*arguments, "--help"]).output

    assert "\\b" not in shown
    assert "\b" not in shown
    assert re.search(r"^  (\S+ )+ +\S.*$\n^  (\S+ )+ +\S", shown, re.MULTILINE)


def every_command():
    """Words of each command, and the command itself."""
    for words, group in (([], main), (["study"], study)):
        for name in group.commands:
            command = group.get_command(click.Context(group), name)
            if not isinstance(command, click.Group):
                yield [*words, name], command


@pytest.mark.parametrize("words", [words for words, _ in every_command()], ids=" ".join)
def test_help_fits_a_terminal_and_shows_no_mark_of_the_formatter(words):
    shown = CliRunner().invoke(main, [*words, "--help"], terminal_width=80).output

    assert not {"\\b", "\b"} & set(shown)
    assert "\\b" not in shown
    assert max(map(len, shown.splitlines())) <= 80


# Examples in help texts, run as they stand there


def examples():
    """Lines of the help texts that are commands, in an order in which they can be run."""
    shown = [CliRunner().invoke(main, [*words, "--help"]).output for words, _ in every_command()]
    found = [line for text in shown for line in re.findall(r"^ +(netbo \S.*)$", text, re.MULTILINE)]
    listed = [line for lines in EXAMPLES.values() for line in lines]
    return [*listed, *dict.fromkeys(line for line in found if line not in listed)]


LONG = ("demo", "reproduce", "compare")  # half a minute each
FILES = {
    "levels.csv": "edge,distance,value\n1,10,31\n1,50,44\n2,20,39\n",
    "spots.csv": "x,y,value\n20,1,35\n60,-2,41\n80,3,30\n",
    "closed.csv": "edge,from,to\n1,0,15\n",
    "hydrants.csv": "edge,distance\n1,5\n1,95\n2,10\n",
    "sound.py": "def level(place):\n    return 30 - abs(place.distance - 40) / 10\n",
}


@pytest.fixture
def example_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("netbo.cli.serve.Event", Ended)
    for name in ("NETBO_STORAGE", "NETBO_STUDY"):
        monkeypatch.delenv(name, raising=False)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    lines = [LineString([(0, 0), (100, 0)]), LineString([(100, 0), (100, 60)])]
    frame = gpd.GeoDataFrame({"name": ["main", "side"]}, geometry=lines, crs="EPSG:32633")
    frame.to_file("streets.gpkg")
    yield tmp_path
    sys.modules.pop("sound", None)


class Ended:
    """Stands for the event a server waits for: it starts, and ends at once."""

    def wait(self, timeout):
        return True


def run_examples(lines):
    for line in lines:
        shown = CliRunner().invoke(main, shlex.split(line)[1:])
        assert shown.exit_code == 0, f"{line}\n{shown.output}"


@pytest.mark.usefixtures("example_folder")
def test_the_examples_of_the_help_texts_run_as_they_stand_there():
    run_examples([line for line in examples() if line.split()[1] not in LONG])


@pytest.mark.slow
@pytest.mark.usefixtures("example_folder")
@pytest.mark.parametrize("line", [line for line in examples() if line.split()[1] in LONG])
def test_the_long_examples_of_the_help_texts_run_as_they_stand_there(line):
    run_examples([line])


def test_examples_belong_to_commands_that_there_are():
    names = {
        f"{entry.module.rpartition('.')[2]}.{entry.name}"
        for group in (main, study)
        for entry in group.commands.values()
        if isinstance(entry, LazyCommand)
    }

    assert set(EXAMPLES) <= names


def test_phrases_of_the_shell_stand_for_some_that_python_says():
    """One that is reworded must be reworded here, or the shell speaks Python again."""
    source = Path(netbo.__file__).parent
    said = "".join(path.read_text() for path in source.rglob("*.py") if path.parent.name != "cli")

    assert [phrase for phrase in PHRASES if phrase not in said] == []


@pytest.mark.usefixtures("example_folder")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "create streets.gpkg --preset x",
            "must be one of robust, calibrated, paper, paper-euclidean, got 'x'",
        ),
        ("create streets.gpkg --acquisition x", "max-variance, random, got 'x'"),
        ("create streets.gpkg --noise -1", "0.0 for exact values, left out to learn it, got -1.0"),
        ("create streets.gpkg --alpha 3", "got 3.0; lower alpha"),
        (
            "create streets.gpkg --noise 3 --resume",
            "was made without --noise, got --noise 3.0; give the same options to go on, or choose another ",
        ),
        ("tell 7 1", "got 7; netbo study status shows them"),
        ("tell 0 1", "netbo study correct ID VALUE replaces a value, netbo study import adds one"),
        ("ask --lease inf", "must be a positive number of seconds, got inf"),
        ("ask --crew north@1:5 --radius -1", "got -1.0; leave it out to go anywhere"),
    ],
)
def test_errors_name_commands_and_options_instead_of_python(line, message):
    for made in ("create streets.gpkg", "ask", "tell 0 3"):
        run_examples([f"netbo study {made} --name s"])
    is_new = "create" in line and "--resume" not in line
    shown = CliRunner().invoke(main, ["study", *shlex.split(line), f"--name={'t' if is_new else 's'}"])

    assert shown.exit_code == 2
    assert message in shown.stderr
    assert not re.search(r"or None|\w\(\w*\)|object", shown.stderr)


def test_wrong_input_is_one_line_and_exit_code_2(failing):
    failing(ParameterError("kappa must be positive,\n  got -1; try 1"))
    shown = CliRunner().invoke(main, ["fail"])

    assert shown.exit_code == 2
    assert shown.stderr == "error: kappa must be positive, got -1; try 1\n"
    assert shown.stdout == ""


def test_the_unexpected_names_itself_with_exit_code_1(failing):
    failing(ZeroDivisionError("division by zero"))
    shown = CliRunner().invoke(main, ["fail"])

    assert shown.exit_code == 1
    assert shown.stderr == "error: unexpected ZeroDivisionError: division by zero\n"


@pytest.mark.parametrize(("error", "code"), [(ParameterError("no"), 2), (KeyError("no"), 1)])
def test_debugging_shows_the_traceback_and_keeps_the_exit_code(failing, error, code):
    failing(error)
    shown = CliRunner().invoke(main, ["--debug", "fail"])

    assert shown.exit_code == code
    assert shown.stderr.startswith("Traceback")
    assert "in fail\n" in shown.stderr


@pytest.mark.parametrize("arguments", [["nonsense"], ["demo", "--seed", "-1"], ["demo", "--seed", "x"]])
def test_what_cannot_be_parsed_has_exit_code_2(arguments):
    shown = CliRunner().invoke(main, arguments)

    assert shown.exit_code == 2
    assert "Usage" in shown.stderr


def test_interruption_is_left_to_click(failing):
    failing(click.Abort())
    shown = CliRunner().invoke(main, ["fail"])

    assert shown.exit_code == 1
    assert "Aborted!" in shown.stderr
