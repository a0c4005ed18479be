"""The stack of a deployment that asks for tokens of Entra."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from local.stack import Options, stack
from tests.acceptance.conftest import provisioned
from tests.acceptance.door import Door
from tests.contract.entra_tenant import AUDIENCE, CLIENT, TENANT, Tenant


@asynccontextmanager
async def guarded_stack(tenant: Tenant, data: Path, key: str = "") -> AsyncIterator[Door]:
    """Its tokens are the tenant's; where a key is given, the host asks for it as well."""
    options = Options(
        data=data,
        in_memory=True,
        overrides={
            "SLIPWAY_TENANT": TENANT,
            "SLIPWAY_AUDIENCE": f"{AUDIENCE},{CLIENT}",
            "SLIPWAY_AUTHORITY": tenant.authority,
            "SLIPWAY_SWEEPER_SCHEDULE": "*/1 * * * * *",
            "LOCAL_HOST_MASTER_KEY": "master-key",
            **({"LOCAL_HOST_FUNCTION_KEY": key} if key else {}),
        },
        cluster_arguments=("--provisioning-seconds=0", "--leaving-seconds=0", "--containers=host"),
        host_arguments=("--enable-auth",) if key else (),
    )
    async with stack(options, provisioned) as running, Door(running, key or "none") as opened:
        yield opened
