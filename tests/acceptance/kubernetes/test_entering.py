"""Entering a running job on a real Kubernetes: the pod that the engine names, and kubectl as the tool."""

from __future__ import annotations

import asyncio
import os
import shutil
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from local.kubernetes import Kubernetes
from local.patience import Patience
from shared.core.engine import Order
from shared.core.errors import NotFound
from shared.core.job import JobState, Target
from shared.engines.kubernetes.engine import KubernetesEngine
from slipway.client.entry.places import Place, place_of
from slipway.client.entry.program import NOTHING, entering
from slipway.client.entry.run import person_of
from slipway.client.entry.tools import command
from tests.acceptance.kubernetes.conftest import FOREIGN
from tests.acceptance.kubernetes.jobs import PATIENCE
from tests.acceptance.kubernetes.kubectl import Answer, run
from tests.acceptance.kubernetes.on_cluster import NAME, engine_on
from tests.contract.kubernetes.foreign import foreign
from tests.slow.engines.kubernetes.in_shell import ABSENT_SHELLS, SHELLS, image

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: Of the job, that a shell in it has to have, too.
_SECRET, _VALUE = "HF_TOKEN", "canary it's $HOME\nof two lines"
_PRINTS = "tr '\\0' '\\n' </proc/$$/environ | sort >own; pwd >>own; : >begun; while :; do sleep 0.1; done"


@dataclass(frozen=True)
class Entered:
    """A job that runs, and a person with a kubeconfig who enters it."""

    place: Place
    kubeconfig: Path

    async def run(self, *words: str, stdin: bytes = b"") -> Answer:
        """What `slipway shell JOB -- WORDS` runs."""
        inner = entering(self.place.job, self.place.attempt, self.place.rank, words)
        person = await asyncio.to_thread(person_of, self.place)
        return await run(*command(self.place, inner, person, terminal=False), stdin=stdin)


@dataclass(frozen=True)
class Rig:
    """A cluster, and how a job of it is entered."""

    engine: Callable[..., KubernetesEngine]
    kubeconfig: Path
    targets: list[Target]

    @asynccontextmanager
    async def job(self, line: str, rank: int = 0, ranks: int = 1, **options: Any) -> AsyncIterator[Entered]:
        """A job of this command line, in which something of it runs."""
        engine, order = self.engine(enter=True, **options), _order(line, ranks)
        self.targets.append(order.target)
        try:
            await engine.submit(order)
            patience = Patience(PATIENCE)
            while (seen_now := await engine.see(order.target)).state is not JobState.RUNNING:
                assert not seen_now.state.terminal, seen_now
                assert not patience.is_over(seen_now), seen_now
                await asyncio.sleep(0.1)
            entrance = await engine.entrance(order.target, order.document, rank)
            assert (entrance.tool, entrance.reason) == ("kubectl", "")
            job, _, attempt = order.target.token.partition(".")
            answer = {"job": job, "attempt": int(attempt), "rank": rank, "kubectl": entrance.place}
            inside = Entered(place_of(answer), self.kubeconfig)
            await _until(inside, "sh", "-c", "test -e begun")
            yield inside
            await engine.cancel(order.target)
        finally:
            await engine.close()


def _order(line: str, ranks: int) -> Order:
    name, job = f"n-{uuid.uuid4().hex[:12]}", f"j_{'a' * 12}{uuid.uuid4().hex.translate(_LETTERS)[:12]}"
    target = Target(engine="kubernetes", cluster=NAME, experiment="exp", name=name, token=f"{job}.2")
    ours = {"SLIPWAY_TOKEN": target.token, "SLIPWAY_JOB_ID": job, "SLIPWAY_ATTEMPT": "2", "COLOUR": "blue"}
    properties = {
        "cluster": {"id": f"/clusters/{NAME}"},
        "nodeCount": 1,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "environmentVariables": [{"name": key, "value": value} for key, value in ours.items()],
        "secrets": [{"name": _SECRET, "value": _VALUE}],
    }
    block: dict[str, Any] = {"customToolkitSettings": {"commandLine": line}}
    if ranks > 1:
        block = {"customMpiSettings": {"commandLine": line, "processCount": ranks}}
    return Order(target, {"properties": properties | block})


#: Digits of the base 16 as those of ids.
_LETTERS = str.maketrans("0189", "wxyz")


async def _until(inside: Entered, *words: str) -> None:
    patience = Patience(PATIENCE)
    while (answer := await inside.run(*words)).code:
        assert not patience.is_over(answer), answer
        await asyncio.sleep(0.2)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def rig(own: Kubernetes | None) -> AsyncIterator[Rig]:
    """The cluster on this machine, or yours."""
    if own is not None:
        running = own
        yield Rig(lambda **options: engine_on(running, **options), own.admin, [])
        return
    yours = foreign()
    rig = Rig(yours.engine, Path(FOREIGN), [])
    yield rig
    await yours.clear(rig.targets)


