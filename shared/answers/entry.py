"""Where a process of a running job is: coordinates for a person's own tool."""

from __future__ import annotations

from shared.answers.base import Answer, Time


class KubectlPlace(Answer):
    """A container, for `kubectl` with the person's own rights."""

    server: str | None = None
    """The address of the API server; missing if the app reaches it by one that only pods have."""
    namespace: str
    pod: str
    container: str


class SrunPlace(Answer):
    """A node of a job, for `srun --overlap` as the user of the jobs."""

    job: str
    """Its number, for `--jobid`."""
    node: str
    login: str | None = None
    """The host on which `srun` runs; missing if it is on the person's own machine."""
    user: str
    """The user of the jobs: the engine refuses others."""
    certificate: str | None = None
    """For the `publicKey` of the request: it lets its holder into this rank alone, by the login node."""
    expires: Time | None = None
    """When no session begins with it any more; one that has begun goes on."""


class SshPlace(Answer):
    """A node that answers ssh."""

    host: str
    port: int
    user: str


class TaskPlace(Answer):
    """A task of `az batch` on a node."""

    pool: str
    node: str
    job: str
    task: str
    directory: str
    """Of the task, below `AZ_BATCH_NODE_ROOT_DIR`."""


class JobEntry(Answer):
    """Where one rank of a job runs now: one of the places. It has no command: the client makes that."""

    job: str
    attempt: int
    rank: int
    ranks: int
    """How many processes the job starts by itself; `rank` counts from 0."""
    kubectl: KubectlPlace | None = None
    srun: SrunPlace | None = None
    ssh: SshPlace | None = None
    task: TaskPlace | None = None
    held_until: Time | None = None
    """Of a job whose command has failed: when its nodes are given back, unless they are released before."""
    reason: str | None = None
    """Why `slipway shell` does not go there by itself."""
