"""The command as people type it: help, version, errors and exit codes."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import netbo
from netbo.cli import main
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


def test_the_command_does_not_load_matplotlib_to_explain_itself():
    code = (
        "import sys, netbo; assert not {'click', 'rich', 'pandas'} & set(sys.modules); "
        "from netbo.cli import main; main(['--help'], standalone_mode=False); "
        "assert 'matplotlib' not in sys.modules"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


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