@pytest.fixture(autouse=True)
def _kubeconfig(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(rig.kubeconfig))


async def test_a_command_has_the_variables_and_the_directory_of_the_job(rig: Rig, jobs: object) -> None:
    async with rig.job(_PRINTS) as inside:
        answer = await inside.run("sh", "-c", "tr '\\0' '\\n' </proc/$$/environ | sort; pwd")
        own = await inside.run("cat", "own")

    assert (answer.code, own.code) == (0, 0), answer.error + own.error
    assert _comparable(answer.out) == _comparable(own.out)
    assert f"\n{_SECRET}={_VALUE.splitlines()[0]}\n".encode() in answer.out
    assert b"AZ_BATCHAI_JOB_TEMP=" in answer.out
    assert b"SLIPWAY_SECRET" not in answer.out
    assert b"SLIPWAY_PROOFS" not in answer.out


async def test_exit_codes_and_bytes_come_back(rig: Rig, jobs: object) -> None:
    content = os.urandom(20_000_000)
    async with rig.job(_PRINTS) as inside:
        codes = [(await inside.run("sh", "-c", f"exit {code}")).code for code in (0, 1, 5, 125)]
        echoed = await inside.run("cat", stdin=content)
        absent = await inside.run("no-such-program")

    assert codes == [0, 1, 5, 125]
    assert (echoed.code, echoed.out == content) == (0, True), echoed.error
    assert absent.code == 127
    assert "no-such-program" in absent.error


async def test_a_rank_is_its_own_process(rig: Rig, jobs: object) -> None:
    line = "echo $PMI_RANK >rank-$PMI_RANK; : >begun; while :; do sleep 0.1; done"
    async with rig.job(line, rank=1, ranks=2) as inside:
        answer = await inside.run("sh", "-c", 'echo "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$PMIX_RANK}}"')

    assert (answer.code, answer.out) == (0, b"1\n"), answer.error


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_job_without_python_is_entered(rig: Rig, cluster: Kubernetes, shell: str) -> None:
    if shell in ABSENT_SHELLS:
        pytest.skip(f"there is no {shell} on this machine")
    folder = image(cluster.shared / f"image-{uuid.uuid4().hex[:8]}", shell)
    for name in () if shell == "busybox" else ("sed", "tr"):  # what the words that enter it call
        (folder / name).symlink_to(str(shutil.which(name)))
    async with rig.job(_PRINTS.replace("| sort ", ""), path=str(folder)) as inside:
        answer = await inside.run("sh", "-c", 'echo "$HF_TOKEN"; echo "$COLOUR"; pwd; exit 3')
        variables = await inside.run("env")
        own = await inside.run("cat", "own")

    assert answer.code == 3, answer.error
    assert b"AZ_BATCHAI_JOB_TEMP=" in variables.out
    assert b"SLIPWAY_SECRET" not in variables.out
    assert b"SLIPWAY_PROOFS" not in variables.out
    assert answer.out.decode().startswith(f"{_VALUE}\nblue\n/")
    assert answer.out.splitlines()[-1] == own.out.splitlines()[-1]


async def test_nothing_of_a_job_that_has_ended_is_entered(rig: Rig, jobs: object) -> None:
    async with rig.job(_PRINTS) as inside:
        before = await inside.run("true")
    target = rig.targets[-1]
    engine = rig.engine(enter=True)
    patience = Patience(PATIENCE)
    while not (seen_now := await engine.see(target)).state.terminal:
        assert not patience.is_over(seen_now), seen_now
        await asyncio.sleep(0.1)

    with pytest.raises(NotFound):
        await engine.entrance(target, _order("true", 1).document, 0)
    await engine.close()
    after = await inside.run("true")
    assert before.code == 0
    assert after.code != 0


async def test_a_pod_without_a_process_of_the_job_says_so(rig: Rig, jobs: object) -> None:
    async with rig.job(_PRINTS) as inside:
        other = Entered(Place(f"j_{'b' * 24}", 2, 0, "kubectl", inside.place.values), inside.kubeconfig)
        answer = await other.run("echo", "in")

    assert (answer.code, answer.out) == (NOTHING, b"")
    assert "no process of attempt 2" in answer.error


def _comparable(text: bytes) -> list[bytes]:
    """Without what a shell sets by itself, and the mark of what was entered."""
    own = (b"_=", b"SHLVL=", b"PWD=", b"OLDPWD=", b"SLIPWAY_ENTERED=")
    return [line for line in text.splitlines() if not line.startswith(own)]
