"""A front door for each local cluster; one that is added to the registry is tried as well."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
import pytest_asyncio

from local.clusters.registry import CLUSTERS, USUAL
from local.kubernetes import find_programs
from local.slurm import missing_programs
from local.stack import Options, stack
from tests.acceptance.conftest import KEY, provisioned
from tests.acceptance.door import Door

_LACKING: Mapping[str, Callable[[], Any]] = {
    "slurm": missing_programs,
    "kubernetes": lambda: find_programs().missing_programs(),
}


@pytest_asyncio.fixture(
    scope="package",
    loop_scope="session",
    params=[one if one == USUAL else pytest.param(one, marks=pytest.mark.thorough) for one in CLUSTERS],
)
async def own_door(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Door]:
    """The front door of a stack with that cluster."""
    if CLUSTERS[request.param].needs_programs and (lacking := _LACKING[request.param]()):
        pytest.skip(f"{', '.join(lacking)} not found: run `make install-{request.param}`")
    options = Options(
        data=tmp_path_factory.mktemp(request.param),
        in_memory=True,
        cluster=request.param,
        overrides={
            "SLIPWAY_SWEEPER_SCHEDULE": "*/1 * * * * *",
            "LOCAL_HOST_FUNCTION_KEY": KEY,
            "LOCAL_HOST_MASTER_KEY": f"master-{KEY}",
        },
        host_arguments=("--enable-auth",),
    )
    async with stack(options, provisioned) as running, Door(running, KEY) as opened:
        yield opened
