"""Where the runs of one cluster's attempts keep their records and outputs. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from shared.core.job import Target

#: The folder with what jobs save, in the directory that nodes share.
SAVED = "saved"


@dataclass(frozen=True)
class Layout:
    """The directories of one cluster, as paths of its nodes."""

    engine: str
    cluster: str
    #: the directory that all nodes share
    shared: str

    def attempt(self, target: Target) -> str:
        """The directory of an attempt: its claim, and the records of its runs."""
        return f"{self.shared.rstrip('/')}/attempts/{target.experiment}/{target.name}"

    def saved(self, job_id: str) -> str:
        """The directory of a job, for all of its attempts: $SLIPWAY_SAVED."""
        return f"{self.shared.rstrip('/')}/{SAVED}/{job_id}"

    def segment(self, target: Target) -> str:
        """The path between a path prefix of the job and the folder of one run."""
        path = f"{self.engine}/{self.cluster}/experiments/{target.experiment}"
        return f"{path}/jobs/{target.name}"
