"""What keeps a node or a job from running."""

from local.batchai.records import Fault


class Failed(Exception):
    """It cannot go on; `fault` says why, in the errors of the cluster or the job."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault
