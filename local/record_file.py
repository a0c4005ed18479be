"""A SQLite file of records: what an emulator remembers, so that a restart or kill -9 loses none."""

import fcntl
import logging
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from local.private_folder import private_folder

_log = logging.getLogger(__name__)


class StoreBusyError(Exception):
    """Another emulator works with the same directory."""


class StoreFullError(Exception):
    """Nothing can be written, mostly since the disk is full. Nothing has changed; it may be tried again."""


class RecordFile:
    """The file of a directory, which one process has at a time. Raises StoreBusyError."""

    def __init__(self, directory: Path) -> None:
        private_folder(directory, "state.sqlite")
        self._lock = _locked(directory)
        self._file = file = directory / "state.sqlite"
        file.touch(mode=0o600)
        self._sql = sqlite3.connect(file, isolation_level=None)
        self._sql.execute("PRAGMA journal_mode=WAL")
        self._sql.execute("PRAGMA synchronous=NORMAL")
        self._sql.execute("CREATE TABLE IF NOT EXISTS records (id TEXT PRIMARY KEY, kind TEXT, body TEXT)")
        self._is_full = False

    def read(self) -> list[tuple[str, str]]:
        """The kinds and bodies of all records."""
        return self._sql.execute("SELECT kind, body FROM records").fetchall()

    def put(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Keep these records, by id, kind and body, all or none. Raises StoreFullError."""
        self._write("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", rows)

    def remove(self, ids: Sequence[str]) -> None:
        """Delete the records of these ids, all or none. Raises StoreFullError."""
        self._write("DELETE FROM records WHERE id = ?", [(one,) for one in ids])

    def close(self) -> None:
        """Close the database, and let another process open it."""
        self._sql.close()
        self._lock.close()

    def _write(self, statement: str, rows: Sequence[tuple[str, ...]]) -> None:
        try:
            self._sql.execute("BEGIN")
            self._sql.executemany(statement, rows)
            self._sql.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if self._sql.in_transaction:
                self._sql.execute("ROLLBACK")
            full = StoreFullError(f"{self._file} cannot be written: {error}")
            if not self._is_full:
                _log.error("%s. Make room: everything waits, and then goes on by itself", full)
            self._is_full = True
            raise full from error
        if self._is_full:
            _log.warning("%s can be written again", self._file)
        self._is_full = False


def _locked(directory: Path) -> IO[bytes]:
    lock = (directory / "lock").open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise StoreBusyError(
            f"another emulator uses {directory}; stop it, or choose another --data"
        ) from None
    return lock
