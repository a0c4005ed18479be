"""What keeps a machine or a job from running."""

from pydantic import BaseModel, ConfigDict


class Fault(BaseModel):
    """A word for programs, a sentence for people, and what else is to be known."""

    model_config = ConfigDict(frozen=True)

    code: str
    message: str
    details: dict[str, str] = {}


class Failed(Exception):
    """It cannot go on; `fault` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault
