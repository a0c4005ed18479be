"""The emulator of Azure Batch as the cluster of the stack: a pool from zero.

Claims and records are in a container, as in a deployment; what jobs mount there are directories here.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from local.azurebatch.settings import ACCOUNT as BATCH_ACCOUNT
from local.azurebatch.settings import KEY
from local.azurite import ACCOUNT
from local.clusters.kind import DATA, ENDS, LOGS, NAME, ClusterOptions, Running
from local.node_python import node_python
from local.nodes.programs import install

_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: The container for the files that nodes upload.
_BLOBS = "slipway"
#: How often formulas are evaluated here; Azure takes five minutes.
_EVALUATED = "2"


@asynccontextmanager
async def start(options: ClusterOptions) -> AsyncIterator[Running]:
    """Run it as a child, which the stack stops. Raises StartError."""
    from local.mirrored import make_container, mirrored  # loads the storage SDK

    folder = options.data / "azurebatch"
    shared = folder / "shared"
    python = await node_python(folder / "python")
    programs = f"{python}:{install(folder / 'volumes', options.storage.connection_string)}"
    blobs = await make_container(options.storage.connection_string, _BLOBS)
    await make_container(options.storage.connection_string, ENDS)
    url = await options.launch(
        "emulator",
        "local.azurebatch",
        f"--port={options.port}",
        f"--data={folder / 'emulator'}",
        f"--autoscale-seconds={_EVALUATED}",
        *options.arguments,
    )

    def serving() -> AbstractAsyncContextManager[None]:
        return mirrored(shared, options.storage.connection_string, (DATA, ENDS))

    yield Running(
        url=url,
        settings={
            "SLIPWAY_CLUSTER": NAME,
            "SLIPWAY_CLUSTERS": json.dumps({NAME: _cluster(url, shared, blobs, programs, options.nodes)}),
            "SLIPWAY_BATCH_KEYS": json.dumps({NAME: KEY}),
        },
        connection_string=options.storage.connection_string,
        serving=serving,
    )


def _cluster(url: str, shared: Path, blobs: str, programs: str, nodes: int) -> dict[str, object]:
    """The settings of a pool, as a person would write them.

    Its nodes have the container of data, and mount others for the jobs that name them. They upload other
    files of jobs, and the app sees no directory of theirs.
    """
    mount_root, data, ends = (
        shared / one for one in ("mounts", f"blobs/{DATA}/files", f"blobs/{ENDS}/files")
    )
    for folder in (mount_root / LOGS, shared.parent / "nodes"):
        folder.mkdir(parents=True, exist_ok=True)
    if not (mount_root / DATA).is_symlink():
        (mount_root / DATA).symlink_to(data)
    return {
        "engine": "batch",
        "url": url,
        "account": BATCH_ACCOUNT,
        "pool": "nodes",
        "blobs": blobs,
        "mountRoot": str(mount_root),
        "temporary": str(shared.parent / "nodes"),
        "path": f"{programs}:{_SYSTEM}",
        "maxNodes": nodes,
        "packages": {"keep": str(shared.parent / "environments")},
        "mounts": {f"{ACCOUNT}/{DATA}": str(data)},
        "ends": str(ends),
    }
