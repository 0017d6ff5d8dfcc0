"""Passwords are in no message, log or repr, however a URL spells them and whoever speaks of it."""

import logging
import traceback

import pytest

from netbo.errors import BaseError
from netbo.studies import Study
from netbo.studies.storages import without_secrets
from support.studies import GRAPH, JumpingClock

SECRET = "Kr0kodil"
NOWHERE = "127.0.0.1:9"  # nobody listens there
URLS = [
    f"postgresql://bob:{SECRET}@{NOWHERE}/db",
    f"postgresql+psycopg://bob:{SECRET}@{NOWHERE}/db",
    f"postgresql://{NOWHERE}/db?user=bob&password={SECRET}",
    f"postgresql://bob@{NOWHERE}/db?PASSWORD={SECRET}",
    f"postgresql://bob:ab@{SECRET}@{NOWHERE}/db",
    f"postgresql://bob:{SECRET}@ab@{NOWHERE}/db",
    f"postgresql://bob:{SECRET}/x@{NOWHERE}/db",
    f"postgresql://bob:a%40{SECRET}@{NOWHERE}/db",
    f"postgresql://bob:{SECRET}@{NOWHERE}x/db",
    f"postgresql://bob:{SECRET}:9x@h/db",
    f"postgresql://:{SECRET}@{NOWHERE}/db?sslpassword={SECRET}",
    f"postgresql:/bob:{SECRET}@{NOWHERE}/db",
    f"mysql://bob:{SECRET}@{NOWHERE}/db",
    f"redis://:{SECRET}@{NOWHERE}",
    f"grpc://bob:{SECRET}@h",
    f"grpc://bob:{SECRET}@{NOWHERE}",
    f"grpc://{NOWHERE}?token={SECRET}",
    f"host=h user=bob password={SECRET}",
    f"host=h password='{SECRET} x'",
]


@pytest.mark.parametrize("url", URLS)
def test_no_message_holds_a_password(url, caplog):
    """The whole traceback too: the driver's own words would be in it."""
    with pytest.raises(BaseError) as caught, caplog.at_level(logging.DEBUG):
        Study.load(url)
    said = "".join(traceback.format_exception(caught.value))

    assert SECRET not in str(caught.value)
    assert SECRET not in said.replace(f'Study.load("{url}")', "")
    assert SECRET not in caplog.text
    assert "***" in str(caught.value)


@pytest.mark.parametrize("url", URLS)
def test_texts_of_others_are_masked(url):
    for said in (f"cannot connect to {url}.", f'dsn "{url}" is bad', f"({url})"):
        assert SECRET not in without_secrets(said, url)


def test_what_is_no_secret_stays():
    said = "postgresql://bob@h:5432/db is away: connection refused by bob@h; pwd was not asked for"

    assert without_secrets(said, "postgresql://bob@h:5432/db") == said
    assert without_secrets("walk.journal is damaged at line 3") == "walk.journal is damaged at line 3"


def test_a_password_in_the_query_is_one_that_sqlalchemy_hides():
    from sqlalchemy import make_url

    from netbo.studies.storages import _with_account

    made = make_url(_with_account(f"postgresql+psycopg://h/db?user=bob&password={SECRET}&sslmode=require"))
    raw = make_url(_with_account(f"postgresql+psycopg://bob:a@{SECRET}@h/db"))

    assert (made.username, made.password, dict(made.query)) == ("bob", SECRET, {"sslmode": "require"})
    assert SECRET not in repr(made)
    assert (raw.host, raw.password) == ("h", f"a@{SECRET}")


def test_a_storage_that_is_away_is_logged_without_its_password(caplog):
    from optuna.exceptions import StorageInternalError

    from netbo.studies.resilience import retry_while_unavailable

    answers = [StorageInternalError(f"no answer of postgresql://bob:{SECRET}@h/db"), None]

    def action():
        if (error := answers.pop(0)) is not None:
            raise error

    retry_while_unavailable(action, JumpingClock(), lambda: False)

    assert "the storage is away" in caplog.text
    assert SECRET not in caplog.text


def test_a_study_shows_no_password(tmp_path):
    study = Study.create(GRAPH, name="walk", storage=f"sqlite:///{tmp_path / 'walk.db'}", noise=0.01)

    assert "sqlite" not in repr(study) + repr(study.storage)
