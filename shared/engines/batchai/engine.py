"""The Batch AI engine, over azure-mgmt-batchai 7.0.0: the service's API of 2018-05-01, or the emulator's.

`calls` sends its requests. Every error of the SDK crosses the border in `api_errors`.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime

from shared.core.abilities import Ability
from shared.core.each import each
from shared.core.engine import ClusterView, FileChunk, FilePage, Observation, Order, OutputFile, Submission
from shared.core.errors import Busy, Conflict, Misconfigured, NotFound
from shared.core.facts import NO_FACTS, ClusterFacts
from shared.core.job import JobState, Target
from shared.core.refusals import gives_none
from shared.core.relations.entrance import Entrance, node_of
from shared.core.relations.variables import Variable
from shared.engines.batchai.abilities import abilities_of, never_held, time_to_save
from shared.engines.batchai.addresses import Addresses, Listed, listed_of
from shared.engines.batchai.calls import Calls
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.code import may_lack_code
from shared.engines.batchai.download import Downloads, Refused
from shared.engines.batchai.environment import environment
from shared.engines.batchai.errors import api_errors, raise_refusal
from shared.engines.batchai.facts import view_of
from shared.engines.batchai.page import page_of
from shared.engines.batchai.request import API, submission
from shared.engines.batchai.taken_names import taken_names
from shared.engines.batchai.translation import (
    login_of,
    observation,
    output_file,
    token_of,
    understood_job,
    works,
)
from shared.engines.batchai.wait_reasons import ObservedJob, explained, youngest
from shared.engines.first_files import first_files
from shared.engines.home import in_home
from shared.engines.recent import Lately
from shared.jobspec import JobSpec, JsonObject, Problem

#: Seconds for which a view of a cluster is used; it explains what the jobs wait for.
_GOOD = 15.0


class BatchAIEngine:
    """The engine port over one workspace."""

    ending, held = staticmethod(time_to_save), staticmethod(never_held)

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._calls = workspace, Calls(workspace)
        self._downloads, self._addresses = Downloads(), Addresses()
        self._lately = Lately(self.nodes, _GOOD, time.monotonic)

    @property
    def version(self) -> str:
        """The name and version of the API that the engine uses."""
        return f"Batch AI {API}"

    def capabilities(self, cluster: str, view: ClusterView | None = None) -> Mapping[str, Ability]:
        """Everything in the format; the cluster itself shows whether its number of nodes changes."""
        return abilities_of(view)

    def allots(self, cluster: str, resources: JsonObject) -> tuple[Problem, ...]:
        """Whole nodes only: the service offered nothing smaller."""
        return gives_none("Batch AI", resources)

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """Few errors: the format is Batch AI's own. Raises Misconfigured if the service is gone."""
        if self._workspace.trouble:
            raise Misconfigured(self._workspace.trouble)
        return (*taken_names(spec), *in_home(spec))

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        """The PUT of the job."""
        return (submission(self._workspace, order),)

    def environment(self, order: Order) -> tuple[Variable, ...]:
        """The documented variables, and the job's own."""
        return environment(self._workspace, order)

    async def submit(self, order: Order) -> Observation | None:
        """PUT by name. An existing job with our token is ours; with another one it is never overwritten."""
        from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError

        async with api_errors():
            try:
                await self._calls.ensure_experiment(order.target.experiment)
            except ResourceExistsError as error:
                raise_refusal(error)
                raise Busy(f"experiment {order.target.experiment} is busy") from error
            try:
                existing = await self._calls.create(order)
            except ResourceExistsError as error:
                raise_refusal(error)
                existing = await self._calls.job(order.target)
            except ResourceNotFoundError:
                # The experiment may have been deleted since we made it; the next try makes it again.
                self._calls.forget_experiment(order.target.experiment)
                raise
        if existing is not None and token_of(existing) != order.target.token:
            raise Conflict(f"the name {order.target.name} belongs to another job on the cluster")
        current = understood_job(existing) if existing is not None else None
        current = current or Observation(JobState.QUEUED, handle=self._calls.job_id(order.target))
        return (await self._explained(order.target.cluster, [(order.document, current)]))[0]

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """One list per experiment, in pages of 1000."""
        experiments: dict[str, dict[str, Target]] = defaultdict(dict)
        for target in targets:
            experiments[target.experiment][target.name] = target
        views: dict[str, ObservedJob] = {}

        async def one(experiment: str, own: Mapping[str, Target]) -> None:
            # Page by page, so that only the needed part of each job is kept in memory.
            async for jobs in self._calls.jobs(experiment, page_of):
                for job in jobs:
                    understood = understood_job(job) if (name := job["name"]) in own else None
                    if understood is not None and token_of(job) == own[name].token:
                        if may_lack_code(understood):
                            understood = observation(await self._calls.job(own[name]))
                        views[name] = job, understood

        async with api_errors():
            await asyncio.gather(*(one(e, own) for e, own in experiments.items()))
        return dict(zip(views, await self._explained(cluster, views.values()), strict=True))

    async def at_work(self, cluster: str) -> Mapping[str, str]:
        """One list of experiments, and one of the jobs of each."""
        mine = self._workspace.cluster_id(cluster).lower()
        tokens: dict[str, str] = {}
        async with api_errors():
            experiments = [e async for page in self._calls.experiments() for e in page]
            for experiment in experiments:
                async for jobs in self._calls.jobs(experiment["name"]):
                    tokens |= {job["name"]: token for job in jobs if (token := works(job, mine))}
        return tokens

    async def see(self, target: Target) -> Observation:
        """The job by a GET of its own: a list may be old."""
        async with api_errors():
            job = await self._calls.job(target)
            if token_of(job) != target.token:
                raise NotFound(f"the name {target.name} belongs to another job on the cluster")
            (explained_one,) = await self._explained(target.cluster, [(job, observation(job))])
        return explained_one

    async def cancel(self, target: Target) -> None:
        """POST terminate; succeeds also if the job has ended or is unknown."""
        await self._if_ours(target, self._calls.terminate)

    async def forget(self, cluster: str, targets: Sequence[Target]) -> frozenset[str]:
        """DELETE each job that is ours. Its files are in its share, and stay there."""
        await each(targets, lambda target: self._if_ours(target, self._calls.delete))
        return frozenset()

    async def _if_ours(self, target: Target, act: Callable[[Target], Awaitable[None]]) -> None:
        """Do this to the job of that name, unless it is another one, or unknown."""
        from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError

        async with api_errors():
            try:
                if token_of(await self._calls.job(target)) == target.token:
                    await act(target)
            except (ResourceNotFoundError, ResourceExistsError):
                return  # it has ended, is deleted, or is being deleted

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        """The entries of a folder, by listOutputFiles."""
        return await first_files(self, target, directory, path)

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """A page of listOutputFiles. Raises NotFound for a folder that does not exist."""
        async with api_errors():
            listed = await self._calls.files(target, directory, path, after)
        self._addresses.listed(_folder(target, directory, "" if path == "." else path))
        return FilePage(tuple(map(output_file, listed.entries)), listed.next)

    async def read(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """A ranged GET from the file's download address, which is kept while it is valid."""
        above, _, name = path.rpartition("/")
        folder = _folder(target, directory, above)

        async def list_folder(after: str) -> Listed:
            try:
                return listed_of(*await self._calls.files(target, directory, above or ".", after))
            except NotFound:
                return Listed({})

        async with api_errors():
            url = await self._addresses.find(folder, name, list_folder, f"{directory}/{path}")
            try:
                return await self._downloads.read(url, offset, limit)
            except Refused:
                self._addresses.drop(folder, name)
                raise

    async def entrance(self, target: Target, spec: JsonObject, rank: int) -> Entrance:
        """The address at which the node of a rank answers ssh, and the cluster's administrator."""
        async with api_errors():
            resource = (await self._calls.cluster(target.cluster))["properties"]
            nodes = await self._calls.logins(target)
        return login_of(resource, nodes, node_of(spec, rank), target)

    async def nodes(self, cluster: str) -> ClusterView:
        """The cluster with its counts of nodes, by a GET of its own."""
        async with api_errors():
            return view_of(cluster, (await self._calls.cluster(cluster))["properties"])

    async def facts(self, cluster: str, resources: JsonObject) -> ClusterFacts:
        """The facts in its resource, at most some seconds old."""
        view = await self._lately.view(cluster)
        return view.facts if view else NO_FACTS

    async def _explained(self, cluster: str, jobs: Collection[ObservedJob]) -> list[Observation]:
        """The observations; queued jobs with reasons, from a view of the cluster taken afterwards."""
        age = youngest(jobs, datetime.now(UTC))
        return explained(jobs, None if age is None else await self._lately.now(cluster, age))

    async def close(self) -> None:
        """Close the connections to the service and to storage."""
        await self._downloads.close()
        await self._calls.close()


def _folder(target: Target, directory: str, path: str) -> str:
    return f"{target.experiment}/{target.name}/{directory}/{path}"
