"""The real dispatcher and the real Slurm engine, over HTTP to a model of Slurm, with faults on every side."""

from __future__ import annotations

from collections.abc import Mapping

from shared.core.job import Job
from shared.engines.proofs import Proofs
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.wire.key import SigningKey
from tests.crash.chaos import Fault
from tests.crash.engine_run import EngineRun
from tests.crash.slurm.slurmctld import OURS, Slurmctld
from tests.crash.slurm.slurmrestd import OLD, Slurmrestd, Wire
from tests.crash.stories import Story


class SlurmRun(EngineRun[Slurmrestd]):
    """One world whose cluster is the model."""

    def __init__(self, engine: SlurmEngine, server: Slurmrestd, plan: Mapping[int, Fault]) -> None:
        super().__init__(engine, server, plan)
        #: whether another user copies the name and the comment of each of our jobs
        self.imitated = False
        #: steps that every job's first attempt lives on after its node is given up; None: no node is given up
        self.lives: int | None = None

    def advance(self) -> None:
        """Jobs move on, and some time later the controller saves its state."""
        if self.imitated:
            self._imitate()
        if self.lives is not None:
            self._give_up(self.lives)
        super().advance()
        self.wire.model.save()

    def _imitate(self) -> None:
        model = self.wire.model
        copied = {job.name for job in model.jobs.values() if job.user != OURS}
        for job in [job for job in model.jobs.values() if job.name not in copied]:
            model.submit(job.name, job.comment, {}, held=False, user="eve")

    def _give_up(self, lives: int) -> None:
        model = self.wire.model
        for job in list(model.jobs.values()):
            if job.state == "RUNNING" and job.user == OURS and job.name.endswith("-1"):
                model.give_up(job.id, lives)

    def copies(self) -> int:
        """One more if nodes are given up."""
        return 1 if self.lives is None else 2

    async def _wake(self) -> None:
        await super()._wake()
        await self.wire.happen_late()

    def says_twice(self, job: Job) -> bool:
        """Never: a waiting job that Slurm forgot is recorded as missing, and as submitted again."""
        return False


async def play(
    story: Story,
    plan: Mapping[int, Fault] | None = None,
    wire: Mapping[int, Wire] | None = None,
    *,
    version: str = OLD,
    eager: bool = False,
    fenced: bool = True,
    forgets: float = 300.0,
    wake_after: int = 3,
    imitated: bool = False,
    lives: int | None = None,
    unbooted: int = 0,
) -> SlurmRun:
    """Run a story to its end, with faults of our own processes (`plan`) and of the wire."""
    model = Slurmctld(lambda: 0.0, forgets=forgets, eager=eager, fenced=fenced, unbooted=unbooted)
    server = Slurmrestd(model, wire, version=version)
    async with server.running() as url:
        mounts = {"acct/scripts": "/shared/scripts"}
        cluster = SlurmCluster("dev", url=url, user="u", shared="/shared", gpus=1, mounts=mounts)
        keys, proofs = {"dev": SigningKey(b"k" * 32)}, Proofs(("the deployment's",))
        engine = SlurmEngine({"dev": cluster}, keys, clock=model.now, proofs=proofs)
        try:
            run = SlurmRun(engine, server, plan or {})
            run.imitated, run.lives = imitated, lives
            await run.play(story, wake_after)
        finally:
            await engine.close()
    return run
