"""One suite for the engine port: memory, emulators of Batch AI and Azure Batch, Slurm, and Kubernetes.

On Azure Batch twice: with a directory that the nodes share, and with a container of blobs instead. On
Kubernetes twice: as of 1.36, and as of 1.20, which lacks half of what the engine asks for. The second of each
is left to `make test-all`.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio

from local.azurite import Azurite
from local.kubernetes import Kubernetes, find_programs, kubernetes
from local.kubernetes import Options as KubernetesOptions
from local.patience import Patience
from local.process import child
from local.slurm import Options, Slurm, missing_programs, slurm
from shared.core.abilities import ABILITIES
from shared.core.engine import Earlier, Engine, Observation, Order, room
from shared.core.errors import Conflict, Misconfigured, NotAFile, NotFound, Rejected, Transient
from shared.core.facts import NO_FACTS, ClusterFacts
from shared.core.job import JobState, Reason, Target
from shared.core.relations.before import before
from shared.core.relations.before import variables as before_variables
from shared.core.relations.hold import Held
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.engine import BatchAIEngine
from shared.engines.kubernetes.wire.version import version_of
from shared.settings import Settings
from slipway.stack.provision import Plan, provision
from tests import reach
from tests.acceptance.kubernetes.on_cluster import engine_on as engine_on_cluster
from tests.contract.azurebatch import on_batch
from tests.contract.azurebatch.storage import container, signature
from tests.contract.idle import IDLES, IdleWorld
from tests.contract.kubernetes import on_kubernetes
from tests.contract.kubernetes.foreign import KUBECONFIG, UNSEEN, Foreign, foreign
from tests.contract.slurm.on_slurm import PATIENCE, engine_on
from tests.doubles.archives import COMMAND, FOLDER, PRINTED, file, packed
from tests.doubles.code_storage import EXPIRED, SIGNATURE, CodeStorage, code_storage
from tests.doubles.memory_engine import MemoryEngine
from tests.doubles.packages import wheel
from tests.engine_files import whole
from tests.hostile import forged
from tests.hostile.forged import forging
from tests.hostile.intruder import MARK, intruding
from tests.hostile_variables import FOREIGN, ours, prepare, variables
from tests.names import REFUSED, TREE, each, no_blob, tree, writes

CLUSTER = "dev-cluster-00"
UNREAL = "it runs no processes"
#: Schedulers give whole seconds.
_ROUNDED = timedelta(seconds=1)
pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Rig:
    """An engine, and how a job is made to end on it."""

    engine: Engine
    cluster_id: str
    memory: MemoryEngine | None = None
    #: what its cluster says of itself
    facts: ClusterFacts = NO_FACTS
    #: why a test that reads what a job wrote cannot run here; "" where it can
    unseen: str = ""
    #: the nodes of a job on several of them
    most: int = 2
    #: seconds that a job surely has from the request to end
    saves: int = 5
    #: why its nodes cannot get the code of a job; "" where they can
    codeless: str = ""
    #: why its jobs have no directory that outlives their attempts; "" where they have
    unsaved: str = ""
    #: whether its service says of files no more than names and sizes
    is_silent: bool = False
    #: a container with a signature, for what the identity of its nodes opens
    identity: str = ""
    #: of every order
    targets: list[Target] = field(default_factory=list)

    def needs_files(self) -> None:
        """Skip a test that reads what a job wrote, where that cannot be seen."""
        if self.unseen:
            pytest.skip(self.unseen)

    def needs_code(self) -> None:
        """Skip a test of a job with code, where no node gets it."""
        self.needs_files()
        if self.codeless:
            pytest.skip(self.codeless)

    def order(self, command: str, *, name: str | None = None, token: str = "t.1") -> Order:
        target = Target(
            engine="x",
            cluster=CLUSTER,
            experiment="exp",
            name=name or f"n-{uuid.uuid4().hex[:12]}",
            token=token,
        )
        self.targets.append(target)
        properties = {
            "cluster": {"id": self.cluster_id},
            "nodeCount": 1,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
            "customToolkitSettings": {"commandLine": command},
            "environmentVariables": [{"name": "SLIPWAY_TOKEN", "value": token}],
        }
        return Order(target, {"properties": properties})

    def ends(
        self, target: Target, state: JobState, reason: Reason | None = None, code: int | None = None
    ) -> None:
        """In memory the test is the cluster; a real one needs no help."""
        if self.memory is not None:
            self.memory.set_state(target.name, state, reason=reason, exit_code=code)
            self.memory.output = {"stdout.txt": b"one\ntwo\n", "deep/a": b"1\n"}

    async def until(self, target: Target, expected: Callable[[Observation], bool]) -> Observation:
        patience = Patience(PATIENCE)
        while not expected(observation := await self.engine.see(target)):
            assert not patience.is_over(observation.state), observation
            await asyncio.sleep(0.1)
        return observation

    async def until_written(self, target: Target, directory: str, path: str, expected: bytes) -> None:
        patience, data = Patience(PATIENCE), b""
        while data != expected:
            await self.engine.status(CLUSTER, [target])  # passes make nodes for it
            with suppress(NotFound):
                data = (await self.engine.read(target, directory, path, 0, 1000)).data
            assert not patience.is_over(data)
            await asyncio.sleep(0.1)

    async def until_held(self, target: Target) -> Held:
        """How it ended, once its nodes are kept."""
        patience = Patience(PATIENCE)
        if self.memory is not None:
            until = datetime.now(UTC) + timedelta(minutes=10)
            self.memory.held_jobs[target.name] = Held(exit_code=3, until=until)
            self.memory.set_state(target.name, JobState.RUNNING)
        while (held := await self.engine.held(target)) is None:
            observations = await self.engine.status(CLUSTER, [target])  # passes make nodes for it
            assert not patience.is_over(observations), observations
            await asyncio.sleep(0.1)
        return held

    async def ended_by_passes(self, target: Target) -> Observation:
        """How it ended, by passes, which make nodes for it."""
        patience = Patience(PATIENCE)
        while True:
            observation = (await self.engine.status(CLUSTER, self.targets[-2:])).get(target.name)
            if observation is not None and observation.state.terminal:
                return observation
            assert not patience.is_over(observation and observation.state), observation
            await asyncio.sleep(0.1)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def settings(storage: Azurite, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Settings]:
    data: Path = tmp_path_factory.mktemp("batchai")
    command = [sys.executable, "-m", "local.batchai", "--data", str(data), "--provisioning-seconds", "0"]
    command += ["--until-stdin-closes"]
    options = ["--storage-connection-string", storage.connection_string, "--leaving-seconds", "0"]
    async with child([*command, *options], name="emulator") as emulator:
        url = (await emulator.line(r"^ready (\S+)"))[1]
        connection = f"{storage.connection_string}FileEndpoint={url}/devstoreaccount1;"
        result = Settings({"SLIPWAY_STORAGE": connection, "SLIPWAY_BATCHAI_URL": url})
        async for _ in provision(result, Plan(maximum=2)):
            pass
        yield result


def _workspace(settings: Settings, name: str = "dev") -> Workspace:
    return Workspace(
        settings.text("SLIPWAY_BATCHAI_URL"),
        settings.text("SLIPWAY_SUBSCRIPTION"),
        settings.text("SLIPWAY_RESOURCE_GROUP"),
        name,
    )


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def slurm_cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Slurm]:
    if lacking := missing_programs():
        pytest.skip(f"Slurm is not installed ({', '.join(lacking)} not found): run `make install-slurm`")
    async with slurm(Options(data=tmp_path_factory.mktemp("slurm"))) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def batch_account(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[on_batch.Account]:
    async with on_batch.account(tmp_path_factory.mktemp("batch")) as running:
        yield running


@pytest.fixture(scope="module")
def batch_container(batch_account: on_batch.Account, storage: Azurite) -> on_batch.Account:
    """The same account, for a cluster whose nodes share no directory."""
    return replace(batch_account, blobs=container(storage, f"c{uuid.uuid4().hex}").url)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def api_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[on_kubernetes.Running]:
    async with on_kubernetes.running(tmp_path_factory.mktemp("kubernetes")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def old_api_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[on_kubernetes.Running]:
    async with on_kubernetes.running(tmp_path_factory.mktemp("old"), version="v1.20.2") as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def kubernetes_here(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kubernetes | Foreign]:
    """One of this machine, or that of SLIPWAY_TEST_KUBECONFIG."""
    if KUBECONFIG:
        yield foreign()
        return
    if lacking := find_programs().missing_programs():
        reason = f"Kubernetes is not here ({', '.join(lacking)} not found): run `make install-kubernetes`"
        pytest.skip(reason)
    async with kubernetes(KubernetesOptions(data=tmp_path_factory.mktemp("kubernetes"))) as running:
        yield running


@pytest.fixture
def code() -> Iterator[CodeStorage]:
    with code_storage() as storage:
        yield storage


Place = Settings | Slurm | on_batch.Account | on_kubernetes.Running | Kubernetes | Foreign | None


@pytest.fixture(
    params=[
        None,
        "settings",
        "slurm_cluster",
        "batch_account",
        pytest.param("batch_container", marks=pytest.mark.thorough),
        "api_server",
        pytest.param("old_api_server", marks=pytest.mark.thorough),
        "kubernetes_here",
    ],
    ids=["memory", "batchai", "slurm", "batch", "batch-blobs", "kubernetes", "kubernetes-1.20", "kube-real"],
)
def running(request: pytest.FixtureRequest) -> Place:
    """What the engine under test talks to; only the parts that are asked for are started."""
    return request.getfixturevalue(request.param) if request.param else None


@pytest_asyncio.fixture(loop_scope="session")
async def rig(running: Place) -> AsyncIterator[Rig]:
    if running is None:
        memory = MemoryEngine(own_facts=ClusterFacts(max_nodes=1))
        yield Rig(memory, "id", memory, memory.own_facts, codeless=UNREAL, unsaved=UNREAL)
    elif isinstance(running, Slurm):
        on_slurm = engine_on(running, partition="elastic")
        facts = ClusterFacts(max_nodes=4, gpus=1, memory=4096, lists_all=True)
        yield Rig(on_slurm, f"/clusters/{CLUSTER}", facts=facts)
        await on_slurm.close()
    elif isinstance(running, on_batch.Account):
        on_account = await on_batch.engine_on(running)
        # Of its own requests to end the service says nothing, and the emulator has two seconds.
        saves = 5 if running.blobs else 1
        opened = f"{running.blobs}?{signature(running.blobs.rpartition('/')[2])}" if running.blobs else ""
        t4 = ClusterFacts(max_nodes=4, gpus=1, memory=28 * 1024, size="standard_nc4as_t4_v3")
        yield Rig(
            on_account,
            f"/clusters/{CLUSTER}",
            facts=replace(t4, priority="dedicated", keeps_files=bool(running.blobs)),
            saves=saves,
            identity=opened,
        )
        await on_account.close()
    elif isinstance(running, Kubernetes):
        on_cluster = engine_on_cluster(running)
        facts = ClusterFacts(max_nodes=2, gpus=1)
        version = version_of(await running.api.insist("GET", "/version"))
        most = 2 if version.has_success_policy else 1
        yield Rig(on_cluster, f"/clusters/{CLUSTER}", facts=facts, most=most)
        await on_cluster.close()
    elif isinstance(running, Foreign):
        on_yours = running.engine()
        unseen = "" if running.has_reads else UNSEEN
        rig = Rig(on_yours, f"/clusters/{CLUSTER}", facts=running.facts, unseen=unseen)
        yield rig
        await on_yours.close()
        await running.clear(rig.targets)
    elif isinstance(running, on_kubernetes.Running):
        on_server = on_kubernetes.engine_on(running)
        facts = ClusterFacts(max_nodes=4, gpus=1)
        yield Rig(on_server, f"/clusters/{CLUSTER}", facts=facts, most=running.most)
        await on_server.close()
    else:
        workspace = _workspace(running)
        engine = BatchAIEngine(workspace)
        nc6 = ClusterFacts(frozenset({"logs", "datalake"}), max_nodes=2, gpus=1, memory=56 * 1024)
        of_price = replace(nc6, size="STANDARD_NC6", priority="lowpriority")
        yield Rig(engine, workspace.cluster_id(CLUSTER), facts=of_price, is_silent=True)
        await engine.close()


async def _both_ways(rig: Rig, target: Target) -> tuple[Observation, Observation]:
    return await rig.engine.see(target), (await rig.engine.status(CLUSTER, [target]))[target.name]


async def test_a_job_runs_and_succeeds(rig: Rig) -> None:
    order = rig.order("echo one; echo two")
    await rig.engine.submit(order)
    rig.ends(order.target, JobState.SUCCEEDED, code=0)

    observation = await rig.until(order.target, lambda observation: observation.state.terminal)

    assert (observation.state, observation.exit_code) == (JobState.SUCCEEDED, 0)
    one, bulk = await _both_ways(rig, order.target)
    assert one == bulk


async def test_a_cluster_says_what_its_jobs_can_count_on_and_how_many_nodes_they_may_have(rig: Rig) -> None:
    assert await rig.engine.facts(CLUSTER, {}) == rig.facts
    assert room(await rig.engine.nodes(CLUSTER)) == rig.facts.max_nodes


async def test_every_ability_is_answered_for_a_cluster_and_all_or_none_for_another(rig: Rig) -> None:
    assert rig.engine.capabilities(CLUSTER).keys() == ABILITIES.keys()
    with suppress(Misconfigured):  # by an engine that reaches only clusters that settings describe
        assert rig.engine.capabilities("undescribed").keys() == ABILITIES.keys()


async def test_a_job_that_fails_says_why(rig: Rig) -> None:
    order = rig.order("exit 3")
    await rig.engine.submit(order)
    rig.ends(order.target, JobState.FAILED, Reason.USER, 3)

    observation = await rig.until(order.target, lambda observation: observation.state.terminal)

    assert (observation.state, observation.reason, observation.exit_code) == (JobState.FAILED, Reason.USER, 3)


async def test_submitting_again_with_the_same_token_is_success_and_starts_nothing(rig: Rig) -> None:
    order = rig.order("sleep 30")
    await rig.engine.submit(order)
    await rig.engine.submit(order)

    assert not (await rig.engine.see(order.target)).state.terminal
    await rig.engine.cancel(order.target)


async def test_a_name_that_belongs_to_another_job_is_never_overwritten_read_or_cancelled(rig: Rig) -> None:
    order = rig.order("sleep 30")
    await rig.engine.submit(order)
    other = rig.order("sleep 31", name=order.target.name, token="other.1")
    with pytest.raises(Conflict):
        await rig.engine.submit(other)
    with pytest.raises(NotFound):
        await rig.engine.see(other.target)
    assert await rig.engine.status(CLUSTER, [other.target]) == {}
    await rig.engine.cancel(other.target)
    assert not (await rig.engine.see(order.target)).state.terminal
    await rig.engine.cancel(order.target)


async def test_submitting_again_after_the_end_starts_nothing(rig: Rig) -> None:
    order = rig.order("true")
    await rig.engine.submit(order)
    rig.ends(order.target, JobState.SUCCEEDED, code=0)
    await rig.until(order.target, lambda observation: observation.state.terminal)

    await rig.engine.submit(order)

    assert (await rig.engine.see(order.target)).state is JobState.SUCCEEDED


async def test_cancel_ends_a_job_and_may_be_repeated(rig: Rig) -> None:
    order = rig.order("sleep 30")
    await rig.engine.submit(order)
    await rig.engine.cancel(order.target)

    observation = await rig.until(order.target, lambda observation: observation.state.terminal)
    await rig.engine.cancel(order.target)

    assert (observation.state, observation.reason) == (JobState.CANCELLED, Reason.TERMINATED)


async def test_a_job_that_is_cancelled_saves_before_it_ends(rig: Rig) -> None:
    rig.needs_code()
    save = f"sleep {rig.saves}; echo all >$AZ_BATCHAI_OUTPUT_M/saved; echo saved; exit"
    # As a person's script does: the shell around it ends at once.
    command = f"sh -c 'trap \"{save}\" TERM; echo began; while :; do sleep 0.1; done'; echo after"
    order = rig.order(command)
    directories = [{"id": "M", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}]
    order.document["properties"]["outputDirectories"] = directories
    await rig.engine.submit(order)
    await rig.until_written(order.target, "stdouterr", "stdout.txt", b"began\n")

    await rig.engine.cancel(order.target)
    await rig.engine.cancel(order.target)
    observation = await rig.until(order.target, lambda observation: observation.state.terminal)

    assert (observation.state, observation.reason) == (JobState.CANCELLED, Reason.TERMINATED)
    # Azure Batch reports the end before its processes have ended.
    await rig.until_written(order.target, "M", "saved", b"all\n")
    await rig.until_written(order.target, "stdouterr", "stdout.txt", b"began\nsaved\n")


@pytest.mark.parametrize("nodes", [1, 2])
async def test_a_failed_job_keeps_its_nodes_until_it_is_cancelled_and_ends_as_its_command_did(
    rig: Rig, nodes: int
) -> None:
    order = replace(rig.order('echo "$AZ_BATCHAI_JOB_TEMP"; exit 3'), hold=timedelta(minutes=10))
    if nodes > 1:
        block = {"pythonScriptFilePath": "none.sh", "pythonInterpreterPath": "sh"}
        order.document["properties"] |= {"nodeCount": rig.most, "caffe2Settings": block}
        del order.document["properties"]["customToolkitSettings"]
    if rig.engine.capabilities(CLUSTER)["hold"].answer == "no":
        assert await rig.engine.held(order.target) is None
        return
    rig.needs_files()
    await rig.engine.submit(order)
    held = await rig.until_held(order.target)
    assert held.exit_code == 3 or (nodes > 1 and held.exit_code)
    assert held.until - datetime.now(UTC) > timedelta(minutes=5)
    assert (await rig.engine.see(order.target)).state is JobState.RUNNING
    assert (await rig.engine.status(CLUSTER, [order.target]))[order.target.name].state is JobState.RUNNING

    await rig.engine.cancel(order.target)

    observation = await rig.ended_by_passes(order.target)
    assert (observation.state, observation.reason) == (JobState.FAILED, Reason.USER)
    assert observation.exit_code == held.exit_code


async def test_an_unknown_job_is_missing_not_found_and_cancelled_in_silence(rig: Rig) -> None:
    target = rig.order("true").target
    assert await rig.engine.status(CLUSTER, [target]) == {}
    with pytest.raises(NotFound):
        await rig.engine.see(target)
    await rig.engine.cancel(target)


async def test_what_ended_is_forgotten_and_that_may_be_repeated(rig: Rig) -> None:
    rig.needs_files()
    order = rig.order("echo one", token="j_somebody.1")
    await rig.engine.submit(order)
    rig.ends(order.target, JobState.SUCCEEDED, code=0)
    await rig.until(order.target, lambda observation: observation.state.terminal)
    other = order.target.model_copy(update={"token": "j_another.1"})

    assert await rig.engine.forget(CLUSTER, [other, rig.order("true").target]) == frozenset()
    assert (await rig.engine.see(order.target)).state is JobState.SUCCEEDED

    async with asyncio.timeout(PATIENCE):
        while await rig.engine.forget(CLUSTER, [order.target]):  # noqa: ASYNC110 - another process
            await asyncio.sleep(1)
    assert await rig.engine.forget(CLUSTER, [order.target]) == frozenset()


async def test_what_is_at_work_is_reported_with_its_token_until_it_ends(rig: Rig) -> None:
    order = rig.order("sleep 60", token="j_somebody.1")
    await rig.engine.submit(order)
    assert (await rig.engine.at_work(CLUSTER))[order.target.name] == "j_somebody.1"

    await rig.engine.cancel(order.target)

    await rig.until(order.target, lambda observation: observation.state.terminal)
    assert order.target.name not in await rig.engine.at_work(CLUSTER)


async def test_a_log_is_read_from_an_offset(rig: Rig) -> None:
    rig.needs_files()
    order = rig.order("mkdir $AZ_BATCHAI_STDOUTERR_DIR/deep; echo 1 > $_/a; echo one; echo two")
    await rig.engine.submit(order)
    rig.ends(order.target, JobState.SUCCEEDED, code=0)
    await rig.until(order.target, lambda observation: observation.state.terminal)

    first = await rig.engine.read(order.target, "stdouterr", "stdout.txt", 0, 4)
    rest = await rig.engine.read(order.target, "stdouterr", "stdout.txt", first.next, 100)
    end = await rig.engine.read(order.target, "stdouterr", "stdout.txt", rest.next, 100)

    assert (first.data, rest.data, end.data) == (b"one\n", b"two\n", b"")
    assert (first.size, end.next, end.size) == (8, 8, 8)
    assert "stdout.txt" in {file.name for file in await rig.engine.files(order.target, "stdouterr")}
    for path in ("missing.txt", "no/such/missing.txt"):
        with pytest.raises(NotFound, match=f"there is no stdouterr/{path}"):
            await rig.engine.read(order.target, "stdouterr", path, 0, 10)
    for _ in range(2):
        with pytest.raises(NotAFile, match="stdouterr/deep is a directory"):
            await rig.engine.read(order.target, "stdouterr", "deep", 0, 10)


async def test_a_file_of_any_name_is_listed_and_read_with_its_own_bytes(rig: Rig) -> None:
    rig.needs_files()
    order = rig.order(writes(TREE | tree(each(REFUSED)), "AZ_BATCHAI_STDOUTERR_DIR"))
    await rig.engine.submit(order)
    rig.ends(order.target, JobState.SUCCEEDED, code=0)
    if rig.memory is not None:
        rig.memory.output = dict(TREE)
    await rig.until(order.target, lambda observation: observation.state.terminal)

    files, left_out = await whole(rig.engine, order.target, "stdouterr")

    of_blobs = rig.facts.keeps_files  # what no blob can be named has its line in execution.log
    expected = {path: data for path, data in TREE.items() if not (of_blobs and no_blob(path))}
    ours = {path: data for path, data in files.items() if "/" in path}
    assert {path for path in expected.keys() | ours.keys() if ours.get(path) != expected.get(path)} == set()
    assert rig.memory is not None or of_blobs or len(left_out) == 2 * len(each(REFUSED))


async def test_how_busy_its_nodes_are_is_read_like_a_log(rig: Rig) -> None:
    rig.needs_files()
    reports = "$AZ_BATCHAI_STDOUTERR_DIR/{,../usage/}usage.jsonl"
    waits = f"timeout 60 bash -c 'until grep -qs memory {reports}; do sleep 0.1; done'"
    order = rig.order(waits)
    await rig.engine.submit(order)
    rig.ends(order.target, JobState.SUCCEEDED, code=0)
    if rig.memory is not None:  # its nodes are not machines
        rig.memory.output["usage.jsonl"] = b'{"rank": 0, "time": 1, "memory_mib": 2}\n'
    await rig.until(order.target, lambda observation: observation.state.terminal)

    usage = await rig.engine.read(order.target, "stdouterr", "usage.jsonl", 0, 10_000)

    sample = json.loads(usage.data.splitlines()[0])
    assert sample["rank"] == 0
    assert sample["memory_mib"] > 0


async def test_a_job_whose_gpus_do_nothing_is_warned_and_ends_as_idle(rig: Rig) -> None:
    rig.needs_files()
    world = IdleWorld(rig.engine, CLUSTER, rig.cluster_id)

    job = await world.ended(dict(rig.order(IDLES).document), PATIENCE)

    assert (job.state, job.reason, job.attempt) == (JobState.CANCELLED, Reason.IDLE, 1)
    assert [event["type"] for event in world.events()] == [
        "io.slipway.job.idle.v1",
        "io.slipway.job.cancelled.v1",
    ]


async def test_each_attempt_runs_the_accepted_code_in_its_own_copy_on_each_node(
    rig: Rig, code: CodeStorage
) -> None:
    rig.needs_code()
    source = code.source(packed(*FOLDER))
    first = replace(rig.order("echo spoilt >data/rows.csv; exit 3"), code=source)
    await rig.engine.submit(first)
    await rig.until(first.target, lambda observation: observation.state.terminal)
    code.source(packed(file("train.py", "print('edited')")))
    second = replace(rig.order(COMMAND, token="t.2"), code=source, earlier=(Earlier(first.target, "user"),))
    second.document["properties"]["nodeCount"] = rig.most
    second.document["properties"]["jobPreparation"] = {"commandLine": "./run.sh && cat train.py"}

    await rig.engine.submit(second)
    end = await rig.until(second.target, lambda observation: observation.state.terminal)

    assert end.state is JobState.SUCCEEDED, end
    printed = await rig.engine.read(second.target, "stdouterr", "stdout.txt", 0, 1000)
    assert printed.data.decode() == PRINTED


async def test_a_script_and_a_shell_find_what_the_preparation_installed(
    rig: Rig, code: CodeStorage, tmp_path: Path
) -> None:
    rig.needs_code()
    tiny = wheel(tmp_path, "tiny", "def main():\n    print('tiny here')\n")
    lists = file("requirements.txt", "--no-index\n--find-links .\ntiny\n")
    environment = "$AZ_BATCHAI_JOB_TEMP/environment"
    script = f'"{environment}/python" -c "import tiny; tiny.main()"'
    order = rig.order(f'. "{environment}/activate" && tiny && {script}')
    order = replace(order, code=code.source(packed(lists, file(tiny.name, tiny.read_bytes()))))
    # An interpreter without the packages of the tests, which what it starts could change.
    await asyncio.to_thread(
        subprocess.run, [sys.executable, "-m", "venv", str(tmp_path / "image")], check=True
    )
    install = f'PATH="{tmp_path}/image/bin:$PATH" slipway_packages requirements.txt'
    order.document["properties"]["jobPreparation"] = {"commandLine": install}
    order.document["properties"]["nodeCount"] = rig.most

    await rig.engine.submit(order)
    end = await rig.until(order.target, lambda observation: observation.state.terminal)

    assert end.state is JobState.SUCCEEDED, end
    printed = await rig.engine.read(order.target, "stdouterr", "stdout.txt", 0, 1000)
    assert printed.data.decode() == "tiny here\n" * 2


async def test_what_an_attempt_wrote_stays_when_the_next_one_has_run(rig: Rig) -> None:
    rig.needs_files()
    name = f"n-{uuid.uuid4().hex[:12]}"
    texts = {number: {"stdout.txt": f"{number}\n", "stderr.txt": f"bad {number}\n"} for number in (1, 2)}
    targets, earlier = list[Target](), tuple[Earlier, ...]()
    for number, files in texts.items():
        order = rig.order(f"echo {number}; echo bad {number} >&2; exit 3", name=f"{name}-{number}")
        await rig.engine.submit(replace(order, earlier=earlier))
        if rig.memory is not None:
            rig.ends(order.target, JobState.FAILED, Reason.USER, 3)
            rig.memory.outputs[order.target.name] = {file: text.encode() for file, text in files.items()}
        await rig.until(order.target, lambda observation: observation.state.terminal)
        targets, earlier = [*targets, order.target], (Earlier(order.target, "user"),)

    written = {
        number: {
            file: (await rig.engine.read(target, "stdouterr", file, 0, 100)).data.decode()
            for file in texts[number]
        }
        for number, target in enumerate(targets, 1)
    }
    assert written == texts
    for target in targets:
        names = {file.name for file in await rig.engine.files(target, "stdouterr")}
        assert names >= {"stdout.txt", "stderr.txt"}


async def test_an_attempt_finds_what_the_one_before_it_saved(rig: Rig) -> None:
    rig.needs_files()
    if rig.unsaved:
        pytest.skip(rig.unsaved)
    job = uuid.uuid4().hex
    saves = 'test ! -e "$SLIPWAY_SAVED/step" && echo 7 >"$SLIPWAY_SAVED/step"; exit 3'
    first = rig.order(saves, name=f"n-{job[:12]}-1", token=f"{job}.1")
    finds = 'cat "$SLIPWAY_SAVED/step"'
    second = rig.order(finds, name=f"n-{job[:12]}-2", token=f"{job}.2")
    second = replace(second, earlier=(Earlier(first.target, "user"),))
    other = rig.order('ls -A "$SLIPWAY_SAVED"', token=f"{uuid.uuid4().hex}.1")
    for order in (first, second, other):
        order.document["properties"]["jobPreparation"] = {"commandLine": "true"}
        order.document["properties"]["nodeCount"] = rig.most
        await rig.engine.submit(order)
        await rig.until(order.target, lambda observation: observation.state.terminal)

    printed = [
        (await rig.engine.read(order.target, "stdouterr", "stdout.txt", 0, 100)).data.decode()
        for order in (second, other)
    ]

    assert printed == ["7\n", ""]
    if not _is_batch_ai(rig):  # whose service shows the output directories of single jobs only
        checkpoint = await rig.engine.read(second.target, "saved", "step", 0, 100)
        assert checkpoint.data == b"7\n"


#: What a job leaves beside ordinary files: by which commands.
_ENTRIES = {
    "tool": "touch tool; chmod +x tool",
    "absolute": 'ln -s "$AZ_BATCHAI_OUTPUT_M/plain" absolute',
    "folder": 'ln -s "$AZ_BATCHAI_OUTPUT_M/deep" folder',
    "empty": "mkdir empty",
    "pipe": "mkfifo pipe",
    "gone": "ln -s nothing gone",
    "out": "ln -s /etc/passwd out",
    "piped": "ln -s pipe piped",
}


async def test_what_a_job_leaves_beside_files_is_listed_as_what_it_is(rig: Rig) -> None:
    rig.needs_code()
    order = rig.order(f'cd "$AZ_BATCHAI_OUTPUT_M"; touch plain; mkdir deep; {"; ".join(_ENTRIES.values())}')
    directories = [{"id": "M", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}]
    order.document["properties"]["outputDirectories"] = directories
    await rig.engine.submit(order)
    end = await rig.until(order.target, lambda observation: observation.state.terminal)
    assert end.state is JobState.SUCCEEDED, end

    listed = {one.name: one for one in await rig.engine.files(order.target, "M")}
    files = {name for name, one in listed.items() if one.size is not None}
    folders = {name for name, one in listed.items() if one.size is None and not (one.link or one.left_out)}
    assert files == {"plain", "tool", "absolute"}
    assert folders == {"deep", "empty", "folder"}
    kinds = {name: listed[name].kind for name in listed.keys() - files - folders}
    programs = {name: listed[name].executable for name in ("plain", "tool")}
    if rig.is_silent:
        names = ("pipe", "gone", "out", "piped")
        assert (kinds, programs) == (dict.fromkeys(names, "other"), {"plain": None, "tool": None})
    else:
        assert kinds == {"pipe": "pipe", "gone": "nowhere", "out": "", "piped": "special"}
        assert programs == {"plain": False, "tool": True}


async def test_a_job_reads_what_the_job_before_it_wrote(rig: Rig) -> None:
    rig.needs_code()
    outputs = [{"id": "DATA", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs", "pathSuffix": "my data"}]
    write = "mkdir -p deep/none; echo rows >deep/a; ln -s deep/a link; echo 'echo ran' >tool; chmod +x tool"
    first = rig.order(f'cd "$AZ_BATCHAI_OUTPUT_DATA" && {{ {write}; echo said; }}')
    first.document["properties"]["outputDirectories"] = outputs
    await rig.engine.submit(first)
    end = await rig.until(first.target, lambda observation: observation.state.terminal)
    assert end.state is JobState.SUCCEEDED, end

    read = "cat deep/a link; ./tool; ls -A; ls -A deep"
    second = rig.order(
        f'cd "$SLIPWAY_AFTER_1_DATA" && {{ {read}; cat "$SLIPWAY_AFTER_1_STDOUTERR/stdout.txt"; }}'
    )
    properties = second.document["properties"]
    properties["nodeCount"] = rig.most
    # Also on the other nodes.
    properties["jobPreparation"] = {"commandLine": 'cat "$SLIPWAY_AFTER_1_DATA/deep/a"'}
    earlier = before(1, first.target, end.segment, first.document, second.document, CLUSTER)
    named = [{"name": name, "value": value} for name, value in before_variables((earlier,)).items()]
    properties["environmentVariables"] = [*properties["environmentVariables"], *named]
    await rig.engine.submit(replace(second, before=(earlier,)))
    end = await rig.until(second.target, lambda observation: observation.state.terminal)

    assert end.state is JobState.SUCCEEDED, (end, await whole(rig.engine, second.target, "stdouterr"))
    printed = (await rig.engine.read(second.target, "stdouterr", "stdout.txt", 0, 1000)).data.decode()
    assert printed == "rows\nrows\nran\ndeep\nlink\ntool\na\nnone\nsaid\n"


async def test_a_job_reads_what_the_job_before_it_saved(rig: Rig) -> None:
    rig.needs_files()
    if rig.unsaved:
        pytest.skip(rig.unsaved)
    first = rig.order('echo 7 >"$SLIPWAY_SAVED/step"', token=f"{uuid.uuid4().hex}.1")
    second = rig.order('cat "$SLIPWAY_AFTER_1_SAVED/step"', token=f"{uuid.uuid4().hex}.1")
    for order in (first, second):
        order.document["properties"]["jobPreparation"] = {"commandLine": "true"}
    await rig.engine.submit(first)
    end = await rig.until(first.target, lambda observation: observation.state.terminal)
    earlier = before(1, first.target, end.segment, first.document, second.document, CLUSTER)
    second.document["properties"]["nodeCount"] = rig.most

    await rig.engine.submit(replace(second, before=(earlier._replace(is_known=True),)))
    end = await rig.until(second.target, lambda observation: observation.state.terminal)

    assert end.state is JobState.SUCCEEDED, (end, await whole(rig.engine, second.target, "stdouterr"))
    printed = (await rig.engine.read(second.target, "stdouterr", "stdout.txt", 0, 100)).data.decode()
    assert printed == "7\n"


async def test_a_job_goes_on_from_what_another_one_saved(rig: Rig) -> None:
    rig.needs_files()
    if rig.unsaved:
        pytest.skip(rig.unsaved)
    job, goes_on = uuid.uuid4().hex, 'cat "$SLIPWAY_SAVED/step"; echo 8 >"$SLIPWAY_SAVED/step"'
    first = rig.order('echo 7 >"$SLIPWAY_SAVED/step"', token=f"{job}.1")
    again = replace(rig.order(goes_on, token=f"{uuid.uuid4().hex}.1"), resumes=job)
    second = replace(rig.order('cat "$SLIPWAY_SAVED/step"', token=f"{uuid.uuid4().hex}.1"), resumes=job)
    lacking = replace(rig.order("true", token=f"{uuid.uuid4().hex}.1"), resumes=uuid.uuid4().hex)
    ends = {}
    for order in (first, again, second, lacking):
        order.document["properties"]["jobPreparation"] = {"commandLine": "true"}
        order.document["properties"]["nodeCount"] = rig.most
        await rig.engine.submit(order)
        end = await rig.until(order.target, lambda observation: observation.state.terminal)
        ends[order.target.name] = end.state, end.reason

    printed = [
        (await rig.engine.read(order.target, "stdouterr", "stdout.txt", 0, 100)).data.decode()
        for order in (again, second)
    ]

    assert printed == ["7\n", "7\n"]
    assert [*ends.values()] == [(JobState.SUCCEEDED, None)] * 3 + [(JobState.FAILED, Reason.PREPARATION)]


async def test_what_a_job_saved_is_removed_with_its_attempts(rig: Rig) -> None:
    rig.needs_files()
    if rig.unsaved:
        pytest.skip(rig.unsaved)
    if _is_batch_ai(rig):
        pytest.skip("what a job wrote to a share of Batch AI stays there")
    job = uuid.uuid4().hex
    first = rig.order('echo 7 >"$SLIPWAY_SAVED/step"', token=f"{job}.1")
    await rig.engine.submit(first)
    await rig.until(first.target, lambda observation: observation.state.terminal)
    assert [file.name for file in await rig.engine.files(first.target, "saved")] == ["step"]

    patience = Patience(PATIENCE)
    while remaining := await rig.engine.forget(CLUSTER, [first.target]):
        assert not patience.is_over(remaining)
        await asyncio.sleep(0.1)

    other = rig.order(f'[ -d "$SLIPWAY_SAVED" ] && [ ! -e "$SLIPWAY_SAVED/../{job}" ]')
    await rig.engine.submit(other)
    end = await rig.until(other.target, lambda observation: observation.state.terminal)
    assert end.state is JobState.SUCCEEDED, end


@pytest.mark.parametrize("whose", ["foreign", "ours"])
async def test_what_the_job_chose_reaches_its_own_processes_alone(
    rig: Rig, code: CodeStorage, tmp_path: Path, whose: str
) -> None:
    rig.needs_code()
    folder = prepare(tmp_path / "hostile")
    names = {name: value for name, value in FOREIGN.items() if name not in ("BASH_ENV", "LD_LIBRARY_PATH")}
    if whose == "ours":
        # Batch AI itself follows the others.
        own = ("AZ_BATCHAI_JOB_TEMP", "AZ_BATCHAI_JOB_MOUNT_ROOT")
        names = {name: ours()[name] for name in own} if _is_batch_ai(rig) else ours()
    order = replace(rig.order('[ -f .hidden ] && echo "$PATH"'), code=code.source(packed(*FOLDER)))
    order.document["properties"]["environmentVariables"] += variables(names, folder)
    order.document["properties"]["jobPreparation"] = {"commandLine": "[ -f features.py ]"}
    if not _is_batch_ai(rig):
        order.document["properties"]["nodeCount"] = rig.most

    await rig.engine.submit(order)
    end = await rig.until(order.target, lambda observation: observation.state.terminal)

    assert end.state is JobState.SUCCEEDED, end
    printed = await rig.engine.read(order.target, "stdouterr", "stdout.txt", 0, 1000)
    assert (printed.data.decode() == f"{folder}/bin\n") is (whose == "foreign")


@pytest.mark.parametrize(
    ("lacking", "reason", "text", "is_unstarted"),
    [
        ("expired", Reason.INFRASTRUCTURE, "no longer valid", True),
        ("deleted", Reason.PREPARATION, "its code was deleted", False),
        ("different", Reason.INFRASTRUCTURE, "not the code that was accepted", False),
    ],
)
async def test_a_job_without_its_accepted_code_never_runs_and_says_why(
    rig: Rig, code: CodeStorage, tmp_path: Path, lacking: str, reason: Reason, text: str, is_unstarted: bool
) -> None:
    rig.needs_code()
    source = code.source(packed(*FOLDER), signature=EXPIRED if lacking == "expired" else SIGNATURE)
    if lacking != "expired":
        code.replace(source, packed(file("train.py", "evil")) if lacking == "different" else None)
    order = replace(rig.order(f"touch {tmp_path}/ran"), code=source)
    order.document["properties"]["jobPreparation"] = {"commandLine": f"touch {tmp_path}/ran"}

    await rig.engine.submit(order)
    end = await rig.until(order.target, lambda observation: observation.state.terminal)

    assert (end.state, end.reason, end.unstarted) == (JobState.FAILED, reason, is_unstarted), end
    assert end.is_other_code is (lacking == "different")
    assert await _both_ways(rig, order.target) == (end, end)
    assert text in end.message
    assert "canary" not in end.message
    assert not _exists(tmp_path / "ran")


def _is_batch_ai(rig: Rig) -> bool:
    return isinstance(rig.engine, BatchAIEngine)


def _exists(path: Path) -> bool:
    return path.exists()


async def test_a_job_that_writes_its_own_record_is_counted_by_the_times_of_its_scheduler(rig: Rig) -> None:
    order = rig.order(forging())
    await rig.engine.submit(order)
    ran = timedelta(seconds=forged.SECONDS)
    if rig.memory is not None:
        now = datetime.now(UTC)
        rig.memory.set_state(order.target.name, JobState.SUCCEEDED, started=now - ran, ended=now)

    end = await rig.until(order.target, lambda observation: observation.state.terminal)

    assert end.started is not None
    assert end.ended is not None
    assert end.ended - end.started >= ran - _ROUNDED, end


async def test_a_job_of_one_team_can_do_to_another_team_s_job_what_the_page_says(
    rig: Rig, request: pytest.FixtureRequest
) -> None:
    rig.needs_files()
    if rig.memory is not None:
        pytest.skip(UNREAL)
    secret, printed = uuid.uuid4().hex, uuid.uuid4().hex
    theirs = rig.order(f"echo {printed}; sleep 120")
    theirs.document["properties"]["secrets"] = [{"name": "HF_TOKEN", "value": secret}]
    await rig.engine.submit(theirs)
    await rig.until(theirs.target, lambda observation: observation.state is JobState.RUNNING)
    mine = rig.order(intruding(secret, printed, theirs.target.name, rig.identity), token="t.2")
    await rig.engine.submit(mine)

    end = await rig.ended_by_passes(mine.target)
    report = await rig.engine.read(mine.target, "stdouterr", "stdout.txt", 0, 10_000)
    their_end = await rig.until(theirs.target, lambda observation: observation.state.terminal)
    log = await rig.engine.read(theirs.target, "stdouterr", "stdout.txt", 0, 10_000)

    assert end.state is JobState.SUCCEEDED, end
    # Where it can be ended, a record may say that it ended well: the scheduler knows better.
    ends = JobState.FAILED if json.loads(report.data)["signal"] else JobState.SUCCEEDED
    assert their_end.state is ends, their_end
    assert (MARK in log.data.decode()) is json.loads(report.data)["write"]
    engine = request.node.callspec.id.partition("-")[0]
    expected = reach.expected({"kube": "kubernetes"}.get(engine, engine))
    if engine == "kube":
        # Its pods do not see each other's processes, by which the probe tells whether a record ended them.
        expected |= {"environ": False, "signal": False, "record": True}
    assert json.loads(report.data) == expected

    after = replace(rig.order("exit 3"), earlier=(Earlier(theirs.target, Reason.USER),))
    await rig.engine.submit(after)
    answer = await rig.ended_by_passes(after.target)
    assert answer.state is ends, answer


async def test_a_cluster_shows_its_nodes(rig: Rig) -> None:
    view = await rig.engine.nodes(CLUSTER)
    assert view.name == CLUSTER
    assert view.minimum == 0


async def test_what_the_cluster_cannot_do_is_rejected_with_its_place(settings: Settings) -> None:
    workspace = _workspace(settings)
    engine = BatchAIEngine(workspace)
    order = Rig(engine, workspace.cluster_id(CLUSTER)).order("true")
    server = {"id": f"{workspace.cluster_id(CLUSTER).rpartition('/clusters/')[0]}/fileServers/nowhere"}
    mount = {"fileServer": server, "relativeMountPath": "x"}
    order.document["properties"]["mountVolumes"] = {"fileServers": [mount]}

    with pytest.raises(Rejected, match="nowhere"):
        await engine.submit(order)
    await engine.close()


async def test_a_missing_cluster_or_workspace_is_ours_to_mend(settings: Settings) -> None:
    for workspace, cluster in ((_workspace(settings, "nowhere"), CLUSTER), (_workspace(settings), "nowhere")):
        engine = BatchAIEngine(workspace)
        with pytest.raises(Misconfigured):
            await engine.submit(Rig(engine, workspace.cluster_id(cluster)).order("true"))
        await engine.close()


async def test_a_service_that_is_not_there_is_transient() -> None:
    engine = BatchAIEngine(Workspace("http://127.0.0.1:9", "s", "g", "w"))
    target = Rig(engine, "x").order("true").target
    with pytest.raises(Transient):
        await engine.status(CLUSTER, [target])
    await engine.close()


async def test_plain_http_beyond_this_machine_is_refused() -> None:
    engine = BatchAIEngine(Workspace("http://batchai.example.com", "s", "g", "w"))
    with pytest.raises(Misconfigured, match="https"):
        await engine.nodes(CLUSTER)


async def test_many_jobs_are_listed_page_by_page(settings: Settings) -> None:
    engine = BatchAIEngine(_workspace(settings))
    rig = Rig(engine, _workspace(settings).cluster_id(CLUSTER))
    orders = [rig.order("true") for _ in range(5)]
    for order in orders:
        await engine.submit(order)

    observation = await engine.status(CLUSTER, [order.target for order in orders])

    assert set(observation) == {order.target.name for order in orders}
    await engine.close()


async def test_a_list_goes_on_after_any_name_and_a_missing_folder_is_no_empty_one(settings: Settings) -> None:
    engine = BatchAIEngine(_workspace(settings))
    rig = Rig(engine, _workspace(settings).cluster_id(CLUSTER))
    order = rig.order(writes({name: name.encode() for name in each()}, "AZ_BATCHAI_OUTPUT_MODEL"))
    order.document["properties"]["outputDirectories"] = [
        {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}
    ]
    await engine.submit(order)
    await rig.until(order.target, lambda observation: observation.state.terminal)

    names = sorted(each())
    for number, name in enumerate(names):
        page = await engine.page(order.target, "MODEL", ".", quote(name, safe=""))
        assert [file.name for file in page.files] == names[number + 1 :], name
    for folder in ("none", "plain/below", "lr=0.1&wd=1"):
        with pytest.raises(NotFound, match=f"there is no folder MODEL/{folder}"):
            await engine.page(order.target, "MODEL", folder, "")
    await engine.close()


async def test_a_forgotten_job_is_no_resource_any_more(settings: Settings) -> None:
    engine = BatchAIEngine(_workspace(settings))
    order = Rig(engine, _workspace(settings).cluster_id(CLUSTER)).order("true")
    await engine.submit(order)

    await engine.forget(CLUSTER, [order.target])

    async with asyncio.timeout(PATIENCE):
        while await engine.status(CLUSTER, [order.target]):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.1)
    with pytest.raises(NotFound):
        await engine.see(order.target)
    await engine.close()


async def test_a_job_that_is_larger_than_its_cluster_says_so_when_it_is_taken_and_later(
    settings: Settings,
) -> None:
    workspace = _workspace(settings)
    engine = BatchAIEngine(workspace)
    order = Rig(engine, workspace.cluster_id(CLUSTER)).order("true")
    order.document["properties"]["nodeCount"] = 3

    times = await engine.submit(order)
    (later,) = (await engine.status(CLUSTER, [order.target])).values()
    await engine.cancel(order.target)
    await engine.close()

    for observation in (times, later):
        assert observation is not None
        assert observation.why is not None
        assert observation.why.text.endswith("the job asks for 3 nodes, the cluster has at most 2")
        assert observation.handle.endswith(f"/experiments/exp/jobs/{order.target.name}")
