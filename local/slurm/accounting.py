"""slurmdbd and its database for the mini cluster, as text: nothing here touches the machine."""

from dataclasses import dataclass
from pathlib import Path

#: Debian's packages; there is a test for accounting only where they are installed.
PACKAGES = ("mariadb-server-core", "slurm-wlm-mysql-plugin", "slurmdbd")
PROGRAMS = ("mariadbd", "slurmdbd")
_TABLES = ("mysql_system_tables", "mysql_performance_tables", "mysql_system_tables_data")
#: The database listens on the loopback interface, lives as long as the cluster, and holds only its jobs.
_PASSWORD = "slurm"  # noqa: S105


@dataclass(frozen=True)
class Accounting:
    """Where both listen, on the loopback interface."""

    slurmdbd: int
    database: int


def slurm_conf_lines(accounting: Accounting, munge: Path) -> list[str]:
    """The lines of slurm.conf for accounting. It keeps the comments of jobs, which mark our jobs."""
    return [
        "AccountingStorageType=accounting_storage/slurmdbd",
        "AccountingStorageHost=127.0.0.1",
        f"AccountingStoragePort={accounting.slurmdbd}",
        f"AccountingStoragePass={munge}",
        "AccountingStoreFlags=job_comment",
        "AccountingStorageTRES=gres/gpu",
    ]


def slurmdbd_conf(accounting: Accounting, home: Path, user: str, munge: Path) -> str:
    """The text of slurmdbd.conf, which has to stand beside slurm.conf and be its user's alone."""
    lines = [
        "AuthType=auth/munge",
        f"AuthInfo=socket={munge}",
        # slurmrestd queries the database in the name of the token's user.
        "AuthAltTypes=auth/jwt",
        f"AuthAltParameters=jwt_key={home}/jwt.key",
        "DbdHost=localhost",
        "DbdAddr=127.0.0.1",
        f"DbdPort={accounting.slurmdbd}",
        f"SlurmUser={user}",
        "StorageType=accounting_storage/mysql",
        "StorageHost=127.0.0.1",
        f"StoragePort={accounting.database}",
        "StorageUser=slurm",
        f"StoragePass={_PASSWORD}",
        "StorageLoc=slurm_acct_db",
        f"PidFile={home}/run/slurmdbd.pid",
        f"LogFile={home}/logs/slurmdbd.log",
        "",
    ]
    return "\n".join(lines)


def database(home: Path, user: str) -> tuple[str, ...]:
    """The command of mariadbd without network, for slurmdbd alone."""
    options = ("--no-defaults", f"--user={user}", f"--datadir={home}/database")
    return ("mariadbd", *options, "--innodb-buffer-pool-size=64M")


def served(accounting: Accounting, home: Path) -> tuple[str, ...]:
    """The options for serving."""
    return (
        f"--socket={home}/run/database",
        "--bind-address=127.0.0.1",
        f"--port={accounting.database}",
        "--skip-name-resolve",
        f"--pid-file={home}/run/database.pid",
        f"--init-file={home}/database.sql",
    )


def first_tables() -> str:
    """The statements of a new database, one a line, read from Debian's files."""
    files = [Path(f"/usr/share/mysql/{name}.sql").read_text(encoding="utf-8") for name in _TABLES]
    return "".join(["create database mysql;\nuse mysql;\n", *files])


def rights() -> str:
    """The statements for each start: the database of slurmdbd, and its user."""
    return (
        "create database if not exists slurm_acct_db;\n"
        f"create user if not exists 'slurm'@'127.0.0.1' identified by '{_PASSWORD}';\n"
        "grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';\n"
    )
