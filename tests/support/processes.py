"""The command in processes of its own, for tests that kill them."""

import subprocess
import sys
import time

COMMAND = """
import signal
from netbo.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by what a shell starts with &
main(prog_name="netbo")
"""


def start(*arguments):
    """The command, started; it hears Ctrl-C even if the tests run behind a shell that has it ignored."""
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def await_file(path, process):
    """Wait until a process has made a file."""
    deadline = time.monotonic() + 120.0
    while not path.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert path.exists()
