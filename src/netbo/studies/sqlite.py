"""SQLite as a storage for several workers: what is read to be changed is locked first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from optuna.storages import RDBStorage

if TYPE_CHECKING:
    from sqlalchemy.orm import ORMExecuteState

MEMORY = (None, "", ":memory:")  # databases without a file


def database_file(url: str) -> Path | None:
    """The file of a database, None if it has none or is named by a URI of its own."""
    from sqlalchemy import make_url  # noqa: PLC0415 - a journal needs no database

    name = make_url(url).database
    return None if name in MEMORY or name is None or name.startswith("file:") else Path(name)


def absolute_url(url: str) -> str:
    """The same database wherever the process goes: an objective may change the folder."""
    from sqlalchemy import make_url  # noqa: PLC0415

    path = database_file(url)
    if path is None:
        return url
    return make_url(url).set(database=str(path.absolute())).render_as_string(hide_password=False)


def lock_before_reading(storage: RDBStorage) -> None:
    """Let a transaction that reads a row "for update" begin with SQLite's write lock.

    Optuna relies on such reads when it hands out a trial or finishes it, and SQLite ignores them: two workers
    that read at once would both take one trial, or one would overwrite what the other told.
    """
    from sqlalchemy import event  # noqa: PLC0415

    if storage.engine.name == "sqlite":
        event.listen(storage.scoped_session.session_factory, "do_orm_execute", _lock)


def _lock(state: ORMExecuteState) -> None:
    if getattr(state.statement, "_for_update_arg", None) is None:
        return
    connection = state.session.connection()
    driver = connection.connection.dbapi_connection
    if driver is not None and not driver.in_transaction:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
