"""Makes a new node ready for jobs: the cluster's volumes and its setup task."""

import asyncio
import shutil
from contextlib import AsyncExitStack
from typing import Any

from local.batchai import tasks
from local.batchai.faults import Failed
from local.batchai.launcher import Launcher
from local.batchai.layout import expand, node_environment, place, variables
from local.batchai.mounts import Mounter, link
from local.batchai.records import Cluster, Fault, Node
from local.batchai.settings import Settings
from local.batchai.vault import Vault
from local.batchai.volumes import volumes


async def prepare(
    cluster: Cluster, node_id: str, settings: Settings, mounter: Mounter, launcher: Launcher
) -> Fault | None:
    """Mount and set up; the reason if the node cannot be used. Cancelling ends the setup task."""
    fault = await _prepared(cluster, node_id, settings, mounter, launcher)
    # All nodes of a cluster share its errors: each says of which node it is.
    return fault and fault.evolve(details={"nodeId": node_id} | fault.details)


async def _prepared(
    cluster: Cluster, node_id: str, settings: Settings, mounter: Mounter, launcher: Launcher
) -> Fault | None:
    node = next(node for node in cluster.nodes if node.id == node_id)
    mounts = place(settings.data, node).mounts
    mounts.mkdir(parents=True, exist_ok=True)
    vault = Vault(settings.secrets_file)
    setup = cluster.document.get("nodeSetup", {}).get("setupTask")
    try:
        setup = vault.resolved(setup)
        async with AsyncExitStack() as held:
            for volume in volumes(vault.resolved(cluster.mounts)):
                link(mounts, volume, await mounter.hold(volume))
                held.push_async_callback(mounter.release, volume)
            return await _set_up(setup, cluster, node, settings, launcher) if setup else None
    except Failed as error:
        return error.fault
    except tasks.TaskLost:
        return Fault(code="NodeSetupLost", message="The setup task ended without an exit code")
    except OSError as error:
        return Fault(code="NodeSetupFailed", message=f"{error.strerror}: {error.filename}")


async def _set_up(
    task: dict[str, Any], cluster: Cluster, node: Node, settings: Settings, launcher: Launcher
) -> Fault | None:
    spot = place(settings.data, node)
    env = node_environment(spot, settings.node_path)
    env |= variables(task, env)
    output = spot.root.joinpath(expand(task["stdOutErrPathPrefix"], env), cluster.suffix)
    output.mkdir(parents=True, exist_ok=True)
    directory = settings.data / "tasks" / node.id
    order = tasks.Task(
        directory=directory / "setup",
        argv=("bash", "-c", task["commandLine"]),
        env=env,
        cwd=spot.root,
        stdout=output / f"stdout-{node.id}.txt",
        stderr=output / f"stderr-{node.id}.txt",
    )
    try:
        code = await tasks.run(order, launcher)
    except asyncio.CancelledError:
        await tasks.end_all(directory)
        raise
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if code == 0:
        return None
    message = "The setup task failed with a non-zero exit code"
    return Fault(code="NodeSetupFailed", message=message, details={"exitCode": str(code)})
