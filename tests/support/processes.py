"""The command in processes of its own, for tests that kill them."""

import signal
import subprocess
import sys
import time


def start(*arguments):
    """The command, started; it hears Ctrl-C even if the tests run behind a shell that has it ignored."""
    return subprocess.Popen(
        [sys.executable, "-m", "netbo", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def await_file(path, process):
    """Wait until a process has made a file."""
    deadline = time.monotonic() + 120.0
    while not path.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert path.exists()
