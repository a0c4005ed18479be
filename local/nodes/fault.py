"""A fault that prevents a machine or a job from running."""

from pydantic import BaseModel, ConfigDict


class Fault(BaseModel):
    """A word for programs, a sentence for people, and further details."""

    model_config = ConfigDict(frozen=True)

    code: str
    message: str
    details: dict[str, str] = {}


class Failed(Exception):
    """The machine or the job cannot continue; `fault` has the reason."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault
