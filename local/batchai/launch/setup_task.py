"""Makes a new node ready for jobs: the cluster's volumes and its setup task."""

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from local.batchai.launch.layout import node_environment, variables
from local.batchai.launch.vault import Vault
from local.batchai.launch.volumes import volumes
from local.batchai.state.models import Cluster, Node
from local.batchai.state.settings import Settings
from local.nodes import tasks
from local.nodes.environment import expand
from local.nodes.fault import Failed, Fault
from local.nodes.launcher import Launcher
from local.nodes.machine import Directories, root
from local.nodes.mounts import Mounter, link
from local.nodes.output_directory import make_directory


async def prepare(
    cluster: Cluster, node_id: str, settings: Settings, mounter: Mounter, launcher: Launcher
) -> Fault | None:
    """Mount and set up; the reason if the node cannot be used. Cancelling ends the setup task."""
    fault = await _prepare(cluster, node_id, settings, mounter, launcher)
    # All nodes of a cluster share its errors: each names its node.
    return fault and fault.model_copy(update={"details": {"nodeId": node_id} | fault.details})


async def _prepare(
    cluster: Cluster, node_id: str, settings: Settings, mounter: Mounter, launcher: Launcher
) -> Fault | None:
    node = next(node for node in cluster.nodes if node.id == node_id)
    spot = Directories(root(settings.data, node.number))
    spot.mounts.mkdir(parents=True, exist_ok=True)
    vault = Vault(settings.secrets_file)
    setup = cluster.document.get("nodeSetup", {}).get("setupTask")
    try:
        setup = vault.resolved(setup)
        async with AsyncExitStack() as stack:
            mounts = []
            for volume in volumes(vault.resolved(cluster.mounts)):
                mounts.append(await mounter.hold(volume))
                link(spot.mounts, volume, mounts[-1])
                stack.push_async_callback(mounter.release, volume)
            return await _set_up(setup, cluster, node, settings, launcher, mounts) if setup else None
    except Failed as error:
        return error.fault
    except tasks.TaskLost:
        return Fault(code="NodeSetupLost", message="The setup task ended without an exit code")
    except OSError as error:
        return Fault(
            code="NodeSetupFailed",
            message=": ".join(str(part) for part in (error.strerror, error.filename) if part),
        )


async def _set_up(
    task: dict[str, Any],
    cluster: Cluster,
    node: Node,
    settings: Settings,
    launcher: Launcher,
    mounted: Sequence[Path],
) -> Fault | None:
    spot = Directories(root(settings.data, node.number))
    env = node_environment(spot, await settings.path(cluster.id))
    env |= variables(task, env)
    output = make_directory(spot, expand(task["stdOutErrPathPrefix"], env), cluster.suffix, mounted)
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
