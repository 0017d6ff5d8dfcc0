"""The command that serves a page: what it prints, what it refuses, and how it ends."""

import os
import re
import signal
import ssl
import subprocess
import sys

import httpx
import pytest
from click.testing import CliRunner

from netbo.cli import main
from support.pages import create


def start(folder, *options):
    code = "from netbo.cli import main; main()"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", code, "study", "serve", "--port", "0", *options], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip


def links(process):
    """What is printed until the end of the links, and the links by who gets them."""
    said, found = "", {}
    for line in process.stdout:
        said += line
        if match := re.match(r"(manager|reader|crew (\w+)): (http\S+)", line):
            found[match[2] or match[1]] = match[3]
        if line.startswith("Make more links"):
            return said, found
    raise AssertionError(said + process.stderr.read())


def end(process):
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=300)[1]
    return process.returncode, error


def state(link, **options):
    base, _, token = link.partition("/#")
    headers = {"authorization": f"Bearer {token}"}
    return httpx.get(f"{base}/api/v1/state", headers=headers, timeout=300, **options).json()


def test_it_serves_a_study_prints_links_and_ends_with_ctrl_c(tmp_path):
    create(tmp_path)
    process = start(tmp_path, "--name", "leak", "--crew", "north")
    said, found = links(process)
    seen = state(found["north"])
    code, error = end(process)

    assert found.keys() == {"manager", "north", "reader"}
    assert "█" in said or "▄" in said  # the code for the phone
    assert seen["me"] == {"role": "crew", "name": "north"}
    assert code == 0, error
    assert "every value is in the study" in error
    assert (tmp_path / "leak.page-key").stat().st_mode & 0o077 == 0


def test_the_demo_needs_no_study_and_leaves_nothing_behind(tmp_path):
    process = start(tmp_path, "--demo")
    _, found = links(process)
    seen = state(found["manager"])
    code, error = end(process)

    assert seen["study"]["title"] == "Demo: a leak in a small town"
    assert code == 0, error
    assert list(tmp_path.iterdir()) == []


def test_a_certificate_makes_it_https(tmp_path):
    import trustme

    authority = trustme.CA()
    authority.issue_cert("localhost", "127.0.0.1").private_key_and_cert_chain_pem.write_to_path(
        tmp_path / "both.pem"
    )
    create(tmp_path)
    both = str(tmp_path / "both.pem")
    process = start(
        tmp_path, "--name", "leak", "--certificate", both, "--private-key", both, "--host", "0.0.0.0"
    )
    _, found = links(process)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    local = found["manager"].replace("0.0.0.0", "127.0.0.1")
    seen = state(local, verify=trusting)
    base, _, token = local.partition("/#")
    cookie = httpx.post(
        f"{base}/api/v1/session", json={"token": token}, verify=trusting, timeout=300
    ).headers["set-cookie"]
    end(process)

    assert local.startswith("https://")
    assert seen["me"]["role"] == "manager"
    assert "Secure" in cookie


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "needs --certificate and --private-key"),
        (["--certificate", "a.pem"], "needs its key"),
        (["--background", "ftp://tiles/{z}/{x}/{y}.png"], "a background must be https://"),
        (["--background", "https://tiles;script-src//{z}"], "a background must be https://"),
        (["--host", "256.1.1.1", "--insecure"], "cannot be served at 256.1.1.1"),
    ],
)
def test_what_is_not_safe_or_not_there_is_refused(tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    create(tmp_path)
    shown = CliRunner().invoke(main, ["study", "serve", "--name", "leak", *options])

    assert shown.exit_code == 2
    assert words in " ".join(shown.stderr.split())
