"""Storages of a study: a journal file, a database or gRPC proxy by URL, or an open Optuna storage."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, unquote_plus

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.storages import (
    BaseStorage,
    GrpcStorageProxy,
    InMemoryStorage,
    JournalStorage,
    RDBStorage,
    get_storage,
)
from optuna.storages._cached_storage import _CachedStorage

from netbo.checks import require_text
from netbo.errors import StudyError, StudyFileError
from netbo.optional import require
from netbo.studies.journal import JournalFile, open_journal

if TYPE_CHECKING:
    from sqlalchemy.orm import ORMExecuteState

JOURNAL_SUFFIX = ".journal"
GRPC, POSTGRES = "grpc://", "postgresql://"
PSYCOPG = "postgresql+psycopg://"  # what plain postgresql:// means, whichever SQLAlchemy is there
BUSY_SECONDS = 60.0  # SQLite waits for other writers; Optuna's default of 5 is short for many workers
MEMORY = (None, "", ":memory:")  # databases without a file

_INHERITED: list[BaseStorage] = []  # of the parent: never closed, since a child would end its transactions

StorageLike = str | os.PathLike[str] | BaseStorage


def default_journal(name: str) -> Path:
    """Path of the default storage: NAME.journal in the working directory."""
    if not name or name in {".", ".."} or any(mark in name for mark in "/\\:\0"):
        raise StudyError(
            f"a study without a storage needs a name that can name a file, got {name!r}; "
            "pass storage= a path or a URL as well"
        )
    return Path(f"{name}{JOURNAL_SUFFIX}")


def open_storage(storage: StorageLike, *, existing: bool) -> BaseStorage:
    """Open a storage; with `existing` a missing file is an error instead of a new one."""
    if isinstance(storage, BaseStorage):
        if isinstance(storage, RDBStorage):
            lock_before_reading(storage)
        return get_storage(storage)
    if not isinstance(storage, str | os.PathLike):
        raise StudyError(
            f"a storage must be a path, a URL or a storage of Optuna's, got {type(storage).__name__}; "
            "'NAME.journal' is a journal file, 'sqlite:///FILE' a database"
        )
    text = require_text("storage", os.fspath(storage), "rename it", error=StudyError)
    if "://" not in text:
        path = Path(text)
        _require_file(path, existing)
        return open_journal(path)
    if text.startswith(GRPC):
        return _open_grpc(text)
    return _open_database(text, existing)


def reopened(storage: BaseStorage) -> BaseStorage:
    """The storage opened anew for a process that was forked: it shares no connection and no writer's name."""
    bare = uncached(storage)
    if isinstance(bare, GrpcStorageProxy):
        raise StudyError(
            "a study behind a gRPC proxy must be loaded in the process that uses it, got one forked from "
            "another: gRPC's threads stay behind; start processes with the method 'spawn' or 'forkserver'"
        )
    _INHERITED.append(storage)
    if isinstance(bare, JournalStorage) and isinstance(bare._backend, JournalFile):  # noqa: SLF001
        return open_journal(bare._backend.path)  # noqa: SLF001
    return open_storage(copy(bare), existing=True)  # Optuna's copies, like its pickles, connect anew


def uncached(storage: BaseStorage) -> BaseStorage:
    """The storage as another process can open it; one in the memory of this process is refused."""
    bare = storage._backend if isinstance(storage, _CachedStorage) else storage  # noqa: SLF001
    is_memory = isinstance(bare, RDBStorage) and bare.engine.url.database in MEMORY
    if isinstance(bare, InMemoryStorage) or is_memory:
        raise StudyError(
            "a study in memory belongs to the process that made it, got another: what it tells would be "
            "lost; keep the study in a file, storage='NAME.journal'"
        )
    return bare


def _open_grpc(url: str) -> BaseStorage:
    host, _, port = url.removeprefix(GRPC).rstrip("/").rpartition(":")
    if not host or not port.isdigit() or "@" in host:
        raise StudyError(f"a gRPC proxy is named grpc://HOST:PORT, got {without_secrets(url, url)!r}")
    require("grpc", extra="grpc", purpose="a study behind a gRPC proxy")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ExperimentalWarning)  # the proxy is what was asked for
        return GrpcStorageProxy(host=host, port=int(port))


def _open_database(url: str, existing: bool) -> BaseStorage:
    scheme = url.partition("://")[0].partition("+")[0]
    if scheme not in {"sqlite", "postgresql", "mysql"}:
        raise StudyError(
            "a storage's URL must begin with sqlite, postgresql, mysql or grpc, got "
            f"{without_secrets(url, url)!r}; a path without :// is a journal file"
        )
    options: dict[str, Any] = {"pool_pre_ping": True}  # connections that idled for hours may be gone
    target = url
    if url.startswith(POSTGRES):
        require("psycopg", extra="postgres", purpose="a study in PostgreSQL")
        target = PSYCOPG + url.removeprefix(POSTGRES)
    try:
        if scheme != "sqlite":
            target = _with_account(target)
        else:
            options, target = {"connect_args": {"timeout": BUSY_SECONDS}}, absolute_url(url)
            path = database_file(url)
            _require_file(path or Path(), existing and path is not None)
        with without_optuna_info():
            database = RDBStorage(target, engine_kwargs=options)
    except StudyFileError:
        raise
    except Exception as cause:
        said = next(iter(str(cause).splitlines()), "")
        raise StudyFileError(
            f"the storage {without_secrets(url, url)} cannot be opened: {type(cause).__name__}: "
            f"{without_secrets(said, url)}; nothing was changed"
        ) from None  # the driver's own words may hold the password
    lock_before_reading(database)
    return get_storage(database)


