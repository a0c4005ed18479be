"""A run of the dispatcher over a real engine, whose cluster is a model behind a wire; both have faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar

from shared.core.engine import Engine
from shared.core.job import Job, JobState
from tests.crash.chaos import Fault
from tests.crash.harness import Run
from tests.crash.invariants.ran_jobs import wrongly_run
from tests.crash.stories import Story


class ModelWire(Protocol):
    """The server that an engine calls."""

    model: Any
    #: requests that are carried out later
    late: list[Any]


W = TypeVar("W", bound=ModelWire)


class EngineRun(Run, Generic[W]):
    """One world whose cluster is the model."""

    def __init__(self, engine: Engine, wire: W, plan: Mapping[int, Fault]) -> None:
        super().__init__(plan, engine=engine)
        self.wire = wire
        wire.model.clock = lambda: self.world.clock().timestamp()
        self.cancels = False

    def advance(self) -> None:
        """Running jobs move on."""
        self.wire.model.advance(lambda name: self.preempts and name.endswith("-1"))

    def late(self) -> bool:
        """Includes requests on the wire."""
        return super().late() or bool(self.wire.late)

    def check_cluster(self, jobs: list[Job], started: int | None) -> list[str]:
        """No job ran twice at once or finished twice; every job that was not cancelled finished."""
        return wrongly_run(self.wire.model, jobs, started=started, rejects=self.rejects, cancels=self.cancels)

    def is_archived(self) -> bool:
        """Whether all jobs are archived, in a story about that; then they must have left nothing."""
        return self.archives and all(job.archived for job in self.jobs())

    def copies(self) -> int:
        """The most runs that nodes may begin for each run that a story counts."""
        return 1

    async def play(self, story: Story, wake_after: int) -> None:
        """Run the story to its end, and check the result."""
        self.wake_after = wake_after
        self.cancels = "cancel" in story.name
        story.begin(self)
        await self.until_quiet()
        started = None if story.started is None else story.started * self.copies()
        self.check(accepted=story.accepted, started=started)

    def deviations(self) -> list[str]:
        """Violations, second attempts, and ends that differ from the story's."""
        end = JobState.CANCELLED if self.cancels else JobState.SUCCEEDED
        others = [f"{job.id}: {job.attempt}, {job.state}" for job in self.jobs() if job.attempt > 1]
        ends = [f"{job.id}: {job.state}" for job in self.jobs() if job.state is not end]
        return [*self.violations, *others, *ends]
