"""One real Slurm for the session, on this machine; tests that break it start their own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from local.slurm import Options, Slurm, find_programs, slurm


def pytest_report_header() -> str:
    programs = find_programs()
    lacking = programs.missing_programs()
    return (
        "Slurm: none"
        if lacking
        else "Slurm: {}.{:02} from {}".format(*programs.version(), programs.root or "/")
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if lacking := find_programs().missing_programs():
        reason = f"Slurm is not installed ({', '.join(lacking)} not found): run `make install-slurm`"
        for item in items:
            if "contract/slurm" in str(item.path):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Slurm]:
    async with slurm(Options(data=tmp_path_factory.mktemp("slurm"))) as running:
        yield running