def database_file(url: str) -> Path | None:
    """File of a SQLite database; None if it is in memory or named by a file: URI."""
    from sqlalchemy import make_url  # noqa: PLC0415 - a journal needs no database

    name = make_url(url).database
    return None if name in MEMORY or name is None or name.startswith("file:") else Path(name)


def absolute_url(url: str) -> str:
    """URL with an absolute path, since an objective may change the working directory."""
    from sqlalchemy import make_url  # noqa: PLC0415

    path = database_file(url)
    if path is None:
        return url
    return make_url(url).set(database=str(path.absolute())).render_as_string(hide_password=False)


def lock_before_reading(storage: RDBStorage) -> None:
    """Take SQLite's write lock before a transaction reads a row "for update".

    Optuna relies on such reads when it hands out a trial or finishes it, and SQLite ignores them: two workers
    that read at once would both take one trial, or one would overwrite what the other told.
    """
    from sqlalchemy import event  # noqa: PLC0415

    if storage.engine.name == "sqlite":
        event.listen(storage.scoped_session.session_factory, "do_orm_execute", _begin_immediate)


def _begin_immediate(state: ORMExecuteState) -> None:
    if getattr(state.statement, "_for_update_arg", None) is None:
        return
    connection = state.session.connection()
    driver = connection.connection.dbapi_connection
    if driver is not None and not driver.in_transaction:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def without_optuna_info() -> Iterator[None]:
    """Silence Optuna's log below the level of warnings."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(max(before, logging.WARNING))
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _require_file(path: Path, existing: bool) -> None:
    if existing and not path.exists():
        raise StudyFileError(
            f"there is no study file {without_secrets(str(path))}; make it with Study.create(...)"
        )


# Secrets: a password is in no message, whoever wrote it and however it is spelled.

HIDDEN = "***"
_SECRET_NAMES = "password|passwd|passphrase|pwd|sslpassword|secret|token|api_?key|access_?key"
_ACCOUNT = re.compile(r"([a-z][a-z0-9+.-]*:/+)([^\s'\"]*)@", re.IGNORECASE)  # to the last @, if one is raw
_PARAMETER = re.compile(rf"\b((?:{_SECRET_NAMES})\s*=\s*)('[^']*'|\"[^\"]*\"|[^&\s;,'\")]+)", re.IGNORECASE)
_BREAKS = re.compile(r"[@:/?#&=\s]")  # where a parser may cut a password that is not encoded
SHORT = 3  # a secret of fewer letters is hidden where it stands alone


def without_secrets(text: str, url: str = "") -> str:
    """The text with passwords hidden: in URLs and settings, and those of `url` wherever they stand.

    >>> without_secrets("postgresql://bob:pass@h/db?sslpassword=x refused")
    'postgresql://bob:***@h/db?sslpassword=*** refused'
    >>> without_secrets("no route to word@h", "postgresql://bob:pass@word@h/db")
    'no route to ***@h'
    """
    text = _ACCOUNT.sub(_hide_password, text)
    text = _PARAMETER.sub(rf"\1{HIDDEN}", text)
    for secret in sorted(_secrets_of(url), key=len, reverse=True):
        pattern = re.escape(secret) if len(secret) >= SHORT else rf"(?<!\w){re.escape(secret)}(?!\w)"
        text = re.sub(pattern, HIDDEN, text)
    return text


def _hide_password(found: re.Match[str]) -> str:
    user, colon, _ = found.group(2).partition(":")
    return f"{found.group(1)}{user}{colon}{HIDDEN if colon else ''}@"


def _secrets_of(url: str) -> set[str]:
    """Passwords of a URL in every spelling, and the parts that a parser may make of them."""
    rest = url.partition("://")[2]
    account, _, _ = rest.rpartition("@")
    raw = [account.partition(":")[2], *(value for _, value in _PARAMETER.findall(url))]
    spelled = {
        spelling
        for each in raw
        for spelling in (each, unquote(each), unquote_plus(each), quote(each, safe=""))
    }
    parts = {part for each in spelled for part in _BREAKS.split(each) if len(part) >= SHORT}
    return {each for each in spelled | parts if each and each != HIDDEN}


def _with_account(url: str) -> str:
    """The URL with user and password before the host, where SQLAlchemy hides them, and no raw @ in them."""
    from sqlalchemy import make_url  # noqa: PLC0415

    scheme, _, rest = url.partition("://")
    account, at, place = rest.rpartition("@")
    if at and "@" in account:
        user, _, password = account.partition(":")
        account = f"{user}:{password.replace('@', '%40')}"
    made = make_url(f"{scheme}://{account}{at}{place}")
    query: dict[str, Any] = dict(made.query)
    named = {"username": query.pop("user", made.username), "password": query.pop("password", made.password)}
    if any(isinstance(each, tuple) for each in named.values()):
        return url  # named twice: the driver will say so
    return made.set(**named, query=query).render_as_string(hide_password=False)
