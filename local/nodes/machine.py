"""One node of a cluster: its address, its directories, and those of a job on it. Pure."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Directories:
    """The directories of one machine, and of one job on it."""

    root: Path
    names: tuple[str, ...] = ()

    @property
    def mounts(self) -> Path:
        """Where the cluster's volumes are mounted."""
        return self.root / "mounts"

    @property
    def jobs(self) -> Path:
        """Where the jobs have their directories."""
        return self.root / "jobs"

    @property
    def job(self) -> Path:
        """The directory of the job."""
        return self.jobs.joinpath(*self.names)

    @property
    def job_mounts(self) -> Path:
        """Where the job's own volumes are mounted."""
        return self.job / "mounts"

    @property
    def work(self) -> Path:
        """The working directory of the job's processes."""
        return self.job / "wd"

    @property
    def shared(self) -> Path:
        """A directory that all machines of the job see."""
        return self.job / "shared"

    @property
    def hosts(self) -> Path:
        """The host file for MPI."""
        return self.job / "hostfile"


@dataclass(frozen=True)
class Machine:
    """A node by its id. `number` is unique on this machine; `gpus` are the numbers of its GPUs."""

    id: str
    number: int
    gpus: tuple[int, ...] = ()

    @property
    def address(self) -> str:
        """An address of the loopback network, so that scripts can bind and connect."""
        return address(self.number)

    def directories(self, data: Path, names: tuple[str, ...] = ()) -> Directories:
        """The node's directories below `data`; `names` are the folders of a job."""
        return Directories(root(data, self.number), names)


def root(data: Path, number: int) -> Path:
    """The directory of the machine with that number."""
    return data / "nodes" / str(number)


def address(number: int) -> str:
    """The address of the machine with that number."""
    return f"127.0.{1 + (number - 1) // 254}.{1 + (number - 1) % 254}"
